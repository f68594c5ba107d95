"""Check what the OpenAI client streams."""

from collections.abc import Iterable, Iterator
from typing import Any

import vericite as vc


def checked(chunks: Iterable[Any], sources: list[str]) -> Iterator[str | vc.SentenceResult]:
    """``chunks`` is what ``client.chat.completions.create(..., stream=True)`` returned."""
    pieces = (choice.delta.content or "" for chunk in chunks for choice in chunk.choices)
    return vc.CheckStream(sources).follow(pieces)
