"""Made-up premises and claims about quantities: the claim tells the premise's fact, or another, in other words.

Every fact is drawn together with a rival fact. The claim in the one world and the claim in the other share their
wording and differ in the fact alone; which of the two the premise tells is tossed for, so a claim by itself never
gives its label away.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import islice

from vericite.train.mix.example import Example, Label
from vericite.train.mix.frames.quantities_asides import premises_of
from vericite.train.mix.frames.quantities_changes import CHANGES
from vericite.train.mix.frames.quantities_designs import DESIGNS
from vericite.train.mix.frames.quantities_measures import MEASURES
from vericite.train.mix.frames.quantities_proportions import PROPORTIONS
from vericite.train.mix.frames.quantities_ratios import RATIOS
from vericite.train.mix.frames.quantities_scene import Scene, claim_pair, open_claim

SCENES: tuple[Callable[[random.Random], Scene], ...] = (*PROPORTIONS, *RATIOS, *CHANGES, *MEASURES, *DESIGNS)

# How often the rival premise is told as well, a claim the premise leaves open is added.
_BOTH_WORLDS = 0.35
_OPEN = 0.48


def quantity_frames(count: int, dice: random.Random) -> Iterator[Example]:
    """Yield so many examples: a premise, claims that are true of it, their broken twins, and open claims at times.

    Args:
        count: How many examples.
        dice: What everything is drawn from; the same dice give the same examples.
    """
    return islice(_endless(dice), max(0, count))


def _endless(dice: random.Random) -> Iterator[Example]:
    number = 0
    while True:
        scene = dice.choice(SCENES)(dice)
        premises = premises_of(scene, dice)
        told = _claims(scene, dice)
        if not told:
            continue
        world = dice.randrange(2)
        group = f"frames:quantities:{number}"
        sides = (world, 1 - world) if dice.random() < _BOTH_WORLDS else (world,)
        for side in sides:
            yield from _examples(premises[side], side, told, group, f"frames:quantities:{number}")
            number += 1


_Claim = tuple[str, tuple[str, str], str | None]


def _claims(scene: Scene, dice: random.Random) -> list[_Claim]:
    """One or two claims, each with its kind, its text in either world and perhaps an open one in the same wording."""
    wanted = dice.choice((1, 1, 2))
    told: list[_Claim] = []
    for claim in dice.sample(scene.claims, len(scene.claims)):
        if len(told) == wanted:
            break
        if pair := claim_pair(scene, claim, dice):
            template, texts = pair
            other = open_claim(scene, template, dice) if dice.random() < _OPEN else None
            told.append((claim.kind, texts, other))
    return told


def _examples(premise: str, side: int, told: list[_Claim], group: str, twin: str) -> Iterator[Example]:
    """The examples of one premise: what its world tells is entailed, what the other tells is contradicted."""
    for kind, texts, other in told:
        rows: list[tuple[str, Label]] = [(texts[side], "entails"), (texts[1 - side], "contradicts")]
        if other:
            rows.append((other, "neutral"))
        for claim, label in rows:
            yield Example(premise, claim, label, "frames", kind, group, twin)
