"""Answers checked by a language model, from the command line to the service and back."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from server import Answering, Arrival, ScriptedServer, reply, status

from vericite.records import CheckedAnswer, read_jsonl

KEY = "sk-planted-0123456789abcdef"
SUPPORT = json.dumps({"label": "support"})


def answers(folder: Path, count: int) -> str:
    path = folder / "answers.jsonl"
    lines = [
        {
            "id": f"a{number}",
            "answer": f"Drug {number} lowered mortality [1].",
            "documents": [{"id": "d", "text": f"Mortality fell with drug {number}."}],
        }
        for number in range(count)
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    return str(path)


def kept(cache: Path) -> int:
    with closing(sqlite3.connect(cache)) as file:
        return file.execute("SELECT count(*) FROM reply").fetchone()[0]


def everything_written(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def drug(arrival: Arrival) -> int:
    # The pair is the second message, also of a request to repair.
    return int(arrival.body["messages"][1]["content"].split("Drug ")[1].split()[0])


def by_claim(answering: Answering, arrival: Arrival) -> None:
    """Supports even drugs, says nothing usable of those that end in 5, breaks for 7 and 57."""
    number = drug(arrival)
    if number % 50 == 7:
        status(500, "key was " + arrival.headers.get("authorization", ""))(answering, arrival)
    elif number % 10 == 5:
        reply("Well, " + arrival.headers.get("authorization", ""))(answering, arrival)
    else:
        reply(json.dumps({"label": "support" if number % 2 == 0 else "neutral"}))(answering, arrival)


def test_a_hundred_answers_are_all_recorded_paid_once_and_hold_no_key(
    server: ScriptedServer, run_cli, tmp_path, monkeypatch
):
    monkeypatch.setenv("VERICITE_KEY_127_0_0_1", KEY)
    monkeypatch.setenv("VERICITE_CACHE", str(tmp_path / "cache"))
    server.default = by_claim
    path, out = answers(tmp_path, 100), tmp_path / "verdicts.jsonl"
    command = ("check", path, "--judge", f"llm-labels:{server.spec}", "--out", str(out), "--set", "llm.concurrency=8")
    printed = run_cli(*command)
    checked = list(read_jsonl(CheckedAnswer, out))
    assert [item.id for item in checked] == [f"a{number}" for number in range(100)]
    labels = Counter(verdict.label for item in checked for verdict in item.verdicts)
    assert labels == {"supported": 50, "irrelevant": 38}
    failures = [failure for item in checked for failure in item.failures]
    assert len(failures) == 12
    assert sum("Well," in "".join(failure.raw) for failure in failures) == 10
    # 88 good ones, 10 with a repair that is no better, 2 tried five times.
    assert len(server.arrivals) == 88 + 20 + 10
    # A request to repair is a call of its own.
    assert "110 calls" in printed.err.replace("\n", " ")
    assert all(arrival.headers["authorization"] == f"Bearer {KEY}" for arrival in server.arrivals)
    assert KEY not in printed.out + printed.err
    assert KEY.encode() not in everything_written(tmp_path)

    server.arrivals.clear()
    server.default = reply(SUPPORT)
    again = run_cli(*command)
    # Only what brought no reply is asked again; one that could not be read is a reply.
    assert {drug(arrival) for arrival in server.arrivals} == {7, 57}
    assert again.code == printed.code == 0


def test_a_wrong_key_ends_the_run_with_a_word_on_it(server: ScriptedServer, run_cli, tmp_path, monkeypatch):
    monkeypatch.setenv("VERICITE_KEY_127_0_0_1", KEY)
    server.default = status(401, f"Incorrect API key provided: {KEY}")
    printed = run_cli("check", answers(tmp_path, 30), "--judge", f"llm:{server.spec}", "--set", "llm.cache=false")
    assert printed.code == 3
    assert "VERICITE_KEY_127_0_0_1" in printed.err
    assert KEY not in printed.out + printed.err


@pytest.mark.parametrize("code", [403, 500])
def test_a_run_in_which_nothing_could_be_judged_does_not_look_like_a_good_one(
    server: ScriptedServer, run_cli, tmp_path, code
):
    server.default = status(code, "not today")
    printed = run_cli("check", answers(tmp_path, 2), "--judge", f"llm:{server.spec}", "--set", "llm.cache=false")
    assert printed.code == 3
    assert "none of 2 cases could be judged" in printed.err
    assert "2/2" in printed.out


def test_a_stopped_run_says_where_its_verdicts_are_and_the_next_does_not_destroy_them(
    server: ScriptedServer, run_cli, tmp_path
):
    def until_the_money_is_gone(answering: Answering, arrival: Arrival) -> None:
        (reply(SUPPORT) if drug(arrival) < 130 else status(402, "insufficient credit"))(answering, arrival)

    server.default = until_the_money_is_gone
    out = tmp_path / "verdicts.jsonl"
    partial = tmp_path / "verdicts.jsonl.partial"
    command = (
        "check",
        answers(tmp_path, 300),
        "--judge",
        f"llm:{server.spec}",
        "--set",
        "llm.cache=false",
        "--out",
        str(out),
    )
    stopped = run_cli(*command)
    assert stopped.code == 3
    told = " ".join(stopped.err.split())
    assert "the verdicts on 128 answers are in" in told and "verdicts.jsonl.partial" in told.replace(" ", "")
    assert "language model: " in told
    assert len(partial.read_text().splitlines()) == 128
    assert not out.exists()
    server.default = status(401, "no such key")
    assert run_cli(*command).code == 3
    assert len(partial.read_text().splitlines()) == 128


@pytest.mark.parametrize("name", ["", "llm:", "hf:", " "])
def test_the_error_for_half_a_name_says_what_is_missing(run_cli, tmp_path, name):
    printed = run_cli("check", answers(tmp_path, 1), "--judge", name)
    assert printed.code == 2
    assert "expected" in printed.err


def test_a_bar_for_a_judge_without_probabilities_is_refused(server: ScriptedServer, run_cli, tmp_path):
    command = (
        "check",
        answers(tmp_path, 1),
        "--judge",
        f"llm-labels:{server.spec}",
        "--set",
        "check.abstain_below=0.9",
    )
    printed = run_cli(*command)
    assert (printed.code, "only returns labels" in printed.err) == (2, True)
    assert server.arrivals == []


def test_offline_sends_nothing(run_cli, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    printed = run_cli("--offline", "check", answers(tmp_path, 1), "--judge", "llm:openai:gpt-4o-mini")
    assert printed.code == 2
    assert "offline" in printed.err


def test_a_judge_without_its_key_says_which_variable_it_wants(run_cli, tmp_path):
    printed = run_cli("check", answers(tmp_path, 1), "--judge", "llm:openai:gpt-4o-mini")
    assert printed.code == 3
    assert "OPENAI_API_KEY" in printed.err


def test_doctor_tries_a_model_and_prints_what_it_says_as_it_comes(server: ScriptedServer, run_cli):
    server.default = reply("A citation says\nwhere a claim comes from.")
    printed = run_cli("doctor", "--llm", server.spec)
    assert printed.code == 0
    assert "A citation says where a claim comes from." in printed.out
    assert "1 call" in printed.err


@pytest.mark.slow  # tests/llm/test_many.py kills a run of the same cache
def test_killed_in_the_middle_and_run_again_no_completed_call_is_repeated(server: ScriptedServer, tmp_path):
    server.default = reply(SUPPORT, after=0.03)
    path, out = answers(tmp_path, 60), tmp_path / "verdicts.jsonl"
    environment = {**os.environ, "VERICITE_CACHE": str(tmp_path / "cache"), "COLUMNS": "100"}
    arguments = ["check", path, "--judge", f"llm:{server.spec}", "--out", str(out), "--set", "llm.concurrency=4"]
    command = [sys.executable, "-m", "vericite", *arguments]
    first = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 60
    while len(server.arrivals) < 25 and time.monotonic() < until:
        time.sleep(0.01)
    first.send_signal(signal.SIGKILL)
    first.wait()
    before = server.questions
    assert 25 <= len(before) < 60
    completed = kept(tmp_path / "cache" / "llm.sqlite")
    assert 0 < completed < 60
    again = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert again.returncode == 0, again.stderr
    assert len(list(read_jsonl(CheckedAnswer, out))) == 60
    # What was in flight when it was killed is asked again, and nothing that was kept.
    assert len(server.questions) - len(before) == 60 - completed
    assert len(set(server.questions)) == 60
