"""Many answers or questions in one job, on disk: a service that is killed goes on with it, and does nothing twice."""

from __future__ import annotations

import json
import logging
import re
import shutil
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import Any

from vericite.disk.files import write_whole
from vericite.disk.jobs import Job, Lines
from vericite.errors import InputError, VeriCiteError
from vericite.records import Record, to_json
from vericite.serve.bodies import AnswerBody, AskBody, JobBody, parsed_job
from vericite.serve.engine import Stopped, Work, at_work
from vericite.serve.service import Service

_LOG = logging.getLogger(__name__)
_ID = re.compile(r"[0-9a-f]{32}")
KEPT = 500
"""Jobs that are done; the oldest go first."""
_REQUEST, _RESULTS, _CANCELLED = "request.json", "results.jsonl", "cancelled"


class Result(Record):
    """What became of an item: the record it was answered with, or why there is none."""

    item: int
    value: dict[str, Any] | None = None
    problem: str | None = None


class NoSuchJob(InputError):
    """There is no job of an id."""

    def __init__(self, id: str) -> None:
        super().__init__(f"expected the id of a job; found {id[:40]!r}")


class Jobs:
    """The jobs of a folder, worked on one after the other by a thread."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._folder = service.state / "jobs"
        self._queue: SimpleQueue[str | None] = SimpleQueue()
        self._work: dict[str, Work] = {}
        self._lock = Lock()
        self._closing = Event()
        self._thread = Thread(target=self._serve, name="jobs", daemon=True)

    def start(self) -> None:
        """Go on with what was not done."""
        for folder in sorted(self._folder.iterdir(), key=lambda it: it.stat().st_mtime):
            if not _ID.fullmatch(folder.name):
                continue
            try:
                finished = self.state(folder.name)["finished"]
            except (NoSuchJob, OSError, InputError) as error:
                # Of a kill before it was taken, or of a version that wrote jobs otherwise: it must not end the service.
                _LOG.warning("the job %s cannot be read and is passed over: %s", folder.name, error)
                continue
            if not finished:
                self._queue.put(folder.name)
        self._thread.start()

    def close(self) -> None:
        """Stop after the item at hand; the next start goes on."""
        self._closing.set()
        for work in list(self._work.values()):
            work.stop("shutting down")
        self._queue.put(None)
        if self._thread.is_alive():
            self._thread.join(timeout=2)

    def add(self, body: JobBody) -> str:
        """Take a job; it is on disk when this returns."""
        limit = self._service.offer.limits.items
        if len(body.items) > limit:
            raise InputError(f"expected at most {limit:,} items in a job; found {len(body.items):,}")
        id = uuid.uuid4().hex
        folder = self._folder / id
        folder.mkdir(mode=0o700)
        write_whole(folder / _REQUEST, [to_json(body) + "\n"])
        self._queue.put(id)
        self._prune()
        return id

    def cancel(self, id: str) -> dict[str, Any]:
        """Do no more of a job, and say how far it is; one that is finished stays as it is."""
        state = self.state(id)
        if state["finished"]:
            return state
        write_whole(self._place(id) / _CANCELLED, ["\n"])
        if (work := self._work.get(id)) is not None:
            work.stop("cancelled")
        return self.state(id)

    def state(self, id: str) -> dict[str, Any]:
        """How far a job is."""
        folder = self._place(id)
        items = len(self._body(folder).items)
        done = _lines(folder / _RESULTS)
        # Its last item may have been done just before it was told.
        cancelled = done < items and (folder / _CANCELLED).exists()
        return {"id": id, "items": items, "done": done, "cancelled": cancelled, "finished": cancelled or done >= items}

    def results(self, id: str) -> Iterator[str]:
        """The results so far, a line each."""
        path = self._place(id) / _RESULTS
        if path.exists():
            with path.open(encoding="utf-8") as file:
                yield from (line for line in file if line.endswith("\n"))

    def _prune(self) -> None:
        """Remove the oldest jobs that are done, where there are too many."""
        folders = [folder for folder in self._folder.iterdir() if _ID.fullmatch(folder.name)]
        for folder in sorted(folders, key=lambda it: it.stat().st_mtime)[:-KEPT]:
            try:
                finished = self.state(folder.name)["finished"]
            except (NoSuchJob, OSError, InputError):
                continue
            if finished and folder.name not in self._work:
                shutil.rmtree(folder, ignore_errors=True)

    def _place(self, id: str) -> Path:
        if not _ID.fullmatch(id) or not (self._folder / id / _REQUEST).exists():
            raise NoSuchJob(id)
        return self._folder / id

    @staticmethod
    def _body(folder: Path) -> JobBody:
        return parsed_job((folder / _REQUEST).read_bytes())

    def _serve(self) -> None:
        while (id := self._queue.get()) is not None and not self._closing.is_set():
            work = self._work[id] = Work()
            try:
                with at_work(work):
                    self._run(id)
            except Stopped as stopped:
                _LOG.info("job %s stopped: %s", id, stopped)
            except Exception:  # a job that cannot be done must not keep the others waiting
                _LOG.exception("job %s failed", id)
            finally:
                del self._work[id]

    def _run(self, id: str) -> None:
        folder = self._place(id)
        body = self._body(folder)
        lines = Lines(folder / _RESULTS, Result)
        job = Job(folder, folder / "manifest.json", folder / ".lock", {"kind": body.kind}, "a job")
        if not job.manifest.exists():
            job.note({"items": len(body.items)})
        with job.open():
            done = {result.item for result in lines.read()}
            left = [(number, item) for number, item in enumerate(body.items) if number not in done]
            for result in self._results(left):
                if (folder / _CANCELLED).exists():
                    raise Stopped("cancelled")
                lines.append([result])
            job.note({"items": len(body.items), "finished": True})

    def _results(self, items: Sequence[tuple[int, AnswerBody | AskBody]]) -> Iterator[Result]:
        for number, item in items:
            try:
                if isinstance(item, AskBody):
                    value: Record = self._service.ask(item)
                else:
                    value = self._service.check(item, keep=False).checked
            except VeriCiteError as error:
                yield Result(item=number, problem=str(error))
            except Exception:  # an item that cannot be done costs itself, and would fail again after a restart
                _LOG.exception("an item of a job failed")
                yield Result(item=number, problem="the service failed at this item; its log says why")
            else:
                yield Result(item=number, value=json.loads(to_json(value)))


def _lines(path: Path) -> int:
    if not path.exists():
        return 0
    with path.open("rb") as file:
        return sum(line.endswith(b"\n") for line in file)
