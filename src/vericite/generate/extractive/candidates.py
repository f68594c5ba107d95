"""The sentences of the evidence that an answer may be made of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from vericite.records import Evidence
from vericite.text.citations import parse_markers, render_markers
from vericite.text.instructions import instructing
from vericite.text.references import parse_pmids
from vericite.text.sentences import document_sentences
from vericite.text.statements import looks_dependent

_POINTERS = frozenset({"these", "those", "such"})
_FEWEST, _MOST = 5, 60
"""Words of a sentence that can be read alone."""


@dataclass
class Candidate:
    """A sentence that may be taken.

    Attributes:
        text: Its words, with single spaces.
        marker: The number of its source.
        place: Its number in the source.
        sentences: How many sentences the source has.
        worth: How well it answers, about 0 to 1.
        others: Markers of other sources that have it word for word.
    """

    text: str
    marker: int
    place: int
    sentences: int = 1
    worth: float = 0.0
    others: list[int] = field(default_factory=list[int])

    @property
    def lateness(self) -> float:
        """How near the end of its source it stands, where the conclusions are: up to 1, the last sentence."""
        return (self.place + 1) / self.sentences

    @property
    def cited(self) -> str:
        """The sentence with its markers before the full stop."""
        body = self.text.rstrip()
        stop = body[-1] if body[-1] in ".!" else "."
        return f"{body.rstrip('.!')} {render_markers(sorted({self.marker, *self.others}))}{stop}"


def candidates_of(evidence: Sequence[Evidence]) -> list[Candidate]:
    """The sentences that stand alone and state something, of sources that can be answered from.

    What several sources have word for word is one candidate. Retracted sources, and those that give orders to
    whoever answers, stay among the documents and are not quoted.
    """
    found: dict[str, Candidate] = {}
    for marker, hit in enumerate(evidence, start=1):
        document = hit.document
        sentences = document_sentences(document)
        # Who gives orders to whoever answers may also have made up what stands before the order.
        if document.retracted or instructing(document, sentences):
            continue
        for sentence in sentences:
            text = re.sub(r"\s+", " ", sentence.text_in(document))
            if not _can_be_quoted(text):
                continue
            same = found.setdefault(text.rstrip(" .!"), Candidate(text, marker, sentence.index, len(sentences)))
            if marker not in (same.marker, *same.others):
                same.others.append(marker)
    return list(found.values())


def _can_be_quoted(text: str) -> bool:
    # A number in brackets or a PubMed id of the source's own would be read as a citation of ours.
    own = not parse_markers(text) and not parse_pmids(text)
    return own and stands_alone(text)


def stands_alone(text: str) -> bool:
    """Whether a sentence can be read without its neighbours and states something."""
    words = text.split()
    points_elsewhere = any(word.lower() in _POINTERS for word in words) or looks_dependent(text)
    return _FEWEST <= len(words) <= _MOST and not text.endswith("?") and not points_elsewhere
