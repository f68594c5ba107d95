"""Output to a terminal with a small character set, and to a pipe that is closed."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

BETA = "Beta-blockers and α4β2 agonists 𝛼 help [1]."


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8"])
def test_characters_that_the_output_cannot_encode_are_escaped(encoding: str):
    command = [sys.executable, "-m", "vericite", "split", BETA, "--json"]
    env = {**os.environ, "PYTHONIOENCODING": encoding}
    done = subprocess.run(command, capture_output=True, timeout=60, env=env, check=False)
    assert done.returncode == 0, done.stderr
    assert "α4β2 agonists 𝛼" in json.loads(done.stdout.decode(encoding).splitlines()[0])["text"]


@pytest.mark.skipif(os.name == "nt", reason="pipes end otherwise there")
@pytest.mark.parametrize("options", [[], ["--out", "/dev/stdout"]])
def test_a_closed_pipe_is_not_a_failure(tmp_path, options: list[str]):
    answers = tmp_path / "answers.jsonl"
    line = {"answer": "Aspirin helps [1].", "documents": [{"id": "a", "text": "Aspirin helps."}]}
    answers.write_text("".join(json.dumps({"id": str(number), **line}) + "\n" for number in range(50)))
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as gone:
        command = [sys.executable, "-m", "vericite", "check", str(answers), "--judge", "lexical", *options]
        done = subprocess.run(command, stdout=gone, stderr=subprocess.PIPE, timeout=120, check=False)
    assert done.returncode == 141, done.stderr
    assert b"can be written" not in done.stderr
    assert b"are in /dev/stdout" not in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="pipes end otherwise there")
@pytest.mark.parametrize(
    ("command", "files"),
    [
        (("ask", "Does vitamin D prevent falls?", "--out", "a.md", "--out", "a.html"), ("a.md", "a.html")),
        (("check", "answers.jsonl", "--out", "v.jsonl", "--report", "r.html", "--junit", "j.xml"), ("r.html", "j.xml")),
        (("repair", "answers.jsonl", "--out", "repaired.jsonl"), ("repaired.jsonl",)),
        (("score", "answers.jsonl", "-m", "Length", "--out", "scores.json"), ("scores.json",)),
    ],
    ids=["ask", "check", "repair", "score"],
)
def test_files_are_complete_though_the_reader_of_the_output_goes(tmp_path, command, files):
    line = {"answer": "Aspirin helps [1].", "documents": [{"id": "a", "text": "Aspirin helps."}]}
    lines = "".join(json.dumps({"id": str(number), **line}) + "\n" for number in range(50))
    (tmp_path / "answers.jsonl").write_text(lines)
    judge = () if command[0] in ("ask", "score") else ("--judge", "lexical")
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as gone:
        whole = [sys.executable, "-m", "vericite", *command, *judge]
        done = subprocess.run(whole, stdout=gone, stderr=subprocess.PIPE, timeout=120, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert all((tmp_path / name).stat().st_size > 100 for name in files)
    assert not list(tmp_path.glob("*.partial"))
