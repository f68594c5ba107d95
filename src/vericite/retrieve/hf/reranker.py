"""Cross-encoders: models that read question and document together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from vericite.errors import InputError, ModelCardError, ModelError
from vericite.llm import offline_by_environment
from vericite.models.hf.batching import Tokens, in_batches, refuse_too_large
from vericite.models.hf.loading import find_checkpoint, library, load, read_config
from vericite.models.hf.reading import Reader

MAX_TOKENS = 512
"""Tokens of question and document together that most cross-encoders were trained on."""

_RELEVANT = frozenset("1 label1 relevant positive true yes".split())
_IRRELEVANT = frozenset("0 label0 irrelevant notrelevant nonrelevant negative false no".split())


class HFReranker:
    """A checkpoint for sequence classification with one output, or two of which one means relevant.

    Runs in 32-bit floats on a processor, where a text's relevance does not depend on its batch beyond rounding, and in
    bfloat16 on CUDA, where it moves in the third digit. Threads may share it.

    Args:
        checkpoint: A folder, or a name on huggingface.co.
        device: ``cpu``, ``cuda``, ``cuda:1``, ``mps``; by default the fastest there is.
        max_tokens: Tokens of question and text together; where there are more, the longer of the two is cut. The
            checkpoint's own limit holds where it is lower.

    Raises:
        ModelMissingError: There is no such checkpoint.
        ModelCardError: It is no cross-encoder, or not one that is safe to load.
        InputError: There is no such device, or too few tokens.
        MissingExtraError: The extra ``[hf]`` is not installed.
    """

    def __init__(self, checkpoint: str, device: str | None = None, max_tokens: int = MAX_TOKENS) -> None:
        if max_tokens < 8:
            raise InputError(f"expected max_tokens of at least 8; found {max_tokens}. Raise it.")
        library("torch")
        found = find_checkpoint(checkpoint, offline_by_environment())
        labels: dict[int, str] = read_config(found).id2label
        # Before the weights, which can take minutes to load.
        self._relevant = _relevant_output([str(labels[index]) for index in sorted(labels)], found.name)
        self._loaded = load(found, "AutoModelForSequenceClassification", device)
        self._reader = Reader(self._loaded)
        self._max_tokens = min(max_tokens, self._loaded.max_tokens)
        self.signature = f"hf:{found.signature}(max_tokens={self._max_tokens})"

    def logits(self, question: str, texts: Iterable[str]) -> NDArray[np.float32]:
        """One number a text, title and all; the higher, the more relevant.

        Raises:
            ModelError: The model breaks, gives no numbers, or has not enough memory.
        """

        def encode(window: list[str]) -> list[Tokens | np.float32]:
            return [*self._reader.within(self._max_tokens, [question] * len(window), window)]

        rows = list(in_batches(texts, self._loaded, encode, self._score, refuse_too_large))
        return np.array(rows, dtype=np.float32)

    def relevance(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """How relevant each text is, from 0 to 1: the sigmoid of one output, or the softmax's share of the relevant."""
        # Of two outputs the share is the sigmoid of their difference. Written so that nothing overflows.
        return (0.5 * (1 + np.tanh(0.5 * self.logits(question, texts)))).astype(np.float32)

    def _score(self, batch: list[Tokens]) -> list[np.float32]:
        with library("torch").inference_mode():
            outputs = self._loaded.model(**self._reader.inputs(batch)).logits.float().cpu().numpy()
        if not np.isfinite(outputs).all():
            raise ModelError(f"expected numbers from {self.signature}; found none. Try another device or checkpoint")
        if outputs.shape[1] == 1:
            return list(outputs[:, 0])
        return list(outputs[:, self._relevant] - outputs[:, 1 - self._relevant])


def _relevant_output(labels: Sequence[str], checkpoint: str) -> int:
    if len(labels) == 1:
        return 0
    spelt = [re.sub(r"[\W_]+", "", label.casefold()) for label in labels]
    for relevant, other in ((1, 0), (0, 1)):
        if len(labels) == 2 and spelt[relevant] in _RELEVANT and spelt[other] in _IRRELEVANT:
            return relevant
    raise ModelCardError(
        "expected a cross-encoder with one output, or with two that are called relevant and irrelevant or LABEL_1 and "
        f"LABEL_0; found {len(labels)} ({', '.join(labels[:6])}) in {checkpoint}. Choose a checkpoint that was trained "
        "to rank"
    )
