"""Whether verdicts are of the answer that they lie beside: an id alone does not say that the text is still the same."""

from __future__ import annotations

import re

from vericite.records import Answer, CheckedAnswer
from vericite.text import CITATIONS, SPLITTER

_SIGN = re.compile(r"[\W_]+")
_SHOWN = 60


def other_answer(answer: Answer, checked: CheckedAnswer) -> str | None:
    """What shows that the verdicts are of another text than this answer; None where nothing does.

    Only what cannot differ of one text is held against the answer: each sentence's words at its place, the documents
    that its numbers cite, and, where the rules that split sentences are still the same, the sentences themselves.
    """
    for told in (*checked.verdicts, *checked.failures, *checked.uncited):
        there = answer.text[told.start : told.end]
        if not _within(told.claim, there):
            return f"verdicts on {_short(told.claim)}, where this answer has {_short(there)}"
    return _other_documents(answer, checked) or _other_sentences(answer, checked)


def _within(claim: str, there: str) -> bool:
    """Whether the claim is what is left of that text without its markers, links, bullets and other dress."""
    if len(claim) > 2 * len(there) + 2:
        return False
    characters = iter(_SIGN.sub("", there))
    return all(one in characters for one in _SIGN.sub("", claim))


def _other_documents(answer: Answer, checked: CheckedAnswer) -> str | None:
    """A sentence whose number cites a document of the answer where the verdict knows none of its documents."""
    known = {document.id for document in answer.documents}
    claims = {(claim.span.start, claim.span.end): claim for claim in answer.claims}
    for told in (*checked.verdicts, *checked.failures):
        claim = claims.get((told.start, told.end))
        # What is cited by name may be of a file of documents that was not given here, and shows nothing.
        if claim is None or not told.documents or not known.isdisjoint(told.documents):
            continue
        for citation in claim.citations:
            if citation.document is not None and citation.marker in told.markers:
                return (
                    f"a verdict on [{citation.marker}] as {told.documents[0]!r}, where this answer cites "
                    f"{citation.document!r}"
                )
    return None


def _other_sentences(answer: Answer, checked: CheckedAnswer) -> str | None:
    """A sentence that this answer does not have, or more or fewer of them."""
    parts = checked.provenance.parts
    if (parts.get("splitter"), parts.get("citations")) != (SPLITTER, CITATIONS):
        return None
    known = {document.id for document in answer.documents}
    if any(not known.issuperset(told.documents) for told in (*checked.verdicts, *checked.failures)):
        # Without a file of documents some links to them are words of their sentence.
        return None
    claims = {(claim.span.start, claim.span.end): claim.text for claim in answer.claims}
    for told in (*checked.verdicts, *checked.failures, *checked.uncited):
        if claims.get((told.start, told.end)) != told.claim:
            return f"verdicts on {_short(told.claim)}, which is no sentence of this answer"
    found, here = checked.summary.claims, len(answer.claims)
    return None if found == here else f"verdicts on an answer of {found} sentences, where this one has {here}"


def _short(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "...")
