"""Experiments that train models, with the head over the bundled models: stages, shares, what is left out, tables."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from trained_data import MINERALS, examples, politicite, values

sys.path.append(str(Path(__file__).resolve().parents[1] / "llm"))

from server import Answering, Arrival, ScriptedServer, reply, status

from vericite.errors import InputError, Problems, UnknownNameError
from vericite.lab.experiment.tables import Layout
from vericite.lab.experiment.trained import TrainedCell, TrainedExperiment, TrainedGrid, _asked_of_model
from vericite.lab.train.examples import ExampleSource
from vericite.lab.train.written import Cited

pytest.importorskip("yaml", reason="needs PyYAML")

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
FILES = sorted(EXPERIMENTS.glob("multiattr-*.yaml"))
QUICK = "settings: {members: 1, epochs: 2, width: 4, at_once: 8}\nbase: head\n"  # at_once is for decoders


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_bundled_experiments_have_the_papers_rows(path: Path):
    experiment = TrainedExperiment.load(path)
    assert experiment.name == path.stem and experiment.about
    grid = TrainedGrid(experiment, Path("nowhere"), Problems())
    layout = Layout.load(experiment.layout or "")
    ours = [
        {name: value for name, value in cell.at.items() if name in (*layout.rows, *layout.across)}
        for cell in grid.cells
    ]
    for row in layout.printed:
        shared = layout.source.endswith("figure 4")  # one layout of two files
        assert row.at in ours or shared or "few-shot" in row.at["trained on"], row.at  # ALCE's own prompts
    if "figure4" in path.stem:
        shares = [stage.share for row in experiment.rows for stage in row.stages]
        assert {0.2, 0.4, 0.6, 0.8, 1.0} == set(shares) and len(experiment.rows) in (6, 7)


def grid_of(folder: Path, text: str, **more: str) -> TrainedGrid:
    path = folder / "e.yaml"
    path.write_text(text, encoding="utf-8")
    return TrainedGrid(TrainedExperiment.load(path, more), folder / "runs", Problems())


TEXT = """
name: e
layout: multiattr-figure4
trains: [labels]
base: head
data: {made: [$made]}
domains:
  VJ: {train: [$train], test: [$test], most: 9}
  OTHER: {train: [$train], test: [$none]}
rows:
  - {name: half, stages: [{data: made, share: 0.5}, own]}
  - {name: whole, stages: [made, own]}
  - {name: random, by: random}
