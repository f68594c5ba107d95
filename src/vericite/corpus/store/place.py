"""Where a store lies: a folder, or a prefix in a bucket."""

from __future__ import annotations

import os
import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from vericite.disk.folder import expanded
from vericite.errors import InputError
from vericite.llm.spec import is_loopback

_SCHEME = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]+):")
_BUCKET = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[^?#\x00-\x1f\\]*)?")

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
        """What LanceDB needs to know to reach it beside the usual ``AWS_*`` variables, which it reads itself."""
        return _bucket_options() if self.folder is None else {}


def place_of(place: str | Path) -> Place:
    """A folder's path, or an address such as ``s3://bucket/prefix``, as a place.

    Raises:
        InputError: It can be neither.
    """
    name = str(place)
    scheme = _SCHEME.match(name) if isinstance(place, str) else None
    # A letter before a colon is a drive.
    if scheme and scheme[1].lower() == "s3":
        if not _BUCKET.fullmatch(name) or ".." in name.split("/"):
            raise InputError(f"expected an address such as s3://bucket/prefix; found {name!r}")
        return Place(name.rstrip("/"))
    if scheme and "://" in name:
        raise InputError(f"expected a folder or an address such as s3://bucket/prefix; found {name!r}")
    folder = expanded(name) if name and "\0" not in name else None
    if folder is None:
        raise InputError(f"expected a folder or an address such as s3://bucket/prefix; found {name!r}")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"expected a folder for the store; found a file, {folder}")
    return Place(str(folder), folder)


def strangers(folder: Path) -> list[str]:
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


def _bucket_options() -> dict[str, str]:
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    options = {"region": region or "us-east-1"} if endpoint or region else {}
    if endpoint:
        options["endpoint"] = endpoint
        # Keys and documents cross no network in the clear, unless the user's AWS_ALLOW_HTTP says so.
        if is_loopback(urlsplit(endpoint).hostname or ""):
            options["allow_http"] = "true"
    return options


_WRITING = ("write to", "index")
_OUT_OF_REACH = ("credential", "accessdenied", "forbidden", "403", "http error", "nosuchbucket")


@contextmanager
def told(doing: str, place: Place) -> Generator[None, None, None]:
    """Turn what LanceDB raises into an error that says what was being done, and what to do next.

    Raises:
        InputError: It could not be done.
    """
    try:
        yield
    # LanceDB raises the built-in errors: ValueError for a file that is gone, RuntimeError or OSError for a full disk.
    except (OSError, RuntimeError, ValueError) as error:
        raise InputError(
            f"expected to {doing} {place.name}; found: {reason_of(error)}.{_next_step(doing, error)}"
        ) from error


def reason_of(error: Exception) -> str:
    """What LanceDB says was wrong, without what only its makers can use."""
    # LanceDB ends its messages with the place in its own source and how often it tried.
    text = re.split(r", /?\S+\.rs:\d+", " ".join(str(error).split()))[0].rstrip(". ")
    return text if len(text) <= 400 else text[:397] + "..."


def is_out_of_reach(error: Exception) -> bool:
    """Whether it is the user's rights or the address that is at fault, and nothing is known of what lies there."""
    return any(sign in str(error).lower() for sign in _OUT_OF_REACH)


def _next_step(doing: str, error: Exception) -> str:
    text = str(error).lower()
    if any(sign in text for sign in ("no space left", "os error 28", "disk full", "quota", "file too large")):
        return " Free space on the disk and run the same again: what was written stays, and it goes on from there."
    if is_out_of_reach(error):
        return " Look at AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT_URL, and at the bucket."
    # To read again is no help; to write again is.
    return " Run the same again: what was written stays, and it goes on from there." if doing in _WRITING else ""
