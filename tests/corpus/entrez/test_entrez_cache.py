from __future__ import annotations

import sqlite3
import stat
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from entrez_server import Article, EntrezServer, too_many

from vericite.corpus.entrez import Entrez
from vericite.errors import EntrezAccessError

Client = Callable[..., Entrez]
KEY = "0123456789abcdef0123456789abcdef0123"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "kept" / "entrez.sqlite"


def test_a_second_run_sends_no_requests(server: EntrezServer, client: Client, file: Path):
    def run() -> tuple[object, object]:
        with client(cache=file) as entrez:
            found = entrez.search("stroke[tiab]")
            return found, entrez.fetch([*found.ids, "999999"])

    first = run()
    asked = len(server.arrivals)
    assert run() == first
    assert len(server.arrivals) == asked == 3


def test_offline_the_cache_still_answers(
    server: EntrezServer, client: Client, file: Path, monkeypatch: pytest.MonkeyPatch
):
    with client(cache=file) as entrez:
        found, fetched = entrez.search("stroke[tiab]"), entrez.fetch(["101", "999999"])
    monkeypatch.setenv("VERICITE_OFFLINE", "1")
    with client(cache=file) as entrez:
        assert entrez.search("stroke[tiab]") == found
        assert entrez.fetch(["101", "999999"]) == fetched
        with pytest.raises(EntrezAccessError, match="not in the cache"):
            entrez.fetch(["101", "104"])
        with pytest.raises(EntrezAccessError, match="not in the cache"):
            entrez.search("stroke[tiab]", most=3)


def test_only_records_outside_the_cache_are_requested(server: EntrezServer, client: Client, file: Path):
    with client(cache=file) as entrez:
        entrez.fetch(["101", "102"])
        fetched = entrez.fetch(["102", "104", "101"])
    assert [record.pmid for record in fetched.records] == ["102", "104", "101"]
    assert [arrival.ids for arrival in server.arrivals] == [["101", "102"], ["104"]]


def test_expired_records_are_requested_again_except_offline(
    server: EntrezServer,
    client: Client,
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
):
    none = timedelta(0)
    with client(cache=file, record_expiry=none, search_expiry=none) as entrez:
        for _ in range(2):
            entrez.search("stroke[tiab]")
            entrez.fetch(["101", "999999"])
        assert server.tools == ["esearch", "efetch", "esummary"] * 2
        monkeypatch.setenv("VERICITE_OFFLINE", "1")
        assert entrez.search("stroke[tiab]").count == 3
        assert not caplog.text
        assert entrez.fetch(["101", "999999"]).missing == ("999999",)
    assert "2 cached records are older than 0:00:00" in caplog.text


def test_a_pmid_that_did_not_exist_is_asked_for_again_after_a_day(server: EntrezServer, client: Client, file: Path):
    with client(cache=file) as entrez:
        entrez.fetch(["101", "555"])
    set_back(file, timedelta(days=2))
    server.articles = [*server.articles, Article("555")]
    with client(cache=file) as entrez:
        assert [record.pmid for record in entrez.fetch(["101", "555"]).records] == ["101", "555"]
    assert server.arrivals[-1].ids == ["555"]


def test_a_record_with_a_future_time_counts_as_expired(server: EntrezServer, client: Client, file: Path):
    with client(cache=file) as entrez:
        entrez.fetch(["101"])
        set_back(file, timedelta(days=-400))
        entrez.fetch(["101"])
    assert len(server.arrivals) == 2


def set_back(file: Path, by: timedelta) -> None:
    connection = sqlite3.connect(file)
    with connection:
        connection.execute("UPDATE pubmed_reply SET made = made - ?, checksum = NULL", [by.total_seconds()])
    connection.close()


@pytest.mark.parametrize("another", [{"most": 5}, {"sort": "pub_date"}])
def test_a_search_with_other_arguments_is_cached_separately(
    server: EntrezServer, client: Client, file: Path, another: dict[str, object]
):
    with client(cache=file) as entrez:
        entrez.search("stroke[tiab]")
        entrez.search("stroke[tiab]", **another)
    assert len(server.arrivals) == 2


def test_replies_of_another_address_are_cached_separately(client: Client, file: Path):
    with EntrezServer([Article("101", "Another title.")]) as other, client(cache=file) as entrez:
        entrez.fetch(["101"])
        with client(cache=file, base_url=other.url) as elsewhere:
            assert elsewhere.fetch(["101"]).documents[0].title == "Another title."


def test_a_file_that_is_not_a_cache_only_gives_one_warning(
    client: Client, file: Path, caplog: pytest.LogCaptureFixture
):
    file.parent.mkdir()
    file.write_bytes(b"this is no database, whatever its name says" * 100)
    with client(cache=file) as entrez:
        assert entrez.search("melatonin[tiab]").ids == ("104",)
        assert len(entrez.fetch(["104"]).records) == 1
    assert caplog.text.count("expected a usable cache of records and searches") == len(caplog.records) == 1
    assert file.read_bytes().startswith(b"this is no database")


def test_a_row_that_cannot_be_read_is_asked_for_again(server: EntrezServer, client: Client, file: Path):
    with client(cache=file) as entrez:
        entrez.search("stroke[tiab]")
        entrez.fetch(["101"])
    connection = sqlite3.connect(file)
    with connection:
        connection.execute("UPDATE pubmed_reply SET value = '{\"pmid\": 3}', checksum = NULL WHERE key LIKE 'http%'")
        connection.execute("UPDATE pubmed_reply SET value = 'no json', checksum = NULL WHERE key NOT LIKE 'http%'")
    connection.close()
    with client(cache=file) as entrez:
        assert entrez.search("stroke[tiab]").count == 3
        assert len(entrez.fetch(["101"]).records) == 1
    assert server.tools == ["esearch", "efetch"] * 2


def test_a_failure_is_not_cached(server: EntrezServer, client: Client, file: Path):
    from vericite.errors import EntrezError

    server.script([too_many])
    with client(cache=file, attempts=1) as entrez:
        with pytest.raises(EntrezError):
            entrez.search("melatonin[tiab]")
        assert entrez.search("melatonin[tiab]").ids == ("104",)


def test_the_file_is_its_owners_alone_and_holds_neither_key_nor_address(
    client: Client, file: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("NCBI_API_KEY", KEY)
    with client(cache=file, email="someone@example.org") as entrez:
        entrez.fetch(entrez.search("stroke[tiab]").ids)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    for kept in file.parent.iterdir():
        assert KEY.encode() not in kept.read_bytes()
        assert b"someone@" not in kept.read_bytes()


def test_the_default_place_is_the_users_cache_folder(client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("VERICITE_CACHE", str(tmp_path / "mine"))
    with client(cache="default") as entrez:
        entrez.fetch(["101"])
    assert (tmp_path / "mine" / "entrez.sqlite").exists()
