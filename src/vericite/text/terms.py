"""Content words of a text."""

from __future__ import annotations

import re

_TERM = re.compile(r"[^\W_]+")
_STOPWORDS = frozenset(
    "a an and are as at be by can did do does for from has have how in is it of on or that the their there "
    "these this to was were what when where which who why will with".split()
)


def terms(text: str) -> list[str]:
    """Return lower-cased words without stopwords and plural s."""
    words = (word for word in _TERM.findall(text.lower()) if word not in _STOPWORDS)
    return [_singular(word) for word in words]


def _singular(word: str) -> str:
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "is", "us")):
        return word[:-1]
    return word
