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
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
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
from vericite.errors import InputError
from vericite.formats import AnswerToCheck
from vericite.text.citations import parse_answer
from vericite.text.references import render_markers
from vericite.train.examples import AttributionExample, ExampleSource, read_examples, refuse_shared
from vericite.train.lora import LoraConfig, LoraRun, LoraTask, adapted, seeded, trained

INSTRUCTION = "Answer the question from the sources. Cite the sources of each sentence by their numbers, as in [1][2]."
ADAPTER = "adapter"
LETTERS = tuple(int(4000 * 0.8**step) for step in range(21))
"""How many characters of a source are shown, at most; the last is the least that is still a source."""


@dataclass(frozen=True)
class Cited:
    """A question with its sources, and the sentences of an answer that cites them.

    Attributes:
        sentences: With their markers.
        weights: What each sentence counts in the loss.
    """

    id: str
    question: str
    sources: tuple[ExampleSource, ...]
    sentences: tuple[str, ...]
    weights: tuple[float, ...]

    @property
    def answer(self) -> str:
        """The sentences behind each other."""
        return " ".join(self.sentences)


class Learnt(NamedTuple):
    """Tokens, and what each counts in the loss; those before the answer have 0."""

    ids: list[int]
    weights: list[float]


def answers_of(examples: Sequence[AttributionExample]) -> Iterator[Cited]:
    """Sentences of one question before the same sources, joined into an answer with markers."""
    groups: dict[tuple[str, tuple[str, ...]], list[AttributionExample]] = {}
    for it in examples:
        if it.question:
            key = (it.group or it.id, tuple(source.id for source in it.sources))
            groups.setdefault(key, []).append(it)
    for (id, _), sentences in groups.items():
        texts = tuple(marked(it.sentence, sorted(it.supports)) for it in sentences)
        weights = tuple(it.weight for it in sentences)
        yield Cited(id, sentences[0].question or "", sentences[0].sources, texts, weights)


def asked_of(examples: Sequence[AttributionExample]) -> list[Cited]:
    """The questions to answer. Whoever reads the answers knows a question by its id, so there is one of each.

    Raises:
        InputError: Lines of one group have different sources.
    """
    found = list(answers_of(examples))
    if twice := next((id for id, count in Counter(it.id for it in found).items() if count > 1), None):
        raise InputError(
            f"expected the lines of a question that is asked to have the same sources; found two lists of {twice}. "
            "Give each list a group of its own."
        )
    return found


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
        f"[{number}] {f'{source.title} {source.text}'.strip()[:most]}"
        for number, source in enumerate(it.sources, start=1)
    )
    return f"{INSTRUCTION}\n\nSources:\n{sources}\n\nQuestion: {it.question}\n\nAnswer:"


def prompt_ids(it: Cited, tokenizer: Any, most: int) -> list[int] | None:
    """What stands before the answer as tokens: the same whether an answer is learnt or asked for.

    The ends of the sources give way where all is too long, never instruction and question. None if these leave no room.
    """
    for letters in LETTERS:
        ids: list[int] = tokenizer(prompted(it, letters))["input_ids"]
        if ids[-1] == tokenizer.eos_token_id:  # tokenizers that end each text; the answer is still to come
            ids = ids[:-1]
        if len(ids) <= most:
            return ids
    return None


