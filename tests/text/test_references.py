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
    "https://www.Example.org/A/#top": "url:example.org/A",
    "https://a.org/a?Id=1#b": "url:a.org/a?Id=1",
    "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC77/?x=1": "pmc:77",
    "https://pmc.ncbi.nlm.nih.gov/articles/PMC77#s1": "pmc:77",
    "https://doi.org/10.1000/AB?x=1": "doi:10.1000/ab",
    "https://doi.org/10.1000/AB#s1": "doi:10.1000/ab",
    "doi.org/10.1000/AB?x=1": "doi:10.1000/ab",
    "10.1000/a#b?c": "doi:10.1000/a#b?c",
    "PubMed ID: 123": "pmid:123",
    "PMID=123": "pmid:123",
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


@pytest.mark.parametrize(
    ("text", "left", "pmids"),
    [
        ("Iron helped (PMID: 12345678; n = 45).", "Iron helped (n = 45).", ["12345678"]),
        ("Iron helped (n = 45; PMID: 12345678).", "Iron helped (n = 45).", ["12345678"]),
        ("Iron helped (n = 45; PMID: 12345678; p < 0.05).", "Iron helped (n = 45; p < 0.05).", ["12345678"]),
        ("Iron helped [PMID: 12345678; DOI: 10.1000/x].", "Iron helped.", ["12345678"]),
        ("Iron helped [PMID: 12345678, https://doi.org/10.1000/x].", "Iron helped.", ["12345678"]),
        ("Iron helped [Smith 2020, PMID: 12345678, PMCID: PMC123].", "Iron helped.", ["12345678"]),
        ("Iron helped (PMID 12345678, PMC123).", "Iron helped.", ["12345678"]),
        ("Iron helped (PMID 12345678, 2020).", "Iron helped.", ["12345678"]),
        ("Iron helped (See PMID 12345678).", "Iron helped.", ["12345678"]),
        ("Iron helped (PMIDs 12345678/23456789).", "Iron helped.", ["12345678", "23456789"]),
        ("Iron helped, PMID=12345678.", "Iron helped.", ["12345678"]),
        ("Iron helped (PubMed ID: 12345678).", "Iron helped.", ["12345678"]),
        ("Iron helped; PMID 12345678; zinc did not.", "Iron helped; zinc did not.", ["12345678"]),
        ("PMID 12345678, of 45 men, says so.", ", of 45 men, says so.", ["12345678"]),
    ],
)
def test_an_id_takes_what_would_be_left_over_with_it(text: str, left: str, pmids: list[str]):
    (group,) = parse_pmids(text)
    assert list(group.pmids) == pmids
    assert text[: group.span.start].rstrip() + text[group.span.end :] == left


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
