"""Whether a document makes a sentence correct: pairs of a sentence and a window of three sentences.

A positive pair is a sentence with the span that people marked. Its negative is, of the windows outside the span, the
one that BM25 ranks best: for the question as in BioACE, or for the sentence itself, which is harder.
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
    """A sentence of an answer, and a document with the sentences of it that people marked as its evidence."""

    sentence: str
    question: str
    document: tuple[str, ...]
    evidence: frozenset[int]
    group: str = ""


class WindowExample(NamedTuple):
    """A sentence and a window of a document, and whether the window makes it correct."""

    sentence: str
    window: str
    correct: bool
    group: str


def windows(sentences: Sequence[str], size: int = WINDOW) -> list[tuple[range, str]]:
    """Each stretch of so many consecutive sentences; a document with fewer is one."""
    starts = range(max(len(sentences) - size, 0) + 1)
    stretches = [range(start, min(start + size, len(sentences))) for start in starts]
    return [(stretch, " ".join(sentences[at] for at in stretch)) for stretch in stretches]


def examples(marked: Sequence[Marked], ranked: Ranked = "question", size: int = WINDOW) -> list[WindowExample]:
    """A positive and a negative of each; one without a window outside its evidence has no negative."""
    found: list[WindowExample] = []
    for case in marked:
        own = " ".join(case.document[at] for at in sorted(case.evidence))
        found.append(WindowExample(case.sentence, own, True, case.group))
        outside = [text for stretch, text in windows(case.document, size) if not case.evidence & set(stretch)]
        if outside:
            scores = BM25(outside).scores(case.question if ranked == "question" else case.sentence)
            found.append(WindowExample(case.sentence, outside[int(scores.argmax())], False, case.group))
    return found


Scorer = Callable[[Sequence[WindowExample]], Floats]
"""The higher, the likelier each is correct."""


def classical(train: Sequence[WindowExample], kind: Literal["svm", "logistic"], seed: int = 0) -> Scorer:
    """A linear model on TF-IDF of ``ANSWER: ... EVIDENCE: ...``.

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
    model.fit(vectors.fit_transform(map(_joined, train)), [one.correct for one in train])
    return lambda rows: np.asarray(model.decision_function(vectors.transform(map(_joined, rows))), dtype=np.float64)


def _joined(example: WindowExample) -> str:
    return f"ANSWER: {example.sentence} EVIDENCE: {example.window}"


def by_length(rows: Sequence[WindowExample]) -> Floats:
    """The shorter a window, the likelier it is a marked span: what a classifier can learn without reading."""
    return -np.array([len(one.window) for one in rows], dtype=np.float64)


def by_cosine(embedder: Embeds) -> Scorer:
    """The cosine of sentence and window."""

    def score(rows: Sequence[WindowExample]) -> Floats:
        texts = list(dict.fromkeys([*(one.sentence for one in rows), *(one.window for one in rows)]))
        vectors = dict(zip(texts, embedder.embed(texts), strict=True))
        return np.array([float(vectors[one.sentence] @ vectors[one.window]) for one in rows])

    return score


def by_judge(judge: Judge) -> Scorer:
    """The probability that the window entails the sentence; NaN where it could not be judged."""

    def score(rows: Sequence[WindowExample]) -> Floats:
        pairs = [Pair(one.window, one.sentence) for one in rows]
        new = list(dict.fromkeys(pairs))
        judged = dict(zip(new, ask(judge, new), strict=True))
        return np.array(
            [float(it.probabilities[ENTAILS]) if (it := judged[pair]).failure is None else np.nan for pair in pairs]
        )

    return score


def document_score(case: Marked, score: Scorer, size: int = WINDOW) -> float:
    """The best of a document's windows, by which all of it makes a sentence correct; NaN where none has a score."""
    rows = [WindowExample(case.sentence, text, True, case.group) for _, text in windows(case.document, size)]
    found = score(rows)
    return float(np.nanmax(found)) if not np.isnan(found).all() else float("nan")


class Retrieved(NamedTuple):
    """A sentence of an answer, and the sentences of each document that was found for its question, the best first."""

    sentence: str
    documents: tuple[tuple[str, ...], ...]


CUTS = tuple(range(10, 101, 10))
"""Documents that are read: BioACE's T10 to T100."""


def correctness_at(
    cases: Sequence[Retrieved], score: Scorer, bar: float, cuts: Sequence[int] = CUTS, size: int = WINDOW
) -> dict[int, float]:
    """The share of sentences that some window of the first so many documents makes correct, at each cut.

    Of cited documents and one cut above their number it is BioACE's Supp(AS), and of those that people judged to
    support Supp(CS).

    Args:
        cases: Sentences with their documents, as a search for the question ranks them.
        score: Who says how likely a window makes a sentence correct; a window without a score makes none.
        bar: From this score on it does.
        cuts: How many documents are read.
        size: Sentences of a window.

    Raises:
        ValueError: There are no cases.
    """
    if not cases:
        raise ValueError("expected sentences with documents; found none")
    first: list[float] = []
    for case in cases:
        found = np.inf
        for place, document in enumerate(case.documents[: max(cuts)], start=1):
            rows = [WindowExample(case.sentence, text, True, "") for _, text in windows(document, size)]
            if np.any(score(rows) >= bar):
                found = place
                break
        first.append(found)
    return {cut: float((np.array(first) <= cut).mean()) for cut in cuts}


class OwnAndOther(NamedTuple):
    """Algorithm 1: scores of sentences with their own document and with another question's."""

    positive: float
    negative: float
    accuracy: float
    auc: float
    n: int


def algorithm_1(cases: Sequence[Marked], score: Scorer, evidence: bool = False, size: int = WINDOW) -> OwnAndOther:
    """Each sentence with its document (or its evidence alone) against that of another question, the next one in order.

    One that has no score with either is left out, and ``n`` counts the others.

    Raises:
        ValueError: All cases are of one question.
    """

    def scored(case: Marked, other: Marked) -> float:
        sentences = tuple(other.document[at] for at in sorted(other.evidence)) if evidence else other.document
        return document_score(Marked(case.sentence, case.question, sentences, frozenset()), score, size)

    rows: list[tuple[float, float]] = []
    for place, case in enumerate(cases):
        turned = [*cases[place + 1 :], *cases[:place]]
        other = next((it for it in turned if it.question != case.question), None)
        if other is None:
            raise ValueError("expected cases of two questions or more; found one")
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
    """The area under the curve; a tie counts half. NaN where all are of one kind.

    What has no score, as where a judge failed, is left out.
    """
    known = ~np.isnan(scores)
    gold, scores = gold[known], scores[known]
    ranks = eval_package("scipy.stats", "AUC").rankdata(scores)
    positive = int(gold.sum())
    negative = len(gold) - positive
    if not positive or not negative:
        return float("nan")
    return float((ranks[gold].sum() - positive * (positive + 1) / 2) / (positive * negative))
