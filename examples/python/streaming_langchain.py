"""Check what a LangChain model or chain streams (langchain-core 1.0 or later)."""

from collections.abc import AsyncIterable, AsyncIterator
from typing import Any

import vericite as vc


def checked(chunks: AsyncIterable[Any], sources: list[str]) -> AsyncIterator[str | vc.SentenceResult]:
    """``chunks`` is ``model.astream(...)`` of a chat model, or of a chain that ends with one."""
    return vc.CheckStream(sources).afollow(chunk.text async for chunk in chunks)
