"""BioACE's table and figures of correctness.

Classifiers of pairs (table 3), similarity and NLI compared with another question's documents (algorithm 1, figure 1),
and whole documents, cited or retrieved (figure A6).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vericite.disk.fitted import read_fitted
from vericite.evaluate.resampling import Bootstrap, ratio
from vericite.lab.assess.answers import SystemAnswer
from vericite.lab.assess.citations import LabelledCase, named_judge, sentences_of
from vericite.lab.assess.correctness import (
    WINDOW,
    ClassicalModel,
    Marked,
    Ranked,
    Scorer,
    WindowExample,
    auc,
    by_cosine,
    by_judge,
    covered,
    example_hash,
    examples,
    windows,
)
from vericite.lab.assess.tables import FigureRow, sums_of
from vericite.models.contracts import Embeds, Judge, traits_of
from vericite.text.references import Library

Floats = NDArray[np.float64]

PAIRS = "correctness of pairs (table 3)"
OTHERS = "correctness by similarity and NLI (figure 1)"
DOCUMENTS = "correctness by documents (figure A6)"
SIMILAR = 0.75
"""Minimum cosine for a window to make a sentence correct, as in the paper."""
CUTS = tuple(range(10, 101, 10))
"""Numbers of documents to read: BioACE's T10 to T100."""
_WORDS = ("correct", "incorrect")


@dataclass(frozen=True)
class CorrectnessModel:
    """A classifier of pairs of a sentence and a window.

    Attributes:
        score: Scores pairs; NaN for failures.
        bar: Minimum score of a correct pair.
        graded: Whether the scores rank pairs, so that there is an AUC.
        seen: Hashes of the pairs that it was trained on, if known.
    """

    score: Scorer
    bar: float
    graded: bool = True
    seen: frozenset[str] = frozenset()


def correctness_model(text: str, embedder: Embeds) -> tuple[str, CorrectnessModel]:
    """Load a classifier and return it with its name in tables.

    Args:
        text: A file or an adapter's folder from ``vericite bioace train-correctness``, ``cosine``, a judge's name, or
            ``NAME=FILE`` with scores.
        embedder: The embedder of ``cosine``.

    Raises:
        InputError: A file cannot be used.
        UnknownNameError: Unknown judge.
        MissingExtraError: An adapter needs an extra that is not installed.
    """
    path = Path(text)
    if path.is_file():
        model = read_fitted(ClassicalModel, path, "a classifier of correctness", "Train one again.")
        return text, CorrectnessModel(model.score, 0.0, True, frozenset(model.seen))
    if text == "cosine":
        return text, CorrectnessModel(by_cosine(embedder), SIMILAR)
    name, judge = named_judge(text)
    return name, CorrectnessModel(by_judge(judge), 0.5, traits_of(judge).graded)


def marked_cases(cases: Sequence[LabelledCase], punkt: bool = False) -> list[Marked]:
    """Return a case for each span that people marked in a supporting document; a group is a question."""
    found: list[Marked] = []
    for case in dict.fromkeys(cases):
        if case.said == "supports" and case.evidence:
            sentences = sentences_of(case.document, punkt)
            marked = frozenset[int]().union(*(covered(sentences, span) for span in case.evidence))
            found += [Marked(case.claim, case.asked, sentences, marked, case.question, span) for span in case.evidence]
    return found


def pairs_of_cases(
    cases: Sequence[LabelledCase], ranked: Ranked = "question", punkt: bool = False, size: int = WINDOW
) -> list[WindowExample]:
    """Return the correct and incorrect pairs of labelled citations with marked spans."""
    return list(dict.fromkeys(examples(marked_cases(cases, punkt), ranked, size)))


