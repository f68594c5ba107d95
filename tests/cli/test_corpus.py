"""Building, reading and asking a store from the command line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

ABSTRACTS = [
    {"id": "1", "title": "Aspirin", "text": "Aspirin prevents strokes in adults. It can cause bleeding."},
    {"id": "2", "title": "Statins", "text": "Statins lower cholesterol. Muscle pain is common."},
]
XML = """<?xml version="1.0"?><PubmedArticleSet>
<PubmedArticle><MedlineCitation><PMID Version="1">77</PMID><Article><Journal><JournalIssue><PubDate><Year>2019</Year>
</PubDate></JournalIssue><Title>A journal</Title></Journal><ArticleTitle>Zinc and colds</ArticleTitle><Abstract>
<AbstractText>Zinc shortens colds by a day.</AbstractText></Abstract></Article></MedlineCitation></PubmedArticle>
<DeleteCitation><PMID Version="1">2</PMID></DeleteCitation></PubmedArticleSet>"""


@pytest.fixture
def folder(tmp_path) -> Path:
    files = tmp_path / "files"
    files.mkdir()
    (files / "a.jsonl").write_text("\n".join(map(json.dumps, ABSTRACTS)))
    (files / "b.xml.gz").write_bytes(gzip.compress(XML.encode()))
    (files / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
    return files


@pytest.fixture
def store(folder, tmp_path, run_cli) -> str:
    place = str(tmp_path / "store")
    printed = run_cli("corpus", "build", str(folder), "--to", place)
    assert printed.code == 0, printed.err
    assert "3 added" in printed.out
    assert "picture.png" in printed.err
    return place


def test_a_store_says_what_is_in_it(store, run_cli):
    found = json.loads(run_cli("corpus", "info", store, "--json").out)
    assert (found["documents"], found["unindexed"], len(found["sources"])) == (3, 0, 2)
    assert "documents        3" in run_cli("corpus", "info", store).out
    assert run_cli("corpus", "verify", store).out == "nothing is wrong\n"


def test_the_same_command_again_changes_nothing(store, folder, run_cli):
    printed = run_cli("corpus", "build", str(folder), "--to", store)
    assert printed.code == 0
    assert "0 added" in printed.out
    assert "2 sources unchanged" in printed.out


def test_a_later_file_adds_replaces_and_deletes(store, tmp_path, run_cli):
    (tmp_path / "new.jsonl").write_text(
        '{"id": "1", "text": "Aspirin thins the blood."}\n{"id": "9", "text": "New."}\nno\n'
    )
    printed = run_cli("corpus", "build", str(tmp_path / "new.jsonl"), "--to", store)
    assert printed.code == 2
    assert "1 added, 1 replaced, 1 refused" in printed.out
    assert "line 3" in printed.err
    assert "thins" in run_cli("corpus", "get", store, "1").out
    (tmp_path / "update.xml").write_text(XML.replace('<PMID Version="1">2<', '<PMID Version="1">77<'))
    run_cli("corpus", "build", str(tmp_path / "update.xml"), "--to", store)
    missing = run_cli("corpus", "get", store, "77", "9")
    assert (missing.code, "not in" in missing.err, '"id":"9"' in missing.out) == (1, True, True)


def test_what_is_exported_builds_the_same_store(store, tmp_path, run_cli):
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    assert run_cli("corpus", "export", store, "--out", str(first)).code == 0
    run_cli("corpus", "build", str(first), "--to", str(tmp_path / "again"))
    run_cli("corpus", "export", str(tmp_path / "again"), "--out", str(second))
    assert sorted(first.read_text().splitlines()) == sorted(second.read_text().splitlines())
    only = run_cli("corpus", "export", store, "--from", "2019", "--journal", "A journal").out
    assert [json.loads(line)["id"] for line in only.splitlines()] == ["77"]


def test_documents_are_found_by_their_words(store, run_cli):
    printed = run_cli("corpus", "search", store, "does zinc help with colds")
    assert printed.out.split()[1] == "77"
    assert run_cli("corpus", "search", store, "zinc", "--to", "2018").out == ""


def test_a_question_is_answered_from_a_store(store, run_cli):
    printed = run_cli("ask", "Does zinc shorten colds?", "--corpus", store)
    assert printed.code == 0
    assert "Zinc shortens colds by a day [1]." in printed.out


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["corpus", "build", "--to", "x"], "expected files, folders, --pubmed or --pmids"),
        (["corpus", "build", "nowhere", "--to", "x"], "nowhere"),
        (["corpus", "info", "nowhere"], "vericite corpus build FILES --to"),
        (["corpus", "search", "nowhere", "aspirin"], "expected a store"),
    ],
)
def test_what_cannot_be_used_says_so(run_cli, tmp_path, monkeypatch, given, said):
    monkeypatch.chdir(tmp_path)
    printed = run_cli(*given)
    assert printed.code == 2
    assert said in printed.err


def test_offline_nothing_is_asked_of_pubmed(run_cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = run_cli("--offline", "corpus", "build", "--pubmed", "aspirin", "--to", "x")
    assert printed.code == 1
    assert "VERICITE_OFFLINE" in printed.err
