"""What Ray makes of the same work: verdicts beside one process's, and a store in a bucket beside one in a folder.

    python benchmarks/scale.py check --answers 2000 --work FOLDER [--workers 1 2 4] [--kills]
    python benchmarks/scale.py build --corpus CORPUS.jsonl.gz --records 300000 --files 30 --work FOLDER

``check``: made answers with a citation of one short document each are checked by one process and by workers of a Ray
on this machine, two unless said, in turns. What a run takes, its start included, is told by the clock and in processor
time, which a busy machine changes less, and whether the two files are the same byte for byte. With ``--kills`` once
more, and a worker is killed when a quarter of the parts are there, another at the half, the command itself at three
quarters; then the same command is typed again.

``build``: made records in files of PubMed's XML are built into a folder by one process, and by two workers of Ray into
a bucket on loopback. That build is killed when a third of it is committed, and the same command is typed again.
Documents and answers of the two stores are compared. Documents are made as ``benchmarks/store.py`` makes them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryFile
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

from vericite.scale.stream import ANSWERS

PLACE = "s3://made-bucket/store"
VERICITE = (sys.executable, "-m", "vericite")
RAY = ("--set", "workers.ray=local", "--set")
SEED = 7
QUESTIONS = ("risk of stroke", "children with asthma", "tumour growth in mice", "insulin", "gene expression")
_SUBJECTS = ("Aspirin", "Placebo", "The vaccine", "Exercise", "Insulin", "The new drug", "Surgery", "Screening")
_EFFECTS = ("lowered fever", "reduced mortality", "raised the risk of bleeding", "had no effect on pain")
_GROUPS = ("in adults", "in children", "in the trial", "in older patients", "after a year")


def write_answers(path: Path, count: int) -> None:
    """Answers of which no two have a pair of premise and claim in common."""
    chance = random.Random(SEED)
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            said = f"{chance.choice(_SUBJECTS)} {chance.choice(_EFFECTS)} {chance.choice(_GROUPS)} of group {number}"
            other = f"{chance.choice(_SUBJECTS)} {chance.choice(_EFFECTS)} {chance.choice(_GROUPS)} of group {number}"
            document = {"id": f"d{number}", "text": f"We followed {100 + number} people. {other}."}
            line = {"id": f"a{number}", "answer": f"{said} [1].", "documents": [document]}
            file.write(json.dumps(line) + "\n")


class Spent(NamedTuple):
    """Seconds by the clock, of all processes of a run, and of those that check: the command itself and its workers."""

    seconds: float
    work: float
    doing: float


def counted(line: list[str]) -> Spent:
    """What a command and all that it starts take; of a process that ends, up to its last second is missed."""
    start = time.perf_counter()
    work: dict[int, float] = {}
    doing: set[int] = set()
    told = TemporaryFile("w+")
    with told, subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=told) as command:
        while command.poll() is None:
            parents: dict[int, int] = {}
            now: dict[int, float] = {}
            workers: set[int] = set()
            for process in Path("/proc").glob("[0-9]*"):
                with suppress(OSError, ValueError):
                    fields = (process / "stat").read_text().rpartition(")")[2].split()
                    pid = int(process.name)
                    parents[pid] = int(fields[1])
                    now[pid] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
                    if (process / "cmdline").read_bytes().startswith(b"ray::_Worker"):
                        workers.add(pid)
            for pid in now:
                if descends(pid, command.pid, parents):
                    work[pid] = now[pid]
                    doing |= {pid} & (workers | {command.pid})
            time.sleep(1)
        told.seek(0)
        last = told.read().strip().rpartition("\n")[2]
    if command.returncode:
        raise SystemExit(f"expected {' '.join(line)} to succeed; found exit code {command.returncode}: {last}")
    return Spent(time.perf_counter() - start, sum(work.values()), sum(work[pid] for pid in doing))


def descends(pid: int, ancestor: int, parents: dict[int, int]) -> bool:
    """Whether a process is that one, or was started by it or by one that it started."""
    while pid and pid != ancestor:
        pid = parents.get(pid, 0)
    return pid == ancestor


def check(given: argparse.Namespace) -> None:
    """Print a line a run, and the ratio."""
    source = given.work / "answers.jsonl"
    write_answers(source, given.answers)
    ways: dict[str, tuple[str, ...]] = {"one process": ()}
    ways |= {f"Ray, workers: {count}": (*RAY, f"workers.count={count}") for count in given.workers}
    spent: dict[str, list[Spent]] = {name: [] for name in ways}
    digests: set[str] = set()
    for number in range(given.rounds):
        for name in list(ways)[:: 1 if number % 2 else -1]:
            out = given.work / "verdicts.jsonl"
            out.unlink(missing_ok=True)
            line = [
                *VERICITE,
                "check",
                str(source),
                "--out",
                str(out),
                "--set",
                "llm.cache=false",
                "--json",
                *ways[name],
            ]
            spent[name].append(counted(line))
            digests.add(hashlib.blake2b(out.read_bytes()).hexdigest())
            seconds, work, doing = spent[name][-1]
            print(f"{name}: {seconds:.1f} s by the clock, {work:.1f} of processor time, ", end="")
            print(f"{doing:.1f} of them of those who check; load {os.getloadavg()[0]:.1f}", flush=True)
    alone, *shared = spent.items()
    for name, runs in shared:
        print(f"{name}, its time to one process's:")
        for at, what in enumerate(("the clock", "processor time", "processor time without Ray's own processes")):
            ratios = [ray[at] / one[at] for one, ray in zip(alone[1], runs, strict=True)]
            print(f"    by {what}: {median(ratios):.2f} [{min(ratios):.2f}, {max(ratios):.2f}]")
    print("the same byte for byte" if len(digests) == 1 else "MISSED: other bytes", flush=True)
    if given.kills:
        out = given.work / "verdicts.jsonl"
        out.unlink(missing_ok=True)
        line = [
            *VERICITE,
            "check",
            str(source),
            "--out",
            str(out),
            "--set",
            "llm.cache=false",
            "--json",
            *RAY,
            "workers.count=2",
        ]
        kill(line, Path(f"{out}.parts"), -(-given.answers // ANSWERS))
        subprocess.run(line, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        digests.add(hashlib.blake2b(out.read_bytes()).hexdigest())
        print("after the kills: " + ("the same byte for byte" if len(digests) == 1 else "MISSED: other bytes"))


def kill(line: list[str], parts: Path, count: int) -> None:
    """Start a command, and kill two of its workers, and then itself, as its parts come."""
    start = time.perf_counter()
    with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as command:
        for share in (0.25, 0.5, 0.75):
            while (there := len(list(parts.glob("*.jsonl")))) < share * count:
                if command.poll() is not None:
                    raise SystemExit(f"expected to be killed; found the end, with exit code {command.returncode}")
                time.sleep(0.5)
            chosen = workers_of(command.pid)[0] if share < 0.75 else command.pid
            os.kill(chosen, signal.SIGKILL)
            what = "the command" if chosen == command.pid else "a worker"
            print(
                f"{what} killed after {time.perf_counter() - start:.0f} s, {there} of {count} parts there", flush=True
            )


def workers_of(command: int) -> list[int]:
    """Ray's workers that a command started."""
    parents: dict[int, int] = {}
    workers: list[int] = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError):
            parents[int(process.name)] = int((process / "stat").read_text().rpartition(")")[2].split()[1])
            if (process / "cmdline").read_bytes().startswith(b"ray::_Worker"):
                workers.append(int(process.name))
    return [pid for pid in workers if descends(pid, command, parents)]


