"""Objects in an S3 bucket by name: read, written completely, listed. pyarrow is loaded when a bucket is opened.

objects = Objects("s3://bucket/prefix")
objects.write("one.jsonl", b"...")      # complete, or not at all
objects.read("one.jsonl")               # None if it does not exist
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

import os
import re
from collections.abc import Generator
from contextlib import contextmanager, suppress
from errno import ENOSPC
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from vericite.disk.files import PARTIAL
from vericite.errors import InputError, MissingExtraError
from vericite.network.access import is_loopback, offline_by_environment

SCHEME = "s3://"
HINT = "Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT_URL, and the bucket."
"""Next step when a bucket cannot be reached."""

_ADDRESS = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[^?#\x00-\x1f\\]*)?")
_AT_ONCE = 1 << 20
_PLAIN = re.compile(
    r"(?i:https?)://(?:\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(?::[0-9]{1,5})?(?:/[A-Za-z0-9._~%/-]{0,500})?"
)
"""Endpoints that all parsers of URLs read alike: no user's name, no backslash, no space."""


def bucket_address(path: Path | str) -> str | None:
    """Return the bucket's address, also from a path, which has lost one of its slashes; None if it is not one."""
    name = str(path)
    if not name.lower().startswith("s3:/"):
        return None
    return SCHEME + name[len("s3:") :].lstrip("/")


def checked_address(name: str) -> str:
    """Return the address without a slash at its end.

    Raises:
        InputError: The address is invalid.
    """
    if not _ADDRESS.fullmatch(name) or ".." in name.split("/"):
        raise InputError(f"expected an address such as s3://bucket/prefix; found {name!r}")
    return name.rstrip("/")


def bucket_options(address: str) -> dict[str, str]:
    """Return region and endpoint from the usual ``AWS_*`` variables. The connecting library reads the keys.

    Every connection to a bucket needs these options. So this is where ``--offline`` is enforced for LanceDB and
    pyarrow, which connect in native code that Python cannot stop.

    Args:
        address: The bucket's address, for errors.

    Raises:
        InputError: VERICITE_OFFLINE is set, and opening the bucket would contact another machine.
    """
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    if endpoint:
        _expect_plain(endpoint)
    if offline_by_environment():
        _expect_this_machine(address, endpoint)
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    options = {"region": region or "us-east-1"} if endpoint or region else {}
    if endpoint:
        options["endpoint"] = endpoint
        # No keys and documents in clear text over a network, unless the user sets AWS_ALLOW_HTTP.
        if is_loopback(urlsplit(endpoint).hostname or ""):
            options["allow_http"] = "true"
    return options


def _expect_plain(endpoint: str) -> None:
    """Refuse an address that two parsers of URLs may read as different hosts."""
    if not _PLAIN.fullmatch(endpoint):
        raise InputError(
            # The address itself may hold a password.
            "expected AWS_ENDPOINT_URL (or AWS_ENDPOINT_URL_S3) to be like https://HOST:PORT, without a user's name, "
            "spaces or backslashes; found another form. Correct it"
        )


def _expect_this_machine(address: str, endpoint: str | None) -> None:
    if endpoint is None or not is_loopback(urlsplit(endpoint).hostname or ""):
        raise InputError(
            f"expected a file or folder on this machine, because offline is set; found {address}. "
            "Copy it to this machine, or omit --offline (unset VERICITE_OFFLINE)."
        )
    if not (os.environ.get("AWS_ACCESS_KEY_ID") and os.environ.get("AWS_SECRET_ACCESS_KEY")):
        # Without keys the libraries would ask a cloud's metadata service for some.
        raise InputError(
            f"expected the keys of {address} in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, because offline is set; "
            "found none. Set both: when offline, no other service is asked for keys."
        )
    os.environ["AWS_EC2_METADATA_DISABLED"] = "true"
    # A proxy would send requests for this machine elsewhere.
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "localhost,127.0.0.0/8,::1"


def file_system(address: str) -> Any:
    """Return the files under an address as a pyarrow file system.

    Raises:
        MissingExtraError: pyarrow is not installed.
        InputError: VERICITE_OFFLINE is set, and the bucket is on another machine.
    """
    options = bucket_options(address)
    try:
        from pyarrow import fs
    except ImportError:
        raise MissingExtraError("store", "Reading and writing s3://") from None
    scheme, _, endpoint = options.get("endpoint", "").rpartition("://")
    bucket = fs.S3FileSystem(region=options.get("region"), endpoint_override=endpoint or None, scheme=scheme or "https")
    return fs.SubTreeFileSystem(address.removeprefix(SCHEME), bucket)


class Objects:
    """The objects under an address. Failures are an ``InputError`` with the address and the next step.

    Args:
        address: ``s3://bucket/prefix``; it is checked.
    """

    def __init__(self, address: str) -> None:
        self.address = checked_address(address)
        self._opened: Any = None

    @property
    def _files(self) -> Any:
        if self._opened is None:
            self._opened = file_system(self.address)
        return self._opened

    def read(self, name: str) -> bytes | None:
        """Return an object's content, or None if it does not exist."""
        with self._errors("read", name):
            try:
                with self._files.open_input_stream(name) as file:
                    return file.read()
            except FileNotFoundError:
                return None

    def write(self, name: str, content: bytes) -> None:
        """Write an object; it is complete when this returns."""
        with self._errors("write", name), self._files.open_output_stream(name) as file:
            file.write(content)

    def fetch(self, name: str, to: Path) -> None:
        """Copy an object to a file, completely or not at all."""
        # Others may fetch the same object, also in this process.
        part = to.with_name(f"{to.name}.{uuid4().hex}{PARTIAL}")
        with self._errors("read", name):
            to.parent.mkdir(parents=True, exist_ok=True)
            with self._files.open_input_stream(name) as file, part.open("wb") as copy:
                while block := file.read(_AT_ONCE):
                    copy.write(block)
            part.replace(to)

    def put(self, file: Path, name: str) -> None:
        """Copy a file to an object; it is complete when this returns."""
        with self._errors("write", name), file.open("rb") as copy:
            with self._files.open_output_stream(name) as stream:
                while block := copy.read(_AT_ONCE):
                    stream.write(block)

    def sizes(self, within: str = "") -> dict[str, int]:
        """Return names and sizes in bytes of all objects below a folder."""
        from pyarrow import fs

        with self._errors("list", within):
            found = self._files.get_file_info(fs.FileSelector(within, recursive=True, allow_not_found=True))
            return {file.path: file.size for file in found if file.is_file}

    def remove(self, name: str) -> None:
        """Delete an object, if it still exists."""
        with self._errors("write", name), suppress(FileNotFoundError):
            self._files.delete_file(name)

    @contextmanager
    def _errors(self, doing: str, name: str) -> Generator[None]:
        where = f"{self.address}/{name}".rstrip("/")
        try:
            yield
        except FileNotFoundError:
            raise InputError(f"expected an object, {where}; found none. Check its name and the bucket") from None
        except OSError as error:
            reason = " ".join(str(error).split())[:300].rstrip(". ")
            step = "Free space on the disk" if error.errno == ENOSPC else HINT
            raise InputError(f"expected to {doing} {where}; found: {reason}. {step}") from None


def split_address(address: str) -> tuple[Objects, str]:
    """Split an address into the place of an object and its name.

    Raises:
        InputError: The address names a bucket, but no object.
    """
    folder, _, name = checked_address(address).rpartition("/")
    if not folder.removeprefix(SCHEME) or folder == "s3:/":
        raise InputError(f"expected the address of an object, such as s3://bucket/answers.jsonl; found {address!r}")
    return Objects(folder), name
