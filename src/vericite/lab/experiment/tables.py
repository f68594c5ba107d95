"""Tables of experiments in the layout of a paper, with intervals, and with the paper's figures next to ours.

A layout (TOML) lists the measures in the columns, the axes of rows and columns, and the figures printed in the paper.
The paper's figures are only displayed; they never enter a computation or replace a figure of ours.
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

from vericite.errors import InputError, Problems, UnknownNameError
from vericite.evaluate.items import Item
from vericite.evaluate.measures.answer_text import StoredScore
from vericite.evaluate.measures.measure import Measure
from vericite.evaluate.measures.registry import measures_named
from vericite.evaluate.measures.retrieval import ShownRecall
from vericite.evaluate.resampling import Bootstrap, Estimate
from vericite.evaluate.scoring import Missing, System, compare_systems, score_systems, scored_by
from vericite.evaluate.significance import Comparison, corrected
from vericite.evaluate.systems import read_gold, read_system
from vericite.generate.printed import our_wording
from vericite.lab.experiment.grid import EXPERIMENT, folders_of
from vericite.records import Answer, Gold, Record, first_problem, read_jsonl

LAYOUTS = files("vericite.lab.experiment") / "layouts"
CITED, ANSWERS, GOLD = "cited.jsonl", "answers.jsonl", "gold.jsonl"
"""The files of a cell of a trained model: sentences with citations, or answers and what they should say and cite."""


class CitedAnswer(Record):
    """A line of a cell of a model that cites: an answer with its citations, and its gold."""

    id: str
    answer: Answer
    gold: Gold


class Column(Record):
    """A column of a table.

    Attributes:
        name: The paper's name of the measure.
        measure: The measure, as in ``vericite measures``.
        scale: Factor for display, such as 100 for percent.
        decimals: Number of decimals.
        by: For precomputed scores, the paper's model, as a word of its name. Scores of other models get their own
            columns, without figures of the paper.
        only: Values on axes of the cells that have such figures; empty: all cells.
    """

    name: str
    measure: str
    scale: float = 1.0
    decimals: int = 3
    by: str = ""
    only: Mapping[str, str] = Field(default_factory=dict)


class Printed(Record):
    """A row of the paper's table: its values on the axes, and its figures by column."""

    at: Mapping[str, str]
    figures: Mapping[str, float]


