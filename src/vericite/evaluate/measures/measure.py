"""Base classes of measures. A measure is a value whose repr names it on the command line, in JSON and in the docs."""

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
    """Check that values have the types of the fields of the dataclass ``kind``.

    Raises:
        InputError: A value has another type.
    """
    types = _types(kind)
    for parameter, value in given.items():
        allowed = types[parameter]
        if not any(_fits(value, option) for option in allowed):
            raise InputError(f"expected {parameter} of {measure} to be {_in_words(allowed)}; found {value!r}")


_TYPE_WORDS = {str: "a string", int: "a whole number", float: "a number", bool: "True or False", NoneType: "None"}


def _in_words(allowed: tuple[Any, ...]) -> str:
    words = [repr(word) for option in allowed if get_origin(option) is Literal for word in get_args(option)]
    kinds = [_TYPE_WORDS[option] for option in allowed if option in _TYPE_WORDS]
    return f"one of {', '.join([*words, *kinds])}" if words else " or ".join(kinds)


@cache
def _types(kind: type[Any]) -> Mapping[str, tuple[Any, ...]]:
    """Return the allowed types of each field."""
    hints = get_type_hints(kind)
    return {
        field.name: get_args(of) if get_origin(of := hints[field.name]) in (Union, UnionType) else (of,)
        for field in fields(kind)
    }


def _fits(value: object, known: Any) -> bool:
    if get_origin(known) is Literal:
        # Compare the types too: 1 equals True but has a different repr.
        return any(type(value) is type(word) and value == word for word in get_args(known))
    if known is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    return type(value) is known


Family = Literal["citation", "answer", "nugget", "rationale", "retrieval", "agreement"]


@dataclass(frozen=True, repr=False)
class Named:
    """A value identified by its string; two values with the same parameters are equal.

    A field called ``cutoff`` is written as ``@5``. Other fields are written in parentheses, unless they have their
    default value.

    Raises:
        InputError: A parameter has the wrong type, or is not one of the allowed words.
    """

    name: ClassVar[str]
    family: ClassVar[Family]
    extra: ClassVar[str | None] = None
    """The optional dependency that it needs."""
    packages: ClassVar[tuple[str, ...]] = ()
    """Packages that compute it; their versions are part of the signature of its scores."""
    counts_from_one: ClassVar[tuple[str, ...]] = ("cutoff",)
    """Parameters that must be at least 1."""

    def __post_init__(self) -> None:
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        expect_parameters(self.name, type(self), given)
        for parameter in self.counts_from_one:
            if (value := given.get(parameter)) is not None and value < 1:
                raise InputError(f"expected {parameter} of {self.name} to be at least 1; found {value!r}")

    @classmethod
    def summary(cls) -> str:
        """Return the first line of the docstring, for lists of measures."""
        return (cls.__doc__ or "").strip().split("\n", 1)[0]

    @classmethod
    def usage(cls) -> str:
        """Return the string with all parameters and their defaults, for lists of measures; it can be parsed.

        A required name is shown as ``'NAME'``.
        """
        shown = [field for field in fields(cls) if field.name != "cutoff" and field.default is not MISSING]
        parameters = [f"{field.name}={_default(field)}" for field in shown]
        cutoff = next((field.default for field in fields(cls) if field.name == "cutoff"), None)
        at = f"@{cutoff}" if isinstance(cutoff, int) else ""
        return f"{cls.name}{'(' + ', '.join(parameters) + ')' if parameters else ''}{at}"

    @classmethod
    def takes_cutoff(cls) -> bool:
        """Whether ``@`` and a number may follow the name."""
        return any(field.name == "cutoff" for field in fields(cls))

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


def _default(parameter: Field[object]) -> str:
    # Only free text has no usual value. Annotations are strings in this module.
    return repr("NAME" if parameter.default == "" and parameter.type == "str" else parameter.default)


Parts = tuple[float, ...]
"""What a question adds to the sums from which a score is computed."""

NOTHING: Parts = (0.0, 0.0)
"""The parts of a question with nothing to count, such as an answer without citations. This is not a score of 0."""

Need = Literal["answer", "exact", "reply", "verdicts", "gold", "labels", "scores", "features", "evidence", "articles"]
"""An input of a measure. ``evidence`` is what was retrieved for a question, ``articles`` what a corpus says for and
against an answer's sentences. ``exact`` is an exact answer, in its own field or at the start of an answer's text;
``reply`` is an answer of any kind, or only the verdicts on it."""


