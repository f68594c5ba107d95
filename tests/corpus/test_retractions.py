"""The list of retracted articles: updates and marks."""

from __future__ import annotations

import logging
import os
import sqlite3
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vericite.corpus import retractions
from vericite.corpus.retractions import (
    FILE,
    RetractionReport,
    Retractions,
    entries,
    known_retractions,
    learn,
    pmid_of_document,
    retracted_in_table,
)
from vericite.errors import InputError
from vericite.records import Answer, Document
from vericite.text.citations import parse_answer


def told(*pmids: str, by: str = "pubmed") -> RetractionReport:
    return RetractionReport(by, dict.fromkeys(pmids, ()))


def document(id: str, pmid: str | None = None) -> Document:
    return Document.from_text(id, "Some words.").model_copy(update={"pmid": pmid})


def cache() -> Path:
    return Path(os.environ["VERICITE_CACHE"])


# What is marked


@pytest.mark.parametrize(
    "id",
    [
        "12345678",
        "012345678",
        "pmid:12345678",
        "PMID: 12345678",
        "https://pubmed.ncbi.nlm.nih.gov/12345678/",
        "http://www.ncbi.nlm.nih.gov/pubmed/12345678",
        "https://europepmc.org/article/MED/12345678",
    ],
)
def test_an_id_that_is_a_pmid_is_one_however_it_is_spelt(id: str):
    assert pmid_of_document(document(id)) == "12345678"
    assert Retractions(frozenset({"12345678"})).flagged(document(id)).retracted


@pytest.mark.parametrize("id", ["12", "1234", "trial", "PMC12345678", "10.1000/12345678", "a/12345678", "123456789"])
def test_an_id_that_may_be_something_else_is_not_a_pmid(id: str):
    assert pmid_of_document(document(id)) is None


def test_a_documents_own_pmid_counts_before_its_id():
    assert pmid_of_document(document("12345678", "7")) == "7"
    assert pmid_of_document(document("pmid:7")) == "7"
    known = Retractions(frozenset({"12345678"}))
    assert not known.flagged(document("12345678", "7")).retracted
    assert known.flagged(document("chunk 3", "12345678")).retracted


@given(st.sets(st.integers(10_000, 99_999).map(str)), st.lists(st.integers(10_000, 99_999).map(str), unique=True))
def test_exactly_what_is_on_the_list_is_marked_and_nothing_else_changes(listed: set[str], ids: list[str]):
    known = Retractions(frozenset(listed))
    answer = Answer(id="a", text="", documents=tuple(map(document, ids)), claims=())
    flagged = known.flagged_answer(answer)
    assert {item.id for item in flagged.documents if item.retracted} == listed & set(ids)
    undone = tuple(item.model_copy(update={"retracted": False}) for item in flagged.documents)
    assert flagged.model_copy(update={"documents": undone}) == answer


def test_a_document_already_marked_stays_retracted():
    said = document("12345678").model_copy(update={"retracted": True})
    answer = parse_answer("a", "Words [1].", [said])
    assert Retractions(frozenset({"1"})).flagged_answer(answer) is answer


@pytest.mark.parametrize("id", ["10.1000/Zinc.7", "https://doi.org/10.1000/zinc.7", "doi:10.1000/ZINC.7"])
def test_an_article_is_known_by_its_doi_however_it_is_spelt(id: str):
    known = Retractions(frozenset({"doi:10.1000/zinc.7"}))
    assert known.flagged(document(id)).retracted
    assert known.flagged(document("chunk 3").model_copy(update={"doi": "10.1000/zinc.7"})).retracted
    assert not known.flagged(document("10.1000/zinc.70")).retracted


def test_a_title_marks_its_article_without_a_list():
    said = document("1").model_copy(update={"title": "RETRACTED: Zinc for gout"})
    assert Retractions().flagged(said).retracted
    for title in ("Retraction of the lung", "Retraction: Zinc for gout"):
        assert not Retractions().flagged(document("1").model_copy(update={"title": title})).retracted


WATCHED = """Record ID,Title,RetractionDate,RetractionDOI,RetractionPubMedID,OriginalPaperDOI,OriginalPaperPubMedID,\
RetractionNature
1,Zinc,1/2/2020,10.1000/n.1,91,10.1000/Zinc.1,11,Retraction
2,Iron,1/2/2020,unavailable,0,10.1000/iron.2,0,Retraction
3,Lead,1/2/2020,10.1000/n.3,93,unavailable,13,Expression of concern
4,Gold,1/2/2020,10.1000/n.4,94,10.1000/gold.4,14,Retraction
5,Gold,1/2/2021,10.1000/n.5,95,10.1000/gold.4,14,Reinstatement
6,Tin,1/2/2020,10.1000/n.6,96,,,Retraction
7,Short
"""


def test_retraction_watch_counts_retractions_that_stand_by_pmid_and_doi(tmp_path: Path):
    path = tmp_path / "retraction_watch.csv"
    path.write_bytes(WATCHED.encode().replace(b"Zinc,", b"Z\xefnc,"))
    found = retracted_in_table(path)
    assert found == RetractionReport(
        "table retraction_watch.csv", {"11": ("91",), "doi:10.1000/zinc.1": ("91",), "doi:10.1000/iron.2": ()}
    )
    assert learn([found]) == 3
    assert [entry.id for entry in entries()] == ["11", "doi:10.1000/iron.2", "doi:10.1000/zinc.1"]
    assert known_retractions().flagged(document("https://doi.org/10.1000/iron.2")).retracted


