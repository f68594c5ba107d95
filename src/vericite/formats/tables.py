"""Read records from tables: CSV, TSV, Excel workbooks and Parquet files; columns may have other names."""

from __future__ import annotations

import logging
import re
import tokenize
from ast import literal_eval
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO, StringIO, TextIOWrapper
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, cast
from zipfile import ZipFile

from pydantic_core import from_json, to_json

from vericite.errors import InputError, MissingExtraError, RecordError, UnknownNameError
from vericite.formats.delimited import repeated, rows, several_columns
from vericite.formats.form import Fields, RawRecord, dict_of, items_in
from vericite.formats.given import REPLIES, SOURCES
from vericite.records import LONGEST_LINE, open_bytes
from vericite.records.base import unpacked

TABLES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".parquet": "parquet",
    ".pq": "parquet",
}
"""Kinds of tables by file suffix."""

COLUMNS = ("id", "question", "answer", "contexts", "context_ids", "documents")
"""Contents that can be assigned to columns."""

MOST_UNPACKED = 1 << 28
"""Maximum bytes of an unpacked Excel workbook: 256 MiB."""

MOST_CELLS = 20_000_000
"""Maximum cells of a sheet, including empty cells."""

_LISTS = frozenset(("documents", "contexts", "retrieved_contexts", "context_ids", "retrieved_context_ids"))
_KNOWN = frozenset((
    *COLUMNS, "user_input", "response", "retrieved_contexts", "retrieved_context_ids", "markdown", "output", "result",
    "query", "input", "docs", "context", "source_documents", "source_nodes", "data", "text", "qid", "question_id",
    "sample_id", *SOURCES, *REPLIES,
))  # fmt: skip
"""Field names that are recognized in any case in the first row."""
_WORDS = frozenset(("id", "question", "answer", "user_input", "response", "markdown"))
_ESCAPED = re.compile("[\udc80-\udcff]")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_LOG = logging.getLogger(__name__)
_Row = tuple[int, dict[str, Any]]
Wrong = Callable[[Sequence[str]], str | None]
"""Returns the problem with a table's column names; None if there is none."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Assignment of contents to the columns of a table, or to the fields of other records."""

    names: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, text: str) -> Columns:
        """Parse ``answer=reply,contexts=first,contexts=second``.

        Raises:
            InputError: The syntax is wrong, or a content is unknown.
        """
        names: dict[str, tuple[str, ...]] = {}
        for part in text.split(","):
            kind, equals, column = (piece.strip() for piece in part.partition("="))
            if not (kind and equals and column):
                raise InputError(f"expected columns such as answer=reply,contexts=sources; found {part[:80]!r}")
            if kind not in COLUMNS:
                raise UnknownNameError("content of a column", kind, COLUMNS)
            names[kind] = (*names.get(kind, ()), column)
        several = next((kind for kind, columns in names.items() if len(columns) > 1 and kind != "contexts"), None)
        if several:
            raise InputError(f"expected one column for {several}; found {len(names[several])}")
        return cls(names)

    def missing(self, header: Sequence[str]) -> str | None:
        """Return the error for a table without one of the columns; None if it has all."""
        # The first part of a path is a column, whose cells have the rest.
        return self._lacking("column", header, lambda name: name in header or name.partition(".")[0] in header)

    def missing_fields(self, fields: Fields) -> str | None:
        """Return the error for a record without one of the fields; None if it has all."""
        return self._lacking("field", list(fields), lambda name: name in fields or _at(fields, name) is not None)

    def _lacking(self, what: str, there: Sequence[str], has: Callable[[str], bool]) -> str | None:
        lacking = next((name for names in self.names.values() for name in names if not has(name)), None)
        if lacking is None:
            return None
        shown = ", ".join(repr(name[:40]) for name in there[:12]) or "none"
        return f"expected a {what} {lacking!r}; found {shown}. Name another with --format"

    def renamed(self, fields: Fields) -> dict[str, Any]:
        """Rename the assigned columns to the names that formats know; other fields are unchanged."""
        taken = {name for columns in self.names.values() for name in columns}
        record = {name: value for name, value in fields.items() if name not in taken and name not in self.names}
        for kind, columns in self.names.items():
            values = [value for name in columns if (value := _at(fields, name)) is not None]
            if not values:
                continue
            if kind != "contexts" or len(columns) == 1:
                record[kind] = values[0]
            else:
                record[kind] = list(chain.from_iterable(items_in(value) or [value] for value in values))
        if "context_ids" in record:
            record["retrieved_context_ids"] = record.pop("context_ids")
        return record