def pair_rows(
    pairs: Sequence[WindowExample], models: Mapping[str, CorrectnessModel], bootstrap: Bootstrap, remarks: list[str]
) -> list[FigureRow]:
    """Return macro-averaged precision, recall and F1 of each classifier, and its AUC."""
    names = ", ".join((*_MACRO, "AUC"))
    if not pairs:
        needs = "spans marked in supporting documents (medaesqa:FILE) and the documents' texts (--documents)"
        return [FigureRow(PAIRS, names, needs=needs)]
    if not models:
        return [FigureRow(PAIRS, names, needs="a classifier: --set correctness=NAME or FILE")]
    counts = Counter(_WORDS[not pair.correct] for pair in pairs)
    remarks.append(f"table 3 has {counts['correct']} correct and {counts['incorrect']} incorrect pairs")
    rows: list[FigureRow] = []
    for by, model in models.items():
        if known := sum(example_hash(pair) in model.seen for pair in pairs):
            remarks.append(f"{by} was trained on {known} of these {len(pairs)} pairs")
        rows += _of_model(pairs, by, model, bootstrap)
    return rows


_MACRO = ("P, macro", "R, macro", "F1, macro")


def _of_model(
    pairs: Sequence[WindowExample], by: str, model: CorrectnessModel, bootstrap: Bootstrap
) -> list[FigureRow]:
    scores = model.score(pairs)
    gold = np.array([pair.correct for pair in pairs])
    per_question: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    for pair, score in zip(pairs, scores, strict=True):
        if not np.isnan(score):
            per_question[pair.group][_WORDS[not pair.correct], _WORDS[not score >= model.bar]] += 1
    rows: list[FigureRow] = []
    if per_question:
        sums = np.array([[sums_of(listed, _WORDS)] for listed in per_question.values()], dtype=np.float64)
        estimates = [bootstrap.pooled(sums, partial(_macro, index))[0] for index in range(len(_MACRO))]
        rows += [FigureRow(PAIRS, name, None, found, by=by) for name, found in zip(_MACRO, estimates, strict=True)]
    if per_question and model.graded:
        area = bootstrap.over_rows(lambda drawn: auc(gold[drawn], scores[drawn]), [pair.group for pair in pairs])
        rows.append(FigureRow(PAIRS, "AUC", None, area, by=by))
    if failed := int(np.isnan(scores).sum()):
        rows.append(FigureRow(PAIRS, "failed", needs=f"{failed} of {len(pairs)} could not be judged", by=by))
    return rows


def _macro(index: int, sums: Floats) -> Floats:
    """Return the mean over both labels of precision, recall or F1; undefined ones are 0, as in scikit-learn."""
    right, found, said = (sums[..., offset::3] for offset in range(3))
    below = (found, said, (found + said) / 2)[index]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below > 0, right / below, 0.0).mean(axis=-1)


@dataclass(frozen=True)
class SupportedSentence:
    """A sentence of an answer with its supporting documents.

    Attributes:
        question: The id of the question.
        sentence: The sentence.
        windows: The windows of its supporting documents.
        evidence: The spans of these documents that people marked.
    """

    question: str
    sentence: str
    windows: tuple[str, ...]
    evidence: tuple[str, ...]


def supported_sentences(
    cases: Sequence[LabelledCase], punkt: bool = False, size: int = WINDOW
) -> list[SupportedSentence]:
    """Return the sentences that at least one document supports, in order."""
    listed: dict[tuple[str, str, int], list[LabelledCase]] = defaultdict(list)
    for case in cases:
        if case.said == "supports":
            listed[case.question, case.system, case.sentence].append(case)
    return [
        SupportedSentence(
            own[0].question,
            own[0].claim,
            tuple(text for case in own for _, text in windows(sentences_of(case.document, punkt), size)),
            tuple(span for case in own for span in case.evidence),
        )
        for own in listed.values()
    ]


class OwnAndOther(NamedTuple):
    """Result of algorithm 1 for a question: its sentences with their own texts, and with those of another question."""

    positive: float
    negative: float
    accuracy: float
    auc: float


