"""What can be chosen about a training run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from vericite.errors import InputError
from vericite.records import Record, first_problem


class FitConfig(Record):
    """A training run's choices; its data, base and length come from the command line.

    Attributes:
        warmup: Share of the run in which the learning rate rises; it falls to 0 over the rest.
        layer_decay: The learning rate of each layer, as a multiple of that of the layer above.
        head_rate: That of pooler and classifier, as a multiple of the top layer's.
        batch_examples: Pairs in an optimiser's step, at least.
        batch_tokens: Tokens computed at once; a step of longer pairs takes several such batches.
        margin: By how much a claim's entailment must exceed its broken twin's (log odds).
        margin_weight: Of that loss beside the others; 0 is off.
        freeze_layers: Layers, counted from the first, that keep their base's weights.
        taught_share: A teacher's part of the loss, of pairs that it has judged and that have a label of their own.
        average_from: Share of the run after which weights are averaged; 1 keeps the last ones.
        rates: How often a pair of a source, or of ``source/kind``, comes in an epoch; 1 where not named.
        long_tokens: Pairs of more tokens, and their twins, come only ``long_rate`` times as often as their rate says:
            one whole abstract takes as long as six sentences.
        weights: Of their losses, likewise.
        exclude: Sources left out altogether, to measure transfer to them.
    """

    seed: int = 0
    learning_rate: float = Field(default=1e-4, gt=0)
    warmup: float = Field(default=0.06, ge=0, le=1)
    layer_decay: float = Field(default=1.0, gt=0, le=1)
    head_rate: float = Field(default=1.0, gt=0)
    weight_decay: float = Field(default=0.01, ge=0)
    clip: float = Field(default=1.0, gt=0)
    dropout: float = Field(default=0.1, ge=0, lt=1)
    label_smoothing: float = Field(default=0.05, ge=0, lt=1)
    margin: float = Field(default=2.0, ge=0)
    margin_weight: float = Field(default=0.0, ge=0)
    binary_weight: float = Field(default=1.0, ge=0)
    taught_share: float = Field(default=0.5, ge=0, le=1)
    batch_examples: int = Field(default=32, ge=1)
    batch_tokens: int = Field(default=2048, ge=16)
    max_tokens: int = Field(default=512, ge=16)
    freeze_embeddings: bool = False
    freeze_layers: int = Field(default=0, ge=0)
    average_from: float = Field(default=0.8, ge=0, le=1)
    precision: Literal["bf16", "fp32"] = "bf16"
    threads: int = Field(default=2, ge=1)
    rates: dict[str, float] = Field(default_factory=dict[str, float])
    long_tokens: int = Field(default=512, ge=16)
    long_rate: float = Field(default=1.0, ge=0)
    weights: dict[str, float] = Field(default_factory=dict[str, float])
    exclude: tuple[str, ...] = ()

    @classmethod
    def read(cls, path: Path | None) -> FitConfig:
        """From a JSON file, or a YAML file where PyYAML is there (transformers brings it); None is all defaults.

        Raises:
            InputError: The file cannot be read, or names what there is not.
        """
        if path is None:
            return cls()
        try:
            return cls.model_validate_json(json.dumps(_parsed(path)))
        except ValidationError as error:
            field, problem = first_problem(error)
            raise InputError(f"expected a training config; {path} is none: {field}: {problem}") from None


def _parsed(path: Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix in (".yaml", ".yml"):
            import yaml  # pyright: ignore[reportMissingModuleSource]

            return yaml.safe_load(text)
        return json.loads(text)
    except (OSError, ValueError) as error:
        raise InputError(f"expected a training config in JSON or YAML; found {path}: {error}") from None