values: {made: made.jsonl, train: train.jsonl, test: test.jsonl, none: ""}
"""


def test_stages_leave_out_what_is_tested_or_chooses(tmp_path: Path):
    made, train = examples(tmp_path / "made.jsonl", "m", 40), examples(tmp_path / "train.jsonl", "t", 20)
    test = tmp_path / "test.jsonl"
    test.write_text("".join(train.read_text().splitlines(keepends=True)[:3]))
    grid = grid_of(tmp_path, TEXT, made=str(made), train=str(train), test=str(test))
    assert {cell.domain for cell in grid.cells} == {"VJ"}  # the other one has no test
    half, whole = (grid._stages(TrainedCell(row, "VJ", "labels")) for row in grid.experiment.rows[:2])
    assert 10 < len(half[0][0]) < 30 and len(whole[0][0]) == 40
    ids = {example.id for example in half[0][0]}
    assert ids < {example.id for example in whole[0][0]}  # the larger share has the smaller one
    own, dev = half[0][1], half[1]
    assert dev and not {example.id for example in own} & {example.id for example in dev}
    assert 6 <= len(own) + len(dev) <= 9 and not {"t0", "t1", "t2"} & {example.id for example in (*own, *dev)}
    assert grid.counts(grid.cells[0])["asked"] == 3


def test_training_data_are_drawn_by_question(tmp_path: Path):
    lines = [json.loads(line) for line in examples(tmp_path / "train.jsonl", "t", 20).read_text().splitlines()]
    both = [
        line | {"id": f"{line['id']}{part}", "sentence": f"{line['sentence'][:-1]} {part}.", "group": line["id"]}
        for line in lines
        for part in ("today", "again")
    ]
    (tmp_path / "train.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in both), encoding="utf-8")
    given = {name: str(examples(tmp_path / f"{name}.jsonl", name, 2)) for name in ("made", "test")}
    grid = grid_of(tmp_path, TEXT.replace("made, own", "own"), train=str(tmp_path / "train.jsonl"), **given)
    stages, dev = grid._stages(TrainedCell(grid.experiment.rows[1], "VJ", "labels"))
    kept = [example.group for example in (*stages[0], *dev)]
    assert len(set(kept)) <= 9 and 2 * len(set(kept)) == len(kept)


def test_a_service_is_shown_whole_sources():
    source = ExampleSource(id="a", text=f"{'word ' * 1500}end.")
    with ScriptedServer() as server:
        server.default = reply("It ends [1].")
        (found,) = _asked_of_model(server.spec, [Cited("q", "Does it end?", (source,), (), ())], 50)
        assert source.text in server.arrivals[0].body["messages"][-1]["content"]
    assert not isinstance(found, str) and found.id == "q"


def test_unknown_data_and_missing_files_are_named(tmp_path: Path):
    with pytest.raises(InputError, match="own or a name of data"):
        grid_of(tmp_path, TEXT.replace("stages: [made, own]", "stages: [mad, own]"), test="x")
    made = str(examples(tmp_path / "made.jsonl", "m", 4))
    grid = grid_of(tmp_path, TEXT, test=str(examples(tmp_path / "test.jsonl", "x", 2)), train="", made=made)
    with pytest.raises(InputError, match="Name them with --set"):
        list(grid.run())
    grid = grid_of(tmp_path, TEXT, test=str(tmp_path / "test.jsonl"), made=str(tmp_path / "nowhere.jsonl"))
    with pytest.raises(InputError, match="expected a readable file; found"):
        list(grid.run())
    with pytest.raises(UnknownNameError, match="epoch"):
        grid_of(tmp_path, f"{TEXT}settings: {{epoch: 3}}\n")
    with pytest.raises(InputError, match="expected an experiment that trains"):
        grid_of(tmp_path, TEXT.replace("[labels]", "[words]"))


def run(run_cli: Callable[..., Any], file: Path, folder: Path, given: dict[str, str], *more: str) -> Any:
    words = [word for name, value in given.items() for word in ("--set", f"{name}={value}")]
    return run_cli("run", str(file), "--to", str(folder), *words, *more)


def table(run_cli: Callable[..., Any], folder: Path) -> list[dict[str, str]]:
    printed = run_cli("table", str(folder), "--as", "csv", "--set", "draws=100")
    assert printed.code == 0, printed.err
    return list(csv.DictReader(StringIO(printed.out)))


def quick(folder: Path, name: str) -> Path:
    """Return a file that changes a bundled experiment only in its model and its speed."""
    path = folder / f"{name}.yaml"
    path.write_text(f"name: {name}\nextends: {EXPERIMENTS / name}.yaml\n{QUICK}", encoding="utf-8")
    return path


def test_table_3_with_the_head_ends_and_resumes(run_cli: Callable[..., Any], tmp_path: Path):
    given = values(tmp_path, 4) | {"short": str(examples(tmp_path / "short.jsonl", "short", 4))}
    file, folder = quick(tmp_path, "multiattr-table3"), tmp_path / "runs"
    planned = run(run_cli, file, folder, given, "--dry-run")
    assert planned.code == 0 and "stage 1" in planned.out and not folder.exists()
    printed = run(run_cli, file, folder, given, "--first", "3")
    assert printed.code == 0, printed.err
    assert printed.out.count("3 asked") == 12
    again = run(run_cli, file, folder, given)
    assert again.code == 0 and "12 asked, 3 of them earlier" in again.out
    rows = table(run_cli, folder)
    ours = [row for row in rows if row["by"] == "ours"]
    assert {row["trained on"] for row in ours} >= {"random", "fine-tuned", "HotpotQA long, fine-tuned"}
    assert all(row["value"] for row in ours)
    papers = {(row["trained on"], row["column"]): row["value"] for row in rows if row["by"] != "ours"}
    assert papers["HotpotQA long, fine-tuned", "VJ, F1"] == "72.5"
    models = list((tmp_path / "models").iterdir())
    assert len(models) == 2 + 2 * 3  # what does not depend on the domain is trained once; random has none
    third = run(run_cli, file, folder, given)
    assert third.code == 0 and "12 of them earlier" in third.out


def test_articles_are_shown_their_nearest_sources(tmp_path: Path):
    text = TEXT.replace("test: [$test], most: 9", "test: ['politicite:$test'], k: [2, 3]")
    grid = grid_of(tmp_path, text, test=str(politicite(tmp_path / "p.json")))
    domain = grid.experiment.domains["VJ"]
    sentences = grid._test_labels(domain)
    assert len(sentences) == 9 and {len(item.answer.documents) for item in sentences} == {2}
    assert sentences[1].gold.citations and sentences[1].gold.citations[0].documents == (MINERALS[1],)
    asked = grid._test_answers(domain)
    assert [len(cited.sources) for cited, _ in asked] == [3, 3, 3]
    assert [nugget.documents for nugget in asked[0][1].nuggets or ()] == [(name,) for name in MINERALS[:3]]


def test_snippets_are_ranked_and_those_of_one_source_are_shown_as_one(tmp_path: Path):
    texts = ("Zinc tax rose.", "Iron roads.", "Tea.", "The zinc tax of zinc.", "-")
    evidence = list(zip("abaac", texts, strict=True))
    snippets = [{"source": source, "text": text, "support": "relevant"} for source, text in evidence]
    claim = {"text": "The zinc tax rose on iron.", "evidence": snippets}
    (tmp_path / "p.json").write_text(json.dumps([{"id": "x", "question": "Zinc tax?", "claims": [claim]}]))
    text = TEXT.replace("test: [$test], most: 9", "test: ['politicite:$test'], k: [3, 2]")
    grid = grid_of(tmp_path, text, test=str(tmp_path / "p.json"))
    domain = grid.experiment.domains["VJ"]
    shown = grid._test_labels(domain)[0].answer.documents
    assert [(one.id, [section.text for section in one.sections]) for one in shown] == [
        ("a", ["Zinc tax rose.", "The zinc tax of zinc."]),
        ("b", ["Iron roads."]),
    ]
    ((cited, _),) = grid._test_answers(domain)
    assert [source.text for source in cited.sources] == ["Zinc tax rose.\nThe zinc tax of zinc."]


def test_table_6_over_a_service_needs_no_torch(
    run_cli: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("VERICITE_CACHE", str(tmp_path / "cache"))
    rows = "rows: [{name: T5 NLI, judge: $nli}, {name: ChatGPT, llm: $chatgpt}]\n"
    file = tmp_path / "six.yaml"
    file.write_text(f"name: six\nextends: {EXPERIMENTS / 'multiattr-table6'}.yaml\n{rows}", encoding="utf-8")

    def answer(answering: Answering, arrival: Arrival) -> None:
        if "promise 2" in arrival.question and not mended:
            status(400, "no room")(answering, arrival)
        else:
            # Three paragraphs: the second sentence cites another source, and the third one states no claim.
            first = f"The zinc agency was founded in {arrival.question.split('promise ')[1][0]} [1]."
            said = f"{first}\n\nThe iron agency was founded in 0 [1].\n\nTea [2]."
            reply(said)(answering, arrival)

    mended: list[bool] = []
    with ScriptedServer() as server:
        server.default = answer
        given = {"nli": "lexical", "judge": "lexical", "features": "", "chatgpt": server.spec}
        given |= {"politicite": str(politicite(tmp_path / "p.json"))}
        printed = run(run_cli, file, tmp_path / "runs", given)
        assert printed.code == 3 and "1 questions failed, the first because" in printed.err
        mended.append(True)
        printed = run(run_cli, file, tmp_path / "runs", given)
    assert printed.code == 0 and "3 asked, 2 of them earlier" in printed.out
    found = {
        (row["trained on"], row["column"]): row["value"]
        for row in table(run_cli, tmp_path / "runs")
        if row["by"] == "ours" and row["value"]
    }
    assert set(found) == {
        ("T5 NLI", "post-gen, F1"),
        *(("ChatGPT", f"in-line, {name}") for name in ("claim recall", "aligned F1", "article F1")),
    }
    assert float(found["ChatGPT", "in-line, claim recall"]) > 0
    assert float(found["ChatGPT", "in-line, article F1"]) > 0


def test_a_file_says_what_is_in_the_folder(tmp_path: Path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "other.txt").write_text("x")
    grid = grid_of(tmp_path, TEXT, test=str(examples(tmp_path / "test.jsonl", "x", 2)))
    with pytest.raises(InputError, match=r"found other\.txt in it"):
        next(iter(grid.run()))
    assert json.loads(grid.experiment.model_dump_json())["name"] == "e"
