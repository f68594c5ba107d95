"""Quotations: whether words stand in the document that they are said to be of, and where."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain

from vericite.records import Document, EvidenceSpan, storable
from vericite.text.sentences import document_sentences

_SPACE = re.compile(r"\s+")
_BEFORE = re.compile(r"\A(?:\.{2,}|[\s…\"“”'‘’«»`])+")
_BEHIND = re.compile(r"[\s.,;:…\"“”'‘’«»`]+\Z")
_KEPT_APART = ("<super>", "<fraction>")
"""Characters that no plain one stands for: 10² is not 102."""
_PLAIN = str.maketrans(
    dict.fromkeys("‐‑‒–—―−﹣", "-")
    | dict.fromkeys("‘’‚‛′`´", "'")
    | dict.fromkeys("“”„‟″«»", '"')
    # A model is shown these in place of what might be a marker or a tag.
    | dict.fromkeys("[【［⟦", "(")
    | dict.fromkeys("]】］⟧", ")")
    | {"‹": "<", "›": ">"}
)


def find_quotation(words: str, document: Document) -> EvidenceSpan | None:
    """Where a document's text has these words; None where it does not.

    First as they are, then without regard to case, white space, kinds of dashes and quotation marks, and the
    encoding of characters. Marks around the words and a stop behind them do not count. No word or number is cut: "5 mg"
    does not stand in "15 mg".
    """
    wanted = bare_quotation(words)
    if not any(map(str.isalnum, wanted)):
        return None
    text = document.text
    place = next(chain(_exact(wanted, text), _alike(wanted, text)), None)
    if place is None:
        return None
    start, end = place
    sentences = [sentence.index for sentence in document_sentences(document) if sentence.span.start <= start]
    return EvidenceSpan(document=document.id, sentence=sentences[-1] if sentences else None, start=start, end=end)


def bare_quotation(words: str) -> str:
    """A quotation without the marks around it, and without the stop behind it."""
    return _BEHIND.sub("", _BEFORE.sub("", storable(words)))


def folded(text: str) -> str:
    """A text as quotations are compared: in one case, with single spaces and plain signs."""
    return _folded(text)[0].rstrip(" ")


def _exact(wanted: str, text: str) -> Iterator[tuple[int, int]]:
    for start in _occurrences(wanted, text):
        if not (_cut(text, start) or _cut(text, start + len(wanted))):
            yield start, start + len(wanted)


def _alike(wanted: str, text: str) -> Iterator[tuple[int, int]]:
    needle, (letters, origins) = folded(wanted), _folded(text)
    for first in _occurrences(needle, letters):
        start, end = origins[first], origins[first + len(needle) - 1] + 1
        # Of a character that stands for several no part is taken.
        if folded(text[start:end]) == needle and not (_cut(text, start) or _cut(text, end)):
            yield start, end


def _occurrences(wanted: str, text: str) -> Iterator[int]:
    place = text.find(wanted)
    while place >= 0:
        yield place
        place = text.find(wanted, place + 1)


def _cut(text: str, place: int) -> bool:
    """Whether a word or a number goes on over this place."""
    before, behind = text[max(0, place - 2) : place], text[place : place + 2]
    if not before or not behind:
        return False
    if unicodedata.combining(behind[0]) or (before[-1].isalnum() and behind[0].isalnum()):
        return True
    inside = before[-1] in ".," and before[:-1].isdigit() and behind[0].isdigit()
    return inside or (before[-1].isdigit() and behind[0] in ".," and behind[1:].isdigit())


@lru_cache(maxsize=256)
def _folded(text: str) -> tuple[str, tuple[int, ...]]:
    """The text as it is compared, and where each of its characters comes from."""
    letters: list[str] = []
    origins: list[int] = []
    for place, char in enumerate(text):
        for letter in _plain(char):
            if letter != " " or (letters and letters[-1] != " "):
                letters.append(letter)
                origins.append(place)
    return "".join(letters), tuple(origins)


@lru_cache(maxsize=8_192)
def _plain(char: str) -> str:
    kind = unicodedata.category(char)
    if char.isspace() or kind == "Cc":
        return " "
    if kind == "Cf":
        return ""
    form = "NFD" if unicodedata.decomposition(char).startswith(_KEPT_APART) else "NFKD"
    # Some signs are plain only before they are taken apart, others only after it.
    apart = unicodedata.normalize(form, char.translate(_PLAIN)).casefold()
    return _SPACE.sub(" ", unicodedata.normalize("NFD", apart).translate(_PLAIN))
