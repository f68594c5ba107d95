"""Where a user's own things are, and the caches."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Literal

_LOG = logging.getLogger(__name__)


def expanded(path: str | Path) -> Path | None:
    """A path with its ``~`` spelt out; None where there is no such home, as for a user who is but a number."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return None


def own_folder(ours: str, shared: str, usual: str) -> Path | None:
    """``$ours``, else ``vericite`` in ``$shared``, else in ``usual``; None where that is in a home that is none."""
    if own := os.environ.get(ours):
        return expanded(own)
    return expanded(Path(os.environ.get(shared) or usual) / "vericite")


def default_cache_folder() -> Path | None:
    """``$VERICITE_CACHE``, else ``$XDG_CACHE_HOME/vericite``, else ``~/.cache/vericite``; None without a home."""
    return own_folder("VERICITE_CACHE", "XDG_CACHE_HOME", "~/.cache")


def cache_file(cache: Path | Literal["default"], name: str) -> Path | None:
    """The file of this name in a cache's folder; a ``.sqlite`` file given in the folder's place is that file.

    None, and a warning, where the folder is in a home that is none.
    """
    folder = default_cache_folder() if cache == "default" else expanded(cache)
    if folder is None:
        _LOG.warning(
            "expected a folder for the cache %s; found none: there is no such home. Nothing is kept in this run. Set "
            "VERICITE_CACHE to a folder.",
            name,
        )
        return None
    return folder if folder.suffix == ".sqlite" else folder / name
