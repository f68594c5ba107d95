"""Calibrated judges as files: small JSON, each read as what it says and nothing more."""

from __future__ import annotations

import datetime
import hashlib
import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, ValidationError

from vericite.disk.folder import expanded, own_folder
from vericite.errors import InputError
from vericite.records import Record, first_problem

NAME = re.compile(r"[a-z0-9-]{1,40}")
SUFFIX = ".json"
LARGEST = 1 << 20

Share = Annotated[float, Field(ge=0, le=1)]
Bias = Annotated[float, Field(ge=-100, le=100)]


class Shift(Record):
    """A figure before and after calibrating, from pairs that it was not fitted to."""

    before: float
    after: float


class Figures(Record):
    """What calibrating was worth on the labels, each pair held out from the fit that is measured on it."""

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
        abstain_below: Below this probability a verdict is abstained from, where nothing else is said.
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
    figures: Figures

    @property
    def hash8(self) -> str:
        """Eight hexadecimal digits for what changes verdicts."""
        telling = (self.judge, self.temperature, self.bias, self.abstain_below)
        return hashlib.sha256(repr(telling).encode()).hexdigest()[:8]

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
    try:
        with path.open("rb") as file:
            held = file.read(LARGEST + 1)
        if len(held) > LARGEST:
            raise _no_calibration(path, f"more than {LARGEST} bytes")
        return StoredCalibration.model_validate_json(held)
    except ValidationError as error:
        field, problem = first_problem(error)
        raise _no_calibration(path, f"{field}: {problem}" if field else problem) from None
    except (OSError, ValueError) as error:
        # ValueError: a path with a zero byte in it.
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"expected a calibrated judge's file; found {path}: {reason}") from None


def _no_calibration(path: Path, found: str) -> InputError:
    return InputError(f"expected a file that `vericite calibrate` wrote; found {path}: {found}. Calibrate again.")


def write_stored(stored: StoredCalibration, path: Path, private: bool = True) -> None:
    """Write it whole or not at all: for its owner alone, or else as all files of the user's are.

    Raises:
        InputError: It cannot be written there.
    """
    text = stored.model_dump_json(by_alias=True, indent=2) + "\n"
    part: Path | None = None
    try:
        if path.is_dir():
            raise IsADirectoryError(0, "Is a directory")
        beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666)
        part = beside
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise InputError(f"expected a file that can be written; found {path}: {error.strerror or error}") from None
    finally:
        if part is not None:
            part.unlink(missing_ok=True)


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