def test_a_table_without_the_columns_says_which_it_lacks(tmp_path: Path):
    path = tmp_path / "a.csv"
    path.write_text("Title,OriginalPaperDOI\nZinc,10.1000/zinc\n")
    with pytest.raises(InputError, match="without OriginalPaperPubMedID, RetractionPubMedID, RetractionNature"):
        retracted_in_table(path)
    with pytest.raises(InputError, match="cannot be read"):
        retracted_in_table(tmp_path / "none.csv")


# What is kept


def test_without_a_list_nothing_is_known_and_no_file_is_created():
    assert (len(known_retractions()), entries()) == (0, ())
    assert learn([told()]) == 0
    assert list(cache().iterdir()) == []


def test_an_update_adds_and_never_forgets():
    assert learn([RetractionReport("pubmed", {"11": ("91",), "12": ()})]) == 2
    first = {entry.id: entry for entry in entries()}
    assert (
        learn(
            [RetractionReport("store a", {"12": ("92",), "13": ()}), RetractionReport("pubmed", {"11": ("93", "91")})]
        )
        == 1
    )
    found = {entry.id: entry for entry in entries()}
    assert [*found] == ["11", "12", "13"]
    assert [entry.notices for entry in found.values()] == [("91", "93"), ("92",), ()]
    assert [sorted(entry.reported) for entry in found.values()] == [["pubmed"], ["pubmed", "store a"], ["store a"]]
    assert found["11"].reported["pubmed"][0] == first["11"].reported["pubmed"][0]
    assert known_retractions().ids == {"11", "12", "13"}


def test_a_replaced_list_holds_only_the_new_reports():
    learn([told("11", "12")])
    assert learn([told("12", "13", by="store a")], replace=True) == 1
    assert [(entry.id, list(entry.reported)) for entry in entries()] == [("12", ["store a"]), ("13", ["store a"])]
    assert known_retractions().ids == {"12", "13"}
    assert learn([told("11")]) == 1, "what was forgotten is news again"
    assert known_retractions().ids == {"11", "12", "13"}


def test_days_are_those_of_the_first_and_the_last_time(monkeypatch: pytest.MonkeyPatch):
    class Clock(retractions.datetime):
        day = "2026-01-02"

        @classmethod
        def now(cls, tz=None):
            return cls.fromisoformat(cls.day)

    monkeypatch.setattr(retractions, "datetime", Clock)
    learn([told("11")])
    Clock.day = "2026-03-04"
    learn([told("11", "12")])
    assert [entry.reported["pubmed"] for entry in entries()] == [
        ("2026-01-02", "2026-03-04"),
        ("2026-03-04", "2026-03-04"),
    ]


def test_the_list_is_read_once_and_again_when_another_process_has_changed_it(monkeypatch: pytest.MonkeyPatch):
    read: list[Path] = []
    once = retractions._ids_in
    monkeypatch.setattr(retractions, "_ids_in", lambda file: read.append(file) or once(file))
    learn([told("11")])
    assert {known_retractions().ids for _ in range(5)} == {frozenset({"11"})}
    assert len(read) == 1
    code = "from vericite.corpus.retractions import RetractionReport as R, learn; learn([R('pubmed', {'12': ()})])"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert known_retractions().ids == {"11", "12"}
    assert len(read) == 2


ALTERNATING = """
from vericite.corpus.retractions import RetractionReport, learn
articles = [dict.fromkeys(map(str, range(start, start + 3000)), ()) for start in (100_000, 200_000)]
while True:
    for notices in articles:
        learn([RetractionReport("pubmed", notices)], replace=True)
        print("learnt", flush=True)
"""


def test_a_killed_update_leaves_one_list_or_the_other_and_no_part_of_any():
    lists = [frozenset(map(str, range(start, start + 3000))) for start in (100_000, 200_000)]
    for wait in (0.005, 0.03, 0.06):
        with subprocess.Popen([sys.executable, "-c", ALTERNATING], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(wait)
            process.kill()
        assert known_retractions().ids in lists
    learn([told("11")])
    assert len(known_retractions()) == 3001


def test_the_file_is_the_users_own():
    learn([told("11")])
    assert stat.S_IMODE((cache() / FILE).stat().st_mode) == 0o600


@pytest.mark.parametrize("content", [b"no database at all", b""])
def test_an_unreadable_list_is_reported_and_marks_nothing(content: bytes, caplog: pytest.LogCaptureFixture):
    (cache() / FILE).write_bytes(content)
    with caplog.at_level(logging.WARNING):
        assert len(known_retractions()) == 0
    assert bool(caplog.records) == bool(content)
    if content:
        for use in (entries, lambda: learn([told("11")])):
            with pytest.raises(InputError, match="expected the list of retracted articles at"):
                use()


def test_writing_a_list_locked_by_another_process_is_an_error(monkeypatch: pytest.MonkeyPatch):
    learn([told("11")])
    monkeypatch.setattr("vericite.disk.store.PATIENCE", 0.05)
    monkeypatch.setattr("vericite.disk.store.RowStore.__init__.__defaults__", (0.05, 10_000))
    holder = sqlite3.connect(cache() / FILE, isolation_level=None)
    try:
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(InputError, match="cannot write the list of retracted articles"):
            learn([told("12")])
    finally:
        holder.close()
    assert known_retractions().ids == {"11"}


def test_without_a_home_there_is_no_list_and_an_update_says_so(monkeypatch: pytest.MonkeyPatch, caplog):
    monkeypatch.setenv("VERICITE_CACHE", "~no-such-user/x")
    assert len(known_retractions()) == 0
    assert not caplog.records
    with pytest.raises(InputError, match="Set VERICITE_CACHE"):
        learn([told("11")])


def test_a_check_without_a_list_loads_no_database():
    code = (
        "import sys; from vericite.corpus.retractions import known_retractions; import vericite.pipeline.check; "
        "known_retractions(); print({'sqlite3', 'lxml', 'httpx2'} & set(sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "set()\n"