def algorithm_1(
    sentences: Sequence[SupportedSentence],
    score: Scorer,
    texts: Callable[[SupportedSentence], Sequence[str]],
    seed: int = 0,
) -> dict[str, OwnAndOther]:
    """Compare each sentence with its own texts and with those of the first sentence of another question, drawn by lot.

    A sentence's score is the maximum over the texts. Sentences without both scores are left out.

    Args:
        sentences: The sentences.
        score: The scorer.
        texts: Returns the windows of a sentence's documents, or its evidence.
        seed: Seed of the drawing.
    """
    first: dict[str, SupportedSentence] = {}
    for sentence in sentences:
        if texts(sentence):
            first.setdefault(sentence.question, sentence)
    drawn = Random(seed)
    asked: list[WindowExample] = []
    places: list[tuple[str, tuple[range, range]]] = []
    for sentence in sentences:
        others = [question for question in first if question != sentence.question]
        if not texts(sentence) or not others:
            continue
        sides: list[range] = []
        for of in (sentence, first[drawn.choice(others)]):
            start = len(asked)
            asked += [WindowExample(sentence.sentence, text, True, sentence.question) for text in texts(of)]
            sides.append(range(start, len(asked)))
        places.append((sentence.question, (sides[0], sides[1])))
    scores = _scored_once(asked, score)
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for question, (own, other) in places:
        both = (_maximum(scores[own.start : own.stop]), _maximum(scores[other.start : other.stop]))
        if not np.isnan(both).any():
            found[question].append(both)
    return {question: _compared(np.array(rows)) for question, rows in found.items()}


def _compared(rows: Floats) -> OwnAndOther:
    positive, negative = rows.T
    area = auc(np.repeat([True, False], len(rows)), np.concatenate([positive, negative]))
    return OwnAndOther(float(positive.mean()), float(negative.mean()), float((positive > negative).mean()), area)


def _maximum(scores: Floats) -> float:
    known = scores[~np.isnan(scores)]
    return float(known.max()) if len(known) else float("nan")


def _scored_once(asked: Sequence[WindowExample], score: Scorer) -> Floats:
    """Score each distinct pair once."""
    distinct = list(dict.fromkeys(asked))
    known = dict(zip(distinct, score(distinct).tolist() if distinct else [], strict=True))
    return np.array([known[row] for row in asked], dtype=np.float64)


def similarity_rows(
    sentences: Sequence[SupportedSentence],
    embedders: Mapping[str, Embeds],
    nli: Mapping[str, Judge],
    bootstrap: Bootstrap,
) -> list[FigureRow]:
    """Return figure 1: means over questions of algorithm 1, by embedders and by NLI, with documents and evidence."""
    scorers = {f"cosine, {name}": by_cosine(embedder) for name, embedder in embedders.items()}
    scorers |= {f"NLI, {name}": by_judge(judge) for name, judge in nli.items()}
    title = "positive, negative, accuracy, AUC"
    if len({sentence.question for sentence in sentences}) < 2:
        needs = "supporting documents with texts (--documents) of at least two questions"
        return [FigureRow(OTHERS, title, needs=needs)]
    rows: list[FigureRow] = []
    for by, score in scorers.items():
        for name, texts in (("documents", _windows_of), ("evidence", _evidence_of)):
            found = algorithm_1(sentences, score, texts, bootstrap.seed)
            if not found:
                needs = "spans that people marked (medaesqa:FILE)" if name == "evidence" else "scores of documents"
                rows.append(FigureRow(OTHERS, f"{title}, {name}", needs=needs, by=by))
                continue
            estimates = bootstrap.means(np.array([*found.values()]))
            for figure, estimate in zip(("positive", "negative", "accuracy", "AUC"), estimates, strict=True):
                rows.append(FigureRow(OTHERS, f"{figure}, {name}", None, estimate, by=by))
    return rows


def _windows_of(sentence: SupportedSentence) -> Sequence[str]:
    return sentence.windows


def _evidence_of(sentence: SupportedSentence) -> Sequence[str]:
    return sentence.evidence


class ReadSentence(NamedTuple):
    """A sentence of an answer, and the sentences of each document to read for it, best first."""

    question: str
    sentence: str
    documents: tuple[tuple[str, ...], ...]


