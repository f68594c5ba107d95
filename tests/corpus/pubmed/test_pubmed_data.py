"""Nothing is lost against a plain reading of real files, where they are at hand."""

from __future__ import annotations

import gzip
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import pytest

from vericite.corpus.pubmed import Deletion, PubMedRecord, read_pubmed
from vericite.errors import InputError, RecordError

DATA = Path(__file__).parents[4] / "shared" / "data"
BASELINE = DATA / "pubmed_baseline" / "medline16n0902.xml.gz"
SAMPLES = DATA / "entrez_samples" / "Tests" / "Entrez"
FILES = [BASELINE, *sorted(SAMPLES.glob("pubmed*.xml"))]

needs_data = pytest.mark.skipif(not BASELINE.exists(), reason="the sample files of PubMed are not at hand")


def texts(element: ElementTree.Element, path: str, inked: bool = True) -> list[str]:
    """What a plain reader finds: all text, without its blanks where markup may have changed them."""
    found = ["".join(part.itertext()) for part in element.findall(path)]
    return [stripped for text in found if (stripped := inked_of(text) if inked else " ".join(text.split()))]


def inked_of(text: str) -> str:
    return "".join(text.replace("^", "").replace("_", "").split())


def of(*values: str | None) -> list[str]:
    return [inked_of(value) for value in values if value]


CITATION = "MedlineCitation"
ARTICLE = "MedlineCitation/Article"
CHECKED: dict[str, Callable[[PubMedRecord], list[str]]] = {
    f"{CITATION}/PMID": lambda record: of(record.pmid),
    f"{ARTICLE}/ArticleTitle": lambda record: of(record.title),
    f"{ARTICLE}/VernacularTitle": lambda record: of(record.vernacular_title),
    f"{ARTICLE}/Abstract/AbstractText": lambda record: of(*(part.text for part in record.sections)),
    f"{ARTICLE}/Abstract/CopyrightInformation": lambda record: of(record.copyright),
    f"{CITATION}/OtherAbstract/AbstractText": lambda record: of(
        *(part.text for other in record.other_abstracts for part in other.sections)
    ),
    f"{ARTICLE}/Journal/Title": lambda record: of(record.journal.title),
    f"{ARTICLE}/Journal/ISOAbbreviation": lambda record: of(record.journal.abbreviation),
    f"{ARTICLE}/Journal/ISSN": lambda record: of(record.journal.issn),
    f"{ARTICLE}/Journal/JournalIssue/Volume": lambda record: of(record.journal.volume),
    f"{ARTICLE}/Journal/JournalIssue/Issue": lambda record: of(record.journal.issue),
    f"{ARTICLE}/Language": lambda record: of(*record.languages),
    f"{ARTICLE}/PublicationTypeList/PublicationType": lambda record: of(*record.publication_types),
    f"{ARTICLE}/AuthorList/Author/LastName": lambda record: of(*(person.last for person in record.authors)),
    f"{ARTICLE}/AuthorList/Author/ForeName": lambda record: of(*(person.fore for person in record.authors)),
    f"{ARTICLE}/AuthorList/Author/Initials": lambda record: of(*(person.initials for person in record.authors)),
    f"{ARTICLE}/AuthorList/Author/CollectiveName": lambda record: of(*(who.collective for who in record.authors)),
    f"{ARTICLE}/AuthorList/Author/AffiliationInfo/Affiliation": lambda record: of(
        *(place for person in record.authors for place in person.affiliations)
    ),
    f"{ARTICLE}/GrantList/Grant/GrantID": lambda record: of(*(grant.id for grant in record.grants)),
    f"{ARTICLE}/GrantList/Grant/Agency": lambda record: of(*(grant.agency for grant in record.grants)),
    f"{ARTICLE}/DataBankList/DataBank/AccessionNumberList/AccessionNumber": lambda record: of(
        *(number for bank in record.data_banks for number in bank.accessions)
    ),
    f"{CITATION}/MeshHeadingList/MeshHeading/DescriptorName": lambda record: of(*(at.name for at in record.mesh)),
    f"{CITATION}/MeshHeadingList/MeshHeading/QualifierName": lambda record: of(
        *(qualifier.name for heading in record.mesh for qualifier in heading.qualifiers)
    ),
    f"{CITATION}/ChemicalList/Chemical/NameOfSubstance": lambda record: of(*(at.name for at in record.chemicals)),
    f"{CITATION}/KeywordList/Keyword": lambda record: of(*record.keywords),
    f"{CITATION}/InvestigatorList/Investigator/LastName": lambda record: of(*(at.last for at in record.investigators)),
    "PubmedData/PublicationStatus": lambda record: of(record.publication_status),
    "PubmedData/History/PubMedPubDate/Year": lambda record: of(*(stage.date[:4] for stage in record.history)),
    "PubmedData/ArticleIdList/ArticleId[@IdType='pmc']": lambda record: of(record.pmcid) if len(record.history) else [],
}


def plain(path: Path) -> list[ElementTree.Element]:
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    root = ElementTree.fromstring(data)
    found = root.findall("PubmedArticle")
    for citation in root.findall(CITATION):
        found.append(ElementTree.Element("PubmedArticle"))
        found[-1].append(citation)
    return found


@needs_data
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_field_holds_what_a_plain_reading_finds(path):
    items = list(read_pubmed(path))
    assert not [item for item in items if isinstance(item, RecordError)]
    records = [item for item in items if isinstance(item, PubMedRecord) and not item.book]
    elements = plain(path)
    assert len(records) == len(elements) > 0
    for element, record in zip(elements, records, strict=True):
        for where, taken in CHECKED.items():
            assert taken(record) == texts(element, where), (record.pmid, where)
        issue = f"{ARTICLE}/Journal/JournalIssue/PubDate"
        printed = re.findall(r"\d{4}", " ".join(texts(element, issue)))
        assert (record.date[:4] if record.date else None) == (printed[0] if printed else None), record.pmid
        assert set(texts(element, f"{issue}/MedlineDate")) <= set(of(record.date_text))
        assert record.document().id == record.pmid


@needs_data
def test_the_baseline_sample_has_604_records_and_one_list_of_deletions():
    items = list(read_pubmed(BASELINE))
    assert sum(isinstance(item, PubMedRecord) for item in items) == 604
    assert sum(isinstance(item, Deletion) for item in items) == 1
    assert all(item.date for item in items if isinstance(item, PubMedRecord))


@needs_data
@pytest.mark.parametrize("path", sorted(set(SAMPLES.glob("*.*ml")) - set(FILES)), ids=lambda path: path.name)
def test_what_other_services_of_ncbi_answer_is_refused(path):
    with pytest.raises(InputError, match="expected PubMed XML"):
        list(read_pubmed(path))
