"""BioACE's tables of answers: the rows that the given labels allow, and what the other rows need."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from vericite.datasets.registry import is_named
from vericite.errors import InputError, Problems, RecordError
from vericite.evaluate.resampling import ratio
from vericite.evaluate.systems import read_gold
from vericite.formats.tracks import is_bank
from vericite.lab.assess.answers import SystemAnswer
from vericite.lab.assess.choices import Choices, TableName
from vericite.lab.assess.citations import (
    Setting,
    citation_rows,
    labelled_cases,
)
from vericite.lab.assess.correctness_tables import (
    document_rows,
    pair_rows,
    pairs_of_cases,
    retrieved_sentences,
    similarity_rows,
    supported_sentences,
)
from vericite.lab.assess.mixture import LEAST, StoredMixture, fit_mixture
from vericite.lab.assess.nuggets import (
    MadeNuggets,
    make_nuggets,
    score_nuggets,
    similarities,
    tune_threshold,
)
from vericite.lab.assess.recall import (
    Recalls,
    cluster_recall,
    recall_by,
    recall_rankings,
)
from vericite.lab.assess.tables import (
    FigureRow,
    citation_tables,
    compared_sentences,
    label_sentences,
    sentence_rankings,
    sentence_table,
)
from vericite.models.contracts import Embeds
from vericite.records import Gold

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Assessed:
    """The tables, and the mixtures that were used to match nuggets, by embedder."""

    rows: tuple[FigureRow, ...]
    mixtures: Mapping[str, StoredMixture]
    remarks: tuple[str, ...] = ()


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


def assess(
    answers: Sequence[SystemAnswer],
    gold: Mapping[str, Sequence[str]],
    embedders: Mapping[str, Embeds],
    chosen: Choices,
) -> Assessed:
    """Compute the wanted tables. The first embedder also clusters sentences and finds the most similar ones."""
    remarks: list[str] = []
    rows, rankings, mixtures = _nugget_rows(answers, gold, embedders, chosen, remarks)
    of_sentences, sentence_ranks = _sentence_rows(answers, chosen, remarks)
    rows += of_sentences
    if chosen.wants("4", "5", "A3", "A4", "A5", "A6"):
        rows += citation_tables(answers, chosen.bootstrap)
    wanted: list[Setting] = [setting for setting, tables in _SETTINGS.items() if chosen.wants(*tables, "A4")]
    judged, by_judges = citation_rows(answers, chosen.judges, chosen.bootstrap, remarks, wanted)
    rows += [*judged, *_correctness_rows(answers, embedders, chosen, remarks), *rankings, *sentence_ranks]
    rows += by_judges if chosen.wants("A4") else []
    return Assessed(tuple(rows), mixtures, tuple(remarks))


_SETTINGS: Mapping[Setting, tuple[TableName, ...]] = {
    "document": ("4", "A6"),
    "sentence": ("5", "A3"),
    "nuggets": ("A5",),
}


def _nugget_rows(
    answers: Sequence[SystemAnswer],
    gold: Mapping[str, Sequence[str]],
    embedders: Mapping[str, Embeds],
    chosen: Choices,
    remarks: list[str],
) -> tuple[list[FigureRow], list[FigureRow], dict[str, StoredMixture]]:
    """Return table 1, the rankings (A1), and the mixtures by embedder."""
    rows: list[FigureRow] = []
    rankings: list[FigureRow] = []
    mixtures: dict[str, StoredMixture] = {}
    if not chosen.wants("1", "A1"):
        return rows, rankings, mixtures
    made = _extracted(answers, gold, chosen, remarks)
    human: dict[str, Recalls] = {}
    if chosen.wants("A1"):
        human = {f"recall (R+B) by {name}": recall_by(clusters, answers) for name, clusters in chosen.clusters.items()}
        human = human or {"recall (R+B)": cluster_recall(answers, next(iter(embedders.values())))}
    for name, embedder in embedders.items():
        recalls, own, mixture = _nuggets(made, gold, name, embedder, chosen, remarks)
        rows += own if chosen.wants("1") else []
        if mixture is not None:
            mixtures[name] = mixture
        for of, recall in human.items():
            rankings += recall_rankings(recalls, recall, of, chosen.bootstrap, name)
    return rows, rankings, mixtures


def _sentence_rows(
    answers: Sequence[SystemAnswer], chosen: Choices, remarks: list[str]
) -> tuple[list[FigureRow], list[FigureRow]]:
    """Return the shares of sentences with table 2, and the rankings (A2)."""
    if not chosen.wants("2", "A2"):
        return [], []
    by_people = {
        (answer.question, answer.system): answer.item.labels.sentences
        for answer in answers
        if answer.item.labels is not None and answer.item.labels.sentences is not None
    }
    rows = sentence_table(by_people, chosen.bootstrap, whole=chosen.unlabelled)
    by_model = label_sentences(answers, chosen.labeller, remarks)
    rows += compared_sentences(by_model, by_people, chosen.bootstrap)
    if not chosen.wants("A2"):
        return rows, []
    return rows, sentence_rankings(by_model, by_people, chosen.bootstrap, chosen.unlabelled)


def _correctness_rows(
    answers: Sequence[SystemAnswer], embedders: Mapping[str, Embeds], chosen: Choices, remarks: list[str]
) -> list[FigureRow]:
    """Return table 3, figure 1 and figure A6."""
    cases = labelled_cases(answers)
    rows: list[FigureRow] = []
    if chosen.wants("3"):
        pairs = pairs_of_cases(cases, chosen.ranked, chosen.punkt)
        rows += pair_rows(pairs, chosen.correctness, chosen.bootstrap, remarks)
    if chosen.wants("figure-1"):
        rows += similarity_rows(supported_sentences(cases, chosen.punkt), embedders, chosen.nli, chosen.bootstrap)
    if chosen.wants("figure-A6"):
        found, unknown = retrieved_sentences(answers, chosen.retrieved, chosen.library, chosen.punkt)
        if unknown:
            remarks.append(f"{unknown} retrieved documents are not among --documents, or have no text")
        rows += document_rows(cases, found, chosen.correctness, chosen.bootstrap, chosen.punkt)
    return rows


def _extracted(
    answers: Sequence[SystemAnswer], gold: Mapping[str, Sequence[str]], chosen: Choices, remarks: list[str]
) -> list[tuple[SystemAnswer, MadeNuggets]]:
    """Return the answers to questions with gold nuggets, each with its own nuggets."""
    known = [
        (answer, answer.item.answer.text) for answer in answers if answer.item.answer and gold.get(answer.question)
    ]
    questions = [answer.item.answer.question or answer.question for answer, _ in known if answer.item.answer]
    made = list(make_nuggets([text for _, text in known], chosen.llm, chosen.prompt, questions))
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
    mixture = _mixture(succeeded, name, embedder, chosen, remarks)
    if mixture is None:
        needs = f"{LEAST} different similarities to fit a mixture, or --set mixture=FILE"
        return {}, [FigureRow(table, "precision, recall, F1", needs=needs, by=name)], None
    recalls: Recalls = {}
    pooled: dict[str, Floats] = defaultdict(lambda: np.zeros(4))
    counts: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    for (answer, nuggets), matrix in zip(made, matrices, strict=True):
        if nuggets.failure is not None:
            counts[answer.system].append((np.nan, np.nan, np.nan))
            continue
        score = score_nuggets(matrix, mixture, chosen.way)
        counts[answer.system].append((score.aligned, score.own, score.gold))
        recalls[answer.question, answer.system] = score.recall or 0.0
        of_answer = (score.precision or 0.0, score.precision is not None, score.recall or 0.0, score.recall is not None)
        pooled[answer.question] += of_answer
    rows: list[FigureRow] = []
    for system, listed in counts.items():
        aligned, own, of_gold = np.array(listed, dtype=np.float64).T
        shares = [aligned / np.where(own > 0, own, np.nan), aligned / of_gold, 2 * aligned / (own + of_gold)]
        for share, values in zip(("precision", "recall", "F1"), shares, strict=True):
            rows.append(FigureRow(table, share, system, chosen.bootstrap.means(values[:, None])[0], by=name))
    sums = np.array([*pooled.values()]).reshape(-1, 1, 4)
    for index, share in enumerate(("precision", "recall", "F1")):
        estimate = chosen.bootstrap.pooled(sums, partial(_of_all, index))[0]
        rows.append(FigureRow(table, share, None, estimate, by=name))
    return recalls, rows, mixture


def _of_all(index: int, sums: Floats) -> Floats:
    """Return mean precision, mean recall or, as in the paper's row of an embedder, the harmonic mean of both."""
    with np.errstate(divide="ignore", invalid="ignore"):
        precision, recall = ratio(sums[..., :2]), ratio(sums[..., 2:])
        both = precision + recall
        return (precision, recall, np.where(both == 0, 0.0, 2 * precision * recall / both))[index]


def _mixture(
    matrices: Sequence[Floats], name: str, embedder: Embeds, chosen: Choices, remarks: list[str]
) -> StoredMixture | None:
    """Return the given mixture, or one fitted to these similarities; None if there are too few. Add remarks."""
    mixture = chosen.mixtures.get(name)
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
