"""The answers and documents that commands read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vericite.errors import RecordError
    from vericite.records import Answer, Document


def read_answers(
    file: Path,
    format: str,
    documents: Path | None,
    problems: list[RecordError],
    on_format: Callable[[str], None] | None = None,
) -> Iterator[Answer]:
    """The answers of a file, which may cite those documents; nothing is read before the first is asked for.

    Args:
        file: The answers.
        format: The form they have.
        documents: A file of documents.
        problems: Where what is wrong with the other records of both goes.
        on_format: Told which form was taken, where ``format`` leaves that open.

    Raises:
        InputError: A file cannot be read, or the answers have no form that is known.
    """
    from vericite.formats import answers_in

    yield from usable(answers_in(file, format, read_library(documents, problems), on_format), problems)


def usable(items: Iterable[Answer | RecordError], problems: list[RecordError]) -> Iterator[Answer]:
    """The answers; what is wrong with the other records goes to ``problems``."""
    from vericite.errors import RecordError

    for item in items:
        if isinstance(item, RecordError):
            problems.append(item)
        else:
            yield item


def read_library(file: Path | None, problems: list[RecordError]) -> Sequence[Document]:
    """The documents of a file, if one is given; what is wrong with its other lines goes to ``problems``.

    Raises:
        InputError: The file cannot be read.
    """
    from vericite.corpus import load_documents

    if file is None:
        return ()
    documents, wrong = load_documents(file)
    problems.extend(wrong)
    return documents
