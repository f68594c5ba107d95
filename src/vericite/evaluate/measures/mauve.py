"""MAUVE: how far the answers of a run, as a whole, are spread like the references; from vectors made beforehand.

It is written here and not taken from mauve-text, which brings faiss and the GNU General Public License. The tests hold
figures that mauve-text computed of the same histograms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from vericite.errors import InputError
from vericite.evaluate.items import Features, Item
from vericite.evaluate.measures.measure import Measure, Parts
from vericite.evaluate.measures.packages import eval_package
from vericite.evaluate.measures.parameters import expect_count
from vericite.evaluate.resampling import Bootstrap, Estimate, Floats, Integers

_SCALE = 5.0
"""What divergences are multiplied by, so that the figure uses its range."""
_MIXTURES = np.linspace(1e-6, 1 - 1e-6, 25)
"""Shares of the references in the mixtures that the curve goes through."""
_EXPLAINED = 0.9
"""Share of the variance that the dimensions kept explain."""
_RESTARTS = 5
_ROUNDS = 500
_SEED = 0


@dataclass(frozen=True, repr=False)
class MAUVE(Measure):
    """How alike answers and reference answers are as two crowds of texts, by a language model's vectors.

    MAUVE (Pillutla et al. 2021) of vectors made beforehand, one of the answer and one of a reference for each question:
    scaled to length 1, reduced to the dimensions with 90 % of the variance, put into cells by k-means (5 starts), and
    from both shares of the cells the area under the curve of exp(-5 KL) over their mixtures. 1 where both fill the
    cells alike. A question without both vectors is missing on both sides.

    It is a figure of a run, of use from some hundred questions on; below it mostly says how few there are, and it
    is comparable only between runs of as many. Runs that are scored or compared together have their cells in
    common, so a run scored by itself has another figure. For the interval cells are kept and questions drawn again, so
    it has nothing of the chance in k-means.

    Attributes:
        buckets: Cells; by default a tenth of the questions, but two or more.
        smoothed: Whether half a text is added to each cell on both sides (MAUVE*, Pillutla et al. 2023), which helps
            with few questions.
    """

    name = "MAUVE"
    family = "answer"
    needs = ("features",)
    extra = "eval"
    packages = ("scikit-learn",)
    centred = True

    buckets: int | None = None
    smoothed: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.buckets is not None:
            expect_count(self.name, "buckets", self.buckets)

    def parts(self, item: Item) -> Parts | None:
        """The cells of one question by itself, which tell nothing; see ``of``."""
        return self.of([item])[0]

    def of(self, items: Sequence[Item]) -> list[Parts | None]:
        """The cell of each question's reference and of its answer; missing without both vectors."""
        return self.of_each([items])[0]

    def of_each(self, runs: Sequence[Sequence[Item]]) -> list[list[Parts | None]]:
        """The cells of several runs that are to be compared, which are the same for all of them."""
        known = [item.features for run in runs for item in run if item.features]
        if not known:
            return [[None] * len(run) for run in runs]
        pairs = max(sum(item.features is not None for item in run) for run in runs)
        cells, count = _cells(known, self.buckets or max(2, round(pairs / 10)))
        rows = iter(np.eye(count)[cells].reshape(len(known), 2 * count).tolist())
        return [[tuple(next(rows)) if item.features else None for item in run] for run in runs]

    def statistic(self, sums: Floats) -> Floats:
        """The area under the curve; NaN over no questions."""
        counts = sums.reshape(*sums.shape[:-1], 2, -1)
        totals = counts.sum(axis=-1, keepdims=True)
        smoothed = counts + 0.5 if self.smoothed else counts
        shares = np.where(totals > 0, smoothed, np.nan) / smoothed.sum(axis=-1, keepdims=True)
        return _area(shares[..., 0, :], shares[..., 1, :])

    def estimate(self, parts: Sequence[Parts | None], bootstrap: Bootstrap) -> Estimate:
        """The figure over questions, with its interval: percentiles of the draws, moved so that their mean is it.

        A draw has fewer different texts than the run and so a lower figure. In simulations with 100 and 300 questions
        the ends of percentiles and BCa held the figure expected of so many in 13 to 92 of 100 cases, these in 92 to
        100.
        """
        return bootstrap.centred(self.table(parts), self.statistic, 0.0, 1.0)

    def drawn_by(self, bootstrap: Bootstrap) -> str:
        """Percentiles, moved."""
        return replace(bootstrap, method="percentile").signature.replace("=", "=centred ", 1)


def _area(references: Floats, answers: Floats) -> Floats:
    """Under the curve between two spreads [..., cells], from all answers to all references."""
    x, y = np.ones(references.shape[:-1]), np.zeros(references.shape[:-1])
    area = np.zeros_like(x)
    for share in _MIXTURES:
        mixed = share * references + (1 - share) * answers
        right, up = (np.exp(-_SCALE * _divergence(spread, mixed)) for spread in (answers, references))
        area += (x - right) * (y + up) / 2
        x, y = right, up
    return area + x * (y + 1) / 2


def _divergence(spread: Floats, mixed: Floats) -> Floats:
    """Kullback and Leibler's, of a spread from a mixture that has it in itself."""
    over = np.divide(spread, mixed, out=np.ones_like(mixed), where=~(spread == 0))
    return (spread * np.log(over)).sum(axis=-1)


def _cells(known: Sequence[Features], buckets: int) -> tuple[Integers, int]:
    """The cells of references and answers [questions, 2], and how many cells there are."""
    if len({len(features.answer) for features in known}) > 1:
        raise InputError(
            "expected the vectors of all answers to be of one length; found several. Make all by one model."
        )
    vectors = np.array([side for it in known for side in (it.reference, it.answer)], dtype=np.float64)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.finfo(np.float64).tiny)
    different = len(np.unique(vectors, axis=0))
    count = min(buckets, different)
    if count == 1:
        return np.zeros((len(known), 2), dtype=np.int64), 1
    reduction = eval_package("sklearn.decomposition", MAUVE.name).PCA(svd_solver="full")
    placed = reduction.fit_transform(vectors)
    kept = int(np.argmax(np.cumsum(reduction.explained_variance_ratio_) >= _EXPLAINED)) + 1
    clusters = eval_package("sklearn.cluster", MAUVE.name).KMeans(
        count, n_init=_RESTARTS, max_iter=_ROUNDS, random_state=_SEED
    )
    found: Integers = clusters.fit_predict(placed[:, :kept])
    return found.astype(np.int64).reshape(-1, 2), count
