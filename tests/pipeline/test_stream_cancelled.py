"""A model's stream that is cancelled, and pieces that are no text."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from vericite.errors import InputError
from vericite.pipeline.stream import CheckStream

SOURCES = [{"id": "a", "text": "Zinc shortened colds by two days."}]


def test_a_stream_that_waits_for_something_cancelled_ends():
    async def pieces() -> AsyncIterator[str]:
        yield "Zinc helps "
        never: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        never.cancel()
        await never

    async def read() -> None:
        async for _ in CheckStream(SOURCES).afollow(pieces()):
            pass

    async def within() -> None:
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(read(), 10)

    asyncio.run(within())


def test_pieces_that_are_no_text_are_refused():
    async def pieces() -> AsyncIterator[str]:
        yield 3  # pyright: ignore[reportReturnType]

    async def read() -> None:
        async for _ in CheckStream(SOURCES).afollow(pieces()):
            pass

    with pytest.raises(InputError, match="a piece of text"):
        asyncio.run(read())
