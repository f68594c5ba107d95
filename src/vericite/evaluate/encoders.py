"""Encoders of texts that are compared: vectors of tokens with BERTScore's matching, and of whole texts for MAUVE.

The matching is the package bert-score's: each token is matched with the nearest one of the other text, by cosine.
Tokens that frame a text can be matched, and are not counted. Figures are not rescaled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from vericite.errors import InputError, ModelError, UnknownNameError
from vericite.models.contracts import Embeds
from vericite.models.embedder import Embedder
from vericite.models.engine import EncodedInput, Engine
from vericite.models.folder import EMBEDDER, ModelFolder

Array = NDArray[np.float32]


class TokenVectors(NamedTuple):
    """A text as its tokens' vectors of unit length [tokens, width].

    ``counted`` says which of them are of the text and do not frame it; ``cut`` whether the model read less than all.
    """

    vectors: Array
    counted: NDArray[np.bool_]
    cut: bool


class EmbedsTokens(Protocol):
    """Makes vectors of tokens."""

    @property
    def signature(self) -> str:
        """Which model, and which of its layers."""
        ...

    def tokens(self, texts: Iterable[str]) -> Iterator[TokenVectors]:
        """Those of each text, in order."""
        ...


class Overlap(NamedTuple):
    """How far two texts say the same, token by token."""

    precision: float
    recall: float
    f1: float


def overlap(answer: TokenVectors, reference: TokenVectors) -> Overlap:
    """BERTScore of an answer beside a reference; 0 where one of them has no token."""
    if not (answer.counted.any() and reference.counted.any()):
        return Overlap(0.0, 0.0, 0.0)
    likeness = answer.vectors @ reference.vectors.T
    precision = float(likeness.max(axis=1)[answer.counted].mean(dtype=np.float64))
    recall = float(likeness.max(axis=0)[reference.counted].mean(dtype=np.float64))
    both = precision + recall
    return Overlap(precision, recall, 2 * precision * recall / both if both > 0 else 0.0)


def best_overlap(answer: TokenVectors, references: Sequence[TokenVectors]) -> Overlap:
    """The highest of each figure over the references, as bert-score takes it."""
    each = [overlap(answer, reference) for reference in references]
    return Overlap(*(max(figures) for figures in zip(*each, strict=True)))


def load_token_encoder(name: str, device: str | None = None) -> EmbedsTokens:
    """The encoder of a name: ``bundled``, or ``hf:CHECKPOINT`` with a layer behind a ``#`` where another is wanted.

    Raises:
        UnknownNameError: It is neither.
        InputError: The layer is no number, or there is no such layer.
        ModelMissingError: There is no such checkpoint.
        ModelCardError: It is no encoder, or not one that is safe to load.
        MissingExtraError: The extra ``[hf]`` is not installed.
    """
    checkpoint = _checkpoint(name)
    if checkpoint is None:
        return BundledTokens()
    checkpoint, mark, layer = checkpoint.partition("#")
    if mark and not layer.isdecimal():
        raise InputError(f"expected the number of a layer behind #, as in hf:roberta-large#17; found {layer!r}")
    return CheckpointTokens(checkpoint, int(layer) if mark else None, device)


def load_text_encoder(name: str, device: str | None = None) -> Embeds:
    """The encoder of a name: ``bundled``, or ``hf:CHECKPOINT``.

    Of a decoder, such as GPT-2, a text's vector is that of its last token, as in the package mauve-text; of others it
    is the mean of all.

    Raises:
        UnknownNameError: It is neither.
        ModelMissingError: There is no such checkpoint.
        ModelCardError: It is not one that is safe to load.
        MissingExtraError: The extra ``[hf]`` is not installed.
    """
    checkpoint = _checkpoint(name)
    if checkpoint is None:
        return Embedder.shared()
    from vericite.retrieve.hf import HFEmbedder, is_decoder

    pooling = "last" if is_decoder(checkpoint) else "mean"
    return HFEmbedder(checkpoint, pooling=pooling, device=device, max_tokens=_MOST_TOKENS, unit=False)


_MOST_TOKENS = 1024
"""Of a text for MAUVE, where a model reads as many; as in mauve-text."""


def _checkpoint(name: str) -> str | None:
    """The checkpoint that is named; None for the bundled model."""
    if name == "bundled":
        return None
    if not name.startswith("hf:"):
        raise UnknownNameError("encoder", name, ("bundled", "hf:CHECKPOINT"))
    return name.removeprefix("hf:")


_STATES = "states"
"""What our graphs call the states of tokens."""


class _StatesEngine(Engine):
    """The engine, with the states of tokens beside a model's own output."""

    def _graph(self, path: Path) -> str | bytes:
        # Protobuf joins messages that follow each other: a model whose graph (7) has an output (12) of this name (1).
        output = _field(12, _field(1, _STATES.encode()))
        return path.read_bytes() + _field(7, output)

    def tokens(self, texts: Sequence[str]) -> Iterator[TokenVectors]:
        """Those of each text, a text a core."""
        with ThreadPoolExecutor(self.threads) as pool:
            yield from pool.map(self._of_one, self.encoder.encode(texts))

    def _of_one(self, encoding: EncodedInput) -> TokenVectors:
        states: Array = self._score([encoding], output=1)[0]
        counted = np.ones(len(states), dtype=np.bool_)
        counted[[0, -1]] = False
        return TokenVectors(_unit(states), counted, encoding.truncated)


