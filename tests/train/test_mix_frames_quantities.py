"""Laws of the made-up premises and claims about quantities, and the arithmetic they rest on."""

import random
import re
from collections import defaultdict
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vericite.train.mix.frames.quantities import SCENES, quantity_frames
from vericite.train.mix.frames.quantities_names import EVENTS, MARKERS, TREATMENTS, denied
from vericite.train.mix.frames.quantities_numbers import bound_between, grouped, interval, percent, plain, words
from vericite.train.mix.frames.quantities_scene import claim_pair, filled

seeds = st.integers(0, 2**32)
KINDS = {"number", "unit", "comparator", "proportion", "time", "count"}


@given(seeds)
@settings(max_examples=20, deadline=None)
def test_the_same_dice_give_the_same_examples(seed):
    assert list(quantity_frames(30, random.Random(seed))) == list(quantity_frames(30, random.Random(seed)))


@given(seeds)
@settings(max_examples=40, deadline=None)
def test_examples_are_well_formed(seed):
    for example in quantity_frames(40, random.Random(seed)):
        assert example.label in {"entails", "contradicts", "neutral"}
        assert example.kind in KINDS
        assert example.source == "frames"
        assert re.fullmatch(r"frames:quantities:\d+", example.group)
        assert example.claim not in example.premise
        for text in (example.premise, example.claim):
            assert not re.search(r"[\[\]{}|]|  | [.,;)]|\bthe the\b", text), text
            assert text.endswith(".")
            starts = re.split(r"(?<=[a-z)%0-9])\. ", text)
            assert all(start[0].isupper() for start in starts), text


@given(seeds)
@settings(max_examples=40, deadline=None)
def test_twins_share_the_premise_and_differ_in_the_claim(seed):
    twins = defaultdict(list)
    for example in quantity_frames(60, random.Random(seed)):
        twins[example.twin].append(example)
    for examples in twins.values():
        assert len({example.premise for example in examples}) == 1
        assert len({example.group for example in examples}) == 1
        entailed = {example.claim for example in examples if example.label == "entails"}
        others = {example.claim for example in examples if example.label != "entails"}
        assert not entailed & others


@given(seeds)
@settings(max_examples=20, deadline=None)
def test_a_claim_told_in_both_worlds_changes_its_label(seed):
    labels = defaultdict(dict)
    for example in quantity_frames(80, random.Random(seed)):
        if example.label != "neutral":
            labels[(example.group, example.claim)][example.premise] = example.label
    assert all(len(set(seen.values())) == len(seen) for seen in labels.values())


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
def test_every_premise_of_a_scene_can_be_filled_and_some_claim_tells_the_worlds_apart(scene):
    dice = random.Random(7)
    for _ in range(50):
        drawn = scene(dice)
        assert any(claim_pair(drawn, claim, dice) for claim in drawn.claims)


def test_labels_are_near_the_wanted_shares():
    examples = list(quantity_frames(3000, random.Random(3)))
    share = {label: sum(e.label == label for e in examples) / 3000 for label in ("entails", "contradicts", "neutral")}
    assert 0.38 < share["entails"] < 0.48
    assert 0.38 < share["contradicts"] < 0.48
    assert 0.1 < share["neutral"] < 0.2


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (0, "zero"),
        (15, "fifteen"),
        (40, "forty"),
        (42, "forty-two"),
        (100, "one hundred"),
        (312, "three hundred and twelve"),
    ],
)
def test_words(number, said):
    assert words(number) == said


def test_no_words_beyond_the_range():
    with pytest.raises(ValueError, match="no words"):
        words(1000)


@pytest.mark.parametrize(
    ("first", "second", "name"),
    [(0.4, 0.6, "half"), (0.3, 0.1, "a quarter"), (0.3, 0.35, None), (0.05, 0.07, None), (0.9, 0.7, "three quarters")],
)
def test_bound_between(first, second, name):
    assert bound_between(first, second) == name


def test_number_formats():
    assert percent(Fraction(1, 3)) == "33.3%"
    assert percent(Fraction(2, 5)) == "40%"
    assert grouped(12400) == "12,400"
    assert plain(1.50, 2) == "1.5"
    assert plain(200, 0) == "200"
    low, high = interval(0.5, 0.2)
    assert low < 0.5 < high
    assert low * high == pytest.approx(0.25)


def test_names_are_many_and_distinct():
    assert len(set(TREATMENTS)) == len(TREATMENTS) >= 80
    assert len({event.event for event in EVENTS} | {marker.name for marker in MARKERS}) >= 60
    assert denied("were readmitted to hospital") == "were not readmitted to hospital"
    assert denied("relapsed") == "did not relapse"


def test_a_sentence_gets_its_article_and_its_capital():
    assert filled("a {fall} of {d}", {"fall": "increase", "d": "2"}) == "An increase of 2"
    assert filled("a {fall}", {}) is None
