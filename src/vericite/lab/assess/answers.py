"""The answers that BioACE's tables are about: those of many systems, with the labels that fit them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from vericite.errors import Problems, RecordError
from vericite.evaluate.items import Item
from vericite.evaluate.scoring import System
from vericite.evaluate.systems import SYSTEM_ID

_NO_LABELS = "no labels, because the answer has no sentences"
_LEFT_OUT = "They are left out: label the current answer"


@dataclass(frozen=True)
class SystemAnswer:
    """A system's answer to a question."""

    question: str
    system: str
    item: Item


def answered(systems: Sequence[System], problems: Problems) -> list[SystemAnswer]:
    """Return the answers of each system; MedAESQA's file has many systems.

    Args:
        systems: The systems as read.
        problems: Labels that do not fit their answer are added here and left out.
    """
    found: list[SystemAnswer] = []
    for system in systems:
        for item in (_without_wrong_labels(item, system.name, problems) for item in system.items):
            parts = SYSTEM_ID.fullmatch(item.id)
            if parts is None:
                found.append(SystemAnswer(item.id, system.name, item))
            else:
                found.append(SystemAnswer(parts["question"], parts["system"], item))
    return found


def _without_wrong_labels(item: Item, system: str, problems: Problems) -> Item:
    """Remove labels whose number differs from that of sentences, and labels of citations in missing sentences."""
    if item.answer is None or item.labels is None:
        return item
    labels, sentences = item.labels, len(item.answer.claims)
    if labels.sentences is not None and len(labels.sentences) != sentences:
        wanted = f"a label (or null) for each of {sentences} sentences" if sentences else _NO_LABELS
        problem = f"expected {wanted}; found {len(labels.sentences)}. {_LEFT_OUT}"
        problems.append(RecordError(system, 0, f"{item.id}.sentences", problem))
        labels = labels.model_copy(update={"sentences": None})
    kept = tuple(judgement for judgement in labels.citations or () if judgement.sentence < sentences)
    if beyond := len(labels.citations or ()) - len(kept):
        wanted, others = (f"labels of sentences 0 to {sentences - 1}", " of others") if sentences else (_NO_LABELS, "")
        problem = f"expected {wanted}; found {beyond}{others}. {_LEFT_OUT}"
        problems.append(RecordError(system, 0, f"{item.id}.citations", problem))
        labels = labels.model_copy(update={"citations": kept})
    return replace(item, labels=labels)
