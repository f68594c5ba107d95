"""Who plays in a scenario: the names its premise uses, and other names of the same things for its claims."""

from __future__ import annotations

import random
from dataclasses import dataclass

from vericite.train.mix.frames.effects_names import (
    CONDITIONS,
    DRUGS,
    EXPOSURES,
    GENES,
    GERMS,
    POPULATIONS,
    PROCESSES,
    TREATMENTS,
    WAYS,
    Names,
)
from vericite.train.mix.frames.effects_outcomes import EVENTS, OUTCOMES, Outcome

Slots = dict[str, str]

# base, third person, past, participle, adjective: of the premise and of the claim, down and up
_VERBS: dict[str, tuple[tuple[str, str, str, str, str], ...]] = {
    "premise down": (
        ("reduce", "reduces", "reduced", "reduced", "lower"),
        ("decrease", "decreases", "decreased", "decreased", "reduced"),
        ("lower", "lowers", "lowered", "lowered", "decreased"),
    ),
    "premise up": (
        ("increase", "increases", "increased", "increased", "higher"),
        ("raise", "raises", "raised", "raised", "increased"),
        ("elevate", "elevates", "elevated", "elevated", "greater"),
    ),
    "claim down": (
        ("cut", "cuts", "cut", "cut", "less"),
        ("bring down", "brings down", "brought down", "brought down", "less"),
        ("diminish", "diminishes", "diminished", "diminished", "diminished"),
        ("lessen", "lessens", "lessened", "lessened", "less"),
    ),
    "claim up": (
        ("push up", "pushes up", "pushed up", "pushed up", "more"),
        ("drive up", "drives up", "drove up", "driven up", "more"),
        ("heighten", "heightens", "heightened", "heightened", "heightened"),
        ("step up", "steps up", "stepped up", "stepped up", "more"),
    ),
}
_NOT_NOUNS = ("how ", "being ", "stopping ", "taking ", "hours ", "feeling ", "throwing ", "quitting ", "falling")


@dataclass(frozen=True, slots=True)
class Cast:
    """The names of a scenario; in both, a key with 9 is something the premise does not speak of."""

    premise: Slots
    claim: Slots


def _two(names: Names, dice: random.Random) -> tuple[str, str]:
    """A name for the premise and, where there is one, another for the claim."""
    one = dice.choice(names)
    others = [name for name in names if name != one]
    return one, dice.choice(others) if others else one


def bare(name: str, outcome: Outcome) -> str:
    """The name as it stands after an adjective."""
    if name.startswith(_NOT_NOUNS):
        name = next(other for other in outcome.names if not other.startswith(_NOT_NOUNS))
    first, _, rest = name.partition(" ")
    return rest if first in ("the", "a", "an") else name


def _outcomes(dice: random.Random, event: bool) -> list[Outcome]:
    """Four outcomes of which none implies another; the first an event if asked."""
    chosen = [dice.choice(EVENTS if event else OUTCOMES)]
    while len(chosen) < 4:
        other = dice.choice(EVENTS if event else OUTCOMES)
        if other.theme not in {outcome.theme for outcome in chosen}:
            chosen.append(other)
    return chosen


def _valence(outcome: Outcome) -> Slots:
    down = ("unfavourable", "worse", "harm") if outcome.good else ("favourable", "better", "benefit")
    up = ("favourable", "better", "benefit") if outcome.good else ("unfavourable", "worse", "harm")
    return {
        **{"dgood": down[0], "dwell": down[1], "dadj": down[0], "dben": down[2]},
        **{"ugood": up[0], "uwell": up[1], "uadj": up[0], "uben": up[2]},
    }


def about(slots: Slots, key: str) -> Slots:
    """The slots with one of the further outcomes ("2", "3", "9") put in the place of the first."""
    return {
        **slots,
        **{name: slots[name + key] for name in ("o", "on", "die", "died", "dgood", "dwell", "ugood", "uwell")},
    }


def _statistics(dice: random.Random) -> Slots:
    if dice.random() < 0.4:
        return {name: "" for name in ("stat0", "stat1", "stat2", "sig", "ns", "inter")}
    low, high, level = dice.randint(48, 88), dice.randint(118, 240), dice.randint(95, 104)
    ratio = dice.choice(("RR", "OR", "HR"))
    tiny = dice.choice(("p<0.001", "p=0.003", "p=0.02", "P = 0.008"))
    large = dice.choice(("p=0.41", "p=0.77", "P = 0.36", "p=0.58"))
    if dice.random() < 0.5:
        shown = (f"({tiny})", f"({tiny})", f"({large})")
    else:
        shown = (
            f"({ratio} {low / 100:.2f}, 95% CI {(low - 9) / 100:.2f}-{(low + 8) / 100:.2f})",
            f"({ratio} {high / 100:.2f}, 95% CI {(high - 14) / 100:.2f}-{(high + 21) / 100:.2f})",
            f"({ratio} {level / 100:.2f}, 95% CI {(level - 12) / 100:.2f}-{(level + 13) / 100:.2f})",
        )
    slots = {f"stat{state}": text for state, text in enumerate(shown)}
    return {
        **slots,
        "sig": f"({tiny})",
        "ns": f"({large})",
        "inter": f"({tiny} for interaction)",
    }


def _things(dice: random.Random) -> tuple[Slots, Slots]:
    tables = {"t": TREATMENTS, "d": DRUGS, "x": EXPOSURES, "g": GENES, "b": PROCESSES, "c": CONDITIONS}
    premise: Slots = {}
    claim: Slots = {}
    for key, entries in tables.items():
        for suffix, names in zip(("", "2", "9"), dice.sample(sorted(set(entries)), 3), strict=True):
            premise[key + suffix], claim[key + suffix] = _two(names, dice)
    for slots in (premise, claim):
        slots["bn"] = slots["b"].removeprefix("the ")
    (one, other), (third, _) = dice.sample(POPULATIONS, 2)
    if dice.random() < 0.5:
        one, other = other, one
    for key, names in (("p", one), ("q", other), ("p9", third)):
        premise[key], claim[key] = _two(names, dice)
    return premise, claim


def cast(dice: random.Random, event: bool) -> Cast:
    """Draw the names of a scenario; `event` asks for outcomes that befall people."""
    premise, claim = _things(dice)
    for suffix, outcome in zip(("", "2", "3", "9"), _outcomes(dice, event), strict=True):
        one, other = _two(outcome.names, dice)
        die, died = outcome.happen or ("", "")
        words = {"die": die, "died": died, **_valence(outcome)}
        for slots, name in ((premise, one), (claim, other)):
            slots.update({"o" + suffix: name, "on" + suffix: bare(name, outcome)})
            slots.update({key + suffix: word for key, word in words.items()})
    way = dice.choice(("down", "up"))
    for side, slots in (("premise", premise), ("claim", claim)):
        verbs = dice.choice(_VERBS[f"{side} {way}"])
        slots.update(zip(("do", "does", "did", "done", "less"), verbs, strict=True))
    shared = {"n": str(dice.randint(24, 4800)), "k": str(dice.randint(3, 38)), "weeks": str(dice.randint(3, 52))}
    shared.update({"germ": dice.choice(GERMS), "way": dice.choice(WAYS)})
    shared.update(_statistics(dice))
    with_c = f"with {premise['c']}" if dice.random() < 0.6 else ""
    shared.update({"with_c": with_c, "in_c": f"in patients {with_c}" if with_c else ""})
    return Cast({**premise, **shared}, {**claim, **shared})
