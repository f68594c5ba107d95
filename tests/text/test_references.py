from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vericite.records import Document
from vericite.text.references import Library, parse_pmids, reference_key

KEYS = {
    "123": "pmid:123",
    "PMID:123": "pmid:123",
    "pmid: 00123": "pmid:123",
    "https://pubmed.ncbi.nlm.nih.gov/123/": "pmid:123",
    "http://www.ncbi.nlm.nih.gov/pubmed/123?x=1": "pmid:123",
    "https://europepmc.org/article/MED/123": "pmid:123",
    "10.1000/X": "doi:10.1000/x",
    "doi: 10.1000/x": "doi:10.1000/x",
    "https://doi.org/10.1000/x.": "doi:10.1000/x",
    "PMC77": "pmc:77",
    "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC77/": "pmc:77",
    "https://www.Example.org/A/#top": "url:example.org/a",
    "demo:0001": "id:demo:0001",
    "123456789": "id:123456789",
    "": "id:",
}


@pytest.mark.parametrize(("name", "key"), KEYS.items())
def test_one_spelling_for_all_names(name: str, key: str):
    assert reference_key(name) == key


def test_a_document_is_found_by_its_id_and_by_its_pubmed_id_and_the_first_wins():
    first, second = Document(id="doi:10.1000/x", pmid="5"), Document(id="PMID:5")
    library = Library([first, second])
    assert library.find("pmid 5") is first
    assert library.find("https://dx.doi.org/10.1000/X") is first
    assert library.find("6") is None
    assert library and not Library()


@given(
    st.text()
    | st.lists(st.sampled_from(["PMID", ": 12", " ", "(", "[", ";", ")", "]", "2020", "A", ",", "345678"])).map("".join)
)
def test_groups_are_in_order_and_hold_their_ids(text: str):
    end = 0
    for group in parse_pmids(text):
        assert end <= group.span.start < group.span.end
        end = group.span.end
        assert group.pmids
        assert "pmid" in text[group.span.slice].lower()
        assert all(pmid in text[group.span.slice] for pmid in group.pmids if pmid != "0")


@given(st.text())
def test_any_name_has_a_key(name: str):
    assert reference_key(name)
