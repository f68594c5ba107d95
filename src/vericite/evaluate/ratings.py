"""How far raters agree on the same items, and how far measures agree on the order of systems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, Field

from vericite.errors import InputError, RecordError
from vericite.evaluate.agreement import Agreement, AgreementMeasure, RankAgreement, RatedItems
from vericite.evaluate.measures.verdicts import judges_rationales
from vericite.evaluate.resampling import Bootstrap
from vericite.evaluate.scoring import signed, system_names
from vericite.formats.files import first_fields
from vericite.records import CheckedAnswer, CitationLabel, Labels, Record, Run, StatementVerdict, number_jsonl
from vericite.verify.aggregators import CATEGORIES

Of = Literal["citations", "rationale"]
"""What is rated in files of labels and of verdicts: citations, or the statements of a rationale."""

CATEGORIES_AT_MOST = 100
"""More labels than this are free text, whose agreement no table of categories tells."""

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
        signature: What made it.
        by: The part of the ratings that this is of; None for all.
    """

    measure: str
    raters: tuple[str, ...]
    found: Agreement
    signature: str
    by: str | None = None

    @property
    def record(self) -> dict[str, object]:
        """It as JSON has it; an undefined coefficient is null."""
        return {
            "measure": self.measure,
            "name": self.found.name,
            "raters": list(self.raters),
            "by": self.by,
            **self.found.record,
            "words": self.found.words,
            "signature": self.signature,
        }


def read_ratings(paths: Sequence[Path], problems: list[RecordError], of: Of = "citations") -> list[Rating]:
    """Ratings from files of ratings, of assessors' labels, of verdicts or of runs; files of the last three name theirs.

    Args:
        paths: One file or more; a folder of runs stands for its file.
        problems: Lines that cannot be used are added here, also where an error follows; so is one that labels what
            the same rater labelled before, in whichever file.
        of: What is rated in labels and verdicts.

    Raises:
        InputError: A file cannot be read, or holds none of these.
    """
    from vericite.pipeline.runs import RUNS

    found: list[Rating] = []
    seen: set[tuple[str, str, str | None]] = set()
    for given, rater in zip(paths, system_names(paths), strict=True):
        path = given / RUNS if given.is_dir() else given
        rated = len(found)
        for number, line in _lines(path, rater, of):
            if isinstance(line, RecordError):
                problems.append(line)
                continue
            # Of one line the last word counts: an answer may cite a document twice in a sentence.
            ratings = {(one.item, one.rater, one.by): one for one in line}
            if again := [key for key in ratings if key in seen]:
                item, who, _ = again[0]
                problem = f"expected one label of a rater for an item; {who!r} labelled {item!r} before"
                problems.append(RecordError(path, number, "item", problem))
            found += [one for key, one in ratings.items() if key not in seen]
            seen |= ratings.keys()
        if len(found) == rated:
            raise InputError(_without(path, of, problems))
    return found


def _without(path: Path, of: Of, problems: Sequence[RecordError]) -> str:
    own = next((one for one in problems if one.path == str(path)), None)
    first = f" The first problem: {own}" if own else ""
    other = "rationale" if of == "citations" else "citations"
    return (
        f'expected ratings in {path}, a line each: {{"item", "rater", "label", "group"?, "by"?}}; or labels, runs or '
        f"verdicts of {of} (--of {other} reads those of {other}); found none.{first}"
    )


def _lines(path: Path, rater: str, of: Of) -> Iterator[tuple[int, list[Rating] | RecordError]]:
    """The ratings of each line."""
    fields = first_fields(path)
    if {"verdicts", "summary"} <= fields:
        for number, line in number_jsonl(CheckedAnswer, path):
            yield number, line if isinstance(line, RecordError) else ratings_of_verdicts([line], rater, of)
    elif "id" in fields and not fields & {"item", "rater"}:
        for number, line in number_jsonl(Labels, path):
            yield number, line if isinstance(line, RecordError) else ratings_of_labels([line], rater, of)
    elif {"question", "evidence", "answer"} <= fields:
        for number, line in number_jsonl(Run, path):
            yield number, line if isinstance(line, RecordError) else ratings_of_run(line, rater, of)
    else:
        for number, line in number_jsonl(Rating, path):
            yield number, line if isinstance(line, RecordError) else [line]


