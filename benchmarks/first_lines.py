"""How soon ``check`` shows something of a thousand answers, how good its estimate is, and how much memory it takes.

    python benchmarks/first_lines.py [--answers 1000]

Answers of three sentences, each of which cites one of three abstracts of the demonstration corpus. Printed are the
seconds to the first verdicts, the estimate that is nearest to a tenth of the way beside what was then left, and the
peak of memory. Nothing is taken from the cache. The load of the machine is printed too: it decides the seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from threading import Thread

from vericite.corpus import demo_documents

_LINE = re.compile(r"([\d,]+) of ([\d,]+) answers.*?about (?:(\d+) h )?(?:(\d+) min ?)?(?:(\d+) s)? ?left")


def write_answers(path: Path, count: int) -> None:
    """Answers that no two share a sentence with, so that nothing is judged once for several."""
    documents = demo_documents()
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            chosen = [documents[(number * 3 + step) % len(documents)] for step in range(3)]
            said = " ".join(f"In cohort {number}, {it.title.lower()} [{n}]." for n, it in enumerate(chosen, start=1))
            given = [{"id": it.id, "title": it.title, "text": it.text} for it in chosen]
            file.write(json.dumps({"id": f"a{number}", "answer": said, "documents": given}) + "\n")


def main() -> None:
    """Run the command and watch it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=1000)
    count = parser.parse_args().answers
    began, first, estimates = time.monotonic(), 0.0, list[tuple[float, int, float]]()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers.jsonl"
        write_answers(path, count)
        print("load", *(f"{one:.1f}" for one in os.getloadavg()))
        words = [sys.executable, "-m", "vericite", "check", str(path), "--set", "llm.cache=false"]
        running = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert running.stdout and running.stderr

        def watch(lines: object) -> None:
            for line in lines:  # type: ignore[attr-defined]
                print(f"{time.monotonic() - began:7.1f} s  {line.strip()[:110]}", flush=True)
                if found := _LINE.search(line):
                    hours, minutes, seconds = (int(part or 0) for part in found.groups()[2:])
                    left = 3600 * hours + 60 * minutes + seconds
                    estimates.append((time.monotonic() - began, int(found[1].replace(",", "")), left))

        watching = Thread(target=watch, args=(running.stderr,))
        watching.start()
        for _ in running.stdout:
            first = first or time.monotonic() - began
        running.wait()
        watching.join()
    took = time.monotonic() - began
    print(f"first lines after {first:.1f} s; all after {took:.1f} s")
    if estimates:
        at, done, left = min(estimates, key=lambda one: abs(one[1] - count / 10))
        print(f"after {done} answers: {left:.0f} s said to be left; {took - at:.0f} s were ({left / (took - at):.2f})")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f} MB")
    print("load", *(f"{one:.1f}" for one in os.getloadavg()))


if __name__ == "__main__":
    main()
