"""A store built from what PubMed finds, with the E-utilities on loopback."""

from __future__ import annotations

from vericite.corpus.gathering import gather
from vericite.corpus.store import build_store, open_store
from vericite.records import Question
from vericite.retrieve.store import StoreRetriever


def test_a_query_and_pmids_become_a_store(client, tmp_path):
    gathered = gather([], client(), queries=["aspirin"], pmids=["104", "999"])
    assert "PubMed finds" in gathered.told[0]
    built = build_store(tmp_path / "store", gathered.sources)
    assert (built.added, built.refused) == (4, 1)
    assert "no PMID 999" in str(built.problems[0])
    found = StoreRetriever(open_store(tmp_path / "store")).retrieve(Question(id="q", text="What about jet lag?"), 2)
    assert [(hit.document.id, hit.rank) for hit in found] == [("104", 1)]


def test_a_list_of_pmids_is_fetched_and_not_fetched_again(client, server, tmp_path):
    (tmp_path / "mine.txt").write_text("101\n102\n")
    for added in (2, 0):
        built = build_store(tmp_path / "store", gather([tmp_path / "mine.txt"], client()).sources)
        assert built.added == added
    assert server.tools.count("efetch") == 1


def test_a_query_that_finds_more_than_asked_for_says_so(client):
    gathered = gather([], client(), queries=["aspirin"], most=1)
    assert "of which the first 1 are taken" in gathered.told[0]
