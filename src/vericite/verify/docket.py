"""A case on its way to a verdict: what is asked of the judge, and what came back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from vericite.models import Pair
from vericite.records import Claim
from vericite.verify.assembly import Assembling
from vericite.verify.fitting import room_for
from vericite.verify.judging import Judge, Judgement
from vericite.verify.likeness import shared
from vericite.verify.premises import Case, Premise
from vericite.verify.protocol import Protocol
from vericite.verify.sheet import Cell, Likeness, Sheet
from vericite.verify.wording import quoted


@dataclass
class Docket:
    """A case of an answer; where there is no sense in judging it, ``abstain`` has the reason.

    ``about`` is what a reader of the verdict is to know of its sources.
    ``quotes`` is the premise that the claim is word for word, where the protocol heeds that: no judge is asked then.
    """

    protocol: Protocol
    claim: Claim
    case: Case
    statements: tuple[str, ...]
    abstain: str | None
    question: str | None = None
    note: str | None = None
    about: tuple[str, ...] = ()
    judgements: list[Judgement] = field(default_factory=list[Judgement])
    sheet: Sheet = field(init=False)
    quotes: int | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        if self.protocol.quotes:
            self.quotes = quoted(self.claim.text, self.case)
        roles = [premise.role for premise in self.case.premises]
        complete = not isinstance(self.protocol.premise, Assembling)
        self.sheet = Sheet.blank(
            len(self.statements), roles, self._likeness(), self.protocol.abstain_below, complete=complete
        )

    def wanted(self, judge: Judge) -> dict[Cell, Pair]:
        """What is to be judged next; once the first premises are, more may be put together from them."""
        if self.abstain is not None or self.quotes is not None:
            return {}
        wanted = self._wanted()
        if wanted or self.sheet.complete:
            return wanted
        self._assemble(judge)
        return self._wanted()

    def _assemble(self, judge: Judge) -> None:
        plan = self.protocol.premise
        more: tuple[Premise, ...] = ()
        if isinstance(plan, Assembling):
            more = plan.assemble(self.case, self.sheet, room_for(self.statements, judge))
        self.case = replace(self.case, premises=(*self.case.premises, *more))
        self.sheet = self.sheet.completed([premise.role for premise in more])

    def _wanted(self) -> dict[Cell, Pair]:
        # What was asked is not asked again, whatever an aggregator says: a verdict must be reached.
        rows, columns = np.nonzero(self.protocol.aggregate.wanted(self.sheet) & ~self.sheet.asked)
        return {cell: self._pair(cell) for cell in zip(rows.tolist(), columns.tolist(), strict=True)}

    def _likeness(self) -> Likeness | None:
        idle = self.abstain is not None or self.quotes is not None
        if idle or not getattr(self.protocol.aggregate, "reads_likeness", False):
            return None
        texts = [premise.text for premise in self.case.premises]
        shape = (len(self.statements), len(texts))
        return np.array([shared(statement, texts) for statement in self.statements]).reshape(shape)

    def put(self, asked: Mapping[Cell, Pair], judged: Mapping[Pair, Judgement]) -> None:
        """Take the judgements on what was asked."""
        judgements = [judged[pair] for pair in asked.values()]
        self.judgements += judgements
        self.sheet.fill(list(asked), judgements)

    def _pair(self, cell: Cell) -> Pair:
        statement, premise = cell
        return Pair(self.case.premises[premise].text, self.statements[statement], self.question)
