from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vericite.errors import InputError
from vericite.evaluate.measures.verdicts import SupportRate
from vericite.evaluate.resampling import Bootstrap, Estimate, ratio

figures = st.floats(-100, 100).map(lambda value: round(value, 3))
samples = st.lists(figures, min_size=2, max_size=12)


def ratios(counts, of):
    return Bootstrap().pooled(np.stack([counts, of], axis=-1), ratio)


def column(values) -> np.ndarray:
    return np.array(values, dtype=np.float64)[:, None]


def mean(values, bootstrap: Bootstrap | None = None) -> Estimate:
    return (bootstrap or Bootstrap()).means(column(values))[0]


def test_a_mean_has_the_percentiles_of_its_draws():
    # By the book, one draw at a time; this is also how the trainer's measures were drawn before.
    values = np.random.default_rng(3).exponential(size=30)
    drawn = np.random.default_rng(0)
    means = [values[drawn.integers(0, 30, 30)].mean() for _ in range(1000)]
    found = mean(values, Bootstrap(method="percentile", widened=False))
    expected = (values.mean(), *np.quantile(means, [0.025, 0.975]))
    assert (found.value, found.low, found.high) == pytest.approx(expected, abs=1e-12)


def test_rows_of_a_group_are_drawn_together():
    values, groups = np.arange(9.0), ["a", "b", "a", "", "b", None, "c", "c", "c"]
    members = [[0, 2], [1, 4], [3], [5], [6, 7, 8]]
    drawn = np.random.default_rng(0)
    means = []
    for _ in range(1000):
        rows = np.concatenate([members[index] for index in drawn.integers(0, 5, 5)])
        means.append(values[rows].mean())
    plain = Bootstrap(method="percentile", widened=False)
    found = plain.over_rows(lambda rows: float(values[rows].mean()), groups)
    assert found.n == 5
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(means, [0.025, 0.975])), abs=1e-12)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_sums_and_rows_give_the_same_interval(method):
    values = np.random.default_rng(5).exponential(size=25)
    bootstrap = Bootstrap(method=method)
    fast = mean(values, bootstrap)
    slow = bootstrap.over_rows(lambda rows: float(values[rows].mean()), list(range(25)))
    assert (fast.value, fast.low, fast.high) == pytest.approx((slow.value, slow.low, slow.high), abs=1e-12)


def test_bca_agrees_with_scipy():
    stats = pytest.importorskip("scipy.stats")
    values = np.random.default_rng(1).exponential(size=40)
    many = Bootstrap(draws=20_000, widened=False)
    found = mean(values, many)
    theirs = stats.bootstrap((values,), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(2))
    # Other draws, so as near as 20,000 of them come; the plain percentiles lie 0.03 away.
    assert (found.low, found.high) == pytest.approx(tuple(theirs.confidence_interval), abs=0.015)
    plain = mean(values, Bootstrap(draws=20_000, method="percentile", widened=False))
    assert abs(plain.high - theirs.confidence_interval.high) > 0.015


def test_a_widened_interval_ends_where_students_t_says():
    # For a mean of 10 values: t of 9 degrees of freedom is 2.2622, their standard error that of n - 1.
    values = np.random.default_rng(2).normal(size=10)
    found = mean(values, Bootstrap(draws=100_000, method="percentile"))
    half = 2.2622 * values.std(ddof=1) / math.sqrt(10)
    assert (found.high - found.low) / 2 == pytest.approx(half, rel=0.05)


def test_a_value_over_no_units_is_undefined():
    assert Bootstrap().means(np.empty((0, 2))) == [Estimate(None, None, None, 0)] * 2
    assert Bootstrap().over_rows(lambda _: 1 / 0, []) == Estimate(None, None, None, 0)
    assert mean([float("nan")] * 3) == Estimate(None, None, None, 0, missing=3)


def test_one_unit_has_a_value_but_no_interval():
    assert mean([0.25]) == Estimate(0.25, None, None, 1)
    assert mean([0.25, float("nan")]) == Estimate(0.25, None, None, 1, missing=1)
    assert Bootstrap().over_rows(lambda _: 0.25, ["a", "a"]) == Estimate(0.25, None, None, 1)


