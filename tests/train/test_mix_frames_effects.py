"""Premises and claims about effects: what holds of every example, whatever the dice."""

import random
import re
from collections import Counter, defaultdict

from hypothesis import given, settings
from hypothesis import strategies as st

from vericite.train.mix.example import Example
from vericite.train.mix.frames.effects import TOPICS, effect_frames, overlap
from vericite.train.mix.frames.effects_names import CONDITIONS, EXPOSURES, GENES, TREATMENTS
from vericite.train.mix.frames.effects_outcomes import OUTCOMES

KINDS = {"direction", "negation", "scope", "population", "comparator", "causality", "entity", "outcome"}
SEEDS = st.integers(min_value=0, max_value=2**32)


def drawn(seed: int, count: int = 60) -> list[Example]:
    return list(effect_frames(count, random.Random(seed)))


@settings(max_examples=30, deadline=None)
@given(SEEDS)
def test_the_same_dice_give_the_same_examples(seed: int) -> None:
    assert drawn(seed) == drawn(seed)
    assert len(drawn(seed)) == 60


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_every_example_is_well_formed(seed: int) -> None:
    for example in drawn(seed):
        assert example.source == "frames"
        assert example.kind in KINDS
        assert example.label in {"entails", "contradicts", "neutral"}
        assert example.group.startswith("frames:effects:")
        assert example.claim.rstrip(".").lower() not in example.premise.lower()
        assert 5 <= len(example.claim.split()) <= 32
        for text in (example.premise, example.claim):
            assert not re.search(r"[{}\[\]<|~\\]", re.sub(r"[<=]\d|p<0|interaction <", "", text)), text
            assert "  " not in text
            assert text.endswith(".")
            assert all(not part[0].islower() for part in re.split(r"(?<=\.) ", text)), text


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_twins_share_the_premise_and_differ_in_the_claim(seed: int) -> None:
    twins: dict[str | None, list[Example]] = defaultdict(list)
    for example in drawn(seed):
        twins[example.twin].append(example)
    for together in twins.values():
        assert len({example.premise for example in together}) == 1
        assert len({example.claim for example in together}) == len(together)
        assert len({example.group for example in together}) == 1


def test_labels_are_in_their_shares_and_common_words_do_not_tell_them() -> None:
    examples = drawn(3, 3000)
    shares = Counter(example.label for example in examples)
    assert 0.37 < shares["entails"] / 3000 < 0.47
    assert 0.28 < shares["contradicts"] / 3000 < 0.38
    assert 0.18 < shares["neutral"] / 3000 < 0.30
    common: dict[str, float] = Counter()
    for example in examples:
        common[example.label] += overlap(example.premise, example.claim) / shares[example.label]
    assert abs(common["entails"] - common["contradicts"]) < 0.03
    assert {example.kind for example in examples} == KINDS


def test_there_is_enough_to_draw_from() -> None:
    assert len({pattern for topic in TOPICS for pattern in topic.premises}) >= 40
    assert len({pattern for topic in TOPICS for pattern in topic.claims}) >= 80
    assert len(TREATMENTS) + len(EXPOSURES) + len(GENES) >= 100
    assert len(OUTCOMES) >= 80
    assert len(CONDITIONS) >= 50


def test_the_alternatives_of_a_pattern_fit_its_topic() -> None:
    for topic in TOPICS:
        for pattern in (*topic.premises, *topic.claims):
            for stated in re.findall(r"\[(?:\d:)?([^\[\]]*)\]", pattern):
                assert stated.count("|") == topic.states - 1, pattern
