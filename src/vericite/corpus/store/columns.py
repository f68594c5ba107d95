"""Convert documents to rows of Arrow tables, and back without loss.

A document is read from three columns, because the cost of a search is the columns that it reads for every hit: ``id``;
``body``, the title, a newline and the abstract, which is indexed; and ``about``, the other fields as JSON, with the
lengths of the parts of the body. The other columns repeat values for filters and counts. Imports pyarrow.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from vericite.records import Document, Section

State = tuple[int, str]
"""The version of a document, and the date of its revision ("" if unknown)."""

REPLACES = (
    "source.version > target.version OR (source.version = target.version "
    "AND (target.revised IS NULL OR source.revised >= target.revised))"
)
"""Condition that the new document is not the earlier version, in LanceDB's SQL (no functions of both rows)."""


def state_of(document: Document) -> State:
    """Return the sort key for versions of a document; of equal versions, the one read later replaces the other.

    A document without a revision date counts as older than all documents with one. Otherwise the result would depend
    on how documents are split into batches.
    """
    return document.version, document.revised or ""


def latest_of(documents: Sequence[Document]) -> Document:
    """Return the version that remains when these are read in order."""
    left = documents[0]
    for document in documents[1:]:
        if state_of(document) >= state_of(left):
            left = document
    return left


def replacements(current: State | None, states: Sequence[State]) -> int:
    """Count the replacements when these versions are read in order, starting from the stored version, if any."""
    count = 0
    for state in states:
        count += current is not None and state >= current
        current = state if current is None else max(current, state)
    return count


# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false


SCHEMA = 2
"""Version of the store's format. A store of another version is refused."""

VERSION_KEY = "vericite.store"
EMBEDDER_KEY = "vericite.embedder"

PRIMARY = {"lance-schema:unenforced-primary-key": "true"}
"""Metadata of a key column: if two writers add the same value at once, one of them must retry."""

_DESCRIBING = (
    pa.field("characters", pa.int64(), nullable=False),
    pa.field("version", pa.int64(), nullable=False),
    pa.field("revised", pa.string()),
    pa.field("year", pa.int64()),
    pa.field("retracted", pa.bool_(), nullable=False),
    pa.field("pmid", pa.string()),
    pa.field("journal", pa.string()),
    pa.field("languages", pa.list_(pa.string()), nullable=False),
    pa.field("mesh", pa.list_(pa.string()), nullable=False),
    pa.field("publication_types", pa.list_(pa.string()), nullable=False),
)

_FIELDS = (
    pa.field("id", pa.string(), nullable=False, metadata=PRIMARY),
    pa.field("body", pa.string(), nullable=False),
    pa.field("about", pa.string(), nullable=False),
    *_DESCRIBING,
)

DOCUMENT_COLUMNS = ("id", "body", "about")
"""The columns that a document is read from."""

DESCRIBING_COLUMNS = tuple(field.name for field in _DESCRIBING)
"""The columns that repeat a document's values for filters."""

_LEAST, _MOST = -(2**63), 2**63 - 1

_IN_BODY = {"id", "title", "sections"}
_json_of = json.JSONEncoder(ensure_ascii=False).encode
_described = attrgetter(*DESCRIBING_COLUMNS[1:])

Row = tuple[Any, ...]
"""A document's values in the order of the columns, without its vector.

A plain tuple, which is cheap for the garbage collector: a build holds thousands of rows.
"""

_VERSION, _REVISED, _RETRACTED, _PMID = (
    [field.name for field in _FIELDS].index(name) for name in ("version", "revised", "retracted", "pmid")
)


def schema(embedder: str | None, width: int | None) -> Any:
    """Return the columns of a store, with vectors of this width if there is an embedder."""
    about = {VERSION_KEY: str(SCHEMA)}
    if embedder is None or width is None:
        return pa.schema(_FIELDS, metadata=about)
    # LanceDB cannot search int8 vectors (0.40: "the query vector is Float32"), so use the next smallest type.
    vector = pa.field("vector", pa.list_(pa.float16(), width), nullable=False)
    return pa.schema([*_FIELDS, vector], metadata={**about, EMBEDDER_KEY: embedder})


