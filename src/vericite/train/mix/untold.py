"""Claims before near sentences that nobody has labelled: for a larger model to label, and a small one to learn from."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from vericite.train.mix.example import Example
from vericite.train.mix.overlap import Nearest, Rarity

UNTOLD = "untold"
"""The kind of such an example; its label says nothing."""

_LONGEST = 70
_COVERED = 0.3
"""Of the claim's telling words that a sentence must have: what has fewer is neutral without a model to say so."""
_SCARCE = {"healthver": 12, "scifact": 12, "covidfact": 3, "pubmedqa": 4, "nli4ct": 2, "wice": 4, "attributionbench": 3}
"""Sentences a claim: more where people wrote the claims and there are few of them."""
_MADE = frozenset({"frames", "written"})
_TWIN_SHARE = 0.15
"""Of the claims of twins, those taken: the broken ones among them are what contradictions are met in."""


def untold(train: Sequence[Example], most: int, dice: random.Random) -> list[Example]:
    """Claims of a mix before sentences of the same mix, as near as can be and not yet paired.

    Premises and claims are the mix's own, so that whatever was kept out of it is kept out of this.

    Args:
        train: The mix.
        most: Examples at the most.
        dice: Chance.
    """
    if not most:
        return []
    read = (e.premise for e in train if e.source not in _MADE and len(e.premise.split()) <= _LONGEST)
    premises = list(dict.fromkeys(read))
    nearest = Nearest(premises, [""] * len(premises))
    rarity = Rarity(premises)
    paired = {(example.premise, example.claim) for example in train}
    found: list[Example] = []
    for example in _claims(train, dice):
        count = _SCARCE.get(example.source, 1)
        near = [premises[place] for place in nearest.find(example.claim, "(none)", 2 * count)]
        new = [text for text in near if (text, example.claim) not in paired]
        telling = [text for text in new if rarity.coverage(example.claim, text) >= _COVERED]
        start = replace(example, label="neutral", kind=UNTOLD, twin=None, binary=False)
        found += [replace(start, premise=text) for text in dice.sample(telling, min(count, len(telling)))]
    dice.shuffle(found)
    return found[:most]


def _claims(train: Sequence[Example], dice: random.Random) -> list[Example]:
    """One example of each distinct claim."""
    first: dict[str, Example] = {}
    for example in train:
        if example.source not in _MADE and (example.twin is None or dice.random() < _TWIN_SHARE):
            first.setdefault(example.claim, example)
    return list(first.values())
