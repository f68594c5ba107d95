"""Tables of experiments: figures with intervals where the papers have theirs, and the papers' own beside them.

A layout (TOML) says which measures are columns, which axes name rows, which go across, and what the paper printed. Its
figures are data: no figure of a paper is computed with, or takes the place of one of ours.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from vericite.errors import InputError, RecordError, UnknownNameError
from vericite.evaluate.items import Item
from vericite.evaluate.measures.answer_text import StoredScore
from vericite.evaluate.measures.measure import Measure
from vericite.evaluate.measures.registry import measures_named
from vericite.evaluate.resampling import Bootstrap, Estimate
from vericite.evaluate.scoring import Missing, System, compare_systems, score_systems, scored_by
from vericite.evaluate.significance import Comparison, corrected
from vericite.evaluate.systems import read_system
from vericite.experiment.grid import EXPERIMENT, folders_of
from vericite.records import Answer, Record, first_problem

LAYOUTS = files("vericite.experiment") / "layouts"


class Column(Record):
    """A measure of a table.

    Attributes:
        name: As the paper calls it.
        measure: As ``vericite measures`` spells it.
        scale: What figures are multiplied by, as 100 for percent.
        decimals: How many are printed.
        by: Of a measure whose figures models compute beforehand, the model that the paper has, as a word of its name.
            Figures of other models stand in columns of their own, beside which nothing is printed.
    """

    name: str
    measure: str
    scale: float = 1.0
    decimals: int = 3
    by: str = ""


class Printed(Record):
    """A row that a paper printed: where it stands, and its figures by column."""

    at: Mapping[str, str]
    figures: Mapping[str, float]


class Layout(Record):
    """How a table is laid out.

    Attributes:
        title: What it shows.
        source: The paper and its table.
        rows: Axes that name rows, the first one grouping them.
        across: Axes whose values stand side by side.
        columns: The measures.
        by: A group of the gold that makes rows of its own, such as ``type``.
        compare: The axis along which rows are compared with the first.
        searched: Whether questions without any document are left out of cells that search.
        missing: Whether a question without an answer is left out of measures against gold, or counts 0.
        listed: Whether rows of the paper that have no row of ours stand below them.
        printed: What the paper printed.
        notes: What a reader should know.
    """

    title: str
    source: str = ""
    rows: tuple[str, ...] = ()
    across: tuple[str, ...] = ()
    columns: tuple[Column, ...] = Field(min_length=1)
    by: str | None = None
    compare: str | None = None
    searched: bool = False
    missing: Missing = "out"
    listed: bool = False
    printed: tuple[Printed, ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def load(cls, name: str) -> Layout:
        """A layout of ours by name, or of a file.

        Raises:
            UnknownNameError: There is none of that name.
            InputError: The file holds none.
        """
        known = sorted(it.name.removesuffix(".toml") for it in LAYOUTS.iterdir() if it.name.endswith(".toml"))
        if name in known:
            text = (LAYOUTS / f"{name}.toml").read_text(encoding="utf-8")
        elif Path(name).is_file():
            text = Path(name).read_text(encoding="utf-8")
        else:
            raise UnknownNameError("layout", name, known)
        try:
            return cls.model_validate(_tuples(text))
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"expected a layout in TOML; found in {name}: {error}") from None
        except ValidationError as error:
            where, problem = first_problem(error)
            raise InputError(f"expected a layout in {name}; found {where}: {problem}") from None


def _tuples(text: str) -> Any:
    def changed(value: Any) -> Any:
        if isinstance(value, list):
            return tuple(changed(it) for it in value)  # pyright: ignore[reportUnknownVariableType]
        if isinstance(value, dict):
            return {key: changed(it) for key, it in value.items()}  # pyright: ignore[reportUnknownVariableType]
        return value

    return changed(tomllib.loads(text))


@dataclass(frozen=True)
class Made:
    """A cell that was run, with what it is called on each axis."""

    at: Mapping[str, str]
    system: System


@dataclass(frozen=True)
class TableFigure:
    """A figure of ours, and what the paper printed at that place, by its system.

    ``failed`` where every question of the cell failed: there is no figure then.
    """

    estimate: Estimate | None
    column: Column
    printed: Mapping[str, float] = field(default_factory=dict[str, float])
    failed: bool = False


@dataclass(frozen=True)
class RunsRow:
    """A row of a table: its names, how many questions it is of, and a figure for each head."""

    names: tuple[str, ...]
    questions: int | None
    figures: tuple[TableFigure | None, ...]


@dataclass(frozen=True)
class RowComparison:
    """A cell compared with the first along the axis.

    Attributes:
        name: What both are called on the other axes, but for those that make no difference to the comparison.
        found: The comparison.
        places: Where the figures compared with the first stand: names of the row and the number of the head. These are
            several where the figure does not depend on an axis, such as retrieval on the judge.
    """

    name: str
    found: Comparison
    places: tuple[tuple[tuple[str, ...], int], ...]


@dataclass(frozen=True)
class Table:
    """A table of figures.

    Attributes:
        names: What the names of rows are of.
        heads: What stands above each figure: the values of axes that go across, and the measure.
        papers: Which systems of the paper its figures are of, in their order.
        comparisons: Rows compared, each test once.
        warnings: What a reader must know of single cells: questions that failed, evidence that was cut.
        measures: The measure of each column, by its name.
    """

    layout: Layout
    names: tuple[str, ...]
    heads: tuple[str, ...]
    rows: tuple[RunsRow, ...]
    papers: tuple[str, ...]
    comparisons: tuple[RowComparison, ...] = ()
    drawn: Bootstrap = field(default_factory=Bootstrap)
    warnings: tuple[str, ...] = ()


def read_made(folders: Sequence[Path], problems: list[RecordError]) -> list[Made]:
    """The cells of experiments, and runs of ``ask --save`` as cells named by their plans.

    Raises:
        InputError: A folder is neither, or nothing in it was run.
    """
    found: list[Made] = []
    for folder in folders:
        if not (folder / EXPERIMENT).is_file():
            found.append(Made({"run": folder.name}, read_system(folder, {}, (), problems).system(folder.name)))
            continue
        for at, place, ids, _ in folders_of(folder):
            if not (place / "runs.jsonl").is_file():
                continue
            name = ", ".join(at.values()) or folder.name
            system = read_system(place, {}, (), problems).system(name)
            found.append(Made(at, System(name, tuple(item for item in system.items if item.id in ids))))
    if not found:
        raise InputError(f"expected runs in {', '.join(map(str, folders))}; found none. Run the experiment first.")
    return _with_effort(found)


def _with_effort(made: Sequence[Made]) -> list[Made]:
    """Cells that took an answer from another have it with what it took there."""
    spent = {
        _answer_key(item.answer): item.answer.spent
        for one in made
        for item in one.system.items
        if item.answer is not None and item.answer.spent is not None and item.answer.spent.calls
    }

    def known(item: Item) -> Item:
        answer = item.answer
        if answer is None or answer.spent is None or answer.spent.calls:
            return item
        there = spent.get(_answer_key(answer), answer.spent)
        return replace(item, answer=answer.model_copy(update={"spent": there}))

    return [Made(one.at, System(one.system.name, tuple(map(known, one.system.items)))) for one in made]


def _answer_key(answer: Answer) -> tuple[object, ...]:
    return answer.generator, answer.id, answer.text, tuple(document.id for document in answer.documents)


def make_table(made: Sequence[Made], layout: Layout, bootstrap: Bootstrap | None = None) -> Table:
    """The table of cells.

    Raises:
        UnknownNameError: The layout has a measure that there is not.
    """
    drawn = bootstrap or Bootstrap()
    cells = [Made(one.at, _searched(one)) if layout.searched else one for one in made]
    layout = layout.model_copy(update={"columns": tuple(_by_model(layout.columns, cells))})
    measures = [measures_named([column.measure])[0] for column in layout.columns]
    across = _values(cells, layout.across)
    others = [axis for one in cells for axis in one.at if axis not in (*layout.rows, *layout.across)]
    axes = (*layout.rows, *dict.fromkeys(others))
    axes = tuple(axis for axis in axes if any(axis in one.at for one in cells))
    lines: dict[tuple[str, ...], dict[tuple[str, ...], Made]] = {}
    for one in cells:
        place = tuple(one.at.get(axis, "") for axis in axes)
        lines.setdefault(place, {})[tuple(one.at.get(axis, "") for axis in layout.across)] = one
    papers = _papers(layout)
    rows: list[RunsRow] = []
    for names, line in lines.items():
        rows += _rows(names, axes, line, across, measures, layout, drawn)
    if layout.listed:
        rows += _listed(lines, axes, across, layout)
    heads = tuple(", ".join(filter(None, (*values, column.name))) for values in across for column in layout.columns)
    named = (*axes, *((layout.by,) if layout.by else ()))
    comparisons = _comparisons(lines, axes, across, measures, layout, drawn)
    return Table(layout, named, heads, tuple(rows), papers, tuple(comparisons), drawn, tuple(_warnings(cells)))


def _warnings(cells: Iterable[Made]) -> Iterator[str]:
    """Cells of which questions failed, and cells whose model did not see all that was found."""
    for one in cells:
        items = one.system.items
        if failed := sum(item.failed is not None for item in items):
            yield f"{one.system.name}: {failed} of {len(items)} questions failed"
        found = sum(len(item.ranked or ()) for item in items)
        cut = [document for item in items if item.answer is not None for document in item.answer.trimmed]
        if cut:
            left_out = sum(not document.shown for document in cut)
            yield (
                f"{one.system.name}: evidence was cut; of {found} documents found the model saw {found - left_out}, "
                f"{len(cut) - left_out} of them in part"
            )


_UNNAMED = "a model that is not named"
_NAME = re.compile(r"(?<![^\s()@:/])[^\s()@:/]++(?=@)")
"""The model in what made a score: its name stands before its version."""


def _by_model(columns: Iterable[Column], cells: Sequence[Made]) -> Iterator[Column]:
    """The columns, and behind those of one model's figures a further one for each other model that has some."""
    for column in columns:
        yield column
        (measure,) = measures_named([column.measure])
        if not column.by or not isinstance(measure, StoredScore):
            continue
        makers = {maker or _UNNAMED for one in cells for maker in scored_by(measure, one.system.items)}
        others = sorted(maker for maker in makers if not _is_by(column, maker))
        names = [named[0] if (named := _NAME.findall(maker)) else maker for maker in others]
        for maker, name in zip(others, names, strict=True):
            shown = f"{column.name} ({name if names.count(name) == 1 else maker})"
            yield column.model_copy(update={"name": shown, "by": maker})


