from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vericite.errors import InputError
from vericite.evaluate.resampling import Bootstrap, Estimate
from vericite.evaluate.significance import (
    EMPTY,
    Comparison,
    DifferencePhrase,
    Effect,
    RatePart,
    Scored,
    Test,
    compare,
    corrected,
    holm,
    match,
    permutation_test,
    shown_p,
)

SUPPORTED = DifferencePhrase("supported citations", "supports", "more citations")
ROUGE = DifferencePhrase("ROUGE-L")

score_pairs = st.lists(st.tuples(*[st.integers(0, 8).map(lambda eighths: eighths / 8)] * 2), min_size=1, max_size=18)
part_pairs = st.lists(
    st.tuples(*[st.tuples(st.integers(0, 4), st.integers(0, 4)).map(lambda it: RatePart(min(it), max(it)))] * 2),
    min_size=1,
    max_size=18,
)


def system(name: str, scores) -> Scored:
    return Scored(name, {f"q{place:04}": score for place, score in enumerate(scores)})


def compared(first, second, wording: DifferencePhrase = ROUGE, **options) -> Comparison:
    return compare(system("A", first), system("B", second), wording, **options)


def test_few_questions_are_tested_exactly():
    # Differences 1, 2, 3: of the 8 ways to sign them two sum to 6 or -6.
    assert compared([1, 2, 3], [0, 0, 0]).test == (2 / 8, True)
    # 0.5 and -0.25: every way gives at least 0.25 either way.
    assert compared([0.5, 0.0], [0.0, 0.25]).p == 1


def test_the_exact_test_is_that_of_all_sign_flips():
    gaps = np.random.default_rng(1).normal(0.4, 1, 9).round(2)
    ways = [abs(np.dot(signs, gaps)) for signs in product((1, -1), repeat=9)]
    expected = np.mean([way >= abs(gaps.sum()) - 1e-9 for way in ways])
    assert compared(gaps.tolist(), [0.0] * 9).p == pytest.approx(expected, abs=1e-12)


