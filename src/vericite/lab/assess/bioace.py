"""BioACE's tables of answers: the rows that the given labels allow, and what the other rows need."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from vericite.datasets.registry import is_named
from vericite.errors import InputError, Problems, RecordError
from vericite.evaluate.items import Item
from vericite.evaluate.resampling import Bootstrap
from vericite.evaluate.scoring import System
from vericite.evaluate.settings import Draws
from vericite.evaluate.systems import SYSTEM_ID, read_gold
from vericite.formats.tracks import is_bank
from vericite.lab.assess.checkpoint import labeller_of
from vericite.lab.assess.citations import CitationJudges, PairMaker, citation_rows, labelled_cases, named_judge
from vericite.lab.assess.completeness import PROMPT as LABELS_PROMPT
from vericite.lab.assess.completeness import Labeller
from vericite.lab.assess.mixture import LEAST, StoredMixture, fit_mixture, read_mixture
from vericite.lab.assess.nuggets import (
    PROMPT,
    MadeNuggets,
    Way,
    make_nuggets,
    score_nuggets,
    similarities,
    tune_threshold,
)
from vericite.lab.assess.recall import (
    Clusters,
    Recalls,
    cluster_recall,
    read_clusters,
    recall_by,
    recall_rankings,
)
from vericite.lab.assess.tables import (
    FigureRow,
    SystemAnswer,
    citation_tables,
    compared_sentences,
    label_sentences,
    sentence_rankings,
    sentence_table,
)
from vericite.llm import LLM
from vericite.llm.prompts import Prompt
from vericite.llm.verbatim import VerbatimPrompt, read_any
from vericite.models import Embedder
from vericite.models.contracts import Embeds
from vericite.records import Gold

Floats = NDArray[np.float64]

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
    embedder: tuple[str, ...] = Field(
        default=("bundled",),
        min_length=1,
        description="Embedders that compare nuggets: bundled, hf:CHECKPOINT or hf:CHECKPOINT#POOLING (mean, cls, last, "
        "pooler; default for SimCSE: pooler). The first one also finds the most similar sentence of a document.",
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
    judge: tuple[str, ...] = Field(
        default=(),
        description="Judges of citations: names (`vericite judges`), or NAME=FILE with scores of the pairs that "
        "write_pairs wrote. Default: citations are not judged.",
    )
    nugget_judge: tuple[str, ...] = Field(
        default=(), description="Judges of lists of nuggets, such as llm-nuggets:MODEL. Default: those of judge."
    )
    fit: str | None = Field(
        default=None,
        description="Labelled answers to other questions, such as medaesqa:FILE, on which each judge's threshold is "
        "fitted by F1. Their documents are among --documents.",
    )
    write_pairs: str | None = Field(
        default=None, description="File to write what judges read to, as JSON lines, for a program that scores them."
    )
    punkt: bool = Field(
        default=False, description="Whether NLTK's Punkt splits documents into sentences, as in the paper."
    )
    clusters: tuple[str, ...] = Field(
        default=(),
        description="Clusters of sentences for recall (R+B), as NAME=FILE, in MedAESQA's format. Default: clusters by "
        "the first embedder.",
    )

    def refuse_misuse(self, llm: str | None) -> None:
        """Refuse settings that exclude each other, or that need a language model.

        Raises:
            InputError: There are such settings.
        """
        if self.tune is not None and self.threshold is not None:
            raise InputError("expected tune or threshold; found both. Set one of them.")
        if len(self.embedder) > 1 and (self.mixture or self.save_mixture):
            raise InputError(
                f"expected one embedder with mixture or save_mixture; found {len(self.embedder)}. Set one of them."
            )
        if self.nugget_prompt is not None and llm is None:
            raise InputError("expected --llm MODEL with nugget_prompt; found none. Name a model.")
        if self.completeness_prompt is not None and self.completeness != "llm":
            raise InputError("expected completeness=llm with completeness_prompt; found none. Set it.")


@dataclass(frozen=True)
class Choices:
    """Settings of an assessment.

    Attributes:
        way: The alignment method for nuggets.
        threshold: Minimum probability of a match. Default: the mixture's threshold.
        mixture: A fitted mixture. Default: fit one to the scored answers, with a remark.
        llm: The language model that extracts nuggets. Default: atomic statements, offline.
        prompt: The prompt for nuggets.
        judges: The judges of citations, and what they read. Default: citations are not judged.
        clusters: Clusters of sentences by name, for recall (R+B). Default: clusters by the embedder.
        labeller: Labels how necessary each sentence is. Default: sentences are not labelled.
        trials: Number of Optuna trials to tune the threshold on the scored answers, with a remark. Default: no tuning.
        bootstrap: Settings of the intervals.
    """

    way: Way = "greedy"
    threshold: float | None = None
    mixture: StoredMixture | None = None
    llm: LLM | None = None
    prompt: Prompt | VerbatimPrompt = PROMPT
    judges: CitationJudges | None = None
    clusters: Mapping[str, Clusters] = field(default_factory=dict[str, "Clusters"])
    labeller: Labeller | None = None
    trials: int | None = None
    bootstrap: Bootstrap = field(default_factory=Bootstrap)


def choose(settings: AssessSettings, llm: str | None, fit: Sequence[SystemAnswer], embedder: Embeds) -> Choices:
    """Load the models and files that the settings name.

    Args:
        settings: The settings.
        llm: The name of the language model that extracts nuggets and labels sentences.
        fit: Labelled answers to other questions.
        embedder: Finds the most similar sentence of a document.

    Raises:
        InputError: A file cannot be used.
        UnknownNameError: A judge does not exist.
    """
    model = None if llm is None else LLM(llm)
    nuggets = PROMPT if settings.nugget_prompt is None else read_any(Path(settings.nugget_prompt))
    asked = LABELS_PROMPT if settings.completeness_prompt is None else read_any(Path(settings.completeness_prompt))
    judges = dict(map(named_judge, settings.judge))
    of_nuggets = dict(map(named_judge, settings.nugget_judge)) or judges
    maker = PairMaker(embedder, model, nuggets, settings.punkt)
    labels = settings.completeness
    return Choices(
        settings.align,
        settings.threshold,
        None if settings.mixture is None else read_mixture(Path(settings.mixture)),
        model,
        nuggets,
        CitationJudges(judges, of_nuggets, maker, labelled_cases(fit)),
        {name: read_clusters(path) for name, path in _named_paths(settings.clusters).items()},
        None if labels is None else labeller_of(labels, model, Embedder.shared(), asked),
        settings.tune,
        settings.bootstrap,
    )


def _named_paths(texts: Sequence[str]) -> dict[str, Path]:
    """Read texts such as ``NAME=FILE``; without a name, a file is called by its stem."""
    named = [text.rpartition("=") for text in texts]
    return {name or Path(path).stem: Path(path) for name, _, path in named}


def assess(
    answers: Sequence[SystemAnswer],
    gold: Mapping[str, Sequence[str]],
    embedders: Mapping[str, Embeds],
    chosen: Choices,
) -> Assessed:
    """Compute all tables. The first embedder also clusters sentences and finds the most similar ones."""
    remarks: list[str] = []
    rows: list[FigureRow] = []
    rankings: list[FigureRow] = []
    made = _extracted(answers, gold, chosen, remarks)
    human = {f"recall (R+B) by {name}": recall_by(clusters, answers) for name, clusters in chosen.clusters.items()}
    human = human or {"recall (R+B)": cluster_recall(answers, next(iter(embedders.values())))}
    mixture = None
    for name, embedder in embedders.items():
        recalls, own, mixture = _nuggets(made, gold, name, embedder, chosen, remarks)
        rows += own
        for of, recall in human.items():
            rankings += recall_rankings(recalls, recall, of, chosen.bootstrap, name)
    by_people = {
        (answer.question, answer.system): answer.item.labels.sentences
        for answer in answers
        if answer.item.labels is not None and answer.item.labels.sentences is not None
    }
    rows += sentence_table(by_people, chosen.bootstrap)
    by_model = label_sentences(answers, chosen.labeller, remarks)
    rows += compared_sentences(by_model, by_people, chosen.bootstrap)
    rows += citation_tables(answers, chosen.bootstrap)
    judged, by_judges = citation_rows(answers, chosen.judges, chosen.bootstrap, remarks)
    rows += [*judged, ELSEWHERE, *rankings, *sentence_rankings(by_model, by_people, chosen.bootstrap), *by_judges]
    return Assessed(tuple(rows), mixture, tuple(remarks))


ELSEWHERE = FigureRow(
    "correctness (table 3)",
    "P, R, F1, AUC",
    needs="labelled windows, which answers do not have: bioace train-correctness (docs/bioace.md)",
)
"""A table of the paper that another command computes."""


def _extracted(
    answers: Sequence[SystemAnswer], gold: Mapping[str, Sequence[str]], chosen: Choices, remarks: list[str]
) -> list[tuple[SystemAnswer, MadeNuggets]]:
    """Return the answers to questions with gold nuggets, each with its own nuggets."""
    known = [
        (answer, answer.item.answer.text) for answer in answers if answer.item.answer and gold.get(answer.question)
    ]
    made = list(make_nuggets([text for _, text in known], chosen.llm, chosen.prompt))
    failures = Counter(nuggets.failure for nuggets in made if nuggets.failure is not None)
    remarks += [f"{count} answers without nuggets: {why}" for why, count in failures.items()]
    return [(answer, nuggets) for (answer, _), nuggets in zip(known, made, strict=True)]


def _nuggets(
    made: Sequence[tuple[SystemAnswer, MadeNuggets]],
    gold: Mapping[str, Sequence[str]],
    name: str,
    embedder: Embeds,
    chosen: Choices,
    remarks: list[str],
) -> tuple[Recalls, list[FigureRow], StoredMixture | None]:
    table = "nuggets (table 1)"
    if not made:
        needs = "gold nuggets of the answers' questions (--gold)"
        return {}, [FigureRow(table, "precision, recall, F1", needs=needs, by=name)], None
    matrices = [similarities(embedder, nuggets.nuggets, gold[answer.question]) for answer, nuggets in made]
    # A failure is missing. It must not count like an answer without nuggets, whose F1 is 0.
    succeeded = [matrix for (_, nuggets), matrix in zip(made, matrices, strict=True) if nuggets.failure is None]
    mixture = _mixture(succeeded, embedder, chosen, remarks)
    if mixture is None:
        needs = f"{LEAST} different similarities to fit a mixture, or --set mixture=FILE"
        return {}, [FigureRow(table, "precision, recall, F1", needs=needs, by=name)], None
    recalls: Recalls = {}
    counts: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    for (answer, nuggets), matrix in zip(made, matrices, strict=True):
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
        for share, values in zip(("precision", "recall", "F1"), shares, strict=True):
            rows.append(FigureRow(table, share, system, chosen.bootstrap.means(values[:, None])[0], by=name))
    return recalls, rows, mixture


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
