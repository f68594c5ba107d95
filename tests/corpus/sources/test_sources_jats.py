from __future__ import annotations

import time

import pytest

from vericite.corpus import load_documents
from vericite.corpus.pubmed import Retraction
from vericite.errors import InputError, Problems, RecordError
from vericite.records import Document

XLINK = 'xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:mml="http://www.w3.org/1998/Math/MathML"'
FRONT = """
<journal-meta><journal-title-group><journal-title>Journal of Invented Trials</journal-title></journal-title-group>
</journal-meta>
<article-meta>
  <article-id pub-id-type="pmid">90000001</article-id>
  <article-id pub-id-type="pmc">9000001</article-id>
  <article-id pub-id-type="doi">10.99999/JIT.1</article-id>
  <title-group>
    <article-title>Walking after <italic>knee</italic> surgery<xref ref-type="fn"><sup>*</sup></xref></article-title>
    <subtitle>a randomised trial</subtitle></title-group>
  <contrib-group>
    <contrib contrib-type="author"><name><surname>Doe</surname><given-names>Jane A.</given-names></name>
      <xref ref-type="aff" rid="a1"><sup>1</sup></xref></contrib>
    <contrib contrib-type="author"><name><surname>van Roe</surname><given-names>Jean-Paul</given-names>
      <suffix>Jr</suffix></name></contrib>
    <contrib contrib-type="author"><collab>The WALK Group</collab></contrib>
    <contrib contrib-type="editor"><name><surname>Editor</surname><given-names>E</given-names></name></contrib>
  </contrib-group>
  <pub-date pub-type="ppub"><month>6</month><year>2021</year></pub-date>
  <pub-date pub-type="epub"><day>3</day><month>05</month><year>2021</year></pub-date>
  <pub-date pub-type="pmc-release"><year>2022</year></pub-date>
  <abstract><sec><title>Background</title><p>Walking may help.</p></sec>
    <sec><title>Results</title><p>It did.</p></sec></abstract>
  <abstract abstract-type="graphical"><p>A picture of a knee.</p></abstract>
  <abstract abstract-type="teaser"><p>You will not believe it.</p></abstract>
  <trans-abstract xml:lang="fr"><p>La marche.</p></trans-abstract>
  <kwd-group kwd-group-type="MeSH"><kwd>Walking</kwd></kwd-group>
  <kwd-group><kwd>knee</kwd></kwd-group>
</article-meta>"""


def article(body: str, front: str = FRONT, attributes: str = 'article-type="research-article" xml:lang="en"') -> str:
    back = "<back><ref-list><ref><mixed-citation>Old. A cited title.</mixed-citation></ref></ref-list></back>"
    return f"<article {XLINK} {attributes}><front>{front}</front><body>{body}</body>{back}</article>"


def only(items) -> Document:
    [item] = items
    assert isinstance(item, Document), item
    return item


def test_the_metadata_of_an_article_are_read(read):
    document = only(read("a.nxml", article("<p>Text.</p>")))
    assert (document.id, document.pmid, document.pmcid) == ("PMC9000001", "90000001", "PMC9000001")
    assert document.doi == "10.99999/JIT.1"
    assert document.title == "Walking after knee surgery: a randomised trial"
    assert document.journal == "Journal of Invented Trials"
    assert (document.date, document.year) == ("2021-05-03", 2021)
    assert document.authors == ("Doe JA", "van Roe JP Jr", "The WALK Group")
    assert document.languages == ("eng",)
    assert document.mesh == ("Walking",)
    assert document.publication_types == ("Journal Article",)
    assert (document.retracted, document.source) == (False, "pmc")


def test_sections_are_labelled_by_their_titles_and_those_above(read):
    body = """<p>Opening words.</p>
      <sec><label>1</label><title>Methods</title><p>We asked.</p>
        <sec><label>1.1</label><title>Participants</title><p>Forty adults.</p><p>All walked.</p></sec></sec>
      <sec><title>Discussion</title><p>We think so.</p></sec>
      <sec><title>References</title><p>1. Old. A cited title.</p></sec>"""
    document = only(read("a.xml", article(body)))
    assert [(section.label, section.text) for section in document.sections] == [
        ("Abstract > Background", "Walking may help."),
        ("Abstract > Results", "It did."),
        (None, "Opening words."),
        ("Methods", "We asked."),
        ("Methods > Participants", "Forty adults.\nAll walked."),
        ("Discussion", "We think so."),
    ]
    assert "Methods" not in document.text


