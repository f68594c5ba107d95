"""Everything of a record comes out, and its text reads as it was meant."""

from __future__ import annotations

import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pubmed_files import CHAPTER, DELETED, FULL, article, file_of

from vericite.corpus.pubmed import (
    AbstractSection,
    Author,
    BookContent,
    Chemical,
    Correction,
    Deletion,
    HistoryDate,
    PubMedRecord,
    Qualifier,
    read_pubmed,
)
from vericite.records import Section


def only(data: bytes) -> PubMedRecord:
    (record,) = read_pubmed(io.BytesIO(data))
    assert isinstance(record, PubMedRecord), record
    return record


@pytest.fixture(params=["first in the file", "among others"])
def full(request: pytest.FixtureRequest) -> PubMedRecord:
    # The first block of a file is read another way than the others.
    if request.param == "first in the file":
        return only(file_of(FULL))
    filler = [article(pmid, "x" * 5000) for pmid in range(1, 101)]
    return list(read_pubmed(io.BytesIO(file_of(*filler, FULL))))[-1]


def test_a_full_record_keeps_what_it_has(full):
    assert (full.pmid, full.version, full.status) == ("90000001", 2, "MEDLINE")
    assert (full.publication_model, full.publication_status) == ("Print-Electronic", "ppublish")
    assert full.title == "[Uptake of CO2 in Planta ficta: 10^-3 mol & more]."
    assert full.vernacular_title == "Aufnahme von Kohlendioxid."
    assert full.copyright == "Nobody, 2021." and full.conflict_of_interest == "None."
    assert (full.doi, full.pmcid) == ("10.1/right", "PMC9000001")
    assert [(other.kind, other.value) for other in full.other_ids] == [("pii", "S-1")]
    assert full.languages == ("ger", "eng") and full.keywords == ("leaf", "air")
    assert full.chemicals == (Chemical(name="Carbon Dioxide", ui="D002245", registry_number="142M471B3J"),)
    assert full.data_banks[0].accessions == ("NCT00000000",) and full.grants[0].country == "Utopia"
    assert full.other_abstracts[0].kind == "plain-language-summary"
    assert full.other_abstracts[0].sections == (AbstractSection(text="In short."),)
    assert full.references == ("90000007", "90000008")


def test_sections_keep_their_labels_or_else_their_category(full):
    assert [(part.label, part.category, part.text) for part in full.sections] == [
        ("AIM", "OBJECTIVE", "We asked."),
        ("RESULTS", "RESULTS", "We found it."),
        (None, None, "More."),
    ]


def test_journal_dates_and_history(full):
    journal = full.journal
    assert (journal.title, journal.abbreviation) == ("Journal of invented results", "J. Inv. Res.")
    assert (journal.issn, journal.linking_issn, journal.nlm_id) == ("1234-5678", "1234-567X", "0000001")
    assert (journal.volume, journal.issue, journal.pages) == ("12", "3-4", "332-40")
    assert (full.date, full.electronic_date, full.revised_date) == ("2021-02-07", "2020-12-24", "2022-11-30")
    assert full.entrez_date == "2020-12-25" and full.history[0] == HistoryDate(status="received", date="2020-01-02")


def test_people_with_all_their_names(full):
    first, wrong, group = full.authors
    assert first == Author(
        last="Ficta",
        fore="Anna Maria",
        initials="AM",
        suffix="Jr",
        orcid="0000-0002-1825-009X",
        affiliations=("Nowhere & Co.", "Elsewhere."),
    )
    assert not wrong.valid and group.name == "The Invented Group"
    assert not full.authors_complete and full.investigators[0].name == "Group M"


def test_a_heading_is_major_by_its_own_flag_or_a_qualifiers(full):
    plants, air = full.mesh
    assert not plants.major and plants.is_major and air.is_major
    assert plants.qualifiers == (Qualifier(name="metabolism", ui="Q1", major=True),)


def test_a_retraction_shows_with_its_notice(full):
    assert full.retracted
    assert full.retraction_notices == (Correction(kind="RetractionIn", pmid="90000002", source="J Inv Res. 2022;1"),)