def row_of(document: Document) -> Row:
    """Convert a document to a row. Optimized, because it takes half the time of a build.

    Raises:
        ValueError: The document cannot be stored: it has a lone surrogate, or a number of more than 64 bits.
    """
    if wide := next((number for number in (document.version, document.year or 0) if not _LEAST <= number <= _MOST), 0):
        raise ValueError(f"{wide}, a number of more than 64 bits")
    text = document.text
    body = f"{document.title}\n{text}"
    try:
        about = _about(document)
        for value in (document.id, body, about):
            # ASCII needs no check.
            if not value.isascii():
                value.encode()
    except ValueError:
        raise ValueError("half of a surrogate pair, which is not a character") from None
    return (document.id, body, about, len(text), *_described(document))


def state_of_row(row: Row) -> State:
    """Return the ``state_of`` of a row's document."""
    return row[_VERSION], row[_REVISED] or ""


def pmid_of_row(row: Row) -> str | None:
    """Return the PMID of a row's document."""
    return row[_PMID]


def retracted_row(row: Row) -> bool:
    """Whether a row's document is marked as retracted."""
    return row[_RETRACTED]


def documents_of_rows(rows: Sequence[Row]) -> list[Document]:
    """Convert rows back to documents."""
    return [document_of(dict(zip(DOCUMENT_COLUMNS, row[:3], strict=True))) for row in rows]


def row_retracted(row: Row, pmids: Collection[str]) -> Row:
    """Return the row, marked as retracted if its PMID is one of these."""
    if row[_RETRACTED] or row[_PMID] not in pmids:
        return row
    return row_of(as_retracted(documents_of_rows([row])[0], pmids))


def as_retracted(document: Document, pmids: Collection[str]) -> Document:
    """Return the document, marked as retracted if its PMID is one of these."""
    if document.retracted or document.pmid not in pmids:
        return document
    return document.model_copy(update={"retracted": True})


def document_table(rows: Sequence[Row], form: Any, vectors: NDArray[np.float32] | None = None) -> Any:
    """Build a table with this schema from rows."""
    fields = [field for field in form if field.name != "vector"]
    columns = list(zip(*rows, strict=True)) or [()] * len(fields)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, fields, strict=True)]
    if vectors is not None:
        width = form.field("vector").type.list_size
        flat = pa.array(vectors.astype(np.float16).ravel())
        arrays.append(pa.FixedSizeListArray.from_arrays(flat, width))
    return pa.Table.from_arrays(arrays, schema=form)


def description_of(document: Document, column: str) -> Any:
    """Return a document's value for one of ``DESCRIBING_COLUMNS``."""
    return len(document.text) if column == "characters" else getattr(document, column)


def _about(document: Document) -> str:
    # Most documents from simple lists have only an id, a title and a text.
    plain = document.model_fields_set <= _IN_BODY
    rest = "" if plain else document.model_dump_json(exclude=_IN_BODY, exclude_defaults=True)[1:-1]
    # Lengths are in Unicode code points.
    sections = ",".join(
        f"[{'null' if section.label is None else _json_of(section.label)},{len(section.text)}]"
        for section in document.sections
    )
    return f'{{{rest}{"," if rest else ""}"title":{len(document.title)},"sections":[{sections}]}}'


def documents_of(batch: Any) -> Iterator[Document]:
    """Yield the documents of a table or a batch with ``DOCUMENT_COLUMNS``.

    Raises:
        ValueError: A row is not a valid document.
    """
    for row in batch.select(DOCUMENT_COLUMNS).to_pylist():
        yield document_of(row)


def document_of(row: Mapping[str, Any]) -> Document:
    """Convert a row to a document.

    Raises:
        ValueError: The row is not a valid document.
    """
    body: str = row["body"]
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in json.loads(row["about"]).items()
    }
    title = values.pop("title", -1)
    if body[title : title + 1] != "\n":
        raise ValueError(f"expected the title of {row['id']!r} to end after {title} characters; found {body[:80]!r}")
    parts = _sections(row["id"], body[title + 1 :], values.pop("sections"))
    return Document(**values, id=row["id"], title=body[:title], sections=tuple(parts))


def _sections(id: str, text: str, parts: Sequence[tuple[str | None, int]]) -> Iterator[Section]:
    start = 0
    for label, length in parts:
        yield Section(label=label, text=text[start : start + length])
        start += length + 1
    if start != (len(text) + 1 if parts else 0):
        raise ValueError(f"expected the sections of {id!r} to fill {len(text)} characters; found {start - 1}")
