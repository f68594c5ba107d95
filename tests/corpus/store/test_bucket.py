"""Stores in buckets work like stores in folders."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lancedb
import pytest
from made_documents import WORDS, answers, content, document, many, source

from vericite.corpus.store import Source, build_store, open_store
from vericite.corpus.store.lance import LanceStore
from vericite.corpus.store.place import place_of
from vericite.errors import InputError, RecordError
from vericite.records import Document

PLACE = "s3://made-bucket/corpora/one"
UNFIT = RecordError("b.jsonl", 1, None, "expected a document; found none")
pytestmark = pytest.mark.usefixtures("bucket")


def test_a_store_in_a_bucket_is_what_it_would_be_in_a_folder(tmp_path: Path):
    parts = many(40)
    build_store(PLACE, parts[:2], batch=25)
    report = build_store(PLACE, parts, batch=25)
    assert report.skipped == ("part 0", "part 1")
    build_store(tmp_path, parts)
    assert content(PLACE) == content(tmp_path)
    assert answers(PLACE) == answers(tmp_path)
    assert open_store(PLACE).verify() == ()
    there, here = open_store(PLACE).info(), open_store(tmp_path).info()
    assert (there.documents, there.years, there.unindexed) == (here.documents, here.years, 0)
    assert there.size > 10_000


def test_documents_are_deleted_from_a_bucket():
    build_store(PLACE, [source("a", map(document, range(10)))])
    store = open_store(PLACE)
    assert store.delete([document(3).id, "none"]) == 1
    assert store.get([document(3).id]).missing == (document(3).id,)
    assert document(3).id not in content(PLACE)


def test_a_reader_of_a_bucket_sees_one_state_while_another_is_written():
    build_store(PLACE, [source("a", map(document, range(10)))])
    reader = open_store(PLACE)
    reading = reader.scan()
    first = next(reading)
    build_store(PLACE, [source("b", (document(number, 2) for number in range(10)))])
    assert [first, *reading] == [document(number) for number in range(10)]
    assert {one.version for one in open_store(PLACE).scan()} == {2}
    assert {hit.document.version for hit in open_store(PLACE).search(" ".join(WORDS), 10)} == {2}


def test_the_later_of_two_builds_in_a_bucket_continues_and_the_earlier_gets_an_error():
    def items() -> Iterator[Document]:
        yield document(1)
        build_store(PLACE, [source("b", [document(2)])])
        yield document(3)

    with pytest.raises(InputError, match="another build took over"):
        build_store(PLACE, [Source("a", "1", items)], batch=1)
    report = build_store(PLACE, [source("a", [document(1), document(3)])])
    assert report.resumed == ("a",)
    assert content(PLACE) == {one.id: one for one in map(document, (1, 2, 3))}
    assert open_store(PLACE).verify() == ()


def test_a_first_build_of_nothing_usable_takes_its_own_tables_away_and_no_others():
    database = lancedb.connect(PLACE, storage_options=place_of(PLACE).options)
    database.create_table("papers_of_mine", [{"title": "One"}])
    assert not build_store(PLACE, [source("a", [UNFIT])]).kept
    assert database.list_tables().tables == ["papers_of_mine"]
    assert database.open_table("papers_of_mine").to_arrow().to_pylist() == [{"title": "One"}]


def test_what_another_build_wrote_meanwhile_is_not_taken_away(monkeypatch: pytest.MonkeyPatch):
    index, others = LanceStore.index, iter([source("b", [document(2)])])

    def after_another(store: LanceStore) -> None:
        for other in others:
            build_store(PLACE, [other])
        index(store)

    monkeypatch.setattr(LanceStore, "index", after_another)
    assert build_store(PLACE, [source("a", [UNFIT])]).kept
    assert list(content(PLACE)) == [document(2).id]
    assert open_store(PLACE).verify() == ()


def test_a_bucket_without_a_store_is_an_error_with_the_command_that_builds_one():
    with pytest.raises(InputError, match=f"vericite corpus build FILES --to {PLACE}"):
        open_store(PLACE)


def test_a_missing_bucket_is_reported_without_the_keys():
    with pytest.raises(InputError, match=r"expected to (reach|write to) s3://no-such-bucket/x") as caught:
        build_store("s3://no-such-bucket/x", [source("a", [document(1)])])
    assert "a-secret-key" not in str(caught.value) and "an-access-key" not in str(caught.value)
    assert "Check AWS_ACCESS_KEY_ID" in str(caught.value)


@pytest.mark.parametrize(
    "endpoint",
    ["http://evil.example\\@localhost", "http://user@localhost", "http://localhost /", "http://[::1]x", "localhost:9"],
)
def test_an_endpoint_that_parsers_read_differently_is_refused(monkeypatch: pytest.MonkeyPatch, endpoint: str):
    """Python reads the host of the first as localhost; other parsers read evil.example."""
    from vericite.disk.bucket import bucket_options

    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    with pytest.raises(InputError, match=r"expected AWS_ENDPOINT_URL .*to be like"):
        bucket_options("s3://bucket/x")


def test_an_endpoint_of_a_service_by_its_name_is_taken(monkeypatch: pytest.MonkeyPatch):
    from vericite.disk.bucket import bucket_options

    monkeypatch.setenv("AWS_ENDPOINT_URL", "HTTP://minio_1:9000")
    assert bucket_options("s3://bucket/x")["endpoint"] == "HTTP://minio_1:9000"


def test_keys_are_not_sent_in_the_clear_to_another_machine(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://store.invalid:9000")
    with pytest.raises(InputError, match="expected to reach"):
        open_store(PLACE)


def test_flipped_bytes_in_a_bucket_are_reported_and_the_next_build_rebuilds_the_index(bucket: Any):
    build_store(PLACE, [source("a", map(document, range(30)))])
    assert open_store(PLACE).verify() == ()
    within = PLACE.removeprefix("s3://made-bucket/") + "/documents.lance/"
    names = [one.key for one in bucket.objects.filter(Prefix=within)]
    data = next(name for name in names if name.startswith(f"{within}data/"))
    index = next(name for name in names if name.endswith("tokens.lance"))

    def flip(name: str) -> bytes:
        whole = bucket.Object(name).get()["Body"].read()
        third = len(whole) // 3
        bucket.Object(name).put(
            Body=whole[:third] + bytes(byte ^ 0xFF for byte in whole[third : third + 20]) + whole[third + 20 :]
        )
        return whole

    before = flip(data)
    assert any(f"expected the documents in {data.removeprefix(within)} as" in one for one in open_store(PLACE).verify())
    bucket.Object(data).put(Body=before)
    flip(index)
    (problem,) = open_store(PLACE).verify()
    assert "expected a readable index of body; found: _indices/" in problem
    build_store(PLACE, [source("b", [document(77)])])
    assert open_store(PLACE).verify() == ()
