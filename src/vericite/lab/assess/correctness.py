"""Classify whether a document makes a sentence correct, by pairs of a sentence and a window of three sentences.

A positive pair is a sentence with the span that annotators marked. The negative pair has the window outside the span
that BM25 ranks first: for the question as in BioACE, or for the sentence itself, which is harder. If the first window
overlaps the span, the next one is taken: the scores of BioACE's constant classifiers (table 3) show that its test has
about as many negative as positive pairs.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from vericite.errors import InputError
from vericite.evaluate.measures.measure import eval_package
from vericite.models.contracts import ENTAILS, Embeds, Judge, Pair
from vericite.retrieve.local import BM25
from vericite.verify.judging import ask

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ranked = Literal["question", "sentence"]

WINDOW = 3


@dataclass(frozen=True)
class Marked:
    """A sentence of an answer, and a document whose evidence annotators marked.

    Attributes:
        sentence: The sentence.
        question: The question.
        document: The sentences of the document.
        evidence: The numbers of the sentences that the marked evidence covers, at least in part.
        group: What cases share that depend on each other, such as the question.
        span: The marked text. Default: the sentences of ``evidence``.
    """

    sentence: str
    question: str
    document: tuple[str, ...]
    evidence: frozenset[int]
    group: str = ""
    span: str = ""


def covered(sentences: Sequence[str], span: str) -> frozenset[int]:
    """Return the numbers of the sentences that a marked span covers, at least in part.

    A span that is not in the document word for word covers the sentences of which it has most words.
    """
    plain = [_plain(sentence) for sentence in sentences]
    start = " ".join(plain).find(_plain(span))
    if start < 0 or not _plain(span):
        words = set(_plain(span).split())
        return frozenset(
            number for number, text in enumerate(plain) if len(words & set(text.split())) * 2 > len(set(text.split()))
        )
    end = start + len(_plain(span))
    places = np.cumsum([0, *(len(text) + 1 for text in plain)])
    return frozenset(
        number for number, text in enumerate(plain) if places[number] < end and places[number] + len(text) > start
    )


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


class WindowExample(NamedTuple):
    """A sentence and a window of a document, and whether the window makes the sentence correct."""

    sentence: str
    window: str
    correct: bool
    group: str


def windows(sentences: Sequence[str], size: int = WINDOW) -> list[tuple[range, str]]:
    """Return each window of ``size`` consecutive sentences; a shorter document is a single window."""
    starts = range(max(len(sentences) - size, 0) + 1)
    ranges = [range(start, min(start + size, len(sentences))) for start in starts]
    return [(window, " ".join(sentences[index] for index in window)) for window in ranges]


def examples(marked: Sequence[Marked], ranked: Ranked = "question", size: int = WINDOW) -> list[WindowExample]:
    """Return a positive and a negative example of each case; without a window outside the evidence, only a positive."""
    found: list[WindowExample] = []
    for case in marked:
        own = case.span or " ".join(case.document[index] for index in sorted(case.evidence))
        found.append(WindowExample(case.sentence, own, True, case.group))
        outside = [text for window, text in windows(case.document, size) if not case.evidence & set(window)]
        if outside:
            scores = BM25(outside).scores(case.question if ranked == "question" else case.sentence)
            found.append(WindowExample(case.sentence, outside[int(scores.argmax())], False, case.group))
    return found


Scorer = Callable[[Sequence[WindowExample]], Floats]
"""Scores examples; higher means more probably correct."""


class ClassicalModel(BaseModel):
    """An SVM or a logistic regression over TF-IDF of ``ANSWER: ... EVIDENCE: ...``, stored as JSON.

    Attributes:
        form: Its kind.
        terms: The inverse document frequency and the weight of each word and pair of words.
        bias: The bias.
        trained_on: Number of training examples by label.
        seen: A short hash of each training example, to detect scoring on training data.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["correctness"] = "correctness"
    form: Literal["svm", "logistic"]
    terms: dict[str, tuple[float, float]]
    bias: float
    trained_on: dict[str, int]
    seen: tuple[str, ...] = ()

    def score(self, rows: Sequence[WindowExample]) -> Floats:
        """Return the signed distance of each example from the decision boundary; positive means correct."""
        return np.array([self._score(_as_text(row)) for row in rows], dtype=np.float64)

    def _score(self, text: str) -> float:
        words = re.findall(r"(?u)\b\w\w+\b", text.lower())
        counts = Counter([*words, *map(" ".join, pairwise(words))])
        known = [(1 + np.log(count), *self.terms[term]) for term, count in counts.items() if term in self.terms]
        values = np.array([count * idf for count, idf, _ in known], dtype=np.float64)
        norm = float(np.linalg.norm(values))
        if not norm:
            return self.bias
        return float(values @ np.array([weight for *_, weight in known])) / norm + self.bias


