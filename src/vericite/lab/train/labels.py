# torch, transformers and peft come with the extra [train] only, and their own annotations are incomplete.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportUntypedBaseClass=false
# pyright: reportUnknownLambdaType=false
"""Train checkpoints that predict labels: whole encoders, or decoders by LoRA with a head on the last token.

One label per source: which of k sources support a sentence, like MultiAttr's models after generation; the decoder reads
sources, question and sentence. One label per pair of texts: completeness reads question and sentence, correctness reads
a window of a document and a sentence. A share of the groups (questions, documents) is held out to choose the epoch.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from vericite.attribution.decoder import (
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
from vericite.errors import InputError, Problems
from vericite.lab.assess.checkpoint import CARD as LABEL_CARD
from vericite.lab.assess.checkpoint import LabelCard, LabelKind, as_one_text, decoder_ids
from vericite.lab.train.configs import ADAPTER_RATE, LabelConfig, LoraConfig
from vericite.lab.train.examples import AttributionExample, file_hash, refuse_shared
from vericite.lab.train.lora import LoraRun, LoraTask, adapted, seeded, trained
from vericite.lab.train.set_head import HeadFigures, best_threshold, cited_by, figures
from vericite.lab.train.source_sets import read_examples
from vericite.lab.train.texts import LabelledTexts
from vericite.models.hf import Reader, find_checkpoint, load, quiet, read_config, torch_device
from vericite.network.access import offline_by_environment

SOURCES = 5
PREDICTIONS = "dev-predictions.jsonl"


@dataclass(frozen=True)
class Encoded:
    """An example as the decoder reads it. Unknown labels have 0 in ``known``."""

    ids: list[int]
    wanted: list[float]
    known: list[float]
    weight: float = 1.0


def encoded(example: AttributionExample, tokenizer: Any, k: int, most: int) -> Encoded:
    """Convert an example to tokens and labels.

    Raises:
        InputError: The example has more sources than there are labels.
    """
    count = len(example.sources)
    if count > k:
        raise InputError(f"expected at most {k} sources, one for each label; found {count} in {example.id}")
    sources = tuple((source.title, source.text) for source in example.sources)
    ids = ShownToDecoder(example.question, example.sentence, sources).ids(tokenizer, most)
    wanted = [float(number in example.supports) for number in range(1, k + 1)]
    known = [float(number <= count and number not in example.unknown) for number in range(1, k + 1)]
    return Encoded(ids, wanted, known, example.weight)


def padded(examples: Sequence[Encoded], fill: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return padded ids, their mask, the labels, and which of them are known."""
    longest = max(len(example.ids) for example in examples)
    ids = torch.tensor([example.ids + [fill] * (longest - len(example.ids)) for example in examples])
    mask = torch.tensor([[1] * len(example.ids) + [0] * (longest - len(example.ids)) for example in examples])
    return (
        ids,
        mask,
        torch.tensor([example.wanted for example in examples]),
        torch.tensor([example.known for example in examples]),
    )


@dataclass(frozen=True)
class DecoderRun:
    """What to train on and where to write it.

    Attributes:
        data: Examples of each stage, such as made data first and data of your own domain second.
        dev: Development examples; they may not be among the others.
        k: Number of labels: the maximum number of sources.
        problems: Records of data sets that cannot be used are added here.
    """

    base: str
    data: tuple[tuple[Path, ...], ...]
    dev: Path
    out: Path
    k: int = SOURCES
    problems: Problems = field(default_factory=Problems)


