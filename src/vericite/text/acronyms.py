"""Abbreviations that a text explains, with their long forms (Schwartz and Hearst, 2003)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_SHORTEST, _LONGEST = 2, 10  # characters of a short form; this and its limit of two words are as published
_MOST_CONTENT = 250  # characters between brackets; longer ones are asides
_MOST_BEFORE = 400  # characters to search in front of them

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
    """An abbreviation and its long form, as in the text, with single spaces."""

    short: str
    long: str

    @property
    def singular(self) -> str:
        """The short form without a plural s: IL for ILs."""
        return without_plural(self.short)


def without_plural(text: str) -> str:
    """Remove the plural s from abbreviations: an s after a capital or a digit."""
    return _PLURAL.sub("", text)


def acronym_pairs(text: str) -> tuple[Acronym, ...]:
    """Return the abbreviations that a text explains, in order, with repeats.

    Takes linear time.
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
    """Yield at most one pair, from the words before a bracket and its content."""
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
    """Yield the positions of bracket pairs that follow a space and are not too long, inner ones first."""
    open_at: list[int] = []
    for found in _BRACKET.finditer(text):
        if found[0] == "(":
            open_at.append(found.start())
        elif open_at:
            opened = open_at.pop()
            # A bracket inside a word belongs to the word: poly(ADP-ribose), Ca(2+).
            if found.start() - opened - 1 <= _MOST_CONTENT and opened > 0 and text[opened - 1].isspace():
                yield opened, found.start()


def _cut(content: str) -> str:
    """Return the first part of the content of brackets, without nested brackets."""
    aside = _ASIDE.search(content)
    content = content[: aside.start()] if aside else content
    return _SPACE.sub(" ", _CUT.split(content)[0]).strip().strip(_EDGES)


def _words_before(text: str, opened: int) -> list[str]:
    """Return the words before a bracket, from the start of the sentence or an enclosing bracket."""
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
    """Return the end of these words that matches the short form."""
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
    # Lower case alone is usually an ordinary word, unless it consists of the words' initials.
    initials = "".join(part[0] for part in re.split(r"[\s-]+", " ".join(words)) if part)
    return short == initials


_SMALL = frozenset("a an and for in of on or the to with".split())


def _by_initials(short: str, words: str) -> int | None:
    """Return the start of the words with the short form as initials, ignoring small words; None if there are none.

    This is tried before matching letters anywhere: "pump inhibitors" contains the letters of PPI too, but is not its
    full long form.
    """
    wanted = _letters(without_plural(short))
    found = [(word.start(), _letters(word[0])) for word in re.finditer(r"[^\s-]+", words)]
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
    """Return the start of the word that begins with the short form's first letter and is followed by all others."""
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
    """Whether the short form's last letter is in the long form's last word; otherwise that word is unrelated."""
    last = next((char for char in reversed(_letters(without_plural(short))) if char.isalnum()), "")
    return last in _letters(long.split()[-1])


def _letters(text: str) -> str:
    """Lower the case and replace Greek letters by the Latin initials of their names; the length stays the same."""
    return "".join(low if len(low := char.lower()) == 1 else char for char in text.translate(_GREEK))


_ADDED = re.compile(r" \[[^\[\]]*[^\W\d][^\[\]]*\]")


def without_long_forms(text: str) -> str:
    """Remove the long forms that were added to a quotation, in square brackets."""
    return _ADDED.sub("", text)
