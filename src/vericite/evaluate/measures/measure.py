"""What a measure is: a value with a repr, the same string on the command line, in JSON and in the docs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, replace
from functools import cache
from importlib import import_module
from math import isfinite
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

from vericite.errors import InputError, MissingExtraError
from vericite.evaluate.items import Item
from vericite.evaluate.resampling import Bootstrap, Estimate, Floats, ratio
from vericite.evaluate.significance import EMPTY, DifferencePhrase, Score
from vericite.records import Answer, RateTally, clustered_wilson


def expect_parameters(measure: str, kind: type[Any], given: Mapping[str, object]) -> None:
    """Refuse values that are not of the types the dataclass ``kind`` gives its fields.

    Raises:
        InputError: One is not.
    """
    types = _types(kind)
    for parameter, value in given.items():
        allowed = types[parameter]
        if not any(_fits(value, one) for one in allowed):
            raise InputError(f"expected {parameter} of {measure} to be {_told(allowed)}; found {value!r}")


_SAID = {str: "a text", int: "a whole number", float: "a number", bool: "True or False", NoneType: "None"}


def _told(allowed: tuple[Any, ...]) -> str:
    words = [repr(word) for one in allowed if get_origin(one) is Literal for word in get_args(one)]
    kinds = [_SAID[one] for one in allowed if one in _SAID]
    return f"one of {', '.join([*words, *kinds])}" if words else " or ".join(kinds)


@cache
def _types(kind: type[Any]) -> Mapping[str, tuple[Any, ...]]:
    """What each field may be of."""
    hints = get_type_hints(kind)
    return {
        field.name: get_args(of) if get_origin(of := hints[field.name]) in (Union, UnionType) else (of,)
        for field in fields(kind)
    }


def _fits(value: object, known: Any) -> bool:
    if get_origin(known) is Literal:
        # 1 is equal to True, and has another string.
        return any(type(value) is type(word) and value == word for word in get_args(known))
    if known is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    return type(value) is known


Family = Literal["citation", "answer", "nugget", "rationale", "retrieval", "agreement"]


@dataclass(frozen=True, repr=False)
class Named:
    """A value that its string names everywhere; two with the same parameters are equal.

    A field called ``cutoff`` is written ``@5``, all others in brackets, left out where they have their default.

    Raises:
        InputError: A parameter is not of its type, or no word of its closed set.
    """

    name: ClassVar[str]
    family: ClassVar[Family]
    extra: ClassVar[str | None] = None
    """The optional dependency it is computed with."""
    packages: ClassVar[tuple[str, ...]] = ()
    """Packages that compute it, whose versions its scores are signed with."""
    counts_from_one: ClassVar[tuple[str, ...]] = ("cutoff",)
    """Parameters that are whole numbers from 1 on."""

    def __post_init__(self) -> None:
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        expect_parameters(self.name, type(self), given)
        for parameter in self.counts_from_one:
            if (value := given.get(parameter)) is not None and value < 1:
                raise InputError(f"expected {parameter} of {self.name} to be a whole number from 1 on; found {value!r}")

    @classmethod
    def summary(cls) -> str:
        """The first line of its docstring, for lists of measures."""
        return (cls.__doc__ or "").strip().split("\n", 1)[0]

    @classmethod
    def usage(cls) -> str:
        """Its string with all parameters and their defaults, for lists of measures; it can be read back.

        A parameter that has no usual value stands as ``'NAME'``.
        """
        shown = [it for it in fields(cls) if it.name != "cutoff" and it.default is not MISSING]
        parameters = [f"{it.name}={_shown(it)}" for it in shown]
        cutoff = next((it.default for it in fields(cls) if it.name == "cutoff"), None)
        at = f"@{cutoff}" if isinstance(cutoff, int) else ""
        return f"{cls.name}{'(' + ', '.join(parameters) + ')' if parameters else ''}{at}"

    @classmethod
    def takes_cutoff(cls) -> bool:
        """Whether ``@`` and a number may follow its name."""
        return any(it.name == "cutoff" for it in fields(cls))

    def __repr__(self) -> str:
        parameters: list[str] = []
        at = ""
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "cutoff":
                at = f"@{value}" if value is not None else ""
            elif field.default is MISSING or value != field.default:
                parameters.append(f"{field.name}={value!r}")
        return f"{self.name}{'(' + ', '.join(parameters) + ')' if parameters else ''}{at}"

    __str__ = __repr__


def _shown(parameter: Field[object]) -> str:
    # Annotations are texts here, and only free text has none that is usual.
    return repr("NAME" if parameter.default == "" and parameter.type == "str" else parameter.default)


Parts = tuple[float, ...]
"""What a question adds to the sums that a figure is made of."""

NOTHING: Parts = (0.0, 0.0)
"""A question in which there is nothing to count, such as an answer without a citation. It is no 0."""

Need = Literal["answer", "exact", "reply", "verdicts", "gold", "labels", "scores", "features", "evidence"]
"""What is known of a question. ``exact`` is an exact answer, stated apart or in the words of an answer; ``reply`` is an
answer of any kind, be it that only the verdicts on it are there."""


def one(score: float) -> Parts:
    """A score that stands for the question as a whole; the figure is the mean over questions."""
    return (score, 1.0)


@dataclass(frozen=True, repr=False)
class Measure(Named):
    """A measure of a system's answers, with its parameters.

    A subclass says in ``parts`` what a question adds to the sums, and where the figure is not the first sum over the
    second, in ``statistic`` what it is. So one bootstrap and one permutation test serve all.
    """

    needs: ClassVar[tuple[Need, ...]]
    """What it reads of a question, as files are called by ``vericite score``."""
    pooled: ClassVar[bool] = True
    """Whether the figure is one of sums over all questions; else it is a mean of questions' own scores."""
    share: ClassVar[bool] = True
    """Whether it lies between 0 and 1 and is compared in points of 100."""
    unit: ClassVar[str] = "points"
    """The unit of a difference."""
    difference_words: ClassVar[tuple[str, str, str] | None] = None
    """What is compared, and "A {verb} 4.1 points {more} than B"; else "A scores 4.1 points more in" the measure."""
    whole: ClassVar[bool] = False
    """Whether its parts are whole numbers, so many out of so many."""
    centred: ClassVar[bool] = False
    """Whether any draw has a lower figure than the whole, so that intervals are moved."""
    higher_is_better: ClassVar[bool | None] = True
    in_all: ClassVar[bool] = True
    """Whether it is measured where none is named; not where it needs a parameter or minutes."""

    @abstractmethod
    def parts(self, item: Item) -> Parts | None:
        """What a question adds; None where it is missing: no answer, no gold, a failed judgement."""

    def statistic(self, sums: Floats) -> Floats:
        """From sums over questions [..., parts] to figures [...]; NaN where undefined."""
        return ratio(sums)

    @property
    def width(self) -> int:
        """The number of sums, unless the answers decide it, as in MAUVE."""
        return 2

    @property
    def is_rate(self) -> bool:
        """Whether the figure is a share of whole numbers, with the interval that ``check`` prints of such."""
        return self.whole

    def of(self, items: Sequence[Item]) -> list[Parts | None]:
        """The parts of each question; overridden where many at once are cheaper."""
        return [self.parts(item) for item in items]

    def of_each(self, runs: Sequence[Sequence[Item]]) -> list[list[Parts | None]]:
        """The parts of each question of several systems; overridden where one system's depend on the others."""
        return [self.of(run) for run in runs]

    def estimate(self, parts: Sequence[Parts | None], bootstrap: Bootstrap) -> Estimate:
        """The figure over questions, with its interval.

        A rate has Wilson's, which knows that citations of one answer go together: the same as ``check`` prints. Of
        other measures questions are drawn again; where such a share is 0 or 1 of every question all draws are alike and
        would make a point of the interval, so it is Wilson's there, too, with a question as one trial.
        """
        if self.is_rate:
            return _rated(parts)
        found = bootstrap.pooled(self.table(parts)[:, None], self.statistic)[0]
        if not self.share or found.value not in (0.0, 1.0) or found.low != found.high or found.n < 2:
            return found
        certain = clustered_wilson(round(found.value) * found.n, found.n)
        return replace(found, low=certain.low, high=certain.high)

    def table(self, parts: Sequence[Parts | None]) -> Floats:
        """The parts of all questions [questions, parts]; NaN where one is missing."""
        import numpy as np

        width = next((len(row) for row in parts if row is not None), self.width)
        rows = [[float("nan")] * width if row is None else list(row) for row in parts]
        return np.array(rows, dtype=np.float64).reshape(len(rows), width)

    def drawn_by(self, bootstrap: Bootstrap) -> str:
        """How its interval is drawn, for signatures."""
        if self.is_rate:
            return "interval=clustered wilson"
        return f"{bootstrap.signature},wilson at 0 and 1" if self.share else bootstrap.signature

    def compared(self, parts: Parts | None) -> Score:
        """A question's parts as a comparison of two systems takes them."""
        if parts is None or self.pooled:
            return None if parts is None else tuple(parts)
        return parts[0] / parts[1] if parts[1] else EMPTY

    @property
    def phrase(self) -> DifferencePhrase:
        """The words for a difference in a sentence."""
        scale = 100.0 if self.share else 1.0
        about, verb, more = self.difference_words or (str(self), "scores", "")
        return DifferencePhrase(about, verb, more, self.unit, scale, decimals=1)


