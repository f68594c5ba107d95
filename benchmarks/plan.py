"""All of PubMed and millions of citations, reckoned from what was measured: where adding workers stops helping.

    python benchmarks/plan.py [--documents 38000000] [--citations 10000000] [--price 0.05]

What one process must do alone, while others work for it, is measured here: the driver of ``check`` with ``workers.ray``
(parts hashed, committed, read again, parsed and written) with workers that give ready lines at once, and the writer of
``corpus build`` with ``workers.ray`` taking rows that others made. The other rates are arguments, with defaults
measured on two cores. Then queues are simulated: files or parts are done by so many workers, each after the last; the
one process takes them in order, and no worker is more than some parts ahead. ``--price`` is a core's hour.

Last comes what ranking by meaning costs: vectors of every document, made once by cores or by GPUs, or those of the
documents that words find, made for each question (``--by late``). No GPU was measured: its rate and price are assumed.
"""

from __future__ import annotations

import argparse
import heapq
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

EXAMPLES = Path(__file__).parents[1] / "examples" / "answers.jsonl"
PART = 64
VECTOR = 384 * 2
"""Bytes of a stored vector."""


class Job(NamedTuple):
    """Work in equal pieces, with what one worker and what the one process take for a piece, in seconds."""

    pieces: int
    work: float
    alone: float
    ahead: int
    after: float = 0.0


class Ready:
    """Workers that have done all before they are asked."""

    def __init__(self, lines: Sequence[bytes]) -> None:
        self._lines, self._queue = lines, list[tuple[int, int]]()

    @contextmanager
    def running(self, work: object) -> Iterator[Ready]:
        """At once."""
        yield self

    def __len__(self) -> int:
        return 2

    @property
    def is_full(self) -> bool:
        """As a pool of two."""
        return len(self._queue) >= 4

    @property
    def is_idle(self) -> bool:
        """As a pool."""
        return not self._queue

    def put(self, number: int, answers: Sequence[bytes]) -> None:
        """Take a part."""
        self._queue.append((number, len(answers)))

    def take(self) -> tuple[int, list[bytes]]:
        """Give it back."""
        number, count = self._queue.pop(0)
        return number, list(self._lines[:count])


def driver_seconds(parts: int = 20) -> tuple[float, float]:
    """Processor seconds of the driver for an answer, and citations of one."""
    from vericite.formats import answers_in
    from vericite.pipeline.build import judge_of, protocol_of, settings_of
    from vericite.pipeline.check import check_many
    from vericite.pipeline.plan import CheckPlan, ModelPlan
    from vericite.records import Answer, CheckedAnswer, to_json
    from vericite.scale import CheckWork, Parts, in_parts

    work = CheckWork(check=CheckPlan(judge="lexical"), llm=ModelPlan(cache=False))
    given = [item for item in answers_in(EXAMPLES) if isinstance(item, Answer)]
    answers = (given * PART)[:PART]
    lexical = protocol_of(work.check, judge_of(work.check, settings_of(work.llm)))
    checked = list(check_many(answers, lexical, quote=True))
    lines = [one.model_dump_json().encode() for one in checked]
    with tempfile.TemporaryDirectory() as folder, Parts(Path(folder, "parts"), work.settings()).open() as kept:
        start = time.process_time()
        made = in_parts(answers * parts, work, kept, Ready(lines))  # pyright: ignore[reportArgumentType]
        for one in made:
            to_json(CheckedAnswer.model_validate_json(one.line))
        spent = time.process_time() - start
    return spent / PART / parts, sum(one.summary.citations for one in checked) / PART


def writer_seconds(count: int = 20_000) -> float:
    """Processor seconds of the writer for a document that others have read, without indexes."""
    from vericite.corpus.store.ahead import item_of, line_of
    from vericite.corpus.store.building import new_store
    from vericite.corpus.store.place import Place
    from vericite.records import Document

    text = "The trial of one drug against another found no difference in the outcome of most patients. " * 16
    lines = [line_of(Document.from_text(str(number), text, "A trial")) for number in range(count)]
    with tempfile.TemporaryDirectory() as folder:
        store = new_store(Place(folder, Path(folder)), None, False)
        start = time.process_time()
        store.merge(store.table_of([item_of(line).row for line in lines], None))  # pyright: ignore
        return (time.process_time() - start) / count