def _at(value: object, path: str) -> object:
    """Return what is at a path such as ``retrieved.body``; None if nothing is.

    In a list it is that of each item. One that lacks it is kept as None: numbers of the others stay as they are.
    """
    if not path:
        return value
    if isinstance(value, list):
        items = cast("list[object]", value)
        found = [_at(item, path) for item in items]
        return found if not items or any(inner is not None for inner in found) else None
    fields = dict_of(value)
    if path in fields:
        return fields[path]
    first, _, rest = path.partition(".")
    return _at(fields[first], rest) if rest and first in fields else None


def table_records(path: Path, kind: str, columns: Columns | None) -> Iterator[RawRecord | RecordError]:
    """Yield the rows of a table as records, without empty cells.

    Raises:
        InputError: The table cannot be read, or lacks a named column.
        MissingExtraError: A package that reads it is not installed.
    """
    found = table_rows(path, kind, columns.missing if columns else None)
    for number, row in enumerate(found, start=1):
        if isinstance(row, RecordError):
            yield row
            continue
        line, fields = row
        given = {name: value for name, value in fields.items() if value is not None}
        if columns:
            given = columns.renamed({name: _value(name, value) for name, value in given.items()})
        values = {name: _value(name, value) for name, value in usual_fields(given).items()}
        json = to_json(values, inf_nan_mode="null", bytes_mode="base64", serialize_unknown=True)
        yield RawRecord(str(path), number, line, json.decode())


_CAPITALS = re.compile(rf'"(?=[^"]*[A-Z ])(?i:{"|".join(sorted(_KNOWN)).replace("_", "[_ ]")})"\s{{0,9}}:')


def with_usual_names(raw: RawRecord) -> RawRecord:
    """Return a JSON record with known names in lower case, as in tables."""
    fields = raw.fields if _CAPITALS.search(raw.json) else None
    return raw if fields is None or (usual := usual_fields(fields)) == fields else raw.with_fields(usual)


def usual_fields(fields: Fields) -> dict[str, Any]:
    """Return the fields with known names in lower case: people may write ``Answer`` or ``RETRIEVED CONTEXTS``."""
    return dict(zip(_usual_names(list(fields)), fields.values(), strict=True))


def _usual_names(names: Sequence[str]) -> list[str]:
    usual = ["_".join(name.casefold().split()) for name in names]
    return [other if other in _KNOWN and other not in names else name for name, other in zip(names, usual, strict=True)]


def table_rows(path: Path, kind: str, wrong: Wrong | None = None) -> Iterator[tuple[int, Fields] | RecordError]:
    """Yield the rows of a table, each with its line, without empty cells.

    Args:
        path: The file.
        kind: A value of ``TABLES``. A ``csv`` may have commas, semicolons or tabs. Both kinds may be in UTF-16, or
            in cp1252 from Excel on Windows, which is only guessed if no earlier row has non-ASCII UTF-8.
        wrong: Returns the problem with the column names, if any.

    Raises:
        InputError: The table cannot be read, or its columns are wrong.
        MissingExtraError: A package that reads it is not installed.
    """
    with open_bytes(path) as file:
        yield from _rows(path, file, kind, wrong)


