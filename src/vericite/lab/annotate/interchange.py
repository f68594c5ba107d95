"""Exchange labels with other programs: Label Studio's JSON, and a flat CSV; our ids identify units on import."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from vericite.errors import InputError, Problems, RecordError
from vericite.formats.tables import TABLES, table_rows
from vericite.lab.annotate.labels import Annotation, usable
from vericite.lab.annotate.schemes import Scheme
from vericite.lab.annotate.units import Unit
from vericite.records import first_problem, number_jsonl

FORMS = ("jsonl", "csv", "label-studio", "label-studio-config")
"""Output formats of labels; the last is the labelling interface for a scheme."""
COLUMNS = ("item", "rater", "label", "group", "question", "claim", "source", "note", "seconds", "scheme", "snippets")
_TABLES = {ending: kind for ending, kind in TABLES.items() if kind in ("csv", "tsv")}
_JOINED = "\n\n"
"""Separates the sources of a unit in formats with a single text."""


def written(units: Sequence[Unit], annotations: Sequence[Annotation], scheme: Scheme, form: str) -> str:
    """Return units with their labels in an output format.

    Raises:
        InputError: The format is unknown.
    """
    if form == "jsonl":
        return "".join(annotation.model_dump_json() + "\n" for annotation in annotations)
    if form == "csv":
        return _csv(units, annotations, scheme)
    if form == "label-studio":
        return json.dumps([_task(unit, annotations) for unit in units], ensure_ascii=False, indent=1) + "\n"
    if form == "label-studio-config":
        return _config(scheme)
    raise InputError(f"expected --to to be one of {', '.join(FORMS)}; found {form!r}")


def read_annotations(
    paths: Sequence[Path], scheme: Scheme, units: Mapping[str, Unit] | None, problems: Problems
) -> list[Annotation]:
    """Read labels from files: JSON Lines as exported by pages, Label Studio's ``.json``, or ``.csv`` and ``.tsv``.

    Args:
        paths: One or more files, each with labels of one or more annotators.
        scheme: The scheme of the labels.
        units: The units of the sample, by item; None: accept labels on any item.
        problems: Labels that cannot be used are added here.

    Raises:
        InputError: A file cannot be read, or no label can be used.
    """
    lines = (
        line if isinstance(line, RecordError) else (path, *line)
        for path in paths
        for line in (
            number_jsonl(Annotation, path)
            if path.suffix.lower() not in (".json", *_TABLES)
            else _number_foreign(path, units or {})
        )
    )
    found = usable(lines, scheme, units, problems)
    if not any(annotation.label is not None for annotation in found):
        raise InputError(
            f"expected labels in {', '.join(map(str, paths))}; found none that can be used.{problems.first_of(*paths)}"
        )
    return found


def _number_foreign(path: Path, units: Mapping[str, Unit]) -> Iterator[tuple[int, Annotation] | RecordError]:
    kind = _TABLES.get(path.suffix.lower())
    for row in _read_table(path, kind) if kind else _read_label_studio(path, units):
        if isinstance(row, RecordError):
            yield row
            continue
        number, fields = row
        try:
            yield number, Annotation.model_validate_json(json.dumps(fields))
        except ValidationError as error:
            yield RecordError(path, number, *first_problem(error))


def _csv(units: Sequence[Unit], annotations: Sequence[Annotation], scheme: Scheme) -> str:
    """Return a row per label; a unit without labels has a row to fill in."""
    scales = [scale.name for scale in scheme.scales]
    text = StringIO()
    writer = csv.DictWriter(text, [*COLUMNS, *scales], lineterminator="\n")
    writer.writeheader()
    for unit in units:
        base: dict[str, object] = {
            "item": unit.item, "group": unit.group, "question": unit.question, "claim": unit.claim,
            "source": _source(unit),
        }  # fmt: skip
        own = [annotation for annotation in annotations if annotation.item == unit.item]
        for annotation in own:
            given = {
                "rater": annotation.rater, "label": annotation.label, "note": annotation.note,
                "seconds": annotation.seconds, "scheme": annotation.scheme,
            }  # fmt: skip
            snippets = [snippet.model_dump() for snippet in annotation.snippets]
            marks = json.dumps(snippets, ensure_ascii=False) if snippets else ""
            row = {**base, **given, "snippets": marks, **annotation.scales}
            writer.writerow({name: _cell(value) for name, value in row.items()})
        if not own:
            writer.writerow({name: _cell(value) for name, value in base.items()})
    return text.getvalue()


def _cell(value: object) -> object:
    """Escape text that a spreadsheet would read as a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value


