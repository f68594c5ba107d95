# torch, transformers and peft are in the extra [train] alone, and annotate their own functions only in part.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportUntypedBaseClass=false
# pyright: reportUnknownLambdaType=false
"""A decoder with k labels: which of k sources support a sentence, as MultiAttr's models after generation have it.

The decoder reads sources, question and sentence; a head over its last token says a label a source. Adapter and head are
trained, the rest stays as it was.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from vericite.attribute.decoder import (
    ADAPTER,
    CARD,
    WEIGHTS,
    DecoderCard,
    LabelledDecoder,
    ShownToDecoder,
    base_signature,
    load_decoder,
)
from vericite.disk.files import write_whole
from vericite.disk.jobs import Job
from vericite.errors import InputError
from vericite.train.examples import AttributionExample, read_examples, refuse_shared
from vericite.train.lora import LoraConfig, LoraRun, LoraTask, adapted, seeded, trained
from vericite.train.set_head import HeadFigures, best_threshold, cited_by, figures

SOURCES = 5
PREDICTIONS = "dev-predictions.jsonl"


@dataclass(frozen=True)
class Encoded:
    """An example as the decoder reads it; labels that are not known have 0 in ``known``."""

    ids: list[int]
    wanted: list[float]
    known: list[float]
    weight: float = 1.0


def encoded(example: AttributionExample, tokenizer: Any, k: int, most: int) -> Encoded:
    """An example as tokens and labels.

    Raises:
        InputError: It has more sources than there are labels.
    """
    count = len(example.sources)
    if count > k:
        raise InputError(f"expected at most {k} sources, as many as there are labels; found {count} in {example.id}")
    sources = tuple((source.title, source.text) for source in example.sources)
    ids = ShownToDecoder(example.question, example.sentence, sources).ids(tokenizer, most)
    wanted = [float(number in example.supports) for number in range(1, k + 1)]
    known = [float(number <= count and number not in example.unknown) for number in range(1, k + 1)]
    return Encoded(ids, wanted, known, example.weight)


def padded(some: Sequence[Encoded], fill: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Side by side."""
    longest = max(len(it.ids) for it in some)
    ids = torch.tensor([it.ids + [fill] * (longest - len(it.ids)) for it in some])
    mask = torch.tensor([[1] * len(it.ids) + [0] * (longest - len(it.ids)) for it in some])
    return ids, mask, torch.tensor([it.wanted for it in some]), torch.tensor([it.known for it in some])


@dataclass(frozen=True)
class DecoderRun:
    """What is trained and where it is written.

    Attributes:
        data: The stages, one after the other: made data, then those of one's own domain.
        dev: Examples that choose; none of them may be among the others.
        k: Labels, that is sources at most.
    """

    base: str
    data: tuple[tuple[Path, ...], ...]
    dev: Path
    out: Path
    k: int = SOURCES


def train_decoder(run: DecoderRun, config: LoraConfig, tell: Callable[[int, float], None]) -> HeadFigures:
    """Train, write adapter, head and threshold to OUT, and say what they reach on the development set.

    Raises:
        InputError: The base or the data cannot be used, dev examples are trained on, or OUT is of another run.
        ModelError: There is no such base, or it is not one that is safe to load.
    """
    stages = [read_examples(paths) for paths in run.data if paths]
    dev = read_examples([run.dev])
    refuse_shared(dev, [it for examples in stages for it in examples])
    files = [[_hash(path) for path in paths] for paths in (*run.data, (run.dev,))]
    settings = {"config": config.model_dump(mode="json"), "base": base_signature(run.base), "files": files, "k": run.k}
    job = Job.in_folder(run.out, settings, "a decoder")
    with job.open():
        seeded(config.seed, config.threads)
        decoder, tokenizer = load_decoder(run.base, causal=False)
        module = LabelledDecoder(adapted(decoder, config, causal=False), run.k)
        fill = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id or 0

        def read(examples: Sequence[AttributionExample]) -> list[Encoded]:
            return [encoded(it, tokenizer, run.k, config.max_tokens) for it in examples]

        held = read(dev)
        facts: list[dict[str, Any]] = []
        for number, examples in enumerate(stages, start=1):
            task = _task(module, read(examples), held, fill)
            folder = run.out / f"stage-{number}"
            folder.mkdir(exist_ok=True)
            part = Job.in_folder(folder, settings, "a decoder's stage")
            facts.append(LoraRun(task, config, part, tell).run())
        odds = predicted(module, held, fill)
        wanted = [frozenset(place for place in range(run.k) if it.wanted[place]) for it in held]
        bar = best_threshold(odds, wanted)
        reached = figures((cited_by(it, bar) for it in odds), wanted)
        _write(run, module, config, bar, odds, dev)
        job.note({"finished": True, "stages": facts, "dev": vars(reached), "parameters": counted(module)})
    return reached


def _task(module: LabelledDecoder, examples: Sequence[Encoded], held: Sequence[Encoded], fill: int) -> LoraTask:
    def loss_of(some: Sequence[Encoded]) -> tuple[Tensor, float]:
        ids, mask, wanted, known = padded(some, fill)
        loss = F.binary_cross_entropy_with_logits(module(ids, mask), wanted, reduction="none")
        counted = known * torch.tensor([[it.weight] for it in some])
        return (loss * counted).sum(), float(counted.sum())

    def dev() -> float:
        parts = [loss_of([it]) for it in held]
        return sum(float(loss) for loss, _ in parts) / max(sum(weight for _, weight in parts), 1e-9)

    module.train()
    return LoraTask(module, lambda places: loss_of([examples[place] for place in places]), dev, len(examples))


def predicted(module: LabelledDecoder, examples: Sequence[Encoded], fill: int) -> list[NDArray[np.float64]]:
    """How likely each source supports each example's sentence; 0 where there is no source."""
    module.eval()
    found: list[NDArray[np.float64]] = []
    with torch.no_grad():
        for it in examples:
            ids, mask, _, known = padded([it], fill)
            found.append((torch.sigmoid(module(ids, mask)) * known)[0].double().numpy())
    return found


def _write(
    run: DecoderRun,
    module: LabelledDecoder,
    config: LoraConfig,
    bar: float,
    odds: Sequence[NDArray[np.float64]],
    dev: Sequence[AttributionExample],
) -> None:
    save_labelled(module, run.out)
    card = DecoderCard(base=run.base, k=run.k, threshold=bar, max_tokens=config.max_tokens)
    write_whole(run.out / CARD, [card.model_dump_json(indent=2) + "\n"])
    rows = zip(dev, odds, strict=True)
    write_whole(
        run.out / PREDICTIONS,
        (json.dumps({"id": it.id, "probabilities": values.round(6).tolist()}) + "\n" for it, values in rows),
    )


def save_labelled(module: LabelledDecoder, folder: Path) -> None:
    """Write what was trained: the adapter and the head."""
    from safetensors.torch import save_file

    module.decoder.save_pretrained(str(folder / ADAPTER))
    head = {name: it.detach().contiguous() for name, it in module.head.state_dict().items()}
    save_file(head, folder / WEIGHTS)


def counted(module: nn.Module) -> dict[str, int]:
    """Its parameters."""
    return {
        "trained": sum(it.numel() for it in trained(module).values()),
        "all": sum(it.numel() for it in module.parameters()),
    }


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