def test_the_abstract_alone_is_the_same_document_without_its_body(tmp_path):
    path = tmp_path / "articles.xml"
    path.write_text(
        "<articles><article><front><article-meta><article-id pub-id-type='pmc'>7</article-id><abstract><p>It fell.</p>"
        "</abstract></article-meta></front><body><p>By a third.</p></body></article><article><front><article-meta>"
        "<article-id pub-id-type='pmc'>8</article-id></article-meta></front><body><p>Alone.</p></body></article>"
        "</articles>"
    )
    problems = Problems()
    (whole, bare) = load_documents(path, problems)
    assert (whole.text, bare.text, problems) == ("It fell.\nBy a third.", "Alone.", [])
    problems = Problems()
    (abstract,) = load_documents(path, problems, abstracts=True)
    assert (abstract.id, abstract.text) == (whole.id, "It fell.")
    assert [problem.problem for problem in problems] == ["expected an abstract; found 'PMC8' without one"]
    lines = tmp_path / "documents.jsonl"
    lines.write_text('{"id": "a", "text": "It fell."}\n')
    with pytest.raises(InputError, match="expected articles in JATS"):
        load_documents(lines, Problems(), abstracts=True)


def test_an_abstract_whose_labels_are_only_printed_has_sections_too(read):
    front = """<article-meta><abstract><p><bold>Background:</bold> Walking may help.</p>
      <p><bold>RESULTS:</bold> It did. RNA: none.</p></abstract></article-meta>"""
    assert [(section.label, section.text) for section in only(read("a.xml", article("", front))).sections] == [
        ("Abstract > Background", "Walking may help."),
        ("Abstract > Results", "It did. RNA: none."),
    ]


def bibr(words: str) -> str:
    return f'<xref ref-type="bibr" rid="r1">{words}</xref>'


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        (f"It was shown<sup>{bibr('12')}</sup> before.", "It was shown before."),
        (f"It was shown.<sup>{bibr('1')},{bibr('2')}&#x2013;{bibr('4')}</sup> Then more.", "It was shown. Then more."),
        (f"It was shown{bibr('<sup>1</sup>')}<sup>,</sup>{bibr('<sup>2</sup>')} before.", "It was shown before."),
        ("It was shown<sup>12,13</sup> before.", "It was shown before."),
        ("It was shown.<sup>12</sup> Then more.", "It was shown. Then more."),
        (f"It was shown{bibr('12')} before.", "It was shown before."),
        (f"It was shown [{bibr('12')}].", "It was shown."),
        (f"It was shown {bibr('[12]')}.", "It was shown."),
        (f"It was shown {bibr('[12]')}, {bibr('[13]')}.", "It was shown."),
        (f"It was shown [{bibr('1')}, {bibr('3')}-{bibr('5')}] in men.", "It was shown in men."),
        (f"It was shown ({bibr('Doe et al., 2010')}; {bibr('Roe, 2011')}).", "It was shown."),
        (f"It was shown (reviewed in {bibr('Doe, 2010')}).", "It was shown."),
        (f"It was shown (see {bibr('1')} and {bibr('2')}).", "It was shown."),
        (f"{bibr('Doe et al. (2010)')} showed it.", "Doe et al. (2010) showed it."),
        (f"As Doe et al. {bibr('(2010)')} showed.", "As Doe et al. showed."),
        (f"It was shown [{bibr('12')}, Table 2].", "It was shown [Table 2]."),
        (f"As in ref. {bibr('12')}.", "As in ref. 12."),
        ("Some 10<sup>3</sup> cells per m<sup>2</sup> of Ca<sup>2+</sup>.", "Some 10^3 cells per m2 of Ca2+."),
        ("CO<sub>2</sub> rose (<xref ref-type='fig' rid='f'>Fig. 1</xref>).", "CO2 rose (Fig. 1)."),
        ("It rose<xref ref-type='table-fn' rid='t'><sup>a</sup></xref> twice.", "It rose twice."),
        ("It rose<fn><p>Not much.</p></fn> twice.", "It rose twice."),
        (
            "Risk fell (<inline-formula><alternatives><tex-math>\\begin{document}$p&lt;0.05$\\end{document}</tex-math>"
            "<mml:math><mml:mi>p</mml:mi><mml:mo>&lt;</mml:mo><mml:mn>0.05</mml:mn></mml:math></alternatives></inline-formula>).",
            "Risk fell (p<0.05).",
        ),
        (
            "Risk was <inline-formula><tex-math>$x$</tex-math></inline-formula> then.",
            "Risk was [formula] then.",
        ),
        ("One<break/>two.", "One two."),
        ("Mean was 3&nbsp;mm.", "Mean was 3 mm."),
    ],
)
def test_sentences_keep_their_words_and_lose_citations_and_markup(read, written: str, read_as: str):
    text = '<!DOCTYPE article SYSTEM "none.dtd">' + article(f"<p>{written}</p>", front="")
    assert only(read("a.xml", text)).text == read_as


