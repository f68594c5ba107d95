"""Sequence classifiers trained for natural language inference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from vericite.errors import ModelCardError
from vericite.llm import offline_by_environment
from vericite.models import Pair
from vericite.models.hf.batching import Tokens, in_batches, window
from vericite.models.hf.loading import find_checkpoint, library, load, read_config
from vericite.models.hf.reading import Reader
from vericite.verify.judges.hf.labels import columns_of
from vericite.verify.judges.hf.memory import too_large
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
        found = find_checkpoint(checkpoint, offline_by_environment())
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
        self._reader = Reader(self._loaded)

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
        return self._reader.length(text)

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """Softmax over the model's outputs; a claim that leaves no room for its premise is a failure."""
        yield from in_batches(pairs, self._loaded, self._encode, self._score, too_large)

    def _encode(self, pairs: list[Pair]) -> list[Tokens | Judgement]:
        whole = self._reader.read([pair.premise for pair in pairs], [pair.claim for pair in pairs])
        return [
            tokens if len(tokens.ids) <= self._loaded.max_tokens else self._cut(pair)
            for tokens, pair in zip(whole, pairs, strict=True)
        ]

    def _cut(self, pair: Pair) -> Tokens | Judgement:
        # Checked beforehand, since the tokenizers differ in what they do about a claim that cannot be kept whole.
        asked = self.length(pair.claim)
        if asked >= self.capacity:
            return Judgement.failed(
                f"expected a claim of fewer than {self.capacity} tokens, so that some premise can be read with it; "
                f"found {asked}"
            )
        limit = {"truncation": "only_first", "max_length": self._loaded.max_tokens}
        (cut,) = self._reader.read([pair.premise], [pair.claim], **limit)
        return cut._replace(cut=True)

    def _score(self, batch: list[Tokens]) -> list[Judgement]:
        with library("torch").inference_mode():
            logits = self._loaded.model(**self._reader.inputs(batch)).logits.float().cpu().numpy()
        return [self._judgement(row, item.cut) for row, item in zip(logits, batch, strict=True)]

    def _judgement(self, logits: np.ndarray[tuple[int], np.dtype[np.float32]], cut: bool) -> Judgement:
        if not np.isfinite(logits).all():
            return Judgement.failed("the model's outputs are no numbers")
        probabilities = np.zeros(len(COLUMNS), dtype=np.float32)
        probabilities[self._columns] = softmax(logits)
        note = f"a premise was cut to the model's {self._loaded.max_tokens} tokens" if cut else None
        return Judgement(probabilities, note=note, native=self.labels[int(logits.argmax())])
