"""Scenes about a marker: from one value to another, by how much, by what factor, spread around the middle."""

from __future__ import annotations

import random

from vericite.train.mix.frames.quantities_names import Marker
from vericite.train.mix.frames.quantities_numbers import bound_between, plain
from vericite.train.mix.frames.quantities_scene import Scene, Told, cast

_FROM_TO = (
    "[Mean|Average] {marker} [went|changed|moved] from {x}{sd} to {y}{sd} {unit} [after|over] {when} of {drug}.",
    "[Mean|Average] {marker} was {x}{sd} {unit} at baseline and {y}{sd} {unit} after {when} [of|on] {drug}.",
    "In {pop} [taking|on] {drug}, {marker} [averaged|was] {x} {unit} [initially|at entry] and {y} {unit} at {when}.",
    "[With|On] {drug}, [baseline|pretreatment] {marker} of {x}{sd} {unit} [became|was followed by] {y}{sd} {unit} "
    "[at|after] {when}.",
    "{marker} before and {when} after starting {drug} [averaged|was] {x} and {y} {unit}, respectively.",
    "[At {when}|After {when}], {marker} [on|with] {drug} [stood at|was] {y}{sd} {unit} (baseline, {x}{sd} {unit}).",
    "{people} [given|receiving] {drug} had a mean {marker} of {y} {unit} at {when}, having started from {x} {unit}.",
)
_WAY = (
    Told(
        "number",
        "[On average, |]{mlay} [{fell}|was {lower} at the end than at the start] [during treatment with|on] "
        "{drug}.",
    ),
    Told("number", "[During|Under] treatment with {drug}, {mlay} {fell} by {d} {dunit}."),
    Told("number", "{drug} was followed by a [mean|] {fall} [of {d} {dunit}|] in {mlay}."),
    Told("number", "A {d} {dunit} {fall} in {mlay} was seen [with|on] {drug}."),
    Told("number", "The change in {mlay} [with|under] {drug} was {sign}{d} {dunit}."),
    Told("number", "[Before|Ahead of] {drug}, {mlay} was {before} than after it."),
    Told(
        "number",
        "{mlay} {was} [above|higher than] its [starting|baseline] value at the end of treatment with "
        "{drug}.",
    ),
    Told("number", "[Compared with|Relative to] the start of {drug}, {mlay} at the end was {d} {dunit} {lower}."),
)  # fmt: skip
_SIZE = (
    Told("number", "[During|Under] treatment with {drug}, {mlay} {fell} by {d} {dunit}."),
    Told("number", "{drug} was followed by a [mean|] {fall} of {d} {dunit} in {mlay}."),
    Told("number", "[A|The] {fall} in {mlay} [seen with|on] {drug} [amounted to|came to] {d} {dunit}."),
    Told(
        "number",
        "The value of {mlay} [after|at the end of] treatment with {drug} lay {d} {dunit} {away} where it "
        "began.",
    ),
    Told("number", "[In relative terms|Relative to the start], {mlay} {fell} by {pct}% [with|on] {drug}."),
    Told("number", "{mlay} {fell} by {bound} of its [starting|baseline] value under {drug}."),
    Told("number", "The proportional {fall} in {mlay} [on|with] {drug} was {bound}."),
    Told("number", "[By|At] the end of treatment with {drug}, {mlay} was {past} {mid} {unit}."),
)  # fmt: skip


def _values(dice: random.Random, marker: Marker) -> tuple[float, float]:
    """Two values of a marker that differ by at least a twelfth of the higher."""
    step = 10**-marker.decimals
    while True:
        low, high = sorted(round(dice.uniform(marker.low, marker.high), marker.decimals) for _ in range(2))
        if high - low >= max(high / 12, 2 * step):
            return low, high


def _shown(value: float, marker: Marker) -> str:
    return f"{value:.{marker.decimals}f}"


