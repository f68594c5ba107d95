"""A passage of a source is told from a reference to one and from a remark."""

from __future__ import annotations

import pytest

from vericite.corpus import demo_documents
from vericite.corpus.references import reference_text
from vericite.text.passages import entry_in, passage_in


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


ABSTRACT = "In 640 adults, zelotrine lowered systolic pressure by 9 mm Hg. Dizziness was rare."
REFERENCES = [
    "Okafor A, et al. Zelotrine was tested in adults. J Invented Med 2021;3:4-9.",
    "Okafor A, Doe B. Is zelotrine safe? A trial. J Invented Med. 2021 Mar;3(1):4-9. doi:10.1000/x1. Epub 2021 Mar 3.",
    "Okafor, A., & Doe, B. (2021). Zelotrine was tested in adults. Journal of Invented Medicine, 3(1), 4–9.",
    "Okafor A. Zelotrine was tested in adults. Annals of Invented Medicine. 2018.",
    "Okafor A. Zelotrine was tested. PLoS One. 2021;16(3):e0241234. PMID: 99000001.",
]


@pytest.mark.parametrize("between", [" ", " Abstract: ", "\nAbstract\n", "\n\n", " **Abstract.** "])
@pytest.mark.parametrize("reference", REFERENCES)
def test_an_abstract_after_its_reference_is_a_passage(reference: str, between: str):
    found = entry_in(f"{reference}{between}{ABSTRACT}")
    assert found.passage is not None and found.passage.text == ABSTRACT
    assert found.reference == reference
    behind = entry_in(f"{reference}{between}{ABSTRACT} doi:10.1000/x9")
    assert behind.passage == found.passage and behind.reference == f"{reference} doi:10.1000/x9"


def test_a_quotation_after_a_reference_is_a_passage():
    found = entry_in(f"{REFERENCES[0]} “Dizziness was rare in adults.”")
    assert found.passage is not None and found.passage.is_quoted
    assert (found.reference, found.passage.text) == (REFERENCES[0], "Dizziness was rare in adults.")


@pytest.mark.parametrize(
    "text",
    [
        *REFERENCES,
        f"{REFERENCES[0]} {REFERENCES[1]}",
        f"{REFERENCES[0]} This trial was stopped early for harm.",
        f"{REFERENCES[0]} See the appendix, where all doses are listed. They were given to adults.",
        "Okafor A. Zelotrine was tested [abstract]. J Invented Med 2021;3(suppl):S4. Abstract 1234.",
        "Okafor A. Abstract: zelotrine was tested in many adults. J Invented Med 2021;3:4-9.",
        "Okafor A (2021). Smoking is bad and was known to be. How the public was told of it. Penguin.",
        "PMID: 99000001. Okafor A. Zelotrine was tested. It was given to adults. J Invented Med 2021;3:4-9.",
    ],
)
def test_a_reference_alone_has_no_passage(text: str):
    assert entry_in(text) == (text, None)


def test_references_of_documents_and_their_abstracts_are_told_apart():
    right = 0
    for document in demo_documents():
        reference = reference_text(document).rstrip(".") + "."
        assert entry_in(reference).passage is None
        found = entry_in(f"{reference} {document.text}")
        right += found.reference == reference
    assert right / len(demo_documents()) > 0.95
