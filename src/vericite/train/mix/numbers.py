"""Changing the numbers and units of a claim."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from vericite.train.mix.edits import Edit

_NUMBER = re.compile(
    r"(?<![\w.,·/^-])(?P<number>\d{1,3}(?:,\d{3})+|\d+(?:[.·]\d+)?)(?P<percent>\s?%)?"
    r"(?![\w]|[.,·/-]\d|-\w|\s?(?:th|st|nd|rd)\b|/)"
)
# Numbers that are names, or of which one more or less is no other finding.
_NAMED = re.compile(
    r"(?:\b(?:type|phase|grade|stage|class|group|level|version|figure|table|chromosome|chr|exon|codon|day|week|month"
    r"|visit|arm|cohort|protocol|vitamin|omega|interleukin|il|factor|trial|covid|cov|score|scale|hpv|h|ph|study|model"
    r"|step|section|part|p|power of|question|item|category|cd|generation|stages|grades|types|weeks|days|months|mutation"
    r"|position|residues?|serotypes?|genotypes?|strain|dsm|icd|schedule)[\s-]*(?:[<>=≤≥]\s*)?"
    r"|[<>=≤≥~±+/]\s?|(?-i:\b[A-Z][A-Za-z]{0,3}\s))$",
    re.IGNORECASE,
)
_IN_NAME = re.compile(r"\w[(\[]$")  # FEV(1), MgCl(2)
_INTERVAL = re.compile(r"\s*(?:%\s*)?(?:CI|confidence|credible)\b", re.IGNORECASE)
_WORDS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve")
_WORD = re.compile(
    rf"\b(?:{'|'.join(_WORDS)})(?=[ -](?:fold|times|patients|weeks|months|days|years|hours|studies"
    r"|trials|genes|doses|groups|subjects|participants|cases|types|factors|women|men|children))",
    re.I,
)
_FRACTIONS = {
    "half": "a tenth",
    "one third": "two thirds",
    "two thirds": "one third",
    "one-third": "three-quarters",
    "two-thirds": "one-fifth",
    "a quarter": "three quarters",
    "doubled": "halved",
    "halved": "doubled",
    "twice": "half",
    "two-fold": "ten-fold",
    "twofold": "tenfold",
    "threefold": "tenfold",
    "three-fold": "ten-fold",
    "double": "half",
    "tripled": "halved",
    "majority": "minority",
    "minority": "majority",
}
_FRACTION = re.compile(
    rf"\b(?:{'|'.join(sorted(_FRACTIONS, key=len, reverse=True))})\b(?! (?:blind|dose|dummy|day))(?!-)", re.I
)
_UNITS = {
    "mg": ("g", "µg"),
    "g": ("mg", "kg"),
    "µg": ("mg",),
    "μg": ("mg",),
    "kg": ("g",),
    "ml": ("l",),
    "mL": ("L",),
    "days": ("weeks", "months"),
    "day": ("week", "month"),
    "weeks": ("months", "days"),
    "week": ("month",),
    "months": ("years", "weeks"),
    "month": ("year",),
    "years": ("months", "weeks"),
    "year": ("month",),
    "hours": ("minutes", "days"),
    "h": ("min",),
    "minutes": ("hours", "seconds"),
    "min": ("h",),
    "mm": ("cm",),
    "cm": ("mm",),
    "mM": ("µM", "nM"),
    "nM": ("µM",),
    "µM": ("mM",),
}
_UNIT = re.compile(rf"(?<=\d )(?:{'|'.join(sorted(_UNITS, key=len, reverse=True))})\b(?![/·]| (?:a|per) )")
_DAILY = re.compile(r"\b(?:once|twice) (?:daily|weekly|a day|a week)\b")
_FACTORS = (0.2, 0.35, 0.5, 0.65, 1.4, 1.8, 2.5, 4.0)


def number_edits(claim: str, premise: str, dice: random.Random) -> Iterator[Edit]:
    """Edits of the numbers that the premise has, too; without them there it contradicts nothing."""
    held = {_value(match["number"]) for match in _NUMBER.finditer(premise)}
    found = [match for match in _NUMBER.finditer(claim) if _usable(match, claim, held)]
    if swap := _swapped(found, claim):
        yield swap
    for match in found:
        if new := _other_number(match, held, dice):
            yield Edit(match.start("number"), match["number"], new, "number", "contradicts")
    for pattern, other in ((_WORD, _other_word), (_FRACTION, _other_fraction), (_UNIT, _other_unit), (_DAILY, _daily)):
        for match in pattern.finditer(claim):
            if match[0].lower() in premise.lower():
                kind = "unit" if pattern is _UNIT else "number"
                yield Edit(match.start(), match[0], other(match[0], dice), kind, "contradicts")


def _value(number: str) -> float:
    return float(number.replace(",", "").replace("·", "."))


def _usable(match: re.Match[str], claim: str, held: set[float]) -> bool:
    number = _value(match["number"])
    year = 1900 <= number <= 2100 and "," not in match["number"] and not match["percent"]
    if year or number not in held or _NAMED.search(claim[max(0, match.start() - 24) : match.start()]):
        return False
    return not _INTERVAL.match(claim, match.end("number")) and not _IN_NAME.search(claim[: match.start()])


def _other_number(match: re.Match[str], held: set[float], dice: random.Random) -> str | None:
    text = match["number"]
    value = _value(text)
    decimals = len(re.split(r"[.·]", text)[1]) if re.search(r"[.·]", text) else 0
    for factor in dice.sample(_FACTORS, len(_FACTORS)):
        other = round(value * factor, decimals)
        if abs(other - value) < 2 * 10**-decimals:
            other = round(value + dice.choice((2, 3)) * 10**-decimals, decimals)
        if other in held or other == value or (match["percent"] and not 0 < other <= 100):
            continue
        written = f"{other:,.{decimals}f}" if "," in text else f"{other:.{decimals}f}"
        return written.replace(".", "·") if "·" in text else written
    return None


def _swapped(found: list[re.Match[str]], claim: str) -> Edit | None:
    """Two percentages or two figures of two arms put in each other's place."""
    if len(found) != 2 or found[0]["number"] == found[1]["number"]:
        return None
    first, second = found
    between = claim[first.end() : second.start()]
    if bool(first["percent"]) != bool(second["percent"]) or len(between) > 60:
        return None
    if not re.search(r"\b(?:vs\.?|versus|compared|and|than|whereas|while)\b", between) or "respectively" in between:
        return None
    # "at 3 and 6 months" says the same the other way round; two arms take more words, or a "versus".
    if not re.search(r"\b(?:vs\b|versus|compared|than|whereas|while)", between) and (
        len(between.split()) < 4 or _TIMES.match(claim, second.end("number"))
    ):
        return None
    old = claim[first.start("number") : second.end("number")]
    middle = claim[first.end("number") : second.start("number")]
    return Edit(first.start("number"), old, second["number"] + middle + first["number"], "number-swap", "contradicts")


_TIMES = re.compile(r"[\s-]?(?:h|hours?|days?|weeks?|months?|years?|min|minutes?)\b")


def _other_word(word: str, dice: random.Random) -> str:
    return dice.choice([other for other in _WORDS if other != word.lower()])


def _other_fraction(word: str, dice: random.Random) -> str:
    return _FRACTIONS[word.lower()]


def _other_unit(unit: str, dice: random.Random) -> str:
    return dice.choice(_UNITS[unit])


def _daily(phrase: str, dice: random.Random) -> str:
    if dice.random() < 0.5:
        return phrase.replace("once", "thrice") if "once" in phrase else phrase.replace("twice", "once")
    return (
        phrase.replace("daily", "monthly")
        .replace("weekly", "hourly")
        .replace("a day", "a month")
        .replace("a week", "a day")
    )
