"""Tables of answers' sentences and citations: by human labels, by a model or judge, and the agreement of both."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vericite.evaluate.agreement import FEWEST_SYSTEMS, Kendall, Spearman
from vericite.evaluate.items import Item
from vericite.evaluate.resampling import Bootstrap, Estimate, ratio
from vericite.lab.assess.completeness import LABELS, AnswerSentence, Labeller
from vericite.models.contracts import Judge, Pair
from vericite.records import SentenceLabel
from vericite.verify.judging import ask

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
    """A row of a table: a figure, or what is needed to compute it or its interval."""

    table: str
    row: str
    system: str | None = None
    estimate: Estimate | None = None
    needs: str | None = None

    @property
    def record(self) -> dict[str, object]:
        """JSON-ready dict."""
        figures = {} if self.estimate is None else asdict(self.estimate)
        return {"table": self.table, "row": self.row, "system": self.system, **figures, "needs": self.needs}


@dataclass(frozen=True)
class SystemAnswer:
    """A system's answer to a question."""

    question: str
    system: str
    item: Item


SentenceLabels = Mapping[tuple[str, str], Sequence[SentenceLabel | None]]
"""The labels of an answer's sentences, by question and system."""


def _shares(labels: SentenceLabels) -> dict[str, dict[str, list[float]]]:
    """Return by figure and system the shares of sentences in each answer with labels."""
    found: dict[str, dict[str, list[float]]] = {name: defaultdict(list) for name in _SENTENCES}
    for (_, system), listed in labels.items():
        given = [label for label in listed if label is not None]
        for name, counted in _SENTENCES.items():
            if given:
                found[name][system].append(sum(label in counted for label in given) / len(given))
    return found


def sentence_table(
    labels: SentenceLabels, bootstrap: Bootstrap, table: str = "sentences (completeness)", needs: str | None = None
) -> list[FigureRow]:
    """Return for each system the mean over answers of each share of sentences."""
    shares = _shares(labels)
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
    sums = np.array([[_sums(counts, LABELS)] for counts in per_question.values()], dtype=np.float64)
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


def sentence_rankings(by_model: SentenceLabels, by_people: SentenceLabels, bootstrap: Bootstrap) -> list[FigureRow]:
    """Correlate the rankings of systems by a model's and by human labels, for each share."""
    table = "rankings by sentences (A2)"
    if not by_model or not by_people:
        needs = "--set completeness=llm and sentence labels of at least three systems"
        return [FigureRow(table, ", ".join(_SENTENCES), needs=needs)]
    automatic, human = (
        {name: _means(shares) for name, shares in _shares(labels).items()} for labels in (by_model, by_people)
    )
    return [row for name in _SENTENCES for row in ranked(table, name, automatic[name], human[name], bootstrap)]


def _means(shares: Mapping[str, Sequence[float]]) -> dict[str, float]:
    return {system: float(np.mean(values)) for system, values in shares.items()}


def ranked(
    table: str, name: str, automatic: Mapping[str, float], human: Mapping[str, float], bootstrap: Bootstrap
) -> list[FigureRow]:
    """Return Spearman and Kendall correlations of two rankings, or what is needed if there are too few systems."""
    systems = sorted(automatic.keys() & human.keys())
    if len(systems) < 3:
        return [FigureRow(table, name, needs=f"at least three systems in both rankings; found {len(systems)}")]
    one, other = ({system: scores[system] for system in systems} for scores in (automatic, human))
    needs = None
    if len(systems) < FEWEST_SYSTEMS:
        needs = f"at least {FEWEST_SYSTEMS} systems for an interval; found {len(systems)}"
    return [
        FigureRow(table, f"{measure.title}, {name}", None, measure.of(one, other, bootstrap).estimate, needs)
        for measure in (Spearman(), Kendall())
    ]


def citation_tables(
    answers: Sequence[SystemAnswer], by_judge: JudgedCitations | None, bootstrap: Bootstrap
) -> list[FigureRow]:
    """Return coverage, support and contradiction by human labels, and a judge's agreement with them."""
    table = "citations by labels"
    labelled = [entry for entry in answers if entry.item.labels is not None and entry.item.labels.citations]
    if not labelled:
        needs = '"citations" labels of the answers (labels.jsonl, medaesqa:FILE)'
        return [
            FigureRow(table, "coverage, support, contradiction", needs=needs),
            FigureRow("citations by a judge (tables 4, A6)", "P, R, F1", needs=needs),
        ]
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
    rows = [
        FigureRow(table, name, system, bootstrap.pooled(np.array(sums, dtype=np.float64)[:, None], ratio)[0])
        for (system, name), sums in parts.items()
    ]
    return rows + judged_rows(labelled, by_judge, bootstrap)


_WORDS = ("supports", "contradicts", "neutral")


class AskedCitation(NamedTuple):
    """A citation as a pair for the judge, with its human label."""

    pair: Pair
    said: str
    question: str
    system: str
    sentence: tuple[str, str, int]


