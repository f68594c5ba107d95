"""Judges that wrap another judge: calibrated on the user's labels, or cached on disk.

A calibration is a temperature and biases. The cache holds hashes and judgements of all runs, but no texts. It knows a
judge by its signature: a judge that changes its judgements needs a new one. The signatures of our own judges name the
weights. The versions of tokenization and runtime are part of each key in the file.
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
from dataclasses import replace
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
    """A figure before and after calibration, on pairs that were not used for the fit."""

    before: float
    after: float


class CalibrationFigures(Record):
    """Effect of calibration on the labels; each pair is left out of the fit that is measured on it."""

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
    """A judge with its fitted calibration.

    Attributes:
        form: Version of this file format.
        judge: Name of the calibrated judge.
        signature: Signature of that judge when it was calibrated.
        temperature: Probabilities are raised to the inverse of this.
        bias: Probabilities are then multiplied by the exponential of this: for entails, contradicts and neutral.
        abstain_below: Default threshold below which a verdict becomes an abstention.
        n: Number of pairs used for the fit.
        date: Date of the calibration.
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
        """Eight hexadecimal digits of a hash of what changes verdicts."""
        fields = (self.judge, self.temperature, self.bias, self.abstain_below)
        return hashlib.sha256(repr(fields).encode()).hexdigest()[:8]

    @property
    def summary(self) -> str:
        """One-line summary."""
        bias = "" if not any(self.bias) else " with bias {:+.2f} {:+.2f} {:+.2f}".format(*self.bias)
        bar = f"abstains below {self.abstain_below:.2f}" if self.abstain_below else "never abstains"
        made = f"calibrated on {self.n} pairs, {self.date}"
        return f"{self.judge} at temperature {self.temperature:.2f}{bias}, {bar}; {made}"


def home() -> Path | None:
    """Return ``$VERICITE_HOME``, ``$XDG_CONFIG_HOME/vericite`` or ``~/.config/vericite``; None without a home."""
    return own_folder(HOME, "XDG_CONFIG_HOME", "~/.config")


def stored_path(name: str) -> Path:
    """Return the path of the calibrated judge with this name.

    Raises:
        InputError: The name is invalid, or there is no home folder.
    """
    if not NAME.fullmatch(name):
        raise InputError(
            f"expected a name of 1 to 40 of the characters a-z, 0-9 and -; found {name!r}. Choose another."
        )
    folder = home()
    if folder is None:
        raise InputError(
            "expected a folder for calibrated judges; found none: no home folder. Set VERICITE_HOME to a folder."
        )
    return folder / "judges" / f"{name}{SUFFIX}"


def is_stored(name: str) -> bool:
    """Whether a calibrated judge with this name is stored."""
    # Path.is_file raises if the folder may not be read.
    return bool(NAME.fullmatch(name)) and home() is not None and os.path.isfile(stored_path(name))


def stored_names() -> tuple[str, ...]:
    """Return the names of stored judges, sorted."""
    return tuple(sorted(_names()))


def _names() -> Iterator[str]:
    folder = home()
    try:
        found = [] if folder is None else list((folder / "judges").glob(f"*{SUFFIX}"))
    except OSError:
        return
    yield from (path.stem for path in found if is_stored(path.stem))


def named_file(name: str) -> Path:
    """Return the path of a file that the user named.

    Raises:
        InputError: The path starts with an unknown home folder.
    """
    path = expanded(name)
    if path is None:
        raise InputError(f"expected a calibrated judge's file; found {name}: unknown home folder. Name its folder.")
    return path


def read_stored(path: Path) -> StoredCalibration:
    """Read a file that ``vericite calibrate`` wrote.

    Raises:
        InputError: The file cannot be read, or is not such a file.
    """
    return read_fitted(
        StoredCalibration, path, "a calibrated judge's file, as `vericite calibrate` writes it", "Calibrate again."
    )


def make_folder(path: Path) -> None:
    """Create the folder for judges; a new one is for its owner only.

    Raises:
        InputError: The folder cannot be created.
    """
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise InputError(
            f"expected a folder for calibrated judges; found {path}: {error.strerror}. Set VERICITE_HOME to another."
        ) from None


class StaleCalibrationWarning(UserWarning):
    """The judge differs from the one that was calibrated."""


