from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pytest

from vericite.errors import InputError, UnknownNameError
from vericite.models import Pair
from vericite.models.contracts import Judgement, traits_of
from vericite.verify.judges.bundled import MeanJudge
from vericite.verify.judges.registry import is_kept, load_judge

PAIRS = [
    Pair("Zinc shortens colds.", "Zinc prolongs colds."),
    Pair("Aspirin lowers fever.", "Aspirin lowers fever in children."),
    Pair("Statins lower LDL.", "Bananas are yellow."),
]


class Made:
    """A judge that says what it was given, of as many pairs as there are."""

    def __init__(self, *rows: tuple[float, float, float] | None, name: str = "made") -> None:
        self.rows, self.signature, self.asked = rows, name, 0

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        for row, _ in zip(self.rows, pairs, strict=False):
            self.asked += 1
            yield Judgement.failed("no idea") if row is None else Judgement(np.array(row, dtype=np.float32))


class Short(Made):
    """One that reads so many characters."""

    capacity = 10
    pairs_at_once = 3

    def length(self, text: str) -> int:
        return len(text)


class Words(Made):
    """One that reads so many words."""

    capacity = 4

    def length(self, text: str) -> int:
        return len(text.split())


def test_it_is_the_mean_of_what_each_says():
    both = MeanJudge([load_judge("bundled"), load_judge("lexical")])
    apart = [[one.probabilities for one in judge.judge(PAIRS)] for judge in both.judges]
    for found, *said in zip(both.judge(PAIRS), *apart, strict=True):
        assert found.probabilities == pytest.approx(np.mean(said, axis=0), abs=1e-6)
        assert found.probabilities.sum() == pytest.approx(1, abs=1e-5)


def test_what_one_could_not_judge_is_not_judged_and_the_rest_is():
    sure = (0.8, 0.1, 0.1)
    first, second = MeanJudge([Made(sure, sure, name="a"), Made(None, sure, name="b")]).judge(PAIRS[:2])
    assert first.failure == "b: no idea"
    assert second.probabilities == pytest.approx(sure)


def test_pairs_are_asked_about_as_they_come():
    judges = [Made(*[(1.0, 0.0, 0.0)] * 3), Made(*[(0.0, 1.0, 0.0)] * 3)]
    found = MeanJudge(judges).judge(iter(PAIRS))
    assert next(found).probabilities == pytest.approx((0.5, 0.5, 0))
    assert [judge.asked for judge in judges] == [1, 1]


def test_it_reads_what_all_of_them_read():
    """Texts that fit together fit into each judge."""
    mean = MeanJudge([Short(), Words(), Made()])
    traits = traits_of(mean)
    assert traits.pairs_at_once == 3 and traits.capacity is not None
    for text, fits in [("a b c d", True), ("a b c d e", False), ("abcdefghij", True), ("abcdefghijk", False)]:
        assert (traits.length(text) <= traits.capacity) is fits
    assert traits.length("abcde") + traits.length("a b c") > traits.capacity
    assert traits_of(MeanJudge([Made(), Made()])).capacity is None


def test_it_is_had_by_name_and_signed_by_its_parts():
    mean = load_judge("mean: bundled + lexical")
    assert mean.signature == f"mean({load_judge('bundled').signature} + {load_judge('lexical').signature})"
    assert not is_kept("mean:bundled+lexical")


@pytest.mark.parametrize("names", ["bundled", "bundled+", "+", "mean:bundled+lexical+bundled"])
def test_names_of_no_mean_are_refused(names: str):
    with pytest.raises(InputError, match="expected"):
        load_judge(f"mean:{names}")


def test_a_judge_without_probabilities_has_no_mean():
    class Labels(Made):
        graded = False

    with pytest.raises(InputError, match="only returns labels"):
        MeanJudge([Made(), Labels()])


def test_a_part_that_there_is_not_is_named():
    with pytest.raises(UnknownNameError, match="nobody"):
        load_judge("mean:bundled+nobody")
