"""Exit codes: the same four for every command, given here and nowhere else."""

from __future__ import annotations

from enum import IntEnum

import typer


class ExitCode(IntEnum):
    """What the exit code of a command says.

    Attributes:
        OK: Everything was done, and every gate held.
        GATE_FAILED: Everything was done, and what was checked did not pass: a gate of ``check``, a damaged store.
        BAD_INPUT: Input or usage is wrong. A record that cannot be used costs only itself; the rest is done.
        NOT_RUN: It could not run, or not to the end: a missing extra, a server, a model, a full disk.
    """

    OK = 0
    GATE_FAILED = 1
    BAD_INPUT = 2
    NOT_RUN = 3


def end(*codes: ExitCode) -> None:
    """Exit with the highest of these codes; return if all are ``OK``.

    Raises:
        typer.Exit: One of the codes is not ``OK``.
    """
    code = max(codes, default=ExitCode.OK)
    if code is not ExitCode.OK:
        raise typer.Exit(code)