def train_decoder(run: DecoderRun, config: LoraConfig, report: Callable[[int, float], None]) -> HeadFigures:
    """Train, write adapter, head and threshold to OUT, and return the scores on the development set.

    Raises:
        InputError: The base or the data cannot be used, development examples are also trained on, or OUT belongs to
            another run.
        ModelError: The base does not exist, or is not safe to load.
    """
    stages = [read_examples(paths, run.problems) for paths in run.data if paths]
    dev = read_examples([run.dev], run.problems)
    refuse_shared(dev, [example for examples in stages for example in examples])
    files = [[file_hash(path) for path in paths] for paths in (*run.data, (run.dev,))]
    settings = {"config": config.model_dump(mode="json"), "base": base_signature(run.base), "files": files, "k": run.k}
    job = Job.in_folder(run.out, settings, "a decoder")
    with job.open():
        seeded(config.seed, config.threads)
        decoder, tokenizer = load_decoder(run.base, causal=False)
        module = LabelledDecoder(adapted(decoder, config, causal=False), run.k).to(torch_device(config.device))
        fill = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id or 0

        def read(examples: Sequence[AttributionExample]) -> list[Encoded]:
            return [encoded(example, tokenizer, run.k, config.max_tokens) for example in examples]

        held = read(dev)
        facts: list[dict[str, Any]] = []
        for number, examples in enumerate(stages, start=1):
            task = _task_of_sources(module, read(examples), held, fill)
            folder = run.out / f"stage-{number}"
            folder.mkdir(exist_ok=True)
            part = Job.in_folder(folder, settings, "a decoder's stage")
            facts.append(LoraRun(task, config, part, report).run())
        odds = odds_of_sources(module, held, fill)
        wanted = [frozenset(place for place in range(run.k) if example.wanted[place]) for example in held]
        bar = best_threshold(odds, wanted)
        reached = figures((cited_by(row, bar) for row in odds), wanted)
        _write(run, module, config, bar, odds, dev)
        job.note({"finished": True, "stages": facts, "dev": vars(reached), "parameters": counted(module)})
    return reached


def _task_of_sources(
    module: LabelledDecoder, examples: Sequence[Encoded], held: Sequence[Encoded], fill: int
) -> LoraTask:
    def loss_of(batch: Sequence[Encoded]) -> tuple[Tensor, float]:
        ids, mask, wanted, known = padded(batch, fill)
        loss = F.binary_cross_entropy_with_logits(module(ids, mask), wanted, reduction="none")
        counted = known * torch.tensor([[example.weight] for example in batch])
        return (loss * counted).sum(), float(counted.sum())

    def dev() -> float:
        parts = [loss_of([example]) for example in held]
        return sum(float(loss) for loss, _ in parts) / max(sum(weight for _, weight in parts), 1e-9)

    module.train()
    return LoraTask(module, lambda places: loss_of([examples[place] for place in places]), dev, len(examples))


def odds_of_sources(module: LabelledDecoder, examples: Sequence[Encoded], fill: int) -> list[NDArray[np.float64]]:
    """Return the probability that each source supports each example's sentence; 0 where there is no source."""
    module.eval()
    found: list[NDArray[np.float64]] = []
    with torch.no_grad():
        for example in examples:
            ids, mask, _, known = padded([example], fill)
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
        (json.dumps({"id": example.id, "probabilities": values.round(6).tolist()}) + "\n" for example, values in rows),
    )


def save_labelled(module: LabelledDecoder, folder: Path) -> None:
    """Write the adapter and the head."""
    from safetensors.torch import save_file

    module.decoder.save_pretrained(str(folder / ADAPTER))
    head = {name: tensor.detach().cpu().contiguous() for name, tensor in module.head.state_dict().items()}
    save_file(head, folder / WEIGHTS)


def counted(module: nn.Module) -> dict[str, int]:
    """Count the parameters."""
    return {
        "trained": sum(parameter.numel() for parameter in trained(module).values()),
        "all": sum(parameter.numel() for parameter in module.parameters()),
    }


@dataclass(frozen=True)
class LabelRun:
    """What to train on and where to write it.

    Attributes:
        base: An encoder (a folder, or a name on huggingface.co); for an adapter a decoder, which may be a GGUF file.
        labels: The labels to distinguish. A base's own head is kept if it has them all.
        adapter: Train a decoder by LoRA.
        dev: Examples that choose the epoch. Default: a share of the groups is held out.
        kind: What is labelled; a decoder reads a heading that fits.
    """

    base: str
    out: Path
    examples: Sequence[LabelledTexts]
    labels: tuple[str, ...]
    adapter: bool = False
    dev: Sequence[LabelledTexts] = ()
    kind: LabelKind = "completeness-checkpoint"


