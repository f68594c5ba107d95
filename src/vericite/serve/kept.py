"""The latest runs, a file each: what it is in a first line, and the run in a second."""

from __future__ import annotations

import re
import time
import uuid
from pathlib import Path

from pydantic import ValidationError

from vericite.disk.files import NotWritten, write_whole
from vericite.errors import InputError
from vericite.records import Record, Run, to_json
from vericite.records.results import quoted_by_repair
from vericite.serve.bodies import Checked, RepairedBody

KEPT = 500
"""Runs; the oldest go first."""
_ID = re.compile(r"[0-9a-f]{32}")
_SHOWN = ("supported", "quoted", "contradicted", "irrelevant", "dangling", "abstained", "failed", "uncited")

Keepable = Run | Checked | RepairedBody
_KINDS: dict[str, type[Keepable]] = {"ask": Run, "check": Checked, "repair": RepairedBody}


class NoSuchRun(InputError):
    """There is no run of an id."""

    def __init__(self, id: str) -> None:
        super().__init__(f"expected the id of a run that is kept; found {id[:40]!r}")


class RunEntry(Record):
    """What a list of runs says of one.

    ``at`` is when it was made, in seconds since 1970; ``counts`` are its citations by how they fare.
    """

    id: str
    kind: str
    title: str
    at: float
    counts: dict[str, int]


class KeptRuns:
    """The runs of a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, record: Keepable) -> str:
        """Keep a run; gives its id."""
        id = uuid.uuid4().hex
        kind = next(name for name, type_ in _KINDS.items() if isinstance(record, type_))
        entry = RunEntry(id=id, kind=kind, title=title_of(record)[:200], at=time.time(), counts=_counts(record))
        write_whole(self._file(id), [to_json(entry) + "\n", to_json(record) + "\n"])
        kept = sorted(self._folder.glob("*.json"), key=_age)
        for file in kept[:-KEPT]:
            file.unlink(missing_ok=True)
        return id

    def get(self, id: str) -> Keepable:
        """A run.

        Raises:
            NoSuchRun: There is none of this id.
        """
        try:
            head, _, text = self._file(id).read_text(encoding="utf-8").partition("\n")
            found = _KINDS[RunEntry.model_validate_json(head).kind].model_validate_json(text)
        except (OSError, ValidationError, KeyError):
            raise NoSuchRun(id) from None
        return found if isinstance(found, Run) else found.model_copy(update={"run": id})

    def forget(self, id: str) -> None:
        """Keep a run no longer.

        Raises:
            NoSuchRun: There is none of this id.
            NotWritten: The folder cannot be written.
        """
        try:
            self._file(id).unlink()
        except FileNotFoundError:
            raise NoSuchRun(id) from None
        except OSError as error:
            raise NotWritten(f"expected a run that can be deleted; found: {error.strerror}", error) from None

    def recent(self, most: int = 50) -> list[RunEntry]:
        """The latest runs, the last first."""
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


def title_of(run: Keepable) -> str:
    """What a run is called."""
    if isinstance(run, Run):
        return run.question.text
    return (run.answer.question or run.answer.text).strip() or "A checked answer"


def _counts(record: Keepable) -> dict[str, int]:
    """The citations by how they fare; those of sentences that repair quotes support themselves and count apart."""
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
