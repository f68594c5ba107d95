from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vericite.errors import InputError
from vericite.evaluate.agreement import (
    Agreement,
    CategoryF1,
    CohenKappa,
    FleissKappa,
    Kendall,
    KrippendorffAlpha,
    RatedItems,
    Spearman,
    TauAP,
    landis_koch,
)
from vericite.evaluate.measures.registry import RANKINGS, parse_measure
from vericite.evaluate.resampling import Bootstrap, Estimate

FEW = Bootstrap(draws=200)
LABELS = ["contradicted", "irrelevant", "supported"]

label = st.sampled_from(LABELS)
pairs = st.lists(st.tuples(label, label), min_size=1, max_size=25)
triples = st.lists(st.tuples(*[label] * 3), min_size=2, max_size=20)
gaps = st.lists(st.tuples(*[label | st.none()] * 4), min_size=2, max_size=20)


def cohen_kappa(first, second, weights=None, bootstrap=None, **given):
    return CohenKappa(weights=weights).of(RatedItems(list(zip(first, second, strict=True)), **given), bootstrap)[0]


def category_f1(first, second, bootstrap=None, **given):
    return CategoryF1().of(RatedItems(list(zip(first, second, strict=True)), **given), bootstrap)


def fleiss_kappa(ratings, bootstrap=None, **given):
    return FleissKappa().of(RatedItems(ratings, **given), bootstrap)[0]


def krippendorff_alpha(ratings, level="nominal", bootstrap=None, **given):
    return KrippendorffAlpha(level=level).of(RatedItems(ratings, **given), bootstrap)[0]


spearman, kendall, tau_ap = Spearman().of, Kendall().of, TauAP().of


def apart(rows):
    return [list(side) for side in zip(*rows, strict=True)]


def test_cohens_kappa_agrees_with_a_worked_example():
    # 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: 0.7 found, 0.5 by chance.
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    found = cohen_kappa(first, second)
    assert found.value == pytest.approx(0.4)
    assert found.estimate.low < 0.4 < found.estimate.high
    assert (found.n, found.missing, found.words) == (50, 0, "fair")
    assert str(found).startswith("Cohen's kappa 0.40 (95 % interval 0.1")
    assert str(found).endswith(", n = 50 items): fair")


def test_weighted_kappa_agrees_with_a_worked_example():
    # Linear: costs 0, 1, 2 found, 1 in the mean; by chance all nine pairs, 8 / 9.
    found = cohen_kappa([0, 1, 2], [0, 2, 1], weights="linear", categories=[0, 1, 2])
    assert found.value == pytest.approx(1 - (2 / 3) / (8 / 9))
    found = cohen_kappa([0, 1, 2], [0, 2, 1], weights="quadratic", categories=[0, 1, 2])
    assert found.value == pytest.approx(1 - (2 / 3) / (12 / 9))


