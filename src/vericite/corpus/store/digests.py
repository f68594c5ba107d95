"""Digests of a store's files. LanceDB writes each file once, but keeps no checksums.

Imports pyarrow, whose file systems support folders and buckets alike.
"""
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

import json
import os
import sys
from collections.abc import Container, Generator, Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from typing import Any, cast

from pyarrow import fs

from vericite.corpus.store.place import Place, store_errors
from vericite.disk.bucket import file_system
from vericite.disk.files import write_whole

FILE = ".digests.json"
_DATA, _INDEXES = "data", "_indices"
_AT_ONCE = 1 << 20


class Digests:
    """The digests of a table's data and indexes, stored next to it in the store's folder or bucket."""

    def __init__(self, place: Place, table: str) -> None:
        self._place = place
        self._folder = f"{table}.lance"
        self._opened: Any = None

    def learn(self) -> None:
        """Add digests of new files, and remove those of files that are gone.

        Each new file in a bucket is read once.

        Raises:
            InputError: The place cannot be read or written to.
        """
        with store_errors("write to", self._place):
            known = self._known()
            now = {name: known.get(name) or self._digest(name) for name in self._names()}
            if now != known:
                self._write(json.dumps({"version": 1, "files": now}, indent=0) + "\n")

    def forget(self) -> None:
        """Remove all digests, after the table was removed."""
        with store_errors("write to", self._place), suppress(FileNotFoundError):
            self._files.delete_file(FILE)

    def problem(self) -> str | None:
        """Return the problem with the digests themselves, if any: missing, unreadable, or incomplete."""
        names = list(self._names())
        try:
            with self._files.open_input_stream(FILE) as file:
                read: object = json.loads(file.read())
        except FileNotFoundError:
            return "none" if names else None
        except (OSError, ValueError):
            return "something that cannot be read"
        if not isinstance(read, dict) or not isinstance(cast("dict[str, object]", read).get("files"), dict):
            return "something else"
        lacking = [name for name in names if name not in self._known()]
        return f"{len(lacking)} files without one, {lacking[0]} the first" if lacking else None

    def data_files(self) -> frozenset[str]:
        """Return the names of the data files that have a digest."""
        return frozenset(name for name in self._known() if name.startswith(f"{_DATA}/"))

    def changed_data(self, but: Container[str] = ()) -> Iterator[str]:
        """Yield the names of data files that have changed since they were written.

        Args:
            but: Names of files to skip.
        """
        return self._changed(_DATA, but)

    def changed_index(self, uuid: str) -> str | None:
        """Return the first file of an index that is missing or has changed since it was written; None if none has."""
        return next(self._changed(f"{_INDEXES}/{uuid}"), None)

    def _changed(self, within: str, but: Container[str] = ()) -> Iterator[str]:
        for name, digest in sorted(self._known().items()):
            if not name.startswith(f"{within}/") or name in but:
                continue
            try:
                found = self._digest(name)
            except FileNotFoundError:
                # A missing data file may belong to an earlier state; LanceDB reports files that it needs.
                found = digest if within == _DATA else None
            except OSError:
                found = None
            if found != digest:
                yield name

    @property
    def _files(self) -> Any:
        """The file system of the place."""
        if self._opened is None:
            folder = self._place.folder
            local = None if folder is None else fs.SubTreeFileSystem(str(folder), fs.LocalFileSystem())
            self._opened = local or file_system(self._place.name)
        return self._opened

    def _write(self, text: str) -> None:
        if self._place.folder is not None:
            write_whole(self._place.folder / FILE, [text])
            return
        # Writes to a bucket are atomic.
        with self._files.open_output_stream(FILE) as file:
            file.write(text.encode())

    def _known(self) -> dict[str, str]:
        """Return the digests by file name; empty if their file is missing or unreadable."""
        with suppress(OSError, ValueError):
            with self._files.open_input_stream(FILE) as file:
                read: object = json.loads(file.read())
            files = cast("dict[str, object]", read).get("files") if isinstance(read, dict) else None
            if isinstance(files, dict):
                return {str(name): str(digest) for name, digest in cast("dict[object, object]", files).items()}
        return {}

    def _names(self) -> Iterator[str]:
        for part in (_DATA, _INDEXES):
            within = fs.FileSelector(f"{self._folder}/{part}", recursive=True, allow_not_found=True)
            for file in self._files.get_file_info(within):
                if file.is_file:
                    yield file.path.removeprefix(f"{self._folder}/")

    def _digest(self, name: str) -> str:
        digest = blake2b(digest_size=16)
        with self._files.open_input_stream(f"{self._folder}/{name}") as file:
            while block := file.read(_AT_ONCE):
                digest.update(block)
        return digest.hexdigest()


@contextmanager
def without_panics() -> Generator[None]:
    """Suppress what LanceDB's Rust code writes to stderr before it raises the same as an exception."""
    sys.stderr.flush()
    try:
        kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    except OSError:
        # There is no stderr.
        yield
        return
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(nowhere)
        os.close(kept)
