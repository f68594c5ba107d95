"""What a training run says about itself while it runs: a line on the terminal, a line in a log."""

from __future__ import annotations

import json
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any


class Progress:
    """Sums up the steps since the last line."""

    def __init__(self, log: Path, examples: int, every: int = 50) -> None:
        self._log, self._examples, self._every = log, examples, every
        self._steps = 0
        self._clear()

    def _clear(self) -> None:
        self._started = time.monotonic()
        self._pairs = self._tokens = 0
        self._losses: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])

    def loss(self, name: str, value: float, count: int = 1) -> None:
        """One or more losses of a source, or of the margins, added up."""
        self._losses[name][0] += value
        self._losses[name][1] += count

    def step(self, place: dict[str, Any], pairs: int, tokens: int, rate: float) -> None:
        """A step is done; every so many, say so."""
        self._steps += 1
        self._pairs += pairs
        self._tokens += tokens
        if self._steps % self._every == 0 or place["seen"] >= self._examples:
            self._say(place, rate)
            self._clear()

    def _say(self, place: dict[str, Any], rate: float) -> None:
        took = max(time.monotonic() - self._started, 1e-9)
        speed = self._pairs / took
        means = {name: round(total / count, 4) for name, (total, count) in sorted(self._losses.items())}
        left = (self._examples - place["seen"]) / speed
        line = {
            **place, "of": self._examples, "learning_rate": rate, "loss": means, "pairs_per_second": round(speed, 1),
            "tokens_per_second": round(self._tokens / took), "seconds_left": round(left), "time": round(time.time()),
        }  # fmt: skip
        with self._log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        told = "  ".join(f"{name} {mean:.3f}" for name, mean in means.items())
        share = f"{place['seen']:,} of {self._examples:,}"
        sys.stderr.write(f"{share} pairs, {speed:.0f}/s, {left / 60:.0f} min left; loss: {told}\n")
        sys.stderr.flush()
