"""Writes sentences to be labelled by reading: each answers its question, supports an answer, or does neither.

    python recipes/answers/candidates.py DATA OUT [--open N] [--closed N] [--dev] [--from N]

The questions are training ones alone: BioASQ 7B to 11B without yes/no (``--open``), and the yes/no questions that
``collect.py`` fits on (``--closed``). One open question in six is asked with its gold documents gone. OUT gets a line a
question: its best sentences by the shipped models, each with title, role, document and place. What ``labels`` holds is
such lines without text, with a digit a sentence (``--keep LABELS`` makes them); ``labelled`` joins them with the data.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from collect import Collector, closed_questions
from extractive import Asked, asked_in
from rows import DEV_SHARE, is_dev
from vericite.generate.selection import Candidate, candidates_of, document_relevance, first_look, odds_of, weigh
from vericite.models import Embedder
from vericite.models.embedder import Reranker

SHOWN = 8
"""Sentences of a question."""
GONE = 6
"""One open question in so many is asked with its gold documents gone."""


def open_questions(data: Path, dev: bool = False) -> list[Asked]:
    """Those that the reranker may learn from; with ``dev`` those that it must not, on which weights are fitted."""
    files = sorted((data / "mirage" / "rawdata" / "bioasq").rglob("*.json"))
    every = [asked for file in files for asked in asked_in(file) if asked.question.type != "yesno" and asked.snippets]
    every = [asked for asked in every if is_dev(asked.question.id, DEV_SHARE) is dev]
    random.Random(17).shuffle(every)
    return every


def shown(collector: Collector, asked: Asked) -> dict[str, Any] | None:
    """A question with its best sentences; None if there is none."""
    evidence = collector.evidence(asked)
    every = candidates_of(evidence)
    if not every:
        return None
    reranker, text = Reranker.shared(), asked.question.text
    documents = document_relevance(text, evidence, reranker)
    candidates = first_look(text, every, documents)
    odds = odds_of(
        weigh(text, candidates, documents, Embedder.shared(), reranker).figures, asked.question.type == "yesno"
    )
    best = sorted(range(len(candidates)), key=lambda index: -float(odds[index]))[:SHOWN]
    rows = [
        {
            "document": evidence[candidates[index].marker - 1].document.id,
            "place": candidates[index].place,
            "role": candidates[index].role,
            "title": candidates[index].title,
            "text": candidates[index].text,
        }
        for index in best
    ]
    question = asked.question
    return {"id": question.id, "type": question.type, "question": text, "ideal": question.gold_ideal[:1], "rows": rows}


def kept(candidates: Path, labels: Path) -> Iterator[dict[str, Any]]:
    """What ``labels`` holds of a file of candidates and the labels read for it: no text, as it is not ours."""
    given = {(row["id"], row["gone"]): row for row in map(json.loads, labels.open(encoding="utf-8"))}
    for row in map(json.loads, candidates.open(encoding="utf-8")):
        found = given.get((row["id"], row["gone"]))
        if found is not None and len(found["labels"]) == len(row["rows"]):
            places = [[one["document"], one["place"]] for one in row["rows"]]
            says = {"says": found["says"]} if row["type"] == "yesno" else {}
            yield {"id": row["id"], "gone": row["gone"], "rows": places, "labels": found["labels"], **says}


def questions_of(data: Path, labels: Iterable[Path]) -> Iterator[tuple[Asked, dict[str, Any]]]:
    """Questions with what was kept of them."""
    opened = [*open_questions(data), *open_questions(data, dev=True)]
    every = {asked.question.id: asked for asked in [*opened, *closed_questions(data)[0]["train"]]}
    for file in labels:
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                yield every[row["id"]], row


def labelled(data: Path, labels: Iterable[Path]) -> Iterator[tuple[Asked, dict[str, Any], list[Candidate]]]:
    """Join what was kept with the data again: a question, its labels and its sentences."""
    collector = Collector(data, False, closed_questions(data)[1])
    for asked, row in questions_of(data, labels):
        by_place = {
            (id, candidate.place): candidate
            for id in dict.fromkeys(id for id, _ in row["rows"])
            for candidate in candidates_of([collector.document(id, asked)])
        }
        found = [by_place.get((id, place)) for id, place in row["rows"]]
        if None not in found:
            yield asked, row, [candidate for candidate in found if candidate is not None]


def main() -> int:
    """Write the candidates."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--open", type=int, default=0)
    parser.add_argument("--closed", type=int, default=0)
    parser.add_argument("--dev", action="store_true", help="open questions that the reranker does not learn from")
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--keep", type=Path, help="labels that were read for the candidates in OUT: print what is kept")
    given = parser.parse_args()
    if given.keep:
        sys.stdout.writelines(json.dumps(row) + "\n" for row in kept(given.out, given.keep))
        return 0
    closed, own = closed_questions(given.data)
    random.Random(17).shuffle(closed["train"])
    end = given.first + max(given.open, given.closed)
    asked_of = {
        False: open_questions(given.data, given.dev)[given.first : end],
        True: closed["train"][given.first : end],
    }
    collectors = {gone: Collector(given.data, gone, own) for gone in (False, True)}
    with given.out.open("w", encoding="utf-8") as file:
        for kind, most in ((False, given.open), (True, given.closed)):
            for number, asked in enumerate(asked_of[kind][:most]):
                gone = not kind and number % GONE == 0
                row = shown(collectors[gone], asked)
                if row is not None:
                    file.write(json.dumps({**row, "gone": gone}, ensure_ascii=False) + "\n")
                    file.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
