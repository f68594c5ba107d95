"""The parts of a MedlineCitation, as fields of ``PubMedRecord``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vericite.corpus.pubmed.dates import date_in, iso_date
from vericite.corpus.pubmed.gather import Fields, Table, append_to, date_into, empty, entries, gather, texts_into
from vericite.corpus.pubmed.markup import children, plain_text
from vericite.corpus.pubmed.people import people

if TYPE_CHECKING:
    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

_PMCID = re.compile(r"PMC\d+")
# NLM's word for a part it sorts under nothing.
_NO_CATEGORY = frozenset({"UNASSIGNED", "UNLABELLED", "UNLABELED"})


def take_pmid(element: _Element, fields: Fields) -> None:
    """The record's own id and the version of it."""
    fields["pmid"] = (element.text or "").strip()
    version = element.get("Version") or ""
    if version.isascii() and version.isdigit():
        fields["version"] = int(version)


def take_pub_date(element: _Element, fields: Fields) -> None:
    """When the issue or the book came out, in any of the forms that PubMed has for it."""
    parts = {child.tag: child.text for child in children(element)}
    if words := parts.get("MedlineDate"):
        fields["date_text"] = " ".join(words.split())
        date = date_in(fields["date_text"])
    else:
        year = parts.get("Year")
        date = iso_date(year, parts.get("Month"), parts.get("Day"))
        if season := parts.get("Season"):
            fields["date_text"] = " ".join(f"{year or ''} {season}".split())
    if date:
        fields["date"] = date


def take_abstract(element: _Element, fields: Fields) -> None:
    """The abstract's sections, but for such as have no text; and, kept apart from them, whose it is."""
    sections: list[Fields] = []
    for child in children(element):
        text = plain_text(child)
        if not text:
            continue
        tag = child.tag
        if tag == "AbstractText":
            sections.append(_section(text, child))
        elif tag == "CopyrightInformation":
            fields["copyright"] = text
    fields["sections"] = tuple(sections)


def _section(text: str, element: _Element) -> Fields:
    section: Fields = {"text": text}
    category, label = element.get("NlmCategory"), element.get("Label")
    if category and category not in _NO_CATEGORY:
        section["category"] = section["label"] = category
    if label and (label := " ".join(label.split())):
        section["label"] = None if label in _NO_CATEGORY else label
    return section


def _take_other_abstract(element: _Element, fields: Fields) -> None:
    other: Fields = {"kind": element.get("Type"), "language": element.get("Language")}
    take_abstract(element, other)
    if other["sections"]:
        fields["other_abstracts"] = (*fields.get("other_abstracts", ()), other)


def take_pages(element: _Element, fields: Fields) -> None:
    """The pages as printed, or from the first to the last."""
    parts: Fields = {child.tag: plain_text(child) for child in children(element)}
    ends = "-".join(filter(None, (parts.get("StartPage"), parts.get("EndPage"))))
    if pages := parts.get("MedlinePgn") or ends:
        fields.setdefault("journal", {})["pages"] = pages


def take_location(element: _Element, fields: Fields) -> None:
    """A DOI or publisher's id, unless it is marked as wrong."""
    if element.get("ValidYN") != "N":
        take_id(element.get("EIdType"), element, fields)


def take_id(kind: str | None, element: _Element, fields: Fields) -> None:
    """An id of the article, the first of its kind where there is room for one."""
    value = plain_text(element)
    if not value or not kind or kind == "pubmed":
        return
    if kind == "doi":
        fields.setdefault("doi", value)
    elif kind in ("pmc", "pmcid"):
        if found := _PMCID.search(value):
            fields.setdefault("pmcid", found[0])
    else:
        known = fields.get("other_ids", ())
        entry = {"kind": kind, "value": value}
        fields["other_ids"] = known if entry in known else (*known, entry)


def _take_other_id(element: _Element, fields: Fields) -> None:
    # "PMC4380289 [Available on 12/01/15]": so before PubMed's own ids came with the citation.
    value = (element.text or "").strip()
    take_id("pmc" if value.startswith("PMC") else element.get("Source"), element, fields)


def take_authors(element: _Element, fields: Fields) -> None:
    """The authors, or the editors where the list says so."""
    fields["editors" if element.get("Type") == "editors" else "authors"] = people(element)
    if element.get("CompleteYN") == "N":
        fields["authors_complete"] = False


def take_investigators(element: _Element, fields: Fields) -> None:
    """The people of the groups among the authors."""
    fields["investigators"] = people(element)


def _take_subjects(element: _Element, fields: Fields) -> None:
    fields["subjects"] = people(element)


_GRANT: Table = {"GrantID": "id", "Acronym": "acronym", "Agency": "agency", "Country": "country"}


def take_grants(element: _Element, fields: Fields) -> None:
    """What paid for the work."""
    fields["grants"] = tuple([grant for grant in entries(element, {"Grant": empty}, _GRANT) if grant])


