# torch, transformers and peft are in the extra [train] alone, and annotate their own functions only in part.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportUntypedBaseClass=false
# pyright: reportUnknownLambdaType=false
"""Checkpoints that learn labels: encoders fine-tuned whole, decoders by LoRA, their head over the last token.

One label a source: which of k sources support a sentence, as MultiAttr's models after generation have it; the decoder
reads sources, question and sentence. One label a pair of texts: completeness reads question and sentence, correctness a
window of a document and a sentence; a part of the groups (questions, documents) is held out to choose the epoch.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from pydantic import Field
from torch import Tensor, nn

from vericite.assess.checkpoint import CARD as COMPLETENESS
from vericite.assess.checkpoint import CompletenessCard, decoder_ids
from vericite.assess.completeness import AnswerSentence, asked_hash
from vericite.assess.correctness import WindowExample
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
from vericite.errors import InputError
from vericite.models.contracts import COLUMNS, ENTAILS, NEUTRAL
from vericite.models.hf import Reader, find_checkpoint, load, quiet, read_config
from vericite.network.access import offline_by_environment
from vericite.records import SentenceLabel
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
            task = _task_of_sources(module, read(examples), held, fill)
            folder = run.out / f"stage-{number}"
            folder.mkdir(exist_ok=True)
            part = Job.in_folder(folder, settings, "a decoder's stage")
            facts.append(LoraRun(task, config, part, tell).run())
        odds = odds_of_sources(module, held, fill)
        wanted = [frozenset(place for place in range(run.k) if it.wanted[place]) for it in held]
        bar = best_threshold(odds, wanted)
        reached = figures((cited_by(it, bar) for it in odds), wanted)
        _write(run, module, config, bar, odds, dev)
        job.note({"finished": True, "stages": facts, "dev": vars(reached), "parameters": counted(module)})
    return reached


def _task_of_sources(
    module: LabelledDecoder, examples: Sequence[Encoded], held: Sequence[Encoded], fill: int
) -> LoraTask:
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


def odds_of_sources(module: LabelledDecoder, examples: Sequence[Encoded], fill: int) -> list[NDArray[np.float64]]:
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


WHOLE_RATE = 5e-5
ADAPTER_RATE = 2e-4


class LabelConfig(LoraConfig):
    """A run's choices; rank, alpha and targets count for adapters only.

    Attributes:
        learning_rate: By default 5e-5 of a whole encoder and 2e-4 of an adapter.
        dropout: Of all that is trained.
        balanced: Whether each label weighs as much as the others.
        precision: ``bf16``: layers are computed in 16 bits, and a decoder under an adapter is kept in them.
        dev_share: Share of the groups that is held out to choose the epoch.
    """

    epochs: int = Field(default=5, ge=1)
    batch: int = Field(default=16, ge=1)
    at_once: int = Field(default=16, ge=1)
    learning_rate: float = Field(default=WHOLE_RATE, gt=0)
    patience: int = Field(default=2, ge=1)
    max_tokens: int = Field(default=256, ge=16)
    checkpoint_steps: int = Field(default=200, ge=1)
    balanced: bool = True
    precision: Literal["fp32", "bf16"] = "bf16"
    dev_share: float = Field(default=0.2, gt=0, lt=1)


@dataclass(frozen=True)
class LabelledTexts:
    """Two texts, their label, and what they share with others that are not independent of them."""

    first: str
    second: str
    label: str
    group: str


def completeness_texts(examples: Sequence[tuple[AnswerSentence, SentenceLabel]]) -> list[LabelledTexts]:
    """Questions with sentences; the group is the question."""
    return [LabelledTexts(asked.question, asked.sentence, label, asked.question) for asked, label in examples]


def correctness_texts(examples: Sequence[WindowExample]) -> list[LabelledTexts]:
    """Windows with sentences, labelled as a judge's pairs are, so that what is trained is one: ``hf:FOLDER``."""
    said = {True: COLUMNS[ENTAILS], False: COLUMNS[NEUTRAL]}
    return [LabelledTexts(one.window, one.sentence, said[one.correct], one.group) for one in examples]