def test_figures_tables_and_displayed_formulas_are_left_out(read):
    body = """<p>Before <fig id="f"><label>Figure 1</label><caption><p>The knee.</p></caption>
        <graphic xlink:href="k"/></fig>after.</p>
      <table-wrap><caption><p>Numbers.</p></caption><table><tr><td>1</td></tr></table></table-wrap>
      <p>So <disp-formula><tex-math>E=mc^2</tex-math></disp-formula> holds.</p>
      <supplementary-material><p>Video.</p></supplementary-material>"""
    assert only(read("a.xml", article(body, front=""))).text == "Before after.\nSo holds."


def test_lists_quotations_and_boxes_are_paragraphs_of_their_section(read):
    body = """<sec><title>Advice</title><p>Do this: <list><list-item><label>1.</label><p>Walk.</p></list-item>
      <list-item><p>Rest.</p></list-item></list> and no more.</p>
      <boxed-text><caption><title>Box</title></caption><sec><title>Key</title><p>Boxed.</p></sec></boxed-text>
      <def-list><def-item><term>BP</term><def><p>blood pressure</p></def></def-item></def-list>
      <disp-quote><p>Quoted.</p></disp-quote><p>Last.</p></sec>"""
    [section] = only(read("a.xml", article(body, front=""))).sections
    assert section.label == "Advice"
    assert section.text.split("\n") == [
        "Do this:",
        "Walk.",
        "Rest.",
        "and no more.",
        "Boxed.",
        "BP: blood pressure",
        "Quoted.",
        "Last.",
    ]


@pytest.mark.parametrize(
    ("kind", "link", "title", "retracted"),
    [
        ("research-article", '<related-article related-article-type="retraction-forward"/>', "T", True),
        ("retraction", '<related-article related-article-type="retracted-article"/>', "Retraction: T", False),
        ("research-article", '<related-article related-article-type="correction-forward"/>', "T", False),
        ("research-article", "", "RETRACTED: T", True),
    ],
)
def test_a_retracted_article_is_told_from_its_notice(read, kind: str, link: str, title: str, retracted: bool):
    front = f"<article-meta><title-group><article-title>{title}</article-title></title-group>{link}</article-meta>"
    document = only(read("a.xml", article("<p>Text.</p>", front, f'article-type="{kind}"')))
    assert document.retracted is retracted
    assert ("Retraction of Publication" in document.publication_types) == (kind == "retraction")


RETRACTED = "related-article-type='retracted-article'"


@pytest.mark.parametrize(
    ("kind", "links", "pmids"),
    [
        ("retraction", f"<related-article {RETRACTED} ext-link-type='pubmed' xlink:href='77'/>", ("77",)),
        (
            "retraction",
            f"<related-article {RETRACTED} ext-link-type='pubmed' xlink:href='77'/>"
            f"<related-article {RETRACTED} ext-link-type='doi' xlink:href='10.99999/1'>"
            "<pub-id pub-id-type='pmid'>78</pub-id></related-article>",
            ("77", "78"),
        ),
        ("retraction", f"<related-article {RETRACTED} ext-link-type='doi' xlink:href='10.99999/1'/>", None),
        ("retraction", f"<related-article {RETRACTED} ext-link-type='pubmed' xlink:href='5'/>", None),
        (
            "retraction",
            "<related-article related-article-type='companion' ext-link-type='pubmed' xlink:href='7'/>",
            None,
        ),
        ("correction", f"<related-article {RETRACTED} ext-link-type='pubmed' xlink:href='77'/>", None),
    ],
)
@pytest.mark.parametrize("body", ["<p>We retract it.</p>", ""])
def test_a_notice_retracts_what_it_names_as_in_pubmeds_xml(read, kind, links, pmids, body):
    front = f'<article-meta><article-id pub-id-type="pmid">5</article-id>{links}</article-meta>'
    notice, *word = read("a.xml", article(body, front, f'article-type="{kind}"'))
    # The word of a notice counts though it has no text of its own.
    assert isinstance(notice, Document if body else RecordError)
    assert word == ([Retraction(pmids=pmids)] if pmids else [])


