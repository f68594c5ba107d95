"""Evidence for small language models: the sentences that an answer of quotations quotes.

A small model reads ten abstracts badly and slowly, and one that may refuse refuses nearly always. So the generator of
quotations chooses what it is shown, and refuses in its place.
"""

from __future__ import annotations

from collections.abc import Sequence

from vericite.records import Answer, Evidence, Section

SMALL = 2_500_000_000
"""Bytes of a model's file below which it counts as small: about four thousand million parameters of 4 bits."""


def quoted_evidence(evidence: Sequence[Evidence], quoted: Answer) -> list[Evidence]:
    """Return the same documents in the same order, each with its quoted sentences only."""
    texts: dict[str | None, list[str]] = {}
    for claim in quoted.claims:
        for citation in claim.citations[:1]:
            texts.setdefault(citation.document, []).append(claim.text)
    return [_only(hit, texts.get(hit.document.id, [])) for hit in evidence]


def _only(hit: Evidence, texts: Sequence[str]) -> Evidence:
    sections = (Section(text=" ".join(texts)),) if texts else ()
    return hit.model_copy(update={"document": hit.document.model_copy(update={"sections": sections})})
