from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from vericite.cli import io as extras
from vericite.cli.io import EXTRAS
from vericite.models.folder import EMBEDDER, RERANKER, VERIFIER
from vericite.records import Run
from vericite.verify import protocol_names
from vericite.verify.judges.registry import JUDGES

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"
QUESTION = "Does levodopa improve the symptoms of Parkinson's disease?"


def test_ask_prints_answer_sources_and_how_each_sentence_was_chosen(run_cli):
    printed = run_cli("ask", QUESTION)
    assert printed.code == 0
    for part in ("[1]", "Sources", "Quoted word for word", "answers the question", "demo:"):
        assert part in printed.out


def test_ask_as_json_is_a_run(run_cli):
    printed = run_cli("ask", QUESTION, "--json", "--k", "3")
    run = Run.model_validate_json(printed.out)
    assert run.question.text == QUESTION
    assert sum(not hit.document.retracted for hit in run.evidence) == 3
    assert run.provenance.protocol is not None


def test_ask_reads_a_document_file_and_reports_bad_lines(run_cli, tmp_path):
    text = "Levodopa improves the motor symptoms of Parkinson's disease in most patients."
    corpus = tmp_path / "corpus.jsonl"
    good = {"id": "mine", "sections": [{"text": text}]}
    corpus.write_text(json.dumps(good) + "\n" + json.dumps({"id": 3}) + "\n" + json.dumps(good) + "\n")
    printed = run_cli("ask", QUESTION, "--corpus", str(corpus))
    assert printed.code == 2
    assert "mine" in printed.out
    assert "line 2, field id" in printed.err
    assert "line 3, field id" in printed.err


@pytest.mark.parametrize("into", ["sentences", "claims", "statements"])
def test_split_gives_exact_offsets(run_cli, into):
    text = "Statins lower LDL, but they may harm muscle. [1] E. coli is not affected (p<0.001)."
    lines = run_cli("split", text, "--into", into, "--json").out.splitlines()
    assert len(lines) >= 2
    for part in map(json.loads, lines):
        covered = text[part["start"] : part["end"]]
        assert covered.startswith(part["text"][:10])


def test_judge_prints_a_label_and_probabilities_that_add_up(run_cli):
    printed = run_cli("judge", "Aspirin reduces strokes.", "Aspirin reduces the risk of stroke.", "--json")
    found = json.loads(printed.out)
    assert found["label"] == "entails"
    assert sum(found["probabilities"].values()) == pytest.approx(1, abs=1e-4)


def test_doctor_lists_models_and_the_line_for_every_missing_extra(run_cli, monkeypatch):
    printed = run_cli("doctor", "--json")
    found = json.loads(printed.out)
    assert printed.code == 0
    assert {model["name"] for model in found["models"]} == {EMBEDDER, RERANKER, VERIFIER}
    for extra in found["extras"]:
        assert extra["installed"] or extra["install"] == f"pip install 'vericite[{extra['name']}]'"
    monkeypatch.setattr(extras, "find_spec", lambda module: None)
    text = run_cli("doctor").out
    assert VERIFIER in text
    assert all(f"pip install 'vericite[{name}]'" in text for name in EXTRAS)
    for name, extra in EXTRAS.items():
        assert re.search(rf"^  {name} +{re.escape(extra.purpose)} ", text, re.MULTILINE)


def test_doctor_knows_every_extra_that_the_package_declares():
    declared = tomllib.loads(PYPROJECT.read_text())["project"]["optional-dependencies"]
    assert set(EXTRAS) | {"all"} == set(declared)
    assert declared["all"] == [f"vericite[{','.join(EXTRAS)}]"]