def test_the_notice_itself_is_not_retracted():
    end = b"</Article></MedlineCitation>"
    link = b'<CommentsCorrectionsList><CommentsCorrections RefType="RetractionOf"><RefSource>J</RefSource>'
    link += b"</CommentsCorrections></CommentsCorrectionsList>"
    data = article(5).replace(end, b"</Article>" + link + b"</MedlineCitation>")
    record = only(file_of(data))
    assert not record.retracted and record.retracts[0].source == "J"


def test_the_document_has_what_a_citation_needs(full):
    document = full.document()
    assert (document.id, document.pmid, document.version, document.source) == ("90000001", "90000001", 2, "pubmed")
    assert document.authors == ("Ficta AM Jr", "The Invented Group")
    assert (document.year, document.date, document.retracted) == (2021, "2021-02-07", True)
    assert document.mesh == ("Plants", "Air") and document.journal == "Journal of invented results"
    assert document.sections[0] == Section(text="We asked.", label="AIM")


def test_a_record_comes_back_from_json(full):
    assert PubMedRecord.model_validate_json(full.model_dump_json()) == full


def test_a_chapter_knows_its_book():
    record = only(file_of(CHAPTER))
    assert (record.title, record.date, record.contribution_date) == ("A chapter", "1999", "2001-02-03")
    assert (record.book.title, record.book.publisher, record.book.place) == ("The book of none", "No Press", "Nowhere")
    assert record.book.isbns == ("9780000000000",) and record.book.editors[0].name == "Editor E"
    assert record.contents == (BookContent(title="Signs", label="1", contents=(BookContent(title="Early"),)),)
    assert [author.name for author in record.authors] == ["Writer W"] and record.other_ids[0].value == "NBK0"
    assert record.document().journal == "The book of none" and record.publication_types == ("Review",)


def test_deletions_come_out_as_such():
    assert list(read_pubmed(io.BytesIO(file_of(article(1), DELETED))))[1] == Deletion(pmids=("90000003", "90000004"))


def test_a_file_of_before_2017_reads_the_same(tmp_path):
    path = tmp_path / "old.xml.gz"
    old = file_of(article(1), article(2), DELETED).replace(b"<PubmedArticle>", b"").replace(b"</PubmedArticle>", b"")
    path.write_bytes(gzip.compress(old.replace(b"PubmedArticleSet", b"MedlineCitationSet")))
    now = list(read_pubmed(io.BytesIO(file_of(article(1), article(2), DELETED))))
    assert list(read_pubmed(path)) == now


def test_one_record_alone_is_a_file_too():
    assert only(article(7)).pmid == "7"


@pytest.mark.parametrize(
    ("marked_up", "plain"),
    [
        ("H<sub>2</sub>O, Ca<sup>2+</sup>, CD4<sup>+</sup>, kg/m<sup>2</sup>", "H2O, Ca2+, CD4+, kg/m2"),
        ("2 x 10<sup>6</sup> and 10<sup>\u22123</sup>", "2 x 10^6 and 10^\u22123"),
        ("<sup>18</sup>F and the 5<sup>th</sup>", "18F and the 5th"),
        ("log<sub>2</sub>3", "log2 3"),
        ("<b>A</b> <i>B</i>\n\t<u>C</u>", "A B C"),
        ("a&#xA0;\u2009b &lt; c &amp; d", "a b < c & d"),
        ("&alpha;-ketoglutarate &unknown;", "\u03b1-ketoglutarate &unknown;"),
        ("<![CDATA[p < 0.05]]><!-- not said -->.", "p < 0.05."),
        (
            '<mml:math xmlns:mml="http://www.w3.org/1998/Math/MathML"><mml:msup><mml:mi>x</mml:mi><mml:mn>2</mml:mn>'
            "</mml:msup>\n <mml:mo>=</mml:mo> <mml:mfrac><mml:mrow><mml:mi>a</mml:mi><mml:mo>+</mml:mo>"
            "<mml:mi>b</mml:mi></mml:mrow><mml:mn>2</mml:mn></mml:mfrac></mml:math> holds",
            "x^2=(a+b)/2 holds",
        ),
    ],
)
def test_markup_becomes_text_with_nothing_lost_or_glued(marked_up, plain):
    record = only(file_of(article(1, marked_up, marked_up)))
    assert (record.title, record.sections[0].text) == (plain, plain)


