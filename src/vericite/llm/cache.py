"""Replies kept on disk, found by what was asked of which model.

One SQLite file, committed reply by reply: a process that is killed loses only what was in flight, and several
processes may share it. A file that cannot be used costs a warning and the cache, never the run; one that another
process holds costs a wait, and the replies are written when it is free again.

What it does not know:

- It knows a model by its name and address only (a file also by its content). A service that puts another model behind
  the same name gives the old one's replies until the cache is cleared: delete the file, or set VERICITE_CACHE to
  another folder.
- It knows what is kept, not what is being asked elsewhere: two processes that share it may both ask, and pay for, what
  neither has had an answer to yet. Within one ``LLM`` equal requests are asked once.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import NamedTuple, TypeVar

from vericite.llm.chat import ChatRequest, Usage, canonical

_T = TypeVar("_T")

_FORM = 1
"""Of the table and of the keys; a file of another form is left alone."""

_PATIENCE = 2.0
"""Seconds to wait for another process that writes."""

_LONGEST_PAUSE = 60.0
"""Seconds between tries, at most: they begin close together, and a run must not spend its time on waiting."""

_MOST_WAITING = 10_000
"""Replies that wait in memory for a file that another process holds; more than that are not kept."""

_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)

_TABLE = (
    "CREATE TABLE IF NOT EXISTS reply (key TEXT PRIMARY KEY, value TEXT NOT NULL, made REAL NOT NULL) WITHOUT ROWID"
)

_SELECT = "SELECT value FROM reply WHERE key = ?"
_INSERT = "INSERT OR REPLACE INTO reply VALUES (?, ?, ?)"

_LOG = logging.getLogger(__name__)


class Kept(NamedTuple):
    """What the cache keeps of a completion."""

    text: str
    finish: str | None
    prompt_tokens: int
    completion_tokens: int
    without: tuple[str, ...] = ()

    @property
    def value(self) -> str:
        """As it is stored. What most replies do not have is left out, as in files of before there was any."""
        return json.dumps(self if self.without else self[:4])

    @property
    def usage(self) -> Usage:
        """What it took when it was made; having it again costs nothing."""
        return Usage(self.prompt_tokens, self.completion_tokens, 0.0)


def cache_key(signature: str, request: ChatRequest) -> str:
    """The place of a request to a model: equal ones share it, and nothing else does.

    The request is the one that was meant, also where the service refused a part of it: who means the same again finds
    the reply without asking, and without being refused once more.
    """
    return sha256(canonical({"form": _FORM, "model": signature, "request": request.fields}).encode()).hexdigest()


class Cache:
    """Replies by key. It opens at the first use, and again after ``close``. Threads take turns at it."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._connection: sqlite3.Connection | None = None
        self._given_up = False
        self._lock = Lock()
        self._waiting: dict[str, tuple[str, str, float]] = {}
        self._lost = 0
        self._told_of = 0
        self._reading, self._writing = _Pause(), _Pause()

    def get(self, key: str) -> Kept | None:
        """The reply at a key, or None."""
        with self._lock:
            if waiting := self._waiting.get(key):
                return _kept(waiting[1])
            if not self._reading.over:
                return None
            try:
                row = self._use(lambda connection: connection.execute(_SELECT, (key,)).fetchone())
            except _Busy:
                self._reading.begin()
                return None
            self._reading = _Pause()
        return None if row is None else _kept(row[0])

    def put(self, key: str, kept: Kept) -> None:
        """Keep a reply; it is on disk when this returns, unless another process has held the file for too long."""
        with self._lock:
            if self._given_up:
                return
            if len(self._waiting) < _MOST_WAITING:
                self._waiting[key] = (key, kept.value, time.time())
            else:
                self._lost += 1
            if self._writing.over:
                self._write()

    def close(self) -> None:
        """Let go of the file; what waits for it is written before, or stays with this object if it still cannot be."""
        with self._lock:
            if self._waiting:
                self._write()
            left = len(self._waiting) + self._lost
            if left > self._told_of:
                self._told_of = left
                _LOG.warning(
                    "expected the cache of replies at %s to be free; found it locked by another process. %d replies of "
                    "this run are not kept and will be asked for again. End the other process, or set VERICITE_CACHE "
                    "to another folder.",
                    self.file,
                    left,
                )
            self._disconnect()

    def _write(self) -> None:
        rows = list(self._waiting.values())
        try:
            self._use(lambda connection: _insert(connection, rows))
        except _Busy:
            self._writing.begin()
        else:
            self._waiting.clear()
            self._writing = _Pause()

    def _use(self, use: Callable[[sqlite3.Connection], _T]) -> _T | None:
        if self._given_up:
            return None
        try:
            self._connection = self._connection or _opened(self.file)
            return use(self._connection)
        except (sqlite3.Error, OSError, _ForeignFile) as error:
            if _is_busy(error):
                raise _Busy from None
            self._give_up(error)
            return None

    def _give_up(self, error: Exception) -> None:
        self._given_up = True
        _LOG.warning(
            "expected a usable cache of replies at %s; found: %s. Replies are not kept in this run. "
            "Move the file away if it is damaged, or set VERICITE_CACHE to another folder.",
            self.file,
            error,
        )
        self._disconnect()

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class _Pause:
    """Between tries at a file that is held; each is twice as long as the one before."""

    def __init__(self) -> None:
        self._seconds = _PATIENCE
        self._until = 0.0

    @property
    def over(self) -> bool:
        return time.monotonic() >= self._until

    def begin(self) -> None:
        self._until = time.monotonic() + self._seconds
        self._seconds = min(_LONGEST_PAUSE, self._seconds * 2)