def ratings_of_labels(lines: Iterable[Labels], rater: str, of: Of = "citations") -> list[Rating]:
    """Assessors' words as ratings: on citations by the labels that verdicts have, on statements by their categories."""
    if of == "rationale":
        return [
            Rating(item=_statement(line.id, index), rater=rater, label=category, group=line.id)
            for line in lines
            for index, category in enumerate(line.rationale or ())
        ]
    return [
        Rating(
            item=_item(line.id, judgement.sentence, judgement.document),
            rater=rater,
            label=COMMON[judgement.label],
            group=line.id,
        )
        for line in lines
        for judgement in line.citations or ()
    ]


def ratings_of_verdicts(checked: Iterable[CheckedAnswer], rater: str, of: Of = "citations") -> list[Rating]:
    """Verdicts as ratings; one that was abstained from, or failed, is no label.

    Of citations sentences are counted as the answer has them. Of documents that were judged together each gets its own
    label where the protocol tells it (``apart``), else the common one. Of a rationale its statements are counted in
    the order of the text, each with the judge's category; it takes verdicts under protocol reason-verify.
    """
    rated = _of_citations if of == "citations" else _of_rationale
    return [one for answer in checked for one in rated(answer, rater)]


def ratings_of_run(run: Run, rater: str, of: Of = "citations") -> list[Rating]:
    """The verdicts of a run as ratings; on a rationale those of each number of documents, by ``CONTEXT-3`` ..."""
    if of == "citations":
        return ratings_of_verdicts([run.checked], rater)
    judged = run.contexts or ([] if run.rationale is None else [run.rationale])
    return [
        one.model_copy(update={"by": f"CONTEXT-{found.context}"})
        for found in judged
        for one in ratings_of_verdicts([found.checked], rater, of)
    ]


def _of_citations(answer: CheckedAnswer, rater: str) -> list[Rating]:
    judgements = [*answer.verdicts, *answer.failures, *answer.uncited]
    index = {start: number for number, start in enumerate(sorted({one.start for one in judgements}))}
    found: list[Rating] = []
    for verdict in answer.verdicts:
        for document in verdict.documents:
            label = None if verdict.abstained else verdict.apart.get(document, verdict.label)
            item = _item(answer.id, index[verdict.start], document)
            found.append(Rating(item=item, rater=rater, label=label, group=answer.id))
    for failure in answer.failures:
        for document in failure.documents:
            item = _item(answer.id, index[failure.start], document)
            found.append(Rating(item=item, rater=rater, label=None, group=answer.id))
    return found


