"""What people said of the units of a sample: reading, matching, and what the most of them say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ConfigDict, Field

from vericite.annotate.schemes import Scheme
from vericite.annotate.units import Unit
from vericite.errors import InputError, RecordError
from vericite.evaluate.ratings import Rating
from vericite.records import FloatMap, Record
from vericite.records.base import FrozenDict

MAJORITY = "majority"
"""The rater that stands for what most say."""


class Snippet(Record):
    """A passage of a source that an annotator marked, as characters of its text."""

    document: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    text: str = ""


class Annotation(Record):
    """One annotator's word on one unit; a line of a file, which ``vericite agree`` reads as well.

    Attributes:
        label: None where the annotator cannot say.
        scales: Numbers that the scheme asks for.
        seconds: How long the unit was open.
        scheme: By which it was given.
    """

    model_config = ConfigDict(extra="ignore")

    item: str = Field(min_length=1)
    rater: str = Field(min_length=1)
    label: str | None
    group: str | None = None
    snippets: tuple[Snippet, ...] = ()
    scales: FloatMap = FrozenDict()
    note: str = ""
    seconds: float = Field(default=0.0, ge=0)
    scheme: str | None = None

    @property
    def rating(self) -> Rating:
        """It as agreement has it."""
        return Rating(item=self.item, rater=self.rater, label=self.label, group=self.group)


def usable(
    lines: Iterable[tuple[Path, int, Annotation | RecordError]],
    scheme: Scheme,
    units: Mapping[str, Unit] | None,
    problems: list[RecordError],
) -> list[Annotation]:
    """The labels that can be used, each person's on each unit once.

    Args:
        lines: Labels, each with its file and line.
        scheme: The scheme they were given by.
        units: The sample's, by item; None for labels on whatever they name.
        problems: The others are added here: on other units, with other labels, or a second one of a person.
    """
    found: dict[tuple[str, str], Annotation] = {}
    others: dict[Path, list[tuple[int, str]]] = {}  # labels on what is not of the sample
    wrong_lines: list[RecordError] = []
    for path, number, line in lines:
        if isinstance(line, RecordError):
            wrong_lines.append(line)
        elif units is not None and line.item not in units:
            others.setdefault(path, []).append((number, line.item))
        elif wrong := _wrong(line, scheme, units, found):
            wrong_lines.append(RecordError(path, number, *wrong))
        else:
            found[line.item, line.rater] = line
    for path, there in others.items():
        number, item = there[0]
        problem = f"expected an item of the sample; found {item!r}"
        if len(there) > 1:
            problem += f", the first of {len(there)} such labels. Is it the sample that was labelled?"
        problems.append(RecordError(path, number, "item", problem))
    problems += wrong_lines
    return list(found.values())


def _wrong(
    line: Annotation, scheme: Scheme, units: Mapping[str, Unit] | None, found: Mapping[tuple[str, str], Annotation]
) -> tuple[str, str] | None:
    """The field at fault, and what is wrong with it."""
    if line.label is not None and line.label not in scheme.verdicts:
        return "label", f"expected {', '.join(scheme.verdicts)} (--scheme {scheme.name}); found {line.label!r}"
    if (line.item, line.rater) in found:
        return "item", f"expected one label of a rater for an item; {line.rater!r} labelled {line.item!r} before"
    if units is not None:
        texts = {it.id: it.text for it in units[line.item].documents}
        for snippet in line.snippets:
            if not snippet.start < snippet.end <= len(texts.get(snippet.document, "")):
                return "snippets", f"expected passages of the unit's sources; found {snippet.start} to {snippet.end}"
    return None


@dataclass(frozen=True)
class Adjudication:
    """What most annotators say of each unit.

    Attributes:
        agreed: The label that more gave than any other, by item.
        ties: Items on which as many gave one label as another, with how often each was given.
    """

    agreed: dict[str, str]
    ties: dict[str, dict[str, int]]
    groups: dict[str, str | None]

    @property
    def ratings(self) -> list[Rating]:
        """What was agreed on, as one rater."""
        return [
            Rating(item=item, rater=MAJORITY, label=label, group=self.groups[item])
            for item, label in self.agreed.items()
        ]


def adjudicate(annotations: Sequence[Annotation]) -> Adjudication:
    """What most say; a unit that nobody could label is left out."""
    given: dict[str, Counter[str]] = {}
    for one in annotations:
        if one.label is not None:
            given.setdefault(one.item, Counter())[one.label] += 1
    agreed: dict[str, str] = {}
    ties: dict[str, dict[str, int]] = {}
    for item, counts in given.items():
        (label, most), *others = counts.most_common()
        if others and others[0][1] == most:
            ties[item] = dict(counts)
        else:
            agreed[item] = label
    return Adjudication(agreed, ties, {one.item: one.group for one in annotations})


def support(annotations: Sequence[Annotation], scheme: Scheme) -> dict[str, float]:
    """Of each unit the share of those who labelled it by whom it is supported.

    Raises:
        InputError: The scheme has no word for that.
    """
    verdicts = scheme.verdicts
    if "supported" not in verdicts.values():
        raise InputError(
            f"expected a scheme of which a label means supported; found {scheme.name}. Give --scheme another one."
        )
    said: dict[str, list[bool]] = {}
    for one in annotations:
        if one.label is not None:
            said.setdefault(one.item, []).append(verdicts[one.label] == "supported")
    return {item: sum(votes) / len(votes) for item, votes in said.items()}
