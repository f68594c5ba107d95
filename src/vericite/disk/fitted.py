"""JSON files of what a command fitted: a calibration, a mixture, a classifier."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from vericite.disk.files import write_whole
from vericite.errors import InputError
from vericite.records import first_problem

LARGEST = 8 << 20
"""Maximum size of such a file in bytes."""

_Fitted = TypeVar("_Fitted", bound=BaseModel)


def read_fitted(kind: type[_Fitted], path: Path, what: str, remedy: str) -> _Fitted:
    """Read a fitted object.

    Args:
        kind: Its type.
        path: The file.
        what: Its name in errors.
        remedy: What to do about an invalid file, as a sentence.

    Raises:
        InputError: The file cannot be read, is too large, or is invalid.
    """
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise InputError(f"expected {what}; found {path}, which has more than {LARGEST:,} bytes. {remedy}")
        return kind.model_validate_json(content)
    except ValidationError as error:
        problem = ": ".join(filter(None, first_problem(error)))
        raise InputError(f"expected {what}; found {path}: {problem}. {remedy}") from None
    except (OSError, ValueError) as error:
        # ValueError: a path with a zero byte.
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"expected {what}; found {path}: {reason}. Check the path.") from None


def write_fitted(fitted: BaseModel, path: Path) -> None:
    """Write a fitted object, completely or not at all.

    Raises:
        InputError: It cannot be written.
    """
    write_whole(path, [fitted.model_dump_json(by_alias=True, indent=2) + "\n"])