def _field(number: int, content: bytes) -> bytes:
    """A short field of a protobuf message that holds a text or a message."""
    return bytes([number << 3 | 2, len(content)]) + content


def _unit(states: Array) -> Array:
    return states / np.maximum(np.linalg.norm(states, axis=1, keepdims=True), 1e-12)


_AT_ONCE = 64
"""Texts whose vectors are in memory together."""


class BundledTokens:
    """The last layer of the embedder that the package brings."""

    def __init__(self, folder: ModelFolder | None = None) -> None:
        self._engine = _StatesEngine(folder or ModelFolder.bundled(EMBEDDER))

    @property
    def signature(self) -> str:
        """That of the embedder."""
        return f"{self._engine.folder.signature}(last layer)"

    def tokens(self, texts: Iterable[str]) -> Iterator[TokenVectors]:
        """Those of each text, in order."""
        source = iter(texts)
        while some := list(islice(source, _AT_ONCE)):
            yield from self._engine.tokens(some)


LAYERS: Mapping[str, int] = {
    "bert-base-uncased": 9,
    "bert-large-uncased": 18,
    "roberta-base": 10,
    "roberta-large": 17,
    "distilbert-base-uncased": 5,
    "deberta-xlarge-mnli": 40,
}
"""The layers that bert-score takes, by the last part of a checkpoint's name; of others the last layer is taken."""

_SPACED = frozenset({"roberta", "gpt2"})
"""Kinds of models that bert-score gives a space before the first word, so that it is spelt as any other."""


class CheckpointTokens:
    """A layer of a checkpoint. Runs in 32-bit floats on a processor and in bfloat16 on CUDA.

    Args:
        checkpoint: A folder, or a name on huggingface.co.
        layer: Which layer's states are taken, counted from 1; None for the one that bert-score takes.
        device: ``cpu``, ``cuda``, ``cuda:1``, ``mps``; by default the fastest there is.

    Raises:
        ModelMissingError: There is no such checkpoint.
        ModelCardError: It is no encoder, or not one that is safe to load.
        InputError: There is no such device or layer.
        MissingExtraError: The extra ``[hf]`` is not installed.
    """

    def __init__(self, checkpoint: str, layer: int | None = None, device: str | None = None) -> None:
        from vericite.models import hf
        from vericite.network.access import offline_by_environment

        self._hf = hf
        hf.library("torch")
        found = hf.find_checkpoint(checkpoint, offline_by_environment())
        self._loaded = hf.load(found, "AutoModel", device, unused="pooler")
        config = self._loaded.model.config
        layers: int = config.num_hidden_layers
        self.layer = LAYERS.get(found.name.rpartition("/")[2].casefold(), layers) if layer is None else layer
        if not 1 <= self.layer <= layers:
            raise InputError(f"expected a layer from 1 to {layers} of {found.name}; found {self.layer}")
        self._space = " " if config.model_type in _SPACED else ""
        self._reader = hf.Reader(self._loaded)
        self._name = found.name
        self.signature = f"hf:{found.signature}(layer {self.layer})"

    def tokens(self, texts: Iterable[str]) -> Iterator[TokenVectors]:
        """Those of each text, in order.

        Raises:
            ModelError: The model breaks, gives no numbers, or has not enough memory.
        """
        yield from self._hf.in_batches(texts, self._loaded, self._encode, self._score, self._hf.refuse_too_large)

    def _encode(self, texts: list[str]) -> list[Any]:
        return self._reader.within(self._loaded.max_tokens, [self._space + text.strip() for text in texts])

    def _score(self, batch: list[Any]) -> list[TokenVectors]:
        inputs = self._reader.inputs(batch)
        with self._hf.library("torch").inference_mode():
            states = self._loaded.model(**inputs, output_hidden_states=True).hidden_states[self.layer]
            found: Array = states.float().cpu().numpy()
        if not all(np.isfinite(row[: len(item.ids)]).all() for row, item in zip(found, batch, strict=True)):
            raise ModelError(f"expected numbers from {self._name}; found none. Try another device or checkpoint")
        return [
            TokenVectors(
                _unit(row[: len(item.ids)]),
                np.array([id not in self._loaded.separators for id in item.ids], dtype=np.bool_),
                item.cut,
            )
            for row, item in zip(found, batch, strict=True)
        ]