def _uncell(value: str) -> str:
    return value[1:] if value[:1] == "'" and value[1:2] in tuple("=+-@\t\r") else value


def _read_table(path: Path, kind: str) -> Iterator[tuple[int, dict[str, Any]] | RecordError]:
    for found in table_rows(path, kind, _wrong_columns):
        if isinstance(found, RecordError):
            yield found
            continue
        line, row = found
        label, note = _uncell(row.get("label", "").strip()), _uncell(row.get("note", ""))
        if not label and not note:
            continue
        scales = {name: value for name, value in row.items() if name not in COLUMNS}
        yield (
            line,
            {
                "item": row.get("item", ""), "rater": _uncell(row.get("rater", path.stem)), "label": label or None,
                "group": row.get("group"), "note": note, "seconds": _number(row.get("seconds", "0")),
                "scheme": row.get("scheme"), "snippets": _list(row.get("snippets", "[]")),
                "scales": {name: _number(value) for name, value in scales.items()},
            },
        )  # fmt: skip


def _wrong_columns(names: Sequence[str]) -> str | None:
    if {"item", "label"} <= set(names):
        return None
    found = ", ".join(repr(name[:40]) for name in names[:12]) or "none"
    return f"expected a table with the columns item, rater and label; found {found}. Rename the columns"


