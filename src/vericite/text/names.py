"""Names of drugs, drug classes and conditions: which of them mean the same, and which drug is of which class.

The table is ``names.toml``. Drugs that are not in it are recognized by the international stems of their class.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal

_TOKEN = re.compile(r"[^\W_]+")
_LONGEST = 6
"""Maximum number of words of a name."""
_SHORT = 5
"""Maximum length of a name in capitals that is only recognized in capitals: ASA, PPI, ARB."""
_FEWEST_LETTERS = 3
"""Minimum number of letters before the stem of a drug: heparin is no low-molecular-weight heparin."""
_LIKE = re.compile(
    r"[a-z]{3,}(?:mab|nib|vir|azole|mycin|cillin|xaban|amide|idone|fylline|lazad|limus|parin|formin|toin|barbital|triptan|"
    r"setron|siran|[ei]rsen|lukast|apine|zine|sone|olone|phine|olol|statin|ostat|caine|tide|ciclib|oxin|vec|leucel|dronate|prazole)"
)
"""Endings of drugs of no class above: pentoxifylline, tirilazad."""
_NOT_LIKE = frozenset(
    "peptide polypeptide oligopeptide nucleotide oligonucleotide dinucleotide toxin endotoxin magazine".split()
)
_ADDED = 6
"""Maximum number of names of one drug or condition that a search adds."""


def spelt(text: str) -> str:
    """Lower the case, unify British and American spelling, and name Greek letters."""
    text = text.lower().replace("ae", "e").replace("oe", "e").replace("our", "or")
    return text.replace("α", "alpha").replace("β", "beta").replace("γ", "gamma")


@dataclass(frozen=True)
class Thing:
    """A drug, a drug class or a condition.

    Attributes:
        kind: What it is.
        names: All its names.
        members: Drugs of a class, of which a source may name any.
        ending: Stem of the drugs of a class.
    """

    kind: Literal["drug", "class", "term"]
    names: tuple[str, ...]
    members: tuple[str, ...] = ()
    ending: str = ""


@dataclass(frozen=True)
class Naming:
    """A name in a text.

    Attributes:
        text: The words as the text has them.
        things: What they name; nothing for a drug that is only recognized by its ending.
        classes: The classes that the drug belongs to.
    """

    text: str
    things: tuple[Thing, ...]
    classes: tuple[Thing, ...] = ()

    @property
    def is_drug(self) -> bool:
        """Whether it is a drug or a drug class."""
        return bool(self.classes) or any(thing.kind != "term" for thing in self.things) or not self.things


@dataclass(frozen=True)
class _Table:
    by_words: dict[tuple[str, ...], list[Thing]]
    by_member: dict[tuple[str, ...], list[Thing]]
    endings: tuple[tuple[str, Thing], ...]
    starts: frozenset[str]


def _listed(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split("|") if name.strip())


@cache
def _table() -> _Table:
    read = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    things = [
        Thing("class", (name, *_listed(row["also"])), _listed(row["members"]), row["ending"])
        for name, row in read["class"].items()
    ]
    drugs = [Thing("drug", names) for names in _groups(read["drug"]["all"])]
    things += [*drugs, *(Thing("term", names) for names in _groups(read["term"]["all"]))]
    by_words: dict[tuple[str, ...], list[Thing]] = {}
    by_member: dict[tuple[str, ...], list[Thing]] = {}
    for thing in things:
        for name in thing.names:
            if thing not in by_words.setdefault(_key(name), []):
                by_words[_key(name)].append(thing)
        for member in thing.members:
            by_member.setdefault(_key(member), []).append(thing)
    # A brand is of the classes of its drug.
    for drug in drugs:
        classes = [thing for name in drug.names for thing in by_member.get(_key(name), ())]
        for name in drug.names:
            by_member[_key(name)] = list(dict.fromkeys(classes))
    starts = frozenset(key[0] for key in (*by_words, *by_member))
    return _Table(by_words, by_member, tuple((thing.ending, thing) for thing in things if thing.ending), starts)


def _groups(text: str) -> Iterator[tuple[str, ...]]:
    return (_listed(group) for group in re.split(r"[;\n]", text) if group.strip())


def _key(name: str) -> tuple[str, ...]:
    return tuple(_singular(word) for word in _TOKEN.findall(spelt(name)))


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "is", "us")) else word


@lru_cache(maxsize=64)
def names_in(text: str) -> tuple[Naming, ...]:
    """Return the names in a text, in order; of overlapping ones the longest."""
    table = _table()
    found: list[Naming] = []
    tokens = list(_TOKEN.finditer(text))
    keys = [_singular(spelt(token[0])) for token in tokens]
    place = 0
    while place < len(tokens):
        longest = _LONGEST if keys[place] in table.starts else 1
        for length in range(min(longest, len(tokens) - place), 0, -1):
            said = text[tokens[place].start() : tokens[place + length - 1].end()]
            key = tuple(keys[place : place + length])
            things = [thing for thing in table.by_words.get(key, ()) if _is_written(said, thing)]
            classes = table.by_member.get(key, [])
            if length == 1 and not things:
                classes = [*classes, *(thing for end, thing in table.endings if _has_ending(key[0], end))]
            like = length == 1 and _LIKE.fullmatch(key[0]) is not None and key[0] not in _NOT_LIKE
            if things or classes or like:
                found.append(Naming(said, tuple(things), tuple(dict.fromkeys(classes))))
                place += length
                break
        else:
            place += 1
    return tuple(found)


def _has_ending(word: str, ending: str) -> bool:
    return word.endswith(ending) and len(word) >= len(ending) + _FEWEST_LETTERS


def _is_written(said: str, thing: Thing) -> bool:
    """Whether the words are this thing's name: one in capitals is no name in small letters (als, epo)."""
    return any(
        _key(name) == _key(said)
        and (len(name) > _SHORT or not name.isupper() or said.rstrip("s").isupper())
        for name in thing.names
    )  # fmt: skip


def is_mentioned(named: Naming, others: Sequence[Naming]) -> bool:
    """Whether one of the names of a text means the same, is a member of the class asked for, or the class of the drug.

    Args:
        named: A name in a question.
        others: All names in a text.
    """
    asked = {*named.things, *named.classes}
    key = _key(named.text)
    for other in others:
        if _key(other.text) == key or {*named.things} & {*other.things}:
            return True
        # The class for the drug, a drug for its class; not one drug of a class for another.
        if asked & {*other.things} or {*named.things} & {*other.classes}:
            return True
    return False


def drugs_in(text: str) -> list[Naming]:
    """Return the drugs and drug classes in a text."""
    return [named for named in names_in(text) if named.is_drug]


def unnamed(question: str, text: str) -> list[str]:
    """Return the drugs and drug classes of a question that a text names in no way."""
    asked = drugs_in(question)
    others = names_in(text) if asked else ()
    return [named.text for named in asked if not is_mentioned(named, others)]


def with_other_names(query: str) -> str:
    """Return a query with other names of what it names, for a search by words.

    The drugs of a class are added only if the query names no drug, and not for a receptor of the class.
    """
    found = names_in(query)
    drugs = any(named.classes for named in found)
    had = {*_key(query)}
    added: list[str] = []
    for named in found:
        receptor = re.search(rf"{re.escape(named.text)}[\s-]receptor\b", query) is not None
        for thing in named.things:
            names = thing.names[:_ADDED] if thing.kind != "class" else () if drugs or receptor else thing.members
            for word in (word for name in names for word in _TOKEN.findall(name) if len(word) > 1):
                if not had & {*_key(word)}:
                    had |= {*_key(word)}
                    added.append(word)
    return " ".join([query, *added])
