"""The verdicts that check lists, on wide and narrow terminals."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "formats" / "vericite.jsonl"
DOCUMENTS = [{"id": "a", "text": "Statins lower LDL."}]


@pytest.mark.parametrize("columns", [20, 40, 60])
def test_verdict_and_probability_are_whole_on_a_narrow_terminal(run_cli, monkeypatch, columns):
    wide = run_cli("check", str(EXAMPLE)).out
    monkeypatch.setenv("COLUMNS", str(columns))
    narrow = run_cli("check", str(EXAMPLE)).out
    assert "…" not in narrow
    sure = re.findall(r"(?:irrelevant|contradicted) +(?:[a-z]+ supported)? +([01]\.\d\d) ", wide)
    assert len(sure) >= 2
    for words in ("99000001", "quoted", "supported", "contradicted", "dangling", "[0.061, 0.792]", *sure):
        assert words in wide
        assert words in narrow
    # The claims are whole, too, however they are broken into lines.
    assert "Vitamin C increases haemoglobin at two weeks." in " ".join(narrow.split())


def test_at_ten_columns_there_are_words_and_not_only_dots(run_cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "10")
    printed = run_cli("check", str(EXAMPLE)).out
    assert "…" not in printed
    assert {"supported", "dangling"} <= set(printed.split())
    assert re.search(r"\b[01]\.\d\d\b", printed)


def test_markers_that_are_not_read_are_named_and_the_others_counted(run_cli, tmp_path):
    path = tmp_path / "in.jsonl"
    texts = ("It is [S1]. It was [S2]. It does [S3]. So [S4]. So [S5]. Also [S3].", "It is [S3].")
    path.write_text("".join(json.dumps({"answer": text, "documents": DOCUMENTS}) + "\n" for text in texts))
    printed = " ".join(run_cli("check", str(path)).out.split())
    assert "7 markers not read: [S3] (3 times), [S1], [S2] and 2 more. They match" in printed


@pytest.mark.parametrize("columns", [80, 120])
def test_a_terminal_with_room_has_a_table(run_cli, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    printed = run_cli("check", str(EXAMPLE)).out
    # With 80 columns the details would leave too little for the claims, and stand below them.
    detail = ["detail"] if columns == 120 else []
    assert printed.splitlines()[0].split() == ["answer", "cites", "verdict", *detail, "p", "claim"]
    assert ("detail: partly supported" in printed) == (columns == 80)


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_no_text_of_a_claim_is_cut(run_cli, monkeypatch, tmp_path, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    words = " ".join(f"word{number}" for number in range(40))
    path = tmp_path / "in.jsonl"
    texts = (f"Statins lower LDL, {words}, with a statin [1].", f"Statins lower LDL, {words}, cites nothing.")
    path.write_text("".join(json.dumps({"answer": text, "documents": DOCUMENTS}) + "\n" for text in texts))
    lines = run_cli("check", str(path)).out.splitlines()
    printed = " ".join(" ".join(lines).split())
    assert printed.count(" word39, ") == 2 and "…" not in printed


def test_the_lines_say_what_the_intervals_are_over(run_cli, tmp_path):
    record = json.dumps({"answer": "Statins lower LDL [1].", "documents": DOCUMENTS}) + "\n"
    for count, told in ((1, "over citations, as if independent"), (2, "over answers: citations of one answer depend")):
        (tmp_path / "in.jsonl").write_text(record * count)
        assert f"intervals are {told}" in run_cli("check", str(tmp_path / "in.jsonl")).out


def test_an_answer_without_citations_does_not_count_as_one_that_intervals_are_over(run_cli, tmp_path):
    texts = ("Statins lower LDL [1]. Statins raise LDL [1].", "I do not know.")
    answers = [json.dumps({"id": text, "answer": text, "documents": DOCUMENTS}) + "\n" for text in texts]
    (tmp_path / "in.jsonl").write_text("".join(answers))
    printed = " ".join(run_cli("check", str(tmp_path / "in.jsonl")).out.split())
    told = "intervals are over citations, as if independent, because only one answer has any"
    assert f"{told}; that of uncited is over answers" in printed


@pytest.mark.parametrize("columns", [40, 120])
def test_a_citation_without_text_is_shown_as_such(run_cli, monkeypatch, tmp_path, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    answers = [{"id": "one", "answer": "[1]", "documents": DOCUMENTS}, {"id": "two", "answer": "[7]", "documents": []}]
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    printed = run_cli("check", str(path)).out
    assert printed.count("(no text with the citation)") == 1
    assert "the citation has no text next to it" in " ".join(printed.split())
    assert "abstained" in printed and "dangling" in printed
    # It is counted, as any citation is, and as no verdict on the answer.
    assert "0/0" in printed and "1/2" in printed
