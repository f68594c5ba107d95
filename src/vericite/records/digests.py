"""Digests of the lines of our files, in a hidden file next to them, so that damage is detected when they are read.

Users may remove lines and change their order. A line with changed content is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

CHANGED = "expected the line as it was written; found other bytes"


def digests_file(path: Path) -> Path:
    """Return the path of the digests of a file."""
    return path.with_name(f".{path.name}.digests")


def line_digest(line: bytes) -> str:
    """Return the digest of a line without its end."""
    return blake2b(line.strip(), digest_size=8).hexdigest()


def as_entries(lines: Iterable[bytes]) -> str:
    """Return the text to append to the file of digests for these lines."""
    # The line end comes first, so that an incomplete entry does not spoil the next one.
    return "".join(f"\n{line_digest(line)}" for line in lines if line.strip())


def known_digests(path: Path) -> frozenset[str] | None:
    """Return the digests of a file's lines; None if it has no file of digests.

    Raises:
        OSError: The file of digests cannot be read.
    """
    if not path.name:
        return None
    try:
        return frozenset(digests_file(path).read_text(encoding="ascii", errors="replace").split())
    except (FileNotFoundError, NotADirectoryError):
        return None


def changed(path: Path) -> str:
    """Return the message for a changed line."""
    return (
        f"{CHANGED}. Restore {path.name} from a copy, or remove the line; if the change is yours, remove "
        f"{digests_file(path).name} next to it"
    )
