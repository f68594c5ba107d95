"""Read the records of a file: JSON Lines, other JSON, tables or Markdown; gzip and standard input are supported."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from itertools import chain
from json import JSONDecodeError, JSONDecoder, loads
from pathlib import Path
from typing import Any, cast

from pydantic_core import from_json, to_json

from vericite.errors import InputError, Problems, RecordError
from vericite.formats.form import Fields, RawRecord, dict_of, fields_of
from vericite.formats.tables import TABLES, Columns, table_records, with_usual_names
from vericite.records import LONGEST_LINE, STANDARD_INPUT, STDIN, number_lines, open_bytes, storable
from vericite.records.base import several_values

MARKDOWN_FILES = frozenset({".md", ".markdown"})

TEXT_FILES = MARKDOWN_FILES | {".txt", ".text"}
"""Suffixes of text files. A file other than Markdown that begins like JSON is read as JSON."""

ANSWERS = ("answer", "response", "output", "result")
"""Field names for the text of an answer."""

LISTS = ("results", "answers", "topics", "samples", "data")
"""Field names under which one object may hold all records of a file."""

_RECORDS = re.compile(rb"\s*(?:\[\s*)?\{")
_SPACE = re.compile(r"[ \t\n\r,:]*")
# Numbers are only skipped here, and a number with a million digits must not take long.
_DECODER = JSONDecoder(parse_int=str, parse_float=str)
_Piece = tuple[int, str, str]  # line, path within the line's JSON value, JSON of the record
OF_A_LINE = 64
"""Bytes that a line takes in memory in addition to its characters."""
_LONGEST_JSON = 1 << 28  # maximum characters of a file that is one JSON value, which is read at once
_BY_COLUMN = re.compile(r'\{\s{0,9}"[^"\\]{1,99}"\s{0,9}:\s{0,9}[\[{]')


def file_records(
    path: Path, is_record: Callable[[Fields], bool], columns: Columns | None = None
) -> Iterator[RawRecord | RecordError]:
    """Yield the records of a file of any kind, detected by its suffix, or by its first bytes on standard input.

    Raises:
        InputError: The file cannot be read at all.
        MissingExtraError: It is a table, and the package that reads it is not installed.
    """
    kind = TABLES.get(suffix_of(path))
    if path == STDIN:
        head = STANDARD_INPUT.head()
        kind = "parquet" if head == b"PAR1" else "excel" if head == b"PK\x03\x04" else None
        if columns and not kind and not _starts_json(head):
            kind = "csv"
    if kind:
        return table_records(path, kind, columns)
    records = raw_records(path, is_record)
    return (_renamed(raw, columns) for raw in records) if columns else map(_usual, records)


def _usual(raw: RawRecord | RecordError) -> RawRecord | RecordError:
    return raw if isinstance(raw, RecordError) else with_usual_names(raw)


def _renamed(raw: RawRecord | RecordError, columns: Columns) -> RawRecord | RecordError:
    fields = None if isinstance(raw, RecordError) else fields_of(raw.json)
    if isinstance(raw, RecordError) or fields is None:
        return raw
    problem = columns.missing_fields(fields)
    return raw.refused(None, problem) if problem else raw.with_fields(columns.renamed(fields))


def is_text(path: Path, is_markdown: bool) -> bool:
    """Whether a file is one Markdown text; with ``is_markdown`` (the requested format), any text file may be."""
    if path == STDIN:
        return is_markdown and not _starts_json(STANDARD_INPUT.head())
    return suffix_of(path) in MARKDOWN_FILES or (
        suffix_of(path) in TEXT_FILES and (is_markdown or not _is_json_text(path))
    )


def _is_json_text(path: Path) -> bool:
    """Whether a text file begins with a JSON object or a list of objects; ``[1]`` begins a text."""
    with open_bytes(path) as file:
        return bool(_RECORDS.match(file.read(1_000).removeprefix(BOM_UTF8)))


def _starts_json(head: bytes) -> bool:
    return head.removeprefix(BOM_UTF8).lstrip()[:1] in (b"{", b"[")


def suffix_of(path: Path) -> str:
    """Return the lower-case suffix of a file's name, without ``.gz``."""
    suffix = path.suffix.lower()
    return path.with_suffix("").suffix.lower() if suffix == ".gz" else suffix


