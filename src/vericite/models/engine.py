# onnxruntime annotates its own functions only in part.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""The inference engine: batches by length, all cores, results in input order.

A row's values do not depend on the other rows: the shipped graphs scale each token separately
(``vericite.lab.train.int8_graph``). So caching, early exit and resuming cannot change a verdict.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vericite.environment import THREADS, whole_number
from vericite.errors import ModelCardError
from vericite.models.contracts import Pair
from vericite.models.folder import REPAIR, ModelFolder
from vericite.models.session import open_session
from vericite.records import storable

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer


_LONG_WORD = re.compile(r"[^\W_]{101,}")
_PIECE = re.compile(r"\w{1,32}")


class EncodedInput(NamedTuple):
    """An input's tokens, the text (0 or 1) of each, and whether any were cut."""

    ids: list[int]
    type_ids: list[int]
    truncated: bool


class Encoder:
    """Encodes inputs as at most ``max_tokens`` tokens.

    Each distinct text is tokenised once, and pairs are assembled afterwards. A claim is paired with every sentence of
    its sources, and the tokenizer's own truncation of pairs takes time and memory by the product of their lengths.
    """

    def __init__(self, path: Path, max_tokens: int) -> None:
        from tokenizers import Tokenizer

        try:
            self._tokenizer: Tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # tokenizers raises nothing more specific
            raise ModelCardError(
                f"expected a tokenizer in {path}; found an unreadable one: {error}. {REPAIR}"
            ) from None
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        # "[SEP]" in a text is text. Read as the separator, it could pass off other words as the claim.
        self._tokenizer.encode_special_tokens = True
        self._start = self._special("[CLS]", path)
        self._separator = self._special("[SEP]", path)
        self._max_tokens = max_tokens

    def _special(self, token: str, path: Path) -> int:
        id = self._tokenizer.token_to_id(token)
        if id is None:
            raise ModelCardError(f"expected the token {token} in {path}; found none. Use a BERT tokenizer.")
        return id

    def encode(self, inputs: Sequence[str | Pair]) -> list[EncodedInput]:
        """Encode each input."""
        texts = dict.fromkeys(text for item in inputs for text in ((item,) if isinstance(item, str) else item[:2]))
        found = self._tokenizer.encode_batch([tokenizable(text) for text in texts], add_special_tokens=False)
        ids = {text: encoding.ids for text, encoding in zip(texts, found, strict=True)}
        return [
            self._single(ids[item]) if isinstance(item, str) else self._pair(ids[item.premise], ids[item.claim])
            for item in inputs
        ]

    def length(self, text: str) -> int:
        """Return the number of tokens of a text, without separators."""
        return len(self._tokenizer.encode(tokenizable(text), add_special_tokens=False).ids)

    def _single(self, text: list[int]) -> EncodedInput:
        kept = text[: self._max_tokens - 2]
        ids = [self._start, *kept, self._separator]
        return EncodedInput(ids, [0] * len(ids), len(kept) < len(text))

    def _pair(self, premise: list[int], claim: list[int]) -> EncodedInput:
        # The longer of the two is cut, so that a long source does not shorten the claim.
        room = self._max_tokens - 3
        for_claim = min(len(claim), max(room - len(premise), room // 2))
        kept, asked = premise[: room - for_claim], claim[:for_claim]
        ids = [self._start, *kept, self._separator, *asked, self._separator]
        kinds = [0] * (len(kept) + 2) + [1] * (len(asked) + 1)
        return EncodedInput(ids, kinds, len(kept) + len(asked) < len(premise) + len(claim))


def tokenizable(text: str) -> str:
    """Split words of over 100 letters into pieces.

    WordPiece maps every longer word to the same unknown token, so all of them would entail each other. Pieces stay
    below its limit even if the tokenizer decomposes letters (a Korean syllable becomes three).
    """
    return _LONG_WORD.sub(lambda word: " ".join(_PIECE.findall(word[0])), storable(text))


Array = NDArray[np.float32]

MAY_EXIT = "may_exit"
"""Input of a graph with exits: whether they are enabled."""

FITTING_BITS = 7
"""Bits of activations with which no product of bytes overflows."""

WINDOW = 4096
"""Number of inputs to read ahead: enough to fill batches of one length, few enough to stream."""

BATCH_TOKENS = 512
"""Tokens in a batch. A small batch's activations stay in a core's cache: on two cores 512 is 1.7 times as fast as
8,192, and as fast as any size tried (benchmarks/verify.py --sweep)."""


class ModelOutput(NamedTuple):
    """The model's output for one input, and whether the input was cut to the model's length."""

    values: Array
    truncated: bool


class Engine:
    """Runs a model folder. Threads may share it. The weights are loaded at first use.

    Args:
        folder: The model.
        threads: Number of cores to use. Default: all.
        exits: Whether the model may exit early for pairs that it is sure of, if it can.
    """

    def __init__(self, folder: ModelFolder, threads: int | None = None, exits: bool = False) -> None:
        self.folder = folder
        self.exits = exits
        self.threads = threads or available_cores()
        self._loading = Lock()

    @cached_property
    def encoder(self) -> Encoder:
        """The encoder of inputs."""
        return Encoder(self.folder.path / "tokenizer.json", self.folder.card.max_tokens)

    @cached_property
    def _session(self) -> InferenceSession:
        with self._loading:
            # Another thread may have loaded it in the meantime.
            return self.__dict__.get("_session") or self._load()

    def _load(self) -> InferenceSession:
        path = self.folder.path / "model.onnx"
        try:
            # One core per batch and one batch per core, because small matrices do not split well.
            session = open_session(self._graph(path), fits=self.folder.card.activation_bits == FITTING_BITS)
        except Exception as error:  # onnxruntime's exceptions share no base of their own
            raise ModelCardError(f"expected an ONNX model in {path}; found none: {error}. {REPAIR}") from None
        width = session.get_outputs()[0].shape[-1]
        if width != self.folder.card.width:
            raise ModelCardError(
                f"expected weights with the {self.folder.card.width} outputs of their card; found {width} in {path}. "
                f"Correct the card. {REPAIR}"
            )
        return session

    def _graph(self, path: Path) -> str | bytes:
        """Return what the runtime loads: a file name, or a graph's content."""
        return str(path)

    def run(self, inputs: Iterable[str | Pair]) -> Iterator[ModelOutput]:
        """Score texts, or pairs of premise and claim. Rows are in input order."""
        source = iter(inputs)
        while window := list(islice(source, WINDOW)):
            yield from self._run_window(window)

    def _run_window(self, window: Sequence[str | Pair]) -> Iterator[ModelOutput]:
        encodings = self.encoder.encode(window)
        order = sorted(range(len(encodings)), key=lambda index: len(encodings[index].ids))
        batches = _batches(order, encodings, self.threads)
        values = np.empty((len(window), self.folder.card.width), dtype=np.float32)

        def score(batch: list[int]) -> None:
            values[batch] = self._score([encodings[index] for index in batch])

        if len(batches) == 1:
            score(batches[0])
        else:
            with ThreadPoolExecutor(self.threads) as pool:
                list(pool.map(score, batches))
        for row, encoding in zip(values, encodings, strict=True):
            yield ModelOutput(row, encoding.truncated)

    def _score(self, encodings: list[EncodedInput], output: int = 0) -> Any:
        feed: dict[str, Any] = padded(encodings)
        length = feed["input_ids"].shape[1]
        session = self._session
        if self.folder.card.exits:
            feed[MAY_EXIT] = np.array([self.exits])
        try:
            return session.run(None, feed)[output]
        except Exception as error:  # onnxruntime's exceptions share no base of their own
            raise ModelCardError(
                f"expected {self.folder.path} to read {length} tokens, as stated in its card; it failed: {error}. "
                f"Correct the card's max_tokens. {REPAIR}"
            ) from None


def padded(encodings: Sequence[EncodedInput]) -> dict[str, NDArray[np.int64]]:
    """Return a graph's inputs: a row for each input, padded to the longest."""
    ids = np.zeros((len(encodings), max(len(encoding.ids) for encoding in encodings)), dtype=np.int64)
    mask = np.zeros_like(ids)
    kinds = np.zeros_like(ids)
    for row, encoding in enumerate(encodings):
        size = len(encoding.ids)
        ids[row, :size] = encoding.ids
        mask[row, :size] = 1
        kinds[row, :size] = encoding.type_ids
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": kinds}


def available_cores() -> int:
    """Return the number of cores to use: ``$VERICITE_THREADS``, limited to the cores of this process or container.

    Raises:
        InputError: The variable is not a whole number of at least 1.
    """
    affinity = getattr(os, "sched_getaffinity", None)  # Only Linux has it.
    there = len(affinity(0)) if affinity else os.cpu_count() or 1
    return min(there, whole_number(THREADS) or there)


def _batches(order: list[int], encodings: list[EncodedInput], threads: int) -> list[list[int]]:
    """Group inputs of similar length within the token budget, with a batch for every core."""
    total = sum(len(encodings[index].ids) for index in order)
    budget = min(BATCH_TOKENS, max(64, total // threads))
    batches: list[list[int]] = []
    for index in order:
        # Sorted by length, so this input has the length to which the batch is padded.
        size = len(encodings[index].ids)
        if batches and (len(batches[-1]) + 1) * size <= budget:
            batches[-1].append(index)
        else:
            batches.append([index])
    # Longest first, so that no core is left with a long batch when the others are done.
    return batches[::-1]
