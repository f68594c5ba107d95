from __future__ import annotations

import re
import textwrap

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vericite.corpus.pubmed import Deletion, Retraction
from vericite.corpus.sources.registry import documents_in
from vericite.errors import InputError, RecordError
from vericite.records import Document

NBIB = """
PMID- 90000002
OWN - NLM
STAT- MEDLINE
DCOM- 20200101
IS  - 0000-0000 (Print)
VI  - 12
DP  - 2020 Mar-Apr
TI  - Alternate-day iron in women with low ferritin: an invented
      randomised trial.
PG  - 1-9
LID - S0000-0000(20)30001-1 [pii]
LID - 10.99999/Iron.2 [doi]
AB  - BACKGROUND: Daily iron is hard to take. METHODS: We compared it with iron every
      other day in 120 women (RNA: not measured). RESULTS: Ferritin rose in both.
      MAIN OUTCOME MEASURES: Nausea. CONCLUSIONS: Every other day is enough.
CI  - Copyright 2020
FAU - Doe, Jane A
AU  - Doe JA
FAU - van Roe, Jean-Paul
AU  - van Roe JP
CN  - IRON Group
LA  - eng
PT  - Journal Article
PT  - Randomized Controlled Trial
TA  - J Invented Trials
JT  - Journal of invented trials
RN  - E1UOL152H7 (Iron)
MH  - *Iron/administration & dosage
MH  - Female
MH  - Ferritins/*blood
PMC - PMC9000002
RIN - J Invented Trials. 2021;2:1. PMID: 90000009
AID - 10.99999/Iron.2 [doi]

PMID- 90000009
PT  - Retraction of Publication
TI  - Retraction: Alternate-day iron.
ROF - J Invented Trials. 2020;1:1. PMID: 90000002
"""


def documents(items) -> list[Document]:
    found = [item for item in items if not isinstance(item, Retraction)]
    assert all(isinstance(item, Document) for item in found), found
    return found


def test_a_record_of_medline_says_what_the_xml_would(read):
    first, notice = documents(read("set.nbib", NBIB))
    assert first.id == first.pmid == "90000002"
    assert first.title == "Alternate-day iron in women with low ferritin: an invented randomised trial."
    assert (first.journal, first.date, first.year) == ("Journal of invented trials", "2020-03", 2020)
    assert (first.doi, first.pmcid, first.languages) == ("10.99999/Iron.2", "PMC9000002", ("eng",))
    assert first.authors == ("Doe JA", "van Roe JP", "IRON Group")
    assert first.mesh == ("Iron", "Female", "Ferritins")
    assert first.publication_types == ("Journal Article", "Randomized Controlled Trial")
    assert (first.retracted, notice.retracted) == (True, False)
    assert (notice.sections, notice.source) == ((), "pubmed")


@pytest.mark.parametrize(
    ("line", "pmids"),
    [
        ("ROF - J Invented Trials. 2020;1:1. PMID: 90000002", ("90000002",)),
        ("ROF - J. 2020;1:1. PMID: 90000002\nROF - J. 2020;1:9. PMID: 90000003", ("90000002", "90000003")),
        ("ROF - J. 2020;1:1. doi: 10.99999/1. PMID:\n      90000002", ("90000002",)),
        ("RRF - J. 2020;1:1. PMID: 90000002", ("90000002",)),
        ("ROF - J. 2020;1:1. PMID: 90000009", None),
        ("ROF - J. 2020;1:1", None),
        ("RIN - J. 2020;1:1. PMID: 90000002", None),
        ("CON - J. 2020;1:1. PMID: 90000002", None),
    ],
)
def test_a_notice_in_medlines_form_retracts_what_it_names_as_in_the_xml(read, line: str, pmids: tuple[str, ...] | None):
    notice, *word = read("set.nbib", f"PMID- 90000009\nTI  - Notice.\n{line}\n")
    assert isinstance(notice, Document) and notice.retracted == line.startswith("RIN")
    assert word == ([Retraction(pmids=pmids)] if pmids else [])


def test_a_structured_abstract_is_split_at_its_labels_and_nowhere_else(read):
    first, _ = documents(read("set.nbib", NBIB))
    assert [(section.label, section.text) for section in first.sections] == [
        ("BACKGROUND", "Daily iron is hard to take."),
        ("METHODS", "We compared it with iron every other day in 120 women (RNA: not measured)."),
        ("RESULTS", "Ferritin rose in both."),
        ("MAIN OUTCOME MEASURES", "Nausea."),
        ("CONCLUSIONS", "Every other day is enough."),
    ]


