"""Whether a difference or an effect is said to be statistically significant."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vericite.verify.checks.finding import Finding
from vericite.verify.checks.quantities import Quantity, quantities
from vericite.verify.checks.words import sentences, shared, stems

_SHARED = 0.5
_NOT = re.compile(
    r"\b(?:no|not|never|without|nor|neither|n't|non-?)\b[^.;,]{0,40}?\bsignifican(?:t|tly|ce)\b"
    r"|\b(?:in|non)-?significant(?:ly)?\b|\bdid not differ\b"
    r"|\b(?:fell short of|failed to (?:reach|achieve)) (?:statistical )?significance",
    re.IGNORECASE,
)
_THRESHOLD = re.compile(
    r"\b(?:bonferroni|threshold|correct(?:ed|ion)|significance (?:level|was)|level of significance)\b", re.IGNORECASE
)
_YES = re.compile(
    r"(?<!clinically )\bsignificant(?:ly)?\b(?! (?:other|clinical))|\b(?:statistical )significance\b", re.IGNORECASE
)


def significance_findings(claim: str, source: str) -> Iterator[Finding]:
    """The claim calls significant what its source says is not, or the reverse."""
    said = _said(claim)
    if said is None:
        return
    told = stems(claim)
    near = [(shared(told, stems(sentence)), sentence) for sentence in sentences(source)]
    best = max((overlap for overlap, _ in near), default=0.0)
    if best < _SHARED:
        return
    given = {_given(sentence) for overlap, sentence in near if overlap >= min(best, 0.5)}
    if given == {not said}:
        yield Finding(
            "p-value", f"claim says {'significant' if said else 'not significant'}, the source says otherwise"
        )


def _said(text: str) -> bool | None:
    denied, named = bool(_NOT.search(text)), bool(_YES.search(_NOT.sub(" ", text)))
    return None if denied == named else named


def _given(sentence: str) -> bool | None:
    """What a sentence says, by its words and by its p-values; None where nothing or both."""
    if _THRESHOLD.search(sentence):
        return None
    worded, found = _said(sentence), quantities(sentence)
    of_ratio = any(item.kind == "ratio" for item in found)
    levels = {level for item in found for level in _levels(item, of_ratio)}
    if worded is None:
        return levels.pop() if len(levels) == 1 else None
    return worded if levels <= {worded} else None


def _levels(item: Quantity, of_ratio: bool) -> Iterator[bool]:
    """Whether a p-value, or the interval of a ratio, is significant at 0.05."""
    if item.kind == "p" and item.sign != ">" and item.low <= 0.05:
        yield True
    elif item.kind == "p" and item.sign != "<" and item.low >= 0.05:
        yield False
    elif item.kind == "interval" and of_ratio and item.low > 0:
        yield not item.low <= 1 <= item.high
