"""Commands that are killed by SIGKILL at a given point, and watched until then."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

from memory import megabytes

VERICITE = (sys.executable, "-m", "vericite")


@dataclass(frozen=True)
class Ran:
    """A command that ended or was killed.

    Attributes:
        seconds: Seconds that it ran.
        processor: Seconds of processor time, of its children too; 0 if it was killed.
        killed: Whether it was killed.
        samples: Its progress and its memory in megabytes over time.
    """

    seconds: float
    processor: float
    killed: bool
    samples: list[tuple[float, float]]


def run(
    command: Sequence[str],
    folder: Path,
    progress: Callable[[], float],
    until: float | None = None,
    lines: Iterable[str] | None = None,
    every: float = 2.0,
) -> Ran:
    """Run a command, and kill it once its progress reaches a number.

    Args:
        command: The command.
        folder: Folder of its cache and of what it prints.
        progress: Its progress so far.
        until: When to kill it (None: never).
        lines: Lines for its standard input.
        every: Seconds between two looks.

    Raises:
        SystemExit: It failed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "VERICITE_CACHE": str(folder / "cache"), "NO_COLOR": "1"}
    began, samples, before = time.monotonic(), list[tuple[float, float]](), os.times()
    with (folder / "printed").open("ab") as printed:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL if lines is None else subprocess.PIPE,
            stdout=printed,
            stderr=subprocess.STDOUT,
            env=environment,
        )
        feeder = Thread(target=_feed, args=(process, lines or ()), daemon=True)
        feeder.start()
        killed = False
        while process.poll() is None:
            with suppress(subprocess.TimeoutExpired):
                process.wait(every)
            reached = progress()
            if process.poll() is None:
                samples.append((reached, megabytes(process.pid)))
                if until is not None and reached >= until:
                    process.kill()
                    killed = True
        feeder.join()
    if process.returncode and not killed:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}; see {folder / 'printed'}")
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return Ran(time.monotonic() - began, 0.0 if killed else spent, killed, samples)


def _feed(process: subprocess.Popen[bytes], lines: Iterable[str]) -> None:
    if process.stdin is None:
        return
    with suppress(OSError):
        for line in lines:
            process.stdin.write(line.encode())
    with suppress(OSError):
        process.stdin.close()


def disk(folder: Path) -> int:
    """Bytes of the files in a folder."""
    total = 0
    for file in folder.rglob("*"):
        with suppress(OSError):
            total += file.stat().st_size if file.is_file() else 0
    return total


def settled(samples: Sequence[tuple[float, float]], begin: float, end: float) -> list[float]:
    """Memory while progress was between two numbers."""
    return [memory for reached, memory in samples if begin <= reached <= end]
