"""Output of commands: lines of text, messages on stderr, and files."""

from __future__ import annotations

import json
import os
import sys
import unicodedata
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from errno import EPIPE
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import typer

from vericite.disk.files import Replacing
from vericite.reporting.printable import UNSHOWN, clean

if TYPE_CHECKING:
    from pydantic import BaseModel


_writes_files = ContextVar("writes_files", default=False)


def set_writes_files(writes_files: bool) -> None:
    """Set whether the command also writes files, which must be complete if the reader of its output goes."""
    _writes_files.set(writes_files)


def end_or_go_on(stream: TextIO) -> None:
    """Handle a pipe whose reader has gone (``vericite ... | head``): go on without it if the command writes files.

    Raises:
        BrokenPipeError: It only prints.
    """
    if not _writes_files.get():
        raise BrokenPipeError(EPIPE, "the reader has gone")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _print(text: str, err: bool = False, nl: bool = True) -> None:
    try:
        typer.echo(text, err=err, nl=nl)
    except BrokenPipeError:
        end_or_go_on(sys.stderr if err else sys.stdout)


def say(text: str, err: bool = False) -> None:
    """Print lines that are not JSON, with terminal control characters replaced."""
    _print("\n".join(map(clean, text.split("\n"))), err=err)


def say_json(text: str) -> None:
    """Print JSON, with terminal control characters escaped."""
    _print("\n".join(line if line.isprintable() else "".join(map(_escaped, line)) for line in text.split("\n")))


def _escaped(char: str) -> str:
    if unicodedata.category(char) not in UNSHOWN:
        return char
    # json.dumps does not escape this character.
    return "\\u007f" if char == "\x7f" else json.dumps(char)[1:-1]


_copied = ContextVar[tuple[str, str] | None]("copied", default=None)


def show_as(copy: Path, address: str) -> None:
    """In messages, replace the path of a copy with the address that it was copied from."""
    _copied.set((str(copy), address))


def with_address(text: str) -> str:
    """Return a text with the address of a file instead of the path of its copy."""
    copied = _copied.get()
    return text if copied is None else text.replace(*copied)


def remark(line: object) -> None:
    """Print a message for the user on stderr."""
    _print(f"vericite: {clean(with_address(str(line)))}", err=True)


_quiet = ContextVar("quiet", default=False)


def set_quiet(quiet: bool) -> None:
    """Set whether ``--quiet`` was given."""
    _quiet.set(quiet)


def is_quiet() -> bool:
    """Whether only results and problems are shown."""
    return _quiet.get()


def note(line: object) -> None:
    """Print an informative message on stderr, unless ``--quiet`` was given."""
    if not is_quiet():
        remark(line)


def count_lines(file: Path) -> int | None:
    """Count the records of a JSON Lines file without parsing them; None for other files."""
    # A pipe can only be read once.
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
    """Print a note if a bundled model was trained on one of these data sets."""
    from vericite.datasets.registry import is_named, source_named

    for file in files:
        if file is not None and is_named(str(file)) and (leakage := source_named(str(file)).leakage):
            remark(f"note: {leakage}. Scores on those parts are not a fair test of these models.")


_MANY = 2_000
"""Number of documents from which a store is recommended over a file."""


def show_embedding(done: int, all: int) -> None:
    """Show on stderr how many documents of a file are embedded; the vectors are cached."""
    if is_quiet():
        return
    last = done == all
    if sys.stderr.isatty():
        _print(f"\rvericite: vectors of {done:,} of {all:,} documents", err=True, nl=last)
    elif last or done % 1_000 == 0:
        remark(f"vectors of {done:,} of {all:,} documents")
    if last and all >= _MANY:
        remark(
            "they are cached for next time. A store is faster and need not fit in memory: "
            "vericite corpus build FILE --to STORE --vectors"
        )


class Output:
    """The output of a run, in a partial file next to the requested file until the run is done."""

    def __init__(self, path: Path, what: str) -> None:
        self._file = Replacing(path)
        self._what = what
        self._times = 0
        # Fail before anything is computed or paid for.
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
        """Replace the requested file with the output.

        Raises:
            InputError: The file cannot be written.
        """
        with written(self._file.path, self._what):
            self._file.done()

    def stopped(self, message: str) -> None:
        """Print where the partial output is, if there is any."""
        self._file.leave()
        if message and self._file.is_begun and not self._file.is_direct:
            remark(f"{message.format(self._times)} {self._file.partial}")


@contextmanager
def output(path: Path | None, stopped: str = "", what: str = "--out") -> Generator[Output | None]:
    """Open the output of a run, or None without a path.

    A run that fails keeps the file of an earlier run, and its partial file until the new run has written something.

    Args:
        path: The requested file.
        stopped: Message for a run that is stopped, before the name of the partial file; ``{}`` is replaced by the
            number of writes.
        what: Name of the option, for messages.

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
    """Report errors of writing a file.

    Raises:
        InputError: The file cannot be written.
        BrokenPipeError: It is a pipe, such as /dev/stdout, that was closed by its reader.
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
    """An optional extra: its purpose, and the modules that it needs."""

    purpose: str
    modules: tuple[str, ...]


EXTRAS = {
    "store": Extra("a local store for large corpora", ("lancedb", "pyarrow")),
    "local": Extra("language models in process, through llama.cpp", ("xllamacpp",)),
    "assess": Extra("thresholds of nuggets, with scikit-learn and scipy", ("optuna", "scipy", "sklearn")),
    "eval": Extra("measures of answers and rankings", ("rouge_score", "ir_measures", "scipy", "sklearn")),
    "report": Extra("plots of reports", ("vl_convert",)),
    "tables": Extra("answers and tables in Excel workbooks, answers in Parquet files", ("openpyxl", "pyarrow")),
    "documents": Extra("PDF files as documents", ("pypdfium2",)),
    "mcp": Extra("tools for assistants", ("mcp",)),
    "serve": Extra("the service over HTTP", ("fastapi", "uvicorn")),
    "ray": Extra("check and attribute on many processes and machines", ("ray", "pyarrow")),
    "hf": Extra("judges and rerankers from checkpoints", ("torch", "transformers")),
    "train": Extra("training and export", ("torch", "transformers", "peft", "gguf", "onnx", "safetensors")),
}


def missing(extra: Extra) -> list[str]:
    """Return the modules of an extra that are not installed."""
    return [module for module in extra.modules if find_spec(module) is None]


def wrong_versions(name: str) -> list[str]:
    """Return the installed packages of an extra whose versions the extra does not allow, with their versions."""
    from importlib.metadata import PackageNotFoundError, requires, version

    from packaging.requirements import Requirement

    found: list[str] = []
    try:
        lines = requires("vericite") or []
    except PackageNotFoundError:
        # This checkout is not installed.
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
    """Return the command that installs an extra."""
    return f"pip install 'vericite[{name}]'"
