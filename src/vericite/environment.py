"""Reads the environment variables of VeriCite.

Keys of language models are in ``VERICITE_KEY_<HOST>`` or in the provider's usual variable (``vericite.llm.spec``).
Variables of other programs, such as ``NCBI_API_KEY`` and ``AWS_REGION``, are read where they are used.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Literal

from vericite.errors import InputError

CACHE = "VERICITE_CACHE"
"""Folder for caches and downloads."""
CONFIG = "VERICITE_CONFIG"
"""Project file; empty for none."""
DATA = "VERICITE_DATA"
"""Folder of data sets."""
EXACT_BYTES = "VERICITE_EXACT_BYTES"
"""Whether bundled models compute exactly by the slower way (1) or not (0). Default: where the processor needs it."""
HOME = "VERICITE_HOME"
"""Folder for calibrated judges."""
OFFLINE = "VERICITE_OFFLINE"
"""Refuse all network access beyond this machine."""
STORE_COPY = "VERICITE_STORE_COPY"
"""Folder for local copies of stores in buckets."""
THREADS = "VERICITE_THREADS"
"""Number of processor cores that this process uses."""
TOKEN = "VERICITE_TOKEN"
"""Token that requests to the service must send."""
KEY_PREFIX = "VERICITE_KEY_"
"""Prefix of the variables with keys of language models, one variable per host."""


def given(name: str) -> str | None:
    """Return the value unchanged, or None if the variable is not set. An empty value counts as set."""
    return os.environ.get(name)


def text(name: str) -> str | None:
    """Return the stripped value, or None if the variable is not set or empty."""
    return os.environ.get(name, "").strip() or None


def existing(name: str, kind: Literal["file", "folder"]) -> Path | None:
    """Return the value as the path of a file or folder, or None if the variable is not set or empty.

    Raises:
        InputError: The file or folder does not exist.
    """
    value = text(name)
    if value is None:
        return None
    path = Path(value)
    with suppress(RuntimeError):  # without a home folder "~" stays, and is not found
        path = path.expanduser()
    if not (os.path.isfile(path) if kind == "file" else os.path.isdir(path)):
        raise InputError(
            f"expected the environment variable {name} to name a {kind}; found {value!r:.200}, which is not one. "
            "Correct or unset it."
        )
    return path


def is_on(name: str) -> bool:
    """Whether the variable is set to anything but 0, no, false or off.

    An unknown word counts as on, the safe choice for the only such variable.
    """
    return os.environ.get(name, "").strip().lower() not in ("", "0", "no", "false", "off")


def whole_number(name: str) -> int | None:
    """Return the value as a positive whole number, or None if the variable is not set or empty.

    Raises:
        InputError: The value is anything else.
    """
    value = text(name)
    if value is None:
        return None
    # isdecimal, because isdigit accepts "²".
    number = int(value) if value.isdecimal() and len(value) < 10 else 0
    if number < 1:
        raise InputError(
            f"expected the environment variable {name} to be a positive whole number; found {value!r:.40}. "
            "Correct or unset it."
        )
    return number
