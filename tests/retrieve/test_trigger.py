from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vericite.errors import InputError
from vericite.retrieve.rewrite import Trigger, coverage, question_words, relevance

QUESTION = "Does aspirin lower the risk of stroke in adults?"  # aspirin, lower, risk, stroke, adults
UNIT = st.floats(0, 1)
TEXTS = st.lists(st.text(alphabet="abc dE'-é ", max_size=30), max_size=5)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (QUESTION, {"aspirin", "lower", "risk", "stroke", "adults"}),
        ("Who was treated, and where? Why is it?", {"treated"}),
        ("Is IL-6 raised in Crohn's disease and Crohn’s disease?", {"il", "6", "raised", "crohn", "disease"}),
        ("TNF-α, (p53)", {"tnf", "α", "p53"}),
        ("What of it?", set()),
        ("", set()),
    ],
)
def test_the_words_of_a_question(text: str, words: set[str]):
    assert question_words(text) == words


@pytest.mark.parametrize(
    ("texts", "share"),
    [
        ([], 0.0),
        (["Aspirin and stroke."], 0.4),
        (["Aspirin.", "A STROKE; the risk"], 0.6),
        (["aspirin aspirin aspirin"], 0.2),
        (["Aspirins lowered risks of strokes"], 0.0),  # unstemmed, as in the paper
        (["lower risk", "stroke in adults", "of aspirin"], 1.0),
    ],
)
def test_coverage_is_the_share_of_words_in_all_evidence(texts: list[str], share: float):
    assert coverage(QUESTION, texts) == pytest.approx(share)


@given(st.text(alphabet="abc dE'-é ", max_size=40), TEXTS, st.text(alphabet="abc d", max_size=30))
def test_coverage_is_a_share_and_more_evidence_never_lowers_it(question: str, texts: list[str], more: str):
    before = coverage(question, texts)
    assert 0 <= before <= coverage(question, [*texts, more]) <= 1
    assert coverage(question, [*texts, question]) == 1
    assert coverage(question, reversed(texts)) == before


@given(st.lists(UNIT, min_size=1, max_size=8), st.integers(1, 10))
def test_relevance_is_the_mean_of_the_best_scores(scores: list[float], best: int):
    found = relevance(scores, best)
    top = sorted(scores)[-best:]
    assert 0 <= found <= 1
    assert found == pytest.approx(math.fsum(top) / len(top))


@pytest.mark.parametrize("scores", [[0.5, 1.01], [-0.1], [math.nan], [math.inf], [0.2, 12.3]])
def test_scores_outside_0_to_1_are_refused(scores: list[float]):
    with pytest.raises(InputError, match="scores from 0 to 1"):
        Trigger().reasons(QUESTION, ["aspirin"], scores)


def test_either_threshold_fires_with_its_reason():
    trigger = Trigger(best=3)
    enough = ["Aspirin and stroke."]
    assert trigger.reasons(QUESTION, enough) == (pytest.approx(0.4), None, ())
    assert trigger.reasons(QUESTION, enough, [0.9, 0.5, 0.1, 0.0]) == (pytest.approx(0.4), 0.5, ())
    assert trigger.reasons(QUESTION, enough, [0.1, 0.2]).reasons == ("relevance 0.15 is below 0.5",)
    assert trigger.reasons(QUESTION, ["stroke"], [0.9]).reasons == ("coverage 0.2 is below 0.3",)
    both = trigger.reasons(QUESTION, ["stroke"], [0.4])
    assert both.reasons == ("coverage 0.2 is below 0.3", "relevance 0.4 is below 0.5")


@pytest.mark.parametrize("evidence", [[], [""], [" ", "\n"]])
@pytest.mark.parametrize("trigger", [Trigger(), Trigger(0, 0)])
@pytest.mark.parametrize("question", [QUESTION, "What of it?"])
def test_no_evidence_always_fires(evidence: list[str], trigger: Trigger, question: str):
    assert trigger.reasons(question, evidence, [0.9] * len(evidence)) == (0.0, None, ("no evidence",))


@given(st.text(max_size=30), st.lists(st.just("some words"), min_size=1), st.lists(UNIT, max_size=4))
def test_a_threshold_of_0_never_fires(question: str, texts: list[str], scores: list[float]):
    assert Trigger(coverage=0, relevance=0).reasons(question, texts, scores).reasons == ()


@given(UNIT, UNIT, st.lists(UNIT, min_size=1, max_size=4))
def test_a_lower_threshold_never_fires_more(one: float, other: float, scores: list[float]):
    low, high = sorted((one, other))
    texts = ["aspirin and stroke"]
    fired = Trigger(low, low).reasons(QUESTION, texts, scores).reasons
    assert len(fired) <= len(Trigger(high, high).reasons(QUESTION, texts, scores).reasons)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("coverage", lambda: Trigger(coverage=1.1)),
        ("relevance", lambda: Trigger(relevance=-0.1)),
        ("coverage", lambda: Trigger(coverage=math.nan)),
        ("best", lambda: Trigger(best=0)),
    ],
)
def test_invalid_triggers_are_refused(name: str, wrong: Callable[[], Trigger]):
    with pytest.raises(InputError, match=f"expected a trigger's {name}"):
        wrong()


def test_different_triggers_have_different_signatures():
    triggers = [Trigger(), Trigger(0.2), Trigger(relevance=0.2), Trigger(best=3)]
    assert len({trigger.signature for trigger in triggers}) == 4
    assert Trigger().signature == "trigger.v1(coverage=0.3, relevance=0.5, best=5)"
