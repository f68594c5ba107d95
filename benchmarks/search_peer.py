"""What bm25s finds, for ``benchmarks/search.py``: run in an environment that has it, and no vericite."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import bm25s
import Stemmer


def main(corpus: Path, asked: Path, out: Path, k: int) -> None:
    """Index the corpus with Lucene's BM25, English stop words and stems; write the ids found for each question."""
    stemmer = Stemmer.Stemmer("english")
    with gzip.open(corpus, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    engine = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    texts = [f"{row['title']}\n{row['abstract']}" for row in rows]
    engine.index(bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False), show_progress=False)
    queries = bm25s.tokenize(json.loads(asked.read_text()), stopwords="en", stemmer=stemmer, show_progress=False)
    found, _ = engine.retrieve(queries, k=k, show_progress=False)
    out.write_text(json.dumps([[rows[number]["pmid"] for number in each] for each in found.tolist()]))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]), k=int(sys.argv[4]))
