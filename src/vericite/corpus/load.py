"""A corpus of one's own, from a file of documents."""

from __future__ import annotations

from pathlib import Path

from vericite.errors import InputError, RecordError
from vericite.records import Document, number_jsonl


def load_documents(path: Path) -> tuple[tuple[Document, ...], tuple[RecordError, ...]]:
    """The documents of a JSON Lines file, and what was wrong with the lines that are none.

    A document whose id came before is one of the latter, for a citation of it would be ambiguous.

    Raises:
        InputError: The file cannot be read or holds no document at all.
    """
    documents: dict[str, Document] = {}
    problems: list[RecordError] = []
    for number, item in number_jsonl(Document, path):
        if isinstance(item, RecordError):
            problems.append(item)
        elif item.id in documents:
            problems.append(RecordError(path, number, "id", f"expected an id of its own; {item.id!r} came before"))
        else:
            documents[item.id] = item
    if not documents:
        first = f" The first problem: {problems[0]}" if problems else ""
        raise InputError(
            f'expected documents in {path}, one a line: {{"id": ..., "title": ..., "sections": '
            f'[{{"text": ...}}]}}; found none.{first}'
        )
    return tuple(documents.values()), tuple(problems)