_DATA_BANK: Table = {"DataBankName": "name", "AccessionNumber": append_to("accessions")}


def _take_data_banks(element: _Element, fields: Fields) -> None:
    fields["data_banks"] = tuple([bank for bank in entries(element, {"DataBank": empty}, _DATA_BANK) if bank])


def _take_substance(element: _Element, fields: Fields) -> None:
    fields["name"], fields["ui"] = plain_text(element), element.get("UI")


_CHEMICAL: Table = {"NameOfSubstance": _take_substance, "RegistryNumber": "registry_number"}


def _take_chemicals(element: _Element, fields: Fields) -> None:
    chemicals = entries(element, {"Chemical": empty}, _CHEMICAL)
    fields["chemicals"] = tuple([chemical for chemical in chemicals if chemical.get("name")])


def _heading(element: _Element) -> Fields:
    return {"name": plain_text(element), "ui": element.get("UI"), "major": element.get("MajorTopicYN") == "Y"}


def _take_mesh(element: _Element, fields: Fields) -> None:
    headings: list[Fields] = []
    heading: Fields = {}
    for part in element.iter():
        tag = part.tag
        if tag == "DescriptorName":
            heading = _heading(part)
            headings.append(heading)
        elif tag == "QualifierName":
            heading["qualifiers"] = (*heading.get("qualifiers", ()), _heading(part))
        elif tag == "MeshHeading":
            # One with no descriptor, which is none, leaves nothing to the one before.
            heading = {}
    fields["mesh"] = tuple(headings)


_LINK = {"PMID": "pmid", "RefSource": "source", "Note": "note"}


def _link(element: _Element) -> Fields:
    return {_LINK[child.tag]: plain_text(child) or None for child in children(element) if child.tag in _LINK}


def _take_corrections(element: _Element, fields: Fields) -> None:
    links: list[Fields] = []
    cited: list[str] = []
    cites = False
    for part in element.iter("CommentsCorrections", "PMID"):
        if part.tag == "PMID":
            # Before 2019 the references stood among the corrections.
            if cites:
                cited.append(plain_text(part))
        else:
            kind = part.get("RefType")
            cites = kind == "Cites"
            if kind and not cites:
                links.append({"kind": kind, **_link(part)})
    # A link that says nothing but its kind is none.
    fields["corrections"] = tuple([link for link in links if len(link) > 1])
    if cited:
        fields["references"] = (*fields.get("references", ()), *filter(None, cited))


_JOURNAL: Table = {
    "ISSN": "issn",
    "Title": "title",
    "ISOAbbreviation": "abbreviation",
    "Country": "country",
    "MedlineTA": "medline_abbreviation",
    "NlmUniqueID": "nlm_id",
    "ISSNLinking": "linking_issn",
}


def _take_journal_info(element: _Element, fields: Fields) -> None:
    gather(element, _JOURNAL, fields.setdefault("journal", {}))


def _take_journal(element: _Element, fields: Fields) -> None:
    _take_journal_info(element, fields)
    for child in children(element):
        if child.tag == "JournalIssue":
            gather(child, _ISSUE, fields["journal"])
            gather(child, _PUB_DATE, fields)


_ISSUE: Table = {"Volume": "volume", "Issue": "issue"}
_PUB_DATE: Table = {"PubDate": take_pub_date}

_ARTICLE: Table = {
    "Journal": _take_journal,
    "ArticleTitle": "title",
    "VernacularTitle": "vernacular_title",
    "Pagination": take_pages,
    "ELocationID": take_location,
    "Abstract": take_abstract,
    "AuthorList": take_authors,
    "Language": append_to("languages"),
    "DataBankList": _take_data_banks,
    "GrantList": take_grants,
    "PublicationTypeList": texts_into("publication_types"),
    "ArticleDate": date_into("electronic_date"),
}


def _take_article(element: _Element, fields: Fields) -> None:
    fields["publication_model"] = element.get("PubModel")
    gather(element, _ARTICLE, fields)


_CITATION: Table = {
    "PMID": take_pmid,
    "DateCreated": date_into("created_date"),
    "DateCompleted": date_into("completed_date"),
    "DateRevised": date_into("revised_date"),
    "Article": _take_article,
    "MedlineJournalInfo": _take_journal_info,
    "ChemicalList": _take_chemicals,
    "SupplMeshList": texts_into("supplementary_mesh"),
    "CommentsCorrectionsList": _take_corrections,
    "GeneSymbolList": texts_into("genes"),
    "MeshHeadingList": _take_mesh,
    "OtherID": _take_other_id,
    "OtherAbstract": _take_other_abstract,
    "KeywordList": texts_into("keywords"),
    "CoiStatement": "conflict_of_interest",
    "InvestigatorList": take_investigators,
    "PersonalNameSubjectList": _take_subjects,
}


def take_citation(element: _Element, fields: Fields) -> None:
    """All of a MedlineCitation."""
    fields["status"] = element.get("Status")
    gather(element, _CITATION, fields)
