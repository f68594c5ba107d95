"""Schemes of labels: what is asked, which labels there are, and what each means for a verdict; data files."""

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
"""What is labelled: a sentence with what it cites, a sentence of an answer, or a step of the reasoning behind one."""


class LabelChoice(Record):
    """A label that can be given.

    Attributes:
        verdict: What a verdict calls the same; None where verdicts have no word for it.
    """

    name: str = Field(min_length=1)
    meaning: str = ""
    verdict: Label | None = None


class Scale(Record):
    """A number that is asked for once an answer."""

    name: str = Field(min_length=1)
    meaning: str = ""
    low: float
    high: float
    step: float = Field(default=1, gt=0)


class Scheme(Record):
    """What annotators are asked.

    Attributes:
        of: What is labelled.
        source: Whose scheme it is.
        snippets: Passages of the source that may be marked at most.
        guideline: What annotators read first; a blank line begins a paragraph.
        labels: The labels, in their order; at most nine, each has a key.
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
        names = [one.name for one in self.labels]
        if len(set(names)) < len(names):
            raise ValueError(f"expected each label once; found {', '.join(names)}")
        return self

    @property
    def signature(self) -> str:
        """Name and version, kept with each label."""
        return f"{self.name}.v{self.version}"

    @property
    def verdicts(self) -> dict[str, Label | None]:
        """What a verdict calls each label."""
        return {one.name: one.verdict for one in self.labels}


def scheme_names() -> list[str]:
    """The schemes that come with the package."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load_scheme(name: str) -> Scheme:
    """The scheme of this name, or in this file.

    Raises:
        UnknownNameError: There is neither.
        InputError: The file is no scheme.
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
        raise InputError(f"expected a scheme in {path}, in TOML; found: {error}") from None


def _as_json(path: Path) -> str:
    # Through JSON, which knows lists alone: strict records take no list for a tuple.
    import json

    return json.dumps(tomllib.loads(path.read_text("utf-8")), default=str)
