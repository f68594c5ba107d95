"""Which premise is asked first, and that asking stops in time without changing a label."""

from collections.abc import Iterable, Iterator

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vericite import check
from vericite.models import Pair
from vericite.verify import AnyEntails, Judgement, Protocol
from vericite.verify.aggregators import ranks
from vericite.verify.verifier import weighted_overlap

WORDS = st.lists(st.sampled_from("zinc honey cold cough fever died improved children adults trial".split()), max_size=6)
TEXTS = st.lists(WORDS.map(" ".join), min_size=1, max_size=9)


class Hashing:
    """A judge whose word depends on the texts alone; counts what it is asked."""

    signature = "hashing"

    def __init__(self) -> None:
        self.asked = 0

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        for pair in pairs:
            self.asked += 1
            seed = sum(map(ord, pair.premise + pair.claim))
            yield Judgement(np.random.default_rng(seed).dirichlet((1, 1, 2)).astype(np.float32))


@given(TEXTS, WORDS.map(" ".join))
def test_shares_lie_between_nothing_and_all_and_a_copy_has_all(premises: list[str], statement: str) -> None:
    found = weighted_overlap(statement, [*premises, statement])
    assert ((found >= 0) & (found <= 1 + 1e-9)).all()
    assert not statement or found[-1] == found.max()


def test_a_rare_word_counts_for_more_than_one_that_all_have() -> None:
    premises = ["The trial was long.", "Zinc was given.", "The trial ended.", "The trial failed."]
    assert weighted_overlap("The zinc trial.", premises).argmax() == 1


def test_those_as_like_keep_their_order() -> None:
    assert ranks(np.array([[0.0, 0.5, 0.0, 0.5]])).tolist() == [[2, 0, 3, 1]]


@given(st.lists(WORDS.filter(bool).map(" ".join), min_size=1, max_size=14, unique=True), st.sampled_from((0.0, 0.7)))
def test_stopping_early_changes_no_label_and_asks_no_more(sentences: list[str], bar: float) -> None:
    text = " ".join(f"{sentence.capitalize()}." for sentence in sentences)
    found = []
    for early in (False, True):
        judge = Hashing()
        protocol = Protocol(judge=judge, aggregate=AnyEntails(early=early), abstain_below=bar)
        (verdict,) = check("Zinc shortened colds [1].", [{"id": "d", "text": text}], protocol=protocol).verdicts
        found.append(((verdict.label, verdict.abstained), judge.asked))
    assert found[0][0] == found[1][0]
    assert found[1][1] <= found[0][1]


def test_what_is_likest_and_entails_is_all_that_is_asked() -> None:
    class Sure(Hashing):
        def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
            for pair in pairs:
                self.asked += 1
                entails = "colds" in pair.premise
                yield Judgement(np.array((0.9, 0.05, 0.05) if entails else (0.1, 0.1, 0.8), dtype=np.float32))

    judge = Sure()
    text = " ".join(["Rain fell."] * 8 + ["Zinc shortened colds."] + ["Snow fell."] * 8)
    (verdict,) = check(
        "Zinc shortens colds [1].",
        [{"id": "d", "text": text}],
        protocol=Protocol(judge=judge, aggregate=AnyEntails(early=True)),
    ).verdicts
    assert verdict.label == "supported"
    assert [span.sentence_index for span in verdict.evidence] == [8]
    assert judge.asked == 2
