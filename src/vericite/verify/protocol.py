"""Protocols: every published way to judge a citation is four choices."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from vericite.errors import InputError, UnknownNameError
from vericite.verify.aggregate import Aggregator, AnyEntails
from vericite.verify.claims import AtomicStatements, ClaimPlan, WholeSentence
from vericite.verify.judging import Judge
from vericite.verify.premises import Context, Joint, PremisePlan, WholeDocument, Windows


@dataclass(frozen=True)
class Protocol:
    """What is judged, against what, by whom, and how it adds up. The judge is a name or a judge itself."""

    claim: ClaimPlan = field(default_factory=WholeSentence)
    premise: PremisePlan = field(default_factory=Windows)
    judge: Judge | str = "bundled"
    aggregate: Aggregator = field(default_factory=AnyEntails)
    name: str = "custom"

    @property
    def signature(self) -> str:
        """The protocol spelt out; the judge's own signature stands beside it in a provenance."""
        judge = self.judge if isinstance(self.judge, str) else self.judge.signature
        parts = (self.claim.signature, self.premise.signature, judge, self.aggregate.signature)
        return "{}(claim={}, premise={}, judge={}, aggregate={})".format(self.name, *parts)


PRESETS: dict[str, Callable[[], Protocol]] = {
    "vericite": lambda: Protocol(name="vericite"),
    "statements": lambda: Protocol(claim=AtomicStatements(), name="statements"),
    "document": lambda: Protocol(premise=WholeDocument(), name="document"),
    "joint": lambda: Protocol(premise=Joint(), name="joint"),
}
"""Protocols by name."""

SIZED: dict[str, Callable[[int], Protocol]] = {
    "windows": lambda size: Protocol(premise=Windows(size), name=f"windows({size})"),
    "context": lambda size: Protocol(premise=Context(size), name=f"context({size})"),
}
"""Protocols by name and a number, as in ``windows(3)``."""

DEFAULT = "vericite"


def protocol_names() -> tuple[str, ...]:
    """The names that ``get_protocol`` takes, with ``N`` for a number."""
    return (*PRESETS, *(f"{name}(N)" for name in SIZED))


def get_protocol(name: str) -> Protocol:
    """The protocol of this name, such as ``vericite``, ``joint`` or ``windows(3)``.

    Raises:
        UnknownNameError: There is none.
        InputError: Its number is not one or more.
    """
    if name in PRESETS:
        return PRESETS[name]()
    found = re.fullmatch(r"(\w+)\((\d{1,4})\)", name)
    if not found or found[1] not in SIZED:
        raise UnknownNameError("protocol", name, protocol_names())
    if int(found[2]) < 1:
        raise InputError(f"expected a number of one or more in {name!r}; found {found[2]}")
    return SIZED[found[1]](int(found[2]))
