"""That only one build writes to a folder at a time."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import IO

from vericite.corpus.store.place import LOCK, Place, strangers
from vericite.errors import InputError


@contextmanager
def only_builder(place: Place) -> Generator[None, None, None]:
    """Hold a folder for one build; the system lets go of it when the process ends, however it ends.

    A bucket has no such lock, nor has a folder on Windows: there the journal's claim has to do, by which the later
    of two builds goes on and the earlier one stops at its next batch.

    Raises:
        InputError: Another build holds the folder, or it cannot be made.
    """
    # In a folder of something else no file is left; opening it tells what is wrong.
    if place.folder is None or strangers(place.folder):
        yield
        return
    try:
        place.folder.mkdir(parents=True, exist_ok=True)
        file = (place.folder / LOCK).open("a")
    except OSError as error:
        raise InputError(f"expected a folder to write to; found {place.name}: {error.strerror}") from None
    with file:
        _hold(file, place)
        yield


def _hold(file: IO[str], place: Place) -> None:
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError(
            f"expected to be the only one that builds {place.name}; found another build at work there. "
            "Wait until it has ended, or stop it"
        ) from None
    except OSError:
        # Some network folders know no locks.
        return
