"""Ten retracted records and twenty sound ones, through everything that reads them: ten flagged, none falsely."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import typer
from retracted_records import ANSWERS, RECORDS, RETRACTED, SOUND
from typer.testing import CliRunner

import vericite
from vericite.cli.corpus import retractions
from vericite.corpus.retractions import RetractionReport, known_retractions, learn, pmid_of_document
from vericite.errors import InputError
from vericite.formats import answers_in
from vericite.records import Answer, CheckedAnswer, Run, read_jsonl

app = typer.Typer()
app.command()(retractions)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The records as a store, which no test changes."""
    pytest.importorskip("lancedb", reason="the extra [store] is not installed")
    from vericite.corpus.ingest import collect_sources
    from vericite.corpus.store import build_store

    folder = tmp_path_factory.mktemp("records")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VERICITE_CACHE", str(folder / "cache"))
        assert not build_store(folder / "store", collect_sources([RECORDS]).sources).problems
    return str(folder / "store")


@pytest.fixture
def listed() -> None:
    learn([RetractionReport("pubmed", dict.fromkeys(RETRACTED, ()))])


def answers() -> list[Answer]:
    found = list(answers_in(ANSWERS))
    assert all(isinstance(item, Answer) for item in found)
    return [item for item in found if isinstance(item, Answer)]


def flagged(checked: list[CheckedAnswer]) -> set[str]:
    """The PMIDs of the documents that verdicts name as retracted."""
    named = {id for answer in checked for verdict in answer.verdicts for id in verdict.retracted}
    documents = {document.id: document for answer in answers() for document in answer.documents}
    return {pmid_of_document(documents[id]) or "" for id in named}


def test_the_answers_cite_all_thirty():
    cited = {pmid_of_document(document) for answer in answers() for document in answer.documents}
    assert cited == RETRACTED | SOUND


def test_a_store_knows_which_records_are_retracted(run_cli, store: str):
    lines = run_cli("corpus", "export", store, "--set", "retracted=true").out.splitlines()
    assert {json.loads(line)["id"] for line in lines} == RETRACTED
    assert "retracted        10" in run_cli("corpus", "info", store).out


def titles(run_cli, store: str) -> dict[str, str]:
    lines = run_cli("corpus", "export", store).out.splitlines()
    return {json.loads(line)["id"]: json.loads(line)["title"] for line in lines}


@pytest.fixture
def batch(run_cli, store: str, tmp_path: Path) -> str:
    """The titles as questions."""
    file = tmp_path / "titles.jsonl"
    rows = [{"id": id, "question": title} for id, title in titles(run_cli, store).items()]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(file)


def test_search_flags_each_of_them_and_no_other(run_cli, store: str, batch: str):
    seen: dict[str, bool] = {}
    for line in run_cli("search", "--batch", batch, "--corpus", store, "--k", "3", "--json").out.splitlines():
        seen |= {hit["document"]["id"]: hit["document"]["retracted"] for hit in json.loads(line)["evidence"]}
    assert {id for id, retracted in seen.items() if retracted} == RETRACTED
    assert {id for id, retracted in seen.items() if not retracted} == SOUND


def test_search_prints_it(run_cli, store: str, batch: str):
    printed = run_cli("search", "--batch", batch, "--corpus", store, "--k", "3", "--set", "search.rerank=none")
    text = " ".join(printed.out.split())
    marked = {pmid for pmid in RETRACTED | SOUND if re.search(rf" {pmid} [\d.]+ RETRACTED", text)}
    assert marked == RETRACTED


@pytest.mark.usefixtures("listed")
def test_search_flags_documents_of_a_file_that_knows_nothing_of_it(run_cli, store: str, tmp_path: Path):
    exported = [json.loads(line) for line in run_cli("corpus", "export", store).out.splitlines()]
    file = tmp_path / "documents.jsonl"
    file.write_text("".join(json.dumps({**line, "retracted": False}) + "\n" for line in exported))
    for line in exported[::3]:
        asked = ("search", line["title"], "--corpus", str(file), "--by", "bm25", "--k", "3", "--json")
        for hit in json.loads(run_cli(*asked).out)["evidence"]:
            assert hit["document"]["retracted"] == (hit["document"]["id"] in RETRACTED)