class Layout(Record):
    """The layout of a table.

    Attributes:
        title: The title.
        source: The paper, and the number of its table.
        rows: The axes that name rows; the first one groups them.
        across: The axes whose values are side by side.
        columns: The measures.
        by: A group of the gold, such as ``type``, whose values get separate rows.
        compare: The axis along which rows are compared with the first one.
        searched: Leave out questions without documents in cells that search.
        missing: How measures against gold treat questions without an answer.
        listed: Add the paper's rows that have no counterpart below ours.
        printed: The figures printed in the paper.
        notes: Notes for readers.
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
        """Load a bundled layout by name, or a layout file.

        Raises:
            UnknownNameError: There is no such layout or file.
            InputError: The file is not a layout.
        """
        known = sorted(file.name.removesuffix(".toml") for file in LAYOUTS.iterdir() if file.name.endswith(".toml"))
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
    def converted(value: Any) -> Any:
        if isinstance(value, list):
            return tuple(converted(part) for part in value)  # pyright: ignore[reportUnknownVariableType]
        if isinstance(value, dict):
            return {key: converted(part) for key, part in value.items()}  # pyright: ignore[reportUnknownVariableType]
        return value

    return converted(tomllib.loads(text))


@dataclass(frozen=True)
class RunCell:
    """A cell that was run, with its value on each axis."""

    at: Mapping[str, str]
    system: System


@dataclass(frozen=True)
class TableFigure:
    """A figure of ours, and those of the paper at the same place, by system.

    ``failed`` means that every question of the cell failed, so there is no figure.
    """

    estimate: Estimate | None
    column: Column
    printed: Mapping[str, float] = field(default_factory=dict[str, float])
    failed: bool = False


@dataclass(frozen=True)
class RunsRow:
    """A row of a table: its names, its number of questions, and a figure for each head."""

    names: tuple[str, ...]
    questions: int | None
    figures: tuple[TableFigure | None, ...]


@dataclass(frozen=True)
class RowComparison:
    """A comparison of a cell with the first one along the axis.

    Attributes:
        name: The values on the other axes, except those that do not affect the comparison.
        found: The comparison.
        places: The row names and head numbers of the compared figures. There are several if the figure does not depend
            on an axis, as for retrieval and the judge.
    """

    name: str
    found: Comparison
    places: tuple[tuple[tuple[str, ...], int], ...]


@dataclass(frozen=True)
class Table:
    """A table of figures.

    Attributes:
        layout: The layout.
        names: The heads of the columns with row names.
        heads: The heads of figures: the values of the axes across, and the measure.
        rows: The rows.
        papers: The systems of the paper, in its order.
        comparisons: The comparisons of rows, each test once.
        drawn: The settings of the intervals.
        warnings: Warnings about cells: failed questions, truncated evidence.
        our_wording: Prompts that a paper prints, but that were sent in our words.
        name: Name of the experiment, for references to the table; empty if unknown.
    """

    layout: Layout
    names: tuple[str, ...]
    heads: tuple[str, ...]
    rows: tuple[RunsRow, ...]
    papers: tuple[str, ...]
    comparisons: tuple[RowComparison, ...] = ()
    drawn: Bootstrap = field(default_factory=Bootstrap)
    warnings: tuple[str, ...] = ()
    our_wording: tuple[str, ...] = ()
    name: str = ""


def read_cells(folders: Sequence[Path], problems: Problems) -> list[RunCell]:
    """Read the cells of experiments; a folder of ``ask --save`` is a cell named after the folder.

    Raises:
        InputError: A folder is neither, or has no runs.
    """
    found: list[RunCell] = []
    for folder in folders:
        if not (folder / EXPERIMENT).is_file():
            found.append(RunCell({"run": folder.name}, read_system(folder, {}, (), problems).system(folder.name)))
            continue
        for at, path, ids, _ in folders_of(folder):
            name = ", ".join(at.values()) or folder.name
            system = _system(path, name, problems)
            if system is None:
                continue
            found.append(RunCell(at, System(name, tuple(item for item in system.items if item.id in ids))))
    if not found:
        raise InputError(f"expected runs in {', '.join(map(str, folders))}; found none. Run the experiment first.")
    return _with_effort(found)


def _system(folder: Path, name: str, problems: Problems) -> System | None:
    """Return what a cell answered; None if it has not been run."""
    if (folder / CITED).is_file():
        items = read_jsonl(CitedAnswer, folder / CITED)
        return System(name, tuple(Item(one.id, answer=one.answer, gold=one.gold) for one in items))
    if (folder / "runs.jsonl").is_file():
        return read_system(folder, {}, (), problems).system(name)
    if (folder / ANSWERS).is_file() and (folder / GOLD).is_file():
        return read_system(folder, {}, (), problems).system(name, read_gold(folder / GOLD, problems))
    return None


def _with_effort(cells: Sequence[RunCell]) -> list[RunCell]:
    """Copy the cost of each shared answer from the cell that generated it to the cells that reused it."""
    spent = {
        _answer_key(item.answer): item.answer.spent
        for cell in cells
        for item in cell.system.items
        if item.answer is not None and item.answer.spent is not None and item.answer.spent.calls
    }

    def known(item: Item) -> Item:
        answer = item.answer
        if answer is None or answer.spent is None or answer.spent.calls:
            return item
        original = spent.get(_answer_key(answer), answer.spent)
        return replace(item, answer=answer.model_copy(update={"spent": original}))

    return [RunCell(cell.at, System(cell.system.name, tuple(map(known, cell.system.items)))) for cell in cells]


def _answer_key(answer: Answer) -> tuple[object, ...]:
    return answer.generator, answer.id, answer.text, tuple(document.id for document in answer.documents)


def make_table(cells: Sequence[RunCell], layout: Layout, bootstrap: Bootstrap | None = None) -> Table:
    """Make a table of cells.

    Raises:
        UnknownNameError: The layout has an unknown measure.
    """
    drawn = bootstrap or Bootstrap()
    cells = [RunCell(cell.at, _with_documents(cell)) if layout.searched else cell for cell in cells]
    layout = layout.model_copy(update={"columns": tuple(_by_model(layout.columns, cells))})
    measures = [measures_named([column.measure])[0] for column in layout.columns]
    across = _values(cells, layout.across)
    others = [axis for cell in cells for axis in cell.at if axis not in (*layout.rows, *layout.across)]
    axes = (*layout.rows, *dict.fromkeys(others))
    axes = tuple(axis for axis in axes if any(axis in cell.at for cell in cells))
    lines: dict[tuple[str, ...], dict[tuple[str, ...], RunCell]] = {}
    for cell in cells:
        names = tuple(cell.at.get(axis, "") for axis in axes)
        lines.setdefault(names, {})[tuple(cell.at.get(axis, "") for axis in layout.across)] = cell
    papers = _papers(layout)
    rows: list[RunsRow] = []
    for names, line in lines.items():
        rows += _rows(names, axes, line, across, measures, layout, drawn)
    named = (*axes, *((layout.by,) if layout.by else ()))
    if layout.listed:
        rows += _listed(rows, named, across, layout)
    heads = tuple(", ".join(filter(None, (*values, column.name))) for values in across for column in layout.columns)
    comparisons = _comparisons(lines, axes, across, measures, layout, drawn)
    warnings, ours = tuple(_warnings(cells)), tuple(_our_wording(cells))
    return Table(layout, named, heads, tuple(rows), papers, tuple(comparisons), drawn, warnings, ours)


def _our_wording(cells: Iterable[RunCell]) -> list[str]:
    answers = (item.answer for cell in cells for item in cell.system.items if item.answer is not None)
    signatures = {answer.generator for answer in answers if answer.generator}
    return sorted({name for signature in signatures if (name := our_wording(signature))})


def _warnings(cells: Iterable[RunCell]) -> Iterator[str]:
    """Yield warnings about cells with failed questions, and cells whose model did not see all evidence."""
    for cell in cells:
        items = cell.system.items
        if failed := sum(item.failed is not None for item in items):
            yield f"{cell.system.name}: {failed} of {len(items)} questions failed; figures of answers leave them out"
        answers = [(item.shown or (), item.answer) for item in items if item.failed is None and item.answer is not None]
        cut = [document for _, answer in answers for document in answer.trimmed]
        if cut:
            shown, left_out = sum(len(ids) for ids, _ in answers), sum(not document.shown for document in cut)
            yield (
                f"{cell.system.name}: evidence was truncated; the model saw {shown} of {shown + left_out} documents "
                f"found, {len(cut) - left_out} of them in part"
            )


_UNNAMED = "an unnamed model"
_NAME = re.compile(r"(?<![^\s()@:/])[^\s()@:/]++(?=@)")
"""The name of the model in the signature of a score, before its version."""


def _by_model(columns: Iterable[Column], cells: Sequence[RunCell]) -> Iterator[Column]:
    """Yield the columns; a column of one model's scores is followed by a column for each other model with scores."""
    for column in columns:
        yield column
        (measure,) = measures_named([column.measure])
        if not column.by or not isinstance(measure, StoredScore):
            continue
        makers = {maker or _UNNAMED for cell in cells for maker in scored_by(measure, cell.system.items)}
        others = sorted(maker for maker in makers if not _is_by(column, maker))
        names = [matches[0] if (matches := _NAME.findall(maker)) else maker for maker in others]
        for maker, name in zip(others, names, strict=True):
            head = f"{column.name} ({name if names.count(name) == 1 else maker})"
            yield column.model_copy(update={"name": head, "by": maker})