def test_doctor_says_when_a_package_of_an_extra_has_another_version(run_cli, monkeypatch):
    lines = [
        "numpy>=1.26",
        "pyarrow<2; extra == 'store'",
        "lxml>999; extra == 'eval'",
        "no-such-package>1; extra == 'hf'",
    ]
    monkeypatch.setattr("importlib.metadata.requires", lambda _: lines)
    found = {extra["name"]: extra for extra in json.loads(run_cli("doctor", "--json").out)["extras"]}
    (wrong,) = found["eval"]["wrong_version"]
    assert wrong.startswith("lxml ") and wrong.endswith(", where >999 is needed")
    assert "wrong_version" not in found["hf"]
    assert "wrong version: lxml" in run_cli("doctor").out


def test_doctor_says_when_a_model_is_damaged(run_cli, monkeypatch, tmp_path):
    import shutil

    from vericite.models import folder

    shutil.copytree(folder.WEIGHTS / VERIFIER, tmp_path / VERIFIER)
    with (tmp_path / VERIFIER / "model.onnx").open("ab") as file:
        file.write(b"x")
    monkeypatch.setattr(folder, "WEIGHTS", tmp_path)
    printed = run_cli("doctor")
    assert printed.code == 3
    assert "BROKEN" in printed.out


def test_every_command_has_help(run_cli):
    for command in ("ask", "check", "judge", "split", "protocols", "judges", "train", "doctor"):
        printed = run_cli(command, "--help")
        assert printed.code == 0
        assert "Usage" in printed.out


WITHOUT_NETWORK = """
import socket, sys

def refused(*args, **kwargs):
    raise OSError("no network here")

socket.socket.connect = socket.create_connection = socket.getaddrinfo = refused
sys.argv[0] = "vericite"
from vericite.cli import main
main()
"""


def test_ask_needs_no_network(tmp_path):
    """In a process of its own, so that nothing is imported before."""
    corpus = tmp_path / "corpus.jsonl"
    text = "Levodopa improves the motor symptoms of Parkinson's disease in most patients."
    corpus.write_text(json.dumps({"id": "mine", "text": text}))
    command = [sys.executable, "-c", WITHOUT_NETWORK, "ask", QUESTION, "--corpus", str(corpus)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "Quoted word for word" in done.stdout


def test_protocols_lists_every_protocol_and_judges_every_judge(run_cli):
    printed = run_cli("protocols").out
    for name in protocol_names():
        assert f"{name}\n" in printed
    printed = run_cli("judges").out
    for name, kind in JUDGES.items():
        assert f"{kind.usage(name)}\n" in printed
    for judge in json.loads(run_cli("judges", "--json").out):
        assert judge["summary"]
        for extra in ("hf", "llm", "local"):
            if f"[{extra}]" in judge.get("needs", ""):
                assert f"[{extra}] installed" in judge["needs"] or f"vericite[{extra}]" in judge["needs"]


HELP_WITHOUT_THE_EXTRA = """
import sys
sys.modules.update(dict.fromkeys(("torch", "onnx", "safetensors", "transformers")))
from vericite.cli import main
for step in ("fit", "pack", "unpack"):
    sys.argv = ["vericite", "train", step, "--help"]
    try:
        main()
    except SystemExit as stop:
        assert not stop.code, step
"""


def test_a_step_of_training_has_help_without_the_extra():
    """In a process of its own, in which nothing that the extra brings can be imported."""
    done = subprocess.run([sys.executable, "-c", HELP_WITHOUT_THE_EXTRA], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    for step in ("fit", "pack", "unpack"):
        assert f"Usage: vericite train {step}" in done.stdout


def test_a_step_of_training_without_the_extra_says_how_to_install_it(run_cli, monkeypatch):
    for name in ("vericite.lab.train.fit", "vericite.lab.train.pack"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    for name in ("torch", "onnx"):
        monkeypatch.setitem(sys.modules, name, None)
    for line in ("fit --data a --base b --out c", "pack a b c d e", "unpack a b"):
        printed = run_cli("train", *line.split())
        assert printed.code == 3
        assert "pip install 'vericite[train]'" in printed.err


def test_an_unknown_step_is_refused_with_the_known_steps(run_cli):
    printed = run_cli("train", "fitt")
    assert printed.code == 2
    assert "Did you mean 'fit'" in printed.err
