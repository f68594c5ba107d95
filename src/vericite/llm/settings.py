"""How a model is asked: how many at once, how patiently, how fast, and what is remembered."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from vericite.disk.folder import cache_file
from vericite.errors import InputError
from vericite.llm.chat import Usage


class Price(NamedTuple):
    """Dollars per million tokens."""

    prompt: float
    completion: float

    def of(self, usage: Usage) -> float:
        """Dollars of what a call took."""
        return (usage.prompt_tokens * self.prompt + usage.completion_tokens * self.completion) / 1e6


def offline_by_environment() -> bool:
    """Whether ``VERICITE_OFFLINE`` forbids the network: any value but 0, no, false, off and nothing does."""
    return os.environ.get("VERICITE_OFFLINE", "").strip().lower() not in ("", "0", "no", "false", "off")


@dataclass(frozen=True)
class Settings:
    """How a model is asked.

    Attributes:
        concurrency: Requests in flight at once.
        attempts: How often one call is tried.
        timeout: Seconds for one attempt; of a stream, for one stall.
        deadline: Seconds for one call, from the start of its first attempt, with its retries and the waits between
            them. Waiting for a turn under the limits below is not counted. A shorter one than ``timeout`` counts as
            equal to it (``call_deadline``): one attempt always has its time.
        requests_per_minute: At most so many attempts reach the service in any minute, paced evenly. It holds for
            one ``LLM``: two of them, or two processes, do not know of each other.
        tokens_per_minute: At most so many tokens in any minute, estimated before a call and corrected after it.
        reply_tokens: Room for a judge's answer, in tokens (``--reply-tokens``); raise it for models that think first,
            whose thoughts count too.
        price: Of a million tokens, for services that do not say what a call cost.
        cache: Folder of the replies' cache (or a ``.sqlite`` file), ``"default"`` for the user's, None for no cache.
            It knows a model by its name and address only: see ``vericite.llm.cache``.
        offline: Whether only this machine may be asked. VERICITE_OFFLINE forbids the rest at any time, also to an
            ``LLM`` that was made before it was set.
        minute: Seconds in the limits' minute.
        backoff: Seconds before the second attempt, about; each further wait is up to twice as long.
    """

    concurrency: int = 8
    attempts: int = 5
    timeout: float = 60.0
    deadline: float = 300.0
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    reply_tokens: int = 256
    price: Price | None = None
    cache: Path | Literal["default"] | None = "default"
    offline: bool = field(default_factory=offline_by_environment)
    minute: float = 60.0
    backoff: float = 0.5

    def __post_init__(self) -> None:
        for name in ("concurrency", "attempts", "requests_per_minute", "tokens_per_minute", "reply_tokens"):
            value: int | None = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"expected {name} of at least 1; found {value}. Raise it.")
        for name in ("timeout", "deadline", "minute"):
            seconds: float = getattr(self, name)
            if not 0 < seconds < float("inf"):
                raise InputError(f"expected {name} to be a number of seconds above 0; found {seconds}. Correct it.")
        if not 0 <= self.backoff < float("inf"):
            raise InputError(f"expected backoff of 0 seconds or more; found {self.backoff}. Correct it.")

    @property
    def call_deadline(self) -> float:
        """Seconds for one call: ``deadline``, or ``timeout`` where that is longer."""
        return max(self.deadline, self.timeout)

    @property
    def cache_file(self) -> Path | None:
        """Where replies are kept, or None where they are not, which is said where it is for want of a home."""
        return None if self.cache is None else cache_file(self.cache, "llm.sqlite")
