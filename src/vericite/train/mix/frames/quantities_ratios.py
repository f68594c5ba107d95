"""Scenes about relative effects: hazard, odds and risk ratios, intervals that hold 1, p-values."""

from __future__ import annotations

import random

from vericite.train.mix.frames.quantities_numbers import bound_between, interval, interval_text, p_text
from vericite.train.mix.frames.quantities_scene import Scene, Told, cast

# The measure's name, its abbreviation, what it is a ratio of.
_MEASURES = (("hazard ratio", "HR", "hazard"), ("odds ratio", "OR", "odds"), ("risk ratio", "RR", "risk"),
             ("adjusted hazard ratio", "aHR", "hazard"), ("adjusted odds ratio", "aOR", "odds"),
             ("relative risk", "RR", "risk"))  # fmt: skip
_RATIO = (
    "[Compared with|Relative to] {rival}, {drug} [was associated with|resulted in] {art} {ratio} of {r} "
    "({ci}) for {event}{ptail}.",
    "The {ratio} for {event} was {r} ({ci}) for {drug} [versus|vs|compared with] {rival}{ptail}.",
    "In {pop}, {drug} [was compared with|was tested against] {rival}: {event}, {abbr} {r} ({ci}){ptail}.",
    "For {event}, the {ratio} [comparing|of] {drug} with {rival} was {r} ({ci}) [over {when}|at {when}|].",
    "{event} [was the primary outcome|was the main endpoint] ({drug} v {rival}: {ratio} {r}, {ci}).",
    "With {rival} as the reference, the {ratio} of {event} on {drug} [was estimated at|was] {r} "
    "[({abbr}; {ci})|({ci})].",
)
_SIZE_CLAIMS = (
    Told(
        "proportion",
        "{drug} [lowered|cut|reduced] the {base} of {lay} by {cut}% [compared with|relative to] "
        "{rival}.",
    ),
    Told("proportion", "[People|Patients] on {drug} had a {cut}% lower {base} of {lay} than those [on|given] {rival}."),
    Told("proportion", "[Against|Compared with] {rival}, {drug} [reduced|brought down] the {base} of {lay} by {side}."),
    Told(
        "proportion",
        "The reduction in the {base} of {lay} [with|under] {drug} [amounted to|was] {side}[ compared with "
        "{rival}|].",
    ),
    Told("proportion", "The {base} of {lay} rose by {rise}% [with|under] {drug} [against|relative to] {rival}."),
    Told("proportion", "{drug} raised the {base} of {lay} [to|up to] {times} that [on|seen with] {rival}."),
    Told("proportion", "{lay} had {times} the {base} [with|under] {drug} [that it had with|compared with] {rival}."),
)  # fmt: skip
_WAY_CLAIMS = (
    Told(
        "comparator",
        "[Those on|Patients given] {drug} had a {lower} {base} of {lay} than [those on|patients given] "
        "{rival}.",
    ),
    Told("comparator", "{drug} [was tied to|went with] {less} {lay} than {rival}."),
    Told(
        "comparator",
        "[As for|Regarding] {lay}, {better} [had less of it|was associated with less of it] in the "
        "comparison with {worse}.",
    ),
    Told("comparator", "The {base} of {lay} was [smaller|lower] [on|with] {better} than [on|with] {worse}."),
    Told(
        "comparator",
        "[Taking|Having] {worse} rather than {better} [meant|went with] a [greater|higher] {base} of "
        "{lay}.",
    ),
    Told(
        "comparator",
        "{drug} [was linked to|was accompanied by] {fall} in the {base} of {lay} [relative to|against] "
        "{rival}.",
    ),
)  # fmt: skip
_SURE_CLAIMS = (
    Told("comparator", "The difference in {lay} between {drug} and {rival} was {sure}."),
    Told(
        "comparator",
        "For {lay}, {drug} and {rival} {differed} [at the 5% level|in a statistically significant "
        "way].",
    ),
    Told(
        "comparator",
        "The [data|interval] {compatible} [with no|with the absence of any] effect of {drug} on {lay} [at "
        "95% confidence|by the usual 95% standard].",
    ),
    Told(
        "comparator",
        "[Chance|Random variation] was {likely} as [an explanation|the explanation] for the difference in "
        "{lay} at the conventional 5% level.",
    ),
    Told(
        "comparator",
        "Whether {drug} changed {lay} was {settled} by the usual [statistical criterion|threshold of "
        "significance].",
    ),
)  # fmt: skip


