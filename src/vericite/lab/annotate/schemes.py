"""Schemes of labels: the question, the labels, and their meaning as verdicts; read from data files."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, ValidationError, model_validator

from vericite.errors import InputError, UnknownNameError
from vericite.records import Record, first_problem
from vericite.records.results import Label

FOLDER = Path(__file__).parent / "schemes"
Of = Literal["citation", "sentence", "statement"]
"""The kind of unit: a sentence with its citations, a sentence of an answer, or a statement of a rationale."""


class LabelChoice(Record):
    """A label of a scheme.

    Attributes:
        verdict: The equivalent label of verdicts; None if there is none.
    """

    name: str = Field(min_length=1)
    meaning: str = ""
    verdict: Label | None = None


class Scale(Record):
    """A numeric scale, asked for once per answer."""

    name: str = Field(min_length=1)
    meaning: str = ""
    low: float
    high: float
    step: float = Field(default=1, gt=0)


class Scheme(Record):
    """A scheme for annotators.

    Attributes:
        of: The kind of unit.
        source: The origin of the scheme.
        snippets: Maximum number of passages to mark in the sources.
        guideline: Instructions for annotators; a blank line separates paragraphs.
        labels: The labels in order; at most nine, because each has a digit key.
    """

    name: str = Field(min_length=1)
    version: int = Field(ge=1)
    title: str = Field(min_length=1)
    of: Of
    source: str = ""
    snippets: int = Field(default=0, ge=0, le=20)
    guideline: str
    labels: tuple[LabelChoice, ...] = Field(min_length=2, max_length=9)
    scales: tuple[Scale, ...] = ()

    @model_validator(mode="after")
    def _one_each(self) -> Self:
        names = [label.name for label in self.labels]
        if len(set(names)) < len(names):
            raise ValueError(f"expected each label once; found {', '.join(names)}")
        return self

    @property
    def signature(self) -> str:
        """Name and version, stored with each label."""
        return f"{self.name}.v{self.version}"

    @property
    def verdicts(self) -> dict[str, Label | None]:
        """The equivalent verdict of each label."""
        return {label.name: label.verdict for label in self.labels}


def scheme_names() -> list[str]:
    """Return the names of the bundled schemes."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load_scheme(name: str) -> Scheme:
    """Load a bundled scheme by name, or a scheme file.

    Raises:
        UnknownNameError: There is no such scheme or file.
        InputError: The file is not a scheme.
    """
    path = FOLDER / f"{name}.toml" if name in scheme_names() else Path(name)
    if not path.is_file():
        raise UnknownNameError("scheme", name, scheme_names())
    try:
        return Scheme.model_validate_json(_as_json(path))
    except ValidationError as error:
        field, problem = first_problem(error)
        raise InputError(f"expected a scheme in {path}; field {field}: {problem}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise InputError(f"expected a scheme in TOML in {path}; found: {error}") from None


def _as_json(path: Path) -> str:
    # Strict records accept a JSON list for a tuple, but not a Python list.
    import json

    return json.dumps(tomllib.loads(path.read_text("utf-8")), default=str)
