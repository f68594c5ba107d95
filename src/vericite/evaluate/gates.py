"""Gates: minimum or maximum shares that a check must meet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from vericite.errors import InputError, UnknownNameError
from vericite.records import Summary
from vericite.text.counted import counted

Outcome = Literal["passed", "failed", "undecided"]


@dataclass(frozen=True)
class GateShare:
    """The definition of a gate's share.

    Attributes:
        count: The numerator.
        of: The denominator, without cases that could not be judged.
        unknown: Number of cases that could not be judged. Each could count in the numerator or not.
        denominator: The denominator in words.
        parts: How many of each kind the denominator has, in words; empty if it has one kind.
    """

    count: Callable[[Summary], int]
    of: Callable[[Summary], int]
    unknown: Callable[[Summary], int]
    denominator: str
    parts: Callable[[Summary], str] = lambda _: ""


def _failed(summary: Summary) -> int:
    return summary.failed


def _none(_: Summary) -> int:
    return 0


def _cited(counts: Summary) -> int:
    return counts.judged + counts.abstained + counts.dangling


def _cited_parts(counts: Summary) -> str:
    """Return the kinds of citations that ``supported`` is out of; empty if all are judged cases."""
    told = [counted(counts.judged, "judged case")]
    told += [f"{counts.abstained} abstained"] if counts.abstained else []
    told += [counted(counts.dangling, "dangling citation")] if counts.dangling else []
    return ", ".join(told) if len(told) > 1 else ""


def _parts(counts: Summary) -> str:
    cited = _cited_parts(counts) or counted(counts.judged, "judged case")
    if counts.uncited:
        nothing = "that cites nothing" if counts.uncited == 1 else "that cite nothing"
        return f"{cited}, {counted(counts.uncited, 'sentence')} {nothing}"
    return _cited_parts(counts)


GATE_SHARES: dict[str, GateShare] = {
    "supported": GateShare(
        lambda counts: counts.supported,
        lambda counts: _cited(counts) + counts.uncited,
        _failed,
        "cases, dangling citations and uncited sentences",
        _parts,
    ),
    "supported-citations": GateShare(
        lambda counts: counts.supported, _cited, _failed, "cases and dangling citations", _cited_parts
    ),
    "contradicted": GateShare(
        lambda counts: counts.contradicted, lambda counts: counts.judged, _failed, "judged cases"
    ),
    "irrelevant": GateShare(lambda counts: counts.irrelevant, lambda counts: counts.judged, _failed, "judged cases"),
    "abstained": GateShare(
        lambda counts: counts.abstained, lambda counts: counts.judged + counts.abstained, _failed, "cases"
    ),
    "failed": GateShare(_failed, lambda counts: counts.cases, _none, "cases"),
    "dangling": GateShare(lambda counts: counts.dangling, lambda counts: counts.citations, _none, "citations"),
    "uncited": GateShare(lambda counts: counts.uncited, lambda counts: counts.claims, _none, "sentences"),
    "figure": GateShare(lambda counts: counts.figure, lambda counts: counts.judged, _failed, "judged cases"),
    "opposed": GateShare(lambda counts: counts.opposed, lambda counts: counts.judged, _failed, "judged cases"),
    "retracted": GateShare(lambda counts: counts.retracted, lambda counts: counts.citations, _none, "citations"),
}
"""The shares by name: of outcomes, and of the other kinds of findings that JUnit and SARIF name."""


@dataclass(frozen=True)
class GateCount:
    """The counts of a gate's share.

    Attributes:
        count: The numerator.
        of: The denominator.
        unknown: Cases that could not be judged. They would add to ``of`` and perhaps to ``count``.
    """

    count: int
    of: int
    unknown: int = 0

    @property
    def share(self) -> float | None:
        """The share of what was judged; None if nothing was."""
        return self.count / self.of if self.of else None

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The lowest and the highest share that what could not be judged allows; None without any case."""
        total = self.of + self.unknown
        return (self.count / total, (self.count + self.unknown) / total) if total else None

    def outcome(self, limit: float, is_minimum: bool) -> Outcome:
        """Return whether the share is within a limit; ``undecided`` if that depends on what could not be judged."""
        if self.bounds is None:
            return "failed" if is_minimum else "passed"
        lowest, highest = self.bounds
        passes = (lowest >= limit, highest >= limit) if is_minimum else (highest <= limit, lowest <= limit)
        return "passed" if passes[0] else "undecided" if passes[1] else "failed"

    def __str__(self) -> str:
        share = "" if self.share is None else f" ({self.share:.3f})"
        return f"{self.count} of {self.of}{share}"


