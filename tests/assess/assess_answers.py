"""Answers with labelled citations, as the tests of BioACE's tables need them."""

from __future__ import annotations

from typing import NamedTuple

from vericite.evaluate.items import Item
from vericite.lab.assess.tables import SystemAnswer
from vericite.records import Answer, CitationJudgement, Claim, Document, Labels, Span

WORDS = ("supports", "contradicts", "neutral")
ABOUT_IRON = "The trial enrolled 90 women. Iron lowers fatigue in women. It was in Norway."


class Case(NamedTuple):
    """A sentence with the label of its citation; without a label it cites nothing."""

    sentence: str
    label: str | None
    document: str
    evidence: tuple[str, ...]


def case(sentence: str, label: str | None, document: str = "Iron.", evidence: tuple[str, ...] = ()) -> Case:
    """Return a sentence with its label."""
    return Case(sentence, label, document, evidence)


def answers_of(cases: list[Case], question: str = "q", name: str = "mine", asked: str | None = None):
    """Return the one answer that has these sentences."""
    ids = {text: f"d{at}" for at, text in enumerate(dict.fromkeys(given.document for given in cases))}
    claims, start = [], 0
    for given in cases:
        claims.append(Claim(text=given.sentence, span=Span(start=start, end=start + len(given.sentence)), citations=()))
        start += len(given.sentence) + 1
    answer = Answer(
        id=question,
        text=" ".join(given.sentence for given in cases),
        claims=tuple(claims),
        documents=tuple(Document.from_text(id, text, "Iron") for text, id in ids.items()),
        question=asked,
    )
    judged = tuple(
        CitationJudgement(sentence=at, document=ids[given.document], label=given.label, evidence=given.evidence)
        for at, given in enumerate(cases)
        if given.label is not None
    )
    labels = Labels(id=question, citations=judged)
    return [SystemAnswer(question, name, Item(question, answer=answer, labels=labels))]
