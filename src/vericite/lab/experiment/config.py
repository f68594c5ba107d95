"""The configuration of an experiment: questions, and cells, each of which is a plan.

A file (YAML, TOML or JSON) has a data set, a common plan and axes. The cells are all combinations of axis values,
and any extra cells in the file. A cell is a run of ``vericite ask``, and is fully described by its ``Plan``.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from string import Template
from typing import Any, cast

from pydantic import Field, ValidationError, field_validator

from vericite.errors import InputError, Problems, UnknownNameError
from vericite.generate.printed import ANSWER_PROMPTS
from vericite.pipeline.plan import Plan, usual_plan
from vericite.pipeline.setting import read_settings
from vericite.records import Question, Record, first_problem


class QuestionsPlan(Record):
    """The selection of questions.

    Attributes:
        source: A file of questions, or a data set by name, as for ``ask --batch``.
        types: Use only questions of these types; empty: all.
        gold: Use only questions with gold documents.
        sample: Number of questions to draw; None: all. A larger sample includes a smaller one with the same seed.
        seed: Seed of the sample.
    """

    source: str = Field(alias="from")
    types: tuple[str, ...] = ()
    gold: bool = False
    sample: int | None = Field(default=None, ge=1)
    seed: int = Field(default=0, ge=0)

    def chosen(self, questions: Sequence[Question]) -> list[Question]:
        """Return the selected questions in file order.

        Raises:
            InputError: No question is left, or there are fewer than the sample size.
        """
        fit = [
            question
            for question in questions
            if (not self.types or question.type in self.types) and (question.gold_documents or not self.gold)
        ]
        if not fit or len(fit) < (self.sample or 0):
            kinds = f" of type {' or '.join(self.types)}" if self.types else ""
            raise InputError(
                f"expected {self.sample or 'some'} questions{kinds} in {self.source}; found {len(fit)} of "
                f"{len(questions)}"
            )
        if self.sample is None:
            return fit
        # Sorted by id, so that the sample does not depend on the order of the file.
        drawn = sorted(fit, key=lambda question: question.id)
        random.Random(self.seed).shuffle(drawn)
        ids = {question.id for question in drawn[: self.sample]}
        return [question for question in fit if question.id in ids]


class ExtraCell(Record):
    """A cell in addition to those of the axes: its value on each axis, and its changes to the plan."""

    at: Mapping[str, str]
    plan: Mapping[str, Any] = Field(default_factory=dict)


class Experiment(Record):
    """The content of an experiment file.

    Attributes:
        name: Name of the experiment, and of its folder by default.
        about: A description in a sentence or two.
        layout: The table layout for its results.
        questions: The questions, by the name of the data. A single selection needs no name.
        plan: The plan that all cells share.
        axes: Changes to the plan, by axis and value.
        cells: Extra cells.
        without: Combinations of values to leave out.
        values: Default values of the variables ``$name`` in strings; ``--set`` overrides them.
        prompts: Folder of printed prompts, which replace those of ours that stand for them; empty: ours.
    """

    name: str = Field(min_length=1)
    about: str = ""
    layout: str | None = None
    questions: Mapping[str, QuestionsPlan]
    plan: Mapping[str, Any] = Field(default_factory=dict)
    axes: Mapping[str, Mapping[str, Mapping[str, Any]]] = Field(default_factory=dict)
    cells: tuple[ExtraCell, ...] = ()
    without: tuple[Mapping[str, str], ...] = ()
    values: Mapping[str, str] = Field(default_factory=dict)
    prompts: str = ""

    @field_validator("name")
    @classmethod
    def _one_folder(cls, name: str) -> str:
        # The name becomes a folder name and must not lead elsewhere.
        if name[0] == "." or any(char in "/\\" or not char.isprintable() for char in name):
            raise ValueError("expected a valid folder name, without / and without a leading dot")
        return name

    @classmethod
    def load(cls, path: Path, values: Mapping[str, str] | None = None) -> Experiment:
        """Read an experiment from a file, and substitute values for ``$names``.

        Raises:
            InputError: The file cannot be read or is not an experiment, or a variable has no value.
        """
        content = experiment_content(path, values)
        try:
            return cls.model_validate_json(json.dumps(_with_names(content)))
        except ValidationError as error:
            field, problem = first_problem(error)
            raise InputError(f"expected an experiment in {path}; found {field or 'it'}: {problem}") from None

    def expanded(self) -> list[Cell]:
        """Return the cells in the order of the axes.

        Raises:
            InputError: A plan is invalid, or two cells have the same name.
        """
        base = usual_plan("ask").changed(self.plan, "in plan")
        axes = dict(self.axes)
        if len(self.questions) > 1:
            axes = {DATA: _without_changes(self.questions), **axes}
        found = list(self._combined(base, axes))
        for extra in self.cells:
            at = dict(extra.at)
            plan = base
            for axis, value in at.items():
                if value in axes.get(axis, {}):
                    plan = plan.changed(axes[axis][value], f"in axis {axis}, {value}")
            found.append(Cell(at, plan.changed(extra.plan, f"in cells, {at}")))
        if not found:
            raise InputError(f"expected cells in the experiment {self.name}; found none: add axes or cells")
        found = self._as_printed(found)
        names = [cell.name for cell in found]
        if repeated := next((name for name in names if names.count(name) > 1), None):
            raise InputError(f"expected a unique name for each cell; found {repeated!r} twice")
        return found

    @property
    def our_wording(self) -> tuple[str, ...]:
        """The prompts of the cells that a paper prints, but that are sent in our words."""
        prompts = {cell.plan.answer.prompt for cell in self.expanded() if cell.plan.answer.llm is not None}
        return tuple(name for name in ANSWER_PROMPTS if name in prompts)

    def _as_printed(self, cells: Sequence[Cell]) -> list[Cell]:
        """Replace our prompts by the printed ones in the folder ``prompts``."""
        if not self.prompts:
            return list(cells)
        used = {cell.plan.answer.prompt for cell in cells}
        wanted = {ours: Path(self.prompts) / f"{its}.toml" for ours, its in ANSWER_PROMPTS.items() if ours in used}
        files = {name: file for name, file in wanted.items() if file.is_file()}
        if wanted and not files:
            names = " or ".join(file.name for file in wanted.values())
            raise InputError(
                f"expected {names} in the folder {self.prompts}; found none. "
                f"Write them from your copy of the paper: vericite prompts from PAPER --to {self.prompts}"
            )
        return [
            replace(cell, plan=cell.plan.changed({"answer": {"prompt": str(files[prompt])}}, "in prompts"))
            if (prompt := cell.plan.answer.prompt) in files
            else cell
            for cell in cells
        ]

    def _combined(self, base: Plan, axes: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> Iterator[Cell]:
        if not axes:
            if not self.cells:
                yield Cell({}, base)
            return
        for values in product(*axes.values()):
            at = dict(zip(axes, values, strict=True))
            if any(left.items() <= at.items() for left in self.without):
                continue
            plan = base
            for axis, value in at.items():
                plan = plan.changed(axes[axis][value], f"in axis {axis}, {value}")
            yield Cell(at, plan)

    def questions_of(self, cell: Cell) -> QuestionsPlan:
        """Return the selection of questions for a cell."""
        return self.questions.get(cell.at.get(DATA, "")) or next(iter(self.questions.values()))


DATA = "data"
"""The axis that selects the questions, if there are several selections."""


@dataclass(frozen=True)
class Cell:
    """A run of the experiment: its value on each axis, and its plan."""

    at: Mapping[str, str]
    plan: Plan

    @property
    def name(self) -> str:
        """The name for display."""
        return ", ".join(f"{axis} {value}" for axis, value in self.at.items()) or "all"

    @property
    def folder(self) -> str:
        """The name of the runs' folder: readable, with a hash of the settings that affect answers or verdicts."""
        settings = self.plan.as_json(("search", "answer", "check", "repair"))
        digest = hashlib.sha256(json.dumps([settings, dict(self.at)], sort_keys=True).encode()).hexdigest()[:8]
        words = re.sub(r"[^A-Za-z0-9.]+", "-", "_".join(self.at.values())).strip("-.") or "all"
        return f"{words[:60]}-{digest}"