def _of_rationale(answer: CheckedAnswer, rater: str) -> list[Rating]:
    if not judges_rationales(answer):
        return []
    known: list[tuple[int, bool, StatementVerdict]] = [
        (verdict.start, verdict.abstained, one) for verdict in answer.verdicts for one in verdict.statements
    ]
    known += [(failure.start, False, one) for failure in answer.failures for one in failure.statements]
    ordered = sorted(known, key=lambda it: it[0])
    return [
        Rating(
            item=_statement(answer.id, index),
            rater=rater,
            # A judge without the paper's categories says nothing of them.
            label=one.native if one.native in CATEGORIES and one.label is not None and not unsure else None,
            group=answer.id,
        )
        for index, (_, unsure, one) in enumerate(ordered)
    ]


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
        categories: All labels there are, in their order, which weights and an ordinal alpha need; by default those
            that were given.
        bootstrap: How intervals are drawn.
        by: Whether each value of ``Rating.by`` is also shown apart.

    Raises:
        InputError: The reference rated nothing, there are fewer than two raters, more categories than a table
            takes, or none in their order where a measure needs it.
    """
    raters = _raters(ratings, reference)
    known = _categories(ratings, measures, categories)
    parts = _parts(ratings)
    values = _named(parts) if by else [None]
    drawn = bootstrap or Bootstrap()
    return [
        Agreed(str(measure), chosen, coefficient, signed(drawn, f"raters={'+'.join(chosen)}"), value)
        for value in values
        for measure in measures
        for chosen in _compared(measure, raters, reference)
        for coefficient in measure.of(_rated(parts if value is None else {value: parts[value]}, chosen, known), drawn)
    ]


def _raters(ratings: Sequence[Rating], reference: str | None) -> list[str]:
    """The raters, the reference first."""
    raters = sorted({rating.rater for rating in ratings}, key=lambda rater: (rater != reference, rater))
    if reference is not None and (not raters or raters[0] != reference):
        raise InputError(f"expected the reference to be one of the raters ({', '.join(raters)}); found {reference!r}")
    if len(raters) < 2:
        raise InputError(f"expected labels of two raters or more; found those of {', '.join(raters) or 'none'}")
    return raters


def _categories(
    ratings: Sequence[Rating], measures: Sequence[AgreementMeasure], categories: Sequence[str] | None
) -> list[str]:
    """All labels there are; their order is not for us to guess where it counts."""
    known = list(categories) if categories else sorted({it.label for it in ratings if it.label is not None})
    ordered = next((measure for measure in measures if measure.ordered), None)
    if ordered is not None and not categories:
        raise InputError(
            f"expected all labels in their order, which {ordered} needs; found none. Give --categories "
            f"{','.join(known[:CATEGORIES_AT_MOST])} in the order that they have."
        )
    if len(set(known)) < len(known):
        raise InputError(f"expected each category once; found {', '.join(known)}")
    if len(known) > CATEGORIES_AT_MOST:
        raise InputError(
            f"expected at most {CATEGORIES_AT_MOST} different labels; found {len(known)}, such as {known[0]!r}. "
            "Agreement is on labels of a closed set: map free text to categories first."
        )
    return known


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


def _statement(answer: str, index: int) -> str:
    return f"{answer} statement {index}"


def _compared(measure: AgreementMeasure, raters: Sequence[str], reference: str | None) -> list[tuple[str, ...]]:
    if not measure.of_two:
        return [tuple(raters)]
    if reference is not None:
        return [(reference, other) for other in raters[1:]]
    return [(one, other) for index, one in enumerate(raters) for other in raters[index + 1 :]]


def _rated(parts: _Parts, raters: Sequence[str], categories: Sequence[str]) -> RatedItems:
    """Items that none of these raters saw are not theirs to agree on; those that one did not see are missing."""
    column = {rater: index for index, rater in enumerate(raters)}
    table: dict[tuple[str | None, str], list[str | None]] = {}
    groups: dict[tuple[str | None, str], str | None] = {}
    for value, ratings in parts.items():
        for rating in ratings:
            if rating.rater in column:
                row = table.setdefault((value, rating.item), [None] * len(raters))
                row[column[rating.rater]] = rating.label
                # The item itself holds what several values show of it together.
                groups[value, rating.item] = rating.group or f"item {rating.item}"
    return RatedItems(list(table.values()), categories, list(groups.values()))


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
class RankCorrelation:
    """How far two measures rank the same systems alike, and what made the figure."""

    first: str
    second: str
    found: Agreement
    signature: str

    @property
    def record(self) -> dict[str, object]:
        """It as JSON has it; an undefined coefficient is null."""
        return {
            "name": self.found.name,
            "first": self.first,
            "second": self.second,
            **self.found.record,
            "signature": self.signature,
        }


def read_scores(paths: Sequence[Path]) -> tuple[dict[str, dict[str, float | None]], list[RecordError]]:
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
    if not found and not problems:
        files = ", ".join(map(str, paths))
        raise InputError(f'expected figures in {files}, one a line: {{"system", "measure", "value"}}; found none')
    return found, problems


def correlate_rankings(
    scores: Scores,
    measures: Sequence[RankAgreement],
    reference: str | None = None,
    bootstrap: Bootstrap | None = None,
) -> list[RankCorrelation]:
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
        RankCorrelation(first, second, measure.of(scores[first], scores[second], drawn), signature)
        for first, second in pairs
        for measure in measures
    ]
