"""Answers made of the evidence's own sentences: no language model, nothing invented."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

import numpy as np
from numpy.typing import NDArray

from vericite.models import Embedder
from vericite.records import Answer, Evidence, Question
from vericite.text.citations import parse_answer, parse_markers, render_markers
from vericite.text.references import parse_pmids
from vericite.text.sentences import document_sentences
from vericite.text.statements import looks_dependent
from vericite.text.terms import terms

_POINTERS = frozenset({"these", "those", "such"})
_WAYS = {
    "negated": ("without", "lack", "absen", "unaffected", "ineffective", "failed"),
    "up": ("increas", "rais", "rose", "rise", "higher", "more", "wors", "elevat", "promot", "harms", "greater"),
    "down": ("reduc", "decreas", "lower", "fewer", "less", "declin", "fell", "prevent", "protect", "diminish"),
}
_NEGATIONS = frozenset({"no", "not", "nor", "neither", "never", "cannot", "fails", "fail"})
INSUFFICIENT = "The sources found do not answer this question."


@dataclass(frozen=True)
class ExtractiveSettings:
    """How sentences are chosen.

    The worth of a sentence is its cosine to the question, plus ``wording`` times the share of the question's
    words it has, plus ``source`` times its document's cosine to the question. Set on the demonstration
    corpus's 60 questions, where 85 % of the sentences taken come from gold documents.

    Attributes:
        shortest: Sentences an answer has at least, where the evidence has as many to give.
        longest: Sentences it has at most.
        sufficient: What the cosines of the best sentence and the best document to the question must add up
            to, or the evidence is insufficient. Of 24 short questions that the demonstration corpus answers 2
            are refused at 1.0, of 24 that it does not answer all.
        wording: See above.
        source: See above.
        relevant: Share of the best sentence's worth that a sentence must reach.
        spare: The same for a sentence that is taken only to reach ``shortest``.
        same: Cosine from which a sentence repeats one already taken, unless their polarity differs:
            "reduced" and "did not reduce" are near in meaning to an embedder, and both must be seen.
        novelty: Weight of being unlike the sentences already taken, against worth.
    """

    shortest: int = 4
    longest: int = 6
    sufficient: float = 1.0
    wording: float = 0.2
    source: float = 0.6
    relevant: float = 0.6
    spare: float = 0.5
    same: float = 0.85
    novelty: float = 0.15


@dataclass
class _Candidate:
    """A sentence that may be taken, where it stands, its source and the others that have it word for word."""

    text: str
    marker: int
    place: int
    worth: float = 0.0
    others: list[int] = field(default_factory=list[int])


class ExtractiveGenerator:
    """Takes the sentences nearest in meaning to the question, leaves out what repeats, and cites each."""

    def __init__(self, embedder: Embedder, settings: ExtractiveSettings | None = None) -> None:
        self._embedder = embedder
        self.settings = settings or ExtractiveSettings()

    @property
    def signature(self) -> str:
        """Version, embedder and the settings that are not the usual."""
        changed = [
            f"{name}={value:g}"
            for name, value in asdict(self.settings).items()
            if value != getattr(ExtractiveSettings, name)
        ]
        return f"extractive.v1({', '.join([self._embedder.signature, *changed])})"

    def generate(self, question: Question, evidence: Sequence[Evidence]) -> Answer:
        """An answer of four to six cited sentences, or one that says the evidence is insufficient."""
        documents = [hit.document for hit in evidence]
        candidates = _candidates(evidence)
        vectors = self._embedder.embed([question.text, *(candidate.text for candidate in candidates)])
        likeness = vectors @ vectors.T
        nearness = likeness[0, 1:]
        documents_near = self._nearness(vectors[0], evidence)
        if not candidates or nearness.max() + max(documents_near) < self.settings.sufficient:
            return Answer(
                id=question.id,
                text=INSUFFICIENT,
                claims=(),
                documents=tuple(documents),
                question=question.text,
                generator=self.signature,
                insufficient=True,
            )
        wanted = set(terms(question.text))
        for candidate, near in zip(candidates, nearness, strict=True):
            wording = len(wanted & set(terms(candidate.text))) / max(1, len(wanted))
            source = documents_near[candidate.marker - 1]
            candidate.worth = float(near) + self.settings.wording * wording + self.settings.source * source
        taken = self._choose(candidates, likeness[1:, 1:])
        text = " ".join(_cited(candidate) for candidate in _ordered(taken))
        return parse_answer(question.id, text, documents, question.text, self.signature)

    def _nearness(self, question: NDArray[np.float32], evidence: Sequence[Evidence]) -> list[float]:
        """Each document's cosine to the question: the retriever's, where it has one."""
        if all("dense" in hit.scores for hit in evidence):
            return [hit.scores["dense"] for hit in evidence]
        vectors = self._embedder.embed(hit.document.titled_text for hit in evidence)
        return [float(vector @ question) for vector in vectors]

    def _choose(self, candidates: list[_Candidate], likeness: NDArray[np.float32]) -> list[_Candidate]:
        """Maximal marginal relevance, without what repeats; a source that repeats word for word is cited too."""
        settings = self.settings
        best = max(candidate.worth for candidate in candidates)
        left = list(range(len(candidates)))
        taken: list[int] = []

        def gain(index: int) -> float:
            repeats = float(likeness[index, taken].max()) if taken else 0.0
            return (1 - settings.novelty) * candidates[index].worth - settings.novelty * repeats

        while left and len(taken) < settings.longest:
            index = max(left, key=gain)
            left.remove(index)
            candidate = candidates[index]
            for item in taken:
                if candidates[item].text == candidate.text:
                    candidates[item].others.append(candidate.marker)
            repeated = any(
                likeness[index, item] >= settings.same and _polarity(candidates[item].text) == _polarity(candidate.text)
                for item in taken
            )
            floor = settings.relevant if len(taken) >= settings.shortest else settings.spare
            if not repeated and candidate.worth >= floor * best:
                taken.append(index)
        return [candidates[index] for index in taken]


def _candidates(evidence: Sequence[Evidence]) -> list[_Candidate]:
    found: list[_Candidate] = []
    for marker, hit in enumerate(evidence, start=1):
        # A retracted source must not be answered from; it stays in the list, where its flag is shown.
        if hit.document.retracted:
            continue
        for sentence in document_sentences(hit.document):
            text = re.sub(r"\s+", " ", sentence.text_in(hit.document))
            # A number in brackets or a PubMed id of the source's own would be read as a citation of ours.
            if _stands_alone(text) and not parse_markers(text) and not parse_pmids(text):
                found.append(_Candidate(text, marker, sentence.index))
    return found


def _stands_alone(text: str) -> bool:
    """Whether a sentence can be read without its neighbours and states something."""
    words = text.split()
    points_elsewhere = any(word.lower() in _POINTERS for word in words) or looks_dependent(text)
    return 5 <= len(words) <= 60 and not text.endswith("?") and not points_elsewhere


def _polarity(text: str) -> frozenset[str]:
    """Which way a sentence points: negated or not, up or down."""
    words = [word.strip(".,;:()").lower() for word in text.split()]
    found = {way for way, stems in _WAYS.items() if any(word.startswith(stems) for word in words)}
    negated = any(word in _NEGATIONS or word.endswith(("n't", "n’t")) for word in words)
    return frozenset(found | {"negated"} if negated else found)


def _ordered(taken: list[_Candidate]) -> list[_Candidate]:
    """Sentences of one source together and in its order, the source with the most relevant one first."""
    best: dict[int, float] = {}
    for candidate in taken:
        best[candidate.marker] = max(candidate.worth, best.get(candidate.marker, -1.0))
    return sorted(taken, key=lambda candidate: (-best[candidate.marker], candidate.marker, candidate.place))


def _cited(candidate: _Candidate) -> str:
    """The sentence with its markers before the full stop."""
    body = candidate.text.rstrip()
    stop = body[-1] if body[-1] in ".!" else "."
    return f"{body.rstrip('.!')} {render_markers(sorted({candidate.marker, *candidate.others}))}{stop}"