def test_fleiss_kappa_agrees_with_the_example_it_was_published_with():
    # Fourteen raters, ten items, five categories, as commonly printed: 0.210.
    table = [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
    ratings = [[category for category, count in enumerate(row) for _ in range(count)] for row in table]
    found = fleiss_kappa(ratings)
    assert found.value == pytest.approx(0.20993070442195522, abs=1e-9)
    assert (found.n, found.words) == (10, "fair")


KRIPPENDORFF = """
    1 2 3 3 2 1 4 1 2 * * *
    1 2 3 3 2 2 4 1 2 5 * 3
    * 3 3 3 2 3 4 2 2 5 1 *
    1 2 3 3 2 4 4 1 2 5 1 *
"""


def test_krippendorffs_alpha_agrees_with_the_examples_it_was_published_with():
    raters = [[None if it == "*" else int(it) for it in row.split()] for row in KRIPPENDORFF.strip().splitlines()]
    ratings = list(zip(*raters, strict=True))
    nominal = krippendorff_alpha(ratings)
    ordinal = krippendorff_alpha(ratings, level="ordinal", categories=[1, 2, 3, 4, 5])
    assert nominal.value == pytest.approx(0.743421052631579, abs=1e-9)
    assert ordinal.value == pytest.approx(0.815388, abs=1e-6)
    # The twelfth item has one label.
    assert (nominal.n, nominal.missing, nominal.words) == (11, 1, "substantial")


def test_f1_takes_the_first_labels_as_the_truth():
    human = ["supported", "supported", "irrelevant", None, "irrelevant", "supported"]
    judge = ["supported", "irrelevant", "supported", "supported", "irrelevant", "supported"]
    found = category_f1(human, judge, categories=LABELS)
    assert [one.value for one in found] == [None, pytest.approx(1 / 2), pytest.approx(2 / 3)]
    assert {(one.n, one.missing, one.words) for one in found} == {(5, 1, None)}
    assert str(found[0]) == "F1 of contradicted undefined (n = 5 items, 1 left out)"


@pytest.mark.parametrize(
    "found",
    [
        cohen_kappa(["a"] * 5, ["a"] * 5),
        cohen_kappa([], []),
        cohen_kappa([None, "a"], ["a", None]),
        cohen_kappa([1] * 5, [1] * 5, weights="linear", categories=[0, 1, 2]),
        fleiss_kappa([["a"] * 3] * 5),
        fleiss_kappa([]),
        krippendorff_alpha([["a"] * 3] * 5),
        krippendorff_alpha([["a", None]] * 5),
        krippendorff_alpha([[2, 2]] * 5, level="ordinal", categories=[1, 2, 3]),
    ],
)
def test_with_one_category_or_nothing_a_coefficient_is_undefined(found: Agreement):
    assert (found.value, found.estimate.low, found.estimate.high, found.words) == (None, None, None, None)
    assert " undefined (n = " in str(found)
    assert "nan" not in str(found)


def test_one_item_has_no_interval():
    found = cohen_kappa(["a"], ["b"])
    assert str(found) == "Cohen's kappa 0.00 (no interval, n = 1 item): slight"


def test_items_of_a_group_are_drawn_together():
    generator = np.random.default_rng(0)
    # Ten questions of twenty citations, on each of which both agree or neither does.
    first = generator.choice(["a", "b"], 200).tolist()
    agree = np.repeat(generator.random(10) < 0.6, 20).tolist()
    other = {"a": "b", "b": "a"}
    second = [one if same else other[one] for one, same in zip(first, agree, strict=True)]
    groups = np.repeat(np.arange(10), 20).tolist()
    alone, together = cohen_kappa(first, second), cohen_kappa(first, second, groups=groups)
    assert together.value == alone.value
    assert (together.n, together.estimate.n) == (200, 10)
    assert together.estimate.high - together.estimate.low > 2 * (alone.estimate.high - alone.estimate.low)


def test_words_change_where_landis_and_koch_change_them():
    assert [landis_koch(value) for value in (-0.1, 0.0, 0.2, 0.21, 0.4, 0.6, 0.61, 0.8, 0.81, 1.0)] == [
        "poor",
        "slight",
        "slight",
        "fair",
        "fair",
        "moderate",
        "substantial",
        "substantial",
        "almost perfect",
        "almost perfect",
    ]
    assert landis_koch(None) is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cohen_kappa(["a"], ["c"], categories=["a", "b"]), "expected labels from a, b; found c"),
        (lambda: cohen_kappa(["a"], ["b"], weights="linear"), "expected the categories in order"),
        (lambda: krippendorff_alpha([["a", "b"]], level="ordinal"), "expected the categories in order"),
        (lambda: fleiss_kappa([["a", "b"], ["a"]]), r"the same number for each item; found \[1, 2\]"),
        (lambda: cohen_kappa(["a"], ["b"], groups=[1, 2]), "expected a group for each of 1 items; found 2"),
    ],
)
def test_invalid_ratings_are_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


