"""Sequence classifiers trained for natural language inference."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from vericite.errors import InputError, ModelCardError
from vericite.llm.verbatim import fill_verbatim, find_label
from vericite.models.contracts import COLUMNS, CONTRADICTS, ENTAILS, NEUTRAL, Judgement, Pair
from vericite.models.hf import (
    READING,
    Checkpoint,
    Reader,
    TokenizedInput,
    as_text,
    find_checkpoint,
    in_batches,
    library,
    load,
    padded,
    read_config,
    window,
)
from vericite.network.access import offline_by_environment
from vericite.records import storable
from vericite.verify.judging import softmax

_REST = "not entailment"
"""Label of everything but entailment in checkpoints with two labels. Counts as neutral: it does not say more."""

_MEANINGS: dict[str, frozenset[str]] = {
    COLUMNS[ENTAILS]: frozenset(
        "entailment entails entail entailed supports support supported attributable attributed".split()
    ),
    COLUMNS[CONTRADICTS]: frozenset(
        "contradiction contradicts contradict contradicted contradictory refutes refute refuted refutation".split()
    ),
    COLUMNS[NEUTRAL]: frozenset(
        "neutral nei notenoughinfo notenoughinformation notenoughevidence noinfo unknown undetermined neither "
        "unverifiable extrapolatory irrelevant".split()
    ),
    _REST: frozenset(
        "notentailment nonentailment notentailed notentails notsupported unsupported notattributable".split()
    ),
}
_THREE = frozenset(COLUMNS)
_TWO = (frozenset({COLUMNS[ENTAILS], _REST}), frozenset({COLUMNS[ENTAILS], COLUMNS[NEUTRAL]}))


def columns_of(labels: Sequence[str], checkpoint: str) -> tuple[int, ...]:
    """Return the column of ``COLUMNS`` for each output of a checkpoint.

    Args:
        labels: Labels of the outputs, in order.
        checkpoint: Name of the checkpoint, for the error message.

    Raises:
        ModelCardError: The labels are neither entailment, contradiction and neutral, each once in a known spelling,
            nor entailment and not entailment.
    """
    meanings = [_meaning(label) for label in labels]
    found = frozenset(meaning for meaning in meanings if meaning)
    if len(found) < len(meanings) or (found != _THREE and found not in _TWO):
        raise ModelCardError(
            "expected a classifier with the labels entailment, neutral and contradiction, or entailment and "
            f"not_entailment; found {_listed(labels)} in {checkpoint}. If its card says what they mean, name them "
            f"in the order of its outputs, such as 'hf:{checkpoint}#entailment,neutral,contradiction'"
        )
    return tuple(COLUMNS.index(meaning) if meaning in _THREE else NEUTRAL for meaning in meanings if meaning)


def _meaning(label: str) -> str | None:
    spelt = re.sub(r"[\W_]+", "", label.casefold())
    return next((meaning for meaning, spellings in _MEANINGS.items() if spelt in spellings), None)


def _listed(labels: Sequence[str]) -> str:
    shown = ", ".join(labels[:6]) + (", ..." if len(labels) > 6 else "")
    return f"{len(labels)} ({shown})" if labels else "none"


def too_large(tokens: int) -> Judgement:
    """Return the failure of a pair with this number of tokens."""
    return Judgement.failed(f"the device's memory does not hold a pair of {tokens} tokens")


REPRODUCTION = "MoritzLaurer/DeBERTa-v3-large-mnli-fever-anli-ling-wanli"
"""The checkpoint that reproduces the VeriCite paper: ``NliJudge(REPRODUCTION)``."""


class NliJudge:
    """A checkpoint with a label for entailment; its probabilities in our columns.

    The checkpoint's configuration names the label of each output. For a model with the labels entailment and not
    entailment, the second is read as neutral, because it does not distinguish contradiction.

    Runs in 32-bit floats on a CPU, where a pair's probabilities depend on its batch only by rounding, and in bfloat16
    on CUDA, where they vary in the third digit.

    Args:
        checkpoint: A folder, or a name on huggingface.co.
        labels: Labels of the outputs, in order, if the checkpoint's configuration does not name them.
        device: ``cpu``, ``cuda``, ``cuda:1``, ``mps``. Default: the fastest available.

    Raises:
        ModelMissingError: Unknown checkpoint.
        ModelCardError: The checkpoint is not a classifier for entailment, or not safe to load.
        InputError: Unknown device.
        MissingExtraError: The extra ``[hf]`` is not installed.
    """

    def __init__(self, checkpoint: str, labels: tuple[str, ...] | None = None, device: str | None = None) -> None:
        library("torch")
        found = find_checkpoint(checkpoint, offline_by_environment())
        config = read_config(found)
        # Check before loading the weights, which can take minutes.
        own: dict[int, str] = config.id2label
        self.labels = labels or tuple(str(own[index]) for index in sorted(own))
        if len(self.labels) != len(own):
            raise ModelCardError(
                f"expected {len(own)} labels, one for each output of {found.name}; found {len(self.labels)}: "
                f"{', '.join(self.labels)}. Name them all, in the order of the outputs"
            )
        self._columns = np.array(columns_of(self.labels, checkpoint))
        self._loaded = load(found, "AutoModelForSequenceClassification", device)
        named = f"#{','.join(labels)}" if labels else ""
        self.signature = f"hf:{found.signature}{named}"
        self._reader = Reader(self._loaded)

    @property
    def pairs_at_once(self) -> int:
        """Number of pairs worth gathering before each call."""
        return window(self._loaded)

    @property
    def capacity(self) -> int:
        """Number of tokens of premise and claim together that the model reads, without separators."""
        return self._loaded.max_tokens - self._loaded.tokenizer.num_special_tokens_to_add(pair=True)

    def length(self, text: str) -> int:
        """Return the number of tokens of a text."""
        return self._reader.length(text)

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """Yield the softmax of the model's outputs; a claim that leaves no room for its premise is a failure."""
        yield from in_batches(pairs, self._loaded, self._encode, self._score, too_large)

    def _encode(self, pairs: list[Pair]) -> list[TokenizedInput | Judgement]:
        whole = self._reader.read([pair.premise for pair in pairs], [pair.claim for pair in pairs])
        return [
            tokens if len(tokens.ids) <= self._loaded.max_tokens else self._cut(pair)
            for tokens, pair in zip(whole, pairs, strict=True)
        ]

    def _cut(self, pair: Pair) -> TokenizedInput | Judgement:
        # Check first: tokenizers differ in how they treat a claim that does not fit.
        asked = self.length(pair.claim)
        if asked >= self.capacity:
            return Judgement.failed(
                f"expected a claim of fewer than {self.capacity} tokens, so that some premise can be read with it; "
                f"found {asked}"
            )
        limit = {"truncation": "only_first", "max_length": self._loaded.max_tokens}
        (cut,) = self._reader.read([pair.premise], [pair.claim], **limit)
        return cut._replace(cut=True)

    def _score(self, batch: list[TokenizedInput]) -> list[Judgement]:
        with library("torch").inference_mode():
            logits = self._loaded.model(**self._reader.inputs(batch)).logits.float().cpu().numpy()
        return [self._judgement(row, item.cut) for row, item in zip(logits, batch, strict=True)]

    def _judgement(self, logits: np.ndarray[tuple[int], np.dtype[np.float32]], cut: bool) -> Judgement:
        if not np.isfinite(logits).all():
            return Judgement.failed("the model's outputs are not numbers")
        probabilities = np.zeros(len(COLUMNS), dtype=np.float32)
        probabilities[self._columns] = softmax(logits)
        note = f"a premise was cut to the model's {self._loaded.max_tokens} tokens" if cut else None
        return Judgement(probabilities, note=note, native=self.labels[int(logits.argmax())])


