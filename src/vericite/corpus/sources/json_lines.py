"""Documents as JSON, one a line or in one list: our own, an id and a text, and the chunks of MedRAG."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, cast

from vericite.corpus.sources.entry import entry_of, field_of
from vericite.corpus.sources.files import Numbered, SourceFile, SourceForm, undecoded
from vericite.errors import RecordError
from vericite.formats.files import fields_of, json_fault
from vericite.records import Document, SourceText, parse_record

_LONGEST_LIST = 1 << 28
_SHORT = frozenset(("id", "text", "title"))


def _read(file: SourceFile) -> Iterator[Numbered]:
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
    """The lines of a list, which is read as one, empty ones put back; one that fills the memory is refused."""
    read = last = 0
    for number, line in lines:
        read += len(line)
        if read > _LONGEST_LIST:
            problem = f"expected a list of at most {_LONGEST_LIST:,} characters; found a longer one. Write one a line"
            raise RecordError(file.path, number, None, problem)
        yield "\n" * (number - last if last else 0) + line
        last = number


def _listed(file: SourceFile, number: int, text: str) -> Iterator[Numbered]:
    """The documents of a list that goes over many lines; the line told of them is the one on which it begins."""
    values = _list_in(text.strip())
    if values is None:
        line, problem = json_fault(text) or (1, "expected one JSON list; found something after its end")
        raise RecordError(file.path, number + line - 1, None, undecoded(text) or problem)
    for value in values:
        yield number, _of_list(file, number, value)


def _of_list(file: SourceFile, number: int, value: object) -> Document | RecordError:
    """A document that stands in a list."""
    if not isinstance(value, dict):
        found = json.dumps(value)
        found = found if len(found) <= 80 else found[:77] + "..."
        return RecordError(file.path, number, None, f"expected a JSON object in the list; found {found}")
    # A byte that is no UTF-8 would come out of JSON as an escape, which is told of as another fault.
    if problem := undecoded(json.dumps(value, ensure_ascii=False)):
        return RecordError(file.path, number, None, problem)
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
    if fields is None or (_SHORT.issuperset(fields) and "text" in fields):
        short = parse_record(SourceText, line, path, number)
        if not short.text.strip():
            raise RecordError(path, number, "text", "expected a text; found none")
        return short.document()
    if not _has_text(fields):
        return parse_record(Document, line, path, number)
    document = entry_of(fields).document(fallback)
    if fields.get("retracted") is True:
        document = document.model_copy(update={"retracted": True})
    if not document.text:
        raise RecordError(path, number, None, "expected a text; found none in any of the fields that hold one")
    return _with_pmid(document)


def _with_pmid(document: Document) -> Document:
    """MedRAG's own script writes a PMID as the id: ``PMID:123``."""
    if document.pmid is None and document.id.upper().startswith("PMID:") and document.id[5:].isdecimal():
        return document.model_copy(update={"pmid": document.id[5:]})
    return document


def _has_text(fields: Mapping[str, Any]) -> bool:
    return "sections" not in fields and any(field_of(name) == "text" for name in fields)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _list_in(text: str) -> list[object] | None:
    """The values of a list; None for what is no list."""
    if not text.startswith("["):
        return None
    try:
        values: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("list[object]", values) if isinstance(values, list) else None


def _matches(file: SourceFile) -> bool:
    opening = file.opening.lstrip()
    listed = opening.startswith("[") and opening[1:].lstrip().startswith("{")
    return opening.startswith("{") or listed or file.suffix in {".jsonl", ".ndjson", ".json"}


JSON_LINES = SourceForm(
    'documents in JSON, one a line: {"id": ..., "text": ..., "title": ...}, a document of ours, '
    '{"pmid", "title", "abstract"} or a chunk of MedRAG {"id", "title", "content"}',
    _read,
    _matches,
)
