"""What commands say beside their output, on stderr, and text from outside made safe to print."""

from __future__ import annotations

import unicodedata

import typer

_UNSHOWN = frozenset({"Cc", "Cf", "Cs"})


def clean(text: str) -> str:
    """The text on one line, without characters that would steer a terminal."""
    shown = (" " if char.isspace() else "�" if unicodedata.category(char) in _UNSHOWN else char for char in text)
    return "".join(shown)


def remark(line: object) -> None:
    """Say a line to the user that is no part of the output."""
    typer.echo(f"vericite: {clean(str(line))}", err=True)
