"""Jobs that go on where they were: lines kept as they are made, a lock, and a manifest of the settings.

    job = Job.in_folder(folder, settings, "a run")
    lines = Lines(folder / "runs.jsonl", Run)
    with job.open():
        done = {run.question.id for run in lines.read()}
        for question in questions:
            if question.id not in done:
                lines.append([answer(question)])
        job.note({"finished": True})

A process that is killed at any moment costs the line it was writing, and nothing else.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

from pydantic import BaseModel, ValidationError

from vericite.disk.files import PARTIAL, NotWritten, only_one, sync_folder, write_whole
from vericite.errors import InputError, RecordError
from vericite.records import read_jsonl, to_json
from vericite.records.digests import CHANGED, as_entries, digests_file
from vericite.version import __version__

MANIFEST, LOCK = "manifest.json", ".lock"

_Record = TypeVar("_Record", bound=BaseModel)


class Lines(Generic[_Record]):
    """A file of records, a line each, that grows.

    Args:
        path: The file; it is made with the first line.
        kind: What a line is.
        line: How a record is written, in place of its JSON.
        digests: Whether to keep a digest of each line, so that one that is damaged is refused when it is read.
    """

    def __init__(
        self, path: Path, kind: type[_Record], line: Callable[[_Record], str] = to_json, digests: bool = False
    ) -> None:
        self.path = path
        self._kind = kind
        self._line = line
        self._digests = digests_file(path) if digests else None

    def read(self) -> list[_Record]:
        """All records. A last line that was torn as it was written is taken out of the file first.

        Raises:
            InputError: The file cannot be read and written, or another line is no such record.
        """
        if not self.path.exists():
            return []
        try:
            self._mend()
            return list(read_jsonl(self._kind, self.path))
        except OSError as error:
            raise InputError(
                f"expected a file that can be read and written; found {self.path}: {error.strerror}"
            ) from None
        except RecordError as error:
            if error.problem.startswith(CHANGED):
                raise
            raise InputError(f"{error}. Fix or remove that line, or write to another place.") from None

    def append(self, records: Iterable[_Record]) -> None:
        """Add records; they are on disk when this returns.

        Raises:
            InputError: The file cannot be written.
        """
        is_new = not self.path.exists()
        size = 0 if is_new else self.path.stat().st_size
        lines = [self._line(record) for record in records]
        try:
            # First: a line is never there without its digest, whenever the process ends.
            self._note_digests(lines)
            _append(self.path, (f"{line}\n" for line in lines))
        except OSError as error:
            # A part of a line would make one with the next.
            with suppress(OSError):
                if is_new:
                    self.path.unlink()
                else:
                    os.truncate(self.path, size)
            raise NotWritten(
                f"expected a file that can be written; found {self.path}: {error.strerror}", error
            ) from None
        if is_new:
            sync_folder(self.path.parent)

    def replace(self, records: Iterable[_Record]) -> None:
        """Have these records in the place of those that are there.

        Raises:
            InputError: The file cannot be written.
        """
        lines = [self._line(record) for record in records]
        try:
            self._note_digests(lines)
        except OSError as error:
            raise NotWritten(
                f"expected a file that can be written; found {self.path}: {error.strerror}", error
            ) from None
        write_whole(self.path, (f"{line}\n" for line in lines))

    def _note_digests(self, lines: Iterable[str]) -> None:
        if self._digests is None:
            return
        if not self._digests.exists():
            # Lines that an earlier version wrote, which kept none.
            before = self.path.read_bytes().split(b"\n") if self.path.exists() else []
            write_whole(self._digests, [as_entries(before)])
        _append(self._digests, [as_entries(line.encode() for line in lines)])

    @contextmanager
    def locked(self) -> Generator[Self]:
        """Keep other processes from adding to the file, which is made where there is none.

        Raises:
            InputError: Another process adds to it, or it cannot be written.
        """
        with only_one(self.path.parent, self.path.name, f"adds to {self.path.name} in"):
            yield self

    def _mend(self) -> None:
        """Give a last line its end, or take it out where it is torn."""
        with self.path.open("r+b") as file:
            content = file.read()
            start = content.rfind(b"\n") + 1
            if start == len(content):
                return
            # After a power cut, zeros stand for what did not reach the disk.
            last = content[start:].rstrip(b"\0")
            try:
                self._kind.model_validate_json(last)
            except ValidationError:
                # What we never wrote is not ours to cut.
                if not last.startswith(b'{"'[: len(last)]):
                    raise InputError(
                        f"expected {self.path} to have a record on each line; found another file. Name another place."
                    ) from None
                file.truncate(start)
            else:
                file.seek(start + len(last))
                file.truncate()
                file.write(b"\n")


def _append(path: Path, texts: Iterable[str]) -> None:
    with path.open("a", encoding="utf-8", newline="\n") as file:
        file.writelines(texts)
        file.flush()
        os.fsync(file.fileno())


class Job:
    """What is made by one process at a time, under the same settings from its beginning to its end.

    Args:
        place: The folder, or the file, for errors.
        manifest: The file that says by which settings it is made.
        lock: The file that whoever is at work holds.
        settings: As JSON has them.
        what: What it is, for errors: ``a run``.
        address: Where it is of which the place has a copy, for errors; None where the place is no copy.
    """

    def __init__(
        self,
        place: Path,
        manifest: Path,
        lock: Path,
        settings: Mapping[str, Any],
        what: str,
        address: str | None = None,
    ) -> None:
        self.place = place
        self.manifest = manifest
        self.settings: dict[str, Any] = json.loads(json.dumps(settings))
        self._lock = lock
        self._what = what
        self._shown = (place, manifest) if address is None else (address, f"{address}/{manifest.name}")

    @classmethod
    def in_folder(cls, folder: Path, settings: Mapping[str, Any], what: str) -> Self:
        """A folder of its own."""
        return cls(folder, folder / MANIFEST, folder / LOCK, settings, what)

    @classmethod
    def beside(cls, file: Path, settings: Mapping[str, Any], what: str) -> Self:
        """One file, with its manifest beside it; the file itself is the lock."""
        return cls(file, file.with_name(f"{file.name}.{MANIFEST}"), file, settings, what)

    @contextmanager
    def open(self) -> Generator[dict[str, Any]]:
        """Hold the job, and give the manifest that it has so far; an empty one where it begins.

        Raises:
            InputError: The place is of something else or of other settings, or another process is at work there.
        """
        self._refuse_strangers()
        doing = "works in" if self._lock != self.place else f"adds to {self.place.name} in"
        with only_one(self._lock.parent, self._lock.name, doing):
            before = self._read_manifest()
            if not before:
                self.note({})
            yield before

    def note(self, facts: Mapping[str, Any]) -> None:
        """Write the manifest: version, settings, and these facts.

        Raises:
            InputError: It cannot be written.
        """
        whole = {
            "version": __version__,
            "settings": self.settings,
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            **facts,
        }
        write_whole(self.manifest, [json.dumps(whole, indent=2, ensure_ascii=False) + "\n"])

    def _refuse_strangers(self) -> None:
        """Refuse what is there already where no manifest says what it is."""
        if self.manifest.exists():
            return
        if self.place.is_dir():
            ours = {self.manifest.name, self.manifest.name + PARTIAL, self._lock.name}
            strangers = sorted({file.name for file in self.place.iterdir()} - ours)
            found = f"{self.place} with {', '.join(strangers[:3])} in it"
        else:
            strangers = self.place.exists() and self.place.stat().st_size > 0
            found = f"no {self.manifest.name} beside what is in it"
        if strangers:
            raise InputError(
                f"expected {self.place} to be new, or of {self._what} with its {self.manifest.name}; found {found}. "
                "Name another place."
            )

    def _read_manifest(self) -> dict[str, Any]:
        if not self.manifest.exists():
            return {}
        try:
            manifest = json.loads(self.manifest.read_text(encoding="utf-8"))
            before = dict(manifest["settings"])
        except (ValueError, KeyError, TypeError, OSError) as error:
            raise InputError(
                f"expected the manifest of {self._what} in {self._shown[1]}; found {_no_manifest(error)}. Name another "
                "place, or put the file back as it was."
            ) from None
        other = sorted(name for name in before | self.settings if before.get(name) != self.settings.get(name))
        if other:
            name = other[0]
            raise InputError(
                f"expected {self._shown[0]} to be of {self._what} with the same settings; found another "
                f"{', '.join(other)}: {before.get(name)!r} there, {self.settings.get(name)!r} now. Name another place."
            )
        return manifest


def _no_manifest(error: Exception) -> str:
    """What a file is instead, by what it did to whoever read it."""
    if isinstance(error, OSError):
        return error.strerror or "that it cannot be read"
    if isinstance(error, json.JSONDecodeError):
        return f"no JSON at line {error.lineno}, column {error.colno}"
    return "text that is no UTF-8" if isinstance(error, UnicodeDecodeError) else "JSON without the settings of a job"
