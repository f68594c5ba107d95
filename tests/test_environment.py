"""VeriCite's own environment variables are read in one place, and a value that cannot be is refused by name."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import vericite
from vericite import environment
from vericite.errors import InputError

SOURCE = Path(vericite.__file__).parent


def test_no_other_module_reads_a_variable_of_ours():
    found: list[str] = []
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if path.name == "environment.py" or not ("environ" in text or "getenv" in text):
            continue
        for node in ast.walk(ast.parse(text)):
            call = isinstance(node, ast.Call) and ast.unparse(node.func) in ("os.environ.get", "os.getenv")
            name = ast.unparse(node.args[0]) if isinstance(node, ast.Call) and call and node.args else ""
            if "VERICITE" in name or name in dir(environment):
                found.append(f"{path.name}: {ast.unparse(node)}")
    assert found == []


@pytest.mark.parametrize("value", ["abc", "0", "-1", "1.5", "\u00b2", "9" * 5000, "2 cores"])
def test_a_number_of_threads_that_is_none_is_refused_by_name_and_value(run_cli, monkeypatch, value: str):
    monkeypatch.setenv("VERICITE_THREADS", value)
    printed = run_cli("judge", "Statins lower LDL.", "Statins lower blood LDL.")
    assert printed.code == 2
    assert "expected the environment variable VERICITE_THREADS to be a positive whole number; found" in printed.err
    assert value[:30] in printed.err and len(printed.err) < 400


@pytest.mark.parametrize("value", ["1", " 2 ", "", "999"])
def test_a_number_of_threads_is_taken(monkeypatch, value: str):
    from vericite.models.engine import available_cores

    monkeypatch.setenv("VERICITE_THREADS", value)
    assert available_cores() >= 1
    assert value.strip() != "1" or available_cores() == 1


def test_a_local_language_model_goes_by_the_same_variable(monkeypatch):
    from vericite.llm.local import _threads

    monkeypatch.setenv("VERICITE_THREADS", "abc")
    with pytest.raises(InputError, match="VERICITE_THREADS"):
        _threads()


@pytest.mark.parametrize(
    ("variable", "words"),
    [
        ("VERICITE_CONFIG", ("check", "ANSWERS", "--judge", "lexical")),
        ("VERICITE_DATA", ("datasets",)),
        ("VERICITE_TOKEN", ("serve",)),
    ],
)
def test_a_value_that_cannot_be_used_names_its_variable(run_cli, monkeypatch, tmp_path, variable, words):
    monkeypatch.setenv(variable, str(tmp_path / "nowhere") if variable != "VERICITE_TOKEN" else "short")
    answers = str(Path(__file__).parents[1] / "examples" / "answers.jsonl")
    printed = run_cli(*(answers if word == "ANSWERS" else word for word in words))
    assert variable in printed.err and printed.code == 2


def test_every_variable_is_in_the_docs():
    docs = (Path(__file__).parents[1] / "docs" / "tutorial.md").read_text(encoding="utf-8")
    names = [value for value in vars(environment).values() if isinstance(value, str) and value.startswith("VERICITE_")]
    assert len(names) >= 9
    assert [name for name in names if f"`{name}" not in docs] == []