def _is_by(column: Column, maker: str) -> bool:
    return maker == column.by or re.search(rf"(?<![\w-]){re.escape(column.by)}(?![\w-])", maker) is not None


def _scored(system: System, column: Column, measure: Measure) -> System:
    """Return the system as a column scores it: with only the scores of the column's model, and without failed calls.

    A question whose call failed has no answer that could be wrong, and its documents were shown to no model. What was
    found for it is known, unless the search failed.
    """
    of_search = "evidence" in measure.needs and not isinstance(measure, ShownRecall)
    answered = tuple(item for item in system.items if item.failed is None or (of_search and item.ranked))
    system = System(system.name, answered)
    if not column.by or not isinstance(measure, StoredScore):
        return system
    key = measure.key

    def kept(item: Item) -> Item:
        if key not in item.scores or _is_by(column, item.scored_by.get(key) or _UNNAMED):
            return item
        return replace(item, scores={name: value for name, value in item.scores.items() if name != key})

    return System(system.name, tuple(map(kept, system.items)))


def _with_documents(cell: RunCell) -> System:
    """Return the system without questions for which nothing was found; an oracle keeps all questions.

    A controlled oracle is compared on the questions of the search. If the search failed, it is not known that there is
    nothing.
    """
    kept = tuple(item for item in cell.system.items if item.ranked or item.failed or item.oracle)
    return System(cell.system.name, kept)


