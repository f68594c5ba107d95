"""Search, stage by stage, over a corpus and questions in BioASQ's form: quality with intervals, seconds a question.

    python benchmarks/search.py --corpus CORPUS.jsonl.gz --questions 13b=FILE,FILE 12b=FILE --work FOLDER

The corpus has lines with pmid, title and abstract. It is put into a store with vectors first (kept in the work folder).
``--peer-python`` is the interpreter of an environment with ``pip install bm25s PyStemmer``: BM25 is then held against
bm25s (Lucene's variant) with the same English stemmer.

A corpus made of the questions' own gold documents makes every figure optimistic: they compare stages, and are nothing
to expect of all of PubMed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from vericite.corpus.sources.entry import pmid_of
from vericite.corpus.store import Source, build_store
from vericite.evaluate.items import Item
from vericite.evaluate.measures.registry import measures_named
from vericite.evaluate.scoring import System, compare_systems, score_systems
from vericite.pipeline.build import open_search
from vericite.pipeline.plan import SearchPlan
from vericite.records import Document, Gold, Question

K = 20
MEASURES = ("Recall@5", "Recall@10", "Recall@20", "nDCG@10", "MRR@10")
BASE = SearchPlan(by="bm25", rerank="none", rewrite="none")
STAGES: dict[str, SearchPlan] = {
    "bm25": BASE,
    "dense": BASE.model_copy(update={"by": "dense"}),
    "hybrid": BASE.model_copy(update={"by": "hybrid"}),
    "bm25 + rerank": BASE.model_copy(update={"rerank": "bundled"}),
    "hybrid + rerank": BASE.model_copy(update={"by": "hybrid", "rerank": "bundled"}),
}


def documents_in(path: Path) -> Iterator[Document]:
    """The corpus."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            item = json.loads(line)
            found = Document.from_text(item["pmid"], item["abstract"], item["title"])
            yield found.model_copy(update={"pmid": item["pmid"]})


def questions_in(paths: Sequence[Path], ids: set[str]) -> list[Question]:
    """The questions that have a gold document in the corpus; gold documents that are not there still count."""
    found = [item for path in paths for item in json.loads(path.read_text(encoding="utf-8"))["questions"]]
    questions = [
        Question(
            id=item["id"],
            text=item["body"],
            gold_documents=tuple(dict.fromkeys(pmid_of(gold) or gold for gold in item["documents"])),
        )
        for item in found
    ]
    asked = [question for question in questions if ids & set(question.gold_documents)]
    print(f"{len(asked)} of {len(questions)} questions have a gold document in the corpus", file=sys.stderr)
    return asked


def store_of(corpus: Path, work: Path) -> tuple[Path, set[str]]:
    """The store, built unless it is there; and the ids in it."""
    folder = work / "store"
    ids = {document.id for document in documents_in(corpus)}
    started = time.perf_counter()
    report = build_store(
        folder, [Source(corpus.name, str(corpus.stat().st_size), lambda: documents_in(corpus))], vectors=True
    )
    print(f"store: {report.added} documents added in {time.perf_counter() - started:.0f} s", file=sys.stderr)
    return folder, ids


def searched(store: Path, plan: SearchPlan, questions: Sequence[Question], k: int) -> tuple[list[Item], float | None]:
    """What was found, and the seconds a question."""
    search = open_search(plan.model_copy(update={"corpus": str(store)}))
    search.find(questions[0], k)  # The models load.
    began = time.perf_counter()
    found = [search.find(question, k) for question in questions]
    seconds = (time.perf_counter() - began) / len(questions)
    items = [
        Item(question.id, ranked=tuple(hit.document.id for hit in each.evidence), gold=Gold.of(question))
        for question, each in zip(questions, found, strict=True)
    ]
    return items, seconds


def table(name: str, questions: Sequence[Question], runs: Mapping[str, tuple[list[Item], float | None]]) -> None:
    """Every stage, and what it gains over BM25."""
    measures = measures_named(MEASURES)
    systems = {stage: System(stage, tuple(items)) for stage, (items, _) in runs.items()}
    mean = sum(len(question.gold_documents) for question in questions) / len(questions)
    most = sum(min(5, len(question.gold_documents)) / len(question.gold_documents) for question in questions)
    reach = most / len(questions)
    print(f"\n### {name}: {len(questions)} questions, {mean:.1f} gold documents each; Recall@5 can reach {reach:.2f}\n")
    print(f"| stage | {' | '.join(MEASURES)} | s a question | Recall@5 over BM25 | nDCG@10 over BM25 |")
    print("|" + "---|" * (len(MEASURES) + 4))
    for stage, (_, seconds) in runs.items():
        figures = [figure.estimate for figure in score_systems([systems[stage]], measures)]
        cells = [f"{it.value:.3f} [{it.low:.3f}, {it.high:.3f}]" for it in figures]
        gains = ["", ""]
        if stage != "bm25":
            compared = compare_systems(systems[stage], systems["bm25"], measures_named(["Recall@5", "nDCG@10"]))
            gains = [_gain(it) for it in compared]
        print(
            f"| {stage} | {' | '.join(cells)} | {'-' if seconds is None else f'{seconds:.3f}'} | {' | '.join(gains)} |"
        )


def _gain(compared: Any) -> str:
    found = compared.difference
    return f"{found.value:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"


def against_bm25s(python: str, corpus: Path, questions: Sequence[Question], work: Path) -> list[Item]:
    """What bm25s finds; see the module."""
    asked, out = work / "asked.json", work / "bm25s.json"
    asked.write_text(json.dumps([question.text for question in questions]), encoding="utf-8")
    peer = Path(__file__).with_name("search_peer.py")
    subprocess.run([python, peer, corpus, asked, out, str(K)], check=True)
    found = json.loads(out.read_text(encoding="utf-8"))
    return [
        Item(question.id, ranked=tuple(ids), gold=Gold.of(question))
        for question, ids in zip(questions, found, strict=True)
    ]


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--questions", nargs="+", required=True, metavar="NAME=FILE,FILE")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=list(STAGES))
    parser.add_argument(
        "--k", type=int, default=K, help="documents found; 5 to see what rewriting changes of an answer"
    )
    parser.add_argument("--peer-python")
    return parser.parse_args()


def main() -> None:
    """Measure."""
    given = arguments()
    given.work.mkdir(parents=True, exist_ok=True)
    store, ids = store_of(given.corpus, given.work)
    print(f"{len(ids)} documents, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}")
    for named in given.questions:
        name, _, files = named.partition("=")
        questions = questions_in([Path(file) for file in files.split(",")], ids)
        runs = {stage: searched(store, STAGES[stage], questions, given.k) for stage in given.stages}
        if given.peer_python:
            runs["bm25s (Lucene's variant)"] = (
                against_bm25s(given.peer_python, given.corpus, questions, given.work),
                None,
            )
        table(name, questions, runs)


if __name__ == "__main__":
    main()
