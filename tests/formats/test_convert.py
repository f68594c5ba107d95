from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from vericite.cli.app import app
from vericite.datasets.attributed import answer_of_sentences
from vericite.errors import Problems
from vericite.formats import answers_in
from vericite.formats.convert import (
    answer_problems,
    run_problems,
    to_alce,
    to_autojudge,
    to_biogen,
    to_table,
    to_vericite,
)
from vericite.formats.tracks import banks_in, to_bank
from vericite.records import Answer, Document, Gold, GoldNugget, to_json

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
def test_answers_round_trip_through_our_format_and_alces(tmp_path_factory, pairs):
    whole, folder = answer(pairs), tmp_path_factory.mktemp("round")
    assert content(read_back(folder, "ours.jsonl", to_vericite(whole), "vericite")) == content(whole)
    alce = json.dumps({"args": {}, "data": [to_alce(whole)]})
    assert content(read_back(folder, "alce.json", alce, "alce")) == content(whole)


@settings(max_examples=40, deadline=None)
@given(cited)
def test_answers_round_trip_through_a_biogen_run(tmp_path_factory, pairs):
    whole = answer(pairs)
    made = to_biogen(whole, "run")
    assert answer_problems(made, {"116"}) == []
    back = read_back(tmp_path_factory.mktemp("round"), "run.jsonl", json.dumps(made), "biogen")
    assert back.id == "116" and content(back) == content(whole)


def test_biogens_rules_are_kept():
    long = answer([("word " * 251, ["101"])])
    assert answer_problems(to_biogen(long, "r")) == ["expected at most 250 words; found 251"]
    documents = [Document(id=str(n)) for n in range(1, 5)]
    many = answer_of_sentences("116", ["Many."], [["1", "2", "3", "4"]], documents)
    assert answer_problems(to_biogen(many, "r")) == ["expected at most 3 PMIDs in sentence 1; found 4"]
    named = answer_of_sentences("9", ["One."], [["doc-a"]], [Document(id="doc-a")])
    assert answer_problems(to_biogen(named, "r"), {"116"}) == [
        "expected a topic of the track; found '9'",
        "expected PMIDs in sentence 1; found 'doc-a'",
    ]


def test_a_table_has_no_formulas_and_reads_back():
    text = to_table([["a", "=1+1", 'say "x",\nthen', "-2", "plain"]])
    assert next(csv.reader(io.StringIO(text))) == ["a", "'=1+1", 'say "x",\nthen', "'-2", "plain"]


def test_the_command_writes_a_run_and_leaves_out_what_the_track_refuses(tmp_path: Path):
    path = tmp_path / "answers.jsonl"
    good, bad = answer([("Zinc helps.", ["101"])]), answer([("word " * 300, ["101"])]).model_copy(update={"id": "117"})
    path.write_text(to_vericite(good) + "\n" + to_vericite(bad) + "\n", encoding="utf-8")
    done = CliRunner().invoke(app, ["convert", str(path), "--to", "biogen", "--set", "run=mine"])
    (line,) = done.stdout.splitlines()
    assert json.loads(line)["metadata"]["run_name"] == "mine"
    assert "at most 250 words; found 300" in str(done.exception) + done.stderr


def test_verdicts_become_a_row_per_citation(tmp_path: Path):
    path, verdicts, table = (tmp_path / name for name in ("answers.jsonl", "verdicts.jsonl", "table.csv"))
    path.write_text(to_vericite(answer([("Zinc helps.", ["101", "20202"]), ("It is grey.", [])])) + "\n", "utf-8")
    assert CliRunner().invoke(app, ["check", str(path), "--out", str(verdicts)]).exit_code == 0
    assert CliRunner().invoke(app, ["convert", str(verdicts), "--to", "csv", "--out", str(table)]).exit_code == 0
    rows = list(csv.DictReader(io.StringIO(table.read_text(encoding="utf-8"))))
    assert [(row["sentence"], row["document"]) for row in rows] == [("1", "101"), ("1", "20202"), ("2", "")]
    assert rows[2]["label"] == "uncited"


