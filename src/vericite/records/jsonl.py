"""Records in JSON Lines files, out and back without loss."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, TypeVar

from pydantic import BaseModel, ValidationError

from vericite.errors import InputError, RecordError

Model = TypeVar("Model", bound=BaseModel)


def parse_record(kind: type[Model], line: str, path: Path | str, number: int) -> Model:
    """Read one line as a record.

    Raises:
        RecordError: The line is no such record; names the file, the line and the field.
    """
    try:
        return kind.model_validate_json(line)
    except ValidationError as error:
        raise RecordError(path, number, *first_problem(error)) from None


def read_jsonl(kind: type[Model], path: Path) -> Iterator[Model]:
    """Stream the records of a file, empty lines skipped.

    Raises:
        InputError: The file cannot be read.
        RecordError: A line is no such record.
    """
    for _, item in number_jsonl(kind, path):
        if isinstance(item, RecordError):
            raise item
        yield item


def number_jsonl(kind: type[Model], path: Path) -> Iterator[tuple[int, Model | RecordError]]:
    """Stream a file's records, each with its line, counted from 1; a bad line comes out as its error.

    Raises:
        InputError: The file cannot be read at all.
    """
    for number, line in number_lines(path):
        try:
            yield number, line if isinstance(line, RecordError) else parse_record(kind, line, path, number)
        except RecordError as error:
            yield number, error


def number_lines(path: Path) -> Iterator[tuple[int, str | RecordError]]:
    """Stream a file's lines that are not empty, each with its number; one that is not UTF-8 comes out as its error.

    Raises:
        InputError: The file cannot be read at all.
    """
    for number, raw in _lines(path):
        try:
            yield number, _decoded(raw, path, number)
        except RecordError as error:
            yield number, error


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(file, start=1):
                # A file saved by a spreadsheet or an editor on Windows starts with a byte order mark.
                line = raw.removeprefix(BOM_UTF8).strip() if number == 1 else raw.strip()
                if line:
                    yield number, line
    except (OSError, ValueError) as error:
        # ValueError: a path with a zero byte in it.
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"expected a readable file; found {path}: {reason}") from None


def _decoded(raw: bytes, path: Path, number: int) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"expected UTF-8; found byte 0x{raw[error.start]:02x} at {error.start}. Save it as UTF-8"
        raise RecordError(path, number, None, problem) from None


def write_jsonl(records: Iterable[BaseModel], file: IO[str]) -> None:
    """Write each record as one line."""
    for record in records:
        file.write(to_json(record) + "\n")


def to_json(record: BaseModel) -> str:
    """A record as one line of JSON."""
    return record.model_dump_json()


def first_problem(error: ValidationError) -> tuple[str | None, str]:
    """The field and the wording of the first of pydantic's complaints, and how many more there are."""
    problems = error.errors(include_url=False)
    first = problems[0]
    # A part in angle brackets is the name of a union's form, not of a field.
    field = ".".join(str(part) for part in first["loc"] if not str(part).startswith("<")) or None
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return field, _wording(first) + more


def _wording(problem: Any) -> str:
    message = str(problem["msg"]).removeprefix("Value error, ")
    if problem["type"] == "extra_forbidden":
        return "expected only the fields of this record; found an unknown one"
    if problem["type"] == "json_invalid":
        return f"expected one JSON object a line; found none ({message.replace(' at line 1 column ', ' at column ')})"
    if problem["type"] == "missing":
        return "expected a value; found none"
    if problem["type"] == "value_error":
        return message
    found = json.dumps(problem["input"], ensure_ascii=False, default=str)
    return f"{message}; found {found if len(found) <= 80 else found[:77] + '...'}"
