"""How long stages take, and which is under way."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager

Told = Callable[[str, float | None], None]
"""Is told of each stage as it begins, and again with its seconds as it ends."""


class Clock:
    """Adds up what stages take."""

    def __init__(self, seconds: Mapping[str, float] | None = None, told: Told | None = None) -> None:
        self.seconds: dict[str, float] = dict(seconds or {})
        self._told = told

    @contextmanager
    def __call__(self, stage: str) -> Generator[None]:
        """Count what is done within to a stage."""
        if self._told:
            self._told(stage, None)
        began = time.perf_counter()
        try:
            yield
        finally:
            took = time.perf_counter() - began
            self.seconds[stage] = self.seconds.get(stage, 0.0) + took
            if self._told:
                self._told(stage, took)
