"""Scenes about shares: how many of one group, and which of two groups had more."""

from __future__ import annotations

import math
import random
from fractions import Fraction

from vericite.train.mix.frames.quantities_numbers import SHARES, bound_between, p_text, percent, plain, words
from vericite.train.mix.frames.quantities_scene import Scene, Told, cast

_ONE_ARM = (
    "[On|While taking|During treatment with] {drug}, {k} of {n} {people} ({pct}) {had}.",
    "{event} [occurred|was documented|was observed] in {k}/{n} {pop} ({pct}) [treated with|who received] {drug}.",
    "Of {n} {pop} [given|assigned to|taking] {drug}, {k} ({pct}) {had} [by|at] {when}.",
    "[Among|In] {n} {pop} [treated with|receiving] {drug}, {k} {had} [over|during] {when} of follow-up.",
    "In all, {pct} [({k}/{n})|({k} of {n})] of [the people|those] on {drug} {had}.",
    "{event}, the primary endpoint, was [reached|recorded] in {pct} of {people} [given|on] {drug} (n/N = {k}/{n}).",
    "After {when} of {drug}, {j} of {n} {pop} {hadnt}.",
)
_SHARE_ONLY = (
    "The [incidence|cumulative incidence] of {event} [on|with] {drug} was {pct}[ at {when}|].",
    "[At|By] {when}, {pct} of {pop} [receiving|treated with] {drug} {had} (95% CI {lo}-{hi}).",
    "The [crude|observed] rate of {event} [on|with] {drug} was {pct} in {pop}.",
    "[With|On] {drug}, {pct} of {pop} {had} [within|by] {when}.",
)
_ONE_ARM_CLAIMS = (
    Told("proportion", "{share} [patients|people|participants] [on|taking|who received] {drug} {had}."),
    Told("proportion", "[About|Roughly|Some] {approx}% of [patients|people] on {drug} {had}."),
    Told("proportion", "[With|Under] {drug}, {over} of [the patients|the people studied|those treated] {had}."),
    Told("proportion", "{under} of [the patients|those] [on|given] {drug} {hadnt}."),
    Told("proportion", "{event} affected {over} of [those|the people] [treated with|given] {drug}."),
    Told("proportion", "A {side} of [patients|participants|people] [on|given] {drug} {had}."),
    Told("proportion", "[Most|The majority of|More than half of] [the people|those] on {drug} {most}."),
    Told("proportion", "[For|In] {share} [patients|people] [on|receiving] {drug}, the outcome was {lay}."),
    Told("proportion", "The [chance|probability|likelihood] of {lay} [with|on] {drug} was [around|about] {approx}%."),
    Told("proportion", "{rest} [patients|people] [treated with|on] {drug} {hadnt}."),
    Told("count", "[In total|All told], {kwords} [people|patients] [on|taking] {drug} {had}."),
    Told("count", "{jwords} [of the people|of those] [given|on] {drug} {hadnt}."),
)


def _share_world(share: Fraction, n: int, bound: str | None, above: bool, pick: int) -> dict[str, str]:
    k = int(share * n)
    deviation = 1.96 * math.sqrt(float(share) * (1 - float(share)) / n) * 100
    value = float(share) * 100
    world = {
        "k": str(k), "n": str(n), "j": str(n - k), "pct": percent(share), "approx": plain(round(value), 0),
        "lo": plain(max(value - deviation, 0.5)), "hi": plain(min(value + deviation, 99.5)),
        "share": SHARES[share][0], "rest": SHARES[1 - share][0],
    }  # fmt: skip
    if k < 1000 and n - k < 1000 and n < 1000:
        world |= {"kwords": words(k), "jwords": words(n - k)}
    if bound:
        bounds = ((f"more than {bound}", f"over {bound}"), (f"less than {bound}", f"fewer than {bound}"))
        world["over"] = bounds[not above][pick]
        if bound == "half":
            world |= {"under": bounds[above][pick], "side": "majority" if above else "minority"}
    return world


