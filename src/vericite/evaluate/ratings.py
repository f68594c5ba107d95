"""Agreement of raters on the same items, and of measures on the ranking of systems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, Field

from vericite.errors import InputError, Problems, RecordError
from vericite.evaluate.agreement import Agreement, AgreementMeasure, RankAgreement, RatedItems
from vericite.evaluate.measures.verdicts import judges_rationales
from vericite.evaluate.resampling import Bootstrap
from vericite.evaluate.scoring import signed, system_names
from vericite.formats.files import first_fields
from vericite.records import CheckedAnswer, CitationLabel, Labels, Record, Run, StatementVerdict, number_jsonl
from vericite.verify.aggregators import CATEGORIES

Of = Literal["citations", "rationale"]
"""The items of labels and verdicts: citations, or the statements of a rationale."""

CATEGORIES_AT_MOST = 100
"""Maximum number of different labels. More means free text, for which these coefficients make no sense."""

COMMON: dict[CitationLabel, str] = {
    "supports": "supported",
    "contradicts": "contradicted",
    "neutral": "irrelevant",
    "irrelevant": "irrelevant",
}
"""Maps an assessor's label to the label of a verdict."""


class Rating(Record):
    """A rater's label of an item; a line of a file.

    Attributes:
        label: None if the rater gave no label or failed.
        group: The group of the item, such as its question. Items of a group are not independent. Default: each item is
            its own group.
        by: A condition to report agreement by, such as how much evidence the rater saw (``CONTEXT-3``). A rating
            without one, such as that of a person who saw everything, is compared with the ratings of every condition.
    """

    model_config = ConfigDict(extra="ignore")

    item: str = Field(min_length=1)
    rater: str = Field(min_length=1)
    label: str | None
    group: str | None = None
    by: str | None = None


@dataclass(frozen=True)
class Agreed:
    """The agreement of two raters, or of all raters, by one measure.

    Attributes:
        raters: The raters, the reference first.
        signature: The version and settings of the figure.
        by: The condition that the ratings are restricted to; None for all ratings.
    """

    measure: str
    raters: tuple[str, ...]
    found: Agreement
    signature: str
    by: str | None = None

    @property
    def record(self) -> dict[str, object]:
        """JSON-ready dict; an undefined coefficient is null."""
        return {
            "measure": self.measure,
            "name": self.found.name,
            "raters": list(self.raters),
            "by": self.by,
            **self.found.record,
            "words": self.found.words,
            "signature": self.signature,
        }


def read_ratings(paths: Sequence[Path], problems: Problems, of: Of = "citations") -> list[Rating]:
    """Read ratings from files of ratings, assessors' labels, verdicts or runs.

    The rater of labels, verdicts and runs is named after the file.

    Args:
        paths: One or more files; a folder of runs stands for the file in it.
        problems: Lines that cannot be used are added here, even if an error is raised later. So are second labels of
            a rater for the same item, in any file.
        of: The items of labels and verdicts.

    Raises:
        InputError: A file cannot be read, or has no ratings.
    """
    from vericite.pipeline.runs import RUNS

    found: list[Rating] = []
    seen: set[tuple[str, str, str | None]] = set()
    for given, rater in zip(paths, system_names(paths), strict=True):
        path = given / RUNS if given.is_dir() else given
        rated = len(found)
        for number, line in problems.kept(_lines(path, rater, of)):
            # Within a line the last label counts: a sentence may cite a document twice.
            ratings = {(rating.item, rating.rater, rating.by): rating for rating in line}
            if repeated := [key for key in ratings if key in seen]:
                item, who, _ = repeated[0]
                problem = f"expected one label per rater and item; {who!r} has already labelled {item!r}"
                problems.append(RecordError(path, number, "item", problem))
            found += [rating for key, rating in ratings.items() if key not in seen]
            seen |= ratings.keys()
        if len(found) == rated:
            raise InputError(_no_ratings(path, of, problems))
    return found


def _no_ratings(path: Path, of: Of, problems: Problems) -> str:
    own = next((problem for problem in problems if problem.path == str(path)), None)
    first = f" The first problem: {own}" if own else ""
    other = "rationale" if of == "citations" else "citations"
    return (
        f'expected ratings in {path}, one per line: {{"item", "rater", "label", "group"?, "by"?}}; or labels, runs or '
        f"verdicts on {of} (for those on {other} use --set of={other}); found none.{first}"
    )


