"""``vericite report`` as a user types it."""

from __future__ import annotations

import csv
import json
import zipfile
from pathlib import Path

import pytest

import vericite
from vericite.errors import InputError

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_answers_without_verdicts_become_a_page_in_one_command(run_cli, tmp_path: Path):
    out = tmp_path / "report.html"
    printed = run_cli("report", str(EXAMPLES / "answers.jsonl"), "--out", str(out))
    assert printed.code == 0, printed.err
    assert "answers" in printed.out
    assert ">Cited answers</h1>" in out.read_text(encoding="utf-8")


def test_a_report_is_in_the_language_of_a_setting(run_cli, tmp_path: Path):
    out, answers = tmp_path / "report.html", str(EXAMPLES / "answers.jsonl")
    given = ("--set", "check.judge=lexical", "--set", "report.language=es")
    assert run_cli("report", answers, "--out", str(out), *given).code == 0
    html = out.read_text(encoding="utf-8")
    assert '<html lang="es">' in html and "Frases que debe revisar una persona" in html
    refused = run_cli("report", answers, "--out", str(out), "--set", "report.language=xx")
    assert refused.code == 2 and "'en', 'de' or 'es'" in refused.err


@pytest.mark.parametrize("name", ["answer.md", "answer.txt"])
def test_a_text_is_recognised_as_check_recognises_it(run_cli, tmp_path: Path, name: str):
    """A heading of six words was read as the first line of a TREC run, and the page was empty."""
    answer, source, out = tmp_path / name, tmp_path / "1.txt", tmp_path / "report.html"
    answer.write_text("# Diabetes, blood pressure and vaccines\n\nAspirin lowered the risk of stroke [1].\n")
    source.write_text("Aspirin lowered the risk of stroke.\n")
    command = ("report", str(answer), "--documents", str(source), "--out", str(out), "--set", "check.judge=lexical")
    printed = run_cli(*command)
    assert printed.code == 0, printed.err
    assert "read as markdown; choose another format with --format NAME" in printed.err
    assert '"verdicts":[{"kind":"supported"' in out.read_text(encoding="utf-8")


def test_the_page_never_takes_the_place_of_what_was_read(run_cli, tmp_path: Path):
    answers = tmp_path / "answers.jsonl"
    answers.write_bytes((EXAMPLES / "answers.jsonl").read_bytes())
    printed = run_cli("report", str(answers), "--out", str(answers))
    assert printed.code == 2
    assert answers.read_bytes() == (EXAMPLES / "answers.jsonl").read_bytes()


@pytest.mark.parametrize("form", ["ragas.jsonl", "langchain.jsonl", "biogen.json"])
def test_answers_of_other_programs_become_a_page_as_they_are_checked(run_cli, tmp_path: Path, form: str):
    out, formats = tmp_path / "report.html", EXAMPLES / "formats"
    beside = ("--documents", str(formats / "documents.jsonl")) if form == "biogen.json" else ()
    printed = run_cli("check", str(formats / form), *beside, "--judge", "lexical", "--report", str(out))
    assert printed.code == 0, printed.err
    html = out.read_text(encoding="utf-8")
    assert ">Cited answers</h1>" in html
    assert '"verdicts":[{"kind"' in html


def test_a_page_of_checked_answers_never_takes_the_place_of_what_is_read_or_written(run_cli, tmp_path: Path):
    out = tmp_path / "same"
    printed = run_cli("check", str(EXAMPLES / "answers.jsonl"), "--out", str(out), "--report", str(out))
    assert printed.code == 2
    assert not out.exists()


def test_a_table_has_a_row_a_citation_of_each_system(run_cli, tmp_path: Path):
    answers, table = str(EXAMPLES / "answers.jsonl"), tmp_path / "citations.csv"
    named = (f"one={answers}", f"-two={answers}", "--set", "check.judge=lexical")
    printed = run_cli("report", *named[:1], "--out", str(table), *named[2:], "--", named[1])
    assert printed.code == 0, printed.err
    rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    # What a spreadsheet would run as a formula begins with an apostrophe.
    assert {row["system"] for row in rows} == {"one", "'-two"}
    supported = next(row for row in rows if row["label"] == "supported")
    assert supported["title"] and supported["evidence"] and supported["question"]
    assert {"supported", "irrelevant", "uncited"} <= {row["label"] for row in rows}
    folder, page = tmp_path / "folder", tmp_path / "page.html"
    many = run_cli("report", answers, "--out", str(folder), "--out", str(page), "--set", "check.judge=lexical")
    assert many.code == 0, many.err
    assert (folder / "index.html").is_file() and (folder / "data.js").is_file() and page.is_file()


