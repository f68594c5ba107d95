"""Comparisons told from the other side: what is higher here is lower there."""

from __future__ import annotations

import re

from vericite.train.mix.wording.grammar import NEGATED, capital, lowered, nominal, plural

_PAIRS = """
higher:lower greater:smaller larger:smaller longer:shorter faster:slower better:worse older:younger stronger:weaker
earlier:later thicker:thinner heavier:lighter superior:inferior
"""
_TURNED: dict[str, str] = {}
for _pair in _PAIRS.split():
    _one, _reverse = _pair.split(":")
    _TURNED[_one] = _reverse
    _TURNED.setdefault(_reverse, _one)
_WORD = (
    "(?P<word>"
    + "|".join(_TURNED)
    + (
        "|more(?= [a-z]+(?:ly|ed|al|ive|ent|ant|ous|able|ible|ing|ate|ful|mon|ere|fe)\\b)|less(?= [a-z]+(?:ive|ent"
        "|ant|ous|able|ible|mon|ful|ly)\\b))"
    )
)
_BE = r"(?P<be>was|were|is|are|has been|have been)"
_ADVERB = r"(?P<adv>(?:(?:significantly|statistically significantly|markedly|substantially|much|slightly|far) )?)"
_QUALITY = r"(?P<quality>(?: [a-z-]+){0,2})"
_THAN = r"(?:than|compared (?:with|to)|versus|vs\.?|as compared (?:with|to)|relative to)"
_SAME_WORD = frozenset(("superior", "inferior"))

_IN_BOTH = re.compile(
    rf"^(?P<x>.+?) {_BE} {_ADVERB}{_WORD}{_QUALITY} (?P<prep>in|among|for|with|at"
    rf"|after) (?P<a>.+?),? {_THAN} (?:(?P=prep) )?(?P<b>.+)\.$"
)
_THOSE = re.compile(
    rf"^(?P<x>.+?) (?P<prep>in|among|of|for|with) (?P<a>.+?) {_BE} {_ADVERB}{_WORD}{_QUALITY} than (?:those"
    rf"|that) (?P=prep) (?P<b>.+)\.$"
)
_PLAIN = re.compile(rf"^(?P<a>.+?) {_BE} {_ADVERB}{_WORD}{_QUALITY} (?:than|to) (?P<b>.+)\.$")
_HAD = re.compile(
    rf"^(?P<a>.+?) (?P<had>had|showed|have|experienced) (?P<det>(?:an? )?){_ADVERB}{_WORD} (?P<x>[^,;()]+?),? "
    rf"{_THAN} (?:did )?(?P<b>.+)\.$"
)


def turned(text: str) -> str | None:
    """The same comparison, from the other side."""
    if NEGATED.search(text) or len(re.findall(rf"\b{_THAN}\b|(?:superior|inferior) to\b", text)) != 1:
        return None
    for rule in (_both, _those, _had, _plain):
        if said := rule(text):
            return capital(said)
    return None


def _other(word: str) -> str:
    return {"more": "less", "less": "more"}.get(word) or _TURNED[word]


def _side(phrase: str) -> bool:
    return nominal(phrase, 12) and not re.search(
        r"^(?:for|in|with|after|at|among|by|on)\b"
        r"|\b(?:predicted|expected|previously|baseline|before|normal|reported|average|did|and (?:in|was|were)"
        r"|those|that|any|all|other"
        r"|others|\d|each|either|alone|group [A-Z] and)\b|\d",
        phrase,
    )


def _both(text: str) -> str | None:
    match = _IN_BOTH.match(text)
    if not match or not (_side(match["a"]) and _side(match["b"]) and nominal(match["x"], 16)):
        return None
    if match["prep"] in ("at", "with", "for", "after") and f" {match['prep']} {match['b']}." not in text:
        return None
    if match["word"] in _SAME_WORD or re.search(r"\bin\b|\bfor\b", match["quality"]):
        return None
    a, b, prep = _named(match["a"], match["b"]), _named(match["b"], match["a"]), match["prep"]
    return (
        f"{match['x']} {match['be']} {match['adv']}{_other(match['word'])}{match['quality']} {prep} {b} than {prep} "
        f"{a}."
    )


def _named(phrase: str, other: str) -> str:
    """Thus "zinc" of "in zinc than in the placebo group" stays; "the zinc" lends its "group"."""
    group = re.search(r" (group|groups|arm|cohort|mice|rats|patients)$", other)
    if phrase.startswith("the ") and group and not re.search(r" (?:groups?|arms?|cohort|[a-z]+s)$", phrase):
        return f"{phrase} {group[1]}"
    return phrase


def _those(text: str) -> str | None:
    match = _THOSE.match(text)
    if (
        not match
        or not (_side(match["a"]) and _side(match["b"]) and nominal(match["x"], 10))
        or match["word"] in _SAME_WORD
    ):
        return None
    those = "that" if match["be"] in ("was", "is", "has been") else "those"
    return (
        f"{match['x']} {match['prep']} {match['b']} {match['be']} "
        f"{match['adv']}{_other(match['word'])}{match['quality']}"
        f" than {those} {match['prep']} {match['a']}."
    )


def _had(text: str) -> str | None:
    match = _HAD.match(text)
    if not match or not (_side(match["a"]) and _side(match["b"])) or not nominal(match["x"], 8):
        return None
    det = re.sub(r"^an? ", "a ", match["det"])
    return (
        f"{match['b']} {match['had']} {det}{match['adv']}{_other(match['word'])} {match['x']} than "
        f"{lowered(match['a'])}."
    )


def _plain(text: str) -> str | None:
    match = _PLAIN.match(text)
    if (
        not match
        or not (_side(match["a"]) and _side(match["b"]))
        or match["b"].startswith(("in ", "with ", "for ", "after "))
    ):
        return None
    if re.search(r" (?:in|with|among|after) ", f"{match['a']} {match['b']} {match['quality']} "):
        return None
    if (match["word"] in _SAME_WORD) != bool(re.search(r"(?:superior|inferior) to ", text)):
        return None
    link = "to" if match["word"] in _SAME_WORD else "than"
    a, b = match["a"], match["b"]
    be = _agreeing(match["be"], b)
    return f"{b} {be} {match['adv']}{_other(match['word'])}{match['quality']} {link} {lowered(a)}."


def _agreeing(be: str, subject: str) -> str:
    table = {"was": "were", "is": "are", "has been": "have been"}
    single = {value: key for key, value in table.items()}.get(be, be)
    return table[single] if plural(subject) else single
