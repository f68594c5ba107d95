"""Operating points: from which probability on supported verdicts are right often enough."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from release.precisions import Checked, check, curve, drawn, lowest, point_for, promised, read_sets
from vericite.errors import InputError, UnknownNameError
from vericite.lab.train.data import LabelledPair
from vericite.verify.judges.bundled import LexicalJudge


def made(name: str, seed: int, honest: float = 1.0, n: int = 500) -> Checked:
    """A set whose supported verdicts are right as often as they say, times ``honest``."""
    drawn_by = np.random.default_rng(seed)
    probability = drawn_by.uniform(0, 1, n)
    return Checked(name, probability, probability > 0.34, drawn_by.uniform(0, 1, n) < probability * honest)


SETS = [made(f"set{seed}", seed) for seed in range(6)]


def test_the_threshold_is_where_verdicts_above_it_are_right_often_enough():
    point = point_for(SETS, 0.8)
    # Of what lies between t and 1 evenly and says what is so, (1 + t) / 2 is right.
    assert point.threshold == pytest.approx(0.6, abs=0.08)
    assert point.kept == pytest.approx(0.4 / 0.66, abs=0.12)
    assert point.left_out == pytest.approx(0.8, abs=0.04)
    assert promised(point)


def test_a_set_that_is_easy_does_not_lower_the_threshold():
    """Thousands of sure and right verdicts of one set would hide that the others are wrong."""
    easy = Checked("easy", np.full(2000, 0.6), np.full(2000, True), np.full(2000, True))
    alone, together = point_for(SETS, 0.85), point_for([*SETS, easy], 0.85)
    assert alone.threshold is not None and together.threshold is not None
    assert together.threshold >= alone.threshold - 0.02


def test_a_set_on_which_the_judge_is_too_sure_shows_where_it_is_left_out():
    bad = made("bad", 7, honest=0.5)
    point = point_for([*SETS, bad], 0.75)
    assert point.threshold is not None
    assert point.worst is not None and point.worst < 0.6


def test_what_no_threshold_reaches_is_not_promised():
    sets = [made(f"set{seed}", seed, honest=0.5) for seed in range(4)]
    point = point_for(sets, 0.9)
    assert point.threshold is None
    assert not promised(point)


@settings(max_examples=20, deadline=None)
@given(st.floats(0.5, 0.9), st.floats(0.5, 0.9))
def test_more_precision_takes_no_lower_threshold(one: float, other: float):
    low, high = (lowest(SETS, share) for share in sorted((one, other)))
    assert low is not None
    assert high is None or low <= high


def test_few_verdicts_have_no_risk():
    few = [made(f"set{seed}", seed, n=15) for seed in range(4)]
    assert all(point.risk is None for point in curve(few))
    assert lowest(few, 0.5) is None


def row(number: int, label: str = "entails", name: str = "set") -> LabelledPair:
    claim = f"Drug {number} lowers fever." if label == "entails" else f"Weather in Oslo was fine on day {number}."
    told = {"premise": f"Drug {number} lowers fever.", "claim": claim, "label": label, "source": name}
    return LabelledPair.model_validate({**told, "kind": "pair", "group": f"g{number // 3}"})


def lines(pairs: Iterable[LabelledPair]) -> str:
    return "".join(pair.model_dump_json(exclude_defaults=True) + "\n" for pair in pairs)


def test_groups_are_drawn_whole_and_the_same_each_time():
    rows = [row(number) for number in range(90)]
    chosen = drawn(rows, 30)
    assert {pair.group for pair in chosen} == {pair.group for pair in drawn(list(reversed(rows)), 30)}
    assert len(chosen) == 30
    assert all(sum(other.group == pair.group for other in chosen) == 3 for pair in chosen)


def test_sets_are_checked_as_a_user_would_have_them_checked(tmp_path: Path):
    folder = tmp_path / "held"
    folder.mkdir()
    for name in ("one", "two"):
        told = (row(n, "entails" if n % 2 else "neutral", name) for n in range(12))
        (folder / f"{name}.jsonl").write_text(lines(told))
    (folder / "onesided.jsonl").write_text(lines(row(n, name="onesided") for n in range(5)))
    mixed = tmp_path / "mixed.jsonl"
    mixed.write_text(lines(row(n, "entails" if n % 2 else "neutral", "three") for n in range(12)))
    sets = read_sets([folder, mixed])
    assert list(sets) == ["one", "onesided", "three", "two"]
    found = check(LexicalJudge(), sets, 100)
    assert [checked.name for checked in found] == ["one", "three", "two"]
    for checked in found:
        assert checked.entailed.sum() == 6
        assert checked.called[checked.entailed].all()
        assert not checked.called[~checked.entailed].any()
    with pytest.raises(InputError, match="three sets or more"):
        check(LexicalJudge(), read_sets([folder]), 100)
    assert list(read_sets([folder, mixed], ["two", "one"])) == ["one", "two"]
    with pytest.raises(UnknownNameError, match="four"):
        read_sets([folder], ["four"])
