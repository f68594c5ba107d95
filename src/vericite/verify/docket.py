"""A case on its way to a verdict: what is asked of the judge, and what came back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from vericite.models import Pair
from vericite.records import Claim
from vericite.verify.aggregate import Aggregator
from vericite.verify.assembly import Assembling
from vericite.verify.fitting import room_for
from vericite.verify.judging import Judge, Judgement
from vericite.verify.likeness import likest_first
from vericite.verify.premises import Case
from vericite.verify.protocol import Protocol
from vericite.verify.sheet import Cell, Sheet


@dataclass
class Docket:
    """A case of an answer; where there is no sense in judging it, ``abstain`` has the reason."""

    claim: Claim
    case: Case
    statements: tuple[str, ...]
    abstain: str | None
    question: str | None = None
    note: str | None = None
    judgements: list[Judgement] = field(default_factory=list[Judgement])
    assembled: bool = False
    sheet: Sheet = field(init=False)

    def __post_init__(self) -> None:
        self.sheet = Sheet.blank(len(self.statements), [premise.role for premise in self.case.premises])

    def wanted(self, protocol: Protocol, judge: Judge) -> dict[Cell, Pair]:
        """What is to be judged next; once the first premises are, more may be put together from them."""
        if self.abstain is not None:
            return {}
        if self.sheet.ranks is None and getattr(protocol.aggregate, "ranked", False):
            self.sheet = replace(self.sheet, ranks=self._ranks())
        plan = protocol.premise
        if not isinstance(plan, Assembling) or self.assembled:
            return self._wanted(protocol.aggregate)
        self.sheet = replace(self.sheet, complete=False)
        if wanted := self._wanted(protocol.aggregate):
            return wanted
        more = plan.assemble(self.case, self.sheet, room_for(self.statements, judge))
        self.case = replace(self.case, premises=(*self.case.premises, *more))
        self.sheet = self.sheet.widened([premise.role for premise in more])
        self.assembled = True
        return self._wanted(protocol.aggregate)

    def _wanted(self, aggregate: Aggregator) -> dict[Cell, Pair]:
        return {cell: self._pair(cell) for cell in _cells(aggregate, self.sheet)}

    def _ranks(self) -> NDArray[np.int64]:
        texts = [premise.text for premise in self.case.premises]
        orders = [likest_first(statement, texts) for statement in self.statements]
        return np.array([np.argsort(order) for order in orders]).reshape(self.sheet.asked.shape)

    def put(self, asked: Mapping[Cell, Pair], judged: Mapping[Pair, Judgement]) -> None:
        """Take the judgements on what was asked."""
        judgements = [judged[pair] for pair in asked.values()]
        self.judgements += judgements
        self.sheet.fill(list(asked), judgements)

    def _pair(self, cell: Cell) -> Pair:
        statement, premise = cell
        return Pair(self.case.premises[premise].text, self.statements[statement], self.question)


def _cells(aggregate: Aggregator, sheet: Sheet) -> Iterator[Cell]:
    # What was asked is not asked again, whatever an aggregator says: a verdict must be reached.
    rows, columns = np.nonzero(aggregate.wanted(sheet) & ~sheet.asked)
    return zip(rows.tolist(), columns.tolist(), strict=True)