def write_records(corpus: Path, count: int, files: int, work: Path) -> Path:
    """Made records in files of PubMed's XML."""
    from store import lines, make

    made, folder = work / f"made-{count}.jsonl", work / f"xml-{count}"
    make(corpus, count, made)
    if folder.exists():
        return folder
    part = folder.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    each, documents = -(-count // files), lines(made)
    for number in range(files):
        with (part / f"{number:03}.xml").open("w", encoding="utf-8") as file:
            file.write("<PubmedArticleSet>\n")
            file.writelines(map(_record, islice(documents, each)))
            file.write("</PubmedArticleSet>\n")
    part.rename(folder)
    return folder


def _record(line: dict[str, str]) -> str:
    return (
        f'<PubmedArticle><MedlineCitation><PMID Version="1">{line["id"]}</PMID><Article><Journal><JournalIssue>'
        f"<PubDate><Year>{1990 + int(line['id']) % 35}</Year></PubDate></JournalIssue>"
        f"<Title>Journal of made results</Title></Journal><ArticleTitle>{escape(line['title'])}</ArticleTitle>"
        f"<Abstract><AbstractText>{escape(line['text'])}</AbstractText></Abstract></Article></MedlineCitation></PubmedArticle>\n"
    )


def content(place: str | Path) -> dict[str, bytes]:
    """A digest of each document, by id."""
    from vericite.corpus.store import open_store

    found: dict[str, bytes] = {}
    for document in open_store(place).scan():
        assert document.id not in found, document.id
        found[document.id] = hashlib.blake2b(document.model_dump_json().encode(), digest_size=16).digest()
    return found


def answers(place: str | Path) -> list[list[tuple[str, float]]]:
    """What a store finds."""
    from vericite.corpus.store import open_store

    store = open_store(place)
    return [[(hit.document.id, hit.score) for hit in store.search(question, 10)] for question in QUESTIONS]


def _committed() -> int:
    """Documents in the bucket's store so far."""
    from vericite.corpus.store import open_store
    from vericite.errors import InputError

    try:
        return open_store(PLACE).info().documents
    except InputError:
        return 0


def _timed(line: list[str], environment: dict[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run(line, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def _until_killed(line: list[str], environment: dict[str, str], enough: int) -> Iterator[str]:
    start = time.perf_counter()
    with subprocess.Popen(line, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as driver:
        while driver.poll() is None and _committed() < enough:
            time.sleep(2)
        if driver.poll() is not None:
            yield f"it ended by itself, with exit code {driver.returncode}, and was not killed"
            return
        driver.send_signal(signal.SIGKILL)
    yield f"killed after {time.perf_counter() - start:.1f} s with {_committed()} documents committed"


def build(given: argparse.Namespace) -> None:
    """Print what each build took, and whether the stores are the same."""
    import boto3

    from bucket import CountingServer

    folder = write_records(given.corpus, given.records, given.files, given.work)
    alone = given.work / "alone"
    shutil.rmtree(alone, ignore_errors=True)
    build_line = [*VERICITE, "corpus", "build", str(folder)]
    print(f"{given.records} records in {given.files} files, load {os.getloadavg()[0]:.1f}")
    seconds = _timed([*build_line, "--to", str(alone)], dict(os.environ))
    print(f"one process, a folder: {seconds:.1f} s", flush=True)
    with CountingServer().running() as server:
        os.environ.update(server.environment)
        boto3.client("s3", endpoint_url=server.endpoint).create_bucket(Bucket="made-bucket")
        line = [*build_line, "--to", PLACE, "--set", "workers.ray=local", "--set", "workers.count=2"]
        environment: dict[str, Any] = dict(os.environ)
        for told in _until_killed(line, environment, given.records // 3):
            print(f"Ray, a bucket: {told}", flush=True)
        seconds = _timed(line, environment)
        print(f"the same again: {seconds:.1f} s; {server.total()} requests in all", flush=True)
        here, there = content(alone), content(PLACE)
        same = here == there and len(here) == given.records
        print(f"{len(there)} documents, {'the same' if same else f'MISSED: {len(here)} in the folder, or others'}")
        print(f"answers of {len(QUESTIONS)} questions: {'the same' if answers(alone) == answers(PLACE) else 'MISSED'}")


def main() -> None:
    """Read the arguments, measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("check", "build"))
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--answers", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, nargs="+", default=[2], help="of Ray, for check: a run of each number")
    parser.add_argument("--kills", action="store_true", help="check once more with workers and the command killed")
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--records", type=int, default=300_000)
    parser.add_argument("--files", type=int, default=30)
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    {"check": check, "build": build}[given.what](given)


if __name__ == "__main__":
    main()
