"""BioACE's tables of answers: each row that the given labels allow, and what every other row needs."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from vericite.assess.completeness import Labeller
from vericite.assess.mixture import LEAST, StoredMixture, fit_mixture
from vericite.assess.nuggets import PROMPT, Way, make_nuggets, score_nuggets, similarities, tune_threshold
from vericite.assess.tables import (
    RELEVANT,
    FigureRow,
    SystemAnswer,
    citation_rankings,
    citation_tables,
    compared_sentences,
    judge_citations,
    label_sentences,
    ranked,
    sentence_rankings,
    sentence_table,
)
from vericite.datasets.registry import is_named
from vericite.errors import InputError, RecordError
from vericite.evaluate.items import Item
from vericite.evaluate.measures.measure import eval_package
from vericite.evaluate.resampling import Bootstrap
from vericite.evaluate.scoring import System
from vericite.evaluate.systems import SYSTEM_ID, read_gold
from vericite.formats.tracks import is_bank
from vericite.llm import LLM
from vericite.llm.prompts import Prompt
from vericite.models.contracts import Embeds, Judge
from vericite.records import Gold

Floats = NDArray[np.float64]

CUT = 0.3
"""Cosine distance at which clusters of sentences are no longer joined (average linkage)."""

_NO_LABELS = "no labels, as the answer has no sentences"
_LEFT_OUT = "They are left out: label the answer as it is"


@dataclass(frozen=True)
class Assessed:
    """The tables, and the mixture that nuggets were matched by."""

    rows: tuple[FigureRow, ...]
    mixture: StoredMixture | None
    remarks: tuple[str, ...] = ()


def answered(systems: Sequence[System], problems: list[RecordError]) -> list[SystemAnswer]:
    """The answers of each system; MedAESQA's file holds those of many.

    Args:
        systems: What was read.
        problems: Labels that are not of their answer are added here, and left out.
    """
    found: list[SystemAnswer] = []
    for system in systems:
        for item in (_with_own_labels(it, system.name, problems) for it in system.items):
            parts = SYSTEM_ID.fullmatch(item.id)
            if parts is None:
                found.append(SystemAnswer(item.id, system.name, item))
            else:
                found.append(SystemAnswer(parts["question"], parts["system"], item))
    return found


def _with_own_labels(item: Item, system: str, problems: list[RecordError]) -> Item:
    """Without labels of more or fewer sentences than the answer has, and of citations in sentences that it has not."""
    if item.answer is None or item.labels is None:
        return item
    labels, sentences = item.labels, len(item.answer.claims)
    if labels.sentences is not None and len(labels.sentences) != sentences:
        wanted = f"a label (or null) for each of {sentences} sentences" if sentences else _NO_LABELS
        told = f"expected {wanted}; found {len(labels.sentences)}. {_LEFT_OUT}"
        problems.append(RecordError(system, 0, f"{item.id}.sentences", told))
        labels = labels.model_copy(update={"sentences": None})
    kept = tuple(one for one in labels.citations or () if one.sentence < sentences)
    if beyond := len(labels.citations or ()) - len(kept):
        wanted, there = (f"labels of sentences 0 to {sentences - 1}", " of others") if sentences else (_NO_LABELS, "")
        told = f"expected {wanted}; found {beyond}{there}. {_LEFT_OUT}"
        problems.append(RecordError(system, 0, f"{item.id}.citations", told))
        labels = labels.model_copy(update={"citations": kept})
    return replace(item, labels=labels)


def read_gold_nuggets(path: Path, problems: list[RecordError]) -> dict[str, tuple[str, ...]]:
    """Gold nuggets by question: BioGen's ``{topic: [nugget, ...]}``, or any gold that has them.

    Args:
        path: The file, or a data set by name.
        problems: Topics and lines that cannot be used are added here. Nuggets without words are left out.

    Raises:
        InputError: There are none.
    """
    found = None if is_named(str(path)) else _as_map(path, problems)
    if found is None:
        gold, wrong = read_gold(path)
        problems += wrong
        found = {id: tuple(it.text for it in one.nuggets if it.text.strip()) for id, one in gold.items() if one.nuggets}
    found = {id: nuggets for id, nuggets in found.items() if nuggets}
    if not found:
        raise InputError(
            f'expected gold nuggets in {path}: {{"topic": ["nugget", ...]}}, lines of gold with "nuggets", or a data '
            "set such as kqa:FILE; found none."
        )
    return found


def _as_map(path: Path, problems: list[RecordError]) -> dict[str, tuple[str, ...]] | None:
    """The nuggets of each topic; None where the file is of another form, such as one line of gold."""
    try:
        loaded: object = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError, OSError):
        return None
    if not isinstance(loaded, dict):
        return None
    topics = cast(dict[str, object], loaded)
    is_gold = isinstance(topics.get("id"), str | int) or (
        "nuggets" in topics and topics.keys() <= Gold.model_fields.keys()
    )
    if is_bank(topics) or is_gold:
        return None
    found: dict[str, tuple[str, ...]] = {}
    for topic, listed in topics.items():
        nuggets = cast(list[object], listed) if isinstance(listed, list) else None
        if nuggets is None or not all(isinstance(it, str) for it in nuggets):
            told = f"expected a list of nuggets, each a text; found {json.dumps(listed)[:60]}"
            problems.append(RecordError(path, 0, topic, f'{told}. It is left out: write it as ["nugget", ...]'))
            continue
        found[topic] = tuple(text for it in nuggets if (text := str(it).strip()))
    return found


@dataclass(frozen=True)
class Choices:
    """How answers are assessed.

    Attributes:
        way: How nuggets are aligned.
        threshold: The least probability of a match; the mixture's own where None.
        trials: Thresholds that Optuna tries to choose one on the answers that are scored, which is said; None for none.
        mixture: A fitted one; else one is fitted to the answers that are scored, which is said.
        llm: Who makes nuggets; offline from atomic statements where None.
        prompt: How it is asked for them.
        judge: Who judges citations, where documents' texts are known.
        labeller: Who says how necessary each sentence is; nobody where None.
    """

    way: Way = "greedy"
    threshold: float | None = None
    mixture: StoredMixture | None = None
    llm: LLM | None = None
    prompt: Prompt = PROMPT
    judge: Judge | None = None
    labeller: Labeller | None = None
    trials: int | None = None
    bootstrap: Bootstrap = field(default_factory=Bootstrap)


def assess(
    answers: Sequence[SystemAnswer], gold: Mapping[str, Sequence[str]], embedder: Embeds, chosen: Choices
) -> Assessed:
    """Every table."""
    recalls, rows, mixture, remarks = _nuggets(answers, gold, embedder, chosen)
    by_people = {
        (it.question, it.system): it.item.labels.sentences
        for it in answers
        if it.item.labels is not None and it.item.labels.sentences is not None
    }
    rows += sentence_table(by_people, chosen.bootstrap)
    by_model = label_sentences(answers, chosen.labeller, remarks)
    rows += compared_sentences(by_model, by_people, chosen.bootstrap)
    by_judge = judge_citations(answers, chosen.judge)
    rows += citation_tables(answers, by_judge, chosen.bootstrap)
    rows += ELSEWHERE
    rows += _rankings(answers, recalls, embedder, chosen.bootstrap)
    rows += sentence_rankings(by_model, by_people, chosen.bootstrap)
    rows += citation_rankings(by_judge, chosen.bootstrap)
    return Assessed(tuple(rows), mixture, tuple(remarks))


ELSEWHERE = (
    FigureRow(
        "citations by the most similar sentence (tables 5, A3)",
        "F1 of each label, kappa",
        needs="verdicts of their own: check --protocol bioace-maxsim --out VERDICTS, then agree LABELS VERDICTS",
    ),
    FigureRow(
        "citations by nuggets (table A5)",
        "F1 of each label, kappa",
        needs="verdicts of their own: check --protocol bioace-nuggets --out VERDICTS, then agree LABELS VERDICTS",
    ),
    FigureRow(
        "correctness (table 3)",
        "P, R, F1, AUC",
        needs="labelled windows, which answers do not bring: bioace train-correctness (docs/bioace.md)",
    ),
)
"""Tables of the paper that other commands fill."""


Recalls = dict[tuple[str, str], float]
"""Of each question and system."""


def _nuggets(
    answers: Sequence[SystemAnswer], gold: Mapping[str, Sequence[str]], embedder: Embeds, chosen: Choices
) -> tuple[Recalls, list[FigureRow], StoredMixture | None, list[str]]:
    table = "nuggets (table 1)"
    known = [it for it in answers if it.item.answer is not None and gold.get(it.question)]
    if not known:
        return {}, [FigureRow(table, "precision, recall, F1", needs="gold nuggets of the answers' questions")], None, []
    made = list(
        make_nuggets([it.item.answer.text for it in known if it.item.answer is not None], chosen.llm, chosen.prompt)
    )
    failures = Counter(it.failure for it in made if it.failure is not None)
    remarks = [f"{count} answers without nuggets: {why}" for why, count in failures.items()]
    matrices = [similarities(embedder, one.nuggets, gold[it.question]) for it, one in zip(known, made, strict=True)]
    # A failure is no answer without nuggets, which would have an F1 of 0.
    told = [matrix for one, matrix in zip(made, matrices, strict=True) if one.failure is None]
    mixture = _mixture(told, embedder, chosen, remarks)
    if mixture is None:
        needs = f"{LEAST} different similarities to fit a mixture to, or --mixture FILE"
        return {}, [FigureRow(table, "precision, recall, F1", needs=needs)], None, remarks
    recalls: Recalls = {}
    counts: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    for it, one, matrix in zip(known, made, matrices, strict=True):
        if one.failure is not None:
            counts[it.system].append((np.nan, np.nan, np.nan))
            continue
        score = score_nuggets(matrix, mixture, chosen.way)
        counts[it.system].append((score.aligned, score.own, score.gold))
        recalls[it.question, it.system] = score.recall or 0.0
    rows: list[FigureRow] = []
    for system, listed in counts.items():
        aligned, own, of_gold = np.array(listed, dtype=np.float64).T
        shares = [aligned / np.where(own > 0, own, np.nan), aligned / of_gold, 2 * aligned / (own + of_gold)]
        for name, values in zip(("precision", "recall", "F1"), shares, strict=True):
            rows.append(FigureRow(table, name, system, chosen.bootstrap.means(values[:, None])[0]))
    return recalls, rows, mixture, remarks


def _mixture(matrices: Sequence[Floats], embedder: Embeds, chosen: Choices, remarks: list[str]) -> StoredMixture | None:
    """The one that was given, or one fitted to these; None where they are too few. Remarks are added."""
    mixture = chosen.mixture
    if mixture is None:
        pooled = np.concatenate([np.zeros(0), *(matrix.ravel() for matrix in matrices)])
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
    if chosen.trials is not None and matrices:
        tuned = tune_threshold(matrices, mixture, chosen.trials, way=chosen.way)
        mixture = tuned.mixture
        f1, near, pairs = next(values for at, values in tuned.front if at == mixture.threshold)
        remarks.append(
            f"the threshold {mixture.threshold:.3f} is tuned on the answers that it scores: of {len(tuned.front)} on "
            f"the front the one with the highest F1 ({f1:.3f}; mean similarity {near:.3f}, {pairs:.2f} pairs an answer)"
        )
    return mixture


def _rankings(
    answers: Sequence[SystemAnswer], recalls: Mapping[tuple[str, str], float], embedder: Embeds, bootstrap: Bootstrap
) -> list[FigureRow]:
    table, name = "rankings (A1)", "nugget recall with recall (R+B)"
    human = cluster_recall(answers, embedder)
    systems = {system for _, system in human} & {system for _, system in recalls}
    if len(systems) < 3:
        needs = "three systems or more with gold nuggets and sentence labels (medaesqa:FILE, --gold NUGGETS)"
        return [FigureRow(table, name, needs=needs)]
    by_nuggets, by_people = (
        {system: float(np.mean([value for (_, of), value in found.items() if of == system])) for system in systems}
        for found in (recalls, human)
    )
    return ranked(table, name, by_nuggets, by_people, bootstrap)


def cluster_recall(answers: Iterable[SystemAnswer], embedder: Embeds, cut: float = CUT) -> Recalls:
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
            if label in RELEVANT:
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
