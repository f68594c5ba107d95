# torch, transformers and peft come with the extra [train] only, and their own annotations are incomplete.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportUnknownLambdaType=false
"""Fine-tune judges that write their label by LoRA: T5 like TRUE's, and AttrScore's models (MultiAttr, table 2).

The adapter is merged into the weights, so that the result is a checkpoint for the same kind of judge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from vericite.disk.jobs import Job
from vericite.errors import InputError
from vericite.lab.train.configs import LoraConfig
from vericite.lab.train.lora import LoraRun, LoraTask, adapted, seeded
from vericite.lab.train.texts import LabelledTexts
from vericite.models.contracts import COLUMNS
from vericite.models.hf import find_checkpoint, load, quiet
from vericite.network.access import offline_by_environment
from vericite.verify.judges.hf import ATTRSCORE, ATTRSCORE_CAUSAL, TRUE, Style

STYLES = {style.name: style for style in (TRUE, ATTRSCORE, ATTRSCORE_CAUSAL)}
"""The kinds of judges, by the first part of their name."""


@dataclass(frozen=True)
class WritingRun:
    """A judge to fine-tune, such as ``hf-seq2seq:CHECKPOINT``, its pairs of premise and claim, and where it is written.

    ``dev`` chooses the epoch.
    """

    judge: str
    examples: Sequence[LabelledTexts]
    dev: Sequence[LabelledTexts]
    out: Path


@dataclass(frozen=True)
class Asked:
    """A prompt and the label that should be written, in tokens."""

    prompt: list[int]
    label: list[int]


def train_writing_judge(run: WritingRun, config: LoraConfig, report: Callable[[int, float], None]) -> dict[str, Any]:
    """Train, and write the whole checkpoint to OUT.

    Raises:
        InputError: It is another kind of judge, or OUT belongs to another run.
        ModelError: The checkpoint does not exist, or is not safe to load.
    """
    kind, _, name = run.judge.partition(":")
    if kind not in STYLES or not name:
        raise InputError(f"expected a judge that writes its label ({', '.join(STYLES)}); found {run.judge}")
    style, causal = STYLES[kind], kind == ATTRSCORE_CAUSAL.name
    checkpoint = find_checkpoint(name, offline_by_environment())
    settings = {"config": config.model_dump(mode="json"), "judge": f"{kind}:{checkpoint.signature}"}
    run.out.mkdir(parents=True, exist_ok=True)
    steps = run.out.with_name(f"{run.out.name}-steps")
    steps.mkdir(exist_ok=True)
    seeded(config.seed, config.threads)
    loaded = load(checkpoint, "AutoModelForCausalLM" if causal else "AutoModelForSeq2SeqLM", "cpu")
    if not causal and "targets" not in config.model_fields_set:
        config = config.model_copy(update={"targets": ("q", "v")})
    model = adapted(loaded.model, config, causal, writes=not causal)
    most = min(config.max_tokens, loaded.max_tokens)
    known, held = ([_asked(text, style, loaded.tokenizer, most) for text in texts] for texts in (run.examples, run.dev))
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


def _asked(text: LabelledTexts, style: Style, tokenizer: Any, most: int) -> Asked:
    """Return the tokens; a premise that is too long is cut at the end."""
    answer = next(answer for answer, column in style.answers.items() if COLUMNS[column] == text.label)
    label: list[int] = tokenizer(answer, add_special_tokens=False)["input_ids"]
    if tokenizer.eos_token_id is not None:
        label = [*label, tokenizer.eos_token_id]
    premise = text.first
    while True:
        prompt: list[int] = tokenizer(style.prompt.format(premise=premise, claim=text.second))["input_ids"]
        if len(prompt) + len(label) <= most or not premise:
            return Asked(prompt[: most - len(label)], label)
        premise = premise[: int(len(premise) * 0.9)]


def _task(
    model: Any,
    known: Sequence[Asked],
    held: Sequence[Asked],
    losses: Callable[[Any, Sequence[Asked], int], Tensor],
    pad: int,
) -> LoraTask:
    def loss_of(some: Sequence[Asked]) -> tuple[Tensor, float]:
        return losses(model, some, pad), float(sum(len(asked.label) for asked in some))

    def dev_loss() -> float:
        parts = [loss_of([asked]) for asked in held]
        return sum(float(loss) for loss, _ in parts) / max(sum(weight for _, weight in parts), 1e-9)

    model.train()
    return LoraTask(model, lambda places: loss_of([known[place] for place in places]), dev_loss, len(known))


def _padded(rows: Sequence[list[int]], fill: int, place: Any) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([row + [fill] * (longest - len(row)) for row in rows], device=place)


def _written(model: Any, some: Sequence[Asked], pad: int) -> Tensor:
    """Return the summed loss of the labels that an encoder-decoder writes."""
    prompts = [asked.prompt for asked in some]
    labels = _padded([asked.label for asked in some], -100, model.device)
    ids, mask = _padded(prompts, pad, model.device), _padded([[1] * len(prompt) for prompt in prompts], 0, model.device)
    logits = model(input_ids=ids, attention_mask=mask, labels=labels).logits.float()
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1), reduction="sum")


def _causal(model: Any, some: Sequence[Asked], pad: int) -> Tensor:
    """Return the summed loss of the labels that a decoder writes after its prompt."""
    whole = [asked.prompt + asked.label for asked in some]
    wanted = [[-100] * len(asked.prompt) + asked.label for asked in some]
    ids, mask = _padded(whole, pad, model.device), _padded([[1] * len(row) for row in whole], 0, model.device)
    labels = _padded(wanted, -100, model.device)[:, 1:]
    logits = model(input_ids=ids, attention_mask=mask).logits[:, :-1].float()
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1), reduction="sum")
