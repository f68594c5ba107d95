"""Abbreviations written out, and long forms abbreviated."""

from __future__ import annotations

import re
from collections.abc import Iterable

_DEFINED = re.compile(r"\b(?P<long>(?:[A-Za-z0-9'-]+ ){1,6}[A-Za-z0-9'-]+) \((?P<short>[A-Z][A-Za-z0-9-]{1,7}?)s?\)")


def abbreviations(sentences: Iterable[str]) -> dict[str, str]:
    """The abbreviations a text defines, with what they stand for."""
    found: dict[str, str] = {}
    for sentence in sentences:
        for match in _DEFINED.finditer(sentence):
            short = match["short"]
            if long := _stands_for(match["long"].split(), short):
                found.setdefault(short, long)
    return found


def _stands_for(words: list[str], short: str) -> str:
    """The last words whose first letters are those of the abbreviation, if there are such."""
    letters = [letter.lower() for letter in short if letter.isalpha()]
    if not 2 <= len(letters) <= len(words):
        return ""
    parts = [part for word in words[-len(letters) :] for part in word.split("-") if part]
    initials = [part[0].lower() for part in parts]
    return " ".join(words[-len(letters) :]) if initials[-len(letters) :] == letters == initials else ""


def expanded(claim: str, defined: dict[str, str]) -> str:
    """The claim with its abbreviations written out, or the other way round where it has the long forms."""
    text = claim
    for short, long in defined.items():
        if re.search(rf"(?<![\w-]){re.escape(short)}(?![\w-])", text):
            text = re.sub(rf"(?<![\w-]){re.escape(short)}(?![\w-])", long, text)
            text = text.replace(f"{long} ({long})", long)
        elif long in text:
            text = re.sub(rf"{re.escape(long)}(?: \({re.escape(short)}\))?", short, text)
    return text[:1].upper() + text[1:]
