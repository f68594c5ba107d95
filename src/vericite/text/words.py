"""Words of a text, their stems and clauses, the share of words that two texts have in common, and plain numbers."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from vericite.text.sentences import split_sentences

LISTS: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
"""Words of direction and negation, their opposites, and units."""


def word_list(name: str) -> frozenset[str]:
    """Return the words of a list."""
    return frozenset(LISTS[name].split())


COMPARING = "|".join(part.strip() for part in LISTS["comparing"].split("|"))
"""A pattern of what comes before the thing compared with: than, versus."""

_STOP = word_list("stop")
_TOKEN = re.compile(r"[^\W_]+(?:'[a-z]{1,2}(?!\w))?", re.IGNORECASE)
_ENDINGS = (
    "isations izations isation ization ations ation ments ment ness ities ity ically ional ions ion ies ing ive"
    " ively ally ely ed es ly al ic y s e"
).split()
_CLAUSE = re.compile(
    r",?\s(?:but|whereas|while|although|though|however|yet|whilst|despite)\s|[;:]\s|,\s(?=and\s|with\s|no\s|which\s)"
)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text: lower case, its stem (empty for a word without content), and its place."""

    lower: str
    stem: str
    start: int
    end: int


def words(text: str) -> list[Word]:
    """Return the words of a text, in order."""
    return [
        Word(match[0].lower(), stem_of(match[0].lower()), match.start(), match.end()) for match in _TOKEN.finditer(text)
    ]


@lru_cache(maxsize=8192)
def stem_of(lower: str) -> str:
    """Return the stem of a lower-case word; empty for a number or a word without content."""
    stem = lower.removesuffix("'s")
    if stem in _STOP or lower[0].isdigit() or (len(stem) < 2 and stem.isascii()):
        return ""
    if len(stem) > 4:
        stem = stem.replace("ae", "e").replace("oe", "e").replace("our", "or")
    for ending in _ENDINGS:
        if stem.endswith(ending) and not stem.endswith("ss") and len(stem) - len(ending) >= 4:
            return stem.removesuffix(ending)
    return stem


def bounded(phrase: str) -> re.Pattern[str]:
    """Return a pattern that finds a phrase, but not inside a word or number: no 1 in HbA1c, no 5 in 15."""
    first, last = phrase[:1], phrase[-1:]
    before = r"(?<![\w.])(?<![0-9],)" if first.isdigit() else r"(?<![^\W\d_])" if first.isalpha() else ""
    after = r"(?![.,]?[0-9])" if last.isdigit() else r"(?![^\W\d_])" if last.isalpha() else ""
    return re.compile(before + re.escape(phrase) + after)


def stems(text: str) -> frozenset[str]:
    """Return the stems of a text's content words."""
    return frozenset(word.stem for word in words(text) if word.stem)


def sentences(text: str) -> list[str]:
    """Split a text into sentences."""
    return [text[span.slice] for span in split_sentences(text)]


def clauses(sentence: str) -> list[str]:
    """Split a sentence roughly into parts with one statement each."""
    return [part for part in _CLAUSE.split(sentence) if part.strip()]


def shared(content: frozenset[str], given: frozenset[str]) -> float:
    """Return the share of the first stems in the second; 0 without any."""
    return len(content & given) / len(content) if content else 0.0