def test_checked_answers_are_written_for_a_colleague_in_word_and_markdown(run_cli, tmp_path: Path):
    answers, judge = str(EXAMPLES / "answers.jsonl"), ("--set", "check.judge=lexical")
    word, text = tmp_path / "for-anna.docx", tmp_path / "for-anna.md"
    printed = run_cli("report", f"one={answers}", f"two={answers}", "--out", str(word), "--out", str(text), *judge)
    assert printed.code == 0, printed.err
    with zipfile.ZipFile(word) as parts:
        body = parts.read("word/document.xml").decode()
    written = text.read_text(encoding="utf-8")
    for said in ("one", "two", "Do beta-blockers help in heart failure?", "Beta-blockers reduce mortality"):
        assert said in body and said in written
    assert "no such source" in written and "\n# one\n" in f"\n{written}"
    vericite.report(answers, tmp_path / "python.md", judge="lexical")
    assert "Beta-blockers reduce mortality" in (tmp_path / "python.md").read_text(encoding="utf-8")


def test_a_report_in_python_is_what_the_command_writes_for_the_ending(run_cli, tmp_path: Path):
    """Python wrote the page into a .csv."""
    answers = str(EXAMPLES / "answers.jsonl")
    for name in ("x.csv", "x.md", "x.html", "folder"):
        assert "Cited answers</h1>" in vericite.report(answers, tmp_path / "python" / name, judge="lexical")
        out = tmp_path / "command" / name
        assert run_cli("report", answers, "--out", str(out), "--set", "check.judge=lexical").code == 0
    for name in ("x.csv", "x.md", "x.html", "folder/index.html", "folder/data.js"):
        assert (tmp_path / "python" / name).read_bytes() == (tmp_path / "command" / name).read_bytes()
    with pytest.raises(InputError, match=r"expected a report to end in \.html.*found .*x\.pdf"):
        vericite.report(answers, tmp_path / "x.pdf")


def test_check_refuses_a_page_whose_name_says_that_it_is_none(run_cli, tmp_path: Path):
    printed = run_cli("check", str(EXAMPLES / "answers.jsonl"), "--report", str(tmp_path / "x.csv"))
    assert printed.code == 2 and "expected --report to end in .html; found" in printed.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["report.xlsx", "report.pdf", "v1.2"])
def test_a_name_whose_ending_says_nothing_is_no_folder(run_cli, tmp_path: Path, name: str):
    command = ("report", str(EXAMPLES / "answers.jsonl"), "--set", "check.judge=lexical", "--out", str(tmp_path / name))
    printed = run_cli(*command)
    assert printed.code == 2 and "expected a report to end in .html" in printed.err
    assert list(tmp_path.iterdir()) == []
    (tmp_path / name).mkdir()
    assert run_cli(*command).code == 0 and (tmp_path / name / "index.html").is_file()


@pytest.mark.parametrize("end", [KeyboardInterrupt(), SystemExit(143)], ids=["Ctrl-C", "SIGTERM"])
def test_a_report_that_is_stopped_says_that_nothing_was_written(run_cli, tmp_path: Path, monkeypatch, end):
    def stopped(*_: object) -> None:
        raise end

    monkeypatch.setattr("vericite.reporting.data.with_verdicts", stopped)
    out = tmp_path / "report.html"
    printed = run_cli("report", str(EXAMPLES / "answers.jsonl"), "--out", str(out))
    assert printed.code in (130, 143)
    assert "stopped; nothing was written" in printed.err
    assert not out.exists()