def test_the_drawn_test_agrees_with_scipy():
    stats = pytest.importorskip("scipy.stats")
    generator = np.random.default_rng(3)
    first, second = generator.normal(0.35, 1, 30), generator.normal(0, 1, 30)
    theirs = stats.permutation_test(
        (first, second),
        lambda x, y, axis: (x - y).mean(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=20_000,
        rng=generator,
    )
    found = compared(first.tolist(), second.tolist(), permutations=20_000).test
    assert not found.exact
    assert found.p == pytest.approx(theirs.pvalue, abs=0.02)


def test_rates_are_pooled_and_swapped_by_question():
    # 3/4 and 1/1 against 1/4 and 0/2: 4/5 - 1/6. Swapping only the second: 3/6 - 2/5.
    found = compared([RatePart(3, 4), RatePart(1, 1)], [RatePart(1, 4), RatePart(0, 2)])
    assert found.values == pytest.approx((4 / 5, 1 / 6))
    assert found.difference.value == pytest.approx(4 / 5 - 1 / 6)
    assert found.test == (0.5, True)


def test_effect_sizes_agree_with_worked_examples():
    # Differences 1, 2, 3: mean 2, standard deviation 1.
    assert compared([1, 2, 3], [0, 0, 0]).effect == ("d_z", pytest.approx(2))
    # 2 asin(sqrt(0.75)) - 2 asin(sqrt(0.25)) is a third of pi.
    assert compared([RatePart(3, 4)], [RatePart(1, 4)]).effect == ("h", pytest.approx(np.pi / 3))
    assert compared([1, 1], [0, 0]).effect.value is None
    assert compared([1, 1], [1, 1]).effect.value == 0


def told(value: float, low: float, high: float, p: float, wording: DifferencePhrase = SUPPORTED) -> Comparison:
    estimate, test = Estimate(value, low, high, 421), Test(p, exact=False)
    return Comparison("A", "B", wording, (0.5, 0.5), estimate, test, Effect("h", 0.1), 421, 0, 0, identical=False)


def test_a_difference_is_described_in_one_sentence():
    said = "A supports 4.1 points more citations than B (95 % interval 1.2 to 7.0, p = 0.006, n = 421 questions)."
    assert told(0.041, 0.012, 0.07, 0.0064).sentence == said
    # Of the system that has more, whichever comes first.
    assert told(-0.041, -0.07, -0.012, 0.0064).sentence == (
        "B supports 4.1 points more citations than A (95 % interval 1.2 to 7.0, p = 0.006, n = 421 questions)."
    )
    words = DifferencePhrase("length", "writes", "more", "words", scale=1, decimals=0)
    assert told(12.3, 4.6, 20.4, 0.0001, words).sentence == (
        "A writes 12 words more than B (95 % interval 5 to 20, p < 0.001, n = 421 questions)."
    )


def test_an_insignificant_difference_is_described_as_none():
    assert told(0.003, -0.011, 0.017, 0.64).sentence == (
        "No difference between A and B is shown in supported citations: A supports 0.3 points more citations, which "
        "may be chance (95 % interval -1.1 to 1.7, p = 0.64, n = 421 questions)."
    )


@pytest.mark.parametrize("answers", [[0.1, 0.7, 0.3] * 20, [RatePart(1, 3), RatePart(0, 0), RatePart(2, 7)] * 20])
def test_the_same_answers_make_no_difference(answers):
    found = compared(answers, answers)
    assert (found.difference.value, found.difference.low, found.difference.high, found.p) == (0, None, None, 1)
    assert found.effect.value == 0
    assert found.sentence.startswith(
        "There is no difference between A and B in ROUGE-L: they score the same on every question (p = 1, n = "
    )


def test_questions_left_out_are_counted_in_the_sentence():
    first = Scored("A", {"1": 0.5, "2": None, "3": 0.25, "4": 0.5, "5": float("nan")})
    second = Scored("B", {"1": 0.25, "2": 0.5, "4": None, "5": 0.1, "6": 1.0, "7": 1.0})
    found = compare(first, second, ROUGE)
    assert (found.compared, found.unmatched, found.failed) == (1, 3, 3)
    assert found.sentence == (
        "No difference between A and B is shown in ROUGE-L: A scores 25.0 points more, which may be chance "
        "(no interval, p = 1, n = 1 question; left out: 3 that only one of the two has, 3 not scored)."
    )


def test_systems_without_a_question_in_common_cannot_be_compared():
    found = compare(Scored("A", {"1": 1.0}), Scored("B", {"2": 1.0}), ROUGE)
    assert (found.difference.value, found.p, found.effect.value, found.differs) == (None, None, None, False)
    assert found.sentence == (
        "A and B cannot be compared in ROUGE-L: no question was scored for both "
        "(n = 0 questions; left out: 2 that only one of the two has)."
    )


def test_a_system_without_anything_to_count_cannot_be_compared():
    found = compared([RatePart(0, 0), RatePart(0, 0)], [RatePart(1, 2), RatePart(0, 0)])
    assert (found.p, found.effect.value, found.values) == (None, None, (None, 0.5))
    assert "one of the two has nothing to count (n = 1 question; left out: 1 with nothing to count)" in found.sentence


def test_a_small_difference_is_not_rounded_to_zero():
    second = np.random.default_rng(0).random(40)
    found = compared((second + 0.0002).tolist(), second.tolist())
    # By as much on every question: draws tell nothing of how sure that is.
    assert (found.difference.low, found.difference.high) == (None, None)
    assert "A scores 0.02 points more in ROUGE-L than B (no interval, p < 0.001, n = 40 questions)" in found.sentence


def test_the_sentence_names_the_higher_system_even_without_significance():
    assert "B scores 25.0 points more, which may be chance" in compared([0.0, 0.5], [0.5, 0.5]).sentence
    assert "on the whole they score the same (95 %" in compared([0.0, 1.0] * 5, [1.0, 0.0] * 5).sentence


def test_a_question_with_nothing_to_score_did_not_fail():
    first = Scored("A", {"1": 0.5, "2": EMPTY, "3": None, "4": EMPTY, "5": 0.25})
    second = Scored("B", {"1": 0.25, "2": 1.0, "3": EMPTY, "4": EMPTY, "5": 0.5})
    found = compare(first, second, ROUGE)
    assert (found.compared, found.failed, found.difference.empty) == (2, 1, 2)
    assert "left out: 1 not scored, 2 with nothing to count)" in found.sentence
    nothing = compare(Scored("A", {"1": EMPTY}), Scored("B", {"1": 0.5}), ROUGE)
    assert "one of the two has nothing to count (n = 0 questions" in nothing.sentence


def test_scores_too_large_to_sum_are_not_a_tie():
    found = compared([1e308] * 3, [-1e308] * 3)
    assert found.difference.value is None
    assert "cannot be compared in ROUGE-L: their scores are too large to be summed" in found.sentence
    summed = compared([1e308, 1e308], [1e307, 0.0])
    assert "they score the same" not in summed.sentence


def test_h_is_defined_for_rates_only():
    sums = [(3.0, 4.0, 1.0, 2.0), (1.0, 2.0, 2.0, 2.0)]
    other = [(1.0, 4.0, 1.0, 2.0), (0.0, 2.0, 2.0, 2.0)]
    scored = [
        Scored(name, dict(zip("ab", side, strict=True)), lambda sums: sums[..., 0] / sums[..., 1] * sums[..., 2])
        for name, side in (("A", sums), ("B", other))
    ]
    assert compare(*scored, ROUGE).effect == ("h", None)
    assert compared([RatePart(0.5, 1), RatePart(1, 1)], [RatePart(0, 1), RatePart(1, 1)]).effect.value is None


def test_the_bootstrap_seed_is_used_for_permutations():
    generator = np.random.default_rng(2)
    first, second = generator.normal(0.2, 1, 30).tolist(), generator.normal(0, 1, 30).tolist()
    ps = {compared(first, second, bootstrap=Bootstrap(draws=100, seed=seed), permutations=500).p for seed in range(4)}
    assert len(ps) > 1


def test_scores_and_parts_of_a_rate_cannot_be_compared():
    with pytest.raises(InputError, match="expected results of one kind from A and B"):
        compared([0.5], [RatePart(1, 2)])


def test_holm_agrees_with_a_worked_example():
    # Sorted 0.01, 0.02, 0.03, 0.04 times 4, 3, 2, 1; none less than the one before it.
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([None, 0.03, 0.6]) == [None, pytest.approx(0.06), pytest.approx(0.6)]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=12))
@settings(deadline=None)
def test_holm_agrees_with_statsmodels(ps):
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    if ps:
        assert holm(ps) == pytest.approx(list(multitest.multipletests(ps, method="holm")[1]), abs=1e-9)


