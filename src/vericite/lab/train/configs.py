"""Settings of the training commands: read from ``--config`` files, changed by ``--set``, listed by `vericite settings`.

This module imports no torch, so that settings can be listed without the extra ``[train]``.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from vericite.attribution.learned import PairRule
from vericite.pipeline.plan import ModelPlan
from vericite.pipeline.setting import SettingGroup

_SEED = "Seed of everything random."
_RATE = "Highest learning rate."
_PATIENCE = "Epochs without improvement on the development set after which training ends."
_THREADS = "Threads of the processor."


class FitConfig(SettingGroup):
    """How a verifier is trained. Data and base come from the command line."""

    seed: int = Field(default=0, description=_SEED)
    learning_rate: float = Field(default=1e-4, gt=0, description=_RATE)
    warmup: float = Field(
        default=0.06,
        ge=0,
        le=1,
        description="Share of the run in which the learning rate rises; it falls to 0 over the rest.",
    )
    layer_decay: float = Field(
        default=1.0, gt=0, le=1, description="Learning rate of a layer, as a multiple of that of the layer above."
    )
    head_rate: float = Field(
        default=1.0, gt=0, description="Learning rate of pooler and classifier, as a multiple of the top layer's."
    )
    weight_decay: float = Field(default=0.01, ge=0, description="Weight decay.")
    clip: float = Field(default=1.0, gt=0, description="Maximum norm of the gradients.")
    dropout: float = Field(default=0.1, ge=0, lt=1, description="Dropout.")
    label_smoothing: float = Field(default=0.05, ge=0, lt=1, description="Label smoothing.")
    margin: float = Field(
        default=2.0, ge=0, description="By how much a claim's entailment must exceed its broken twin's (log odds)."
    )
    margin_weight: float = Field(default=0.0, ge=0, description="Weight of the margin loss; 0 turns it off.")
    binary_weight: float = Field(
        default=1.0, ge=0, description="Weight of pairs whose label only says whether the premise entails the claim."
    )
    taught_share: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="Share of the teacher's loss for pairs that have both a label and a teacher's judgement.",
    )
    batch_examples: int = Field(default=32, ge=1, description="Minimum number of pairs in an optimiser step.")
    batch_tokens: int = Field(
        default=2048,
        ge=16,
        description="Tokens computed at once; a step of longer pairs takes several such batches.",
    )
    max_tokens: int = Field(default=512, ge=16, description="Maximum tokens of a pair; more are cut.")
    freeze_embeddings: bool = Field(default=False, description="Keep the base's embeddings.")
    freeze_layers: int = Field(
        default=0, ge=0, description="Number of layers, from the first, that keep the base's weights."
    )
    average_from: float = Field(
        default=0.8,
        ge=0,
        le=1,
        description="Share of the run after which weights are averaged; 1 keeps the last ones.",
    )
    precision: Literal["bf16", "fp32"] = Field(default="bf16", description="Precision of the computation.")
    threads: int = Field(default=2, ge=1, description=_THREADS)
    rates: dict[str, float] = Field(
        default_factory=dict[str, float],
        description="How often a pair of a source, or of source/kind, comes in an epoch, as JSON. Default: 1.",
    )
    long_tokens: int = Field(
        default=512, ge=16, description="Pairs with more tokens, and their twins, come long_rate times as often."
    )
    long_rate: float = Field(
        default=1.0, ge=0, description="For pairs above long_tokens: one whole abstract takes as long as six sentences."
    )
    weights: dict[str, float] = Field(
        default_factory=dict[str, float],
        description="Weights of the losses, by source or source/kind, as JSON. Default: 1.",
    )
    exclude: tuple[str, ...] = Field(default=(), description="Sources to leave out, to measure transfer to them.")


class FitSettings(FitConfig):
    """Settings of ``train fit``: how to train, how long and where."""

    examples: int | None = Field(
        default=None, ge=1, description="Length of the run in pairs; give only one of examples, epochs and minutes."
    )
    epochs: float | None = Field(default=None, gt=0, description="Length in passes over the data. Default: 1.")
    minutes: float | None = Field(
        default=None, gt=0, description="Length in minutes, estimated from a short trial on this machine."
    )
    checkpoint_minutes: float = Field(default=5.0, ge=0, description="Minutes between checkpoints.")
    device: Literal["cpu", "cuda", "auto"] = Field(
        default="cpu", description="Where to compute; auto: the fastest device."
    )


class HeadConfig(SettingGroup):
    """How a head over sets of sources is trained."""

    members: int = Field(default=5, ge=1, le=50, description="Number of networks whose outputs are averaged.")
    width: int = Field(default=16, ge=1, le=256, description="Number of hidden units.")
    epochs: int = Field(default=60, ge=1, description="Maximum epochs in each of the two stages.")
    patience: int = Field(
        default=8,
        ge=1,
        description="Epochs without improvement on the development set after which a stage ends.",
    )
    batch: int = Field(default=64, ge=1, description="Examples per optimiser step.")
    learning_rate: float = Field(default=3e-3, gt=0, description="Learning rate of the first stage.")
    then_learning_rate: float = Field(default=1e-3, gt=0, description="Learning rate of the second stage.")
    decay: float = Field(default=0.05, ge=0, description="Weight decay.")
    dropout: float = Field(default=0.1, ge=0, lt=1, description="Dropout of the features in training.")
    share: float = Field(default=1.0, ge=0, le=1, description="Share of the first stage's data, drawn by group.")
    then_share: float = Field(default=1.0, ge=0, le=1, description="Share of the second stage's data.")
    threshold: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Probability from which a source is cited. Default: the best one on the development set.",
    )
    pair: PairRule | None = Field(
        default=None, description="Rule for citing two sources of which neither suffices, as JSON. Default: never."
    )
    seed: int = Field(default=0, description=_SEED)


class LoraConfig(SettingGroup):
    """How a decoder's adapter is trained. The defaults are MultiAttr's (Patel et al. 2024, NAACL)."""

    rank: int = Field(default=8, ge=1, description="Rank of the adapter.")
    alpha: float = Field(default=32, gt=0, description="Scale of the adapter.")
    dropout: float = Field(default=0.05, ge=0, lt=1, description="Dropout of the adapter.")
    targets: tuple[str, ...] = Field(
        default=("q_proj", "v_proj"), description="Names of the layers that get an adapter; all-linear for all."
    )
    epochs: int = Field(default=3, ge=1, description="Maximum epochs.")
    batch: int = Field(default=64, ge=1, description="Examples per optimiser step.")
    at_once: int = Field(default=1, ge=1, description="Examples processed at once.")
    learning_rate: float = Field(default=2e-4, gt=0, description=_RATE)
    warmup: float = Field(
        default=0.06,
        ge=0,
        le=1,
        description="Share of the run in which the rate rises; it falls to 0 over the rest.",
    )
    patience: int = Field(default=1, ge=1, description=_PATIENCE)
    max_tokens: int = Field(default=2048, ge=16, description="Maximum tokens per example.")
    checkpoint_steps: int = Field(default=10, ge=1, description="Steps between checkpoints.")
    steps: int | None = Field(default=None, ge=1, description="Maximum number of steps. Default: no limit.")
    threads: int = Field(default=2, ge=1, description=_THREADS)
    precision: Literal["fp32", "bf16"] = Field(
        default="fp32",
        description="Precision of the frozen decoder; what is trained always has full precision. bf16 halves the "
        "memory, and is faster on processors that support it.",
    )
    device: Literal["cpu", "cuda", "auto"] = Field(
        default="cpu", description="Where to compute; auto: the fastest device."
    )
    seed: int = Field(default=0, description=_SEED)


class InlineConfig(LoraConfig):
    """Settings of ``train inline``: how to train, and how questions are answered afterwards."""

    new_tokens: int = Field(default=160, ge=8, description="Maximum tokens per answer.")
    untrained: bool = Field(default=False, description="Answer with the base as it is, for comparison.")


WHOLE_RATE, ADAPTER_RATE = 5e-5, 2e-4
"""Default learning rates of a whole encoder and of an adapter."""


class LabelConfig(LoraConfig):
    """How a checkpoint that labels texts is trained. Rank, alpha and targets only matter for adapters."""

    epochs: int = Field(default=5, ge=1, description="Maximum epochs.")
    batch: int = Field(default=16, ge=1, description="Examples per optimiser step.")
    at_once: int = Field(default=16, ge=1, description="Examples processed at once.")
    learning_rate: float = Field(
        default=WHOLE_RATE, gt=0, description=f"{_RATE} Default: 5e-5 for a whole encoder, 2e-4 for an adapter."
    )
    dropout: float = Field(default=0.05, ge=0, lt=1, description="Dropout of everything that is trained.")
    patience: int = Field(default=2, ge=1, description=_PATIENCE)
    max_tokens: int = Field(default=256, ge=16, description="Maximum tokens per example.")
    checkpoint_steps: int = Field(default=200, ge=1, description="Steps between checkpoints.")
    balanced: bool = Field(default=True, description="Whether all labels have the same weight in total.")
    precision: Literal["fp32", "bf16"] = Field(
        default="bf16",
        description="bf16 computes layers in 16 bits, and keeps a decoder under an adapter in 16 bits.",
    )
    dev_share: float = Field(
        default=0.2, gt=0, lt=1, description="Share of the groups that is held out to choose the epoch."
    )


_DEV = "With it, no share of the others is held out."


class CorrectnessConfig(LabelConfig):
    """Settings of ``bioace train-correctness``; those of ``LabelConfig`` are for a checkpoint."""

    classical: Literal["svm", "logistic"] = Field(
        default="svm", description="Without --encoder: a support vector machine or a logistic regression."
    )
    adapter: bool = Field(
        default=False, description="Train an adapter (LoRA) of a language model, which --encoder then names."
    )
    documents: str | None = Field(
        default=None,
        description="File of documents. PAIRS are then labelled answers, as for `bioace score`: marked spans are "
        "correct pairs, and the windows outside that BM25 ranks first are incorrect ones.",
    )
    ranked: Literal["question", "sentence"] = Field(
        default="question", description="Text for which BM25 ranks the windows of incorrect pairs."
    )
    punkt: bool = Field(default=False, description="Whether NLTK's Punkt splits documents, as in the paper.")
    dev: str | None = Field(default=None, description=f"Pairs like PAIRS that choose the epoch. {_DEV}")


class CompletenessConfig(LabelConfig):
    """Settings of ``bioace train-completeness``; all but strength and seed are for a checkpoint."""

    dev: str | None = Field(
        default=None, description=f"Labelled answers to other questions that choose the epoch. {_DEV}"
    )

    strength: float = Field(
        default=1.0,
        ge=1e-4,
        le=1e4,
        description="Inverse regularization strength of the classifier; choose it on other questions.",
    )


class MadeDataSettings(SettingGroup):
    """Settings of ``train attribution-data``: prompts, the judge, and how the language model is called."""

    prompt: str | None = Field(default=None, description="File with another prompt for long, sent word for word.")
    examples: str = Field(
        default="three",
        description='Examples before the prompt for long: three (ours), none, or a file of JSON Lines {"sources": '
        '[{"title", "text"}], "question", "answer", "response"} whose responses cite with [1][2].',
    )
    shown: Literal["gold", "five"] = Field(
        default="gold",
        description="Sources that the model sees for long: those that the short answer rests on, as in MultiAttr, or "
        "five.",
    )
    checked: bool = Field(
        default=True,
        description="Whether the judge checks the sentences of long. With false, what the model wrote is kept, as in "
        "MultiAttr: sentences without citations, too.",
    )
    positive_prompt: str | None = Field(default=None, description="The same for a source in other words.")
    negative_prompt: str | None = Field(default=None, description="The same for sources on the same topic.")
    most: int | None = Field(default=None, ge=1, description="Maximum number of records to use.")
    seed: int = Field(default=0, description="Seed of the order of sources.")
    judge: str = Field(default="bundled", description="Judge that checks what the model wrote.")
    llm: ModelPlan = ModelPlan(timeout=60)