def test_the_usual_protocol_may_be_named_to_judge_again(run_cli, tmp_path: Path):
    """The refusal advises to name a protocol; naming the usual one brought the same refusal again."""
    answers = tmp_path / "answers.jsonl"
    answers.write_text((Path(__file__).parents[2] / "examples/answers.jsonl").read_text().splitlines()[0] + "\n")
    assert run_cli("check", str(answers), "--out", str(tmp_path / "verdicts.jsonl")).code == 0
    page = ("report", str(answers), "--out", str(tmp_path / "page.html"))
    refused = run_cli(*page)
    assert refused.code == 2 and "to judge again, --set check.protocol=NAME" in refused.err
    assert run_cli(*page, "--set", "check.protocol=default").code == 0


def test_verdicts_alone_are_written_with_the_content_of_the_answers(run_cli, tmp_path: Path):
    answers, verdicts = tmp_path / "answers.jsonl", tmp_path / "verdicts.jsonl"
    lines = [
        {
            "id": f"a{number}",
            "question": "Does aspirin help?",
            "answer": "Aspirin lowered the risk of stroke [2].\n\nBleeding was rarer [2]. It is old [5]. Buy it.",
            "documents": [
                {"id": "other", "text": "Zinc shortens colds."},
                {"id": "trial", "text": "Aspirin lowered the risk of stroke. Cost was low. Bleeding was not rarer."},
            ],
        }
        for number in (10, 9)
    ]
    answers.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    assert run_cli("check", str(answers), "--judge", "lexical", "--out", str(verdicts)).code == 0
    outs = [tmp_path / f"{name}{ending}" for name in ("whole", "kept") for ending in (".md", ".docx", ".csv")]
    for place, written in ((answers, outs[:3]), (verdicts, outs[3:])):
        options = [part for out in written for part in ("--out", str(out))]
        assert run_cli("report", str(place), *options, "--set", "check.judge=lexical").code == 0
    whole, kept = (out.read_text(encoding="utf-8") for out in (outs[0], outs[3]))
    whole = whole.split("## Found and not cited")[0]
    for line in filter(None, whole.splitlines()):
        assert line.replace("(no title). ", "") in kept.replace("(no title). Passages. ", ""), line
    assert "[2] supported" in kept and "“Aspirin lowered the risk of stroke.” (trial, sentence 1)" in kept
    with zipfile.ZipFile(outs[4]) as parts:
        body = parts.read("word/document.xml").decode()
    assert "no checked answer" not in body and "(trial, sentence 1)" in body and "Does aspirin help?" in body
    rows = list(csv.DictReader(outs[5].read_text(encoding="utf-8").splitlines()))
    assert {row["question"] for row in rows} == {"Does aspirin help?"}


def test_a_page_of_verdicts_alone_has_the_passages_and_the_answers_in_natural_order(run_cli, tmp_path: Path):
    answers, verdicts, page = (tmp_path / name for name in ("answers.jsonl", "verdicts.jsonl", "page.html"))
    source = {"id": "trial", "text": "Aspirin lowered the risk of stroke. Cost was low."}
    lines = [
        {
            "id": f"c{number}",
            "answer": "Aspirin lowered the risk of stroke [1]. Cost was zero [1].",
            "documents": [source],
        }
        for number in (1, 10, 2)
    ]
    answers.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    assert run_cli("check", str(answers), "--judge", "lexical", "--out", str(verdicts)).code == 0
    assert run_cli("report", str(verdicts), "--out", str(page)).code == 0
    data = json.loads(page.read_text(encoding="utf-8").split('id="data">')[1].split("</script>")[0])
    assert [row["id"] for row in data["answers"]] == ["c1", "c2", "c10"]
    for row in data["answers"]:
        supported, lost = (claim["verdicts"][0] for claim in row["claims"])
        for passage, kind in ((supported["evidence"][0], "supported"), (lost["nearest"][0], "irrelevant")):
            document = data["documents"][passage[0]]
            words = document["text"][passage[1] : passage[2]]
            assert words == {"supported": "Aspirin lowered the risk of stroke.", "irrelevant": "Cost was low."}[kind]
            assert (document["id"], document["depth"]) == ("trial", "passages")
