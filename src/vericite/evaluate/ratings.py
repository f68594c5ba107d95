"""Labels that several raters gave to the same items, and how far they agree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field

from vericite.errors import InputError, RecordError
from vericite.evaluate.agreement import Agreement
from vericite.evaluate.gold import CitationLabel, Labels
from vericite.evaluate.measures.agreement import AgreementMeasure, Rated
from vericite.evaluate.resampling import Bootstrap
from vericite.formats.raw import first_fields
from vericite.records import CheckedAnswer, Record, number_jsonl

_Line = TypeVar("_Line", bound=BaseModel)

COMMON: dict[CitationLabel, str] = {
    "supports": "supported",
    "contradicts": "contradicted",
    "neutral": "irrelevant",
    "irrelevant": "irrelevant",
}
"""What a verdict calls an assessor's label."""


class Rating(Record):
    """One rater's label of one item; a line of a file.

    Attributes:
        label: None where the rater could not say, or failed to.
        group: What items that are not independent share, such as their question; by default each is its own.
        by: What agreement may be shown by, such as how much of the evidence was seen (``CONTEXT-3``). A rating without
            it, such as a person's who saw all, stands beside those of every value.
    """

    model_config = ConfigDict(extra="ignore")

    item: str = Field(min_length=1)
    rater: str = Field(min_length=1)
    label: str | None
    group: str | None = None
    by: str | None = None


@dataclass(frozen=True)
class Agreed:
    """How far two raters, or all of them, agree by one measure.

    Attributes:
        raters: Whose labels; the reference first.
        by: The part of the ratings that this is of; None for all.
    """

    measure: str
    raters: tuple[str, ...]
    found: Agreement
    by: str | None = None

    @property
    def record(self) -> dict[str, object]:
        """It as JSON has it; an undefined coefficient is null."""
        estimate = self.found.estimate
        return {
            "measure": self.measure,
            "name": self.found.name,
            "raters": list(self.raters),
            "by": self.by,
            "value": estimate.value,
            "low": estimate.low,
            "high": estimate.high,
            "n": self.found.n,
            "missing": self.found.missing,
            "words": self.found.words,
        }


def read_ratings(path: Path) -> tuple[list[Rating], list[RecordError]]:
    """The ratings of a file; a bad line costs itself alone.

    Raises:
        InputError: The file cannot be read, or holds none.
    """
    found: list[Rating] = []
    problems: list[RecordError] = []
    seen: set[tuple[str, str, str | None]] = set()
    for number, line in number_jsonl(Rating, path):
        if isinstance(line, RecordError):
            problems.append(line)
        elif (key := (line.item, line.rater, line.by)) in seen:
            problem = f"expected one label of a rater for an item; {line.rater!r} labelled {line.item!r} before"
            problems.append(RecordError(path, number, "item", problem))
        else:
            seen.add(key)
            found.append(line)
    if not found:
        first = f" The first problem: {problems[0]}" if problems else ""
        raise InputError(
            f'expected ratings in {path}, a line each: {{"item", "rater", "label", "group"?, "by"?}}; found none.'
            f"{first}"
        )
    return found, problems


def read_raters(path: Path) -> tuple[list[Rating], list[RecordError]]:
    """Ratings from a file of ratings, of assessors' labels or of verdicts; the file names the rater of the last two.

    Raises:
        InputError: The file cannot be read, or holds none of these.
    """
    fields = first_fields(path)
    if {"verdicts", "summary"} <= fields:
        checked, problems = _lines(CheckedAnswer, path)
        return ratings_of_verdicts(checked, path.stem), problems
    if "citations" in fields:
        labels, problems = _lines(Labels, path)
        return ratings_of_labels(labels, path.stem), problems
    return read_ratings(path)


def _lines(kind: type[_Line], path: Path) -> tuple[list[_Line], list[RecordError]]:
    lines = [line for _, line in number_jsonl(kind, path)]
    problems = [line for line in lines if isinstance(line, RecordError)]
    return [line for line in lines if not isinstance(line, RecordError)], problems


def ratings_of_labels(lines: Iterable[Labels], rater: str) -> list[Rating]:
    """Assessors' words on citations as ratings, by the labels that verdicts have."""
    return [
        Rating(item=_item(line.id, said.sentence, said.document), rater=rater, label=COMMON[said.label], group=line.id)
        for line in lines
        for said in line.citations or ()
    ]