@dataclass(frozen=True)
class LabelRun:
    """What is trained and where it is written.

    Attributes:
        base: An encoder (a folder, a name on huggingface.co); for an adapter a decoder, which may be a GGUF file.
        labels: Those that are told apart. A base's own head is kept where it has them all.
        adapter: Train a decoder by LoRA.
    """

    base: str
    out: Path
    examples: Sequence[LabelledTexts]
    labels: tuple[str, ...]
    adapter: bool = False


class _Texts:
    """A network over pairs of texts."""

    def __init__(self, run: LabelRun, config: LabelConfig) -> None:
        self.labels = run.labels
        if run.adapter:
            decoder, self._tokenizer = load_decoder(run.base, causal=False)
            self.module: nn.Module = LabelledDecoder(adapted(decoder, config, causal=False), len(run.labels))
            pad, end = self._tokenizer.pad_token_id, self._tokenizer.eos_token_id
            self._fill: int = pad if pad is not None else end or 0
            self._reader = None
        else:
            found = find_checkpoint(run.base, offline_by_environment())
            own = tuple(str(label) for _, label in sorted(read_config(found).id2label.items()))
            self.labels = own if set(run.labels) <= set(own) else run.labels
            loaded = load(found, "AutoModelForSequenceClassification", "cpu", labels=self.labels)
            self.module, self._tokenizer, self._reader = loaded.model, loaded.tokenizer, Reader(loaded)
            self._most = min(config.max_tokens, loaded.max_tokens)
            for part in self.module.modules():
                if isinstance(part, nn.Dropout):
                    part.p = config.dropout
        self._config = config

    def encoded(self, texts: Sequence[LabelledTexts]) -> list[Any]:
        """Each as the network reads it."""
        if self._reader is None:
            return [decoder_ids(self._tokenizer, it.first, it.second, self._config.max_tokens) for it in texts]
        return list(self._reader.within(self._most, [it.first for it in texts], [it.second for it in texts]))

    def logits(self, some: Sequence[Any]) -> Tensor:
        """A row each."""
        with torch.autocast("cpu", torch.bfloat16, enabled=self._config.precision == "bf16"):
            if self._reader is not None:
                return self.module(**self._reader.inputs(some)).logits.float()
            longest = max(map(len, some))
            ids = torch.tensor([[*it, *[self._fill] * (longest - len(it))] for it in some])
            mask = torch.tensor([[1] * len(it) + [0] * (longest - len(it)) for it in some])
            return self.module(ids, mask).float()

    def save(self, folder: Path) -> None:
        """The adapter and the head, or a whole checkpoint that loads anywhere."""
        if isinstance(self.module, LabelledDecoder):
            save_labelled(self.module, folder)
            return
        with quiet():
            model: Any = self.module
            model.save_pretrained(str(folder))
            self._tokenizer.save_pretrained(str(folder))


def train_labels(run: LabelRun, config: LabelConfig, tell: Callable[[int, float], None]) -> dict[str, Any]:
    """Train, write the model of the best epoch to OUT, and say what it reaches on the groups that were held out.

    Raises:
        InputError: The base or the data cannot be used, or OUT is of another run.
        ModelError: There is no such base, or it is not one that can be trained and is safe to load.
    """
    if len({it.label for it in run.examples}) < 2:
        raise InputError("expected examples of two labels or more to tell apart; found fewer. Label more.")
    if run.adapter and "learning_rate" not in config.model_fields_set:
        config = config.model_copy(update={"learning_rate": ADAPTER_RATE})
    train, dev = held_out(run.examples, config.dev_share, config.seed)
    digest = hashlib.sha256(json.dumps([asdict(it) for it in run.examples]).encode()).hexdigest()[:16]
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
        facts = LoraRun(task, config, Job.in_folder(stage, settings, "a run"), tell).run()
        texts.module.eval()
        reached = _figures(predicted(texts, dev, config.at_once), [texts.labels.index(it.label) for it in dev])
        texts.save(run.out)
        told = {
            **facts,
            "labels": list(texts.labels),
            "examples": Counter(it.label for it in train),
            "dev": {"examples": len(dev), "groups": len({it.group for it in dev}), **reached},
            "parameters": counted(texts.module),
        }
        job.note({"finished": True, **told})
    return told


