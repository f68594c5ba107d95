"""Collects what sentences are chosen by: figures of every candidate sentence, and which of them are right.

    python recipes/answers/collect.py DATA OUT [--train N] [--dev N] [--take-away | --swap] [--closed]
    python recipes/answers/collect.py DATA OUT --labels LABELS ...

Training questions are those of BioASQ 7B to 11B that are not yes/no (MIRAGE tests on those), development ones the 12B
golden set. Documents are found by BM25 in the shared corpus and ranked again; those that were stitched from snippets
are lengthened to whole abstracts (``benchmarks/extractive.py``). ``--take-away`` asks with the gold documents gone;
``--swap`` asks with one subject of each question replaced by another question's. ``--closed`` takes yes/no questions,
with what the judge says of their sentences: BioASQ 13B's training part and two thirds of PubMedQA's training half,
whose abstracts come without their conclusions; the rest and 12B are for development. ``--labels`` takes the questions
that have labels (``candidates.py``).
OUT gets a line a question.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from extractive import Asked, asked_in, lengthened, overlaps, read_corpus
from rows import DEV_SHARE, is_dev
from vericite.generate.extractive import VOTERS, judged, lexical_vote, stance_figures
from vericite.generate.selection import (
    Candidate,
    candidates_of,
    document_relevance,
    first_look,
    missing_of,
    odds_of,
    sigmoid,
    weigh,
)
from vericite.generate.subjects import subjects_of
from vericite.models import Embedder
from vericite.models.embedder import Reranker
from vericite.records import Document, Evidence, Question, Section
from vericite.retrieve.local import MemoryRetriever
from vericite.retrieve.rerank import Rerank
from vericite.verify import BundledJudge

READ_AGAIN = 10
"""Documents that are ranked again: 20 in use, 10 here for time."""
K = 5


def open_questions(data: Path) -> dict[str, list[Asked]]:
    """Questions that are not yes/no, by split; those for development are of all types.

    Of the training questions only those that the reranker's second head was not trained on (``rows.py``).
    """
    files = sorted((data / "mirage" / "rawdata" / "bioasq").rglob("*.json"))
    train = [asked for file in files for asked in asked_in(file) if asked.question.type != "yesno" and asked.snippets]
    train = [asked for asked in train if is_dev(asked.question.id, DEV_SHARE)]
    dev = [asked for file in sorted((data / "bioasq12b").glob("*.json")) for asked in asked_in(file) if asked.snippets]
    return {"train": train, "dev": dev}


def closed_questions(data: Path) -> tuple[dict[str, list[Asked]], dict[str, Document]]:
    """Yes/no questions by split, and the abstracts of those that have one of their own."""
    rows = asked_in(data / "bioasq13b" / "new_training13b.json")
    found = {"train": [asked for asked in rows if asked.question.type == "yesno"], "dev": list[Asked]()}
    test = json.loads((data / "pubmedqa" / "test_ground_truth.json").read_text(encoding="utf-8"))
    entries = json.loads((data / "pubmedqa" / "ori_pqal.json").read_text(encoding="utf-8"))
    own: dict[str, Document] = {}
    for index, (pmid, entry) in enumerate(sorted(entries.items())):
        if pmid in test:
            continue
        parts = zip(entry["LABELS"], entry["CONTEXTS"], strict=True)
        own[pmid] = Document(id=pmid, sections=tuple(Section(label=label, text=text) for label, text in parts))
        exact = ((entry["final_decision"],),)
        question = Question(id=pmid, text=entry["QUESTION"], type="yesno", gold_exact=exact)
        found["train" if index % 3 else "dev"].append(Asked(question, ()))
    for file in sorted((data / "bioasq12b").glob("*.json")):
        found["dev"] += [asked for asked in asked_in(file) if asked.question.type == "yesno"]
    return found, own


class Collector:
    """Finds evidence for questions, and reads its sentences."""

    def __init__(self, data: Path, take_away: bool, own: dict[str, Document]) -> None:
        documents, whole = read_corpus(data / "corpus" / "pubmed_corpus.jsonl.gz")
        self._by_id = {document.id: document for document in documents}
        self._search, self._around = MemoryRetriever(documents, by="bm25"), MemoryRetriever(whole, by="bm25")
        self._reranker, self._embedder, self._judge = Reranker.shared(), Embedder.shared(), BundledJudge()
        self._take_away, self._own = take_away, own

    def row(self, asked: Asked, closed: bool) -> dict[str, Any] | None:
        """What was found of a question; None where there is no sentence."""
        question = asked.question
        evidence = self.evidence(asked)
        every = candidates_of(evidence)
        if not every:
            return None
        documents = document_relevance(question.text, evidence, self._reranker)
        candidates = first_look(question.text, every, documents)
        weighed = weigh(question.text, candidates, documents, self._embedder, self._reranker)
        gold = {id for id, _ in asked.snippets}
        row = {
            "id": question.id,
            "type": question.type,
            "question": question.text,
            "own": question.id in self._own,
            "gold": [hit.document.id in gold for hit in evidence],
            "places": [[evidence[one.marker - 1].document.id, one.place] for one in candidates],
            "roles": [candidate.role for candidate in candidates],
            "figures": weighed.figures.tolist(),
            "right": [_hits(candidate, asked, evidence) for candidate in candidates],
            "lost": len({n for it in every for n in _hits(it, asked, evidence)}),
            "documents": documents.tolist(),
            "missing": missing_of(question.text, evidence).tolist(),
        }
        return {**row, "stance": self._stance(question, candidates, weighed.figures)} if closed else row

    def _stance(self, question: Question, candidates: list[Candidate], figures: Any) -> dict[str, Any]:
        for candidate, odds in zip(candidates, odds_of(figures, closed=True), strict=True):
            candidate.answers = sigmoid(float(odds))
        asked = sorted(candidates, key=lambda candidate: -candidate.answers)[:VOTERS]
        entailed, contradicted = judged(question.text, asked, self._judge)
        words = [lexical_vote(question.text, candidate.text) for candidate in asked]
        assert question.gold_exact is not None
        figures_of_all = stance_figures(asked, entailed, contradicted, words)
        leanings = [e - c for e, c in zip(entailed, contradicted, strict=True)]
        return {"gold": question.gold_exact[0][0], "figures": figures_of_all, "leanings": leanings, "words": words}

    def document(self, id: str, asked: Asked) -> Evidence:
        """Return a document as ``evidence`` gives it."""
        own = self._own.get(id)
        found = own or lengthened(self._by_id[id], asked, self._around)
        return Evidence(document=found, rank=1, score=1.0, retriever="own")

    def evidence(self, asked: Asked) -> list[Evidence]:
        """Find and rank documents for a question."""
        if not self._take_away and (own := self._own.get(asked.question.id)) is not None:
            return [Evidence(document=own, rank=1, score=1.0, retriever="own")]
        gold = {id for id, _ in asked.snippets} | {asked.question.id}
        hits = self._search.retrieve(asked.question, READ_AGAIN + (60 if self._take_away else 0))
        left = [hit for hit in hits if not (self._take_away and hit.document.id in gold)][:READ_AGAIN]
        # Lengthened before they are read: a reranker finds a snippet more relevant than an abstract that has it.
        whole = [hit.model_copy(update={"document": lengthened(hit.document, asked, self._around)}) for hit in left]
        return Rerank(self._reranker)(asked.question.text, whole)[:K]


def with_labels(data: Path, labels: list[Path]) -> Iterator[dict[str, Any]]:
    """Rows of questions with labels: the digit of each sentence, or None if it has none."""
    from candidates import questions_of

    own = closed_questions(data)[1]
    collectors = {gone: Collector(data, gone, own) for gone in (False, True)}
    for asked, kept in questions_of(data, labels):
        row = collectors[kept["gone"]].row(asked, closed=False)
        if row is not None:
            digits = dict(zip(map(tuple, kept["rows"]), kept["labels"], strict=True))
            yield {**row, "labels": [digits.get((id, place)) for id, place in row["places"]]}


def swapped(every: list[Asked]) -> list[Asked]:
    """The questions with the longest subject of each replaced by one of another: hardly any document answers them."""
    drawn = random.Random(1)
    pool = [subject for asked in every for subject in subjects_of(asked.question.text)]
    found: list[Asked] = []
    for asked in every:
        text = asked.question.text
        subjects = subjects_of(text)
        others = [subject for subject in pool if subject not in subjects]
        if subjects and others:
            other = text.replace(max(subjects, key=len), drawn.choice(others))
            question = asked.question.model_copy(update={"text": other})
            found.append(Asked(question, asked.snippets))
    return found


def _hits(candidate: Candidate, asked: Asked, evidence: list[Evidence]) -> list[int]:
    """The snippets that a sentence is of."""
    id = evidence[candidate.marker - 1].document.id
    return [number for number, (of, text) in enumerate(asked.snippets) if of == id and overlaps(candidate.text, text)]


def main() -> int:
    """Collect and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--train", type=int, default=300)
    parser.add_argument("--dev", type=int, default=150)
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--take-away", action="store_true", help="with the gold documents gone")
    parser.add_argument("--closed", action="store_true", help="yes/no questions")
    kind.add_argument("--swap", action="store_true", help="with one subject of each question put in another's place")
    parser.add_argument("--labels", type=Path, nargs="+", help="questions that have labels, instead of the others")
    given = parser.parse_args()
    if given.labels:
        with given.out.open("w", encoding="utf-8") as file:
            for row in with_labels(given.data, given.labels):
                file.write(json.dumps(row) + "\n")
        return 0
    if given.swap and given.closed:
        parser.error("expected --swap with open questions; found --closed, whose answers would be those of the others")
    questions, own = closed_questions(given.data) if given.closed else (open_questions(given.data), {})
    collector = Collector(given.data, given.take_away, own)
    started, done = time.monotonic(), 0
    with given.out.open("w", encoding="utf-8") as file:
        for split, every in questions.items():
            random.Random(7).shuffle(every)
            if given.swap:
                every = swapped(every)
            for asked in every[: getattr(given, split)]:
                row = collector.row(asked, given.closed)
                if row is not None:
                    file.write(json.dumps({"split": split, **row}) + "\n")
                done += 1
                if done % 25 == 0:
                    sys.stderr.write(f"{done} questions, {time.monotonic() - started:.0f} s\n")
                    file.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
