"""Many answers or questions in one job, on disk: a service that is killed goes on with it, and does nothing twice.

A job is a folder: its items a line each, what a state needs to know of them in a small file of its own, and the results
so far. A state never reads the items again.
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
from typing import Any, Literal

from pydantic import ValidationError

# pydantic's own: that of Python 3.11 lacks what it asks for.
from typing_extensions import TypedDict

from vericite.disk.files import Held, NotWritten, only_one, write_whole
from vericite.disk.jobs import Lines
from vericite.errors import InputError, VeriCiteError
from vericite.records import Record, to_json
from vericite.records.digests import known_digests, line_digest
from vericite.serve.bodies import AnswerBody, AskBody, parsed, parsed_job
from vericite.serve.engine import Stopped, Work, at_work
from vericite.serve.gate import Refused
from vericite.serve.service import Service

_LOG = logging.getLogger(__name__)
_ID = re.compile(r"[0-9a-f]{32}")
KEPT, MOST_WAITING = 500, 500
"""Jobs that are done, of which the oldest go first; and jobs that are not, beyond which none is taken."""
LOOK_SECONDS = 5.0
"""Seconds after which a service without work looks for jobs that another left, or that had no room on the disk."""
_HEAD, _ITEMS, _RESULTS, _CANCELLED, _FAILED = "job.json", "items.jsonl", "results.jsonl", "cancelled", "failed"
_NO_ROOM = "expected room on the service's disk; found none. The job goes on when there is some"
_DAMAGED = "expected the result as it was written; found it damaged on the service's disk"


class JobHead(Record):
    """What is known of a job without reading its items."""

    kind: Literal["check", "ask"]
    items: int


class JobState(TypedDict):
    """How far a job is. ``problem`` says why it cannot go on: for good where it is finished."""

    id: str
    items: int
    done: int
    cancelled: bool
    finished: bool
    problem: str | None


class Result(Record):
    """What became of an item: the record it was answered with, or why there is none."""

    item: int
    value: dict[str, Any] | None = None
    problem: str | None = None


class NoSuchJob(InputError):
    """There is no job of an id."""

    def __init__(self, id: str) -> None:
        super().__init__(f"expected the id of a job; found {id[:40]!r}")


@dataclass
class _Counted:
    """The whole lines of a file that grows, as far as it was read."""

    read: int = 0
    lines: int = 0

    def of(self, path: Path) -> int:
        """How many there are now."""
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
    """The jobs of a folder, worked on one after the other by a thread.

    Args:
        service: Does the work.
        on_end: Called when a job is done, or no more is done of it for now.
    """

    def __init__(self, service: Service, on_end: Callable[[], None] = lambda: None) -> None:
        self._service = service
        self._on_end = on_end
        self._folder = service.state / "jobs"
        self._queue: SimpleQueue[str | None] = SimpleQueue()
        self._work: dict[str, Work] = {}
        self._counted: dict[str, _Counted] = {}
        self._without_room: set[str] = set()
        self._lock = Lock()
        self._closing = Event()
        self._thread = Thread(target=self._serve, name="jobs", daemon=True)

    def start(self) -> None:
        """Go on with what was not done."""
        for folder in self._folders():
            if not (folder / _HEAD).exists():
                # Of a kill before it was taken, or of a version that wrote jobs otherwise.
                _LOG.warning("the job %s cannot be read and is passed over", folder.name)
        self._thread.start()

    def close(self) -> None:
        """Stop after the item at hand; the next start goes on."""
        self._closing.set()
        for work in list(self._work.values()):
            work.stop("shutting down")
        self._queue.put(None)
        if self._thread.is_alive():
            self._thread.join(timeout=2)

    def add(self, raw: bytes) -> str:
        """Take a job; it is on disk when this returns.

        Raises:
            InputError: It is none, or larger than the limits allow.
            Refused: Too much waits already.
        """
        limits = self._service.offer.limits
        body = parsed_job(raw, limits.items, limits.job_documents)
        id = uuid.uuid4().hex
        folder = self._folder / id
        with self._lock:
            self._make_room(len(raw))
            try:
                folder.mkdir(mode=0o700)
                write_whole(folder / _ITEMS, (to_json(item) + "\n" for item in body.items))
                # With this it is a job.
                write_whole(folder / _HEAD, [to_json(JobHead(kind=body.kind, items=len(body.items))) + "\n"])
            except OSError as error:
                raise NotWritten(f"expected a folder to write to; found {folder}: {error.strerror}", error) from None
            finally:
                if not (folder / _HEAD).exists():
                    shutil.rmtree(folder, ignore_errors=True)
        self._queue.put(id)
        return id

    def cancel(self, id: str) -> JobState:
        """Do no more of a job, and say how far it is; one that is finished stays as it is."""
        state = self.state(id)
        if state["finished"]:
            return state
        write_whole(self._place(id) / _CANCELLED, ["\n"])
        if (work := self._work.get(id)) is not None:
            work.stop("cancelled")
        return self.state(id)

    def state(self, id: str) -> JobState:
        """How far a job is; ``problem`` says why it cannot go on, for good where it is finished."""
        folder = self._place(id)
        items = self._head(folder).items
        done = self._counted.setdefault(id, _Counted()).of(folder / _RESULTS)
        # Its last item may have been done just before it was told.
        cancelled = done < items and (folder / _CANCELLED).exists()
        problem = (folder / _FAILED).read_text(encoding="utf-8").strip() if (folder / _FAILED).exists() else None
        return {
            "id": id,
            "items": items,
            "done": done,
            "cancelled": cancelled,
            "finished": cancelled or done >= items or problem is not None,
            "problem": problem or (_NO_ROOM if id in self._without_room else None),
        }

    def results(self, id: str) -> Iterator[bytes]:
        """The results so far, one per line; a damaged result is reported in its place."""
        path = self._place(id) / _RESULTS
        if path.exists():
            written = _Written(path)
            with path.open("rb") as file:
                for number, line in enumerate(file):
                    if line.endswith(b"\n"):
                        is_good = written.result(line) is not None
                        yield line if is_good else f"{to_json(Result(item=number, problem=_DAMAGED))}\n".encode()

    def _folders(self) -> list[Path]:
        """The folders of jobs, those that were not touched for longest first."""
        found: list[tuple[float, Path]] = []
        for folder in self._folder.iterdir():
            if _ID.fullmatch(folder.name):
                try:
                    found.append((folder.stat().st_mtime, folder))
                except OSError:  # another server removed it
                    continue
        return [folder for _, folder in sorted(found)]

    def _is_finished(self, id: str) -> bool | None:
        """Whether a job is finished; None of what cannot be read as one."""
        try:
            return self.state(id)["finished"]
        except (NoSuchJob, OSError, ValueError):
            return None

    def _make_room(self, size: int) -> None:
        """Remove the oldest jobs that are done, where there are too many or too large ones.

        Raises:
            Refused: Those that are not done are too many or too large already.
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
        if sum(waiting) > limits.waiting_bytes or len(waiting) > MOST_WAITING:
            raise Refused(
                429,
                f"expected at most {MOST_WAITING} jobs and {limits.waiting_bytes:,} bytes of jobs that are not done; "
                f"found {len(waiting)} jobs and {sum(waiting):,} bytes with this one. Send it again when some are done",
                {"retry-after": "60"},
            )
        kept = sum(waiting) + sum(bytes for _, bytes in done)
        over = len(done) + 1 - KEPT
        for folder, bytes in done:
            if over <= 0 and kept <= limits.kept_bytes:
                break
            shutil.rmtree(folder, ignore_errors=True)
            self._counted.pop(folder.name, None)
            over, kept = over - 1, kept - bytes

    def _place(self, id: str) -> Path:
        if not _ID.fullmatch(id) or not (self._folder / id / _HEAD).exists():
            raise NoSuchJob(id)
        return self._folder / id

    @staticmethod
    def _head(folder: Path) -> JobHead:
        try:
            return JobHead.model_validate_json((folder / _HEAD).read_bytes())
        except (OSError, ValidationError):
            raise NoSuchJob(folder.name) from None

    def _serve(self) -> None:
        timeout = 0.0
        while not self._closing.is_set():
            try:
                id = self._queue.get(timeout=timeout)
            except Empty:
                # Also those of a server that was killed, and those that had no room.
                timeout = LOOK_SECONDS
                self._look()
                continue
            if id is not None and not self._closing.is_set():
                self._work_on(id)

    def _look(self) -> None:
        try:
            for folder in self._folders():
                if self._is_finished(folder.name) is False:
                    self._queue.put(folder.name)
        except OSError as error:
            _LOG.warning("the folder of jobs cannot be read: %s", error.strerror)

    def _work_on(self, id: str) -> None:
        work = self._work[id] = Work()
        self._without_room.discard(id)
        try:
            with at_work(work), only_one(self._place(id), ".lock", "works in"):
                self._run(id)
        except (Held, NoSuchJob):  # another server works on it, or it was removed
            pass
        except Stopped as stopped:
            _LOG.info("job %s stopped: %s", id, stopped)
        except NotWritten as error:
            _LOG.warning("job %s waits: %s", id, error)
            self._without_room.add(id)
        except Exception:  # a job that cannot be done must not keep the others waiting
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
        folder = self._place(id)
        head = self._head(folder)
        lines = Lines(folder / _RESULTS, Result, digests=True)
        # A second time for results that were damaged meanwhile.
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
        """The items that have a result. Lines that are damaged are taken out, so that their items are done again."""
        if not lines.path.exists():
            return set()
        good: set[int] = set()
        damaged = 0
        written = _Written(lines.path)
        with lines.path.open("rb") as file:
            for line in file:
                if (result := written.result(line)) is None or result.item in good:
                    damaged += 1
                else:
                    good.add(result.item)
        if damaged:
            _LOG.warning("job %s: %d damaged results are made again", id, damaged)
            lines.replace(_first_of_each(lines.path))
            self._counted.pop(id, None)
        return good

    def _results(self, path: Path, head: JobHead, done: set[int]) -> Iterator[Result]:
        """The results of the items that have none yet."""
        kind = AskBody if head.kind == "ask" else AnswerBody
        with path.open("rb") as file:
            number = -1
            for number, line in enumerate(file):
                if number < head.items and number not in done:
                    yield self._done(number, kind, line)
        for lost in range(number + 1, head.items):
            if lost not in done:
                yield Result(item=lost, problem="expected the item as it was sent; found none on the service's disk")

    def _done(self, number: int, kind: type[AskBody | AnswerBody], line: bytes) -> Result:
        try:
            item = parsed(kind, line, "an item")
            if isinstance(item, AskBody):
                value: Record = self._service.ask(item)
            else:
                value = self._service.check(item, keep=False, most_pairs=self._service.offer.limits.job_pairs).checked
        except NotWritten:
            raise
        except VeriCiteError as error:
            return Result(item=number, problem=str(error))
        except Exception:  # an item that cannot be done costs itself, and would fail again after a restart
            _LOG.exception("an item of a job failed")
            return Result(item=number, problem="the service failed at this item; its log says why")
        return Result(item=number, value=json.loads(to_json(value)))


class _Written:
    """Tells the results of a file that are as they were written from damaged ones."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._digests = known_digests(path)

    def result(self, line: bytes) -> Result | None:
        """A line as a result; None where it is damaged or torn."""
        if not line.endswith(b"\n") or not self._is_known(line_digest(line)):
            return None
        try:
            return Result.model_validate_json(line)
        except ValidationError:
            return None

    def _is_known(self, digest: str) -> bool:
        if self._digests is not None and digest not in self._digests:
            # It may be of a line that was added meanwhile: a digest is written before its line.
            self._digests = known_digests(self._path)
        # Earlier versions kept no digests of results.
        return self._digests is None or digest in self._digests


def _first_of_each(path: Path) -> Iterator[Result]:
    """The results of a file that are not damaged, one of each item."""
    seen: set[int] = set()
    written = _Written(path)
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