SPARE_TOKENS = 8
"""Tokens to generate beyond the longest answer, so that an invalid answer can be shown."""


@dataclass(frozen=True)
class Style:
    """How to ask a family of checkpoints, and their answers.

    ``prompt`` has the slots ``{premise}`` and ``{claim}``; ``answers`` maps each answer to its column. The reply must
    be an answer and nothing else, unless it is ``searched`` for one.
    """

    name: str
    prompt: str
    answers: Mapping[str, int]
    searched: bool = False

    def filled(self, premise: str, claim: str) -> str:
        """Fill the prompt; braces around other words stay as they are."""
        return fill_verbatim(self.prompt, {"premise": premise, "reference": premise, "claim": claim})

    def answer_in(self, reply: str) -> str | None:
        """Return the answer in a reply, or None."""
        if self.searched:
            return find_label(self.answers, reply)
        return next((answer for answer in self.answers if answer.casefold() == reply.strip().casefold()), None)


def with_prompt(style: Style, file: Path) -> Style:
    """Return a style that asks by the verbatim prompt in a file, and searches the reply for its labels.

    Raises:
        InputError: The file is not a judge's prompt, or is not verbatim.
    """
    # A late import: it opens a cache, which no check without such a prompt needs.
    from vericite.verify.judges.llm import VerbatimJudgePrompt, load_judge_prompt

    prompt = load_judge_prompt(file)
    if not isinstance(prompt, VerbatimJudgePrompt):
        raise InputError(
            f"expected verbatim = true in {file}, because a checkpoint answers freely; found none. Add it."
        )
    text = "\n\n".join(turn.text for turn in prompt.turns)
    return Style(f"{style.name}[{prompt.signature}]", text, prompt.columns, searched=True)


