"""Premises and claims about effects, made from facts: the claim is always worded in another way than the premise."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

from vericite.train.mix.example import Example, Label
from vericite.train.mix.frames.effects_cast import Cast, Slots, about, cast
from vericite.train.mix.frames.effects_directions import DIRECTIONS, MANY
from vericite.train.mix.frames.effects_limits import LIMITS
from vericite.train.mix.frames.effects_mechanisms import MECHANISMS
from vericite.train.mix.frames.effects_patterns import Facts, Topic, sentence, settle
from vericite.train.mix.frames.effects_settings import surrounded

TOPICS: tuple[Topic, ...] = (*DIRECTIONS, MANY, *LIMITS, *MECHANISMS)

_WEIGHTS = [topic.weight for topic in TOPICS]
_SWAPPED = ("t", "d", "o", "c", "x", "g", "p")
_SHORTEST = 5
_CANDIDATES = 5
_MORE_ENTAILED = 0.24  # of the scenarios; with the two below it sets the shares of the labels
_NEUTRAL = 1.0
_PREMISE_ALTERED = 0.25


@dataclass(frozen=True, slots=True)
class _Claim:
    """A settled claim and which of the facts it is about."""

    pattern: str
    slots: Slots
    fact: int = 0
    sure: bool = True

    def says(self, state: int) -> str:
        return sentence(self.pattern, (state, state, state), self.slots)


@dataclass(frozen=True, slots=True)
class _Scenario:
    """A topic with its names, the state of each of its facts, and the settled premise."""

    topic: Topic
    cast: Cast
    pattern: str
    absent: str | None

    def premise(self, facts: Facts) -> str:
        return sentence(self.pattern, facts, self.cast.premise)


def _macros(pattern: str) -> str:
    """The statistics follow the state of the fact they stand with."""
    return pattern.replace("{stat}", "[{stat0}|{stat1}|{stat2}]").replace("{yes_no}", "[{sig}|{ns}]")


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9'-]+", text.lower())


def overlap(premise: str, claim: str) -> float:
    """The share of the claim's words that the premise has as well."""
    known = set(_words(premise))
    words = _words(claim)
    return sum(word in known for word in words) / len(words)


def _claim(scenario: _Scenario, facts: Facts, dice: random.Random, used: set[str]) -> tuple[_Claim, int, int]:
    """A claim with a state that the premise gives and one that it does not; neither known by its common words."""
    premise = scenario.premise(facts)
    chosen = ""
    best: tuple[float, tuple[_Claim, int, int]] | None = None
    for _ in range(_CANDIDATES):
        raw = dice.choice(scenario.topic.claims)
        number = dice.randrange(len(facts))
        slots = about(scenario.cast.claim, str(number + 1)) if number else scenario.cast.claim
        claim = _Claim(settle(raw.lstrip("~"), dice), slots, number, not raw.startswith("~"))
        right, wrong = _states(scenario.topic, facts[number], dice)
        given, broken = claim.says(right), claim.says(wrong)
        if raw in used or given == broken:
            continue
        shares = overlap(premise, given), overlap(premise, broken)
        cost = abs(shares[0] - shares[1]) + 0.2 * sum(shares)
        if best is None or cost < best[0]:
            best = cost, (claim, right, wrong)
            chosen = raw
    if best is None:
        return _claim(scenario, facts, dice, set())
    used.add(chosen)
    return best[1]


def _states(topic: Topic, stated: int, dice: random.Random) -> tuple[int, int]:
    """A state the premise gives and one it does not."""
    right = [state for state in range(topic.states) if topic.label(stated, state) == "entails"]
    wrong = [state for state in range(topic.states) if topic.label(stated, state) != "entails"]
    return dice.choice(right), dice.choice(wrong)


def _swaps(claim: _Claim) -> list[str]:
    """Which names of the claim could be changed for names the premise says nothing about."""
    if not claim.sure:
        return []
    return [key for key in _SWAPPED if re.search(r"\{" + key + r"n?\}", claim.pattern)]


def _swap(claim: _Claim, key: str) -> _Claim:
    slots = about(claim.slots, "9") if key == "o" else {**claim.slots, key: claim.slots[key + "9"]}
    return _Claim(claim.pattern, slots, claim.fact)


