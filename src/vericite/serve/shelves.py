"""Shelves: stores of documents that people build on the page, one folder each.

A shelf is a file that lists what was read into it and what is still to come, and a store next to it. A file is in the
store completely or not at all, and the list is written after it. So a shelf whose building was killed is known to be
incomplete, and is not offered to questions until the rest was added or left out.
"""

from __future__ import annotations

import hashlib
import logging
import re
import shutil
import time
import uuid
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import contextmanager, suppress
from errno import EIO
from itertools import islice
from pathlib import Path
from threading import Lock, RLock

from pydantic import Field, ValidationError

from vericite.corpus.store import Source, build_store, open_store
from vericite.corpus.store.building import require_extra
from vericite.disk.files import Held, NotWritten, only_one, write_whole
from vericite.errors import InputError, MissingExtraError
from vericite.records import Document, Record, to_json
from vericite.records.digests import line_digest
from vericite.serve.engine import check_stopped
from vericite.serve.events import BriefDocument
from vericite.serve.offer import Limits
from vericite.serve.uploads import safe_name
from vericite.text.counted import counted

MAX_NAME, MAX_FILES = 60, 1_000
"""Maximum characters of the name of a shelf, and maximum files of a shelf."""
_LOG = logging.getLogger(__name__)
_ID = re.compile(r"[0-9a-f]{32}")
_PLACE = re.compile(r"\S*[/\\]shelves[/\\][0-9a-f]{32}(?:[/\\][\w./\\-]*\w)?")
_NAME = re.compile(r"\w(?:[\w .,()+&'-]*[\w)])?")
_LIST, _STORE = "shelf.json", "store"
_PROBLEMS = 20
"""Problems of a file that are kept."""
_DAMAGED = "It is damaged on the service's disk. Remove it and make it again"
_TAKEN = "The service has a corpus of this name. Remove it, and make it again under another name"
_WAIT_SECONDS = 5
"""Maximum seconds to wait for another change of the same shelf."""
_LEFTOVER_SECONDS = 3_600
"""Age from which a folder without a list is what a killed service left."""


class NoSuchShelf(InputError):
    """No shelf has this id."""

    def __init__(self, id: str) -> None:
        super().__init__(f"expected the id of a shelf; found {id[:40]!r}")


class ShelfBusy(InputError):
    """Another request is changing the shelf."""

    def __init__(self) -> None:
        super().__init__("expected a shelf that is not being changed; found another request at it. Try again")


class NoSuchDocument(InputError):
    """A shelf has no document with this id."""

    def __init__(self, id: str) -> None:
        super().__init__(f"expected the id of a document of this shelf; found {id[:100]!r}")


class ShelfFile(Record):
    """A file that was read into a shelf: its number of documents, and problems with the rest of it.

    ``failed`` says why nothing of it could be read. ``at`` is the time, in seconds since 1970.
    """

    name: str
    documents: int
    problems: tuple[str, ...] = ()
    failed: str | None = None
    at: float
    digest: str = ""
    stem: str = ""


class ShelfList(Record):
    """What is kept of a shelf next to its store.

    ``changed`` is the time of the last change, in seconds since 1970. ``waiting`` are names of files that are still to
    come, ``adding`` the ids that are new with the file that is being written to the store.
    """

    name: str
    changed: float
    adding: tuple[str, ...] = ()
    files: tuple[ShelfFile, ...] = ()
    waiting: tuple[str, ...] = ()


class DocumentShelf(Record):
    """Documents that questions can be answered from.

    Shelves with an ``id`` were made by a client and can be changed; the others belong to the service. ``kind`` is
    ``demo``, ``pubmed``, ``store`` or ``file``. ``documents`` is null if it is not known, ``years`` if no document has
    a year; ``built`` is the time of the last change in seconds since 1970. While files are ``waiting``, the shelf is
    incomplete and is not offered as a corpus. ``problem`` says why it cannot be used.
    """

    name: str
    id: str | None = None
    kind: str = "store"
    documents: int | None = None
    years: tuple[int, int] | None = None
    built: float | None = None
    size: int | None = None
    files: tuple[ShelfFile, ...] = ()
    waiting: tuple[str, ...] = ()
    problem: str | None = None

    @property
    def is_usable(self) -> bool:
        """Whether questions can be answered from it."""
        return not self.waiting and self.problem is None and self.documents != 0


def without_places(text: str) -> str:
    """Return a message that does not say where shelves are kept."""
    return _PLACE.sub("the documents of a shelf", text)


class ShelvesFound(Record):
    """All shelves: those of the service first."""

    shelves: tuple[DocumentShelf, ...]


class ShelfBody(Record):
    """A new shelf: its name, and the names of the files that will be sent."""

    name: str = Field(max_length=200)
    files: tuple[str, ...] = ()


