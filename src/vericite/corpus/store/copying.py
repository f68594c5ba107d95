"""A copy of a bucket's documents on this machine's disk, brought up to date as the bucket changes.

A search reads some dozens of small places, which from a bucket are as many requests. The files of a table are written
once and never changed, so a copy needs what is new alone, and one request tells whether anything is.
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
    """The documents of a store in a bucket, in a folder that many processes may share.

    Args:
        place: Where the store lies.
        folder: Where copies lie; each store has a folder of its own there.
    """

    def __init__(self, place: Place, folder: Path) -> None:
        named = f"{place.options.get('endpoint', '')} {place.name}"
        self.folder = folder / blake2b(named.encode(), digest_size=8).hexdigest()
        self._objects = Objects(place.name)
        self._state = ""
        self._database: Any = None

    @classmethod
    def of(cls, place: Place) -> Copy | None:
        """As the environment asks for; None of a folder, or where it does not."""
        folder = expanded(named) if (named := text(STORE_COPY)) else None
        return None if folder is None or place.folder is not None else cls(place, folder)

    def table(self) -> Any:
        """The documents in the bucket's latest state.

        Raises:
            InputError: The bucket cannot be reached, or the folder not be written to.
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
            # A file may have been let go of since it was listed; what takes its place is listed now.
            self._fetch(self._latest())

    def _fetch(self, state: str) -> None:
        # Listed after the state was: all that it names is there by then.
        there = {name: size for name, size in self._objects.sizes(_TABLE).items() if not name.startswith(_VERSIONS)}
        lacking = [name for name, size in there.items() if size_of(self.folder / name) != size]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(self._fetch_file, lacking))
        # Last, so that whoever opens the copy finds all that it names.
        self._fetch_file(state)
        self._let_go({*there, state})

    def _fetch_file(self, name: str) -> None:
        self._objects.fetch(name, self.folder / name)

    def _let_go(self, kept: Iterable[str]) -> None:
        """Remove what the bucket has let go of, an hour after the last state that needed it.

        What was being fetched by a process that was killed goes an hour after that.
        """
        named, before = {self.folder / name for name in kept}, time.time() - tables.KEPT.total_seconds()
        for file in (self.folder / _TABLE).rglob("*"):
            with suppress(OSError):
                if file not in named and (file.suffix != PARTIAL or file.stat().st_mtime < before) and file.is_file():
                    file.unlink()


def _number(name: str) -> int:
    """The version of a manifest; in today's form they count down, so that the latest is listed first."""
    digits = Path(name).stem
    return _LAST - int(digits) if len(digits) == len(str(_LAST)) else int(digits)


def size_of(file: Path) -> int | None:
    """The bytes of a file; None if there is none."""
    try:
        return file.stat().st_size
    except OSError:
        return None
