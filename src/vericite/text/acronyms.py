"""The abbreviations that a text explains, with what they stand for (Schwartz and Hearst, 2003)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_SHORTEST, _LONGEST = 2, 10  # characters of a short form, as published; so are its two words
_MOST_CONTENT = 250  # characters between brackets; what is longer is an aside
_MOST_BEFORE = 400  # characters in front of them that are looked at

_SMALL_GREEK = dict(zip("αβγδεζηθικλμνξοπρσςτυφχψω", "abgdezetiklmnxoprsstupcpo", strict=True))
_GREEK = str.maketrans(_SMALL_GREEK | {char.upper(): letter for char, letter in _SMALL_GREEK.items()} | {"\xb5": "m"})
_BRACKET = re.compile(r"[()]")
_ASIDE = re.compile(r"\s[()]")
_CUT = re.compile(r";|, |,$")
_SPACE = re.compile(r"\s+")
# A measurement or a statistic: "n = 40", "95% CI", "p < 0.05".
_FIGURE = re.compile(r"[=<>≤≥%±×#]")
_ROMAN = re.compile(r"[ivx]+")
_POINTERS = frozenset("eg ie cf see fig figs ref refs vs etc table tables figure figures".split())
_ENDS = re.compile(r"[;:?!]$|(?<!\w)\w{3,}+(?=[^\w\s.]*+\.)[^\w\s]*+$")  # "St." and "S." end no sentence
_PLURAL = re.compile(r"(?<=[A-Z0-9])s\b")
_EDGES = "\"'“”‘’«»[]{},.;:"


@dataclass(frozen=True)
class Acronym:
    """An abbreviation and what it stands for, each as the text has it, with single spaces."""

    short: str
    long: str

    @property
    def singular(self) -> str:
        """The short form without a plural s: of ILs it is IL."""
        return without_plural(self.short)


def without_plural(text: str) -> str:
    """The text with its abbreviations in the singular: an s behind a capital or a digit is taken off."""
    return _PLURAL.sub("", text)


def acronym_pairs(text: str) -> tuple[Acronym, ...]:
    """The abbreviations that a text explains, in its order; one that is explained twice is there twice.

    Takes time in proportion to the text's length.
    """
    return tuple(_pairs(text))


def _pairs(text: str) -> Iterator[Acronym]:
    for opened, closed in _brackets(text):
        content = text[opened + 1 : closed]
        before = _words_before(text, opened)
        cut = _cut(content)
        if before and not _FIGURE.search(cut):
            yield from _explained(before, cut)


def _explained(before: list[str], content: str) -> Iterator[Acronym]:
    """At most one pair out of the words before a bracket and what is in it."""
    if _is_short(content):
        most = _most_words(content)
        if (long := _long_form(content, " ".join(before[-most:]))) is not None:
            yield Acronym(content, long)
            return
    short = before[-1].strip(_EDGES)
    if not _is_short(short) or len(content.split()) > _most_words(short):
        return
    if (long := _long_form(short, content)) is not None and _ends_in_last_word(short, long):
        yield Acronym(short, long)


def _brackets(text: str) -> Iterator[tuple[int, int]]:
    """Where pairs of brackets open and close, inner ones first, that stand behind a space and are not too long."""
    open_at: list[int] = []
    for found in _BRACKET.finditer(text):
        if found[0] == "(":
            open_at.append(found.start())
        elif open_at:
            opened = open_at.pop()
            # A bracket inside a word belongs to it: poly(ADP-ribose), Ca(2+).
            if found.start() - opened - 1 <= _MOST_CONTENT and opened > 0 and text[opened - 1].isspace():
                yield opened, found.start()


def _cut(content: str) -> str:
    """What is said first between two brackets, without brackets of its own."""
    aside = _ASIDE.search(content)
    content = content[: aside.start()] if aside else content
    return _SPACE.sub(" ", _CUT.split(content)[0]).strip().strip(_EDGES)


def _words_before(text: str, opened: int) -> list[str]:
    """The words before a bracket, back to where the sentence or an enclosing bracket begins."""
    start = max(0, opened - _MOST_BEFORE)
    words = text[start:opened].split()
    if start > 0 and words and not text[start - 1].isspace():
        words = words[1:]  # it was cut
    found: list[str] = []
    for word in reversed(words[-2 * _LONGEST :]):
        if found and _ENDS.search(word):
            break
        bare = word.lstrip("(")
        if bare.count("(") != bare.count(")"):
            break
        found.append(bare)
        if bare != word:
            break
    return found[::-1]


def _most_words(short: str) -> int:
    return min(len(short) + 5, 2 * len(short))


def _is_short(text: str) -> bool:
    if not _SHORTEST <= len(text) <= _LONGEST or len(text.split()) > 2 or not text[0].isalnum():
        return False
    if text.lower().rstrip(".") in _POINTERS or _ROMAN.fullmatch(text):
        return False
    return any(char.isalpha() for char in text)


def _long_form(short: str, words: str) -> str | None:
    """The end of these words that the short form stands for."""
    start = _by_initials(short, words)
    if start is None:
        start = _match(short, words)
    if start is None and without_plural(short) != short:
        start = _match(without_plural(short), words)
    if start is None:
        return None
    long = words[start:].strip(_EDGES)
    return long if _is_sound(short, long) else None


def _is_sound(short: str, long: str) -> bool:
    words = [word.strip(_EDGES).lower() for word in long.split()]
    if len(long) <= len(short) or len(words) > _most_words(short) or short.lower() in words:
        return False
    if any(char.isupper() or char.isdigit() or char.translate(_GREEK) != char for char in short):
        return True
    # Small letters alone are an ordinary word more often than not, unless they are the words' initials.
    initials = "".join(part[0] for part in re.split(r"[\s-]+", " ".join(words)) if part)
    return short == initials


_SMALL = frozenset("a an and for in of on or the to with".split())


def _by_initials(short: str, words: str) -> int | None:
    """Where the words begin whose initials are the short form, small words left out; None where there are none.

    It comes before looking for letters anywhere: "pump inhibitors" has those of PPI too, and stands for less.
    """
    wanted = _letters(without_plural(short))
    found = [(it.start(), _letters(it[0])) for it in re.finditer(r"[^\s-]+", words)]
    initials = ""
    for start, word in reversed(found):
        bare = word.strip(_EDGES)
        if bare and (bare not in _SMALL or wanted.startswith(bare[0] + initials[:1])):
            initials = bare[0] + initials
        if initials == wanted and len(wanted) > 1 and bare and bare[0] == wanted[0]:
            return start
        if not wanted.endswith(initials):
            return None
    return None


def _match(short: str, words: str) -> int | None:
    """Where the word begins that the first letter of a short form begins, all of its letters being found behind it."""
    wanted, letters = _letters(short), _letters(words)
    place = len(letters)
    for index in range(len(wanted) - 1, -1, -1):
        char = wanted[index]
        if not char.isalnum():
            continue
        place -= 1
        while place >= 0 and (letters[place] != char or (index == 0 and place > 0 and letters[place - 1].isalnum())):
            place -= 1
        if place < 0:
            return None
    return letters.rfind(" ", 0, place) + 1


def _ends_in_last_word(short: str, long: str) -> bool:
    """Whether the last letter of a short form is in the long one's last word: behind it there may be anything."""
    last = next((char for char in reversed(_letters(without_plural(short))) if char.isalnum()), "")
    return last in _letters(long.split()[-1])


def _letters(text: str) -> str:
    """Small letters, Greek ones as the Latin ones that begin their names; of the same length."""
    return "".join(low if len(low := char.lower()) == 1 else char for char in text.translate(_GREEK))
