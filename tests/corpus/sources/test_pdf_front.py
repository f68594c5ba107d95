"""Title, DOI, authors, journal and year of a PDF, as its first page says them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pdf_files import Page, pdf
from vericite.corpus.manuscript.sources import open_source
from vericite.corpus.references import to_ris
from vericite.corpus.sources.registry import documents_in
from vericite.records import Document
from vericite.records.manuscripts import Reference

pytest.importorskip("pypdfium2", reason="needs the extra [documents]")

TITLE = "Zinc lozenges for the common cold: a randomised trial"
ABSTRACT = "Zinc lozenges did not shorten the common cold in adults. Nausea was more common with zinc."


def paper(path: Path, authors: str, running: str = "", below: str = "", title: str = TITLE, end: str = "") -> Document:
    """Write an article as a PDF and read it."""
    page = Page()
    if running:
        page.at(50, 815, running, 8)
    y = page.flow(50, 770, 480, title, 17) - 8
    y = page.flow(50, y, 480, authors) - 6
    y = page.flow(50, y, 480, below, 8) - 12
    for heading, text in (("Abstract", ABSTRACT), ("Introduction", "Colds are common in winter."), ("References", end)):
        page.at(50, y, heading, 12, "B")
        y = page.flow(50, y - 16, 480, text) - 8
    path.write_bytes(pdf([page]))
    return next(item for item in documents_in(path) if isinstance(item, Document))


@pytest.mark.parametrize(
    ("written", "authors"),
    [
        ("Anna Kowalska, Piotr Nowak, and Hania van der Berg", ("Kowalska A", "Nowak P", "van der Berg H")),
        ("Anna B. Kowalska, MD; Piotr Nowak-Maj, PhD", ("Kowalska AB", "Nowak-Maj P")),
        ("Kowalska A, Nowak P.", ("Kowalska A", "Nowak P")),
        ("Prof Anna Kowalska1,2*, Dr Piotr Nowak2", ("Kowalska A", "Nowak P")),
        ("Department of Medicine, University Hospital, Krakow", ()),
        ("A trial in two countries, with nurses", ()),
        ("Clinical Trial", ()),
    ],
)
def test_authors_are_a_line_of_names_below_the_title(tmp_path: Path, written: str, authors: tuple[str, ...]):
    assert paper(tmp_path / "a.pdf", written).authors == authors


@pytest.mark.parametrize(
    ("written", "authors", "journal", "year"),
    [
        ("C. Jones, D. Lee. Example Hypertension 2020", ("Jones C", "Lee D"), "Example Hypertension", 2020),
        (
            "A. Smith, B. Jones. Journal of Example Medicine 2021",
            ("Smith A", "Jones B"),
            "Journal of Example Medicine",
            2021,
        ),
        ("J.-P. Garcia. Example Vaccines (2022).", ("Garcia JP",), "Example Vaccines", 2022),
        ("Kim F, Wang G. Example Nutrition, 2019", ("Kim F", "Wang G"), "Example Nutrition", 2019),
        ("Mueller HK. BMJ Open 2020;10:e031662", ("Mueller HK",), "BMJ Open", 2020),
        ("Anna Kowalska, Piotr Nowak. Invented Archives 2018", ("Kowalska A", "Nowak P"), "Invented Archives", 2018),
        # What is not surely a name or a journal.
        ("Brief Report. Example Medicine 2021", (), None, None),
        ("Phase II. Example Medicine 2021", (), None, None),
        ("Vitamin D. Example Medicine 2021", (), None, None),
        ("C. Jones, D. Lee. Example Hypertension", (), None, None),
        ("Kim F, Wang G. Example Nutrition", (), None, None),
        ("A. Smith, B. Jones. Krakow 2021", (), None, None),
        ("A. Smith, B. Jones. Accepted March 2021", (), None, 2021),
        ("Anna Kowalska, Piotr Nowak 2021", (), None, None),
    ],
)
def test_a_byline_may_end_with_the_journal_and_the_year(
    tmp_path: Path, written: str, authors: tuple[str, ...], journal: str | None, year: int | None
):
    found = paper(tmp_path / "a.pdf", written)
    assert (found.authors, found.journal, found.year) == (authors, journal, year)


@pytest.mark.parametrize(
    ("running", "below", "journal", "year", "doi"),
    [
        ("BMJ Open 2020;10:e031662", "doi:10.1234/b.2020", "BMJ Open", 2020, "10.1234/b.2020"),
        ("Lancet 2013; 382: 1249-57", "Published online 8 August 2012", "Lancet", 2013, None),
        ("", "https://doi.org/10.1234/b.2020 (c) 2019 The Authors", None, 2019, "10.1234/b.2020"),
        ("", "Received 1 May 2017. Accepted 2 January 2018.", None, 2018, None),
        ("", "See doi:10.1234/first and doi:10.1234/second", None, None, None),
        ("Annals of Invented Medicine, 2021", "", "Annals of Invented Medicine", 2021, None),
        ("Krakow, 2021", "", None, None, None),
        ("www.journal.org Vol 382 Page 3", "", None, None, None),
    ],
)
def test_journal_year_and_doi_are_taken_where_they_are_sure(
    tmp_path: Path, running: str, below: str, journal: str | None, year: int | None, doi: str | None
):
    found = paper(tmp_path / "a.pdf", "Anna Kowalska, Piotr Nowak", running, below)
    assert (found.journal, found.year, found.doi) == (journal, year, doi)


def test_what_the_references_name_is_not_the_articles_own(tmp_path: Path):
    found = paper(tmp_path / "a.pdf", "Anna Kowalska, Piotr Nowak", end="1. Doe J. Gut 2010;1:2. doi:10.1016/other")
    assert (found.journal, found.year, found.doi) == (None, None, None)


def test_a_title_longer_than_a_heading_is_still_the_title(tmp_path: Path):
    title = (
        f"{TITLE}, double-blind, with placebo, in employees of three towns who were followed over two winters and a "
    )
    title += "summer by their own physicians"
    assert len(title) > 160
    assert paper(tmp_path / "a.pdf", "Anna Kowalska, Piotr Nowak", title=title).title == title


def test_ris_of_a_full_text_has_its_journal_and_its_abstract_alone(tmp_path: Path):
    known = paper(tmp_path / "a.pdf", "Anna Kowalska, Piotr Nowak", "BMJ Open 2020;10:e031662", "doi:10.1234/b.2020")
    lines = to_ris([known]).splitlines()
    assert lines[0] == "TY  - JOUR"
    assert {"AU  - Kowalska A", "T2  - BMJ Open", "PY  - 2020", "DO  - 10.1234/b.2020", f"AB  - {ABSTRACT}"} <= {*lines}
    bare = known.model_copy(update={"sections": known.sections[-1:]})
    assert "AB  -" not in to_ris([bare])


def test_keywords_below_the_abstract_are_no_part_of_it(tmp_path: Path):
    page = Page()
    y = page.flow(50, 770, 480, TITLE, 17) - 20
    page.at(50, y, "Abstract", 12, "B")
    y = page.flow(50, y - 16, 480, ABSTRACT)
    page.flow(50, y, 480, "Keywords: trial; invented; medicine")
    (tmp_path / "a.pdf").write_bytes(pdf([page]))
    (read,) = documents_in(tmp_path / "a.pdf")
    assert isinstance(read, Document) and read.text == ABSTRACT


def test_what_a_pdf_says_of_itself_is_not_compared_with_references(tmp_path: Path):
    paper(tmp_path / "a.pdf", "Anna Kowalska, Piotr Nowak", "BMJ Open 2020;10:e031662", "doi:10.1234/b.2020")
    source = open_source(str(tmp_path))
    reference = Reference(key="1", title=TITLE, authors=("Kowalska A",), year=2011, doi="10.1234/b.2020")
    found = [candidate for tier in source.tiers for looked in tier([reference]) for candidate in looked]
    assert [(candidate.by, candidate.work.is_record) for candidate in found] == [("DOI", False)]
