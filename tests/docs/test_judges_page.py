"""The judge of one's own in docs/judges.md, installed as another package would bring it."""

import json
import re
import sys
from pathlib import Path

import pytest

import vericite
from vericite.errors import PluginError
from vericite.verify import load_judge
from vericite.verify.judges.registry import JUDGES

PAGE = (Path(__file__).parents[2] / "docs" / "judges.md").read_text(encoding="utf-8")
LOUD = {"id": "loud", "text": "ASPIRIN PREVENTS STROKES!"}
QUIET = {"id": "quiet", "text": "Aspirin prevents strokes."}


def install(folder: Path, code: str, entry: str) -> None:
    """What pip leaves of a package with one module and one entry point."""
    (folder / "shouting.py").write_text(code)
    info = folder / "shouting-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shouting\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text(f"[vericite.judges]\n{entry}\n")


@pytest.fixture
def installed(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    yield lambda code, entry: install(tmp_path, code, entry)
    sys.modules.pop("shouting", None)


@pytest.fixture
def example(installed):
    code = re.search(r"```python\n(# shouting.py.*?)```", PAGE, re.DOTALL)
    entry = re.search(r'"vericite.judges"\]\n(.*?)\n```', PAGE, re.DOTALL)
    assert code and entry
    assert len([line for line in code[1].splitlines() if line.strip()]) <= 22
    installed(code[1], entry[1].replace('"', ""))


def test_the_example_judges(example):
    found = vericite.check("Aspirin prevents strokes [1][2].", [LOUD, QUIET], protocol="vericite", judge="shouting:0.8")
    assert [item.label for item in found.verdicts] == ["supported", "irrelevant"]
    assert found.provenance.parts["judge"] == "shouting.v1(0.8)"


def test_the_example_can_fail(example):
    found = vericite.check("Aspirin prevents strokes [1].", [{"id": "d", "text": "1234."}], judge="shouting")
    assert [item.reason for item in found.failures] == ["1 of 1 judgements failed: the premise has no letters"]


def test_the_example_is_listed_and_taken_on_the_command_line(example, run_cli, tmp_path):
    assert "from shouting 1.2" in run_cli("judges").out
    answers = tmp_path / "answers.jsonl"
    answers.write_text(json.dumps({"id": "a", "answer": "Aspirin prevents strokes [1].", "documents": [LOUD]}))
    printed = run_cli("check", str(answers), "--judge", "shouting:0.8")
    assert (printed.code, "1/1" in printed.out) == (0, True)


@pytest.mark.parametrize(
    ("code", "entry", "found"),
    [
        ("import nowhere_to_be_found", "shouting = shouting:make", "ModuleNotFoundError"),
        ("make = 3", "shouting = shouting:make", "TypeError"),
        ("def make(rest): return object()", "shouting = shouting:make", "object without a text as its signature"),
        ("def make(rest): raise RuntimeError('no luck')", "shouting = shouting:make", "no luck"),
    ],
)
def test_a_broken_judge_of_another_package_is_named_and_harms_no_other(installed, run_cli, code, entry, found):
    installed(code, entry)
    with pytest.raises(PluginError, match=f"of shouting 1.2; found .*{found}"):
        load_judge("shouting")
    assert load_judge("lexical")
    assert run_cli("judges").code == 0


def test_ours_cannot_be_replaced(installed):
    installed("def make(rest): raise RuntimeError", "bundled = shouting:make")
    assert not JUDGES.plugins
    assert load_judge("bundled").signature.startswith("verifier-")
