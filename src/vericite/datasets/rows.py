"""Rows of a data set's file and their fields, with errors that say what was expected and where.

A file is one JSON value, JSON lines, or a table (``.csv``, ``.tsv``); it may be gzipped. All such files of a folder are
read, in the order of their names.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from zlib import error as ZlibError

from vericite.errors import InputError, RecordError
from vericite.records import open_bytes, storable

SUFFIXES = (".json", ".jsonl", ".csv", ".tsv")
_TABLES = {".csv": ",", ".tsv": "\t"}
_PMID = re.compile(r"(?:.*/|pmid\s?:?\s?)?(\d{1,8})/?\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Row:
    """An object of a file, with its location.

    Attributes:
        path: The file.
        line: Line in the file; 0 if the whole file is one value.
        number: Number in the file, from 1.
        within: Location within the line's JSON, such as ``questions.3``.
        fields: Its fields.
    """

    path: Path
    line: int
    number: int
    within: str
    fields: Mapping[str, Any]

    def refused(self, field: str | None, problem: str) -> RecordError:
        """Return an error that names this row."""
        where = ".".join(filter(None, (self.within, field)))
        return RecordError(self.path, self.line, where or None, problem)

    def has(self, *names: str) -> bool:
        """Whether all of these fields are present and not null."""
        return all(self.fields.get(name) is not None for name in names)

    def any_of(self, *names: str) -> str:
        """Return the name of the first field that is present.

        Raises:
            RecordError: None of the fields is present.
        """
        found = next((name for name in names if self.has(name)), None)
        if found is None:
            known = ", ".join(repr(name[:40]) for name in list(self.fields)[:8]) or "none"
            raise self.refused(None, f"expected the field {' or '.join(names)}; found the fields {known}")
        return found

    def text(self, *names: str) -> str:
        """Return the text of the first field that is present; numbers become text.

        Raises:
            RecordError: No field is present, or the value is not a text.
        """
        name = self.any_of(*names)
        value = self.fields[name]
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if not isinstance(value, str):
            raise self.refused(name, f"expected a text; found {_kind(value)}")
        return storable(value).strip()

    def required_text(self, *names: str) -> str:
        """Return a text that must not be empty."""
        found = self.text(*names)
        if not found:
            raise self.refused(self.any_of(*names), "expected a text; found an empty string")
        return found

    def optional_text(self, *names: str) -> str:
        """Return the text of the first field that is present, or an empty text."""
        return self.text(*names) if any(self.has(name) for name in names) else ""

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts. A single text is a list of one; a missing field is an empty list."""
        value = self.fields.get(name)
        if value is None:
            return ()
        if isinstance(value, str | int):
            return (storable(str(value)).strip(),)
        if not isinstance(value, list) or not all(isinstance(item, str | int) for item in cast(list[object], value)):
            raise self.refused(name, f"expected a list of texts; found {_kind(cast(object, value))}")
        return tuple(storable(str(item)).strip() for item in cast(list[object], value))

    def number_of(self, name: str) -> int:
        """Return a whole number, which may be written as text."""
        value = self.fields.get(name)
        if isinstance(value, bool) or not isinstance(value, int | str) or not re.fullmatch(r"-?\d{1,9}", str(value)):
            raise self.refused(name, f"expected a whole number; found {_kind(value)}")
        return int(value)

    def rows(self, name: str, *, required: bool = False) -> list[Row]:
        """Return the objects of a list."""
        value = self.fields.get(name)
        if value is None and not required:
            return []
        if not isinstance(value, list):
            raise self.refused(name, f"expected a list of objects; found {_kind(value)}")
        return [self._inner(f"{name}.{place}", place + 1, item) for place, item in enumerate(cast(list[object], value))]

    def row(self, name: str) -> Row:
        """Return the object in a field."""
        return self._inner(name, 1, self.fields.get(name))

    def one_of(self, name: str, known: Mapping[str, Any]) -> Any:
        """Return the value for a word of a closed set, ignoring case."""
        word = self.text(name)
        found = {key.casefold(): value for key, value in known.items()}.get(word.casefold())
        if found is None:
            raise self.refused(name, f"expected one of {', '.join(known)}; found {word!r}")
        return found

    def _inner(self, name: str, number: int, value: object) -> Row:
        if not isinstance(value, dict):
            raise self.refused(name, f"expected an object; found {_kind(value)}")
        within = ".".join(filter(None, (self.within, name)))
        return Row(self.path, self.line, number, within, cast(dict[str, Any], value))


