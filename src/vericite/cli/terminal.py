"""The terminal: safe printing of text, and progress of long work."""

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

from vericite.cli.io import clean, end_or_go_on, is_quiet, note

if TYPE_CHECKING:
    from rich.console import ConsoleOptions, RenderableType


class Terminal(Console):
    """A console that never interprets text.

    Records come from anywhere. Square brackets in them are not markup, colons not emoji, and URLs not links. Characters
    that control the terminal or the text direction are replaced. Commands only print through this class.
    """

    def __init__(self, *, stderr: bool = False, width: int | None = None, **more: Any) -> None:
        super().__init__(stderr=stderr, width=width, markup=False, emoji=False, highlight=False, **more)

    def on_broken_pipe(self) -> None:
        """Handle an output whose reader has gone."""
        end_or_go_on(sys.stderr if self.stderr else sys.stdout)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the segments of a renderable; only rich's own segments keep control characters."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable() or segment.text == "\n":
                yield segment
            else:
                yield Segment("\n".join(map(clean, segment.text.split("\n"))), segment.style)


_BETWEEN_LINES = 10.0
"""Seconds between two progress lines in a file."""


class ProgressLine:
    """Progress of long work with the time left: live on a terminal, otherwise a line from time to time.

    Args:
        doing: The activity, such as ``checking``.
        unit: The things that are counted, such as ``answers``.
        total: Their number; None if unknown.
    """

    def __init__(self, doing: str, unit: str, total: int | None = None) -> None:
        self.doing, self.unit, self.total = doing, unit, total
        self._spinner: Spinner | None = None
        self._began = self._shown = time.monotonic()

    def begin(self, doing: str, unit: str) -> None:
        """Count other things from now on."""
        if (doing, unit) != (self.doing, self.unit):
            self.doing, self.unit, self._began = doing, unit, time.monotonic()

    def update(self, done: int, more: str = "", ready: int | None = None) -> None:
        """Show the progress.

        Args:
            done: Number of finished results.
            more: Additional text.
            ready: Number of processed inputs, if results come in batches; used to estimate the time left.
        """
        self.show(self._line(done, more, max(done, ready or 0)))

    def of(self, done: int, total: int) -> None:
        """Show the progress with a total that was unknown before."""
        self.total = total
        self.update(done)

    def show(self, line: str) -> None:
        """Show a custom line."""
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
        return f"{counted}, about {format_duration(left)} left"

    @contextmanager
    def running(self) -> Generator[ProgressLine]:
        """Show the progress during the work; nothing with ``--quiet``."""
        console = Terminal(stderr=True)
        if is_quiet() or not console.is_terminal:
            yield self
            return
        self._spinner = Spinner("dots", Text(self.doing))
        # On a terminal, other output is printed above the line. Output to a file must not be redirected.
        redirect = sys.stdout.isatty()
        with Live(self._spinner, console=console, transient=True, redirect_stdout=redirect, redirect_stderr=redirect):
            yield self
        self._spinner = None


class StageLine:
    """The current stage with the seconds since it began, and the words that a language model writes meanwhile."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._doing, self._words = "", ""
        self._began = time.monotonic()

    def begin(self, doing: str) -> None:
        """Begin another stage."""
        self._doing, self._words, self._began = doing, "", time.monotonic()

    def add(self, piece: str) -> None:
        """Add words; called from another thread."""
        self._words += piece

    @contextmanager
    def running(self) -> Generator[None]:
        """Show the stage during the work."""
        with Live(get_renderable=self._line, console=self._console, transient=True, refresh_per_second=8):
            yield

    def _line(self) -> RenderableType:
        seconds = time.monotonic() - self._began
        line = Text(f"{self._doing}, {seconds:.0f} s" if seconds >= 1 else self._doing)
        # As much as fits on the screen: the newest words count.
        room = self._console.width * max(1, self._console.height - 3)
        return line if not self._words else Text(f"{line}\n{clean(self._words)[-room:]}")


def format_duration(seconds: float) -> str:
    """Format a duration with suitable precision."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