def one_arm(dice: random.Random) -> Scene:
    """So many of one group had the event."""
    drawn = cast(dice)
    while True:
        first, second = dice.sample(sorted(SHARES), 2)
        if abs(first - second) >= Fraction(1, 8):
            break
    n = math.lcm(first.denominator, second.denominator)
    n *= dice.randint(max(1, 40 // n), max(2, 700 // n))
    bound, pick = bound_between(float(first), float(second)), dice.randrange(2)
    worlds = (
        _share_world(first, n, bound, first > second, pick),
        _share_world(second, n, bound, second > first, pick),
    )
    for world, share in zip(worlds, (first, second), strict=True):
        if bound == "half":
            more = share > Fraction(1, 2)
            world["most"] = drawn.common["had"] if more else drawn.common["hadnt"]
    counted = dice.random() < 0.7
    return Scene(
        drawn.common,
        worlds,
        _ONE_ARM if counted else _SHARE_ONLY,
        _ONE_ARM_CLAIMS if counted else tuple(claim for claim in _ONE_ARM_CLAIMS if claim.kind != "count"),
        (drawn.foreign_event, drawn.foreign_event, drawn.foreign_drug),
    )


_TWO_ARMS = (
    "{event} [occurred|was recorded|was seen] in {a}% of the {drug} group and [in|] {b}% of the {rival} group{p}.",
    "[By|At] {when}, {a}% of {people} on {drug} {had}, [compared with|as against|versus] {b}% on {rival}{p}.",
    "In {pop}, the [rate|incidence|frequency] of {event} was {a}% with {drug} [and|vs] {b}% with {rival}{p}.",
    "In [all|total], {ka} of {na} {people} [assigned to|given] {drug} ({a}%) and {kb} of {nb} [assigned "
    "to|given] {rival} ({b}%) {had}.",
    "{event} [developed|was noted] in {ka}/{na} ({a}%) on {drug} and {kb}/{nb} ({b}%) on {rival}{p}.",
    "[Rates|Proportions] of {event} were {a}% ({drug}), {b}% ({rival}) and {c}% ({third}).",
    "The [primary|main] outcome, {event}, [was met by|was reached by] {a}% [of|in] the {drug} arm (n = {na}) and "
    "{b}% [of|in] the {rival} arm (n = {nb}){p}.",
    "[Randomisation|Assignment] was to {drug} (n={na}) or {rival} (n={nb}); {event} [followed|ensued] in {ka} and {kb} "
    "[cases|people], respectively.",
)
_ARM_CLAIMS = (
    Told(
        "proportion",
        "{lay} was [less frequent|less common|rarer] [with|on|under] {low} than [with|on|under] "
        "{high}.",
    ),
    Told("proportion", "{lay} was [more frequent|more common] [with|on|under] {high} than [with|on|under] {low}."),
    Told(
        "comparator",
        "[Fewer|A smaller share of] [people|patients] [on|given] {low} {had} than of those [on|given] "
        "{high}.",
    ),
    Told("comparator", "[More|A larger share] of the people [on|given] {high} {had} than of those [on|given] {low}."),
    Told("comparator", "[Compared with|Relative to] {rival}, {drug} went with {less} {lay}."),
    Told("comparator", "The arm with [the lower|less] {event} was the one [on|given] {low}."),
    Told("comparator", "Those who had {rival} [instead of|rather than] {drug} [experienced|saw] {lay} {often}."),
    Told("proportion", "{lay} was [at least|more than] {factor} as [common|frequent] with {high} as with {low}."),
    Told(
        "proportion",
        "The [absolute difference|gap] [between the groups|between the arms] in {lay} was {gap} "
        "[percentage|] points.",
    ),
    Told("proportion", "[Per|For every] 100 people treated, {low} meant {gap} fewer cases of {lay} than {high}."),
    Told("proportion", "[About|Roughly] {a}% of [people|patients] [had|experienced] {lay} [on|with] {drug}."),
    Told("proportion", "With {rival}, [the rate of {lay}|the frequency of {lay}] was {b}%[, not {a}%|]."),
    Told("comparator", "The risk of {lay} in the {rival} group was {b} per 100."),
)  # fmt: skip


def _arms_world(common: dict[str, str], a: int, b: int, arms: tuple[int, int]) -> dict[str, str]:
    drug, rival = common["drug"], common["rival"]
    low, high = (drug, rival) if a < b else (rival, drug)
    world = {
        "a": str(a), "b": str(b), "low": low, "high": high, "gap": words(abs(a - b)),
        "less": "less" if a < b else "more", "often": "more often" if a < b else "less often",
        "na": str(arms[0]), "nb": str(arms[1]), "ka": str(a * arms[0] // 100), "kb": str(b * arms[1] // 100),
    }  # fmt: skip
    ratio = max(a, b) / min(a, b)
    for least, name in ((3.1, "three times"), (2.1, "twice")):
        if ratio >= least:
            world["factor"] = name
            break
    return world


def _arms(dice: random.Random) -> tuple[dict[str, str], tuple[dict[str, str], ...], int, int, tuple[int, int]]:
    drawn = cast(dice)
    arms = (100 * dice.randint(1, 9), 100 * dice.randint(1, 9))
    low = dice.randint(4, 36)
    high = low + dice.randint(max(6, low // 3), 50)
    a, b = dice.sample((low, high), 2)
    common = {**drawn.common, "c": str(low + 3), "p": ""}
    if dice.random() < 0.5:
        common["p"] = f" ({p_text(dice.randrange(5), dice.choice(('<0.001', '=0.003', '=0.01', '<0.01')))})"
    return common, (drawn.foreign_event,), a, b, arms


def swapped_arms(dice: random.Random) -> Scene:
    """Two arms whose percentages change places."""
    common, foreign, a, b, arms = _arms(dice)
    arms = (arms[0], arms[0])
    worlds = (_arms_world(common, a, b, arms), _arms_world(common, b, a, arms))
    return Scene(common, worlds, _TWO_ARMS, _ARM_CLAIMS, foreign)


_GAP_CLAIMS = (
    Told(
        "proportion",
        "The [absolute difference|gap] [between the two|between the groups] in {lay} was {gap} [percentage|] "
        "points.",
    ),
    Told("proportion", "[Per|For every] 100 people treated, {low} meant {gap} fewer cases of {lay} than {high}."),
    Told("proportion", "{lay} was {twice} as [common|frequent] with {high} as with {low}."),
    Told("proportion", "[People|Patients] on {high} {had} {twice} as often as [people|patients] on {low}."),
    Told("proportion", "With {high}, {lay} was [seen|found] in {top} of [patients|people|those treated]."),
    Told("proportion", "The share of [patients|people] on {high} who {had} was {top}."),
    Told("proportion", "A [rate|frequency] of {b}% was [seen|found] for {lay} on {rival}."),
    Told(
        "count",
        "[About|Roughly] {nnt} people need {low} instead of {high} for one [case of {lay}|event] to be "
        "averted.",
    ),
)  # fmt: skip


def gap_between_arms(dice: random.Random) -> Scene:
    """Two arms of which the worse one's percentage differs between the worlds."""
    common, foreign, _, _, arms = _arms(dice)
    low = dice.choice((5, 6, 8, 10, 11, 12, 13, 15))
    small = low + dice.choice((5, 10))
    big = dice.choice([value for value in (low + 20, low + 25, low + 50) if value > 2.1 * low and value > small + 8])
    small = min(small, int(1.85 * low)) if dice.random() < 0.7 else small
    bound = bound_between(small / 100, big / 100)
    first = dice.random() < 0.5
    worlds: list[dict[str, str]] = []
    for value in (small, big):
        a, b = (low, value) if first else (value, low)
        world = _arms_world(common, a, b, arms)
        if small < 1.9 * low:
            world["twice"] = "more than twice" if value == big else "less than twice"
        if bound:
            world["top"] = ("over " if value == big else "under ") + bound
        if (value - low) in (5, 10, 20, 25, 50):
            world["nnt"] = words(100 // (value - low))
        worlds.append(world)
    return Scene({**common, "c": str(low + 2)}, (worlds[0], worlds[1]), _TWO_ARMS, _GAP_CLAIMS, foreign)


PROPORTIONS = (one_arm, one_arm, swapped_arms, swapped_arms, gap_between_arms)
