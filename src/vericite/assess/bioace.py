"""BioACE's tables of answers: each row that the given labels allow, and what every other row needs."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vericite.assess.mixture import LEAST, StoredMixture, fit_mixture
from vericite.assess.nuggets import Way, make_nuggets, score_nuggets, similarities
from vericite.datasets.registry import is_named
from vericite.errors import InputError, RecordError
from vericite.evaluate.agreement import Kendall, Spearman
from vericite.evaluate.items import Item
from vericite.evaluate.measures.measure import eval_package
from vericite.evaluate.resampling import Bootstrap, Estimate, ratio
from vericite.evaluate.scoring import System
from vericite.evaluate.systems import read_gold
from vericite.llm import LLM
from vericite.models.contracts import Embeds, Judge, Pair
from vericite.records import SentenceLabel
from vericite.verify.judging import ask

Floats = NDArray[np.float64]

CUT = 0.3
"""Cosine distance at which clusters of sentences are no longer joined (average linkage)."""

_OF_SYSTEM = re.compile(r"(?P<question>.+)-(?P<system>M\d{1,3})")
"""MedAESQA's answers: a question's id and a system's."""

_RELEVANT: tuple[SentenceLabel, ...] = ("required", "borderline")
_SENTENCES: Mapping[str, tuple[SentenceLabel, ...]] = {
    "completeness": ("required",),
    "precision (R+B)": _RELEVANT,
    "redundancy": ("unnecessary",),
    "harmfulness": ("inappropriate",),
}


@dataclass(frozen=True)
class Row:
    """A row of a table: a figure, or what it needs."""

    table: str
    row: str
    system: str | None = None
    estimate: Estimate | None = None
    needs: str | None = None

    @property
    def record(self) -> dict[str, object]:
        """As JSON has it."""
        figures = {} if self.estimate is None else asdict(self.estimate)
        return {"table": self.table, "row": self.row, "system": self.system, **figures, "needs": self.needs}


@dataclass(frozen=True)
class Assessed:
    """The tables, and the mixture that nuggets were matched by."""

    rows: tuple[Row, ...]
    mixture: StoredMixture | None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answered:
    """A system's answer to a question."""

    question: str
    system: str
    item: Item


def answered(systems: Sequence[System]) -> list[Answered]:
    """The answers of each system; MedAESQA's file holds those of many."""
    found: list[Answered] = []
    for system in systems:
        for item in system.items:
            parts = _OF_SYSTEM.fullmatch(item.id)
            if parts is None:
                found.append(Answered(item.id, system.name, item))
            else:
                found.append(Answered(parts["question"], parts["system"], item))
    return found


def read_gold_nuggets(path: Path, problems: list[RecordError]) -> dict[str, tuple[str, ...]]:
    """Gold nuggets by question: BioGen's ``{topic: [nugget, ...]}``, or any gold that has them.

    Raises:
        InputError: There are none.
    """
    found = None if is_named(str(path)) else _as_map(path)
    if found is None:
        gold, wrong = read_gold(path)
        problems += wrong
        found = {id: tuple(it.text for it in one.nuggets if it.text) for id, one in gold.items() if one.nuggets}
    if not found:
        raise InputError(
            f'expected gold nuggets in {path}: {{"topic": ["nugget", ...]}}, lines of gold with "nuggets", or a data '
            "set such as kqa:FILE; found none."
        )
    return found


def _as_map(path: Path) -> dict[str, tuple[str, ...]] | None:
    try:
        loaded: object = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError, OSError):
        return None
    if not isinstance(loaded, dict):
        return None
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(dict[str, tuple[str, ...]]).validate_python(loaded)
    except ValidationError:
        return None


