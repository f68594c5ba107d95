"""The file that a command writes what it finds to."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from vericite.cli.remarks import remark
from vericite.disk.replacing import Replacing

if TYPE_CHECKING:
    from pydantic import BaseModel


class Output:
    """What a run writes, beside the file asked for until the run is done."""

    def __init__(self, path: Path, what: str) -> None:
        self._file = Replacing(path)
        self._what = what
        self._times = 0

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

    def stopped(self, told: str) -> None:
        """Say where what was written is, if anything was."""
        self._file.leave()
        if told and self._file.is_begun:
            remark(f"{told.format(self._times)} {self._file.partial}")


@contextmanager
def output(path: Path | None, told: str = "", what: str = "--out") -> Generator[Output | None]:
    """Where to write, if a file is asked for.

    So a run that fails costs no earlier one, nor an earlier one's part before it has something of its own.

    Args:
        path: The file asked for.
        told: What is told of a run that is stopped, before the name of the file that has what it wrote; ``{}`` stands
            for how often it wrote something.
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
        file.stopped(told)
        raise
    file.done()


@contextmanager
def written(path: Path, what: str = "--out") -> Generator[None]:
    """Where a file is written.

    Raises:
        InputError: It cannot be.
    """
    from vericite.errors import InputError

    try:
        yield
    except OSError as error:
        raise InputError(f"expected {what} to be a file that can be written; found {path}: {error.strerror}") from None
