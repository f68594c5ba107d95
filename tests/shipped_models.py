"""The shipped models, shared by the tests of a process: most tests use them, and few are about them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import pytest

from vericite.environment import EXACT_BYTES
from vericite.models import engine, folder

ABOUT_MODELS = {"models", "train", "recipes"}
"""Folders of tests that are about the engine, or about models made of the shipped ones."""


class SharedModels:
    """Hashes and opens each shipped file once, and scores each input once.

    A row does not depend on the other rows of its batch (``tests/models``), so verdicts and rankings are the same.
    Files of users and copies of the shipped ones are read as always.

    Attributes:
        remember: Whether an input that was scored is not scored again.
    """

    def __init__(self) -> None:
        self.remember = True
        self._rows: dict[object, Any] = {}
        self._run, self._score = engine.Engine._run_window, engine.Engine._score  # pyright: ignore[reportPrivateUsage]

    def before(self, item: pytest.Item) -> None:
        """Let a test that is about models score for itself."""
        self.remember = not ABOUT_MODELS & set(item.path.parts)

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Replace what reads and what scores."""
        encoder_of = once(engine.Encoder)
        encoder = cached_property(lambda it: encoder_of(it.folder.path / "tokenizer.json", it.folder.card.max_tokens))
        encoder.__set_name__(engine.Engine, "encoder")
        patch.setattr(engine.Engine, "encoder", encoder)
        patch.setattr(folder, "_check", once(folder._check))  # pyright: ignore[reportPrivateUsage]
        patch.setattr(engine, "open_session", once(engine.open_session))
        patch.setattr(engine.Engine, "_run_window", lambda it, window: self._rows_of(it, window))

    def _rows_of(self, model: engine.Engine, window: Sequence[Any]) -> Iterator[Any]:
        as_shipped = type(model) is engine.Engine and engine.Engine._score is self._score  # pyright: ignore[reportPrivateUsage]
        if not (self.remember and as_shipped and model.folder.path.is_relative_to(SHIPPED)):
            yield from self._run(model, window)
            return
        name = (model.folder.path, model.folder.card.exits and model.exits, os.environ.get(EXACT_BYTES))
        new = [item for item in dict.fromkeys(window) if (name, item) not in self._rows]
        found = self._run(model, new) if new else ()
        self._rows.update(zip(((name, item) for item in new), found, strict=True))
        yield from (self._rows[name, item] for item in window)


SHIPPED = folder.WEIGHTS


def once(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, called once for each shipped file, or content, that it is given."""
    kept = cache(lambda exact, *given, **named: function(*given, **named))

    def read(what: Any, *given: Any, **named: Any) -> Any:
        if isinstance(what, bytes) or Path(what).is_relative_to(SHIPPED):
            return kept(os.environ.get(EXACT_BYTES), what, *given, **named)
        return function(what, *given, **named)

    return read
