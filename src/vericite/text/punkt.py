"""Sentences as NLTK's Punkt finds them, for papers that split so; ours are found by rules (``sentences``)."""

from __future__ import annotations

from functools import cache
from typing import Any

from vericite.errors import InputError, MissingExtraError
from vericite.records import Span

PUNKT = "nltk-punkt.english"
"""Signature of the splitter; NLTK's version stands behind it."""


def punkt_signature() -> str:
    """The splitter with NLTK's version.

    Raises:
        MissingExtraError: NLTK is not installed.
    """
    return f"{PUNKT}@{_nltk().__version__}"


def split_by_punkt(text: str) -> tuple[Span, ...]:
    """Where the sentences of a text lie; like ours, they begin and end with what is no white space.

    Raises:
        MissingExtraError: NLTK is not installed.
        InputError: Its model of English is not on this machine.
    """
    return tuple(
        Span(start=start, end=end) for start, end in _tokenizer().span_tokenize(text) if text[start:end].strip()
    )


def _nltk() -> Any:
    try:
        import nltk
    except ModuleNotFoundError:
        raise MissingExtraError("eval", "Punkt's sentences") from None
    return nltk


@cache
def _tokenizer() -> Any:
    _nltk()
    from nltk.tokenize.punkt import PunktTokenizer

    try:
        return PunktTokenizer("english")
    except LookupError:
        raise InputError(
            "expected NLTK's Punkt for English, which this protocol's paper splits with; found none. "
            "Get it: python -m nltk.downloader punkt_tab"
        ) from None