def pmid_of(address: str) -> str:
    """Return the PubMed id in an address or an id; other texts are returned unchanged."""
    found = _PMID.fullmatch(address)
    return found[1] if found else address


def files_in(path: Path) -> list[Path]:
    """Return the file itself, or the files of a folder in the order of their names.

    Raises:
        InputError: The folder has no readable files.
    """
    if not path.is_dir():
        return [path]
    found = sorted(file for file in path.rglob("*") if file.is_file() and _suffix(file) in SUFFIXES)
    if not found:
        raise InputError(f"expected files ({', '.join(SUFFIXES)}, gzipped or not) in {path}; found none")
    return found


def read_rows(path: Path, under: Sequence[str] = ()) -> Iterator[Row | RecordError]:
    """Yield the objects of a file: the items of a list, the lines, or the rows of a table.

    Args:
        path: The file.
        under: Keys that may hold the list of rows in a single object. An object without any of them is one row.

    Raises:
        InputError: The file cannot be read, or has another form.
    """
    suffix = _suffix(path)
    text = read_text(path)
    if suffix in _TABLES:
        yield from _table(path, text, _TABLES[suffix])
        return
    value = _one_value(text)
    if value is None:
        yield from _lines(path, text)
        return
    fields: dict[str, object] = cast(dict[str, object], value) if isinstance(value, dict) else {}
    name = next((key for key in under if key in fields), "")
    listed: object = fields[name] if name else cast(object, value)
    if isinstance(listed, dict):
        yield Row(path, 0, 1, name, cast(dict[str, Any], listed))
    elif isinstance(listed, list):
        for place, item in enumerate(cast(list[object], listed)):
            within = f"{name}.{place}" if name else str(place)
            yield _row(path, 0, place + 1, within, item)
    else:
        raise InputError(f"expected an object or a list of them in {path}; found {_kind(listed)}")


def read_object(path: Path) -> Row:
    """Read a file that is one JSON object.

    Raises:
        InputError: The file is not one JSON object.
    """
    value = _one_value(read_text(path))
    if not isinstance(value, dict):
        raise InputError(f"expected one JSON object in {path}; found {_kind(value) if value else 'something else'}")
    return Row(path, 0, 1, "", cast(dict[str, Any], value))


def read_text(path: Path) -> str:
    """Return the text of a file, gzipped or not.

    Raises:
        InputError: The file cannot be read, or is not UTF-8.
    """
    try:
        with open_bytes(path) as file:
            raw = file.read()
        return raw.decode("utf-8-sig")
    except InputError as error:
        raise InputError(
            f"expected a file of a data set{str(error).removeprefix('expected a readable file')}"
        ) from None
    except (EOFError, ZlibError) as reason:
        raise InputError(f"expected a file of a data set in {path}; it cannot be read: {reason}") from None
    except UnicodeDecodeError:
        raise InputError(f"expected UTF-8 in {path}; found other bytes. Convert it.") from None


def _suffix(path: Path) -> str:
    name = path.name.lower().removesuffix(".gz")
    return Path(name).suffix


def _one_value(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None
    except RecursionError:
        return None


def _lines(path: Path, text: str) -> Iterator[Row | RecordError]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                yield RecordError(path, number, None, "expected a JSON object; found something else")
            else:
                yield _row(path, number, number, "", value)


def _table(path: Path, text: str, delimiter: str) -> Iterator[Row | RecordError]:
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        for number, fields in enumerate(reader, start=1):
            named = {name: value for name, value in fields.items() if isinstance(value, str)}
            yield Row(path, reader.line_num, number, "", named)
    except csv.Error as error:
        yield RecordError(path, reader.line_num, None, f"expected a row of a table; found {error}")


def _row(path: Path, line: int, number: int, within: str, value: object) -> Row | RecordError:
    if isinstance(value, dict):
        return Row(path, line, number, within, cast(dict[str, Any], value))
    return RecordError(path, line, within or None, f"expected an object; found {_kind(value)}")


_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (str, "a text"),
    (bool, "true or false"),
    ((int, float), "a number"),
    (list, "a list"),
    (dict, "an object"),
)


def _kind(value: object) -> str:
    return next((name for kind, name in _KINDS if isinstance(value, kind)), "nothing")
