"""Repairs: what was changed of an answer whose citations were rejected, and what of it is left."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from vericite.records.answer import Answer
from vericite.records.base import Record
from vericite.records.change import Change, RepairAction
from vericite.records.run import CheckedAnswer, Summary

_SEVERITY: tuple[RepairAction, ...] = ("dropped citation", "re-cited", "rewritten", "dropped")


class Repaired(Record):
    """An answer after its repair, and its citations checked again.

    ``before`` counts the citations as they were. ``sentences`` and ``words`` are those of the claims before;
    ``words_kept`` of them are in sentences that say the same still, or remain in rewritten ones. ``rounds`` is how
    often something was changed. ``left`` tells what was not touched because it could not be judged.
    """

    answer: Answer
    checked: CheckedAnswer
    before: Summary
    changes: tuple[Change, ...] = ()
    rounds: int = Field(default=0, ge=0)
    sentences: int = Field(default=0, ge=0)
    words: int = Field(default=0, ge=0)
    words_kept: int = Field(default=0, ge=0)
    left: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if self.words_kept > self.words:
            raise ValueError(f"expected words_kept <= {self.words}, the words; found {self.words_kept}")
        beyond = [change.sentence for change in self.changes if change.sentence >= self.sentences]
        if beyond:
            raise ValueError(f"expected changes of the {self.sentences} sentences; found one of number {beyond[0]}")
        return self

    @property
    def actions(self) -> dict[int, RepairAction]:
        """Of each sentence that was changed, what changed it most."""
        found: dict[int, RepairAction] = {}
        for change in sorted(self.changes, key=lambda change: _SEVERITY.index(change.action)):
            found[change.sentence] = change.action
        return found

    def count(self, action: RepairAction) -> int:
        """The sentences to which this was done, and nothing that changes more."""
        return list(self.actions.values()).count(action)

    @property
    def kept(self) -> int:
        """The sentences that stand as they did, but perhaps for some of their citations."""
        return self.sentences - sum(action != "dropped citation" for action in self.actions.values())

    @property
    def content(self) -> tuple[int, int]:
        """The sentences kept or re-cited, and all there were."""
        return self.kept + self.count("re-cited"), self.sentences


def support(summary: Summary) -> tuple[int, int]:
    """The cases that are supported, and all cases and dangling citations: what a support rate is made of."""
    return summary.supported, summary.cases + summary.dangling
