from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vericite.evaluate import CitationRates
from vericite.records import CheckedAnswer, Provenance, RateTally, Summary, clustered_wilson

counts = st.integers(0, 6)
summaries = st.builds(
    lambda claims, uncited, s, c, i, d, a, f: Summary(
        claims=claims + uncited,
        uncited=uncited,
        citations=s + c + i + d + a + f,
        supported=s,
        contradicted=c,
        irrelevant=i,
        dangling=d,
        abstained=a,
        failed=f,
    ),
    *[counts] * 8,
)


def test_wilson_agrees_with_a_worked_example():
    # 7 of 9: centre (7/9 + z²/18) / (1 + z²/9), worked by hand.
    rate = clustered_wilson(7, 9)
    assert (rate.value, rate.low, rate.high) == pytest.approx((0.7778, 0.4526, 0.9368), abs=1e-4)


@given(st.integers(1, 2000), st.floats(1, 50))
def test_the_interval_ends_at_0_or_1_for_extreme_rates(n, design_effect):
    assert clustered_wilson(0, n, design_effect).low == 0.0
    assert clustered_wilson(n, n, design_effect).high == 1.0


def test_a_rate_over_nothing_is_undefined_not_zero():
    rate = clustered_wilson(0, 0)
    assert (rate.value, rate.low, rate.high) == (None, None, None)


@given(st.lists(summaries, max_size=20))
def test_the_three_labels_add_up_to_one_and_intervals_hold_their_rate(items):
    rates = CitationRates()
    for item in items:
        rates.add(CheckedAnswer(id="a", verdicts=(), summary=item, provenance=Provenance(version="0")))
    shares = [rates[name].value for name in ("supported", "contradicted", "irrelevant")]
    if rates.summary.judged:
        assert sum(shares) == pytest.approx(1)
    else:
        assert shares == [None] * 3
    for name in ("supported", "contradicted", "irrelevant", "dangling", "abstained", "failed", "uncited"):
        rate = rates[name]
        if rate.value is not None:
            assert 0 <= rate.low <= rate.value + 1e-12
            assert rate.value - 1e-12 <= rate.high <= 1
    assert rates["dangling"].n == rates.summary.citations
    assert rates["uncited"].n == rates.summary.claims


def test_one_citation_of_another_kind_does_not_make_the_interval_collapse():
    # 40 answers of 8 citations, none or one of which is supported.
    none, one = RateTally(), RateTally()
    for place in range(40):
        none.add(0, 8)
        one.add(int(place == 0), 8)
    # By the estimate alone it would be a fifth: one citation cannot show that others go with it.
    assert one.rate.high > 0.6 * none.rate.high


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=30))
def test_the_design_effect_is_the_ratio_of_variances(pairs):
    tally = RateTally()
    kept = [(x, x + rest) for x, rest in pairs if x + rest]
    for count, n in kept:
        tally.add(count, n)
    if len(kept) < 2:
        assert tally.design_effect == 1
        return
    if not 0 < tally.count < tally.n:
        assert tally.design_effect == tally.n / len(kept)
        return
    x, n = np.array(kept, dtype=float).T
    share = x.sum() / n.sum()
    clustered = len(kept) / (len(kept) - 1) * ((x - share * n) ** 2).sum() / n.sum() ** 2
    simple = share * (1 - share) / n.sum()
    found, alike = max(1.0, clustered / simple), n.sum() / len(kept)
    telling = min((x > 0).sum(), (x < n).sum())
    assert tally.design_effect == pytest.approx((telling * found + max(alike, found)) / (telling + 1))


def test_correlated_citations_widen_the_interval():
    together, apart = RateTally(), RateTally()
    for index in range(20):
        together.add(5 if index % 2 else 0, 5)
        apart.add(3 if index % 2 else 2, 5)
    assert together.rate.value == apart.rate.value == 0.5
    assert together.rate.high - together.rate.low > 1.8 * (apart.rate.high - apart.rate.low)


def test_wilsons_interval_has_its_nominal_coverage():
    # Answers whose citations share a fate: an interval blind to that covers far less than 95 %.
    random = np.random.default_rng(0)
    covered = 0
    for _ in range(400):
        tally = RateTally()
        for share in random.beta(2, 1, size=60):
            tally.add(int(random.binomial(8, share)), 8)
        covered += tally.rate.low <= 2 / 3 <= tally.rate.high
    assert 0.92 <= covered / 400 <= 0.98
