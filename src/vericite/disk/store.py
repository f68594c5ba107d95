"""Rows in an SQLite file, found by key: the basis of every cache.

Several processes may share a file. If a file is unusable, there is a warning and no cache, and the run
continues. If another process holds the file, this waits, and rows are written once it is free.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import time
import weakref
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, Self, TypeVar

_T = TypeVar("_T")

PATIENCE = 2.0
"""Seconds to wait for another process that writes."""

MOST_WAITING = 10_000
"""Approximate maximum of rows that wait in memory for a locked file; more are not kept."""

_MAX_PAUSE = 60.0
"""Maximum seconds between tries. They start close together, but a run must not spend its time on waiting."""

_KEYS_AT_ONCE = 500
"""Keys in one statement: fewer than any build of SQLite allows."""

_MAKE = 1
"""``user_version`` of all our files, whatever tables they hold."""

_CHECKSUM = "checksum"

_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)

_LOG = logging.getLogger(__name__)

Key = str | bytes
Row = tuple[Any, ...]
"""A row's values; the key comes first."""


class Form(NamedTuple):
    """A table of a file, which may hold other tables.

    ``rows`` is the name of the rows for messages, in the plural. ``columns`` begin with the primary key, ``key``; a
    column with each row's checksum is added. If columns or keys change their meaning, the table gets another name, and
    old rows stay next to the new ones for older versions.
    """

    rows: str
    table: str
    columns: str


class RowStore:
    """A file of rows. It is opened at first use, and again after ``close``. Threads take turns.

    Args:
        file: The file. It and its folder are created if needed, for their owner only.
        form: The table.
        patience: Seconds to wait for another process that writes.
        most_waiting: Maximum of rows that may wait in memory for a locked file.
    """

    def __init__(self, file: Path, form: Form, patience: float = PATIENCE, most_waiting: int = MOST_WAITING) -> None:
        self.file = file
        self.form = form
        self._patience = patience
        self._most_waiting = most_waiting
        self._connection: sqlite3.Connection | None = None
        self._closing: weakref.finalize[[], Self] | None = None
        self._given_up = False
        self._lock = Lock()
        self._waiting: dict[Key, Row] = {}
        self._lost = 0
        self._reported = 0
        self._damage_reported = False
        self._reading, self._writing = _Pause(patience), _Pause(patience)

    def find(self, keys: Collection[Key]) -> dict[Key, Row]:
        """Return the existing rows with these keys."""
        with self._lock:
            found = {key: row for key in keys if (row := self._waiting.get(key)) is not None}
            absent = [key for key in keys if key not in found]
            rows = self._read(lambda connection: _rows_at(connection, self.form.table, absent)) if absent else None
        return {**found, **{row[0]: row for row in self.sound(rows or ())}}

    def sound(self, rows: Iterable[Row]) -> list[Row]:
        """Return rows of ``SELECT *`` without their checksums, except rows whose content has changed.

        Rows of earlier versions have no checksum, and are accepted.
        """
        every = list(rows)
        found = [row[:-1] for row in every if row[-1] is None or row[-1] == _checksum(row[:-1])]
        if len(found) < len(every) and not self._damage_reported:
            self._damage_reported = True
            _LOG.warning(
                "expected unchanged %s in the cache %s; found %d that have changed. They are left out and made again. "
                "Check the disk.",
                self.form.rows,
                self.file,
                len(every) - len(found),
            )
        return found

    def read(self, use: Callable[[sqlite3.Connection], _T]) -> _T | None:
        """Return the result of ``use`` on the file, or None if the file cannot be read now."""
        with self._lock:
            return self._read(use)

    def put(self, rows: Sequence[Row]) -> None:
        """Keep rows. They are on disk when this returns, unless another process has held the file for too long."""
        with self._lock:
            if self._given_up or not rows:
                return
            if len(self._waiting) < self._most_waiting:
                self._waiting.update((row[0], row) for row in rows)
            else:
                self._lost += len(rows)
            if self._writing.over:
                self._write()

    def close(self) -> None:
        """Close the file. Waiting rows are written first; if that fails, they stay in this object."""
        with self._lock:
            if self._waiting:
                self._write()
            left = len(self._waiting) + self._lost
            if left > self._reported:
                self._reported = left
                _LOG.warning(
                    "expected the cache of %s at %s to be free; found it locked by another process. %d %s of this run "
                    "are not kept and will be requested again. End the other process, or set VERICITE_CACHE to another "
                    "folder.",
                    self.form.rows,
                    self.file,
                    left,
                    self.form.rows,
                )
            self._disconnect()

    def _read(self, use: Callable[[sqlite3.Connection], _T]) -> _T | None:
        if not self._reading.over:
            return None
        try:
            found = self._use(use)
        except _Busy:
            self._reading.begin()
            return None
        self._reading = _Pause(self._patience)
        return found

    def _write(self) -> None:
        rows = list(self._waiting.values())
        try:
            self._use(lambda connection: _insert(connection, self.form.table, rows))
        except _Busy:
            self._writing.begin()
        else:
            self._waiting.clear()
            self._writing = _Pause(self._patience)

    def _use(self, use: Callable[[sqlite3.Connection], _T]) -> _T | None:
        if self._given_up:
            return None
        try:
            if self._connection is None:
                self._connection = _opened(self.file, self.form, self._patience)
                # A store that no one closed leaves no file open.
                self._closing = weakref.finalize(self, self._connection.close)
            return use(self._connection)
        except (sqlite3.Error, OSError, _ForeignFile) as error:
            if _is_busy(error):
                raise _Busy from None
            self._give_up(error)
            return None

    def _give_up(self, error: Exception) -> None:
        self._given_up = True
        _LOG.warning(
            "expected a usable cache of %s at %s; found: %s. %s are not kept in this run. "
            "Move the file away if it is damaged, or set VERICITE_CACHE to another folder.",
            self.form.rows,
            self.file,
            error,
            self.form.rows.capitalize(),
        )
        self._disconnect()

    def _disconnect(self) -> None:
        if self._connection is not None and self._closing is not None:
            self._closing()
            self._connection = None


