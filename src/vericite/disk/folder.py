"""Where caches are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal


def default_cache_folder() -> Path:
    """``$VERICITE_CACHE``, else ``$XDG_CACHE_HOME/vericite``, else ``~/.cache/vericite``."""
    if own := os.environ.get("VERICITE_CACHE"):
        return Path(own).expanduser()
    if shared := os.environ.get("XDG_CACHE_HOME"):
        return Path(shared).expanduser() / "vericite"
    return Path.home() / ".cache" / "vericite"


def cache_file(cache: Path | Literal["default"], name: str) -> Path:
    """The file of this name in a cache's folder; a ``.sqlite`` file given in the folder's place is that file."""
    folder = default_cache_folder() if cache == "default" else Path(cache).expanduser()
    return folder if folder.suffix == ".sqlite" else folder / name
