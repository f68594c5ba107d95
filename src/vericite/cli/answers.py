"""The answers that commands read, with the documents that they cite."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from vericite.cli.io import note, remark, remark_leakage
from vericite.cli.terminal import ProgressLine

if TYPE_CHECKING:
    from vericite.errors import RecordError
    from vericite.records import Answer, Document
    from vericite.text.references import Library


def read_answers(
    file: Path,
    format: str,
    documents: Path | None,
    problems: list[RecordError],
    on_format: Callable[[str], None] | None = None,
    columns: str | None = None,
) -> Iterator[Answer]:
    """The answers of a file, which may cite those documents; nothing is read before the first is asked for.

    What is odd about the file as a whole goes to stderr, and stops nothing: no answers, ids that come again, and
    citations without a document.

    Args:
        file: The answers.
        format: The form they have.
        documents: A file of documents; or ``pubmed`` or a store, where what is cited is looked up.
        problems: Where what is wrong with the other records of both goes.
        on_format: Given the form that was taken, where ``format`` leaves that open.
        columns: Which columns of a table hold what.

    Raises:
        InputError: A file cannot be read, or the answers have no form that is known.
    """
    from vericite.datasets.registry import SETS
    from vericite.formats import answers_in

    remark_leakage(Path(f"{format}:{file}") if format in SETS else file)
    library = _looked_up(documents, file, format, columns) or read_library(documents, problems)
    items = answers_in(file, format, library, on_format, columns)
    yield from usable(watched(items, file, documents is not None), problems)


def _looked_up(documents: Path | None, file: Path, format: str, columns: str | None) -> Library | None:
    """What the answers cite from PubMed or from a store; None where neither is named."""
    from vericite.retrieve.lookup import cited_documents, is_lookup_source

    if documents is None or not is_lookup_source(str(documents)):
        return None
    with ProgressLine("looking up what is cited", "articles").running() as progress:
        found = cited_documents(str(documents), file, format, columns, progress.of)
    note(found)
    return found.library


_NAMED = 5
"""Ids that come again which are named; a file joined with itself has all of them twice."""


def watched(items: Iterable[Answer | RecordError], file: Path, has_library: bool) -> Iterator[Answer | RecordError]:
    """The items as they come; ids that come again are shown at once, the rest when all were read."""
    from vericite.errors import RecordError

    ids = _Ids(file)
    number = words = cited = sourced = 0
    for number, item in enumerate(items, start=1):
        if isinstance(item, RecordError):
            # Reported by itself, and as good a reason as any why there is no more.
            words += 1
        else:
            ids.see(item.id, number)
            words += bool(item.text.strip() or item.failed)
            cited += any(claim.citations for claim in item.claims)
            sourced += bool(item.documents)
        yield item
    ids.show_more()
    if not words:
        remark(
            f"expected answers; found {'only empty ones' if number else 'none'} in {file}. Is it the file you meant?"
        )
    if cited and not sourced and not has_library:
        remark(
            f"expected the documents that the answers cite; found none in {file}, so every citation is dangling. "
            "Give them with --documents FILE"
        )


class _Ids:
    """Which ids were there before. A number an answer is kept, not the id: files may be long, and ids, too."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._seen: set[int] = set()
        self._again: set[int] = set()

    def see(self, id: str, number: int) -> None:
        """Tell of an id that comes again, when it does so first."""
        key = hash(id)
        if key in self._seen and key not in self._again:
            self._again.add(key)
            if len(self._again) <= _NAMED:
                remark(
                    f"expected an id of its own for every answer; found {id!r:.80} again in record {number} of "
                    f"{self._file}. Each is counted, but `vericite score` will refuse them: rename one"
                )
        self._seen.add(key)

    def show_more(self) -> None:
        """How many more ids came again than were named."""
        if (more := len(self._again) - _NAMED) > 0:
            remark(f"{more} more {'id comes' if more == 1 else 'ids come'} again in {self._file}")


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
