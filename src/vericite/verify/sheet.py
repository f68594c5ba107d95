"""What is known of a case: a judgement for each statement and premise, as far as they were asked for."""

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
"""[statements, premises]: a choice of judgements."""


Overlap = NDArray[np.float64]
"""[statements, premises]: the share of a statement's words that a premise has, rare ones counting more."""

Cell = tuple[int, int]
"""A statement and a premise, by number."""


class Role(NamedTuple):
    """What a premise is for: all sources together, that source alone, all others, or a sentence of that source."""

    kind: Literal["joint", "alone", "without", "sentence"] = "joint"
    source: int | None = None


JOINT = Role()


@dataclass(frozen=True)
class Sheet:
    """The judgements on a case.

    ``asked`` says which were made and ``failed`` which of these gave no answer; elsewhere the scores mean
    nothing. ``roles`` say what each premise is for. ``overlap`` says which share of a statement's words each premise
    has, for an aggregator that reads it. A verdict less probable than ``sure`` will be abstained from. A sheet is not
    ``complete`` while more premises are to be assembled from these. ``silent`` are sources that say nothing of the
    claim: their sentences count for no verdict.
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
        """Nothing asked yet."""
        shape = (statements, len(roles))
        scores = np.zeros((*shape, len(COLUMNS)), dtype=np.float32)
        asked, failed = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
        return cls(scores, asked, failed, tuple(roles), {}, overlap, sure, complete)

    @classmethod
    def filled(cls, scores: Scores, failed: Cells | None = None, roles: Sequence[Role] | None = None) -> Sheet:
        """All asked."""
        shape = scores.shape[:2]
        gone = np.zeros(shape, dtype=bool) if failed is None else failed
        return cls(scores, np.ones(shape, dtype=bool), gone, tuple(roles or [JOINT] * shape[1]))

    def fill(self, cells: Sequence[Cell], judgements: Sequence[Judgement]) -> None:
        """Write judgements in, one a cell."""
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
        """Take back support that a second judgement does not give; whether the cell still supports its statement.

        What is taken back becomes neutral. None gives no support at all.
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
        """The sheet with the last of its premises, of which nothing is asked yet; they overlap with nothing."""
        more = Sheet.blank(len(self.scores), roles)
        scores = np.concatenate((self.scores, more.scores), axis=1)
        asked = np.concatenate((self.asked, more.asked), axis=1)
        failed = np.concatenate((self.failed, more.failed), axis=1)
        # Not measured again with them: what was asked first must stay what comes first.
        overlap = None if self.overlap is None else np.pad(self.overlap, ((0, 0), (0, len(roles))))
        roles_of_all = (*self.roles, *more.roles)
        return Sheet(scores, asked, failed, roles_of_all, self.natives, overlap, self.sure, silent=silent)

    def indices(self, role: Role) -> list[int]:
        """The premises of a role; one that was too long for the judge comes in several."""
        return [index for index, found in enumerate(self.roles) if found == role]

    def entailed(self, role: Role) -> bool | None:
        """Whether the premises of a role entail every statement; None where that hangs on a failure."""
        indices = self.indices(role)
        won = (self.scores[:, indices].argmax(axis=2) == ENTAILS) & ~self.failed[:, indices]
        entailed = won.any(axis=1)
        if entailed.all():
            return True
        return None if self.failed[:, indices][~entailed].any() else False

    def only(self, indices: Sequence[int]) -> Sheet:
        """The sheet with these premises alone."""
        kept = list(indices)
        moved = {old: new for new, old in enumerate(kept)}
        natives = {(row, moved[old]): name for (row, old), name in self.natives.items() if old in moved}
        roles = tuple(self.roles[index] for index in kept)
        return Sheet(self.scores[:, kept], self.asked[:, kept], self.failed[:, kept], roles, natives)
