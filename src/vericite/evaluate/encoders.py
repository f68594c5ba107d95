"""Text encoders for measures: token vectors with BERTScore's matching, and text vectors for MAUVE.

The matching is that of the package bert-score: each token is matched with the nearest token of the other text, by
cosine. Special tokens can be matched but are not counted. Scores are not rescaled.
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
    """The token vectors of a text, of unit length [tokens, width].

    ``counted`` is False for special tokens; ``cut`` is whether the text was truncated.
    """

    vectors: Array
    counted: NDArray[np.bool_]
    cut: bool


class EmbedsTokens(Protocol):
    """Encodes texts as token vectors."""

    @property
    def signature(self) -> str:
        """Identifies the model and its layer."""
        ...

    def tokens(self, texts: Iterable[str]) -> Iterator[TokenVectors]:
        """Yield the token vectors of each text, in order."""
        ...


class Overlap(NamedTuple):
    """BERTScore of two texts."""

    precision: float
    recall: float
    f1: float


def overlap(answer: TokenVectors, reference: TokenVectors) -> Overlap:
    """Return the BERTScore of an answer against a reference; 0 if one of them has no tokens."""
    if not (answer.counted.any() and reference.counted.any()):
        return Overlap(0.0, 0.0, 0.0)
    likeness = answer.vectors @ reference.vectors.T
    precision = float(likeness.max(axis=1)[answer.counted].mean(dtype=np.float64))
    recall = float(likeness.max(axis=0)[reference.counted].mean(dtype=np.float64))
    both = precision + recall
    return Overlap(precision, recall, 2 * precision * recall / both if both > 0 else 0.0)


def best_overlap(answer: TokenVectors, references: Sequence[TokenVectors]) -> Overlap:
    """Return the maximum of each score over the references, as bert-score does."""
    overlaps = [overlap(answer, reference) for reference in references]
    return Overlap(*(max(scores) for scores in zip(*overlaps, strict=True)))


def load_token_encoder(name: str, device: str | None = None) -> EmbedsTokens:
    """Load a token encoder by name: ``bundled``, ``hf:CHECKPOINT`` or ``hf:CHECKPOINT#LAYER``.

    Raises:
        UnknownNameError: The name is none of these.
        InputError: The layer is not a number, or does not exist.
        ModelMissingError: The checkpoint does not exist.
        ModelCardError: The checkpoint is not an encoder, or is not safe to load.
        MissingExtraError: The extra ``[hf]`` is not installed.
    """
    checkpoint = _checkpoint(name)
    if checkpoint is None:
        return BundledTokens()
    checkpoint, mark, layer = checkpoint.partition("#")
    if mark and not layer.isdecimal():
        raise InputError(f"expected a layer number after #, as in hf:roberta-large#17; found {layer!r}")
    return CheckpointTokens(checkpoint, int(layer) if mark else None, device)


def load_text_encoder(name: str, device: str | None = None) -> Embeds:
    """Load a text encoder by name: ``bundled`` or ``hf:CHECKPOINT``.

    A decoder such as GPT-2 encodes a text as the vector of its last token, as in the package mauve-text. Other models
    use the mean over all tokens.

    Raises:
        UnknownNameError: The name is none of these.
        ModelMissingError: The checkpoint does not exist.
        ModelCardError: The checkpoint is not safe to load.
        MissingExtraError: The extra ``[hf]`` is not installed.
    """
    checkpoint = _checkpoint(name)
    if checkpoint is None:
        return Embedder.shared()
    from vericite.retrieve.hf import HFEmbedder, is_decoder

    pooling = "last" if is_decoder(checkpoint) else "mean"
    return HFEmbedder(checkpoint, pooling=pooling, device=device, max_tokens=_MAX_TOKENS, unit=False)


_MAX_TOKENS = 1024
"""Maximum tokens per text for MAUVE, as in mauve-text."""


def _checkpoint(name: str) -> str | None:
    """Return the name of the checkpoint; None for the bundled model."""
    if name == "bundled":
        return None
    if not name.startswith("hf:"):
        raise UnknownNameError("encoder", name, ("bundled", "hf:CHECKPOINT"))
    return name.removeprefix("hf:")


_STATES = "states"
"""Name of the token states in the bundled graphs."""


class _StatesEngine(Engine):
    """An engine that also returns token states, as a second output."""

    def _graph(self, path: Path) -> str | bytes:
        # Protobuf merges concatenated messages. This appends a model whose graph (field 7) has an output (12) with
        # this name (1).
        output = _field(12, _field(1, _STATES.encode()))
        return path.read_bytes() + _field(7, output)

    def tokens(self, texts: Sequence[str]) -> Iterator[TokenVectors]:
        """Yield the token vectors of each text, with one text per thread."""
        with ThreadPoolExecutor(self.threads) as pool:
            yield from pool.map(self._token_vectors, self.encoder.encode(texts))

    def _token_vectors(self, encoding: EncodedInput) -> TokenVectors:
        states: Array = self._score([encoding], output=1)[0]
        counted = np.ones(len(states), dtype=np.bool_)
        counted[[0, -1]] = False
        return TokenVectors(_unit(states), counted, encoding.truncated)


def _field(number: int, content: bytes) -> bytes:
    """Encode a protobuf field with a string or message of at most 127 bytes."""
    return bytes([number << 3 | 2, len(content)]) + content


def _unit(states: Array) -> Array:
    return states / np.maximum(np.linalg.norm(states, axis=1, keepdims=True), 1e-12)


_AT_ONCE = 64
"""Number of texts whose vectors are in memory at a time."""


class BundledTokens:
    """The last layer of the bundled embedder."""

    def __init__(self, folder: ModelFolder | None = None) -> None:
        self._engine = _StatesEngine(folder or ModelFolder.bundled(EMBEDDER))

    @property
    def signature(self) -> str:
        """The signature of the embedder, with the layer."""
        return f"{self._engine.folder.signature}(last layer)"

    def tokens(self, texts: Iterable[str]) -> Iterator[TokenVectors]:
        """Yield the token vectors of each text, in order."""
        source = iter(texts)
        while batch := list(islice(source, _AT_ONCE)):
            yield from self._engine.tokens(batch)


LAYERS: Mapping[str, int] = {
    "bert-base-uncased": 9,
    "bert-large-uncased": 18,
    "roberta-base": 10,
    "roberta-large": 17,
    "distilbert-base-uncased": 5,
    "deberta-xlarge-mnli": 40,
}
"""The layers that bert-score uses, by the last part of the checkpoint's name. Other checkpoints use the last layer."""

