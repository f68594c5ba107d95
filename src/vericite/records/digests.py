"""Digests of the lines of a file that we keep, in a hidden file next to it, so that damage is seen when it is read.

People may remove lines and change their order. A line that holds something else than was written is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

CHANGED = "expected the line as it was written; found other bytes"


def digests_file(path: Path) -> Path:
    """The file of digests that belongs to a file of lines."""
    return path.with_name(f".{path.name}.digests")


def line_digest(line: bytes) -> str:
    """The digest of a line without its end."""
    return blake2b(line.strip(), digest_size=8).hexdigest()


def as_entries(lines: Iterable[bytes]) -> str:
    """What is appended to the file of digests for these lines."""
    # The line end comes first: an entry that was torn when it was written does not spoil the next one.
    return "".join(f"\n{line_digest(line)}" for line in lines if line.strip())


def known_digests(path: Path) -> frozenset[str] | None:
    """The digests of the lines of a file; None if it has none, so that nothing can be said of its lines.

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
    """What to say of a line that was changed."""
    return (
        f"{CHANGED}. Restore {path.name} from a copy, or remove the line; if the change is yours, remove "
        f"{digests_file(path).name} next to it"
    )
