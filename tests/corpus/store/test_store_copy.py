"""A copy of a bucket's store: the same answers, and requests that are counted."""

from __future__ import annotations

import time
from datetime import timedelta
from pathlib import Path
from threading import Thread

import pytest
from made_documents import WORDS, answers, content, document, source

from vericite.corpus.store import build_store, open_store
from vericite.environment import STORE_COPY
from vericite.errors import InputError

PLACE = "s3://made-bucket/corpora/one"
MOST = 10
"""Requests of a search in a reader that has searched before."""
pytestmark = pytest.mark.usefixtures("bucket")


@pytest.fixture
def copy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder that is asked for; every look at the store is a new one."""
    monkeypatch.setenv(STORE_COPY, str(tmp_path / "copies"))
    monkeypatch.setattr("vericite.corpus.store.lance.FRESH", 0.0)
    return tmp_path / "copies"


def test_a_warm_search_makes_few_requests(s3_server, copy):
    build_store(PLACE, [source("a", map(document, range(300)))])
    store = open_store(PLACE)
    store.search(WORDS[0], 10)
    for word in WORDS[1:]:
        before = s3_server.total()
        assert len(store.search(f"{word} study", 10)) == 10
        assert s3_server.total() - before <= MOST


def test_a_copy_has_what_the_bucket_has_and_gives_its_answers(copy, monkeypatch):
    build_store(PLACE, [source("a", map(document, range(120)))])
    copied = content(PLACE), answers(PLACE)
    assert list(copy.rglob("*.lance"))
    monkeypatch.delenv(STORE_COPY)
    assert copied == (content(PLACE), answers(PLACE))


def test_what_is_written_is_seen_and_what_is_let_go_of_is_removed(copy, monkeypatch):
    monkeypatch.setattr("vericite.corpus.store.tables.KEPT", timedelta(milliseconds=1))
    build_store(PLACE, [source("a", map(document, range(30)))])
    store = open_store(PLACE)
    assert {one.version for one in store.scan()} == {1}
    before = {file for file in copy.rglob("*") if file.is_file()}
    build_store(PLACE, [source("b", (document(number, 2) for number in range(30)))])
    assert {one.version for one in store.scan()} == {2}
    store.put([document(99)])
    assert store.get([document(99).id]).documents == (document(99),)
    assert before - {file for file in copy.rglob("*") if file.is_file()}


def test_a_copy_with_truncated_or_missing_files_is_repaired(copy):
    build_store(PLACE, [source("a", map(document, range(60)))])
    expected = content(PLACE)
    file = next(copy.rglob("data/*.lance"))
    file.write_bytes(file.read_bytes()[:100])
    assert content(PLACE) == expected
    file.unlink()
    assert content(PLACE) == expected


def test_readers_of_one_copy_see_whole_states_while_another_writes(copy):
    build_store(PLACE, [source("0", map(document, range(20)))])
    seen: list[set[int]] = []
    failed: list[BaseException] = []
    done = False

    def read() -> None:
        try:
            store = open_store(PLACE)
            while not done:
                seen.append({one.version for one in store.scan()})
                assert len(store.search(" ".join(WORDS), 5)) == 5
                # So that the build is not kept from the processor.
                time.sleep(0.2)
        except BaseException as error:
            failed.append(error)

    readers = [Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for version in range(2, 4):
        build_store(PLACE, [source(str(version), (document(number, version) for number in range(20)))])
    done = True
    for reader in readers:
        reader.join()
    assert not failed
    assert all(len(versions) == 1 for versions in seen)
    assert {one.version for one in open_store(PLACE).scan()} == {3}


def test_a_folder_that_cannot_be_created_is_reported(tmp_path, monkeypatch):
    build_store(PLACE, [source("a", [document(1)])])
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv(STORE_COPY, str(tmp_path / "file"))
    with pytest.raises(InputError, match="expected"):
        open_store(PLACE)