def named_style(style: Style, rest: str) -> tuple[str, Style]:
    """Return the checkpoint and the style of ``CHECKPOINT`` or ``CHECKPOINT?prompt=FILE``.

    Raises:
        InputError: The file is not a judge's prompt, or is not verbatim.
    """
    checkpoint, asked, file = rest.rpartition("?prompt=")
    return (checkpoint, with_prompt(style, Path(file).expanduser())) if asked else (rest, style)


TRUE = Style("hf-seq2seq", "premise: {premise} hypothesis: {claim}", {"1": ENTAILS, "0": NEUTRAL})
"""Style of TRUE (Honovich et al. 2022), for example ``google/t5_xxl_true_nli_mixture``."""

ATTRSCORE = Style(
    "hf-attrscore",
    "Below is an instruction that describes a task, paired with an input that provides further context. "
    "Write a response that appropriately completes the request.\n\n"
    "### Instruction:\nVerify whether a given reference can support the claim. "
    "Options: Attributable, Extrapolatory or Contradictory.\n\n"
    "### Input:\nClaim: {claim}\n\nReference: {premise}\n\n### Response:",
    {"Attributable": ENTAILS, "Extrapolatory": NEUTRAL, "Contradictory": CONTRADICTS},
)
"""Style of AttrScore (Yue et al. 2023), for example ``osunlp/attrscore-flan-t5-xl``."""

ATTRSCORE_CAUSAL = replace(ATTRSCORE, name="hf-attrscore-causal")
"""Style of AttrScore's decoders, for example ``osunlp/attrscore-alpaca-7b``; the prompt is the same."""

STYLES = {style.name: style for style in (TRUE, ATTRSCORE, ATTRSCORE_CAUSAL)}
"""The styles, by the first part of a judge's name."""