class _Texts:
    """A network over pairs of texts."""

    def __init__(self, run: LabelRun, config: LabelConfig) -> None:
        self.labels = run.labels
        self._device = torch_device(config.device)
        self._kind: LabelKind = run.kind
        if run.adapter:
            decoder, self._tokenizer = load_decoder(run.base, causal=False)
            adapter = adapted(decoder, config, causal=False)
            self.module: nn.Module = LabelledDecoder(adapter, len(run.labels)).to(self._device)
            pad, end = self._tokenizer.pad_token_id, self._tokenizer.eos_token_id
            self._fill: int = pad if pad is not None else end or 0
            self._reader = None
        else:
            found = find_checkpoint(run.base, offline_by_environment())
            own = tuple(str(label) for _, label in sorted(read_config(found).id2label.items()))
            self.labels = own if set(run.labels) <= set(own) else run.labels
            # Loaded on the processor: on a GPU it would have 16 bits, and these weights are trained.
            loaded = load(found, "AutoModelForSequenceClassification", "cpu", labels=self.labels)
            loaded = loaded._replace(model=loaded.model.to(self._device), device=self._device)
            self.module, self._tokenizer, self._reader = loaded.model, loaded.tokenizer, Reader(loaded)
            self._most = min(config.max_tokens, loaded.max_tokens)
            for part in self.module.modules():
                if isinstance(part, nn.Dropout):
                    part.p = config.dropout
        self._config = config

    def encoded(self, texts: Sequence[LabelledTexts]) -> list[Any]:
        """Encode the texts as the network reads them."""
        if self._reader is None:
            joined = [as_one_text(pair.first, pair.second, self._kind) for pair in texts]
            return [decoder_ids(self._tokenizer, text, self._config.max_tokens) for text in joined]
        return list(self._reader.within(self._most, [pair.first for pair in texts], [pair.second for pair in texts]))

    def logits(self, some: Sequence[Any]) -> Tensor:
        """Return a row of logits for each text, on the CPU."""
        with torch.autocast(self._device.type, torch.bfloat16, enabled=self._config.precision == "bf16"):
            if self._reader is not None:
                return self.module(**self._reader.inputs(some)).logits.float().cpu()
            longest = max(map(len, some))
            ids = torch.tensor([[*row, *[self._fill] * (longest - len(row))] for row in some])
            mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in some])
            return self.module(ids, mask).float()

    def save(self, folder: Path) -> None:
        """Write the adapter and the head, or a whole checkpoint that loads anywhere."""
        if isinstance(self.module, LabelledDecoder):
            save_labelled(self.module, folder)
            return
        with quiet():
            model: Any = self.module
            model.save_pretrained(str(folder))
            self._tokenizer.save_pretrained(str(folder))


def train_labels(run: LabelRun, config: LabelConfig, report: Callable[[int, float], None]) -> dict[str, Any]:
    """Train, write the model of the best epoch to OUT, and return its scores on the held-out groups.

    Raises:
        InputError: The base or the data cannot be used, or OUT belongs to another run.
        ModelError: The base does not exist, cannot be trained, or is not safe to load.
    """
    if len({text.label for text in run.examples}) < 2:
        raise InputError("expected examples with at least two labels; found fewer. Label more.")
    if run.adapter and "learning_rate" not in config.model_fields_set:
        config = config.model_copy(update={"learning_rate": ADAPTER_RATE})
    train, dev = split_of(run, config)
    digest = hashlib.sha256(json.dumps([asdict(text) for text in [*run.examples, *run.dev]]).encode()).hexdigest()[:16]
    settings = {
        "config": config.model_dump(mode="json"),
        "base": base_signature(run.base),
        "data": digest,
        "adapter": run.adapter,
    }
    job = Job.in_folder(run.out, settings, "a checkpoint of labels")
    with job.open():
        seeded(config.seed, config.threads)
        texts = _Texts(run, config)
        stage = run.out / "run"
        stage.mkdir(exist_ok=True)
        task = _task(texts, train, dev, config)
        facts = LoraRun(task, config, Job.in_folder(stage, settings, "a run"), report).run()
        texts.module.eval()
        reached = _figures(predicted(texts, dev, config.at_once), [texts.labels.index(text.label) for text in dev])
        texts.save(run.out)
        summary = {
            **facts,
            "labels": list(texts.labels),
            "examples": Counter(text.label for text in train),
            "dev": {"examples": len(dev), "groups": len({text.group for text in dev}), **reached},
            "parameters": counted(texts.module),
        }
        job.note({"finished": True, **summary})
    return summary


def split_of(run: LabelRun, config: LabelConfig) -> tuple[list[LabelledTexts], list[LabelledTexts]]:
    """Return the training texts, and those that choose the epoch.

    Raises:
        InputError: The given development texts share groups with the others, or have other labels.
    """
    if not run.dev:
        return held_out(run.examples, config.dev_share, config.seed)
    shared = {text.group for text in run.dev} & {text.group for text in run.examples}
    if shared:
        raise InputError(
            f"expected questions or documents in dev that are not trained on; found {len(shared)} of both, such as "
            f"{min(shared)[:60]!r}. Leave them out of one."
        )
    if other := {text.label for text in run.dev} - set(run.labels):
        raise InputError(f"expected the labels {', '.join(run.labels)} in dev; found {min(other)!r}. Leave it out.")
    return list(run.examples), list(run.dev)


