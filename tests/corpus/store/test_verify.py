"""Store verification reports every problem."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from shutil import copytree

import lancedb
import numpy as np
import pytest
from lancedb.index import IvfSq
from made_documents import WORDS, WordEmbedder, document, source

from vericite.corpus.pubmed import Deletion, Retraction
from vericite.corpus.store import build_store, open_store
from vericite.corpus.store.columns import document_table, row_of
from vericite.corpus.store.lance import LanceStore
from vericite.errors import InputError


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sound") / "s"
    build_store(folder, [source("a", map(document, range(30)))], vectors=True, embedder=WordEmbedder())
    assert open_store(folder).verify() == ()
    return folder


@pytest.fixture
def place(sound: Path, tmp_path: Path) -> Path:
    """A copy of a sound store, to be harmed."""
    # What is wrong with a file of this folder names a 403 in its path, and is none of a bucket's all the same.
    return Path(copytree(sound, tmp_path / "s403"))


def table_of(place: Path):
    return lancedb.connect(place).open_table("documents")


def rows(numbers: range, vectors: np.ndarray, place: Path):
    return document_table([row_of(document(number)) for number in numbers], table_of(place).schema, vectors)


def test_a_repeated_id_is_reported(place: Path):
    vectors = WordEmbedder().embed(document(number).titled_text for number in range(2))
    table_of(place).add(rows(range(2), vectors, place))
    open_store(place).index()
    problems = open_store(place).verify()
    assert [problem.split(";")[1] for problem in problems] == [" found '1000000' 2 times", " found '1000001' 2 times"]


def test_a_row_that_is_not_a_document_is_reported(place: Path):
    table_of(place).update(where=f"id = '{document(3).id}'", values={"body": "of another"})
    open_store(place).index()
    (problem,) = open_store(place).verify()
    assert "expected a document in the row '1000003'" in problem


def test_some_of_many_bad_rows_are_listed_and_the_rest_counted(place: Path):
    table_of(place).update(values={"version": 0})
    open_store(place).index()
    problems = open_store(place).verify()
    assert len(problems) == 6 and "found 25 more" in problems[-1]


@pytest.mark.parametrize(("column", "value"), [("characters", 7), ("year", 1066), ("retracted", True)])
def test_a_column_that_differs_from_the_document_is_reported(place: Path, column: str, value: object):
    table_of(place).update(where=f"id = '{document(3).id}'", values={column: value})
    open_store(place).index()
    (problem,) = open_store(place).verify()
    assert f"expected {column} of '1000003' to be" in problem


def test_an_invalid_vector_is_reported(place: Path):
    table_of(place).add(rows(range(40, 42), np.zeros((2, 32), dtype=np.float32), place))
    open_store(place).index()
    problems = open_store(place).verify()
    assert len(problems) == 2 and all("a vector of length 1" in problem for problem in problems)


def test_documents_outside_the_index_are_reported_until_they_are_indexed(place: Path):
    store = open_store(place, WordEmbedder())
    store.put([document(50)])
    assert any("the index of body to cover all documents; found 1 outside" in problem for problem in store.verify())
    store.index()
    assert store.verify() == ()


def facts_of(place: Path):
    return lancedb.connect(place).open_table("pmids")


def fact(key: str, pmid: str, kind: str) -> dict[str, str]:
    return {"key": key, "pmid": pmid, "fact": kind}


def test_facts_about_pmids_are_verified(tmp_path: Path):
    kept, gone = document(0).model_copy(update={"retracted": False}), document(1)
    build_store(tmp_path, [source("a", [kept, gone, Retraction(pmids=("7",)), Deletion(pmids=(gone.pmid or "",))])])
    store = open_store(tmp_path)
    assert store.verify() == ()
    facts_of(tmp_path).add([fact("deleted 7", "8", "deleted"), fact("known 8", "8", "known")])
    problems = open_store(tmp_path).verify()
    assert len(problems) == 2 and all("expected a fact of a PMID" in problem for problem in problems)


@pytest.mark.parametrize("kind", ["deleted", "retracted"])
def test_a_document_that_contradicts_a_fact_about_its_pmid_is_reported(tmp_path: Path, kind: str):
    one = document(0).model_copy(update={"retracted": False})
    build_store(tmp_path, [source("a", [one, Retraction(pmids=("7",))])])
    facts_of(tmp_path).add([fact(f"{kind} {one.pmid}", one.pmid or "", kind)])
    (problem,) = open_store(tmp_path).verify()
    assert f"of a {kind} PMID" in problem and repr(one.id) in problem


def index_files(place: Path, column: str) -> list[Path]:
    (index,) = (index for index in table_of(place).list_indices() if index.columns == [column])
    return sorted((place / "documents.lance" / "_indices" / index.index_uuid).iterdir())


def test_a_truncated_index_is_reported_and_rebuilt_by_the_next_build(place: Path):
    # Each of them, for a search needs all of the words' index and a few pages of the others.
    words = [("body", f"{name}.lance") for name in ("_invert", "_tokens", "_docs", "metadata")]
    for column, ending in [*words, ("pmid", "page_data.lance"), ("mesh", ".lance")]:
        os.truncate(next(path for path in index_files(place, column) if path.name.endswith(ending)), 10)
        (problem,) = open_store(place).verify()
        assert f"expected a readable index of {column}; found: " in problem, ending
        assert "Build the store again" in problem
        built = build_store(place, [source("a", map(document, range(30)))], embedder=WordEmbedder())
        assert built.skipped == ("a",)
        assert open_store(place).verify() == ()


def test_a_store_that_was_emptied_has_nothing_wrong_with_it_and_can_be_filled_again(place: Path):
    store = open_store(place, WordEmbedder())
    assert store.delete(map(str, range(1_000_000, 1_000_030))) == 30
    assert store.verify() == ()
    build_store(place, [source("b", [document(1)])], embedder=WordEmbedder())
    assert open_store(place).verify() == ()
    assert [hit.document for hit in open_store(place).search(document(1).title, 3)] == [document(1)]


def test_unreadable_documents_are_reported(place: Path):
    for path in (place / "documents.lance" / "data").iterdir():
        os.truncate(path, 10)
    problems = open_store(place).verify()
    assert problems[0].startswith("expected to read all documents; found: ") and "from a backup" in problems[0]


def test_a_truncated_vector_index_is_reported(place: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("vericite.corpus.store.tables.VECTOR_INDEX_FROM", 10)
    monkeypatch.setattr("vericite.corpus.store.tables.IvfSq", lambda **options: IvfSq(num_partitions=2, **options))
    open_store(place).index()
    assert open_store(place).verify() == ()
    for path in index_files(place, "vector"):
        os.truncate(path, 10)
    (problem,) = open_store(place).verify()
    assert "expected a readable index of vector" in problem


def flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    middle = len(content) // 3
    for position in range(middle, min(middle + 20, len(content))):
        content[position] ^= 0xFF
    path.write_bytes(content)


def test_flipped_bytes_in_an_index_are_reported_without_a_panic_and_repaired_by_the_next_build(
    place: Path, capfd: pytest.CaptureFixture[str]
):
    # LanceDB itself sees them in a few of these files, and panics at some.
    columns = [column for index in table_of(place).list_indices() for column in index.columns]
    files = {path: column for column in columns for path in index_files(place, column)}
    assert len(files) >= 12
    for path, column in files.items():
        before = path.read_bytes()
        flipped(path)
        (problem,) = open_store(place).verify()
        assert f"expected a readable index of {column}; found: _indices/" in problem
        assert path.name in problem and "to rebuild this index" in problem
        path.write_bytes(before)
    assert open_store(place).verify() == ()
    flipped(next(iter(files)))
    build_store(place, [source("b", [document(77)])], embedder=WordEmbedder())
    assert open_store(place).verify() == ()
    assert capfd.readouterr().err == ""


def test_flipped_bytes_in_documents_are_reported(place: Path, capfd: pytest.CaptureFixture[str]):
    for path in sorted((place / "documents.lance" / "data").iterdir()):
        before = path.read_bytes()
        flipped(path)
        problems = open_store(place).verify()
        told = f"expected the documents in data/{path.name} as they were written; found other bytes"
        assert any(told in problem for problem in problems)
        path.write_bytes(before)
    assert open_store(place).verify() == ()
    assert capfd.readouterr().err == ""


def test_a_store_without_digests_is_read_as_far_as_lancedb_can_and_gets_them_when_it_is_built_on(
    place: Path, capfd: pytest.CaptureFixture[str]
):
    (place / ".digests.json").write_text("{", encoding="utf-8")
    flipped(next(path for path in index_files(place, "pmid") if path.name == "page_lookup.lance"))
    digests, problem = open_store(place).verify()
    assert "a digest of each file in .digests.json; found something that cannot be read" in digests
    assert "expected a readable index of pmid" in problem
    build_store(place, [source("b", [document(77)])], embedder=WordEmbedder())
    assert open_store(place).verify() == ()
    assert capfd.readouterr().err == ""
    path = index_files(place, "pmid")[0]
    flipped(path)
    assert path.name in "".join(open_store(place).verify())


@pytest.mark.parametrize(
    ("content", "told"), [('{"version": 1, "files": {}}', "files without one"), ("{}", "else"), (None, "found none")]
)
def test_digests_that_are_gone_or_emptied_are_a_problem_of_their_own(place: Path, content: str | None, told: str):
    kept = place / ".digests.json"
    kept.unlink() if content is None else kept.write_text(content, encoding="utf-8")
    (problem,) = open_store(place).verify()
    assert told in problem


@pytest.mark.parametrize(
    "read",
    [
        lambda store: list(store.scan()),
        lambda store: store.get([document(1).id]),
        lambda store: store.search(" ".join(WORDS), 5),
        lambda store: store.of_pmids([document(1).pmid]),
    ],
)
def test_changed_documents_are_never_returned(place: Path, read: Callable[[LanceStore], object]):
    read(open_store(place))
    (path, *_) = sorted((place / "documents.lance" / "data").iterdir())
    before = path.read_bytes()
    for at in range(3, len(before), len(before) // 7):
        damaged = bytearray(before)
        damaged[at] ^= 0x10
        path.write_bytes(bytes(damaged))
        with pytest.raises(InputError, match=rf"{path.name} as they were written; found other bytes"):
            read(open_store(place))
    path.write_bytes(before)
    read(open_store(place))


def test_of_a_large_store_documents_are_compared_when_all_are_read(place: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("vericite.corpus.store.lance.COMPARED", 0)
    store = open_store(place)
    for path in (place / "documents.lance" / "data").iterdir():
        flipped(path)
    with pytest.raises(InputError, match="found other bytes"):
        list(store.scan())