@dataclass(frozen=True)
class Choices:
    """How answers are assessed.

    Attributes:
        way: How nuggets are aligned.
        threshold: The least probability of a match; the mixture's own where None.
        mixture: A fitted one; else one is fitted to the answers that are scored, which is said.
        llm: Who makes nuggets; offline from atomic statements where None.
        judge: Who judges citations, where documents' texts are known.
    """

    way: Way = "greedy"
    threshold: float | None = None
    mixture: StoredMixture | None = None
    llm: LLM | None = None
    judge: Judge | None = None
    bootstrap: Bootstrap = field(default_factory=Bootstrap)


def assess(
    answers: Sequence[Answered], gold: Mapping[str, Sequence[str]], embedder: Embeds, chosen: Choices
) -> Assessed:
    """Every table."""
    recalls, rows, mixture, remarks = _nuggets(answers, gold, embedder, chosen)
    rows += _sentences(answers, chosen.bootstrap)
    rows += _citations(answers, chosen)
    rows += _rankings(answers, recalls, embedder, chosen.bootstrap)
    return Assessed(tuple(rows), mixture, tuple(remarks))


Recalls = dict[tuple[str, str], float]
"""Of each question and system."""


def _nuggets(
    answers: Sequence[Answered], gold: Mapping[str, Sequence[str]], embedder: Embeds, chosen: Choices
) -> tuple[Recalls, list[Row], StoredMixture | None, list[str]]:
    table = "nuggets (table 1)"
    known = [it for it in answers if it.item.answer is not None and gold.get(it.question)]
    if not known:
        return {}, [Row(table, "precision, recall, F1", needs="gold nuggets of the answers' questions")], None, []
    made = list(make_nuggets([it.item.answer.text for it in known if it.item.answer is not None], chosen.llm))
    failures = Counter(it.failure for it in made if it.failure is not None)
    remarks = [f"{count} answers without nuggets: {why}" for why, count in failures.items()]
    matrices = [similarities(embedder, one.nuggets, gold[it.question]) for it, one in zip(known, made, strict=True)]
    mixture = _mixture(matrices, embedder, chosen, remarks)
    if mixture is None:
        needs = f"{LEAST} different similarities to fit a mixture to, or --mixture FILE"
        return {}, [Row(table, "precision, recall, F1", needs=needs)], None, remarks
    recalls: Recalls = {}
    counts: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    for it, one, matrix in zip(known, made, matrices, strict=True):
        if one.failure is not None:
            counts[it.system].append((np.nan, np.nan, np.nan))
            continue
        score = score_nuggets(matrix, mixture, chosen.way)
        counts[it.system].append((score.aligned, score.own, score.gold))
        recalls[it.question, it.system] = score.recall or 0.0
    rows: list[Row] = []
    for system, listed in counts.items():
        aligned, own, of_gold = np.array(listed, dtype=np.float64).T
        shares = [aligned / np.where(own > 0, own, np.nan), aligned / of_gold, 2 * aligned / (own + of_gold)]
        for name, values in zip(("precision", "recall", "F1"), shares, strict=True):
            rows.append(Row(table, name, system, chosen.bootstrap.means(values[:, None])[0]))
    return recalls, rows, mixture, remarks


def _mixture(matrices: Sequence[Floats], embedder: Embeds, chosen: Choices, remarks: list[str]) -> StoredMixture | None:
    """The one that was given, or one fitted to these; None where they are too few. Remarks are added."""
    mixture = chosen.mixture
    if mixture is None:
        pooled = np.concatenate([matrix.ravel() for matrix in matrices])
        if len(np.unique(pooled)) < LEAST:
            return None
        mixture = fit_mixture(pooled, embedder.signature)
        remarks.append("the mixture is fitted to the answers that it scores; --mixture FILE takes one of other answers")
    elif mixture.embedder != embedder.signature:
        remarks.append(f"the mixture is of {mixture.embedder}; the vectors are of {embedder.signature}")
    if (turn := mixture.turns_at) is not None and mixture.probabilities(np.array([-1.0]))[0] > 0.5:
        remarks.append(
            f"below a similarity of {turn:.2f} the mixture matches nuggets the more the less alike they are: its "
            "matching component is the wider one. Fit it to more answers"
        )
    if chosen.threshold is not None:
        mixture = mixture.model_copy(update={"threshold": chosen.threshold, "chosen": "given"})
    return mixture


