"""The terminal: what is printed is text whatever it says, and long work shows how far it is."""

from __future__ import annotations

import sys
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.live import Live
from rich.segment import Segment
from rich.spinner import Spinner
from rich.text import Text

from vericite.cli.io import clean, is_quiet, note

if TYPE_CHECKING:
    from rich.console import ConsoleOptions, RenderableType


class Terminal(Console):
    """A console on which text is never more than text.

    Records come from anywhere. Square brackets in them are no markup, colons no emoji, addresses no links; characters
    that would steer the terminal, or turn the order of what is read, are replaced. Commands print through this alone.
    """

    def __init__(self, *, stderr: bool = False, width: int | None = None, **more: Any) -> None:
        super().__init__(stderr=stderr, width=width, markup=False, emoji=False, highlight=False, **more)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of anything printable; what steers a terminal is in rich's own segments alone."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable() or segment.text == "\n":
                yield segment
            else:
                yield Segment("\n".join(map(clean, segment.text.split("\n"))), segment.style)


_BETWEEN_LINES = 10.0
"""Seconds between two lines about progress where they go into a file."""


class ProgressLine:
    """How far long work is, with the time left: a line that changes on a terminal, else a plain line now and then.

    Args:
        doing: What is done, as in ``checking``.
        unit: What is counted, as in ``answers``.
        total: How many there are; None where nobody knows.
    """

    def __init__(self, doing: str, unit: str, total: int | None = None) -> None:
        self.doing, self.unit, self.total = doing, unit, total
        self._spinner: Spinner | None = None
        self._began = self._shown = time.monotonic()

    def update(self, done: int, more: str = "", ready: int | None = None) -> None:
        """Show how many are done.

        Args:
            done: How many came out.
            more: What else is counted.
            ready: How many are worked through, where they come out in batches: the time left is told by these.
        """
        self.show(self._line(done, more, max(done, ready or 0)))

    def of(self, done: int, total: int) -> None:
        """Show how many are done where their number is known only now."""
        self.total = total
        self.update(done)

    def show(self, line: str) -> None:
        """Show a line of the work's own."""
        if self._spinner is not None:
            self._spinner.update(text=Text(clean(line)))
        elif time.monotonic() - self._shown >= _BETWEEN_LINES:
            self._shown = time.monotonic()
            note(line)

    def _line(self, done: int, more: str, ready: int) -> str:
        of = "" if self.total is None else f" of {self.total:,}"
        counted = f"{self.doing}: {done:,}{of} {self.unit}" + (f", {more}" if more else "")
        if not ready or self.total is None or ready >= self.total:
            return counted
        left = (time.monotonic() - self._began) / ready * (self.total - ready)
        return f"{counted}, about {in_words(left)} left"

    @contextmanager
    def running(self) -> Generator[ProgressLine]:
        """Show it while the work goes on; nothing with ``--quiet``."""
        console = Terminal(stderr=True)
        if is_quiet() or not console.is_terminal:
            yield self
            return
        self._spinner = Spinner("dots", Text(self.doing))
        # What is printed meanwhile goes above the line on a terminal, and into a file where it is sent to one.
        beside = sys.stdout.isatty()
        with Live(self._spinner, console=console, transient=True, redirect_stdout=beside, redirect_stderr=beside):
            yield self
        self._spinner = None


def in_words(seconds: float) -> str:
    """A duration, as exact as it needs to be."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
