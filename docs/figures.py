"""The figures of README.md and docs/: which command makes each, what it printed, and whether the pages say the same.

    python docs/figures.py                    list every figure: page, run, n, value, interval
    python docs/figures.py --check            compare the pages with what was printed (fast; in docs-check)
    python docs/figures.py --run search       make a run's figures again and put them into the pages (slow)
    python docs/figures.py --run all          the same for runs with a record older than the source, except slow ones
    python benchmarks/all.py                  make all figures, leave the pages alone, and print one table

``docs/figures.toml`` has the runs. A run has a command; what it printed is kept in ``docs/figures/NAME.txt``. A run
with ``slow = true`` takes hours and is made only by its name. A figure has a page, the text that states it there, and a
pattern that finds its numbers in what was printed. ``{data}`` in a command is the folder of data sets (--data),
``{work}`` a folder that is kept between runs (--work), so that a run that was stopped goes on where its command can;
``{source}`` is the hash of the source, for folders of one source.

An interval on a page that no figure states fails the check: it would be a number without a command. A run that was not
made yet is no failure, as long as no page states its figures.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs" / "figures"
PLACE = re.compile(r"\{(?P<name>\w+)(?P<format>:[^}]*)?\}")
NUMBER = r"[-+]?[\d.,]*\d"
INTERVAL = re.compile(r"(?<=[\d%*] )\[[-+]?\d+(?:\.\d+)?, [-+]?\d+(?:\.\d+)?\]")
FENCED = re.compile(r"```.*?```", re.DOTALL)
UNLISTED = {"docs/status.md"}
"""Pages whose figures come from elsewhere."""


@dataclass(frozen=True)
class Figure:
    """A text on a page with numbers that a command printed.

    Attributes:
        page: The page, from the root of the repository.
        text: What stands there, with places such as ``{value:.2f}`` for the numbers.
        find: A regular expression whose named groups are the numbers.
    """

    page: str
    text: str
    find: str

    def values(self, printed: str) -> dict[str, float | int]:
        """The numbers in what a command printed."""
        found = re.search(self.find, printed)
        if found is None:
            raise LookupError(f"{self.page}: expected {self.find!r} in what the command printed; found nothing like it")
        return {name: _number(value) for name, value in found.groupdict().items()}

    def stated(self, printed: str) -> str:
        """The text with the numbers in their places."""
        return self.text.format(**self.values(printed))

    def on_page(self) -> re.Pattern[str]:
        """Finds the text on its page, whatever its numbers are."""
        pieces = PLACE.split(self.text)
        return re.compile(NUMBER.join(re.escape(piece) for piece in pieces[::3]))


def _number(value: str) -> float | int:
    plain = value.replace(",", "")
    return float(plain) if "." in plain else int(plain)


@dataclass(frozen=True)
class Run:
    """A command and the figures that it makes.

    Attributes:
        name: The name of its record.
        command: What the shell runs, from the root of the repository.
        minutes: Time limit of a run.
        figures: The figures, in the order of the file.
        slow: Whether it takes hours.
        data: Data sets that it needs in addition to those that the command names.
    """

    name: str
    command: str
    minutes: int
    figures: tuple[Figure, ...]
    slow: bool = False
    data: tuple[str, ...] = ()

    def record(self, folder: Path | None = None) -> Path:
        """Where what it printed is kept."""
        return (folder or FOLDER) / f"{self.name}.txt"

    def missing(self, data: Path) -> list[str]:
        """Data sets that the command needs and that the folder lacks."""
        needed = {*self.data, *re.findall(r"\{data\}/([\w.-]+)", self.command)}
        return sorted(name for name in needed if not (data / name).exists())

    def recorded(self, folder: Path | None = None) -> tuple[dict[str, str], str]:
        """The head of the record, and what the command printed."""
        record = self.record(folder)
        if not record.exists():
            raise LookupError(f"{self.name}: not run yet. Run: python docs/figures.py --run {self.name}")
        head, _, printed = record.read_text(encoding="utf-8").partition("\n\n")
        fields = dict(line.split(": ", 1) for line in head.splitlines())
        if fields["command"] != " ".join(self.command.split()):
            raise LookupError(
                f"{self.name}: the command has changed since. Run: python docs/figures.py --run {self.name}"
            )
        return fields, printed


def runs() -> list[Run]:
    """The runs of ``docs/figures.toml``."""
    listed: list[dict[str, Any]] = tomllib.loads((ROOT / "docs/figures.toml").read_text(encoding="utf-8"))["run"]
    return [
        Run(
            name=each["name"],
            command=each["command"],
            minutes=each.get("minutes", 60),
            figures=tuple(Figure(**figure) for figure in each.get("figure", ())),
            slow=each.get("slow", False),
            data=tuple(each.get("data", ())),
        )
        for each in listed
    ]


def problems(of: list[Run]) -> Iterator[str]:
    """What the pages state that the commands did not print."""
    stated: dict[str, list[tuple[int, int]]] = {}
    for run in of:
        try:
            _, printed = run.recorded()
        except LookupError as error:
            if any(figure.on_page().search(_text(figure.page)) for figure in run.figures):
                yield str(error)
            continue
        for figure in run.figures:
            try:
                spans = [found.span() for found in figure.on_page().finditer(_text(figure.page))]
                expected = figure.stated(printed)
            except LookupError as error:
                yield f"{run.name}: {error}"
                continue
            stated.setdefault(figure.page, []).extend(spans)
            if not spans:
                yield f"{figure.page}: expected {expected!r}; found nothing like it on the page"
            for start, end in spans:
                if (found := _text(figure.page)[start:end]) != expected:
                    yield f"{figure.page}: the page says {found!r}; `{run.name}` printed {expected!r}"
    yield from unlisted_intervals(stated)


def unlisted_intervals(stated: dict[str, list[tuple[int, int]]]) -> Iterator[str]:
    """Intervals on pages that belong to no figure; blocks of code are checked by ``docs/refresh.py``."""
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        page = path.relative_to(ROOT).as_posix()
        if page in UNLISTED:
            continue
        text = FENCED.sub(lambda block: " " * len(block[0]), _text(page))
        for found in INTERVAL.finditer(text):
            if not any(start <= found.start() and found.end() <= end for start, end in stated.get(page, [])):
                line = text.count("\n", 0, found.start()) + 1
                place = f"{page}, line {line}"
                yield f"{place}: {found[0]} belongs to no figure of docs/figures.toml. Add it there, or cut it"


def _text(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def write(run: Run) -> None:
    """Put what a run printed into its pages."""
    _, printed = run.recorded()
    for figure in run.figures:
        path, stated = ROOT / figure.page, figure.stated(printed)
        text = path.read_text(encoding="utf-8")
        path.write_text(figure.on_page().sub(lambda _, stated=stated: stated, text), encoding="utf-8")


def make(run: Run, data: Path, work: Path, folder: Path | None = None) -> int:
    """Run the command, keep what it printed; the exit code says whether it went well.

    Args:
        run: The run.
        data: Folder of the data sets.
        work: Folder kept between runs.
        folder: Where to keep what it printed, without changing the pages (None: with the pages, which are changed).
    """
    work.mkdir(parents=True, exist_ok=True)
    places = {"{data}": os.path.relpath(data, ROOT), "{work}": str(work), "{source}": source()}
    command = run.command
    for place, path in places.items():
        command = command.replace(place, path)
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": programs, "COLUMNS": "150", "NO_COLOR": "1", "VERICITE_OFFLINE": "1"}
    begun = time.monotonic()
    process = subprocess.Popen(
        ["nice", "-n", "10", "bash", "-euo", "pipefail", "-c", command],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=run.minutes * 60)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        print(f"{run.name}: stopped after {run.minutes} minutes, which is its bound", file=sys.stderr)
        return 1
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    if process.returncode or not output.strip():
        print(f"{run.name}: the command ended with {process.returncode}; no record was written", file=sys.stderr)
        return 1
    head = {
        "command": " ".join(run.command.split()),
        "source": source(),
        "made": date.today().isoformat(),
        "processor": _processor(),
        "seconds": f"{time.monotonic() - begun:.0f}",
    }
    printed = output
    for place, path in places.items():
        printed = printed.replace(path, place)
    lines = "\n".join(line.rstrip() for line in printed.strip("\n").splitlines())
    text = "\n".join(f"{k}: {v}" for k, v in head.items()) + f"\n\n{lines}\n"
    run.record(folder).write_text(text, encoding="utf-8")
    if folder is None:
        write(run)
    print(f"{run.name}: {head['seconds']} s", file=sys.stderr)
    return 0


def source() -> str:
    """The package and the scripts that measure, as git knows them: the hash of their trees."""
    trees = [_git("rev-parse", f"HEAD:{folder}")[:10] for folder in ("src", "benchmarks", "recipes")]
    changed = _git("status", "--porcelain", "--", "src", "benchmarks", "recipes")
    return "-".join(trees) + ("+" if changed else "")


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def _processor() -> str:
    try:
        named = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    except OSError:
        named = None
    return f"{named[1] if named else platform.machine()}, {os.cpu_count()} cores"


def show(of: list[Run]) -> None:
    """One line a figure, one a run."""
    now = source()
    for run in of:
        try:
            head, printed = run.recorded()
        except LookupError as error:
            print(error)
            continue
        age = "of this source" if head["source"] == now else "of an earlier source"
        print(f"{run.name}: {head['made']}, {head['seconds']} s, {age}\n  {head['command']}")
        for figure in run.figures:
            try:
                values = ", ".join(f"{name} {value}" for name, value in figure.values(printed).items())
            except LookupError as error:
                values = str(error)
            print(f"    {figure.page}: {PLACE.sub('#', figure.text)}: {values}")


def main() -> int:
    """List, check or make the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="fail where a page differs from what its command printed")
    parser.add_argument("--run", nargs="+", metavar="NAME", help="runs to make anew, or all")
    parser.add_argument("--data", type=Path, default=ROOT / "../shared/data", help="folder of the data sets")
    parser.add_argument("--work", type=Path, default=ROOT / ".cache/figures", help="folder kept between runs")
    given = parser.parse_args()
    every = runs()
    if given.run:
        names = {run.name for run in every}
        if unknown := set(given.run) - names - {"all"}:
            parser.error(f"no run is named {', '.join(sorted(unknown))}; there are {', '.join(sorted(names))}")
        named = [run for run in every if run.name in given.run or ("all" in given.run and not run.slow and is_old(run))]
        return max((make(run, given.data.resolve(), given.work.resolve()) for run in named), default=0)
    if given.check:
        found = list(problems(every))
        print("\n".join(found), end="\n" if found else "")
        return 1 if found else 0
    show(every)
    return 0


def is_old(run: Run, folder: Path | None = None) -> bool:
    """Whether a run has no record of this source."""
    try:
        return run.recorded(folder)[0]["source"] != source()
    except LookupError:
        return True


if __name__ == "__main__":
    sys.exit(main())
