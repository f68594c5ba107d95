"""BioACE's tables of answers: the rows that the given labels allow, and what the other rows need."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from vericite.datasets.registry import is_named
from vericite.errors import InputError, Problems, RecordError
from vericite.evaluate.items import Item
from vericite.evaluate.measures.measure import eval_package
from vericite.evaluate.resampling import Bootstrap
from vericite.evaluate.scoring import System
from vericite.evaluate.settings import Draws
from vericite.evaluate.systems import SYSTEM_ID, read_gold
from vericite.formats.tracks import is_bank
from vericite.lab.assess.completeness import Labeller
from vericite.lab.assess.mixture import LEAST, StoredMixture, fit_mixture
from vericite.lab.assess.nuggets import PROMPT, Way, make_nuggets, score_nuggets, similarities, tune_threshold
from vericite.lab.assess.tables import (
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
from vericite.llm import LLM
from vericite.llm.prompts import Prompt
from vericite.llm.verbatim import VerbatimPrompt
from vericite.models.contracts import Embeds, Judge
from vericite.records import Gold

Floats = NDArray[np.float64]

CUT = 0.3
"""Maximum cosine distance between merged clusters of sentences (average linkage)."""

_NO_LABELS = "no labels, because the answer has no sentences"
_LEFT_OUT = "They are left out: label the current answer"


@dataclass(frozen=True)
class Assessed:
    """The tables, and the mixture that was used to match nuggets."""

    rows: tuple[FigureRow, ...]
    mixture: StoredMixture | None
    remarks: tuple[str, ...] = ()


def answered(systems: Sequence[System], problems: Problems) -> list[SystemAnswer]:
    """Return the answers of each system; MedAESQA's file has many systems.

    Args:
        systems: The systems as read.
        problems: Labels that do not fit their answer are added here and left out.
    """
    found: list[SystemAnswer] = []
    for system in systems:
        for item in (_without_wrong_labels(item, system.name, problems) for item in system.items):
            parts = SYSTEM_ID.fullmatch(item.id)
            if parts is None:
                found.append(SystemAnswer(item.id, system.name, item))
            else:
                found.append(SystemAnswer(parts["question"], parts["system"], item))
    return found


def _without_wrong_labels(item: Item, system: str, problems: Problems) -> Item:
    """Remove labels whose number differs from that of sentences, and labels of citations in missing sentences."""
    if item.answer is None or item.labels is None:
        return item
    labels, sentences = item.labels, len(item.answer.claims)
    if labels.sentences is not None and len(labels.sentences) != sentences:
        wanted = f"a label (or null) for each of {sentences} sentences" if sentences else _NO_LABELS
        problem = f"expected {wanted}; found {len(labels.sentences)}. {_LEFT_OUT}"
        problems.append(RecordError(system, 0, f"{item.id}.sentences", problem))
        labels = labels.model_copy(update={"sentences": None})
    kept = tuple(judgement for judgement in labels.citations or () if judgement.sentence < sentences)
    if beyond := len(labels.citations or ()) - len(kept):
        wanted, others = (f"labels of sentences 0 to {sentences - 1}", " of others") if sentences else (_NO_LABELS, "")
        problem = f"expected {wanted}; found {beyond}{others}. {_LEFT_OUT}"
        problems.append(RecordError(system, 0, f"{item.id}.citations", problem))
        labels = labels.model_copy(update={"citations": kept})
    return replace(item, labels=labels)


def read_gold_nuggets(path: Path, problems: Problems) -> dict[str, tuple[str, ...]]:
    """Read gold nuggets by question, from BioGen's ``{topic: [nugget, ...]}`` or any gold with nuggets.

    Args:
        path: The file, or a data set by name.
        problems: Topics and lines that cannot be used are added here. Empty nuggets are left out.

    Raises:
        InputError: There are no nuggets.
    """
    found = None if is_named(str(path)) else _as_map(path, problems)
    if found is None:
        found = {
            id: tuple(nugget.text for nugget in record.nuggets if nugget.text.strip())
            for id, record in read_gold(path, problems).items()
            if record.nuggets
        }
    found = {id: nuggets for id, nuggets in found.items() if nuggets}
    if not found:
        raise InputError(
            f'expected gold nuggets in {path}: {{"topic": ["nugget", ...]}}, lines of gold with "nuggets", or a data '
            "set such as kqa:FILE; found none."
        )
    return found


def _as_map(path: Path, problems: Problems) -> dict[str, tuple[str, ...]] | None:
    """Return the nuggets of each topic; None if the file has another format, such as a single line of gold."""
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
        if nuggets is None or not all(isinstance(nugget, str) for nugget in nuggets):
            problem = f"expected a list of nuggets as strings; found {json.dumps(listed)[:60]}"
            problems.append(RecordError(path, 0, topic, f'{problem}. It is left out: write it as ["nugget", ...]'))
            continue
        found[topic] = tuple(text for nugget in nuggets if (text := str(nugget).strip()))
    return found


class AssessSettings(Draws):
    """Settings of ``bioace score``."""

    align: Way = Field(default="greedy", description="Method that aligns nuggets one to one.")
    threshold: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Minimum probability of a match. Default: the mixture's, or 0.5 if one is fitted here.",
    )
    tune: int | None = Field(
        default=None,
        ge=1,
        description="Number of Optuna trials that tune the threshold on these answers. The result has the highest F1 "
        "on the Pareto front of F1, similarity and number of pairs.",
    )
    embedder: str = Field(
        default="bundled",
        description="Embedder that compares nuggets: bundled, hf:CHECKPOINT or hf:CHECKPOINT#POOLING (mean, cls, last, "
        "pooler; default for SimCSE: pooler).",
    )
    mixture: str | None = Field(
        default=None, description="File of a mixture from save_mixture. Default: fit one to these answers."
    )
    save_mixture: str | None = Field(default=None, description="File to write the mixture to, as JSON.")
    nugget_prompt: str | None = Field(
        default=None, description="File (.toml) with a prompt for nuggets, instead of the bundled one."
    )
    completeness: str | None = Field(
        default=None,
        description="How to label the necessity of each sentence: llm (the model of --llm), or the file or folder of a "
        "classifier from `bioace train-completeness`.",
    )
    completeness_prompt: str | None = Field(
        default=None, description="File (.toml) with a prompt for labelling sentences, instead of the bundled one."
    )
    judge: str | None = Field(
        default=None, description="Judge of citations; `vericite judges` lists them. Default: citations are not judged."
    )


@dataclass(frozen=True)
class Choices:
    """Settings of an assessment.

    Attributes:
        way: The alignment method for nuggets.
        threshold: Minimum probability of a match. Default: the mixture's threshold.
        mixture: A fitted mixture. Default: fit one to the scored answers, with a remark.
        llm: The language model that extracts nuggets. Default: atomic statements, offline.
        prompt: The prompt for nuggets.
        judge: The judge of citations to documents with known texts. Default: citations are not judged.
        labeller: Labels how necessary each sentence is. Default: sentences are not labelled.
        trials: Number of Optuna trials to tune the threshold on the scored answers, with a remark. Default: no tuning.
        bootstrap: Settings of the intervals.
    """

    way: Way = "greedy"
    threshold: float | None = None
    mixture: StoredMixture | None = None
    llm: LLM | None = None
    prompt: Prompt | VerbatimPrompt = PROMPT
    judge: Judge | None = None
    labeller: Labeller | None = None
    trials: int | None = None
    bootstrap: Bootstrap = field(default_factory=Bootstrap)


def assess(
    answers: Sequence[SystemAnswer], gold: Mapping[str, Sequence[str]], embedder: Embeds, chosen: Choices
) -> Assessed:
    """Compute all tables."""
    recalls, rows, mixture, remarks = _nuggets(answers, gold, embedder, chosen)
    by_people = {
        (answer.question, answer.system): answer.item.labels.sentences
        for answer in answers
        if answer.item.labels is not None and answer.item.labels.sentences is not None
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
        needs="separate verdicts: check --protocol bioace-maxsim --out VERDICTS, then agree LABELS VERDICTS",
    ),
    FigureRow(
        "citations by nuggets (table A5)",
        "F1 of each label, kappa",
        needs="separate verdicts: check --protocol bioace-nuggets --out VERDICTS, then agree LABELS VERDICTS",
    ),
    FigureRow(
        "correctness (table 3)",
        "P, R, F1, AUC",
        needs="labelled windows, which answers do not have: bioace train-correctness (docs/bioace.md)",
    ),
)
"""Tables of the paper that other commands compute."""


Recalls = dict[tuple[str, str], float]
"""Recall by question and system."""


def _nuggets(
    answers: Sequence[SystemAnswer], gold: Mapping[str, Sequence[str]], embedder: Embeds, chosen: Choices
) -> tuple[Recalls, list[FigureRow], StoredMixture | None, list[str]]:
    table = "nuggets (table 1)"
    known = [answer for answer in answers if answer.item.answer is not None and gold.get(answer.question)]
    if not known:
        return {}, [FigureRow(table, "precision, recall, F1", needs="gold nuggets of the answers' questions")], None, []
    texts = [answer.item.answer.text for answer in known if answer.item.answer is not None]
    made = list(make_nuggets(texts, chosen.llm, chosen.prompt))
    failures = Counter(nuggets.failure for nuggets in made if nuggets.failure is not None)
    remarks = [f"{count} answers without nuggets: {why}" for why, count in failures.items()]
    matrices = [
        similarities(embedder, nuggets.nuggets, gold[answer.question])
        for answer, nuggets in zip(known, made, strict=True)
    ]
    # A failure is missing. It must not count like an answer without nuggets, whose F1 is 0.
    succeeded = [matrix for nuggets, matrix in zip(made, matrices, strict=True) if nuggets.failure is None]
    mixture = _mixture(succeeded, embedder, chosen, remarks)
    if mixture is None:
        needs = f"{LEAST} different similarities to fit a mixture, or --set mixture=FILE"
        return {}, [FigureRow(table, "precision, recall, F1", needs=needs)], None, remarks
    recalls: Recalls = {}
    counts: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    for answer, nuggets, matrix in zip(known, made, matrices, strict=True):
        if nuggets.failure is not None:
            counts[answer.system].append((np.nan, np.nan, np.nan))
            continue
        score = score_nuggets(matrix, mixture, chosen.way)
        counts[answer.system].append((score.aligned, score.own, score.gold))
        recalls[answer.question, answer.system] = score.recall or 0.0
    rows: list[FigureRow] = []
    for system, listed in counts.items():
        aligned, own, of_gold = np.array(listed, dtype=np.float64).T
        shares = [aligned / np.where(own > 0, own, np.nan), aligned / of_gold, 2 * aligned / (own + of_gold)]
        for name, values in zip(("precision", "recall", "F1"), shares, strict=True):
            rows.append(FigureRow(table, name, system, chosen.bootstrap.means(values[:, None])[0]))
    return recalls, rows, mixture, remarks


def _mixture(matrices: Sequence[Floats], embedder: Embeds, chosen: Choices, remarks: list[str]) -> StoredMixture | None:
    """Return the given mixture, or one fitted to these similarities; None if there are too few. Add remarks."""
    mixture = chosen.mixture
    if mixture is None:
        pooled = np.concatenate([np.zeros(0), *(matrix.ravel() for matrix in matrices)])
        if len(np.unique(pooled)) < LEAST:
            return None
        mixture = fit_mixture(pooled, embedder.signature)
        remarks.append("the mixture is fitted to the scored answers; use --set mixture=FILE for one fitted to others")
    elif mixture.embedder != embedder.signature:
        remarks.append(f"the mixture was fitted with {mixture.embedder}; the vectors are from {embedder.signature}")
    if (turn := mixture.turns_at) is not None and mixture.probabilities(np.array([-1.0]))[0] > 0.5:
        remarks.append(
            f"below a similarity of {turn:.2f} the mixture's probability of a match rises again, because its matching "
            "component is the wider one. Fit it to more answers"
        )
    if chosen.threshold is not None:
        mixture = mixture.model_copy(update={"threshold": chosen.threshold, "chosen": "given"})
    if chosen.trials is not None and matrices:
        tuned = tune_threshold(matrices, mixture, chosen.trials, way=chosen.way)
        mixture = tuned.mixture
        f1, similarity, pairs = next(values for threshold, values in tuned.front if threshold == mixture.threshold)
        remarks.append(
            f"the threshold {mixture.threshold:.3f} is tuned on the scored answers: it has the highest F1 of "
            f"{len(tuned.front)} on the Pareto front ({f1:.3f}; mean similarity {similarity:.3f}, {pairs:.2f} pairs "
            "per answer)"
        )
    return mixture


def _rankings(
    answers: Sequence[SystemAnswer], recalls: Mapping[tuple[str, str], float], embedder: Embeds, bootstrap: Bootstrap
) -> list[FigureRow]:
    table, name = "rankings (A1)", "nugget recall with recall (R+B)"
    human = cluster_recall(answers, embedder)
    systems = {system for _, system in human} & {system for _, system in recalls}
    if len(systems) < 3:
        needs = "at least three systems with gold nuggets and sentence labels (medaesqa:FILE, --gold NUGGETS)"
        return [FigureRow(table, name, needs=needs)]
    by_nuggets, by_people = (
        {system: float(np.mean([value for (_, of), value in found.items() if of == system])) for system in systems}
        for found in (recalls, human)
    )
    return ranked(table, name, by_nuggets, by_people, bootstrap)


def cluster_recall(answers: Iterable[SystemAnswer], embedder: Embeds, cut: float = CUT) -> Recalls:
    """Return for each system the share of clusters of a question's relevant sentences that it covers.

    Relevant sentences are the required and borderline ones of all systems. They are clustered by cosine distance with
    average linkage, up to a distance of ``cut``.
    """
    listed: dict[str, list[tuple[str, str]]] = defaultdict(list)
    judged: dict[str, set[str]] = defaultdict(set)
    for answer in answers:
        item = answer.item
        if item.answer is None or item.labels is None or item.labels.sentences is None:
            continue
        judged[answer.question].add(answer.system)
        for claim, label in zip(item.answer.claims, item.labels.sentences, strict=False):
            if label in RELEVANT:
                listed[answer.question].append((answer.system, claim.text))
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
