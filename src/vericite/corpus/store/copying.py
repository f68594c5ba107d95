"""A local copy of a bucket's documents, updated as the bucket changes.

A search reads dozens of small ranges, each of which is a request to a bucket. The files of a table never change once
written, so an update only fetches new files, and one request tells whether there are any.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

from vericite.corpus.store import tables
from vericite.corpus.store.place import Place
from vericite.disk.bucket import Objects
from vericite.disk.files import PARTIAL, expanded
from vericite.environment import STORE_COPY, text
from vericite.errors import InputError

_TABLE = f"{tables.DOCUMENTS}.lance"
_VERSIONS = f"{_TABLE}/_versions"
_AT_ONCE = 8
_LAST = 2**64 - 1


class Copy:
    """A copy of a bucket's documents in a folder that processes may share.

    Args:
        place: Place of the store.
        folder: Folder of copies; each store gets its own subfolder.
    """

    def __init__(self, place: Place, folder: Path) -> None:
        named = f"{place.options.get('endpoint', '')} {place.name}"
        self.folder = folder / blake2b(named.encode(), digest_size=8).hexdigest()
        self._objects = Objects(place.name)
        self._state = ""
        self._database: Any = None

    @classmethod
    def of(cls, place: Place) -> Copy | None:
        """Return the copy that VERICITE_STORE_COPY asks for; None without it, or if the store is a local folder."""
        folder = expanded(named) if (named := text(STORE_COPY)) else None
        return None if folder is None or place.folder is not None else cls(place, folder)

    def table(self) -> Any:
        """Return the table of documents in the bucket's latest state.

        Raises:
            InputError: The bucket cannot be reached, or the folder cannot be written to.
        """
        state = self._latest()
        if state != self._state:
            self._bring_up(state)
            self._state = state
            self._database = tables.connect(Place(str(self.folder), self.folder))
        return self._database.open_table(tables.DOCUMENTS)

    def _latest(self) -> str:
        versions = [name for name in self._objects.sizes(_VERSIONS) if name.endswith(".manifest")]
        if not versions:
            raise InputError(f"expected a store in {self._objects.address}; found none")
        return max(versions, key=_number)

    def _bring_up(self, state: str) -> None:
        try:
            self._fetch(state)
        except InputError:
            # A file may have been removed since it was listed; list again to find its replacement.
            self._fetch(self._latest())

    def _fetch(self, state: str) -> None:
        # Listed after the state: all files that the state names exist by then.
        there = {name: size for name, size in self._objects.sizes(_TABLE).items() if not name.startswith(_VERSIONS)}
        lacking = [name for name, size in there.items() if size_of(self.folder / name) != size]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(self._fetch_file, lacking))
        # The state comes last, so that all files it names are there when it is opened.
        self._fetch_file(state)
        self._let_go({*there, state})

    def _fetch_file(self, name: str) -> None:
        self._objects.fetch(name, self.folder / name)

    def _let_go(self, kept: Iterable[str]) -> None:
        """Remove files that the bucket no longer has.

        A partial download that a killed process left behind is removed after an hour.
        """
        named, before = {self.folder / name for name in kept}, time.time() - tables.KEPT.total_seconds()
        for file in (self.folder / _TABLE).rglob("*"):
            with suppress(OSError):
                if file not in named and (file.suffix != PARTIAL or file.stat().st_mtime < before) and file.is_file():
                    file.unlink()


def _number(name: str) -> int:
    """Return the version of a manifest. In the current format the names count down, so that the latest is first."""
    digits = Path(name).stem
    return _LAST - int(digits) if len(digits) == len(str(_LAST)) else int(digits)


def size_of(file: Path) -> int | None:
    """Return the size of a file in bytes; None if it does not exist."""
    try:
        return file.stat().st_size
    except OSError:
        return None
