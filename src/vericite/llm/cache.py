"""Replies kept on disk, found by what was asked of which model.

One SQLite file, committed reply by reply: a process that is killed loses only what was in flight, and several
processes may share it. A file that cannot be used costs a warning and the cache, never the run.
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

_TABLE = (
    "CREATE TABLE IF NOT EXISTS reply (key TEXT PRIMARY KEY, value TEXT NOT NULL, made REAL NOT NULL) WITHOUT ROWID"
)

_LOG = logging.getLogger(__name__)


class Kept(NamedTuple):
    """What the cache keeps of a completion."""

    text: str
    finish: str | None
    prompt_tokens: int
    completion_tokens: int

    @property
    def usage(self) -> Usage:
        """What it took when it was made; having it again costs nothing."""
        return Usage(self.prompt_tokens, self.completion_tokens, 0.0)


def cache_key(signature: str, request: ChatRequest) -> str:
    """The place of a request to a model: equal ones share it, and nothing else does."""
    return sha256(canonical({"form": _FORM, "model": signature, "request": request.fields}).encode()).hexdigest()


class Cache:
    """Replies by key. It opens at the first use, and again after ``close``."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._connection: sqlite3.Connection | None = None
        self._given_up = False
        self._lock = Lock()

    def get(self, key: str) -> Kept | None:
        """The reply at a key, or None."""
        row = self._try(
            lambda connection: connection.execute("SELECT value FROM reply WHERE key = ?", (key,)).fetchone()
        )
        return None if row is None else _kept(row[0])

    def put(self, key: str, kept: Kept) -> None:
        """Keep a reply; it is on disk when this returns."""
        row = (key, json.dumps(kept), time.time())
        self._try(lambda connection: connection.execute("INSERT OR REPLACE INTO reply VALUES (?, ?, ?)", row) and None)

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _try(self, use: Callable[[sqlite3.Connection], _T]) -> _T | None:
        with self._lock:
            if self._given_up:
                return None
            try:
                self._connection = self._connection or _opened(self.file)
                return use(self._connection)
            except (sqlite3.Error, OSError, _ForeignFile) as error:
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
        if self._connection is not None:
            self._connection.close()
            self._connection = None


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
            if "locked" not in str(error) or time.monotonic() > last:
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


def _kept(value: str) -> Kept | None:
    """The reply, or None where the row is not one: then it is asked for again."""
    try:
        text, finish, prompt_tokens, completion_tokens = json.loads(value)
    except (ValueError, TypeError):
        return None
    whole = isinstance(text, str) and isinstance(finish, str | None)
    if not whole or not isinstance(prompt_tokens, int) or not isinstance(completion_tokens, int):
        return None
    return Kept(text, finish, prompt_tokens, completion_tokens)
