"""A corpus of one's own, from a file of documents."""

from __future__ import annotations

from pathlib import Path

from vericite.errors import InputError, RecordError
from vericite.records import Document


def load_documents(path: Path) -> tuple[tuple[Document, ...], tuple[RecordError, ...]]:
    """The documents of a JSON Lines file, and what was wrong with the lines that are none.

    A line is a ``Document`` or has the fields id, text and perhaps title. A document whose id came before is
    an error, for a citation of it would be ambiguous.

    Raises:
        InputError: The file cannot be read or holds no document at all.
    """
    # Not loaded for the demonstration corpus, whose first question should not wait for the readers of other forms.
    from vericite.corpus.sources import documents_in

    documents: list[Document] = []
    problems: list[RecordError] = []
    for item in documents_in(path, "jsonl"):
        if isinstance(item, Document):
            documents.append(item)
        elif isinstance(item, RecordError):
            problems.append(item)
    if not documents:
        first = f" The first problem: {problems[0]}" if problems else ""
        raise InputError(
            f'expected documents in {path}, one a line: {{"id": ..., "text": ..., "title": ...}}; found none.{first}'
        )
    return tuple(documents), tuple(problems)
