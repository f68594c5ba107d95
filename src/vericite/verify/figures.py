"""Figures of a text: numbers with their units, what they count, and relative changes that a ratio says.

Numbers of confidence intervals and probabilities of error are no findings: no claim is corrected by them.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from vericite.text.words import LISTS, SPELT, Word, plain, stems, word_list, words

_FIGURES: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))

TIME_UNITS = {
    name: float(size)
    for kind, size, *names in (line.split() for line in LISTS["units"].strip().splitlines())
    for name in names
    if kind == "time" and len(name) > 1
}
_UNITS = sorted(
    {name.replace("_", " ") for line in LISTS["units"].strip().splitlines() for name in line.split()[2:]}
    | set(_FIGURES["units"].split()),
    key=len,
    reverse=True,
)
_UNIT = "(?:" + "|".join(map(re.escape, _UNITS)) + r")(?![^\W_])"
_AMOUNT = re.compile(
    rf"(?<![\w.])(?P<number>[0-9]{{1,3}}(?:,[0-9]{{3}})+|[0-9]+(?:[.·][0-9]+)?|\b(?a:{'|'.join(SPELT)})\b)"
    rf"(?:(?P<gap>[\s-]?)(?P<unit>{_UNIT}(?:/{_UNIT})?))?(?!\.?[0-9])",
    re.IGNORECASE,
)
YEAR = re.compile(r"(?<![\d.,/-])(?:19|20)\d\d(?![.,]?\d|/)")
_NO_FINDING = re.compile(
    r"(?:(?<![0-9.])[0-9.]{1,12}\s?%\s?)?\b(?a:CIs?|CrI|confidence (?:intervals?|limits?)|credible intervals?)\b"
    r"[^)\];.]*(?:\.[0-9][^)\];.]*)*"
    r"|(?<![0-9.])[0-9.]{1,12}\s?%\s?(?=\b(?a:CI|confidence|credible))"
    r"|\bp(?:[- ]values?)?\s?(?:for [\w ]{1,30}\s?)?[<>=≤≥]\s?[0-9.·]+",
    re.IGNORECASE,
)
_RATIO = re.compile(
    rf"(?:(?P<long>(?a:{_FIGURES['ratios']}))[^0-9.;()]{{0,60}}\(?\s?[^0-9.;()]{{0,12}}"
    rf"|\b(?P<short>(?-i:{_FIGURES['short_ratios']}))\)?\s?(?:\(|\[|=|:|,|of|was)?\s?)(?P<number>[0-9]+[.·][0-9]+)(?![.\w]*[0-9])",
    re.IGNORECASE,
)
_NAMES: dict[str, str] = {"HR": "hazard ratio", "RR": "relative risk", "OR": "odds ratio", "IRR": "rate ratio"}
_SAME_UNITS = {"percent": "%", "percentage point": "percentage points", "gram": "g", "milligram": "mg"}
_DIRECTED = word_list("up") | word_list("down") | word_list("good") | word_list("bad")
_NEXT = 3
"""Words next to a number among which the word that says what it counts is looked for."""


class Amount(NamedTuple):
    """A number of a text with its unit, if it has one. Times are in seconds."""

    value: float
    unit: str
    start: int
    end: int
    unit_start: int

    @property
    def unit_end(self) -> int:
        """Where its unit ends."""
        return self.unit_start + len(self.unit)

    @property
    def stop(self) -> int:
        """Where it ends, with its unit if it has one."""
        return self.unit_end if self.unit else self.end

    @property
    def time(self) -> float | None:
        """Seconds, if it is a duration."""
        size = TIME_UNITS.get(self.unit)
        return None if size is None else self.value * size


def amounts(text: str) -> list[Amount]:
    """Return the numbers of a text, in order, without calendar years."""
    found: list[Amount] = []
    for match in _AMOUNT.finditer(text):
        number = match["number"].lower()
        if YEAR.fullmatch(number) or (number == "one" and (match["unit"] or "").lower() not in TIME_UNITS):
            continue
        value = float(SPELT[number] if number in SPELT else plain(number))
        unit = match["unit"] or ""
        lower = unit if unit in ("mL", "mM") else unit.lower()
        found.append(Amount(value, lower, match.start("number"), match.end("number"), match.start("unit")))
    return found


def findings(text: str) -> list[Amount]:
    """Return the numbers of a text without those of confidence intervals and probabilities of error."""
    ends = {match.start(): match.end() for match in _NO_FINDING.finditer(text)}
    starts = list(ends)
    found: list[Amount] = []
    for item in amounts(text):
        before = bisect_right(starts, item.start) - 1
        if before < 0 or item.start >= ends[starts[before]]:
            found.append(item)
    return found


def is_equal(item: Amount, other: Amount, text: str) -> bool:
    """Whether a number equals one of the text, as precisely as the text says it."""
    if item.time is not None and other.time is not None:
        return abs(item.time - other.time) <= 0.04 * max(item.time, other.time)
    decimals = len(text[item.start : item.end].partition(".")[2])
    return abs(item.value - other.value) < 1e-9 or (decimals < 3 and item.value == round(other.value, decimals))


def unit_stem(unit: str) -> str:
    """Return a unit as a singular, by one name."""
    lower = unit.lower()
    lower = lower[:-1] if len(lower) > 3 and lower.endswith("s") else lower
    return _SAME_UNITS.get(lower, lower)


def is_like(item: Amount, other: Amount) -> bool:
    """Whether two figures have one unit, or are durations."""
    return (item.time is not None and other.time is not None) or unit_stem(item.unit) == unit_stem(other.unit)


class Ratio(NamedTuple):
    """A ratio that a text reports: its name, its number as written, its value, and the words on what it is of.

    ``is_listed`` says that several ratios share these words, so that it is not known of which outcome it is.
    """

    name: str
    written: str
    value: float
    about: str
    sentence: str
    is_listed: bool

    @property
    def is_lower(self) -> bool:
        """Whether it says that something is lower."""
        return self.value < 1

    @property
    def outcome(self) -> str:
        """What it is of, if a few words without a verb say it; otherwise empty."""
        words_of = self.about.split()
        is_name = 0 < len(words_of) <= _NAME and not any(word.lower in _DIRECTED for word in words(self.about))
        return self.about if is_name and _CLAUSE.search(self.about) is None else ""


def ratios(text: str) -> Iterator[Ratio]:
    """Yield the hazard, risk, rate and odds ratios of a text."""
    end, about = 0, ""
    ends = [match.end() for match in _SENTENCE.finditer(text)]
    every = list(_RATIO.finditer(text))
    for place, match in enumerate(every):
        name = match["long"].lower() if match["long"] else _NAMES[match["short"].lstrip("a").rstrip("s")]
        name = name.replace("hazards", "hazard")
        after = bisect_right(ends, match.start())
        start = max(ends[after - 1] if after else 0, match.start() - _AROUND_RATIO)
        stop = min(ends[after] if after < len(ends) else len(text), match.end() + _AROUND_RATIO)
        sentence = text[start:stop]
        following = every[place + 1].start() if place + 1 < len(every) else stop
        rest = _NO_FINDING.sub(" ", _BRACKETS.sub(" ", text[match.end() : min(stop, following)]))
        is_plural = (match["long"] or match["short"]).endswith("s")
        is_listed = is_plural or _ANOTHER.search(rest) is not None or "respectively" in sentence.lower()
        about = _about(text, match, max(end, match.start() - _AROUND_RATIO)) or about
        end = match.end()
        value = float(plain(match["number"]))
        yield Ratio(name.removesuffix("s"), match["number"], value, about, sentence, is_listed)


def _about(text: str, match: re.Match[str], last: int) -> str:
    """Return the words on what a ratio is of: those after it ("for death"), else those since the last one."""
    if after := _OF_WHAT.match(text, match.end()):
        return after["what"]
    start, stop = match.span("long" if match["long"] else "short")
    inside = text[stop : match.start("number")]
    for part in (inside, _NO_FINDING.sub(" ", _CUT.split(text[last:start])[-1])):
        bare = _EDGES.sub("", " ".join(part.split()))
        if stems(_AROUND.sub(" ", bare)):
            return bare
    return ""


def changing_ratios(item: Amount, claim: str, text: str) -> list[Ratio]:
    """Return the ratios of a text that say a relative change of the claim: a hazard ratio of 0.79 says 21% lower."""
    if unit_stem(item.unit) != "%":
        return []
    decimals = len(claim[item.start : item.end].partition(".")[2])
    return [ratio for ratio in ratios(text) if item.value == round(100 * abs(1 - ratio.value), decimals)]


_NAME = 5
"""Maximum words of the name of an outcome."""
_CUT = re.compile(r"[.;]\s|\)(?:,|\sand|,\sand)\s")
_OF_WHAT = re.compile(
    r"(?:\s?\([^()]{0,60}\)|,\s(?:95|99)%\sCI[^;()a-z]{0,30}(?:to\s[0-9.·]+)?)?,?\s(?:for|of)\s(?:the\s)?"
    r"(?P<what>[a-z][\w-]*(?:\s(?!and\b|but\b|in\b|with\b|vs\b|versus\b)[\w-]+){0,5})",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<!\bvs)[.?!]\s+(?=[A-Z])")
_AROUND_RATIO = 600
"""Maximum characters of a sentence on each side of a ratio."""
_BRACKETS = re.compile(r"\([^()]{0,200}\)|\[[^\[\]]{0,200}\]")
_ANOTHER = re.compile(r"(?<![\w.·-])[0-9]+[.·][0-9]+(?!\d|\s?%)")
"""A number after that of a ratio: that of another outcome or group."""
_EDGES = re.compile(
    r"^(?:[\W_]|\b(?:for|of|in|the|and|but|was|were|with|a|an)\b)+|(?:[\W_]|\b(?:was|were|is|the|with|a|an)\b)+$", re.I
)
_CLAUSE = re.compile(r"[,;:()0-9]|\b(?:was|were|is|are|had|has|did|than)\b|\b\w{3,}ed\b")
_AROUND = re.compile(r"\b(?:(?:un)?adjusted|crude|multivaria(?:ble|te)|fully|age|pooled|summary)\b", re.IGNORECASE)


def named_next_to(text: str, item: Amount) -> frozenset[str]:
    """Return the nearest words that say what a number is of: one before it and one after it."""
    before = words(_PART.split(text[max(0, item.start - 60) : item.start])[-1])[-_NEXT:]
    after = words(_PHRASE.split(text[item.stop : item.stop + 60])[0])[:_NEXT]
    nearest = {next((name for word in side if (name := _naming(word))), "") for side in (before[::-1], after)}
    return frozenset(nearest - {""})


def _naming(word: Word) -> str:
    """Return the stem of a word that can say what a number is of; empty for others."""
    if word.lower in _DIRECTED:
        return ""
    return word.stem or (word.lower if word.lower in _NAMING else "")


_NAMING = frozenset(_FIGURES["naming"].split())
_PART = re.compile(r"[.,;()]\s|\band\b")
_PHRASE = re.compile(r"[.,;()]|\b(?:in|with|for|of|at|to|and|on|by|after)\b")