def _values(cells: Iterable[RunCell], axes: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the values of the axes across, in the order of the cells."""
    return list(dict.fromkeys(tuple(cell.at.get(axis, "") for axis in axes) for cell in cells))


def _rows(
    names: tuple[str, ...],
    axes: Sequence[str],
    line: Mapping[tuple[str, ...], RunCell],
    across: Sequence[tuple[str, ...]],
    measures: Sequence[Measure],
    layout: Layout,
    drawn: Bootstrap,
) -> list[RunsRow]:
    """Return the row of a combination of values, or a row for each group of its questions."""
    found: dict[str | None, list[TableFigure | None]] = {}
    questions: dict[str | None, int] = {}
    groups: list[str | None] = [None]
    if layout.by:
        items = [item for cell in line.values() for item in cell.system.items]
        groups = [*sorted({item.group(layout.by) for item in items})]
    for group in groups:
        for values in across:
            cell = line.get(values)
            for column, measure in zip(layout.columns, measures, strict=True):
                figure = None
                if cell is not None and column.only.items() <= cell.at.items():
                    system = cell.system
                    if group is not None and layout.by:
                        chosen = tuple(item for item in system.items if item.group(layout.by) == group)
                        system = System(system.name, chosen)
                    asked = _scored(system, column, measure)
                    failed = _is_failed(system)
                    estimate = None
                    if not failed:
                        estimate = score_systems([asked], [measure], drawn, missing=layout.missing)[0].estimate
                    at = {**cell.at, **({layout.by: group} if layout.by and group else {})}
                    figure = TableFigure(estimate, column, _printed(layout, at, column.name), failed)
                    answered = sum(item.failed is None for item in system.items)
                    questions[group] = max(questions.get(group, 0), answered)
                found.setdefault(group, []).append(figure)
    return [
        RunsRow((*names, *((group,) if group is not None else ())), questions.get(group, 0), tuple(figures))
        for group, figures in found.items()
    ]


def _is_failed(system: System) -> bool:
    """Whether every question failed, so that no figure is meaningful."""
    return bool(system.items) and all(item.failed is not None for item in system.items)


def _listed(
    rows: Iterable[RunsRow], axes: Sequence[str], across: Sequence[tuple[str, ...]], layout: Layout
) -> list[RunsRow]:
    """Return the paper's rows that have no counterpart in ours; ``axes`` are all that name a row."""
    ours = {tuple(value for axis, value in zip(axes, row.names, strict=True) if axis != SYSTEM) for row in rows}
    found: dict[tuple[str, ...], dict[tuple[str, ...], Printed]] = {}
    for row in layout.printed:
        names = tuple(row.at.get(axis, "") for axis in axes)
        if tuple(value for axis, value in zip(axes, names, strict=True) if axis != SYSTEM) not in ours:
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
"""The axis on which the paper's systems may differ from ours."""


def _papers(layout: Layout) -> tuple[str, ...]:
    return tuple(dict.fromkeys(row.at.get(SYSTEM, "paper") for row in layout.printed))


def _printed(layout: Layout, at: Mapping[str, str], column: str) -> dict[str, float]:
    """Return the paper's figures at this place: for the same system if it has one, otherwise for all its systems."""
    fits = [
        row
        for row in layout.printed
        if column in row.figures and all(at.get(axis) == value for axis, value in row.at.items() if axis != SYSTEM)
    ]
    own = [row for row in fits if row.at.get(SYSTEM) == at.get(SYSTEM)]
    return {row.at.get(SYSTEM, "paper"): row.figures[column] for row in own or fits}


def _comparisons(
    lines: Mapping[tuple[str, ...], Mapping[tuple[str, ...], RunCell]],
    axes: Sequence[str],
    across: Sequence[tuple[str, ...]],
    measures: Sequence[Measure],
    layout: Layout,
    drawn: Bootstrap,
) -> list[RowComparison]:
    """Compare each cell with the first along the axis, on their common questions; p is corrected for all of them.

    Cells with equal inputs for a measure, such as those that differ only in the judge for a measure without verdicts,
    are a single comparison. Otherwise p would be corrected for tests that are repetitions.
    """
    along = layout.compare
    if along is None:
        return []
    first: dict[tuple[Any, ...], RunCell] = {}
    pairs: dict[object, list[_CellPair]] = {}
    for names, line in lines.items():
        for block, values in enumerate(across):
            cell = line.get(values)
            if cell is None:
                continue
            rest = tuple((axis, value) for axis, value in cell.at.items() if axis != along)
            base = first.setdefault(rest, cell)
            if base is cell or _is_failed(cell.system) or _is_failed(base.system):
                continue
            for number, (column, measure) in enumerate(zip(layout.columns, measures, strict=True)):
                systems = [
                    System(f"{along} {side.at.get(along, '')}", _scored(side.system, column, measure).items)
                    for side in (cell, base)
                ]
                place = (names, block * len(layout.columns) + number)
                pair = _CellPair(systems[0], systems[1], measure, rest, place)
                pairs.setdefault((number, pair.key), []).append(pair)
    found: list[tuple[list[_CellPair], Comparison]] = []
    for same in pairs.values():
        compared = compare_systems(same[0].system, same[0].base, [same[0].measure], drawn, layout.missing)[0]
        if compared.difference.value is not None:
            found.append((same, compared))
    comparisons = corrected([comparison for _, comparison in found])
    return [
        RowComparison(_shared_name(same), comparison, tuple(pair.place for pair in same))
        for (same, _), comparison in zip(found, comparisons, strict=True)
    ]


@dataclass(frozen=True)
class _CellPair:
    """Two cells, and the measure by which they are compared."""

    system: System
    base: System
    measure: Measure
    rest: tuple[tuple[str, str], ...]
    place: tuple[tuple[str, ...], int]

    @property
    def key(self) -> object:
        """Equal for pairs that are the same comparison, because the measure reads the same inputs."""
        if "verdicts" in self.measure.needs:
            return self.rest, self.system.name, self.base.name
        return tuple(tuple(map(_inputs_without_verdicts, system.items)) for system in (self.system, self.base))


def _inputs_without_verdicts(item: Item) -> object:
    """Return everything that a measure without verdicts can read from an item."""
    spent = None if item.answer is None else item.answer.spent
    # What a reply from the cache took is no cost of the answer.
    effort = spent if spent is not None and spent.calls else None
    answer = None if item.answer is None else (*_answer_key(item.answer), effort)
    features = None if item.features is None else (item.features.answer.tobytes(), item.features.reference.tobytes())
    scores = tuple(sorted(item.scores.items()))
    return item.id, answer, item.ranked, item.exact, scores, features, item.labels, item.changes, item.failed


def _shared_name(same: Sequence[_CellPair]) -> str:
    """Return the values on other axes that all pairs have in common."""
    shared = [entry for entry in same[0].rest if all(entry in other.rest for other in same)]
    return ", ".join(value for _, value in shared)