class WaitingBody(Record):
    """Names of the files that will be sent to a shelf; none if the shelf is to be complete as it is."""

    files: tuple[str, ...] = ()


class FileAdded(Record):
    """A file that was sent to a shelf, and the shelf after it."""

    file: ShelfFile
    shelf: DocumentShelf


class ShelvedDocuments(Record):
    """A part of the documents of a shelf, in the order in which they are stored, and the number of all."""

    documents: tuple[BriefDocument, ...]
    total: int


class Shelves:
    """Shelves in a folder. Thread-safe; several services may use the same folder.

    Args:
        folder: The folder.
        limits: Limits of the service.
        taken: Names that shelves may not have.
    """

    def __init__(self, folder: Path, limits: Limits, taken: Collection[str]) -> None:
        self._folder = folder
        self._limits = limits
        self._taken = {name.casefold() for name in taken}
        self._making = RLock()
        self._locks: dict[str, Lock] = {}
        self._described: dict[str, tuple[int, DocumentShelf]] = {}
        self._remove_leftovers()

    def all(self) -> list[DocumentShelf]:
        """Return all shelves, by name."""
        made: list[DocumentShelf] = []
        for folder in self._folders():
            # One may have been removed since they were listed.
            with suppress(NoSuchShelf):
                made.append(self._describe(folder.name))
        return sorted(made, key=lambda made: made.name.casefold())

    def get(self, id: str) -> DocumentShelf:
        """Return a shelf.

        Raises:
            NoSuchShelf: No shelf has this id.
        """
        self._path(id)
        return self._describe(id)

    @property
    def places(self) -> dict[str, str]:
        """Stores of the shelves that can be used, by name."""
        return {made.name: str(self._folder / made.id / _STORE) for made in self.all() if made.id and made.is_usable}

    def make(self, name: str, files: Sequence[str] = ()) -> DocumentShelf:
        """Make a shelf that waits for files.

        Raises:
            InputError: The name cannot be used, or there are too many shelves or files.
        """
        name = self._checked_name(name)
        self._check_waiting(files)
        require_extra()
        with self._making, _held(self._folder, ".lock"):
            there = self._folders()
            if len(there) >= self._limits.shelves:
                raise InputError(f"expected at most {self._limits.shelves} shelves; found as many. Remove one first")
            if name.casefold() in {self._read(folder.name).name.casefold() for folder in there}:
                raise InputError(f"expected another name; found a shelf named {name}")
            id = uuid.uuid4().hex
            try:
                (self._folder / id).mkdir(mode=0o700)
            except OSError as error:
                raise NotWritten(f"expected a writable folder; found {self._folder}: {error.strerror}", error) from None
            self._write(id, ShelfList(name=name, changed=time.time(), waiting=_safe_names(files)))
        return self._describe(id)

    def wait_for(self, id: str, files: Sequence[str]) -> DocumentShelf:
        """Say which files are still to come, in place of those that were named before.

        Raises:
            NoSuchShelf: No shelf has this id.
            InputError: There are too many files.
        """
        self._check_waiting(files)
        with self._changing(id) as kept:
            self._write(id, kept.model_copy(update={"waiting": _safe_names(files)}))
        return self._describe(id)

    def add(
        self, id: str, name: str, content: bytes, read: Callable[[str], tuple[list[Document], list[str]]]
    ) -> FileAdded:
        """Read a file into a shelf. A file that cannot be read is noted with the reason, and adds nothing.

        Args:
            id: The shelf.
            name: Name of the file, as ``safe_name`` gives it.
            content: The file.
            read: Reads the file, given what ids are made of for documents without one.

        Raises:
            NoSuchShelf: No shelf has this id.
            InputError: The shelf has no room for it.
        """
        self._expect_room(id, len(content))
        digest = hashlib.blake2b(content, digest_size=16).hexdigest()
        with self._changing(id) as kept:
            if len(kept.files) >= MAX_FILES:
                raise InputError(f"expected at most {MAX_FILES:,} files on a shelf; found as many. Make another shelf")
            stem = _own_stem(name, digest, kept.files)
            documents: list[Document] = []
            problems: list[str] = []
            failed = None
            try:
                documents, problems = read(stem)
                problems += self._store(id, kept, name, documents)
            except NotWritten:
                raise
            except (InputError, MissingExtraError) as error:
                failed, documents = without_places(str(error)), []
            file = ShelfFile(
                name=name,
                documents=len(documents),
                problems=_first(problems),
                failed=failed,
                at=time.time(),
                digest=digest,
                stem=stem,
            )
            waiting = list(kept.waiting)
            if name in waiting:
                waiting.remove(name)
            files = [other for other in kept.files if other.digest != digest]
            earlier = [other for other in kept.files if other.digest == digest and other.failed is None]
            # What was read before is still on the shelf if the same file could not be read again.
            files += earlier if failed and earlier else [file]
            update = {"files": tuple(files), "waiting": tuple(waiting)}
            self._write(id, kept.model_copy(update=update))
        return FileAdded(file=file, shelf=self._describe(id))

    def _store(self, id: str, kept: ShelfList, name: str, documents: Sequence[Document]) -> list[str]:
        """Write the documents of a file to the store of a shelf; return the problems with some of them.

        Raises:
            InputError: There are too many.
        """
        place = self._folder / id / _STORE
        ids = [document.id for document in documents]
        before = self._describe(id).documents or 0
        new = open_store(place).get(ids).missing if before else tuple(dict.fromkeys(ids))
        if before + len(new) > self._limits.shelf_documents:
            raise InputError(
                f"expected at most {self._limits.shelf_documents:,} documents on a shelf; found {before:,} on it and "
                f"{len(new):,} new ones in {name}. Make another shelf"
            )
        # Until it is in the store and in the list, the shelf waits for it.
        waiting = kept.waiting if name in kept.waiting else (*kept.waiting, name)
        self._write(id, kept.model_copy(update={"adding": new, "waiting": waiting}))
        # A new fingerprint each time, so that a file is read again after one of its documents was removed.
        source = Source(name, uuid.uuid4().hex, lambda: iter(documents), count=len(documents))
        # All in one commit, so that a kill leaves the whole file or nothing of it.
        try:
            built = build_store(place, [source], batch=len(documents) + 1)
        except InputError as error:
            raise NotWritten(str(error), OSError(EIO, "the store cannot be written")) from None
        return [str(problem) for problem in built.problems]

    def documents(self, id: str, offset: int = 0, most: int = 50) -> ShelvedDocuments:
        """Return some of the documents of a shelf.

        Raises:
            NoSuchShelf: No shelf has this id.
        """
        total = self.get(id).documents or 0
        found = islice(open_store(self._folder / id / _STORE).scan(), offset, offset + most) if total else ()
        return ShelvedDocuments(documents=tuple(map(BriefDocument.brief, found)), total=total)

    def remove_document(self, id: str, document: str) -> None:
        """Remove a document from a shelf.

        Raises:
            NoSuchShelf: No shelf has this id.
            NoSuchDocument: It has no such document.
        """
        with self._changing(id) as kept:
            if not self._describe(id).documents or not open_store(self._folder / id / _STORE).delete([document]):
                raise NoSuchDocument(document)
            # Rewritten, so that the shelf is described again.
            self._write(id, kept)

    def remove(self, id: str) -> None:
        """Remove a shelf with all its documents.

        Raises:
            NoSuchShelf: No shelf has this id.
            NotWritten: The folder cannot be written to.
        """
        with self._changing(id, repair=False):
            try:
                # First: without its list it is no shelf, however much of it is left by a kill.
                (self._path(id) / _LIST).unlink()
            except OSError as error:
                raise NotWritten(f"expected permission to delete; found: {error.strerror}", error) from None
            shutil.rmtree(self._folder / id, ignore_errors=True)
        self._locks.pop(id, None)
        self._described.pop(id, None)

    @contextmanager
    def _changing(self, id: str, repair: bool = True) -> Generator[ShelfList]:
        """Keep others from changing a shelf, and return what is kept of it."""
        self._path(id)
        with self._making:
            lock = self._locks.setdefault(id, Lock())
        with _locked(lock):
            folder = self._path(id)
            with _held(folder, ".changing"):
                kept = self._read(id)
                yield self._without_half_a_file(id, kept) if repair else kept

    def _without_half_a_file(self, id: str, kept: ShelfList) -> ShelfList:
        """Remove what a killed service wrote of a file that is not in the list."""
        if kept.adding:
            store = self._folder / id / _STORE
            if not any(file.documents for file in kept.files):
                # It may be half made, too.
                shutil.rmtree(store, ignore_errors=True)
            elif store.exists():
                open_store(store).delete(kept.adding)
            kept = kept.model_copy(update={"adding": ()})
            self._write(id, kept)
        return kept

    def _checked_name(self, name: str) -> str:
        name = " ".join(name.split())
        if not name or len(name) > MAX_NAME or not _NAME.fullmatch(name):
            raise InputError(
                f"expected a name of 1 to {MAX_NAME} letters, digits, spaces and - _ . , ( ) + & ', beginning with a "
                f"letter or digit; found {name[:80]!r}"
            )
        if name.casefold() in self._taken | {"demo", "pubmed", "none"}:
            raise InputError(f"expected another name; found {name}, which this service uses already")
        return name

    @staticmethod
    def _check_waiting(files: Sequence[str]) -> None:
        if len(files) > MAX_FILES or any(len(name) > 500 for name in files):
            raise InputError(
                f"expected at most {MAX_FILES:,} files, with names of at most 500 characters; found more. Send fewer "
                "at a time"
            )

    def _expect_room(self, id: str, size: int) -> None:
        used = sum(_size_of(folder) for folder in self._folders())
        if used + size > self._limits.shelf_bytes:
            raise InputError(
                f"expected shelves of at most {self._limits.shelf_bytes:,} bytes together; found {used:,}, and a file "
                f"of {size:,}. Remove a shelf first"
            )

    def _folders(self) -> list[Path]:
        try:
            found = [folder for folder in self._folder.iterdir() if _ID.fullmatch(folder.name)]
        except FileNotFoundError:
            return []
        return [folder for folder in found if (folder / _LIST).exists()]

    def _path(self, id: str) -> Path:
        if not _ID.fullmatch(id) or not (self._folder / id / _LIST).exists():
            raise NoSuchShelf(id)
        return self._folder / id

    def _read(self, id: str) -> ShelfList:
        """Return what is kept of a shelf; one with a damaged list keeps a name of its id, so that it can be removed."""
        text, _, digest = (self._folder / id / _LIST).read_bytes().rstrip(b"\n").rpartition(b"\n")
        with suppress(ValidationError):
            if line_digest(text) == digest.decode("ascii", "replace"):
                return ShelfList.model_validate_json(text)
        return ShelfList(name=f"damaged {id[:8]}", changed=0)

    def _write(self, id: str, kept: ShelfList) -> None:
        text = to_json(kept.model_copy(update={"changed": time.time()})) + "\n"
        write_whole(self._folder / id / _LIST, [text, line_digest(text.encode()) + "\n"])

    def _describe(self, id: str) -> DocumentShelf:
        """Return a shelf; its store is only opened if its list has changed."""
        file = self._folder / id / _LIST
        try:
            written = file.stat().st_mtime_ns
            known = self._described.get(id)
            if known is not None and known[0] == written:
                return known[1]
            kept = self._read(id)
        except OSError:
            raise NoSuchShelf(id) from None
        made = DocumentShelf(
            name=kept.name, id=id, files=kept.files, waiting=kept.waiting, documents=0, built=kept.changed
        )
        if not kept.changed:
            made = made.model_copy(update={"documents": None, "problem": _DAMAGED})
        elif kept.name.casefold() in self._taken:
            made = made.model_copy(update={"documents": None, "problem": _TAKEN})
        elif any(file.documents for file in kept.files):
            made = made.model_copy(update=facts_of(self._folder / id / _STORE))
        self._described[id] = (written, made)
        return made

    def _remove_leftovers(self) -> None:
        """Remove folders that a killed service left without a list."""
        with suppress(OSError):
            for folder in self._folder.iterdir():
                is_old = time.time() - folder.stat().st_mtime > _LEFTOVER_SECONDS
                if _ID.fullmatch(folder.name) and is_old and not (folder / _LIST).exists():
                    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _held(folder: Path, name: str) -> Generator[None]:
    try:
        with only_one(folder, name, "changes"):
            yield
    except Held:
        raise ShelfBusy from None