def _rows(path: Path, file: BinaryIO, kind: str, wrong: Wrong | None) -> Iterator[_Row | RecordError]:
    if kind == "parquet":
        yield from _parquet_rows(path, file, wrong)
        return
    cells = _excel_cells(path, file) if kind == "excel" else _csv_cells(path, file, kind)
    header: list[str] | None = None
    for item in cells:
        if isinstance(item, RecordError):
            if header is None:  # the rows would be read with wrong names
                raise InputError(str(item))
            yield item
            continue
        line, values = item
        if header is None:
            header = [str(name or "").strip() for name in values]
            if twice := repeated(_usual_names(header)):
                raise InputError(f"{path}: {several_columns(twice)}")
            if wrong and (problem := wrong(list(filter(None, header)))):
                raise InputError(f"{path}: {problem}")
        elif len(values) > len(header) and any(value not in (None, "") for value in values[len(header) :]):
            problem = f"expected {len(header)} cells, as in the first row; found {len(values)}"
            yield RecordError(path, line, None, f"{problem}. Put texts in quotation marks")
        else:
            named = zip(header, values, strict=False)
            yield line, {name: value for name, value in named if name and value not in (None, "")}
    if header is None and wrong and (problem := wrong(())):
        raise InputError(f"{path}: {problem}")


def _csv_cells(path: Path, file: BinaryIO, kind: str) -> Iterator[tuple[int, Sequence[Any]] | RecordError]:
    stream = unpacked(file)
    # Spreadsheets write UTF-16 as "Unicode text".
    encoding = "utf-16" if stream.peek(2)[:2] in (BOM_UTF16_LE, BOM_UTF16_BE) else "utf-8-sig"
    text = TextIOWrapper(cast(BinaryIO, stream), encoding=encoding, errors="surrogateescape", newline="")
    try:
        head = text.readline(LONGEST_LINE)
        delimiter = "\t" if kind == "tsv" else max(",;\t", key=head.count)
        lines = chain([head] if head else [], iter(lambda: text.readline(LONGEST_LINE), ""))
        yield from _delimited(path, _bounded(path, lines), delimiter, is_known=encoding == "utf-16")
    except UnicodeError as error:
        raise InputError(f"expected UTF-16; found {path}: {error}. Save the table as UTF-8") from None
    finally:
        with suppress(ValueError):  # The file was closed first.
            text.detach()


