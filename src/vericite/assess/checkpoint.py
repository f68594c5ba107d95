"""Labels of answers' sentences by a checkpoint: an encoder that was fine-tuned whole, or a decoder with an adapter.

``vericite bioace train-completeness`` writes both (``--encoder``, ``--decoder``); a folder's card says which of the two
is in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from vericite.assess.completeness import (
    PROMPT,
    AnswerSentence,
    ByClassifier,
    ByModel,
    Labelled,
    Labeller,
    asked_hash,
    read_classifier,
)
from vericite.disk.fitted import read_fitted
from vericite.errors import InputError, MissingExtraError
from vericite.llm import LLM
from vericite.llm.prompts import Prompt
from vericite.models.contracts import Embeds
from vericite.models.hf import Reader, TokenizedInput, find_checkpoint, in_batches, library, load, refuse_too_large
from vericite.records import Record, SentenceLabel, storable

CARD = "completeness.json"


class CompletenessCard(Record):
    """What a folder says of the model in it.

    Attributes:
        form: An encoder that reads question and sentence as two texts, or a decoder that reads them as one.
        base: What it was trained from: a name of the hub, a folder or a GGUF file.
        labels: Its outputs, in their order.
        max_tokens: Tokens read.
        trained_on: Sentences of each label.
        data: A hash of what it was trained on.
        seen: A short hash of each sentence of it, so that it is told where it is scored on the same.
        seed: Of the training.
    """

    kind: Literal["completeness-checkpoint"] = "completeness-checkpoint"
    form: Literal["encoder", "decoder"]
    base: str = Field(min_length=1)
    labels: tuple[SentenceLabel, ...] = Field(min_length=2)
    max_tokens: int = Field(ge=16)
    trained_on: dict[SentenceLabel, int]
    data: str
    seen: tuple[str, ...] = ()
    seed: int = 0


def labeller_of(name: str, llm: LLM | None, embedder: Embeds, prompt: Prompt = PROMPT) -> Labeller:
    """Who labels sentences: ``llm``, a classifier's file, or the folder of a fine-tuned checkpoint.

    Args:
        name: Which of these.
        llm: The language model.
        embedder: Who makes the vectors that a classifier reads.
        prompt: How the language model is asked.

    Raises:
        InputError: No model is named, the file is no classifier, or the prompt's slots are wrong.
        MissingExtraError: A checkpoint needs an extra that is not installed.
    """
    if name != "llm" and Path(name).is_dir():
        return ByCheckpoint(Path(name))
    if name != "llm":
        return ByClassifier(read_classifier(Path(name)), embedder)
    if llm is None:
        raise InputError("expected --llm MODEL beside --completeness llm; found none. Name a model.")
    return ByModel(llm, prompt)


def as_one_text(first: str, second: str) -> str:
    """Two texts as a decoder reads them, which says the label after it."""
    return f"Question: {first}\n\nSentence: {second}\n\nLabel:"


class ByCheckpoint:
    """Labels sentences by what was trained.

    Args:
        folder: What ``vericite bioace train-completeness`` wrote with ``--encoder`` or ``--decoder``.
        device: Where an encoder runs; by default the fastest there is. A decoder runs on the processor.

    Raises:
        InputError: It has no card, or the decoder under it cannot be read.
        ModelCardError: Its weights do not fit its configuration.
        MissingExtraError: The extra ``[hf]``, for a decoder ``[train]``, is not installed.
    """

    def __init__(self, folder: Path, device: str | None = None) -> None:
        self.card = read_fitted(CompletenessCard, folder / CARD, "a card of completeness", "Train one again.")
        self._scores = (
            _Encoder(folder, self.card, device) if self.card.form == "encoder" else _Decoder(folder, self.card)
        )

    def label(self, asked: Sequence[AnswerSentence]) -> Iterator[Labelled]:
        """The likeliest label of each."""
        for row in self._scores.logits(asked):
            yield Labelled(self.card.labels[int(row.argmax())])

    def known(self, asked: Sequence[AnswerSentence]) -> int:
        """By their hashes, which the card keeps."""
        seen = set(self.card.seen)
        return sum(asked_hash(one) in seen for one in asked)


_Row = NDArray[np.float32]


class _Encoder:
    def __init__(self, folder: Path, card: CompletenessCard, device: str | None) -> None:
        self._loaded = load(find_checkpoint(str(folder), True), "AutoModelForSequenceClassification", device)
        self._reader = Reader(self._loaded)
        self._most = min(card.max_tokens, self._loaded.max_tokens)

    def logits(self, asked: Sequence[AnswerSentence]) -> Iterator[_Row]:
        yield from in_batches(asked, self._loaded, self._encode, self._score, self._too_large)

    def _encode(self, asked: list[AnswerSentence]) -> list[TokenizedInput | _Row]:
        return [*self._reader.within(self._most, [one.question for one in asked], [one.sentence for one in asked])]

    def _score(self, batch: list[TokenizedInput]) -> list[_Row]:
        with library("torch").inference_mode():
            found = self._loaded.model(**self._reader.inputs(batch)).logits.float().cpu().numpy()
        return list(found)

    def _too_large(self, tokens: int) -> _Row:
        refuse_too_large(tokens)


class _Decoder:
    def __init__(self, folder: Path, card: CompletenessCard) -> None:
        try:
            from vericite.attribution.decoder import load_labelled

            module, self._tokenizer = load_labelled(card.base, len(card.labels), folder)
        except ImportError:
            raise MissingExtraError("train", "a decoder with an adapter") from None
        self._module: Any = module
        self._most = card.max_tokens

    def logits(self, asked: Sequence[AnswerSentence]) -> Iterator[_Row]:
        torch: Any = library("torch")
        for one in asked:
            ids = torch.tensor([decoder_ids(self._tokenizer, one.question, one.sentence, self._most)])
            with torch.inference_mode():
                yield self._module(ids, torch.ones_like(ids))[0].float().numpy()


def decoder_ids(tokenizer: Any, first: str, second: str, most: int) -> list[int]:
    """Two texts as a decoder's tokens; of too many the first ones give way."""
    found: list[int] = tokenizer(as_one_text(storable(first), storable(second)))["input_ids"]
    return found[-most:]
