"""How necessary each sentence of an answer is: labelled by a language model, or by a linear model over vectors.

BioACE has four labels: required, borderline, unnecessary, inappropriate. The shares of an answer's sentences with these
labels are its completeness, precision (with borderline), redundancy and harmfulness.
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
from vericite.llm import LLM, CallFailure, ChatRequest
from vericite.llm.chat import FrozenSchema, as_block
from vericite.llm.prompts import Prompt, expect_known_slots, read_prompt
from vericite.llm.replies import parse
from vericite.models.contracts import Embeds
from vericite.records import SentenceLabel

Floats = NDArray[np.float64]

LABELS: tuple[SentenceLabel, ...] = get_args(SentenceLabel)

PROMPT = read_prompt(Path(__file__).parent / "prompts" / "completeness.toml", Prompt)
"""Ours."""


LEAST = 2
"""Sentences of a label that a classifier is trained on at least."""


class AnswerSentence(NamedTuple):
    """A sentence of an answer, and the question it answers."""

    question: str
    sentence: str


class Labelled(NamedTuple):
    """A sentence's label, or why it has none."""

    label: SentenceLabel | None
    failure: str | None = None


class _Reply(BaseModel):
    model_config = ConfigDict(extra="forbid")

    label: SentenceLabel


_SCHEMA = FrozenSchema.of(_Reply.model_json_schema(), "label")


