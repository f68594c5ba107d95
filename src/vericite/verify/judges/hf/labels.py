"""The labels of NLI checkpoints, each of which spells and orders them in its own way."""

from __future__ import annotations

import re
from collections.abc import Sequence

from vericite.errors import ModelCardError
from vericite.verify.judging import COLUMNS, CONTRADICTS, ENTAILS, NEUTRAL

_REST = "not entailment"
"""What a checkpoint with two labels calls everything but entailment: neutral, since it does not say more."""

_MEANINGS: dict[str, frozenset[str]] = {
    COLUMNS[ENTAILS]: frozenset(
        "entailment entails entail entailed supports support supported attributable attributed".split()
    ),
    COLUMNS[CONTRADICTS]: frozenset(
        "contradiction contradicts contradict contradicted contradictory refutes refute refuted refutation".split()
    ),
    COLUMNS[NEUTRAL]: frozenset(
        "neutral nei notenoughinfo notenoughinformation notenoughevidence noinfo unknown undetermined neither "
        "unverifiable extrapolatory irrelevant".split()
    ),
    _REST: frozenset(
        "notentailment nonentailment notentailed notentails notsupported unsupported notattributable".split()
    ),
}
_THREE = frozenset(COLUMNS)
_TWO = (frozenset({COLUMNS[ENTAILS], _REST}), frozenset({COLUMNS[ENTAILS], COLUMNS[NEUTRAL]}))


def columns_of(labels: Sequence[str], checkpoint: str) -> tuple[int, ...]:
    """The column of ``COLUMNS`` that each output of a checkpoint belongs to.

    Args:
        labels: The outputs' labels, in their order.
        checkpoint: The checkpoint's name, for the error.

    Raises:
        ModelCardError: The labels are not entailment, contradiction and neutral, each once and in any
            spelling known, nor entailment and not entailment.
    """
    meanings = [_meaning(label) for label in labels]
    found = frozenset(meaning for meaning in meanings if meaning)
    if len(found) < len(meanings) or (found != _THREE and found not in _TWO):
        raise ModelCardError(
            "expected a classifier with the labels entailment, neutral and contradiction, or entailment and "
            f"not_entailment; found {_told(labels)} in {checkpoint}. If its card says what they mean, name them "
            f"in the order of its outputs, such as 'hf:{checkpoint}#entailment,neutral,contradiction'"
        )
    return tuple(COLUMNS.index(meaning) if meaning in _THREE else NEUTRAL for meaning in meanings if meaning)


def _meaning(label: str) -> str | None:
    spelt = re.sub(r"[\W_]+", "", label.casefold())
    return next((meaning for meaning, spellings in _MEANINGS.items() if spelt in spellings), None)


def _told(labels: Sequence[str]) -> str:
    shown = ", ".join(labels[:6]) + (", ..." if len(labels) > 6 else "")
    return f"{len(labels)} ({shown})" if labels else "none"
