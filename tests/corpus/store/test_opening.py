"""Opening a store, and the errors for places without one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import lancedb
import pyarrow as pa
import pytest
from made_documents import WordEmbedder, document, source

from vericite.corpus.store import build_store, open_store
from vericite.corpus.store.columns import VERSION_KEY
from vericite.corpus.store.place import is_store
from vericite.errors import InputError
from vericite.records import Document


def test_a_place_without_a_store_is_an_error_with_the_command_that_builds_one(tmp_path: Path):
    for place in (tmp_path / "none", tmp_path):
        assert not is_store(str(place))
        with pytest.raises(InputError, match=f"vericite corpus build FILES --to {place}"):
            open_store(place)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_other_files_is_neither_opened_nor_written_to(tmp_path: Path):
    (tmp_path / "photos.zip").write_text("x")
    for use in (lambda: open_store(tmp_path), lambda: build_store(tmp_path, [])):
        with pytest.raises(InputError, match=r"a folder with other files \(photos.zip\)"):
            use()
    with pytest.raises(InputError, match=f"vericite corpus build {tmp_path} --to STORE"):
        open_store(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["photos.zip"]


def test_another_kind_of_database_is_not_a_store(tmp_path: Path):
    lancedb.connect(tmp_path / "db").create_table("documents", schema=pa.schema([pa.field("x", pa.int64())]))
    with pytest.raises(InputError, match="another kind of database"):
        open_store(tmp_path / "db")


@pytest.mark.parametrize(
    ("version", "step"),
    [("3", "Upgrade vericite, or build the store again"), ("1", "Build the store again")],
)
def test_a_store_of_another_version_is_refused(tmp_path: Path, version: str, step: str):
    other = pa.schema([pa.field("id", pa.string())], metadata={VERSION_KEY: version})
    lancedb.connect(tmp_path / "db").create_table("documents", schema=other)
    with pytest.raises(InputError, match=rf"of format {version}\. {step}"):
        open_store(tmp_path / "db")


@pytest.mark.parametrize(
    "place", ["", "s3://", "s3://b", "s3:/bucket/x", "s3://bucket/../x", "s3://bucket/x?y", "gs://bucket/x", "a\0b"]
)
def test_an_invalid_address_is_refused(place: str):
    with pytest.raises(InputError, match=r"expected (a folder or )?an address such as s3://bucket/prefix"):
        open_store(place)


def test_a_file_cannot_be_a_store(tmp_path: Path):
    file = tmp_path / "file"
    file.write_text("x")
    with pytest.raises(InputError, match="found a file"):
        build_store(file, [])


@pytest.mark.parametrize("name", ["with space", "per%20cent", "hash#query?", "ünï", ".hidden", "quote's", "-dash"])
def test_a_folder_may_have_any_name(tmp_path: Path, name: str):
    build_store(tmp_path / name, [source("all", [document(1)])])
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert list(open_store(str(tmp_path / name)).scan()) == [document(1)]


def test_hidden_files_of_file_managers_are_ignored(tmp_path: Path):
    (tmp_path / ".DS_Store").write_text("x")
    build_store(tmp_path, [source("all", [document(1)])])
    assert open_store(tmp_path).info().documents == 1


def test_without_its_packages_the_install_command_is_shown(tmp_path: Path):
    code = (
        "import sys; sys.modules['lancedb'] = None\n"
        "from vericite.corpus.store import build_store, open_store\n"
        "from vericite.errors import MissingExtraError\n"
        "for use in (lambda: open_store(sys.argv[1]), lambda: build_store(sys.argv[1], [])):\n"
        "    try: use()\n"
        "    except MissingExtraError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=60)
    assert done.stdout.count("pip install 'vericite[store]'") == 2, done.stderr


def test_importing_the_names_of_a_store_loads_none_of_its_packages():
    code = (
        "import sys; from vericite.corpus.store import Filters, Source, open_store, build_store\n"
        "print(*{'lancedb', 'pyarrow', 'onnxruntime', 'lxml'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "", done.stderr


def test_documents_come_in_the_requested_order_and_missing_ids_are_listed(tmp_path: Path):
    build_store(tmp_path, [source("all", map(document, range(5)))])
    store = open_store(tmp_path)
    asked = [document(3).id, "no'ne", document(1).id, document(3).id, "no'ne"]
    assert store.get(asked) == ((document(3), document(1), document(3)), ("no'ne",))
    assert store.get([]) == ((), ())


def test_a_document_can_be_put_and_deleted_by_itself(tmp_path: Path):
    build_store(tmp_path, [source("all", map(document, range(5)))])
    store = open_store(tmp_path)
    store.put([document(1, version=3), Document.from_text("new", "Kept at once.")])
    assert store.get([document(1).id, "new"]).documents[0].version == 3
    assert [hit.document.id for hit in store.search("kept", 3)] == ["new"]
    assert store.info().unindexed == 2
    store.put([document(1, version=2)])
    assert store.get([document(1).id]).documents[0].version == 3
    assert store.delete(["new", "none"]) == 1
    store.index()
    assert store.info().unindexed == 0
    assert store.info().documents == 5
    assert store.verify() == ()


def test_a_document_that_cannot_be_stored_is_refused_by_put(tmp_path: Path):
    build_store(tmp_path, [source("all", [document(1)])])
    with pytest.raises(InputError, match="that can be stored"):
        open_store(tmp_path).put([document(2).model_copy(update={"year": 2**63})])


def test_a_store_of_vectors_is_added_to_with_its_own_embedder_only(tmp_path: Path):
    class Other(WordEmbedder):
        signature = "other@1"

    build_store(tmp_path / "v", [source("all", [document(1)])], vectors=True, embedder=WordEmbedder())
    with pytest.raises(InputError, match="expected the embedder of the store's vectors, words@1; found other@1"):
        open_store(tmp_path / "v", Other()).put([document(2)])
    open_store(tmp_path / "v", WordEmbedder()).put([document(2)])
    assert open_store(tmp_path / "v").info().embedder == "words@1"


def test_without_vectors_there_is_nothing_to_search_them_in(tmp_path: Path):
    build_store(tmp_path / "plain", [source("all", [document(1)])])
    with pytest.raises(InputError, match="expected a store with vectors"):
        open_store(tmp_path / "plain").search_vectors(WordEmbedder().embed(["x"])[0], 3)
    with pytest.raises(InputError, match="which has none"):
        build_store(tmp_path / "plain", [], vectors=True, embedder=WordEmbedder())
