"""``vericite check`` of many made answers, streamed through standard input, killed and resumed.

The answers are made by a seed. A third of their sentences are in their source word for word, a third have another
number, a third say otherwise. The judge is lexical: a million judgements of the bundled judge take a day on two cores.
Its rate is measured apart, on fewer answers. A killed check is run again with the same command: what was judged is in
the cache. Its output must be that of a check that was never killed.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from kills import VERICITE, disk, run, settled
from memory import Quarters

DRUGS = "corvadil zelotrine apremond tilvaxin mirosept danorelin quintasol bromaxide felidrone sarcotine".split()
OUTCOMES = ("pain", "night-time cough", "blood pressure", "relapse", "time to recovery", "hospital stay", "fatigue")
GROUPS = ("adults with asthma", "children with migraine", "older patients", "women after surgery", "smokers")
KILLED_AT = (0.1, 0.3, 0.6)
"""Shares of the answers that were read when the check is killed."""
WARM = 0.1
"""Share of the answers before memory counts."""


def answers(count: int, seed: int = 0) -> Iterator[str]:
    """Made answers as lines of JSON: a sentence that cites one source of two sentences."""
    for number in range(count):
        chance = random.Random(f"{seed} {number}")
        drug, outcome, group = chance.choice(DRUGS), chance.choice(OUTCOMES), chance.choice(GROUPS)
        treated, better = chance.randint(20, 900), chance.randint(5, 19)
        fact = f"{drug.capitalize()} reduced {outcome} in {better} of {treated} {group}"
        trial = f"Trial {number} compared {drug} with placebo for {chance.randint(4, 52)} weeks."
        said = chance.choice(
            (
                fact,
                f"{drug.capitalize()} reduced {outcome} in {better + 1} of {treated} {group}",
                f"{drug.capitalize()} had no effect on {outcome} in {group}",
            )
        )
        source = {"id": f"trial-{number}", "title": f"Trial {number}", "text": f"{trial} {fact}."}
        yield json.dumps({"id": str(number), "answer": f"{said} [1].", "documents": [source]}) + "\n"


class Counted:
    """Lines, counted as they are read."""

    def __init__(self, lines: Iterator[str]) -> None:
        self.lines, self.count = lines, 0

    def __iter__(self) -> Iterator[str]:
        """The lines."""
        for line in self.lines:
            self.count += 1
            yield line


def digest(file: Path, lines: int) -> str:
    """A digest of the first lines of a file."""
    found = hashlib.blake2b(digest_size=16)
    with file.open("rb") as read:
        for line in islice(read, lines):
            found.update(line)
    return found.hexdigest()


def answers_run(work: Path, count: int, whole: int, sample: int, seed: int = 0) -> int:
    """Check the answers and print the figures; the exit code is 1 if the output differs or memory grew.

    Args:
        work: Folder of caches and outputs.
        count: Number of answers.
        whole: Number of answers of the check that is not killed, whose output is compared.
        sample: Number of answers for the rate of the bundled judge.
        seed: Seed of the answers.
    """
    folder, out = work / "killed", work / "killed" / "out.jsonl"
    command = [*VERICITE, "check", "-", "--json", "--judge", "lexical", "--out", str(out)]
    for share in KILLED_AT:
        fed = Counted(answers(count, seed))
        ran = run(command, folder, lambda fed=fed: fed.count, share * count, fed, every=0.5)
        assert ran.killed, "it ended before it was killed"
        print(f"killed after {ran.seconds:.0f} s with {fed.count:,} of {count:,} answers read", flush=True)
    fed = Counted(answers(count, seed))
    ran = run(command, folder, lambda: fed.count, None, fed)
    print(
        f"resumed to the end: {count:,} answers in {ran.seconds:.0f} s, {count / ran.seconds:.0f} a second; "
        f"{ran.processor:.0f} s of processor time, {count / ran.processor:.0f} a second of it"
    )
    quarters = Quarters.of(settled(ran.samples, WARM * count, count))
    print(f"memory after the first tenth: {quarters}")
    with out.open("rb") as file:
        written = sum(1 for _ in file)
    cache = disk(folder / "cache")
    print(
        f"lines written: {written:,}; on disk: output {out.stat().st_size / 1e6:.0f} MB, cache {cache / 1e6:.0f} MB "
        f"({(out.stat().st_size + cache) / count:.0f} bytes an answer)",
        flush=True,
    )
    other = work / "whole"
    alone = [*command[:-1], str(other / "out.jsonl")]
    fed = Counted(answers(whole, seed))
    run(alone, other, lambda: fed.count, None, fed)
    same = digest(out, whole) == digest(other / "out.jsonl", whole)
    print(f"first {whole:,} lines: {'those' if same else 'MISSED: not those'} of a check that was not killed")
    if sample:
        _bundled(work / "bundled", sample, seed)
    return 0 if same and written == count and not quarters.is_over else 1


def _bundled(folder: Path, count: int, seed: int) -> None:
    fed = Counted(answers(count, seed))
    command = [*VERICITE, "check", "-", "--json", "--out", str(folder / "out.jsonl")]
    ran = run(command, folder, lambda: fed.count, None, fed)
    print(
        f"the bundled judge: {count:,} answers in {ran.seconds:.0f} s, {count / ran.seconds:.0f} a second; "
        f"{ran.processor:.0f} s of processor time, {count / ran.processor:.0f} a second of it"
    )
