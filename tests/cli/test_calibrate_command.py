from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from vericite.models import Pair
from vericite.records import CheckedAnswer, read_jsonl
from vericite.verify import LexicalJudge, load_judge
from vericite.verify.judges.wrapped import read_stored

LABELS = Path(__file__).parents[2] / "examples" / "labels.jsonl"
LINES = [json.loads(line) for line in LABELS.read_text(encoding="utf-8").splitlines()]
ANSWER = {"id": "a", "answer": "Statins lower LDL [1].", "documents": [{"id": "a", "text": "Statins lower LDL a lot."}]}


def write(path: Path, *lines: object) -> str:
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return str(path)


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VERICITE_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "judges"


def calibrated(run_cli, *more: str):
    return run_cli("calibrate", str(LABELS), "--judge", "lexical", *more)


def test_the_example_is_balanced():
    labels = [line["label"] for line in LINES]
    assert {label: labels.count(label) for label in labels} == dict.fromkeys(
        ("supported", "contradicted", "irrelevant"), 20
    )


def test_figures_are_printed_and_without_a_name_nothing_is_kept(run_cli, own):
    printed = run_cli("calibrate", str(LABELS))
    assert printed.code == 0
    for part in ("bundled on 60 pairs in 20 groups", "temperature", "ECE", "Brier", "log loss", "coverage", "held out"):
        assert part in printed.out
    assert "expected at least 200 pairs" in printed.err
    assert not own.exists()


def test_a_judge_that_is_kept_is_used_by_its_name(run_cli, own, tmp_path):
    printed = calibrated(run_cli, "--out", "mine", "--coverage", "0.5")
    assert (printed.code, "--judge mine" in printed.out) == (0, True)
    kept = read_stored(own / "mine.json")
    assert (kept.judge, kept.signature, kept.n, kept.figures.groups) == ("lexical", "lexical.v1", 60, 20)
    assert "mine\n    lexical at temperature" in run_cli("judges").out
    pair = Pair("Statins lower LDL a lot.", "Statins lower LDL.")
    (before,), (after,) = (load_judge(name).judge([pair]) for name in ("lexical", "mine"))
    assert before.probabilities.max() != pytest.approx(after.probabilities.max(), abs=1e-3)
    found = json.loads(run_cli("judge", pair.claim, pair.premise, "--judge", "mine", "--json").out)
    assert found["probabilities"]["entails"] == pytest.approx(float(after.probabilities[0]), abs=1e-5)


def test_its_threshold_is_the_default_and_an_option_outranks_it(run_cli, own, tmp_path):
    calibrated(run_cli, "--out", "mine")
    kept = own / "mine.json"
    kept.write_text(json.dumps({**json.loads(kept.read_text()), "abstain_below": 1.0}))
    answers, out = write(tmp_path / "in.jsonl", ANSWER), tmp_path / "out.jsonl"

    def abstained(*more: str) -> bool:
        assert run_cli("check", answers, "--out", str(out), *more).code == 0
        (checked,) = read_jsonl(CheckedAnswer, out)
        return checked.verdicts[0].abstained

    assert abstained("--judge", "mine")
    assert abstained("--judge", f"calibrated:{kept}")
    assert not abstained("--judge", "mine", "--set", "check.abstain_below=0")
    assert not abstained("--judge", "lexical")
    # The answer quotes its sources, which the default protocol sees without the judge.
    asked = ("ask", "Do statins lower LDL?", "--judge", "mine", "--protocol", "vericite", "--json")
    run = json.loads(run_cli(*asked, "--set", "search.rerank=none").out)
    assert "(calibrated=mine@" in run["checked"]["provenance"]["parts"]["judge"]
    assert all(verdict["abstained"] for verdict in run["checked"]["verdicts"])
    told = run_cli("judge", "Statins lower LDL.", "Statins lower LDL a lot.", "--judge", "mine").out
    assert "below 1.00: `vericite check` would abstain" in told


