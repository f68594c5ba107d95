"""Whatever a document holds comes out of a table as it went in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_documents import document

from vericite.corpus.store.columns import document_of, document_table, documents_of, row_of, schema
from vericite.records import Document, Section

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
SOME = st.none() | TEXT
TEXTS = st.lists(TEXT, max_size=3).map(tuple)
WHOLE = st.integers(-(2**63), 2**63 - 1)
DOCUMENTS = st.builds(
    Document,
    id=TEXT.filter(bool),
    title=TEXT,
    sections=st.lists(st.builds(Section, text=TEXT, label=SOME), max_size=4).map(tuple),
    pmid=SOME,
    pmcid=SOME,
    doi=SOME,
    version=st.integers(1, 2**63 - 1),
    journal=SOME,
    year=st.none() | WHOLE,
    date=st.sampled_from([None, "2019", "2019-05", "2019-05-03"]),
    revised=st.sampled_from([None, "2019", "2019-05", "2019-05-03"]),
    languages=TEXTS,
    authors=TEXTS,
    mesh=TEXTS,
    publication_types=TEXTS,
    retracted=st.booleans(),
    source=SOME,
)


@given(st.lists(DOCUMENTS, max_size=4))
def test_documents_come_back_as_they_went_in(documents: list[Document]):
    assert list(documents_of(document_table([*map(row_of, documents)], schema(None, None)))) == documents


def test_every_field_of_a_document_is_kept():
    whole = document(1).model_copy(
        update={"pmcid": "PMC1", "doi": "10.1/x", "date": "2019-05-03", "revised": "2020", "year": 2019}
    )
    assert all(value is not None for value in whole.model_dump().values())
    (back,) = documents_of(document_table([row_of(whole)], schema(None, None)))
    assert back == whole


def test_the_index_reads_the_title_and_the_abstract():
    one = Document(id="a", title="Title", sections=(Section(text="First.", label="X"), Section(text="Second.")))
    assert document_table([row_of(one)], schema(None, None))["body"].to_pylist() == ["Title\nFirst.\nSecond."]


@pytest.mark.parametrize(
    "change",
    [
        {"body": "another"},
        {"about": '{"title": 5, "sections": [[null, 3]]}'},
        {"about": '{"title": 4, "sections": [[null, 7]]}'},
    ],
)
def test_a_row_whose_parts_do_not_fit_together_is_no_document(change: dict[str, object]):
    (row,) = document_table([row_of(Document.from_text("a", "A text.", "Title"))], schema(None, None)).to_pylist()
    assert document_of(row).text == "A text."
    with pytest.raises(ValueError, match=r"expected the (title|sections) of 'a'"):
        document_of({**row, **change})


@pytest.mark.parametrize(
    "bad",
    [
        {"year": 2**63}, {"year": -(2**63) - 1}, {"version": 2**63}, {"title": "half \ud800"}, {"mesh": ("\udfff",)},
        {"id": "\ud800"}, {"journal": "\ud800"}, {"sections": (Section(text="\ud800"),)},
        {"sections": (Section(text="", label="\ud800"),)},
    ],
)  # fmt: skip
def test_a_document_that_cannot_be_stored_is_refused(bad: dict[str, object]):
    with pytest.raises(ValueError, match=r"half of a surrogate|more than 64 bits"):
        row_of(document(1).model_copy(update=bad))
