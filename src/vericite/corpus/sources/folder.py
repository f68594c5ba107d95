"""The files of a folder, and what form each is of."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vericite.corpus.sources.opening import stem_of
from vericite.corpus.sources.registry import form_of
from vericite.errors import InputError


@dataclass(frozen=True, slots=True)
class Source:
    """A file of documents.

    Attributes:
        path: The file.
        format: A name of ``SOURCES``, or ``pmids``.
        name: What a document in it is named by that has no id of its own, no two files of a folder alike.
    """

    path: Path
    format: str
    name: str


def sources_in(path: Path) -> Iterator[Source | InputError]:
    """Stream the files of a folder and the folders in it, in order of their names; a file alone is itself.

    Hidden files and folders are skipped, links to folders not followed. What is no file of documents comes out
    as its error.

    Raises:
        InputError: There is no such file or folder, or the folder holds no file.
    """
    if not path.is_dir():
        yield Source(path, form_of(path), stem_of(path) or path.name)
        return
    files = sorted(_files(path))
    if not files:
        raise InputError(f"expected files of documents; found {path}, a folder without any")
    stems = [_stem(path, file) for file in files]
    times = Counter(stems)
    for file, stem in zip(files, stems, strict=True):
        # "a.txt" and "a.md" beside each other keep their endings.
        name = stem if times[stem] == 1 else file.relative_to(path).as_posix()
        try:
            yield Source(file, form_of(file), name)
        except InputError as error:
            yield error


def _files(folder: Path) -> Iterator[Path]:
    def refuse(error: OSError) -> None:
        raise InputError(f"expected a readable folder; found {error.filename}: {error.strerror}") from None

    for parent, folders, files in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        # A pipe or a socket would be waited for.
        yield from (file for name in files if not name.startswith(".") and (file := Path(parent, name)).is_file())


def _stem(folder: Path, file: Path) -> str:
    return (file.relative_to(folder).parent / (stem_of(file) or file.name)).as_posix()
