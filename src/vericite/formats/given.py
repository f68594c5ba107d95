"""Sources of an answer under the names that people give them: ``sources``, ``passages``, ``evidence`` and others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

from pydantic import ValidationError

from vericite.formats.form import Fields, Given
from vericite.text.passages import holds_text

SOURCES = (
    "sources", "source", "source_texts", "passages", "retrieved_passages", "retrieved_documents", "retrieved_docs",
    "evidence", "references", "snippets", "chunks", "search_results", "citations", "context", "docs",
)  # fmt: skip
"""Names of fields that may hold the texts of an answer's sources. They may hold names or addresses of sources, too."""
REPLIES = ("answer", "response", "output", "completion", "generated_answer", "reply")
"""Names of fields that hold an answer, next to such a field."""
_NUMBERED = re.compile(r"^[^\S\n]{0,9}\[?(\d{1,3})[\].:)]{1,2}[^\S\n]{1,9}(?=\S)", re.MULTILINE)


def with_documents(fields: Fields) -> Fields:
    """Return the fields with the texts of sources under ``documents``; unchanged if no other field has any."""
    taken = taken_fields(fields)
    if not taken:
        return fields
    return {**fields, "documents": _texts(fields[taken["documents"]]), "answer": fields[taken["answer"]]}


def taken_fields(fields: Fields) -> dict[str, str]:
    """Return the names of the fields that are taken as ``answer`` and ``documents``; empty unless both are found."""
    source = None if fields.get("documents") else _source_in(fields)
    reply = next((name for name in REPLIES if isinstance(fields.get(name), str)), None)
    return {} if source is None or reply is None else {"answer": reply, "documents": source}


def sources_in(fields: Fields) -> list[object] | None:
    """Return the first of the fields in ``SOURCES`` that holds texts; None without one."""
    name = _source_in(fields)
    return None if name is None else _texts(fields[name])


def _source_in(fields: Fields) -> str | None:
    return next((name for name in SOURCES if name in fields and _texts(fields[name])), None)


def _texts(value: object) -> list[object] | None:
    """Return documents with a text; None if any of them is only a name or an address."""
    if isinstance(value, str):
        items: list[object] = list(_numbered(value)) or [value]
    elif isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        is_mapping = bool(fields) and all(isinstance(text, str) and holds_text(text) for text in fields.values())
        items = [{"id": id, "text": text} for id, text in fields.items()] if is_mapping else [fields]
    else:
        items = cast("list[object]", value) if isinstance(value, list) else []
    return items if items and all(map(_has_text, items)) else None


def _numbered(text: str) -> Iterator[str]:
    """Yield the parts of a text such as ``[1] Zinc ... [2] Tea ...``, a part on each line, numbered from 1."""
    marks = list(_NUMBERED.finditer(text))
    numbers = [int(mark[1]) for mark in marks]
    if not marks or text[: marks[0].start()].strip() or numbers != list(range(1, len(marks) + 1)):
        return
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    yield from (text[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=True))


def _has_text(item: object) -> bool:
    if isinstance(item, str):
        return holds_text(item)
    try:
        return any(text.strip() for text in Given.model_validate(item).texts or ())
    except (ValidationError, ValueError):
        return False
