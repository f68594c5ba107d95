"""Asking a judge, whoever wrote it: what comes back is one sound judgement a pair, or an error that names the judge."""

from __future__ import annotations

from collections.abc import Collection
from typing import cast

import numpy as np
from numpy.typing import NDArray

from vericite.errors import PluginError, VeriCiteError
from vericite.models import Pair
from vericite.verify.judging import COLUMNS, Judge, Judgement

SLACK = 1e-3
"""How far from 1 probabilities may add up, for judges that round."""


def ask(judge: Judge, pairs: Collection[Pair]) -> list[Judgement]:
    """The judge's judgements; one whose probabilities are none is a failure.

    Raises:
        PluginError: It raised something of its own, or gave too few or too many.
    """
    if not pairs:
        return []
    try:
        given = list(judge.judge(pairs))
    except VeriCiteError:
        raise
    except Exception as error:  # a judge from elsewhere may raise anything
        found = f"{type(error).__name__}: {error}"
        raise _broken(judge, f"a judgement for each of {len(pairs)} pairs", found) from error
    if len(given) != len(pairs):
        raise _broken(judge, f"{len(pairs)} judgements for as many pairs", str(len(given)))
    return [_checked(judgement, judge) for judgement in given]


def _checked(judgement: object, judge: Judge) -> Judgement:
    if not isinstance(judgement, Judgement):
        raise _broken(judge, "judgements (vericite.verify.Judgement)", f"{judgement!r:.80}")
    if judgement.failure is not None or are_probabilities(judgement.probabilities):
        return judgement
    return Judgement.failed(f"the judge gave {judgement.probabilities!r:.80}, which are no three probabilities")


def are_probabilities(given: object) -> bool:
    """Whether these are a judge's three probabilities, about 1 together."""
    if not isinstance(given, np.ndarray):
        return False
    values = cast(NDArray[np.float32], given)
    if values.shape != (len(COLUMNS),) or not np.issubdtype(values.dtype, np.floating):
        return False
    # Also false where one of them is not a number.
    return abs(float(values.sum()) - 1) <= SLACK and float(values.min()) >= -SLACK


def _broken(judge: Judge, expected: str, found: str) -> PluginError:
    return PluginError(
        f"expected {expected} from the judge {judge.signature}; found {found}. docs/judges.md says what a judge gives."
    )
