"""The formats by name, and the one way from a file to its answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path

from pydantic import ValidationError

from vericite.errors import InputError, RecordError, UnknownNameError
from vericite.formats.biogen import BIOGEN
from vericite.formats.form import Fields, Format, RawRecord
from vericite.formats.langchain import LANGCHAIN
from vericite.formats.markdown import MARKDOWN
from vericite.formats.ragas import RAGAS
from vericite.formats.raw import MARKDOWN_FILES, TEXT_FILES, fields_of, markdown_record, raw_records
from vericite.formats.spans import SPANS
from vericite.formats.vericite import VERICITE
from vericite.records import Answer, Document
from vericite.text.references import Library

AUTO = "auto"
FORMATS: dict[str, Format] = {
    "biogen": BIOGEN,
    "ragas": RAGAS,
    "langchain": LANGCHAIN,
    "spans": SPANS,
    "markdown": MARKDOWN,
    # Last, because what it goes by, an answer and an id, others have too.
    "vericite": VERICITE,
}
"""The formats in the order in which ``auto`` tries them."""

_LOOKED_AT = 20  # records that auto looks at before it gives up


def answers_in(
    path: Path,
    format: str = AUTO,
    documents: Iterable[Document] = (),
    on_format: Callable[[str], None] | None = None,
) -> Iterator[Answer | RecordError]:
    """Stream the answers of a file; a record that is none comes out as its error.

    Args:
        path: The file.
        format: A name of ``FORMATS``; ``auto`` goes by the fields of the first record that is an object.
        documents: More documents, which answers cite by PMID, DOI or address.
        on_format: Told which format ``auto`` took, once it is known.

    Raises:
        InputError: The file cannot be read, no format fits it, or its format needs documents and got none.
    """
    if format != AUTO and format not in FORMATS:
        raise UnknownNameError("format", format, [AUTO, *FORMATS])
    return _answers(path, format, Library(tuple(documents)), on_format)


def answers_to_check(path: Path) -> Iterator[Answer | RecordError]:
    """Stream the answers of a file of our own format; a record that is none comes out as its error."""
    return answers_in(path, "vericite")


def _answers(
    path: Path, format: str, library: Library, on_format: Callable[[str], None] | None
) -> Iterator[Answer | RecordError]:
    if path.suffix.lower() in {AUTO: MARKDOWN_FILES, "markdown": TEXT_FILES}.get(format, ()):
        name, records = "markdown", markdown_record(path)
    elif format == AUTO:
        name, records = _recognised(path)
    else:
        name, records = format, raw_records(path, _is_record)
    if format == AUTO and on_format:
        on_format(name)
    chosen = FORMATS[name]
    if chosen.needs_documents and not library:
        raise InputError(
            f"expected the documents that the answers cite, for the format {name} has none; found {path} alone. "
            "Give them with --documents FILE"
        )
    for raw in records:
        yield raw if isinstance(raw, RecordError) else _read(raw, name, library)


def _read(raw: RawRecord, name: str, library: Library) -> Answer | RecordError:
    chosen = FORMATS[name]
    try:
        return chosen.read(raw, library)
    except ValidationError as error:
        found = raw.unfit(error)
    except RecordError as error:
        found = error
    fields = fields_of(raw.json)
    if fields is None or chosen.matches(fields):
        return found
    other = _format_of(fields)
    hint = f". It looks like {other}: --format {other}" if other else ""
    return raw.refused(None, f"expected {chosen.summary}; found the fields {_listed(fields)}{hint}")


def _recognised(path: Path) -> tuple[str, Iterator[RawRecord | RecordError]]:
    """The format of a file, and all its records; ours for a file without any object."""
    seen: list[RawRecord | RecordError] = []
    first: RawRecord | None = None
    records = raw_records(path, _is_record)
    for raw in records:
        seen.append(raw)
        if isinstance(raw, RecordError) or (fields := fields_of(raw.json)) is None:
            continue
        first = first or raw
        if name := _format_of(fields):
            return name, chain(seen, records)
        if len(seen) >= _LOOKED_AT:
            break
    if first is None:
        return "vericite", chain(seen, records)
    shapes = "; ".join(f"{name}: {format.summary}" for name, format in FORMATS.items())
    found = _listed(fields_of(first.json) or {})
    raise InputError(
        f"expected answers in one of the formats below; found {path}, line {first.line}, with the fields {found}. "
        f"Name the format with --format to see what its records lack. {shapes}"
    )


def _is_record(fields: Fields) -> bool:
    """Whether an object is an answer itself, not what holds the answers of a file."""
    return _format_of(fields) is not None or any(isinstance(fields.get(name), str) for name in ("answer", "text"))


def _format_of(fields: Fields) -> str | None:
    return next((name for name, format in FORMATS.items() if format.matches(fields)), None)


def _listed(fields: Iterable[str]) -> str:
    names = [repr(name[:40]) for name in fields]
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "") if names else "of none"