@given(pairs, st.sampled_from([None, "linear", "quadratic"]))
@settings(max_examples=60, deadline=None)
def test_cohens_kappa_agrees_with_scikit_learn(rows, weights):
    metrics = pytest.importorskip("sklearn.metrics")
    first, second = apart(rows)
    found = cohen_kappa(first, second, weights=weights, categories=LABELS, bootstrap=FEW).value
    if found is None:
        assert len(set(first) | set(second)) == 1
    else:
        theirs = metrics.cohen_kappa_score(first, second, weights=weights, labels=LABELS)
        assert found == pytest.approx(theirs, abs=1e-9)


@given(pairs)
@settings(max_examples=60, deadline=None)
def test_f1_agrees_with_scikit_learn(rows):
    metrics = pytest.importorskip("sklearn.metrics")
    first, second = apart(rows)
    found = category_f1(first, second, categories=LABELS, bootstrap=FEW)
    theirs = metrics.f1_score(first, second, labels=LABELS, average=None, zero_division=np.nan)
    expected = [None if np.isnan(value) else pytest.approx(value, abs=1e-9) for value in theirs]
    assert [one.value for one in found] == expected


@given(triples)
@settings(max_examples=60, deadline=None)
def test_fleiss_kappa_agrees_with_statsmodels(rows):
    rater = pytest.importorskip("statsmodels.stats.inter_rater")
    found = fleiss_kappa(rows, categories=LABELS, bootstrap=FEW).value
    if found is None:
        assert len({name for row in rows for name in row}) == 1
    else:
        table = [[row.count(name) for name in LABELS] for row in rows]
        assert found == pytest.approx(rater.fleiss_kappa(table), abs=1e-9)


@given(gaps, st.sampled_from(["nominal", "ordinal"]))
@settings(max_examples=60, deadline=None)
def test_krippendorffs_alpha_agrees_with_the_krippendorff_package(rows, level):
    package = pytest.importorskip("krippendorff")
    found = krippendorff_alpha(rows, level=level, categories=LABELS, bootstrap=FEW)
    kept = {name for row in rows if sum(it is not None for it in row) > 1 for name in row} - {None}
    if len(kept) < 2:
        assert found.value is None
    else:
        codes = [[np.nan if name is None else LABELS.index(name) for name in row] for row in rows]
        theirs = package.alpha(np.array(codes, dtype=float).T, level_of_measurement=level)
        assert found.value == pytest.approx(theirs, abs=1e-9)


