"""Jobs of many answers or questions, kept on disk: after a restart the service continues where it stopped.

A job is a folder with its items (one per line), its results so far, and a small file with the number of items, so that
reading the state does not read the items.
"""

from __future__ import annotations

import json
import logging
import re
import shutil
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread
from typing import Any, Literal, Self

from pydantic import ValidationError

# pydantic requires this one on Python 3.11.
from typing_extensions import TypedDict

from vericite.disk.files import Held, NotWritten, only_one, write_whole
from vericite.disk.jobs import Lines
from vericite.errors import InputError, VeriCiteError
from vericite.records import Record, to_json
from vericite.records.digests import as_entries, digests_file, known_digests, line_digest
from vericite.serve.bodies import AnswerBody, AskBody, parse_body, parse_job
from vericite.serve.engine import Stopped, Work, at_work
from vericite.serve.gate import Refused
from vericite.serve.service import Service

_LOG = logging.getLogger(__name__)
_ID = re.compile(r"[0-9a-f]{32}")
KEPT, MAX_WAITING = 500, 500
"""Number of finished jobs to keep (the oldest are deleted first), and maximum number of unfinished jobs."""
LOOK_SECONDS = 5.0
"""Seconds between an idle service's searches for unfinished jobs, left by a killed service or a full disk."""
_HEAD, _ITEMS, _RESULTS, _CANCELLED, _FAILED = "job.json", "items.jsonl", "results.jsonl", "cancelled", "failed"
_NO_ROOM = "expected free space on the service's disk; found none. The job continues when there is some"
_DAMAGED = "expected the result as it was written; found it damaged on the service's disk"
_DAMAGED_ITEM = "expected the item as it was sent; found it lost or damaged on the service's disk"
_DAMAGED_JOB = "expected the job as it was written; found it damaged on the service's disk. Send the job again"


class JobHead(Record):
    """Kind and size of a job, and a digest of both."""

    kind: Literal["check", "ask"]
    items: int
    digest: str

    @classmethod
    def of(cls, kind: Literal["check", "ask"], items: int) -> Self:
        """Make the head of a job."""
        return cls(kind=kind, items=items, digest=line_digest(f"{kind} {items}".encode()))

    @property
    def is_intact(self) -> bool:
        """Whether it is as it was made."""
        return self == self.of(self.kind, self.items)


class JobState(TypedDict):
    """Progress of a job. ``problem`` says why it cannot continue: for now, or permanently if it is finished."""

    id: str
    items: int
    done: int
    cancelled: bool
    finished: bool
    problem: str | None


class Result(Record):
    """Result of an item: its record, or the problem."""

    item: int
    value: dict[str, Any] | None = None
    problem: str | None = None


class DamagedJob(InputError):
    """The head of a job is not as it was written."""


class NoSuchJob(InputError):
    """No job has this id."""

    def __init__(self, id: str) -> None:
        super().__init__(f"expected the id of a job; found {id[:40]!r}")


@dataclass
class _LineCounter:
    """Counts the complete lines of a growing file; each call reads only what was added."""

    read: int = 0
    lines: int = 0

    def count(self, path: Path) -> int:
        """Return the current number of lines."""
        try:
            with path.open("rb") as file:
                if file.seek(0, 2) < self.read:
                    self.read = self.lines = 0
                file.seek(self.read)
                while block := file.read(1 << 20):
                    self.read += len(block)
                    self.lines += block.count(b"\n")
        except FileNotFoundError:
            self.read = self.lines = 0
        return self.lines


