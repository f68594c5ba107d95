"""Nuggets compared with a plain script of scikit-learn and scipy, and parsing of replies."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vericite.disk.fitted import write_fitted
from vericite.errors import InputError
from vericite.lab.assess.mixture import PRESETS, fit_mixture, read_mixture
from vericite.lab.assess.nuggets import NuggetScore, align, read_nuggets, score_nuggets, similarities, split_nuggets

sklearn = pytest.importorskip("sklearn.mixture", reason="the extra [eval] is not installed")


def drawn(seed: int, near: int = 60, far: int = 400) -> np.ndarray:
    random = np.random.default_rng(seed)
    return np.concatenate([random.normal(0.75, 0.08, near), random.normal(0.25, 0.12, far)]).clip(-1, 1)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_stored_mixture_has_the_probabilities_of_scikit_learn(seed: int, tmp_path: Path):
    values = drawn(seed)
    plain = sklearn.BayesianGaussianMixture(n_components=2, random_state=seed, max_iter=1000).fit(values[:, None])
    grid = np.linspace(-1, 1, 101)
    expected = plain.predict_proba(grid[:, None])[:, plain.means_[:, 0].argmax()]
    write_fitted(fit_mixture(values, "e", seed), tmp_path / "mixture.json")
    stored = read_mixture(tmp_path / "mixture.json")
    assert stored.probabilities(grid) == pytest.approx(expected, abs=1e-9)
    assert stored.n == len(values)
    assert json.loads((tmp_path / "mixture.json").read_text())["schema"] == "vericite.nugget-mixture.v1"


def plain_greedy(probabilities: np.ndarray, threshold: float) -> set[tuple[int, int]]:
    cells = sorted(((-p, i, j) for (i, j), p in np.ndenumerate(probabilities) if p >= threshold))
    pairs: set[tuple[int, int]] = set()
    for _, i, j in cells:
        if all(i != a and j != b for a, b in pairs):
            pairs.add((i, j))
    return pairs


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10_000), st.integers(1, 7), st.integers(1, 7), st.floats(0, 1))
def test_alignments_agree_with_a_plain_script(seed: int, rows: int, columns: int, threshold: float):
    probabilities = np.random.default_rng(seed).random((rows, columns)).round(1)
    greedy = align(probabilities, threshold).pairs
    assert set(greedy) == plain_greedy(probabilities, threshold)
    optimal = align(probabilities, threshold, "optimal").pairs
    for pairs in (greedy, optimal):
        assert len({i for i, _ in pairs}) == len({j for _, j in pairs}) == len(pairs)
        assert all(probabilities[pair] >= threshold for pair in pairs)
    assert len(optimal) >= len(greedy)
    if len(optimal) == len(greedy):
        assert sum(probabilities[p] for p in optimal) >= sum(probabilities[p] for p in greedy) - 1e-9


def test_optimal_aligns_what_greedy_leaves():
    probabilities = np.array([[0.9, 0.8], [0.85, 0.1]])
    assert align(probabilities, 0.5).pairs == ((0, 0),)
    assert align(probabilities, 0.5, "optimal").pairs == ((0, 1), (1, 0))


class Vectors:
    """A random vector for each text, close to that of the text it repeats."""

    signature = "random"

    def embed(self, texts):
        rows = []
        for text in texts:
            number, _, again = text.partition("/")
            row = np.random.default_rng(int(number)).normal(size=16)
            row += np.random.default_rng(int(again or 0)).normal(size=16) * (0.3 if again else 0)
            rows.append(row / np.linalg.norm(row))
        return np.array(rows, dtype=np.float32)


@pytest.mark.parametrize("way", ["greedy", "optimal"])
def test_nugget_scores_agree_with_a_plain_script(way):
    from scipy.optimize import linear_sum_assignment

    gold = [[f"{question}{at}" for at in range(6)] for question in range(1, 9)]
    own = [
        [f"{text}/{place}" for place, text in enumerate(texts[: 1 + at % 6], 1)] + ["999"]
        for at, texts in enumerate(gold)
    ]
    embedder = Vectors()
    ours = [similarities(embedder, *sides) for sides in zip(own, gold, strict=True)]
    mixture = fit_mixture(np.concatenate([it.ravel() for it in ours]), embedder.signature)
    found = [score_nuggets(it, mixture, way) for it in ours]

    plain = [
        embedder.embed(a).astype(float) @ embedder.embed(b).astype(float).T for a, b in zip(own, gold, strict=True)
    ]
    values = np.concatenate([it.ravel() for it in plain])[:, None]
    fitted = sklearn.BayesianGaussianMixture(n_components=2, random_state=0, max_iter=1000).fit(values)
    match = fitted.means_[:, 0].argmax()
    for score, cosines, texts in zip(found, plain, own, strict=True):
        likely = fitted.predict_proba(cosines.reshape(-1, 1))[:, match].reshape(cosines.shape)
        if way == "greedy":
            pairs = len(plain_greedy(likely, 0.5))
        else:
            rows, columns = linear_sum_assignment(np.where(likely >= 0.5, 1.0, 0.0), maximize=True)
            pairs = int((likely[rows, columns] >= 0.5).sum())
        assert score.precision == pytest.approx(pairs / len(texts))
        assert score.recall == pytest.approx(pairs / 6)
        assert score.f1 == pytest.approx(2 * pairs / (len(texts) + 6))
    assert len({score.recall for score in found}) > 3


def test_scores_are_shares_or_undefined():
    mixture = fit_mixture(drawn(0), "e")
    found = score_nuggets(np.array([[0.9, 0.1], [0.2, 0.1], [0.1, 0.3]]), mixture)
    assert (found.precision, found.recall, found.f1) == (1 / 3, 1 / 2, 2 / 5)
    assert NuggetScore(0, 0, 2).precision is None
    assert score_nuggets(np.zeros((0, 2)), mixture).recall == 0


def test_too_few_similarities_and_broken_files_are_refused(tmp_path: Path):
    with pytest.raises(InputError, match="20 different"):
        fit_mixture(np.array([0.1, 0.2]), "e")
    (tmp_path / "bad.json").write_text('{"schema": "vericite.nugget-mixture.v1"}')
    for name in ("bad.json", "none.json"):
        with pytest.raises(InputError, match="expected a mixture"):
            read_mixture(tmp_path / name)


@pytest.mark.parametrize(
    "reply",
    [
        "Iron is needed.\nFerritin rises.",
        "1. Iron is needed.\n2) Ferritin rises.\n",
        "Here are the nuggets:\n- Iron is needed.\n- Ferritin rises.\n- Iron is needed.",
        "```\n* Iron is needed.\n\n* Ferritin rises.\n```",
    ],
)
def test_replies_are_read_line_by_line(reply: str):
    assert read_nuggets(reply) == ("Iron is needed.", "Ferritin rises.")


def test_a_reply_without_nuggets_is_a_failure_and_numbers_stay():
    with pytest.raises(ValueError, match="no nugget"):
        read_nuggets("\n---\n")
    assert read_nuggets("5 mg is enough.") == ("5 mg is enough.",)
    assert split_nuggets("Iron is needed, and ferritin rises. Iron is needed.")


def test_presets_match_the_paper():
    assert sorted(PRESETS.values()) == [0.6035, 0.6211, 0.6267]


def test_a_threshold_is_chosen_by_optuna():
    pytest.importorskip("optuna", reason="the extra [assess] is not installed")
    from vericite.lab.assess.nuggets import tune_threshold

    random = np.random.default_rng(0)
    found = [random.choice(drawn(seed), (5, 4)) for seed in range(6)]
    tuned = tune_threshold(found, fit_mixture(drawn(0), "e"), trials=15)
    assert 0 <= tuned.mixture.threshold <= 1
    assert tuned.mixture.threshold in [threshold for threshold, _ in tuned.front]
    assert "15 trials" in tuned.mixture.signature
    best = max(tuned.mixture.front, key=lambda point: (point[1], point[0]))
    assert best[0] == tuned.mixture.threshold and len(tuned.mixture.front) == len(tuned.front)