_SPACED = frozenset({"roberta", "gpt2"})
"""Model types for which bert-score adds a space before the first word, so that it is tokenized like any other."""


class CheckpointTokens:
    """A layer of a checkpoint. Runs in float32 on a CPU and in bfloat16 on CUDA.

    Args:
        checkpoint: A folder, or a name on huggingface.co.
        layer: The layer whose states to use, counted from 1. Default: the layer that bert-score uses.
        device: ``cpu``, ``cuda``, ``cuda:1`` or ``mps``. Default: the fastest available.

    Raises:
        ModelMissingError: The checkpoint does not exist.
        ModelCardError: The checkpoint is not an encoder, or is not safe to load.
        InputError: The device or layer does not exist.
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
            raise InputError(f"expected a layer of {found.name} from 1 to {layers}; found {self.layer}")
        self._space = " " if config.model_type in _SPACED else ""
        self._reader = hf.Reader(self._loaded)
        self._name = found.name
        self.signature = f"hf:{found.signature}(layer {self.layer})"

    def tokens(self, texts: Iterable[str]) -> Iterator[TokenVectors]:
        """Yield the token vectors of each text, in order.

        Raises:
            ModelError: The model fails, returns NaN, or runs out of memory.
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
            raise ModelError(
                f"expected finite numbers from {self._name}; found NaN or infinity. Try another device or checkpoint"
            )
        return [
            TokenVectors(
                _unit(row[: len(item.ids)]),
                np.array([id not in self._loaded.separators for id in item.ids], dtype=np.bool_),
                item.cut,
            )
            for row, item in zip(found, batch, strict=True)
        ]
