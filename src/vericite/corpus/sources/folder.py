"""Read the documents of a file, or of all files of a folder, into memory."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from vericite.corpus.sources.registry import AUTO, PMIDS, DocumentFile, SkippedFile, documents_in, sources_in
from vericite.errors import InputError, Problems, RecordError
from vericite.records import Document

_LOG = logging.getLogger(__name__)

MOST_FILES = 2_000
MOST_BYTES = 2 << 30
_SHOWN = 5
OnRead = Callable[[int, int], None]
"""Called with the number of files that were read, and of all."""


class FileContent(NamedTuple):
    """The documents of a file."""

    path: Path
    documents: Sequence[Document]


def read_files(
    path: Path, problems: Problems, on_read: OnRead | None = None, abstracts: bool = False
) -> Iterator[FileContent]:
    """Yield the documents of a file, or of each file of a folder and its subfolders.

    Files that hold no documents, such as pictures, are named in a warning.

    Args:
        path: The file or folder.
        problems: Records and files of a folder that cannot be read are added here.
        on_read: Called before each file, and at the end.
        abstracts: Read only the abstracts of full-text articles.

    Raises:
        InputError: There is no such file or folder, the folder has no files, or the file cannot be read.
    """
    found = list(sources_in(path))
    files = [file for file in found if isinstance(file, DocumentFile)]
    _name_skipped(path, [file for file in found if isinstance(file, SkippedFile)])
    for number, file in enumerate(files):
        if on_read is not None:
            on_read(number, len(files))
        # A list of PMIDs has no reader; "auto" says what to do with it.
        form = AUTO if file.format == PMIDS else file.format
        try:
            items = list(problems.kept(documents_in(file.path, form, name=file.name, abstracts=abstracts)))
        except InputError as error:
            if path.is_file():
                raise
            problems.append(as_problem(file.path, error))
            continue
        yield FileContent(file.path, [item for item in items if isinstance(item, Document)])
    if on_read is not None:
        on_read(len(files), len(files))


def refuse_large(folder: Path) -> None:
    """Refuse a folder that is too large to be read for one question.

    Raises:
        InputError: It has more than ``MOST_FILES`` files, or more than ``MOST_BYTES``.
    """
    sizes = [file.path.stat().st_size for file in sources_in(folder) if isinstance(file, DocumentFile)]
    if len(sizes) > MOST_FILES or sum(sizes) > MOST_BYTES:
        raise InputError(
            f"expected a folder of at most {MOST_FILES:,} files and {MOST_BYTES >> 30} GB to read into memory; found "
            f"{folder} with {len(sizes):,} files and {sum(sizes) / 2**30:.1f} GB. Build a store from it, which is read "
            f"once: vericite corpus build {folder} --to STORE"
        )


def as_problem(path: Path, error: InputError) -> RecordError:
    """Return the error of a file as one of its records."""
    return error if isinstance(error, RecordError) else RecordError(path, 0, None, str(error))


def _name_skipped(folder: Path, skipped: Sequence[SkippedFile]) -> None:
    if skipped:
        named = ", ".join(f"{file.path} ({file.reason})" for file in skipped[:_SHOWN])
        more = f" and {len(skipped) - _SHOWN:,} more" if len(skipped) > _SHOWN else ""
        _LOG.warning("%s: files without documents were not read: %s%s", folder, named, more)
