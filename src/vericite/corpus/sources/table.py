"""Tables of documents: CSV and TSV, the columns told by their names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from vericite.corpus.sources.fields import entry_of, field_of, folded
from vericite.corpus.sources.form import Numbered, SourceForm
from vericite.corpus.sources.opening import SourceFile, undecoded
from vericite.corpus.sources.rows import Row, first_row, rows
from vericite.errors import InputError, RecordError
from vericite.records import Document

_DELIMITERS = ",;\t|"
_OF_PUBMED = frozenset(("pmid", "title", "citation", "firstauthor", "createdate"))


def header_of(opening: str) -> tuple[str, tuple[str, ...]]:
    """The delimiter of a table and the names of its columns: whichever splits its first row into most names known."""
    found = ((sign, first_row(opening, sign)) for sign in _DELIMITERS)
    return max(found, key=lambda pair: (_known(pair[1]), len(pair[1]) > 1))


def is_pubmed_export(header: Sequence[str]) -> bool:
    """Whether a table is what PubMed saves as CSV, which has no abstracts."""
    return _OF_PUBMED.issubset(map(folded, header))


def _known(header: Sequence[str]) -> int:
    # "a,b" is no spelling of the name "ab".
    whole = (name for name in header if not any(sign in name for sign in _DELIMITERS))
    return len({field for name in whole if (field := field_of(name))})


def _reader(delimiter: str | None) -> SourceForm:
    name = "TSV" if delimiter else "CSV"

    def read(file: SourceFile) -> Iterator[Numbered]:
        return _read(file, delimiter or header_of(file.opening)[0])

    def matches(file: SourceFile) -> bool:
        if file.suffix in ({".tsv", ".tab"} if delimiter else {".csv"}):
            return True
        sign, header = header_of(file.opening)
        return (sign == "\t") == bool(delimiter) and _known(header) >= 2 and _has_text(header)

    summary = (
        f"a table ({name}) whose first row names its columns: id or PMID, title, abstract or text, journal, year ..."
    )
    return SourceForm(summary, read, matches)


def _read(file: SourceFile, delimiter: str) -> Iterator[Numbered]:
    table = rows(file.lines(), delimiter)
    header = next(table, None)
    if header is None or header.problem or not _has_text(header.cells):
        raise _no_text(file, header.cells if header else ())
    for row in table:
        yield row.line, _item(file, header.cells, row)


def _item(file: SourceFile, header: Sequence[str], row: Row) -> Document | RecordError:
    if problem := row.problem or _unfit(header, row):
        return RecordError(file.path, row.line, None, problem)
    entry = entry_of(dict(zip_longest(header, row.cells[: len(header)], fillvalue="")))
    document = entry.document(f"{file.name}:{row.line}")
    if not document.text:
        return RecordError(file.path, row.line, None, f"expected a text; found none in row {document.id!r}")
    return document


def _unfit(header: Sequence[str], row: Row) -> str | None:
    if any(cell.strip() for cell in row.cells[len(header) :]) or len(row.cells) < len(header) - _spare(header):
        return f"expected {len(header)} cells, as many as columns; found {len(row.cells)}"
    return next((found for cell in row.cells if (found := undecoded(cell))), None)


def _spare(header: Sequence[str]) -> int:
    """How many columns at the end have no name; rows need no cells for these."""
    return next((index for index, name in enumerate(reversed(header)) if name.strip()), 0)


def _has_text(header: Sequence[str]) -> bool:
    return any(field_of(name) == "text" for name in header)


def _no_text(file: SourceFile, header: Sequence[str]) -> InputError:
    if is_pubmed_export(header):
        return InputError(
            f"expected a table with a column of abstracts; found {file.path}, which PubMed saved as CSV, and that has "
            "none. Save it there in the format PubMed (.nbib), or fetch its PMIDs"
        )
    shown = ", ".join(repr(name.encode("utf-8", "replace").decode()[:40]) for name in header[:12]) or "none"
    return InputError(
        f"expected a table with a column named text or abstract; found {file.path} with the columns {shown}. "
        "Name its columns in the first row"
    )


CSV, TSV = _reader(None), _reader("\t")
