# torch is in the extra [train] alone: where it is not installed, its types are unknown.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
"""Verifiers of every form, read as probabilities: a checkpoint in torch, or a packed folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from vericite.errors import ModelMissingError
from vericite.models import Encoder, Engine, ModelFolder, Pair
from vericite.verify.judging import COLUMNS
from vericite.verify.tempering import Floats, softmax, tempered

CARD = "card.json"
BATCH_TOKENS = 2048


class Scorer(Protocol):
    """Anything that judges pairs."""

    def probabilities(self, pairs: Sequence[Pair]) -> Floats:
        """[pairs, columns], the columns those of ``verify.judging``."""
        ...


class FolderScorer:
    """A packed model, run by the engine that users run."""

    def __init__(self, folder: ModelFolder) -> None:
        self.card = folder.card
        self._engine = Engine(folder)
        self._columns = [folder.card.labels.index(label) for label in COLUMNS]

    def probabilities(self, pairs: Sequence[Pair]) -> Floats:
        """Softmax over its outputs."""
        values = [row.values[self._columns] for row in self._engine.run(pairs)]
        return softmax(np.array(values, dtype=np.float64))


class Tempered:
    """A scorer at a temperature."""

    def __init__(self, scorer: Scorer, temperature: float) -> None:
        self._scorer = scorer
        self._temperature = temperature

    def probabilities(self, pairs: Sequence[Pair]) -> Floats:
        """The scorer's, sharper or flatter."""
        return tempered(self._scorer.probabilities(pairs), self._temperature)


class CheckpointScorer:
    """A checkpoint of ``vericite.train.fit``, in torch."""

    def __init__(self, folder: Path, threads: int = 2, precision: str = "fp32", max_tokens: int = 512) -> None:
        from vericite.train.network import TOKENIZER, load_network
        from vericite.train.runtime import set_up

        set_up(threads)
        self._network = load_network(folder, trained=True).eval()
        # Not the folder's own: an MPNet's has the ids that transformers wants, and the network takes ours.
        self._encoder = Encoder(TOKENIZER, max_tokens)
        self._precision = precision

    def probabilities(self, pairs: Sequence[Pair]) -> Floats:
        """Softmax over its outputs."""
        from vericite.train.network import logits_of

        encoded = self._encoder.encode(pairs)
        order = sorted(range(len(pairs)), key=lambda index: len(encoded[index].ids))
        values = np.zeros((len(pairs), len(COLUMNS)))
        start = 0
        while start < len(order):
            stop = start + 1
            while stop < len(order) and (stop + 1 - start) * len(encoded[order[stop]].ids) <= BATCH_TOKENS:
                stop += 1
            batch = order[start:stop]
            rows = [encoded[index] for index in batch]
            values[batch] = logits_of(self._network, rows, self._precision == "bf16")
            start = stop
        return softmax(values)


def open_scorer(path: Path, precision: str = "fp32") -> FolderScorer | CheckpointScorer:
    """Whatever is in a folder: a model with a card is packed, one without is a checkpoint.

    Raises:
        ModelMissingError: It holds neither.
    """
    if (path / CARD).is_file():
        return FolderScorer(ModelFolder.open(path))
    if not (path / "tokenizer.json").is_file():
        raise ModelMissingError(f"expected a packed model or a checkpoint's model; found neither in {path}. Name one.")
    return CheckpointScorer(path, precision=precision)
