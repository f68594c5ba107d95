"""The probability that two nuggets say the same, by a mixture of two normal distributions over similarities (BioACE).

The mixture is fitted by scikit-learn and stored as numbers in a JSON file. With two components and one variable the
logit of a match is a quadratic function of the similarity, so a stored mixture needs neither scikit-learn nor pickle.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, Field

from vericite.disk.fitted import read_fitted
from vericite.errors import InputError
from vericite.evaluate.measures.measure import eval_package
from vericite.records import Record

Floats = NDArray[np.float64]

LEAST = 20
"""Minimum number of similarities for a fit."""


PRESETS: Mapping[str, float] = {
    "all-MiniLM-L6-v2": 0.6267,
    "all-mpnet-base-v2": 0.6211,
    "sup-simcse-roberta-large": 0.6035,
}
"""BioACE's probability thresholds. They belong to the authors' mixtures, of which only that of MiniLM is published, as
a pickle, so they are approximate with any other mixture."""


class StoredMixture(Record):
    """A fitted mixture.

    Attributes:
        form: The version of the file format.
        embedder: The signature of the embedder.
        data: A hash of the similarities used for the fit.
        n: Number of similarities.
        means: Means of the two components; the larger one belongs to matching nuggets.
        logit: Coefficients of the logit of a match, for the powers 0, 1 and 2 of the similarity.
        threshold: Minimum probability for aligning nuggets.
        chosen: How the threshold was chosen.
        front: The Pareto front, if the threshold was tuned: threshold, F1, mean similarity and number of pairs.
    """

    model_config = ConfigDict(populate_by_name=True)

    form: Literal["vericite.nugget-mixture.v1"] = Field(default="vericite.nugget-mixture.v1", alias="schema")
    embedder: str
    data: str
    n: int = Field(ge=1)
    means: tuple[float, float]
    logit: tuple[float, float, float]
    threshold: float = Field(default=0.5, ge=0, le=1)
    chosen: str = "0.5"
    front: tuple[tuple[float, float, float, float], ...] = ()

    @property
    def signature(self) -> str:
        """Identifies the mixture in provenance."""
        fixed = hashlib.sha256(repr((self.embedder, self.logit, self.threshold)).encode()).hexdigest()[:8]
        return f"nugget-mixture@{fixed}(threshold={self.threshold:g}, {self.chosen})"

    @property
    def turns_at(self) -> float | None:
        """The similarity below which the probability of a match rises again; None if there is none.

        This happens if the matching component is the wider one, because its lower tail is heavier than the other's.
        """
        return -self.logit[1] / (2 * self.logit[2]) if self.logit[2] > 0 else None

    def probabilities(self, similarities: NDArray[np.floating]) -> Floats:
        """Return the probability of a match for each similarity."""
        x = np.asarray(similarities, dtype=np.float64)
        first, second, third = self.logit
        return (1 + np.tanh((first + second * x + third * x**2) / 2)) / 2


def fit_mixture(similarities: NDArray[np.floating], embedder: str, seed: int = 0) -> StoredMixture:
    """Fit a Bayesian Gaussian mixture of at most two components to similarities, by variational inference.

    Args:
        similarities: Similarities of the answers' nuggets to the gold's, for all pairs of each question.
        embedder: The signature of the embedder.
        seed: Seed of the initialization.

    Raises:
        InputError: There are too few different similarities.
        MissingExtraError: scikit-learn is not installed.
    """
    values = np.asarray(similarities, dtype=np.float64).reshape(-1, 1)
    if len(values) < LEAST or len(np.unique(values)) < LEAST // 2:
        raise InputError(
            f"expected at least {LEAST} different similarities to fit a mixture; found {len(np.unique(values))}. Give "
            "answers and gold nuggets of more questions."
        )
    fitted = eval_package("sklearn.mixture", "nugget mixture").BayesianGaussianMixture(
        n_components=2, random_state=seed, max_iter=1000
    )
    fitted.fit(values)
    means = fitted.means_[:, 0]
    match = int(means.argmax())
    first, second = (_terms(fitted, component) for component in (match, 1 - match))
    return StoredMixture(
        embedder=embedder,
        data=hashlib.sha256(np.sort(values[:, 0]).tobytes()).hexdigest()[:16],
        n=len(values),
        means=(float(means[match]), float(means[1 - match])),
        logit=tuple(a - b for a, b in zip(first, second, strict=True)),  # pyright: ignore[reportArgumentType]
    )


def _terms(fitted: object, component: int) -> tuple[float, float, float]:
    """Return the coefficients of a component's expected log density, without terms that all components share."""
    from typing import Any, cast

    special = eval_package("scipy.special", "nugget mixture")
    model = cast(Any, fitted)
    freedom = float(model.degrees_of_freedom_[component])
    root = float(np.ravel(model.precisions_cholesky_[component])[0])
    mean = float(model.means_[component, 0])
    expected = np.log(2) + float(special.digamma(freedom / 2)) - 1 / float(model.mean_precision_[component])
    above, beyond = (np.ravel(np.asarray(part, dtype=np.float64)) for part in model.weight_concentration_)
    together = special.digamma(above + beyond)
    # Stick-breaking: the weight of a component is its share of what earlier components leave.
    weight = special.digamma(above[component]) - together[component]
    weight += sum(special.digamma(beyond[index]) - together[index] for index in range(component))
    constant = float(weight) + np.log(root) - np.log(freedom) / 2 + expected / 2
    return constant - root**2 * mean**2 / 2, root**2 * mean, -(root**2) / 2


def read_mixture(path: Path) -> StoredMixture:
    """Read a mixture from a file.

    Raises:
        InputError: The file cannot be read, or is not a mixture.
    """
    return read_fitted(StoredMixture, path, "a mixture of nuggets", "Fit one again.")
