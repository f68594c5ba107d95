"""What commands say and write: lines of text, remarks on stderr, output files."""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from vericite.disk.files import Replacing

if TYPE_CHECKING:
    from pydantic import BaseModel


_UNSHOWN = frozenset({"Cc", "Cf", "Cs"})


def clean(text: str) -> str:
    """The text on one line, without characters that would steer a terminal."""
    shown = (" " if char.isspace() else "�" if unicodedata.category(char) in _UNSHOWN else char for char in text)
    return "".join(shown)


def say(text: str, err: bool = False) -> None:
    """Print lines that are no JSON; what would steer a terminal is replaced, wherever it comes from."""
    typer.echo("\n".join(map(clean, text.split("\n"))), err=err)


def say_json(text: str) -> None:
    """Print JSON, lines or one value, with escapes in place of what would steer a terminal."""
    typer.echo("\n".join(line if line.isprintable() else "".join(map(_escaped, line)) for line in text.split("\n")))


def _escaped(char: str) -> str:
    if unicodedata.category(char) not in _UNSHOWN:
        return char
    # JSON's own writer leaves this one as it is.
    return "\\u007f" if char == "\x7f" else json.dumps(char)[1:-1]


_copied = ContextVar[tuple[str, str] | None]("copied", default=None)


def show_as(copy: Path, address: str) -> None:
    """Have remarks name what was copied where they would name the copy, which the user does not know."""
    _copied.set((str(copy), address))


def remark(line: object) -> None:
    """Say a line to the user that is no part of the output."""
    text = str(line)
    if (copied := _copied.get()) is not None:
        text = text.replace(*copied)
    typer.echo(f"vericite: {clean(text)}", err=True)


_quiet = ContextVar("quiet", default=False)


def set_quiet(quiet: bool) -> None:
    """Whether ``--quiet`` was given."""
    _quiet.set(quiet)


def is_quiet() -> bool:
    """Whether only results and what is wrong are shown."""
    return _quiet.get()


def note(line: object) -> None:
    """Say a line that is good to know, and is left out with ``--quiet``."""
    if not is_quiet():
        remark(line)


def count_lines(file: Path) -> int | None:
    """How many records a file of JSON Lines has, without reading any; None for every other file."""
    # A pipe can be read but once.
    if not file.is_file():
        return None
    try:
        with file.open("rb") as lines:
            first = lines.readline(_LONGEST_LINE)
            if not (first.startswith(b"{") and first.rstrip().endswith(b"}")):
                return None
            return 1 + sum(not line.isspace() for line in lines)
    except OSError:
        return None


_LONGEST_LINE = 1 << 24


def remark_leakage(*files: Path | None) -> None:
    """Say of data sets that are named what of ours was trained on them."""
    from vericite.datasets.registry import is_named, source_named

    for file in files:
        if file is not None and is_named(str(file)) and (leakage := source_named(str(file)).leakage):
            remark(f"note: {leakage}. Figures on those parts are no test of these.")


_MANY = 2_000
"""Documents of a file from which on a store is the better way."""


def show_embedding(done: int, all: int) -> None:
    """How many documents of a file have their vectors, on stderr; those are kept for the next time."""
    if is_quiet():
        return
    last = done == all
    if sys.stderr.isatty():
        typer.echo(f"\rvericite: vectors of {done:,} of {all:,} documents", err=True, nl=last)
    elif last or done % 1_000 == 0:
        remark(f"vectors of {done:,} of {all:,} documents")
    if last and all >= _MANY:
        remark(
            "they are kept for the next time. A store answers sooner and need not fit into memory: "
            "vericite corpus build FILE --to STORE --vectors"
        )