@pytest.mark.parametrize(
    ("abstract", "labels"),
    [
        ("We sequenced it. RNA: it was there. DNA: it was not.", [None]),
        ("Here is why. METHODS: So. RESULTS: Thus.", [None, "METHODS", "RESULTS"]),
        ("We list results: many.", [None]),
        ("OBJECTIVE: To see.", ["OBJECTIVE"]),
        ("Aims: To see. Patients and methods: We saw. Results: Yes.", ["Aims", "Patients and methods", "Results"]),
        ("One thing. RESULTS: Yes.", [None]),
        ("PURPOSE: Yes. RESULTS:", ["PURPOSE"]),
    ],
)
def test_labels_of_an_abstract(read, abstract: str, labels: list[str | None]):
    [document] = documents(read("a.nbib", f"PMID- 1\nTI  - T\nAB  - {abstract}\n"))
    assert [section.label for section in document.sections] == labels
    kept = re.sub(r"\W", "", document.text + "".join(label or "" for label in labels))
    lost = re.sub(r"\W", "", abstract)
    assert sorted(kept) == sorted(lost) or abstract.endswith("RESULTS:")


def test_a_later_record_of_one_pmid_is_an_update_and_no_error(read):
    items = documents(read("a.nbib", "PMID- 1\nTI  - Old\n\nPMID- 1\nTI  - New\n"))
    assert [item.title for item in items] == ["Old", "New"]


@pytest.mark.parametrize("number", ["none", "0", "123456789012", ""])
def test_a_record_without_a_pmid_costs_only_itself(read, number: str):
    error, good = read("a.nbib", f"PMID- {number}\nTI  - Bad\n\nPMID- 1\nTI  - Good\n", "nbib")
    assert isinstance(error, RecordError) and error.line == 1
    assert good.id == "1"


def test_what_stands_before_the_first_record_is_told_once(read):
    error, good = read("a.nbib", "Some words\nand more\n\nPMID- 1\nTI  - Good\n", "nbib")
    assert isinstance(error, RecordError) and error.line == 1
    assert good.id == "1"


def test_an_invalid_utf8_byte_only_loses_its_record(read):
    content = "PMID- 1\nTI  - Café\n\nPMID- 2\nTI  - Tea\n".encode("latin-1")
    error, good = read("a.nbib", content)
    assert isinstance(error, RecordError)
    assert "0xe9" in error.problem
    assert good.id == "2"


ZOTERO = """TY  - JOUR
TI  - Walking after knee surgery
AU  - Doe, Jane A.
AU  - van Roe, Jean-Paul
T2  - Journal of Invented Trials
AB  - Background: Walking may help.
Methods: We asked 40 adults.

Results: It did.
DA  - 2021/05/03/
PY  - 2021
DO  - https://doi.org/10.99999/JIT.1
UR  - https://pubmed.ncbi.nlm.nih.gov/90000001/
LA  - en
KW  - knee
Y2  - 2024/01/01/
ER  - 

"""


def test_an_entry_of_zotero(read):
    [document] = documents(read("z.ris", ZOTERO))
    assert (document.id, document.pmid, document.doi) == ("90000001", "90000001", "10.99999/JIT.1")
    assert (document.title, document.journal) == ("Walking after knee surgery", "Journal of Invented Trials")
    assert (document.date, document.year, document.languages) == ("2021-05-03", 2021, ("eng",))
    assert document.authors == ("Doe JA", "van Roe JP")
    assert document.publication_types == ("Journal Article",)
    assert [(section.label, section.text) for section in document.sections] == [
        ("Background", "Walking may help."),
        ("Methods", "We asked 40 adults."),
        ("Results", "It did."),
    ]
    assert document.mesh == ()


ENDNOTE = """TY  - JOUR
A1  - Doe, J.
T1  - RETRACTED: Iron every other day
JF  - Journal of Invented Trials
Y1  - 2020//Spring
N2  - Iron every other day is enough.
AN  - 90000002
DB  - Ovid MEDLINE(R)
KW  - *Iron/ad [Administration & Dosage]
KW  - Female
ER  -
"""


def test_an_entry_of_endnote_from_medline(read):
    [document] = documents(read("e.ris", ENDNOTE))
    assert (document.id, document.pmid, document.date) == ("90000002", "90000002", "2020")
    assert document.mesh == ("Iron", "Female")
    assert document.text == "Iron every other day is enough."
    assert document.retracted


