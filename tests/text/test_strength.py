"""How strong a source is: number of participants, retraction by title, depth, and the words for them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vericite.records import Document, Section
from vericite.text.participants import sample_size
from vericite.text.strength import Strength, says_retracted

SIZES = {
    "Forty-two patients with gout were randomised to zelotrine or placebo.": 42,
    "We randomised 412 patients to honey (n = 206) or silver cream (n = 206).": 412,
    "In May to Nov, 2016, 12 546 patients were enrolled and randomly assigned to zinc (n=6270).": 12546,
    "Three-hundred-and-six women were included.": 306,
    "One hundred and twenty nurses were interviewed.": 120,
    "We included 12 trials (3,456 participants) in the analysis.": 3456,
    "Adult outpatients (N = 432) were randomly assigned; those without fever (n = 204) did better.": 432,
    "The study was performed on 61 patients.": 61,
    "Of 294 patients, 152 were assigned to the pump and 142 to the drug.": 294,
    "A prospective cohort of 481 newly diagnosed patients was followed for two years.": 481,
    "This trial will recruit 164 women.": 164,
    "RECOVERY allocated 1561 inpatients to zelotrine and 3155 to usual care.": 4716,
    "We randomly assigned 101 adults to zinc, 99 to honey, and 100 to placebo.": 300,
    "In all, 120 women (mean age 60) were randomised to zinc and 118 women were randomised to placebo.": 238,
    "We randomly assigned 300 adults to zinc or placebo and followed 250 to the end.": 300,
    # Parts, outcomes and other numbers.
    "The end point occurred in 131 patients (86.2%) of the pump group.": None,
    "CA125 was measured in 72 patients with endometriomas and 55 patients with cancer.": None,
    "We studied 21 patients with sclerosis and 21 healthy controls.": None,
    "Twenty patients in each group received honey.": None,
    "Five patients had a relapse.": None,
    "Fever was treated in 200 patients to spare ice and 100 to save time.": None,
    "We allocated 300 patients to zinc and the others to placebo.": None,
    "Genotype 6 patients were treated for 24 weeks.": None,
    "In 1998 patients were treated at home.": None,
    "More than 20,000 patients were included.": None,
    "Over a period of 12 years patients were reviewed.": None,
    "Patients slept better.": None,
}


@pytest.mark.parametrize(("abstract", "n"), SIZES.items())
def test_the_number_of_participants_is_that_of_all(abstract: str, n: int | None):
    assert sample_size(Document.from_text("d", abstract, "Zinc and gout")) == n


def test_a_study_of_animals_counts_animals():
    document = Document.from_text("d", "Sixty rats were randomly divided into three groups.", "Zinc in rats")
    assert Strength.of(document).n == sample_size(document, "animal study") == 60
    assert sample_size(document) is None


@given(st.integers(10, 999_999))
def test_digits_with_and_without_separators_are_one_number(n: int):
    for written in {str(n), f"{n:,}"}:
        assert sample_size(Document.from_text("d", f"A total of {written} adults were enrolled.")) == n


@given(st.text("ab 12,.()%=nN-\npatients and of total", max_size=400))
def test_any_text_has_a_positive_number_or_none(text: str):
    n = sample_size(Document.from_text("d", text))
    assert n is None or n > 0


@pytest.mark.parametrize("unit", ["one hundred and ", "12 patients with a b c d e ", "all 12 patients and ", "N = 4 ("])
def test_a_long_text_is_read_in_time(unit: str):
    begun = time.perf_counter()
    sample_size(Document.from_text("d", unit * 4000))
    assert time.perf_counter() - begun < 5


@pytest.mark.parametrize(
    "title",
    [
        "RETRACTED: Zinc for gout",
        "Retracted Article: Zinc for gout",
        "[Retracted] Zinc for gout",
        "Zinc for gout [RETRACTED]",
        "Zinc for gout (Retracted article).",
    ],
)
def test_a_title_says_that_its_article_is_retracted(title: str):
    assert says_retracted(title)
    assert Strength.of(Document.from_text("d", "Words.", title)).retraction == "retracted"


@pytest.mark.parametrize(
    "title",
    [
        "Retraction: Zinc for gout",
        "Retraction notice to: Zinc for gout",
        'Retraction of "Zinc for gout"',
        "Notice of Retraction: Zinc for gout",
        "[Retraction] Zinc for gout",
    ],
)
def test_a_notice_is_not_itself_retracted(title: str):
    assert not says_retracted(title)
    assert Strength.of(Document.from_text("d", "Words.", title)).retraction == "retraction notice"


@pytest.mark.parametrize(
    "title",
    [
        "Retraction of the lung during surgery",
        "Brain retraction: a review of retractors",
        "Retracted nipples in men",
        "Why are articles retracted?",
        "Citations of retracted papers",
        "",
    ],
)
def test_other_titles_do_not(title: str):
    assert not says_retracted(title)
    assert Strength.of(Document.from_text("d", "Words.", title)).retraction is None


def test_concern_is_less_than_retraction():
    said = Document.from_text("d", "Words.", "Expression of Concern: Zinc for gout")
    assert Strength.of(said).retraction == "expression of concern"
    typed = Document.from_text("d", "Words.", "Zinc").model_copy(
        update={"publication_types": ("Expression of Concern",)}
    )
    assert Strength.of(typed).retraction == "expression of concern"
    assert Strength.of(said.model_copy(update={"retracted": True})).retraction == "retracted"


def test_depth_is_said_only_if_it_is_known():
    abstract = Document(id="7", pmid="7", title="Zinc")
    assert Strength.of(abstract).depth == "title"
    read = Document.from_text("7", "Zinc was given.", "Zinc")
    assert Strength.of(read).depth is None
    assert Strength.of(read.model_copy(update={"pmid": "7"})).depth == "abstract"
    assert Strength.of(Document.from_text("7", "Zinc was given. " * 500)).depth == "full text"


@pytest.mark.parametrize(
    ("labels", "depth"),
    [
        (("Abstract",), "abstract"),
        (("Abstract", "Abstract > Methods"), "abstract"),
        ((None, "Abstract", "1. Introduction"), "full text"),
        (("Abstract", "References"), "full text"),
        (("Methods", "Results"), None),
        ((None,), None),
    ],
)
def test_a_short_pdf_is_a_full_text_only_with_sections_that_no_abstract_has(
    labels: tuple[str | None, ...], depth: str | None
):
    sections = tuple(Section(text="Zinc was given.", label=label) for label in labels)
    assert Strength.of(Document(id="7", title="Zinc", sections=sections, pages=(0,))).depth == depth


def test_facts_are_words_in_one_order():
    text = "We randomised 1,412 adults to zinc or placebo."
    document = Document.from_text("7", text, "A randomised trial").model_copy(update={"pmid": "7", "year": 2019})
    strength = Strength.of(document)
    assert strength == Strength("randomised trial", 1412, 2019, None, "abstract")
    assert strength.facts == "randomised trial, n = 1,412, abstract"
    assert strength.study == ("randomised trial", "n = 1,412")
    assert Strength().facts == ""