def raw_records(path: Path, is_record: Callable[[Fields], bool]) -> Iterator[RawRecord | RecordError]:
    """Yield the records of a JSON file without parsing their fields.

    A file with one JSON value per line is streamed; a file that is one value over many lines is read at once. A value
    is a list of records, an object that holds such a list, or one record. Other items of a list are yielded too, for
    the reader of the format to refuse.

    Args:
        path: The file.
        is_record: Whether an object with these fields is a record itself, even if it holds lists.

    Raises:
        InputError: The file cannot be read at all.
    """
    number = 0
    for piece in _pieces(path, is_record):
        number += 1
        if isinstance(piece, RecordError):
            yield piece
        else:
            line, within, json = piece
            raw = RawRecord(str(path), number, line, json, within)
            problem = several_values(json)
            yield raw.refused(None, problem) if problem else raw


def markdown_record(path: Path) -> Iterator[RawRecord | RecordError]:
    """Yield a Markdown file as one record with its unchanged text; its id is the file's name. An empty file has none.

    Raises:
        InputError: The file cannot be read at all.
    """
    try:
        with open_bytes(path) as file:
            text = file.read(LONGEST_LINE).removeprefix(BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"expected UTF-8; found byte 0x{error.object[error.start]:02x} at {error.start}. Save it as UTF-8"
        yield RecordError(path, error.object.count(b"\n", 0, error.start) + 1, None, problem)
        return
    if not text.strip():
        return
    id = "stdin" if path == STDIN else storable(path.name.split(".", 1)[0]) or "markdown"
    yield RawRecord(str(path), 1, 1, to_json({"id": id, "markdown": text}).decode())


def first_fields(path: Path) -> frozenset[str]:
    """Return the field names of the first object in a JSON Lines file, to detect its format; empty if there is none.

    Raises:
        InputError: The file cannot be read at all.
    """
    if path == STDIN:
        STANDARD_INPUT.keep()
    for _, line in Problems().kept(number_lines(path)):
        if (fields := fields_of(line)) is not None:
            return frozenset(fields)
    return frozenset()


def _pieces(path: Path, is_record: Callable[[Fields], bool]) -> Iterator[_Piece | RecordError]:
    lines = number_lines(path)
    head = next(lines, None)
    if head is None:
        return
    if not isinstance(head, RecordError) and head[1][0] in "{[" and not _is_json(head[1]):
        rest = list(_bounded(lines))
        whole = _joined([head, *rest])
        if whole and _is_json(whole):
            yield from _records_in(path, whole, head[0], is_record)
            return
        if whole and (fault := _fault_of(path, head[1], rest, whole)):
            yield fault
            return
        lines = chain(rest, lines)
    for line in chain([head], lines):
        if isinstance(line, RecordError):
            yield line
        else:
            yield from _records_in(path, line[1], line[0], is_record)


def _bounded(lines: Iterator[tuple[int, str] | RecordError]) -> Iterator[tuple[int, str] | RecordError]:
    """Yield lines up to the maximum size of one JSON value."""
    length = 0
    for line in lines:
        yield line
        length += OF_A_LINE + (0 if isinstance(line, RecordError) else len(line[1]))
        if length > _LONGEST_JSON:
            return


def json_fault(text: str) -> tuple[int, str] | None:
    """Return the line and the description of an error in a JSON value; None if it is valid."""
    try:
        # Numbers are not converted here: a number with too many digits is refused when it is read.
        loads(text, parse_int=str, parse_float=str)
    except JSONDecodeError as error:
        what = "one JSON list" if text.lstrip().startswith("[") else "one JSON value"
        before, after = text[: error.pos].rstrip(), text[error.pos :].strip()
        # For an unterminated string, Python reports the position where it begins.
        if not after or error.msg.startswith("Unterminated string"):
            lines = text.rstrip().split("\n")
            return len(lines), f"expected {what}; it ends early, at column {len(lines[-1])}. Write the file again"
        if (after[0] in "]}," and before.endswith(",")) or (after[0] == "," and after[1:].lstrip()[:1] in {"]", "}"}):
            problem = f"a comma before nothing at column {error.colno}. Remove the comma"
        else:
            problem = f"no JSON at column {error.colno} ({error.msg})"
        return error.lineno, f"expected {what}; found {problem}"
    except RecursionError:
        return 1, "expected a JSON list of records; found lists nested too deeply"
    return None


def _fault_of(path: Path, head: str, rest: list[tuple[int, str] | RecordError], whole: str) -> RecordError | None:
    """Return the error of a file that should be one JSON value by its name or first line; None for other files."""
    alone = head in {"[", "{"}
    listed = head.startswith("[") and path.suffix.lower() == ".json"
    if not alone and not listed:
        # If lines are readable on their own, only the broken line is lost.
        if head.startswith("{") and path.suffix.lower() != ".json":
            return None
        if any(_is_json(line) for _, line in Problems().kept(rest)):
            return None
    text = whole
    if path.is_file():  # Read the original text for exact columns; a pipe cannot be read again.
        with open_bytes(path) as file:
            text = file.read().removeprefix(BOM_UTF8).decode("utf-8")
    fault = json_fault(text)
    return None if fault is None else RecordError(path, fault[0], None, fault[1])


def _is_json(text: str) -> bool:
    try:
        from_json(text)
    except ValueError:
        return False
    return True


def _joined(lines: list[tuple[int, str] | RecordError]) -> str | None:
    """Join the lines, with empty lines restored; None if a line cannot be read."""
    parts: list[str] = []
    last = 0
    for item in lines:
        if isinstance(item, RecordError):
            return None
        number, line = item
        last = last or number
        parts += ["\n" * (number - last), line]
        last = number
    return "".join(parts)


def _records_in(
    path: Path, text: str, line: int, is_record: Callable[[Fields], bool]
) -> Iterator[_Piece | RecordError]:
    """Yield the records in a JSON value; the value itself if it holds none."""
    try:
        inner = _list_within(text, is_record)
    except InputError as error:
        yield RecordError(path, line, None, str(error))
        return
    if inner is None:
        try:
            rows = _rows_of(text) if _BY_COLUMN.match(text) else None
        except InputError as error:
            yield RecordError(path, line, None, str(error))
            return
        if rows is None:
            yield line, "", text
        else:
            yield from ((line, f"row {number}", to_json(row).decode()) for number, row in enumerate(rows))
        return
    position, within = inner
    seen = 0
    for index, (start, end) in enumerate(_items(text, position)):
        line += text.count("\n", seen, start)
        seen = start
        yield line, f"{within}{index}", text[start:end]


def _rows_of(text: str) -> list[Fields] | None:
    """Return the rows of a table written by column, as pandas and datasets do; None if it is not such a table.

    Raises:
        InputError: Its columns have different lengths.
    """
    fields = fields_of(text) or dict_of(None)
    answers = next((fields[name] for name in ANSWERS if name in fields), None)
    if isinstance(answers, dict):
        keys = list(dict_of(cast(object, answers)))
        if keys and all(list(dict_of(column)) == keys for column in fields.values()):
            return [{name: column[key] for name, column in fields.items()} for key in keys]
    if isinstance(answers, list) and all(isinstance(answer, str | None) for answer in cast("list[Any]", answers)):
        sizes = {name: len(cast("list[Any]", column)) for name, column in fields.items() if isinstance(column, list)}
        if answers and len(sizes) == len(fields):
            if len(set(sizes.values())) > 1:
                found = ", ".join(f"{size} in {name[:40]!r}" for name, size in list(sizes.items())[:8])
                raise InputError(f"expected columns of equal length; found {found}. Write null for missing values")
            return [{name: column[number] for name, column in fields.items()} for number in range(sizes.popitem()[1])]
    return None


def _list_within(text: str, is_record: Callable[[Fields], bool]) -> tuple[int, str] | None:
    """Return the position of the list of records, and the prefix of each record's path; None if there is no list.

    Raises:
        InputError: There are several lists with that name.
    """
    if not text.startswith("[") and not any(f'"{name}"' in text for name in LISTS):
        return None  # avoids parsing each line of a long file twice
    try:
        value = from_json(text)
    except ValueError:
        return None
    if _is_records(value):
        return 0, ""
    fields: Fields = cast(Fields, value) if isinstance(value, dict) else dict[str, Any]()
    name = next((name for name in LISTS if _is_records(fields.get(name))), None)
    if name is None or is_record(fields):
        return None
    found = position = 0
    while text[position := _skipped(text, position + 1 if position == 0 else position)] != "}":
        key, position = _DECODER.raw_decode(text, position)
        value_at = _skipped(text, position)
        _, position = _DECODER.raw_decode(text, value_at)
        if key == name and found:
            raise InputError(f"expected one list of records; found several values of {name!r}. Keep one of them")
        found = value_at if key == name else found
    return found, f"{name}."


def _is_records(value: Any) -> bool:
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return any(isinstance(item, dict) for item in items)


def _items(text: str, position: int) -> Iterator[tuple[int, int]]:
    position = _skipped(text, position + 1)
    while text[position] != "]":
        _, end = _DECODER.raw_decode(text, position)
        yield position, end
        position = _skipped(text, end)


def _skipped(text: str, position: int) -> int:
    space = _SPACE.match(text, position)
    return space.end() if space else position