def simulated(job: Job, workers: int) -> float:
    """Seconds until the one process has taken the last piece."""
    free = [0.0] * workers
    taken: list[float] = []
    now = 0.0
    for number in range(job.pieces):
        # A piece is begun when a worker is free, and not more than so many pieces before the one that is taken.
        window = number - workers * job.ahead
        begun = max(heapq.heappop(free), taken[window] if window >= 0 else 0.0)
        heapq.heappush(free, begun + job.work)
        now = max(now, begun + job.work) + job.alone
        taken.append(now)
    return now + job.after


def table(name: str, job: Job, price: float) -> None:
    """Hours and price by the number of workers, up to where twice as many gain less than a tenth."""
    print(f"\n{name}\n\n| workers | hours | busy of the one process | price |\n|---|---|---|---|")
    workers, before = 1, float("inf")
    while True:
        seconds = simulated(job, workers)
        busy = (job.pieces * job.alone + job.after) / seconds
        print(f"| {workers} | {seconds / 3600:.2f} | {busy:.0%} | {(workers + 1) * seconds / 3600 * price:.2f} |")
        if seconds > 0.9 * before:
            return
        workers, before = workers * 2, seconds


def meaning(given: argparse.Namespace) -> None:
    """Print what vectors of every document cost, and those that are made when a question comes."""
    stored = given.documents * (VECTOR + given.index_bytes) / 1e9
    print("\nranking by meaning\n\n| vectors of | made by | hours of one | price | GB kept | s a question adds |")
    print("|---|---|---|---|---|---|")
    for what, rate, price in (("a core", given.embed_rate, given.price), ("a GPU", given.gpu_rate, given.gpu_price)):
        hours = given.documents / rate / 3600
        print(f"| {given.documents:,} documents | {what} | {hours:.1f} | {hours * price:.2f} | {stored:.0f} | 0 |")
    for questions in given.questions:
        each = given.found / given.embed_rate
        hours = questions * each / 3600
        # What was found is kept, a question's documents once each at most.
        kept = min(given.documents, questions * given.found) * 2 * VECTOR / 1e9
        row = (f"{given.found} found for each of {questions:,} questions", "a core", f"{hours:.1f}")
        print(f"| {' | '.join(row)} | {hours * given.price:.2f} | {kept:.2f} | {each:.1f} |")
    print(f"\nlate costs as much as every document at {given.documents / given.found:,.0f} questions")


def main() -> None:
    """Measure, simulate, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=38_000_000)
    parser.add_argument("--files", type=int, default=1_270)
    parser.add_argument("--citations", type=int, default=10_000_000)
    parser.add_argument("--read-rate", type=float, default=3_000, help="records of XML a second and core")
    parser.add_argument("--embed-rate", type=float, default=21, help="abstracts a second and core")
    parser.add_argument("--check-rate", type=float, default=22, help="citations a second and core")
    parser.add_argument("--index-rate", type=float, default=23_000, help="documents a second that two cores index")
    parser.add_argument("--price", type=float, default=0.05, help="of a core's hour")
    parser.add_argument("--gpu-rate", type=float, default=3_000, help="abstracts a second and GPU, assumed")
    parser.add_argument("--gpu-price", type=float, default=2.0, help="of a GPU's hour, assumed")
    parser.add_argument("--index-bytes", type=float, default=773, help="of the vectors' index, for a document")
    parser.add_argument("--found", type=int, default=100, help="documents that are embedded for a question")
    parser.add_argument("--questions", type=int, nargs="+", default=[1_000, 100_000, 1_000_000])
    given = parser.parse_args()
    each, citations = driver_seconds()
    writing = writer_seconds()
    print(f"driver of check with Ray: {each * 1000:.2f} ms an answer with {citations:.1f} citations")
    print(f"writer of corpus build: {writing * 1e6:.0f} us a document that others have read")
    parts = round(given.citations / citations / PART)
    checking = Job(parts, PART * citations / given.check_rate, PART * each, 16)
    table(f"{given.citations:,} citations, parts of {PART} answers", checking, given.price)
    a_file, after = given.documents / given.files, given.documents / given.index_rate
    reading = Job(given.files, a_file / given.read_rate, a_file * writing, 2, after)
    table(f"{given.documents:,} documents in {given.files} files, without vectors", reading, given.price)
    vectors = reading._replace(work=a_file / given.read_rate + a_file / given.embed_rate)
    table("the same with vectors", vectors, given.price)
    meaning(given)


if __name__ == "__main__":
    main()
