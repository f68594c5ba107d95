"""What a search finds, and in which order."""

from __future__ import annotations

import string
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_documents import WordEmbedder, document, source

from vericite.corpus.store import Filters, Store, build_store, open_store, tables
from vericite.errors import InputError
from vericite.records import Document

OTHERS = [
    Document.from_text("naive", "The naïve cells and CAFÉ visits.", "Naïveté"),
    Document.from_text("inhibition", "Inhibition of PCSK9 lowered LDL."),
    Document.from_text("covid", "SARS-CoV-2 and TNF-α in TP53-mutated tumours."),
    Document(id="bare"),
    *(Document.from_text(f"same {letter}", "Zebrafish larvae regenerate fins.") for letter in string.ascii_lowercase),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    place = tmp_path_factory.mktemp("search") / "store"
    documents = [*(document(number) for number in range(200)), *reversed(OTHERS)]
    build_store(place, [source("all", documents)], vectors=True, embedder=WordEmbedder(), batch=70)
    return open_store(place, WordEmbedder())


def ids(store: Store, query: str, k: int = 5) -> list[str]:
    return [hit.document.id for hit in store.search(query, k)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Does a PCSK9 inhibitor lower LDL?", "inhibition"),
        ("naive CAFE", "naive"),
        ("NAÏVE", "naive"),
        ("sars cov", "covid"),
        ("What is TNF-α?", "covid"),
        ("tp53", "covid"),
    ],
)
def test_words_are_found_by_their_stems_without_case_and_accents(store: Store, query: str, expected: str):
    assert ids(store, query, 1) == [expected]


@pytest.mark.parametrize("k", [1, 5, 10, 25])
def test_equal_scores_come_in_order_of_their_ids(store: Store, k: int):
    # All 26 tie, many more than are asked for beyond k.
    assert ids(store, "zebrafish", k) == [f"same {letter}" for letter in string.ascii_lowercase[:k]]


def test_better_ones_come_first_with_their_scores(store: Store):
    hits = store.search("insulin glucose", 20)
    assert len(hits) == 20
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert hits[0].score > hits[-1].score > 0


def test_a_document_that_shares_no_word_is_not_found(store: Store):
    assert len(store.search("zebrafish", 500)) == 26
    assert ids(store, "xylophone") == []


@pytest.mark.parametrize("query", ["", "   ", "the of and", "?!", "\0", "()", '"'])
def test_a_query_without_a_word_finds_nothing(store: Store, query: str):
    assert store.search(query, 5) == ()


@pytest.mark.parametrize(
    "query",
    [
        '"zebrafish" AND (fins OR larvae)',
        "zebrafish^2 fins~1 body:larvae +regenerate -fins",
        '{"match": {"terms": "zebrafish"}}',
        "zebrafish' OR 'x'='x",
        "(((zebrafish",
        "zebra\0 zebrafish",
        "\ud800 zebrafish",
    ],
)
def test_signs_of_a_query_language_have_no_meaning(store: Store, query: str):
    assert ids(store, query, 1) == ["same a"]


def test_of_a_very_long_query_the_beginning_counts(store: Store):
    padding = "?" * 9_980
    assert ids(store, f"zebrafish {padding}", 1) == ["same a"]
    assert ids(store, f"{'?' * 10_000} zebrafish", 1) == []
    assert len(store.search(" ".join(f"word{number}" for number in range(5_000)) + " fever", 5)) <= 5


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(max_size=60))
def test_any_text_is_a_query_and_gives_the_same_twice(store: Store, query: str):
    assert store.search(query, 3) == store.search(query, 3)


def test_fewer_than_one_document_cannot_be_asked_for(store: Store):
    with pytest.raises(InputError, match="k = 0"):
        store.search("fever", 0)


def test_vectors_find_the_closest_first(store: Store):
    wanted = document(17)
    vector = WordEmbedder().embed([wanted.titled_text])[0]
    hits = store.search_vectors(vector, 10)
    assert hits[0].document == wanted
    assert hits[0].score == pytest.approx(1, abs=1e-3)
    cosines = {one.id: float(WordEmbedder().embed([one.titled_text])[0] @ vector) for one in store.scan()}
    # Vectors are kept in 16 bits, and processors add those up differently: of two as close either may come first.
    best = sorted(cosines.values(), reverse=True)[:5]
    assert [cosines[hit.document.id] for hit in hits[:5]] == pytest.approx(best, abs=2e-3)
    assert [hit.score for hit in hits[:5]] == pytest.approx([cosines[hit.document.id] for hit in hits[:5]], abs=2e-3)


def test_vectors_are_searched_among_those_that_pass(store: Store):
    vector = WordEmbedder().embed([document(17).titled_text])[0]
    hits = store.search_vectors(vector, 10, Filters(languages=("fre",)))
    assert len(hits) == 10
    assert {hit.document.languages for hit in hits} == {("fre",)}


def test_vectors_that_tie_come_in_order_of_their_ids(store: Store):
    vector = WordEmbedder().embed(["Zebrafish larvae regenerate fins."])[0]
    found = [hit.document.id for hit in store.search_vectors(vector, 3)]
    assert found == ["same a", "same b", "same c"]


@pytest.mark.parametrize("vector", [np.ones(31), np.ones((1, 32)), np.full(32, np.nan)])
def test_a_vector_that_cannot_be_of_this_store_is_refused(store: Store, vector: np.ndarray):
    with pytest.raises(InputError, match="expected a vector of 32 finite numbers"):
        store.search_vectors(vector.astype(np.float32), 3)


def test_many_vectors_get_an_index_that_finds_them_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tables, "VECTOR_INDEX_FROM", 500)
    build_store(tmp_path, [source("a", map(document, range(600)))], vectors=True, embedder=WordEmbedder())
    build_store(tmp_path, [source("b", map(document, range(600, 640)))], embedder=WordEmbedder())
    store = open_store(tmp_path)
    assert store.info().unindexed == 0 and store.verify() == ()
    assert "vector" in tables.unindexed(store.snapshot())
    for number in (3, 620):
        (best,) = store.search_vectors(WordEmbedder().embed([document(number).titled_text])[0], 1)
        assert best.document == document(number)