def _number(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text


def _list(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _source(unit: Unit) -> str:
    return _JOINED.join(document.text for document in unit.documents)


def _task(unit: Unit, annotations: Iterable[Annotation]) -> dict[str, Any]:
    data = {"item": unit.item, "group": unit.group, "question": unit.question, "claim": unit.claim,
            "answer": unit.context, "source": _source(unit)}  # fmt: skip
    own = [_completion(unit, annotation) for annotation in annotations if annotation.item == unit.item]
    return {"data": data, "annotations": own}


def _completion(unit: Unit, annotation: Annotation) -> dict[str, Any]:
    result: list[dict[str, Any]] = []
    if annotation.label is not None:
        result.append(_result("label", "claim", "choices", {"choices": [annotation.label]}))
    for mark in annotation.snippets:
        shift = _starts(unit).get(mark.document)
        if shift is not None:
            value = {"start": mark.start + shift, "end": mark.end + shift, "text": mark.text, "labels": ["evidence"]}
            result.append(_result("evidence", "source", "labels", value))
    result += [_result(name, "claim", "number", {"number": value}) for name, value in annotation.scales.items()]
    if annotation.note:
        result.append(_result("note", "claim", "textarea", {"text": [annotation.note]}))
    return {"completed_by": {"email": annotation.rater}, "lead_time": annotation.seconds, "result": result}


def _result(name: str, to: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"from_name": name, "to_name": to, "type": kind, "value": value}


def _starts(unit: Unit) -> dict[str, int]:
    """Return the offset of each source in the joined text."""
    found: dict[str, int] = {}
    offset = 0
    for document in unit.documents:
        found[document.id] = offset
        offset += len(document.text) + len(_JOINED)
    return found


class _Studio(BaseModel):
    """Base class of Label Studio's records, with the fields that are read here."""

    model_config = ConfigDict(extra="ignore")


class _Value(_Studio):
    choices: list[str] = []
    number: float | None = None
    rating: float | None = None
    text: str | list[str] | None = None
    start: int | None = None
    end: int | None = None


class _Result(_Studio):
    from_name: str = ""
    value: _Value = _Value()


class _Person(_Studio):
    email: str = ""
    username: str = ""
    id: int | None = None


class _Completion(_Studio):
    completed_by: _Person | int | str | None = None
    lead_time: float | None = None
    was_cancelled: bool = False
    result: list[_Result] = []


class _Task(_Studio):
    data: dict[str, Any]
    annotations: list[_Completion] = []


def _read_label_studio(path: Path, units: Mapping[str, Unit]) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"expected UTF-8 in {path}; found other bytes. Save it as UTF-8.") from None
    except OSError as error:
        raise InputError(f"expected labels in {path}; found: {error.strerror}") from None
    try:
        tasks = TypeAdapter(list[_Task]).validate_json(text)
    except ValidationError as error:
        field, problem = first_problem(error)
        raise InputError(
            f"expected Label Studio's JSON in {path}; field {field}: {problem}. Export the project as JSON."
        ) from None
    for number, task in enumerate(tasks, start=1):
        unit = units.get(str(task.data.get("item")))
        for given in task.annotations:
            if not given.was_cancelled:
                yield number, _annotation(str(task.data.get("item") or ""), given, unit)


def _annotation(item: str, given: _Completion, unit: Unit | None) -> dict[str, Any]:
    label: str | None = None
    notes: list[str] = []
    scales: dict[str, float] = {}
    snippets: list[dict[str, object]] = []
    for result in given.result:
        value = result.value
        number = value.number if value.number is not None else value.rating
        if value.choices:
            label = value.choices[0]
        elif number is not None:
            scales[result.from_name] = number
        elif isinstance(value.text, list):
            notes += value.text
        elif unit is not None and value.start is not None and value.end is not None:
            snippets += _snippets(unit, value.start, value.end, value.text)
    return {
        "item": item, "rater": _rater(given.completed_by), "label": label, "snippets": snippets, "scales": scales,
        "group": unit.group if unit else None, "note": "\n".join(notes), "seconds": given.lead_time or 0.0,
    }  # fmt: skip


def _snippets(unit: Unit, start: int, end: int, text: str | None) -> Iterator[dict[str, object]]:
    """Split a passage of the joined text by source; if offsets and text disagree, the text is searched."""
    source = _source(unit)
    if text and source[start:end] != text and (found := source.find(text)) >= 0:
        start, end = found, found + len(text)
    starts = _starts(unit)
    for document in unit.documents:
        first, last = max(start - starts[document.id], 0), min(end - starts[document.id], len(document.text))
        if first < last:
            yield {"document": document.id, "start": first, "end": last, "text": document.text[first:last]}


def _rater(completed: _Person | int | str | None) -> str:
    if isinstance(completed, _Person):
        return completed.email or completed.username or f"user {completed.id}"
    return "annotator" if completed is None else f"user {completed}" if isinstance(completed, int) else completed


def _config(scheme: Scheme) -> str:
    choices = "\n".join(
        f"    <Choice value={quoteattr(label.name)} hint={quoteattr(label.meaning)}/>" for label in scheme.labels
    )
    numbers = "".join(
        f'  <Number name={quoteattr(scale.name)} toName="claim" min="{scale.low:g}" max="{scale.high:g}" '
        f'step="{scale.step:g}"/>\n'
        for scale in scheme.scales
    )
    marks = '  <Labels name="evidence" toName="source"><Label value="evidence"/></Labels>\n' if scheme.snippets else ""
    return f"""<View>
  <Header value="$question"/>
  <Text name="answer" value="$answer"/>
  <Header value={quoteattr(scheme.title)}/>
  <Text name="claim" value="$claim"/>
  <Choices name="label" toName="claim" choice="single" showInline="false">
{choices}
  </Choices>
{marks}  <Text name="source" value="$source"/>
{numbers}  <TextArea name="note" toName="claim"/>
</View>
"""
