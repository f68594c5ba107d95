"""A source's own sentence in place of one that says nearly the same and is not supported."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice

from vericite.pipeline.repair.editing import stands_alone
from vericite.pipeline.repair.proposing import Proposal, Wound
from vericite.pipeline.repair.telling import Told, tellings
from vericite.text.statements import looks_dependent

QUOTATION = "quotation"
CLOSE = 0.5
"""Share of a sentence's words, rare ones counting more, from which another states what it is about."""

_MOST = 3
_WORDS = (5, 60)
_HEADING = re.compile(r"\A[A-Z][A-Za-z /&]{2,40}:\s+(?=[A-Z0-9])")


def quotations(wounds: Sequence[Wound]) -> list[list[Proposal]]:
    """For each sentence the likest sentences of the answer's documents, of those that it cites the first."""
    return [list(islice(_quoted(wound), _MOST)) for wound in wounds]


def _quoted(wound: Wound) -> Iterator[Proposal]:
    cited = wound.cited
    others = [document for document in wound.usable if document not in cited]
    for told in chain(tellings(wound.claim.text, cited), tellings(wound.claim.text, others)):
        text = _quotable(told)
        if told.likeness >= CLOSE and text:
            yield Proposal("rewritten", text, (told.document,), QUOTATION)


def _quotable(told: Told) -> str | None:
    """The sentence without a heading of the abstract; None where it says too little out of its place."""
    text = " ".join(_HEADING.sub("", told.text).split())
    fits = _WORDS[0] <= len(text.split()) <= _WORDS[1] and text.endswith(".")
    return text if fits and not looks_dependent(text) and stands_alone(text) else None