def rank_of_first(case: ReadSentence, model: CorrectnessModel, size: int = WINDOW) -> float:
    """Return the rank of the first document with a window that makes the sentence correct; infinity without one."""
    for rank, document in enumerate(case.documents, start=1):
        rows = [WindowExample(case.sentence, text, True, case.question) for _, text in windows(document, size)]
        if np.any(model.score(rows) >= model.bar):
            return rank
    return float("inf")


def cited_sentences(cases: Sequence[LabelledCase], supported: bool, punkt: bool = False) -> list[ReadSentence]:
    """Return the cited sentences with their cited documents; with ``supported`` only with the supporting ones."""
    listed: dict[tuple[str, str, int], list[LabelledCase]] = defaultdict(list)
    for case in cases:
        if case.said == "supports" or not supported:
            listed[case.question, case.system, case.sentence].append(case)
    return [
        ReadSentence(own[0].question, own[0].claim, tuple(sentences_of(case.document, punkt) for case in own))
        for own in listed.values()
    ]


def retrieved_sentences(
    answers: Sequence[SystemAnswer], ranked: Mapping[str, Sequence[str]], library: Library, punkt: bool = False
) -> tuple[list[ReadSentence], int]:
    """Return all sentences of answers to questions with retrieved documents, and the number of unknown documents."""
    documents: dict[str, tuple[tuple[str, ...], ...]] = {}
    unknown = 0
    for question, ids in ranked.items():
        found = [library.find(id) for id in ids[: max(CUTS)]]
        documents[question] = tuple(sentences_of(one, punkt) for one in found if one is not None and one.text.strip())
        unknown += len(found) - len(documents[question])
    listed = [
        ReadSentence(entry.question, claim.text, documents[entry.question])
        for entry in answers
        if entry.item.answer is not None and documents.get(entry.question)
        for claim in entry.item.answer.claims
        if claim.text.strip()
    ]
    return listed, unknown


def document_rows(
    cases: Sequence[LabelledCase],
    retrieved: Sequence[ReadSentence],
    models: Mapping[str, CorrectnessModel],
    bootstrap: Bootstrap,
    punkt: bool = False,
) -> list[FigureRow]:
    """Return figure A6: the share of sentences that a window of the documents makes correct.

    Supp(AS) reads all cited documents, Supp(CS) those that people judged to support the sentence, and T10 to T100 the
    first documents that were retrieved for the question.
    """
    if not models:
        needs = "a classifier: --set correctness=NAME or FILE"
        return [FigureRow(DOCUMENTS, "Supp(AS), Supp(CS), T10 to T100", needs=needs)]
    read = {"Supp(AS)": cited_sentences(cases, False, punkt), "Supp(CS)": cited_sentences(cases, True, punkt)}
    rows: list[FigureRow] = []
    if not read["Supp(AS)"]:
        needs = "labelled citations of documents with texts (--documents)"
        rows.append(FigureRow(DOCUMENTS, "Supp(AS), Supp(CS)", needs=needs))
    if not retrieved:
        needs = "--set retrieved=RUN, documents found for the questions (a TREC run), and their texts (--documents)"
        rows.append(FigureRow(DOCUMENTS, "T10 to T100", needs=needs))
    for by, model in models.items():
        for name, listed in read.items():
            ranks = [rank_of_first(case, model) for case in listed]
            if ranks:
                rows.append(_share(name, by, listed, np.isfinite(ranks), bootstrap))
        known: dict[ReadSentence, float] = {}
        for case in retrieved:
            if case not in known:
                known[case] = rank_of_first(case, model)
        ranks = np.array([known[case] for case in retrieved])
        rows += [_share(f"T{cut}", by, retrieved, ranks <= cut, bootstrap) for cut in CUTS if len(ranks)]
    return rows


def _share(
    name: str, by: str, cases: Sequence[ReadSentence], correct: NDArray[np.bool_], bootstrap: Bootstrap
) -> FigureRow:
    per_question: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for case, value in zip(cases, correct, strict=True):
        per_question[case.question][0] += float(value)
        per_question[case.question][1] += 1
    sums = np.array([[found] for found in per_question.values()], dtype=np.float64)
    return FigureRow(DOCUMENTS, name, None, bootstrap.pooled(sums, ratio)[0], by=by)
