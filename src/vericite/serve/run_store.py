"""The latest runs, one file each: a summary on the first line, the run on the second, a digest of both on the third."""

from __future__ import annotations

import re
import time
import uuid
from pathlib import Path

from pydantic import ValidationError

from vericite.disk.files import NotWritten, write_whole
from vericite.errors import InputError
from vericite.records import Record, Run, to_json
from vericite.records.digests import line_digest
from vericite.records.results import quoted_by_repair
from vericite.serve.bodies import Checked, RepairedBody

KEPT = 500
"""Number of runs to keep; the oldest are deleted first."""
_ID = re.compile(r"[0-9a-f]{32}")
_SHOWN = ("supported", "quoted", "contradicted", "irrelevant", "dangling", "abstained", "failed", "uncited")

StoredRun = Run | Checked | RepairedBody
_KINDS: dict[str, type[StoredRun]] = {"ask": Run, "check": Checked, "repair": RepairedBody}


class NoSuchRun(InputError):
    """No stored run has this id."""

    def __init__(self, id: str) -> None:
        super().__init__(f"expected the id of a stored run; found {id[:40]!r}")


class DamagedRun(NoSuchRun):
    """A run's file is not as it was written."""

    def __init__(self, id: str) -> None:
        super(NoSuchRun, self).__init__(f"expected run {id} as it was stored; found it damaged on the service's disk")


class RunEntry(Record):
    """Summary of a run.

    ``at`` is the time it was made, in seconds since 1970; ``counts`` are the numbers of citations by verdict.
    """

    id: str
    kind: str
    title: str
    at: float
    counts: dict[str, int]


class RunsFound(Record):
    """The latest runs."""

    runs: tuple[RunEntry, ...]


class RunStore:
    """Runs stored in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, record: StoredRun) -> str:
        """Store a run and return its id."""
        id = uuid.uuid4().hex
        kind = next(name for name, type_ in _KINDS.items() if isinstance(record, type_))
        entry = RunEntry(id=id, kind=kind, title=title_of(record)[:200], at=time.time(), counts=_counts(record))
        text = f"{to_json(entry)}\n{to_json(record)}\n"
        write_whole(self._file(id), [text, line_digest(text.encode()) + "\n"])
        kept = sorted(self._folder.glob("*.json"), key=_age)
        for file in kept[:-KEPT]:
            file.unlink(missing_ok=True)
        return id

    def get(self, id: str) -> StoredRun:
        """Return a run.

        Raises:
            NoSuchRun: No stored run has this id, or its file is damaged.
        """
        try:
            content = self._file(id).read_bytes()
        except OSError:
            raise NoSuchRun(id) from None
        text, _, digest = content.rstrip(b"\n").rpartition(b"\n")
        if line_digest(text) != digest.decode("ascii", "replace"):
            raise DamagedRun(id)
        head, _, record = text.partition(b"\n")
        try:
            found = _KINDS[RunEntry.model_validate_json(head).kind].model_validate_json(record)
        except (ValidationError, KeyError):
            raise DamagedRun(id) from None
        return found if isinstance(found, Run) else found.model_copy(update={"run": id})

    def forget(self, id: str) -> None:
        """Delete a run.

        Raises:
            NoSuchRun: No stored run has this id.
            NotWritten: The folder is not writable.
        """
        try:
            self._file(id).unlink()
        except FileNotFoundError:
            raise NoSuchRun(id) from None
        except OSError as error:
            raise NotWritten(f"expected permission to delete the run; found: {error.strerror}", error) from None

    def recent(self, most: int = 50) -> list[RunEntry]:
        """Return summaries of the latest runs, newest first."""
        found: list[RunEntry] = []
        for file in sorted(self._folder.glob("*.json"), key=_age, reverse=True)[:most]:
            try:
                with file.open(encoding="utf-8") as lines:
                    found.append(RunEntry.model_validate_json(lines.readline(10_000)))
            except (OSError, ValidationError):
                continue
        return found

    def _file(self, id: str) -> Path:
        if not _ID.fullmatch(id):
            raise NoSuchRun(id)
        return self._folder / f"{id}.json"


def title_of(run: StoredRun) -> str:
    """Return the title of a run."""
    if isinstance(run, Run):
        return run.question.text
    return (run.answer.question or run.answer.text).strip() or "A checked answer"


def _counts(record: StoredRun) -> dict[str, int]:
    """Count citations by verdict; sentences that repair replaced by quotations count separately as ``quoted``."""
    summary = record.checked.summary
    quoted = 0 if isinstance(record, Checked) else len(quoted_by_repair(record.changes))
    quoted = min(quoted, summary.supported)
    counts = {name: getattr(summary, name) for name in _SHOWN}
    counts |= {"supported": summary.supported - quoted, "quoted": summary.quoted + quoted}
    return {name: count for name, count in counts.items() if count}


def _age(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0
