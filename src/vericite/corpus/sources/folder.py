"""The files of a folder, and what form each is of."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vericite.corpus.sources.opening import name_of
from vericite.corpus.sources.registry import form_in_folder, form_of
from vericite.errors import InputError


@dataclass(frozen=True, slots=True)
class Source:
    """A file of documents.

    Attributes:
        path: The file.
        format: A name of ``SOURCES``, or ``pmids``.
        name: What a document in it is named by that has no id of its own, no two files alike.
    """

    path: Path
    format: str
    name: str


@dataclass(frozen=True, slots=True)
class PassedOver:
    """A file of a folder that is not read.

    Attributes:
        path: The file, from the folder on.
        reason: Why, in a few words.
    """

    path: Path
    reason: str

    def __str__(self) -> str:
        """What the user is told of it."""
        return f"{self.path}: no documents ({self.reason})"


def sources_in(path: Path) -> Iterator[Source | PassedOver]:
    """Stream the files of a folder and the folders in it, in order of their names; a file alone is itself.

    Hidden files and folders are skipped, links to folders not followed, nor links to files that lead out of the
    folder.

    Raises:
        InputError: There is no such file or folder, or the folder holds no file.
    """
    if not path.is_dir():
        yield Source(path, form_of(path), name_of(path))
        return
    files = sorted(_files(path))
    if not files:
        raise InputError(f"expected files of documents; found {path}, a folder without any")
    inside = path.resolve()
    for file in files:
        form, reason = _form(file, inside)
        yield Source(file, form, name_of(file)) if form else PassedOver(file.relative_to(path), reason)


def _form(file: Path, folder: Path) -> tuple[str | None, str]:
    if not file.resolve().is_relative_to(folder):
        return None, "a link that leads out of the folder"
    try:
        return form_in_folder(file)
    except InputError as error:
        return None, str(error).rpartition(": ")[2]


def _files(folder: Path) -> Iterator[Path]:
    def refuse(error: OSError) -> None:
        raise InputError(f"expected a readable folder; found {error.filename}: {error.strerror}") from None

    for parent, folders, files in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        # A pipe or a socket would be waited for.
        yield from (file for name in files if not name.startswith(".") and (file := Path(parent, name)).is_file())
