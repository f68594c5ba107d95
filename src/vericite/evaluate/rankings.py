"""Whether two measures put the same systems in the same order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from pydantic import ConfigDict, Field

from vericite.errors import InputError, RecordError
from vericite.evaluate.agreement import Agreement
from vericite.evaluate.measures.agreement import RankAgreement
from vericite.evaluate.resampling import Bootstrap
from vericite.evaluate.signatures import signed
from vericite.records import Record, number_jsonl

Scores = Mapping[str, Mapping[str, float | None]]
"""By measure, each system's figure."""


class ScoreLine(Record):
    """A figure of a system, as ``vericite score --out`` writes them; fields of other names are passed over."""

    model_config = ConfigDict(extra="ignore")

    system: str = Field(min_length=1)
    measure: str = Field(min_length=1)
    value: float | None
    group: str | None = None


@dataclass(frozen=True)
class Correlated:
    """How far two measures rank the same systems alike, and what made the figure."""

    first: str
    second: str
    found: Agreement
    signature: str

    @property
    def record(self) -> dict[str, object]:
        """It as JSON has it; an undefined coefficient is null."""
        estimate = self.found.estimate
        return {
            "name": self.found.name,
            "first": self.first,
            "second": self.second,
            "value": estimate.value,
            "low": estimate.low,
            "high": estimate.high,
            "n": self.found.n,
            "missing": self.found.missing,
            "signature": self.signature,
        }


def read_scores(paths: Iterable[Path]) -> tuple[dict[str, dict[str, float | None]], list[RecordError]]:
    """Figures over all questions (not those of groups), by measure and system; a bad line costs itself alone.

    Raises:
        InputError: A file cannot be read.
    """
    found: dict[str, dict[str, float | None]] = {}
    problems: list[RecordError] = []
    for path in paths:
        for number, line in number_jsonl(ScoreLine, path):
            if isinstance(line, RecordError):
                problems.append(line)
            elif line.group is not None:
                continue
            elif line.system in found.setdefault(line.measure, {}):
                problem = f"expected one figure a system and measure; {line.system!r} had {line.measure} before"
                problems.append(RecordError(path, number, "system", problem))
            else:
                found[line.measure][line.system] = line.value
    return found, problems


def rank_alike(
    scores: Scores,
    measures: Sequence[RankAgreement],
    reference: str | None = None,
    bootstrap: Bootstrap | None = None,
) -> list[Correlated]:
    """How far measures rank systems alike: each against the reference, or each pair.

    Raises:
        InputError: There are fewer than two measures with figures, or the reference is none of them.
    """
    names = sorted(scores)
    if len(names) < 2:
        raise InputError(f"expected figures of two measures or more; found those of {', '.join(names) or 'none'}")
    if reference is not None and reference not in scores:
        raise InputError(f"expected the reference to be one of {', '.join(names)}; found {reference!r}")
    pairs = [(reference, name) for name in names if name != reference] if reference else list(combinations(names, 2))
    drawn = bootstrap or Bootstrap()
    signature = signed(drawn)
    return [
        Correlated(first, second, measure.of(scores[first], scores[second], drawn), signature)
        for first, second in pairs
        for measure in measures
    ]
