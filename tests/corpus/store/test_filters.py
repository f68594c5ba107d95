"""A filter lets through what it says, whatever is written in it."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from made_documents import document, source

from vericite.corpus.store import Filters, Store, build_store, open_store
from vericite.errors import InputError
from vericite.records import Document

NAMES = ["' OR '1'='1", "x'; DROP TABLE documents; --", "a\\' OR true --", "%", "_", "", '"', "]) OR true", "\0", "ü\n"]
"""Of journals and headings: each is a document's own."""


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    odd = [
        document(9000 + number).model_copy(
            update={"journal": name, "mesh": (name,), "languages": (name,), "publication_types": (name, "Review")}
        )
        for number, name in enumerate(NAMES)
    ]
    return [document(number) for number in range(60)] + odd


@pytest.fixture(scope="module")
def store(documents: list[Document], tmp_path_factory: pytest.TempPathFactory) -> Store:
    place = tmp_path_factory.mktemp("filters") / "store"
    build_store(place, [source("all", documents)])
    return open_store(place)


def passes(one: Document, filters: Filters) -> bool:
    does = (
        (filters.year_from is None or (one.year is not None and one.year >= filters.year_from))
        and (filters.year_to is None or (one.year is not None and one.year <= filters.year_to))
        and (not filters.journals or one.journal in filters.journals)
        and (not filters.mesh or bool(set(filters.mesh) & set(one.mesh)))
        and (not filters.publication_types or bool(set(filters.publication_types) & set(one.publication_types)))
        and (not filters.languages or bool(set(filters.languages) & set(one.languages)))
        and (filters.retracted is None or one.retracted == filters.retracted)
    )
    assert filters.passes(one) == does, "a document in memory is judged like one in a store"
    return does


def some(*known: str) -> st.SearchStrategy[tuple[str, ...]]:
    names = st.sampled_from([*known, *NAMES]) | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
    return st.just(()) | st.lists(names, max_size=3).map(tuple)


FILTERS = st.builds(
    lambda years, **others: Filters(years[0], years[1], **others),
    st.sampled_from([(None, None), (2000, None), (None, 2005), (1995, 2010), (2003, 2003)]),
    journals=some("Annals", "Lancet's Echo"),
    mesh=some("Humans", "Fever/drug therapy"),
    publication_types=some("Journal Article"),
    languages=some("eng", "fre"),
    retracted=st.sampled_from([None, True, False]),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(filters=FILTERS)
@example(filters=Filters())
def test_exactly_the_matching_documents_pass(store: Store, documents: list[Document], filters: Filters):
    assert [one.id for one in store.scan(filters)] == [one.id for one in documents if passes(one, filters)]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_with_a_meaning_in_sql_finds_its_document_and_no_other(store: Store, name: str):
    for filters in (Filters(journals=(name,)), Filters(mesh=(name,)), Filters(languages=(name,))):
        assert [one.id for one in store.scan(filters)] == [str(1_009_000 + NAMES.index(name))]


def test_a_search_finds_only_what_passes(store: Store, documents: list[Document]):
    filters = Filters(year_from=2005, languages=("eng",), retracted=False)
    hits = store.search("study of therapy", 100, filters)
    assert {hit.document.id for hit in hits} == {one.id for one in documents if passes(one, filters)}


def test_nothing_is_found_where_nothing_passes(store: Store):
    assert store.search("study", 5, Filters(journals=("no such journal",))) == ()


def test_years_the_wrong_way_round_are_refused():
    with pytest.raises(InputError, match="found 2010 to 2000"):
        Filters(year_from=2010, year_to=2000)
