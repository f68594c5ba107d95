"""That only one process at a time writes to a folder."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from vericite.errors import InputError


@contextmanager
def only_one(folder: Path, name: str, doing: str, other: str = "process") -> Generator[None, None, None]:
    """Hold a folder, made where there is none; the system lets go of it when the process ends, however it ends.

    Some network folders and Windows know no such lock: there nothing is held.

    Args:
        folder: The folder.
        name: Of the file in it that is locked.
        doing: What is done there, for the error: ``builds``.
        other: What holds it where another does, for the error.

    Raises:
        InputError: Another process holds it, or it cannot be made or written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / name).open("a")
    except OSError as error:
        raise InputError(f"expected a folder to write to; found {folder}: {error.strerror}") from None
    with file:
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                f"expected to be the only one that {doing} {folder}; found another {other} at work there. "
                "Wait until it has ended, or stop it"
            ) from None
        except (ImportError, OSError):
            pass
        yield
