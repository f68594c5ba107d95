"""The hook of pre-commit: ``vericite check`` for each of the changed files, which follow the options."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

from vericite.cli import main
from vericite.cli.io import note


def options_and_files(arguments: Iterable[str]) -> tuple[list[str], list[str]]:
    """Separate the options of ``check``, with their values, from the files."""
    from vericite.cli.app import program

    check: Any = program().commands["check"]
    with_value = {name for option in check.params if not getattr(option, "is_flag", True) for name in option.opts}
    options: list[str] = []
    files: list[str] = []
    is_value = False
    for argument in arguments:
        is_option = is_value or argument.startswith("-")
        (options if is_option else files).append(argument)
        is_value = not is_value and argument in with_value
    return options, files


def run(arguments: Sequence[str]) -> int:
    """Check each file, and return the highest exit code."""
    options, files = options_and_files(arguments)
    codes = [0]
    for file in files:
        note(f"checking {file}")
        sys.argv = ["vericite", "check", file, *options]
        try:
            main()
        except SystemExit as ended:
            codes.append(ended.code if isinstance(ended.code, int) else 0)
    return max(codes)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
