"""Tables of answers' sentences and citations: by human labels, by a model or judge, and the agreement of both."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from vericite.evaluate.agreement import FEWEST_SYSTEMS, Kendall, Spearman
from vericite.evaluate.resampling import Bootstrap, Estimate, ratio
from vericite.lab.assess.answers import SystemAnswer
from vericite.lab.assess.completeness import LABELS, AnswerSentence, Labeller
from vericite.records import SentenceLabel

Floats = NDArray[np.float64]

RELEVANT: tuple[SentenceLabel, ...] = ("required", "borderline")
_SENTENCES: Mapping[str, tuple[SentenceLabel, ...]] = {
    "completeness": ("required",),
    "precision (R+B)": RELEVANT,
    "redundancy": ("unnecessary",),
    "harmfulness": ("inappropriate",),
}


@dataclass(frozen=True)
class FigureRow:
    """A row of a table: a figure, or what is needed to compute it or its interval; ``by`` names the judge or model."""

    table: str
    row: str
    system: str | None = None
    estimate: Estimate | None = None
    needs: str | None = None
    by: str | None = None

    @property
    def record(self) -> dict[str, object]:
        """JSON-ready dict."""
        figures = {} if self.estimate is None else asdict(self.estimate)
        named = {"table": self.table, "row": self.row, "system": self.system, "by": self.by}
        return {**named, **figures, "needs": self.needs}


SentenceLabels = Mapping[tuple[str, str], Sequence[SentenceLabel | None]]
"""The labels of an answer's sentences, by question and system."""


def _shares(labels: SentenceLabels, whole: bool = False) -> dict[str, dict[str, list[float]]]:
    """Return by figure and system the shares of sentences in each answer with labels.

    Sentences without a label are left out, or with ``whole`` count in the denominator.
    """
    found: dict[str, dict[str, list[float]]] = {name: defaultdict(list) for name in _SENTENCES}
    for (_, system), listed in labels.items():
        given = [label for label in listed if label is not None]
        for name, counted in _SENTENCES.items():
            if given:
                found[name][system].append(sum(label in counted for label in given) / len(listed if whole else given))
    return found


def sentence_table(
    labels: SentenceLabels,
    bootstrap: Bootstrap,
    table: str = "sentences (completeness)",
    needs: str | None = None,
    whole: bool = False,
) -> list[FigureRow]:
    """Return for each system the mean over answers of each share of sentences."""
    shares = _shares(labels, whole)
    if not any(shares.values()):
        needs = needs or '"sentences" labels of the answers (labels.jsonl, medaesqa:FILE)'
        return [FigureRow(table, ", ".join(_SENTENCES), needs=needs)]
    return [
        FigureRow(table, name, system, bootstrap.means(np.array(values)[:, None])[0])
        for name, systems in shares.items()
        for system, values in systems.items()
    ]


def labelled_sentences(answers: Sequence[SystemAnswer]) -> list[tuple[AnswerSentence, SentenceLabel]]:
    """Return sentences with human labels, for training."""
    return [
        (AnswerSentence(entry.item.answer.question or entry.question, claim.text), label)
        for entry in answers
        if entry.item.answer is not None and entry.item.labels is not None
        for claim, label in zip(entry.item.answer.claims, entry.item.labels.sentences or (), strict=False)
        if label is not None
    ]


def label_sentences(answers: Sequence[SystemAnswer], labeller: Labeller | None, remarks: list[str]) -> SentenceLabels:
    """Label every sentence of every answer; failures are added to the remarks."""
    if labeller is None:
        return {}
    known = [(entry, entry.item.answer) for entry in answers if entry.item.answer is not None]
    asked = [
        AnswerSentence(answer.question or entry.question, claim.text)
        for entry, answer in known
        for claim in answer.claims
    ]
    labelled = list(labeller.label(asked))
    if trained := labeller.known(asked):
        remarks.append(
            f"the classifier was trained on {trained} of these {len(asked)} sentences: its agreement on them says "
            "nothing about other sentences"
        )
    failures = Counter(sentence.failure for sentence in labelled if sentence.failure is not None)
    remarks += [f"{count} of {len(asked)} sentences without a label: {why}" for why, count in failures.items()]
    found: dict[tuple[str, str], list[SentenceLabel | None]] = {}
    remaining = iter(labelled)
    for entry, answer in known:
        found[entry.question, entry.system] = [next(remaining).label for _ in answer.claims]
    return found


def compared_sentences(by_model: SentenceLabels, by_people: SentenceLabels, bootstrap: Bootstrap) -> list[FigureRow]:
    """Return the shares by a model's labels, and the agreement of these labels with human ones."""
    table = "sentences by a model"
    needs = "a labeller: --set completeness=llm or the file of a classifier"
    rows = sentence_table(by_model, bootstrap, table, needs)
    compared = "sentences by a model against people (table 2)"
    names = ("P, weighted", "R, weighted", "F1, weighted")
    if not by_model:
        return [*rows, FigureRow(compared, ", ".join(names), needs=needs)]
    per_question: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    for (question, system), labels in by_people.items():
        for said, found in zip(labels, by_model.get((question, system), ()), strict=False):
            if said is not None:
                # A sentence without a label from the model counts as wrong.
                per_question[question][said, found or "none"] += 1
    if not per_question:
        return [*rows, FigureRow(compared, ", ".join(names), needs='"sentences" labels of the answers')]
    sums = np.array([[sums_of(counts, LABELS)] for counts in per_question.values()], dtype=np.float64)
    for index, name in enumerate(names):

        def figure(drawn: Floats, index: int = index) -> Floats:
            return _weighted(drawn)[index]

        rows.append(FigureRow(compared, name, None, bootstrap.pooled(sums, figure)[0]))
    return rows


