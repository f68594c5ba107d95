"""Labels of annotators on the units of a sample: reading, validation and majority."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ConfigDict, Field

from vericite.errors import InputError, Problems, RecordError
from vericite.evaluate.ratings import Rating
from vericite.lab.annotate.schemes import Scheme
from vericite.lab.annotate.units import Unit
from vericite.records import FloatMap, Record
from vericite.records.base import FrozenDict

MAJORITY = "majority"
"""The name of the rater with the majority labels."""


class Snippet(Record):
    """A passage of a source that an annotator marked, as characters of its text."""

    document: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    text: str = ""


class Annotation(Record):
    """An annotator's label of a unit; a line of a file, which ``vericite agree`` can read too.

    Attributes:
        label: The label; None if the annotator cannot say.
        scales: Values on the scheme's scales.
        seconds: How long the unit was open.
        scheme: The signature of the scheme.
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
        """The annotation as a rating."""
        return Rating(item=self.item, rater=self.rater, label=self.label, group=self.group)


def usable(
    lines: Iterable[tuple[Path, int, Annotation] | RecordError],
    scheme: Scheme,
    units: Mapping[str, Unit] | None,
    problems: Problems,
) -> list[Annotation]:
    """Return the valid labels, at most one per annotator and unit.

    Args:
        lines: Labels with their file and line.
        scheme: The scheme of the labels.
        units: The units of the sample, by item; None: accept labels on any item.
        problems: Invalid labels are added here: those on other units, unknown ones, and repeated ones.
    """
    found: dict[tuple[str, str], Annotation] = {}
    others: dict[Path, list[tuple[int, str]]] = {}  # labels on items that are not in the sample
    wrong_lines = Problems()
    for path, number, line in wrong_lines.kept(lines):
        if units is not None and line.item not in units:
            others.setdefault(path, []).append((number, line.item))
        elif wrong := _wrong(line, scheme, units, found):
            wrong_lines.append(RecordError(path, number, *wrong))
        else:
            found[line.item, line.rater] = line
    for path, unknown in others.items():
        number, item = unknown[0]
        problem = f"expected an item of the sample; found {item!r}"
        if len(unknown) > 1:
            problem += f", the first of {len(unknown)} such labels. Is this the sample that was labelled?"
        problems.append(RecordError(path, number, "item", problem))
    problems += wrong_lines
    return list(found.values())


def _wrong(
    line: Annotation, scheme: Scheme, units: Mapping[str, Unit] | None, found: Mapping[tuple[str, str], Annotation]
) -> tuple[str, str] | None:
    """Return the invalid field and the problem; None if the label is valid."""
    if line.label is not None and line.label not in scheme.verdicts:
        return "label", f"expected {', '.join(scheme.verdicts)} (scheme {scheme.name}); found {line.label!r}"
    if (line.item, line.rater) in found:
        return "item", f"expected one label per rater and item; {line.rater!r} has already labelled {line.item!r}"
    if units is not None:
        texts = {document.id: document.text for document in units[line.item].documents}
        for snippet in line.snippets:
            if not snippet.start < snippet.end <= len(texts.get(snippet.document, "")):
                return "snippets", f"expected passages of the unit's sources; found {snippet.start} to {snippet.end}"
    return None


@dataclass(frozen=True)
class Adjudication:
    """Majority labels.

    Attributes:
        agreed: The most frequent label, by item.
        ties: Items without a single most frequent label, with the counts of labels.
        groups: The group of each item.
    """

    agreed: dict[str, str]
    ties: dict[str, dict[str, int]]
    groups: dict[str, str | None]

    @property
    def ratings(self) -> list[Rating]:
        """The majority labels as the ratings of one rater."""
        return [
            Rating(item=item, rater=MAJORITY, label=label, group=self.groups[item])
            for item, label in self.agreed.items()
        ]


def adjudicate(annotations: Sequence[Annotation]) -> Adjudication:
    """Find majority labels; units without any label are left out."""
    given: dict[str, Counter[str]] = {}
    for annotation in annotations:
        if annotation.label is not None:
            given.setdefault(annotation.item, Counter())[annotation.label] += 1
    agreed: dict[str, str] = {}
    ties: dict[str, dict[str, int]] = {}
    for item, counts in given.items():
        (label, most), *others = counts.most_common()
        if others and others[0][1] == most:
            ties[item] = dict(counts)
        else:
            agreed[item] = label
    return Adjudication(agreed, ties, {annotation.item: annotation.group for annotation in annotations})


def support(annotations: Sequence[Annotation], scheme: Scheme) -> dict[str, float]:
    """Return for each unit the share of its annotators who find it supported.

    Raises:
        InputError: The scheme has no label that means supported.
    """
    verdicts = scheme.verdicts
    if "supported" not in verdicts.values():
        raise InputError(
            f"expected a scheme with a label that means supported; found {scheme.name}. Draw a sample by another."
        )
    said: dict[str, list[bool]] = {}
    for annotation in annotations:
        if annotation.label is not None:
            said.setdefault(annotation.item, []).append(verdicts[annotation.label] == "supported")
    return {item: sum(votes) / len(votes) for item, votes in said.items()}