class _Busy(Exception):
    """Another process holds the file. It will be free again."""


class _ForeignFile(Exception):
    """An SQLite file that is not a cache of this form."""


def _opened(file: Path) -> sqlite3.Connection:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Prompts and replies may hold what is nobody else's business; SQLite gives its side files the same mode.
    os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
    # Used from one thread at a time, behind the lock, but not always from the same one.
    connection = sqlite3.connect(file, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
    try:
        _prepare_patiently(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare_patiently(connection: sqlite3.Connection) -> None:
    # SQLite waits for other writers by itself, but not where several make the same new file at once.
    last = time.monotonic() + _PATIENCE
    while True:
        try:
            return _prepare(connection)
        except sqlite3.OperationalError as error:
            if not _is_busy(error) or time.monotonic() > last:
                raise
        time.sleep(0.02)


def _prepare(connection: sqlite3.Connection) -> None:
    with closing(connection.execute("PRAGMA user_version")) as cursor:
        (form,) = cursor.fetchone()
    if form not in (0, _FORM):
        raise _ForeignFile(f"a file of form {form}, written by another version of VeriCite")
    connection.execute("PRAGMA journal_mode = WAL")
    # A killed process loses nothing with it; only a power cut may take the last replies.
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute(_TABLE)
    if form == 0:
        connection.execute(f"PRAGMA user_version = {_FORM}")


def _insert(connection: sqlite3.Connection, rows: list[tuple[str, str, float]]) -> None:
    if len(rows) == 1:
        connection.execute(_INSERT, rows[0])
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.executemany(_INSERT, rows)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _is_busy(error: Exception) -> bool:
    # The lowest byte is the kind of error, the rest says more of it.
    return isinstance(error, sqlite3.Error) and (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF in _BUSY


def _kept(value: str) -> Kept | None:
    """The reply, or None where the row is not one: then it is asked for again."""
    try:
        text, finish, prompt_tokens, completion_tokens, *more = json.loads(value)
        without = tuple(map(str, more[0])) if more else ()
    except (ValueError, TypeError):
        return None
    whole = isinstance(text, str) and isinstance(finish, str | None)
    if not whole or not isinstance(prompt_tokens, int) or not isinstance(completion_tokens, int):
        return None
    return Kept(text, finish, prompt_tokens, completion_tokens, without)