def _is_by(column: Column, maker: str) -> bool:
    return maker == column.by or re.search(rf"(?<![\w-]){re.escape(column.by)}(?![\w-])", maker) is not None


def _scored(system: System, column: Column, measure: Measure) -> System:
    """The system with the figures of the column's model alone."""
    if not column.by or not isinstance(measure, StoredScore):
        return system
    key = measure.key

    def kept(item: Item) -> Item:
        if key not in item.scores or _is_by(column, item.scored_by.get(key) or _UNNAMED):
            return item
        return replace(item, scores={name: value for name, value in item.scores.items() if name != key})

    return System(system.name, tuple(map(kept, system.items)))


def _searched(one: Made) -> System:
    """Without the questions for which nothing was found; an oracle has all."""
    if any("oracle" in value for value in one.at.values()):
        return one.system
    return System(one.system.name, tuple(item for item in one.system.items if item.ranked))


def _values(cells: Iterable[Made], axes: Sequence[str]) -> list[tuple[str, ...]]:
    """What goes across, in the order of the cells."""
    return list(dict.fromkeys(tuple(one.at.get(axis, "") for axis in axes) for one in cells))


def _rows(
    names: tuple[str, ...],
    axes: Sequence[str],
    line: Mapping[tuple[str, ...], Made],
    across: Sequence[tuple[str, ...]],
    measures: Sequence[Measure],
    layout: Layout,
    drawn: Bootstrap,
) -> list[RunsRow]:
    """The row of a place, or one for each group of its questions."""
    found: dict[str | None, list[TableFigure | None]] = {}
    questions: dict[str | None, int] = {}
    groups: list[str | None] = [None]
    if layout.by:
        items = [item for one in line.values() for item in one.system.items]
        groups = [*sorted({item.group(layout.by) for item in items})]
    for group in groups:
        for values in across:
            one = line.get(values)
            for column, measure in zip(layout.columns, measures, strict=True):
                figure = None
                if one is not None:
                    system = one.system
                    if group is not None and layout.by:
                        chosen = tuple(item for item in system.items if item.group(layout.by) == group)
                        system = System(system.name, chosen)
                    asked = _scored(system, column, measure)
                    failed = _is_failed(system)
                    estimate = None
                    if not failed:
                        estimate = score_systems([asked], [measure], drawn, missing=layout.missing)[0].estimate
                    at = {**one.at, **({layout.by: group} if layout.by and group else {})}
                    figure = TableFigure(estimate, column, _printed(layout, at, column.name), failed)
                    questions[group] = max(questions.get(group, 0), len(system.items))
                found.setdefault(group, []).append(figure)
    return [
        RunsRow((*names, *((group,) if group is not None else ())), questions.get(group, 0), tuple(figures))
        for group, figures in found.items()
    ]


