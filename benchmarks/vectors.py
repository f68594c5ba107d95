"""Indexes of vectors for a corpus too large to compare with every one: recall, size and time of each.

    python benchmarks/vectors.py --corpus CORPUS.jsonl.gz --questions GOLDEN.json --work FOLDER [--vectors 200000]

1. Documents of the corpus are embedded, those that the questions' gold names first (``--documents``); how many a second
   is told. What was embedded is kept in the folder.
2. ``--vectors`` vectors are made of them, each the mean of two at random with a little noise, and indexed in several
   ways. Recall@10 is against comparing with every vector, over the questions' own vectors.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import shutil
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

SEED, K = 7, 10
NOISE = 0.02
DEPTHS = ((20, 1), (20, 4), (20, 10), (50, 10))
"""Cells that are looked into, and how many times more candidates are compared in full."""

KINDS = ("IVF_SQ", "IVF_PQ", "IVF_RQ")
Vectors = NDArray[np.float32]


class Gold(NamedTuple):
    """A question, and the ids of the documents that answer it."""

    text: str
    documents: frozenset[str]


def gold_in(paths: Sequence[Path], there: set[str]) -> list[Gold]:
    """The questions that have a document in the corpus."""
    found: list[Gold] = []
    for path in paths:
        for item in json.loads(path.read_text(encoding="utf-8"))["questions"]:
            ids = frozenset(address.rpartition("/")[2] for address in item["documents"]) & there
            if ids:
                found.append(Gold(item["body"], ids))
    return found


def embedded(texts: Sequence[str], kept: Path) -> Vectors:
    """Their vectors; made once."""
    from vericite.models.embedder import Embedder

    if kept.exists() and len(vectors := np.load(kept)) == len(texts):
        return vectors
    embedder = Embedder.shared()
    start, work = time.perf_counter(), time.process_time()
    vectors = embedder.embed(texts)
    seconds, work = time.perf_counter() - start, time.process_time() - work
    print(f"embedded {len(texts)} texts of {sum(map(len, texts)) / len(texts):.0f} characters: ", end="")
    print(f"{len(texts) / seconds:.0f} a second by the clock, {len(texts) / work:.0f} a second of processor time")
    np.save(kept, vectors)
    return vectors


def unit(vectors: Vectors) -> Vectors:
    """Of length one."""
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def made(real: Vectors, count: int) -> Vectors:
    """Vectors between real ones."""
    chance = np.random.default_rng(SEED)
    pairs = chance.integers(0, len(real), (count, 2))
    noise = chance.standard_normal((count, real.shape[1])) * NOISE
    return unit((real[pairs[:, 0]] + real[pairs[:, 1]]) / 2 + noise)


def exact(all: Vectors, queries: Vectors) -> list[set[int]]:
    """The rows closest to each query."""
    found: list[set[int]] = []
    for start in range(0, len(queries), 32):
        products = queries[start : start + 32] @ all.T
        found += [set(map(int, row)) for row in np.argpartition(-products, K, axis=1)[:, :K]]
    return found


def indexes(all: Vectors, queries: Vectors, work: Path, chosen: Sequence[str]) -> None:
    """Print recall, size and time of each index of the chosen kinds, at several depths of looking."""
    import lancedb
    import pyarrow as pa
    from lancedb.index import IvfPq, IvfRq, IvfSq

    folder = work / "vectors"
    shutil.rmtree(folder, ignore_errors=True)
    width = all.shape[1]
    values = pa.FixedSizeListArray.from_arrays(pa.array(all.astype(np.float16).ravel()), width)
    table = lancedb.connect(folder).create_table("vectors", pa.table({"vector": values}))
    truth = exact(all, queries)
    kinds: dict[str, Callable[[], Any]] = {
        "IVF_SQ (the store's)": lambda: IvfSq(distance_type="cosine"),
        f"IVF_PQ, {width // 4} bytes": lambda: IvfPq(distance_type="cosine", num_sub_vectors=width // 4),
        f"IVF_PQ, {width // 8} bytes": lambda: IvfPq(distance_type="cosine", num_sub_vectors=width // 8),
        f"IVF_RQ, {width // 8} bytes": lambda: IvfRq(distance_type="cosine"),
    }
    print(f"\n{len(all)} vectors of {width}, {len(queries)} queries")
    print("| index | built, s (processor, s) | MB | cells, times refined | recall@10 | ms a search (processor, ms) |")
    print("|---|---|---|---|---|---|")
    for name, config in kinds.items():
        if not name.startswith(tuple(chosen)):
            continue
        start, spent = time.perf_counter(), time.process_time()
        table.create_index("vector", config=config(), replace=True)
        build = f"{time.perf_counter() - start:.0f} ({time.process_time() - spent:.0f})"
        table.optimize(cleanup_older_than=timedelta(milliseconds=1))
        size = sum(file.stat().st_size for file in folder.rglob("_indices/**/*") if file.is_file()) / 1e6
        for near, refined in DEPTHS:
            start, spent, hits = time.perf_counter(), time.process_time(), 0
            for query, right in zip(queries, truth, strict=True):
                asked = table.search(query, vector_column_name="vector").distance_type("cosine").nprobes(near)
                rows = asked.refine_factor(refined).select(["_distance"]).with_row_id(True).limit(K).to_arrow()
                hits += len(right & {row & 0xFFFFFFFF for row in rows.column("_rowid").to_pylist()})
            each = (time.perf_counter() - start) / len(queries) * 1000
            work_each = (time.process_time() - spent) / len(queries) * 1000
            recall = hits / K / len(queries)
            cells = (name, build, f"{size:.0f}", f"{near}, {refined}", f"{recall:.3f}", f"{each:.1f} ({work_each:.1f})")
            print(f"| {' | '.join(cells)} |", flush=True)
    shutil.rmtree(folder)


def main() -> None:
    """Read the arguments, measure."""
    from vericite.records import Document

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True, help="JSON Lines, gzipped, with pmid, title and abstract")
    parser.add_argument("--questions", type=Path, nargs="+", required=True, help="files in BioASQ's form, with gold")
    parser.add_argument("--documents", type=int, default=6_000)
    parser.add_argument("--vectors", type=int, default=200_000)
    parser.add_argument("--indexes", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--work", type=Path, required=True)
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    with gzip.open(given.corpus, "rt", encoding="utf-8") as file:
        lines = {str(line["pmid"]): line for line in map(json.loads, file)}
    gold = gold_in(given.questions, set(lines))
    needed = list(dict.fromkeys(id for question in gold for id in sorted(question.documents)))
    others = [id for id in lines if id not in set(needed)]
    random.Random(SEED).shuffle(others)
    chosen = (needed + others)[: max(given.documents, len(needed))]
    documents = [Document.from_text(id, lines[id]["abstract"], lines[id]["title"]) for id in chosen]
    vectors = embedded([document.titled_text for document in documents], given.work / "documents.npy")
    queries = embedded([question.text for question in gold], given.work / "questions.npy")
    indexes(made(vectors, given.vectors), queries, given.work, given.indexes)


if __name__ == "__main__":
    main()
