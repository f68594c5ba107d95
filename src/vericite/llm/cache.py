"""Replies kept on disk, found by what was asked of which model.

One SQLite file (``vericite.disk.store``), committed reply by reply: a process that is killed loses only what was in
flight.

What it does not know:

- It knows a model by its name and address only (a file also by its content). A service that puts another model behind
  the same name gives the old one's replies until the cache is cleared: delete the file, or set VERICITE_CACHE to
  another folder.
- It knows what is kept, not what is being asked elsewhere: two processes that share it may both ask, and pay for, what
  neither has had an answer to yet. Within one ``LLM`` equal requests are asked once.
"""

from __future__ import annotations

import json
import time
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from vericite.disk.store import Form, Store
from vericite.llm.chat import ChatRequest, Usage, canonical

_FORM = Form("replies", "reply", "(key TEXT PRIMARY KEY, value TEXT NOT NULL, made REAL NOT NULL) WITHOUT ROWID")
"""Where rows or keys come to mean something else, the table gets another name."""


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
    # The form is in every key there is; to leave it out, or raise it, would lose the replies.
    return sha256(canonical({"form": 1, "model": signature, "request": request.fields}).encode()).hexdigest()


class Cache:
    """Replies by key. It opens at the first use, and again after ``close``. Threads take turns at it."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._store = Store(file, _FORM)

    def get(self, key: str) -> Kept | None:
        """The reply at a key, or None."""
        row = self._store.find((key,)).get(key)
        return None if row is None else _kept(row[1])

    def put(self, key: str, kept: Kept) -> None:
        """Keep a reply; it is on disk when this returns, unless another process has held the file for too long."""
        self._store.put([(key, kept.value, time.time())])

    def close(self) -> None:
        """Let go of the file; what waits for it is written before, or stays with this object if it still cannot be."""
        self._store.close()


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
