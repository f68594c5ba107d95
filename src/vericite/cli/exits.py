"""Exit codes, the same four for every command."""

from __future__ import annotations

from enum import IntEnum

import typer


class ExitCode(IntEnum):
    """Exit code of a command.

    Attributes:
        OK: Everything was done, and every gate held.
        GATE_FAILED: Everything was done, but a check failed: a gate of ``check``, or a damaged store.
        BAD_INPUT: Input or usage is wrong. An unusable record costs only itself; the rest is done.
        NOT_RUN: The command could not run or finish: a missing extra, a server, a model, a full disk.
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
