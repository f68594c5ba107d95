"""Labelled pairs of texts to train on: questions, windows of documents, or sources, each with a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vericite.corpus import load_documents
from vericite.errors import InputError, Problems
from vericite.evaluate.judge_calibration import read_labels
from vericite.evaluate.systems import read_systems
from vericite.lab.assess.answers import answered
from vericite.lab.assess.citations import labelled_cases
from vericite.lab.assess.completeness import AnswerSentence
from vericite.lab.assess.correctness import WindowExample
from vericite.lab.assess.correctness_tables import pairs_of_cases
from vericite.lab.train.configs import CorrectnessConfig
from vericite.lab.train.examples import AttributionExample
from vericite.models.contracts import COLUMNS, ENTAILS, NEUTRAL
from vericite.records import SentenceLabel


@dataclass(frozen=True)
class LabelledTexts:
    """Two texts with their label. Texts that depend on each other share a group."""

    first: str
    second: str
    label: str
    group: str


def completeness_texts(examples: Sequence[tuple[AnswerSentence, SentenceLabel]]) -> list[LabelledTexts]:
    """Return questions with sentences; the group is the question."""
    return [LabelledTexts(asked.question, asked.sentence, label, asked.question) for asked, label in examples]


def correctness_texts(examples: Sequence[WindowExample]) -> list[LabelledTexts]:
    """Return windows with sentences, labelled like a judge's pairs, so that the result is a judge: ``hf:FOLDER``."""
    labels = {True: COLUMNS[ENTAILS], False: COLUMNS[NEUTRAL]}
    return [
        LabelledTexts(example.window, example.sentence, labels[example.correct], example.group) for example in examples
    ]


def single_source_texts(examples: Sequence[AttributionExample]) -> list[LabelledTexts]:
    """Return each source with its sentence, labelled like a judge's pairs: a part of the support counts as support."""
    return [
        LabelledTexts(
            source.document.titled_text,
            example.sentence,
            COLUMNS[ENTAILS if number in example.supports else NEUTRAL],
            example.group or example.id,
        )
        for example in examples
        for number, source in enumerate(example.sources, start=1)
        if number not in example.unknown
    ]


def read_pairs(path: Path, settings: CorrectnessConfig, problems: Problems) -> list[LabelledTexts]:
    """Read pairs to train on: labelled pairs, or the pairs of labelled answers if the settings name their documents.

    Args:
        path: The pairs or the answers.
        settings: The documents, and how pairs are made.
        problems: Unusable lines are added here.

    Raises:
        InputError: A file cannot be read, or gives no pairs.
    """
    if settings.documents is None:
        return [
            LabelledTexts(label.premise, label.claim, COLUMNS[label.column], str(label.group or label.claim))
            for label in read_labels(path, problems)
        ]
    library = load_documents(Path(settings.documents), problems)
    read = read_systems([path], problems, documents=library, whole=True)
    pairs = pairs_of_cases(labelled_cases(answered(read.systems, problems)), settings.ranked, settings.punkt)
    if not pairs:
        raise InputError(
            f"expected supporting citations with marked spans in {path}, and their documents in {settings.documents}; "
            "found none. Name MedAESQA's file, as in medaesqa:FILE, and the abstracts."
        )
    return correctness_texts(pairs)


def as_windows(texts: Sequence[LabelledTexts]) -> list[WindowExample]:
    """Return labelled pairs of two labels: correct, if the window entails the sentence, or incorrect."""
    return [WindowExample(text.second, text.first, text.label == COLUMNS[ENTAILS], text.group) for text in texts]
