"""The place of a store: a folder, or a prefix in a bucket."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from vericite.disk.bucket import HINT, bucket_options, checked_address
from vericite.disk.files import expanded, only_one
from vericite.errors import InputError

_SCHEME = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]+):")

LOCK = ".building"
_DOCUMENTS, _JOURNAL = "documents.lance", "journal.lance"


@dataclass(frozen=True)
class Place:
    """The place of a store.

    Attributes:
        name: Name in messages.
        folder: The folder; None for a bucket.
    """

    name: str
    folder: Path | None = None

    @property
    def options(self) -> dict[str, str]:
        """Options that LanceDB needs to reach it, in addition to the ``AWS_*`` variables, which LanceDB reads itself.

        Raises:
            InputError: VERICITE_OFFLINE is set, and the bucket is on another machine.
        """
        return bucket_options(self.name) if self.folder is None else {}


def place_of(place: str | Path) -> Place:
    """Parse a folder's path, or an address such as ``s3://bucket/prefix``.

    Raises:
        InputError: It is neither.
    """
    name = str(place)
    scheme = _SCHEME.match(name) if isinstance(place, str) else None
    # A single letter before a colon is a drive.
    if scheme and scheme[1].lower() == "s3":
        return Place(checked_address(name))
    if scheme and "://" in name:
        raise InputError(f"expected a folder or an address such as s3://bucket/prefix; found {name!r}")
    folder = expanded(name) if name and "\0" not in name else None
    if folder is None:
        raise InputError(f"expected a folder or an address such as s3://bucket/prefix; found {name!r}")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"expected a folder for the store; found a file, {folder}")
    return Place(str(folder), folder)


def is_store(place: str) -> bool:
    """Whether a name means a store: a bucket, or a folder in which a store was built."""
    if place.lower().startswith("s3:/"):
        return True
    folder = expanded(place) if place and "\0" not in place else None
    return folder is not None and any((folder / name).is_dir() for name in (_DOCUMENTS, _JOURNAL))


def foreign_entries(folder: Path) -> list[str]:
    """Return entries of a folder that do not belong to a store; empty for a store or a folder that can become one.

    Raises:
        InputError: The folder cannot be read.
    """
    try:
        names = {entry.name for entry in folder.iterdir()} if folder.exists() else set[str]()
    except OSError as error:
        raise InputError(f"expected a readable folder; found {folder}: {error.strerror}") from None
    if _DOCUMENTS in names:
        return []
    # File managers leave hidden files; a build that died early leaves the lock and the journal.
    return sorted(name for name in names if name != _JOURNAL and not name.startswith("."))


_PANIC = ("PanicException", "RustPanic")
_WRITING = ("write to", "index")
_OUT_OF_REACH = re.compile(r"credential|accessdenied|forbidden|status(?: code)?:? 403\b|http error|nosuchbucket", re.I)


@contextmanager
def store_errors(doing: str, place: Place) -> Generator[None, None, None]:
    """Turn LanceDB's exceptions into an error that says what failed and what to do next.

    Raises:
        InputError: LanceDB raised an exception.
    """
    try:
        yield
    # LanceDB raises built-in exceptions: ValueError for a missing file, RuntimeError or OSError for a full disk. A
    # damaged file may also make its Rust code panic, which raises an exception of a class that cannot be imported.
    except BaseException as error:
        if not (isinstance(error, OSError | RuntimeError | ValueError) or type(error).__name__.endswith(_PANIC)):
            raise
        raise InputError(
            f"expected to {doing} {place.name}; found: {reason_of(error)}.{_next_step(doing, place, error)}"
        ) from error


def reason_of(error: BaseException) -> str:
    """Return LanceDB's error message without its internal details."""
    # LanceDB's messages end with a location in its own source and the number of attempts.
    text = re.split(r", /?\S+\.rs:\d+", " ".join(str(error).split()))[0].rstrip(". ")
    return text if len(text) <= 400 else text[:397] + "..."


def is_out_of_reach(error: BaseException, place: Place) -> bool:
    """Whether the error is about a bucket's address or permissions, so that its content is unknown."""
    # Messages contain file names, and the name of a folder or an index may contain "403".
    return place.folder is None and _OUT_OF_REACH.search(str(error)) is not None


def _next_step(doing: str, place: Place, error: BaseException) -> str:
    text = str(error).lower()
    if any(sign in text for sign in ("no space left", "os error 28", "disk full", "quota", "file too large")):
        return " Free disk space and run the same command again: it continues after what was written."
    if is_out_of_reach(error, place):
        return f" {HINT}"
    # Retrying helps after a failed write, not after a failed read.
    return " Run the same command again: it continues after what was written." if doing in _WRITING else ""


@contextmanager
def only_builder(place: Place) -> Generator[None, None, None]:
    """Lock a folder for one build; the system releases the lock when the process ends, however it ends.

    Buckets, and folders on Windows, have no such lock. There the claim in the journal decides: the later of two builds
    continues, and the earlier one stops at its next batch.

    Raises:
        InputError: Another build holds the folder, or it cannot be created.
    """
    # Leave no lock file in a folder that is not a store; opening it reports the problem.
    if place.folder is None or foreign_entries(place.folder):
        yield
        return
    with only_one(place.folder, LOCK, "builds", "build"):
        yield
