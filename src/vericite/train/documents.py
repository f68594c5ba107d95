"""Claims against whole documents, judged sentence by sentence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from pydantic import ConfigDict

from vericite.models import Pair
from vericite.records import Record, read_jsonl
from vericite.train.pairs import Label, LabelledPair
from vericite.train.scoring import Floats, Scorer
from vericite.verify.judging import CONTRADICTS, ENTAILS, NEUTRAL

SUFFIX = "_doc"
"""How the name of a file of whole documents ends."""


class LabelledDocument(Record):
    """One line: a claim, its document in sentences, and what the document says of it."""

    model_config = ConfigDict(extra="ignore")

    claim: str
    sentences: list[str]
    label: Label
    source: str
    group: str = ""
    binary: bool = False

    @property
    def labelled(self) -> LabelledPair:
        """The document as one premise."""
        return LabelledPair(
            premise=" ".join(self.sentences),
            claim=self.claim,
            label=self.label,
            source=self.source,
            kind="document",
            group=self.group,
            binary=self.binary,
        )


def read_documents(path: Path) -> list[LabelledDocument]:
    """A file's documents."""
    return [document for document in read_jsonl(LabelledDocument, path) if document.sentences]


def document_probabilities(scorer: Scorer, documents: Sequence[LabelledDocument]) -> Floats:
    """What the sentences say together: entailed or contradicted as the most certain of them has it.

    A document is neutral where no sentence is likelier to be something else.
    """
    pairs = [Pair(sentence, document.claim) for document in documents for sentence in document.sentences]
    judged = scorer.probabilities(pairs)
    found: list[Floats] = []
    start = 0
    for document in documents:
        rows = judged[start : start + len(document.sentences)]
        start += len(document.sentences)
        whole = np.zeros(3)
        whole[[ENTAILS, CONTRADICTS]] = rows[:, [ENTAILS, CONTRADICTS]].max(axis=0)
        whole[NEUTRAL] = rows[:, NEUTRAL].min()
        found.append(whole / whole.sum())
    return np.array(found)
