"""A claim said otherwise: another syntax, other words, the same meaning."""

from __future__ import annotations

import random
from collections.abc import Callable

from vericite.train.mix.wording.dropping import bare, shortened
from vericite.train.mix.wording.findings import as_noun, null
from vericite.train.mix.wording.grammar import capital, kept, mended
from vericite.train.mix.wording.moving import seen, to_end, to_front
from vericite.train.mix.wording.nouns import bearers, rehung
from vericite.train.mix.wording.quantities import requantified
from vericite.train.mix.wording.synonyms import synonymised
from vericite.train.mix.wording.turning import turned
from vericite.train.mix.wording.voice import active, passive, went

_MOST_KEPT = 0.75
_TRIES = 8
_Rule = Callable[[str, random.Random], str | None]


def _plain(rule: Callable[[str], str | None]) -> _Rule:
    return lambda text, dice: rule(text)


# Rules that make another sentence come before those that only move a phrase of it.
_REMAKING: tuple[_Rule, ...] = (as_noun, null, bearers, *map(_plain, (turned, active, passive, went, seen)))
_MOVING: tuple[_Rule, ...] = (_plain(to_end), _plain(to_front))


def reworded(claim: str, dice: random.Random, most: int = 3) -> str:
    """The claim with up to ``most`` phrases said otherwise; the same claim if there are none."""
    return (
        capital(mended(synonymised(claim, dice, most)))
        if claim.endswith(".")
        else capital(synonymised(claim, dice, most))
    )


def restated(claim: str, dice: random.Random) -> str | None:
    """The claim in another syntax and other words; None if the rules leave more than 75 % of its pairs of words.

    What is returned follows from the claim: details may be missing, nothing is added. A number may be in words or
    rounded, and a comparison told from its other side. Questions are refused.
    """
    if "?" in claim or not 5 <= len(claim.split()) <= 70:
        return None
    for attempt in range(_TRIES):
        said = _tried(claim, dice, 2 if attempt < 2 else 4)
        if said and kept(said, claim) <= _MOST_KEPT and 4 <= len(said.split()):
            return said
    return None


def _tried(claim: str, dice: random.Random, least: int) -> str | None:
    whole = mended(claim)
    short = mended(bare(whole)) if dice.random() < 0.9 else whole
    short = mended(shortened(short, dice)) if dice.random() < 0.75 else short
    text = _remade(short, dice)
    if dice.random() < 0.7:
        text = mended(rehung(text, dice))
    if dice.random() < 1 / 3:
        text = requantified(text, dice)
    if text == whole:
        return None
    return mended(synonymised(text, dice, dice.randint(least, 4)))


def _remade(text: str, dice: random.Random) -> str:
    """The text after one rule that remakes it, and at times one that moves a phrase."""
    for rule in dice.sample(_REMAKING, len(_REMAKING)):
        said = rule(text, dice)
        if said and mended(said) != text:
            text = mended(said)
            break
    else:
        return _moved(text, dice)
    return _moved(text, dice) if dice.random() < 0.3 else text


def _moved(text: str, dice: random.Random) -> str:
    for rule in dice.sample(_MOVING, len(_MOVING)):
        if said := rule(text, dice):
            return mended(said)
    return text