def test_several_comparisons_are_decided_by_the_corrected_p():
    second = [0.0] * 6
    clear = compared([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], second)
    assert (clear.p, clear.differs) == (2 / 64, True)
    corrected_ones = corrected([clear, clear, compare(Scored("A", {}), Scored("B", {}), ROUGE)])
    assert [one.p for one in corrected_ones] == [4 / 64, 4 / 64, None]
    assert not corrected_ones[0].differs
    assert (
        "p = 0.062 after Holm's correction for 2 comparisons (0.031 without), n = 6 questions"
        in corrected_ones[0].sentence
    )
    assert corrected([clear]) == [clear]


@pytest.mark.parametrize(
    ("p", "shown"),
    [(1.0, "p = 1"), (0.64, "p = 0.64"), (0.0064, "p = 0.006"), (0.0996, "p = 0.10"), (0.0002, "p < 0.001")],
)
def test_p_is_formatted_with_enough_digits(p, shown):
    assert shown_p(p) == shown


@given(score_pairs | part_pairs)
@settings(max_examples=60, deadline=None)
def test_swapping_the_systems_negates_the_difference(pairs):
    first, second = zip(*pairs, strict=True)
    options = {"bootstrap": Bootstrap(draws=200), "permutations": 500}
    found, turned = compared(first, second, **options), compared(second, first, **options)
    assert turned.p == found.p
    if found.difference.value is None:
        assert turned.difference.value is None
        return
    back = -turned.difference
    assert back.value == pytest.approx(found.difference.value, abs=1e-9)
    if found.difference.low is None:
        assert back.low is None
    else:
        assert (back.low, back.high) == pytest.approx((found.difference.low, found.difference.high), abs=1e-9)
    assert turned.effect.value == (None if found.effect.value is None else pytest.approx(-found.effect.value))
    assert 0 < found.p <= 1


