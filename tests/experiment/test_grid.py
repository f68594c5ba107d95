"""Cells that share questions equal separate runs, and nothing is done twice."""

from __future__ import annotations

import csv
import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "llm"))

from server import ScriptedServer, body_of

from vericite.corpus import demo_questions
from vericite.disk.files import only_one
from vericite.lab.experiment.config import Experiment
from vericite.lab.experiment.grid import EXPERIMENT, CellOutcome, Grid
from vericite.llm.chat import estimated_tokens
from vericite.models.contracts import Judgement, Pair
from vericite.pipeline.build import build
from vericite.pipeline.runs import RUNS
from vericite.records import Run, read_jsonl, to_json
from vericite.verify.judges.bundled import LexicalJudge


def said_of(question: str) -> str:
    """An answer that depends only on the question."""
    return f"The sources speak of {sum(map(ord, question)) % 97} cases [1]. They speak of others as well [2]."


def counted(answering: Any, arrival: Any) -> None:
    """A service that counts tokens in its own way."""
    said = said_of(arrival.question)
    prompt = sum(len(message["content"]) for message in arrival.body["messages"]) // 3
    usage = {"prompt_tokens": prompt, "completion_tokens": len(said.split()), "total_tokens": 0}
    answering.send(200, json.dumps(body_of(said, usage=usage)))


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as listening:
        listening.default = counted
        yield listening


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(to_json(question) + "\n" for question in demo_questions()), encoding="utf-8")
    return path


def experiment(questions: Path, llm: str | None, sample: int = 4, **more: Any) -> Experiment:
    """Twelve cells: three depths, and four ways to judge."""
    plan: dict[str, Any] = {"search": {"corpus": "demo", "by": "bm25", "rerank": "none"}}
    plan |= {"answer": {"llm": llm}} if llm else {}
    axes = {
        "k": {str(k): {"search": {"k": k}} for k in (2, 4, 6)},
        "judge": {
            "vericite": {"check": {"protocol": "vericite", "judge": "lexical"}},
            "default": {"check": {"protocol": "default", "judge": "lexical"}},
            "alce": {"check": {"protocol": "alce", "judge": "lexical"}},
            "fast": {"check": {"protocol": "fast", "judge": "lexical"}},
        },
    }
    content = {"name": "twelve", "questions": {"q": {"from": str(questions), "sample": sample}}}
    return Experiment.model_validate_json(json.dumps({**content, "plan": plan, "axes": axes, **more}))


def runs_of(folder: Path) -> dict[str, Run]:
    return {run.question.id: untold(run) for run in read_jsonl(Run, folder / RUNS)}


def untold(run: Run) -> Run:
    """The run without times, and without the difference between new and cached replies."""
    return run.model_copy(update={"seconds": {}, "answer": run.answer.model_copy(update={"spent": None})})


def finished(grid: Grid) -> list[CellOutcome]:
    return list(grid.run())


def test_cells_that_share_equal_separate_runs(questions: Path, server: ScriptedServer, tmp_path: Path):
    grid = Grid(experiment(questions, server.spec), tmp_path / "runs")
    outcomes = finished(grid)
    for cell, outcome in zip(grid.cells, outcomes, strict=True):
        alone = build(cell.plan, grid.questions(cell))
        expected = {
            run.question.id: untold(run) for run in alone.run_many(grid.questions(cell), cell.plan.search.depth())
        }
        assert runs_of(outcome.folder) == expected


