"""Numbers said otherwise: in words, in another unit that comes out even, rounded soundly."""

from __future__ import annotations

import random
import re

_WORDS = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen twenty"
).split()
_BY_WORD = {word: number for number, word in enumerate(_WORDS, 2)}
_COUNTED = (
    r"(?= (?:patients|women|men|children|people|participants|subjects|studies|trials|weeks|months|years|days|hours"
    r"|cases|adults|infants|groups|doses|sites|centres|centers|families|genes|sessions|hospitals|countries)\b)"
)
_FREE = r"(?<![\w.,/–<>=≥≤⩽⩾~±+-])(?<! and )(?<! or )(?<!from )(?<! to )(?<!between )"
_EVEN = {
    "24 months": "two years",
    "12 months": "one year",
    "36 months": "three years",
    "14 days": "two weeks",
    "7 days": "one week",
    "21 days": "three weeks",
    "28 days": "four weeks",
    "48 hours": "two days",
    "24 hours": "one day",
    "72 hours": "three days",
    "60 months": "five years",
    "60 minutes": "one hour",
    "six months": "half a year",
    "6 months": "half a year",
    "120 minutes": "two hours",
    "18 months": "a year and a half",
}
_SHARES = {"50": "half", "25": "a quarter", "75": "three quarters", "20": "a fifth", "10": "a tenth"}


def requantified(text: str, dice: random.Random) -> str:
    """The text with at most one of its numbers put otherwise; the same text if it has none that can be."""
    if re.search(r"\bCI\b|\brespectively\b", text):
        return text
    for rule in dice.sample(_RULES, len(_RULES)):
        if (said := rule(text, dice)) != text:
            return said
    return text


def _in_words(text: str, dice: random.Random) -> str:
    return re.sub(rf"{_FREE}(?:[2-9]|1\d|20){_COUNTED}", lambda match: _WORDS[int(match[0]) - 2], text, count=1)


def _in_digits(text: str, dice: random.Random) -> str:
    return re.sub(rf"{_FREE}\b(?:{'|'.join(_WORDS)})\b{_COUNTED}", lambda match: str(_BY_WORD[match[0]]), text, count=1)


def _even(text: str, dice: random.Random) -> str:
    return re.sub(rf"{_FREE}(?:{'|'.join(_EVEN)})\b(?!-| of age)", lambda match: _EVEN[match[0]], text, count=1)


def _share(text: str, dice: random.Random) -> str:
    return re.sub(
        rf"{_FREE}(?P<n>50|25|75|20|10) ?% of (?=the |all |patients|women|men|children|people|participants|cases)",
        lambda match: f"{_SHARES[match['n']]} of ",
        text,
        count=1,
    )


def _percent(text: str, dice: random.Random) -> str:
    return re.sub(r"(?<=\d) ?%(?=[ .,])", " percent", text)


def _thousands(text: str, dice: random.Random) -> str:
    if re.search(r"\d,\d{3}", text):
        return re.sub(r"(?<![\d.,])(\d{1,3}),(\d{3})(?![\d,])", r"\1\2", text)
    return re.sub(
        (
            r"(?<![\w.,/–<>=-])([1-9]\d?)(\d{3})(?= (?:patients|women|men|children|people|participants|subjects|cases"
            r"|adults)\b)"
        ),
        r"\1,\2",
        text,
    )


def _rounded(text: str, dice: random.Random) -> str:
    """Thus "23.4%" -> "about 23%" or "more than 23%"."""
    numbers = re.findall(r"\d+\.\d+ ?%", text)
    found = re.search(
        r"(?:(?<=in )|(?<=by )|(?<=of )|(?<=was )|(?<=were ))(?P<whole>\d+)\.(?P<part>\d)\d* ?%(?! ?CI| ?conf|[-–])",
        text,
    )
    if not found or len(numbers) != 1 or found["part"] == "0" or int(found["whole"]) < 10:
        return text
    if dice.random() < 0.4:
        said = f"more than {found['whole']}%"
    else:
        said = f"about {round(float(found[0].rstrip('% ')))}%"
    return text[: found.start()] + said + text[found.end() :]


def _fold(text: str, dice: random.Random) -> str:
    return re.sub(
        r"\b(increased|decreased) (?:by )?(?:two|2)-?fold\b",
        lambda m: "doubled" if m[1] == "increased" else "halved",
        text,
        count=1,
    )


_RULES = (_in_words, _in_digits, _even, _share, _percent, _thousands, _rounded, _fold)
