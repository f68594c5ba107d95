"""What the parts of a pipeline asked language models, added up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    # It loads what asks language models.
    from vericite.llm import Ledger


@runtime_checkable
class KeepsLedger(Protocol):
    """A part that asks a language model, or whose own part does."""

    @property
    def ledger(self) -> Ledger | None:
        """What was asked so far, and what it cost; None where there is no model."""
        ...


def ledger_of(parts: Iterable[object]) -> Ledger | None:
    """What these were asked together, a model that several of them share counted once; None where there is none."""
    found = (part.ledger for part in parts if isinstance(part, KeepsLedger))
    # Parts that share a model have the very same ledger.
    distinct = {id(ledger): ledger for ledger in found if ledger is not None}
    return _together(list(distinct.values())) if distinct else None


def _together(ledgers: Sequence[Ledger]) -> Ledger:
    from dataclasses import asdict

    from vericite.llm import Ledger

    costs = [ledger.cost for ledger in ledgers]
    known = [cost for cost in costs if cost is not None]
    counts = Counter[str]()
    for ledger in ledgers:
        counts.update({name: count for name, count in asdict(ledger).items() if name != "cost"})
    return Ledger(**counts, cost=sum(known) if len(known) == len(costs) else None)
