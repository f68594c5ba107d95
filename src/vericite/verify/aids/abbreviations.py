"""Abbreviations that either the claim or the source spells out: explained in the source, or common medical ones."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from vericite.records import Document
from vericite.text.acronyms import acronym_pairs, without_plural

_WORD = re.compile(r"[^\W_]+(?:['’]s\b)?")
_SHORT = re.compile(r"(?<![\w-])[A-Za-z0-9][\w.&+-]{0,11}(?<![.-])(?! ?\()")
_LONGEST = 12
"""Maximum number of words of a long form."""

_SPELLINGS = (("haem", "hem"), ("oedema", "edema"), ("oes", "es"), ("paed", "ped"), ("aem", "em"), ("caes", "ces"))
_ENDINGS = (
    ("our", "or"),
    ("ours", "or"),
    ("isation", "ization"),
    ("ised", "ized"),
    ("ising", "izing"),
    ("fibre", "fiber"),
)

Key = tuple[str, ...]
"""A long form for comparison: its words in lower case, singular and American spelling."""


class Meaning(NamedTuple):
    """A meaning of an abbreviation; one of its context words must be near, unless there are none."""

    long: str
    context: tuple[str, ...]


class TermMention(NamedTuple):
    """A place where a text has a term, and whether it is abbreviated."""

    start: int
    end: int
    is_short: bool


class Gloss(NamedTuple):
    """Words to insert into a source after ``end``, or in place of its text from ``start``; and the reason for users."""

    start: int
    end: int
    text: str
    reason: str


@cache
def _table() -> dict[str, tuple[Meaning, ...]]:
    """Read short forms and their meanings."""
    text = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["table"]
    table: dict[str, tuple[Meaning, ...]] = {}
    for line in text.splitlines():
        short, _, rest = line.partition(": ")
        if rest and not line.startswith("#"):
            long, _, context = rest.partition(" @ ")
            table[short] = (*table.get(short, ()), Meaning(long.strip(), tuple(context.lower().split())))
    return table


@cache
def _by_first_word() -> dict[str, tuple[Key, ...]]:
    """Index the long forms of the table by their first word."""
    return _indexed(tuple({_key(meaning.long): None for meanings in _table().values() for meaning in meanings}))


def _indexed(keys: Sequence[Key]) -> dict[str, tuple[Key, ...]]:
    found: dict[str, tuple[Key, ...]] = {}
    for key in keys:
        if key:
            found[key[0]] = (*found.get(key[0], ()), key)
    return found


@lru_cache(maxsize=16_384)
def _folded(word: str) -> str:
    word = word.lower().replace("’", "'").removesuffix("'s")
    for british, american in _SPELLINGS:
        word = word.replace(british, american)
    for british, american in _ENDINGS:
        if word.endswith(british) and len(word) > len(british) + 2:
            word = word.removesuffix(british) + american
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "is", "us")):
        return word[:-1]
    return word


def _key(long: str) -> Key:
    return tuple(_folded(match[0]) for match in _WORD.finditer(long))


@dataclass(frozen=True)
class Glossary:
    """The abbreviations that documents explain, which come before those of the table.

    Attributes:
        own: Meaning of each explained short form; None if it is explained in two ways.
        words: Words of the documents in lower case: the context of an ambiguous abbreviation.
    """

    own: Mapping[str, Key | None]
    longs: Mapping[Key, str]
    words: frozenset[str]
    firsts: Mapping[str, tuple[Key, ...]]
    _found: dict[tuple[str, frozenset[str]], dict[Key, TermMention]] = field(
        default_factory=dict[tuple[str, frozenset[str]], dict[Key, TermMention]]
    )

    @classmethod
    def of(cls, documents: Sequence[Document]) -> Glossary:
        """Collect what the documents of a case explain."""
        own: dict[str, Key | None] = {}
        longs: dict[Key, str] = {}
        words: set[str] = set()
        for document in documents:
            explained, used = _explained(f"{document.title}\n{document.text}")
            words |= used
            for short, long in explained:
                key = _key(long)
                own[short] = key if own.get(short, key) == key else None
                longs[key] = long
        return cls(own, longs, frozenset(words), _indexed(tuple(longs)))

    def meanings(self, short: str, near: frozenset[str]) -> list[Key]:
        """Return the meanings of a short form: from the documents, else from the table if it is certain."""
        singular = without_plural(short)
        for form in dict.fromkeys((short, singular)):
            if form in self.own:
                key = self.own[form]
                return [] if key is None else [key]
        meanings = _table().get(short) or _table().get(singular, ())
        contexts = {meaning.context for meaning in meanings}
        if len(contexts) > 1 or contexts != {()}:
            meanings = tuple(item for item in meanings if self._is_near(item, near))
            if len({_key(item.long) for item in meanings}) > 1:
                return []
        return [_key(meaning.long) for meaning in meanings]

    def _is_near(self, meaning: Meaning, near: frozenset[str]) -> bool:
        # The term in the claim itself does not tell what the source's abbreviation means.
        others = near - words_of(meaning.long.lower())
        return any(word.startswith(meaning.context) for words in (self.words, others) for word in words)

    def mentions(self, text: str, near: frozenset[str]) -> dict[Key, TermMention]:
        """Find the first place of each term that a text abbreviates or spells out; cached per text."""
        if (text, near) not in self._found:
            self._found[text, near] = self._mentions(text, near)
        return self._found[text, near]

    def _mentions(self, text: str, near: frozenset[str]) -> dict[Key, TermMention]:
        found: dict[Key, TermMention] = {}
        for key, start, end in self._spelt_out(text):
            found.setdefault(key, TermMention(start, end, False))
        for match in _SHORT.finditer(text):
            if match[0] in self.own or without_plural(match[0]) in self.own or _is_known(match[0]):
                for key in self.meanings(match[0], near):
                    found.setdefault(key, TermMention(match.start(), match.end(), True))
        return found

    def _spelt_out(self, text: str) -> Iterator[tuple[Key, int, int]]:
        words = [(_folded(match[0]), match.start(), match.end()) for match in _WORD.finditer(text)]
        for at, (word, start, _) in enumerate(words):
            for key in (*_by_first_word().get(word, ()), *self.firsts.get(word, ())):
                part = words[at : at + len(key)]
                if len(key) <= _LONGEST and tuple(item[0] for item in part) == key:
                    yield key, start, part[-1][2]


def _is_known(short: str) -> bool:
    return short in _table() or without_plural(short) in _table()


@lru_cache(maxsize=512)
def _explained(text: str) -> tuple[tuple[tuple[str, str], ...], frozenset[str]]:
    pairs = tuple((pair.singular, pair.long) for pair in acronym_pairs(text))
    return pairs, words_of(text)


@lru_cache(maxsize=4096)
def words_of(text: str) -> frozenset[str]:
    """Return the words of a text in lower case."""
    return frozenset(match[0].lower() for match in _WORD.finditer(text))


def abbreviation_glosses(claim: str, source: str, glossary: Glossary) -> Iterator[Gloss]:
    """Yield the claim's form of each term that one text abbreviates and the other spells out.

    An abbreviation is replaced: with both forms the judge supports fewer valid pairs. A term that is spelt out stays.
    """
    near = words_of(claim)
    claimed = glossary.mentions(claim, near)
    if not claimed:
        return
    given = glossary.mentions(source, near)
    for key, mine in claimed.items():
        theirs = given.get(key)
        if theirs is None:
            continue
        my_form, their_form = claim[mine.start : mine.end], source[theirs.start : theirs.end]
        if _has(source, my_form) or _has(claim, their_form) or _key(my_form) == _key(their_form):
            continue
        text = f"{their_form} ({my_form})" if mine.is_short and not theirs.is_short else my_form
        yield Gloss(theirs.start, theirs.end, text, f"{their_form} is {my_form}")


def _has(text: str, form: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(form)}s?(?!\w)", text, re.IGNORECASE) is not None
