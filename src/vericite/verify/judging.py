"""Ask a judge: it reads a premise and a claim and returns how likely the premise entails the claim."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from math import log
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from vericite.errors import PluginError, VeriCiteError
from vericite.models.contracts import COLUMNS, Judge, Judgement, Pair, traits_of

SLACK = 1e-3
"""Tolerance of the sum of probabilities, for judges that round."""


def ask(judge: Judge, pairs: Collection[Pair]) -> list[Judgement]:
    """Return the judge's judgements. One with invalid probabilities becomes a failure.

    Raises:
        PluginError: The judge raised another exception, or returned too few or too many judgements.
    """
    if not pairs:
        return []
    try:
        given = list(judge.judge(pairs))
    except VeriCiteError:
        raise
    except Exception as error:  # a judge of another package may raise anything
        found = f"{type(error).__name__}: {error}"
        raise _broken(judge, f"a judgement for each of {len(pairs)} pairs", found) from error
    if len(given) != len(pairs):
        raise _broken(judge, f"{len(pairs)} judgements for as many pairs", str(len(given)))
    return [_checked(judgement, judge) for judgement in given]


def _checked(judgement: object, judge: Judge) -> Judgement:
    if not isinstance(judgement, Judgement):
        raise _broken(judge, "judgements (vericite.verify.Judgement)", f"{judgement!r:.80}")
    if judgement.failure is not None or are_probabilities(judgement.probabilities):
        return judgement
    return Judgement.failed(f"the judge gave {judgement.probabilities!r:.80}, which are no three probabilities")


def are_probabilities(given: object) -> bool:
    """Whether these are three probabilities with a sum of about 1."""
    if not isinstance(given, np.ndarray):
        return False
    values = cast(NDArray[np.float32], given)
    if values.shape != (len(COLUMNS),) or not np.issubdtype(values.dtype, np.floating):
        return False
    # Also false if one of them is NaN.
    return abs(float(values.sum()) - 1) <= SLACK and float(values.min()) >= -SLACK


def _broken(judge: Judge, expected: str, found: str) -> PluginError:
    return PluginError(
        f"expected {expected} from the judge {judge.signature}; found {found}. docs/judges.md says what a judge gives."
    )


def log_odds(probability: float, least: float = 1e-3) -> float:
    """Return the log odds of a probability, which counts as at least ``least`` and at most 1 less that."""
    kept = min(max(probability, least), 1 - least)
    return log(kept / (1 - kept))


Floats = NDArray[np.float64]

_Float = TypeVar("_Float", np.float32, np.float64)


def softmax(logits: NDArray[_Float]) -> NDArray[_Float]:
    """Compute the softmax of each row; minus infinity gives 0 if another output is finite."""
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def log_probabilities(probabilities: Floats) -> Floats:
    """Return logits of the probabilities; minus infinity for 0."""
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(probabilities, 0.0))


def temperature_scaled(probabilities: Floats, temperature: float, bias: Sequence[float] | None = None) -> Floats:
    """Return the softmax of the same logits divided by a temperature, plus ``bias`` if given.

    A probability of exactly 0 stays 0: a judge that does not know a label does not learn it.
    """
    logits = log_probabilities(probabilities) / temperature
    return softmax(logits if bias is None else logits + np.asarray(bias, dtype=np.float64))


def mean_of(rows: Sequence[NDArray[_Float]], weights: Sequence[float] | None = None) -> Floats:
    """Return the mean of arrays of the same shape, with one weight each."""
    return np.average(np.asarray(rows, dtype=np.float64), axis=0, weights=weights)


class MemoizedJudge:
    """A wrapper that asks another judge about each pair only once, until ``forget`` is called."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._judged: dict[Pair, Judgement] = {}
        self.traits = traits_of(judge)

    @property
    def signature(self) -> str:
        """The wrapped judge's signature."""
        return self._judge.signature

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """Yield one judgement per pair, in order."""
        wanted = list(pairs)
        # A copy: another thread may call ``forget`` at any moment.
        known = {pair: judgement for pair in wanted if (judgement := self._judged.get(pair)) is not None}
        new = list(dict.fromkeys(pair for pair in wanted if pair not in known))
        made = dict(zip(new, ask(self._judge, new), strict=True))
        self._judged.update(made)
        known |= made
        return iter([known[pair] for pair in wanted])

    def forget(self) -> None:
        """Drop the stored judgements."""
        self._judged.clear()