class Output:
    """What a run writes, beside the file asked for until the run is done."""

    def __init__(self, path: Path, what: str) -> None:
        self._file = Replacing(path)
        self._what = what
        self._times = 0
        # Before anything is computed or paid for.
        with written(path, what):
            self._file.reserve()

    def add(self, records: Iterable[BaseModel]) -> None:
        """Write each record as a line of JSON."""
        from vericite.records import to_json

        self.write(to_json(record) + "\n" for record in records)

    def write(self, lines: Iterable[str]) -> None:
        """Write whole lines. They are on disk when this returns, so that an interruption does not lose them.

        Raises:
            InputError: The file cannot be written.
        """
        with written(self._file.path, self._what):
            self._file.write(lines)
        self._times += 1

    def done(self) -> None:
        """Take the place of the file asked for.

        Raises:
            InputError: It cannot be written.
        """
        with written(self._file.path, self._what):
            self._file.done()

    def stopped(self, message: str) -> None:
        """Say where what was written is, if anything was."""
        self._file.leave()
        if message and self._file.is_begun and not self._file.is_direct:
            remark(f"{message.format(self._times)} {self._file.partial}")


@contextmanager
def output(path: Path | None, stopped: str = "", what: str = "--out") -> Generator[Output | None]:
    """Where to write, if a file is asked for.

    So a run that fails costs no earlier one, nor an earlier one's part before it has something of its own.

    Args:
        path: The file asked for.
        stopped: The line for a run that is stopped, before the name of the file that has what it wrote; ``{}``
            stands for how often it wrote something.
        what: The option that asks for it.

    Raises:
        InputError: The file cannot be written.
    """
    if path is None:
        yield None
        return
    file = Output(path, what)
    try:
        yield file
    except BaseException:
        file.stopped(stopped)
        raise
    file.done()


@contextmanager
def written(path: Path, what: str = "--out") -> Generator[None]:
    """Where a file is written.

    Raises:
        InputError: It cannot be.
        BrokenPipeError: It is a pipe, such as /dev/stdout, whose reader has gone.
    """
    from vericite.errors import InputError

    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(f"expected {what} to be a file that can be written; found {path}: {error.strerror}") from None


@dataclass(frozen=True)
class Extra:
    """An optional part: what it is for, and the modules that must be there."""

    purpose: str
    modules: tuple[str, ...]


EXTRAS = {
    "store": Extra("a local store for large corpora", ("lancedb", "pyarrow")),
    "local": Extra("language models in process, through llama.cpp", ("xllamacpp",)),
    "assess": Extra("thresholds of nuggets, with scikit-learn and scipy", ("optuna", "scipy", "sklearn")),
    "eval": Extra("measures of answers and rankings", ("rouge_score", "ir_measures", "scipy", "sklearn")),
    "report": Extra("plots of reports", ("vl_convert",)),
    "tables": Extra("answers in Excel workbooks and Parquet files", ("openpyxl", "pyarrow")),
    "documents": Extra("PDF files as documents", ("pypdfium2",)),
    "mcp": Extra("tools for assistants", ("mcp",)),
    "serve": Extra("the service over HTTP", ("fastapi", "uvicorn")),
    "ray": Extra("check and attribute on many processes and machines", ("ray", "pyarrow")),
    "hf": Extra("judges and rerankers from checkpoints", ("torch", "transformers")),
    "train": Extra("training and export", ("torch", "transformers", "peft", "gguf", "onnx", "safetensors")),
}


def missing(extra: Extra) -> list[str]:
    """The modules of an extra that are not installed."""
    return [module for module in extra.modules if find_spec(module) is None]


def unfit(name: str) -> list[str]:
    """The installed packages of an extra, each with its version, that are not of a version that the extra allows."""
    from importlib.metadata import PackageNotFoundError, requires, version

    from packaging.requirements import Requirement

    found: list[str] = []
    try:
        lines = requires("vericite") or []
    except PackageNotFoundError:
        # Run from a checkout that is not installed.
        return found
    for requirement in map(Requirement, lines):
        marker = requirement.marker
        if marker is None or not marker.evaluate({"extra": name}) or marker.evaluate({"extra": ""}):
            continue
        with suppress(PackageNotFoundError):
            there = version(requirement.name)
            if not requirement.specifier.contains(there, prereleases=True):
                found.append(f"{requirement.name} {there}, where {requirement.specifier} is needed")
    return found


def install_line(name: str) -> str:
    """What to type to install an extra."""
    return f"pip install 'vericite[{name}]'"
