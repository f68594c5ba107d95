"""Where a store lies: a folder, or a prefix in a bucket."""

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
    """Where a store lies.

    Attributes:
        name: As it is told to people.
        folder: The folder; None of a bucket.
    """

    name: str
    folder: Path | None = None

    @property
    def options(self) -> dict[str, str]:
        """What LanceDB needs to reach it, next to the usual ``AWS_*`` variables, which LanceDB reads itself.

        Raises:
            InputError: VERICITE_OFFLINE is set, and it is on another machine.
        """
        return bucket_options(self.name) if self.folder is None else {}


def place_of(place: str | Path) -> Place:
    """A folder's path, or an address such as ``s3://bucket/prefix``, as a place.

    Raises:
        InputError: It can be neither.
    """
    name = str(place)
    scheme = _SCHEME.match(name) if isinstance(place, str) else None
    # A letter before a colon is a drive.
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


def foreign_entries(folder: Path) -> list[str]:
    """What lies in a folder that is no store; nothing in one that is a store, or could become one.

    Raises:
        InputError: The folder cannot be read.
    """
    try:
        names = {entry.name for entry in folder.iterdir()} if folder.exists() else set[str]()
    except OSError as error:
        raise InputError(f"expected a readable folder; found {folder}: {error.strerror}") from None
    if _DOCUMENTS in names:
        return []
    # Hidden files are left by file managers; the lock and the journal by a build that died at once.
    return sorted(name for name in names if name != _JOURNAL and not name.startswith("."))


_PANIC = ("PanicException", "RustPanic")
_WRITING = ("write to", "index")
_OUT_OF_REACH = re.compile(r"credential|accessdenied|forbidden|status(?: code)?:? 403\b|http error|nosuchbucket", re.I)


@contextmanager
def store_errors(doing: str, place: Place) -> Generator[None, None, None]:
    """Turn what LanceDB raises into an error that says what was being done, and what to do next.

    Raises:
        InputError: It could not be done.
    """
    try:
        yield
    # LanceDB raises the built-in errors: ValueError for a file that is gone, RuntimeError or OSError for a full disk.
    # A damaged file may also make its Rust panic, which comes as an exception of a class that cannot be imported.
    except BaseException as error:
        if not (isinstance(error, OSError | RuntimeError | ValueError) or type(error).__name__.endswith(_PANIC)):
            raise
        raise InputError(
            f"expected to {doing} {place.name}; found: {reason_of(error)}.{_next_step(doing, place, error)}"
        ) from error


def reason_of(error: BaseException) -> str:
    """What LanceDB says was wrong, without what only its makers can use."""
    # LanceDB ends its messages with the place in its own source and how often it tried.
    text = re.split(r", /?\S+\.rs:\d+", " ".join(str(error).split()))[0].rstrip(". ")
    return text if len(text) <= 400 else text[:397] + "..."


def is_out_of_reach(error: BaseException, place: Place) -> bool:
    """Whether a bucket's address or the rights to it are at fault, so that nothing is known of what lies there."""
    # Messages name files, and the name of a folder or of an index may well contain "403".
    return place.folder is None and _OUT_OF_REACH.search(str(error)) is not None


def _next_step(doing: str, place: Place, error: BaseException) -> str:
    text = str(error).lower()
    if any(sign in text for sign in ("no space left", "os error 28", "disk full", "quota", "file too large")):
        return " Free space on the disk and run the same again: what was written stays, and it goes on from there."
    if is_out_of_reach(error, place):
        return f" {HINT}"
    # To read again is no help; to write again is.
    return " Run the same again: what was written stays, and it goes on from there." if doing in _WRITING else ""


@contextmanager
def only_builder(place: Place) -> Generator[None, None, None]:
    """Hold a folder for one build; the system lets go of it when the process ends, however it ends.

    A bucket has no such lock, nor has a folder on Windows: there the journal's claim has to do, by which the later
    of two builds goes on and the earlier one stops at its next batch.

    Raises:
        InputError: Another build holds the folder, or it cannot be made.
    """
    # In a folder of something else no file is left; opening it tells what is wrong.
    if place.folder is None or foreign_entries(place.folder):
        yield
        return
    with only_one(place.folder, LOCK, "builds", "build"):
        yield