def _unit_world(x: float, y: float, marker: Marker) -> dict[str, str]:
    down = y < x
    return {
        "x": _shown(x, marker), "y": _shown(y, marker), "d": _shown(abs(x - y), marker),
        "fell": "fell" if down else "rose", "fall": "decrease" if down else "increase",
        "lower": "lower" if down else "higher", "before": "higher" if down else "lower",
        "sign": "minus " if down else "plus ", "was": "was not" if down else "was",
        "away": "below" if down else "above",
    }  # fmt: skip


def _common(dice: random.Random) -> tuple[dict[str, str], tuple[dict[str, str], ...], Marker]:
    drawn = cast(dice)
    marker = drawn.marker
    unit = "percentage points" if marker.unit == "%" else marker.unit
    spread = ""
    if dice.random() < 0.35:
        step = _shown((marker.high - marker.low) * dice.uniform(0.1, 0.3) + 10**-marker.decimals, marker)
        spread = dice.choice((f" ± {step}", f" (SD {step})", f" ±{step}"))
    common = {**drawn.common, "unit": marker.unit, "dunit": unit, "sd": spread}
    return common, (drawn.foreign_marker, drawn.foreign_drug), marker


def way_of_change(dice: random.Random) -> Scene:
    """From one value to another, or the other way about."""
    common, foreign, marker = _common(dice)
    low, high = _values(dice, marker)
    worlds = (_unit_world(low, high, marker), _unit_world(high, low, marker))
    return Scene(common, worlds, _FROM_TO, _WAY, foreign[1:])


def size_of_change(dice: random.Random) -> Scene:
    """The same start and direction, another end."""
    common, foreign, marker = _common(dice)
    start = dice.choice([value for value in (8, 20, 40, 50, 60, 80, 100, 120, 150, 200, 250, 300, 400, 500, 600)
                         if marker.low <= value <= marker.high] or [marker.high])  # fmt: skip
    shares = dice.choice(((0.1, 0.3), (0.15, 0.4), (0.2, 0.4), (0.1, 0.45), (0.05, 0.25), (0.3, 0.7), (0.25, 0.6)))
    down = dice.random() < 0.6 or start * (1 + shares[1]) > marker.high * 1.15
    ends = [round(start * (1 - share if down else 1 + share), marker.decimals) for share in shares]
    bound, middle = bound_between(*shares), plain(round((ends[0] + ends[1]) / 2, marker.decimals))
    worlds: list[dict[str, str]] = []
    for share, end in zip(shares, ends, strict=True):
        world = _unit_world(start, end, marker)
        exact = abs(end - start * (1 - share if down else 1 + share)) < 1e-6
        world |= {"pct": plain(share * 100, 0)} if exact and marker.unit != "%" else {}
        if bound and marker.unit != "%":
            world["bound"] = f"{'less' if share == shares[0] else 'more'} than {bound}"
        if all(abs(float(middle) - value) > 1e-6 for value in ends):
            world |= {"mid": middle, "past": "above" if end > float(middle) else "below"}
        worlds.append(world)
    return Scene(common, (worlds[0], worlds[1]), _FROM_TO, _SIZE, foreign[1:])


_FACTORS = {2.0: ("doubled", "twofold", "twice"), 3.0: ("tripled", "threefold", "three times"),
            4.0: ("quadrupled", "fourfold", "four times"), 10.0: ("rose tenfold", "tenfold", "ten times"),
            0.5: ("halved", "", "half"), 0.25: ("fell by three quarters", "", "a quarter of"),
            0.1: ("fell to a tenth", "", "a tenth of"), 5.0: ("rose fivefold", "fivefold", "five times")}  # fmt: skip
_FOLD_NAMES = ("antibody titre", "viral load", "serum interferon", "plasma drug concentration",
               "gene expression of IL6", "urinary protein", "serum tryptase", "daily step count",
               "stool calprotectin", "troponin",
               "weekly attack count", "parasite density", "faecal bacterial count", "serum IgE")  # fmt: skip