@given(pairs, st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_the_order_of_items_changes_nothing(rows, random):
    shuffled = random.sample(rows, len(rows))
    for measure in (
        lambda rows: cohen_kappa(*apart(rows), bootstrap=FEW),
        lambda rows: fleiss_kappa(rows, bootstrap=FEW),
        lambda rows: krippendorff_alpha(rows, bootstrap=FEW),
        lambda rows: category_f1(*apart(rows), bootstrap=FEW),
    ):
        assert str(measure(shuffled)) == str(measure(rows))


@given(triples)
@settings(max_examples=40, deadline=None)
def test_the_order_of_raters_and_names_of_categories_do_not_matter(rows):
    first, second, _ = apart(rows)
    renamed = {name: place for place, name in enumerate(reversed(LABELS))}

    def value(found):
        return found.value if found.value is None else pytest.approx(found.value, abs=1e-9)

    kappa = cohen_kappa(first, second, bootstrap=FEW)
    assert cohen_kappa(second, first, bootstrap=FEW).value == value(kappa)
    assert cohen_kappa([renamed[it] for it in first], [renamed[it] for it in second]).value == value(kappa)
    turned = [tuple(reversed(row)) for row in rows]
    assert fleiss_kappa(turned, bootstrap=FEW).value == value(fleiss_kappa(rows, bootstrap=FEW))
    assert krippendorff_alpha(turned, bootstrap=FEW).value == value(krippendorff_alpha(rows, bootstrap=FEW))


@given(pairs)
@settings(max_examples=40, deadline=None)
def test_coefficients_are_at_most_one_and_one_for_the_same_labels(rows):
    first, second = apart(rows)
    found = cohen_kappa(first, second, bootstrap=FEW).value
    assert found is None or -1 - 1e-9 <= found <= 1 + 1e-9
    for same in (cohen_kappa(first, first, bootstrap=FEW), krippendorff_alpha(list(zip(first, first, strict=True)))):
        assert same.value is None if len(set(first)) == 1 else same.value == pytest.approx(1)


def test_rankings_are_correlated_as_scipy_does():
    first = {"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.4, "e": None, "f": 0.5}
    second = {"a": 1.0, "b": 3.0, "c": 2.0, "d": 4.0, "e": 5.0, "g": 6.0}
    # One of six pairs is the other way round; squared rank differences 0 + 1 + 1 + 0.
    rho, tau = spearman(first, second, FEW), kendall(first, second, FEW)
    assert rho.value == pytest.approx(1 - 6 * 2 / (4 * 15))
    assert tau.value == pytest.approx(4 / 6)
    assert (tau.n, tau.missing, tau.unit, tau.words) == (4, 3, "system", None)
    # Ties: 5 pairs agree, one is tied on one side, so 5 over the root of 5 times 6.
    assert kendall({"a": 1, "b": 2, "c": 2, "d": 3}, second, FEW).value == pytest.approx(5 / np.sqrt(5 * 6))


@pytest.mark.parametrize("systems", [2, 3, 4, 5])
def test_a_rank_correlation_of_few_systems_has_no_interval(systems: int):
    scores = {str(system): float(system) for system in range(systems)}
    for found in (spearman(scores, scores, FEW), kendall(scores, scores, FEW), tau_ap(scores, scores, FEW)):
        assert found.value == pytest.approx(1)
        assert (found.record["low"] is None, found.record["high"] is None) == (systems < 5, systems < 5)
        assert ("no interval" in str(found)) == (systems < 5)


def test_all_tied_rankings_are_undefined():
    tied, other = dict.fromkeys("abcd", 0.5), dict(zip("abcd", (0.1, 0.2, 0.3, 0.4), strict=True))
    both = (tau_ap(tied, other), tau_ap(other, tied), tau_ap({"a": 1}, {"a": 2}))
    for found in (spearman(tied, other), kendall(other, tied), spearman({}, {}), kendall({"a": 1}, {"a": 2}), *both):
        assert found.value is None
        assert "undefined" in str(found)
    assert str(kendall(tied, other)) == "Kendall's tau-b undefined (n = 4 systems)"


@pytest.mark.parametrize(
    ("first", "second", "value"),
    [
        ((4, 3, 2, 1), (4, 3, 2, 1), 1),
        ((4, 3, 2, 1), (1, 2, 3, 4), -1),
        # The best two change places: of the three below the first, 0 of 1, 2 of 2, 3 of 3.
        ((4, 3, 2, 1), (3, 4, 2, 1), 1 / 3),
        # The last two: 1 of 1, 2 of 2, 2 of 3, and the same from the other side.
        ((4, 3, 2, 1), (4, 3, 1, 2), 7 / 9),
        # autojudge-evaluate 1.1.0 gives this for ties on both sides.
        ((4, 3, 3, 1), (4, 2, 3, 3), 5 / 9),
    ],
)
def test_tau_ap_weighs_the_best_systems_most(first, second, value):
    sides = [{str(place): float(score) for place, score in enumerate(side)} for side in (first, second)]
    assert tau_ap(*sides, FEW).value == pytest.approx(value)
    assert tau_ap(*reversed(sides), FEW).value == pytest.approx(value)


def slow_tau_ap(first: Sequence[float], second: Sequence[float]) -> float:
    """By its definition: the mean of both directions."""
    sides: list[float] = []
    for pivot, judged in ((first, second), (second, first)):
        shares: list[float] = []
        for place, score in enumerate(pivot):
            above = [other for other, higher in enumerate(pivot) if higher > score]
            if above:
                shares.append(sum(judged[other] > judged[place] for other in above) / len(above))
        sides.append(2 * sum(shares) / len(shares) - 1 if shares else float("nan"))
    return sum(sides) / 2


@given(st.lists(st.tuples(*[st.integers(0, 4)] * 2), min_size=5, max_size=9))
@settings(max_examples=25, deadline=None)
def test_tau_ap_and_its_interval_agree_with_its_definition(rows):
    fast = Bootstrap(draws=100)
    scores = np.array(rows, dtype=np.float64)
    first, second = ({str(place): value for place, value in enumerate(side)} for side in scores.T.tolist())
    found = tau_ap(first, second, fast).estimate
    right = fast.over_rows(lambda drawn: slow_tau_ap(*scores[drawn].T.tolist()), range(len(rows)))
    for name in ("value", "low", "high"):
        expected = getattr(right, name)
        assert getattr(found, name) == (None if expected is None else pytest.approx(expected, abs=1e-9))


def test_a_cutoff_ranks_the_best_by_the_first_measure():
    first = dict(zip("abcdef", (6.0, 5.0, 4.0, 3.0, 2.0, 1.0), strict=True))
    second = dict(zip("abcdef", (4.0, 5.0, 6.0, 1.0, 2.0, 3.0), strict=True))
    assert kendall(first, second, FEW).value == pytest.approx((9 - 6) / 15)
    top = Kendall(cutoff=3).of(first, {**second, "g": 9.0}, FEW)
    assert (top.value, top.n, top.missing, top.name) == (pytest.approx(-1), 3, 1, "Kendall's tau-b of the top 3")
    assert Kendall(cutoff=3).of(second, first, FEW).value == pytest.approx(-1)
    assert parse_measure("TauAP@2", RANKINGS) == TauAP(cutoff=2)
    # Of two that are tied at the cutoff, the first by name.
    tied = {**first, "c": 4.0, "d": 4.0}
    assert Spearman(cutoff=3).of(tied, first, FEW).value == pytest.approx(1)
    with pytest.raises(InputError, match="cutoff of Kendall to be at least 1"):
        Kendall(cutoff=0)


@given(st.lists(st.tuples(*[st.integers(0, 4)] * 2), min_size=2, max_size=8), st.randoms(use_true_random=False))
@settings(max_examples=15, deadline=None)
def test_correlations_are_invariant_to_order_and_change_sign_with_a_reversed_ranking(rows, random):
    fast = Bootstrap(draws=100)
    first, second = ({str(place): value for place, value in enumerate(side)} for side in apart(rows))
    shuffled = dict(random.sample(list(first.items()), len(first)))
    turned = {name: -value for name, value in first.items()}
    for measure in (spearman, kendall, tau_ap, Kendall(cutoff=3).of):
        assert measure(shuffled, second, fast) == measure(first, second, fast)
    for measure in (spearman, kendall):
        found = measure(first, second, fast)
        back = measure(turned, second, fast).value
        assert back == (None if found.value is None else pytest.approx(-found.value, abs=1e-9))


@given(st.lists(st.tuples(*[st.integers(0, 4)] * 2), min_size=5, max_size=9))
@settings(max_examples=25, deadline=None)
def test_correlations_agree_with_scipy(rows):
    stats = pytest.importorskip("scipy.stats")
    fast = Bootstrap(draws=100)
    scores = np.array(rows, dtype=np.float64)
    first, second = ({str(place): value for place, value in enumerate(side)} for side in scores.T.tolist())
    for measure, reference in ((spearman, stats.spearmanr), (kendall, stats.kendalltau)):

        def correlated(drawn, reference=reference):
            one, other = scores[drawn].T
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return float(reference(one, other).statistic)

        found, right = measure(first, second, fast).estimate, fast.over_rows(correlated, range(len(rows)))
        for name in ("value", "low", "high"):
            expected = getattr(right, name)
            assert getattr(found, name) == (None if expected is None else pytest.approx(expected, abs=1e-9)), name


def test_an_agreement_without_an_interval_says_so():
    assert str(Agreement("Cohen's kappa", Estimate(0.5, None, None, 1), 1)).startswith(
        "Cohen's kappa 0.50 (no interval"
    )
