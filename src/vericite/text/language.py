"""Recognize text in languages other than English by script and function words."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from functools import lru_cache
from pathlib import Path
from typing import Any

LANGUAGE = "language.v1"
"""Signature of the rules, for provenance; changes whenever they would judge some text differently."""

_FEWEST_WORDS = 5
_FEWEST_IN_PHRASE = 4
_FEWEST_TELLING = 2
_FEWEST_LETTERS = 4

_LISTS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("language.toml").read_text("utf-8"))


def _words(name: str) -> frozenset[str]:
    return frozenset(_LISTS[name].split())


_SCRIPTS: dict[str, str] = _LISTS["scripts"]
_LONGEST_GREEK_SYMBOL = 3  # "Δ", "αβ" and "γδε" are symbols; a longer run of Greek letters is a Greek word

_ENGLISH = _words("english")
_AMBIGUOUS = _words("ambiguous")
_ENGLISH_TOO = _words("english_too")
_PARTICLES = _words("particles")
_AFTER_VAN = _words("after_van")
_LATIN = _words("latin")
_TOKEN = re.compile(r"(?<![\w./'’+-])[^\W\d_]+(?:['’](?=[^\W\d_]{2})|(?!['’\w+-]|[./]\w))|[^\w\s]|\w[^\s,;()]*")
_ACCENTED = re.compile("[à-öø-ÿœ]")
_WRITTEN = re.compile(r"[^\W\d_]+['’]?")


@lru_cache(maxsize=4096)
def letter_script(letter: str) -> str | None:
    """Return the script of a letter; None if it is Latin or a symbol."""
    name = unicodedata.name(letter, "")
    return _SCRIPTS.get(name.split(" ", 1)[0].split("-", 1)[0])


_VOCABULARY = {name: frozenset(words.split()) for name, words in _LISTS["languages"].items()}
_PHRASES = {name: frozenset(words.split()) for name, words in _LISTS["short"].items()}


def foreign_reason(text: str) -> str | None:
    """Return why a text seems to be in another language than English, or None.

    The reason is a phrase: "written in a script other than Latin: Cyrillic", "looks like German". English is
    hardly ever flagged: fewer than four words in Latin letters never are, nor are names of species and drugs or Greek
    letters. Languages in Latin script are recognized by their function words. So a heading or a list of terms is not
    flagged, and a related language may be named instead.
    """
    text = unicodedata.normalize("NFC", text)
    return _foreign_script(text) or _foreign_words(text) or _foreign_phrase(text)


def _foreign_script(text: str) -> str | None:
    counts: dict[str, int] = {}
    letters = 0
    for word in _WRITTEN.findall(text):
        letters += len(word)
        scripts = [letter_script(letter) for letter in word]
        if scripts.count("Greek") <= _LONGEST_GREEK_SYMBOL:
            scripts = [None if script == "Greek" else script for script in scripts]
        for script in scripts:
            if script:
                counts[script] = counts.get(script, 0) + 1
    foreign = sum(counts.values())
    if foreign < _FEWEST_LETTERS or 2 * foreign <= letters:
        return None
    if counts.get("Japanese", 0) > 1:
        return "written in a script other than Latin: Japanese"  # most of its letters may be Chinese ones
    return f"written in a script other than Latin: {max(counts, key=lambda script: counts[script])}"


def _foreign_words(text: str) -> str | None:
    words = [word.lower().replace("’", "'") for word in _WRITTEN.findall(text)]
    words = [word if word.rstrip("'") == word or len(word) <= 5 else word.rstrip("'") for word in words]
    if len(words) < _FEWEST_WORDS:
        return None
    english = sum(word in _ENGLISH for word in words)
    accented = min(2, len({word for word in words if not word.isascii()}))
    best, votes, certain = "", 0, False
    for name, vocabulary in _VOCABULARY.items():
        hits = [word for word in words if word in vocabulary]
        telling = len({word for word in hits if word not in _AMBIGUOUS})
        found = len(hits) + telling
        if telling and found > votes:
            best, votes = name, found
            certain = telling + accented > 2 or telling > 1 or (len(hits) > 3 and not english)
    enough = certain and votes + accented >= max(4, len(words) // 5)
    return f"looks like {best}" if enough and votes > 2 * english else None


def _foreign_phrase(text: str) -> str | None:
    """Like ``_foreign_words`` for short texts, where two function words are enough if there is no English one.

    An accented word counts as one of the two. An English word that related languages share counts for neither side.
    """
    written = _WRITTEN.findall(text)
    if len(written) < _FEWEST_IN_PHRASE:
        return None
    words = {word.lower().replace("’", "'") for word in written}
    accented = any(word.islower() and _ACCENTED.search(word) for word in written if word != "naïve")
    found = _telling(text)
    best, most = "", (0, 0)
    for family in _LISTS["shared"]:
        relatives, neutral = family["relatives"], frozenset(family["words"].split())
        english = (_ENGLISH | _ENGLISH_TOO) - neutral
        known = frozenset[str]().union(*(_PHRASES[name] for name in relatives)) - english - neutral
        hits = sum(word in known for word in found)
        if not hits or hits + accented < _FEWEST_TELLING or words & english:
            continue
        for name in relatives:
            votes = (hits, sum(word in _PHRASES[name] for word in found))
            best, most = (name, votes) if votes > most else (best, most)
    return f"looks like {best}" if best else None


def _telling(text: str) -> list[str]:
    """Return the words that may indicate a language: short ones, not parts of names, not Latin ("de novo", "et al")."""
    tokens = [match[0].replace("’", "'") for match in _TOKEN.finditer(text)]
    found: list[str] = []
    name = False  # a capitalised name follows
    for index in range(len(tokens) - 1, -1, -1):
        token, previous = tokens[index], tokens[index - 1] if index else "."
        following = tokens[index + 1] if index + 1 < len(tokens) else ""
        lower = token.lower()
        opens = previous in ".!?:"
        particle = lower in _PARTICLES or (lower in _AFTER_VAN and previous.lower() in ("van", "von"))
        if particle and not opens and (name or following.lower() in _LATIN):
            continue
        name = token[:1].isupper() and token[1:].islower()
        if token.islower() or (opens and token[:1].isupper() and (token[1:].islower() or len(token) <= 2)):
            if following.lower() not in _LATIN and not (lower == "al" and previous.lower() == "et"):
                found.append(lower)
    return found