def _sentences(answers: Sequence[Answered], bootstrap: Bootstrap) -> list[Row]:
    table = "sentences (completeness)"
    shares: dict[tuple[str, str], list[float]] = defaultdict(list)
    for it in answers:
        labels = [label for label in (it.item.labels and it.item.labels.sentences) or () if label is not None]
        for name, counted in _SENTENCES.items():
            if labels:
                shares[it.system, name].append(sum(label in counted for label in labels) / len(labels))
    if not shares:
        needs = '"sentences" labels of the answers (labels.jsonl, medaesqa:FILE)'
        return [Row(table, ", ".join(_SENTENCES), needs=needs)]
    return [
        Row(table, name, system, bootstrap.means(np.array(values)[:, None])[0])
        for (system, name), values in shares.items()
    ]


def _citations(answers: Sequence[Answered], chosen: Choices) -> list[Row]:
    table = "citations by labels"
    labelled = [it for it in answers if it.item.labels is not None and it.item.labels.citations]
    judged_table = "citations by a judge (tables 4, A6)"
    if not labelled:
        needs = '"citations" labels of the answers (labels.jsonl, medaesqa:FILE)'
        return [Row(table, "coverage, support, contradiction", needs=needs), Row(judged_table, "P, R, F1", needs=needs)]
    parts: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for it in labelled:
        assert it.item.labels is not None
        citations = it.item.labels.citations or ()
        sentences = len(it.item.answer.claims) if it.item.answer is not None else 0
        supported = len({one.sentence for one in citations if one.label == "supports"})
        parts[it.system, "coverage"].append((supported, sentences))
        for name, label in (("support", "supports"), ("contradiction", "contradicts")):
            parts[it.system, name].append((sum(one.label == label for one in citations), len(citations)))
    rows = [
        Row(table, name, system, chosen.bootstrap.pooled(np.array(sums, dtype=np.float64)[:, None], ratio)[0])
        for (system, name), sums in parts.items()
    ]
    return rows + _judged(labelled, judged_table, chosen)


_WORDS = ("supports", "contradicts", "neutral")


class _Asked(NamedTuple):
    """A citation as a judge is asked about it, and what people said of it."""

    pair: Pair
    said: str
    question: str


def _asked(labelled: Sequence[Answered]) -> list[_Asked]:
    """The labelled citations whose documents' texts are known; neutral and irrelevant are one."""
    found: list[_Asked] = []
    for it in labelled:
        answer, labels = it.item.answer, it.item.labels
        if answer is None or labels is None:
            continue
        texts = {document.id: document.titled_text for document in answer.documents if document.text.strip()}
        for one in labels.citations or ():
            if one.document in texts and one.sentence < len(answer.claims):
                said = "neutral" if one.label == "irrelevant" else one.label
                found.append(_Asked(Pair(texts[one.document], answer.claims[one.sentence].text), said, it.question))
    return found


def _judged(labelled: Sequence[Answered], table: str, chosen: Choices) -> list[Row]:
    pairs = _asked(labelled)
    if not pairs:
        return [Row(table, "P, R, F1", needs="the texts of the cited documents: --documents FILE or STORE")]
    if chosen.judge is None:
        return [Row(table, "P, R, F1", needs="a judge: --judge NAME")]
    judgements = ask(chosen.judge, [one.pair for one in pairs])
    per_question: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    failed = 0
    for (_, said, question), judgement in zip(pairs, judgements, strict=True):
        if judgement.failure is not None:
            failed += 1
            continue
        per_question[question][said, _WORDS[int(judgement.probabilities.argmax())]] += 1
    sums = np.array([[_sums(counts)] for counts in per_question.values()], dtype=np.float64)
    rows: list[Row] = []
    for place, name in enumerate(("P, supporting", "R, supporting", "F1, supporting", "macro-F1, ternary")):

        def figure(drawn: Floats, place: int = place) -> Floats:
            return _prf(drawn)[place]

        rows.append(Row(table, name, None, chosen.bootstrap.pooled(sums, figure)[0]))
    if failed:
        rows.append(Row(table, "failed", needs=f"{failed} of {len(pairs)} could not be judged"))
    return rows