def meta(number: int) -> str:
    return f'<article-meta><article-id pub-id-type="pmc">{number}</article-id></article-meta>'


@pytest.mark.parametrize(
    "wrapped",
    [
        "<?xml version='1.0'?><!DOCTYPE pmc-articleset PUBLIC 'a' 'b.dtd'><pmc-articleset>{}</pmc-articleset>",
        '<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><ListRecords><record><metadata>{}</metadata></record></ListRecords></OAI-PMH>',
    ],
)
def test_several_articles_come_one_after_the_other_and_a_bare_one_costs_only_itself(read, wrapped: str):
    articles = [article("<p>One.</p>", meta(1)), article("", meta(2)), article("<p>Three.</p>", meta(3))]
    first, second, third = read("a.xml", wrapped.format("\n".join(articles)))
    assert [first.id, third.id] == ["PMC1", "PMC3"]
    assert isinstance(second, RecordError)
    assert "PMC2" in second.problem


def test_the_namespace_of_oai_changes_nothing(read):
    plain = read("a.xml", article(f"<p>It was shown<sup>{bibr('1')}</sup> so.</p>"))
    spaced = article(f"<p>It was shown<sup>{bibr('1')}</sup> so.</p>").replace(
        "<article ", '<article xmlns="https://jats.nlm.nih.gov/ns/archiving/1.3/" ', 1
    )
    assert read("a.xml", spaced) == plain


def test_a_chapter_of_the_bookshelf_is_a_document_too(read):
    text = """<book-part-wrapper><book-meta><book-title-group><book-title>Invented Medicine</book-title>
      </book-title-group></book-meta>
      <book-part><book-part-meta><book-part-id book-part-id-type="pmcid">NBK99</book-part-id>
      <title-group><title>Knees</title></title-group></book-part-meta>
      <body><sec><title>Causes</title><p>Many.</p></sec></body></book-part></book-part-wrapper>"""
    document = only(read("article-1.nxml", text))
    assert (document.id, document.title, document.journal) == ("NBK99", "Knees", "Invented Medicine")
    assert [(section.label, section.text) for section in document.sections] == [("Causes", "Many.")]


def test_replies_to_an_article_are_not_its_text(read):
    whole = article("<p>One.</p>", meta(1)).replace(
        "</article>",
        "<sub-article><front-stub><article-id pub-id-type='pmc'>9</article-id></front-stub>"
        "<body><p>Review.</p></body></sub-article></article>",
    )
    document = only(read("a.xml", whole))
    assert (document.id, document.text) == ("PMC1", "One.")


def test_a_truncated_file_keeps_the_records_before(read):
    text = f"<pmc-articleset>{article('<p>One.</p>', meta(1))}\n<article><body><p>Tw"
    first, error = read("a.xml", text)
    assert first.id == "PMC1"
    assert isinstance(error, RecordError)
    assert error.line == 2


BOMB = """<!DOCTYPE article [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY file SYSTEM "{file}">]>"""


def test_entities_are_neither_expanded_nor_fetched(read, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("a secret of another file")
    for entity in ("&c;", "&file;"):
        text = BOMB.format(file=secret.as_uri()) + article(f"<p>So {entity} it is.</p>", front="")
        (found,) = read("a.xml", text)
        assert isinstance(found, RecordError)
        assert f"expected entities that XML or HTML defines; found {entity}. The article is lost" in str(found)


def test_an_undeclared_entity_is_reported_with_its_line(read):
    with pytest.raises(InputError, match=r"line 2: .*alpha"):
        read("a.xml", "<article>\n<body><p>&alpha;</p></body></article>")


@pytest.mark.parametrize(
    "text",
    [
        "<article><body><p>Broken",
        "<article><front/></article",
        "<article/>",
        "<pmc-articleset/>",
        "<article>" * 5000,
        BOMB + '<article x="&c;&c;&c;"><body><p>T</body></article>',
    ],
)
def test_what_is_no_article_is_refused(read, text: str):
    try:
        items = read("a.xml", text)
    except InputError:
        return
    assert items and all(isinstance(item, RecordError) for item in items)


@pytest.mark.parametrize("unit", ["{}", "{}, ", "[{}", "({} ", "<sup>{}</sup>", "see {} "])
def test_a_long_row_of_citations_takes_no_time(read, unit: str):
    begun = time.perf_counter()
    document = only(read("a.xml", article(f"<p>Words {unit.format(bibr('12')) * 3000} end.</p>", front="")))
    assert time.perf_counter() - begun < 20
    assert document.text.startswith("Words") and document.text.endswith("end.")
