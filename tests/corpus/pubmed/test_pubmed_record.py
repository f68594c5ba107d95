"""Every field of a record is read, with its text."""

from __future__ import annotations

import gzip
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pubmed_files import CHAPTER, DELETED, FULL, article, file_of

from vericite.corpus.pubmed import Deletion, PubMedRecord, read_pubmed
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


def test_the_document_has_what_a_search_and_a_citation_need(full):
    document = full.document
    assert (document.id, document.pmid, document.version, document.source) == ("90000001", "90000001", 2, "pubmed")
    assert document.title == "[Uptake of CO2 in Planta ficta: 10^-3 mol & more]."
    assert (document.doi, document.pmcid, document.languages) == ("10.1/right", "PMC9000001", ("ger", "eng"))
    assert document.authors == ("Ficta AM Jr", "The Invented Group")
    assert (document.year, document.date, document.revised) == (2021, "2021-02-07", "2022-11-30")
    assert document.mesh == ("Plants", "Air") and document.journal == "Journal of invented results"
    assert document.publication_types == ("Journal Article", "Retracted Publication")


def test_sections_keep_their_labels_or_else_their_category(full):
    assert full.document.sections == (
        Section(text="We asked.", label="AIM"),
        Section(text="We found it.", label="RESULTS"),
        Section(text="More."),
    )


def test_a_retraction_shows_with_its_notice(full):
    assert full.document.retracted and full.retracted_by == ("90000002",) and full.retraction is None


def test_a_retraction_counts_without_its_notice_and_a_link_without_anything_does_not():
    types = b'<PublicationType UI="D016441">Retracted Publication</PublicationType>'
    for link, retracted in ((b"<RefSource>J</RefSource>", True), (b"", False), (b"<RefSource/>", False)):
        data = FULL.replace(types, b"").replace(b"<RefSource>J Inv Res. 2022;1</RefSource>\n", link)
        record = only(file_of(data.replace(b'<PMID Version="1">90000002</PMID>', b"")))
        assert (record.document.retracted, record.retracted_by) == (retracted, ())


def test_the_notice_itself_is_not_retracted():
    end = b"</Article></MedlineCitation>"
    link = b'<CommentsCorrectionsList><CommentsCorrections RefType="RetractionOf"><RefSource>J</RefSource>'
    link += b"</CommentsCorrections></CommentsCorrectionsList>"
    data = article(5).replace(end, b"</Article>" + link + b"</MedlineCitation>")
    record = only(file_of(data))
    assert not record.document.retracted and record.retracts == () and record.retraction is None


def test_a_record_comes_back_from_json(full):
    assert PubMedRecord.model_validate_json(full.model_dump_json()) == full


def test_a_chapter_knows_its_book():
    record = only(file_of(CHAPTER))
    document = record.document
    assert (document.title, document.date, document.journal) == ("A chapter", "1999", "The book of none")
    assert (document.authors, document.publication_types, document.text) == (("Writer W",), ("Review",), "About it.")


def test_a_book_as_a_whole_has_the_books_title_and_authors():
    own = b'<AuthorList Type="authors"><Author><LastName>Writer</LastName><Initials>W</Initials></Author></AuthorList>'
    whole = CHAPTER.replace(b'<ArticleTitle book="b" part="c">A chapter</ArticleTitle>', b"").replace(own, b"")
    document = only(file_of(whole.replace(b'Type="editors"', b'Type="authors"'))).document
    assert (document.title, document.authors, document.journal) == ("The book of none", ("Editor E",), None)


@pytest.mark.parametrize(
    ("dates", "date"),
    [(("issue", "electronic", "entrez"), "2021-02-07"), (("electronic", "entrez"), "2020-12-24"),
     (("entrez",), "2020-12-25"), ((), None)],
)  # fmt: skip
def test_the_date_is_of_the_issue_or_else_the_next_best(dates, date):
    data = FULL
    for kind, tag in (("issue", b"PubDate"), ("electronic", b"ArticleDate"), ("entrez", b"History")):
        if kind not in dates:
            data = re.sub(b"(?s)<" + tag + b".*</" + tag + b">", b"", data)
    assert only(file_of(data)).document.date == date


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
        ("&alpha;-ketoglutarate", "\u03b1-ketoglutarate"),
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
    assert (record.document.title, record.document.text) == (plain, plain)


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
    assert record.document.date == date and record.document.year == (int(date[:4]) if date else None)


@given(st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Cn")), max_size=60))
def test_any_text_comes_back_except_for_white_space(text):
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert only(file_of(article(1, "x" + escaped))).document.sections[0].text == " ".join(f"x{text}".split())


def changed(old: bytes, new: bytes) -> PubMedRecord:
    """The full record with one thing in it changed."""
    assert FULL.count(old) == 1
    return only(file_of(FULL.replace(old, new)))


def test_text_in_a_list_outside_of_its_entries_is_skipped():
    stray = b"<PMID>1</PMID><LastName>x</LastName><QualifierName>x</QualifierName><Year>2000</Year>"
    starts = (b"<CommentsCorrectionsList>", b'<AuthorList CompleteYN="N">', b"<MeshHeadingList>", b"<History>")
    for start in starts:
        assert changed(start, start + stray) == only(file_of(FULL)), start


@pytest.mark.parametrize("length", [1, 49, 50, 300])
@pytest.mark.parametrize("letter", ["x", "\xfc", "\u03b1", "\U0001d6fc"])
@pytest.mark.parametrize("blank", ["  ", "\n", "\t", "\xa0", "\u2009", "\u3000", " \u2009"])
def test_white_space_of_every_kind_becomes_one_space(blank, letter, length):
    word = letter * length
    assert only(file_of(article(1, f"{word}{blank}{word}"))).document.sections[0].text == f"{word} {word}"
    assert only(file_of(article(1, f"{blank}{word} y{blank}"))).document.sections[0].text == f"{word} y"