_FOLD = (
    "[Mean|Median|Geometric mean] {thing} [went|changed] from {x} to {y} [within|over] {when} of {drug}.",
    "Before {drug}, {thing} was {x}[ (arbitrary units)|]; {when} later it was {y}.",
    "{thing} [on|with] {drug} was {y} at {when} [against|versus|compared with] {x} at baseline.",
    "[From a baseline of {x}|Starting from {x}], {thing} [arrived at|stood at] {y} after {when} [on|of] {drug}.",
)
_FOLD_CLAIMS = (
    Told("number", "{thing} {doubled} [under|during treatment with] {drug}."),
    Told("number", "[After|Following] {drug}, {thing} was {times} [its earlier value|what it had been]."),
    Told("number", "There was a {fold} [increase|rise] in {thing} [with|on] {drug}."),
    Told("number", "{drug} [went along with|was followed by] {thing} at {times} [its former value|the level before]."),
    Told("number", "Treatment with {drug} [ended|finished] with {thing} {lower} than it [began|started]."),
)


def factor_of_change(dice: random.Random) -> Scene:
    """So many times what it was."""
    drawn = cast(dice)
    start = dice.choice((20, 40, 60, 80, 120, 160, 200, 400, 600, 1200))
    factors = dice.sample(sorted(_FACTORS), 2)
    worlds: list[dict[str, str]] = []
    for factor in factors:
        doubled, fold, times = _FACTORS[factor]
        world = {"x": f"{start:,}", "y": f"{round(start * factor):,}", "doubled": doubled, "times": times,
                 "lower": "lower" if factor < 1 else "higher"}  # fmt: skip
        worlds.append(world | ({"fold": fold} if fold else {}))
    thing = dice.choice(_FOLD_NAMES)
    names = dice.sample([name for name in _FOLD_NAMES if name != thing], 1)
    foreign = ({"thing": names[0]}, drawn.foreign_drug)
    return Scene({**drawn.common, "thing": thing}, (worlds[0], worlds[1]),
                 _FOLD, _FOLD_CLAIMS, foreign)  # fmt: skip


_ARMS = (
    "[At|After] {when}, mean {marker} was {a}{sd} {unit} [with|on] {drug} and {b}{sd} {unit} [with|on] {rival}.",
    "{marker} at {when} [averaged|was] {b} {unit} in the {rival} group [but|and] {a} {unit} in the {drug} group.",
    "[Group means|Means] of {marker} [at|after] {when} were {a} ({drug}) and {b} {unit} ({rival})[; n = {n} each|].",
    "[People|Those] on {rival} ended with a mean {marker} of {b} {unit}, [those|people] on {drug} with {a} {unit}.",
)
_ARMS_CLAIMS = (
    Told("comparator", "{mlay} [was|ended] {lower} with {drug} than with {rival}."),
    Told(
        "comparator",
        "[The higher|The greater] [mean|] {mlay} was [found|seen] with {high}, [the other with {low}|not "
        "with {low}].",
    ),
    Told("comparator", "[Compared with|Relative to] {rival}, {drug} left {mlay} {d} {dunit} {lower}."),
    Told("comparator", "The group on {low} had the lower {mlay} of the two."),
    Told("comparator", "{mlay} in the {drug} group was {a} {unit}[, as against {b} with {rival}|]."),
)  # fmt: skip


def arms_of_marker(dice: random.Random) -> Scene:
    """The means of two arms, which change places."""
    common, foreign, marker = _common(dice)
    low, high = _values(dice, marker)
    worlds: list[dict[str, str]] = []
    for a, b in ((low, high), (high, low)):
        drug, rival = common["drug"], common["rival"]
        worlds.append(
            {
                "a": _shown(a, marker),
                "b": _shown(b, marker),
                "d": _shown(high - low, marker),
                "lower": "lower" if a < b else "higher",
                "high": rival if a < b else drug,
                "low": drug if a < b else rival,
            }
        )
    shared = {**common, "n": str(dice.randint(20, 300))}
    return Scene(shared, (worlds[0], worlds[1]), _ARMS, _ARMS_CLAIMS, foreign[:1])


CHANGES = (way_of_change, size_of_change, factor_of_change, arms_of_marker)
