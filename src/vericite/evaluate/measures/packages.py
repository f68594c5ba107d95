"""The optional packages that measures are computed with, imported when a measure first needs one."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from vericite.errors import MissingExtraError


def eval_package(module: str, measure: object) -> Any:
    """A module of a package of the extra ``eval``.

    Args:
        module: Such as ``rouge_score.rouge_scorer``.
        measure: What needs it, as the message is to say.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError("eval", f"The measure {measure}") from None