def _is_failed(system: System) -> bool:
    """Whether every question failed, so that no figure says anything of the system."""
    return bool(system.items) and all(item.failed is not None for item in system.items)


def _listed(
    lines: Iterable[tuple[str, ...]], axes: Sequence[str], across: Sequence[tuple[str, ...]], layout: Layout
) -> list[RunsRow]:
    """The paper's rows that have no row of ours."""
    there = {tuple(value for axis, value in zip(axes, names, strict=True) if axis != SYSTEM) for names in lines}
    found: dict[tuple[str, ...], dict[tuple[str, ...], Printed]] = {}
    for row in layout.printed:
        names = tuple(row.at.get(axis, "") for axis in axes)
        if tuple(value for axis, value in zip(axes, names, strict=True) if axis != SYSTEM) not in there:
            found.setdefault(names, {})[tuple(row.at.get(axis, "") for axis in layout.across)] = row
    return [
        RunsRow(
            names,
            None,
            tuple(
                TableFigure(None, column, {row.at.get(SYSTEM, "paper"): row.figures[column.name]})
                if (row := line.get(values)) is not None and column.name in row.figures
                else None
                for values in across
                for column in layout.columns
            ),
        )
        for names, line in found.items()
        if any(values in line for values in across)
    ]


SYSTEM = "model"
"""The axis on which a paper's systems need not be ours."""


