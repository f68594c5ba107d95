"""How soon a verdict follows its sentence in a stream of tokens, and whether the checking delays tokens.

    python benchmarks/streaming.py [--rounds 5] [--rate 200] [--sentences 12]

A made-up model writes answers at a steady rate, each sentence citing an abstract of the demonstration corpus. In each
round the same answer is read twice, in turns: with ``CheckStream.afollow``, and without checking. Printed are the time
from the last token of a sentence to its verdict (bar 300 ms for the first of an answer, on an idle machine), and how
long after the time at which the model writes a token it is handed on, of both and as a ratio. The models are loaded
before the first round, and how long that takes is printed, too.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import re
import statistics
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import vericite as vc
from vericite.corpus import demo_documents


@dataclass
class Timed:
    """What happened in streams: seconds by which tokens came late, and seconds from a sentence's end to its verdict."""

    late: list[float] = field(default_factory=list[float])
    first: list[float] = field(default_factory=list[float])
    verdicts: list[float] = field(default_factory=list[float])


def answer(number: int, sentences: int) -> tuple[list[str], list[dict[str, str]]]:
    """Return the sentences of an answer that shares none with another, and its documents."""
    documents = demo_documents()
    chosen = [documents[(number * sentences + step) % len(documents)] for step in range(sentences)]
    said = [f"In cohort {number}, {document.title.lower()} [{n}]." for n, document in enumerate(chosen, start=1)]
    return said, [{"id": document.id, "title": document.title, "text": document.text} for document in chosen]


async def tokens(text: str, rate: float, late: list[float]) -> AsyncIterator[str]:
    """Write tokens of about four characters, each at its time."""
    begin = time.perf_counter()
    for number, token in enumerate(re.findall(r"\s?\S{1,4}|\s", text)):
        due = begin + number / rate
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        late.append(-due)  # completed by the reader when the token arrives
        yield token


async def read(parts: AsyncIterator[object], late: list[float], said: Sequence[str], timed: Timed) -> None:
    """Read a stream and time what comes."""
    written, ended, first = "", dict[int, float](), True
    ends = [len(" ".join(said[: n + 1])) for n in range(len(said))]
    count = 0
    async for part in parts:
        now = time.perf_counter()
        if isinstance(part, str):
            late[count] += now
            count += 1
            written += part
            for number, end in enumerate(ends):
                if number not in ended and len(written) >= end:
                    ended[number] = now
        elif isinstance(part, vc.Verdict):
            waited = now - ended[next(n for n, end in enumerate(ends) if part.end <= end)]
            timed.verdicts.append(waited)
            if first:
                timed.first.append(waited)
            first = False
    timed.late += late


def run(rounds: int, rate: float, sentences: int) -> tuple[Timed, Timed]:
    """Return what happened with checking and without."""
    checking, plain = Timed(), Timed()
    for number in range(rounds):
        said, documents = answer(number, sentences)
        for is_checked in (True, False) if number % 2 else (False, True):
            late: list[float] = []
            pieces = tokens(" ".join(said), rate, late)
            parts = vc.CheckStream(documents).afollow(pieces) if is_checked else pieces
            asyncio.run(read(parts, late, said, checking if is_checked else plain))
    return checking, plain


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which this share lies, in milliseconds."""
    return 1000 * sorted(values)[min(len(values) - 1, int(share * len(values)))]


def processor() -> str:
    """Return the name of the processor."""
    try:
        found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    except OSError:
        found = None
    return f"{found[1] if found else platform.processor() or platform.machine()}, {os.cpu_count()} processors"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rate", type=float, default=200)
    parser.add_argument("--sentences", type=int, default=12)
    given = parser.parse_args()
    began = time.perf_counter()
    said, documents = answer(149, 1)
    vc.check(said[0], documents)
    print(f"{processor()}; load {os.getloadavg()[0]:.1f} before this")
    print(f"loading the models and the first check: {time.perf_counter() - began:.1f} s")
    checking, plain = run(given.rounds, given.rate, given.sentences)
    print(f"{given.rate:g} tokens a second, {given.rounds} answers of {given.sentences} sentences")
    first, verdicts = checking.first, checking.verdicts
    print(f"end of a sentence to its verdict, first of an answer: {1000 * statistics.median(first):.0f} ms (median)")
    print(
        f"of all {len(verdicts)}: {percentile(verdicts, 0.5):.0f} ms (median), {percentile(verdicts, 0.95):.0f} (95 %)"
    )
    for share, name in ((0.5, "median"), (0.95, "95 %"), (0.99, "99 %"), (1, "longest")):
        with_checks, without = percentile(checking.late, share), percentile(plain.late, share)
        ratio = with_checks / without
        print(f"a token is late, {name}: {with_checks:.2f} ms with checks, {without:.2f} without, ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
