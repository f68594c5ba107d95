"""Sentences that answer a question: features of every sentence, and its probability to answer.

The features of a sentence are the reranker's score, its similarity to the question, the relevance of its document, and
whether it is a conclusion. A logistic model over these gives the probability that it answers; ``recipes/answers`` fits
its weights.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from vericite.generate.aspects import asks_yes_or_no
from vericite.generate.subjects import absent, subjects_of
from vericite.models.contracts import Embeds, ReadsSentences, Reranks, SentenceInContext
from vericite.records import Document, Evidence, Section
from vericite.text.injection import instructing
from vericite.text.quotable import addresses_reader
from vericite.text.readable import FEWEST, FEWEST_OF_SHORT, quotation, stands_alone
from vericite.text.roles import Role, document_roles, is_labelled
from vericite.text.sentences import document_sentences
from vericite.text.terms import terms

Floats = NDArray[np.float32]


@dataclass
class Candidate:
    """A sentence that may be selected.

    Attributes:
        text: Its words, with single spaces, without a section label and the source's own reference marks.
        marker: Number of its source.
        place: Its number in the source.
        sentences: Number of sentences of the source.
        role: Its role in the abstract.
        answers: Probability that it answers the question.
        others: Markers of other sources with the same sentence.
        year: Year of its source.
        title: Title of its source.
    """

    text: str
    marker: int
    place: int
    sentences: int
    role: Role
    answers: float = 0.0
    others: list[int] = field(default_factory=list[int])
    year: int | None = None
    title: str = ""

    @property
    def lateness(self) -> float:
        """Position in the source; 1 is the last sentence, where the conclusions are."""
        return (self.place + 1) / self.sentences

    @property
    def markers(self) -> list[int]:
        """Markers of all sources that have this sentence."""
        return sorted({self.marker, *self.others})


_ROLES_FROM = 5
"""Minimum number of sentences for roles to be guessed. In a shorter document without labels, each is a result."""


def candidates_of(evidence: Sequence[Evidence], alone: bool = True) -> list[Candidate]:
    """Return the sentences of usable sources that state something and, with ``alone``, can be read without others.

    A sentence that several sources have word for word is one candidate. Retracted sources and sources that give orders
    to the reader stay among the documents but are not quoted. Sentences that address the reader are not quoted either.
    """
    found: dict[str, Candidate] = {}
    for marker, hit in enumerate(evidence, start=1):
        document = hit.document
        sentences = document_sentences(document)
        # A source that gives orders to the reader may also have made up the text before them.
        if document.retracted or instructing(document, sentences):
            continue
        texts = [quotation(sentence.text_in(document)) for sentence in sentences]
        fewest = FEWEST if any(len(text.split()) >= FEWEST for text in texts) else FEWEST_OF_SHORT
        roles = document_roles(document, sentences)
        if len(sentences) < _ROLES_FROM and not is_labelled(document):
            roles: list[Role] = ["result" for _ in sentences]
        for sentence, role, text in zip(sentences, roles, texts, strict=True):
            if (alone and not stands_alone(text, fewest)) or addresses_reader(text):
                continue
            candidate = Candidate(
                text, marker, sentence.index, len(sentences), role, year=document.year, title=document.title
            )
            same = found.setdefault(text.rstrip(" .!"), candidate)
            if marker not in same.markers:
                same.others.append(marker)
    return list(found.values())


NAMES = ("relevance", "cosine", "document", "rank", "conclusion")
"""The features of a sentence, in order."""

READ = 20
"""Number of sentences that the models read; the others are ranked by their words alone."""


def first_look(question: str, candidates: Sequence[Candidate], documents: Floats) -> list[Candidate]:
    """Choose the candidates that the models read: by words of the question, role, position and document."""
    if len(candidates) <= READ:
        return list(candidates)
    wanted = set(terms(question))
    every = [set(terms(candidate.text)) for candidate in candidates]
    weights = {word: 1 / (1 + sum(word in words for words in every)) for word in wanted}
    whole = max(1e-9, sum(weights.values()))
    best = float(documents.max())

    def promise(index: int) -> float:
        candidate = candidates[index]
        shared = (
            len(wanted & every[index]) / max(1, len(wanted)) + sum(weights[w] for w in wanted & every[index]) / whole
        )
        role = {"conclusion": 0.4, "result": 0.2, "background": 0.1}.get(candidate.role, 0.0)
        return shared + role + 0.2 * candidate.lateness - 0.05 * min(8.0, best - float(documents[candidate.marker - 1]))

    kept = sorted(range(len(candidates)), key=lambda index: -promise(index))[:READ]
    return [candidates[index] for index in sorted(kept)]


@cache
def weights_of(model: str) -> dict[str, float]:
    """Return the weights of ``answers``, ``decides``, ``enough`` or ``stance``, by feature; ``bias`` is among them."""
    return json.loads(resources.files("vericite.generate").joinpath("selection.json").read_text(encoding="utf-8"))[
        model
    ]


def sigmoid(value: float) -> float:
    """Convert log odds to a probability."""
    return float((1 + np.tanh(value / 2)) / 2)


def odds_of(figures: Floats, closed: bool) -> Floats:
    """Return the log odds that each candidate answers.

    Args:
        figures: The features of the candidates.
        closed: Whether the answer is yes or no. A sentence that decides is less like the question than others.
    """
    weights = weights_of("decides" if closed else "answers")
    return (figures @ np.array([weights[name] for name in NAMES], dtype=np.float32) + weights["bias"]).astype(
        np.float32
    )


def sufficiency(odds: Floats, documents: Floats, missing: float) -> float:
    """Return the probability that the evidence answers the question; see ``enough_figures``."""
    weights = weights_of("enough")
    figures = enough_figures(odds, documents, missing)
    return sigmoid(weights["bias"] + sum(weights[name] * value for name, value in zip(ENOUGH, figures, strict=True)))


@dataclass(frozen=True)
class Weighed:
    """Features of the candidates.

    Attributes:
        figures: One row per candidate, one column per name of ``NAMES``.
        cosines: Cosine of each pair of candidates.
    """

    figures: Floats
    cosines: Floats


def weigh(
    question: str, candidates: Sequence[Candidate], documents: Floats, embedder: Embeds, reranker: Reranks
) -> Weighed:
    """Compute the features of every candidate.

    Args:
        question: The question.
        candidates: The sentences to read.
        documents: Relevance of each document, from ``document_relevance``.
        embedder: Measures similarity.
        reranker: Reads each sentence with the question.
    """
    vectors = embedder.embed([question, *(candidate.text for candidate in candidates)])
    relevance = logits(_relevance(question, candidates, reranker))
    of = documents[[candidate.marker - 1 for candidate in candidates]]
    concludes = [candidate.role == "conclusion" for candidate in candidates]
    figures = np.column_stack([relevance, vectors[1:] @ vectors[0], of, documents.max() - of, concludes])
    return Weighed(figures.astype(np.float32), vectors[1:] @ vectors[1:].T)


def _relevance(question: str, candidates: Sequence[Candidate], reranker: Reranks) -> Floats:
    """Return the probability that each sentence answers; its relevance, if the reranker does not read sentences."""
    if isinstance(reranker, ReadsSentences):
        read = [SentenceInContext(candidate.text, candidate.role, candidate.title) for candidate in candidates]
        return reranker.answering(question, read)
    return reranker.relevance(question, [candidate.text for candidate in candidates])


_SURE = 1e-7


def logits(probabilities: Floats) -> Floats:
    """Convert to log odds, clipped to stay finite."""
    sure = np.clip(probabilities.astype(np.float64), _SURE, 1 - _SURE)
    return np.log(sure / (1 - sure)).astype(np.float32)


def document_relevance(question: str, evidence: Sequence[Evidence], reranker: Reranks) -> Floats:
    """Return the relevance of each document as log odds: from the search, else from the reranker."""
    if all("rerank" in hit.scores for hit in evidence):
        return logits(np.array([hit.scores["rerank"] for hit in evidence], dtype=np.float32))
    return logits(reranker.relevance(question, [hit.document.titled_text for hit in evidence]))


@dataclass(frozen=True)
class Excerpts:
    """Cuts evidence to the sentences that answer best, so that a language model reads fewer tokens.

    Attributes:
        embedder: Measures similarity.
        reranker: Reads each sentence with the question.
        most: Number of sentences to keep, of all documents together.
    """

    embedder: Embeds
    reranker: Reranks
    most: int = 8

    @property
    def signature(self) -> str:
        """Number of sentences and models."""
        return f"excerpts{self.most}({self.embedder.signature}, {self.reranker.signature})"

    def of(self, question: str, evidence: Sequence[Evidence]) -> list[Evidence]:
        """Return the same documents in the same order; a document without a kept sentence has an empty text.

        If no sentence can be read alone, the evidence stays whole.
        """
        candidates = candidates_of(evidence)
        if not candidates:
            return list(evidence)
        documents = document_relevance(question, evidence, self.reranker)
        candidates = first_look(question, candidates, documents)
        figures = weigh(question, candidates, documents, self.embedder, self.reranker).figures
        odds = odds_of(figures, asks_yes_or_no(question))
        kept: dict[int, set[int]] = {}
        for index in sorted(range(len(candidates)), key=lambda index: -float(odds[index]))[: self.most]:
            kept.setdefault(candidates[index].marker, set()).add(candidates[index].place)
        return [
            hit.model_copy(update={"document": _excerpt(hit.document, kept.get(marker, set()))})
            for marker, hit in enumerate(evidence, start=1)
        ]


def _excerpt(document: Document, places: set[int]) -> Document:
    texts = [sentence.text_in(document) for sentence in document_sentences(document) if sentence.index in places]
    return document.model_copy(update={"sections": (Section(text=" ".join(texts)),) if texts else ()})


ENOUGH = ("best", "document", "missing")
"""Features of all candidates together that indicate whether they answer: the best sentence, the best document, and the
share of the question's subjects missing from the document that has most of them."""


_ABSTRACT = 100
"""Number of words from which a document can be expected to name all its subjects."""


def missing_of(question: str, evidence: Sequence[Evidence]) -> Floats:
    """Return the share of the question's subjects that each document lacks, weighted down for short documents."""
    texts = [hit.document.titled_text for hit in evidence]
    lacking = np.array([len(absent(question, text)) for text in texts]) / max(1, len(subjects_of(question)))
    room = np.array([min(1.0, len(text.split()) / _ABSTRACT) for text in texts])
    return (lacking * room).astype(np.float32)


def enough_figures(odds: Floats, documents: Floats, missing: float) -> list[float]:
    """Compute the features that indicate whether the evidence answers.

    Args:
        odds: Log odds that each candidate answers.
        documents: Relevance of each document, as log odds.
        missing: Minimum of ``missing_of`` over the documents that can be quoted.
    """
    return [float(odds.max()), float(documents.max()), missing]