def own_score(score: float) -> Parts:
    """Return the parts of a question with a score of its own; the measure is the mean over questions."""
    return (score, 1.0)


@dataclass(frozen=True, repr=False)
class Measure(Named):
    """A measure of a system's answers, with its parameters.

    A subclass defines ``parts``, what a question adds to the sums, and ``statistic``, unless the score is the first sum
    divided by the second. All measures share one bootstrap and one permutation test.
    """

    needs: ClassVar[tuple[Need, ...]]
    """The inputs that it reads, named like the files of ``vericite score``."""
    pooled: ClassVar[bool] = True
    """Whether it is computed from sums over all questions; otherwise it is the mean of the questions' own scores."""
    share: ClassVar[bool] = True
    """Whether it lies between 0 and 1 and is compared in points of 100."""
    unit: ClassVar[str] = "points"
    """The unit of a difference."""
    difference_words: ClassVar[tuple[str, str, str] | None] = None
    """What is compared, and the words of "A {verb} 4.1 points {more} than B". Default: "A scores 4.1 points more"."""
    whole: ClassVar[bool] = False
    """Whether it is a ratio of counts."""
    centred: ClassVar[bool] = False
    """Whether bootstrap draws are biased downwards, so that intervals must be shifted."""
    higher_is_better: ClassVar[bool | None] = True
    in_all: ClassVar[bool] = True
    """Whether it is used by default; False if it needs a parameter or takes minutes."""

    @abstractmethod
    def parts(self, item: Item) -> Parts | None:
        """Return what a question adds; None if it is missing: no answer, no gold or a failed judgement."""

    def statistic(self, sums: Floats) -> Floats:
        """Map sums over questions [..., parts] to scores [...]; NaN if undefined."""
        return ratio(sums)

    @property
    def width(self) -> int:
        """The number of sums, unless it depends on the answers, as in MAUVE."""
        return 2

    @property
    def is_rate(self) -> bool:
        """Whether the score is a ratio of counts, with the same interval as rates that ``check`` prints."""
        return self.whole

    def of(self, items: Sequence[Item]) -> list[Parts | None]:
        """Return the parts of each question; overridden where a batch is cheaper."""
        return [self.parts(item) for item in items]

    def of_each(self, runs: Sequence[Sequence[Item]]) -> list[list[Parts | None]]:
        """Return the parts of each question of several systems; overridden where systems depend on each other."""
        return [self.of(run) for run in runs]

    def estimate(self, parts: Sequence[Parts | None], bootstrap: Bootstrap) -> Estimate:
        """Return the score over questions, with its interval.

        A rate has Wilson's interval with the correlation of citations within an answer, as printed by ``check``. Other
        measures have a bootstrap interval over questions. If a share is 0 or 1 on every question, all draws are equal
        and the bootstrap would return a point; then Wilson's interval is used, with a question as one trial.
        """
        if self.is_rate:
            return _rate(parts)
        found = bootstrap.pooled(self.table(parts)[:, None], self.statistic)[0]
        if not self.share or found.value not in (0.0, 1.0) or found.low != found.high or found.n < 2:
            return found
        certain = clustered_wilson(round(found.value) * found.n, found.n)
        return replace(found, low=certain.low, high=certain.high)

    def table(self, parts: Sequence[Parts | None]) -> Floats:
        """Return the parts of all questions [questions, parts], with NaN for missing questions."""
        import numpy as np

        width = next((len(row) for row in parts if row is not None), self.width)
        rows = [[float("nan")] * width if row is None else list(row) for row in parts]
        return np.array(rows, dtype=np.float64).reshape(len(rows), width)

    def drawn_by(self, bootstrap: Bootstrap) -> str:
        """Return the interval method, for signatures."""
        if self.is_rate:
            return "interval=clustered wilson"
        return f"{bootstrap.signature},wilson at 0 and 1" if self.share else bootstrap.signature

    def compared(self, parts: Parts | None) -> Score:
        """Return a question's parts as input for the comparison of two systems."""
        if parts is None or self.pooled:
            return None if parts is None else tuple(parts)
        return parts[0] / parts[1] if parts[1] else EMPTY

    @property
    def phrase(self) -> DifferencePhrase:
        """The wording of a difference in a sentence."""
        scale = 100.0 if self.share else 1.0
        about, verb, more = self.difference_words or (str(self), "scores", "")
        return DifferencePhrase(about, verb, more, self.unit, scale, decimals=1)


