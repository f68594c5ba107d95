# torch, transformers and peft are in the extra [train] alone, and annotate their own functions only in part.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportUntypedBaseClass=false
# pyright: reportUnknownLambdaType=false
"""Decoders that learn to write cited answers, as MultiAttr's in-line models: what ``train inline`` does.

The loss is that of the answer alone, not of the sources and the question before it (completion-only).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from vericite.attribute.decoder import load_decoder
from vericite.disk.files import PARTIAL
from vericite.disk.jobs import Job, Lines
from vericite.errors import InputError
from vericite.formats import AnswerToCheck
from vericite.text.citations import parse_answer
from vericite.text.references import render_markers
from vericite.train.examples import AttributionExample, ExampleSource, read_examples
from vericite.train.lora import LoraConfig, LoraRun, LoraTask, adapted, seeded, trained

INSTRUCTION = "Answer the question from the sources. Cite the sources of each sentence by their numbers, as in [1][2]."
IGNORED = -100
ADAPTER = "adapter"


@dataclass(frozen=True)
class Cited:
    """A question with its sources, and an answer that cites them."""

    id: str
    question: str
    sources: tuple[ExampleSource, ...]
    answer: str


def answers_of(examples: Sequence[AttributionExample]) -> Iterator[Cited]:
    """Sentences of one question before the same sources, joined into an answer with markers."""
    groups: dict[tuple[str, tuple[str, ...]], list[AttributionExample]] = {}
    for it in examples:
        if it.question:
            key = (it.group or it.id, tuple(source.id for source in it.sources))
            groups.setdefault(key, []).append(it)
    for (id, _), sentences in groups.items():
        text = " ".join(marked(it.sentence, sorted(it.supports)) for it in sentences)
        yield Cited(id, sentences[0].question or "", sentences[0].sources, text)


def marked(sentence: str, numbers: Sequence[int]) -> str:
    """A sentence with markers before its full stop."""
    text = sentence.strip()
    if not numbers:
        return text
    body, stop = (text[:-1], text[-1]) if text[-1:] in ".!?" else (text, ".")
    return f"{body.rstrip()} {render_markers(numbers)}{stop}"


def prompted(it: Cited, most: int) -> str:
    """What stands before the answer; the sources are cut to so many characters each."""
    sources = "\n".join(
        f"[{number}] {source.title} {source.text}".strip()[:most] for number, source in enumerate(it.sources, start=1)
    )
    return f"{INSTRUCTION}\n\nSources:\n{sources}\n\nQuestion: {it.question}\n\nAnswer:"


def encoded(it: Cited, tokenizer: Any, most: int) -> tuple[list[int], list[int]]:
    """Tokens, and what of them is to be learnt: the answer and its end."""
    answer: list[int] = tokenizer(f" {it.answer}", add_special_tokens=False)["input_ids"]
    answer = [*answer, tokenizer.eos_token_id] if tokenizer.eos_token_id is not None else answer
    answer = answer[: most // 2]
    letters = 4000
    while True:
        front: list[int] = tokenizer(prompted(it, letters))["input_ids"]
        if len(front) + len(answer) <= most or letters < 50:
            break
        letters = int(letters * 0.8)
    front = front[: most - len(answer)]
    return front + answer, [IGNORED] * len(front) + answer


@dataclass(frozen=True)
class InlineRun:
    """What is trained and where it is written; ``ask`` are questions to answer when it is done."""

    base: str
    data: tuple[Path, ...]
    dev: Path
    out: Path
    ask: Path | None = None
    new_tokens: int = 160
    untrained: bool = False


def train_inline(run: InlineRun, config: LoraConfig, tell: Callable[[int, float], None]) -> dict[str, Any]:
    """Train, write the adapter to OUT, and answer the questions there are.

    Raises:
        InputError: The base or the data cannot be used, or OUT is of another run.
    """
    data, dev = list(answers_of(read_examples(run.data))), list(answers_of(read_examples([run.dev])))
    if not data or not dev:
        raise InputError("expected examples with questions, from which answers can be joined; found none. Give more.")
    files = [[_hash(path) for path in paths] for paths in (run.data, (run.dev,))]
    asked = {"ask": _hash(run.ask) if run.ask else None, "new_tokens": run.new_tokens, "untrained": run.untrained}
    settings = {"config": config.model_dump(mode="json"), "base": Path(run.base).name, "files": files, **asked}
    job = Job.in_folder(run.out, settings, "an in-line model")
    with job.open():
        seeded(config.seed, config.threads)
        base, tokenizer = load_decoder(run.base, causal=True)
        model = adapted(base, config, causal=True)
        facts: dict[str, Any] = {}
        if not run.untrained:
            folder = run.out / "steps"
            folder.mkdir(exist_ok=True)
            part = Job.in_folder(folder, settings, "an in-line model's steps")
            facts = LoraRun(_task(model, tokenizer, data, dev, config), config, part, tell).run()
            model.save_pretrained(str(run.out / ADAPTER))
            if write_adapter(model, config.alpha, run.out / ADAPTER_FILE):
                facts["llama.cpp"] = ADAPTER_FILE
        counted = {"trained": sum(it.numel() for it in trained(model).values())}
        if run.ask is not None:
            facts["answers"] = _answer_all(run, model, tokenizer, config)
        job.note({"finished": True, **facts, "parameters": counted})
    return facts


def _task(model: Any, tokenizer: Any, data: Sequence[Cited], dev: Sequence[Cited], config: LoraConfig) -> LoraTask:
    known = [encoded(it, tokenizer, config.max_tokens) for it in data]
    held = [encoded(it, tokenizer, config.max_tokens) for it in dev]

    def loss_of(some: Sequence[tuple[list[int], list[int]]]) -> tuple[Tensor, float]:
        longest = max(len(ids) for ids, _ in some)
        ids = torch.tensor([one + [0] * (longest - len(one)) for one, _ in some])
        mask = torch.tensor([[1] * len(one) + [0] * (longest - len(one)) for one, _ in some])
        wanted = torch.tensor([one + [IGNORED] * (longest - len(one)) for _, one in some])
        following = wanted[:, 1:]
        # Words of the sources are not learnt, so the vocabulary is not asked about them.
        learnt = (following != IGNORED).any(dim=0).nonzero()[:, 0]
        logits = model(input_ids=ids, attention_mask=mask, logits_to_keep=learnt).logits.float()
        following = following[:, learnt]
        loss = F.cross_entropy(
            logits.reshape(-1, logits.shape[-1]), following.reshape(-1), ignore_index=IGNORED, reduction="sum"
        )
        return loss, float((following != IGNORED).sum())

    def dev_loss() -> float:
        parts = [loss_of([it]) for it in held]
        return sum(float(loss) for loss, _ in parts) / max(sum(weight for _, weight in parts), 1e-9)

    model.train()
    return LoraTask(model, lambda places: loss_of([known[place] for place in places]), dev_loss, len(known))


def _answer_all(run: InlineRun, model: Any, tokenizer: Any, config: LoraConfig) -> int:
    """Answers to the questions, written as ``check`` and ``score`` read them; a run that was ended goes on."""
    assert run.ask is not None
    lines = Lines(run.out / "answers.jsonl", AnswerToCheck)
    done = {it.id for it in lines.read()}
    asked = [it for it in answers_of(read_examples([run.ask])) if it.id not in done]
    model.eval()
    for it in asked:
        text = generated(it, model, tokenizer, config.max_tokens, run.new_tokens)
        answer = parse_answer(it.id, text or "-", [source.document for source in it.sources], it.question)
        lines.append([AnswerToCheck.of(answer)])
    return len(done) + len(asked)


def generated(it: Cited, model: Any, tokenizer: Any, most: int, new_tokens: int) -> str:
    """The likeliest answer, word by word."""
    front, _ = encoded(Cited(it.id, it.question, it.sources, ""), tokenizer, most - new_tokens)
    if front and front[-1] == tokenizer.eos_token_id:
        front = front[:-1]
    ids = torch.tensor([front])
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
    return " ".join(text.split("\n\n")[0].split())


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


ADAPTER_FILE = "adapter.gguf"
"""The adapter in llama.cpp's form, for ``--llm gguf:MODEL+ADAPTER``."""
KINDS = ("llama", "qwen2")
"""Decoders whose layers have the names below."""

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
    """What llama.cpp calls one of peft's tensors; None for one that it has no name for."""
    match = _LAYER.search(name)
    if match is None or match[2] not in _NAMES:
        return None
    return f"blk.{match[1]}.{_NAMES[match[2]]}.weight.lora_{match[3].lower()}"


def interleaved(rows: Matrix, heads: int) -> Matrix:
    """The rows of each head in the order in which llama.cpp turns a Llama's queries and keys: the halves in turn."""
    high, wide = rows.shape
    return rows.reshape(heads, 2, high // heads // 2, wide).swapaxes(1, 2).reshape(high, wide)


def write_adapter(model: Any, alpha: float, path: Path) -> bool:
    """Write a peft model's adapter; whether llama.cpp knows such a decoder, and all of its layers."""
    import gguf
    import peft

    config = model.config
    tensors = {name: it.float().numpy() for name, it in peft.get_peft_model_state_dict(model).items()}
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