class Seq2SeqJudge:
    """An encoder-decoder that writes its label.

    The greedy output must be exactly a label, in upper or lower case. Anything else is a failure that keeps the text.
    Probabilities are those of the labels' first tokens at the start of the answer, relative to each other.

    Args:
        checkpoint: A folder, or a name on huggingface.co.
        style: Prompt and answers: ``TRUE`` or ``ATTRSCORE``.
        device: ``cpu``, ``cuda``, ``cuda:1``, ``mps``. Default: the fastest available.

    Raises:
        ModelMissingError: Unknown checkpoint.
        ModelCardError: The checkpoint is not an encoder-decoder, or not safe to load.
        InputError: Unknown device.
        MissingExtraError: The extra ``[hf]`` is not installed.
    """

    _task = "AutoModelForSeq2SeqLM"

    def __init__(self, checkpoint: str, style: Style, device: str | None = None) -> None:
        library("torch")
        found = find_checkpoint(checkpoint, offline_by_environment())
        self._style = style
        self._loaded = load(found, self._task, device)
        _without_sampling(self._loaded.model, found, self._task == Seq2SeqJudge._task)
        # A tokenizer of transformers stores the settings of the last call.
        self._tokenizing = Lock()
        self.signature = f"{style.name}:{found.signature}"
        self._tokens = {answer: self._answer(answer) for answer in style.answers}
        firsts = [ids[:1] for ids in self._tokens.values()]
        if [] in firsts or len({tuple(first) for first in firsts}) < len(firsts):
            raise ModelCardError(
                f"expected a tokenizer that distinguishes {', '.join(style.answers)} by their first tokens; found that "
                f"of {found.name} does not. Choose a checkpoint trained for {style.name}"
            )
        self._frame = len(self._prompt("", ""))
        self._special = frozenset(self._loaded.tokenizer.all_special_ids)

    @property
    def pairs_at_once(self) -> int:
        """Number of pairs worth gathering before each call."""
        return window(self._loaded)

    @property
    def capacity(self) -> int:
        """Number of tokens of premise and claim together that the model reads, without the prompt."""
        return self._loaded.max_tokens - self._frame

    def length(self, text: str) -> int:
        """Return the number of tokens of a text."""
        return len(self._ids(storable(text), special=False))

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """Yield the label that the model writes; a claim that leaves no room for its premise is a failure."""
        yield from in_batches(pairs, self._loaded, self._encode, self._score, too_large)

    def _ids(self, text: str, special: bool = True) -> list[int]:
        with self._tokenizing:
            found = self._loaded.tokenizer([text], add_special_tokens=special, **READING)
            return as_text(found, 0, self._loaded)

    def _answer(self, answer: str) -> list[int]:
        """Return the tokens of an answer."""
        return self._ids(answer, special=False)

    def _prompt(self, premise: str, claim: str) -> list[int]:
        return self._ids(self._style.filled(premise, claim))

    def _encode(self, pairs: list[Pair]) -> list[TokenizedInput | Judgement]:
        return [self._read(storable(pair.premise), storable(pair.claim)) for pair in pairs]

    def _read(self, premise: str, claim: str) -> TokenizedInput | Judgement:
        ids = self._prompt(premise, claim)
        limit = self._loaded.max_tokens
        if len(ids) <= limit:
            return TokenizedInput(ids, [], False)
        # Cut characters, not tokens, by bisection: part of a prompt does not have the same tokens as in the whole.
        fits, too_long = 0, len(premise)
        while too_long - fits > 1:
            middle = (fits + too_long) // 2
            if len(self._prompt(premise[:middle], claim)) <= limit:
                fits = middle
            else:
                too_long = middle
        if not premise[:fits].strip():
            return Judgement.failed(
                f"expected a claim of fewer than {self.capacity} tokens, so that some premise can be read with it; "
                f"found {self.length(claim)}"
            )
        return TokenizedInput(self._prompt(premise[:fits], claim), [], True)

    def _score(self, batch: list[TokenizedInput]) -> list[Judgement]:
        inputs = self._inputs(batch)
        longest = max(map(len, self._tokens.values()))
        with library("torch").inference_mode():
            found = self._loaded.model.generate(
                **inputs,
                max_new_tokens=longest + 1 + SPARE_TOKENS,
                return_dict_in_generate=True,
                output_logits=True,
            )
        written = found.sequences[:, self._before(inputs) :].tolist()
        return [
            self._judgement(ids, [step[row] for step in found.logits], item.cut)
            for row, (ids, item) in enumerate(zip(written, batch, strict=True))
        ]

    def _inputs(self, batch: list[TokenizedInput]) -> dict[str, Any]:
        inputs = padded(batch, self._loaded)
        return {name: inputs[name] for name in ("input_ids", "attention_mask")}

    def _before(self, inputs: Mapping[str, Any]) -> int:
        """Number of tokens of a row before the output: the decoder's start token."""
        return 1

    def _judgement(self, ids: list[int], logits: list[Any], cut: bool) -> Judgement:
        with self._tokenizing:
            raw = str(self._loaded.tokenizer.decode(ids, skip_special_tokens=True))
        label = self._style.answer_in(raw)
        if label is None:
            return Judgement.failed(
                f"expected one of {', '.join(self._style.answers)}; the model wrote {raw[:80]!r}", raw
            )
        start = next(step for step, id in enumerate(ids) if id not in self._special)
        firsts = [tokens[0] for tokens in self._tokens.values()]
        scores = logits[start][firsts].float().cpu().numpy()
        if not np.isfinite(scores).all():
            return Judgement.failed("the model's outputs are not numbers", raw)
        probabilities = np.zeros(len(COLUMNS), dtype=np.float32)
        if ids[start] == self._tokens[label][0]:
            # Several answers may have the same column.
            np.add.at(probabilities, list(self._style.answers.values()), softmax(scores))
        else:
            # Written with other tokens than the expected ones, so their scores say nothing about this answer.
            probabilities[self._style.answers[label]] = 1
        note = f"a premise was cut to the model's {self._loaded.max_tokens} tokens" if cut else None
        return Judgement(probabilities, note=note, native=label)


