"""A judge made from a user's function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from inspect import signature
from typing import SupportsFloat, TypeGuard, cast

import numpy as np

from vericite.models.contracts import COLUMNS, CONTRADICTS, ENTAILS, NEUTRAL, Judge, Judgement, Pair

JudgeFunction = Callable[[str, str], object]
"""Takes premise and claim. Returns a label (``supported``, ``contradicted`` or ``irrelevant``), the probability that
the premise supports the claim, or three probabilities (supported, contradicted, neither)."""

AnyJudge = Judge | str | JudgeFunction
"""A judge, its name, or a function."""

_LABELS = {
    **{name: ENTAILS for name in ("supported", "entails", "entailment", "yes", "true")},
    **{name: CONTRADICTS for name in ("contradicted", "contradicts", "contradiction")},
    **{name: NEUTRAL for name in ("irrelevant", "neutral", "not found", "no", "false")},
}


class FunctionJudge:
    """Judges each pair by calling the function. A call that raises fails only its own pair."""

    def __init__(self, function: JudgeFunction) -> None:
        self._function = function

    @property
    def signature(self) -> str:
        """Module and name of the function."""
        name = getattr(self._function, "__qualname__", type(self._function).__qualname__)
        return f"function({getattr(self._function, '__module__', '?')}.{name})"

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """Call the function once per pair."""
        for pair in pairs:
            try:
                said = self._function(pair.premise, pair.claim)
            except Exception as error:  # a user's function may raise anything
                yield Judgement.failed(f"{type(error).__name__}: {error}")
            else:
                yield _judgement(said)


def _judgement(said: object) -> Judgement:
    if isinstance(said, Judgement):
        return said
    if isinstance(said, str):
        column = _LABELS.get(said.strip().lower())
        if column is not None:
            return Judgement.certain(column, COLUMNS[column])
    elif isinstance(said, bool):
        return _judgement("supported" if said else "irrelevant")
    elif isinstance(said, SupportsFloat) and not isinstance(said, np.ndarray) and 0 <= (share := float(said)) <= 1:
        return Judgement(np.array([share, 0.0, 1 - share], dtype=np.float32))
    elif isinstance(said, Sequence | np.ndarray) and len(cast("Sequence[object]", said)) == len(COLUMNS):
        return Judgement(np.asarray(said, dtype=np.float32))
    wanted = "supported, contradicted, irrelevant, a probability or three of them"
    return Judgement.failed(f"expected the function to return {wanted}; found {said!r:.80}")


def as_judge(given: AnyJudge | None) -> Judge | str | None:
    """Return the judge; a function is wrapped."""
    if given is None or isinstance(given, str) or hasattr(given, "judge"):
        return cast("Judge | str | None", given)
    return FunctionJudge(given) if _takes_two(given) else cast("Judge", given)


def _takes_two(given: object) -> TypeGuard[JudgeFunction]:
    """Whether this is a function of premise and claim; anything else is refused where judges are checked."""
    if not callable(given) or isinstance(given, type):
        return False
    try:
        signature(given).bind("premise", "claim")
    except TypeError:
        return False
    except ValueError:  # a function without a signature, written in C
        return True
    return True
