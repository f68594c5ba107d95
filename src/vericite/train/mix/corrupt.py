"""Hard negatives: a claim that holds, and the same claim broken in one place; the premise broken likewise."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from vericite.train.mix.edits import Edit
from vericite.train.mix.example import Example
from vericite.train.mix.numbers import number_edits
from vericite.train.mix.reversals import comparator_edits, direction_edits, negation_edits
from vericite.train.mix.swaps import Names, overclaim_edits, swap_edits


def edits(claim: str, premise: str, names: Names, dice: random.Random) -> list[Edit]:
    """Every edit that breaks a claim which the premise entails."""
    if "?" in claim:
        return []
    found = [
        *number_edits(claim, premise, dice),
        *direction_edits(claim),
        *negation_edits(claim),
        *comparator_edits(claim),
        *swap_edits(claim, premise, names, dice),
        *overclaim_edits(claim, premise),
    ]
    return [edit for edit in found if edit.of(claim) != claim and edit.of(claim) not in premise]


def broken(example: Example, edit: Edit, twin: str) -> list[Example]:
    """The twins of an entailed example under an edit.

    All four if the edit carries over to the premise, so that each of the two claims is once entailed and once not
    and no claim gives itself away; else the example and its broken claim.
    """
    claim = edit.of(example.claim)
    found = [
        replace(example, twin=f"{twin}:p", kind=edit.kind),
        replace(example, twin=f"{twin}:p", kind=edit.kind, claim=claim, label=edit.effect),
    ]
    premise = edit.carried(example.premise)
    if premise is None or premise == example.premise:
        return found
    other = replace(example, twin=f"{twin}:q", kind=edit.kind, premise=premise)
    found.append(replace(other, claim=claim))
    # Who overclaims says the weaker thing as well: then it makes no pair of opposites.
    found.append(replace(other, label=edit.effect) if edit.mirrored else replace(other, twin=None))
    if not edit.mirrored:
        found[2] = replace(found[2], twin=None)
    return found


def corrupted(examples: Iterable[Example], names: Names, dice: random.Random, each: int) -> list[Example]:
    """The twins of some entailed examples; kinds that are rare get their turn first."""
    found: list[Example] = []
    used: defaultdict[str, int] = defaultdict(int)
    for number, example in enumerate(examples):
        choices: dict[str, list[Edit]] = {}
        for edit in edits(example.claim, example.premise, names, dice):
            choices.setdefault(edit.kind, []).append(edit)
        kinds = sorted(choices, key=lambda kind: (used[kind], kind))[:each]
        for kind in kinds:
            used[kind] += 1
            edit = choices[kind][dice.randrange(len(choices[kind]))]
            found += broken(example, edit, f"{example.source}:{number}:{kind}")
    return found
