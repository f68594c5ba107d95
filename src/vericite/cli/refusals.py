"""What a command refuses before anything is read or paid for, and the lines that it could not use."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from vericite.cli.exits import ExitCode, end
from vericite.cli.io import remark
from vericite.disk.bucket import bucket_address
from vericite.errors import InputError, RecordError, VeriCiteError

if TYPE_CHECKING:
    from vericite.evaluate.systems import LoadedSystems


def refuse_both(as_json: bool, as_csv: bool) -> None:
    """Before anything is read.

    Raises:
        InputError: Two forms of the output are asked for.
    """
    if as_json and as_csv:
        raise InputError("expected --json or --csv; found both. Leave one out.")


def expect_either(question: str | None, batch: Path | None) -> None:
    """Before anything is read.

    Raises:
        InputError: There is neither a question nor a file of them, or both.
    """
    if (question is None) == (batch is None):
        raise InputError("expected a question, or --batch with a file of them; found " + ("both" if batch else "none"))


def refuse_same(out: Path | None, *read: Path | None, what: str = "--out") -> None:
    """Before a file that is read is written over, or the standard input taken for two files.

    Raises:
        InputError: ``out`` is one of them, by whatever name, or two of them are the standard input.
    """
    refuse_two_inputs(*map(str, filter(None, read)))
    for file in read:
        if out is not None and file is not None and _is_same(out, file):
            raise InputError(
                f"expected {what} to be another file than the input; found {bucket_address(out) or out} for both"
            )


def refuse_verdicts_aside(places: Sequence[Path], read: LoadedSystems) -> None:
    """Before answers are judged again whose verdicts lie next to them.

    Args:
        places: What was named, a system each.
        read: What was read.

    Raises:
        InputError: A file of answers without verdicts was named, and its folder has ``verdicts.jsonl``.
    """
    from vericite.evaluate.systems import named_file

    if all(item.checked is not None or item.answer is None for system in read.systems for item in system.items):
        return
    for place in places:
        aside = place.parent / named_file("verdicts")
        if place.is_file() and aside.is_file() and not any(_is_same(aside, path) for path in read.paths):
            raise InputError(
                f"expected the verdicts on {place} to be used or left aside; found {aside}, which is not read. Name "
                f"the folder {place.parent} to use it, or say --protocol to judge again."
            )


def refuse_two_inputs(*names: str) -> None:
    """Before anything is read.

    Raises:
        InputError: The standard input is named for two files.
    """
    if names.count("-") > 1:
        raise InputError("expected - for one file, because the standard input can be read once; found it twice")


def _is_same(one: Path, other: Path) -> bool:
    address = bucket_address(one)
    if address is not None and address == bucket_address(other):
        return True
    try:
        return one.samefile(other)
    except OSError:
        return False


def refuse_unwritable(path: Path | None, what: str = "--out", is_shared: bool = False) -> None:
    """Before anything is judged or paid for.

    Args:
        path: The file asked for.
        what: The option that asks for it.
        is_shared: Whether workers share the work: what they make may go into a bucket.

    Raises:
        InputError: A file is asked for that is a folder, in none, or in one that may not be written to.
    """
    from os import W_OK, access
    from os.path import isdir

    if path is None:
        return
    found = None
    if what == "--out" and not is_shared and (wrong := _no_json_lines(path)):
        raise InputError(wrong)
    if address := bucket_address(path):
        if is_shared:
            return
        raise InputError(f"expected {what} to be a file of this machine without --ray; found {address}")
    if isdir(path):
        found = "Is a directory"
    elif not isdir(path.parent):
        found = "its folder is not there. Make the folder first"
    elif not access(path.parent, W_OK):
        found = "Permission denied"
    if found is not None:
        raise InputError(f"expected {what} to be a file that can be written; found {path}: {found}")


def _no_json_lines(path: Path) -> str | None:
    """What is wrong with a name that says something else than what is written; None if nothing is."""
    suffix = path.suffix.lower()
    if suffix not in (".xlsx", ".xlsm", ".xls", ".ods", ".parquet", ".pq", ".docx", ".pdf", ".sqlite", ".db"):
        return None
    lines = path.with_suffix(".jsonl")
    return (
        f"expected --out to be a file of text, such as {lines}; found {path}, and no {suffix} file is written. "
        f"Of answers or verdicts a table is made with: vericite report {lines} --csv {path.with_suffix('.csv')}, "
        "which a spreadsheet opens"
    )


def report(problems: Sequence[RecordError], code: ExitCode = ExitCode.OK) -> None:
    """Name the records that could not be used, and exit with ``BAD_INPUT`` if there are any.

    Args:
        problems: What is wrong with each.
        code: What the rest came to; the higher of the two codes is given.

    Raises:
        typer.Exit: There are such records, or ``code`` is not ``OK``.
    """
    for problem in problems[:20]:
        remark(problem)
    if len(problems) > 20:
        remark(f"and {len(problems) - 20} more lines that could not be used")
    end(code, ExitCode.BAD_INPUT if problems else ExitCode.OK)


def some_or_bad(count: int) -> ExitCode:
    """What a command came to that read this many records: a file without any is bad input, of which it was told."""
    return ExitCode.OK if count else ExitCode.BAD_INPUT


@contextmanager
def lines_before_errors(problems: list[RecordError]) -> Generator[None]:
    """Name the lines that could not be used before an error that they may have led to."""
    try:
        yield
    except VeriCiteError:
        with suppress(typer.Exit):
            report(problems)
        raise