def test_it_goes_into_a_file_where_asked(run_cli, own, tmp_path):
    out = tmp_path / "theirs.json"
    assert f"--judge calibrated:{out}" in calibrated(run_cli, "--out", str(out)).out
    assert not own.exists()
    assert "calibrated=theirs@" in load_judge(f"calibrated:{out}").signature


def test_a_file_to_pass_on_can_be_read_as_others_of_the_user_can(run_cli, own, tmp_path):
    out, usual = tmp_path / "theirs.json", tmp_path / "usual"
    usual.touch()
    calibrated(run_cli, "--out", str(out))
    calibrated(run_cli, "--out", "mine")
    mode, other, folder = (stat.S_IMODE(path.stat().st_mode) for path in (out, usual, own))
    assert (mode, folder) == (other, 0o700)


def test_the_labels_are_not_written_over(run_cli, tmp_path):
    labels = write(tmp_path / "labels.jsonl", *LINES)
    before, link = Path(labels).read_text(), tmp_path / "link.jsonl"
    link.symlink_to(labels)
    for out in (labels, str(link)):
        printed = run_cli("calibrate", labels, "--judge", "lexical", "--out", out)
        assert (printed.code, "different files" in printed.err) == (2, True)
    assert Path(labels).read_text() == before


def unasked(*_: object) -> None:
    raise AssertionError("the judge was asked")


@pytest.mark.parametrize("is_file", [True, False])
def test_a_folder_that_cannot_be_written_is_told_of_before_the_judge_is_asked(
    run_cli, own, tmp_path, monkeypatch: pytest.MonkeyPatch, is_file
):
    monkeypatch.setattr(LexicalJudge, "judge", unasked)
    # Root may write anywhere.
    monkeypatch.setattr(os, "access", lambda path, mode, **_: mode != os.W_OK)
    printed = calibrated(run_cli, "--out", str(tmp_path / "x.json") if is_file else "mine")
    assert (printed.code, "that can be written" in printed.err, "Permission denied" in printed.err) == (2, True, True)
    assert "--out" in printed.err


def test_a_home_that_cannot_be_made_is_told_of_before_the_judge_is_asked(
    run_cli, tmp_path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "file").touch()
    monkeypatch.setenv("VERICITE_HOME", str(tmp_path / "file" / "home"))
    monkeypatch.setattr(LexicalJudge, "judge", unasked)
    printed = calibrated(run_cli, "--out", "mine")
    assert (printed.code, "Set VERICITE_HOME to another" in printed.err) == (2, True)


@pytest.mark.filterwarnings("always::vericite.verify.judges.wrapped.StaleCalibrationWarning")
def test_a_judge_that_has_changed_is_told_of_on_stderr(run_cli, own):
    calibrated(run_cli, "--out", "mine")
    kept = own / "mine.json"
    kept.write_text(kept.read_text().replace("lexical.v1", "lexical.v0"))
    printed = run_cli("judge", "Statins lower LDL.", "Statins lower LDL a lot.", "--judge", "mine")
    assert printed.code == 0
    assert "found lexical.v1. Calibrate again: vericite calibrate" in printed.err
    assert "Warning" not in printed.err


def test_bad_lines_are_named_and_cost_only_themselves(run_cli, own, tmp_path):
    bad = ["nope", {**LINES[0], "label": "maybe"}, {**LINES[0], "claim": " "}, {"claim": "Zinc."}]
    path = write(tmp_path / "in.jsonl", *bad, *LINES)
    printed = run_cli("calibrate", path, "--judge", "lexical", "--out", "mine")
    assert printed.code == 2
    for place in ("line 1:", "line 2, field label:", "line 3, field claim:", "line 4, field premise:"):
        assert f"{path}, {place}" in printed.err
    assert read_stored(own / "mine.json").n == 60


