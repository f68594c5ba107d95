"""Units of measurement: what a unit measures and how many of the basic unit it is."""

from __future__ import annotations

import re
from dataclasses import dataclass

# dimension: unit spellings and their size; spellings of one size stand together
_TABLE = """
percent 1 % percent pct per_cent percentage_points percentage_point percentage-points pp points_percent
mass 1 g gram grams gramme grammes gm
mass 1e-3 mg milligram milligrams milligramme milligrammes
mass 1e-6 ug mcg microgram micrograms microgramme microgrammes
mass 1e-9 ng nanogram nanograms
mass 1e-12 pg picogram picograms
mass 1e3 kg kilogram kilograms kilo kilos
mass 453.592 lb lbs pound pounds
mass 28.3495 oz ounce ounces
mass 1e6 t tonne tonnes
volume 1 l litre litres liter liters
volume 1e-1 dl decilitre decilitres deciliter deciliters
volume 1e-3 ml millilitre millilitres milliliter milliliters cc cm3
volume 1e-6 ul microlitre microlitres microliter microliters mm3
volume 1e-15 fl
time 1e-3 ms millisecond milliseconds
time 1 s sec secs second seconds
time 60 min mins minute minutes
time 3600 h hr hrs hour hours
time 86400 d day days night nights
time 604800 wk wks week weeks
time 1209600 fortnight fortnights
time 2629800 mo mos month months
time 31557600 y yr yrs year years
time 315576000 decade decades
length 1 m metre metres meter meters
length 1e-2 cm centimetre centimetres centimeter centimeters
length 1e-3 mm millimetre millimetres millimeter millimeters
length 1e-6 um micron microns micrometre micrometres micrometer micrometers
length 1e-9 nm nanometre nanometres nanometer nanometers
length 1e3 km kilometre kilometres kilometer kilometers
length 0.0254 inch inches
length 0.3048 ft foot feet
length 1609.34 mile miles
area 1 m2 m^2 m² square_metre square_metres square_meter square_meters
area 1e-4 cm2 cm^2 cm²
area 1e-6 mm2 mm^2 mm²
area 1e4 ha hectare hectares
area 4046.86 acre acres
area 1e6 km2 km^2 km² square_kilometre square_kilometres square_kilometer square_kilometers
amount 1 mol mole moles
amount 1e-3 mmol millimole millimoles
amount 1e-6 umol micromole micromoles
amount 1e-9 nmol nanomole nanomoles
amount 1e-12 pmol picomole picomoles
amount/volume 1 molar
amount/volume 1e-3 mM millimolar
amount/volume 1e-6 uM micromolar
amount/volume 1e-9 nM nanomolar
amount/volume 1e-12 pM picomolar
charge 1 eq
charge 1e-3 meq milliequivalents
pressure 1 mmhg mm_hg mm-hg millimetres_of_mercury millimeters_of_mercury torr
pressure 7.50062 kpa kilopascal kilopascals
pressure 0.735559 cmh2o cm_h2o
energy 1 kcal kilocalorie kilocalories calories
energy 0.239006 kj kilojoule kilojoules
celsius 1 °c degrees_celsius degree_celsius degrees_centigrade ℃
fahrenheit 1 °f degrees_fahrenheit degree_fahrenheit ℉
dose 1 gy gray
dose 0.01 cgy
exposure 1 sv sievert sieverts
exposure 1e-3 msv millisievert millisieverts
activity 1e6 mbq
activity 1e9 gbq
international 1 iu international_units
international 1 u unit units
international 1e6 million_units miu
international 1e-3 miu_per
frequency 1 hz hertz
frequency 1e3 khz
frequency 1e6 mhz
times/time 0.01666666667 bpm beats_per_minute
times 1 times fold -fold x_higher x
bases 1 bp base_pairs base_pair
bases 1e3 kb kilobases kbp
bases 1e6 mb megabases mbp
molecular 1 da dalton daltons
molecular 1e3 kda kilodalton kilodaltons
money_dollar 1 dollars usd us_dollars
money_euro 1 euros eur euro
money_pound 1 gbp
"""
_CASED = {"M": ("amount/volume", 1.0), "mM": ("amount/volume", 1e-3), "uM": ("amount/volume", 1e-6)} | {
    "nM": ("amount/volume", 1e-9),
    "pM": ("amount/volume", 1e-12),
}


def _units() -> dict[str, tuple[str, float]]:
    table: dict[str, tuple[str, float]] = {}
    for line in _TABLE.strip().splitlines():
        dimension, size, *names = line.split()
        for name in names:
            if name not in _CASED:
                table[name.replace("_", " ")] = (dimension, float(size))
    return table