def test_shared_work_is_done_once(
    questions: Path, server: ScriptedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    judged: list[Pair] = []
    judge = LexicalJudge.judge

    def counting(self: LexicalJudge, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        asked = list(pairs)
        judged.extend(asked)
        return judge(self, asked)

    monkeypatch.setattr(LexicalJudge, "judge", counting)
    grid = Grid(experiment(questions, server.spec), tmp_path / "runs")
    outcomes = finished(grid)
    total = outcomes[0].counts
    for outcome in outcomes[1:]:
        total = total + outcome.counts
    # Three depths of one search; an answer for each depth; each pair of premise and claim by each judge once.
    assert (total.searched, total.search_shared) == (4, 11 * 4)
    assert (total.answered, total.answer_shared) == (3 * 4, 9 * 4)
    assert len(server.arrivals) == 3 * 4
    assert 0 < total.judged < total.pairs / 3
    assert len(judged) == len(set(judged)) == total.judged
    record = json.loads((grid.folder / EXPERIMENT).read_text())
    assert record["finished"] and record["cells"]["k 4, judge alce"]["made"]["answer_shared"] == 4
    assert record["packages"]["numpy"] and len(record["cells"]) == 12


def test_a_finished_experiment_makes_no_calls(questions: Path, server: ScriptedServer, tmp_path: Path):
    made = experiment(questions, server.spec)
    finished(Grid(made, tmp_path / "runs"))
    before = len(server.arrivals)
    again = finished(Grid(made, tmp_path / "runs"))
    assert len(server.arrivals) == before
    assert all(outcome.before == 4 and not outcome.counts.searched for outcome in again)


def test_a_new_cell_reuses_answers(
    questions: Path, server: ScriptedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    made = experiment(questions, server.spec)
    fewer = made.model_copy(update={"without": tuple({"judge": it} for it in ("default", "alce", "unaided"))})
    finished(Grid(fewer, tmp_path / "runs"))
    before = len(server.arrivals)
    # Without the cache of replies, too.
    monkeypatch.setenv("VERICITE_CACHE", str(tmp_path / "elsewhere"))
    outcomes = finished(Grid(made, tmp_path / "runs"))
    assert len(server.arrivals) == before
    assert sum(outcome.counts.answered for outcome in outcomes) == 0


def test_changes_of_the_configuration_are_reported(run_cli, questions: Path, server: ScriptedServer, tmp_path: Path):
    made = experiment(questions, server.spec, sample=3)
    file, folder = tmp_path / "e.json", str(tmp_path / "runs")

    def run(content: dict[str, Any], *more: str) -> Any:
        file.write_text(json.dumps(content))
        return run_cli("run", str(file), "--to", folder, *more)

    content = made.model_dump(mode="json", by_alias=True)
    content["axes"]["k"] = {"2": {"search": {"k": 2}}, "4": {"search": {"k": 4}}}
    content["axes"]["judge"] = {"vericite": content["axes"]["judge"]["vericite"]}
    assert run(content).code == 0
    content["axes"]["k"] = {"2": {"search": {"k": 2}}, "4": {"search": {"k": 5}}, "6": {"search": {"k": 6}}}
    printed = run(content)
    assert "unchanged cells: 1" in printed.err
    assert "changed: k 4, judge vericite (search.k)" in printed.err
    assert "new: k 6, judge vericite" in printed.err
    assert "k 2, judge vericite: 3 questions, 3 of them earlier" in printed.out
    del content["axes"]["k"]["2"]
    printed = run(content)
    assert "removed: k 2, judge vericite" in printed.err
    assert len(list((tmp_path / "runs" / "cells").iterdir())) == 4
    assert "another than before" not in run(content).err


def test_a_second_process_in_a_folder_is_refused(run_cli, questions: Path, tmp_path: Path):
    made = experiment(questions, None, sample=1)
    file, folder = tmp_path / "e.json", tmp_path / "runs"
    file.write_text(made.model_dump_json(by_alias=True))
    with only_one(folder, ".lock", "works in"):
        printed = run_cli("run", str(file), "--to", str(folder))
    assert printed.code == 2 and "another process is at work there" in printed.err


def test_a_folder_of_something_else_is_refused(run_cli, questions: Path, tmp_path: Path):
    file = tmp_path / "e.json"
    file.write_text(experiment(questions, None, sample=1).model_dump_json(by_alias=True))
    printed = run_cli("run", str(file), "--to", str(tmp_path))
    assert printed.code == 2 and "expected" in printed.err and "questions.jsonl" in printed.err


def test_a_dry_run_estimates_the_cost_of_the_run(run_cli, questions: Path, server: ScriptedServer, tmp_path: Path):
    file, folder = tmp_path / "e.json", tmp_path / "runs"
    file.write_text(experiment(questions, server.spec, sample=8).model_dump_json(by_alias=True))
    command = ("run", str(file), "--to", str(folder))
    assert run_cli(*command, "--first", "3").code == 0
    assert len(server.arrivals) == 9
    printed = run_cli(*command, "--dry-run")
    total = next(line for line in printed.out.splitlines() if line.startswith("all cells"))
    _, _, asked, there, calls, prompt, completion, _ = total.replace(",", "").split(maxsplit=7)
    assert (asked, there, len(server.arrivals)) == ("96", "36", 9)
    assert run_cli(*command).code == 0
    used = Counter[str]()
    for path in folder.glob(f"cells/*/{RUNS}"):
        for run in list(read_jsonl(Run, path))[3:]:
            spent = run.answer.spent
            assert spent is not None
            used += Counter(calls=spent.calls, prompt=spent.prompt_tokens, completion=spent.completion_tokens)
    assert int(calls) == used["calls"] == 3 * 5 == len(server.arrivals) - 9
    assert float(prompt) == pytest.approx(used["prompt"], rel=0.1)
    assert float(completion) == pytest.approx(used["completion"], rel=0.1)


def test_a_dry_run_makes_no_calls(run_cli, questions: Path, server: ScriptedServer, tmp_path: Path):
    file = tmp_path / "e.json"
    made = experiment(
        questions,
        server.spec,
        plan={"search": {"by": "bm25", "rerank": "none"}, "answer": {"llm": server.spec}, "llm": {"price": "1,2"}},
    )
    file.write_text(made.model_dump_json(by_alias=True))
    printed = run_cli("run", str(file), "--to", str(tmp_path / "runs"), "--dry-run")
    assert printed.code == 0, printed.err
    assert not server.arrivals and not (tmp_path / "runs").exists()
    total = next(line for line in printed.out.splitlines() if line.startswith("all cells")).split()
    assert total[2:5] == ["48", "0", "12"] and float(total[-1]) > 0
    assert "guess" in printed.err
    assert estimated_tokens("four") == 1


def test_a_dry_run_refuses_a_judge_that_the_run_would_refuse(run_cli, questions: Path, tmp_path: Path):
    file = tmp_path / "e.json"
    made = experiment(questions, None, plan={"check": {"judge": "lexicall"}}, axes={"k": {"2": {"search": {"k": 2}}}})
    file.write_text(made.model_dump_json(by_alias=True))
    printed = run_cli("run", str(file), "--to", str(tmp_path / "runs"), "--dry-run")
    assert (printed.code, "Did you mean 'lexical'" in printed.err) == (2, True)


def test_a_question_that_failed_is_asked_again(questions: Path, server: ScriptedServer, tmp_path: Path):
    from server import status

    made = experiment(questions, server.spec, sample=4, axes={"k": {"2": {"search": {"k": 2}}}})
    server.script([status(400)])
    (outcome,) = finished(Grid(made, tmp_path / "runs"))
    assert outcome.failed == 1 and outcome.reason
    assert [outcome.before for outcome in finished(Grid(made, tmp_path / "runs"))] == [3]
    assert len(runs_of(next((tmp_path / "runs" / "cells").iterdir()))) == 4


def test_answers_are_written_as_they_arrive(questions: Path, server: ScriptedServer, tmp_path: Path):
    """Answers are stored while another question still waits for its reply."""
    made = experiment(questions, server.spec, sample=8, axes={"k": {"2": {"search": {"k": 2}}}})
    grid = Grid(made.model_copy(update={"plan": {**made.plan, "llm": {"concurrency": 1}}}), tmp_path / "runs")
    seen: list[int] = []
    done = threading.Thread(target=lambda: list(grid.run(lambda progress: seen.append(len(server.arrivals)))))
    began = time.monotonic()
    done.start()
    done.join()
    assert seen[0] < 8 and len(seen) == 8, time.monotonic() - began


def test_cells_with_other_documents_do_not_share_evidence(questions: Path, tmp_path: Path):
    """Two corpora with the same signature of the retriever."""
    axes = {}
    for name in ("one", "other"):
        path = tmp_path / f"{name}.jsonl"
        path.write_text(
            "".join(
                json.dumps({"id": f"{name}{n}", "text": f"{question.text} It is so in {name}."}) + "\n"
                for n, question in enumerate(demo_questions()[:20])
            )
        )
        axes[name] = {"search": {"corpus": str(path)}}
    grid = Grid(experiment(questions, None, sample=3, axes={"corpus": axes}), tmp_path / "runs")
    for outcome in finished(grid):
        name = outcome.cell.at["corpus"]
        found = [hit.document.id for run in runs_of(outcome.folder).values() for hit in run.evidence]
        assert found and all(id.startswith(name) for id in found)
        assert not outcome.counts.search_shared


def test_a_table_counts_tokens_of_shared_answers(run_cli, questions: Path, server: ScriptedServer, tmp_path: Path):
    judges = {name: {"check": {"protocol": name, "judge": "lexical"}} for name in ("vericite", "default")}
    axes = {"shots": {str(k): {"search": {"k": k}} for k in (2, 4)}, "judge": judges}
    finished(Grid(experiment(questions, server.spec, sample=4, axes=axes), tmp_path / "runs"))
    assert len(server.arrivals) == 2 * 4
    printed = run_cli(
        "table", str(tmp_path / "runs"), "--layout", "reason-verify-3", "--as", "csv", "--set", "draws=100"
    )
    assert printed.code == 0, printed.err
    rows = [row for row in csv.DictReader(StringIO(printed.out)) if row["by"] == "ours"]
    tokens = {(row["shots"], row["judge"]): row for row in rows if row["column"] == "tokens in"}
    assert len(tokens) == 4 and {row["n"] for row in tokens.values()} == {"4"}
    few, same, more = (float(tokens[at]["value"]) for at in (("2", "vericite"), ("2", "default"), ("4", "default")))
    assert few == same < more
    used = [
        sum(len(message["content"]) for message in arrival.body["messages"]) // 3 for arrival in server.arrivals[:4]
    ]
    assert few == pytest.approx(sum(used) / 4)
