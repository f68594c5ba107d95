"""The verifier that the package ships."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from vericite.errors import ModelCardError
from vericite.models import Engine, ModelFolder, Pair
from vericite.models.folder import VERIFIER
from vericite.verify.judging import COLUMNS, Judgement
from vericite.verify.tempering import softmax


class BundledJudge:
    """A model folder with three labels, read as probabilities."""

    def __init__(self, folder: ModelFolder | None = None, threads: int | None = None) -> None:
        self.folder = folder or ModelFolder.bundled(VERIFIER)
        labels = self.folder.card.labels
        if sorted(labels) != sorted(COLUMNS):
            raise ModelCardError(
                f"expected a verifier with the labels {', '.join(COLUMNS)}; found "
                f"{', '.join(labels) or 'none'} in {self.folder.path}"
            )
        self._columns = [labels.index(label) for label in COLUMNS]
        self._engine = Engine(self.folder, threads)

    @property
    def signature(self) -> str:
        """Name and hash of the weights, and the temperature where there is one."""
        temperature = self.folder.card.temperature
        return self.folder.signature + (f"(temperature={temperature:g})" if temperature != 1 else "")

    @property
    def capacity(self) -> int:
        """Tokens of premise and claim that the model reads, the three that separate them left out."""
        return self.folder.card.max_tokens - 3

    def length(self, text: str) -> int:
        """Tokens of a text."""
        return self._engine.encoder.length(text)

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """Softmax over the model's outputs, at the card's temperature."""
        limit = self.folder.card.max_tokens
        for row in self._engine.run(pairs):
            logits = row.values[self._columns] / np.float32(self.folder.card.temperature)
            note = f"a premise was cut to the model's {limit} tokens" if row.truncated else None
            yield Judgement(softmax(logits), note=note)