@contextmanager
def _locked(lock: Lock) -> Generator[None]:
    until = time.monotonic() + _WAIT_SECONDS
    while not lock.acquire(timeout=0.1):
        check_stopped()
        if time.monotonic() > until:
            raise ShelfBusy
    try:
        yield
    finally:
        lock.release()


def _safe_names(files: Sequence[str]) -> tuple[str, ...]:
    """Return the names that files have after they were sent."""
    return tuple(safe_name(name, "document") for name in files)


def facts_of(place: str | Path) -> dict[str, object]:
    """Return what is shown of a store: its documents, years and size, or the problem with it."""
    try:
        info = open_store(place).info()
    except MissingExtraError as error:
        return {"documents": None, "problem": str(error)}
    except InputError as error:
        _LOG.warning("%s", error)
        return {"documents": None, "problem": "Its documents cannot be read on the service's disk"}
    return {"documents": info.documents, "years": info.years, "size": info.size}


def _own_stem(name: str, digest: str, files: Sequence[ShelfFile]) -> str:
    """Return what the ids of a file's documents are made of: another one than those of other files."""
    for file in files:
        if file.digest == digest and file.stem:
            return file.stem
    plain, used, number = Path(name).stem or "document", {file.stem for file in files}, 1
    stem = plain
    while stem in used:
        number += 1
        stem = f"{plain} ({number})"
    return stem


def _first(problems: Sequence[str]) -> tuple[str, ...]:
    more = len(problems) - _PROBLEMS
    return (*problems[:_PROBLEMS], *([f"and {counted(more, 'more problem')}"] if more > 0 else []))


def _size_of(folder: Path) -> int:
    size = 0
    for file in folder.rglob("*"):
        with suppress(OSError):
            size += file.stat().st_size
    return size
