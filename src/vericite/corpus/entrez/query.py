"""Free text in PubMed's query language: words, and nothing of it as syntax."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from unicodedata import normalize

# A word may have marks inside that PubMed knows as part of one (IL-6, 0.5, Crohn's). Brackets, quotes, slashes,
# colons, asterisks, tildes and number signs mean something in a query and are in no word.
_WORD = re.compile(r"[^\W_]+(?:[-'.][^\W_]+)*")
_DASHES = re.compile("[\u2010\u2011\u2012\u2013\u2212]")
# By NLM's guide PubMed takes them for operators in capitals only: in lower case they are words.
_OPERATOR = re.compile(r"\b(?:AND|OR|NOT)\b", re.IGNORECASE)

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

_OPERATORS = frozenset({"and", "or", "not"})


def query_words(text: str) -> tuple[str, ...]:
    """The words of a text in their order, as they are spelt."""
    text = _DASHES.sub("-", normalize("NFKC", text)).replace("\u2019", "'")
    return tuple(word for word in _WORD.findall(text) if len(word) <= _LONGEST_WORD)


def acronyms(words: Sequence[str]) -> frozenset[str]:
    """Of a text's words those of two letters or more, all capitals; none where the whole text is in capitals."""
    if not any(char.islower() for word in words for char in word):
        return frozenset()
    return frozenset(word for word in words if len(word) > 1 and word.isupper())


def telling(words: Sequence[str], kept: Collection[str] = ()) -> tuple[str, ...]:
    """The words to look up, lower-cased, each once: no AND, OR or NOT, and no stopword that is not to be ``kept``."""
    chosen = (word.lower() for word in words if word.lower() not in STOPWORDS or word in kept)
    return tuple(word for word in dict.fromkeys(chosen) if word not in _OPERATORS)


def all_in_title_or_abstract(words: Sequence[str]) -> str:
    """Articles with an abstract that have every one of these words in it or in the title."""
    return " AND ".join([*(f"{word}[tiab]" for word in words), "hasabstract"])


def mapped(words: Sequence[str]) -> str:
    """Articles with an abstract about these words, as PubMed's Automatic Term Mapping understands them."""
    return f"({' '.join(words)}) AND hasabstract"


def as_asked(words: Sequence[str]) -> str:
    """The words of a text as they stand, with AND, OR and NOT as words like others."""
    return _OPERATOR.sub(lambda found: found[0].lower(), " ".join(words))