def _sums(counts: Counter[tuple[str, str]]) -> list[float]:
    """Right, said by the judge and said by people, of each label."""
    found: list[float] = []
    for word in _WORDS:
        found.append(counts[word, word])
        found.append(sum(count for (_, judged), count in counts.items() if judged == word))
        found.append(sum(count for (said, _), count in counts.items() if said == word))
    return found


def _prf(sums: Floats) -> list[Floats]:
    """Precision, recall and F1 of the supporting label, and the mean of F1 over labels that people gave."""
    with np.errstate(divide="ignore", invalid="ignore"):
        right, judged, said = (sums[..., at::3] for at in range(3))
        f1 = np.where(said > 0, 2 * right / (judged + said), np.nan)
        shown = np.maximum((said > 0).sum(axis=-1), 1)
        macro = np.nansum(f1, axis=-1) / shown
        return [right[..., 0] / judged[..., 0], right[..., 0] / said[..., 0], f1[..., 0], macro]


def _rankings(
    answers: Sequence[Answered], recalls: Mapping[tuple[str, str], float], embedder: Embeds, bootstrap: Bootstrap
) -> list[Row]:
    table = "rankings (A1)"
    human = cluster_recall(answers, embedder)
    systems = sorted({system for _, system in human} & {system for _, system in recalls})
    name = "nugget recall with recall (R+B)"
    if len(systems) < 3:
        needs = "three systems or more with gold nuggets and sentence labels (medaesqa:FILE, --gold NUGGETS)"
        return [Row(table, name, needs=needs)]
    by_nuggets, by_people = (
        {system: float(np.mean([value for (_, of), value in found.items() if of == system])) for system in systems}
        for found in (recalls, human)
    )
    return [
        Row(table, f"{measure.title}, {name}", None, measure.of(by_nuggets, by_people, bootstrap).estimate)
        for measure in (Spearman(), Kendall())
    ]


def cluster_recall(answers: Iterable[Answered], embedder: Embeds, cut: float = CUT) -> Recalls:
    """Of what all systems' required and borderline sentences say of a question, the share that each system says.

    The sentences are clustered by cosine distance, average linkage, cut at ``cut``.
    """
    listed: dict[str, list[tuple[str, str]]] = defaultdict(list)
    judged: dict[str, set[str]] = defaultdict(set)
    for it in answers:
        if it.item.answer is None or it.item.labels is None or it.item.labels.sentences is None:
            continue
        judged[it.question].add(it.system)
        for claim, label in zip(it.item.answer.claims, it.item.labels.sentences, strict=False):
            if label in _RELEVANT:
                listed[it.question].append((it.system, claim.text))
    found: Recalls = {}
    for question, sentences in listed.items():
        vectors = embedder.embed([text for _, text in sentences])
        clusters = np.zeros(len(sentences), dtype=int)
        if len(sentences) > 1:
            clustering = eval_package("sklearn.cluster", "recall (R+B)").AgglomerativeClustering(
                n_clusters=None, distance_threshold=cut, metric="cosine", linkage="average"
            )
            clusters = clustering.fit_predict(vectors)
        total = len(set(clusters.tolist()))
        for system in judged[question]:
            own = {int(cluster) for (of, _), cluster in zip(sentences, clusters, strict=True) if of == system}
            found[question, system] = len(own) / total
    return found