class Jobs:
    """Jobs in a folder, run one after the other by a thread.

    Args:
        service: Runs the items.
        on_end: Called when a job ends or pauses.
    """

    def __init__(self, service: Service, on_end: Callable[[], None] = lambda: None) -> None:
        self._service = service
        self._on_end = on_end
        self._folder = service.state / "jobs"
        self._queue: SimpleQueue[str | None] = SimpleQueue()
        self._work: dict[str, Work] = {}
        self._counters: dict[str, _LineCounter] = {}
        self._disk_full: set[str] = set()
        self._lock = Lock()
        self._closing = Event()
        self._thread = Thread(target=self._serve, name="jobs", daemon=True)

    def start(self) -> None:
        """Start the thread, which continues unfinished jobs."""
        for folder in self._folders():
            if not (folder / _HEAD).exists():
                # The service was killed before it accepted the job, or an earlier version wrote it.
                _LOG.warning("the job %s cannot be read and is skipped", folder.name)
        self._thread.start()

    def close(self) -> None:
        """Stop the current item; the next start continues."""
        self._closing.set()
        for work in list(self._work.values()):
            work.stop("shutting down")
        self._queue.put(None)
        if self._thread.is_alive():
            self._thread.join(timeout=2)

    def add(self, raw: bytes) -> str:
        """Save a new job to disk and queue it; return its id.

        Raises:
            InputError: The job is invalid or exceeds a limit.
            Refused: Too many jobs are unfinished.
        """
        limits = self._service.offer.limits
        body = parse_job(raw, limits.items, limits.job_documents)
        id = uuid.uuid4().hex
        folder = self._folder / id
        with self._lock:
            self._make_room(len(raw))
            try:
                folder.mkdir(mode=0o700)
                lines = [to_json(item) for item in body.items]
                write_whole(folder / _ITEMS, (f"{line}\n" for line in lines))
                write_whole(digests_file(folder / _ITEMS), [as_entries(line.encode() for line in lines)])
                # Written last: a folder with this file is a complete job.
                write_whole(folder / _HEAD, [to_json(JobHead.of(body.kind, len(lines))) + "\n"])
            except OSError as error:
                raise NotWritten(f"expected a folder to write to; found {folder}: {error.strerror}", error) from None
            finally:
                if not (folder / _HEAD).exists():
                    shutil.rmtree(folder, ignore_errors=True)
        self._queue.put(id)
        return id

    def cancel(self, id: str) -> JobState:
        """Cancel a job unless it is finished, and return its state."""
        state = self.state(id)
        if state["finished"]:
            return state
        write_whole(self._job_folder(id) / _CANCELLED, ["\n"])
        if (work := self._work.get(id)) is not None:
            work.stop("cancelled")
        return self.state(id)

    def state(self, id: str) -> JobState:
        """Return the progress of a job."""
        folder = self._job_folder(id)
        try:
            items = self._head(folder).items
        except DamagedJob as error:
            return {"id": id, "items": 0, "done": 0, "cancelled": False, "finished": True, "problem": str(error)}
        done = self._counters.setdefault(id, _LineCounter()).count(folder / _RESULTS)
        # The last item may have been finished just before the cancellation.
        cancelled = done < items and (folder / _CANCELLED).exists()
        problem = (folder / _FAILED).read_text(encoding="utf-8").strip() if (folder / _FAILED).exists() else None
        return {
            "id": id,
            "items": items,
            "done": done,
            "cancelled": cancelled,
            # A job with a result for each item is at work until the results have been read back.
            "finished": cancelled or problem is not None or (done >= items and id not in self._work),
            "problem": problem or (_NO_ROOM if id in self._disk_full else None),
        }

    def results(self, id: str) -> Iterator[bytes]:
        """Yield the results so far, one per line; report a damaged result in its place."""
        path = self._job_folder(id) / _RESULTS
        if path.exists():
            written = _ResultReader(path)
            with path.open("rb") as file:
                for number, line in enumerate(file):
                    if line.endswith(b"\n"):
                        is_good = written.result(line) is not None
                        yield line if is_good else f"{to_json(Result(item=number, problem=_DAMAGED))}\n".encode()

    def _folders(self) -> list[Path]:
        """Return the folders of jobs, least recently changed first."""
        found: list[tuple[float, Path]] = []
        for folder in self._folder.iterdir():
            if _ID.fullmatch(folder.name):
                try:
                    found.append((folder.stat().st_mtime, folder))
                except OSError:  # another server removed it
                    continue
        return [folder for _, folder in sorted(found)]

    def _is_finished(self, id: str) -> bool | None:
        """Whether a job is finished; None if it cannot be read."""
        try:
            return self.state(id)["finished"]
        except (NoSuchJob, OSError, ValueError):
            return None

    def _make_room(self, size: int) -> None:
        """Delete the oldest finished jobs if jobs are too many or too large.

        Raises:
            Refused: The unfinished jobs alone are too many or too large.
        """
        limits = self._service.offer.limits
        done: list[tuple[Path, int]] = []
        waiting = [size]
        for folder in self._folders():
            finished = self._is_finished(folder.name)
            if finished and folder.name not in self._work:
                done.append((folder, _bytes_of(folder)))
            elif finished is False:
                waiting.append(_bytes_of(folder))
        if sum(waiting) > limits.waiting_bytes or len(waiting) > MAX_WAITING:
            raise Refused(
                429,
                f"expected at most {MAX_WAITING} unfinished jobs with {limits.waiting_bytes:,} bytes in total; found "
                f"{len(waiting)} jobs and {sum(waiting):,} bytes with this one. Send it again when some are finished",
                {"retry-after": "60"},
            )
        kept = sum(waiting) + sum(bytes for _, bytes in done)
        over = len(done) + 1 - KEPT
        for folder, bytes in done:
            if over <= 0 and kept <= limits.kept_bytes:
                break
            shutil.rmtree(folder, ignore_errors=True)
            self._counters.pop(folder.name, None)
            over, kept = over - 1, kept - bytes

    def _job_folder(self, id: str) -> Path:
        if not _ID.fullmatch(id) or not (self._folder / id / _HEAD).exists():
            raise NoSuchJob(id)
        return self._folder / id

    @staticmethod
    def _head(folder: Path) -> JobHead:
        try:
            head = JobHead.model_validate_json((folder / _HEAD).read_bytes())
        except OSError:
            raise NoSuchJob(folder.name) from None
        except ValidationError:
            raise DamagedJob(_DAMAGED_JOB) from None
        if not head.is_intact:
            raise DamagedJob(_DAMAGED_JOB)
        return head

    def _serve(self) -> None:
        timeout = 0.0
        while not self._closing.is_set():
            try:
                id = self._queue.get(timeout=timeout)
            except Empty:
                # Pick up jobs of a killed service and jobs that a full disk stopped.
                timeout = LOOK_SECONDS
                self._queue_unfinished()
                continue
            if id is not None and not self._closing.is_set():
                self._run_job(id)

    def _queue_unfinished(self) -> None:
        try:
            for folder in self._folders():
                if self._is_finished(folder.name) is False:
                    self._queue.put(folder.name)
        except OSError as error:
            _LOG.warning("the folder of jobs cannot be read: %s", error.strerror)

    def _run_job(self, id: str) -> None:
        work = self._work[id] = Work()
        self._disk_full.discard(id)
        try:
            with at_work(work), only_one(self._job_folder(id), ".lock", "works in"):
                self._run(id)
        except (Held, NoSuchJob, DamagedJob):  # another server runs it, it was removed, or its state says why
            pass
        except Stopped as stopped:
            _LOG.info("job %s stopped: %s", id, stopped)
        except NotWritten as error:
            _LOG.warning("job %s waits: %s", id, error)
            self._disk_full.add(id)
        except Exception:  # a job that fails must not block the others
            _LOG.exception("job %s failed", id)
            self._fail(id, "the service failed at this job; its log says why")
        finally:
            del self._work[id]
            self._on_end()

    def _fail(self, id: str, problem: str) -> None:
        try:
            write_whole(self._folder / id / _FAILED, [problem + "\n"])
        except InputError as error:
            _LOG.warning("job %s: %s", id, error)

    def _run(self, id: str) -> None:
        folder = self._job_folder(id)
        head = self._head(folder)
        lines = Lines(folder / _RESULTS, Result, digests=True)
        # The second pass repeats items whose results were damaged meanwhile.
        for _ in range(2):
            done = self._readable(id, lines)
            if len(done) >= head.items:
                return
            for result in self._results(folder / _ITEMS, head, done):
                if (folder / _CANCELLED).exists():
                    raise Stopped("cancelled")
                lines.append([result])
        if len(self._readable(id, lines)) < head.items:
            self._fail(id, "expected the results as they were written; found them damaged on the service's disk again")

    def _readable(self, id: str, lines: Lines[Result]) -> set[int]:
        """Return the items that have a result; remove damaged lines, so that their items are run again."""
        if not lines.path.exists():
            return set()
        good: set[int] = set()
        damaged = 0
        written = _ResultReader(lines.path)
        with lines.path.open("rb") as file:
            for line in file:
                if (result := written.result(line)) is None or result.item in good:
                    damaged += 1
                else:
                    good.add(result.item)
        if damaged:
            _LOG.warning("job %s: %d results are damaged and are made again", id, damaged)
            lines.replace(_first_of_each(lines.path))
            self._counters.pop(id, None)
        return good

    def _results(self, path: Path, head: JobHead, done: set[int]) -> Iterator[Result]:
        """Yield results for the items without one."""
        kind = AskBody if head.kind == "ask" else AnswerBody
        # By its digest an item has its own number, even if a line before it was damaged.
        numbers: dict[str, list[int]] = {}
        for number, digest in reversed(list(enumerate(_digests_in_order(path)))):
            numbers.setdefault(digest, []).append(number)
        found: set[int] = set()
        with path.open("rb") as file:
            for line in file:
                own = numbers.get(line_digest(line))
                if own:
                    found.add(number := own.pop())
                    if number < head.items and number not in done:
                        yield self._run_item(number, kind, line)
        for lost in range(head.items):
            if lost not in done and lost not in found:
                yield Result(item=lost, problem=_DAMAGED_ITEM)

    def _run_item(self, number: int, kind: type[AskBody | AnswerBody], line: bytes) -> Result:
        try:
            item = parse_body(kind, line, "an item")
            if isinstance(item, AskBody):
                value: Record = self._service.ask(item)
            else:
                value = self._service.check(item, keep=False, max_pairs=self._service.offer.limits.job_pairs).checked
        except NotWritten:
            raise
        except VeriCiteError as error:
            return Result(item=number, problem=str(error))
        except Exception:  # costs only this item, which would fail again after a restart
            _LOG.exception("an item of a job failed")
            return Result(item=number, problem="the service failed at this item; its log says why")
        return Result(item=number, value=json.loads(to_json(value)))