def ratings_of_verdicts(checked: Iterable[CheckedAnswer], rater: str) -> list[Rating]:
    """Verdicts on citations as ratings; one that was abstained from, or failed, is no label.

    Sentences are counted as the answer has them. Of documents that were judged together each gets its own label where
    the protocol tells it (``apart``), else the common one.
    """
    found: list[Rating] = []
    for answer in checked:
        told = [*answer.verdicts, *answer.failures, *answer.uncited]
        place = {start: number for number, start in enumerate(sorted({one.start for one in told}))}
        for verdict in answer.verdicts:
            for document in verdict.documents:
                label = None if verdict.abstained else verdict.apart.get(document, verdict.label)
                item = _item(answer.id, place[verdict.start], document)
                found.append(Rating(item=item, rater=rater, label=label, group=answer.id))
        for failure in answer.failures:
            for document in failure.documents:
                item = _item(answer.id, place[failure.start], document)
                found.append(Rating(item=item, rater=rater, label=None, group=answer.id))
    return found


def agree(
    ratings: Sequence[Rating],
    measures: Sequence[AgreementMeasure],
    reference: str | None = None,
    categories: Sequence[str] | None = None,
    bootstrap: Bootstrap | None = None,
    by: bool = False,
) -> list[Agreed]:
    """How far raters agree.

    Args:
        ratings: One label of one rater a row.
        measures: By which coefficients.
        reference: The rater, such as a person, that each other is held against; without one each pair is.
        categories: All labels there are, in their order; by default those given, in alphabetical order.
        bootstrap: How intervals are drawn.
        by: Whether each value of ``Rating.by`` is also shown apart.

    Raises:
        InputError: The reference rated nothing, or there are fewer than two raters.
    """
    raters = sorted({rating.rater for rating in ratings}, key=lambda rater: (rater != reference, rater))
    if reference is not None and (not raters or raters[0] != reference):
        raise InputError(f"expected the reference to be one of the raters ({', '.join(raters)}); found {reference!r}")
    if len(raters) < 2:
        raise InputError(f"expected labels of two raters or more; found those of {', '.join(raters) or 'none'}")
    known = list(categories) if categories else sorted({it.label for it in ratings if it.label is not None})
    parts = _parts(ratings)
    values = _named(parts) if by else [None]
    return [
        Agreed(str(measure), chosen, coefficient, value)
        for value in values
        for measure in measures
        for chosen in _compared(measure, raters, reference)
        for coefficient in measure.of(
            _rated(parts if value is None else {value: parts[value]}, chosen, known), bootstrap
        )
    ]


_Parts = dict[str | None, list[Rating]]


def _parts(ratings: Sequence[Rating]) -> _Parts:
    """Ratings by what they may be shown by; those of none stand beside the items of every value."""
    values = sorted({rating.by for rating in ratings if rating.by is not None})
    everywhere = [rating for rating in ratings if rating.by is None]
    if not values:
        return {None: everywhere}
    found: _Parts = {}
    for value in values:
        own = [rating for rating in ratings if rating.by == value]
        items = {rating.item for rating in own}
        found[value] = own + [rating for rating in everywhere if rating.item in items]
    return found


def _named(parts: _Parts) -> list[str | None]:
    if None in parts:
        raise InputError('expected ratings with a field "by" to show agreement by; found none')
    return list(parts)


def _item(answer: str, sentence: int, document: str) -> str:
    return f"{answer} {sentence} {document}"


def _compared(measure: AgreementMeasure, raters: Sequence[str], reference: str | None) -> list[tuple[str, ...]]:
    if not measure.of_two:
        return [tuple(raters)]
    if reference is not None:
        return [(reference, other) for other in raters[1:]]
    return [(one, other) for place, one in enumerate(raters) for other in raters[place + 1 :]]


def _rated(parts: _Parts, raters: Sequence[str], categories: Sequence[str]) -> Rated:
    """Items that none of these raters saw are not theirs to agree on; those that one did not see are missing."""
    column = {rater: place for place, rater in enumerate(raters)}
    table: dict[tuple[str | None, str], list[str | None]] = {}
    groups: dict[tuple[str | None, str], str | None] = {}
    for value, ratings in parts.items():
        for rating in ratings:
            if rating.rater in column:
                row = table.setdefault((value, rating.item), [None] * len(raters))
                row[column[rating.rater]] = rating.label
                # The item itself holds what several values show of it together.
                groups[value, rating.item] = rating.group or f"item {rating.item}"
    return Rated(list(table.values()), categories, list(groups.values()))
