from __future__ import annotations

import numpy as np
import pytest

from release.classification import auc, balanced_accuracy, macro_f1


def test_measures_agree_with_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is in the extra [eval]")
    drawn = np.random.default_rng(0)
    gold = drawn.integers(0, 3, 200)
    found = drawn.dirichlet(np.ones(3), 200).round(1)
    called = found.argmax(1)
    assert macro_f1(gold, found) == pytest.approx(metrics.f1_score(gold, called, average="macro"))
    assert balanced_accuracy(gold, found) == pytest.approx(metrics.balanced_accuracy_score(gold == 0, called == 0))
    assert auc(gold, found) == pytest.approx(metrics.roc_auc_score(gold == 0, found[:, 0]))


def test_measures_that_one_label_leaves_undefined_are_not_numbers() -> None:
    gold, found = np.zeros(3, dtype=np.int64), np.eye(3)[[0, 1, 0]]
    assert np.isnan(auc(gold, found))
    assert np.isnan(balanced_accuracy(gold, found))
    assert macro_f1(gold, found) == pytest.approx(0.8)
