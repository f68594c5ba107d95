"""``vericite corpus build`` of many made records, killed five times and resumed.

The store must hold each record once, as it was made. A smaller store that is built in one go must answer searches as a
smaller one that was killed does.
"""

from __future__ import annotations

import hashlib
import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

from kills import VERICITE, Ran, disk, run, settled
from many_answers import DRUGS, GROUPS, OUTCOMES
from memory import Quarters

FILE = 50_000
"""Records in a file."""
KILLED_AT = (0.05, 0.25, 0.5, 0.7, 0.9)
"""Shares of the records that were committed when the build is killed."""
QUESTIONS = ("corvadil relapse smokers", "trial 977", "blood pressure of older patients", "felidrone fatigue")


def records(begin: int, end: int, seed: int = 0) -> Iterator[dict[str, str]]:
    """Made records: a title and an abstract of six sentences."""
    for number in range(begin, end):
        chance = random.Random(f"{seed} {number}")
        drug, group = chance.choice(DRUGS), chance.choice(GROUPS)
        sentences = [f"Trial {number} compared {drug} with placebo for {chance.randint(4, 52)} weeks."]
        for _ in range(4):
            outcome, better = chance.choice(OUTCOMES), chance.randint(5, 99)
            sentences.append(f"It changed {outcome} in {better} of {chance.randint(100, 900)} {group}.")
        sentences.append(f"Site {chance.randrange(10**6)} recruited most of the {group}.")
        title = f"{drug.capitalize()} in {group}: trial {number}"
        yield {"id": f"trial-{number}", "title": title, "text": " ".join(sentences)}


def write(folder: Path, count: int) -> int:
    """Write the records as JSON Lines; return their bytes."""
    folder.mkdir(parents=True)
    for begin in range(0, count, FILE):
        with (folder / f"{begin // FILE:04}.jsonl").open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in records(begin, min(begin + FILE, count)))
    return disk(folder)


def _sum(lines: Iterator[dict[str, str]]) -> tuple[int, int]:
    """Number of records, and a digest that does not depend on their order and changes if one comes twice."""
    count = total = 0
    for line in lines:
        text = json.dumps([line["id"], line["title"], line["text"]]).encode()
        total += int.from_bytes(hashlib.blake2b(text, digest_size=16).digest(), "big")
        count += 1
    return count, total % (1 << 128)


def _stored(place: Path) -> Iterator[dict[str, str]]:
    from vericite.corpus.store import open_store

    for document in open_store(place).scan():
        yield {"id": document.id, "title": document.title or "", "text": document.text}


def _found(place: Path) -> list[list[tuple[str, float]]]:
    from vericite.corpus.store import open_store

    store = open_store(place)
    return [[(hit.document.id, hit.score) for hit in store.search(question, 10)] for question in QUESTIONS]


class Committed:
    """Number of records that a store has committed."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def __call__(self) -> int:
        """Count them; 0 without a store."""
        from vericite.corpus.store import open_store
        from vericite.errors import InputError

        try:
            return open_store(self.place).info().documents
        except InputError:
            return 0


def _build(made: Path, folder: Path, until: float | None = None) -> Ran:
    store = folder / "store"
    command = [*VERICITE, "corpus", "build", str(made), "--to", str(store), "--json"]
    return run(command, folder, Committed(store), until, every=1.0)


def store_run(work: Path, count: int, whole: int) -> int:
    """Build the stores and print the figures; the exit code is 1 if one differs or memory grew.

    Args:
        work: Folder of the made records and the stores; they are deleted at the end.
        count: Number of records of the store that is killed.
        whole: Number of records of the stores that are compared.
    """
    made = work / "made"
    size = write(made, count)
    print(f"{count:,} made records, {size / 1e6:.0f} MB of JSON Lines, {size / count:.0f} bytes each", flush=True)
    expected = _sum(records(0, count))
    seconds, samples = 0.0, list[list[float]]()
    for share in KILLED_AT:
        ran = _build(made, work / "killed", share * count)
        seconds += ran.seconds
        samples.append(settled(ran.samples, 1, count))
        at = Committed(work / "killed" / "store")()
        print(f"{'killed' if ran.killed else 'MISSED: ended'} after {ran.seconds:.0f} s, {at:,} committed", flush=True)
    ran = _build(made, work / "killed")
    seconds += ran.seconds
    place = work / "killed" / "store"
    same = _sum(_stored(place)) == expected
    print(f"resumed to the end; {seconds:.0f} s in all, {count / seconds:.0f} records a second with six starts")
    print(f"each record once, as it was made: {'yes' if same else 'MISSED'}", flush=True)
    print(f"store: {disk(place) / 1e6:.0f} MB, {disk(place) / count:.0f} bytes a record", flush=True)
    shutil.rmtree(work / "killed")
    few = _few(made, work / "few", whole)
    alone = _build(few, work / "alone")
    quarters = Quarters.of(settled(alone.samples, 1, whole))
    print(
        f"in one go: {whole:,} records in {alone.seconds:.0f} s, {alone.processor:.0f} s of processor time, "
        f"{whole / alone.processor:.0f} records a second of it"
    )
    print(f"memory while it reads: {quarters}", flush=True)
    _build(few, work / "twice", whole / 2)
    _build(few, work / "twice")
    alike = _found(work / "alone" / "store") == _found(work / "twice" / "store")
    alike = alike and _sum(_stored(work / "alone" / "store")) == _sum(_stored(work / "twice" / "store"))
    print(f"documents and searches of a store that was killed once: {'the same' if alike else 'MISSED'}")
    for folder in (made, work / "few", work / "alone", work / "twice"):
        shutil.rmtree(folder)
    return 0 if same and alike and not quarters.is_over else 1


def _few(made: Path, folder: Path, count: int) -> Path:
    folder.mkdir()
    for file in sorted(made.iterdir())[: count // FILE]:
        shutil.copy(file, folder)
    return folder