@pytest.mark.parametrize("method", ["percentile", "bca"])
@given(value=figures, count=st.integers(2, 12))
@settings(max_examples=25, deadline=None)
def test_equal_units_have_a_point_for_an_interval(method, value, count):
    found = mean([value] * count, Bootstrap(method=method))
    assert found.value == pytest.approx(value)
    assert (found.low, found.high) == (found.value, found.value)


def test_a_ratio_counts_missing_and_empty_units():
    # 3 of 4 and 1 of 2 are 4 of 6; the third has no citations, the fourth failed.
    counts, of = column([3, 1, 0, float("nan")]), column([4, 2, 0, 5])
    found = ratios(counts, of)[0]
    assert found.value == pytest.approx(4 / 6)
    assert (found.n, found.missing, found.empty) == (2, 1, 1)
    # Neither of the two that count is drawn in one of 2⁴ draws.
    assert found.undefined_draws == pytest.approx(1000 / 16, abs=30)
    assert found.low == pytest.approx(1 / 2)
    assert found.high == pytest.approx(3 / 4)


def test_a_missing_value_is_not_a_zero():
    assert mean([1.0, float("nan"), 0.5]).value == 0.75
    assert mean([1.0, 0.0, 0.5]).value == 0.5


def test_a_ratio_with_a_zero_denominator_is_undefined():
    assert ratios(column([0, 0]), column([0, 0]))[0] == Estimate(None, None, None, 0, empty=2)
    assert ratios(column([1, 2]), column([0, 0]))[0].value is None


def test_a_statistic_undefined_in_most_draws_has_no_interval():
    # Defined only where the one telling unit of 20 is drawn exactly as often as in the whole: once.
    parts = np.ones((20, 1, 2))
    parts[1:, 0, 0] = 0
    found = Bootstrap().pooled(parts, lambda sums: np.where(sums[..., 0] == 1, 5.0, np.nan))[0]
    assert (found.value, found.low, found.high) == (5.0, None, None)
    assert 550 < found.undefined_draws < 700


def test_columns_share_their_draws_and_keep_their_own_counts():
    values = np.random.default_rng(4).normal(size=(20, 3))
    values[3, 1] = np.nan
    together = Bootstrap().means(values)
    for index, found in enumerate(together):
        alone = Bootstrap().means(values[:, [index]])[0]
        # Some processors multiply one column in another order than three.
        assert (found.low, found.high) == pytest.approx((alone.low, alone.high), rel=1e-12)
        assert (found.value, found.n, found.missing, found.empty) == (alone.value, alone.n, alone.missing, alone.empty)
    assert [found.missing for found in together] == [0, 1, 0]


def test_draws_in_batches_give_the_same_interval(monkeypatch):
    values = np.arange(50.0)
    whole = mean(values)
    monkeypatch.setattr("vericite.evaluate.resampling._AT_ONCE", 64)
    assert mean(values).low == pytest.approx(whole.low, abs=1e-12)


def test_jackknife_blocks_give_the_same_interval(monkeypatch):
    values = np.random.default_rng(6).exponential(size=2000)
    blocks = mean(values)
    monkeypatch.setattr("vericite.evaluate.resampling._BLOCKS", 2000)
    assert (blocks.low, blocks.high) == pytest.approx((mean(values).low, mean(values).high), abs=2e-3)


def test_seed_and_draws_are_in_the_signature_and_decide_the_interval():
    values = np.random.default_rng(8).normal(size=30)
    assert Bootstrap().signature == "bootstrap=bca+t,draws=1000,seed=0"
    assert Bootstrap(200, 7, "percentile", widened=False).signature == "bootstrap=percentile,draws=200,seed=7"
    assert mean(values) == mean(values)
    assert mean(values, Bootstrap(seed=1)).low != mean(values).low


def test_too_few_draws_are_refused():
    with pytest.raises(InputError, match=r"expected at least 100 draws.*found 10"):
        Bootstrap(draws=10)