class CausalJudge(Seq2SeqJudge):
    """A decoder that writes its label after the prompt, like AttrScore's Alpaca.

    Arguments and errors are those of ``Seq2SeqJudge``.
    """

    _task = "AutoModelForCausalLM"

    def _answer(self, answer: str) -> list[int]:
        # After a prompt, an answer may have other tokens than on its own.
        before, whole = (self._ids(self._style.prompt + text) for text in ("", answer))
        return whole[len(before) :] if whole[: len(before)] == before else self._ids(answer, special=False)

    def _inputs(self, batch: list[TokenizedInput]) -> dict[str, Any]:
        # Pad on the left, so that the output follows the prompt.
        torch = library("torch")
        length = max(len(item.ids) for item in batch)
        ids = [[self._loaded.pad] * (length - len(item.ids)) + item.ids for item in batch]
        mask = [[0] * (length - len(item.ids)) + [1] * len(item.ids) for item in batch]
        found = {"input_ids": torch.tensor(ids), "attention_mask": torch.tensor(mask)}
        return {name: tensor.to(self._loaded.device) for name, tensor in found.items()}

    def _before(self, inputs: Mapping[str, Any]) -> int:
        return int(inputs["input_ids"].shape[1])


def _without_sampling(model: Any, checkpoint: Checkpoint, needs_start: bool) -> None:
    """Keep only the generation settings that the architecture needs, without beams and sampling."""
    own = model.generation_config
    kept = ("decoder_start_token_id", "bos_token_id", "eos_token_id", "forced_bos_token_id")
    if needs_start and own.decoder_start_token_id is None and own.bos_token_id is None:
        raise ModelCardError(
            f"expected a decoder_start_token_id in the configuration of {checkpoint.name}; found none. Add it"
        )
    config = library("transformers").GenerationConfig(
        **{name: getattr(own, name, None) for name in kept}, pad_token_id=model.config.pad_token_id
    )
    model.generation_config = config