def example_hash(example: WindowExample) -> str:
    """Return a short hash that identifies a training example."""
    return hashlib.blake2b(_as_text(example).encode(), digest_size=6).hexdigest()


def classical(train: Sequence[WindowExample], kind: Literal["svm", "logistic"], seed: int = 0) -> ClassicalModel:
    """Train a linear model on TF-IDF of ``ANSWER: ... EVIDENCE: ...``.

    Raises:
        InputError: The examples have one label only.
        MissingExtraError: scikit-learn is not installed.
    """
    counts = Counter("correct" if example.correct else "incorrect" for example in train)
    if len(counts) < 2:
        raise InputError("expected correct and incorrect pairs; found one kind. Give more.")
    text = eval_package("sklearn.feature_extraction.text", "classical classifier")
    vectors: Any = text.TfidfVectorizer(ngram_range=(1, 2), min_df=min(2, len(train)), sublinear_tf=True)
    model: Any
    if kind == "svm":
        model = eval_package("sklearn.svm", "classical classifier").LinearSVC(random_state=seed)
    else:
        linear = eval_package("sklearn.linear_model", "classical classifier")
        model = linear.LogisticRegression(max_iter=2000, random_state=seed)
    model.fit(vectors.fit_transform(map(_as_text, train)), [example.correct for example in train])
    columns: dict[str, int] = vectors.vocabulary_
    weights, frequencies = np.ravel(model.coef_), np.ravel(vectors.idf_)
    return ClassicalModel(
        form=kind,
        terms={term: (float(frequencies[at]), float(weights[at])) for term, at in sorted(columns.items())},
        bias=float(np.ravel(model.intercept_)[0]),
        trained_on=dict(counts),
        seen=tuple(map(example_hash, train)),
    )


def _as_text(example: WindowExample) -> str:
    return f"ANSWER: {example.sentence} EVIDENCE: {example.window}"


def by_length(rows: Sequence[WindowExample]) -> Floats:
    """Score by length alone: marked spans are shorter. This is a baseline that does not read the texts."""
    return -np.array([len(row.window) for row in rows], dtype=np.float64)


def by_cosine(embedder: Embeds) -> Scorer:
    """Return a scorer by the cosine of sentence and window. It keeps the vectors: many sentences share windows."""
    vectors: dict[str, NDArray[np.float32]] = {}

    def score(rows: Sequence[WindowExample]) -> Floats:
        texts = dict.fromkeys([*(row.sentence for row in rows), *(row.window for row in rows)])
        if new := [text for text in texts if text not in vectors]:
            vectors.update(zip(new, embedder.embed(new), strict=True))
        return np.array([float(vectors[row.sentence] @ vectors[row.window]) for row in rows], dtype=np.float64)

    return score


def by_judge(judge: Judge) -> Scorer:
    """Return a scorer by the probability that the window entails the sentence; NaN if it could not be judged."""

    def score(rows: Sequence[WindowExample]) -> Floats:
        pairs = [Pair(row.window, row.sentence) for row in rows]
        distinct = list(dict.fromkeys(pairs))
        judged = dict(zip(distinct, ask(judge, distinct), strict=True))
        return np.array(
            [float(judged[pair].probabilities[ENTAILS]) if judged[pair].failure is None else np.nan for pair in pairs]
        )

    return score


def auc(gold: Bools, scores: Floats) -> float:
    """Return the area under the ROC curve, where a tie counts half; NaN if there is only one class.

    Examples without a score, such as after a failure of the judge, are left out.
    """
    known = ~np.isnan(scores)
    gold, scores = gold[known], scores[known]
    ranks = eval_package("scipy.stats", "AUC").rankdata(scores)
    positive = int(gold.sum())
    negative = len(gold) - positive
    if not positive or not negative:
        return float("nan")
    return float((ranks[gold].sum() - positive * (positive + 1) / 2) / (positive * negative))
