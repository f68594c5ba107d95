"""Windows, negatives and classifiers of correctness; AUC compared with scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest

from vericite.lab.assess.correctness import (
    Marked,
    Retrieved,
    algorithm_1,
    auc,
    by_length,
    classical,
    correctness_at,
    examples,
    windows,
)

metrics = pytest.importorskip("sklearn.metrics", reason="the extra [eval] is not installed")

DOCUMENT = ("We studied iron.", "Patients were adults.", "Iron lowered fatigue.", "Zinc did not.", "More is needed.")


def case(number: int = 0) -> Marked:
    return Marked(f"Iron {number} lowers fatigue.", f"Does iron {number} help?", DOCUMENT, frozenset({2}), f"g{number}")


def test_windows_cover_the_document():
    assert [text for _, text in windows(["a", "b", "c", "d"], 3)] == ["a b c", "b c d"]
    assert [text for _, text in windows(["a", "b"], 3)] == ["a b"]


def test_a_negative_is_the_best_window_outside_the_evidence():
    positive, negative = examples([case()], size=1)
    assert (positive.window, positive.correct) == ("Iron lowered fatigue.", True)
    assert (negative.window, negative.correct) == ("We studied iron.", False)
    (alone,) = examples([case()], size=3)
    assert alone.correct


def test_auc_agrees_with_scikit_learn():
    random = np.random.default_rng(0)
    gold, scores = random.random(80) < 0.4, random.random(80).round(1)
    assert auc(gold, scores) == pytest.approx(metrics.roc_auc_score(gold, scores))
    assert np.isnan(auc(np.ones(3, bool), scores[:3]))


def test_failures_are_left_out_of_auc_and_algorithm_1():
    gold, scores = np.array([True, False, True, False]), np.array([0.9, 0.2, np.nan, np.nan])
    assert auc(gold, scores) == 1
    assert np.isnan(auc(gold, np.full(4, np.nan)))
    zinc = Marked("Zinc shortens colds.", "Zinc?", ("Zinc.", "It shortens colds by days."), frozenset({1}))

    def fails_on_zinc(rows):
        return np.array([np.nan if one.sentence == zinc.sentence else len(one.window) for one in rows])

    found = algorithm_1([case(), zinc], fails_on_zinc)
    assert found.n == 1 and found.accuracy == 1 and not np.isnan([found.positive, found.negative, found.auc]).any()
    none = algorithm_1([case(), zinc], lambda rows: np.full(len(rows), np.nan))
    assert none.n == 0 and np.isnan(none.auc)


@pytest.mark.parametrize("kind", ["svm", "logistic"])
def test_classical_models_learn(kind):
    rows = examples([case(number) for number in range(8)], size=1)
    scores = classical(rows, kind)(rows)
    assert auc(np.array([one.correct for one in rows]), scores) == 1


def test_algorithm_1_takes_another_questions_document():
    zinc = Marked("Zinc shortens colds.", "Zinc?", ("Zinc.", "It shortens colds by days."), frozenset({1}))

    def shared(rows):
        words = [[{word.strip(".").lower() for word in text.split()} for text in one[:2]] for one in rows]
        return np.array([len(sentence & window) for sentence, window in words])

    found = algorithm_1([case(), zinc], shared)
    assert (found.n, found.accuracy, found.auc) == (2, 1.0, 1.0)
    assert found.positive > found.negative
    with pytest.raises(ValueError, match="two questions"):
        algorithm_1([case()], by_length)


def test_correctness_at_k_grows_with_k():
    asked: list[str] = []

    def said(rows):
        asked.extend(one.window for one in rows)
        return np.array([np.nan if "Zinc" in one.window else float("lowered" in one.window) for one in rows])

    other = ("Zinc was studied.", "Adults took part.")
    cases = [
        Retrieved("Iron lowers fatigue.", (other, DOCUMENT, other)),
        Retrieved("Iron lowers fatigue.", (other, other, other)),
    ]
    assert correctness_at(cases, said, 0.5, (1, 2, 3), 1) == {1: 0.0, 2: 0.5, 3: 0.5}
    assert asked.count("More is needed.") == 1 and asked.count("Adults took part.") == 4  # it stops where it is correct
    with pytest.raises(ValueError, match="found none"):
        correctness_at([], said, 0.5)