def _digests_in_order(path: Path) -> list[str]:
    try:
        return digests_file(path).read_text(encoding="ascii", errors="replace").split()
    except FileNotFoundError:
        return []


class _ResultReader:
    """Parses results of a file and recognizes damaged ones by their digests."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._digests = known_digests(path)

    def result(self, line: bytes) -> Result | None:
        """Parse a line; None if it is damaged or incomplete."""
        if not line.endswith(b"\n") or not self._is_known(line_digest(line)):
            return None
        try:
            return Result.model_validate_json(line)
        except ValidationError:
            return None

    def _is_known(self, digest: str) -> bool:
        if self._digests is not None and digest not in self._digests:
            # The line may be new: its digest is written before it.
            self._digests = known_digests(self._path)
        # Earlier versions stored no digests of results.
        return self._digests is None or digest in self._digests


def _first_of_each(path: Path) -> Iterator[Result]:
    """Yield the undamaged results of a file, one per item."""
    seen: set[int] = set()
    written = _ResultReader(path)
    with path.open("rb") as file:
        for line in file:
            if (result := written.result(line)) is not None and result.item not in seen:
                seen.add(result.item)
                yield result


def _bytes_of(folder: Path) -> int:
    try:
        return sum(file.stat().st_size for file in folder.iterdir())
    except OSError:
        return 0
