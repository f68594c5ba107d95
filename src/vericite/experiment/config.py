"""An experiment as a value: questions, and the cells that they are asked in, each of which is a plan.

A file (YAML, TOML or JSON) names a data set, what all cells have in common, and axes. The cells are all combinations of
the axes' values, and what is listed beside them. A cell is what ``vericite ask`` runs: nothing is in it that a ``Plan``
does not say.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from string import Template
from typing import Any, cast

from pydantic import Field, ValidationError, field_validator

from vericite.errors import InputError, RecordError, UnknownNameError
from vericite.pipeline.plan import Plan, read_settings, usual_plan
from vericite.records import Question, Record, first_problem


class QuestionsPlan(Record):
    """Which questions are asked.

    Attributes:
        source: A file of questions, or a data set by name, as for ``ask --batch``.
        types: Only questions of these types; all if empty.
        gold: Only questions with gold documents.
        sample: So many of them, drawn by the seed; all if None. A larger sample has all of a smaller one.
        seed: Of the sample.
    """

    source: str = Field(alias="from")
    types: tuple[str, ...] = ()
    gold: bool = False
    sample: int | None = Field(default=None, ge=1)
    seed: int = Field(default=0, ge=0)

    def chosen(self, questions: Sequence[Question]) -> list[Question]:
        """The questions that are asked, in the order of the file.

        Raises:
            InputError: None is left, or there are fewer than the sample is to have.
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
        # By the order of the ids, so that the file's own order decides nothing.
        drawn = sorted(fit, key=lambda question: question.id)
        random.Random(self.seed).shuffle(drawn)
        ids = {question.id for question in drawn[: self.sample]}
        return [question for question in fit if question.id in ids]


class ExtraCell(Record):
    """A cell beside those of the axes: what it is called on each axis, and what its plan has otherwise."""

    at: Mapping[str, str]
    plan: Mapping[str, Any] = Field(default_factory=dict)