def _elsewhere(claim: _Claim, key: str, state: int) -> str | None:
    """The claim about something the premise is silent on; None where it would still speak of what the premise has."""
    plain = sentence(claim.pattern, (state,) * 3, {name: f"{{{name}}}" for name in claim.slots})
    rival = {"p": "{q}", "g": "{g2}"}.get(key)
    text = _swap(claim, key).says(state)
    return None if (rival and rival.lower() in plain.lower()) or text == claim.says(state) else text


def _draw(dice: random.Random) -> tuple[_Scenario, Facts]:
    topic = dice.choices(TOPICS, _WEIGHTS)[0]
    raw = dice.choice(topic.premises)
    events = any("{die" in pattern for pattern in topic.claims)
    drawn = cast(dice, events)
    if topic is MANY:
        facts = tuple(dice.sample(range(3), 3 if "[3:" in raw else 2))
    else:
        facts = (_first(topic, dice),)
    named = [key for key in _SWAPPED if key != "p" and any("{" + key + "}" in claim for claim in topic.claims)]
    absent = dice.choice(named) + "9" if named and dice.random() < 0.7 else None
    pattern = surrounded(settle(_macros(raw), dice), absent, dice)
    return _Scenario(topic, drawn, pattern, absent), facts


def _first(topic: Topic, dice: random.Random) -> int:
    """A state of the fact; on a ladder nothing is as usual as something, so that no claim is mostly true."""
    return dice.choice((0, 0, 1, 2)) if topic.labels == "ladder" else dice.randrange(topic.states)


def _pairs(scenario: _Scenario, facts: Facts, dice: random.Random) -> Iterator[tuple[str, Label, str]]:
    """The claims of a scenario, with their labels and kinds."""
    topic, used = scenario.topic, set[str]()
    claim, right, wrong = _claim(scenario, facts, dice, used)
    yield claim.says(right), "entails", topic.kind
    yield claim.says(wrong), topic.label(facts[claim.fact], wrong), topic.kind
    if dice.random() < _MORE_ENTAILED:
        other, state, _ = _claim(scenario, facts, dice, used)
        yield other.says(state), "entails", topic.kind
    keys = _swaps(claim)
    if keys and topic.label(facts[claim.fact], wrong) != "neutral" and dice.random() < _NEUTRAL:
        key = scenario.absent[0] if scenario.absent and scenario.absent[0] in keys else dice.choice(keys)
        text = _elsewhere(claim, key, dice.choice((right, wrong)))
        if text:
            yield text, "neutral", {"o": "outcome", "p": "population", "c": "population"}.get(key, "entity")


def _altered(facts: Facts, topic: Topic, dice: random.Random) -> Facts:
    """The facts with each in another state than before."""
    return tuple(dice.choice([state for state in range(topic.states) if state != fact]) for fact in facts)


def _scenario(number: int, dice: random.Random) -> Iterator[Example]:
    """The examples of one premise, and at times those of the same claims under the altered premise."""
    scenario, facts = _draw(dice)
    group = f"frames:effects:{number}"
    premise = scenario.premise(facts)
    made = [
        Example(premise, text, label, "frames", kind, group, twin=group)
        for text, label, kind in _pairs(scenario, facts, dice)
    ]
    yield from {example.claim: example for example in reversed(made)}.values()
    if len(facts) == 1 and scenario.topic.labels == "opposed" and dice.random() < _PREMISE_ALTERED:
        yield from _again(scenario, facts, group, dice)


def _again(scenario: _Scenario, facts: Facts, group: str, dice: random.Random) -> Iterator[Example]:
    """Two claims under the altered premise: what was true of the first premise is not true of this one."""
    other = _altered(facts, scenario.topic, dice)
    premise = scenario.premise(other)
    claim, right, _ = _claim(scenario, other, dice, set())
    labelled: tuple[tuple[int, Label], ...] = ((right, "entails"), (facts[0], "contradicts"))
    for state, label in labelled:
        text = claim.says(state)
        yield Example(premise, text, label, "frames", scenario.topic.kind, group, twin=f"{group}:altered")


def effect_frames(count: int, dice: random.Random) -> Iterator[Example]:
    """Yield `count` examples; the twins of a scenario share their premise, and the same dice give the same examples."""
    made = number = 0
    while made < count:
        for example in _scenario(number, dice):
            if made < count and len(example.claim.split()) >= _SHORTEST:
                made += 1
                yield example
        number += 1
