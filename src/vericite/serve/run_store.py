"""The latest runs, one file each: a summary on the first line, the run on the second, a digest of both on the third.

The copy of a manuscript with comments is a file next to it.
"""

from __future__ import annotations

import json
import re
import time
import uuid
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from vericite.disk.files import NotWritten, write_bytes, write_whole
from vericite.errors import InputError
from vericite.records import Record, Run, to_json
from vericite.records.digests import line_digest
from vericite.records.results import quoted_by_repair
from vericite.serve.bodies import Checked, CheckedManuscript, RepairedBody

KEPT, KEPT_BYTES = 500, 2_000_000_000
"""Number and bytes of runs to keep; the oldest are deleted first."""
_ID = re.compile(r"[0-9a-f]{32}")
_SHOWN = ("supported", "quoted", "contradicted", "irrelevant", "dangling", "abstained", "failed", "uncited")

StoredRun = Run | RepairedBody | Checked | CheckedManuscript
"""A run. Generated clients take the first type that fits, so that one with fewer fields comes after its extension."""
_KINDS: dict[str, type[StoredRun]] = {
    "ask": Run,
    "check": Checked,
    "repair": RepairedBody,
    "manuscript": CheckedManuscript,
}


class NoSuchRun(InputError):
    """No stored run has this id."""

    def __init__(self, id: str, what: str = "") -> None:
        super().__init__(f"expected the id of a stored run{what}; found {id[:40]!r}")


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

    def keep(self, record: StoredRun, copy: bytes | None = None) -> str:
        """Store a run, with the copy of its manuscript, and return its id."""
        id = uuid.uuid4().hex
        kind = next(name for name, type_ in _KINDS.items() if isinstance(record, type_))
        entry = RunEntry(id=id, kind=kind, title=title_of(record)[:200], at=time.time(), counts=_counts(record))
        text = f"{to_json(entry)}\n{to_json(record)}\n"
        if copy is not None:
            write_bytes(self._copy(id), copy)
        try:
            write_whole(self._file(id), [text, line_digest(text.encode()) + "\n"])
        except NotWritten:
            self._copy(id).unlink(missing_ok=True)
            raise
        left = KEPT_BYTES
        for number, file in enumerate(sorted(self._folder.glob("*.json"), key=_age, reverse=True)):
            left -= _size(file) + _size(self._copy(file.stem))
            if number >= KEPT or (number and left < 0):
                file.unlink(missing_ok=True)
                self._copy(file.stem).unlink(missing_ok=True)
        return id

    def copy_of(self, id: str) -> bytes:
        """Return the copy with comments of a run's manuscript.

        Raises:
            NoSuchRun: No stored run with a copy has this id.
        """
        try:
            return self._copy(self._file(id).stem).read_bytes()
        except OSError:
            raise NoSuchRun(id, " with a copy of a manuscript") from None

    def get(self, id: str) -> StoredRun:
        """Return a run.

        Raises:
            NoSuchRun: No stored run has this id, or its file is damaged.
        """
        try:
            content = self._file(id).read_bytes()
        except OSError:
            raise NoSuchRun(id) from None
        head, _, rest = content.rstrip(b"\n").partition(b"\n")
        record, _, digest = rest.partition(b"\n")
        # Earlier versions wrote no digest.
        if digest and line_digest(head + b"\n" + record) != digest.decode("ascii", "replace"):
            raise DamagedRun(id)
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
            self._copy(id).unlink(missing_ok=True)
        except FileNotFoundError:
            raise NoSuchRun(id) from None
        except OSError as error:
            raise NotWritten(f"expected permission to delete the run; found: {error.strerror}", error) from None

    def recent(self, most: int = 50, words: str = "") -> list[RunEntry]:
        """Return summaries of the latest runs, newest first: of those whose question or answer has all these words."""
        wanted = words.casefold().split()
        found: list[RunEntry] = []
        for file in sorted(self._folder.glob("*.json"), key=_age, reverse=True):
            if len(found) == most:
                break
            with suppress(InputError, OSError, ValidationError):
                if not wanted or self._has(file, wanted):
                    found.append(self.entry(file.stem))
        return found

    def entry(self, id: str) -> RunEntry:
        """Return the summary of a run.

        Raises:
            NoSuchRun: No stored run has this id.
        """
        try:
            with self._file(id).open(encoding="utf-8") as lines:
                return RunEntry.model_validate_json(lines.readline(10_000))
        except FileNotFoundError:
            raise NoSuchRun(id) from None

    def _has(self, file: Path, wanted: Sequence[str]) -> bool:
        # A run is only parsed if the words are anywhere in its file, where quotation marks are escaped.
        raw = file.read_text(encoding="utf-8").casefold()
        if not all(json.dumps(word, ensure_ascii=False)[1:-1] in raw for word in wanted):
            return False
        run = self.get(file.stem)
        text = f"{title_of(run)}\n{run.answer.text}".casefold()
        return all(word in text for word in wanted)

    def _copy(self, id: str) -> Path:
        return self._folder / f"{id}.copy"

    def _file(self, id: str) -> Path:
        if not _ID.fullmatch(id):
            raise NoSuchRun(id)
        return self._folder / f"{id}.json"


def title_of(run: StoredRun) -> str:
    """Return the title of a run."""
    if isinstance(run, Run):
        return run.question.text
    if isinstance(run, CheckedManuscript):
        return run.findings.title or run.findings.name
    return (run.answer.question or run.answer.text).strip() or "A checked answer"


def _counts(record: StoredRun) -> dict[str, int]:
    """Count citations by verdict; sentences that repair replaced by quotations count separately as ``quoted``."""
    summary = record.checked.summary
    quoted = 0 if isinstance(record, Checked | CheckedManuscript) else len(quoted_by_repair(record.changes))
    quoted = min(quoted, summary.supported)
    counts = {name: getattr(summary, name) for name in _SHOWN}
    counts |= {"supported": summary.supported - quoted, "quoted": summary.quoted + quoted}
    return {name: count for name, count in counts.items() if count}


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0


def _age(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0
