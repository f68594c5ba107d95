# torch, transformers and peft come with the extra [train] only, and their own annotations are incomplete.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportUntypedBaseClass=false
# pyright: reportUnknownLambdaType=false
"""Train decoders that write cited answers, like MultiAttr's in-line models (``vericite train inline``).

The loss covers the answer only, not the sources and the question before it (completion-only).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from vericite.attribution.decoder import base_signature, load_decoder
from vericite.disk.files import PARTIAL
from vericite.disk.jobs import Job, Lines
from vericite.errors import InputError, Problems
from vericite.formats import AnswerToCheck
from vericite.lab.train.configs import LoraConfig
from vericite.lab.train.examples import AttributionExample, file_hash, refuse_shared
from vericite.lab.train.lora import LoraRun, LoraTask, adapted, seeded, trained
from vericite.lab.train.source_sets import read_examples
from vericite.lab.train.written import SOURCE_LENGTHS, Cited, answers_of, asked_of, first_paragraph, prompt_text
from vericite.models.hf import torch_device
from vericite.text.citations import parse_answer

ADAPTER = "adapter"


class EncodedAnswer(NamedTuple):
    """Tokens and the weight of each in the loss. Tokens before the answer have weight 0."""

    ids: list[int]
    weights: list[float]


def prompt_ids(cited: Cited, tokenizer: Any, most: int) -> list[int] | None:
    """Return the tokens before the answer. They are the same in training and when the model is asked.

    Sources are cut at the end when the whole is too long; instruction and question are never cut. Returns None when
    even the shortest sources do not fit.
    """
    for letters in SOURCE_LENGTHS:
        ids: list[int] = tokenizer(prompt_text(cited, letters))["input_ids"]
        if ids[-1] == tokenizer.eos_token_id:  # some tokenizers end each text; here the answer follows
            ids = ids[:-1]
        if len(ids) <= most:
            return ids
    return None


def encoded(cited: Cited, tokenizer: Any, most: int) -> EncodedAnswer | None:
    """Return prompt, answer and end token, or None when they do not fit."""
    answer: list[int] = []
    weights: list[float] = []
    for sentence, weight in zip(cited.sentences, cited.weights, strict=True):
        ids: list[int] = tokenizer(f" {sentence}", add_special_tokens=False)["input_ids"]
        answer += ids
        weights += [weight] * len(ids)
    if tokenizer.eos_token_id is not None:
        answer.append(tokenizer.eos_token_id)
        weights.append(weights[-1])
    answer, weights = answer[: most // 2], weights[: most // 2]
    front = prompt_ids(cited, tokenizer, most - len(answer))
    return None if front is None else EncodedAnswer(front + answer, [0.0] * len(front) + weights)


@dataclass(frozen=True)
class InlineRun:
    """What to train on and where to write it. The questions in ``ask`` are answered after training.

    ``data`` and then ``then``, each a stage, may not contain examples of ``dev``, which chooses the epoch, or of
    ``ask``. Records of data sets that cannot be used are added to ``problems``.
    """

    base: str
    data: tuple[Path, ...]
    dev: Path
    out: Path
    ask: Path | None = None
    new_tokens: int = 160
    untrained: bool = False
    then: tuple[Path, ...] = ()
    problems: Problems = field(default_factory=Problems)


def train_inline(run: InlineRun, config: LoraConfig, report: Callable[[int, float], None]) -> dict[str, Any]:
    """Train, write the adapter to OUT, and answer the questions in ``run.ask``.

    Raises:
        InputError: The base or the data cannot be used, development examples or questions to ask are also trained on,
            or OUT belongs to another run.
        ModelError: The base does not exist, or is not safe to load.
    """
    stages = [read_examples(paths, run.problems) for paths in (run.data, run.then) if paths]
    read, chosen_by = [example for stage in stages for example in stage], read_examples([run.dev], run.problems)
    refuse_shared(chosen_by, read, "question")
    data, dev, asked = (
        [list(answers_of(stage)) for stage in stages],
        list(answers_of(chosen_by)),
        _asked(run, config, read),
    )
    if not all(data) or not dev:
        raise InputError("expected examples with questions, to join answers from; found none. Give more examples.")
    files = [
        [file_hash(path) for path in paths] for paths in (run.data, *((run.then,) if run.then else ()), (run.dev,))
    ]
    options = {"ask": file_hash(run.ask) if run.ask else None, "new_tokens": run.new_tokens, "untrained": run.untrained}
    settings = {"config": config.model_dump(mode="json"), "base": base_signature(run.base), "files": files, **options}
    job = Job.in_folder(run.out, settings, "an in-line model")
    with job.open():
        seeded(config.seed, config.threads)
        base, tokenizer = load_decoder(run.base, causal=True)
        model = adapted(base, config, causal=True)
        facts: dict[str, Any] = {}
        prompts = _prompts(asked, tokenizer, config.max_tokens - run.new_tokens)
        if not run.untrained:
            held = _fitting(dev, tokenizer, config.max_tokens)
            left_out = len(dev) - len(held)
            for number, some in enumerate(data, start=1):
                known = _fitting(some, tokenizer, config.max_tokens)
                folder = run.out / ("steps" if number == 1 else f"steps-{number}")
                folder.mkdir(exist_ok=True)
                part = Job.in_folder(folder, settings, "an in-line model's steps")
                facts = LoraRun(_task(model, known, held), config, part, report).run()
                left_out += len(some) - len(known)
            facts["left out, too long"] = left_out
            model.save_pretrained(str(run.out / ADAPTER))
            if write_adapter(model, config.alpha, run.out / ADAPTER_FILE):
                facts["llama.cpp"] = ADAPTER_FILE
        counted = {"trained": sum(parameter.numel() for parameter in trained(model).values())}
        if run.ask is not None:
            facts["answers"] = _answer_all(run.out / "answers.jsonl", run.new_tokens, prompts, model, tokenizer)
            facts["not asked, too long"] = len(asked) - len(prompts)
        job.note({"finished": True, **facts, "parameters": counted})
    return facts


def _asked(run: InlineRun, config: LoraConfig, data: Sequence[AttributionExample]) -> list[Cited]:
    """Return the questions to answer. They are read, and compared with the data, before training starts."""
    if run.ask is None:
        return []
    if run.new_tokens >= config.max_tokens:
        raise InputError(
            f"expected an answer shorter than max_tokens ({config.max_tokens}), which prompt and answer share; found "
            f"{run.new_tokens}. Lower new_tokens, or raise max_tokens."
        )
    read = [example for example in read_examples([run.ask], run.problems) if example.question]
    if not read:
        raise InputError(f"expected examples with questions in {run.ask}; found none. Add their questions.")
    refuse_shared(read, data, "question", "questions to ask")
    return asked_of(read)


def _fitting(some: Sequence[Cited], tokenizer: Any, most: int) -> list[EncodedAnswer]:
    """Encode the answers that fit."""
    found = [learnt for cited in some if (learnt := encoded(cited, tokenizer, most)) is not None]
    if not found:
        raise _no_room(most, "question and answer")
    return found


def _prompts(asked: Sequence[Cited], tokenizer: Any, most: int) -> list[tuple[Cited, list[int]]]:
    """Return the questions that fit, with their prompts."""
    found = [(cited, ids) for cited in asked if (ids := prompt_ids(cited, tokenizer, most)) is not None]
    if asked and not found:
        raise _no_room(most, "a question")
    return found


def _no_room(most: int, what: str) -> InputError:
    return InputError(
        f"expected room for {what} and {SOURCE_LENGTHS[-1]} characters of each source; found {most} tokens, too few. "
        "Raise max_tokens in the config."
    )


def _task(model: Any, known: Sequence[EncodedAnswer], held: Sequence[EncodedAnswer]) -> LoraTask:
    def loss_of(answers: Sequence[EncodedAnswer]) -> tuple[Tensor, float]:
        place = model.device
        longest = max(len(example.ids) for example in answers)
        padding = [longest - len(example.ids) for example in answers]
        padded = list(zip(answers, padding, strict=True))
        ids = torch.tensor([example.ids + [0] * more for example, more in padded], device=place)
        mask = torch.tensor([[1] * len(example.ids) + [0] * more for example, more in padded], device=place)
        weights = torch.tensor([example.weights + [0.0] * more for example, more in padded], device=place)[:, 1:]
        # Words of the sources are not learnt, so no logits are computed for them.
        learnt = (weights > 0).any(dim=0).nonzero()[:, 0]
        logits = model(input_ids=ids, attention_mask=mask, logits_to_keep=learnt).logits.float()
        following, counted = ids[:, 1:][:, learnt], weights[:, learnt]
        loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), following.reshape(-1), reduction="none")
        return (loss * counted.reshape(-1)).sum(), float(counted.sum())

    def dev_loss() -> float:
        parts = [loss_of([example]) for example in held]
        return sum(float(loss) for loss, _ in parts) / max(sum(weight for _, weight in parts), 1e-9)

    model.train()
    return LoraTask(model, lambda places: loss_of([known[place] for place in places]), dev_loss, len(known))


def answer_with(
    base: str, adapter: Path | None, asked: Sequence[Cited], config: LoraConfig, new_tokens: int, out: Path
) -> int:
    """Answer questions with a trained adapter, or the base as it is, and return the number of answers in ``out``.

    Raises:
        InputError: The base cannot be read, or no question fits.
    """
    import peft

    model, tokenizer = load_decoder(base, causal=True)
    if adapter is not None:
        model = peft.PeftModel.from_pretrained(model, str(adapter))
    prompts = _prompts(asked, tokenizer, config.max_tokens - new_tokens)
    return _answer_all(out, new_tokens, prompts, model.to(torch_device(config.device)), tokenizer)


def _answer_all(
    out: Path, new_tokens: int, prompts: Sequence[tuple[Cited, list[int]]], model: Any, tokenizer: Any
) -> int:
    """Write answers in the form that ``check`` and ``score`` read. An interrupted run continues."""
    lines = Lines(out, AnswerToCheck)
    done = {answer.id for answer in lines.read()}
    left = [(cited, ids) for cited, ids in prompts if cited.id not in done]
    model.eval()
    for cited, ids in left:
        text = generated(ids, model, tokenizer, new_tokens)
        answer = parse_answer(cited.id, text or "-", [source.document for source in cited.sources], cited.question)
        lines.append([AnswerToCheck.of(answer)])
    return len(done) + len(left)


def generated(front: list[int], model: Any, tokenizer: Any, new_tokens: int) -> str:
    """Return the most likely answer after a prompt (greedy decoding)."""
    ids = torch.tensor([front], device=model.device)
    fill = tokenizer.eos_token_id if tokenizer.eos_token_id is not None else 0
    with torch.no_grad():
        made = model.generate(
            input_ids=ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=new_tokens,
            do_sample=False,
            pad_token_id=fill,
        )
    text: str = tokenizer.decode(made[0][len(front) :], skip_special_tokens=True)
    return first_paragraph(text)


ADAPTER_FILE = "adapter.gguf"
"""The adapter in llama.cpp's format, for ``--llm gguf:MODEL+ADAPTER``."""
KINDS = ("llama", "qwen2")
"""Decoders with the layer names below."""

