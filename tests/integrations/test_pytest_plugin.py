"""The pytest plug-in, in runs of pytest as a user starts them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import vericite as vc
from vericite.records import Summary

SOURCE = ["Statins lower LDL cholesterol in adults."]
TESTS = """
import vericite as vc

SOURCE = ["Statins lower LDL cholesterol in adults."]


def test_supported(vericite_judge):
    vc.assert_supported("Statins lower LDL cholesterol [1].", SOURCE, judge=vericite_judge)


def test_same_judge(vericite_judge, request):
    assert request.getfixturevalue("vericite_judge") is vericite_judge


def test_not_supported():
    vc.assert_supported("Statins raise LDL cholesterol [1]. Fish swim. Zinc helps [2].", SOURCE)


def test_not_supported_by_the_loaded_judge(vericite_judge):
    vc.assert_supported("Statins lower LDL cholesterol by 50 % [1].", SOURCE, judge=vericite_judge)
"""
LOADED = """
import sys


def test_a_run_that_does_not_use_it_has_loaded_nothing_else():
    own = {name for name in sys.modules if name.split(".")[0] in ("vericite", "numpy", "onnxruntime", "pydantic")}
    assert own == {"vericite", "vericite.version", "vericite.integrations", "vericite.integrations.pytest_plugin"}
"""


def run_pytest(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pytest with this plug-in alone (it starts faster), and as at a terminal: for CI it repeats whole messages."""
    env = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
    env = {name: value for name, value in env.items() if name not in ("CI", "BUILD_NUMBER")}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "vericite.integrations.pytest_plugin"]
    return subprocess.run([*command, *arguments], cwd=folder, env=env, capture_output=True, text=True, timeout=120)


def test_failures_show_sentence_verdict_evidence_and_reason(tmp_path: Path):
    (tmp_path / "test_a.py").write_text(LOADED)
    (tmp_path / "test_answers.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\nvericite_judge = bundled\n")
    done = run_pytest(tmp_path, "-q", "--strict-config")
    assert done.returncode == 1 and "2 failed, 3 passed" in done.stdout, done.stdout + done.stderr
    lines = done.stdout
    assert "expected at least 0.9 supported; found 0 of 3 cases, dangling citations and uncited sentences" in lines
    assert "A source contradicts the sentence (p 0." in lines and "Statins raise LDL cholesterol. [1]" in lines
    assert "Source document-1: Statins lower LDL cholesterol in adults." in lines
    assert lines.count("Reason: ") == 2  # also with the loaded judge
    assert "The marker points to no source: Zinc helps. [2]" in lines
    assert "The sentence cites nothing: Fish swim." in lines
    # The traceback ends in the test, not in our code.
    assert "test_answers.py:" in lines and "api.py" not in lines


def test_it_is_an_entry_point_of_the_package():
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert '[project.entry-points.pytest11]\nvericite = "vericite.integrations.pytest_plugin"' in text


def test_what_is_supported_is_returned():
    checked = vc.assert_supported("Statins lower LDL cholesterol [1].", SOURCE)
    assert checked.supported
    assert vc.assert_supported(checked) is checked


@pytest.mark.parametrize(("at_least", "passes"), [(0, True), (0.5, True), (0.6, False), (1, False)])
def test_the_share_counts_uncited_sentences_as_the_gate_of_check_does(at_least: float, passes: bool):
    answer = "Statins lower LDL cholesterol [1]. Fish swim."
    if passes:
        vc.assert_supported(answer, SOURCE, at_least=at_least)
        return
    with pytest.raises(AssertionError, match=r"found 1 of 2 .* \(0\.500\)"):
        vc.assert_supported(answer, SOURCE, at_least=at_least)


def test_an_answer_without_anything_to_check_is_not_supported():
    with pytest.raises(AssertionError, match="found 0 of 0"):
        vc.assert_supported("", SOURCE)


def test_quotations_support_themselves():
    checked = vc.assert_supported("Statins lower LDL cholesterol [1].", SOURCE)
    quoted = checked.model_copy(update={"summary": Summary(claims=1, citations=1, quoted=1)})
    assert vc.assert_supported(quoted, at_least=1) is quoted


def test_a_failed_judge_is_no_failed_assertion():
    def broken(premise: str, claim: str) -> str:
        raise RuntimeError("no connection")

    with pytest.raises(vc.VeriCiteError, match="no connection"):
        vc.assert_supported("Statins lower LDL cholesterol [1].", SOURCE, judge=broken)


@pytest.mark.parametrize("share", [90, -0.1, "0.9", True])
def test_a_share_is_between_0_and_1(share: object):
    with pytest.raises(vc.InputError, match="at_least"):
        vc.assert_supported("Statins lower LDL [1].", SOURCE, at_least=share if share is not True else float("nan"))


def test_an_answer_without_a_judged_citation_does_not_pass():
    with pytest.raises(AssertionError, match="Expected at least one judged citation; found none: 1 dangling"):
        vc.assert_supported("Statins lower LDL [9].", SOURCE, at_least=0)
