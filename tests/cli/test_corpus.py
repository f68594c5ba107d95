"""Building, reading and asking a store from the command line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from vericite.cli import terminal
from vericite.cli.corpus import _Meter, _shown
from vericite.corpus.ingest import CollectedSources, collect_sources
from vericite.corpus.store import Progress, open_store
from vericite.corpus.store.contract import Source
from vericite.errors import InputError
from vericite.models import Embedder

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
    assert printed.err == "vericite: picture.png: no documents (binary)\n"
    return place


def test_a_store_says_what_is_in_it(store, run_cli):
    found = json.loads(run_cli("corpus", "info", store, "--json").out)
    assert (found["documents"], found["unindexed"], len(found["sources"])) == (3, 0, 2)
    assert "documents        3" in run_cli("corpus", "info", store).out
    assert run_cli("corpus", "verify", store).out == "no problems found\n"


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
    assert (missing.code, "not in" in missing.err, '"id":"9"' in missing.out) == (2, True, True)


def test_what_is_exported_builds_the_same_store(store, tmp_path, run_cli):
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    assert run_cli("corpus", "export", store, "--out", str(first)).code == 0
    run_cli("corpus", "build", str(first), "--to", str(tmp_path / "again"))
    run_cli("corpus", "export", str(tmp_path / "again"), "--out", str(second))
    assert sorted(first.read_text().splitlines()) == sorted(second.read_text().splitlines())
    only = run_cli("corpus", "export", store, "--set", "year_from=2019", "--set", "search.journals=A journal").out
    assert [json.loads(line)["id"] for line in only.splitlines()] == ["77"]


def test_filters_that_leave_nothing_are_named(store, run_cli):
    printed = run_cli(
        "search", "aspirin", "--corpus", store, "--set", "search.rerank=none", "--set", "search.languages=English"
    )
    assert "Nothing found." in printed.out
    assert "with these filters, nothing was found for 1 of 1 questions" in printed.err
    assert "filters" not in run_cli("search", "aspirin", "--corpus", store, "--set", "search.rerank=none").err


def test_documents_are_found_by_their_words(store, run_cli):
    printed = run_cli("search", "does zinc help with colds", "--corpus", store, "--set", "search.rerank=none")
    assert printed.out.splitlines()[0].startswith("  1. ")
    assert "  77  " in printed.out.splitlines()[0]
    assert (
        "Nothing found."
        in run_cli(
            "search", "zinc", "--corpus", store, "--set", "search.year_to=2018", "--set", "search.rerank=none"
        ).out
    )


def test_a_question_is_answered_from_a_store(store, run_cli):
    printed = run_cli("ask", "Does zinc shorten colds?", "--corpus", store)
    assert printed.code == 0
    assert "Zinc shortens colds by a day [1]." in printed.out


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["corpus", "build", "--to", "x"], "SOURCE"),
        (["corpus", "build", "nowhere", "--to", "x"], "nowhere"),
        (["corpus", "info", "nowhere"], "vericite corpus build FILES --to"),
        (["search", "aspirin", "--corpus", "nowhere"], "expected a readable file"),
        (["search", ""], "at least one word"),
        (["search", " ?!"], "at least one word"),
        (["search", "aspirin", "--set", "search.year_from=19"], "1500"),
        (["corpus", "export", "nowhere", "--set", "year_to=20191"], "2100"),
        (["corpus", "build", "nowhere", "--to", "x", "--format", "jason"], "'json"),
    ],
)
def test_what_cannot_be_used_says_so(run_cli, tmp_path, monkeypatch, given, said):
    monkeypatch.chdir(tmp_path)
    printed = run_cli(*given)
    assert printed.code == 2
    assert said in printed.err


def exported(store: str, run_cli) -> dict[str, str]:
    documents = map(json.loads, run_cli("corpus", "export", store).out.splitlines())
    return {document["id"]: " ".join(part["text"] for part in document["sections"]) for document in documents}


def test_files_of_one_name_in_several_folders_are_all_kept(tmp_path, run_cli):
    for folder in ("2023", "2024"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "guide.md").write_text(f"# Guide\n\nWords of {folder}.")
        (tmp_path / folder / "rows.csv").write_text(f"title,text\nT,Row of {folder}.")
    texts = {"Words of 2023.", "Words of 2024.", "Row of 2023.", "Row of 2024."}
    built = run_cli("corpus", "build", str(tmp_path / "2023"), str(tmp_path / "2024"), "--to", str(tmp_path / "a"))
    assert "4 added" in built.out
    assert set(exported(str(tmp_path / "a"), run_cli).values()) == texts
    for folder in ("2023", "2024"):
        assert "2 added" in run_cli("corpus", "build", str(tmp_path / folder), "--to", str(tmp_path / "b")).out
    assert exported(str(tmp_path / "b"), run_cli) == exported(str(tmp_path / "a"), run_cli)
    (tmp_path / "2023" / "guide.md").write_text("# Guide\n\nNew words.")
    assert "1 replaced" in run_cli("corpus", "build", str(tmp_path / "2023"), "--to", str(tmp_path / "b")).out


def test_a_file_that_cannot_be_read_costs_itself_and_no_other(folder, tmp_path, run_cli):
    (folder / "0.csv").write_text("name,colour\na,red\n")
    (folder / "1.txt").write_bytes("Words.\nCafé".encode("latin-1"))
    (folder / "2.xml").write_text("<PubmedArticleSet></PubmedArticleSet>")
    (folder / "3.txt").write_text("\n".join(map(str, range(10_000_000, 10_020_000))) + "\nand some words\n")
    place = str(tmp_path / "store")
    printed = run_cli("corpus", "build", str(folder), "--to", place)
    assert (printed.code, "3 added, 2 refused" in printed.out) == (2, True), printed.out
    assert all(name in printed.err for name in ("0.csv", "1.txt", "3.txt")) and "2.xml" not in printed.err
    named = [str(folder / name) for name in ("a.jsonl", "0.csv", "b.xml.gz")]
    printed = run_cli("corpus", "build", *named, "--to", str(tmp_path / "other"))
    assert (printed.code, "3 added, 1 refused" in printed.out) == (2, True), printed.out
    assert json.loads(run_cli("corpus", "info", str(tmp_path / "other"), "--json").out)["unindexed"] == 0


def test_what_is_named_twice_is_read_once(folder, tmp_path, run_cli, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to(folder)
    printed = run_cli("corpus", "build", "files", str(folder / "a.jsonl"), "link", "./files/a.jsonl", "--to", "store")
    assert (printed.code, "3 added" in printed.out) == (0, True), printed.err
    assert printed.err.count("picture.png") == 1
    assert len(json.loads(run_cli("corpus", "info", "store", "--json").out)["sources"]) == 2


@pytest.mark.parametrize("form", ["auto", "csv"])
def test_a_path_that_leads_nowhere_is_refused(tmp_path, form):
    circle = tmp_path / "circle.csv"
    circle.symlink_to(circle)
    for path in (circle, tmp_path / "none.csv", Path("a\x00b")):
        with pytest.raises(InputError, match="expected a readable file"):
            collect_sources([path], format=form)


def test_another_form_is_another_reading_of_the_same_file(tmp_path, run_cli):
    path, place = tmp_path / "a.md", str(tmp_path / "store")
    path.write_text("# Zinc\n\nIt *helps*.")
    run_cli("corpus", "build", str(path), "--to", place)
    assert list(exported(place, run_cli).values()) == ["It helps."]
    run_cli("corpus", "build", str(path), "--to", place, "--format", "text")
    assert list(exported(place, run_cli).values()) == ["It *helps*."]


def test_the_time_left_is_told_by_what_was_read_and_what_is_to_be_read():
    def source(name: str) -> Source:
        return Source(name, "", lambda: iter(()))

    names = ("unchanged", "read", "now", "later")
    sizes = {"unchanged": 9_000_000, "read": 100, "now": 200, "later": 100}
    meter = _Meter(CollectedSources(tuple(map(source, names)), sizes, (), ()))
    for number in (1, 2):
        list(meter.sources[number].items())
    told = meter.line(Progress("reading", "now", 50, 10.0, 5.0, None))
    assert told == "50 records, 5 a second, source 3 of 4, about 30 s left"
    assert meter.line(Progress("indexing", "", 50, 10.0, 5.0, None)) == "50 records read; indexing"


def test_a_build_whose_errors_go_into_a_file_tells_how_far_it_is_now_and_then(capsys, monkeypatch):
    clock = iter((0.0, 1.0, 31.0, 31.0, 32.0, 62.0, 62.0))
    monkeypatch.setattr(terminal.time, "monotonic", lambda: next(clock))
    meter = _Meter(CollectedSources((Source("a", "", lambda: iter(())),), {"a": 1}, (), ()))
    with _shown(meter) as tell:
        for seconds in (1.0, 31.0, 32.0, 62.0):
            tell(Progress("reading", "a", int(seconds), seconds, 1.0, None))
    told = capsys.readouterr().err.splitlines()
    assert [line.split(" records")[0] for line in told] == ["vericite: 31", "vericite: 62"]


def test_offline_nothing_is_asked_of_pubmed(run_cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for asking in (["corpus", "build", "pubmed:aspirin", "--to", "x"], ["ask", "Why?", "--corpus", "pubmed"]):
        printed = run_cli("--offline", *asking)
        assert printed.code == 2
        assert "VERICITE_OFFLINE" in printed.err


def test_what_is_no_pmid_is_told_in_words_and_leaves_no_store(run_cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = run_cli("--offline", "corpus", "build", "pmids:abc,", "--to", "x")
    assert printed.code == 2
    assert "the PMIDs abc: expected a PMID, a number of up to 8 digits; found 'abc'" in printed.err
    assert "no store was created" in printed.out
    assert "found none" in run_cli("corpus", "info", "x").err


def test_a_file_of_which_nothing_can_be_used_leaves_no_store_and_an_old_store_as_it_was(store, tmp_path, run_cli):
    (tmp_path / "bad.jsonl").write_text('{"id": 1}\n')
    printed = run_cli("corpus", "build", str(tmp_path / "bad.jsonl"), "--to", str(tmp_path / "new"))
    assert (printed.code, "0 added, 1 refused" in printed.out) == (2, True)
    assert "found none" in run_cli("corpus", "info", str(tmp_path / "new")).err
    printed = run_cli("corpus", "build", str(tmp_path / "bad.jsonl"), "--to", store)
    assert (printed.code, "no store" in printed.out) == (2, False)
    assert json.loads(run_cli("corpus", "info", store, "--json").out)["documents"] == 3


def test_vectors_are_made_kept_told_of_and_made_of_what_is_added(folder, tmp_path, run_cli):
    place = str(tmp_path / "store")
    assert "vectors          none" in run_cli("corpus", "info", place_without(folder, tmp_path, run_cli)).out
    printed = run_cli("corpus", "build", str(folder / "a.jsonl"), "--to", place, "--vectors")
    assert (printed.code, "2 added" in printed.out) == (0, True), printed.err
    assert "1 added" in run_cli("corpus", "build", str(folder / "b.xml.gz"), "--to", place).out
    embedder = Embedder.shared()
    assert f"vectors          {embedder.signature}" in run_cli("corpus", "info", place).out
    assert run_cli("corpus", "verify", place).code == 0
    (hit,) = open_store(place).search_vectors(embedder.embed(["does zinc help with colds"])[0], 1)
    assert hit.document.id == "77"


def place_without(folder: Path, tmp_path: Path, run_cli) -> str:
    place = str(tmp_path / "without")
    run_cli("corpus", "build", str(folder / "a.jsonl"), "--to", place)
    assert run_cli("corpus", "build", str(folder / "b.xml.gz"), "--to", place, "--vectors").code == 2
    return place


def test_files_are_counted_so_that_the_time_left_can_be_told(folder):
    (folder / "c.json").write_text(json.dumps(ABSTRACTS, indent=1))
    (folder / "d.md").write_text("# Zinc\n\nIt helps.")
    (folder / "e.jsonl.gz").write_bytes(gzip.compress(b'{"id": "x", "text": "Words."}\n' * 70_000))
    counts = {Path(source.name).name: source.count for source in collect_sources([folder]).sources}
    assert counts == {"a.jsonl": 1, "b.xml.gz": 1, "c.json": None, "d.md": 1, "e.jsonl.gz": 70_000}


def test_the_time_left_and_the_vectors_are_told():
    meter = _Meter(CollectedSources((Source("a", "", lambda: iter(())),), {"a": 1}, (), ()))
    told = meter.line(Progress("embedding", "a", 1_200, 30.0, 40.0, 600.0))
    assert told == "1,200 records with vectors, 40 a second, source 1 of 1, about 10 min left"
