"""The judges there are, by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from vericite.errors import UnknownNameError
from vericite.verify.judges.bundled import BundledJudge
from vericite.verify.judges.lexical import LexicalJudge
from vericite.verify.judging import Judge

JUDGES: dict[str, Callable[[], Judge]] = {"bundled": BundledJudge, "lexical": LexicalJudge}


@cache
def load_judge(name: str) -> Judge:
    """The judge of this name; the same one, with its weights, at every call.

    Raises:
        UnknownNameError: There is none.
    """
    if name not in JUDGES:
        raise UnknownNameError("judge", name, JUDGES)
    return JUDGES[name]()


__all__ = ["JUDGES", "BundledJudge", "LexicalJudge", "load_judge"]
