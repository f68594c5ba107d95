"""A store built from what PubMed finds, with the E-utilities on loopback."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from entrez_server import serve, status

from vericite.corpus.entrez.results import SearchResult
from vericite.corpus.ingest import collect_sources
from vericite.corpus.store import Missing, build_store, open_store
from vericite.errors import InputError, RecordError
from vericite.records import Document, Question
from vericite.retrieve.local import StoreRetriever


def test_a_query_and_pmids_become_a_store(client, tmp_path):
    collected = collect_sources(["pubmed:aspirin", "pmids:104,999"], client())
    assert "PubMed finds" in collected.messages[0]
    built = build_store(tmp_path / "store", collected.sources)
    assert (built.added, built.refused, built.missing) == (4, 0, 1)
    assert "no PMID 999" in str(built.problems[0])
    found = StoreRetriever(open_store(tmp_path / "store")).retrieve(Question(id="q", text="What about jet lag?"), 2)
    assert [(hit.document.id, hit.rank) for hit in found] == [("104", 1)]


def test_a_list_of_pmids_is_fetched_and_not_fetched_again(client, server, tmp_path):
    (tmp_path / "mine.txt").write_text("101\n102\n")
    for added in (2, 0):
        built = build_store(
            tmp_path / "store", collect_sources([Path(f"pmids:{tmp_path / 'mine.txt'}")], client()).sources
        )
        assert built.added == added
    assert server.tools.count("efetch") == 1


@pytest.mark.parametrize("numbers", ["101\n102\n", "21, 22, 21\n", "pmid\n101\n"])
def test_a_file_of_numbers_is_not_taken_for_pmids_unless_it_is_named_so(client, server, tmp_path, numbers):
    (tmp_path / "room.csv").write_text(numbers)
    (tmp_path / "own.txt").write_text("Words of our own.")
    collected = collect_sources([tmp_path], client())
    assert [Path(source.name).name for source in collected.sources] == ["own.txt"]
    assert f"name it pmids:{tmp_path / 'room.csv'}" in collected.skipped_files[0]
    with pytest.raises(InputError, match=f"name it pmids:{tmp_path / 'room.csv'}"):
        collect_sources([tmp_path / "room.csv"], client())
    assert server.tools == []


def test_a_file_named_as_a_list_of_pmids_must_be_one(client, server, tmp_path):
    (tmp_path / "own.txt").write_text("Words of our own.")
    [source] = collect_sources([Path(f"pmids:{tmp_path / 'own.txt'}")], client()).sources
    assert "expected a list of PMIDs" in str(*source.items())
    assert server.tools == []


def test_a_query_that_finds_more_than_asked_for_says_so(client):
    collected = collect_sources(["pubmed:aspirin"], client(), most=1)
    assert "using the first 1 " in collected.messages[0]


def test_what_was_fetched_is_fetched_again_after_some_time(client, server, tmp_path):
    def built(today: date) -> int:
        collected = collect_sources(["pmids:101"], client(), today=today)
        return build_store(tmp_path / "store", collected.sources).replaced

    assert [built(date(2026, 1, day)) for day in (1, 2)] == [0, 0]
    assert server.tools.count("efetch") == 1
    assert built(date(2026, 2, 1)) == 1


def test_failed_records_are_requested_again_by_the_next_build(client, server, tmp_path):
    server.withheld.add("102")
    for added, refused in ((2, 1), (0, 1)):
        built = build_store(tmp_path / "store", collect_sources(["pmids:101,102,103"], client()).sources)
        assert (built.added, built.refused) == (added, refused)
    server.withheld.clear()
    built = build_store(tmp_path / "store", collect_sources(["pmids:101,102,103"], client()).sources)
    assert (built.added, built.refused) == (1, 0)
    asked = len(server.tools)
    assert build_store(tmp_path / "store", collect_sources(["pmids:101,102,103"], client()).sources).skipped
    assert len(server.tools) == asked


def test_results_come_in_the_order_of_the_requested_pmids(client, server):
    server.withheld.add("102")
    [source] = collect_sources(["pmids:999,104,x,102,101"], client()).sources
    # Before its colon each problem names all that was asked for.
    told = [str(item).partition(": ")[2] if isinstance(item, RecordError) else item.id for item in source.items()]
    asked = ("999", "104", "'x'", "102", "101")
    assert [next(name for name in asked if name in item) for item in told] == list(asked)
    kinds = [RecordError if isinstance(item, RecordError) else type(item) for item in source.items()]
    assert kinds == [Missing, Document, RecordError, RecordError, Document]


def test_a_query_that_is_named_twice_is_asked_once(client, server):
    assert len(collect_sources(["pubmed:aspirin", "pubmed: aspirin "], client()).sources) == 1
    assert server.tools.count("esearch") == 1


def test_a_query_that_finds_nothing_is_refused_with_what_pubmed_made_of_it(client):
    with pytest.raises(InputError, match=r"reads as 'xyzzy'. PubMed does not know: xyzzy. PubMed says: No items found"):
        collect_sources(["pubmed:xyzzy"], client())


def test_pubmeds_remarks_on_a_query_are_shown():
    class Remarking:
        def search(self, query: str, most: int = 200) -> SearchResult:
            return SearchResult(query=query, ids=("1",), count=1, not_found=("blorp",), notices=("Ignored: the.",))

    told = collect_sources(["pubmed:the blorp"], Remarking()).messages
    assert told[1:] == ("PubMed does not know: blorp.", "PubMed says: Ignored: the.")


def test_a_missing_pmid_is_reported_once_and_its_source_counts_as_read(client, server, tmp_path):
    def build():
        return build_store(tmp_path / "store", collect_sources(["pmids:101,999"], client()).sources)

    built = build()
    assert (built.added, built.missing, len(built.problems)) == (1, 1, 1)
    [state] = open_store(tmp_path / "store").info().sources
    assert (state.done, state.items, state.refused, state.missing) == (True, 2, 0, 1)
    asked = len(server.tools)
    again = build()
    assert again.skipped and not again.problems and len(server.tools) == asked


def test_pubmed_that_fails_in_the_middle_leaves_its_source_open_and_the_others_are_read(client, server, tmp_path):
    (tmp_path / "own.txt").write_text("Words of our own.")
    pmids = [*(str(number) for number in range(1_000, 1_199)), "101", "102", "103"]

    def build():
        return build_store(
            tmp_path / "store",
            [*collect_sources([f"pmids:{','.join(pmids)}"], client(attempts=1)).sources, *own.sources],
        )

    own = collect_sources([tmp_path / "own.txt"])
    # The first 200 take an efetch and an esummary; what comes after them fails.
    server.script([serve, serve, *[status(500, "down")] * 9])
    built = build()
    assert (built.added, built.refused, built.missing) == (2, 1, 199)
    assert "The next build fetches the rest" in str(built.problems[0])
    assert [one.done for one in open_store(tmp_path / "store").info().sources] == [False, True]
    server.script([])
    built = build()
    assert (built.added, built.refused) == (2, 0) and built.resumed
    assert [one.done for one in open_store(tmp_path / "store").info().sources] == [True, True]