class Classifier(BaseModel):
    """A linear model over the vectors of question and sentence; it is kept as JSON.

    Attributes:
        embedder: The signature of what made the vectors.
        labels: The labels that it was trained on.
        weights: A row a label.
        bias: One a label.
        trained_on: Sentences of each label.
        data: A hash of what it was trained on.
        seen: A short hash of each sentence of it, so that it is told where it is scored on the same.
        seed: Of the training.
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
            raise ValueError(f"expected weights and a bias of each of the {len(self.labels)} labels")
        if len({len(row) for row in self.weights}) != 1:
            raise ValueError("expected as many weights of each label")
        return self

    @property
    def signature(self) -> str:
        """What it is and what it was trained on."""
        return f"completeness(linear, {self.embedder}, data {self.data}, seed={self.seed})"

    def probabilities(self, asked: Sequence[AnswerSentence], embedder: Embeds) -> Floats:
        """Of each sentence a row, of each label a column.

        Raises:
            InputError: The vectors are of another embedder than those it was trained on.
        """
        if embedder.signature != self.embedder:
            raise InputError(
                f"expected the vectors of {self.embedder}, which the classifier was trained on; found those of "
                f"{embedder.signature}. Train it anew."
            )
        logits = features(asked, embedder) @ np.array(self.weights).T + np.array(self.bias)
        found = np.exp(logits - logits.max(axis=1, keepdims=True))
        return found / found.sum(axis=1, keepdims=True)

    def label(self, asked: Sequence[AnswerSentence], embedder: Embeds) -> list[Labelled]:
        """The likeliest label of each sentence."""
        if not asked:
            return []
        return [Labelled(self.labels[int(row.argmax())]) for row in self.probabilities(asked, embedder)]


def features(asked: Sequence[AnswerSentence], embedder: Embeds) -> Floats:
    """The vectors of question and sentence, their product, and their cosine."""
    texts = list(dict.fromkeys(text for one in asked for text in one))
    vectors = dict(zip(texts, embedder.embed(texts), strict=True))
    questions = np.array([vectors[one.question] for one in asked], dtype=np.float64)
    sentences = np.array([vectors[one.sentence] for one in asked], dtype=np.float64)
    product = questions * sentences
    # Of the same weight as a vector, whose numbers are small.
    return np.hstack([questions, sentences, product * np.sqrt(product.shape[1]), product.sum(axis=1, keepdims=True)])


def train_classifier(
    examples: Sequence[tuple[AnswerSentence, SentenceLabel]], embedder: Embeds, strength: float = 1.0, seed: int = 0
) -> Classifier:
    """A logistic regression over the vectors, in which each label counts as much as the others.

    Args:
        examples: Sentences with their labels.
        embedder: Who makes the vectors.
        strength: How closely it follows the examples; chosen on development data.
        seed: Of the training.

    Raises:
        InputError: There are fewer than two labels with some sentences.
        MissingExtraError: scikit-learn is not installed.
    """
    counts: dict[SentenceLabel, int] = {label: sum(of == label for _, of in examples) for label in LABELS}
    labels: tuple[SentenceLabel, ...] = tuple(label for label, count in counts.items() if count >= LEAST)
    if len(labels) < 2:
        found = ", ".join(f"{count} {label}" for label, count in counts.items())
        raise InputError(f"expected {LEAST} sentences or more of two labels or more; found {found}. Label more.")
    kept = [(asked, label) for asked, label in examples if label in labels]
    linear = eval_package("sklearn.linear_model", "training a classifier")
    model: Any = linear.LogisticRegression(C=strength, class_weight="balanced", max_iter=4000, random_state=seed)
    model.fit(features([asked for asked, _ in kept], embedder), [labels.index(label) for _, label in kept])
    weights, bias = np.asarray(model.coef_), np.asarray(model.intercept_)
    if len(labels) == 2:
        weights, bias = np.vstack([-weights / 2, weights / 2]), np.concatenate([-bias / 2, bias / 2])
    seen = tuple(asked_hash(asked) for asked, _ in kept)
    digest = hashlib.sha256("".join(f"{of}{label}" for of, (_, label) in zip(seen, kept, strict=True)).encode())
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
    """Who says how necessary sentences are."""

    def label(self, asked: Sequence[AnswerSentence]) -> Iterable[Labelled]:
        """A label, or why there is none, of each in order."""
        ...

    def known(self, asked: Sequence[AnswerSentence]) -> int:
        """How many of them it was trained on."""
        ...


@dataclass(frozen=True)
class ByModel:
    """A language model, asked with our prompt or another.

    Raises:
        InputError: The prompt has no slot for the question or the sentence, or has others.
    """

    llm: LLM
    prompt: Prompt = PROMPT

    def __post_init__(self) -> None:
        shown = ("question", "sentence")
        expect_known_slots(self.prompt.name, "system", self.prompt.system, (), shown)
        expect_known_slots(self.prompt.name, "user", self.prompt.user, shown)

    def label(self, asked: Sequence[AnswerSentence]) -> Iterable[Labelled]:
        """What it says of each sentence, in order; one call a sentence."""

        async def ask(one: AnswerSentence) -> Labelled:
            texts = {"question": as_block("question", one.question), "sentence": as_block("sentence", one.sentence)}
            reply = await self.llm.complete(ChatRequest(self.prompt.filled(texts), max_tokens=64, schema=_SCHEMA))
            if isinstance(reply, CallFailure):
                return Labelled(None, reply.reason)
            try:
                return Labelled(parse(reply.text, _Reply).label)
            except ValueError:
                return Labelled(None, "the reply has none of the four labels")

        return self.llm.each(asked, ask)

    def known(self, asked: Sequence[AnswerSentence]) -> int:
        """None that we know of."""
        return 0


@dataclass(frozen=True)
class ByClassifier:
    """A trained classifier over an embedder's vectors."""

    classifier: Classifier
    embedder: Embeds

    def label(self, asked: Sequence[AnswerSentence]) -> Iterable[Labelled]:
        """The likeliest label of each."""
        return self.classifier.label(asked, self.embedder)

    def known(self, asked: Sequence[AnswerSentence]) -> int:
        """By their hashes, which the classifier keeps."""
        seen = set(self.classifier.seen)
        return sum(asked_hash(one) in seen for one in asked)


def asked_hash(asked: AnswerSentence) -> str:
    """A short hash, by which a classifier knows a sentence that it was trained on."""
    return hashlib.blake2b("\0".join(asked).encode(), digest_size=6).hexdigest()


def read_classifier(path: Path) -> Classifier:
    """A classifier's file.

    Raises:
        InputError: It cannot be read, or is none.
    """
    return read_fitted(Classifier, path, "a classifier of completeness", "Train one again.")
