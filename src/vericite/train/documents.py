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
    """One line: a claim, its document in sentences, what the document says of it, and the sentences that say so."""

    model_config = ConfigDict(extra="ignore")

    claim: str
    sentences: list[str]
    label: Label
    source: str
    group: str = ""
    binary: bool = False
    evidence: tuple[int, ...] = ()

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


def resized(documents: Sequence[LabelledDocument], size: int) -> list[LabelledDocument]:
    """The same claims with documents of so many sentences.

    A longer document keeps its evidence and what stands nearest to it; a shorter one is followed by sentences of the
    documents after it that are about other claims. What a claim is labelled with stays true as far as those do not
    happen to speak of it.
    """
    return [_resized(documents, place, size) for place in range(len(documents))]


def _resized(documents: Sequence[LabelledDocument], place: int, size: int) -> LabelledDocument:
    document = documents[place]
    kept = _nearest(len(document.sentences), document.evidence, size)
    sentences = [document.sentences[index] for index in kept]
    known = set(document.sentences)
    for step in range(1, len(documents)):
        if len(sentences) >= size:
            break
        other = documents[(place + step) % len(documents)]
        if other.claim != document.claim and known.isdisjoint(other.sentences):
            known.update(other.sentences)
            sentences += other.sentences[: size - len(sentences)]
    evidence = tuple(kept.index(index) for index in document.evidence if index in kept)
    return document.model_copy(update={"sentences": sentences, "evidence": evidence})


def _nearest(length: int, evidence: Sequence[int], size: int) -> list[int]:
    """The sentences to keep, in their order; without evidence the last ones, which conclude."""
    aims = evidence or (length - 1,)
    ranked = sorted(range(length), key=lambda index: (min(abs(index - aim) for aim in aims), index))
    return sorted(ranked[:size])


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
