"""Problems of a whole file that check and repair report: no answers, repeated ids, no documents to cite."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from vericite.cli.answers import watched
from vericite.text.citations import parse_answer

DOCUMENTS = [{"id": "a", "text": "Statins lower LDL."}]
GOOD = {"id": "good", "answer": "Statins lower LDL [1].", "documents": DOCUMENTS}


def write(path: Path, *lines: object) -> str:
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return str(path)


@pytest.mark.parametrize("command", ["check", "repair"])
@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("in.jsonl", "", "none"),
        ("in.jsonl", "\n \n\n", "none"),
        ("in.md", "", "none"),
        ("in.md", " \n\n", "none"),
        ("in.txt", "\n", "none"),
        ("in.jsonl", json.dumps({**GOOD, "answer": " "}), "only empty ones"),
    ],
)
def test_a_file_without_answers_is_reported(run_cli, tmp_path, command, name, content, found):
    path = tmp_path / name
    path.write_text(content)
    printed = run_cli(command, str(path))
    assert printed.code == (2 if found == "none" else 0)
    assert f"vericite: expected answers; found {found} in {path}." in printed.err


def test_an_empty_text_is_no_answer_to_attribute(run_cli, tmp_path):
    (tmp_path / "in.txt").write_text("\n")
    printed = run_cli("attribute", str(tmp_path / "in.txt"), "--documents", write(tmp_path / "d.jsonl", *DOCUMENTS))
    assert printed.code == 2 and "expected answers; found none" in printed.err


def test_a_binary_file_has_one_problem(run_cli, tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\xff\xfe\n" * 50)
    printed = run_cli("check", str(path))
    assert printed.code == 2 and printed.out == ""
    assert "line 1: expected a text; found a binary file" in printed.err and printed.err.count("UTF-8") == 1


def test_an_empty_device_is_reported(run_cli):
    assert "expected answers; found none in /dev/null" in run_cli("check", "/dev/null").err


def test_a_file_of_bad_lines_is_not_reported_as_empty(run_cli, tmp_path):
    printed = run_cli("check", write(tmp_path / "in.jsonl", "nope"))
    assert printed.code == 2
    assert "line 1" in printed.err and "expected answers" not in printed.err


@pytest.mark.parametrize("command", ["check", "repair"])
def test_a_repeated_id_is_reported_once_with_its_record(run_cli, tmp_path, command):
    path = write(tmp_path / "in.jsonl", GOOD, "nope", GOOD, {**GOOD, "id": "other"}, GOOD)
    lines = [line for line in run_cli(command, path).err.splitlines() if "a different id for every answer" in line]
    assert len(lines) == 1
    assert f"found 'good' again in record 3 of {path}." in lines[0]
    assert "`vericite score` will refuse" in lines[0]


def test_only_the_first_repeated_ids_are_named(run_cli, tmp_path):
    answers = [{**GOOD, "id": f"q{number}", "answer": "Statins."} for number in range(9)]
    printed = run_cli("check", write(tmp_path / "in.jsonl", *answers, *answers))
    lines = [line for line in printed.err.splitlines() if "again" in line or "repeated" in line]
    assert printed.code == 0
    assert len(lines) == 6
    assert "'q4' again in record 14" in lines[4]
    assert lines[5].startswith("vericite: 4 more repeated ids in ")


def test_an_id_cannot_steer_the_terminal(run_cli, tmp_path):
    bad = {**GOOD, "id": "\x1b[31m\u202ered"}
    printed = run_cli("check", write(tmp_path / "in.jsonl", bad, bad))
    assert "again in record 2" in printed.err
    assert not {"\x1b", "\u202e"} & set(printed.err)


@pytest.mark.parametrize("command", ["check", "repair"])
@pytest.mark.parametrize("text", ["Tea is good [1].", "Tea is good (PMID: 123)."])
def test_markdown_without_documents_says_how_to_give_them(run_cli, tmp_path, command, text):
    path = tmp_path / "in.md"
    path.write_text(text)
    printed = run_cli(command, str(path))
    assert printed.code == 0
    assert f"found none in {path}, so every citation is dangling. Give them with --documents FILE" in printed.err


@pytest.mark.parametrize(
    "answers",
    [
        [GOOD | {"answer": "Tea is good [9]."}],  # it has documents, and cites another
        [GOOD | {"answer": "Tea is good.", "documents": []}],  # it cites nothing
        [GOOD | {"documents": []}, GOOD | {"id": "other"}],  # some have documents
    ],
)
def test_dangling_citations_beside_documents_need_no_such_hint(run_cli, tmp_path, answers):
    assert "--documents" not in run_cli("check", write(tmp_path / "in.jsonl", *answers)).err


def test_given_documents_are_not_asked_for_again(run_cli, tmp_path):
    path, library = tmp_path / "in.md", write(tmp_path / "documents.jsonl", {"id": "PMID:5", "text": "x"})
    path.write_text("Tea is good (PMID: 123).")
    assert "--documents" not in run_cli("check", str(path), "--documents", library).err


def test_a_comma_too_many_in_a_marker_loses_no_citation(run_cli, tmp_path):
    answer = {**GOOD, "answer": "Statins lower LDL [1,2,].", "documents": [*DOCUMENTS, {"id": "b", "text": "Tea."}]}
    out = tmp_path / "out.jsonl"
    printed = run_cli("check", write(tmp_path / "in.jsonl", answer), "--out", str(out))
    assert printed.code == 0
    (line,) = map(json.loads, out.read_text().splitlines())
    assert line["summary"]["citations"] == 2
    assert {verdict["claim"] for verdict in line["verdicts"]} == {"Statins lower LDL."}


def test_ids_of_a_table_are_named_with_their_column_if_no_citation_finds_one(run_cli, tmp_path):
    path, table = tmp_path / "in.md", tmp_path / "sources.csv"
    path.write_text("Statins lower LDL [1].")
    table.write_text("Quelle,Titel,Abstract\n1,On statins,Statins lower LDL.\n2,On tea,Tea is hot.\n")
    printed = run_cli("check", str(path), "--documents", str(table)).err
    assert "The documents have the ids sources:2, sources:3, made of the file's name and the line" in printed
    assert "columns Quelle, Titel, Abstract. To take ids from another column, name it id" in printed
    table.write_text("pmid,Titel,Abstract\n99,On statins,Statins lower LDL.\n")
    printed = run_cli("check", str(path), "--documents", str(table)).err
    assert "The documents have the ids 99, taken from column pmid; columns pmid, Titel, Abstract" in printed


def test_a_column_nr_has_the_numbers_that_markers_name(run_cli, tmp_path):
    path, table = tmp_path / "in.md", tmp_path / "sources.csv"
    path.write_text("Statins lower LDL [1].")
    table.write_text("nr,Titel,Abstract\n1,On statins,Statins lower LDL in trials.\n2,On tea,Tea is hot.\n")
    printed = run_cli("check", str(path), "--documents", str(table), "--out", str(tmp_path / "o.jsonl"))
    (line,) = map(json.loads, (tmp_path / "o.jsonl").read_text().splitlines())
    assert printed.code == 0 and line["verdicts"][0]["documents"] == ["1"]


def test_a_full_disk_ends_the_search_for_repeated_ids_and_loses_no_answer(monkeypatch, capsys):
    connect = sqlite3.connect

    def small(*given: Any, **named: Any) -> sqlite3.Connection:
        database = connect(*given, **named)
        database.execute("PRAGMA max_page_count=3")
        return database

    monkeypatch.setattr(sqlite3, "connect", small)
    answers = [parse_answer(str(number), "Aspirin lowers fever.", []) for number in range(2_000)]
    assert len(list(watched(answers, Path("many.jsonl"), has_library=True))) == 2_000
    assert (
        capsys.readouterr().err.count("of many.jsonl are not reported: temporary files: database or disk is full") == 1
    )