def encoded(it: Cited, tokenizer: Any, most: int) -> Learnt | None:
    """Prompt, answer and its end as tokens; None if there is no room for them."""
    answer: list[int] = []
    weights: list[float] = []
    for sentence, weight in zip(it.sentences, it.weights, strict=True):
        ids: list[int] = tokenizer(f" {sentence}", add_special_tokens=False)["input_ids"]
        answer += ids
        weights += [weight] * len(ids)
    if tokenizer.eos_token_id is not None:
        answer.append(tokenizer.eos_token_id)
        weights.append(weights[-1])
    answer, weights = answer[: most // 2], weights[: most // 2]
    front = prompt_ids(it, tokenizer, most - len(answer))
    return None if front is None else Learnt(front + answer, [0.0] * len(front) + weights)


@dataclass(frozen=True)
class InlineRun:
    """What is trained and where it is written; ``ask`` are questions to answer when it is done.

    None of ``dev``, which chooses, and of ``ask`` may be among ``data``.
    """

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
        InputError: The base or the data cannot be used, dev examples or questions that are asked are trained on, or
            OUT is of another run.
        ModelError: There is no such base, or it is not one that is safe to load.
    """
    read, chosen_by = read_examples(run.data), read_examples([run.dev])
    refuse_shared(chosen_by, read, "question")
    data, dev, asked = list(answers_of(read)), list(answers_of(chosen_by)), _asked(run, config, read)
    if not data or not dev:
        raise InputError("expected examples with questions, from which answers can be joined; found none. Give more.")
    files = [[_hash(path) for path in paths] for paths in (run.data, (run.dev,))]
    told = {"ask": _hash(run.ask) if run.ask else None, "new_tokens": run.new_tokens, "untrained": run.untrained}
    settings = {"config": config.model_dump(mode="json"), "base": base_signature(run.base), "files": files, **told}
    job = Job.in_folder(run.out, settings, "an in-line model")
    with job.open():
        seeded(config.seed, config.threads)
        base, tokenizer = load_decoder(run.base, causal=True)
        model = adapted(base, config, causal=True)
        facts: dict[str, Any] = {}
        prompts = _prompts(asked, tokenizer, config.max_tokens - run.new_tokens)
        if not run.untrained:
            known, held = (_fitting(some, tokenizer, config.max_tokens) for some in (data, dev))
            folder = run.out / "steps"
            folder.mkdir(exist_ok=True)
            part = Job.in_folder(folder, settings, "an in-line model's steps")
            facts = LoraRun(_task(model, known, held), config, part, tell).run()
            facts["left out, too long"] = len(data) + len(dev) - len(known) - len(held)
            model.save_pretrained(str(run.out / ADAPTER))
            if write_adapter(model, config.alpha, run.out / ADAPTER_FILE):
                facts["llama.cpp"] = ADAPTER_FILE
        counted = {"trained": sum(it.numel() for it in trained(model).values())}
        if run.ask is not None:
            facts["answers"] = _answer_all(run, prompts, model, tokenizer)
            facts["not asked, too long"] = len(asked) - len(prompts)
        job.note({"finished": True, **facts, "parameters": counted})
    return facts


def _asked(run: InlineRun, config: LoraConfig, data: Sequence[AttributionExample]) -> list[Cited]:
    """The questions to answer, none of them of the data, read before anything is trained."""
    if run.ask is None:
        return []
    if run.new_tokens >= config.max_tokens:
        raise InputError(
            f"expected an answer of fewer tokens than the {config.max_tokens} (max_tokens) that prompt and answer have "
            f"together; found {run.new_tokens}. Lower --new-tokens, or raise max_tokens in the config."
        )
    read = [it for it in read_examples([run.ask]) if it.question]
    if not read:
        raise InputError(f"expected examples with questions in {run.ask}; found none. Give their questions.")
    refuse_shared(read, data, "question", "questions to ask")
    return asked_of(read)


def _fitting(some: Sequence[Cited], tokenizer: Any, most: int) -> list[Learnt]:
    """Those that there is room for."""
    found = [one for it in some if (one := encoded(it, tokenizer, most)) is not None]
    if not found:
        raise _no_room(most, "question and answer")
    return found


def _prompts(asked: Sequence[Cited], tokenizer: Any, most: int) -> list[tuple[Cited, list[int]]]:
    """Questions with their prompts; those that there is room for."""
    found = [(it, ids) for it in asked if (ids := prompt_ids(it, tokenizer, most)) is not None]
    if asked and not found:
        raise _no_room(most, "a question")
    return found


def _no_room(most: int, what: str) -> InputError:
    return InputError(
        f"expected room for {what} and {LETTERS[-1]} characters of each source; found {most} tokens, too few for any. "
        "Raise max_tokens in the config."
    )


def _task(model: Any, known: Sequence[Learnt], held: Sequence[Learnt]) -> LoraTask:
    def loss_of(some: Sequence[Learnt]) -> tuple[Tensor, float]:
        longest = max(len(it.ids) for it in some)
        lacking = [longest - len(it.ids) for it in some]
        ids = torch.tensor([it.ids + [0] * more for it, more in zip(some, lacking, strict=True)])
        mask = torch.tensor([[1] * len(it.ids) + [0] * more for it, more in zip(some, lacking, strict=True)])
        weights = torch.tensor([it.weights + [0.0] * more for it, more in zip(some, lacking, strict=True)])[:, 1:]
        # Words of the sources are not learnt, so the vocabulary is not asked about them.
        learnt = (weights > 0).any(dim=0).nonzero()[:, 0]
        logits = model(input_ids=ids, attention_mask=mask, logits_to_keep=learnt).logits.float()
        following, counted = ids[:, 1:][:, learnt], weights[:, learnt]
        loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), following.reshape(-1), reduction="none")
        return (loss * counted.reshape(-1)).sum(), float(counted.sum())

    def dev_loss() -> float:
        parts = [loss_of([it]) for it in held]
        return sum(float(loss) for loss, _ in parts) / max(sum(weight for _, weight in parts), 1e-9)

    model.train()
    return LoraTask(model, lambda places: loss_of([known[place] for place in places]), dev_loss, len(known))


def _answer_all(run: InlineRun, prompts: Sequence[tuple[Cited, list[int]]], model: Any, tokenizer: Any) -> int:
    """Answers to the questions, written as ``check`` and ``score`` read them; a run that was ended goes on."""
    lines = Lines(run.out / "answers.jsonl", AnswerToCheck)
    done = {it.id for it in lines.read()}
    left = [(it, ids) for it, ids in prompts if it.id not in done]
    model.eval()
    for it, ids in left:
        text = generated(ids, model, tokenizer, run.new_tokens)
        answer = parse_answer(it.id, text or "-", [source.document for source in it.sources], it.question)
        lines.append([AnswerToCheck.of(answer)])
    return len(done) + len(left)


def generated(front: list[int], model: Any, tokenizer: Any, new_tokens: int) -> str:
    """The likeliest answer behind a prompt, word by word."""
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
    return said(text)


def said(text: str) -> str:
    """What a model wrote up to the first blank line behind it, as one line."""
    return " ".join(text.strip().split("\n\n")[0].split())


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