class _Pause:
    """Pauses between tries at a locked file; each is twice as long as the last."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._until = 0.0

    @property
    def over(self) -> bool:
        return time.monotonic() >= self._until

    def begin(self) -> None:
        self._until = time.monotonic() + self._seconds
        self._seconds = min(_MAX_PAUSE, self._seconds * 2)


class _Busy(Exception):
    """Another process holds the file; it will be free again."""


class _ForeignFile(Exception):
    """An SQLite file that is not ours."""


def _opened(file: Path, form: Form, patience: float) -> sqlite3.Connection:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # The content may be private; SQLite gives its side files the same mode.
    os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
    # Used by one thread at a time (behind the lock), but not always the same one.
    connection = sqlite3.connect(file, timeout=patience, isolation_level=None, check_same_thread=False)
    try:
        _prepare_patiently(connection, form, patience)
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare_patiently(connection: sqlite3.Connection, form: Form, patience: float) -> None:
    # SQLite waits for other writers itself, but not if several processes create the same file at once.
    last = time.monotonic() + patience
    while True:
        try:
            return _prepare(connection, form)
        except sqlite3.OperationalError as error:
            if not _is_busy(error) or time.monotonic() > last:
                raise
        time.sleep(0.02)


def _prepare(connection: sqlite3.Connection, form: Form) -> None:
    with closing(connection.execute("PRAGMA user_version")) as cursor:
        (found,) = cursor.fetchone()
    if found not in (0, _MAKE):
        raise _ForeignFile(f"a file of another program or version (its user_version is {found})")
    connection.execute("PRAGMA journal_mode = WAL")
    # A killed process loses nothing in this mode; only a power failure may lose the last rows.
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute(f"CREATE TABLE IF NOT EXISTS {form.table} {form.columns}")
    with closing(connection.execute(f"PRAGMA table_info({form.table})")) as cursor:
        has_checksums = any(name == _CHECKSUM for _, name, *_ in cursor)
    if not has_checksums:
        _add_checksums(connection, form.table)
    if found == 0:
        connection.execute(f"PRAGMA user_version = {_MAKE}")


def _add_checksums(connection: sqlite3.Connection, table: str) -> None:
    try:
        connection.execute(f"ALTER TABLE {table} ADD COLUMN {_CHECKSUM} BLOB")
    except sqlite3.OperationalError as error:
        # Another process may have added it in the meantime.
        if "duplicate column" not in str(error):
            raise


def _checksum(row: Row) -> bytes:
    digest = blake2b(digest_size=8)
    for value in row:
        # SQLite may return a whole number with another type than it was given.
        if isinstance(value, int | float):
            kind, content = b"n", repr(float(value)).encode()
        elif isinstance(value, str):
            kind, content = b"s", value.encode("utf-8", "surrogatepass")
        else:
            kind, content = b"b" if value is not None else b"-", bytes(value or b"")
        digest.update(kind + len(content).to_bytes(8, "big") + content)
    return digest.digest()


def _rows_at(connection: sqlite3.Connection, table: str, keys: Sequence[Key]) -> list[Row]:
    found: list[Row] = []
    for start in range(0, len(keys), _KEYS_AT_ONCE):
        part = keys[start : start + _KEYS_AT_ONCE]
        places = ", ".join("?" * len(part))
        found += connection.execute(f"SELECT * FROM {table} WHERE key IN ({places})", part).fetchall()
    return found


def _insert(connection: sqlite3.Connection, table: str, rows: Sequence[Row]) -> None:
    rows = [(*row, _checksum(row)) for row in rows]
    insert = f"INSERT OR REPLACE INTO {table} VALUES ({', '.join('?' * len(rows[0]))})"
    if len(rows) == 1:
        connection.execute(insert, rows[0])
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.executemany(insert, rows)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _is_busy(error: Exception) -> bool:
    # The lowest byte is the kind of error, the rest gives details.
    return isinstance(error, sqlite3.Error) and (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF in _BUSY
