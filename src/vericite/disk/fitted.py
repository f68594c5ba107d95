"""What a command fitted, in a JSON file: a calibration, a mixture, a classifier."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from vericite.disk.files import write_whole
from vericite.errors import InputError
from vericite.records import first_problem

LARGEST = 8 << 20
"""Bytes of such a file."""

_Fitted = TypeVar("_Fitted", bound=BaseModel)


def read_fitted(kind: type[_Fitted], path: Path, what: str, remedy: str) -> _Fitted:
    """Read one.

    Args:
        kind: What is in it.
        path: The file.
        what: What it is called in an error.
        remedy: What to do about a file that is none, as a sentence.

    Raises:
        InputError: It cannot be read, is too large, or is none.
    """
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise InputError(f"expected {what}; found {path}: more than {LARGEST:,} bytes. {remedy}")
        return kind.model_validate_json(content)
    except ValidationError as error:
        problem = ": ".join(filter(None, first_problem(error)))
        raise InputError(f"expected {what}; found {path}: {problem}. {remedy}") from None
    except (OSError, ValueError) as error:
        # ValueError: a path with a zero byte in it.
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"expected {what}; found {path}: {reason}. Check the path.") from None


def write_fitted(fitted: BaseModel, path: Path) -> None:
    """Write one whole or not at all.

    Raises:
        InputError: It cannot be written there.
    """
    write_whole(path, [fitted.model_dump_json(by_alias=True, indent=2) + "\n"])