def held_out(
    examples: Sequence[LabelledTexts], share: float, seed: int
) -> tuple[list[LabelledTexts], list[LabelledTexts]]:
    """Those to learn from, and those of about this share of the groups, chosen by a hash.

    Raises:
        InputError: There are fewer than two groups.
    """
    groups = sorted({it.group for it in examples}, key=lambda it: hashlib.sha256(f"{seed} {it}".encode()).hexdigest())
    if len(groups) < 2:
        raise InputError(
            f"expected labelled texts of two questions or documents or more, so that one is held out; found "
            f"{len(groups)}. Label more."
        )
    out = frozenset(groups[: max(1, min(round(len(groups) * share), len(groups) - 1))])
    return [it for it in examples if it.group not in out], [it for it in examples if it.group in out]


def _task(texts: _Texts, train: Sequence[LabelledTexts], dev: Sequence[LabelledTexts], config: LabelConfig) -> LoraTask:
    counts = Counter(it.label for it in train)
    weighed = [
        len(train) / (len(counts) * counts[it]) if config.balanced and counts[it] else 1.0 for it in texts.labels
    ]
    weights = torch.tensor(weighed)
    read, held = (list(zip(texts.encoded(it), _columns(texts, it), strict=True)) for it in (train, dev))

    def loss_of(some: Sequence[tuple[Any, int]]) -> tuple[Tensor, float]:
        wanted = torch.tensor([label for _, label in some])
        loss = F.cross_entropy(texts.logits([it for it, _ in some]), wanted, weight=weights, reduction="sum")
        return loss, float(weights[wanted].sum())

    def on_dev() -> float:
        parts = [loss_of(held[at : at + config.at_once]) for at in range(0, len(held), config.at_once)]
        return sum(float(loss) for loss, _ in parts) / max(sum(weight for _, weight in parts), 1e-9)

    texts.module.train()
    return LoraTask(texts.module, lambda places: loss_of([read[at] for at in places]), on_dev, len(read))


def _columns(texts: _Texts, of: Sequence[LabelledTexts]) -> list[int]:
    return [texts.labels.index(it.label) for it in of]


def predicted(texts: _Texts, of: Sequence[LabelledTexts], at_once: int) -> NDArray[np.int64]:
    """The column of each."""
    read = texts.encoded(of)
    with torch.no_grad():
        rows = [texts.logits(read[at : at + at_once]).argmax(dim=1) for at in range(0, len(read), at_once)]
    return torch.cat(rows).numpy()


def _figures(said: NDArray[np.int64], wanted: Sequence[int]) -> dict[str, float]:
    """Accuracy, and F1 as the mean over the labels that there are."""
    gold = np.array(wanted)
    f1 = [2 * ((said == it) & (gold == it)).sum() / ((said == it).sum() + (gold == it).sum()) for it in set(wanted)]
    return {"accuracy": round(float((said == gold).mean()), 4), "macro_f1": round(float(np.mean(f1)), 4)}


def train_completeness(
    run: LabelRun,
    examples: Sequence[tuple[AnswerSentence, SentenceLabel]],
    config: LabelConfig,
    tell: Callable[[int, float], None],
) -> dict[str, Any]:
    """As ``train_labels``, with the card by which ``--completeness OUT`` knows it."""
    facts = train_labels(run, config, tell)
    counts: Counter[SentenceLabel] = Counter(label for _, label in examples)
    card = CompletenessCard(
        form="decoder" if run.adapter else "encoder",
        base=run.base,
        labels=tuple(facts["labels"]),
        max_tokens=config.max_tokens,
        trained_on=dict(counts),
        data=hashlib.sha256(json.dumps(examples).encode()).hexdigest()[:12],
        seen=tuple(asked_hash(asked) for asked, _ in examples),
        seed=config.seed,
    )
    write_whole(run.out / COMPLETENESS, [card.model_dump_json(indent=2) + "\n"])
    return facts
