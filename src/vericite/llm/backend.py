"""What the client asks of whatever carries a request to a model; tests and other carriers fit in here."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import NamedTuple, Protocol

from vericite.llm.chat import ChatRequest, Usage


class RawReply(NamedTuple):
    """What the model wrote, why it stopped, and what that took (None where the service does not say)."""

    text: str
    finish: str | None
    usage: Usage | None


class BackendError(Exception):
    """One attempt failed. It never leaves the client, which retries, records or raises in its own words.

    Attributes:
        reason: What went wrong, without any secret.
        retry: Whether the same attempt may do better later.
        after: Seconds the service asks everybody to wait, or None.
        fatal: Whether every call would fail alike.
        unreachable: Whether nothing came back at all: no connection, or no answer in time.
        raw: What the service sent, without any secret.
        usage: What the attempt took all the same, where the service says so.
        status: The status of a refusal that may meet every request alike; None where this request is at fault.
        refuses: Options of the request (``vericite.llm.concessions``) that it may be about, the likeliest first.
        changed: Whether the carrier has drawn a conclusion from it: asked again at once, it asks differently.
    """

    def __init__(
        self,
        reason: str,
        retry: bool,
        after: float | None = None,
        fatal: bool = False,
        raw: str | None = None,
        *,
        unreachable: bool = False,
        usage: Usage | None = None,
        status: int | None = None,
        refuses: tuple[str, ...] = (),
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry = retry
        self.after = after
        self.fatal = fatal
        self.raw = raw
        self.unreachable = unreachable
        self.usage = usage
        self.status = status
        self.refuses = refuses
        self.changed = False


class Backend(Protocol):
    """Carries one attempt to a model."""

    @property
    def signature(self) -> str:
        """What tells its model from others; never a secret."""
        ...

    async def complete(self, request: ChatRequest, timeout: float) -> RawReply:
        """Ask once; end within ``timeout`` seconds.

        Raises:
            BackendError: No usable reply came.
        """
        ...

    def stream(self, request: ChatRequest, timeout: float) -> AsyncGenerator[str | RawReply, None]:
        """Ask once; yield the reply piece by piece and last of all the whole. No piece takes over ``timeout`` seconds.

        Raises:
            BackendError: The reply did not come to its end.
        """
        ...

    async def aclose(self) -> None:
        """Let go of what belongs to the running event loop. Calls may follow, on another loop."""
        ...