def _lines(path: Path, rater: str, of: Of) -> Iterator[tuple[int, list[Rating]] | RecordError]:
    """Yield the ratings of each line, with its number."""
    fields = first_fields(path)
    if {"verdicts", "summary"} <= fields:
        for item in number_jsonl(CheckedAnswer, path):
            yield item if isinstance(item, RecordError) else (item[0], ratings_of_verdicts([item[1]], rater, of))
    elif "id" in fields and not fields & {"item", "rater"}:
        for item in number_jsonl(Labels, path):
            yield item if isinstance(item, RecordError) else (item[0], ratings_of_labels([item[1]], rater, of))
    elif {"question", "evidence", "answer"} <= fields:
        for item in number_jsonl(Run, path):
            yield item if isinstance(item, RecordError) else (item[0], ratings_of_run(item[1], rater, of))
    else:
        for item in number_jsonl(Rating, path):
            yield item if isinstance(item, RecordError) else (item[0], [item[1]])


def ratings_of_labels(lines: Iterable[Labels], rater: str, of: Of = "citations") -> list[Rating]:
    """Convert assessors' labels to ratings: of citations with the labels of verdicts, or of statements by category."""
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
    """Convert verdicts to ratings; abstentions and failures have no label.

    Citations are identified by the number of their sentence in the answer. Documents that were judged together get
    their own labels if the protocol gives them (``label_by_source``), otherwise the common one. Statements of a
    rationale are numbered in text order, with the judge's category; this needs verdicts under protocol reason-verify.
    """
    rate = _of_citations if of == "citations" else _of_rationale
    return [rating for answer in checked for rating in rate(answer, rater)]


def ratings_of_run(run: Run, rater: str, of: Of = "citations") -> list[Rating]:
    """Convert a run's verdicts to ratings; a rationale has ratings per context size (``CONTEXT-3``, ...)."""
    if of == "citations":
        return ratings_of_verdicts([run.checked], rater)
    judged = run.contexts or ([] if run.rationale is None else [run.rationale])
    return [
        rating.model_copy(update={"by": f"CONTEXT-{rationale.context}"})
        for rationale in judged
        for rating in ratings_of_verdicts([rationale.checked], rater, of)
    ]


def _of_citations(answer: CheckedAnswer, rater: str) -> list[Rating]:
    judgements = [*answer.verdicts, *answer.failures, *answer.uncited]
    index = {start: number for number, start in enumerate(sorted({judgement.start for judgement in judgements}))}
    found: list[Rating] = []
    for verdict in answer.verdicts:
        for document in verdict.documents:
            label = None if verdict.abstained else verdict.label_by_source.get(document, verdict.label)
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
        (verdict.start, verdict.abstained, statement) for verdict in answer.verdicts for statement in verdict.statements
    ]
    known += [(failure.start, False, statement) for failure in answer.failures for statement in failure.statements]
    ordered = sorted(known, key=lambda entry: entry[0])
    return [
        Rating(
            item=_statement(answer.id, index),
            rater=rater,
            # Labels of judges that do not use the paper's categories are left out.
            label=(
                statement.native
                if statement.native in CATEGORIES and statement.label is not None and not abstained
                else None
            ),
            group=answer.id,
        )
        for index, (_, abstained, statement) in enumerate(ordered)
    ]


