"""What the files of a store held when they were written. LanceDB writes each once, and keeps no checksums."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import cast

from vericite.corpus.store.place import Place, store_errors
from vericite.disk.files import write_whole

FILE = ".digests.json"
_DATA, _INDEXES = "data", "_indices"
_AT_ONCE = 1 << 20


class Digests:
    """The digests of a table's data and indexes, kept in the store's folder; of a store in a bucket there are none."""

    def __init__(self, place: Place, table: str) -> None:
        self._place = place
        self._folder = None if place.folder is None else place.folder / f"{table}.lance"

    def learn(self) -> None:
        """Note what the files hold that were written since the last time, and forget those that are gone.

        Raises:
            InputError: The folder cannot be read or written to.
        """
        if self._folder is None:
            return
        known = self._known()
        with store_errors("write to", self._place):
            now = {name: known.get(name) or _digest(self._folder / name) for name in self._files()}
            if now != known:
                write_whole(self._path, [json.dumps({"version": 1, "files": now}, indent=0), "\n"])

    def forget(self) -> None:
        """Forget them all, where the table is gone."""
        if self._folder is not None:
            with store_errors("write to", self._place):
                self._path.unlink(missing_ok=True)

    def changed_data(self) -> Iterator[str]:
        """The names of data files that hold something else than when they were written."""
        return self._changed(_DATA)

    def changed_index(self, uuid: str) -> str | None:
        """The name of the first file of an index that holds something else than when it was written, or is gone."""
        return next(self._changed(f"{_INDEXES}/{uuid}"), None)

    def _changed(self, within: str) -> Iterator[str]:
        if self._folder is None:
            return
        for name, digest in sorted(self._known().items()):
            if not name.startswith(f"{within}/"):
                continue
            path = self._folder / name
            # A data file that is not there may be of an earlier state; LanceDB tells of those that it misses.
            if (path.exists() or within != _DATA) and _found(path) != digest:
                yield name

    @property
    def _path(self) -> Path:
        assert self._place.folder is not None
        return self._place.folder / FILE

    def _known(self) -> dict[str, str]:
        """The digests by the names of the files; none where there is no such file, or one that cannot be read."""
        with suppress(OSError, ValueError):
            read: object = json.loads(self._path.read_text("utf-8"))
            files = cast("dict[str, object]", read).get("files") if isinstance(read, dict) else None
            if isinstance(files, dict):
                return {str(name): str(digest) for name, digest in cast("dict[object, object]", files).items()}
        return {}

    def _files(self) -> Iterator[str]:
        assert self._folder is not None
        for part in (_DATA, _INDEXES):
            for folder, _, names in os.walk(self._folder / part):
                where = Path(folder).relative_to(self._folder).as_posix()
                yield from (f"{where}/{name}" for name in names)


def _found(path: Path) -> str | None:
    try:
        return _digest(path)
    except OSError:
        return None


def _digest(path: Path) -> str:
    digest = blake2b(digest_size=16)
    with path.open("rb") as file:
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