@given(samples, st.randoms(use_true_random=False))
@settings(max_examples=50, deadline=None)
def test_the_order_of_units_does_not_change_the_figure(values, random):
    shuffled = random.sample(values, len(values))
    assert mean(shuffled).value == pytest.approx(mean(values).value, abs=1e-9)


@given(samples, st.floats(0.5, 4), figures)
@settings(max_examples=50, deadline=None)
def test_an_interval_moves_with_its_values_and_lies_within_them(values, scale, shift):
    found, moved = mean(values), mean([scale * value + shift for value in values])
    assert moved.low == pytest.approx(scale * found.low + shift, abs=1e-6)
    assert moved.high == pytest.approx(scale * found.high + shift, abs=1e-6)
    assert min(values) - 1e-9 <= found.low <= found.high <= max(values) + 1e-9


@given(samples)
@settings(max_examples=50, deadline=None)
def test_negation_swaps_the_ends_of_an_interval(values):
    found, turned = -mean(values), mean([-value for value in values])
    assert (found.value, found.low, found.high) == pytest.approx((turned.value, turned.low, turned.high), abs=1e-9)


def test_columns_get_the_same_results_as_separate_calls():
    generator = np.random.default_rng(0)
    of = generator.integers(0, 9, (40, 30 * 60)).astype(np.float64)
    counts = generator.binomial(of.astype(np.int64), 0.7).astype(np.float64)
    found = ratios(counts, of)
    assert len(found) == 1800
    for place in (0, 1, 899, 1799):
        (alone,) = ratios(counts[:, [place]], of[:, [place]])
        together = found[place]
        assert (together.value, together.low, together.high) == pytest.approx((alone.value, alone.low, alone.high))
        assert (together.n, together.missing, together.empty) == (alone.n, alone.missing, alone.empty)


def clustered_rates(
    generator: np.random.Generator, share: float, alike: float = 1 / 6, least: int = 0
) -> tuple[np.ndarray, float]:
    """Citations of a question are correlated: each question has its own rate, and up to 8 citations."""
    of = generator.integers(least, 9, (100, 50))
    spread = 1 / alike - 1
    counts = generator.binomial(of, generator.beta(spread * share, spread * (1 - share), of.shape))
    return np.stack([counts, of], axis=-1).astype(np.float64), share


def scores(draw, truth: float) -> tuple[np.ndarray, float]:
    values = draw((100, 50))
    return np.stack([values, np.ones_like(values)], axis=-1), truth


WORLDS = {
    "even scores": lambda generator: scores(lambda size: generator.normal(0.3, 1, size), 0.3),
    "skewed scores": lambda generator: scores(lambda size: generator.exponential(1, size), 1.0),
    "citations, 70 %": lambda generator: clustered_rates(generator, 0.7),
    "citations, 95 %": lambda generator: clustered_rates(generator, 0.95),
}


@pytest.mark.parametrize("world", WORLDS)
def test_the_interval_has_its_nominal_coverage(world):
    # 500 repetitions of 100 questions; the draws differ from one batch of 50 to the next.
    covered = 0
    for batch in range(10):
        parts, truth = WORLDS[world](np.random.default_rng([17, batch]))
        found = Bootstrap(seed=batch).pooled(parts, ratio)
        covered += sum(one.low <= truth <= one.high for one in found)
    assert 0.93 <= covered / 500 <= 0.97


RATES = {
    "70 %": (0.7, 1 / 6, 0),
    "95 %": (0.95, 1 / 6, 0),
    "70 %, much alike": (0.7, 0.3, 1),
    "95 %, much alike": (0.95, 0.3, 1),
    "3 %, much alike": (0.03, 0.3, 1),
}


@pytest.mark.parametrize("world", RATES)
def test_the_interval_of_a_rate_has_its_nominal_coverage(world):
    # What check and score print of pooled rates, common, extreme and rare.
    covered, measure = 0, SupportRate()
    for batch in range(10):
        parts, truth = clustered_rates(np.random.default_rng([29, batch]), *RATES[world])
        for column in range(50):
            found = measure.estimate([tuple(row) for row in parts[:, column].tolist()], Bootstrap())
            covered += found.low <= truth <= found.high
    assert 0.93 <= covered / 500 <= 0.97