def _bounded(path: Path, lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines without line ends, each with its number.

    Raises:
        InputError: A line is longer than ``LONGEST_LINE``.
    """
    for number, line in enumerate(lines, start=1):
        if len(line) >= LONGEST_LINE:
            problem = f"a line of at most {LONGEST_LINE:,} characters; found {path} with a longer one, line {number}"
            raise InputError(f"expected {problem}. Write one record per row")
        yield number, line.removesuffix("\n")


def _delimited(
    path: Path, lines: Iterator[tuple[int, str]], delimiter: str, *, is_known: bool
) -> Iterator[tuple[int, Sequence[Any]] | RecordError]:
    """Yield the rows; unless ``is_known``, rows that are not UTF-8 may be in another encoding."""
    told = False
    for row in rows(lines, delimiter):
        line, cells = row.line, row.cells
        if row.problem:
            yield RecordError(path, line, None, row.problem)
            continue
        is_known = is_known or any(not _ESCAPED.sub("", cell).isascii() for cell in cells)
        wrong = next((found for cell in cells if (found := _ESCAPED.search(cell))), None)
        if wrong and not is_known and (guessed := _as_windows(cells)):
            if not told:
                _LOG.warning("%s, line %s: expected UTF-8; found other bytes, read as cp1252 (a guess)", path, line)
            told, wrong, cells = True, None, tuple(guessed)
        if wrong:
            problem = f"expected UTF-8; found byte 0x{ord(wrong[0]) & 0xFF:02x}. Save the table as UTF-8"
            yield RecordError(path, line, None, problem)
        else:
            yield line, cells


def _as_windows(cells: Sequence[str]) -> list[str] | None:
    """Decode the cells in the code page of Excel on Windows; None if they are not text in it."""
    try:
        found = [cell.encode("utf-8", "surrogateescape").decode("cp1252") for cell in cells]
    except UnicodeError:
        return None
    return None if any(map(_CONTROL.search, found)) else found


def _excel_cells(path: Path, file: BinaryIO) -> Iterator[tuple[int, Sequence[Any]]]:
    """Yield the rows of the first sheet; formulas have the values saved in the workbook."""
    openpyxl = workbooks()
    try:
        content = BytesIO(_workbook(path, file))
        book = openpyxl.load_workbook(content, read_only=True, data_only=True)
        found = book.worksheets[0].iter_rows(values_only=True)
        cells = 0
        for line, row in enumerate(found, start=1):
            cells += len(row)
            if cells > MOST_CELLS:
                raise InputError(
                    f"expected a sheet of at most {MOST_CELLS:,} cells; found more in {path}. Save it as CSV"
                )
            if any(value not in (None, "") for value in row):
                yield line, [int(value) if isinstance(value, float) and value.is_integer() else value for value in row]
    except InputError:
        raise
    except Exception as error:  # ZIP, XML and the package raise many kinds of errors.
        raise InputError(f"expected an Excel workbook (.xlsx); found {path}: {error}. Save it again") from None


def _workbook(path: Path, file: BinaryIO) -> bytes:
    """Read a workbook after checking its unpacked size.

    Raises:
        InputError: It is too large: a small file may unpack to fill the memory.
    """
    content = file.read(MOST_UNPACKED + 1)
    # Unpacking a part stops at the size declared here.
    with ZipFile(BytesIO(content)) as parts:
        size = sum(part.file_size for part in parts.infolist())
    if max(size, len(content)) > MOST_UNPACKED:
        raise InputError(
            f"expected a workbook of at most {MOST_UNPACKED:,} unpacked bytes; found {path} with {size:,}. "
            "Save the sheet as CSV"
        )
    return content


def _parquet_rows(path: Path, file: BinaryIO, wrong: Wrong | None) -> Iterator[_Row]:
    parquet = _package("pyarrow.parquet", "A Parquet file")
    try:
        source = parquet.ParquetFile(file if file.seekable() else BytesIO(file.read()))
        problem = wrong(source.schema_arrow.names) if wrong else None
        batches = iter(source.iter_batches(batch_size=64))
    except Exception as error:
        raise InputError(f"expected a Parquet file; found {path}: {error}") from None
    if problem:
        raise InputError(f"{path}: {problem}")
    line = 0
    while True:
        try:
            batch = next(batches, None)
        except Exception as error:
            raise InputError(f"expected a complete Parquet file; found {path}: {error}") from None
        if batch is None:
            return
        for fields in batch.to_pylist():
            line += 1
            yield line, fields


def workbooks() -> Any:
    """Return the package that reads and writes Excel workbooks.

    Raises:
        MissingExtraError: It is not installed.
    """
    return _package("openpyxl", "An Excel workbook")


def _package(name: str, what: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError("tables", what) from None


def _value(name: str, value: object) -> object:
    """Parse a cell: a list or object in its text is decoded; a plain text in a list column becomes a list of one."""
    if not isinstance(value, str) or name in _WORDS:
        return value
    text = value.strip()
    if text[:1] in ("[", "{") and text[-1:] in ("]", "}"):
        for decode in (from_json, _python_texts, literal_eval):
            try:
                found = decode(text)
            except (ValueError, SyntaxError, MemoryError, RecursionError, tokenize.TokenError):
                continue
            if isinstance(found, list | dict):
                return cast(object, found)
    return [value] if name in _LISTS else value


def _python_texts(text: str) -> list[str]:
    """Parse a list of texts in Python's or NumPy's printed form; NumPy omits the commas.

    Raises:
        ValueError: It is another kind of list.
    """
    texts: list[str] = []
    for token in tokenize.generate_tokens(StringIO(text).readline):
        if token.type == tokenize.STRING:
            texts.append(str(literal_eval(token.string)))
        elif token.string.strip() and token.string not in "[,]":
            raise ValueError("expected only texts")
    return texts
