"""Classify whether a document makes a sentence correct, by pairs of a sentence and a window of three sentences.

A positive pair is a sentence with the span that annotators marked. The negative pair has the window outside the span
that BM25 ranks first: for the question as in BioACE, or for the sentence itself, which is harder.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
    """A sentence of an answer, and a document whose evidence sentences annotators marked."""

    sentence: str
    question: str
    document: tuple[str, ...]
    evidence: frozenset[int]
    group: str = ""


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
        own = " ".join(case.document[index] for index in sorted(case.evidence))
        found.append(WindowExample(case.sentence, own, True, case.group))
        outside = [text for window, text in windows(case.document, size) if not case.evidence & set(window)]
        if outside:
            scores = BM25(outside).scores(case.question if ranked == "question" else case.sentence)
            found.append(WindowExample(case.sentence, outside[int(scores.argmax())], False, case.group))
    return found


Scorer = Callable[[Sequence[WindowExample]], Floats]
"""Scores examples; higher means more probably correct."""


def classical(train: Sequence[WindowExample], kind: Literal["svm", "logistic"], seed: int = 0) -> Scorer:
    """Train a linear model on TF-IDF of ``ANSWER: ... EVIDENCE: ...``.

    Raises:
        MissingExtraError: scikit-learn is not installed.
    """
    text = eval_package("sklearn.feature_extraction.text", "classical classifier")
    vectors: Any = text.TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True)
    model: Any
    if kind == "svm":
        model = eval_package("sklearn.svm", "classical classifier").LinearSVC(random_state=seed)
    else:
        linear = eval_package("sklearn.linear_model", "classical classifier")
        model = linear.LogisticRegression(max_iter=2000, random_state=seed)
    model.fit(vectors.fit_transform(map(_as_text, train)), [example.correct for example in train])
    return lambda rows: np.asarray(model.decision_function(vectors.transform(map(_as_text, rows))), dtype=np.float64)


def _as_text(example: WindowExample) -> str:
    return f"ANSWER: {example.sentence} EVIDENCE: {example.window}"


def by_length(rows: Sequence[WindowExample]) -> Floats:
    """Score by length alone: marked spans are shorter. This is a baseline that does not read the texts."""
    return -np.array([len(row.window) for row in rows], dtype=np.float64)


def by_cosine(embedder: Embeds) -> Scorer:
    """Return a scorer by the cosine of sentence and window."""

    def score(rows: Sequence[WindowExample]) -> Floats:
        texts = list(dict.fromkeys([*(row.sentence for row in rows), *(row.window for row in rows)]))
        vectors = dict(zip(texts, embedder.embed(texts), strict=True))
        return np.array([float(vectors[row.sentence] @ vectors[row.window]) for row in rows])

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


def document_score(case: Marked, score: Scorer, size: int = WINDOW) -> float:
    """Return the maximum score over a document's windows; NaN if none has a score."""
    rows = [WindowExample(case.sentence, text, True, case.group) for _, text in windows(case.document, size)]
    found = score(rows)
    return float(np.nanmax(found)) if not np.isnan(found).all() else float("nan")


class Retrieved(NamedTuple):
    """A sentence of an answer, and the sentences of each document found for its question, best first."""

    sentence: str
    documents: tuple[tuple[str, ...], ...]


CUTS = tuple(range(10, 101, 10))
"""Numbers of documents to read: BioACE's T10 to T100."""


def correctness_at(
    cases: Sequence[Retrieved], score: Scorer, bar: float, cuts: Sequence[int] = CUTS, size: int = WINDOW
) -> dict[int, float]:
    """Return for each cut the share of sentences that a window of the first documents makes correct.

    With cited documents and a cut above their number this is BioACE's Supp(AS). With cited documents that annotators
    judged to support the sentence it is Supp(CS).

    Args:
        cases: Sentences with documents, in the ranking of a search for the question.
        score: The scorer; a window without a score does not count.
        bar: Minimum score for a window to make a sentence correct.
        cuts: Numbers of documents to read.
        size: Number of sentences per window.

    Raises:
        ValueError: There are no cases.
    """
    if not cases:
        raise ValueError("expected sentences with documents; found none")
    first: list[float] = []
    for case in cases:
        found = np.inf
        for rank, document in enumerate(case.documents[: max(cuts)], start=1):
            rows = [WindowExample(case.sentence, text, True, "") for _, text in windows(document, size)]
            if np.any(score(rows) >= bar):
                found = rank
                break
        first.append(found)
    return {cut: float((np.array(first) <= cut).mean()) for cut in cuts}


class OwnAndOther(NamedTuple):
    """Result of algorithm 1: scores of sentences with their own document and with one of another question."""

    positive: float
    negative: float
    accuracy: float
    auc: float
    n: int


def algorithm_1(cases: Sequence[Marked], score: Scorer, evidence: bool = False, size: int = WINDOW) -> OwnAndOther:
    """Score each sentence with its own document (or evidence) and with that of the next other question.

    Cases without both scores are left out; ``n`` counts the others.

    Raises:
        ValueError: All cases have the same question.
    """

    def scored(case: Marked, other: Marked) -> float:
        sentences = tuple(other.document[index] for index in sorted(other.evidence)) if evidence else other.document
        return document_score(Marked(case.sentence, case.question, sentences, frozenset()), score, size)

    rows: list[tuple[float, float]] = []
    for index, case in enumerate(cases):
        rotated = [*cases[index + 1 :], *cases[:index]]
        other = next((candidate for candidate in rotated if candidate.question != case.question), None)
        if other is None:
            raise ValueError("expected cases of at least two questions; found one")
        rows.append((scored(case, case), scored(case, other)))
    scores = np.array(rows, dtype=np.float64).reshape(-1, 2)
    scores = scores[~np.isnan(scores).any(axis=1)]
    if not len(scores):
        return OwnAndOther(np.nan, np.nan, np.nan, np.nan, 0)
    positive, negative = scores.T
    gold = np.repeat([True, False], len(scores))
    return OwnAndOther(
        float(positive.mean()),
        float(negative.mean()),
        float((positive > negative).mean()),
        auc(gold, np.concatenate([positive, negative])),
        len(scores),
    )


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
