"""Read documents from JSON objects and table rows, which share field names; also read lists of PMIDs.

JSON has one object per line, or one list: our documents, an id and a text, or MedRAG's chunks. Tables are CSV and TSV,
with columns recognized by name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, cast

from vericite.corpus.sources.entry import DocumentEntry, entry_of, field_of, folded, pmid_of
from vericite.corpus.sources.files import Entries, Numbered, SourceFile, SourceFormat, opened, undecoded
from vericite.errors import InputError, RecordError
from vericite.formats.delimited import TableRow, repeated, rows, several_columns
from vericite.formats.files import OF_A_LINE, fields_of, json_fault
from vericite.formats.form import dict_of, dicts_in, items_in
from vericite.records import Document, SourceText, parse_record
from vericite.records.base import SeveralValues, object_of, several_values

_LONGEST_LIST = 1 << 28
_SHORT = frozenset(("id", "text", "title"))


def _read_json(file: SourceFile) -> Iterator[Numbered]:
    lines = ((number, raw) for number, raw in file.lines() if raw.strip())
    head = next(lines, None)
    if head and head[1].lstrip().startswith("[") and not _is_json(head[1]):
        yield from _listed(file, head[0], "".join(_bounded(file, chain([head], lines))))
        return
    for number, raw in chain([head] if head else [], lines):
        line = raw.strip()
        values = _list_in(line)
        if values is None:
            yield number, _item(file, number, line)
        else:
            yield from ((number, _of_list(file, number, value)) for value in values)


def _bounded(file: SourceFile, lines: Iterator[tuple[int, str]]) -> Iterator[str]:
    """Yield the lines of a multi-line list, with empty lines restored; refuse a list that would fill the memory."""
    read = last = 0
    for number, line in lines:
        read += len(line) + OF_A_LINE
        if read > _LONGEST_LIST:
            problem = (
                f"expected a list of at most {_LONGEST_LIST:,} bytes; found a longer list. Write one document per line"
            )
            raise RecordError(file.path, number, None, problem)
        yield "\n" * (number - last if last else 0) + line
        last = number


def _listed(file: SourceFile, number: int, text: str) -> Iterator[Numbered]:
    """Yield the documents of a multi-line list; their line number is the first line of the list."""
    values = _list_in(text.strip())
    if values is None:
        line, problem = json_fault(text) or (1, "expected one JSON list; found something after its end")
        raise RecordError(file.path, number + line - 1, None, undecoded(text) or problem)
    for value in values:
        yield number, _of_list(file, number, value)


def _of_list(file: SourceFile, number: int, value: object) -> Document | RecordError:
    """Read a document from a value of a list."""
    if not isinstance(value, dict):
        found = json.dumps(value)
        found = found if len(found) <= 80 else found[:77] + "..."
        return RecordError(file.path, number, None, f"expected a JSON object in the list; found {found}")
    # Check before JSON escapes a byte that is not UTF-8, which would hide the real problem.
    if problem := undecoded(json.dumps(value, ensure_ascii=False)):
        return RecordError(file.path, number, None, problem)
    if isinstance(value, SeveralValues):
        return RecordError(file.path, number, None, value.problem)
    return _item(file, number, json.dumps(value))


def _item(file: SourceFile, number: int, line: str) -> Document | RecordError:
    if problem := undecoded(line):
        return RecordError(file.path, number, None, problem)
    try:
        return _document(line, file.path, number, f"{file.name}:{number}")
    except RecordError as error:
        return error


def _document(line: str, path: Path, number: int, fallback: str) -> Document:
    fields = fields_of(line)
    if problem := several_values(line):
        raise RecordError(path, number, None, problem)
    if fields is None or (_SHORT.issuperset(fields) and "text" in fields):
        short = parse_record(SourceText, line, path, number)
        if not short.text.strip():
            raise RecordError(path, number, "text", "expected a text; found none")
        return short.document()
    if not _has_text(fields):
        return parse_record(Document, line, path, number)
    document = entry_of(_of_csl(fields) if _is_csl(fields) else fields).document(fallback)
    if fields.get("retracted") is True:
        document = document.model_copy(update={"retracted": True})
    if not document.text:
        raise RecordError(path, number, None, "expected a text; found none in any text field")
    return _with_pmid(document)


def _with_pmid(document: Document) -> Document:
    """Take the PMID from an id such as ``PMID:123``, as MedRAG's script writes it."""
    if document.pmid is None and document.id.upper().startswith("PMID:") and document.id[5:].isdecimal():
        return document.model_copy(update={"pmid": document.id[5:]})
    return document