def test_ask_shows_them_behind_the_sources_and_answers_from_none(run_cli, store: str):
    shown: dict[str, bool] = {}
    named = titles(run_cli, store)
    # Of the sound ones some: what matters is what stands beside them.
    for title in [named[id] for id in (*sorted(RETRACTED), *sorted(SOUND)[::4])]:
        run = Run.model_validate_json(run_cli("ask", title, "--corpus", store, "--k", "2", "--json").out)
        shown |= {hit.document.id: hit.document.retracted for hit in run.evidence}
        assert [hit.document.retracted for hit in run.evidence] == sorted(
            hit.document.retracted for hit in run.evidence
        )
        assert run.checked.summary.retracted == 0
    assert {id for id, retracted in shown.items() if retracted} == RETRACTED


def test_the_list_learns_them_from_the_store(run_cli, store: str):
    said = CliRunner().invoke(app, [store]).output
    assert f"store {store}: 10 articles\nnew: 10 articles\nknown as retracted: 10 articles\n" in said
    assert known_retractions().ids == RETRACTED
    assert "new: 0 articles" in CliRunner().invoke(app, [store]).output


@pytest.mark.usefixtures("listed")
def test_check_flags_them_in_answers_that_know_nothing_of_it():
    checked = list(vericite.check_many(answers(), judge="lexical"))
    assert flagged(checked) == RETRACTED
    assert [item.summary.retracted for item in checked] == [1] * 10
    told = [verdict for answer in checked for verdict in answer.verdicts if verdict.reasons]
    assert {verdict.documents for verdict in told} >= {verdict.retracted for verdict in told if verdict.retracted}


@pytest.mark.usefixtures("listed")
def test_check_on_the_command_line_prints_and_writes_it(run_cli, tmp_path: Path):
    out = tmp_path / "verdicts.jsonl"
    printed = run_cli("check", str(ANSWERS), "--judge", "lexical", "--out", str(out))
    rows = [line for line in printed.out.splitlines() if line.startswith("answer ") and "[" in line]
    assert (len(rows), sum(" RETRACTED " in row for row in rows)) == (30, 10)
    assert printed.out.endswith("10 of 30 citations are of RETRACTED documents.\n")
    assert flagged(list(read_jsonl(CheckedAnswer, out))) == RETRACTED


def test_without_the_list_nothing_is_flagged(run_cli):
    assert flagged(list(vericite.check_many(answers(), judge="lexical"))) == set()
    assert "RETRACTED" not in run_cli("check", str(ANSWERS), "--judge", "lexical").out


@pytest.mark.usefixtures("listed")
def test_the_command_says_what_is_known():
    found = json.loads(CliRunner().invoke(app, ["--json"]).output)
    assert (found["known"], found["new"], found["told_now"]) == (10, 0, {})
    assert found["told_by"]["pubmed"]["articles"] == 10
    assert "  10 reported by pubmed on 20" in CliRunner().invoke(app, []).output


def test_where_nothing_is_known_the_command_says_how_to_learn():
    assert CliRunner().invoke(app, []).output == (
        "known as retracted: 0 articles\n"
        "add those of a store with `vericite corpus retractions STORE`, or all that PubMed lists with `pubmed`\n"
    )


@pytest.mark.parametrize("arguments", [["--from", "2020"], ["--notices"], ["--replace"]])
def test_options_that_need_a_source_say_so(arguments: list[str]):
    found = CliRunner().invoke(app, arguments).exception
    assert isinstance(found, InputError) and str(found).startswith("expected pubmed")


@pytest.mark.usefixtures("listed")
def test_a_store_may_replace_the_list(store: str):
    learn([RetractionReport("pubmed", {"99999999": ()})])
    assert CliRunner().invoke(app, [store, "--replace"]).exit_code == 0
    assert known_retractions().ids == RETRACTED