def _weighted(sums: Floats) -> list[Floats]:
    """Return precision, recall and F1 as means over labels, weighted by the frequency of the human labels."""
    right, found, said = (sums[..., offset::3] for offset in range(3))
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = said / said.sum(axis=-1, keepdims=True)
        shares = (
            np.where(found > 0, right / found, 0.0),
            np.where(said > 0, right / said, 0.0),
            np.where(found + said > 0, 2 * right / (found + said), 0.0),
        )
        return [(share * weights).sum(axis=-1) for share in shares]


def sentence_rankings(
    by_model: SentenceLabels, by_people: SentenceLabels, bootstrap: Bootstrap, whole: bool = False
) -> list[FigureRow]:
    """Correlate the rankings of systems by a model's and by human labels, for each share."""
    table = "rankings by sentences (A2)"
    if not by_model or not by_people:
        needs = "--set completeness=llm and sentence labels of at least three systems"
        return [FigureRow(table, ", ".join(_SENTENCES), needs=needs)]
    automatic, human = (
        {name: _means(shares) for name, shares in _shares(labels, whole and labels is by_people).items()}
        for labels in (by_model, by_people)
    )
    return [row for name in _SENTENCES for row in ranked(table, name, automatic[name], human[name], bootstrap)]


def _means(shares: Mapping[str, Sequence[float]]) -> dict[str, float]:
    return {system: float(np.mean(values)) for system, values in shares.items()}


def ranked(
    table: str,
    name: str,
    automatic: Mapping[str, float],
    human: Mapping[str, float],
    bootstrap: Bootstrap,
    by: str | None = None,
) -> list[FigureRow]:
    """Return Spearman and Kendall correlations of two rankings, or what is needed if there are too few systems."""
    systems = sorted(automatic.keys() & human.keys())
    if len(systems) < 3:
        return [FigureRow(table, name, needs=f"at least three systems in both rankings; found {len(systems)}", by=by)]
    one, other = ({system: scores[system] for system in systems} for scores in (automatic, human))
    needs = None
    if len(systems) < FEWEST_SYSTEMS:
        needs = f"at least {FEWEST_SYSTEMS} systems for an interval; found {len(systems)}"
    return [
        FigureRow(table, f"{measure.title}, {name}", None, measure.of(one, other, bootstrap).estimate, needs, by)
        for measure in (Spearman(), Kendall())
    ]


def citation_tables(answers: Sequence[SystemAnswer], bootstrap: Bootstrap) -> list[FigureRow]:
    """Return coverage, support and contradiction of each system's citations by human labels."""
    table = "citations by labels"
    labelled = [entry for entry in answers if entry.item.labels is not None and entry.item.labels.citations]
    if not labelled:
        needs = '"citations" labels of the answers (labels.jsonl, medaesqa:FILE)'
        return [FigureRow(table, "coverage, support, contradiction", needs=needs)]
    parts: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for entry in labelled:
        assert entry.item.labels is not None
        citations = entry.item.labels.citations or ()
        sentences = len(entry.item.answer.claims) if entry.item.answer is not None else 0
        supported = len({citation.sentence for citation in citations if citation.label == "supports"})
        parts[entry.system, "coverage"].append((supported, sentences))
        for name, label in (("support", "supports"), ("contradiction", "contradicts")):
            count = sum(citation.label == label for citation in citations)
            parts[entry.system, name].append((count, len(citations)))
    return [
        FigureRow(table, name, system, bootstrap.pooled(np.array(sums, dtype=np.float64)[:, None], ratio)[0])
        for (system, name), sums in parts.items()
    ]


def sums_of(counts: Counter[tuple[str, str]], labels: Sequence[str]) -> list[float]:
    """Return three counts per label: agreed, given by the judge, and given by annotators."""
    found: list[float] = []
    for word in labels:
        found.append(counts[word, word])
        found.append(sum(count for (_, judged), count in counts.items() if judged == word))
        found.append(sum(count for (said, _), count in counts.items() if said == word))
    return found


def figures_of(sums: Floats) -> list[Floats]:
    """Return precision, recall and F1 of the supporting label, and the mean F1 over labels that annotators gave."""
    with np.errstate(divide="ignore", invalid="ignore"):
        right, judged, said = (sums[..., offset::3] for offset in range(3))
        f1 = np.where(said > 0, 2 * right / (judged + said), np.nan)
        shown = np.maximum((said > 0).sum(axis=-1), 1)
        macro = np.nansum(f1, axis=-1) / shown
        return [right[..., 0] / judged[..., 0], right[..., 0] / said[..., 0], f1[..., 0], macro]
