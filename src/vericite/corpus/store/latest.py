"""Which of two documents of one id is the later one."""

from __future__ import annotations

from collections.abc import Sequence

from vericite.records import Document

State = tuple[int, str]
"""The version of a document, and when it was revised ("" where that is not known)."""

REPLACES = (
    "source.version > target.version OR (source.version = target.version "
    "AND (target.revised IS NULL OR source.revised >= target.revised))"
)
"""That the document that comes is not the earlier one, in LanceDB's SQL, which knows no functions of both rows here."""


def state_of(document: Document) -> State:
    """What documents of one id are ordered by; of equals, the one read later replaces the other.

    A document that does not say when it was revised counts as revised before all that do. Were it to replace one
    that says so, an older record after it could replace it in turn, and what is left would depend on the batches.
    """
    return document.version, document.revised or ""


def latest_of(documents: Sequence[Document]) -> Document:
    """The one of a series in the order of reading that is left of it."""
    left = documents[0]
    for document in documents[1:]:
        if state_of(document) >= state_of(left):
            left = document
    return left


def replacements(held: State | None, states: Sequence[State]) -> int:
    """How many times one document takes another's place where these come one after the other, and one may be held."""
    count = 0
    for state in states:
        count += held is not None and state >= held
        held = state if held is None else max(held, state)
    return count
