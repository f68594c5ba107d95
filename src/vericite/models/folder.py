"""A model on disk: a folder of weights, tokenizer and the card that describes them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, ValidationError, model_validator

from vericite.errors import ModelCardError, ModelHashError, ModelMissingError, UnknownNameError
from vericite.records import FloatMap, Names, Record, first_problem

WEIGHTS = Path(__file__).parent / "weights"
EMBEDDER, RERANKER, VERIFIER = "embedder-v1", "reranker-v2", "verifier-v5"
SHIPPED = (EMBEDDER, RERANKER, VERIFIER)
"""The models that the package ships."""
FILES = ("model.onnx", "tokenizer.json")


MEND = "Reinstall the package, or copy the folder again."


class TrainingSet(Record):
    """Data a model was trained on, and the licence it came under."""

    name: str
    licence: str


class ModelCard(Record):
    """What a model is, what it was made from and what it must not be used for.

    ``labels`` are those of the output columns, in their order; empty for an embedder.
    ``max_tokens`` is the longest input it reads, ``trained_tokens`` the longest it has learnt from.
    ``pooling`` is what an embedder's vector is of: all tokens or the first.
    ``temperature`` is what a verifier's or a reranker's outputs are divided by to become calibrated, and ``offset`` is
    then added to a reranker's.
    ``exits`` are the layers after which a verifier stops reading a pair that is surely neutral.
    ``activation_bits`` are 7 where no product of bytes overflows on any processor.
    """

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
    limits: tuple[str, ...]
    files: Names

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if len(set(self.labels)) < len(self.labels):
            raise ValueError(f"expected labels that differ; found {', '.join(self.labels)}")
        return self

    @property
    def width(self) -> int:
        """Columns of the output."""
        return len(self.labels) if self.labels else (self.dimension or 0)


@dataclass(frozen=True)
class ModelFolder:
    """A folder whose files are the ones its card describes."""

    path: Path
    card: ModelCard

    @classmethod
    def open(cls, path: Path) -> Self:
        """Read the card and check every file against it.

        Raises:
            ModelMissingError: The folder, its card or a file is not there.
            ModelCardError: The card is malformed.
            ModelHashError: A file is another than the card says.
        """
        card_path = path / "card.json"
        if not card_path.is_file():
            raise ModelMissingError(f"expected a model folder with a card.json; found none at {path}. {MEND}")
        try:
            card = ModelCard.model_validate_json(card_path.read_text(encoding="utf-8"))
        except (ValidationError, UnicodeDecodeError) as error:
            raise ModelCardError(f"expected a model card; {card_path} is none: {_told(error)}. {MEND}") from None
        for name in FILES:
            _check(path / name, card.files.get(name))
        return cls(path, card)

    @classmethod
    def bundled(cls, name: str) -> Self:
        """A model that the package ships."""
        if name not in SHIPPED:
            raise UnknownNameError("bundled model", name, SHIPPED)
        return cls.open(WEIGHTS / name)

    @property
    def signature(self) -> str:
        """Name and the first digits of the weights' hash, for provenance."""
        return f"{self.card.name}@{self.card.files['model.onnx'][:12]}"


def _told(error: ValidationError | UnicodeDecodeError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8"
    field, problem = first_problem(error)
    return f"{field}: {problem}" if field else problem


def _check(path: Path, expected: str | None) -> None:
    if expected is None:
        raise ModelCardError(f"expected the sha256 of {path.name} in card.json; found none in {path.parent}. {MEND}")
    if not path.is_file():
        raise ModelMissingError(f"expected {path.name} in the model folder {path.parent}; found none. {MEND}")
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != expected:
        raise ModelHashError(
            f"expected {path} to have sha256 {expected}; found {found}. The file was changed or cut short. {MEND}"
        )