_CSL = frozenset(("container-title", "issued", "accessed", "citation-key", "DOI", "PMID", "URL", "ISSN"))
_CSL_TYPES = re.compile(r"article(?:-\w{1,20})?|book|chapter|paper-conference|report|thesis|review|webpage|document")


def _is_csl(fields: Mapping[str, Any]) -> bool:
    kind = fields.get("type")
    return isinstance(kind, str) and bool(_CSL_TYPES.fullmatch(kind)) and bool(_CSL & fields.keys())


def _of_csl(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Rename the fields of a CSL JSON item to ours.

    Its id is a citation key that each program makes up; a PMID or a DOI identifies the article in all of them.
    """
    parts = items_in(dict_of(fields.get("issued")).get("date-parts"))
    day = [str(part).zfill(2) for part in items_in(parts[0])[:3]] if parts else []
    authors = [
        str(person.get("literal") or f"{person.get('family', '')}, {person.get('given', '')}".strip(", "))
        for person in dicts_in(fields.get("author"))
    ]
    renamed = {"key": fields.get("id"), "journal": fields.get("container-title"), "date": "-".join(day)}
    kept = {name: value for name, value in fields.items() if name not in ("id", "author", "issued", "type", "source")}
    return kept | renamed | {"author": authors}


def entry_of_csl(fields: Mapping[str, Any]) -> DocumentEntry:
    """Return the entry in a CSL JSON item, from a file or a field of a Word document."""
    return entry_of(_of_csl(fields))


def _entries_in_json(file: SourceFile) -> Entries:
    """Yield the items of a CSL JSON file, or of objects with our field names, one per line or in a list."""
    text = file.text().strip()
    values = _list_in(text)
    if values is None:
        try:
            values = [json.loads(line) for line in text.split("\n") if line.strip()]
        except (ValueError, RecursionError):
            raise InputError(f"expected CSL JSON, a list of items; found other text in {file.path}") from None
    for number, value in enumerate(values, start=1):
        item = dict_of(value)
        entry = replace(entry_of_csl(item) if _is_csl(item) else entry_of(item), key=str(item.get("id") or ""))
        missing = RecordError(file.path, number, None, "expected an item with a title; found none")
        yield number, entry if entry.title else missing


def _has_text(fields: Mapping[str, Any]) -> bool:
    return "sections" not in fields and any(field_of(name) == "text" for name in fields)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _list_in(text: str) -> list[object] | None:
    """Parse a JSON list; None if the text is not a list."""
    if not text.startswith("["):
        return None
    try:
        values: object = json.loads(text, object_pairs_hook=object_of)
    except (ValueError, RecursionError):
        return None
    return cast("list[object]", values) if isinstance(values, list) else None


_JSON_SUFFIXES = (".jsonl", ".ndjson", ".json")


def _is_json_file(file: SourceFile) -> bool:
    opening = file.opening.lstrip()
    listed = opening.startswith("[") and opening[1:].lstrip().startswith("{")
    return opening.startswith("{") or listed or file.suffix in _JSON_SUFFIXES


JSON_LINES = SourceFormat(
    'documents in JSON, one per line: {"id": ..., "text": ..., "title": ...}, a VeriCite document, '
    '{"pmid", "title", "abstract"} or a MedRAG chunk {"id", "title", "content"}',
    _read_json,
    _is_json_file,
    suffixes=_JSON_SUFFIXES,
    record_mark=b"\n",
    entries=_entries_in_json,
)


def first_row(text: str, delimiter: str) -> tuple[str, ...]:
    """Return the cells of the first row that is not empty."""
    lines = enumerate(chain(text.split("\n")), start=1)
    return next((row.cells for row in rows(lines, delimiter) if not row.problem), ())


_DELIMITERS = ",;\t|"
_OF_PUBMED = frozenset(("pmid", "title", "citation", "firstauthor", "createdate"))


def header_of(opening: str) -> tuple[str, tuple[str, ...]]:
    """Return the delimiter and the column names: the delimiter that gives the most known names in the first row."""
    found = ((sign, first_row(opening, sign)) for sign in _DELIMITERS)
    return max(found, key=lambda pair: (_known(pair[1]), len(pair[1]) > 1))


def columns_of(path: Path) -> tuple[str, ...]:
    """Return the names of a table's columns; none for another file.

    Raises:
        InputError: The file cannot be read.
    """
    if path.is_dir():
        return ()
    with opened(path) as file:
        form = next((form for form in (TSV, CSV) if not _is_json_file(file) and form.matches(file)), None)
        return () if form is None else header_of(file.opening)[1]


def is_pubmed_export(header: Sequence[str]) -> bool:
    """Whether a table is PubMed's CSV export, which has no abstracts."""
    return _OF_PUBMED.issubset(map(folded, header))


def _known(header: Sequence[str]) -> int:
    # "a,b" is not a spelling of the name "ab".
    whole = (name for name in header if not any(sign in name for sign in _DELIMITERS))
    return len({field for name in whole if (field := field_of(name))})


def _reader(delimiter: str | None) -> SourceFormat:
    name, suffixes = ("TSV", (".tsv", ".tab")) if delimiter else ("CSV", (".csv",))

    def read(file: SourceFile) -> Iterator[Numbered]:
        return _read_table(file, delimiter or header_of(file.opening)[0])

    def matches(file: SourceFile) -> bool:
        if file.suffix in suffixes:
            return True
        sign, header = header_of(file.opening)
        return (sign == "\t") == bool(delimiter) and _known(header) >= 2 and _names_text(header)

    summary = (
        f"a table ({name}) with column names in the first row: id or PMID, title, abstract or text, journal, year ..."
    )

    def entries(file: SourceFile) -> Entries:
        return _entries_in_table(file, delimiter or header_of(file.opening)[0])

    return SourceFormat(summary, read, matches, suffixes=suffixes, record_mark=b"\n", entries=entries)


def _entries_in_table(file: SourceFile, delimiter: str) -> Entries:
    """Yield the rows of a table of references, such as Zotero's CSV."""
    table = rows(file.lines(), delimiter)
    header = next(table, None)
    if header is None or header.problem or not any(field_of(name) == "title" for name in header.cells):
        raise InputError(f"expected a table with a column named title; found another in {file.path}")
    for row in table:
        problem = row.problem or _unfit(header.cells, row)
        values = dict(zip_longest(header.cells, row.cells[: len(header.cells)], fillvalue=""))
        yield row.line, RecordError(file.path, row.line, None, problem) if problem else entry_of(values)


def _read_table(file: SourceFile, delimiter: str) -> Iterator[Numbered]:
    table = rows(file.lines(), delimiter)
    header = next(table, None)
    if header is None or header.problem or not _names_text(header.cells):
        raise _no_text(file, header.cells if header else ())
    if twice := [name for name in repeated(header.cells) if field_of(name)]:
        raise InputError(f"{file.path}: {several_columns(twice)}")
    for row in table:
        yield row.line, _in_row(file, header.cells, row)


def _in_row(file: SourceFile, header: Sequence[str], row: TableRow) -> Document | RecordError:
    if problem := row.problem or _unfit(header, row):
        return RecordError(file.path, row.line, None, problem)
    entry = entry_of(dict(zip_longest(header, row.cells[: len(header)], fillvalue="")))
    document = entry.document(f"{file.name}:{row.line}")
    if not document.text:
        return RecordError(file.path, row.line, None, f"expected a text; found none in row {document.id!r}")
    return document


def _unfit(header: Sequence[str], row: TableRow) -> str | None:
    if any(cell.strip() for cell in row.cells[len(header) :]) or len(row.cells) < len(header) - _spare(header):
        return f"expected {len(header)} cells, one per column; found {len(row.cells)}"
    return next((found for cell in row.cells if (found := undecoded(cell))), None)


def _spare(header: Sequence[str]) -> int:
    """Return the number of unnamed columns at the end; rows need no cells for these."""
    return next((index for index, name in enumerate(reversed(header)) if name.strip()), 0)


def _names_text(header: Sequence[str]) -> bool:
    return any(field_of(name) == "text" for name in header)


def _no_text(file: SourceFile, header: Sequence[str]) -> InputError:
    if is_pubmed_export(header):
        return InputError(
            f"expected a table with a column of abstracts; found {file.path}, a CSV export of PubMed, which has none. "
            "Save it in PubMed format (.nbib) instead, or fetch its PMIDs"
        )
    shown = ", ".join(repr(name.encode("utf-8", "replace").decode()[:40]) for name in header[:12]) or "none"
    return InputError(
        f"expected a table with a column named text or abstract; found {file.path} with the columns {shown}. "
        "Name its columns in the first row"
    )


CSV, TSV = _reader(None), _reader("\t")


_APART = re.compile(r"[\s,;]+")
_LIST = re.compile(r"(?:pmids?:?[\s,;]+)?(?:(?:pmid\s{0,2}:?\s{0,2})?\d{1,8}(?:[\s,;]+|\Z))+", re.IGNORECASE)
_NAME = re.compile(r"\Apmids?\b:?\s*|pmid\s{0,2}:?\s{0,2}", re.IGNORECASE)


def pmids_in(path: Path) -> tuple[str, ...] | None:
    """Return the PMIDs of a file that lists them, each once and in order; None for any other file.

    A list has one PMID per line, or several separated by commas. PubMed's CSV export, which has no abstracts, counts
    as a list too.

    Raises:
        InputError: The file cannot be read completely, or begins as a list but has other content later.
    """
    with opened(path) as file:
        try:
            if lists_pmids(file):
                return _pmids_listed(file)
            delimiter, header = header_of(file.opening)
            if is_pubmed_export(header):
                return _pmids_in_column(file, delimiter)
        except OSError as error:
            raise InputError(f"expected a readable file; found {path}: {error}") from None
    return None


def lists_pmids(file: SourceFile) -> bool:
    """Whether the beginning of a file has only PMIDs."""
    opening = file.opening.strip()
    if len(file.opening) >= len(file.head) >= 60_000:
        opening = _APART.sub(" ", opening).rpartition(" ")[0]  # the last number may be cut off
    return bool(_LIST.fullmatch(opening))


def _pmids_listed(file: SourceFile) -> tuple[str, ...]:
    names: list[str] = []
    for number, line in enumerate(file.text().split("\n"), start=1):
        for name in filter(None, _APART.split(_NAME.sub(" ", line))):
            if pmid_of(name) is None and not name.isdecimal():
                raise RecordError(file.path, number, None, f"expected a PMID; found {line.strip()[:60]!r}")
            names.append(name)
    return _once(names)


def _pmids_in_column(file: SourceFile, delimiter: str) -> tuple[str, ...]:
    table = rows(file.lines(), delimiter)
    header = next(table).cells
    column = next(index for index, name in enumerate(header) if field_of(name) == "pmid")
    return _once([row.cells[column] for row in table if len(row.cells) > column])


def _once(names: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(pmid for name in names if (pmid := pmid_of(name))))
