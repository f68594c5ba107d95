"""Files that earlier versions wrote are read, or refused with what to do.

Each archive has made-up texts, and what the code of that day made of them: verdicts, runs, a store, caches, a judge
that was calibrated and figures. The later one also has an experiment, plans, labels and the state of the service. A
version that writes another form adds an archive, and leaves these as they are.
"""

from __future__ import annotations

import json
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from vericite.evaluate.ratings import ScoreLine
from vericite.lab.annotate.units import Unit
from vericite.pipeline.plan import Plan
from vericite.records import CheckedAnswer, Run, read_jsonl
from vericite.verify import BundledJudge

DAYS = ["2026-11-24", "2026-11-28"]
LATER = "2026-11-28"


@pytest.fixture
def unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Unpack the archive of a day, and go there."""

    def unpack(day: str) -> Path:
        with zipfile.ZipFile(Path(__file__).with_name(f"{day}.zip")) as archive:
            archive.extractall(tmp_path)
        monkeypatch.chdir(tmp_path)
        return tmp_path

    return unpack


@pytest.mark.parametrize("day", DAYS)
def test_every_record_is_read(unpacked, day: str):
    folder = unpacked(day)
    checked = list(read_jsonl(CheckedAnswer, folder / "checked.jsonl"))
    assert [answer.id for answer in checked] == ["a1", "a2", "a3"]
    assert [verdict.label for verdict in checked[1].verdicts] == ["irrelevant", "dangling"]
    runs = [run for file in folder.rglob("runs.jsonl") for run in read_jsonl(Run, file)]
    assert {run.question.id for run in runs} == {"q1", "q2"} and all(isinstance(run, Run) for run in runs)
    scores = list(read_jsonl(ScoreLine, folder / "scores.jsonl"))
    assert scores and all(isinstance(score, ScoreLine) for score in scores)


@pytest.mark.parametrize("day", DAYS)
def test_runs_and_verdicts_are_scored_and_reported(unpacked, run_cli, day: str):
    unpacked(day)
    scored = run_cli("score", "run", "--gold", "gold.jsonl", "-m", "nDCG@10", "--json")
    assert scored.code == 0 and "nDCG@10" in scored.out
    page = run_cli("report", "run", "checked.jsonl", "--out", "page.html")
    assert page.code == 0 and "Zelatrin" in Path("page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("day", DAYS)
def test_a_baseline_says_that_it_was_judged_otherwise(unpacked, run_cli, day: str):
    unpacked(day)
    found = run_cli("check", "answers.jsonl", "--baseline", "checked.jsonl")
    assert found.code == 0 and "The baseline was judged otherwise" in found.out
    assert run_cli("check", "answers.jsonl", "--out", "now.jsonl").code == 0
    found = run_cli("check", "answers.jsonl", "--baseline", "now.jsonl")
    assert found.code == 0 and "baseline:" in found.out and "judged otherwise" not in found.out


@pytest.mark.parametrize("day", DAYS)
def test_a_run_is_not_continued_with_other_models(unpacked, run_cli, day: str):
    unpacked(day)
    refused = run_cli("ask", "--batch", "questions.jsonl", "--corpus", "documents.jsonl", "--save", "run")
    assert refused.code == 2 and "found another parts.generator, " in refused.err
    assert "Choose another place; what is there can still be read." in refused.err


@pytest.mark.parametrize("day", DAYS)
def test_a_store_is_searched_and_added_to(unpacked, run_cli, day: str):
    folder = unpacked(day)
    found = run_cli("search", "Does zelatrin reduce cough in adults?", "--corpus", "store", "--json")
    assert found.code == 0 and json.loads(found.out)["evidence"][0]["document"]["id"] == "zelatrin-a"
    new = {"id": "more", "title": "Zelatrin and sleep", "text": "Zelatrin did not change sleep."}
    (folder / "more.jsonl").write_text(json.dumps(new) + "\n", encoding="utf-8")
    added = run_cli("corpus", "build", "more.jsonl", "--to", "store")
    assert added.code == 0 and "1 added" in added.out + added.err


@pytest.mark.parametrize("day", DAYS)
def test_a_cache_is_used_as_it_is(unpacked, run_cli, monkeypatch: pytest.MonkeyPatch, day: str):
    folder = unpacked(day)
    fresh = run_cli("check", "answers.jsonl", "--json")
    monkeypatch.setenv("VERICITE_CACHE", str(folder / "cache"))
    assert run_cli("check", "answers.jsonl", "--json") == fresh
    asked = run_cli("ask", "Does zelatrin help?", "--corpus", "documents.jsonl")
    assert asked.code == 0 and not asked.err.count("damaged")


@pytest.mark.parametrize("day", DAYS)
def test_a_calibrated_judge_says_if_it_was_fitted_on_another(unpacked, run_cli, day: str):
    folder = unpacked(day)
    fitted = json.loads((folder / "calibration.json").read_text(encoding="utf-8"))["signature"]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = run_cli("check", "answers.jsonl", "--judge", "calibrated:calibration.json")
    assert found.code == 0
    said = found.err + "".join(str(warning.message) for warning in caught)
    assert (f"to be {fitted}" in said and "Calibrate again" in said) == (fitted != BundledJudge().signature)


def test_an_experiment_is_read_and_made_again(unpacked, run_cli):
    """Other models, and settings that came since: the cells are other cells, and the old ones stay."""
    folder = unpacked(LATER)
    before = {cell.name for cell in (folder / "experiment" / "cells").iterdir()}
    made = run_cli("run", "experiment.yaml", "--to", "experiment")
    assert made.code == 0 and "its old runs stay in the folder" in made.err
    assert before < {cell.name for cell in (folder / "experiment" / "cells").iterdir()}


def test_plans_are_read_without_settings_that_had_no_value(unpacked, run_cli):
    """A plan that was written whole names settings that were removed since."""
    folder = unpacked(LATER)
    assert '"aids": null' in (folder / "plan.json").read_text(encoding="utf-8")
    assert Plan.load(folder / "plan.json").search.rerank_by == "question"
    assert Plan.load(folder / "plan.yaml").check.judge == "lexical"
    assert run_cli("check", "answers.jsonl", "--plan", "plan.yaml").code == 0


@pytest.mark.parametrize("path, instead", Plan.former.items())
def test_a_setting_of_an_earlier_version_is_refused_with_what_to_do(run_cli, tmp_path: Path, path: str, instead: str):
    section, name = path.split(".")
    (tmp_path / "plan.yaml").write_text(f"{section}:\n  {name}: 1\n", encoding="utf-8")
    for options in (["--plan", str(tmp_path / "plan.yaml")], ["--set", f"{path}=1"]):
        found = run_cli("ask", "Does it help?", *options)
        assert found.code == 2 and f"{path}" in found.err and instead in " ".join(found.err.split())
    mentioned = instead.split()[1].strip(",.:")
    known = {f"{section}.{name}" for section, values in Plan().as_json().items() for name in values}
    assert mentioned == "it" or mentioned in known


def test_labels_are_compared_and_correct_a_rate(unpacked, run_cli):
    folder = unpacked(LATER)
    units = list(read_jsonl(Unit, folder / "sample.jsonl"))
    assert len(units) == 4 and all(isinstance(unit, Unit) for unit in units)
    found = run_cli("annotate", "agreement", "labels/ann.jsonl", "labels/ben.jsonl", "--sample", "sample.jsonl")
    assert found.code == 0 and "ann" in found.out
    few = run_cli("annotate", "correct", "checked.jsonl", "--labels", "labels/ann.jsonl", "--sample", "sample.jsonl")
    assert few.code == 2 and "found at most 4" in few.err


def test_the_service_shows_old_runs_and_jobs(unpacked):
    pytest.importorskip("fastapi", reason="needs the extra [serve]")
    from vericite.serve.jobs import Jobs
    from vericite.serve.offer import Offer
    from vericite.serve.service import Service, state_folder

    folder = unpacked(LATER)
    service = Service(Offer(), state_folder(folder / "state"))
    try:
        entries = service.runs.recent()
        assert {entry.kind for entry in entries} == {"ask", "check"}
        assert all(service.runs.get(entry.id) for entry in entries)
        jobs = Jobs(service)
        (id,) = [job.name for job in (folder / "state" / "jobs").iterdir()]
        assert jobs.state(id)["finished"] and len(list(jobs.results(id))) == 3
    finally:
        service.close()
