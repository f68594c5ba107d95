"""Scenes about units, doses, durations, ages and dates: the same quantity, told in another measure."""

from __future__ import annotations

import random

from vericite.train.mix.frames.quantities_names import MEDICINES
from vericite.train.mix.frames.quantities_numbers import grouped, plain, words
from vericite.train.mix.frames.quantities_scene import Cast, Scene, Told, cast

# Two units, how many of the second make one of the first, amounts of the first whose conversion is short.
_DOSES = (
    ("g", "mg", 1000, (0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4)), ("mg", "micrograms", 1000, (0.05, 0.1, 0.25, 0.5, 1.2, 2)),
    ("mg", "µg", 1000, (0.1, 0.2, 0.4, 0.5, 1, 2.5)), ("L", "mL", 1000, (0.25, 0.5, 1, 1.5, 2, 3)),
    ("mL", "µL", 1000, (0.05, 0.1, 0.5, 1, 2)), ("million IU", "IU", 1_000_000, (0.6, 1.2, 2.4, 3)),
)  # fmt: skip
_DOSE = (
    "{pop} [received|were given|took] {drug} {x} {u} [daily|once a day] or {rival}.",
    "The dose of {drug} was {x} {u} a day [throughout|for {when}|in all arms].",
    "{drug} ({x} {u} per day) was [compared with|tested against] {rival} in {pop}.",
    "[Treatment|Therapy] consisted of {x} {u} of {drug} [every day|each day][ for {when}|].",
    "[Participants|Patients] [were allocated|were randomised] to {rival} or to {drug} at {x} {u}/day (n "
    "= {n} and {m}).",
)
_DOSE_CLAIMS = (
    Told("unit", "[Patients|People] [were given|took] {y} {v} of {drug} [a day|per day]."),
    Told("unit", "{drug} was [used|dosed] at {y} {v} [daily|each day]."),
    Told("unit", "The [daily|24-hour] amount of {drug} [came to|was] {y} {v}."),
    Told("unit", "[Each day|Every day], {y} {v} of {drug} was [given|taken]."),
    Told("unit", "The daily dose of {drug} was {over} {mid} {v}."),
    Told("unit", "[In the trial|In this study], {drug} was taken in daily amounts of {y} {v}."),
)


def _of_medicine(dice: random.Random) -> Cast:
    """A cast whose treatment is something that has a dose."""
    while True:
        drawn = cast(dice)
        if drawn.common["drug"] in MEDICINES:
            return drawn


def dose(dice: random.Random) -> Scene:
    """A daily dose in one unit and in another; the rival dose is another amount, often by a factor of ten."""
    drawn = _of_medicine(dice)
    big, small, factor, amounts = dice.choice(_DOSES)
    amount = dice.choice(amounts)
    other = amount * dice.choice((10, 0.1, 2, 0.5, 5))
    swap = dice.random() < 0.5
    mid = (amount * other) ** 0.5 * factor if swap else (amount * other) ** 0.5
    mid = float(f"{mid:.1g}")
    worlds: list[dict[str, str]] = []
    for value in (amount, other):
        mine, theirs = (value, value * factor) if swap else (value * factor, value)
        world = {"x": _amount(mine), "y": _amount(theirs)}
        if min(amount, other) * 1.1 < mid / (factor if swap else 1) < max(amount, other) / 1.1:
            world |= {"over": "more than" if value == max(amount, other) else "less than", "mid": _amount(mid)}
        worlds.append(world)
    u, v = (big, small) if swap else (small, big)
    common = {**drawn.common, "u": u, "v": v, "n": str(dice.randint(30, 400)), "m": str(dice.randint(30, 400))}
    return Scene(common, (worlds[0], worlds[1]), _DOSE, _DOSE_CLAIMS, (drawn.foreign_drug,))


def _amount(value: float) -> str:
    """A number as it stands before a unit; thousands apart from ten thousand on."""
    if value >= 10_000:
        return grouped(round(value))
    return plain(value, 6)


_TIMES = {1: "once", 2: "twice", 3: "three times", 4: "four times"}
_SPLIT = (
    "{pop} [took|received] {drug} {x} mg {often} [daily|a day].",
    "{drug} was [started|given] at {x} mg {often} [daily|a day][, with {rival} as comparator|].",
    "[Treatment was|The regimen was] {drug} {x} mg {often} per day for {when}[ or {rival}|].",
)
_SPLIT_CLAIMS = (
    Told("unit", "The [total|full] daily dose of {drug} [was|came to] {total} mg."),
    Told("unit", "[Patients|People] took {total} mg of {drug} [in 24 hours|over a day]."),
    Told("unit", "[Altogether|In sum], {total} mg of {drug} a day was [given|prescribed]."),
    Told("unit", "[Each single|A single] dose of {drug} was {x} mg[ and was repeated within the day|]."),
    Told("time", "{drug} was taken every {gap} hours[ or so|]."),
    Told("count", "There were {number} [administrations|intakes] of {drug} per day."),
)


