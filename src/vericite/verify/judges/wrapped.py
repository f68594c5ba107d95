"""Judges around another judge: calibrated to labels of one's own, and remembered on disk.

A calibration is a temperature and biases. The file of what a judge has judged before, in whatever run, holds hashes and
judgements, none of the texts. It knows a judge by its signature: one that comes to judge otherwise needs another. Our
own tell which weights they have, not what turns texts into tokens and runs them; that is part of every key in the file.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import logging
import os
import re
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, cast

import numpy as np
from pydantic import ConfigDict, Field

from vericite.disk.files import expanded, own_folder
from vericite.disk.fitted import read_fitted
from vericite.environment import HOME
from vericite.errors import InputError
from vericite.models.contracts import COLUMNS, Judge, Judgement, Pair, ledger_of, traits_of
from vericite.records import Record
from vericite.verify.judging import are_probabilities, ask, temperature_scaled

if TYPE_CHECKING:
    from vericite.disk.store import RowStore

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
    return own_folder(HOME, "XDG_CONFIG_HOME", "~/.config")


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
        if not traits_of(base).graded:
            raise InputError(f"expected a judge with probabilities under {name}; {base.signature} only says a label")
        self.base = base
        self.stored = stored
        self.abstain_below = stored.abstain_below
        self.signature = f"{base.signature}(calibrated={name}@{stored.hash8})"
        self.traits = traits_of(base)
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
        return ledger_of(self.base)

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


FILE = "judgements.sqlite"
"""Its name in the cache's folder."""

_TABLE = "judgement_2"
"""Where rows come to mean something else, the table gets another name. (The first had its form in its keys.)"""

_ENCODER = 2
"""To be raised where ``vericite.models`` comes to make other tokens of a text, or to read them otherwise."""

_MOST = 2_000_000
"""Judgements in a file; some 140 MB."""

_HIGHEST = f"SELECT max(rowid) FROM {_TABLE}"
"""About how many there are, without counting: rows are never deleted."""

_FIRST, _LARGEST = 256, 4096
_SECONDS = 10.0
"""Pairs read ahead, and kept together when they are judged. From the first number it doubles for as long as that takes
no longer than this: a quick judge gets enough to fill its batches, and a slow one that is killed loses little."""

_STORED = np.dtype("<f4")


class CachedJudge:
    """A judge's judgements, from the file where it has made them before. Failures are made anew each time.

    It has the traits of the judge. Of a calibrated judge the one under it is
    cached, so that another calibration finds its judgements too. A judge that keeps its own replies, as those that
    ask language models do, gains nothing by it.

    Args:
        judge: Who judges what is not in the file.
        file: The file, shared by all judges; None for none. Let go of with ``close``, or at the end of a ``with``.
    """

    def __init__(self, judge: Judge, file: Path | None) -> None:
        self._judge = judge
        self._calibration = judge if isinstance(judge, CalibratedJudge) else None
        self._asked = judge.base if isinstance(judge, CalibratedJudge) else judge
        self._store = None if file is None else _store(file)
        self._full = False
        self.traits = traits_of(judge)

    @property
    def signature(self) -> str:
        """The judge's own."""
        return self._judge.signature

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """One judgement a pair, in their order; reads ahead.

        Raises:
            PluginError: The judge raised something of its own, or gave too few or too many.
        """
        if self._store is None:
            yield from self._judge.judge(pairs)
            return
        source, size = iter(pairs), _FIRST
        while window := list(islice(source, size)):
            began = time.monotonic()
            judgements = self._judged(window, self._store)
            if time.monotonic() - began < _SECONDS:
                size = min(2 * size, _LARGEST)
            yield from judgements if self._calibration is None else map(self._calibration.calibrated, judgements)

    def close(self) -> None:
        """Let go of the file; used again, it opens again."""
        if self._store is not None:
            self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _judged(self, pairs: Sequence[Pair], store: RowStore) -> list[Judgement]:
        signature = self._asked.signature
        keys = [_key(signature, pair) for pair in pairs]
        known = {key: judgement for key, row in store.find(keys).items() if (judgement := _judgement(row)) is not None}
        new = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in known}
        made = dict(zip(new, ask(self._asked, list(new.values())), strict=True))
        self._keep(made, store)
        known |= made
        return [known[key] for key in keys]

    def _keep(self, made: Mapping[bytes, Judgement], store: RowStore) -> None:
        rows = [row for key, judgement in made.items() if (row := _row(key, judgement)) is not None]
        if not rows or self._full:
            return
        highest = store.read(lambda connection: connection.execute(_HIGHEST).fetchone()[0])
        if (highest or 0) >= _MOST:
            self._full = True
            logging.getLogger(__name__).warning(
                "expected fewer than %d judgements in %s; found about %d. What is new in this run is not kept. Delete "
                "the file to begin anew, or do without it (llm.cache=false).",
                _MOST,
                store.file,
                highest,
            )
            return
        store.put(rows)


def _store(file: Path) -> RowStore:
    # Loads SQLite, which is not for those who keep nothing.
    from vericite.disk.store import Form, RowStore

    return RowStore(file, Form("judgements", _TABLE, "(key BLOB PRIMARY KEY, probabilities BLOB NOT NULL, rest TEXT)"))


def _key(signature: str, pair: Pair) -> bytes:
    """The key of a pair that a judge is asked about: equal ones share it, and nothing else does."""
    # JSON marks where each text ends, and takes any text, also one that is no UTF-8.
    asked = json.dumps([_ENCODER, _runtime(), signature, pair.premise, pair.claim, pair.question])
    return blake2b(asked.encode(), digest_size=16).digest()


@cache
def _runtime() -> str:
    """The version of what runs our own models; found without loading it where it is installed by its usual name."""
    try:
        return version("onnxruntime")
    except PackageNotFoundError:
        import onnxruntime

        return str(onnxruntime.__version__)


def _row(key: bytes, judgement: Judgement) -> tuple[bytes, bytes, str | None] | None:
    """A judgement as it is stored, or None for one that would not come back as it was."""
    probabilities, failure, note, native, raw, graded = judgement
    if failure is not None or raw is not None or probabilities.dtype != np.float32:
        return None
    if not (_is_text(note) and _is_text(native)):
        return None
    rest = None if (note, native, graded) == (None, None, True) else json.dumps([note, native, bool(graded)])
    return key, probabilities.astype(_STORED).tobytes(), rest


def _judgement(row: tuple[Any, ...]) -> Judgement | None:
    """The judgement, or None where the row is not one: then it is made anew."""
    try:
        _, stored, rest = row
        probabilities = np.frombuffer(stored, _STORED).astype(np.float32)
        note, native, graded = (None, None, True) if rest is None else cast(list[Any], json.loads(rest))
    except (ValueError, TypeError):
        return None
    whole = _is_text(note) and _is_text(native) and isinstance(graded, bool)
    if not whole or len(probabilities) != len(COLUMNS) or not are_probabilities(probabilities):
        return None
    return Judgement(probabilities, note=note, native=native, graded=graded)


def _is_text(value: object) -> bool:
    # Another package's judge, or a damaged row, may hold anything.
    return isinstance(value, str | None)