_NAMES = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
_LAYER = re.compile(r"layers\.(\d+)\.(\w+\.\w+)\.lora_([AB])\.weight\Z")

Matrix = NDArray[np.float32]


def tensor_name(name: str) -> str | None:
    """Return llama.cpp's name for a tensor of peft, or None when it has none."""
    match = _LAYER.search(name)
    if match is None or match[2] not in _NAMES:
        return None
    return f"blk.{match[1]}.{_NAMES[match[2]]}.weight.lora_{match[3].lower()}"


def interleaved(rows: Matrix, heads: int) -> Matrix:
    """Reorder the rows of each head as llama.cpp expects a Llama's queries and keys: the two halves interleaved."""
    high, wide = rows.shape
    return rows.reshape(heads, 2, high // heads // 2, wide).swapaxes(1, 2).reshape(high, wide)


def write_adapter(model: Any, alpha: float, path: Path) -> bool:
    """Write a peft model's adapter. Return False when llama.cpp does not know the decoder or one of its layers."""
    import gguf
    import peft

    config = model.config
    tensors = {name: tensor.float().numpy() for name, tensor in peft.get_peft_model_state_dict(model).items()}
    names = {name: tensor_name(name) for name in tensors}
    if config.model_type not in KINDS or not names or None in names.values():
        return False
    part = path.with_name(f"{path.name}{PARTIAL}")
    writer = gguf.GGUFWriter(part, config.model_type)
    writer.add_type(gguf.GGUFType.ADAPTER)
    writer.add_string(gguf.Keys.Adapter.TYPE, "lora")
    writer.add_float32(gguf.Keys.Adapter.LORA_ALPHA, float(alpha))
    for name, tensor in tensors.items():
        if config.model_type == "llama" and ".lora_B." in name and (".q_proj." in name or ".k_proj." in name):
            heads = config.num_attention_heads if ".q_proj." in name else config.num_key_value_heads
            tensor = interleaved(tensor, heads)
        writer.add_tensor(names[name], np.ascontiguousarray(tensor))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    part.replace(path)
    return True