@dataclass(frozen=True, repr=False)
class CountInAnswer(Measure):
    """The mean over answers of how many of something each has; missing without an answer."""

    needs: ClassVar[tuple[Need, ...]] = ("answer",)
    pooled: ClassVar[bool] = False
    share: ClassVar[bool] = False
    higher_is_better: ClassVar[bool | None] = None

    @abstractmethod
    def count(self, answer: Answer) -> int:
        """How many an answer has."""

    def parts(self, item: Item) -> Parts | None:
        """The number; missing without an answer."""
        return None if item.given is None else one(float(self.count(item.given)))


def _rated(parts: Sequence[Parts | None]) -> Estimate:
    """Of counts; of one question it has no interval, since nothing is known of what another would be like."""
    tally = RateTally()
    for row in parts:
        if row is not None:
            tally.add(int(row[0]), int(row[1]))
    missing = sum(row is None for row in parts)
    rate, empty = tally.rate, len(parts) - missing - tally.answers
    low, high = (rate.low, rate.high) if tally.answers > 1 else (None, None)
    return Estimate(rate.value, low, high, tally.answers, missing, empty)


Counts = tuple[float, float]
"""What is counted, and out of what."""

Uncited = Literal["wrong", "empty"]
"""What an answer that cites nothing is worth to a measure of its citations: 0, or nothing to count."""

