"""Progress of long work in Python: a bar in a notebook or on a terminal, and nothing elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from html import escape
from typing import Any, TypeVar

_Item = TypeVar("_Item")
_BETWEEN = 0.2
"""Minimum seconds between two updates in a notebook."""


def progress(items: Iterable[_Item], total: int | None = None, doing: str = "checking") -> Iterator[_Item]:
    """Yield the items, and show how many are done and how long the rest takes.

    Args:
        items: The items, such as those of ``check_many``.
        total: Their number, if it is known. Default: the length of a list.
        doing: The activity in a word.
    """
    if total is None and isinstance(items, Sized):
        total = len(items)
    display = _notebook_display()
    if display is not None:
        yield from _in_notebook(items, total, doing, display)
    elif sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import track

        console = Console(stderr=True)
        yield from track(items, description=doing, total=total, console=console, transient=True)
    else:
        yield from items


def _notebook_display() -> Callable[..., Any] | None:
    """Return IPython's function that shows a value, if this is a notebook; without importing IPython."""
    ipython: Any = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from importlib import import_module

    return import_module("IPython.display").display


def _in_notebook(items: Iterable[_Item], total: int | None, doing: str, display: Callable[..., Any]) -> Iterator[_Item]:
    began = shown = time.monotonic()
    handle = display(_shown(0, total, doing, 0.0), raw=True, display_id=True)
    done = 0
    for item in items:
        yield item
        done += 1
        now = time.monotonic()
        if now - shown >= _BETWEEN:
            shown = now
            handle.update(_shown(done, total, doing, now - began), raw=True)
    handle.update(_shown(done, done, doing, time.monotonic() - began), raw=True)


def _shown(done: int, total: int | None, doing: str, seconds: float) -> dict[str, str]:
    """Return the bar as HTML and as text."""
    of = "" if total is None else f" of {total:,}"
    line = f"{doing}: {done:,}{of}, {seconds:.0f} s"
    if total is not None and 0 < done < total:
        line += f", about {seconds / done * (total - done):.0f} s left"
    value = "" if total is None else f' max="{max(1, total)}" value="{done if total else 1}"'
    bar = f'<progress{value} style="width:16rem;vertical-align:middle"></progress>'
    return {"text/plain": line, "text/html": f"<div>{bar} <small>{escape(line)}</small></div>"}
