"""All benchmarks that README and the pages state figures of: run, kept, and printed as one table.

    python benchmarks/all.py --data DATASETS            about 45 min on two cores
    python benchmarks/all.py --data DATASETS --quick    the steps that took under two minutes
    python benchmarks/all.py --data DATASETS --slow     also those that take hours: search, mirage, the long runs
    python benchmarks/all.py --only words kqa           these steps

The steps are the runs of ``docs/figures.toml``, shortest first. What each prints is kept in ``--to``; a step that was
done with this source is not run again, so repeat the command after an interruption. A step whose data sets are not in
``--data`` is skipped. The pages are not changed: the table says where they state another number. Use
``docs/figures.py --run`` to put new figures into them. The exit code is 1 if a step failed or a page differs.
"""

from __future__ import annotations

import argparse
import importlib.util
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
QUICK = 120
"""Seconds of a quick step."""


def _figures() -> Any:
    spec = importlib.util.spec_from_file_location("docs_figures", ROOT / "docs" / "figures.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


figures = _figures()


def seconds(run: figures.Run) -> float:
    """Seconds that a run took when its record in the repository was made; its time limit without one."""
    try:
        return float(run.recorded()[0]["seconds"])
    except LookupError:
        return run.minutes * 60


def chosen(given: argparse.Namespace) -> list[figures.Run]:
    """The runs to make, shortest first."""
    every = figures.runs()
    if given.only:
        if unknown := set(given.only) - {run.name for run in every}:
            raise SystemExit(f"no step is named {', '.join(sorted(unknown))}; see docs/figures.toml")
        return [run for run in every if run.name in given.only]
    found = [run for run in every if given.slow or not run.slow]
    return sorted((run for run in found if not given.quick or seconds(run) < QUICK), key=seconds)


def problem(run: figures.Run, given: argparse.Namespace) -> str | None:
    """Make a run unless that is done; say why there is no record of it."""
    if missing := run.missing(given.data):
        return f"skipped: {given.data} lacks {', '.join(missing)}"
    if not figures.is_old(run, given.to):
        print(f"{run.name}: done before", file=sys.stderr)
        return None
    print(f"{run.name}: about {seconds(run) / 60:.0f} min", file=sys.stderr, flush=True)
    failed = figures.make(run, given.data, given.work, given.to)
    return "failed: see above" if failed else None


def rows(run: figures.Run, to: Path) -> Iterator[tuple[str, bool]]:
    """A row of the table for each figure, and whether the page states the same."""
    head, printed = run.recorded(to)
    taken = f"{float(head['seconds']) / 60:.1f}"
    if not run.figures:
        yield f"| {run.name} | {taken} | {printed.strip().splitlines()[-1]} | | |", True
    for figure in run.figures:
        try:
            stated = figure.stated(printed)
        except LookupError as error:
            yield f"| {run.name} | {taken} | {error} | {figure.page} | not found |", False
            continue
        same = stated in (ROOT / figure.page).read_text(encoding="utf-8")
        cells = stated.strip("| ").replace(" | ", ": ").replace("|", "/")
        yield f"| {run.name} | {taken} | {cells} | {figure.page} | {'same' if same else 'differs'} |", same


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the runs and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT / "../shared/data", help="folder of the data sets")
    parser.add_argument("--work", type=Path, default=ROOT / ".cache/figures", help="folder kept between runs")
    parser.add_argument("--to", type=Path, default=ROOT / ".cache/benchmarks", help="folder of what the steps print")
    parser.add_argument("--only", nargs="+", metavar="STEP")
    parser.add_argument("--quick", action="store_true", help=f"only steps of less than {QUICK} seconds")
    parser.add_argument("--slow", action="store_true", help="also steps that take hours")
    given = parser.parse_args(arguments)
    # As by Ctrl-C: the step that runs is ended, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    given.data, given.work, given.to = given.data.resolve(), given.work.resolve(), given.to.resolve()
    given.to.mkdir(parents=True, exist_ok=True)
    steps = chosen(given)
    problems = {run.name: problem(run, given) for run in steps}
    print("| step | minutes | figure, n, value [95 % interval] | page | the page |\n|---|---|---|---|---|")
    good = True
    for run in steps:
        if told := problems[run.name]:
            good = good and told.startswith("skipped")
            print(f"| {run.name} | | {told} | | |")
            continue
        for row, same in rows(run, given.to):
            good = good and same
            print(row)
    print("\nCommands:")
    for run in steps:
        print(f"- {run.name}: {' '.join(run.command.split())}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
