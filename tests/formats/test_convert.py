from __future__ import annotations

import csv
import io
import json
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from vericite.cli.app import app
from vericite.datasets.attributed import answer_of_sentences
from vericite.formats import answers_in
from vericite.formats.convert import biogen_problems, to_alce, to_biogen, to_table, to_vericite
from vericite.records import Answer, Document

SENTENCES = ("Zinc shortens colds.", "Iron does nothing here!", "Sleep helps most people", "Is rest enough?")
PMIDS = ("101", "20202", "30303030")
cited = st.lists(
    st.tuples(st.sampled_from(SENTENCES), st.lists(st.sampled_from(PMIDS), unique=True)), min_size=1, max_size=4
)


def answer(pairs: list[tuple[str, list[str]]]) -> Answer:
    documents = [Document.from_text(pmid, f"Text of {pmid}.").model_copy(update={"pmid": pmid}) for pmid in PMIDS]
    return answer_of_sentences("116", [text for text, _ in pairs], [ids for _, ids in pairs], documents, "Does it?")


def content(found: Answer) -> list[tuple[str, list[str]]]:
    return [(it.text.rstrip(".!?"), [one.document or "" for one in it.citations]) for it in found.claims]


def read_back(folder: Path, name: str, text: str, format: str) -> Answer:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    library = [Document.from_text(pmid, f"Text of {pmid}.").model_copy(update={"pmid": pmid}) for pmid in PMIDS]
    (found,) = answers_in(path, format, library if format == "biogen" else ())
    assert isinstance(found, Answer), found
    return found


@settings(max_examples=40, deadline=None)
@given(cited.filter(lambda pairs: all(text[-1] in ".!?" for text, _ in pairs)))
def test_answers_go_round_through_our_form_and_alces(tmp_path_factory, pairs):
    whole, folder = answer(pairs), tmp_path_factory.mktemp("round")
    assert content(read_back(folder, "ours.jsonl", to_vericite(whole), "vericite")) == content(whole)
    alce = json.dumps({"args": {}, "data": [to_alce(whole)]})
    assert content(read_back(folder, "alce.json", alce, "alce")) == content(whole)


@settings(max_examples=40, deadline=None)
@given(cited)
def test_answers_go_round_through_a_run_of_biogen(tmp_path_factory, pairs):
    whole = answer(pairs)
    made = to_biogen(whole, "run")
    assert biogen_problems(made, {"116"}) == []
    back = read_back(tmp_path_factory.mktemp("round"), "run.jsonl", json.dumps(made), "biogen")
    assert back.id == "116" and content(back) == content(whole)


def test_biogens_rules_are_kept():
    long = answer([("word " * 251, ["101"])])
    assert biogen_problems(to_biogen(long, "r")) == ["expected 250 words at most; found 251"]
    documents = [Document(id=str(n)) for n in range(4)]
    many = answer_of_sentences("116", ["Many."], [["0", "1", "2", "3"]], documents)
    assert biogen_problems(to_biogen(many, "r")) == ["expected 3 PMIDs at most in sentence 1; found 4"]
    named = answer_of_sentences("9", ["One."], [["doc-a"]], [Document(id="doc-a")])
    assert biogen_problems(to_biogen(named, "r"), {"116"}) == [
        "expected PMIDs in sentence 1; found 'doc-a'",
        "expected a topic of the track; found '9'",
    ]


def test_a_table_has_no_formulas_and_reads_back():
    text = to_table([["a", "=1+1", 'say "x",\nthen', "-2", "plain"]])
    assert next(csv.reader(io.StringIO(text))) == ["a", "'=1+1", 'say "x",\nthen', "'-2", "plain"]


def test_the_command_writes_a_run_and_leaves_out_what_the_track_refuses(tmp_path: Path):
    path = tmp_path / "answers.jsonl"
    good, bad = answer([("Zinc helps.", ["101"])]), answer([("word " * 300, ["101"])]).model_copy(update={"id": "117"})
    path.write_text(to_vericite(good) + "\n" + to_vericite(bad) + "\n", encoding="utf-8")
    done = CliRunner().invoke(app, ["convert", str(path), "--to", "biogen", "--run", "mine"])
    (line,) = done.stdout.splitlines()
    assert json.loads(line)["metadata"]["run_name"] == "mine"
    assert "250 words at most; found 300" in str(done.exception) + done.stderr


def test_verdicts_become_a_row_a_citation(tmp_path: Path):
    path, verdicts, table = (tmp_path / name for name in ("answers.jsonl", "verdicts.jsonl", "table.csv"))
    path.write_text(to_vericite(answer([("Zinc helps.", ["101", "20202"]), ("It is grey.", [])])) + "\n", "utf-8")
    assert CliRunner().invoke(app, ["check", str(path), "--out", str(verdicts)]).exit_code == 0
    assert CliRunner().invoke(app, ["convert", str(verdicts), "--to", "csv", "--out", str(table)]).exit_code == 0
    rows = list(csv.DictReader(io.StringIO(table.read_text(encoding="utf-8"))))
    assert [(row["sentence"], row["document"]) for row in rows] == [("1", "101"), ("1", "20202"), ("2", "")]
    assert rows[2]["label"] == "uncited"