@pytest.mark.parametrize(
    ("written", "date"),
    [
        ("<Year>2019</Year>", "2019"),
        ("<Year>2019</Year><Month>06</Month>", "2019-06"),
        ("<Year>2019</Year><Month>Sept</Month><Day>5</Day>", "2019-09-05"),
        ("<Year>2019</Year><Month>Feb</Month><Day>30</Day>", "2019-02"),
        ("<Year>2019</Year><Month>13</Month>", "2019"),
        ("<Year>2000</Year><Season>Spring</Season>", "2000"),
        ("<MedlineDate>1998 Dec-1999 Jan</MedlineDate>", "1998-12"),
        ("<MedlineDate>2008 Jul-Aug</MedlineDate>", "2008-07"),
        ("<MedlineDate>Jul-Aug 2008</MedlineDate>", "2008-07"),
        ("<MedlineDate>2000 Dec 23-30</MedlineDate>", "2000-12-23"),
        ("<MedlineDate>2000 Spring</MedlineDate>", "2000"),
        ("<MedlineDate>Winter 1999-2000</MedlineDate>", "1999"),
        ("<MedlineDate>1999-2000</MedlineDate>", "1999"),
        ("<MedlineDate>no idea</MedlineDate>", None),
        ("", None),
    ],
)
def test_dates_are_as_exact_as_they_are_known(written, date):
    record = only(file_of(article(1, date=written)))
    assert record.date == date and record.document().date == date
    assert (record.date_text is not None) == ("MedlineDate" in written or "Season" in written)


@given(st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Cn")), max_size=60))
def test_any_text_comes_back_but_for_its_white_space(text):
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert only(file_of(article(1, "x" + escaped))).sections[0].text == " ".join(f"x{text}".split())


def changed(old: bytes, new: bytes) -> PubMedRecord:
    """The full record with one thing in it changed."""
    assert FULL.count(old) == 1
    return only(file_of(FULL.replace(old, new)))


def test_an_identifier_of_an_affiliation_is_not_the_persons():
    place = b"<AffiliationInfo><Affiliation>Elsewhere.</Affiliation>"
    identifier = b'<Identifier Source="ORCID">0000-0000-0000-0001</Identifier>'
    assert changed(place, place + identifier).authors[0].orcid == "0000-0002-1825-009X"


def test_a_heading_without_a_descriptor_leaves_its_subheadings_to_no_other():
    record = changed(
        b'<DescriptorName UI="D2" MajorTopicYN="Y">Air</DescriptorName>', b"<QualifierName>x</QualifierName>"
    )
    assert [(heading.name, len(heading.qualifiers)) for heading in record.mesh] == [("Plants", 1)]


def test_what_stands_in_a_list_but_in_no_entry_of_it_is_passed_over():
    stray = b"<PMID>1</PMID><LastName>x</LastName><QualifierName>x</QualifierName><Year>2000</Year>"
    starts = (b"<CommentsCorrectionsList>", b'<AuthorList CompleteYN="N">', b"<MeshHeadingList>", b"<History>")
    for start in starts:
        assert changed(start, start + stray) == only(file_of(FULL)), start


@pytest.mark.parametrize("length", [1, 49, 50, 300])
@pytest.mark.parametrize("letter", ["x", "\xfc", "\u03b1", "\U0001d6fc"])
@pytest.mark.parametrize("blank", ["  ", "\n", "\t", "\xa0", "\u2009", "\u3000", " \u2009"])
def test_white_space_of_every_kind_and_place_is_one_blank(blank, letter, length):
    word = letter * length
    assert only(file_of(article(1, f"{word}{blank}{word}"))).sections[0].text == f"{word} {word}"
    assert only(file_of(article(1, f"{blank}{word} y{blank}"))).sections[0].text == f"{word} y"
