from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pytest

from vericite.errors import InputError
from vericite.evaluate.labels import OwnLabel, judge_labels
from vericite.models import Pair
from vericite.verify import Judgement

NAMES = ("supported", "contradicted", "irrelevant")
LABELS = [OwnLabel(premise=f"Trial {row}.", claim=f"Claim {row}.", label=NAMES[row % 3]) for row in range(60)]


class Trying:
    """Knows no contradiction, asks for few at once, and fails at the claims it is told to fail at."""

    signature = "trying"
    pairs_at_once = 7

    def __init__(self, fails: frozenset[str] = frozenset()) -> None:
        self.fails, self.most = fails, 0

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        asked = list(pairs)
        self.most = max(self.most, len(asked))
        for pair in asked:
            if pair.claim in self.fails:
                yield Judgement.failed("too long")
            else:
                yield Judgement(np.array([0.25, 0.0, 0.75], dtype=np.float32), note="cut")


def test_a_judge_without_contradiction_has_contradicted_pairs_count_as_irrelevant():
    judge = Trying()
    found = judge_labels(judge, LABELS)
    assert found.without_contradiction
    assert found.judged.gold.tolist() == [0, 2, 2] * 20
    assert (judge.most, found.notes["cut"]) == (7, 60)


def test_labels_that_such_a_judge_cannot_tell_apart_are_refused():
    labels = [label.model_copy(update={"label": NAMES[1 + row % 2]}) for row, label in enumerate(LABELS)]
    with pytest.raises(InputError, match=r"trying knows no contradiction, .* only irrelevant is left"):
        judge_labels(Trying(), labels)


def test_pairs_it_fails_at_are_left_out_and_counted():
    found = judge_labels(Trying(frozenset({"Claim 0.", "Claim 4."})), LABELS)
    assert (len(found.labels), len(found.judged.gold), found.failures["too long"]) == (58, 58, 2)


def test_a_judge_that_fails_at_most_is_refused():
    with pytest.raises(InputError, match=r"that trying can judge; found 20: too long \(40 pairs\)"):
        judge_labels(Trying(frozenset(label.claim for label in LABELS[:40])), LABELS)


def test_a_judge_whose_judgements_have_no_probabilities_is_refused():
    class Certain(Trying):
        def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
            return (Judgement.certain(0, "1") for _ in pairs)

    with pytest.raises(InputError, match="only says a label"):
        judge_labels(Certain(), LABELS)
