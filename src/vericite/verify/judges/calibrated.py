"""A judge with a temperature and biases fitted to labels of one's own."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator

import numpy as np

from vericite.errors import InputError
from vericite.models import Pair
from vericite.verify.judges.stored import StoredCalibration
from vericite.verify.judging import COLUMNS, Inquiring, Judge, Judgement, Limited, Slow
from vericite.verify.tempering import tempered


class StaleCalibrationWarning(UserWarning):
    """A judge is not the one that was calibrated under a name."""


class CalibratedJudge:
    """The judge ``base``, its probabilities raised to 1/temperature, times the exponential of the biases.

    Without biases no label changes, only how sure it is. It reads as much as ``base``, and as fast.

    Attributes:
        abstain_below: The threshold that was fitted; whoever puts the judge into a protocol decides whether to use it.

    Raises:
        InputError: ``base`` only says labels.
    """

    def __init__(self, base: Judge, stored: StoredCalibration, name: str) -> None:
        if not getattr(base, "graded", True):
            raise InputError(f"expected a judge with probabilities under {name}; {base.signature} only says a label")
        self.base = base
        self.stored = stored
        self.abstain_below = stored.abstain_below
        self.signature = f"{base.signature}(calibrated={name}@{stored.hash8})"
        # Traits are told by the attributes that are there.
        if isinstance(base, Limited):
            self.capacity, self.length = base.capacity, base.length
        if isinstance(base, Slow):
            self.pairs_at_once = base.pairs_at_once
        if isinstance(base, Inquiring):
            self.reads_question = base.reads_question
        if base.signature != stored.signature:
            warnings.warn(
                f"expected the judge {stored.judge} to be {stored.signature}, on which {name} was calibrated; found "
                f"{base.signature}. Calibrate again: vericite calibrate LABELS --judge {stored.judge}",
                StaleCalibrationWarning,
                stacklevel=2,
            )

    @property
    def ledger(self) -> object:
        """The base judge's, if it has one."""
        return getattr(self.base, "ledger", None)

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """The base judge's judgements; failures, and labels without probabilities, as they are."""
        return map(self.calibrated, self.base.judge(pairs))

    def calibrated(self, judgement: Judgement) -> Judgement:
        """A judgement of the base judge as this one gives it."""
        if judgement.failure is not None or not judgement.graded:
            return judgement
        before = judgement.probabilities
        if np.shape(before) != (len(COLUMNS),) or not np.isfinite(before).all() or not before.sum() > 0:
            # What is wrong with it is for those to say who asked.
            return judgement
        row = tempered(np.asarray(before, dtype=np.float64)[None], self.stored.temperature, self.stored.bias)[0]
        after = row.astype(np.float32)
        # The base judge's own label stands for a verdict that is no longer given.
        native = judgement.native if before[after.argmax()] == before.max() else None
        return judgement._replace(probabilities=after, native=native)