def split_dose(dice: random.Random) -> Scene:
    """So much at a time, so many times a day."""
    drawn = _of_medicine(dice)
    size = dice.choice((20, 40, 50, 100, 150, 200, 250, 300, 400, 500))
    (first, second), other = dice.sample((2, 3, 4), 2), size * dice.choice((1, 1, 2))
    worlds: list[dict[str, str]] = []
    for times, each in ((first, size), (second, other)):
        worlds.append({"x": str(each), "often": _TIMES[times], "total": grouped(each * times), "number": words(times),
                       "gap": str(24 // times)})  # fmt: skip
    return Scene(drawn.common, (worlds[0], worlds[1]), _SPLIT, _SPLIT_CLAIMS, (drawn.foreign_drug,))


# The same span said in two ways.
_SPANS = (
    ("7 days", "one week", 7), ("14 days", "two weeks", 14), ("21 days", "three weeks", 21),
    ("28 days", "four weeks", 28),
    ("42 days", "six weeks", 42), ("24 months", "two years", 730), ("36 months", "three years", 1095),
    ("60 months", "five years", 1826), ("6 months", "half a year", 182), ("12 months", "one year", 365),
    ("18 months", "a year and a half", 548), ("48 hours", "two days", 2), ("72 hours", "three days", 3),
    ("24 hours", "one day", 1), ("120 hours", "five days", 5), ("10 years", "a decade", 3652),
    ("96 hours", "four days", 4), ("56 days", "eight weeks", 56), ("120 months", "ten years", 3652),
)  # fmt: skip
_LENGTH = (
    "{pop} [took|received|were given] {drug} for {x}.",
    "[Treatment with|Therapy with] {drug} lasted {x}[, {event} being the main outcome|].",
    "{drug} was [continued|given] for {x} and then [stopped|withdrawn][; {rival} was the control|].",
    "The [course|period] of {drug} was {x} [in all participants|in this trial].",
    "[Participants|Patients] were [assigned|randomised] to {x} of {drug} [or of {rival}|] (n = {n}).",
)
_LENGTH_CLAIMS = (
    Told("time", "[Patients|People] were [treated with|on] {drug} for {y}."),
    Told("time", "{drug} was [stopped|ended] after {y}."),
    Told("time", "The treatment with {drug} took {y}[ from start to end|]."),
    Told("time", "The [plan|protocol] was {y} of {drug}[, no more and no less|]."),
    Told("time", "The course of {drug} was {longer} than {mid}."),
    Told("time", "[For|Over] {y}, the patients [received|had] {drug}."),
)


def length(dice: random.Random) -> Scene:
    """How long the treatment was; the rival span is the same number of another unit, or another number."""
    drawn = cast(dice)
    while True:
        first, second = dice.sample(_SPANS, 2)
        between = [span for span in _SPANS if min(first[2], second[2]) * 1.2 < span[2] < max(first[2], second[2]) / 1.2]
        if first[2] != second[2]:
            break
    mid = dice.choice(between)[1] if between else None
    worlds: list[dict[str, str]] = []
    flip = dice.random() < 0.3
    for span, rival in ((first, second), (second, first)):
        world = {"x": span[1] if flip else span[0], "y": span[0] if flip else span[1]}
        if mid:
            world |= {"mid": mid, "longer": "longer" if span[2] > rival[2] else "shorter"}
        worlds.append(world)
    common = {**drawn.common, "n": str(dice.randint(40, 900))}
    return Scene(common, (worlds[0], worlds[1]), _LENGTH, _LENGTH_CLAIMS, (drawn.foreign_drug,))


_RATES = {"once daily": ("every day", "seven", 7), "once weekly": ("one day a week", "one", 1),
          "twice weekly": ("two times a week", "two", 2), "three times a week": ("on three days a week", "three", 3),
          "every other week": ("once a fortnight", "", 0.5), "once a month": ("twelve times a year", "", 0.23),
          "every three months": ("four times a year", "", 0.08),
          "every six months": ("twice a year", "", 0.04)}  # fmt: skip
_RATE = (
    "{pop} [received|were given] {drug} {x} for {when}.",
    "{drug}, given {x}, was [compared with|tested against] {rival} in {pop}.",
    "[The schedule|The regimen] was {drug} {x}[ or {rival}|].",
)
_RATE_CLAIMS = (
    Told("time", "{drug} was [given|administered] {y}."),
    Told("time", "[Patients|People] had {drug} {y}."),
    Told("time", "The [schedule|plan] [called for|required] {drug} {y}."),
    Told("time", "{drug} was given {more} often than {mid}."),
)


def rate(dice: random.Random) -> Scene:
    """How often the treatment was given."""
    drawn = cast(dice)
    first, second = dice.sample(sorted(_RATES), 2)
    mids = [name for name in _RATES if min(_RATES[first][2], _RATES[second][2]) < _RATES[name][2]
            < max(_RATES[first][2], _RATES[second][2])]  # fmt: skip
    mid = _RATES[dice.choice(mids)][0] if mids else None
    worlds: list[dict[str, str]] = []
    for mine, other in ((first, second), (second, first)):
        world = {"x": mine, "y": _RATES[mine][0]}
        if mid:
            world |= {"mid": mid, "more": "more" if _RATES[mine][2] > _RATES[other][2] else "less"}
        worlds.append(world)
    return Scene(drawn.common, (worlds[0], worlds[1]), _RATE, _RATE_CLAIMS, (drawn.foreign_drug,))


MEASURES = (dose, split_dose, length, rate)