_SINGLE = str.maketrans(
    {"−": "-", "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "’": "'", "µ": "u", "μ": "u", "％": "%"}
    | {"＜": "<", "＞": ">", "⩽": "≤", "⩾": "≥", "∼": "~", "½": " 0.5", "¼": " 0.25", "¾": " 0.75"}
)
_DECIMAL_DOT = re.compile(r"(?<=[0-9])·(?=[0-9])")
_COMMA = re.compile(r"(?<![0-9.,])[0-9]{1,3}(?:,[0-9]{3}){1,4}(?![0-9,]?[0-9])(?!,[0-9])")
_SPACED = re.compile(r"(?<![0-9.,/-])[1-9][0-9]{0,2}(?: [0-9]{3}){1,4}(?![0-9]|[.,/][0-9])")
_ONES = {
    name: value
    for value, name in enumerate(
        "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
        " seventeen eighteen nineteen".split(),
        start=1,
    )
}
_TENS = {
    name: 10 * value for value, name in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
}
SPELT = _ONES | _TENS
"""Numbers by their words, without those of two words."""
# Listed words are found with (?a: without it, case is ignored in odd letters, too, and "ſix" is six.
_WORD_NUMBER = re.compile(
    rf"(?<![\w-])(?a:(?P<tens>{'|'.join(_TENS)})(?:[- ](?P<digit>{'|'.join(list(_ONES)[:9])}))?"
    rf"|(?P<ones>{'|'.join(list(_ONES)[1:])}))(?![\w])(?!-(?:sided|tailed|armed|way))",
    re.IGNORECASE,
)
_HALF_A = re.compile(r"\bhalf an? (?=(?:hour|year|month|day|decade|million)\b)", re.IGNORECASE)
_AND_A_HALF = re.compile(r"(?<![\w.])(?P<whole>[0-9]{1,4}|one) and (?:a half|one half| 0\.5)", re.IGNORECASE)
_ABBREVIATED = re.compile(r"\b(?P<word>vs|approx|ca|et al|e\.g|i\.e|i\.v|resp|cf)\.(?= )", re.IGNORECASE)
_IN_HOSPITAL = re.compile(r"\bin-(?=hospital)", re.IGNORECASE)
_POWERS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_SCIENTIFIC = re.compile(
    r"(?<![\w.])(?P<n>[0-9]{1,6}(?:\.[0-9]{1,6})?)(?:\s?[×x*]\s?10(?:\^\(?(?P<power>-?[0-9]{1,2})\)?"
    r"|(?P<raised>⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,2})|(?P<minus>-[0-9]{1,2}))|[eE](?P<short>-?[0-9]{1,2}))(?![\w.]*[0-9])"
)
_SIZES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9}
_SIZED = re.compile(
    r"(?<![\w.])(?P<n>[0-9]{1,9}(?:\.[0-9]{1,6})?|a|one)[ -](?a:(?P<size>hundred|thousand|million|billion))\b"
    r"(?! units)",
    re.IGNORECASE,
)


def plain(text: str) -> str:
    """Normalize a text: one character for each sign, thousands without separators, numbers in words as digits."""
    text = " ".join(text.split()).translate(_SINGLE).replace("<=", "≤").replace(">=", "≥")
    text = _DECIMAL_DOT.sub(".", _ABBREVIATED.sub(lambda match: match["word"].replace(".", ""), text))
    text = _SCIENTIFIC.sub(_written_out, text)
    text = _IN_HOSPITAL.sub("", text)
    text = _COMMA.sub(lambda match: match[0].replace(",", ""), text)
    text = _SPACED.sub(lambda match: match[0].replace(" ", ""), text)
    text = _WORD_NUMBER.sub(_digits, _HALF_A.sub("0.5 ", text))
    text = _AND_A_HALF.sub(lambda match: "1.5" if match["whole"].isalpha() else f"{match['whole']}.5", text)
    for _ in range(2):
        text = _SIZED.sub(_sized, text)
    return text


def _digits(match: re.Match[str]) -> str:
    if match["ones"]:
        return str(_ONES[match["ones"].lower()])
    return str(_TENS[match["tens"].lower()] + _ONES.get((match["digit"] or "").lower(), 0))


def _written_out(match: re.Match[str]) -> str:
    """Write a number with a power of ten in decimals: 1.2 x 10^3 as 1200."""
    power = match["power"] or match["minus"] or match["short"] or (match["raised"] or "").translate(_POWERS)
    decimals = max(0, len(match["n"].partition(".")[2]) - int(power))
    return f"{float(match['n']) * 10.0 ** int(power):.{decimals}f}" if abs(int(power)) <= 12 else match[0]


def _sized(match: re.Match[str]) -> str:
    count = 1.0 if match["n"].isalpha() else float(match["n"])
    return f"{count * _SIZES[match['size'].lower()]:.10g}" if count < 1e6 else match[0]
