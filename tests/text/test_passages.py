"""A passage of a source is told from a reference to one and from a remark."""

from __future__ import annotations

import pytest

from vericite.corpus import demo_documents
from vericite.corpus.references import reference_text
from vericite.text.passages import passage_in


@pytest.mark.parametrize(
    ("text", "passage"),
    [
        ("Zinc acetate lozenges did not shorten the common cold.", None),
        ("In 2019, a trial of 240 adults found that zinc shortened colds by two days.", None),
        ("Vitamin D, given daily, reduced falls in older adults.", None),
        ("“Nausea was reported by 21% of patients.” (from the abstract)", "Nausea was reported by 21% of patients."),
        (
            '"Zinc helped most adults. It was safe in all of them." Lancet 2019;393:1-9',
            "Zinc helped most adults. It was",
        ),
        ("A trial ended in 2019 without any harm. It had enrolled 240 adults by 2018.", None),
    ],
)
def test_whole_sentences_are_a_passage(text: str, passage: str | None):
    found = passage_in(text)
    assert found is not None and found.text.startswith(passage or text)
    assert found.is_quoted == (passage is not None)


@pytest.mark.parametrize(
    "text",
    [
        "Smith J, Doe A. Zinc was good for adults with colds. Lancet. 2019;393:1-9.",
        "Smith, J., & Doe, A. (2019). Zinc was good for adults with colds. Lancet, 393(1), 1–9.",
        "Smith and others. Zinc was good for adults with colds. London, 2019.",
        "“Zinc was good for adults with colds.” Lancet, 2019.",
        "Zinc was good for adults with colds. https://doi.org/10.1000/x1",
        "WHO. Guidelines that were updated on zinc. Geneva: World Health Organization; 2019.",
        "See the appendix, where all of the doses are listed.",
        "Ages are given as mean and standard deviation.",
        "Unless otherwise stated, data are medians of three runs.",
        "Both authors contributed equally and have approved the text.",
        "Zinc was safe.",
        "Zinc for the common cold in adults and children",
        "",
    ],
)
def test_a_reference_or_a_remark_is_none(text: str):
    assert passage_in(text) is None


def test_abstracts_are_passages_and_their_references_and_titles_are_not():
    documents = demo_documents()
    assert not [document.id for document in documents if passage_in(reference_text(document))]
    assert not [document.id for document in documents if passage_in(document.title)]
    assert sum(passage_in(document.text) is not None for document in documents) / len(documents) > 0.95
