"""What the files of a store held when they were written. LanceDB writes each once, and keeps no checksums.

Loads pyarrow, whose file systems make a bucket as good a place as a folder.
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
    """The digests of a table's data and indexes, kept beside it in the store's folder or bucket."""

    def __init__(self, place: Place, table: str) -> None:
        self._place = place
        self._folder = f"{table}.lance"
        self._opened: Any = None

    def learn(self) -> None:
        """Note what the files hold that were written since the last time, and forget those that are gone.

        In a bucket each new file is read once for it.

        Raises:
            InputError: The place cannot be read or written to.
        """
        with store_errors("write to", self._place):
            known = self._known()
            now = {name: known.get(name) or self._digest(name) for name in self._names()}
            if now != known:
                self._write(json.dumps({"version": 1, "files": now}, indent=0) + "\n")

    def forget(self) -> None:
        """Forget them all, where the table is gone."""
        with store_errors("write to", self._place), suppress(FileNotFoundError):
            self._files.delete_file(FILE)

    def problem(self) -> str | None:
        """What is wrong with the digests themselves: they are gone, cannot be read, or lack files that are there."""
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
        """The names of the data files that have a digest."""
        return frozenset(name for name in self._known() if name.startswith(f"{_DATA}/"))

    def changed_data(self, but: Container[str] = ()) -> Iterator[str]:
        """The names of data files that hold something else than when they were written.

        Args:
            but: Names of files that are not read.
        """
        return self._changed(_DATA, but)

    def changed_index(self, uuid: str) -> str | None:
        """The name of the first file of an index that holds something else than when it was written, or is gone."""
        return next(self._changed(f"{_INDEXES}/{uuid}"), None)

    def _changed(self, within: str, but: Container[str] = ()) -> Iterator[str]:
        for name, digest in sorted(self._known().items()):
            if not name.startswith(f"{within}/") or name in but:
                continue
            try:
                found = self._digest(name)
            except FileNotFoundError:
                # A data file that is not there may be of an earlier state; LanceDB tells of those that it misses.
                found = digest if within == _DATA else None
            except OSError:
                found = None
            if found != digest:
                yield name

    @property
    def _files(self) -> Any:
        """The files of the place, by their names in it."""
        if self._opened is None:
            folder = self._place.folder
            local = None if folder is None else fs.SubTreeFileSystem(str(folder), fs.LocalFileSystem())
            self._opened = local or file_system(self._place.name)
        return self._opened

    def _write(self, text: str) -> None:
        if self._place.folder is not None:
            write_whole(self._place.folder / FILE, [text])
            return
        # What is put into a bucket is there whole, or not at all.
        with self._files.open_output_stream(FILE) as file:
            file.write(text.encode())

    def _known(self) -> dict[str, str]:
        """The digests by the names of the files; none where there is no such file, or one that cannot be read."""
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
    """Keep what LanceDB's Rust writes to stderr by itself, before it raises what it says there, from the user."""
    sys.stderr.flush()
    try:
        kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    except OSError:
        # There is no stderr to keep clean.
        yield
        return
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(nowhere)
        os.close(kept)