def _asked(labelled: Sequence[SystemAnswer]) -> list[AskedCitation]:
    """Return the labelled citations of documents with known texts; neutral and irrelevant count as the same."""
    found: list[AskedCitation] = []
    for entry in labelled:
        answer, labels = entry.item.answer, entry.item.labels
        if answer is None or labels is None:
            continue
        texts = {document.id: document.titled_text for document in answer.documents if document.text.strip()}
        for citation in labels.citations or ():
            if citation.document in texts and citation.sentence < len(answer.claims):
                said = "neutral" if citation.label == "irrelevant" else citation.label
                found.append(
                    AskedCitation(
                        Pair(texts[citation.document], answer.claims[citation.sentence].text),
                        said,
                        entry.question,
                        entry.system,
                        (entry.question, entry.system, citation.sentence),
                    )
                )
    return found


@dataclass(frozen=True)
class JudgedCitations:
    """Labelled citations with a judge's label of each; None for failures."""

    asked: Sequence[AskedCitation]
    found: Sequence[str | None]


def judge_citations(answers: Sequence[SystemAnswer], judge: Judge | None) -> JudgedCitations | None:
    """Judge the labelled citations of documents with known texts; None without a judge."""
    if judge is None:
        return None
    asked = _asked(answers)
    judgements = ask(judge, [citation.pair for citation in asked])
    found = [
        None if judgement.failure is not None else _WORDS[int(judgement.probabilities.argmax())]
        for judgement in judgements
    ]
    return JudgedCitations(asked, found)


def judged_rows(
    labelled: Sequence[SystemAnswer], judged: JudgedCitations | None, bootstrap: Bootstrap
) -> list[FigureRow]:
    """Return a judge's precision, recall and F1 of supporting citations, macro-F1 of three labels, and failures."""
    table = "citations by a judge (tables 4, A6)"
    if not (judged.asked if judged else _asked(labelled)):
        return [FigureRow(table, "P, R, F1", needs="the texts of the cited documents: --documents FILE or STORE")]
    if judged is None:
        return [FigureRow(table, "P, R, F1", needs="a judge: --set judge=NAME")]
    per_question: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    for citation, found in zip(judged.asked, judged.found, strict=True):
        if found is not None:
            per_question[citation.question][citation.said, found] += 1
    rows: list[FigureRow] = []
    if per_question:
        sums = np.array([[_sums(counts, _WORDS)] for counts in per_question.values()], dtype=np.float64)
        for index, name in enumerate(("P, supporting", "R, supporting", "F1, supporting", "macro-F1, ternary")):

            def figure(drawn: Floats, index: int = index) -> Floats:
                return _prf(drawn)[index]

            rows.append(FigureRow(table, name, None, bootstrap.pooled(sums, figure)[0]))
    if failed := sum(found is None for found in judged.found):
        rows.append(FigureRow(table, "failed", needs=f"{failed} of {len(judged.found)} could not be judged"))
    return rows


def citation_rankings(judged: JudgedCitations | None, bootstrap: Bootstrap) -> list[FigureRow]:
    """Correlate the rankings of systems by a judge's and by human labels of citations."""
    table = "rankings by citations (A4)"
    names = ("coverage", "support", "contradiction")
    if judged is None or not judged.asked:
        needs = "--set judge=NAME and the texts of cited documents of three systems"
        return [FigureRow(table, ", ".join(names), needs=needs)]
    both = [
        (citation, citation.said, found)
        for citation, found in zip(judged.asked, judged.found, strict=True)
        if found is not None
    ]
    rows: list[FigureRow] = []
    for name in names:
        sides: list[dict[str, float]] = []
        for side in (1, 2):
            by_system: dict[str, list[tuple[AskedCitation, str]]] = defaultdict(list)
            for entry in both:
                by_system[entry[0].system].append((entry[0], str(entry[side])))
            sides.append({system: _citation_share(name, listed) for system, listed in by_system.items()})
        rows += ranked(table, name, sides[1], sides[0], bootstrap)
    return rows


def _citation_share(name: str, listed: Sequence[tuple[AskedCitation, str]]) -> float:
    if name == "coverage":
        sentences = {citation.sentence for citation, _ in listed}
        return len({citation.sentence for citation, said in listed if said == "supports"}) / len(sentences)
    wanted = "supports" if name == "support" else "contradicts"
    return sum(said == wanted for _, said in listed) / len(listed)


def _sums(counts: Counter[tuple[str, str]], labels: Sequence[str]) -> list[float]:
    """Return three counts per label: agreed, given by the judge, and given by annotators."""
    found: list[float] = []
    for word in labels:
        found.append(counts[word, word])
        found.append(sum(count for (_, judged), count in counts.items() if judged == word))
        found.append(sum(count for (said, _), count in counts.items() if said == word))
    return found


def _prf(sums: Floats) -> list[Floats]:
    """Return precision, recall and F1 of the supporting label, and the mean F1 over labels that annotators gave."""
    with np.errstate(divide="ignore", invalid="ignore"):
        right, judged, said = (sums[..., offset::3] for offset in range(3))
        f1 = np.where(said > 0, 2 * right / (judged + said), np.nan)
        shown = np.maximum((said > 0).sum(axis=-1), 1)
        macro = np.nansum(f1, axis=-1) / shown
        return [right[..., 0] / judged[..., 0], right[..., 0] / said[..., 0], f1[..., 0], macro]