class Experiment(Record):
    """What a file of an experiment says.

    Attributes:
        name: Of the experiment, and of its folder where none is named.
        about: What it is, in a sentence or two.
        layout: The table that it is made for.
        questions: What is asked, by the name of the data; one without a name is the usual case.
        plan: What all cells have in common.
        axes: By axis and value, what a plan has otherwise there.
        cells: Further cells.
        without: Combinations that are left out.
        values: Usual values of the names that stand as ``$name`` in texts; ``--set`` gives others.
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

    @field_validator("name")
    @classmethod
    def _one_folder(cls, name: str) -> str:
        # Runs are kept in a folder of this name, here and nowhere else.
        if name[0] == "." or any(char in "/\\" or not char.isprintable() for char in name):
            raise ValueError("expected a name that a folder can have, without / and no dot at its beginning")
        return name

    @classmethod
    def load(cls, path: Path, values: Mapping[str, str] | None = None) -> Experiment:
        """The experiment of a file, with values in the place of ``$names``.

        Raises:
            InputError: The file cannot be read or holds none, or a name has no value. The field is named.
        """
        found = dict(read_settings(path))
        found = _extended(found, path)
        usual = cast(Mapping[str, Any], found.get("values") or {})
        given = {**{name: str(value) for name, value in usual.items()}, **(values or {})}
        if unknown := sorted((values or {}).keys() - usual.keys()):
            raise UnknownNameError(f"value of {path}", unknown[0], usual)
        whole = {**_filled(found, given, path), "values": given}
        try:
            return cls.model_validate_json(json.dumps(_with_names(whole)))
        except ValidationError as error:
            field, problem = first_problem(error)
            raise InputError(f"expected an experiment in {path}; found {field or 'it'}: {problem}") from None

    def expanded(self) -> list[Cell]:
        """The cells, in the order of the axes.

        Raises:
            InputError: A plan cannot be used, or two cells have one name.
        """
        base = usual_plan("ask").changed(self.plan, "in plan")
        axes = dict(self.axes)
        if len(self.questions) > 1:
            axes = {DATA: _nothing_changed(self.questions), **axes}
        found = list(self._combined(base, axes))
        for extra in self.cells:
            at = dict(extra.at)
            plan = base
            for axis, value in at.items():
                if value in axes.get(axis, {}):
                    plan = plan.changed(axes[axis][value], f"in axis {axis}, {value}")
            found.append(Cell(at, plan.changed(extra.plan, f"in cells, {at}")))
        if not found:
            raise InputError(f"expected cells in the experiment {self.name}; found none: give axes or cells")
        names = [cell.name for cell in found]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise InputError(f"expected a name of its own for each cell; found {twice!r} twice")
        return found

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
        """Which questions a cell asks."""
        return self.questions.get(cell.at.get(DATA, "")) or next(iter(self.questions.values()))


DATA = "data"
"""The axis that says which questions are asked, where there are several sets of them."""


@dataclass(frozen=True)
class Cell:
    """A run of the experiment: what it is called on each axis, and its plan."""

    at: Mapping[str, str]
    plan: Plan

    @property
    def name(self) -> str:
        """As it is shown."""
        return ", ".join(f"{axis} {value}" for axis, value in self.at.items()) or "all"

    @property
    def folder(self) -> str:
        """Of its runs: readable, and another one where what makes its answers or verdicts is another."""
        made_of = self.plan.as_json(("search", "answer", "check", "repair"))
        digest = hashlib.sha256(json.dumps([made_of, dict(self.at)], sort_keys=True).encode()).hexdigest()[:8]
        words = re.sub(r"[^A-Za-z0-9.]+", "-", "_".join(self.at.values())).strip("-.") or "all"
        return f"{words[:60]}-{digest}"


def read_chosen(plan: QuestionsPlan, problems: list[RecordError]) -> list[Question]:
    """The questions of a plan; what is wrong with other lines goes to ``problems``.

    Raises:
        InputError: The file cannot be read, or has no such questions.
    """
    from vericite.formats.registry import read_questions

    questions, wrong = read_questions(Path(plan.source))
    problems += wrong
    return plan.chosen(questions)


def digest_of(questions: Sequence[Question]) -> str:
    """A hash of questions, their gold included."""
    content = json.dumps([question.model_dump(mode="json") for question in questions], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


def _with_names(found: dict[str, Any]) -> dict[str, Any]:
    """Questions of a single source need no name for it; values of axes may be numbers."""
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


def _nothing_changed(names: Iterable[str]) -> Mapping[str, Mapping[str, Any]]:
    return {name: {} for name in names}


def _extended(found: dict[str, Any], path: Path, depth: int = 0) -> dict[str, Any]:
    """What a file says, with what the file that it extends says beside."""
    if "extends" not in found:
        return found
    if depth > 8:
        raise InputError(f"expected files that extend others to end somewhere; found a ring at {path}")
    other = path.parent / str(found.pop("extends"))
    return _merged(_extended(dict(read_settings(other)), other, depth + 1), found)


def _merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """The one with what the other says otherwise; ``null`` takes a field away, and an axis is replaced whole."""
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


def _filled(value: Any, names: Mapping[str, str], path: Path) -> Any:
    """The same with values in the place of names in every text."""
    if isinstance(value, str):
        try:
            return Template(value).substitute(names)
        except KeyError as error:
            name = str(error.args[0])
            raise InputError(
                f"expected a value for ${name} in {path}; found none. Give one: --set {name}=..."
            ) from None
        except ValueError as error:
            raise InputError(f"expected $names in {path} to have a value; found {value!r}: {error}") from None
    if isinstance(value, dict):
        return {key: _filled(each, names, path) for key, each in cast(dict[Any, Any], value).items()}
    if isinstance(value, list):
        return [_filled(each, names, path) for each in cast(list[Any], value)]
    return value
