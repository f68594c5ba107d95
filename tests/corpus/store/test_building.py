"""A build takes in what its sources say, in their order, and can be done again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import lancedb
import pytest
from made_documents import WordEmbedder, answers, content, document, many, source

from vericite.corpus import load_documents
from vericite.corpus.ingest import collect_sources
from vericite.corpus.store import Missing, Progress, Source, build_store, open_store
from vericite.corpus.store.lance import Journal
from vericite.corpus.store.place import place_of
from vericite.errors import InputError, Problems, RecordError
from vericite.records import Document


def small(id: str, version: int = 1, text: str = "Some words.") -> Document:
    return Document.from_text(id, text).model_copy(update={"version": version, "pmid": id, "year": 2000 + version})


TEXT = "Zinc lozenges shortened colds by three days in this made up trial."
RIS = "TY  - JOUR\nTI  - Zinc and colds\nDO  - 10.1000/Made.Up.1\nC2  - PMID: 12345678\nPY  - 2020\nER  - \n"
CSL = [
    {"id": "doe2020", "type": "article-journal", "title": "Zinc and colds", "abstract": TEXT,
     "container-title": "J Colds", "DOI": "10.1000/made.up.1"},
    {"id": "roe2021", "type": "article-journal", "title": "Iron", "abstract": TEXT, "DOI": "10.1000/other"},
]  # fmt: skip


@pytest.mark.parametrize("order", [("a.ris", "b.json"), ("b.json", "a.ris")])
@pytest.mark.parametrize("builds", [1, 2])
def test_two_records_of_an_article_become_one_whatever_comes_first(tmp_path: Path, order: list[str], builds: int):
    (tmp_path / "a.ris").write_text(RIS)
    (tmp_path / "b.json").write_text(json.dumps(CSL))
    groups = [[name] for name in order] if builds == 2 else [order]
    joined = sum(
        build_store(tmp_path / "store", collect_sources([tmp_path / name for name in names]).sources).joined
        for names in groups
    )
    assert joined == 1
    found = {one.id: one for one in open_store(tmp_path / "store").scan()}
    assert set(found) == {"12345678", "doi:10.1000/other"}
    one = found["12345678"]
    assert (one.pmid, one.doi, one.text, one.journal) == ("12345678", "10.1000/Made.Up.1", TEXT, "J Colds")
    assert open_store(tmp_path / "store").verify() == ()


def test_two_records_of_an_article_in_one_file_become_one(tmp_path: Path):
    with_pmid = {"type": "article-journal", "title": "Zinc", "abstract": "Short.", "DOI": "10.1000/MADE.up.1"}
    (tmp_path / "a.json").write_text(json.dumps([CSL[0], with_pmid | {"PMID": "12345678"}]))
    problems = Problems()
    [one] = load_documents(tmp_path / "a.json", problems)
    assert (one.id, one.text, one.journal, problems) == ("12345678", "Short.", "J Colds", [])


def test_a_record_without_title_and_text_is_reported_and_skipped(tmp_path: Path):
    lines = ({"id": "bare", "year": 2020}, {"id": "titled", "title": "Zinc"}, {"id": "whole", "text": "Zinc helps."})
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    report = build_store(tmp_path / "store", collect_sources([tmp_path / "a.jsonl"]).sources)
    assert (report.added, report.refused) == (2, 1)
    assert "line 1: expected a title or a text; found 'bare' with neither. It is skipped" in str(report.problems[0])
    assert {one.id for one in open_store(tmp_path / "store").scan()} == {"titled", "whole"}


def test_built_documents_are_in_the_store_and_in_the_report(tmp_path: Path):
    documents = [document(number) for number in range(50)]
    report = build_store(tmp_path, [source("a", documents[:30]), source("b", documents[30:])], batch=7)
    assert (report.added, report.replaced, report.deleted, report.refused) == (50, 0, 0, 0)
    info = open_store(tmp_path).info()
    assert info.documents == 50
    assert info.with_abstract == sum(bool(one.text) for one in documents)
    years = [one.year for one in documents if one.year]
    assert info.years == (min(years), max(years))
    assert info.retracted == sum(one.retracted for one in documents)
    assert info.unindexed == 0 and info.embedder is None and info.size > 10_000
    assert [(one.name, one.items, one.done) for one in info.sources] == [("a", 30, True), ("b", 20, True)]
    assert info.built is not None and info.built.startswith("20")
    assert list(open_store(tmp_path).scan()) == documents
    assert open_store(tmp_path).verify() == ()


def test_nothing_makes_an_empty_store(tmp_path: Path):
    build_store(tmp_path, [])
    store = open_store(tmp_path)
    assert store.info().documents == 0 and store.info().years is None and store.info().built is None
    assert store.search("anything", 3) == () and list(store.scan()) == [] and store.verify() == ()


def test_a_source_whose_first_item_cannot_be_read_leaves_no_store(tmp_path: Path):
    def items() -> Iterator[Document]:
        raise OSError("the cable")
        yield

    with pytest.raises(OSError, match="the cable"):
        build_store(tmp_path, [Source("a", "1", items), source("b", [small("1")])])
    with pytest.raises(InputError, match="found none"):
        open_store(tmp_path).info()
    assert build_store(tmp_path, [source("a", []), source("b", [small("1")])]).added == 1


def test_a_first_build_of_nothing_usable_leaves_what_lay_beside_a_store_that_was_never_whole(tmp_path: Path):
    # As a build leaves it that died at once.
    (tmp_path / "documents.lance").mkdir()
    lancedb.connect(tmp_path).create_table("papers_of_mine", [{"title": "One"}])
    unfit = RecordError("a.jsonl", 1, None, "expected a document; found none")
    assert not build_store(tmp_path, [source("a", [unfit])]).kept
    assert lancedb.connect(tmp_path).list_tables().tables == ["papers_of_mine"]


def test_a_source_to_be_tried_again_is_read_from_its_start_until_nothing_in_it_is_refused(tmp_path: Path):
    refused = RecordError("pubmed", 0, None, "expected an article; the service was away")

    def build(items: list[Document | RecordError]) -> tuple[bool, bool, int]:
        again = Source("pmids", "1", lambda: iter(items), retry=True)
        report = build_store(tmp_path, [again, source("b", [small("9")])], batch=2)
        (state, _) = open_store(tmp_path).info().sources
        return bool(report.resumed), state.done, state.items

    assert build([small("1"), refused, refused, small("4")]) == (False, False, 4)
    # The documents come where they belong, before those that came already.
    assert build([small("1"), small("2"), small("4"), refused]) == (True, False, 4)
    assert sorted(content(tmp_path)) == ["1", "2", "4", "9"]
    assert build([small(id) for id in "1234"]) == (True, True, 4)
    assert sorted(content(tmp_path)) == ["1", "2", "3", "4", "9"]
    assert build_store(tmp_path, [Source("pmids", "1", lambda: iter([]), retry=True)]).skipped == ("pmids",)


def test_a_later_version_is_kept_and_counted(tmp_path: Path):
    build_store(tmp_path, [source("a", [small("1", 2, "new"), small("2")])])
    report = build_store(tmp_path, [source("b", [small("1", 1, "old"), small("2", 1, "other"), small("3")])])
    assert (report.added, report.replaced, report.outdated) == (1, 1, 1)
    assert {id: one.text for id, one in content(tmp_path).items()} == {"1": "new", "2": "other", "3": "Some words."}


def test_an_unchanged_source_is_skipped_and_a_changed_source_read_again(tmp_path: Path):
    build_store(tmp_path, [source("a", [small("1")]), source("b", [small("2")])])

    def never() -> Iterator[Document]:
        raise AssertionError("expected not to be read")

    report = build_store(tmp_path, [Source("a", "1", never), source("b", [small("2", 1, "changed")], "2")])
    assert report.skipped == ("a",) and report.replaced == 1 and report.resumed == ()
    assert content(tmp_path)["2"].text == "changed"
    assert [one.fingerprint for one in open_store(tmp_path).info().sources] == ["1", "2"]


def test_bad_items_are_counted_and_the_first_kept(tmp_path: Path):
    bad = [RecordError("file", number, None, "expected better") for number in range(5)]
    unfit = small("x").model_copy(update={"year": 2**63})
    report = build_store(tmp_path, [source("a", [*bad[:3], small("1"), unfit, *bad[3:], small("2")])], problems=4)
    assert (report.added, report.refused, report.outdated) == (2, 6, 0)
    assert report.problems[:3] == tuple(bad[:3]) and len(report.problems) == 4
    assert open_store(tmp_path).info().sources[0].refused == 6
    report = build_store(tmp_path, [source("b", [small("3"), unfit])])
    assert "a, line 5" not in str(report.problems[0]) and "b, line 2" in str(report.problems[0])


def test_a_failed_build_continues_after_its_last_batch(tmp_path: Path):
    numbers: list[int] = []

    def items(until: int) -> Iterator[Document]:
        for number in range(100):
            if number == until:
                raise OSError("the cable")
            numbers.append(number)
            yield document(number)

    with pytest.raises(OSError, match="the cable"):
        build_store(tmp_path / "s", [Source("a", "1", lambda: items(55))], batch=10)
    assert open_store(tmp_path / "s").info().documents == 50
    seen: list[int] = []
    report = build_store(
        tmp_path / "s", [Source("a", "1", lambda: items(200))], batch=10, progress=lambda at: seen.append(at.items)
    )
    assert report.resumed == ("a",) and report.added == 50 and seen[0] == 10
    build_store(tmp_path / "once", [Source("a", "1", lambda: items(200))])
    assert content(tmp_path / "s") == content(tmp_path / "once")
    assert answers(tmp_path / "s") == answers(tmp_path / "once")


def test_many_small_sources_share_their_batches(tmp_path: Path):
    told: list[Progress] = []
    build_store(tmp_path, [source(f"s{n}", [document(n)]) for n in range(30)], batch=10, progress=told.append)
    assert [one.stage for one in told] == ["reading"] * 4 + ["indexing"]
    assert len(open_store(tmp_path).info().sources) == 30


def test_progress_has_the_rate_and_the_time_left(tmp_path: Path):
    told: list[Progress] = []
    counted = replace(source("a", map(document, range(20))), count=20)
    build_store(tmp_path, [counted], batch=5, progress=told.append)
    assert [one.items for one in told if one.stage == "reading"] == [5, 10, 15, 20, 20]
    assert all(one.source == "a" and one.rate > 0 for one in told[:4])
    assert told[0].remaining == pytest.approx(15 / told[0].rate)
    assert told[3].remaining == 0


def test_sources_need_unique_names(tmp_path: Path):
    for names in (["a", "a"], [""]):
        with pytest.raises(InputError, match="a unique name"):
            build_store(tmp_path, [source(name, []) for name in names])


def test_appending_and_updating_give_the_store_that_was_built_at_once(tmp_path: Path):
    for part in many(400):
        build_store(tmp_path / "parts", [part], batch=60)
    build_store(tmp_path / "once", many(400))
    assert content(tmp_path / "parts") == content(tmp_path / "once")
    assert answers(tmp_path / "parts") == answers(tmp_path / "once")
    assert open_store(tmp_path / "parts").verify() == ()


def test_a_second_build_in_the_same_folder_is_refused(tmp_path: Path):
    def items() -> Iterator[Document]:
        yield document(1)
        with pytest.raises(InputError, match="another build is at work"):
            build_store(tmp_path, [source("b", [document(2)])])
        yield document(3)

    assert build_store(tmp_path, [Source("a", "1", items)]).added == 2
    assert build_store(tmp_path, [source("b", [document(2)])]).added == 1


def test_a_store_with_vectors_has_one_for_every_document(tmp_path: Path):
    build_store(tmp_path, [source("a", map(document, range(20)))], vectors=True, embedder=WordEmbedder())
    build_store(tmp_path, [source("b", [document(20), document(3, 2)])], embedder=WordEmbedder())
    store = open_store(tmp_path)
    assert store.info().embedder == "words@1" and store.verify() == ()
    (best, *_) = store.search_vectors(WordEmbedder().embed([document(3, 2).titled_text])[0], 1)
    assert best.document == document(3, 2)


def test_a_reader_sees_a_build_batch_by_batch(tmp_path: Path):
    build_store(tmp_path, [source("a", map(document, range(10)))])
    reading = open_store(tmp_path).scan()
    first = next(reading)
    counts: list[int] = []
    build_store(
        tmp_path,
        [source("b", (document(number, 2) for number in range(30)))],
        batch=10,
        progress=lambda _: counts.append(len(list(open_store(tmp_path).scan()))),
    )
    assert counts == [10, 20, 30, 30, 30]
    # The stream is of the moment it began.
    assert [first, *reading] == [document(number) for number in range(10)]


def test_a_build_with_vectors_that_was_stopped_goes_on_and_tells_how_far_it_is(tmp_path: Path):
    def items(until: int) -> Iterator[Document]:
        for number in range(250):
            if number == until:
                raise OSError("the cable")
            yield document(number)

    def build(until: int, told: list[Progress]) -> None:
        counted = Source("a", "1", lambda: items(until), count=250)
        build_store(tmp_path, [counted], vectors=True, embedder=WordEmbedder(), batch=120, progress=told.append)

    with pytest.raises(OSError, match="the cable"):
        build(130, [])
    assert open_store(tmp_path).info().documents == 120
    told: list[Progress] = []
    build(300, told)
    made = [one for one in told if one.stage == "embedding"]
    assert [one.items for one in made] == [100, 120, 130]
    # 120 of the 250 were there.
    assert made[0].remaining == pytest.approx(30 / made[0].rate)
    store = open_store(tmp_path)
    assert store.info().documents == 250 and store.info().embedder == "words@1" and store.verify() == ()


def test_the_time_left_is_not_told_where_a_source_does_not_say_how_much_it_holds(tmp_path: Path):
    told: list[Progress] = []
    counted = replace(source("a", map(document, range(10))), count=10)
    build_store(tmp_path, [counted, source("b", [])], batch=5, progress=told.append)
    assert told and all(one.remaining is None for one in told)


def test_a_store_whose_journal_knows_nothing_of_missing_items_is_added_to(tmp_path: Path):
    build_store(tmp_path, [source("a", [document(1)])])
    lancedb.connect(tmp_path).open_table("journal").drop_columns(["missing"])
    assert [one.missing for one in open_store(tmp_path).info().sources] == [0]
    absent = Missing("9", RecordError("b", 0, None, "expected an article; found none"))
    report = build_store(tmp_path, [source("b", [absent, document(2)])])
    assert (report.added, report.missing, report.refused, len(report.problems)) == (1, 1, 0, 1)
    assert [(one.items, one.missing, one.done) for one in open_store(tmp_path).info().sources] == [
        (1, 0, True),
        (2, 1, True),
    ]


def test_what_cannot_be_committed_ends_the_build_with_the_reason(tmp_path: Path):
    def items() -> Iterator[Document]:
        yield from map(document, range(10))
        # Another builder, as there may be in a bucket; the batch that is being written may still be whole.
        Journal(place_of(tmp_path), lancedb.connect(tmp_path)).claim()
        yield from map(document, range(10, 1000))
        raise AssertionError("expected not to be read to its end")

    with pytest.raises(InputError, match="another build took over"):
        build_store(tmp_path, [Source("a", "1", items)], batch=10)
    assert open_store(tmp_path).info().documents in (0, 10)
    assert open_store(tmp_path).info().sources == () or open_store(tmp_path).info().sources[0].items == 10