def held_out(
    examples: Sequence[LabelledTexts], share: float, seed: int
) -> tuple[list[LabelledTexts], list[LabelledTexts]]:
    """Split into training texts and about this share of the groups, chosen by a hash.

    Raises:
        InputError: There are fewer than two groups.
    """
    groups = sorted(
        {text.group for text in examples}, key=lambda text: hashlib.sha256(f"{seed} {text}".encode()).hexdigest()
    )
    if len(groups) < 2:
        raise InputError(
            f"expected labelled texts of at least two questions or documents, so that one can be held out; found "
            f"{len(groups)}. Label more."
        )
    out = frozenset(groups[: max(1, min(round(len(groups) * share), len(groups) - 1))])
    return [text for text in examples if text.group not in out], [text for text in examples if text.group in out]


def _task(texts: _Texts, train: Sequence[LabelledTexts], dev: Sequence[LabelledTexts], config: LabelConfig) -> LoraTask:
    counts = Counter(text.label for text in train)
    weighed = [
        len(train) / (len(counts) * counts[label]) if config.balanced and counts[label] else 1.0
        for label in texts.labels
    ]
    weights = torch.tensor(weighed)
    read, held = (list(zip(texts.encoded(part), _columns(texts, part), strict=True)) for part in (train, dev))

    def loss_of(some: Sequence[tuple[Any, int]]) -> tuple[Tensor, float]:
        wanted = torch.tensor([label for _, label in some])
        loss = F.cross_entropy(texts.logits([inputs for inputs, _ in some]), wanted, weight=weights, reduction="sum")
        return loss, float(weights[wanted].sum())

    def on_dev() -> float:
        parts = [loss_of(held[at : at + config.at_once]) for at in range(0, len(held), config.at_once)]
        return sum(float(loss) for loss, _ in parts) / max(sum(weight for _, weight in parts), 1e-9)

    texts.module.train()
    return LoraTask(texts.module, lambda places: loss_of([read[at] for at in places]), on_dev, len(read))


def _columns(texts: _Texts, of: Sequence[LabelledTexts]) -> list[int]:
    return [texts.labels.index(text.label) for text in of]


def predicted(texts: _Texts, of: Sequence[LabelledTexts], at_once: int) -> NDArray[np.int64]:
    """Return the predicted column of each text."""
    read = texts.encoded(of)
    with torch.no_grad():
        rows = [texts.logits(read[at : at + at_once]).argmax(dim=1) for at in range(0, len(read), at_once)]
    return torch.cat(rows).numpy()


def _figures(columns: NDArray[np.int64], wanted: Sequence[int]) -> dict[str, float]:
    """Return accuracy, and F1 as the mean over the labels that occur."""
    gold = np.array(wanted)
    f1 = [
        2 * ((columns == label) & (gold == label)).sum() / ((columns == label).sum() + (gold == label).sum())
        for label in set(wanted)
    ]
    return {"accuracy": round(float((columns == gold).mean()), 4), "macro_f1": round(float(np.mean(f1)), 4)}


def train_with_card(
    run: LabelRun, seen: Sequence[str], config: LabelConfig, report: Callable[[int, float], None]
) -> dict[str, Any]:
    """Train as ``train_labels``, and write the card by which `bioace score` reads the folder.

    Args:
        run: What to train on.
        seen: A hash of each training text, to detect scoring on training data.
        config: How to train.
        report: Receives steps and losses.
    """
    facts = train_labels(run, config, report)
    card = LabelCard(
        kind=run.kind,
        form="decoder" if run.adapter else "encoder",
        base=run.base,
        labels=tuple(facts["labels"]),
        max_tokens=config.max_tokens,
        trained_on=dict(Counter(text.label for text in run.examples)),
        data=hashlib.sha256(json.dumps([asdict(text) for text in run.examples]).encode()).hexdigest()[:12],
        seen=tuple(seen),
        seed=config.seed,
    )
    write_whole(run.out / LABEL_CARD, [card.model_dump_json(indent=2) + "\n"])
    return facts
