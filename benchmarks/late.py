"""Vectors made late: of what BM25 finds for a question, in place of vectors of the whole store.

    python benchmarks/late.py --store STORE --questions 13b=FILE,FILE 12b=FILE [--depths 100 200] [--embed 10]

The store has vectors; they stand in for those that would be made, so that thousands of questions need no hours. The
quality is that of vectors made late all the same, for a document's vector depends on nothing else. ``--embed`` so many
questions' documents are embedded for real, which tells the seconds of a question. Questions that have no gold document
in the store are left out.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from search import questions_in, table
from vericite.corpus.store import Store, open_store
from vericite.evaluate.items import Item
from vericite.models.embedder import Embedder
from vericite.records import Document, Evidence, Gold, Question
from vericite.retrieve.retriever import DEPTH, fused

K = 20
Vectors = dict[str, NDArray[np.float32]]
Clock = tuple[float, float]


def now() -> Clock:
    """The clock, and the processor time of this process."""
    return time.perf_counter(), time.process_time()


def vectors_in(store: Store) -> Vectors:
    """The vectors of a store, by the ids of their documents."""
    found: Vectors = {}
    # No function gives them: who searches has no use for them.
    rows = store.snapshot().search().select(["id", "vector"])  # pyright: ignore
    for batch in rows.to_batches(4096):
        ids, flat = batch.column("id").to_pylist(), np.asarray(batch.column("vector").flatten(), dtype=np.float32)
        found.update(zip(ids, flat.reshape(len(ids), -1), strict=True))
    return found


def evidence(documents: Sequence[Document], scores: Sequence[float], name: str) -> list[Evidence]:
    """Documents, the best first."""
    return [
        Evidence(document=document, rank=rank, score=score, retriever=name, scores={name: score})
        for rank, (document, score) in enumerate(zip(documents, scores, strict=True), start=1)
    ]


def by_meaning(words: Sequence[Evidence], vectors: NDArray[np.float32], asked: NDArray[np.float32]) -> list[Evidence]:
    """What was found by words, in the order of the cosines."""
    cosines = vectors @ asked
    order = [int(place) for place in np.argsort(-cosines, kind="stable")]
    return evidence([words[place].document for place in order], [float(cosines[place]) for place in order], "dense")


def item(question: Question, ranked: Sequence[Evidence]) -> Item:
    """What is scored."""
    return Item(question.id, ranked=tuple(hit.document.id for hit in ranked[:K]), gold=Gold.of(question))


def compared(
    store: Store, known: Vectors, questions: Sequence[Question], depths: Sequence[int]
) -> tuple[dict[str, tuple[list[Item], float | None]], dict[str, float]]:
    """The items of every way to rank, and the processor milliseconds of what they are made of."""
    runs: dict[str, tuple[list[Item], float | None]] = {}
    spent = dict.fromkeys(("vector of the question", "words", "vectors of the whole store"), 0.0)
    for question in questions:
        times = [now()]
        asked = Embedder.shared().embed([question.text])[0]
        times.append(now())
        hits = store.search(question.text, max(*depths, DEPTH))
        times.append(now())
        near = store.search_vectors(asked, DEPTH)
        times.append(now())
        for name, (before, after) in zip(spent, pairwise(times), strict=True):
            spent[name] += (after[1] - before[1]) / len(questions) * 1000
        words = evidence([hit.document for hit in hits], [hit.score for hit in hits], "bm25")
        dense = evidence([hit.document for hit in near], [hit.score for hit in near], "dense")
        ranked = {"bm25": words, "dense": dense, "hybrid": fused([words[:DEPTH], dense], K)}
        for depth in depths:
            some = words[:depth]
            stored = np.stack([known[hit.document.id] for hit in some]) if some else np.zeros((0, len(asked)))
            late = by_meaning(some, stored.astype(np.float32), asked)
            ranked[f"late, by the cosines of {depth}"] = late
            ranked[f"late, {depth} fused"] = fused([some, late], K)
        for name, each in ranked.items():
            runs.setdefault(name, ([], None))[0].append(item(question, each))
    return runs, spent


def embedding(store: Store, questions: Sequence[Question], depths: Sequence[int]) -> None:
    """Print what it takes to embed what words find."""
    for depth in depths:
        texts = [[hit.document.titled_text for hit in store.search(question.text, depth)] for question in questions]
        start, work = now()
        for each in texts:
            Embedder.shared().embed(each)
        seconds, work = time.perf_counter() - start, time.process_time() - work
        count, characters = sum(map(len, texts)), sum(len(text) for each in texts for text in each)
        print(
            f"{depth} found: {count / len(texts):.0f} texts of {characters / count:.0f} characters a question, ", end=""
        )
        print(f"{seconds / len(texts):.2f} s by the clock, {work / len(texts):.2f} s of processor time", flush=True)


def main() -> None:
    """Read the arguments, measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--questions", nargs="+", required=True, metavar="NAME=FILE,FILE")
    parser.add_argument("--depths", type=int, nargs="+", default=[100, 200])
    parser.add_argument("--embed", type=int, default=10)
    given = parser.parse_args()
    store = open_store(given.store)
    known = vectors_in(store)
    print(f"{len(known)} documents, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}")
    for number, named in enumerate(given.questions):
        name, _, files = named.partition("=")
        questions = questions_in([Path(file) for file in files.split(",")], set(known))
        if given.embed and not number:
            embedding(store, questions[: given.embed], given.depths)
        runs, spent = compared(store, known, questions, given.depths)
        table(name, questions, runs)
        print("\nprocessor ms a question: " + ", ".join(f"{what} {ms:.1f}" for what, ms in spent.items()), flush=True)


if __name__ == "__main__":
    main()