Source = Literal["labels", "verdicts"]
"""Who is taken at their word: assessors, or the judge of ``vericite check``."""


@dataclass(frozen=True, repr=False)
class Averaged(Measure):
    """A measure that is pooled over questions, or with ``by='question'`` the mean of each question's own.

    Pooled, what is counted weighs alike, so that an answer with many citations weighs more than one with few.
    """

    # Which of the two it is depends on ``by``, see ``compared``.
    pooled: ClassVar[bool] = False

    by: str

    def compared(self, parts: Parts | None) -> Score:
        """A question's parts as a comparison of two systems takes them."""
        return super().compared(parts) if self.by == "question" else parts


@dataclass(frozen=True, repr=False)
class Counted(Averaged):
    """A share: it says what it counts, and out of what."""

    @property
    def is_rate(self) -> bool:
        """Pooled shares are."""
        return self.share and self.by != "question"

    @abstractmethod
    def counts(self, item: Item) -> Counts | None:
        """What a question counts, and out of what; None where it is missing."""

    def parts(self, item: Item) -> Parts | None:
        """What it counts, or the share of the two."""
        counts = self.counts(item)
        if counts is None or self.by != "question":
            return counts
        count, of = counts
        return one(count / of) if of else self.uncounted(item)

    def uncounted(self, item: Item) -> Parts:
        """What a question with nothing to count is worth, where questions weigh alike."""
        return NOTHING


@dataclass(frozen=True, repr=False)
class Sourced(Counted):
    """A share that is counted either of assessors' labels or of a judge's verdicts."""

    labelled: ClassVar[tuple[Need, ...]] = ("labels",)
    judged: ClassVar[tuple[Need, ...]] = ("verdicts",)

    source: Source = "labels"

    def __post_init__(self) -> None:
        super().__post_init__()
        # What it reads depends on a parameter, and so does what its scores are signed with.
        object.__setattr__(self, "needs", self.judged if self.source == "verdicts" else self.labelled)

    def counts(self, item: Item) -> Counts | None:
        """What a question counts, and out of what; None where what it is counted of is not there."""
        return self._of_verdicts(item) if self.source == "verdicts" else self._of_labels(item)

    @abstractmethod
    def _of_labels(self, item: Item) -> Counts | None:
        """By the word of assessors."""

    @abstractmethod
    def _of_verdicts(self, item: Item) -> Counts | None:
        """By the word of a judge."""


def share_of(marks: tuple[bool | None, ...] | None) -> Counts | None:
    """How many are true of those that are known; None where none were asked about."""
    if marks is None:
        return None
    known = [mark for mark in marks if mark is not None]
    return sum(known), len(known)


def eval_package(module: str, measure: object) -> Any:
    """A module of a package of the extra ``eval``.

    Args:
        module: Such as ``rouge_score.rouge_scorer``.
        measure: What needs it, as the message is to say.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError("eval", f"The measure {measure}") from None
