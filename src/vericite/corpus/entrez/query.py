"""Free text in PubMed's query language: words, and nothing of it as syntax."""

from __future__ import annotations

import re
from collections.abc import Sequence
from unicodedata import normalize

# A word may have marks inside that PubMed knows as part of one (IL-6, 0.5, Crohn's). Brackets, quotes, slashes,
# colons, asterisks, tildes and number signs mean something in a query and are in no word.
_WORD = re.compile(r"[^\W_]+(?:[-'.][^\W_]+)*")
_DASHES = re.compile("[\u2010\u2011\u2012\u2013\u2212]")
_OPERATORS = frozenset({"and", "or", "not"})

_LONGEST_WORD = 100
"""Characters; what is longer is a sequence or a mistake, and in no index of words."""

STOPWORDS = frozenset(
    "a about again all almost also although always among an and another any are as at be because been before being "
    "between both but by can could did do does done due during each either enough especially etc for found from "
    "further had has have having here how however i if in into is it its itself just kg km made mainly make may mg "
    "might ml mm most mostly must nearly neither no nor obtained of often on our overall perhaps pmid quite rather "
    "really regarding seem seen several should show showed shown shows significantly since so some such than that the "
    "their theirs them then there therefore these they this those through thus to upon use used using various very "
    "was we were what when which while with within without would".split()
)
"""The words that PubMed does not look up, by its own list."""


def query_words(text: str) -> tuple[str, ...]:
    """The words of a text, lower-cased, each once. AND, OR and NOT are left out, however they are spelt."""
    text = _DASHES.sub("-", normalize("NFKC", text)).replace("\u2019", "'").lower()
    words = dict.fromkeys(_WORD.findall(text))
    return tuple(word for word in words if word not in _OPERATORS and len(word) <= _LONGEST_WORD)


def all_in_title_or_abstract(words: Sequence[str]) -> str:
    """Articles with an abstract that have every one of these words in it or in the title."""
    return " AND ".join([*(f"{word}[tiab]" for word in words), "hasabstract"])


def mapped(words: Sequence[str]) -> str:
    """Articles with an abstract about these words, as PubMed's Automatic Term Mapping understands them."""
    return f"({' '.join(words)}) AND hasabstract"