@settings(max_examples=40, deadline=None)
@given(cited)
def test_answers_round_trip_through_an_autojudge_report_with_their_documents(tmp_path_factory, pairs):
    whole = answer(pairs)
    made = to_autojudge(whole, "run", "team")
    assert set(made["references"]) == {id for _, ids in pairs for id in ids} == set(made["documents"])
    back = read_back(tmp_path_factory.mktemp("round"), "run.jsonl", json.dumps(made), "autojudge")
    assert (back.id, back.question, content(back)) == ("116", "Does it?", content(whole))
    assert {it.id: it.text for it in back.documents} == {id: f"Text of {id}." for id in made["references"]}
    assert to_autojudge(back, "run", "team") == made


@pytest.mark.parametrize(
    ("citations", "references"),
    [(["a", "b"], ["a", "b"]), ([0, 1], ["a", "b"]), ({"a": 0.9, "b": 0.2}, ["a", "b"]), (["a", "b"], [])],
)
def test_a_report_cites_by_names_by_places_or_with_a_confidence(tmp_path: Path, citations, references):
    metadata = {"team_id": "t", "run_id": "r", "narrative_id": 7, "narrative": "Why?"}
    documents = {id: {"id": id, "text": f"Text of {id}."} for id in ("a", "b")}
    sentences = [{"text": "Zinc helps.", "citations": citations}, {"text": "So it goes.", "citations": None or []}]
    report = {"metadata": metadata, "responses": sentences, "references": references, "documents": documents}
    path = tmp_path / "run.jsonl"
    path.write_text(json.dumps(report))
    (found,) = answers_in(path)
    assert isinstance(found, Answer), found
    assert (found.id, found.question) == ("7", "Why?")
    assert content(found) == [("Zinc helps", ["a", "b"]), ("So it goes", [])]


def test_a_report_without_its_documents_is_read_as_a_run_of_biogen(tmp_path: Path):
    path = tmp_path / "run.jsonl"
    metadata = {"team_id": "t", "run_id": "r", "topic_id": "7"}
    path.write_text(json.dumps({"metadata": metadata, "responses": [{"text": "Zinc.", "citations": ["a"]}]}))
    (found,) = answers_in(path, "autojudge")
    assert "It looks like biogen: --format biogen" in str(found)


nuggets = st.lists(
    st.builds(
        GoldNugget,
        id=st.text("abc123", min_size=1, max_size=4),
        text=st.text("Zinc helps. ÄΩ", min_size=1).map(str.strip).filter(bool),
        vital=st.booleans(),
    ),
    min_size=1,
    max_size=5,
    unique_by=(lambda it: it.id, lambda it: it.text),
)


@settings(max_examples=60, deadline=None)
@given(nuggets, st.one_of(st.none(), st.sampled_from(SENTENCES)), st.booleans())
def test_nuggets_round_trip_through_a_keyed_or_listed_bank(tmp_path_factory, found, question, listed):
    gold = Gold(id="116", question=question, nuggets=tuple(found))
    bank = to_bank(gold)
    if listed:
        bank["claim_bank"] = list(bank["claim_bank"].values())
    path = tmp_path_factory.mktemp("round") / "banks.jsonl"
    path.write_text(json.dumps(bank), encoding="utf-8")
    assert list(banks_in(path)) == [(1, gold)]


def test_questions_of_a_bank_are_nuggets_with_their_answers(tmp_path: Path):
    questions = {
        "What?": {
            "question": "What?",
            "question_id": "q1",
            "answers": {"zinc": {"answer": "zinc"}},
            "importance": "okay",
        },
        "Which?": {"question": "Which?", "question_id": "q2", "answers": [{"answer": "a"}, {"answer": "b"}]},
        "Both?": {"question": "Both?", "question_id": "q3", "aggregator_type": "AND", "answers": ["a", "b"]},
    }
    path = tmp_path / "banks.jsonl"
    submission = {"metadata": {"topic_id": "8", "run_id": "r"}, "nugget_bank": list(questions.values())}
    lines = [{"query_id": "7", "title_query": "Why?", "nugget_bank": questions}, submission, {"nugget_bank": []}]
    path.write_text("\n".join(map(json.dumps, lines)))
    problems = Problems()
    (_, first), (_, second) = problems.kept(banks_in(path))
    (third,) = problems
    assert [(it.id, it.text, it.vital) for it in first.nuggets or ()] == [
        ("q1", "What? zinc", False),
        ("q2.1", "Which? a", True),
        ("q2.2", "Which? b", True),
        ("q3", "Both? a; b", True),
    ]
    assert second.id == "8" and second.nuggets == first.nuggets
    assert "metadata.topic_id" in str(third)