@dataclass(frozen=True, repr=False)
class CountInAnswer(Measure):
    """The mean of a count over answers; missing without an answer."""

    needs: ClassVar[tuple[Need, ...]] = ("answer",)
    pooled: ClassVar[bool] = False
    share: ClassVar[bool] = False
    higher_is_better: ClassVar[bool | None] = None

    @abstractmethod
    def count(self, answer: Answer) -> int:
        """Return the count of an answer."""

    def parts(self, item: Item) -> Parts | None:
        """Return the count; missing without an answer."""
        return None if item.given is None else own_score(float(self.count(item.given)))


def _rate(parts: Sequence[Parts | None]) -> Estimate:
    """Return a rate of counts; with one question there is no interval, since the variance is unknown."""
    tally = RateTally()
    for row in parts:
        if row is not None:
            tally.add(int(row[0]), int(row[1]))
    missing = sum(row is None for row in parts)
    rate, empty = tally.rate, len(parts) - missing - tally.answers
    low, high = (rate.low, rate.high) if tally.answers > 1 else (None, None)
    return Estimate(rate.value, low, high, tally.answers, missing, empty)


Counts = tuple[float, float]
"""A numerator and a denominator."""

Uncited = Literal["wrong", "empty"]
"""How an answer without citations counts in a measure of citations: as 0, or as nothing to count."""

Source = Literal["labels", "verdicts"]
"""The source of judgements: assessors' labels, or verdicts of ``vericite check``."""


@dataclass(frozen=True, repr=False)
class Averaged(Measure):
    """A measure that is pooled over questions, or the mean over questions with ``by='question'``.

    In a pooled measure every counted thing has the same weight, so an answer with many citations weighs more.
    """

    # See ``compared``: whether it is pooled depends on ``by``.
    pooled: ClassVar[bool] = False

    by: str

    def compared(self, parts: Parts | None) -> Score:
        """Return a question's parts as input for the comparison of two systems."""
        return super().compared(parts) if self.by == "question" else parts


@dataclass(frozen=True, repr=False)
class Counted(Averaged):
    """A share, defined by a numerator and a denominator for each question."""

    @property
    def is_rate(self) -> bool:
        """True if the share is pooled."""
        return self.share and self.by != "question"

    @abstractmethod
    def counts(self, item: Item) -> Counts | None:
        """Return numerator and denominator of a question; None if it is missing."""

    def parts(self, item: Item) -> Parts | None:
        """Return the counts if pooled, otherwise the question's own share."""
        counts = self.counts(item)
        if counts is None or self.by != "question":
            return counts
        count, of = counts
        return own_score(count / of) if of else self.uncounted(item)

    def uncounted(self, item: Item) -> Parts:
        """Return the parts of a question with a denominator of 0, if ``by='question'``."""
        return NOTHING


@dataclass(frozen=True, repr=False)
class Sourced(Counted):
    """A share that is counted from assessors' labels or from a judge's verdicts."""

    labelled: ClassVar[tuple[Need, ...]] = ("labels",)
    judged: ClassVar[tuple[Need, ...]] = ("verdicts",)

    source: Source = "labels"

    def __post_init__(self) -> None:
        super().__post_init__()
        # The inputs, and so the signature, depend on a parameter.
        object.__setattr__(self, "needs", self.judged if self.source == "verdicts" else self.labelled)

    def counts(self, item: Item) -> Counts | None:
        """Return numerator and denominator of a question; None if the labels or verdicts are missing."""
        return self._of_verdicts(item) if self.source == "verdicts" else self._of_labels(item)

    @abstractmethod
    def _of_labels(self, item: Item) -> Counts | None:
        """Count from assessors' labels."""

    @abstractmethod
    def _of_verdicts(self, item: Item) -> Counts | None:
        """Count from a judge's verdicts."""


def share_of(marks: tuple[bool | None, ...] | None) -> Counts | None:
    """Return the number of true marks and of known marks; None if there are no marks."""
    if marks is None:
        return None
    known = [mark for mark in marks if mark is not None]
    return sum(known), len(known)


def eval_package(module: str, measure: object) -> Any:
    """Import a module of a package of the extra ``eval``.

    Args:
        module: The module, such as ``rouge_score.rouge_scorer``.
        measure: The measure that needs it, for the error message.

    Raises:
        MissingExtraError: The package is not installed.
    """
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError("eval", f"The measure {measure}") from None
