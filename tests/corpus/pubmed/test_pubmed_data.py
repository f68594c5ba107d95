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
from vericite.records import Document

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
CHECKED: dict[str, Callable[[Document], list[str]]] = {
    f"{CITATION}/PMID": lambda document: of(document.pmid),
    f"{ARTICLE}/ArticleTitle": lambda document: of(document.title),
    f"{ARTICLE}/Abstract/AbstractText": lambda document: of(*(part.text for part in document.sections)),
    f"{ARTICLE}/Journal/Title": lambda document: of(document.journal),
    f"{ARTICLE}/Language": lambda document: of(*document.languages),
    f"{ARTICLE}/PublicationTypeList/PublicationType": lambda document: of(*document.publication_types),
    f"{CITATION}/MeshHeadingList/MeshHeading/DescriptorName": lambda document: of(*document.mesh),
    "PubmedData/ArticleIdList/ArticleId[@IdType='pmc']": lambda document: of(document.pmcid),
}


def names(element: ElementTree.Element) -> list[str]:
    """The authors as PubMed cites them."""
    found: list[str] = []
    for author in element.findall(f"{ARTICLE}/AuthorList/Author"):
        if author.get("ValidYN") != "N":
            parts = [author.findtext(part) for part in ("LastName", "Initials", "Suffix", "CollectiveName")]
            found += of("".join(filter(None, parts)))
    return found


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
    records = [item for item in items if isinstance(item, PubMedRecord)]
    elements = plain(path)
    assert len(records) == len(elements) > 0
    for element, record in zip(elements, records, strict=True):
        document = record.document
        for where, taken in CHECKED.items():
            found = texts(element, where)
            # Before PubMed's own ids came with the citation, PMCIDs stood elsewhere.
            if found or "ArticleId" not in where:
                assert taken(document) == found, (record.pmid, where)
        assert of(*document.authors) == names(element), record.pmid
        issue = f"{ARTICLE}/Journal/JournalIssue/PubDate"
        printed = re.findall(r"\d{4}", " ".join(texts(element, issue)))
        if printed:
            assert str(document.year) == printed[0] and (document.date or "").startswith(printed[0]), record.pmid


@needs_data
def test_the_baseline_sample_has_604_records_and_one_list_of_deletions():
    items = list(read_pubmed(BASELINE))
    assert sum(isinstance(item, PubMedRecord) for item in items) == 604
    assert sum(isinstance(item, Deletion) for item in items) == 1
    assert all(item.document.date for item in items if isinstance(item, PubMedRecord))


@needs_data
@pytest.mark.parametrize("path", sorted(set(SAMPLES.glob("*.*ml")) - set(FILES)), ids=lambda path: path.name)
def test_what_other_services_of_ncbi_answer_is_refused(path):
    with pytest.raises(InputError, match="expected PubMed XML"):
        list(read_pubmed(path))
