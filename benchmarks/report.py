"""How long ``report`` takes over many answers of several systems, how large its page is, and how much memory it takes.

    python benchmarks/report.py [--questions 500] [--systems 4]

Answers of three sentences, each of which cites one of three abstracts of the demonstration corpus. They are judged by
words first, which is not timed. The load of the machine is printed too: it decides the seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from vericite.corpus import demo_documents


def write_answers(path: Path, count: int, system: int) -> None:
    """Answers of a system: the same questions and documents as the others', in words of its own."""
    documents = demo_documents()
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            chosen = [documents[(number * 3 + step) % len(documents)] for step in range(3)]
            said = " ".join(
                f"In cohort {number} of {system}, {it.text.split('. ')[(system + n) % 3].lower()} [{n}]."
                for n, it in enumerate(chosen, start=1)
            )
            given = [{"id": it.id, "title": it.title, "text": it.text} for it in chosen]
            record = {"id": f"q{number}", "question": f"What did cohort {number} show?", "answer": said}
            file.write(json.dumps({**record, "documents": given}) + "\n")


def main() -> None:
    """Make the answers, judge them, time the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--systems", type=int, default=4)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for system in range(given.systems):
            place = folder / f"system{system}"
            place.mkdir()
            write_answers(place / "answers.jsonl", given.questions, system)
            _run("check", place / "answers.jsonl", "--judge", "lexical", "--out", place / "verdicts.jsonl", "--quiet")
        page = folder / "report.html"
        places = [folder / f"system{system}" for system in range(given.systems)]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        _run("report", *places, "--out", page, "--quiet")
        seconds = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"load {' '.join(f'{load:.1f}' for load in os.getloadavg())}")
        print(f"{given.questions} questions x {given.systems} systems: {seconds:.1f} s (bar 10)", end=", ")
        print(f"{after.ru_utime - before.ru_utime:.1f} s of processor time", end=", ")
        print(f"{page.stat().st_size / 1e6:.1f} MB (bar 15), peak memory {after.ru_maxrss / 1024:.0f} MB at most")


def _run(*arguments: str | Path) -> None:
    command = [sys.executable, "-m", "vericite", *(str(argument) for argument in arguments)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