EMBASE = """Provider: Elsevier
Database: Embase
Content: text/plain; charset="UTF-8"

TY  - JOUR
ID  - L2000000001
TI  - Magnesium and <i>sleep</i> in 10<sup>3</sup> adults with p &lt; 0.05
AU  - Doe J.
PY  - 2019
JO  - Invented Sleep
AB  - They slept.
LA  - English
AN  - L2000000001
M3  - 10.99999/sleep.3
ER  -
TY  - JOUR
ID  - L2000000002
PY  - 2018
ER  -
TY  - JOUR
ID  - L2000000003
TI  - Never closed
"""


def test_entries_of_embase_one_of_them_bare_the_last_not_closed(read):
    first, error, last = read("e.ris", EMBASE)
    assert (first.id, first.doi, first.authors) == ("doi:10.99999/sleep.3", "10.99999/sleep.3", ("Doe J",))
    assert first.title == "Magnesium and sleep in 10^3 adults with p < 0.05"
    assert first.languages == ("eng",)
    assert isinstance(error, RecordError) and error.line == 16
    assert (last.id, last.sections) == ("L2000000003", ())


def test_an_id_that_came_before_is_an_error_of_the_second(read):
    first, error = read("z.ris", ZOTERO + ZOTERO)
    assert isinstance(error, RecordError)
    assert (error.line, error.field) == (19, "id")
    assert first.id in error.problem


@pytest.mark.parametrize("name", ["a.ris", "a.nbib"])
def test_a_file_without_a_record_is_refused(read, name: str):
    with pytest.raises(InputError):
        read(name, "\x00\x01\x02" * 100)


WORD = st.text("abcdefghijkmnopqrstuvwxyzäöβ0123456789()%,.", min_size=1, max_size=12)
WORDS = st.lists(WORD, min_size=1, max_size=40).map(" ".join)
RECORD = st.fixed_dictionaries(
    {
        "pmid": st.integers(1, 99_999_999).map(str),
        "title": WORDS,
        "text": WORDS,
        "journal": WORDS,
        "authors": st.lists(st.text("ABCDEFGH", min_size=4, max_size=8).map("{} XY".format), unique=True, max_size=4),
        "year": st.integers(1900, 2030).map(str),
    }
)


def value(tag: str, text: str, indent: str, width: int) -> str:
    lines = textwrap.wrap(text, 80, break_long_words=False, break_on_hyphens=False)
    return f"{tag:<{width}}- " + f"\n{indent}".join(lines) + "\n"


def as_nbib(record) -> str:
    fields = [("PMID", record["pmid"]), ("TI", record["title"]), ("AB", record["text"]), ("JT", record["journal"])]
    fields += [("DP", record["year"]), *(("AU", name) for name in record["authors"])]
    return "".join(value(tag, text, " " * 6, 4) for tag, text in fields)


def as_ris(record) -> str:
    fields = [("TY", "JOUR"), ("TI", record["title"]), ("AB", record["text"]), ("JO", record["journal"])]
    fields += [("PY", record["year"]), ("UR", f"https://pubmed.ncbi.nlm.nih.gov/{record['pmid']}/")]
    fields += [("AU", name) for name in record["authors"]]
    return "".join(value(tag, text, "", 4) for tag, text in fields) + "ER  - \n"


@given(st.lists(RECORD, min_size=1, max_size=4, unique_by=lambda record: record["pmid"]), st.sampled_from("\n\r"))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@pytest.mark.parametrize(("form", "written"), [("nbib", as_nbib), ("ris", as_ris)])
def test_what_is_written_is_read_again(read, form, written, records, end: str):
    content = "\n".join(map(written, records))
    found = documents(read(f"a.{form}", content.replace("\n", "\r\n") if end == "\r" else content))
    assert [
        {
            "pmid": item.pmid,
            "title": item.title,
            "text": item.text,
            "journal": item.journal,
            "authors": list(item.authors),
            "year": str(item.year),
        }
        for item in found
    ] == records


def test_pubmeds_own_xml_is_read_with_what_it_took_back(read):
    text = """<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID Version="1">90000001</PMID>
      <Article><ArticleTitle>Walking.</ArticleTitle>
      <Abstract><AbstractText>It helps.</AbstractText></Abstract></Article>
      </MedlineCitation></PubmedArticle><DeleteCitation><PMID>5</PMID></DeleteCitation></PubmedArticleSet>"""
    document, deletion = read("a.xml", text)
    assert (document.id, document.text) == ("90000001", "It helps.")
    assert deletion == Deletion(pmids=("5",))


def test_a_medline_record_says_when_it_was_revised(tmp_path):
    (tmp_path / "a.nbib").write_text("PMID- 1\nTI  - One\nLR  - 20190903\n\nPMID- 2\nTI  - Two\nLR  - soon\n")
    assert [document.revised for document in documents_in(tmp_path / "a.nbib")] == ["2019-09-03", None]