def test_both_namings_of_labels_and_fields_of_ones_own_are_taken(run_cli, own, tmp_path):
    names = {"supported": "entails", "contradicted": "contradicts", "irrelevant": "neutral"}
    renamed = [
        {**line, "label": names[line["label"]], "rater": "AB", "group": 7 + row // 3} for row, line in enumerate(LINES)
    ]
    other = write(tmp_path / "in.jsonl", *renamed)
    calibrated(run_cli, "--out", "mine")
    run_cli("calibrate", other, "--judge", "lexical", "--out", "yours")
    mine, yours = (read_stored(own / f"{name}.json") for name in ("mine", "yours"))
    assert (mine.temperature, mine.bias) == (yours.temperature, yours.bias)


def test_pairs_of_one_premise_are_held_out_together(run_cli, tmp_path):
    ungrouped = [{name: value for name, value in line.items() if name != "group"} for line in LINES]
    printed = run_cli("calibrate", write(tmp_path / "in.jsonl", *ungrouped), "--judge", "lexical")
    assert "60 pairs in 20 groups" in printed.out


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--judge", "llm-labels:ollama:any"), "only gives labels"),
        (("--judge", "nobody"), "expected a judge out of"),
        (("--out", "bundled"), "expected a name that no judge has yet"),
        (("--out", "calibrated"), "expected a name that no judge has yet"),
        (("--out", "My Judge"), "1 to 40"),
        (("--out", f"{__file__}/x.json"), "is a file, not a folder"),
        (("--coverage", "0.9", "--risk", "0.1"), "--coverage or --risk"),
        (("--risk", "0"), "a risk of at most 0 "),
    ],
)
def test_what_cannot_be_done_is_refused(run_cli, more, told):
    printed = calibrated(run_cli, *more)
    assert (printed.code, told in printed.err) == (2, True), printed.err
    assert "Traceback" not in printed.err


def test_a_calibrated_judge_is_not_calibrated_again_but_its_name_may_be_used_again(run_cli, own):
    assert calibrated(run_cli, "--out", "mine").code == 0
    assert "not calibrated yet" in calibrated(run_cli, "--judge", "mine").err
    assert calibrated(run_cli, "--out", "mine", "--coverage", "0.5").code == 0


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (LINES[:29], "expected at least 30 labelled pairs (200 for reliable figures); found 29"),
        ([{**line, "label": "supported"} for line in LINES], "at least two labels out of"),
        ([{**line, "group": "one"} for line in LINES], "at least 5 groups"),
        ([], "found none"),
    ],
)
def test_labels_that_cannot_do_are_refused(run_cli, tmp_path, lines, told):
    printed = run_cli("calibrate", write(tmp_path / "in.jsonl", *lines), "--judge", "lexical")
    assert (printed.code, told in printed.err) == (2, True), printed.err


def test_two_hundred_pairs_are_enough_for_no_warning(run_cli, tmp_path):
    many = [{**line, "group": f"{line['group']}-{turn}"} for turn in range(4) for line in LINES]
    assert "expected 200" not in run_cli("calibrate", write(tmp_path / "in.jsonl", *many), "--judge", "lexical").err


def test_a_damaged_judge_is_listed_as_such(run_cli, own):
    own.mkdir(parents=True)
    (own / "broken.json").write_text("{}")
    printed = run_cli("judges")
    assert printed.code == 0
    assert "broken\n    expected a calibrated judge's file, as `vericite calibrate` writes it" in printed.out


def test_never_to_abstain_is_no_threshold_that_leaves_some(run_cli):
    told = " ".join(calibrated(run_cli).out.split())
    assert "0.00, that is never. When chosen without the pairs that it is measured on, it was sometimes above 0" in told
    assert "such a threshold" not in told
    told = " ".join(calibrated(run_cli, "--coverage", "0.35").out.split())
    assert "Measured on pairs that it was not chosen on, such a threshold leaves" in told


def test_repeated_pairs_are_reported(run_cli, tmp_path):
    twice = write(tmp_path / "twice.jsonl", *LINES, *LINES[:3])
    printed = run_cli("calibrate", twice, "--judge", "lexical")
    assert (printed.code, "found 3 duplicates" in printed.err) == (0, True)
    assert "duplicates" not in calibrated(run_cli).err
