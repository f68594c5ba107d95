"""What was asked of a model, and what it took."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock

from vericite.llm.chat import CallFailure, Reply, Usage
from vericite.llm.settings import Price


@dataclass(frozen=True)
class Ledger:
    """What was asked so far, and what it took. ``str`` gives it in one line.

    Attributes:
        calls: Requests that were answered or given up on, the cached ones among them.
        cached: Those for which nothing was asked.
        failures: Those that brought no usable reply.
        attempts: How often the service was asked.
        prompt_tokens: Tokens read by the model.
        completion_tokens: Tokens written by it.
        estimated: Calls whose tokens the service did not count and we estimated.
        cost: Dollars, or None where neither the service nor a price says them.
    """

    calls: int = 0
    cached: int = 0
    failures: int = 0
    attempts: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: int = 0
    cost: float | None = 0.0

    def since(self, earlier: Ledger) -> Ledger:
        """What came after an earlier state of the same ledger: one run's part of it."""
        attempts = self.attempts - earlier.attempts
        known = self.cost is not None and earlier.cost is not None
        return Ledger(
            self.calls - earlier.calls,
            self.cached - earlier.cached,
            self.failures - earlier.failures,
            attempts,
            self.prompt_tokens - earlier.prompt_tokens,
            self.completion_tokens - earlier.completion_tokens,
            self.estimated - earlier.estimated,
            (self.cost or 0.0) - (earlier.cost or 0.0) if known or not attempts else None,
        )

    def __str__(self) -> str:
        about = "about " if self.estimated else ""
        cost = "cost not known" if self.cost is None else f"${self.cost:,.4f}"
        return (
            f"{_counted(self.calls, 'call')} ({self.cached:,} cached, {self.failures:,} failed), "
            f"{_counted(self.attempts, 'attempt')}, "
            f"{about}{self.prompt_tokens:,} tokens read and {self.completion_tokens:,} written, {cost}"
        )


class Tally:
    """Keeps the ledger. Safe to read from any thread while calls are made."""

    def __init__(self, price: Price | None) -> None:
        self._price = price
        self._lock = Lock()
        self._ledger = Ledger()

    @property
    def ledger(self) -> Ledger:
        """As it stands."""
        return self._ledger

    def attempt(self) -> None:
        """The service is being asked."""
        self._add(attempts=1)

    def used(self, usage: Usage, estimated: bool) -> None:
        """An attempt took so much, whether or not its reply could be used."""
        self._add(
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            estimated=int(estimated),
            cost=self._cost(usage),
        )

    def reply(self, reply: Reply) -> None:
        """A call has come to its end."""
        failed = isinstance(reply, CallFailure)
        self._add(calls=1, failures=int(failed), cached=int(not failed and reply.cached))

    def _cost(self, usage: Usage) -> float | None:
        if usage.cost is not None:
            return usage.cost
        if self._price is None:
            return None
        return self._price.of(usage)

    def _add(
        self,
        calls: int = 0,
        cached: int = 0,
        failures: int = 0,
        attempts: int = 0,
        prompt_tokens: int = 0,
        completion_tokens: int = 0,
        estimated: int = 0,
        cost: float | None = 0.0,
    ) -> None:
        with self._lock:
            then = self._ledger
            self._ledger = Ledger(
                then.calls + calls,
                then.cached + cached,
                then.failures + failures,
                then.attempts + attempts,
                then.prompt_tokens + prompt_tokens,
                then.completion_tokens + completion_tokens,
                then.estimated + estimated,
                None if then.cost is None or cost is None else then.cost + cost,
            )


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