@dataclass(frozen=True)
class BaselineCounts:
    """The counts of a run next to those of its baseline. Only answers that both have are compared.

    Attributes:
        before: The counts in the baseline of the answers that both have.
        now: The counts in this run of the same answers.
        new: The counts of the answers that only this run has.
        missing: Number of answers that only the baseline has.
    """

    before: Summary
    now: Summary
    new: Summary = field(default_factory=Summary)
    missing: int = 0


@dataclass(frozen=True)
class GateComparison:
    """The counts of a gate's share next to those of a baseline: see ``BaselineCounts``."""

    before: GateCount
    now: GateCount
    new: GateCount
    missing: int

    def same(self, gate: Gate) -> Outcome:
        """Return whether the share of the answers that both have is no worse than in the baseline.

        It is undecided if that depends on what could not be judged in either run.
        """
        if self.before.bounds is None:
            return "failed"
        lowest, highest = self.before.bounds
        outcome = self.now.outcome(lowest, gate.is_minimum)
        return outcome if outcome == self.now.outcome(highest, gate.is_minimum) else "undecided"

    def outcome(self, gate: Gate) -> Outcome:
        """Return whether nothing is worse: answers that the baseline lacks must be within the limit themselves."""
        new = self.new.outcome(gate.limit, gate.is_minimum) if self.new.of or self.new.unknown else "passed"
        return _worst([self.same(gate), new])

    def told(self, gate: Gate) -> Iterator[str]:
        """Yield the comparison in words."""
        if self.before.bounds is not None:
            than = "no worse than " if self.same(gate) == "passed" else ""
            unknown = f" and {self.before.unknown} that could not be judged" if self.before.unknown else ""
            before = f"{than}baseline {self.before}{unknown}"
            if self.new.of or self.new.unknown:
                yield f"answers of both runs {self.now}, {before}, new answers {self.new}"
            else:
                yield before
        if self.missing:
            yield f"not compared: {counted(self.missing, 'answer')} of the baseline that this run lacks"

    @property
    def record(self) -> dict[str, object]:
        """JSON-ready dict."""
        parts = {"before": self.before, "now": self.now, "new": self.new}
        return {
            **{name: vars(part) for name, part in parts.items()},
            "missing": self.missing,
        }


@dataclass(frozen=True)
class Gate:
    """A share that must be at least, or at most, ``limit``."""

    name: str
    limit: float
    is_minimum: bool

    @property
    def option(self) -> str:
        """The command-line option that sets this gate."""
        return f"--fail-{'under' if self.is_minimum else 'over'} {self.name}={self.limit:g}"

    def result(self, counts: Summary, baseline: BaselineCounts | None = None) -> GateResult:
        """Evaluate the gate on these counts.

        Args:
            counts: The counts of this run.
            baseline: The counts of the answers that a baseline has, too, and of the others. The gate then fails only if
                the former have a worse share than there, or the latter are beyond the limit.
        """
        compared = None
        if baseline is not None:
            before, now, new = map(self._count, (baseline.before, baseline.now, baseline.new))
            compared = GateComparison(before, now, new, baseline.missing)
        parts = GATE_SHARES[self.name].parts(counts)
        return GateResult(self, self._count(counts), parts, compared, why_unjudged(counts), counts.failed > 0)

    def _count(self, counts: Summary) -> GateCount:
        share = GATE_SHARES[self.name]
        return GateCount(share.count(counts), share.of(counts), share.unknown(counts))


