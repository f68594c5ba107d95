"""Resumable jobs: lines that are kept as they are made, a lock, and a manifest of the settings.

    job = Job.in_folder(folder, settings, "a run")
    lines = Lines(folder / "runs.jsonl", Run)
    with job.open():
        done = {run.question.id for run in lines.read()}
        for question in questions:
            if question.id not in done:
                lines.append([answer(question)])
        job.note({"finished": True})

A process that is killed loses only the line that it was writing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic, Self, TypeGuard, TypeVar

from pydantic import BaseModel, ValidationError

from vericite.disk.files import PARTIAL, NotWritten, only_one, sync_folder, write_whole
from vericite.errors import InputError, RecordError
from vericite.records import read_jsonl, to_json
from vericite.records.digests import CHANGED, as_entries, digests_file
from vericite.version import __version__

MANIFEST, LOCK = "manifest.json", ".lock"

_Record = TypeVar("_Record", bound=BaseModel)


class Lines(Generic[_Record]):
    """A growing file of records, one per line.

    Args:
        path: The file; created with the first line.
        kind: Type of the records.
        line: How to write a record. Default: JSON.
        digests: Whether to keep a digest of each line, so that damaged lines are refused when read.
    """

    def __init__(
        self, path: Path, kind: type[_Record], line: Callable[[_Record], str] = to_json, digests: bool = False
    ) -> None:
        self.path = path
        self._kind = kind
        self._line = line
        self._digests = digests_file(path) if digests else None

    def read(self) -> list[_Record]:
        """Return all records, after removing a last line that was only partly written.

        Raises:
            InputError: The file cannot be read and written, or a line is not such a record.
        """
        if not self.path.exists():
            return []
        try:
            self._repair_end()
            return list(read_jsonl(self._kind, self.path))
        except OSError as error:
            raise InputError(f"expected a readable and writable file; found {self.path}: {error.strerror}") from None
        except RecordError as error:
            if error.problem.startswith(CHANGED):
                raise
            raise InputError(f"{error}. Fix or remove that line, or choose another file.") from None

    def append(self, records: Iterable[_Record]) -> None:
        """Add records; they are on disk when this returns.

        Raises:
            InputError: The file cannot be written.
        """
        is_new = not self.path.exists()
        size = 0 if is_new else self.path.stat().st_size
        lines = [self._line(record) for record in records]
        try:
            # Digests first, so that no line is ever without one, whenever the process ends.
            self._note_digests(lines)
            _append(self.path, (f"{line}\n" for line in lines))
        except OSError as error:
            # The next line would be appended to a partial one.
            with suppress(OSError):
                if is_new:
                    self.path.unlink()
                else:
                    os.truncate(self.path, size)
            raise NotWritten(f"expected a writable file; found {self.path}: {error.strerror}", error) from None
        if is_new:
            sync_folder(self.path.parent)

    def replace(self, records: Iterable[_Record]) -> None:
        """Replace all records.

        Raises:
            InputError: The file cannot be written.
        """
        lines = [self._line(record) for record in records]
        try:
            self._note_digests(lines)
        except OSError as error:
            raise NotWritten(f"expected a writable file; found {self.path}: {error.strerror}", error) from None
        write_whole(self.path, (f"{line}\n" for line in lines))

    def _note_digests(self, lines: Iterable[str]) -> None:
        if self._digests is None:
            return
        if not self._digests.exists():
            # Lines written by an earlier version, which kept no digests.
            before = self.path.read_bytes().split(b"\n") if self.path.exists() else []
            write_whole(self._digests, [as_entries(before)])
        _append(self._digests, [as_entries(line.encode() for line in lines)])

    @contextmanager
    def locked(self) -> Generator[Self]:
        """Keep other processes from adding to the file; it is created if it does not exist.

        Raises:
            InputError: Another process adds to it, or it cannot be written.
        """
        with only_one(self.path.parent, self.path.name, f"adds to {self.path.name} in"):
            yield self

    def _repair_end(self) -> None:
        """Complete the last line with a line end, or remove it if it is incomplete."""
        with self.path.open("r+b") as file:
            content = file.read()
            start = content.rfind(b"\n") + 1
            if start == len(content):
                return
            # After a power failure, data that did not reach the disk read as zeros.
            last = content[start:].rstrip(b"\0")
            try:
                self._kind.model_validate_json(last)
            except ValidationError:
                # Do not cut what we did not write.
                if not last.startswith(b'{"'[: len(last)]):
                    raise InputError(
                        f"expected {self.path} to have a record on each line; found a different kind of file. "
                        "Choose another place."
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
    """Work done by one process at a time, with the same settings from beginning to end.

    Args:
        place: The folder or file, for errors.
        manifest: The file with the settings.
        lock: The file that the working process holds.
        settings: The settings, JSON-ready.
        what: What it is, for errors: ``a run``.
        address: If the place is a copy: the original's address, for errors.
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
        """Return a job with a folder of its own."""
        return cls(folder, folder / MANIFEST, folder / LOCK, settings, what)

    @classmethod
    def next_to(cls, file: Path, settings: Mapping[str, Any], what: str) -> Self:
        """Return a job for a single file, with the manifest next to it. The file itself is the lock."""
        return cls(file, file.with_name(f"{file.name}.{MANIFEST}"), file, settings, what)

    @contextmanager
    def open(self) -> Generator[dict[str, Any]]:
        """Hold the job, and yield its manifest so far; empty at the beginning.

        Raises:
            InputError: The place holds something else or other settings, or another process is working there.
        """
        self._refuse_other_content()
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

    def _refuse_other_content(self) -> None:
        """Refuse existing content without a manifest."""
        if self.manifest.exists():
            return
        if self.place.is_dir():
            ours = {self.manifest.name, self.manifest.name + PARTIAL, self._lock.name}
            others = sorted({file.name for file in self.place.iterdir()} - ours)
            found = f"{self.place} with {', '.join(others[:3])} in it"
        else:
            others = self.place.exists() and self.place.stat().st_size > 0
            found = f"content without {self.manifest.name}"
        if others:
            raise InputError(
                f"expected {self.place} to be new, or to hold {self._what} with its {self.manifest.name}; found "
                f"{found}. Choose another place."
            )

    def _read_manifest(self) -> dict[str, Any]:
        if not self.manifest.exists():
            return {}
        try:
            manifest = json.loads(self.manifest.read_text(encoding="utf-8"))
            before = dict(manifest["settings"])
        except (ValueError, KeyError, TypeError, OSError) as error:
            raise InputError(
                f"expected the manifest of {self._what} in {self._shown[1]}; found {_no_manifest(error)}. Choose "
                "another place, or restore the file."
            ) from None
        other = dict(_differences(before, self.settings))
        if other:
            there, now = next(iter(other.values()))
            raise InputError(
                f"expected {self._shown[0]} to hold {self._what} with the same settings; found another "
                f"{', '.join(other)}: {there} there, {now} now. "
                "Choose another place; what is there can still be read."
            )
        return manifest


def _differences(there: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the settings that differ, by name (``answer.llm``), each with both values as messages show them."""
    for name in sorted(there.keys() | now.keys()):
        before, after = there.get(name), now.get(name)
        if _is_mapping(before) and _is_mapping(after):
            yield from ((f"{name}.{inner}", values) for inner, values in _differences(before, after))
        elif before != after:
            yield name, (_shown(before), _shown(after))


def _is_mapping(value: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, Mapping)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 160 else text[:157] + "..."


def _no_manifest(error: Exception) -> str:
    """Describe the content of an invalid manifest by its error."""
    if isinstance(error, OSError):
        return error.strerror or "an unreadable file"
    if isinstance(error, json.JSONDecodeError):
        return f"invalid JSON at line {error.lineno}, column {error.colno}"
    return "text that is not UTF-8" if isinstance(error, UnicodeDecodeError) else "JSON without the settings of a job"
