# torch, transformers and peft come with the extra [train] only, and their own annotations are incomplete.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportUnknownLambdaType=false
"""Fine-tune models that write their label by LoRA: T5 like TRUE's, AttrScore's (MultiAttr, table 2), or others.

They are asked by the prompt of their kind, or by a verbatim one, such as BioACE's (Gupta et al. 2025, A1 to A3).
The adapter is merged into the weights, so that the result is a checkpoint for the same kind of judge.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from vericite.disk.jobs import Job
from vericite.errors import InputError
from vericite.lab.train.configs import LabelConfig, LoraConfig
from vericite.lab.train.labels import LabelRun, split_of
from vericite.lab.train.lora import LoraRun, LoraTask, adapted, seeded
from vericite.lab.train.texts import LabelledTexts
from vericite.models.contracts import COLUMNS, ENTAILS
from vericite.models.hf import find_checkpoint, load, quiet
from vericite.network.access import offline_by_environment
from vericite.records import storable
from vericite.verify.judges.hf import ATTRSCORE_CAUSAL, STYLES, Style, named_style


@dataclass(frozen=True)
class WritingRun:
    """A judge to fine-tune, its pairs of premise and claim, and where it is written.

    Attributes:
        judge: Such as ``hf-seq2seq:CHECKPOINT`` or ``hf-seq2seq:CHECKPOINT?prompt=FILE``.
        dev: Chooses the epoch.
        style: How to ask. Default: that of the judge. If it has no column for a label, the label is what is written.
    """

    judge: str
    examples: Sequence[LabelledTexts]
    dev: Sequence[LabelledTexts]
    out: Path
    style: Style | None = None


@dataclass(frozen=True)
class AskedText:
    """A prompt and the label that should be written, in tokens."""

    prompt: list[int]
    label: list[int]


def train_on_texts(run: WritingRun, config: LabelConfig, report: Callable[[int, float], None]) -> dict[str, Any]:
    """Train with the given settings, and LoRA's defaults for others; without dev, hold out a share of the groups.

    Raises:
        InputError: As ``train_writing_judge``, or the texts cannot be split.
    """
    labels = tuple(dict.fromkeys(text.label for text in run.examples))
    train, dev = split_of(LabelRun(run.judge, run.out, run.examples, labels, dev=run.dev), config)
    given = config.model_fields_set & set(LoraConfig.model_fields)
    lora = LoraConfig().model_copy(update={name: getattr(config, name) for name in given})
    facts = train_writing_judge(replace(run, examples=train, dev=dev), lora, report)
    return {**facts, "examples": Counter(text.label for text in train), "dev": len(dev)}


def train_writing_judge(run: WritingRun, config: LoraConfig, report: Callable[[int, float], None]) -> dict[str, Any]:
    """Train, and write the whole checkpoint to OUT.

    Raises:
        InputError: It is another kind of judge, or OUT belongs to another run.
        ModelError: The checkpoint does not exist, or is not safe to load.
    """
    kind, _, rest = run.judge.partition(":")
    if kind not in STYLES or not rest:
        raise InputError(f"expected a judge that writes its label ({', '.join(STYLES)}); found {run.judge}")
    name, style = (rest.partition("?prompt=")[0], run.style) if run.style else named_style(STYLES[kind], rest)
    causal = kind == ATTRSCORE_CAUSAL.name
    answers = {text.label: _answer(text.label, style) for text in (*run.examples, *run.dev)}
    checkpoint = find_checkpoint(name, offline_by_environment())
    settings = {"config": config.model_dump(mode="json"), "judge": f"{kind}:{checkpoint.signature}"}
    settings["asked"] = style.name
    settings["data"] = hashlib.sha256(repr([*run.examples, None, *run.dev]).encode()).hexdigest()[:16]
    run.out.mkdir(parents=True, exist_ok=True)
    steps = run.out.with_name(f"{run.out.name}-steps")
    steps.mkdir(exist_ok=True)
    seeded(config.seed, config.threads)
    loaded = load(checkpoint, "AutoModelForCausalLM" if causal else "AutoModelForSeq2SeqLM", "cpu")
    if not causal and "targets" not in config.model_fields_set:
        config = config.model_copy(update={"targets": ("q", "v")})
    model = adapted(loaded.model, config, causal, writes=not causal)
    most = min(config.max_tokens, loaded.max_tokens)

    def read(texts: Sequence[LabelledTexts]) -> list[AskedText]:
        return [_asked(text, answers[text.label], style, loaded.tokenizer, most) for text in texts]

    known, held = read(run.examples), read(run.dev)
    job = Job.in_folder(steps, settings, "a judge's steps")
    with job.open():
        losses = _causal if causal else _written
        task = _task(model, known, held, losses, loaded.pad)
        facts = LoraRun(task, config, Job.in_folder(steps, settings, "a judge's steps"), report).run()
    with quiet():
        merged: Any = model.merge_and_unload().float()
        merged.save_pretrained(str(run.out))
        loaded.tokenizer.save_pretrained(str(run.out))
    return facts


def _answer(label: str, style: Style) -> str:
    """Return what a style writes for a label; of two answers, the one that is not "entails" is for all other labels.

    Raises:
        InputError: It has no answer for the label.
    """
    if found := next((answer for answer in style.answers if answer.casefold() == label.casefold()), None):
        return found
    of = {COLUMNS[column]: answer for answer, column in reversed(list(style.answers.items()))}
    others = [answer for meaning, answer in of.items() if meaning != COLUMNS[ENTAILS]]
    answer = of.get(label) or (
        others[0] if len(others) == 1 and label in COLUMNS and label != COLUMNS[ENTAILS] else None
    )
    if answer is None:
        raise InputError(f"expected labels that {style.name} can write ({', '.join(style.answers)}); found {label}")
    return answer


def _asked(text: LabelledTexts, answer: str, style: Style, tokenizer: Any, most: int) -> AskedText:
    """Return the tokens; a premise that is too long is cut at the end."""
    label: list[int] = tokenizer(answer, add_special_tokens=False)["input_ids"]
    if tokenizer.eos_token_id is not None:
        label = [*label, tokenizer.eos_token_id]
    premise = text.first
    while True:
        prompt: list[int] = tokenizer(storable(style.filled(premise, text.second)))["input_ids"]
        if len(prompt) + len(label) <= most or not premise:
            return AskedText(prompt[: most - len(label)], label)
        premise = premise[: int(len(premise) * 0.9)]


def _task(
    model: Any,
    known: Sequence[AskedText],
    held: Sequence[AskedText],
    losses: Callable[[Any, Sequence[AskedText], int], Tensor],
    pad: int,
) -> LoraTask:
    def loss_of(some: Sequence[AskedText]) -> tuple[Tensor, float]:
        return losses(model, some, pad), float(sum(len(asked.label) for asked in some))

    def dev_loss() -> float:
        parts = [loss_of([asked]) for asked in held]
        return sum(float(loss) for loss, _ in parts) / max(sum(weight for _, weight in parts), 1e-9)

    model.train()
    return LoraTask(model, lambda places: loss_of([known[place] for place in places]), dev_loss, len(known))


def _padded(rows: Sequence[list[int]], fill: int, place: Any) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([row + [fill] * (longest - len(row)) for row in rows], device=place)


def _written(model: Any, some: Sequence[AskedText], pad: int) -> Tensor:
    """Return the summed loss of the labels that an encoder-decoder writes."""
    prompts = [asked.prompt for asked in some]
    labels = _padded([asked.label for asked in some], -100, model.device)
    ids, mask = _padded(prompts, pad, model.device), _padded([[1] * len(prompt) for prompt in prompts], 0, model.device)
    logits = model(input_ids=ids, attention_mask=mask, labels=labels).logits.float()
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1), reduction="sum")


def _causal(model: Any, some: Sequence[AskedText], pad: int) -> Tensor:
    """Return the summed loss of the labels that a decoder writes after its prompt."""
    whole = [asked.prompt + asked.label for asked in some]
    wanted = [[-100] * len(asked.prompt) + asked.label for asked in some]
    ids, mask = _padded(whole, pad, model.device), _padded([[1] * len(row) for row in whole], 0, model.device)
    labels = _padded(wanted, -100, model.device)[:, 1:]
    logits = model(input_ids=ids, attention_mask=mask).logits[:, :-1].float()
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1), reduction="sum")
