"""The judgements of a case: one for each statement and premise, as far as they were asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vericite.models.contracts import COLUMNS, ENTAILS, NEUTRAL, Judgement

Scores = NDArray[np.float32]
"""[statements, premises, 3]: probabilities of entails, contradicts, neutral."""

Cells = NDArray[np.bool_]
"""[statements, premises]: a selection of judgements."""


Overlap = NDArray[np.float64]
"""[statements, premises]: the share of a statement's words that a premise has, weighted by rarity."""

Cell = tuple[int, int]
"""Indices of a statement and a premise."""


class Role(NamedTuple):
    """Content of a premise: all sources together, one source alone, all others, or one sentence of a source."""

    kind: Literal["joint", "alone", "without", "sentence"] = "joint"
    source: int | None = None


JOINT = Role()


@dataclass(frozen=True)
class Sheet:
    """The judgements of a case.

    ``asked`` marks the judgements that were made, ``failed`` those of them that failed; other scores mean nothing.
    ``roles`` has the role of each premise. ``overlap`` has the share of a statement's words in each premise, for
    aggregators that read it. A verdict less probable than ``sure`` becomes an abstention. A sheet is not ``complete``
    while more premises are to be assembled. ``silent`` are sources that say nothing about the claim; their sentences
    count for no verdict.
    """

    scores: Scores
    asked: Cells
    failed: Cells
    roles: tuple[Role, ...]
    natives: dict[Cell, str] = field(default_factory=dict[Cell, str])
    overlap: Overlap | None = None
    sure: float = 0.0
    complete: bool = True
    silent: frozenset[int] = frozenset()

    @classmethod
    def blank(
        cls,
        statements: int,
        roles: Sequence[Role],
        overlap: Overlap | None = None,
        sure: float = 0.0,
        complete: bool = True,
    ) -> Sheet:
        """Return a sheet without judgements."""
        shape = (statements, len(roles))
        scores = np.zeros((*shape, len(COLUMNS)), dtype=np.float32)
        asked, failed = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
        return cls(scores, asked, failed, tuple(roles), {}, overlap, sure, complete)

    @classmethod
    def filled(cls, scores: Scores, failed: Cells | None = None, roles: Sequence[Role] | None = None) -> Sheet:
        """Return a sheet with all judgements."""
        shape = scores.shape[:2]
        gone = np.zeros(shape, dtype=bool) if failed is None else failed
        return cls(scores, np.ones(shape, dtype=bool), gone, tuple(roles or [JOINT] * shape[1]))

    def fill(self, cells: Sequence[Cell], judgements: Sequence[Judgement]) -> None:
        """Store judgements, one per cell."""
        if not cells:
            return
        rows, columns = np.array(cells).T
        self.asked[rows, columns] = True
        self.failed[rows, columns] = [item.failure is not None for item in judgements]
        self.scores[rows, columns] = [item.probabilities for item in judgements]
        self.natives.update(
            {cell: item.native for cell, item in zip(cells, judgements, strict=True) if item.native is not None}
        )

    def lower(self, cell: Cell, judgement: Judgement | None) -> bool:
        """Remove support that a second judgement does not give. Return whether the cell still supports its statement.

        Removed support becomes neutral. None gives no support at all.
        """
        if judgement is not None and judgement.failure is not None:
            self.failed[cell] = True
            return False
        row = self.scores[cell]
        given = 0.0 if judgement is None else float(judgement.probabilities[ENTAILS])
        lost = max(0.0, float(row[ENTAILS]) - given)
        row[ENTAILS] -= lost
        row[NEUTRAL] += lost
        supports = int(row.argmax()) == ENTAILS
        if not supports:
            self.natives.pop(cell, None)
        return supports

    def completed(self, roles: Sequence[Role], silent: frozenset[int] = frozenset()) -> Sheet:
        """Return the sheet with its last premises, without judgements; their overlap is 0."""
        more = Sheet.blank(len(self.scores), roles)
        scores = np.concatenate((self.scores, more.scores), axis=1)
        asked = np.concatenate((self.asked, more.asked), axis=1)
        failed = np.concatenate((self.failed, more.failed), axis=1)
        # Not computed again: the order in which premises are asked must not change.
        overlap = None if self.overlap is None else np.pad(self.overlap, ((0, 0), (0, len(roles))))
        roles_of_all = (*self.roles, *more.roles)
        return Sheet(scores, asked, failed, roles_of_all, self.natives, overlap, self.sure, silent=silent)

    def indices(self, role: Role) -> list[int]:
        """Return the premises of a role; a premise that was too long for the judge has several."""
        return [index for index, found in enumerate(self.roles) if found == role]

    def entailed(self, role: Role) -> bool | None:
        """Return whether the premises of a role entail every statement; None if that depends on a failure."""
        indices = self.indices(role)
        won = (self.scores[:, indices].argmax(axis=2) == ENTAILS) & ~self.failed[:, indices]
        entailed = won.any(axis=1)
        if entailed.all():
            return True
        return None if self.failed[:, indices][~entailed].any() else False

    def only(self, indices: Sequence[int]) -> Sheet:
        """Return the sheet with these premises only."""
        kept = list(indices)
        moved = {old: new for new, old in enumerate(kept)}
        natives = {(row, moved[old]): name for (row, old), name in self.natives.items() if old in moved}
        roles = tuple(self.roles[index] for index in kept)
        return Sheet(self.scores[:, kept], self.asked[:, kept], self.failed[:, kept], roles, natives)
