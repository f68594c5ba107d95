"""Recall (R+B): which of a question's clusters of relevant sentences a system covers, and its rankings (A1)."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import cast

import numpy as np

from vericite.errors import InputError
from vericite.evaluate.measures.measure import eval_package
from vericite.evaluate.resampling import Bootstrap
from vericite.lab.assess.answers import SystemAnswer
from vericite.lab.assess.tables import RELEVANT, FigureRow, ranked
from vericite.models.contracts import Embeds

CUT = 0.3
"""Maximum cosine distance between merged clusters of sentences (average linkage)."""

Recalls = dict[tuple[str, str], float]
"""Recall by question and system."""

Clusters = Mapping[str, Sequence[frozenset[str]]]
"""The clusters of each question; a sentence is ``M26-2``: the system and the number of the sentence, from 1."""

_RELEVANT_CLUSTERS = "required_and_borderline_answer_sentences_cluster"


def read_clusters(path: Path) -> Clusters:
    """Read the clusters of MedAESQA's authors: ``{question: {kind: {cluster: [{"answer_sentence_id"}]}}}``.

    Raises:
        InputError: The file cannot be read, or has another form.
    """
    try:
        questions = cast(dict[str, dict[str, dict[str, list[dict[str, str]]]]], json.loads(path.read_text("utf-8")))
        return {
            question: [
                frozenset(str(sentence["answer_sentence_id"]) for sentence in cluster)
                for cluster in kinds[_RELEVANT_CLUSTERS].values()
            ]
            for question, kinds in questions.items()
        }
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise InputError(
            f'expected clusters of sentences in {path}: {{question: {{"{_RELEVANT_CLUSTERS}": {{cluster: '
            f'[{{"answer_sentence_id"}}]}}}}}}; found {type(error).__name__}: {error}. Name MedAESQA\'s file.'
        ) from None


def recall_by(clusters: Clusters, answers: Iterable[SystemAnswer]) -> Recalls:
    """Return each system's share of the given clusters of a question; questions without clusters are left out."""
    found: Recalls = {}
    for answer in answers:
        own = [cluster for cluster in clusters.get(answer.question, ()) if cluster]
        if own and answer.item.answer is not None:
            names = {f"{answer.system}-{number}" for number in range(1, len(answer.item.answer.claims) + 1)}
            found[answer.question, answer.system] = sum(bool(names & cluster) for cluster in own) / len(own)
    return found


def cluster_recall(answers: Iterable[SystemAnswer], embedder: Embeds, cut: float = CUT) -> Recalls:
    """Return each system's share of clusters of a question's relevant sentences, which are clustered here.

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


def recall_rankings(recalls: Recalls, human: Recalls, name: str, bootstrap: Bootstrap, by: str) -> list[FigureRow]:
    """Correlate the rankings of systems by nugget recall and by a recall (R+B)."""
    table, row = "rankings (A1)", f"nugget recall with {name}"
    systems = {system for _, system in human} & {system for _, system in recalls}
    if len(systems) < 3:
        needs = "at least three systems with gold nuggets and sentence labels (medaesqa:FILE, --gold NUGGETS)"
        return [FigureRow(table, row, needs=needs, by=by)]
    by_nuggets, by_people = (
        {system: float(np.mean([value for (_, of), value in found.items() if of == system])) for system in systems}
        for found in (recalls, human)
    )
    return ranked(table, row, by_nuggets, by_people, bootstrap, by)