@given(score_pairs | part_pairs, st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_the_order_in_which_questions_were_answered_changes_nothing(pairs, random):
    ids = [f"q{place:04}" for place in range(len(pairs))]
    shuffled = random.sample(ids, len(ids))
    options = {"bootstrap": Bootstrap(draws=200), "permutations": 500}

    def run(order):
        sides = [dict(zip(ids, side, strict=True)) for side in zip(*pairs, strict=True)]
        systems = [Scored(name, {one: side[one] for one in order}) for name, side in zip("AB", sides, strict=True)]
        return compare(systems[0], systems[1], ROUGE, **options)

    assert run(shuffled) == run(ids)


@given(score_pairs, st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_ties_do_not_change_p(pairs, ties):
    first, second = (list(side) for side in zip(*pairs, strict=True))
    options = {"bootstrap": Bootstrap(draws=200), "permutations": 500}
    more = compared(first + [0.5] * ties, second + [0.5] * ties, **options)
    assert more.p == compared(first, second, **options).p
    assert more.compared == len(pairs) + ties


@given(score_pairs)
@settings(max_examples=60, deadline=None)
def test_a_share_of_ones_is_compared_as_its_scores_are(pairs):
    # A rate whose questions all count out of 1 is the mean of scores.
    scores = [list(side) for side in zip(*pairs, strict=True)]
    parts = [[RatePart(value, 1) for value in side] for side in scores]
    options = {"bootstrap": Bootstrap(draws=200), "permutations": 500}
    by_score, by_part = compared(*scores, **options), compared(*parts, **options)
    assert by_part.p == by_score.p
    assert by_part.difference.value == pytest.approx(by_score.difference.value, abs=1e-9)


@pytest.mark.parametrize("kind", ["scores", "rates"])
def test_the_false_positive_rate_matches_the_level(kind):
    # 1,000 comparisons of two systems that do not differ, on 100 questions, each question with a difficulty of its own.
    generator = np.random.default_rng(23)
    alarms = 0
    for _ in range(1000):
        ease = generator.beta(3, 2, 100)
        if kind == "scores":
            sides = (np.clip(ease + generator.exponential(0.2, (2, 100)), 0, 1.5)).tolist()
        else:
            of = generator.integers(0, 7, (2, 100))
            counts = generator.binomial(of, ease)
            sides = [[RatePart(*pair) for pair in zip(counts[side], of[side], strict=True)] for side in (0, 1)]
        test = permutation_test(match(system("A", sides[0]), system("B", sides[1])), permutations=500)
        alarms += test.p < 0.05
    assert 0.03 <= alarms / 1000 <= 0.07


def test_a_difference_of_five_points_is_detected():
    generator = np.random.default_rng(9)
    of = np.full(421, 6)
    ease = np.clip(generator.beta(6, 2, 421), 0, 0.95)
    better, worse = generator.binomial(of, ease + 0.05), generator.binomial(of, ease)
    sides = [[RatePart(count, 6) for count in side.tolist()] for side in (better, worse)]
    found = compared(sides[0], sides[1], SUPPORTED)
    assert found.differs
    assert found.difference.low < 0.05 < found.difference.high
    assert found.sentence.startswith("A supports ")
