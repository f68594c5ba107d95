"""An article in JATS as a document: its ids, title, journal, dates, people, sections."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from vericite.corpus.pubmed.dates import iso_date
from vericite.corpus.sources.abstracts import abstract_sections
from vericite.corpus.sources.entry import Entry, initials, pmid_of
from vericite.corpus.sources.jats_text import blocks_of, prepare, text_of
from vericite.corpus.sources.outline import Block, Heading, sections_of
from vericite.records import Document

if TYPE_CHECKING:
    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

_HREF = "{http://www.w3.org/1999/xlink}href"
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
# What advertises an article, or says it for others, is not what the article found.
_NO_ABSTRACTS = frozenset(("graphical", "teaser", "toc", "video", "web-summary", "tweet", "editor-summary"))
_TYPES = {
    "research-article": "Journal Article", "review-article": "Review", "systematic-review": "Systematic Review",
    "case-report": "Case Reports", "editorial": "Editorial", "letter": "Letter", "correction": "Published Erratum",
    "retraction": "Retraction of Publication", "brief-report": "Journal Article",
    "rapid-communication": "Journal Article",
    "article-commentary": "Comment", "news": "News", "protocol": "Clinical Trial Protocol",
}  # fmt: skip
# A retraction points at the article it retracts; that article, once marked, points at its retraction.
_RETRACTED_BY = frozenset(("retraction-forward", "retraction-in", "retracted-by"))
_FIRST_DATES = ("epub", "electronic", "epub-ppub", "ppub", "print", "pub", "collection")


def document_of(article: _Element, fallback: str) -> Document:
    """The article as a document, named by its PMC id: its abstract alone may be there as a record of PubMed.

    The element is changed on the way.
    """
    prepare(article)
    meta = _first(article, ".//article-meta", ".//book-part-meta")
    entry = Entry() if meta is None else _entry(article, meta)
    document = entry.document(fallback)
    return document.model_copy(
        update={
            "id": document.pmcid or entry.id or document.pmid or document.id,
            "sections": sections_of(_blocks(article, meta)),
        }
    )


def retracted_by(article: _Element) -> Iterator[str | None]:
    """The PMIDs of the articles that this one retracts, if it is a notice; None for one that is told otherwise."""
    meta = _first(article, ".//article-meta")
    if meta is None or article.get("article-type") != "retraction":
        return
    for link in meta.iterfind(".//related-article[@related-article-type='retracted-article']"):
        if link.get("ext-link-type") in ("pubmed", "pmid"):
            yield pmid_of(link.get(_HREF) or text_of(link))
        else:
            yield pmid_of(_words(link, ".//pub-id[@pub-id-type='pmid']"))


def _entry(article: _Element, meta: _Element) -> Entry:
    ids = _ids(meta)
    kind = article.get("article-type") or ""
    related = {link.get("related-article-type") for link in meta.iterfind(".//related-article")}
    date = _date(meta)
    names = ((kind and _TYPES.get(kind, kind.replace("-", " ").title())) or "", *_subtypes(meta))
    return Entry(
        id=ids.get("bookaccession", ""),
        pmid=ids.get("pmid", ""),
        pmcid=ids.get("pmc") or ids.get("pmcid", ""),
        doi=ids.get("doi", ""),
        title=_title(meta),
        journal=_words(article, ".//journal-meta//journal-title", ".//book-meta//book-title"),
        date=date or "",
        languages=(article.get(_LANGUAGE) or "",),
        authors=tuple(_authors(meta)),
        mesh=tuple(text_of(word) for word in meta.iterfind("kwd-group[@kwd-group-type='MeSH']/kwd")),
        publication_types=tuple(filter(None, names)),
        retracted=kind != "retraction" and not _RETRACTED_BY.isdisjoint(related),
        source="pmc" if ids.get("pmc") or ids.get("pmcid") else None,
    )


def _ids(meta: _Element) -> dict[str, str]:
    found: dict[str, str] = {}
    for element in meta.iterfind("article-id"):
        found.setdefault(element.get("pub-id-type") or "", text_of(element))
    for element in meta.iterfind("book-part-id"):
        # A chapter's id is of the Bookshelf, though its kind is called pmcid: NBK430685.
        found.setdefault("bookaccession", text_of(element))
    number = found.get("pmc", "")
    return found | ({"pmc": f"PMC{number}"} if number.isdecimal() else {})


def _title(meta: _Element) -> str:
    group = _first(meta, "title-group")
    if group is None:
        return ""
    title = _words(group, "article-title", "title")
    subtitle = _words(group, "subtitle")
    return f"{title}: {subtitle}" if title and subtitle else title or subtitle


def _date(meta: _Element) -> str | None:
    dates: dict[str, str] = {}
    for element in meta.iterfind("pub-date"):
        kind = element.get("pub-type") or element.get("publication-format") or element.get("date-type") or ""
        date = iso_date(*(_words(element, part) or None for part in ("year", "month", "day")))
        if date:
            dates.setdefault(kind, date)
    known = (dates[kind] for kind in _FIRST_DATES if kind in dates)
    # When PMC set it free is no date of publication, unless there is no other.
    return next(known, next(iter(dates.values()), None))


def _authors(meta: _Element) -> Iterator[str]:
    for person in meta.iterfind("contrib-group/contrib"):
        if person.get("contrib-type", "author") != "author":
            continue
        surname = _words(person, ".//name/surname")
        if surname:
            fore = initials(_words(person, ".//name/given-names"))
            yield " ".join(part for part in (surname, fore, _words(person, ".//name/suffix")) if part)
        else:
            yield _words(person, ".//collab", ".//string-name")


def _subtypes(meta: _Element) -> Iterator[str]:
    """What the journal's own heading says where the type of the article does not: "Randomized Controlled Trial"."""
    for subject in meta.iterfind("article-categories/subj-group[@subj-group-type='heading']/subject"):
        yield text_of(subject)


def _blocks(article: _Element, meta: _Element | None) -> Iterator[Block]:
    for abstract in () if meta is None else meta.iterfind("abstract"):
        if (abstract.get("abstract-type") or "").lower() not in _NO_ABSTRACTS:
            yield Heading(1, _words(abstract, "title") or "Abstract")
            yield from _abstract(abstract)
    for body in article.iterfind(".//body"):
        if not any(parent.tag in ("sub-article", "response") for parent in body.iterancestors()):
            yield Heading(1, "")
            yield from blocks_of(body, 1)


def _abstract(abstract: _Element) -> Iterator[Block]:
    """An abstract in sections, whether these are marked or only printed: ``<bold>Methods:</bold> ...``."""
    blocks = list(blocks_of(abstract, 2))
    if any(isinstance(block, Heading) for block in blocks):
        yield from blocks
        return
    for section in abstract_sections("\n".join(block for block in blocks if isinstance(block, str) and block)):
        if section.label:
            yield Heading(2, section.label.capitalize() if section.label.isupper() else section.label)
        yield section.text


def _first(element: _Element, *paths: str) -> _Element | None:
    return next((found for path in paths if (found := element.find(path)) is not None), None)


def _words(element: _Element, *paths: str) -> str:
    found = _first(element, *paths)
    return "" if found is None else text_of(found)