def _world(ratio: float, spread: float, style: int, tail: int) -> dict[str, str]:
    low, high = interval(ratio, spread)
    low, high = min(low, ratio - 0.01), max(high, ratio + 0.01)
    holds_one = low <= 1 <= high
    strong = low > 1.1 or high < 0.9
    p = "=0.21" if holds_one else "<0.001" if strong else "=0.02"
    return {
        "r": f"{ratio:.2f}",
        "ci": interval_text(style, f"{low:.2f}", f"{high:.2f}"),
        "ptail": f" ({p_text(style, p)})" if tail else "",
    }


def _common(dice: random.Random) -> tuple[dict[str, str], tuple[dict[str, str], ...], int, int]:
    drawn = cast(dice)
    name, abbr, base = dice.choice(_MEASURES)
    common = {**drawn.common, "ratio": name, "abbr": abbr, "base": base, "art": "an" if name[0] in "ao" else "a"}
    return common, (drawn.foreign_event,), dice.randrange(6), int(dice.random() < 0.4)


def size_of_effect(dice: random.Random) -> Scene:
    """The same direction, another size."""
    common, foreign, style, tail = _common(dice)
    worlds: list[dict[str, str]] = []
    if dice.random() < 0.6:
        cuts = dice.choice(((18, 38), (22, 45), (12, 31), (28, 42), (15, 60), (40, 61), (24, 58), (30, 72), (55, 81)))
        bound = bound_between(cuts[0] / 100, cuts[1] / 100)
        for cut in cuts:
            world = _world(1 - cut / 100, min(0.09 + cut / 400, 0.3) * dice.uniform(0.6, 0.95), style, tail)
            world["cut"] = str(cut)
            if bound:
                world["side"] = ("more than " if cut == max(cuts) else "less than ") + bound
            worlds.append(world)
    else:
        pair = dice.choice(((1.92, 2.96), (1.48, 1.95), (2.04, 4.05), (3.02, 1.97), (1.25, 2.02), (1.51, 3.97)))
        names = {1: "twice", 2: "three times", 3: "four times"}
        for ratio in pair:
            world = _world(ratio, 0.2, style, tail)
            close = round(ratio)
            plain = "one and a half times" if abs(ratio - 1.5) < 0.03 else names.get(close - 1)
            if plain and (abs(ratio - close) < 0.1 or abs(ratio - 1.5) < 0.03):
                near = "nearly" if ratio < close - 0.02 or ratio == 1.48 else "about"
                world["times"] = f"{near} {plain}"
            world["rise"] = str(round((ratio - 1) * 100))
            worlds.append(world)
    return Scene(common, (worlds[0], worlds[1]), _RATIO, _SIZE_CLAIMS, foreign)


def way_of_effect(dice: random.Random) -> Scene:
    """Protection in the one world, harm in the other."""
    common, foreign, style, tail = _common(dice)
    good, bad = dice.choice((0.55, 0.62, 0.68, 0.71, 0.44, 0.37)), dice.choice((1.45, 1.62, 1.9, 2.15, 2.6))
    worlds: list[dict[str, str]] = []
    for ratio in (good, bad):
        drug, rival = common["drug"], common["rival"]
        down = ratio < 1
        more = {"lower": "lower" if down else "higher", "less": "less" if down else "more",
                "better": drug if down else rival, "worse": rival if down else drug,
                "fall": "a fall" if down else "a rise"}  # fmt: skip
        worlds.append({**_world(ratio, dice.uniform(0.15, 0.25), style, tail), **more})
    return Scene(common, (worlds[0], worlds[1]), _RATIO, _WAY_CLAIMS, foreign)


def sureness_of_effect(dice: random.Random) -> Scene:
    """The same estimate, with an interval that holds 1 and with one that does not."""
    common, foreign, style, tail = _common(dice)
    ratio = dice.choice((0.62, 0.7, 0.74, 0.8, 1.3, 1.42, 1.55, 1.8))
    worlds: list[dict[str, str]] = []
    size = abs(ratio - 1) if ratio > 1 else abs(1 - 1 / ratio)
    for sure in (True, False):
        more = {
            "sure": "statistically significant" if sure else "not statistically significant",
            "differed": "differed" if sure else "did not differ",
            "compatible": "were not compatible" if sure else "were compatible",
            "likely": "ruled out" if sure else "not ruled out",
            "settled": "settled" if sure else "not settled",
        }
        worlds.append({**_world(ratio, size * (0.55 if sure else 1.6), style, tail), **more})
    return Scene(common, (worlds[0], worlds[1]), _RATIO, _SURE_CLAIMS, foreign)


RATIOS = (size_of_effect, size_of_effect, way_of_effect, sureness_of_effect)
