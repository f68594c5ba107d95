"""A published work as a source describes it: the document, and what references name besides it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from vericite.corpus.pubmed.record import PubMedRecord
from vericite.corpus.sources.entry import DocumentEntry, cited_name, initials
from vericite.formats.form import dict_of, dicts_in, items_in
from vericite.records import Document


@dataclass(frozen=True, slots=True)
class PublishedWork:
    """A published work.

    Attributes:
        document: The document.
        journals: Names and abbreviations of the journal.
        years: Years of publication: in print, online.
        volume: Volume of the journal.
        pages: Pages as printed.
        corrected_by: Notices of corrections.
        concerns: Expressions of concern.
        retracted_by: Notices of retraction.
        is_record: Whether the fields come from a record. A PDF's own are only guessed, so nothing is compared to them.
    """

    document: Document
    journals: tuple[str, ...] = ()
    years: tuple[int, ...] = ()
    volume: str | None = None
    pages: str | None = None
    corrected_by: tuple[str, ...] = ()
    concerns: tuple[str, ...] = ()
    retracted_by: tuple[str, ...] = ()
    is_record: bool = True

    @classmethod
    def of_document(cls, document: Document) -> PublishedWork:
        """Return what a document alone tells."""
        journals = (document.journal,) if document.journal else ()
        is_record = bool(document.authors or document.journal or document.pmid) and not document.pages
        return cls(document, journals, (document.year,) if document.year else (), is_record=is_record)

    @classmethod
    def of_pubmed(cls, record: PubMedRecord) -> PublishedWork:
        """Convert a record of PubMed."""
        document = record.document
        years = list(record.years)
        if document.year and document.year not in years:
            years.append(document.year)
        return cls(
            document,
            tuple(filter(None, (document.journal, record.abbreviation))),
            tuple(years),
            record.volume,
            record.pagination,
            record.corrected_by,
            record.concerns,
            record.retracted_by,
        )

    @classmethod
    def of_crossref(cls, item: Mapping[str, Any]) -> PublishedWork | None:
        """Convert an item of Crossref; None if it has no title."""
        title = " ".join(_texts(item.get("title"))[:1])
        doi = str(item.get("DOI") or "")
        if not title or not doi:
            return None
        subtitle = " ".join(_texts(item.get("subtitle"))[:1])
        whole = title if not subtitle or subtitle.lower() in title.lower() else f"{title.rstrip(':')}: {subtitle}"
        dates = [_date(item.get(name)) for name in ("published-print", "published-online", "issued", "published")]
        journals = _texts(item.get("container-title")) + _texts(item.get("short-container-title"))
        notices = dicts_in(item.get("updated-by"))
        retracted = _notices(notices, "retraction", "removal", "withdrawal")
        entry = DocumentEntry(
            doi=doi,
            title=whole,
            text=str(item.get("abstract") or ""),
            journal=journals[0] if journals else "",
            date=next((date for date in dates if date), ""),
            authors=tuple(filter(None, map(_author, dicts_in(item.get("author"))))),
            publication_types=tuple(_TYPES[kind] for kind in [str(item.get("type"))] if kind in _TYPES),
            retracted=bool(retracted),
            source="crossref",
        )
        return cls(
            entry.document(f"doi:{doi}"),
            tuple(journals),
            tuple(dict.fromkeys(int(date[:4]) for date in dates if date)),
            _text(item.get("volume")),
            _text(item.get("page")) or _text(item.get("article-number")),
            _notices(notices, "correction", "erratum", "corrigendum"),
            _notices(notices, "expression_of_concern"),
            retracted,
        )

    @classmethod
    def of_europe_pmc(cls, result: Mapping[str, Any]) -> PublishedWork | None:
        """Convert a result of Europe PMC's search; None if it has no title."""
        title = str(result.get("title") or "")
        if not title:
            return None
        info = dict_of(result.get("journalInfo"))
        journal = dict_of(info.get("journal"))
        names = [_text(journal.get(name)) for name in ("title", "isoabbreviation", "medlineAbbreviation")]
        people = dicts_in(dict_of(result.get("authorList")).get("author"))
        authors = [str(person.get("fullName") or person.get("collectiveName") or "") for person in people]
        types = _texts(dict_of(result.get("pubTypeList")).get("pubType"))
        notes = dicts_in(dict_of(result.get("commentCorrectionList")).get("commentCorrection"))
        years = (_text(value) for value in (result.get("pubYear"), info.get("yearOfPublication")))
        entry = DocumentEntry(
            pmid=str(result.get("pmid") or ""),
            pmcid=str(result.get("pmcid") or ""),
            doi=str(result.get("doi") or ""),
            number=str(result.get("id") or ""),
            title=title,
            text=str(result.get("abstractText") or ""),
            journal=next((name for name in names if name), ""),
            date=str(result.get("pubYear") or ""),
            authors=tuple(filter(None, authors))
            or tuple(str(result.get("authorString") or "").rstrip(".").split(", ")),
            publication_types=tuple(types),
            source="europepmc",
        )
        return cls(
            entry.document("europepmc"),
            tuple(name for name in names if name),
            tuple(dict.fromkeys(int(year) for year in years if year and year.isdigit())),
            _text(info.get("volume")),
            _text(result.get("pageInfo")),
            _notices(notes, "erratum in", "corrected and republished in"),
            _notices(notes, "expression of concern in"),
            _notices(notes, "retraction in"),
        )


_TYPES = {
    "journal-article": "Journal Article",
    "book-chapter": "Book Chapter",
    "book": "Book",
    "proceedings-article": "Congress",
    "dissertation": "Academic Dissertation",
    "posted-content": "Preprint",
}


def _author(person: Mapping[str, Any]) -> str:
    family, given = str(person.get("family") or ""), str(person.get("given") or "")
    if not family:
        return str(person.get("name") or "")
    return f"{family} {initials(given)}".strip() if given else cited_name(family)


def _date(value: object) -> str:
    parts = items_in(dict_of(value).get("date-parts"))
    numbers = [part for part in items_in(parts[0] if parts else None) if isinstance(part, int)]
    if not numbers or not 1000 <= numbers[0] <= 9999:
        return ""
    return "-".join([str(numbers[0]), *(f"{number:02}" for number in numbers[1:3])])


def _notices(notices: Iterable[Mapping[str, Any]], *kinds: str) -> tuple[str, ...]:
    """Return the names of the notices of these kinds: a DOI, a PMID, or the citation."""
    found = (notice for notice in notices if str(notice.get("type")).lower() in kinds)
    return tuple(str(n.get("DOI") or n.get("id") or n.get("reference") or "a notice") for n in found)


def _text(value: object) -> str | None:
    return str(value).strip() or None if isinstance(value, str | int) else None


def _texts(value: object) -> list[str]:
    return [" ".join(text.split()) for text in items_in(value) if isinstance(text, str) and text.strip()]
