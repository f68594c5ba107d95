"""A corpus of one's own, from a file of documents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Discriminator, RootModel, Tag

from vericite.errors import InputError, RecordError
from vericite.records import Document, SourceText, number_jsonl


def _form(line: object) -> str:
    short = isinstance(line, dict) and "text" in line
    return "<short>" if short else "<full>"


class _Line(
    RootModel[
        Annotated[
            Annotated[Document, Tag("<full>")] | Annotated[SourceText, Tag("<short>")],
            Discriminator(_form),
        ]
    ]
):
    """A document in full, or as an id, a text and perhaps a title."""

    def document(self) -> Document:
        return self.root if isinstance(self.root, Document) else self.root.document()


def load_documents(path: Path) -> tuple[tuple[Document, ...], tuple[RecordError, ...]]:
    """The documents of a JSON Lines file, and what was wrong with the lines that are none.

    A line is a ``Document`` or has the fields id, text and perhaps title. A document whose id came before is
    an error, for a citation of it would be ambiguous.

    Raises:
        InputError: The file cannot be read or holds no document at all.
    """
    documents: dict[str, Document] = {}
    problems: list[RecordError] = []
    for number, item in number_jsonl(_Line, path):
        if isinstance(item, RecordError):
            problems.append(item)
            continue
        document = item.document()
        if document.id in documents:
            problem = f"expected an id of its own; {document.id!r} came before"
            problems.append(RecordError(path, number, "id", problem))
        else:
            documents[document.id] = document
    if not documents:
        first = f" The first problem: {problems[0]}" if problems else ""
        raise InputError(
            f'expected documents in {path}, one a line: {{"id": ..., "text": ..., "title": ...}}; found none.{first}'
        )
    return tuple(documents.values()), tuple(problems)
