"""Label how necessary each sentence of an answer is, by a language model or a linear model over vectors.

BioACE has four labels: required, borderline, unnecessary and inappropriate. The shares of an answer's sentences with
these labels are its completeness, precision (with borderline), redundancy and harmfulness.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator

from vericite.disk.fitted import read_fitted
from vericite.errors import InputError
from vericite.evaluate.measures.measure import eval_package
from vericite.llm import LLM, CallFailure
from vericite.llm.chat import FrozenSchema
from vericite.llm.prompts import Prompt, read_prompt
from vericite.llm.replies import parse
from vericite.llm.verbatim import VerbatimPrompt, expect_texts, find_label, request_with
from vericite.models.contracts import Embeds
from vericite.records import SentenceLabel

Floats = NDArray[np.float64]

LABELS: tuple[SentenceLabel, ...] = get_args(SentenceLabel)

PROMPT = read_prompt(Path(__file__).parent / "prompts" / "completeness.toml", Prompt)
"""The default prompt."""


LEAST = 2
"""Minimum number of training sentences per label."""


class AnswerSentence(NamedTuple):
    """A sentence of an answer, with the question."""

    question: str
    sentence: str


class Labelled(NamedTuple):
    """A sentence's label, or the reason why it has none."""

    label: SentenceLabel | None
    failure: str | None = None


class _Reply(BaseModel):
    model_config = ConfigDict(extra="forbid")

    label: SentenceLabel


_SCHEMA = FrozenSchema.of(_Reply.model_json_schema(), "label")