def agree(
    ratings: Sequence[Rating],
    measures: Sequence[AgreementMeasure],
    reference: str | None = None,
    categories: Sequence[str] | None = None,
    bootstrap: Bootstrap | None = None,
    by: bool = False,
) -> list[Agreed]:
    """Compute the agreement of raters.

    Args:
        ratings: Ratings of any number of raters and items.
        measures: The coefficients to compute.
        reference: The rater, such as a person, that the others are compared with. Default: compare each pair.
        categories: All possible labels in order, needed for weights and an ordinal alpha. Default: the labels found.
        bootstrap: Settings of the intervals.
        by: Report each value of ``Rating.by`` separately.

    Raises:
        InputError: The reference has no ratings, there are fewer than two raters or too many categories, or a measure
            needs ordered categories and none are given.
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
    """Return the raters, the reference first."""
    raters = sorted({rating.rater for rating in ratings}, key=lambda rater: (rater != reference, rater))
    if reference is not None and (not raters or raters[0] != reference):
        raise InputError(f"expected the reference to be one of the raters ({', '.join(raters)}); found {reference!r}")
    if len(raters) < 2:
        raise InputError(f"expected labels of at least two raters; found those of {', '.join(raters) or 'none'}")
    return raters


def _categories(
    ratings: Sequence[Rating], measures: Sequence[AgreementMeasure], categories: Sequence[str] | None
) -> list[str]:
    """Return all possible labels; where their order matters, it must be given."""
    known = list(categories) if categories else sorted({one.label for one in ratings if one.label is not None})
    ordered = next((measure for measure in measures if measure.ordered), None)
    if ordered is not None and not categories:
        raise InputError(
            f"expected all labels in order, which {ordered} needs; found none. Give --set "
            f"categories={','.join(known[:CATEGORIES_AT_MOST])} in the right order."
        )
    if len(set(known)) < len(known):
        raise InputError(f"expected each category once; found {', '.join(known)}")
    if len(known) > CATEGORIES_AT_MOST:
        raise InputError(
            f"expected at most {CATEGORIES_AT_MOST} different labels; found {len(known)}, such as {known[0]!r}. "
            "Agreement needs a closed set of labels: map free text to categories first."
        )
    return known


_Parts = dict[str | None, list[Rating]]


def _parts(ratings: Sequence[Rating]) -> _Parts:
    """Group ratings by condition; those without one are added to every condition that has their item."""
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
    return list(combinations(raters, 2))


def _rated(parts: _Parts, raters: Sequence[str], categories: Sequence[str]) -> RatedItems:
    """Return the items that at least one of these raters saw; labels of the other raters are missing."""
    column = {rater: index for index, rater in enumerate(raters)}
    table: dict[tuple[str | None, str], list[str | None]] = {}
    groups: dict[tuple[str | None, str], str | None] = {}
    for value, ratings in parts.items():
        for rating in ratings:
            if rating.rater in column:
                row = table.setdefault((value, rating.item), [None] * len(raters))
                row[column[rating.rater]] = rating.label
                # Several conditions can have the same item: without a group, they form one.
                groups[value, rating.item] = rating.group or f"item {rating.item}"
    return RatedItems(list(table.values()), categories, list(groups.values()))


Scores = Mapping[str, Mapping[str, float | None]]
"""The score of each system, by measure."""


class ScoreLine(Record):
    """A score of a system, as written by ``vericite score --out``; unknown fields are ignored."""

    model_config = ConfigDict(extra="ignore")

    system: str = Field(min_length=1)
    measure: str = Field(min_length=1)
    value: float | None
    group: str | None = None


@dataclass(frozen=True)
class RankCorrelation:
    """The correlation of two measures' rankings of the same systems, with its signature."""

    first: str
    second: str
    found: Agreement
    signature: str

    @property
    def record(self) -> dict[str, object]:
        """JSON-ready dict; an undefined coefficient is null."""
        return {
            "name": self.found.name,
            "first": self.first,
            "second": self.second,
            **self.found.record,
            "signature": self.signature,
        }


def read_scores(paths: Sequence[Path], problems: Problems) -> dict[str, dict[str, float | None]]:
    """Read scores over all questions (not of groups), by measure and system.

    Raises:
        InputError: A file cannot be read.
    """
    found: dict[str, dict[str, float | None]] = {}
    for path in paths:
        for number, line in problems.kept(number_jsonl(ScoreLine, path)):
            if line.group is not None:
                continue
            elif line.system in found.setdefault(line.measure, {}):
                problem = f"expected one score per system and measure; {line.system!r} already has {line.measure}"
                problems.append(RecordError(path, number, "system", problem))
            else:
                found[line.measure][line.system] = line.value
    if not found and not problems:
        files = ", ".join(map(str, paths))
        raise InputError(f'expected scores in {files}, one per line: {{"system", "measure", "value"}}; found none')
    return found


def correlate_rankings(
    scores: Scores,
    measures: Sequence[RankAgreement],
    reference: str | None = None,
    bootstrap: Bootstrap | None = None,
) -> list[RankCorrelation]:
    """Correlate the rankings of systems by several measures: each with the reference, or each pair.

    Raises:
        InputError: Fewer than two measures have scores, or the reference is not one of them.
    """
    names = sorted(scores)
    if len(names) < 2:
        raise InputError(f"expected scores of at least two measures; found those of {', '.join(names) or 'none'}")
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