def experiment_content(path: Path, values: Mapping[str, str] | None = None, substituted: bool = True) -> dict[str, Any]:
    """Return the content of an experiment's file and of those that it extends, with values for ``$names``.

    Raises:
        InputError: The file cannot be read, or a variable has no value.
    """
    found = _extended(dict(read_settings(path)), path)
    if not substituted:
        return found
    defaults = cast(Mapping[str, Any], found.get("values") or {})
    given = {**{name: str(value) for name, value in defaults.items()}, **(values or {})}
    if unknown := sorted((values or {}).keys() - defaults.keys()):
        raise UnknownNameError(f"value of {path}", unknown[0], defaults)
    return {**_substituted(found, given, path), "values": given}


def read_chosen(plan: QuestionsPlan, problems: Problems) -> list[Question]:
    """Read the selected questions; bad lines are added to ``problems``.

    Raises:
        InputError: The file cannot be read, or has too few such questions.
    """
    from vericite.formats.registry import read_questions

    return plan.chosen(read_questions(Path(plan.source), problems))


def digest_of(questions: Sequence[Question]) -> str:
    """Return a hash of questions, including their gold."""
    content = json.dumps([question.model_dump(mode="json") for question in questions], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


def _with_names(found: dict[str, Any]) -> dict[str, Any]:
    """Add the name of a single selection of questions, and convert the values of axes to strings."""
    questions = found.get("questions")
    if isinstance(questions, dict) and "from" in questions:
        found["questions"] = {"questions": questions}
    axes = found.get("axes")
    if isinstance(axes, dict):
        named = cast(dict[str, Any], axes)
        found["axes"] = {
            axis: {str(name): plan or {} for name, plan in cast(dict[Any, Any], values).items()}
            if isinstance(values, dict)
            else values
            for axis, values in named.items()
        }
    return found


def _without_changes(names: Iterable[str]) -> Mapping[str, Mapping[str, Any]]:
    return {name: {} for name in names}


def _extended(found: dict[str, Any], path: Path, depth: int = 0) -> dict[str, Any]:
    """Merge the content of a file into that of the file that it extends."""
    if "extends" not in found:
        return found
    if depth > 8:
        raise InputError(f"expected at most 8 levels of `extends`; found more, perhaps a cycle, at {path}")
    other = path.parent / str(found.pop("extends"))
    return _merged(_extended(dict(read_settings(other)), other, depth + 1), found)


def _merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Override fields of ``base``; ``null`` removes a field, and an axis is replaced as a whole."""
    found = dict(base)
    for name, value in over.items():
        before = found.get(name)
        if value is None:
            found.pop(name, None)
        elif name in ("questions", "plan", "values", "axes") and isinstance(before, dict) and isinstance(value, dict):
            inner = cast(dict[str, Any], value)
            known = cast(dict[str, Any], before)
            found[name] = _axes(known, inner) if name == "axes" else _deep(known, inner)
        else:
            found[name] = value
    return found


def _axes(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    return {axis: values for axis, values in {**base, **over}.items() if values is not None}


def _deep(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(base)
    for name, value in over.items():
        before = found.get(name)
        if isinstance(before, dict) and isinstance(value, dict):
            found[name] = _deep(cast(dict[str, Any], before), cast(dict[str, Any], value))
        elif value is None:
            found.pop(name, None)
        else:
            found[name] = value
    return found


def _substituted(value: Any, names: Mapping[str, str], path: Path) -> Any:
    """Substitute values for ``$names`` in every string."""
    if isinstance(value, str):
        try:
            return Template(value).substitute(names)
        except KeyError as error:
            name = str(error.args[0])
            raise InputError(
                f"expected a value for ${name} in {path}; found none. Give one with --set {name}=..."
            ) from None
        except ValueError as error:
            raise InputError(f"expected valid $names in {path}; found {value!r}: {error}") from None
    if isinstance(value, dict):
        return {key: _substituted(part, names, path) for key, part in cast(dict[Any, Any], value).items()}
    if isinstance(value, list):
        return [_substituted(part, names, path) for part in cast(list[Any], value)]
    return value
