"""A judge with a temperature and biases fitted to labels of one's own."""

from __future__ import annotations

import datetime
import hashlib
import os
import re
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import ConfigDict, Field

from vericite.disk.files import expanded, own_folder
from vericite.disk.fitted import read_fitted
from vericite.errors import InputError
from vericite.models.contracts import COLUMNS, Inquiring, Judge, Judgement, Limited, Pair, Slow
from vericite.records import Record
from vericite.verify.judging import temperature_scaled

NAME = re.compile(r"[a-z0-9-]{1,40}")
SUFFIX = ".json"

Share = Annotated[float, Field(ge=0, le=1)]
Bias = Annotated[float, Field(ge=-100, le=100)]


class Shift(Record):
    """A figure before and after calibrating, from pairs that it was not fitted to."""

    before: float
    after: float


class CalibrationFigures(Record):
    """What calibrating changed on the labels, each pair left out of the fit that is measured on it."""

    groups: int
    folds: int
    log_loss: Shift
    ece: Shift
    brier: Shift
    coverage: float | None
    risk: float | None
    risk_low: float | None
    risk_high: float | None


class StoredCalibration(Record):
    """A judge with what was fitted to labels.

    Attributes:
        form: The version of this form of file.
        judge: The name of the judge that was calibrated.
        signature: That judge's signature at the time.
        temperature: Probabilities are raised to its inverse.
        bias: They are then multiplied by its exponential: for entails, contradicts and neutral.
        abstain_below: Below this probability a verdict is abstained from, unless another is given.
        n: Pairs it was fitted on.
        date: The day.
    """

    model_config = ConfigDict(populate_by_name=True)

    form: Literal["vericite.calibrated-judge.v1"] = Field(default="vericite.calibrated-judge.v1", alias="schema")
    judge: str = Field(min_length=1)
    signature: str
    temperature: float = Field(gt=0, le=1000)
    bias: tuple[Bias, Bias, Bias]
    abstain_below: Share
    n: int = Field(ge=1)
    date: datetime.date
    figures: CalibrationFigures

    @property
    def hash8(self) -> str:
        """Eight hexadecimal digits for what changes verdicts."""
        fields = (self.judge, self.temperature, self.bias, self.abstain_below)
        return hashlib.sha256(repr(fields).encode()).hexdigest()[:8]

    @property
    def summary(self) -> str:
        """It in a line."""
        bias = "" if not any(self.bias) else " with bias {:+.2f} {:+.2f} {:+.2f}".format(*self.bias)
        bar = f"abstains below {self.abstain_below:.2f}" if self.abstain_below else "never abstains"
        made = f"calibrated on {self.n} pairs, {self.date}"
        return f"{self.judge} at temperature {self.temperature:.2f}{bias}, {bar}; {made}"


def home() -> Path | None:
    """``$VERICITE_HOME``, else ``$XDG_CONFIG_HOME/vericite``, else ``~/.config/vericite``; None without a home."""
    return own_folder("VERICITE_HOME", "XDG_CONFIG_HOME", "~/.config")


def stored_path(name: str) -> Path:
    """Where the judge of this name is kept, if it is.

    Raises:
        InputError: It is no name for one, or there is no folder for any.
    """
    if not NAME.fullmatch(name):
        raise InputError(
            f"expected a name of 1 to 40 of the characters a-z, 0-9 and -; found {name!r}. Choose another."
        )
    folder = home()
    if folder is None:
        raise InputError(
            "expected a folder for calibrated judges; found none: there is no such home. Set VERICITE_HOME to a folder."
        )
    return folder / "judges" / f"{name}{SUFFIX}"


def is_stored(name: str) -> bool:
    """Whether a calibrated judge of this name is kept."""
    # Path's own is_file raises where a folder may not be looked into.
    return bool(NAME.fullmatch(name)) and home() is not None and os.path.isfile(stored_path(name))


def stored_names() -> tuple[str, ...]:
    """The names of those that are kept, sorted."""
    return tuple(sorted(_names()))


def _names() -> Iterator[str]:
    folder = home()
    try:
        found = [] if folder is None else list((folder / "judges").glob(f"*{SUFFIX}"))
    except OSError:
        return
    yield from (path.stem for path in found if is_stored(path.stem))


def named_file(name: str) -> Path:
    """The file that a user names.

    Raises:
        InputError: It is in a home that is none.
    """
    path = expanded(name)
    if path is None:
        raise InputError(f"expected a calibrated judge's file; found {name}: there is no such home. Name its folder.")
    return path


def read_stored(path: Path) -> StoredCalibration:
    """A file that ``vericite calibrate`` wrote.

    Raises:
        InputError: It cannot be read, or is none.
    """
    return read_fitted(
        StoredCalibration, path, "a calibrated judge's file, as `vericite calibrate` writes it", "Calibrate again."
    )


def make_folder(path: Path) -> None:
    """The folder that judges are kept in, for its owner alone where it is new.

    Raises:
        InputError: It cannot be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise InputError(
            f"expected a folder for calibrated judges; found {path}: {error.strerror}. Set VERICITE_HOME to another."
        ) from None


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
        # Traits are known by the attributes that are there.
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
        row = np.asarray(before, dtype=np.float64)
        after = temperature_scaled(row, self.stored.temperature, self.stored.bias).astype(np.float32)
        # The base judge's own label stands for a verdict that is no longer given.
        native = judgement.native if before[after.argmax()] == before.max() else None
        return judgement._replace(probabilities=after, native=native)
