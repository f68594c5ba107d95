"""Answers made of the evidence's own sentences: no language model, nothing invented."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vericite.models import Embedder
from vericite.records import Answer, Evidence, Question
from vericite.text.citations import parse_answer, render_markers
from vericite.text.sentences import document_sentences
from vericite.text.statements import looks_dependent

INSUFFICIENT = "The sources found do not answer this question."


@dataclass(frozen=True)
class ExtractiveSettings:
    """How sentences are chosen.

    Attributes:
        shortest: Sentences an answer has at least, where the evidence has as many to give.
        longest: Sentences it has at most.
        sufficient: Cosine to the question that the best sentence must reach, or the evidence is
            insufficient.
        relevant: Cosine below which a sentence is taken only to reach ``shortest``.
        same: Cosine between two sentences that say the same: one is kept and cites both sources.
        novelty: Weight of being unlike the sentences already taken, against relevance.
    """

    shortest: int = 4
    longest: int = 6
    sufficient: float = 0.45
    relevant: float = 0.45
    same: float = 0.85
    novelty: float = 0.3


@dataclass
class _Candidate:
    """A sentence that may be taken, where it stands, and the markers it would cite."""

    text: str
    marker: int
    place: int
    relevance: float
    markers: list[int]


class ExtractiveGenerator:
    """Takes the sentences nearest in meaning to the question, leaves out what repeats, and cites each."""

    def __init__(self, embedder: Embedder, settings: ExtractiveSettings | None = None) -> None:
        self._embedder = embedder
        self.settings = settings or ExtractiveSettings()

    @property
    def signature(self) -> str:
        """Version and embedder."""
        return f"extractive.v1({self._embedder.signature})"

    def generate(self, question: Question, evidence: Sequence[Evidence]) -> Answer:
        """An answer of four to six cited sentences, or one that says the evidence is insufficient."""
        documents = [hit.document for hit in evidence]
        candidates = _candidates(evidence)
        vectors = self._embedder.embed([question.text, *(candidate.text for candidate in candidates)])
        for candidate, vector in zip(candidates, vectors[1:], strict=True):
            candidate.relevance = float(vector @ vectors[0])
        best = max((candidate.relevance for candidate in candidates), default=-1.0)
        if best < self.settings.sufficient:
            return Answer(
                id=question.id,
                text=INSUFFICIENT,
                claims=(),
                documents=tuple(documents),
                question=question.text,
                generator=self.signature,
                insufficient=True,
            )
        taken = self._choose(candidates, vectors[1:])
        text = " ".join(_cited(candidate) for candidate in _ordered(taken))
        return parse_answer(question.id, text, documents, question.text, self.signature)

    def _choose(self, candidates: list[_Candidate], vectors: NDArray[np.float32]) -> list[_Candidate]:
        """Maximal marginal relevance; a sentence that says what a taken one says lends it its source."""
        likeness = vectors @ vectors.T
        left = list(range(len(candidates)))
        taken: list[int] = []
        while left and len(taken) < self.settings.longest:
            index = max(left, key=lambda item: self._worth(item, taken, candidates, likeness))
            left.remove(index)
            candidate = candidates[index]
            twin = next((item for item in taken if likeness[index, item] >= self.settings.same), None)
            if twin is not None:
                if candidate.marker not in candidates[twin].markers:
                    candidates[twin].markers.append(candidate.marker)
            elif candidate.relevance >= self.settings.relevant or len(taken) < self.settings.shortest:
                taken.append(index)
        return [candidates[index] for index in taken]

    def _worth(
        self, index: int, taken: list[int], candidates: list[_Candidate], likeness: NDArray[np.float32]
    ) -> float:
        nearest = float(likeness[index, taken].max()) if taken else 0.0
        novelty = self.settings.novelty
        return (1 - novelty) * candidates[index].relevance - novelty * nearest


def _candidates(evidence: Sequence[Evidence]) -> list[_Candidate]:
    found: list[_Candidate] = []
    for marker, hit in enumerate(evidence, start=1):
        # A retracted source must not be answered from; it stays in the list, where its flag is shown.
        if hit.document.retracted:
            continue
        for sentence in document_sentences(hit.document):
            text = re.sub(r"\s+", " ", sentence.text_in(hit.document))
            if _stands_alone(text):
                found.append(_Candidate(text, marker, sentence.index, 0.0, [marker]))
    return found


def _stands_alone(text: str) -> bool:
    """Whether a sentence can be read without its neighbours and states something."""
    return 5 <= len(text.split()) <= 60 and not text.endswith("?") and not looks_dependent(text)


def _ordered(taken: list[_Candidate]) -> list[_Candidate]:
    """Sentences of one source together and in its order, the source with the most relevant one first."""
    best: dict[int, float] = {}
    for candidate in taken:
        best[candidate.marker] = max(candidate.relevance, best.get(candidate.marker, -1.0))
    return sorted(taken, key=lambda candidate: (-best[candidate.marker], candidate.marker, candidate.place))


def _cited(candidate: _Candidate) -> str:
    """The sentence with its markers before the full stop."""
    body = candidate.text.rstrip()
    stop = body[-1] if body[-1] in ".!" else "."
    return f"{body.rstrip('.!')} {render_markers(candidate.markers)}{stop}"