@dataclass(frozen=True)
class GateResult:
    """The counts of a gate, and its outcome.

    Attributes:
        found: The counts of this run.
        parts: How many of each kind the denominator has, in words.
        compared: The counts next to those of a baseline; None without one.
        unjudged: Why nothing was judged; empty if something was.
        has_failures: Whether cases could not be judged.
    """

    gate: Gate
    found: GateCount
    parts: str = ""
    compared: GateComparison | None = None
    unjudged: str = ""
    has_failures: bool = False

    @property
    def outcome(self) -> Outcome:
        """The outcome; ``undecided`` if it depends on the cases that could not be judged.

        A gate with nothing judged never passes. With nothing else to count, a minimum fails and a maximum passes. With
        a baseline, a share beyond the limit passes if nothing is worse than in the baseline.
        """
        outcome = self.found.outcome(self.gate.limit, self.gate.is_minimum)
        if outcome == "failed" and self.compared is not None:
            outcome = self.compared.outcome(self.gate)
        if self.unjudged and outcome == "passed":
            return "undecided" if self.has_failures else "failed"
        return outcome

    @property
    def sentence(self) -> str:
        """The result in one line."""
        denominator = GATE_SHARES[self.gate.name].denominator
        share = "" if self.found.share is None else f" ({self.found.share:.3f})"
        kinds = f": {self.parts}" if self.parts else ""
        parts = [f"{self.gate.name} {self.found.count} of {self.found.of} {denominator}{share}{kinds}"]
        parts += [f"{self.found.unknown} more could not be judged"] if self.found.unknown else []
        parts += [] if self.compared is None else self.compared.told(self.gate)
        parts += [self.gate.option, *filter(None, [self.unjudged])]
        return f"gate {self.outcome}: {'; '.join(parts)}"

    @property
    def record(self) -> dict[str, object]:
        """JSON-ready dict."""
        return {
            "share": self.gate.name,
            "at_least" if self.gate.is_minimum else "at_most": self.gate.limit,
            "count": self.found.count,
            "of": self.found.of,
            "unknown": self.found.unknown,
            "value": self.found.share,
            "outcome": self.outcome,
            **({} if self.compared is None else self.compared.record),
        }


def why_unjudged(counts: Summary) -> str:
    """Return why no citation was judged, and what to do; empty if one was, or is quoted from its source."""
    if counts.judged or counts.quoted:
        return ""
    kinds = {
        "failed": (counts.failed, "--out FILE keeps the reasons."),
        "dangling": (counts.dangling, "Give the documents that they cite with --documents."),
        "abstained": (counts.abstained, "--out FILE keeps the reasons."),
        "uncited": (counts.uncited, "Is it the file you meant? Its format can be named with --format."),
    }
    found = {name: told for name, told in kinds.items() if told[0]}
    if not found:
        return "expected at least one judged citation; found no sentences. Is it the file you meant?"
    listed = ", ".join(f"{count} {name}" for name, (count, _) in found.items())
    _, step = next(iter(found.values()))
    return f"expected at least one judged citation; found none: {listed}. {step}"


def parse_gates(under: Iterable[str], over: Iterable[str]) -> list[Gate]:
    """Parse the values of ``--fail-under`` and ``--fail-over``.

    Each value is ``NAME=SHARE``, or several separated by commas. For ``--fail-under`` a number alone means
    ``supported``.

    Raises:
        InputError: A value cannot be parsed, or a gate is given twice.
    """
    texts = [(text, True) for text in under] + [(text, False) for text in over]
    gates = [_parse_gate(part, minimum) for text, minimum in texts for part in text.split(",")]
    seen: set[tuple[str, bool]] = set()
    for gate in gates:
        key = gate.name, gate.is_minimum
        if key in seen:
            raise InputError(f"expected each gate once; found {gate.option} as a second value. Give one of them.")
        seen.add(key)
    return gates


def _parse_gate(text: str, is_minimum: bool) -> Gate:
    option = "--fail-under" if is_minimum else "--fail-over"
    name, equals, number = (part.strip() for part in text.partition("="))
    if not equals:
        name, number = ("supported" if is_minimum else ""), name
    if not name:
        raise InputError(
            f"expected {option} to be NAME=SHARE, such as contradicted=0; found {text!r}. "
            f"The names are {', '.join(GATE_SHARES)}."
        )
    if name not in GATE_SHARES:
        raise UnknownNameError(f"share for {option}", name, GATE_SHARES)
    try:
        limit = float(number)
    except ValueError:
        limit = -1.0
    if not 0 <= limit <= 1:
        raise InputError(
            f"expected {option} {name} to be a share from 0 to 1, such as {name}=0.9; found {number!r}. "
            "Write 90 % as 0.9."
        )
    return Gate(name, limit, is_minimum)


def overall(results: Sequence[GateResult]) -> Outcome:
    """Return ``failed`` if any gate failed, else ``undecided`` if any is undecided, else ``passed``."""
    return _worst([result.outcome for result in results])


def _worst(outcomes: Sequence[Outcome]) -> Outcome:
    return "failed" if "failed" in outcomes else "undecided" if "undecided" in outcomes else "passed"
