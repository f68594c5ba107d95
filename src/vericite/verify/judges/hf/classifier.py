"""Sequence classifiers trained for natural language inference."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from threading import Lock
from typing import Any

import numpy as np

from vericite.errors import ModelCardError
from vericite.models import Pair
from vericite.records import storable
from vericite.verify.judges.hf.batching import READING, Tokens, as_text, judged, padded, window
from vericite.verify.judges.hf.labels import columns_of
from vericite.verify.judges.hf.loading import find_checkpoint, library, load, read_config
from vericite.verify.judging import COLUMNS, Judgement
from vericite.verify.tempering import softmax

REPRODUCTION = "MoritzLaurer/DeBERTa-v3-large-mnli-fever-anli-ling-wanli"
"""The checkpoint that reproduces the VeriCite paper: ``NliJudge(REPRODUCTION)``."""


class NliJudge:
    """A checkpoint with a label for entailment, and its probabilities in our columns.

    The checkpoint's configuration says which output is which label. Of two labels, entailment and not
    entailment, the second is read as neutral, since such a model knows no contradiction.

    Runs in 32-bit floats on a processor, where a pair's probabilities do not depend on its batch beyond
    rounding, and in bfloat16 on CUDA, where they move in the third digit.

    Args:
        checkpoint: A folder, or a name on huggingface.co.
        labels: What the outputs mean, in their order, for a checkpoint whose configuration does not say.
        device: ``cpu``, ``cuda``, ``cuda:1``, ``mps``; by default the fastest there is.

    Raises:
        ModelMissingError: There is no such checkpoint.
        ModelCardError: It is no classifier for entailment, or not one that is safe to load.
        InputError: There is no such device.
        MissingExtraError: The extra ``[hf]`` is not installed.
    """

    def __init__(self, checkpoint: str, labels: tuple[str, ...] | None = None, device: str | None = None) -> None:
        library("torch")
        found = find_checkpoint(checkpoint)
        config = read_config(found)
        # Before the weights, which can take minutes to load.
        own: dict[int, str] = config.id2label
        self.labels = labels or tuple(str(own[index]) for index in sorted(own))
        if len(self.labels) != len(own):
            raise ModelCardError(
                f"expected {len(own)} labels, one an output of {found.name}; found {len(self.labels)}: "
                f"{', '.join(self.labels)}. Name them all, in the order of the outputs"
            )
        self._columns = np.array(columns_of(self.labels, checkpoint))
        self._loaded = load(found, "AutoModelForSequenceClassification", device)
        named = f"#{','.join(labels)}" if labels else ""
        self.signature = f"hf:{found.signature}{named}"
        takes_kinds = "token_type_ids" in inspect.signature(self._loaded.model.forward).parameters
        # Some tokenizers number the two texts for models that have one number only.
        self._kinds = takes_kinds and getattr(config, "type_vocab_size", 2) > 1
        # A tokenizer of transformers keeps the settings of a call in itself.
        self._tokenizing = Lock()

    @property
    def pairs_at_once(self) -> int:
        """Pairs worth gathering before it is asked."""
        return window(self._loaded)

    @property
    def capacity(self) -> int:
        """Tokens of premise and claim together that the model reads, those that separate them left out."""
        return self._loaded.max_tokens - self._loaded.tokenizer.num_special_tokens_to_add(pair=True)

    def length(self, text: str) -> int:
        """Tokens of a text."""
        with self._tokenizing:
            return self._length(text)

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """Softmax over the model's outputs; a claim that leaves no room for its premise is a failure."""
        yield from judged(pairs, self._loaded, self._encode, self._score)

    def _length(self, text: str) -> int:
        return len(self._loaded.tokenizer(storable(text), add_special_tokens=False, **READING)["input_ids"])

    def _encode(self, pairs: list[Pair]) -> list[Tokens | Judgement]:
        premises, claims = [storable(pair.premise) for pair in pairs], [storable(pair.claim) for pair in pairs]
        with self._tokenizing:
            whole = self._tokens(premises, claims)
            return [
                tokens if len(tokens.ids) <= self._loaded.max_tokens else self._cut(premise, claim)
                for tokens, premise, claim in zip(whole, premises, claims, strict=True)
            ]

    def _cut(self, premise: str, claim: str) -> Tokens | Judgement:
        # Checked beforehand, since the tokenizers differ in what they do about a claim that cannot be kept whole.
        asked = self._length(claim)
        if asked >= self.capacity:
            return Judgement.failed(
                f"expected a claim of fewer than {self.capacity} tokens, so that some premise can be read with it; "
                f"found {asked}"
            )
        (cut,) = self._tokens([premise], [claim], truncation="only_first", max_length=self._loaded.max_tokens)
        return cut._replace(cut=True)

    def _tokens(self, premises: list[str], claims: list[str], **limit: Any) -> list[Tokens]:
        # Lists even for one: given by itself, an empty claim would count as none, and the pair as one text.
        found = self._loaded.tokenizer(premises, claims, **READING, **limit)
        kinds: list[list[int]] = [list[int]()] * len(premises)
        if self._kinds and "token_type_ids" in found:
            kinds = found["token_type_ids"]
        return [Tokens(as_text(found, row, self._loaded), kinds[row], False) for row in range(len(premises))]

    def _score(self, batch: list[Tokens]) -> list[Judgement]:
        inputs = padded(batch, self._loaded)
        if not self._kinds:
            del inputs["token_type_ids"]
        with library("torch").inference_mode():
            logits = self._loaded.model(**inputs).logits.float().cpu().numpy()
        return [self._judgement(row, item.cut) for row, item in zip(logits, batch, strict=True)]

    def _judgement(self, logits: np.ndarray[tuple[int], np.dtype[np.float32]], cut: bool) -> Judgement:
        if not np.isfinite(logits).all():
            return Judgement.failed("the model's outputs are no numbers")
        probabilities = np.zeros(len(COLUMNS), dtype=np.float32)
        probabilities[self._columns] = softmax(logits)
        note = f"a premise was cut to the model's {self._loaded.max_tokens} tokens" if cut else None
        return Judgement(probabilities, note=note, native=self.labels[int(logits.argmax())])
