"""Label sentences of answers with a checkpoint: a fine-tuned encoder, or a decoder with an adapter.

``vericite bioace train-completeness`` writes both (``--encoder``, ``--decoder``); the card in the folder says which one
it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from vericite.disk.fitted import read_fitted
from vericite.errors import InputError, MissingExtraError
from vericite.lab.assess.completeness import (
    LABELS,
    PROMPT,
    AnswerSentence,
    ByClassifier,
    ByModel,
    Labelled,
    Labeller,
    asked_hash,
    read_classifier,
)
from vericite.llm import LLM
from vericite.llm.prompts import Prompt
from vericite.llm.verbatim import VerbatimPrompt, expect_texts, fill_verbatim, read_any
from vericite.models.contracts import COLUMNS, NEUTRAL, Embeds, Judgement, Pair
from vericite.models.hf import Reader, TokenizedInput, find_checkpoint, in_batches, library, load, refuse_too_large
from vericite.records import Record, SentenceLabel, storable
from vericite.verify.judges.hf import ATTRSCORE_CAUSAL, STYLES, CausalJudge, Seq2SeqJudge, Style
from vericite.verify.judging import softmax

CARD = "completeness.json"
"""File name of the card."""

LabelKind = Literal["completeness-checkpoint", "correctness-checkpoint"]


class LabelCard(Record):
    """The card of a checkpoint that labels pairs of texts.

    Attributes:
        kind: What it labels: how necessary sentences are, or whether windows make them correct.
        form: An encoder that reads question and sentence as two texts, or a decoder that reads them as one.
        base: The model it was trained from: a name on the hub, a folder or a GGUF file.
        labels: The labels of its outputs, in order.
        max_tokens: Maximum number of input tokens.
        trained_on: Number of training sentences by label.
        data: A hash of the training data.
        seen: A short hash of each training sentence, to detect scoring on training data.
        seed: Seed of the training.
    """

    kind: LabelKind = "completeness-checkpoint"
    form: Literal["encoder", "decoder"]
    base: str = Field(min_length=1)
    labels: tuple[str, ...] = Field(min_length=2)
    max_tokens: int = Field(ge=16)
    trained_on: dict[str, int]
    data: str
    seen: tuple[str, ...] = ()
    seed: int = 0


def labeller_of(name: str, llm: LLM | None, embedder: Embeds, prompt: Prompt | VerbatimPrompt = PROMPT) -> Labeller:
    """Load a labeller of sentences.

    Args:
        name: ``llm``, the file of a classifier, the folder of a fine-tuned checkpoint, or a checkpoint that writes
            labels, such as ``hf-seq2seq:FOLDER?prompt=FILE``.
        llm: The language model.
        embedder: The embedder of the classifier.
        prompt: The prompt for the language model.

    Raises:
        InputError: No model is named, the file is not a classifier, or the prompt's slots are wrong.
        MissingExtraError: A checkpoint needs an extra that is not installed.
    """
    if name != "llm" and Path(name).is_dir():
        return ByCheckpoint(Path(name))
    if writes_labels(name):
        return ByWriter(name)
    if name != "llm":
        return ByClassifier(read_classifier(Path(name)), embedder)
    if llm is None:
        raise InputError("expected --llm MODEL with completeness=llm; found none. Name a model.")
    return ByModel(llm, prompt)


def writes_labels(name: str) -> bool:
    """Whether the name is one of a checkpoint that writes its label."""
    kind, colon, _ = name.partition(":")
    return bool(colon) and kind in STYLES


def written_labels(name: str) -> Style:
    """Return how a checkpoint is asked for the label of a sentence, from ``hf-seq2seq:CHECKPOINT?prompt=FILE``.

    Raises:
        InputError: No prompt is named, or it is not verbatim, or lacks the slots question and sentence.
    """
    _, asked, file = name.rpartition("?prompt=")
    prompt = read_any(Path(file).expanduser()) if asked else None
    if not isinstance(prompt, VerbatimPrompt):
        raise InputError(
            f"expected a verbatim prompt, as in {name.partition('?')[0]}?prompt=FILE; found none in {name}"
        )
    expect_texts(prompt, ("question", "sentence"))
    text = "\n\n".join(turn.text for turn in prompt.turns)
    text = fill_verbatim(text, {"question": "{premise}", "sentence": "{claim}"})
    # The columns are a judge's, and mean nothing here.
    return Style(f"labels[{prompt.signature}]", text, {label.capitalize(): NEUTRAL for label in LABELS}, searched=True)


class ByWriter:
    """Labels sentences with a checkpoint that writes the label.

    Args:
        name: Such as ``hf-seq2seq:FOLDER?prompt=FILE``, or ``hf-attrscore-causal:`` for a decoder.

    Raises:
        InputError: The prompt cannot be used.
        ModelError: The checkpoint cannot be used.
    """

    def __init__(self, name: str) -> None:
        kind, _, rest = name.partition(":")
        reader = CausalJudge if kind == ATTRSCORE_CAUSAL.name else Seq2SeqJudge
        self._judge = reader(rest.partition("?prompt=")[0], written_labels(name))

    def label(self, asked: Sequence[AnswerSentence]) -> Iterator[Labelled]:
        """Yield the label that the model writes for each sentence."""
        for judgement in self._judge.judge([Pair(entry.question, entry.sentence) for entry in asked]):
            label = (judgement.native or "").lower()
            yield (
                Labelled(cast(SentenceLabel, label)) if judgement.failure is None else Labelled(None, judgement.failure)
            )

    def known(self, asked: Sequence[AnswerSentence]) -> int:
        """Return 0: such a checkpoint does not say what it was trained on."""
        return 0


_HEADINGS: dict[LabelKind, str] = {"completeness-checkpoint": "Question", "correctness-checkpoint": "Evidence"}


def as_one_text(first: str, second: str, kind: LabelKind = "completeness-checkpoint") -> str:
    """Join two texts for a decoder, which predicts the label after them."""
    return f"{_HEADINGS[kind]}: {first}\n\nSentence: {second}\n\nLabel:"


def read_card(folder: Path, kind: LabelKind) -> LabelCard:
    """Read the card of a checkpoint of this kind.

    Raises:
        InputError: There is none, or it has another kind.
    """
    card = read_fitted(LabelCard, folder / CARD, f"a card of a {kind}", "Train one again.")
    if card.kind != kind:
        raise InputError(f"expected a {kind} in {folder}; found a {card.kind}. Name another folder.")
    return card


class ByCheckpoint:
    """Labels sentences with a trained checkpoint.

    Args:
        folder: A folder written by ``vericite bioace train-completeness`` with ``--encoder`` or ``--decoder``.
        device: The device of an encoder. Default: the fastest available. A decoder runs on the CPU.

    Raises:
        InputError: The folder has no card, or the base decoder cannot be read.
        ModelCardError: The weights do not fit the configuration.
        MissingExtraError: The extra ``[hf]`` (for a decoder ``[train]``) is not installed.
    """

    def __init__(self, folder: Path, device: str | None = None) -> None:
        self.card = read_card(folder, "completeness-checkpoint")
        self._scores = (
            _Encoder(folder, self.card, device) if self.card.form == "encoder" else _Decoder(folder, self.card)
        )

    def label(self, asked: Sequence[AnswerSentence]) -> Iterator[Labelled]:
        """Yield the most probable label of each sentence."""
        for row in self._scores.logits(asked):
            yield Labelled(cast(SentenceLabel, self.card.labels[int(row.argmax())]))

    def known(self, asked: Sequence[AnswerSentence]) -> int:
        """Return the number of training sentences among these, by the hashes in the card."""
        seen = set(self.card.seen)
        return sum(asked_hash(sentence) in seen for sentence in asked)


_Row = NDArray[np.float32]


class _Encoder:
    def __init__(self, folder: Path, card: LabelCard, device: str | None) -> None:
        self._loaded = load(find_checkpoint(str(folder), True), "AutoModelForSequenceClassification", device)
        self._reader = Reader(self._loaded)
        self._max_tokens = min(card.max_tokens, self._loaded.max_tokens)

    def logits(self, asked: Sequence[AnswerSentence]) -> Iterator[_Row]:
        yield from in_batches(asked, self._loaded, self._encode, self._score, self._too_large)

    def _encode(self, asked: list[AnswerSentence]) -> list[TokenizedInput | _Row]:
        questions, sentences = [entry.question for entry in asked], [entry.sentence for entry in asked]
        return [*self._reader.within(self._max_tokens, questions, sentences)]

    def _score(self, batch: list[TokenizedInput]) -> list[_Row]:
        with library("torch").inference_mode():
            found = self._loaded.model(**self._reader.inputs(batch)).logits.float().cpu().numpy()
        return list(found)

    def _too_large(self, tokens: int) -> _Row:
        refuse_too_large(tokens)


class _Decoder:
    def __init__(self, folder: Path, card: LabelCard) -> None:
        try:
            from vericite.attribution.decoder import load_labelled

            module, self._tokenizer = load_labelled(card.base, len(card.labels), folder)
        except ImportError:
            raise MissingExtraError("train", "a decoder with an adapter") from None
        self._module: Any = module
        self._card = card

    def logits(self, asked: Sequence[AnswerSentence]) -> Iterator[_Row]:
        torch: Any = library("torch")
        for entry in asked:
            text = as_one_text(entry.question, entry.sentence, self._card.kind)
            ids = torch.tensor([decoder_ids(self._tokenizer, text, self._card.max_tokens)])
            with torch.inference_mode():
                yield self._module(ids, torch.ones_like(ids))[0].float().numpy()


def decoder_ids(tokenizer: Any, text: str, most: int) -> list[int]:
    """Tokenize a text for a decoder; if there are too many tokens, the first ones are dropped."""
    found: list[int] = tokenizer(storable(text))["input_ids"]
    return found[-most:]


class AdapterJudge:
    """Judges pairs by a language model with an adapter and a head.

    Args:
        folder: A folder that ``vericite bioace train-correctness`` wrote with ``adapter=true``.

    Raises:
        InputError: The folder has no card of such an adapter, or its base cannot be read.
        MissingExtraError: The extra ``[train]`` is not installed.
    """

    def __init__(self, folder: Path) -> None:
        card = read_card(folder, "correctness-checkpoint")
        self._columns = [COLUMNS.index(label) for label in card.labels]
        self._scores = _Decoder(folder, card)
        self.signature = f"adapter(data {card.data}, seed={card.seed})"

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """Yield the probabilities of the labels that it was trained on."""
        for row in self._scores.logits([AnswerSentence(pair.premise, pair.claim) for pair in pairs]):
            probabilities = np.zeros(len(COLUMNS), dtype=np.float32)
            probabilities[self._columns] = softmax(row)
            yield Judgement(probabilities)