class CalibratedJudge:
    """The judge ``base``, its probabilities raised to 1/temperature and multiplied by the exponential of the biases.

    Without biases only the probabilities change, never the labels. It reads as much as ``base``, and as fast.

    Attributes:
        abstain_below: The fitted threshold; the caller who puts the judge into a protocol decides whether to use it.

    Raises:
        InputError: ``base`` only returns labels.
    """

    def __init__(self, base: Judge, stored: StoredCalibration, name: str) -> None:
        if not traits_of(base).graded:
            raise InputError(f"expected a judge with probabilities under {name}; {base.signature} only returns labels")
        self.base = base
        self.stored = stored
        self.abstain_below = stored.abstain_below
        self.signature = f"{base.signature}(calibrated={name}@{stored.hash8})"
        # Its probabilities are others now.
        self.traits = replace(traits_of(base), precisions={})
        if base.signature != stored.signature:
            warnings.warn(
                f"expected the judge {stored.judge} to be {stored.signature}, on which {name} was calibrated; found "
                f"{base.signature}. Calibrate again: vericite calibrate LABELS --judge {stored.judge}",
                StaleCalibrationWarning,
                stacklevel=2,
            )

    @property
    def ledger(self) -> object:
        """The base judge's ledger, if it has one."""
        return ledger_of(self.base)

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """Yield calibrated judgements; failures and labels without probabilities are not changed."""
        return map(self.calibrated, self.base.judge(pairs))

    def calibrated(self, judgement: Judgement) -> Judgement:
        """Calibrate a judgement of the base judge."""
        if judgement.failure is not None or not judgement.graded:
            return judgement
        before = judgement.probabilities
        if np.shape(before) != (len(COLUMNS),) or not np.isfinite(before).all() or not before.sum() > 0:
            # Invalid probabilities are reported by the caller.
            return judgement
        row = np.asarray(before, dtype=np.float64)
        after = temperature_scaled(row, self.stored.temperature, self.stored.bias).astype(np.float32)
        # The base judge's native label may belong to another verdict now.
        native = judgement.native if before[after.argmax()] == before.max() else None
        return judgement._replace(probabilities=after, native=native)


FILE = "judgements.sqlite"
"""File name in the cache folder."""

_TABLE = "judgement_2"
"""A table name changes with the meaning of its rows. (The first one has the version in its keys.)"""

_ENCODER = 2
"""Increase this if ``vericite.models`` changes how it tokenizes or reads texts."""

_MOST = 2_000_000
"""Maximum number of judgements in a file, about 140 MB."""

_HIGHEST = f"SELECT max(rowid) FROM {_TABLE}"
"""Estimates their number without counting: rows are never deleted."""

_FIRST, _LARGEST = 256, 4096
_SECONDS = 10.0
"""Pairs to read ahead and store together. Starting from the first number, it doubles as long as judging them takes no
longer than this time. A fast judge gets full batches, and a slow one that is killed loses little."""

_STORED = np.dtype("<f4")


class CachedJudge:
    """Reads judgements from a file if the judge has made them before. Failures are never stored.

    It has the traits of its judge. For a calibrated judge, the base judge is
    cached, so that another calibration can use the same judgements. A judge that caches its own replies, such as a
    language model, gains nothing.

    Args:
        judge: Judges what is not in the file.
        file: The file, shared by all judges; None for no file. Closed by ``close`` or the end of a ``with`` block.
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
        """The judge's own signature."""
        return self._judge.signature

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """Yield one judgement per pair, in order; reads ahead.

        Raises:
            PluginError: The judge raised another exception, or returned too few or too many judgements.
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
        """Close the file; it opens again when used."""
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
                "expected fewer than %d judgements in %s; found about %d. New ones of this run are not stored. Delete "
                "the file to start over, or run without it (llm.cache=false).",
                _MOST,
                store.file,
                highest,
            )
            return
        store.put(rows)


def _store(file: Path) -> RowStore:
    # Loads SQLite only when it is needed.
    from vericite.disk.store import Form, RowStore

    return RowStore(file, Form("judgements", _TABLE, "(key BLOB PRIMARY KEY, probabilities BLOB NOT NULL, rest TEXT)"))


def _key(signature: str, pair: Pair) -> bytes:
    """Return a key that equal pairs for a judge share, and no others."""
    # JSON marks where each text ends, and can hold any text, even invalid Unicode.
    asked = json.dumps([_ENCODER, _runtime(), signature, pair.premise, pair.claim, pair.question])
    return blake2b(asked.encode(), digest_size=16).digest()


@cache
def _runtime() -> str:
    """Return the version of the runtime of our own models, without loading it if its package has the usual name."""
    try:
        return version("onnxruntime")
    except PackageNotFoundError:
        import onnxruntime

        return str(onnxruntime.__version__)


def _row(key: bytes, judgement: Judgement) -> tuple[bytes, bytes, str | None] | None:
    """Convert a judgement to a row; None if it could not be restored exactly."""
    probabilities, failure, note, native, raw, graded = judgement
    if failure is not None or raw is not None or probabilities.dtype != np.float32:
        return None
    if not (_is_text(note) and _is_text(native)):
        return None
    rest = None if (note, native, graded) == (None, None, True) else json.dumps([note, native, bool(graded)])
    return key, probabilities.astype(_STORED).tobytes(), rest


def _judgement(row: tuple[Any, ...]) -> Judgement | None:
    """Convert a row to a judgement; None if the row is invalid, so that the pair is judged again."""
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
    # A row of another package's judge, or a damaged one, may hold anything.
    return isinstance(value, str | None)