_UNITS = _units()
_NAMES = "|".join(sorted((re.escape(name) for name in _UNITS), key=len, reverse=True))
_UNIT = re.compile(rf"[ -]?(?:(?-i:[munp]?M(?![\w²])(?! \w+ old))|(?:{_NAMES})(?![^\W_]|²|³))", re.IGNORECASE)
_PER = re.compile(
    rf"(?:\s?/\s?|\s?per\s|\sa\s|\san\s|\severy\s|\seach\s|\sonce (?:a |per |every )?|·|\s)(?P<n>1000\s|100\s)?"
    rf"(?P<unit>{_NAMES}|daily|weekly|monthly|yearly|annually)(?P<inverse>\s?\^?-1)?(?![^\W_]|²|³)",
    re.IGNORECASE,
)
_OF_PER = re.compile(
    rf"\sof (?:[a-z-]{{2,20}} ){{1,3}}per (?P<n>1000\s|100\s)?(?P<unit>{_NAMES})(?![^\W_]|²|³)", re.IGNORECASE
)
_ADVERBS = {"daily": "day", "weekly": "week", "monthly": "month", "yearly": "year", "annually": "year"}
_OLD = re.compile(r"[ -]?(?:of age|old|and (?:older|over|above)|or (?:older|over|above|more|younger))\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit as written behind a number.

    Attributes:
        base: What it measures ("mass"), empty for a bare number.
        size: How many of the basic unit of its kind it is.
        per: What the measure is taken per ("time", "volume"), with sizes.
        end: Where it ends in the text.
    """

    base: str
    size: float
    per: tuple[tuple[str, float], ...]
    end: int


def unit_at(text: str, position: int) -> Unit | None:
    """The unit that stands at a position of a text, behind a number, if one does."""
    match = _UNIT.match(text, position)
    if not match:
        return None
    written = match[0].strip(" ") if match[0].endswith("fold") else match[0].lstrip(" -")
    dimension, size = _looked_up(written)
    if not dimension or (written in ("x", "l") and match[0][:1] == "-"):
        return None
    base, *rest = dimension.split("/")
    per = [(part, 1.0) for part in rest]
    end = match.end()
    for _ in range(2):
        further = _PER.match(text, end)
        if not further or (text[end : end + 1] == " " and not _allowed(further)):
            break
        name = further["unit"]
        kind, part = _looked_up(_ADVERBS.get(name.lower(), name))
        if kind in ("percent", "times", "") or "/" in kind:
            break
        per.append((kind, part * float(further["n"] or 1)))
        end = further.end()
    substance = None if per else _OF_PER.match(text, end)
    if substance and base in ("mass", "volume", "amount", "international"):
        kind, part = _looked_up(substance["unit"])
        per += [(kind, part * float(substance["n"] or 1))] if kind and "/" not in kind else []
    return Unit(base, size, tuple(sorted(per)), end)


def _allowed(further: re.Match[str]) -> bool:
    """Whether a unit after a mere space is a divisor: "mg daily", "mg a day", "g l-1", not "5 mg 3 days"."""
    opening = further[0].lstrip().lower()
    if opening.startswith(("per ", "/", "·")) or further["inverse"]:
        return True
    kind, _ = _looked_up(further["unit"])
    return opening.removeprefix("once ") in _ADVERBS or (
        opening.startswith(("a ", "an ", "every ", "each ", "once ")) and kind == "time"
    )


def _looked_up(name: str) -> tuple[str, float]:
    return _CASED.get(name) or _UNITS.get(name.lower(), ("", 1.0))


# one mmol/l in mg/dl; one umol/l in mg/dl for the second group
_MILLIMOLES = (18.016, 38.67, 88.57, 2.801, 4.008, 3.097, 2.431, 9.008)
_MICROMOLES = (0.011312, 0.05847, 0.016811, 0.055847)


def converted(value: float, source: Unit, target: Unit) -> list[float]:
    """What a value in one unit is in another of a different dimension; several where it hangs on the substance."""
    kinds = (source.base, target.base)
    if kinds == ("celsius", "fahrenheit"):
        return [value * 9 / 5 + 32, value * 9 / 5]
    if kinds == ("fahrenheit", "celsius"):
        return [(value - 32) * 5 / 9, value * 5 / 9]
    if kinds == ("percent", "amount"):
        return [(10.93 * value - 23.5) * 1e-3 / target.size * 1.0, 10.93 * value * 1e-3 / target.size]
    if kinds == ("amount", "percent"):
        thousandths = value * source.size * 1e3
        return [(thousandths + 23.5) / 10.93, thousandths / 10.93]
    if [name for name, _ in source.per] != ["volume"] or [name for name, _ in target.per] != ["volume"]:
        return []
    there = value * source.size / source.per[0][1]
    factors = [factor * 1e-2 / 1e-3 for factor in _MILLIMOLES] + [factor * 1e-2 / 1e-6 for factor in _MICROMOLES]
    if kinds == ("amount", "mass"):
        return [there * factor * target.per[0][1] / target.size for factor in factors]
    if kinds == ("mass", "amount"):
        return [there / factor * target.per[0][1] / target.size for factor in factors]
    return []


def age_follows(text: str, position: int) -> bool:
    """Whether what stands at a position makes the time before it an age: "65 years or older"."""
    return bool(_OLD.match(text, position))
