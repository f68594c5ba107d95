"""Citations of an answer against those of another answer to the question, as MultiAttr holds in-line answers.

The gold answer's claims are laid beside the sentences of the answer that state them (Patel et al. 2024, figure 3). What
comes out is gold that ``CitationF1`` and its like read: aligned citation F1 is their figure on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from vericite.models.contracts import ENTAILS, Judge, Pair
from vericite.records import Answer, Gold, GoldSentence
from vericite.verify.judging import ask

STATED = 0.5
"""How likely a sentence must entail a claim that it is taken to state."""


class GoldClaim(NamedTuple):
    """A claim of the gold answer, and the documents that it cites."""

    text: str
    documents: tuple[str, ...]


class Aligned(NamedTuple):
    """What an answer's sentences ought to cite, and how many of the gold's claims it states.

    A sentence that states no claim of the gold ought to cite nothing.
    """

    gold: Gold
    stated: int
    claims: int


def aligned(asked: Iterable[tuple[Answer, Sequence[GoldClaim]]], judge: Judge, bar: float = STATED) -> list[Aligned]:
    """Lay each claim beside the sentence that is likeliest to entail it; one that no sentence entails has none.

    A claim that could not be judged counts as not stated.
    """
    cases = [(answer, list(claims)) for answer, claims in asked]
    pairs = dict.fromkeys(
        Pair(own.text, claim.text) for answer, claims in cases for claim in claims for own in answer.claims if own.text
    )
    entailed = {
        pair: 0.0 if judgement.failure is not None else float(judgement.probabilities[ENTAILS])
        for pair, judgement in zip(pairs, ask(judge, list(pairs)), strict=True)
    }
    return [_aligned(answer, claims, entailed, bar) for answer, claims in cases]


def _aligned(answer: Answer, claims: Sequence[GoldClaim], entailed: dict[Pair, float], bar: float) -> Aligned:
    wanted: list[dict[str, None]] = [{} for _ in answer.claims]
    stated = 0
    for claim in claims:
        odds = [entailed.get(Pair(own.text, claim.text), 0.0) for own in answer.claims]
        best = int(np.argmax(odds)) if odds else 0
        if odds and odds[best] >= bar:
            stated += 1
            wanted[best] |= dict.fromkeys(claim.documents)
    sentences = tuple(GoldSentence(sentence=place, documents=tuple(own)) for place, own in enumerate(wanted))
    return Aligned(Gold(id=answer.id, citations=sentences), stated, len(claims))
