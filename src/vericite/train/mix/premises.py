"""Cutting premises out of a document: the sentences that matter, a window around them, the abstract."""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Sequence

from vericite.text.sentences import split_sentences

LONGEST = 380
"""Words of an abstract that fit, with a claim, into the encoder's 512 tokens."""

_SPACE = re.compile(r"\s+")
_HEADING = re.compile(
    r"^(?:\[?[A-Z][A-Z /&,()-]{3,60}\]?:\s*|\[\w+\]\s*|(?:BACKGROUND|METHODS|RESULTS|CONCLUSIONS?|FINDINGS|OBJECTIVES?"
    r"|INTERPRETATION|AIMS?|PURPOSE|DISCUSSION|INTRODUCTION|RATIONALE"
    r"|Methods/[Dd]esign|Conclusions and Clinical Importance)\s+|(?:Abstract\s+)?(?:Background|Introduction"
    r"|Objectives?|Purpose|Aims?|Methods?"
    r"|Materials and methods|Patients and methods|Results|Findings|Conclusions?|Interpretation|Discussion|Significance"
    r"|Methods and findings|Methodology/principal findings|Conclusions?/significance|Summary|Main findings)"
    r"(?::\s*|\s+(?=[A-Z])))+"
)


def clean(text: str) -> str:
    """The text without character entities and doubled spaces."""
    if "&" in text:
        text = html.unescape(html.unescape(text))
    return _SPACE.sub(" ", text).strip()


def without_heading(sentence: str) -> str:
    """A sentence of a structured abstract without the section's name before it."""
    rest = _HEADING.sub("", sentence)
    return rest if len(rest.split()) > 3 else sentence


def sentences(text: str) -> list[str]:
    """The sentences of an abstract, cleaned; headings that stand alone are left out."""
    text = clean(text)
    parts = (text[span.start : span.end] for span in split_sentences(text))
    return [part for part in parts if len(part.split()) > 2]


def joined(document: Sequence[str], chosen: Sequence[int]) -> str:
    """Some sentences of a document, in its order."""
    return " ".join(clean(document[index]) for index in sorted(set(chosen)) if 0 <= index < len(document))


def window(document: Sequence[str], chosen: Sequence[int], size: int = 3) -> str:
    """The chosen sentences and as many neighbours as make ``size``; gaps between the chosen are filled.

    Where the chosen lie far apart the window is only them: filling the gap would make it the abstract.
    """
    first, last = min(chosen), max(chosen)
    if last - first >= size + 2:
        return joined(document, chosen)
    before = True
    while last - first + 1 < min(size, len(document)):
        if before and first > 0:
            first -= 1
        elif last < len(document) - 1:
            last += 1
        elif first > 0:
            first -= 1
        before = not before
    return joined(document, range(first, last + 1))


def abstract(document: Sequence[str], kept: Sequence[int] = (), longest: int = LONGEST) -> str:
    """The whole document, or of a long one what fits, such that the sentences to be kept are in it."""
    lengths = [len(sentence.split()) for sentence in document]
    chosen = {index for index in kept if 0 <= index < len(document)}
    left = longest - sum(lengths[index] for index in chosen)
    for index, length in enumerate(lengths):
        if index not in chosen and length <= left:
            chosen.add(index)
            left -= length
    return joined(document, sorted(chosen))


def told_by(text: str) -> str:
    """What a text of the data is recognised by in files that must not hold it."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]
