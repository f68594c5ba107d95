"""Tables: our figures, the paper's figures, and output formats with any text."""

from __future__ import annotations

import csv
import json
import shutil
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest

from vericite.corpus import demo_questions
from vericite.errors import InputError, Problems, UnknownNameError
from vericite.evaluate.items import Item
from vericite.evaluate.measures.registry import measures_named
from vericite.evaluate.scoring import System
from vericite.evaluate.significance import corrected
from vericite.lab.experiment.config import Experiment
from vericite.lab.experiment.grid import Grid
from vericite.lab.experiment.render import as_csv, as_latex, as_markdown, as_text, lines_of, notes_of
from vericite.lab.experiment.tables import LAYOUTS, Column, Layout, RunCell, make_table, read_cells
from vericite.records import Spent, Trimmed, to_json

NAMES = sorted(it.name.removesuffix(".toml") for it in LAYOUTS.iterdir() if it.name.endswith(".toml"))

LAYOUT = """
title = "Depth"
source = "Paper, table 9"
rows = ["model", "k"]
compare = "k"
columns = [{ name = "Sup.", measure = "SupportRate" }, { name = "Rec.", measure = "Recall@10000" }]
printed = [
    { at = { model = "A_1", k = "2" }, figures = { "Sup." = 0.25 } },
    { at = { model = "B", k = "2" }, figures = { "Sup." = 0.5 } },
    { at = { model = "B", k = "9" }, figures = { "Sup." = 0.75 } },
]
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    questions = folder / "questions.jsonl"
    questions.write_text("".join(to_json(question) + "\n" for question in demo_questions()), encoding="utf-8")
    content = {
        "name": "depth",
        "questions": {"from": str(questions), "sample": 3},
        "plan": {"search": {"by": "bm25", "rerank": "none"}, "check": {"protocol": "vericite", "judge": "lexical"}},
        "axes": {
            "model": {"100% of_it & more": {}},
            "k": {"2": {"search": {"k": 2}}, "4": {"search": {"k": 4}}},
        },
    }
    path = folder / "e.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VERICITE_CACHE", str(folder / "cache"))
        assert all(not outcome.failed for outcome in Grid(Experiment.load(path), folder / "runs").run())
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """A copy that the test may change."""
    shutil.copytree(made / "runs", tmp_path / "runs")
    (tmp_path / "layout.toml").write_text(LAYOUT, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("name", NAMES)
def test_bundled_layouts_are_valid(name: str):
    layout = Layout.load(name)
    assert all(measures_named([column.measure]) for column in layout.columns)
    columns = {column.name for column in layout.columns}
    axes = {*layout.rows, *layout.across, "model", *([layout.by] if layout.by else [])}
    for row in layout.printed:
        assert row.figures.keys() <= columns and row.at.keys() <= axes


def test_a_table_has_our_figures_and_those_of_the_paper(run_cli, folder: Path):
    printed = run_cli("table", str(folder / "runs"), "--layout", str(folder / "layout.toml"), "--set", "draws=100")
    assert printed.code == 0, printed.err
    first, second = [line for line in printed.out.splitlines() if line.startswith("100% of_it & more  ")]
    assert " .250 / .500" in first and "[" in first
    assert ".500" not in second.split("3 ")[0]
    assert "Paper, table 9 printed, for A_1 / B" in printed.out
    assert "k 4" in printed.out


def test_all_formats_have_the_same_content(folder: Path):
    table = make_table(read_cells([folder / "runs"], Problems()), Layout.load(str(folder / "layout.toml")))
    heads, rows = lines_of(table)
    assert heads == ["model", "k", "n", "Sup.", "paper", "Rec."] and len(rows) == 2
    assert "100\\% of\\_it \\& more" in as_latex(table) and "\\toprule" in as_latex(table)
    # What stands under a table in text stands there in LaTeX too.
    below = as_text(table).splitlines()[-len(notes_of(table)) - len(table.comparisons) :]
    assert all(_plain(note.removeprefix("paper: ")) in _plain(as_latex(table)) for note in below)
    assert as_markdown(table).count("\n| 100% of_it & more |") == 2
    lines = list(csv.DictReader(StringIO(as_csv(table))))
    assert [line["by"] for line in lines] == ["ours", "paper: A_1", "paper: B", "ours", "ours", "ours"]
    assert lines[1]["value"] == "0.25"
    assert rows[0][3] in as_text(table)


@pytest.fixture
def compared(folder: Path) -> Layout:
    """A measure of verdicts and one of documents; quotations have no supported citations to compare."""
    path = folder / "compared.toml"
    path.write_text(LAYOUT.replace("SupportRate", "DanglingRate"), encoding="utf-8")
    return Layout.load(str(path))


def test_all_comparisons_are_corrected_together(folder: Path, compared: Layout):
    table = make_table(read_cells([folder / "runs"], Problems()), compared)
    assert len(table.comparisons) == 2
    assert all(one.found.among == 2 for one in table.comparisons)


def twice_judged(folder: Path) -> list[RunCell]:
    """Cells of two judges, with the same answers and documents but different verdicts."""
    cells = read_cells([folder / "runs"], Problems())

    def stricter(item: Item) -> Item:
        assert item.checked
        summary = item.checked.summary
        moved = summary.model_copy(update={"dangling": summary.citations})
        return replace(item, checked=item.checked.model_copy(update={"summary": moved}))

    second = [RunCell(one.at, System(one.system.name, tuple(map(stricter, one.system.items)))) for one in cells]
    pairs = (("lenient", cells), ("strict", second))
    return [RunCell({**one.at, "judge": judge}, one.system) for judge, made in pairs for one in made]


def test_measures_without_verdicts_are_compared_once_for_all_judges(folder: Path, compared: Layout):
    table = make_table(twice_judged(folder), compared)
    assert len(table.rows) == 4
    tests = [(one.name, one.found.phrase.measure, len(one.places)) for one in table.comparisons]
    model = "100% of_it & more"
    assert tests == [
        (f"{model}, lenient", "dangling citations", 1),
        (model, "Recall@10000", 2),
        (f"{model}, strict", "dangling citations", 1),
    ]
    assert all(one.found.among == 3 for one in table.comparisons)
    # Across the table it is the same.
    across = make_table(
        twice_judged(folder), compared.model_copy(update={"across": ("judge",), "rows": ("model", "k")})
    )
    assert {place for one in across.comparisons for _, place in one.places} == {0, 1, 2, 3}
    assert len(across.comparisons) == 3


def test_replies_from_the_cache_do_not_repeat_a_comparison(folder: Path, compared: Layout):
    """A cell that was interrupted, or whose prompts another experiment sent, has answers without calls of their own."""
    cells = twice_judged(folder)

    def remembered(item: Item, seconds: float) -> Item:
        assert item.answer is not None
        spent = Spent(remembered=1, seconds=seconds)
        return replace(item, answer=item.answer.model_copy(update={"spent": spent}))

    cells = [
        RunCell(cell.at, System(cell.system.name, tuple(remembered(item, place / 7) for item in cell.system.items)))
        for place, cell in enumerate(cells)
    ]
    assert [len(one.places) for one in make_table(cells, compared).comparisons] == [1, 2, 1]


def test_a_failed_call_is_no_wrong_answer(folder: Path, compared: Layout):
    one, *others = read_cells([folder / "runs"], Problems())
    first, *rest = one.system.items
    failed = replace(first, answer=None, checked=None, failed="the service was not reached")
    cells = [RunCell(one.at, System(one.system.name, (failed, *rest))), *others]
    measures = {"answered": "AnsweredRate", "Rec.": "Recall@10000", "shown": "ShownRecall@10000"}
    columns = tuple(Column(name=name, measure=measure) for name, measure in measures.items())
    table = make_table(cells, compared.model_copy(update={"columns": columns, "missing": "zero"}))
    answered, recall, shown = (figure.estimate for figure in table.rows[0].figures if figure is not None)
    assert answered is not None and (answered.value, answered.n) == (1.0, 2)
    assert recall is not None and recall.n == 3
    assert shown is not None and shown.n == 2
    assert [row.questions for row in table.rows] == [2, 3]
    assert table.warnings == (f"{one.system.name}: 1 of 3 questions failed; figures of answers leave them out",)


def test_only_a_pure_oracle_keeps_questions_for_which_nothing_was_found(folder: Path, compared: Layout):
    one, two = read_cells([folder / "runs"], Problems())
    searched = compared.model_copy(update={"searched": True})

    def rows(oracle: bool) -> list[int | None]:
        first, *rest = one.system.items
        nothing = replace(first, ranked=(), oracle=oracle)
        cell = RunCell({**one.at, "k": "oracle, k of the search"}, System("oracle", (nothing, *rest)))
        return [row.questions for row in make_table([cell, two], searched).rows]

    assert rows(oracle=False) == [2, 3]
    assert rows(oracle=True) == [3, 3]


def test_latex_has_columns_a_label_and_footnotes(folder: Path, compared: Layout):
    table = make_table(read_cells([folder / "runs"], Problems()), compared)
    tests = [one.found.test._replace(p=p) for one, p in zip(table.comparisons, (0.001, 0.04), strict=True)]
    found = [replace(one.found, test=test) for one, test in zip(table.comparisons, tests, strict=True)]
    first, second = corrected(found)
    second = replace(second, adjusted=0.08)
    marked = replace(
        table,
        comparisons=tuple(
            replace(one, found=found) for one, found in zip(table.comparisons, (first, second), strict=True)
        ),
    )
    text = as_latex(marked)
    assert r"\begin{tabular}{llcc}" in text and "model & k & Sup. & Rec. " in text
    assert all(line.count(" & ") == 3 for line in text.splitlines() if line.endswith(r"\\"))
    assert r"\label{tab:depth}" in text and " n = 3." in text
    assert r"\label{tab:zinc-table-2}" in as_latex(replace(marked, name="zinc_table 2"))
    for mark in (r"$^{\dagger}$", r"$^{\ast}$", r"$^{\ddagger}$"):
        assert text.count(f"smallskip {mark}") == 1 and text.count(mark) == 2
    assert "(.250 / .500)" in text
    plain = as_latex(replace(table, comparisons=()))
    assert r"\dagger" not in plain and r"\ast" not in plain
    assert [line for line in text.splitlines() if line.startswith("% ")] == [
        f"% {one.name}: {one.found.sentence}" for one in marked.comparisons
    ]


def test_a_system_of_the_paper_gets_its_own_figure(folder: Path):
    path = folder / "runs" / "experiment.json"
    path.write_text(path.read_text().replace("100% of_it & more", "B"))
    table = make_table(read_cells([folder / "runs"], Problems()), Layout.load(str(folder / "layout.toml")))
    assert [row[4] for row in lines_of(table)[1]] == [".500", "-"]


def test_rows_of_the_paper_can_be_listed_below_ours(folder: Path):
    text = LAYOUT.replace("compare =", "listed = true\ncompare =")
    (folder / "layout.toml").write_text(text, encoding="utf-8")
    rows = lines_of(make_table(read_cells([folder / "runs"], Problems()), Layout.load(str(folder / "layout.toml"))))[1]
    assert [row[:2] for row in rows] == [["100% of_it & more", "2"], ["100% of_it & more", "4"], ["B", "9"]]
    assert rows[2][2:5] == ["-", "-", ".750"]


def test_each_question_can_be_a_row_above_those_of_the_paper(folder: Path):
    path = folder / "runs" / "experiment.json"
    path.write_text(path.read_text().replace('"model": "100', '"rater": "100'))
    table = make_table(read_cells([folder / "runs"], Problems()), Layout.load("reason-verify-4"))
    assert table.names == ("rater", "k", "question")
    rows = lines_of(table)[1]
    ours, papers = rows[:-12], rows[-12:]
    assert len(ours) == 6 and len({row[2] for row in ours}) == 3  # two cells of three questions
    by_rater = {("Annotator A", "Question 2"): ".75", ("Annotator B", "Question 3"): ".30"}
    found = {(row[0], row[2]): row[5] for row in papers}
    assert len(found) == 12
    assert {key: found[key] for key in by_rater} == by_rater


def test_an_invalid_layout_is_refused(tmp_path: Path):
    with pytest.raises(UnknownNameError, match="vericite-2"):
        Layout.load("vericite-22")
    path = tmp_path / "l.toml"
    for text, expected in (("title = ", "TOML"), ('title = "a"', "columns"), (LAYOUT + "colour = 3\n", "colour")):
        path.write_text(text)
        with pytest.raises(InputError, match=expected):
            Layout.load(str(path))


def test_folders_without_runs_are_refused(run_cli, tmp_path: Path):
    printed = run_cli("table", str(tmp_path))
    assert printed.code == 2 and "expected --layout" in printed.err
    (tmp_path / "experiment.json").write_text("{}")
    printed = run_cli("table", str(tmp_path), "--layout", "vericite-1")
    assert printed.code == 2 and "expected the folder of an experiment" in printed.err


@pytest.mark.parametrize(
    "path",
    [
        path
        for path in sorted((Path(__file__).parents[2] / "experiments").glob("*.yaml"))
        if "multiattr" not in path.stem
    ],
    ids=lambda it: it.stem,
)
def test_bundled_experiments_are_valid(path: Path):
    pytest.importorskip("yaml")
    from vericite.lab.experiment.config import Experiment

    experiment = Experiment.load(path)
    assert experiment.name == path.stem and experiment.about
    cells = experiment.expanded()
    for cell in cells:
        cell.plan.answer.expect_coherent()
    layout = Layout.load(experiment.layout or "")
    assert set(cells[0].at) >= set(layout.across)


def test_a_table_warns_about_failed_questions_and_truncated_evidence(folder: Path):
    def worse(item: Item) -> Item:
        assert item.answer is not None and item.ranked
        first, *others = item.ranked
        trimmed = [Trimmed(document=first, shown=0, sentences=2)]
        trimmed += [Trimmed(document=id, shown=1, sentences=2) for id in others]
        return replace(item, answer=item.answer.model_copy(update={"trimmed": tuple(trimmed)}))

    def failing(item: Item) -> Item:
        return replace(item, failed="the prompt and its reply need more than the 512 tokens that the model takes")

    one, *others = read_cells([folder / "runs"], Problems())
    first, second, third = one.system.items
    changed = System(one.system.name, (failing(first), worse(second), worse(third)))
    table = make_table([replace(one, system=changed), *others], Layout.load(str(folder / "layout.toml")))
    assert table.warnings[0] == f"{one.system.name}: 1 of 3 questions failed; figures of answers leave them out"
    found = sum(len(item.ranked or ()) for item in (second, third))
    parts = sum(len(item.ranked or ()) - 1 for item in (second, third))
    cut = f"evidence was truncated; the model saw {found - 2} of {found} documents found, {parts} of them in part"
    assert table.warnings[1] == f"{one.system.name}: {cut}"
    for form in (as_text, as_markdown):
        assert "1 of 3 questions failed" in "\n".join(map(str, [form(table)]))


def _plain(text: str) -> str:
    return "".join(character for character in text if character.isalnum())
