"""All measures of many systems, timed: 30 systems x 40 questions (the size of TREC BioGen), 1,000 bootstrap draws.

Usage: python benchmarks/measures.py [--systems N] [--questions N] [--keep FOLDER]

Answers, verdicts, labels and gold are made up by chance, with the sentences of the demonstration corpus. The time is
that of ``vericite score`` as a user types it, from start to end. Exits with 1 if the bar of 60 s is missed.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from vericite.corpus import demo_documents
from vericite.records import CheckedAnswer, Document, Provenance, StatementVerdict, Summary, Verdict
from vericite.text import parse_answer, split_sentences

BAR = 60.0
SENTENCES = 8
LABELS = ("supported", "contradicted", "irrelevant")
ASSESSED = ("supports", "contradicts", "neutral")
WORTH = ("required", "borderline", "unnecessary", "inappropriate")


def main() -> int:
    """Make the systems, score them, print the time."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--systems", type=int, default=30)
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--keep", type=Path, help="make the systems here, and leave them")
    told = parser.parse_args()
    with TemporaryDirectory() as scratch:
        folder = told.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        systems = make(folder, told.systems, told.questions)
        command = [
            "score",
            *map(str, systems),
            "--gold",
            str(folder / "gold.jsonl"),
            "--out",
            str(folder / "all.jsonl"),
        ]
        began = time.perf_counter()
        run = [sys.executable, "-m", "vericite", *command]
        done = subprocess.run(run, capture_output=True, text=True, check=False)
        took = time.perf_counter() - began
        if done.returncode:
            print(done.stderr)
            return 1
        figures = [json.loads(line) for line in (folder / "all.jsonl").read_text().splitlines()]
    measures = {figure["measure"] for figure in figures}
    print(f"{told.systems} systems x {told.questions} questions, {len(measures)} measures, {len(figures)} figures")
    print(f"vericite score: {took:.1f} s (bar {BAR:.0f} s)")
    return int(took > BAR)


def make(folder: Path, systems: int, questions: int) -> list[Path]:
    """A folder a system, and the gold."""
    chance = random.Random(0)
    documents = list(demo_documents())
    asked = [chance.sample(documents, 10) for _ in range(questions)]
    write(folder / "gold.jsonl", (gold(number, found, chance) for number, found in enumerate(asked)))
    places = [folder / f"system{number:02}" for number in range(systems)]
    for number, place in enumerate(places):
        place.mkdir(exist_ok=True)
        good = 0.4 + 0.5 * number / max(1, systems - 1)
        made = [answer(question, found, good, chance) for question, found in enumerate(asked)]
        for kind in ("answers", "verdicts", "labels", "outputs", "scores"):
            write(place / f"{kind}.jsonl", (one[kind] for one in made))
    return places


def gold(number: int, found: list[Document], chance: random.Random) -> dict[str, object]:
    """What is right, of every kind."""
    kind = ("yesno", "factoid", "list", "summary")[number % 4]
    return {
        "id": f"q{number}",
        "type": kind,
        "documents": {document.id: chance.randint(0, 2) for document in found},
        "exact": [["yes"]] if kind == "yesno" else [["CFTR", "ABCC7"], ["ADAMTS13"]],
        "ideal": [" ".join(sentences(document)[:3]) for document in found[:2]],
        "citations": [{"sentence": place, "documents": [found[place % 10].id]} for place in range(SENTENCES)],
        "nuggets": [{"id": f"n{place}", "vital": place < 4} for place in range(6)],
        "category": chance.choice(["yes", "no", "maybe"]),
    }


def answer(number: int, found: list[Document], good: float, chance: random.Random) -> dict[str, dict[str, object]]:
    """A system's answer, with all that may lie beside it; ``good`` is the share of what it gets right."""
    id = f"q{number}"
    told = [chance.choice(sentences(chance.choice(found))) for _ in range(SENTENCES)]
    cited = [sorted(chance.sample(range(10), 2)) for _ in range(SENTENCES)]
    text = " ".join(
        f"{said.rstrip('.')} {''.join(f'[{one + 1}]' for one in ones)}." for said, ones in zip(told, cited, strict=True)
    )
    sources = [{"id": document.id, "title": document.title, "text": document.text} for document in found]
    pairs = [(place, found[one].id) for place, ones in enumerate(cited) for one in ones]
    right = [0 if chance.random() < good else chance.randint(1, 2) for _ in pairs]
    return {
        "answers": {"id": id, "answer": text, "documents": sources},
        "verdicts": verdicts(id, text, found, right),
        "labels": {
            "id": id,
            "citations": [
                {"sentence": place, "document": document, "label": ASSESSED[label]}
                for (place, document), label in dict(zip(pairs, right, strict=True)).items()
            ],
            "sentences": [WORTH[0 if chance.random() < good else chance.randint(1, 3)] for _ in range(SENTENCES)],
            "correct": [chance.random() < good for _ in range(SENTENCES)],
            "nuggets": 7,
            "matches": [{"answer": place, "gold": f"n{chance.randint(0, 5)}"} for place in range(7)],
            "entailed": [chance.random() < good for _ in range(5)],
        },
        "outputs": {"id": id, "retrieved": [it.id for it in chance.sample(found, 10)], "exact": [["yes"], ["CFTR"]]},
        "scores": {"id": id, "scores": {"bertscore_f1": good, "claim_entailment": good}},
    }


def verdicts(id: str, text: str, found: list[Document], right: list[int]) -> dict[str, object]:
    """What ``check`` would say, made up."""
    parsed = parse_answer(id, text, found)
    labels = iter(right)
    made = [
        Verdict(
            claim=claim.text,
            start=claim.span.start,
            end=claim.span.end,
            markers=(citation.marker,),
            documents=(citation.document or "",),
            label=(label := LABELS[next(labels, 0)]),
            native=label,
            statements=(StatementVerdict(text=claim.text, label=label, native=label, holds=label == "supported"),),
            protocol="made up",
        )
        for claim in parsed.claims
        for citation in claim.citations
    ]
    summary = Summary.of(parsed, tuple(made), ())
    checked = CheckedAnswer(id=id, verdicts=tuple(made), summary=summary, provenance=Provenance(version="0"))
    return checked.model_dump(mode="json")


def sentences(document: Document) -> list[str]:
    """The sentences of a document."""
    return [document.text[span.slice] for span in split_sentences(document.text)]


def write(path: Path, records: Iterable[object]) -> None:
    """A line each."""
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