def test_the_command_writes_banks_and_reads_them_back(tmp_path: Path):
    gold, banks, again = (tmp_path / name for name in ("gold.jsonl", "banks.jsonl", "again.jsonl"))
    good = Gold(id="1", nuggets=(GoldNugget(id="a", text="Zinc helps."),))
    twice = Gold(id="2", nuggets=(GoldNugget(id="a", text="Same."), GoldNugget(id="b", text="Same.")))
    gold.write_text("\n".join(map(to_json, (good, twice))))
    done = CliRunner().invoke(app, ["convert", str(gold), "--to", "autojudge-nuggets", "--out", str(banks)])
    assert (done.exit_code, len(banks.read_text().splitlines())) == (2, 1)
    assert "nuggets with different texts" in done.stderr
    assert CliRunner().invoke(app, ["convert", str(banks), "--to", "gold", "--out", str(again)]).exit_code == 0
    assert again.read_text() == to_json(good) + "\n"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"metadata": None}, "expected metadata with topic_id and run_name"),
        ({"metadata": {"topic_id": "9", "run_name": "r"}}, "expected a topic of the track; found '9'"),
        ({"metadata": {"topic_id": "116", "run_name": ""}}, "expected metadata.run_name to be a text"),
        ({"responses": []}, "expected sentences under responses; found none"),
        ({"responses": [{"text": "", "citations": []}]}, "expected a text in sentence 1"),
        ({"responses": [{"text": "A.", "citations": "101"}]}, "expected a list of PMIDs in sentence 1"),
        ({"responses": [{"text": "A.", "citations": ["101", "101"]}]}, "expected each PMID once in sentence 1"),
        ({"responses": [{"text": "A.", "citations": ["0101"]}]}, "expected PMIDs in sentence 1; found '0101'"),
        ({"responses": ["A."]}, "expected a text in sentence 1"),
        ({"references": ["101", "101", "20202"]}, "expected each reference once; found '101' twice"),
        ({"references": ["101"]}, "expected each cited PMID among the references; '20202' is not"),
        ({"references": ["101", "20202", "7"]}, "expected each reference to be cited; '7' is not"),
    ],
)
def test_what_the_tracks_rules_refuse_is_named(change, told):
    run = to_biogen(answer([("Zinc helps.", ["101", "20202"])]), "r")
    assert answer_problems(run, {"116"}) == []
    assert any(told in problem for problem in answer_problems({**run, **change}, {"116"}))


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=5),
        lambda it: (
            st.lists(it, max_size=3)
            | st.dictionaries(
                st.sampled_from(["metadata", "responses", "references", "text", "citations", "topic_id"]),
                it,
                max_size=4,
            )
        ),
    )
)
def test_whatever_a_file_holds_is_refused_with_a_reason(found):
    assert answer_problems(found)


def test_a_run_that_we_write_is_accepted_and_a_broken_one_named_by_line(tmp_path: Path):
    answers, run, topics = (tmp_path / name for name in ("answers.jsonl", "run.jsonl", "topics.jsonl"))
    answers.write_text(to_vericite(answer([("Zinc helps.", ["101"])])) + "\n")
    topics.write_text('{"id": "116", "question": "Does it?"}\n')
    written = ["convert", str(answers), "--to", "biogen", "--set", f"topics={topics}", "--out", str(run)]
    assert CliRunner().invoke(app, written).exit_code == 0
    check = ["convert", str(run), "--to", "biogen", "--set", f"topics={topics}", "--set", "validate_only=true"]
    done = CliRunner().invoke(app, check)
    assert done.exit_code == 0 and "no violations of the track's rules" in done.stdout
    run.write_text(run.read_text() * 2 + "not json\n")
    topics.write_text(topics.read_text() + '{"id": "117", "question": "Why?"}\n')
    done = CliRunner().invoke(app, check)
    assert done.exit_code == 2
    told = " ".join(str(it) for it in run_problems(run, {"116", "117"}))
    assert "expected one answer per topic; '116' is also in line 1" in told and "topic '117'" in told
    assert CliRunner().invoke(app, ["convert", str(run), "--to", "alce", "--set", "validate_only=true"]).exit_code != 0
