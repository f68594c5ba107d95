"""Labels in forms of other programs: Label Studio's JSON, and a flat CSV; matched by our ids on the way back."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from vericite.annotate.labels import Annotation, usable
from vericite.annotate.schemes import Scheme
from vericite.annotate.units import Unit
from vericite.errors import InputError, RecordError
from vericite.formats.tables import TABLES, table_rows
from vericite.records import first_problem, number_jsonl

FORMS = ("jsonl", "csv", "label-studio", "label-studio-config")
"""Forms that labels are written in; the last is the labelling interface that goes with a scheme."""
COLUMNS = ("item", "rater", "label", "group", "question", "claim", "source", "note", "seconds", "scheme", "snippets")
_TABLES = {ending: kind for ending, kind in TABLES.items() if kind in ("csv", "tsv")}
_JOINED = "\n\n"
"""Between the sources of a unit, where a form has one text for them."""


def written(units: Sequence[Unit], annotations: Sequence[Annotation], scheme: Scheme, form: str) -> str:
    """The units with the labels that there are.

    Raises:
        InputError: The form is not known.
    """
    if form == "jsonl":
        return "".join(one.model_dump_json() + "\n" for one in annotations)
    if form == "csv":
        return _csv(units, annotations, scheme)
    if form == "label-studio":
        return json.dumps([_task(unit, annotations) for unit in units], ensure_ascii=False, indent=1) + "\n"
    if form == "label-studio-config":
        return _config(scheme)
    raise InputError(f"expected --to out of {', '.join(FORMS)}; found {form!r}")


def read_annotations(
    paths: Sequence[Path], scheme: Scheme, units: Mapping[str, Unit] | None, problems: list[RecordError]
) -> list[Annotation]:
    """Labels from files: JSON Lines as pages export them, Label Studio's ``.json``, or a table (``.csv``, ``.tsv``).

    Args:
        paths: One file or more, an annotator's or several's each.
        scheme: The scheme they were given by.
        units: The sample's, by item; None for labels on whatever they name.
        problems: What cannot be used is added here.

    Raises:
        InputError: A file cannot be read, or none of the labels can be used.
    """
    lines = (
        (path, *line)
        for path in paths
        for line in (
            number_jsonl(Annotation, path)
            if path.suffix.lower() not in (".json", *_TABLES)
            else _number_others(path, units or {})
        )
    )
    found = usable(lines, scheme, units, problems)
    if not any(one.label is not None for one in found):
        first = f" The first problem: {problems[0]}" if problems else ""
        raise InputError(f"expected labels in {', '.join(map(str, paths))}; found none that can be used.{first}")
    return found


def _number_others(path: Path, units: Mapping[str, Unit]) -> Iterator[tuple[int, Annotation | RecordError]]:
    kind = _TABLES.get(path.suffix.lower())
    for row in _of_table(path, kind) if kind else _of_label_studio(path, units):
        if isinstance(row, RecordError):
            yield row.line, row
            continue
        number, fields = row
        try:
            yield number, Annotation.model_validate_json(json.dumps(fields))
        except ValidationError as error:
            yield number, RecordError(path, number, *first_problem(error))


def _csv(units: Sequence[Unit], annotations: Sequence[Annotation], scheme: Scheme) -> str:
    """A row a label; a unit without one has a row to fill in."""
    scales = [one.name for one in scheme.scales]
    text = StringIO()
    writer = csv.DictWriter(text, [*COLUMNS, *scales], lineterminator="\n")
    writer.writeheader()
    for unit in units:
        base: dict[str, object] = {
            "item": unit.item, "group": unit.group, "question": unit.question, "claim": unit.claim,
            "source": _source(unit),
        }  # fmt: skip
        own = [one for one in annotations if one.item == unit.item]
        for one in own:
            given = {"rater": one.rater, "label": one.label, "note": one.note, "seconds": one.seconds}
            marks = json.dumps([it.model_dump() for it in one.snippets], ensure_ascii=False) if one.snippets else ""
            row = {**base, **given, "scheme": one.scheme, "snippets": marks, **one.scales}
            writer.writerow({name: _cell(value) for name, value in row.items()})
        if not own:
            writer.writerow({name: _cell(value) for name, value in base.items()})
    return text.getvalue()


def _cell(value: object) -> object:
    """Text that a spreadsheet would take for a formula is marked as text."""
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value


def _uncell(value: str) -> str:
    return value[1:] if value[:1] == "'" and value[1:2] in tuple("=+-@\t\r") else value


def _of_table(path: Path, kind: str) -> Iterator[tuple[int, dict[str, Any]] | RecordError]:
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
    return f"expected a table with the columns item, rater and label; found {found}. Name the columns so"


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
    return _JOINED.join(one.text for one in unit.documents)


def _task(unit: Unit, annotations: Iterable[Annotation]) -> dict[str, Any]:
    data = {"item": unit.item, "group": unit.group, "question": unit.question, "claim": unit.claim,
            "answer": unit.context, "source": _source(unit)}  # fmt: skip
    own = [_given(unit, one) for one in annotations if one.item == unit.item]
    return {"data": data, "annotations": own}


def _given(unit: Unit, one: Annotation) -> dict[str, Any]:
    result: list[dict[str, Any]] = []
    if one.label is not None:
        result.append(_result("label", "claim", "choices", {"choices": [one.label]}))
    for mark in one.snippets:
        shift = _starts(unit).get(mark.document)
        if shift is not None:
            value = {"start": mark.start + shift, "end": mark.end + shift, "text": mark.text, "labels": ["evidence"]}
            result.append(_result("evidence", "source", "labels", value))
    result += [_result(name, "claim", "number", {"number": value}) for name, value in one.scales.items()]
    if one.note:
        result.append(_result("note", "claim", "textarea", {"text": [one.note]}))
    return {"completed_by": {"email": one.rater}, "lead_time": one.seconds, "result": result}


def _result(name: str, to: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"from_name": name, "to_name": to, "type": kind, "value": value}


def _starts(unit: Unit) -> dict[str, int]:
    """Where each source begins in the text of all."""
    found: dict[str, int] = {}
    at = 0
    for one in unit.documents:
        found[one.id] = at
        at += len(one.text) + len(_JOINED)
    return found


class _Studio(BaseModel):
    """What Label Studio writes, as far as it is read here."""

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


def _of_label_studio(path: Path, units: Mapping[str, Unit]) -> Iterator[tuple[int, dict[str, Any]]]:
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
    for one in given.result:
        value = one.value
        number = value.number if value.number is not None else value.rating
        if value.choices:
            label = value.choices[0]
        elif number is not None:
            scales[one.from_name] = number
        elif isinstance(value.text, list):
            notes += value.text
        elif unit is not None and value.start is not None and value.end is not None:
            snippets += _snippets(unit, value.start, value.end, value.text)
    return {
        "item": item, "rater": _rater(given.completed_by), "label": label, "snippets": snippets, "scales": scales,
        "group": unit.group if unit else None, "note": "\n".join(notes), "seconds": given.lead_time or 0.0,
    }  # fmt: skip


def _snippets(unit: Unit, start: int, end: int, text: str | None) -> Iterator[dict[str, object]]:
    """What a passage of all sources together covers of each; its words count where scripts counted otherwise."""
    source = _source(unit)
    if text and source[start:end] != text and (found := source.find(text)) >= 0:
        start, end = found, found + len(text)
    starts = _starts(unit)
    for one in unit.documents:
        first, last = max(start - starts[one.id], 0), min(end - starts[one.id], len(one.text))
        if first < last:
            yield {"document": one.id, "start": first, "end": last, "text": one.text[first:last]}


def _rater(completed: _Person | int | str | None) -> str:
    if isinstance(completed, _Person):
        return completed.email or completed.username or f"user {completed.id}"
    return "annotator" if completed is None else f"user {completed}" if isinstance(completed, int) else completed


def _config(scheme: Scheme) -> str:
    choices = "\n".join(
        f"    <Choice value={quoteattr(one.name)} hint={quoteattr(one.meaning)}/>" for one in scheme.labels
    )
    numbers = "".join(
        f'  <Number name={quoteattr(one.name)} toName="claim" min="{one.low:g}" max="{one.high:g}" '
        f'step="{one.step:g}"/>\n'
        for one in scheme.scales
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
