"""Long runs with faults and kills: whether memory stays flat and nothing is lost.

    python benchmarks/long_runs serve --minutes 120 --work FOLDER
    python benchmarks/long_runs answers --count 1000000 --work FOLDER
    python benchmarks/long_runs store --count 4000000 --work FOLDER
    python benchmarks/long_runs cells --work FOLDER

``serve`` is in ``load.py``, ``answers`` in ``many_answers.py``, ``store`` in ``many_records.py`` and ``cells`` in
``cells.py``; each says what it does. ``--small`` takes minutes, and is run by a slow test. The exit code is 1 if
something was lost, or memory grew by more than 5 %. Linux only: memory is read from ``/proc``.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from pathlib import Path


def main() -> int:
    """Run one of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("serve", "answers", "store", "cells"))
    parser.add_argument("--work", type=Path, required=True, help="a folder that does not exist yet")
    parser.add_argument("--small", action="store_true", help="take minutes")
    parser.add_argument("--minutes", type=float, default=120, help="of serve")
    parser.add_argument("--count", type=int, help="of answers (default 1,000,000) or records (default 4,000,000)")
    parser.add_argument("--whole", type=int, help="of answers or records that are done in one go (default: a tenth)")
    parser.add_argument("--sample", type=int, default=5_000, help="of answers for the bundled judge")
    given = parser.parse_args()
    if given.work.exists():
        parser.error(f"expected a folder that does not exist; found {given.work}")
    load = " ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"{platform.machine()}, {os.cpu_count()} cores, load {load}", flush=True)
    if given.what == "serve":
        from load import serve

        return serve(60, given.work, 3, judges=("lexical",)) if given.small else serve(given.minutes * 60, given.work)
    if given.what == "cells":
        from cells import cells_run

        return cells_run(given.work, *((2, 2) if given.small else (5, 10)))
    if given.what == "answers":
        from many_answers import answers_run

        count = given.count or (600 if given.small else 1_000_000)
        return answers_run(given.work, count, given.whole or max(count // 10, 200), 0 if given.small else given.sample)
    from many_records import FILE, store_run

    count = given.count or (2 * FILE if given.small else 4_000_000)
    return store_run(given.work, count, given.whole or max(count // 10 // FILE, 1) * FILE)


if __name__ == "__main__":
    sys.exit(main())
