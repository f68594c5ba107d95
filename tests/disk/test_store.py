"""A file holds several tables; files of other programs are left alone."""

from __future__ import annotations

import gc
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from vericite.disk.store import Form, RowStore
from vericite.llm.chat import ChatRequest
from vericite.llm.client import Cache, Kept, cache_key
from vericite.models import Pair
from vericite.verify import LexicalJudge
from vericite.verify.judges.wrapped import CachedJudge

COLUMNS = "(key TEXT PRIMARY KEY, value TEXT)"
OLD, NEW = Form("things", "thing", COLUMNS), Form("things", "thing_2", COLUMNS)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "own.sqlite"


def kept(file: Path, form: Form, *rows: tuple[str, str]) -> dict[str, tuple[str, str]]:
    store = RowStore(file, form)
    store.put(rows)
    found = store.find(["a", "k1", "k2", "k3"])
    store.close()
    return found


def test_several_tables_share_a_file_without_loss(file: Path, caplog: pytest.LogCaptureFixture):
    assert kept(file, OLD, ("a", "old")) == {"a": ("a", "old")}
    assert kept(file, NEW) == {}
    assert kept(file, NEW, ("a", "new")) == {"a": ("a", "new")}
    assert kept(file, OLD) == {"a": ("a", "old")}, "also for a version that knows no newer form"
    assert not caplog.records


@pytest.mark.parametrize("first", ["replies", "judgements"])
def test_replies_and_judgements_share_a_file(file: Path, caplog: pytest.LogCaptureFixture, first: str):
    pair = Pair("It is cheap.", "It is cheap.")

    def reply() -> Kept | None:
        cache = Cache(file)
        cache.put("a", Kept("text", "stop", 3, 4))
        cache.close()
        return cache.get("a")

    def judgement() -> np.ndarray:
        with CachedJudge(LexicalJudge(), file) as judge:
            return next(judge.judge([pair])).probabilities

    for use in (reply, judgement) if first == "replies" else (judgement, reply):
        assert use() is not None
    assert not caplog.records
    with sqlite3.connect(file) as connection:
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    connection.close()
    assert names == {"reply", "judgement_2"}


def test_replies_of_an_earlier_version_are_found(file: Path, caplog: pytest.LogCaptureFixture):
    """The table, the user_version and the key are those of the first version."""
    key = "04b504aa71e818384087949039ff8ebf80998394255973b9ae06489b3a8134d2"
    with sqlite3.connect(file) as connection:
        connection.execute(
            "CREATE TABLE reply (key TEXT PRIMARY KEY, value TEXT NOT NULL, made REAL NOT NULL) WITHOUT ROWID"
        )
        connection.execute("INSERT INTO reply VALUES (?, ?, ?)", (key, '["hello", "stop", 1, 2]', 0.0))
        connection.execute("PRAGMA user_version = 1")
    connection.close()
    assert cache_key("openai:gpt", ChatRequest.ask("hello")) == key
    cache = Cache(file)
    assert cache.get(key) == Kept("hello", "stop", 1, 2)
    cache.close()
    assert not caplog.records


@pytest.mark.parametrize("changed", ["value = 'other'", "key = 'k2', value = 'other'"])
def test_a_changed_row_is_left_out_and_reported(file: Path, caplog: pytest.LogCaptureFixture, changed: str):
    kept(file, OLD, ("k1", "one"), ("k3", "three"))
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(f"UPDATE thing SET {changed} WHERE key = 'k1'")
    assert kept(file, OLD) == {"k3": ("k3", "three")}
    assert "found 1 that have changed" in caplog.text
    kept(file, OLD, ("k1", "one"))
    assert kept(file, OLD)["k1"] == ("k1", "one")


def test_rows_of_a_file_without_checksums_are_read_and_added_to(file: Path, caplog: pytest.LogCaptureFixture):
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(f"CREATE TABLE thing {COLUMNS}")
        connection.execute("INSERT INTO thing VALUES ('k1', 'one')")
        connection.execute("PRAGMA user_version = 1")
    assert kept(file, OLD, ("k2", "two")) == {"k1": ("k1", "one"), "k2": ("k2", "two")}
    assert not caplog.records


def test_numbers_of_any_type_are_read_back_unchanged(file: Path, caplog: pytest.LogCaptureFixture):
    form = Form("numbers", "number", "(key TEXT PRIMARY KEY, real REAL, whole INTEGER, bytes BLOB, none TEXT)")
    store = RowStore(file, form)
    rows = [(str(value), value, 7, b"\0x", None) for value in (1, 0.1, -3.5e300, 1764311316.123456)]
    store.put(rows)
    store.close()
    assert sorted(store.find([row[0] for row in rows]).values()) == sorted(rows)
    store.close()
    assert not caplog.records


def test_a_store_that_no_one_closed_leaves_no_file_open(file: Path):
    """Python 3.13 and later warn of such a file, as an error in tests."""
    store = RowStore(file, OLD)
    store.put([("a", "old")])
    connection = store._connection
    assert connection is not None
    del store
    gc.collect()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")
