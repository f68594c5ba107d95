"""Checks of a command's arguments before it reads input or spends money, and reports of unusable records."""

from __future__ import annotations

from collections.abc import Collection, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from vericite.cli.exits import ExitCode, end
from vericite.cli.io import remark, set_writes_files
from vericite.disk.bucket import bucket_address
from vericite.errors import InputError, Problems, RecordError, VeriCiteError
from vericite.text.counted import counted

if TYPE_CHECKING:
    from vericite.evaluate.systems import LoadedSystems


def expect_either(question: str | None, batch: Path | None) -> None:
    """Require a question or a file of questions.

    Raises:
        InputError: Both or neither are given.
    """
    if (question is None) == (batch is None):
        raise InputError("expected a question, or --batch with a file of them; found " + ("both" if batch else "none"))


def refuse_same(out: Path | None, *read: Path | None, what: str = "--out") -> None:
    """Refuse to overwrite an input file, or to read standard input twice.

    Raises:
        InputError: ``out`` is an input file, or two input files are standard input.
    """
    refuse_two_inputs(*map(str, filter(None, read)))
    for file in read:
        if out is not None and file is not None and _is_same(out, file):
            raise InputError(
                f"expected {what} and the input to be different files; found {bucket_address(out) or out} for both"
            )


def refuse_verdicts_aside(places: Sequence[Path], read: LoadedSystems) -> None:
    """Refuse to judge answers again if their verdicts are in the same folder.

    Args:
        places: The paths given, one per system.
        read: The systems read from them.

    Raises:
        InputError: A file of answers without verdicts was given, and its folder has ``verdicts.jsonl``.
    """
    from vericite.evaluate.systems import named_file

    if all(item.checked is not None or item.answer is None for system in read.systems for item in system.items):
        return
    for place in places:
        aside = place.parent / named_file("verdicts")
        if place.is_file() and aside.is_file() and not any(_is_same(aside, path) for path in read.paths):
            raise InputError(
                f"expected to know whether {place} is to be judged again; found verdicts in {aside}. To use these, "
                f"give the folder {place.parent} in place of {place.name}; to judge again, --set check.protocol=NAME"
            )


def refuse_two_inputs(*names: str) -> None:
    """Refuse standard input for two files.

    Raises:
        InputError: Two files are standard input.
    """
    if names.count("-") > 1:
        raise InputError("expected - for one file only, because standard input can be read only once; found it twice")


def _is_same(path: Path, other: Path) -> bool:
    address = bucket_address(path)
    if address is not None and address == bucket_address(other):
        return True
    try:
        return path.samefile(other)
    except OSError:
        return False


def prepare_output(
    path: Path | None, what: str = "--out", is_shared: bool = False, endings: Collection[str] = ()
) -> None:
    """Refuse an output file that cannot be written, before work begins; else note that the command writes files.

    Such a command goes on to its end if the reader of what it prints goes away.

    Args:
        path: The output file.
        what: The option that names it.
        is_shared: Whether workers share the work; then the output may go into a bucket.
        endings: Endings of files that the command can write, in addition to text.

    Raises:
        InputError: The path is a folder, or its folder is not writable or cannot be created.
    """
    if path is None:
        return
    set_writes_files(True)
    is_text = what == "--out" and not is_shared and path.suffix.lower() not in endings
    if is_text and (wrong := _no_json_lines(path)):
        raise InputError(wrong)
    if address := bucket_address(path):
        if is_shared:
            return
        raise InputError(f"expected {what} to be a local file without workers.ray; found {address}")
    found = _no_place(path)
    if found is not None:
        raise InputError(f"expected {what} to be a file that can be written; found {path}: {found}")


def _no_place(path: Path) -> str | None:
    """Return why a file cannot be written there; None if it can. A missing folder is created when it is written."""
    from os import W_OK, access
    from os.path import exists, isdir

    if isdir(path):
        return "Is a directory"
    if path.parts[0].startswith("~"):
        return "the shell did not replace the ~. Write a space before the path instead of =, or write the whole path"
    there = next((folder for folder in path.absolute().parents if exists(folder)), None)
    if there is None:
        return f"there is no {path.absolute().anchor}"
    if not isdir(there):
        return f"{there} is a file, not a folder"
    return None if access(there, W_OK) else "Permission denied"


def _no_json_lines(path: Path) -> str | None:
    """Return the problem with a file name whose extension promises another format; None if it is fine."""
    suffix = path.suffix.lower()
    if suffix not in (".xlsx", ".xlsm", ".xls", ".ods", ".parquet", ".pq", ".docx", ".pdf", ".sqlite", ".db"):
        return None
    lines = path.with_suffix(".jsonl")
    return (
        f"expected --out to be a text file, such as {lines}; found {path}, but {suffix} files cannot be written. "
        f"To open answers or verdicts in a spreadsheet: vericite report {lines} --out {path.with_suffix('.csv')}"
    )


_KINDS_SHOWN = 20


def report(problems: Sequence[RecordError], code: ExitCode = ExitCode.OK) -> None:
    """Print the unusable records, and exit with ``BAD_INPUT`` if there are any.

    Args:
        problems: The unusable records.
        code: Exit code of the rest of the command; the higher of the two codes is used.

    Raises:
        typer.Exit: There are unusable records, or ``code`` is not ``OK``.
    """
    alike: dict[tuple[str, str | None, str], list[RecordError]] = {}
    for problem in problems:
        alike.setdefault((problem.path, problem.field, problem.problem), []).append(problem)
    shown = list(alike.values())[:_KINDS_SHOWN]
    for first, *others in shown:
        remark(f"{first} ... and {counted(len(others), 'more line')} alike" if others else first)
    if left := len(problems) - sum(map(len, shown)):
        remark(f"and {left} more lines that could not be used")
    end(code, ExitCode.BAD_INPUT if problems else ExitCode.OK)


def code_of_count(count: int) -> ExitCode:
    """Return the exit code for a number of records read: none is bad input."""
    return ExitCode.OK if count else ExitCode.BAD_INPUT


@contextmanager
def lines_before_errors(problems: Problems) -> Generator[None]:
    """Print the unusable records before an error that they may have caused."""
    try:
        yield
    except VeriCiteError:
        with suppress(typer.Exit):
            report(problems)
        raise
