"""That only one build writes to a folder at a time."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from vericite.corpus.store.place import LOCK, Place, strangers
from vericite.disk.lock import only_one


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
    with only_one(place.folder, LOCK, "builds", "build"):
        yield
