"""A model on disk: a folder of weights, tokenizer and the card that describes them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self, cast

from pydantic import Field, ValidationError, model_validator

from vericite.errors import ModelCardError, ModelHashError, ModelMissingError, UnknownNameError
from vericite.records import FloatMap, Names, Record, first_problem
from vericite.records.base import FrozenDict

WEIGHTS = Path(__file__).parent / "weights"
EMBEDDER, RERANKER, VERIFIER = "embedder-v1", "reranker-v3", "verifier-v6"
SHIPPED = (EMBEDDER, RERANKER, VERIFIER)
"""The models that the package ships."""
FILES = ("model.onnx", "tokenizer.json")
CARD_FORMAT = 1
"""The newest format of model cards that this version reads."""

REPAIR = "Reinstall the package, or copy the folder again."


class TrainingSet(Record):
    """Data that a model was trained on, and its licence."""

    name: str
    licence: str


class ModelCard(Record):
    """What a model is, how it was made and what it must not be used for.

    ``labels`` are the labels of the output columns in order; empty for an embedder.
    ``max_tokens`` is the longest input that it reads, ``trained_tokens`` the longest in its training.
    ``pooling`` says which tokens an embedder's vector is made from: all or the first.
    ``temperature`` calibrates the outputs of a verifier or a reranker by division; a reranker's ``offset`` is then
    added. ``exits`` are the layers after which a verifier stops reading a pair that is clearly neutral.
    ``precisions`` has the lowest probabilities of supported verdicts, by the share of them that is right on data sets
    that the model was not trained on.
    ``activation_bits`` is 7 if no product of bytes overflows on any processor.
    ``format`` is the version of these fields.
    """

    format: int = Field(default=CARD_FORMAT, ge=1)
    name: str
    task: Literal["verifier", "embedder", "reranker", "attributor"]
    version: str
    description: str
    base: str
    licence: str
    heads: int
    max_tokens: int = Field(ge=8)
    trained_tokens: int
    labels: tuple[str, ...] = ()
    dimension: int | None = None
    pooling: Literal["mean", "first"] = "mean"
    temperature: float = Field(default=1.0, gt=0)
    offset: float = 0.0
    exits: tuple[int, ...] = ()
    activation_bits: Literal[7, 8] = 8
    training: tuple[TrainingSet, ...]
    scores: FloatMap
    precisions: FloatMap = FrozenDict()
    limits: tuple[str, ...]
    files: Names

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if len(set(self.labels)) < len(self.labels):
            raise ValueError(f"expected different labels; found {', '.join(self.labels)}")
        for share, probability in self.precisions.items():
            if not (share.replace(".", "", 1).isdecimal() and 0 < float(share) < 1 and 0 <= probability <= 1):
                raise ValueError(f"expected precisions between 0 and 1; found {share}: {probability}")
        return self

    @property
    def width(self) -> int:
        """Number of output columns."""
        return len(self.labels) if self.labels else (self.dimension or 0)


@dataclass(frozen=True)
class ModelFolder:
    """A folder with the files that its card describes."""

    path: Path
    card: ModelCard

    @classmethod
    def open(cls, path: Path) -> Self:
        """Read the card and check every file.

        Raises:
            ModelMissingError: The folder, its card or a file is missing.
            ModelCardError: The card is malformed.
            ModelHashError: A file differs from the card's hash.
        """
        card_path = path / "card.json"
        if not card_path.is_file():
            raise ModelMissingError(f"expected a model folder with a card.json; found none at {path}. {REPAIR}")
        try:
            text = card_path.read_text(encoding="utf-8")
            _expect_known_format(text, card_path)
            card = ModelCard.model_validate_json(text)
        except (ValidationError, UnicodeDecodeError) as error:
            raise ModelCardError(f"expected a model card in {card_path}; found {_problem(error)}. {REPAIR}") from None
        for name in FILES:
            _check(path / name, card.files.get(name))
        return cls(path, card)

    @classmethod
    def bundled(cls, name: str) -> Self:
        """Open a model that the package ships."""
        if name not in SHIPPED:
            raise UnknownNameError("bundled model", name, SHIPPED)
        return cls.open(WEIGHTS / name)

    @property
    def signature(self) -> str:
        """Name and the first digits of the weights' hash, for provenance."""
        return f"{self.card.name}@{self.card.files['model.onnx'][:12]}"


def _expect_known_format(text: str, path: Path) -> None:
    """Refuse the card of a later version before its unknown fields are.

    Raises:
        ModelCardError: Its format is newer than ours.
    """
    try:
        card = json.loads(text)
    except ValueError:
        return  # Validation says where it is malformed.
    found = cast(dict[str, Any], card).get("format") if isinstance(card, dict) else None
    if isinstance(found, int) and found > CARD_FORMAT:
        raise ModelCardError(
            f"expected a model card of format {CARD_FORMAT}; found format {found} in {path}: the model was made for a "
            "newer VeriCite. Upgrade: pip install --upgrade vericite"
        )


def _problem(error: ValidationError | UnicodeDecodeError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "text that is not UTF-8"
    field, problem = first_problem(error)
    return f"{field}: {problem}" if field else problem


def _check(path: Path, expected: str | None) -> None:
    if expected is None:
        raise ModelCardError(f"expected the sha256 of {path.name} in card.json; found none in {path.parent}. {REPAIR}")
    if not path.is_file():
        raise ModelMissingError(f"expected {path.name} in the model folder {path.parent}; found none. {REPAIR}")
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != expected:
        raise ModelHashError(
            f"expected {path} to have sha256 {expected}; found {found}. The file was changed or cut short. {REPAIR}"
        )
