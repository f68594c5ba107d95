"""Numbers with their nouns."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, which has an s unless the number is one: ``1 answer``, ``2,000 answers``."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