def _papers(layout: Layout) -> tuple[str, ...]:
    return tuple(dict.fromkeys(row.at.get(SYSTEM, "paper") for row in layout.printed))


def _printed(layout: Layout, at: Mapping[str, str], column: str) -> dict[str, float]:
    """What the paper printed at this place: of the same system if it has it, else of each of its systems."""
    fits = [
        row
        for row in layout.printed
        if column in row.figures and all(at.get(axis) == value for axis, value in row.at.items() if axis != SYSTEM)
    ]
    own = [row for row in fits if row.at.get(SYSTEM) == at.get(SYSTEM)]
    return {row.at.get(SYSTEM, "paper"): row.figures[column] for row in own or fits}


def _comparisons(
    lines: Mapping[tuple[str, ...], Mapping[tuple[str, ...], Made]],
    axes: Sequence[str],
    across: Sequence[tuple[str, ...]],
    measures: Sequence[Measure],
    layout: Layout,
    drawn: Bootstrap,
) -> list[RowComparison]:
    """Each cell with the first along the axis, on the questions that both have; p corrected for all of them.

    Cells that differ in nothing that a measure reads, such as in the judge for a measure without verdicts, are one
    comparison: counted for each judge they would be corrected for tests that were never made.
    """
    along = layout.compare
    if along is None:
        return []
    first: dict[tuple[Any, ...], Made] = {}
    pairs: dict[object, list[_Compared]] = {}
    for names, line in lines.items():
        for block, values in enumerate(across):
            one = line.get(values)
            if one is None:
                continue
            rest = tuple((axis, value) for axis, value in one.at.items() if axis != along)
            base = first.setdefault(rest, one)
            if base is one or _is_failed(one.system) or _is_failed(base.system):
                continue
            for number, (column, measure) in enumerate(zip(layout.columns, measures, strict=True)):
                pair = [
                    System(f"{along} {it.at.get(along, '')}", _scored(it.system, column, measure).items)
                    for it in (one, base)
                ]
                made = _Compared(pair[0], pair[1], measure, rest, (names, block * len(layout.columns) + number))
                pairs.setdefault((number, made.key), []).append(made)
    found: list[tuple[list[_Compared], Comparison]] = []
    for same in pairs.values():
        compared = compare_systems(same[0].one, same[0].base, [same[0].measure], drawn, layout.missing)[0]
        if compared.difference.value is not None:
            found.append((same, compared))
    return [
        RowComparison(_shared_name(same), comparison, tuple(one.place for one in same))
        for (same, _), comparison in zip(found, corrected([one for _, one in found]), strict=True)
    ]


@dataclass(frozen=True)
class _Compared:
    """Two cells and the measure they are compared by."""

    one: System
    base: System
    measure: Measure
    rest: tuple[tuple[str, str], ...]
    place: tuple[tuple[str, ...], int]

    @property
    def key(self) -> object:
        """Equal for cells that are one comparison, since the measure reads the same of both."""
        if "verdicts" in self.measure.needs:
            return self.rest, self.one.name, self.base.name
        return tuple(tuple(map(_read_of, system.items)) for system in (self.one, self.base))


def _read_of(item: Item) -> object:
    """All of a question that a measure without verdicts reads."""
    answer = None if item.answer is None else (*_answer_key(item.answer), item.answer.spent)
    features = None if item.features is None else (item.features.answer.tobytes(), item.features.reference.tobytes())
    scores = tuple(sorted(item.scores.items()))
    return item.id, answer, item.ranked, item.exact, scores, features, item.labels, item.changes, item.failed


def _shared_name(same: Sequence[_Compared]) -> str:
    """The names that all have in common."""
    shared = [it for it in same[0].rest if all(it in other.rest for other in same)]
    return ", ".join(value for _, value in shared)