class Classifier(BaseModel):
    """A linear model over the vectors of question and sentence, stored as JSON.

    Attributes:
        embedder: The signature of the embedder.
        labels: The labels.
        weights: A row of weights per label.
        bias: A bias per label.
        trained_on: Number of training sentences by label.
        data: A hash of the training data.
        seen: A short hash of each training sentence, to detect scoring on training data.
        seed: Seed of the training.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["completeness"] = "completeness"
    embedder: str
    labels: tuple[SentenceLabel, ...] = Field(min_length=2)
    weights: tuple[tuple[float, ...], ...]
    bias: tuple[float, ...]
    trained_on: dict[SentenceLabel, int]
    data: str
    seen: tuple[str, ...] = ()
    seed: int = 0

    @model_validator(mode="after")
    def _fits(self) -> Classifier:
        if {len(self.labels), len(self.weights), len(self.bias)} != {len(self.labels)}:
            raise ValueError(f"expected weights and a bias for each of the {len(self.labels)} labels")
        if len({len(row) for row in self.weights}) != 1:
            raise ValueError("expected the same number of weights for each label")
        return self

    @property
    def signature(self) -> str:
        """Identifies the classifier and its training data."""
        return f"completeness(linear, {self.embedder}, data {self.data}, seed={self.seed})"

    def probabilities(self, asked: Sequence[AnswerSentence], embedder: Embeds) -> Floats:
        """Return probabilities [sentences, labels].

        Raises:
            InputError: The classifier was trained with another embedder.
        """
        if embedder.signature != self.embedder:
            raise InputError(
                f"expected vectors of {self.embedder}, with which the classifier was trained; found those of "
                f"{embedder.signature}. Train a new classifier."
            )
        logits = features(asked, embedder) @ np.array(self.weights).T + np.array(self.bias)
        found = np.exp(logits - logits.max(axis=1, keepdims=True))
        return found / found.sum(axis=1, keepdims=True)

    def label(self, asked: Sequence[AnswerSentence], embedder: Embeds) -> list[Labelled]:
        """Return the most probable label of each sentence."""
        if not asked:
            return []
        return [Labelled(self.labels[int(row.argmax())]) for row in self.probabilities(asked, embedder)]


def features(asked: Sequence[AnswerSentence], embedder: Embeds) -> Floats:
    """Return the vectors of question and sentence, their product, and their cosine."""
    texts = list(dict.fromkeys(text for entry in asked for text in entry))
    vectors = dict(zip(texts, embedder.embed(texts), strict=True))
    questions = np.array([vectors[entry.question] for entry in asked], dtype=np.float64)
    sentences = np.array([vectors[entry.sentence] for entry in asked], dtype=np.float64)
    product = questions * sentences
    # Scale the product, whose numbers are small, to the weight of a vector.
    return np.hstack([questions, sentences, product * np.sqrt(product.shape[1]), product.sum(axis=1, keepdims=True)])


def train_classifier(
    examples: Sequence[tuple[AnswerSentence, SentenceLabel]], embedder: Embeds, strength: float = 1.0, seed: int = 0
) -> Classifier:
    """Train a logistic regression over the vectors, with equal weight for all labels.

    Args:
        examples: Sentences with their labels.
        embedder: The embedder.
        strength: Inverse regularization strength (C of scikit-learn), chosen on development data.
        seed: Seed of the training.

    Raises:
        InputError: There are fewer than two labels with enough sentences.
        MissingExtraError: scikit-learn is not installed.
    """
    counts: dict[SentenceLabel, int] = {label: sum(given == label for _, given in examples) for label in LABELS}
    labels: tuple[SentenceLabel, ...] = tuple(label for label, count in counts.items() if count >= LEAST)
    if len(labels) < 2:
        found = ", ".join(f"{count} {label}" for label, count in counts.items())
        raise InputError(f"expected at least {LEAST} sentences of two labels; found {found}. Label more sentences.")
    kept = [(asked, label) for asked, label in examples if label in labels]
    linear = eval_package("sklearn.linear_model", "training a classifier")
    model: Any = linear.LogisticRegression(C=strength, class_weight="balanced", max_iter=4000, random_state=seed)
    model.fit(features([asked for asked, _ in kept], embedder), [labels.index(label) for _, label in kept])
    weights, bias = np.asarray(model.coef_), np.asarray(model.intercept_)
    if len(labels) == 2:
        weights, bias = np.vstack([-weights / 2, weights / 2]), np.concatenate([-bias / 2, bias / 2])
    seen = tuple(asked_hash(asked) for asked, _ in kept)
    digest = hashlib.sha256("".join(f"{key}{label}" for key, (_, label) in zip(seen, kept, strict=True)).encode())
    return Classifier(
        embedder=embedder.signature,
        labels=labels,
        weights=tuple(tuple(float(value) for value in row) for row in weights),
        bias=tuple(float(value) for value in bias),
        trained_on={label: counts[label] for label in labels},
        data=digest.hexdigest()[:12],
        seen=seen,
        seed=seed,
    )


class Labeller(Protocol):
    """Labels how necessary sentences are."""

    def label(self, asked: Sequence[AnswerSentence]) -> Iterable[Labelled]:
        """Return a label, or the reason for its absence, for each sentence in order."""
        ...

    def known(self, asked: Sequence[AnswerSentence]) -> int:
        """Return the number of training sentences among these."""
        ...


@dataclass(frozen=True)
class ByModel:
    """Labels sentences with a language model and a prompt. The reply to a verbatim prompt is searched for a label.

    Raises:
        InputError: The prompt lacks a slot for the question or the sentence, or has unknown slots.
    """

    llm: LLM
    prompt: Prompt | VerbatimPrompt = PROMPT

    def __post_init__(self) -> None:
        expect_texts(self.prompt, ("question", "sentence"))

    def label(self, asked: Sequence[AnswerSentence]) -> Iterable[Labelled]:
        """Yield the label of each sentence, in order, with one call per sentence."""

        async def ask(entry: AnswerSentence) -> Labelled:
            texts = {"question": entry.question, "sentence": entry.sentence}
            reply = await self.llm.complete(request_with(self.prompt, texts, 64, _SCHEMA))
            if isinstance(reply, CallFailure):
                return Labelled(None, reply.reason)
            if isinstance(self.prompt, VerbatimPrompt):
                label = find_label(LABELS, reply.text)
                return Labelled(label, None if label else "the reply has none of the four labels, or several")
            try:
                return Labelled(parse(reply.text, _Reply).label)
            except ValueError:
                return Labelled(None, "the reply has none of the four labels")

        return self.llm.each(asked, ask)

    def known(self, asked: Sequence[AnswerSentence]) -> int:
        """Return 0: the training data of language models is unknown."""
        return 0


@dataclass(frozen=True)
class ByClassifier:
    """Labels sentences with a trained classifier."""

    classifier: Classifier
    embedder: Embeds

    def label(self, asked: Sequence[AnswerSentence]) -> Iterable[Labelled]:
        """Return the most probable label of each sentence."""
        return self.classifier.label(asked, self.embedder)

    def known(self, asked: Sequence[AnswerSentence]) -> int:
        """Return the number of training sentences among these, by the classifier's hashes."""
        seen = set(self.classifier.seen)
        return sum(asked_hash(sentence) in seen for sentence in asked)


def asked_hash(asked: AnswerSentence) -> str:
    """Return a short hash that identifies a training sentence."""
    return hashlib.blake2b("\0".join(asked).encode(), digest_size=6).hexdigest()


def read_classifier(path: Path) -> Classifier:
    """Read a classifier from a file.

    Raises:
        InputError: The file cannot be read, or is not a classifier.
    """
    return read_fitted(Classifier, path, "a classifier of completeness", "Train one again.")
