"""Search, stage by stage, over a corpus and questions in BioASQ's form: quality with intervals, seconds a question.

    python benchmarks/search.py --corpus CORPUS.jsonl.gz --questions 13b=FILE,FILE 12b=FILE --work FOLDER

The corpus has lines with pmid, title and abstract. It is put into a store with vectors first (kept in the work folder).
``--peer-python`` is the interpreter of an environment with ``pip install bm25s PyStemmer``: BM25 is then held against
bm25s (Lucene's variant) with the same English stemmer. ``--also NAME=FILE`` gives questions of which only how often
rewriting fires is told, lines with id and question.

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
from dataclasses import replace
from pathlib import Path
from typing import Any

from vericite.corpus.store import Source, build_store
from vericite.evaluate.gold import Gold
from vericite.evaluate.items import Item
from vericite.evaluate.measures.registry import measures_named
from vericite.evaluate.scoring import System, compare_systems, score_systems
from vericite.formats.questions import read_questions
from vericite.pipeline.opening import SearchPlan, open_search
from vericite.records import Document, Question, Rewriting
from vericite.retrieve.oracle import pmid_of
from vericite.retrieve.trigger import Trigger

K = 20
MEASURES = ("Recall@5", "Recall@10", "Recall@20", "nDCG@10", "MRR@10")
BASE = SearchPlan(by="bm25", rerank="none", rewrite="none")
STAGES: dict[str, SearchPlan] = {
    "bm25": BASE,
    "dense": replace(BASE, by="dense"),
    "hybrid": replace(BASE, by="hybrid"),
    "bm25 + rerank": replace(BASE, rerank="bundled"),
    "hybrid + rerank": replace(BASE, by="hybrid", rerank="bundled"),
    "hybrid + rerank + rewrite": replace(BASE, by="hybrid", rerank="bundled", rewrite="offline"),
    "the same, new kept": replace(BASE, by="hybrid", rerank="bundled", rewrite="offline", keep="new"),
    "the paper's trigger, new kept": replace(
        BASE, by="hybrid", rerank="bundled", rewrite="offline", keep="new", trigger=Trigger()
    ),
}

REWRITTEN = "hybrid + rerank"
"""What a rewriting is held against."""


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


def searched(
    store: Path, plan: SearchPlan, questions: Sequence[Question], k: int
) -> tuple[list[Item], float | None, list[Rewriting]]:
    """What was found, the seconds a question, and the rewritings."""
    search, _ = open_search(str(store), plan)
    search.find(questions[0], k)  # The models load.
    began = time.perf_counter()
    found = [search.find(question, k) for question in questions]
    seconds = (time.perf_counter() - began) / len(questions)
    items = [
        Item(question.id, ranked=tuple(hit.document.id for hit in each.evidence), gold=Gold.of(question))
        for question, each in zip(questions, found, strict=True)
    ]
    return items, seconds, [each.rewriting for each in found if each.rewriting is not None]


def table(
    name: str, questions: Sequence[Question], runs: Mapping[str, tuple[list[Item], float | None, list[Rewriting]]]
) -> None:
    """Every stage, and what it gains over BM25."""
    measures = measures_named(MEASURES)
    systems = {stage: System(stage, tuple(items)) for stage, (items, _, _) in runs.items()}
    mean = sum(len(question.gold_documents) for question in questions) / len(questions)
    most = sum(min(5, len(question.gold_documents)) / len(question.gold_documents) for question in questions)
    reach = most / len(questions)
    print(f"\n### {name}: {len(questions)} questions, {mean:.1f} gold documents each; Recall@5 can reach {reach:.2f}\n")
    print(f"| stage | {' | '.join(MEASURES)} | s a question | Recall@5 over BM25 | nDCG@10 over BM25 |")
    print("|" + "---|" * (len(MEASURES) + 4))
    for stage, (_, seconds, _) in runs.items():
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


def rewriting_told(name: str, rewritings: Sequence[Rewriting]) -> None:
    """How often it fired, and why."""
    fired = [it for it in rewritings if it.fired]
    by_coverage = sum(any("coverage" in reason for reason in it.reasons) for it in fired)
    by_relevance = sum(any("relevance" in reason for reason in it.reasons) for it in fired)
    told = sum(it.query is not None for it in fired)
    kept = sum(it.kept for it in fired)
    share = len(fired) / len(rewritings)
    why = f"{share:.1%}; coverage {by_coverage}, relevance {by_relevance}"
    print(
        f"{name}: fires on {len(fired)} of {len(rewritings)} ({why}); "
        f"other words for {told}, their documents kept for {kept}"
    )


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
    parser.add_argument("--also", nargs="*", default=[], metavar="NAME=FILE")
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
                [],
            )
        table(name, questions, runs)
        for stage, (items, _, rewritings) in runs.items():
            if rewritings:
                rewriting_told(f"{name}, {stage}", rewritings)
                if REWRITTEN in runs:
                    before = System(REWRITTEN, tuple(runs[REWRITTEN][0]))
                    (gain,) = compare_systems(System(stage, tuple(items)), before, measures_named(["Recall@5"]))
                    print(f"{name}, {stage}: Recall@5 over no rewriting {_gain(gain)}")
    for named in given.also:
        name, _, file = named.partition("=")
        questions, _ = read_questions(Path(file))
        for stage in given.stages:
            if STAGES[stage].rewrite != "none":
                rewriting_told(f"{name}, {stage}", searched(store, STAGES[stage], questions, given.k)[2])


if __name__ == "__main__":
    main()
