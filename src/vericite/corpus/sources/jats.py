"""Read JATS, PubMed Central's XML: single articles, replies of efetch and OAI, and chapters of the Bookshelf."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, cast

from vericite.corpus.pubmed import Retraction
from vericite.corpus.pubmed.read import SAFE
from vericite.corpus.pubmed.text import UndefinedEntityError, iso_date, plain_text
from vericite.corpus.sources.entry import DocumentEntry, abstract_sections, initials, pmid_of
from vericite.corpus.sources.files import Numbered, SourceFile, SourceFormat, root_of
from vericite.corpus.sources.texts import Block, Heading, sections_of
from vericite.errors import RecordError
from vericite.records import Document

if TYPE_CHECKING:
    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]


_ARTICLES = ("{*}article", "{*}book-part-wrapper")
_ROOTS = frozenset(("article", "pmc-articleset", "articles", "OAI-PMH", "book-part-wrapper"))


def _read(file: SourceFile, whole: bool = True) -> Iterator[Numbered]:
    from lxml import etree

    line = 1
    articles = etree.iterparse(file.stream, events=("end",), tag=_ARTICLES, **SAFE)
    try:
        for _, article in articles:
            line = article.sourceline or line
            yield from ((line, item) for item in _items(file, article, line, whole))
            _forget(article)
    except etree.XMLSyntaxError as error:
        # The last error may only say that the end is missing; the first shows the cause.
        first = next((entry for entry in articles.error_log if entry.level >= etree.ErrorLevels.ERROR), None)
        message, line = (first.message, first.line) if first else (error.msg, error.lineno or line)
        problem = f"expected well-formed XML; found an error ({message.strip()}). The rest was not read"
        raise RecordError(file.path, max(line, 1), None, problem) from None


def _items(
    file: SourceFile, article: _Element, line: int, whole: bool
) -> Iterator[Document | Retraction | RecordError]:
    try:
        document = document_of(article, file.name, whole)
    except UndefinedEntityError as error:
        yield RecordError(file.path, line, None, f"{error}. The article is lost: write the character itself")
        return
    if document.sections:
        yield document
    else:
        expected, found = ("an abstract or a body", "either") if whole else ("an abstract", "one")
        problem = f"expected {expected}; found {document.id!r} without {found}"
        yield RecordError(file.path, line, None, problem)
    # A notice counts even if it has no text of its own.
    if retraction := Retraction.by_notice(document.pmid, retracted_by(article)):
        yield retraction


def _forget(article: _Element) -> None:
    """Free the memory of an article. Its node must stay until the next article: the parser continues from it."""
    article.clear(keep_tail=True)  # pyright: ignore[reportCallIssue]
    parent = article.getparent()
    while parent is not None and article.getprevious() is not None:
        del parent[0]


def _matches(file: SourceFile) -> bool:
    return root_of(file.opening) in _ROOTS or file.suffix == ".nxml"


JATS = SourceFormat(
    "articles in JATS XML, PubMed Central's format (.nxml, .xml)",
    _read,
    _matches,
    read_abstracts=partial(_read, whole=False),
    suffixes=(".nxml", ".xml"),
    record_mark=b"</article>",
)


_MATHML = "http://www.w3.org/1998/Math/MathML"
# Figures and tables are dropped with their captions, which make no sense without them.
_APART = frozenset("""
    fig fig-group table-wrap table-wrap-group table-wrap-foot table array graphic media supplementary-material
    disp-formula disp-formula-group chem-struct-wrap chem-struct fn-group ref-list ref glossary code preformat
""".split())  # fmt: skip
_WITHIN = frozenset("""
    inline-graphic inline-supplementary-material tex-math fn object-id index-term label alt-text long-desc
    related-object private-char
""".split())  # fmt: skip
_BLOCKS = frozenset("list def-list disp-quote boxed-text speech statement verse-group p sec".split())
_NOTES = frozenset(("fn", "table-fn", "author-notes", "aff", "corresp", "other-ref"))

# Marks around a citation until its context is known. They are private-use characters that no text has.
_OPEN, _CLOSE = "\ue000", "\ue001"
_CITED = f"{_OPEN}[^{_OPEN}{_CLOSE}]*{_CLOSE}"
_AND = r"(?:\s|[,;–—−‐-]|and|&|to|see|also|e\.g\.|cf\.|reviewed in|for reviews?|refs?\.?|references?){0,12}"
_BRACKETED = re.compile(rf"[\[(]{_AND}{_CITED}(?:{_AND}{_CITED}){{0,200}}{_AND}[\])]")
_NUMBER = r"\s*[\[(]?\s*\d{1,4}[a-z]?(?:\s*[,–—-]\s*\d{1,4}[a-z]?)*\s*[\])]?\s*"
_NUMBERED = re.compile(rf"{_OPEN}{_NUMBER}{_CLOSE}")
_GLUED = re.compile(rf"(?<=[^\s\d(\[–-]){_OPEN}{_NUMBER}{_CLOSE}(?:\s?[,–—-]\s?{_OPEN}{_NUMBER}{_CLOSE}){{0,200}}")
_OWN = rf"{_OPEN}\s*[\[(][^{_OPEN}{_CLOSE}\])]*[\])]\s*{_CLOSE}"
_SELF_BRACKETED = re.compile(rf"{_OWN}(?:\s?[,;–—-]?\s?{_OWN}){{0,200}}")
_PARTLY = re.compile(rf"([\[(])(?:{_OPEN}{_NUMBER}{_CLOSE}[,;\s]*){{1,200}}(?=[^{_OPEN}{_CLOSE}\s])")
_SPACED = re.compile(r" ([,.;:)\]])")
_SIGN = re.compile(r"[\s,;–—−‐-]*")
_RAISED_NUMBERS = re.compile(r"\s*\d{1,3}(?:\s*[,–—-]\s*\d{1,3})+\s*")
_RAISED_NUMBER = re.compile(r"\s*\d{1,3}\s*")
_SIGNS = re.compile(r"[\s\d,;–—−‐\-*†‡()\[\]]*")


def prepare(article: _Element) -> None:
    """Remove everything but running text from an article, in place, and mark citations of other works."""
    for element in article.iter():
        tag = cast(object, element.tag)  # not a string for an unresolved entity
        if isinstance(tag, str) and tag.startswith("{") and not tag.startswith(f"{{{_MATHML}}}"):
            element.tag = tag.rpartition("}")[2]
    for formula in list(article.iter("inline-formula")):
        if formula.find(f".//{{{_MATHML}}}math") is None and not "".join(_own_text(formula)).strip():
            _replace(formula, " [formula] ")
    for element in list(article.iter(*_APART, *_WITHIN)):
        _replace(element, " " if element.tag in _APART else "")
    for element in list(article.iter("break")):
        _replace(element, " ")
    for link in list(article.iter("xref")):
        _mark(link)
    for raised in list(article.iter("sup")):
        if _is_citation(raised):
            _replace(raised, "")


def blocks_of(element: _Element, level: int) -> Iterator[Block]:
    """Yield the headings and paragraphs of an element, without the element's own title."""
    for child in element:
        tag = child.tag
        if tag == "sec":
            title = child.find("title")
            yield Heading(level, "" if title is None else text_of(title))
            yield from blocks_of(child, level + 1)
        elif tag == "p":
            yield from _paragraph(child, level)
        elif tag == "def-item":
            yield ": ".join(filter(None, (text_of(part) for part in child)))
        elif tag == "boxed-text":
            # A box may be anywhere; its headings would apply to the text after it.
            for part in list(child.iter("p")):
                yield from (block for block in _paragraph(part, level) if isinstance(block, str))
        elif tag in _BLOCKS or tag == "list-item":
            yield from blocks_of(child, level)
        elif tag == "verse-line" or tag == "attrib":
            yield text_of(child)


def text_of(element: _Element) -> str:
    """Return the text of an element on one line, without citations that are not part of a sentence."""
    return _uncited(plain_text(element))


def _paragraph(paragraph: _Element, level: int) -> Iterator[Block]:
    """Yield a paragraph, split where it contains a list or a quotation."""
    from lxml import etree

    part = etree.Element("p")
    part.text = paragraph.text
    for child in list(paragraph):
        if child.tag not in _BLOCKS:
            part.append(child)
            continue
        yield text_of(part)
        holder = etree.Element("body")
        tail, child.tail = child.tail, None
        holder.append(child)
        yield from blocks_of(holder, level)
        part = etree.Element("p")
        part.text = tail
    yield text_of(part)


def _uncited(text: str) -> str:
    if _OPEN not in text:
        return text
    for pattern in (_SELF_BRACKETED, _BRACKETED, _GLUED):
        text = pattern.sub("", text)
    text = _PARTLY.sub(r"\1", text)
    return _SPACED.sub(r"\1", " ".join(text.replace(_OPEN, "").replace(_CLOSE, "").split()))


def _mark(link: _Element) -> None:
    """Remove a superscript citation or a footnote sign; put marks around any other citation."""
    kind = link.get("ref-type")
    raised = next((parent for parent in link.iterancestors("sup") if parent.getparent() is not None), None)
    if kind in _NOTES:
        if raised is not None or len("".join(_all_text(link)).strip()) <= 2:
            _replace(link if raised is None else raised, "")
    elif kind == "bibr" and raised is not None:
        others = "".join(_all_text(raised)).replace("".join(_all_text(link)), "")
        _replace(raised if _SIGNS.fullmatch(others) else link, "")
    elif kind == "bibr":
        words = "".join(_all_text(link))
        inner = link.find("sup")
        if inner is not None and not (link.text or "").strip() and _SIGNS.fullmatch(words):
            _drop_joining_sign(link)
            _replace(link, "")
            return
        for child in list(link):
            link.remove(child)
        link.text = f"{_OPEN}{words}{_CLOSE}"


def _is_citation(raised: _Element) -> bool:
    """Whether unmarked superscript numbers are citations: several after a word, or one after punctuation."""
    before = raised.getprevious()
    parent = raised.getparent()
    text = before.tail if before is not None else parent.text if parent is not None else ""
    last = (text or "").rstrip()[-1:]
    if len(raised) or not last or last.isdigit():
        return False
    words = raised.text or ""
    return bool(_RAISED_NUMBERS.fullmatch(words) or (last in ".,;:)" and _RAISED_NUMBER.fullmatch(words)))


def _drop_joining_sign(link: _Element) -> None:
    """Remove a superscript comma or dash between two superscript citations."""
    sign = link.getnext()
    if sign is not None and sign.tag == "sup" and not len(sign) and _SIGN.fullmatch(sign.text or "") and not link.tail:
        _replace(sign, "")


def _replace(element: _Element, words: str) -> None:
    """Replace an element with words; the text after it is kept."""
    parent = element.getparent()
    if parent is None:
        return
    behind = words + (element.tail or "")
    before = element.getprevious()
    if before is None:
        parent.text = (parent.text or "") + behind
    else:
        before.tail = (before.tail or "") + behind
    parent.remove(element)


def _all_text(element: _Element) -> Iterator[str]:
    return (str(text) for text in element.itertext())


def _own_text(formula: _Element) -> Iterator[str]:
    """Yield the text of a formula that is plain text, not TeX."""
    if formula.text:
        yield formula.text
    for child in formula:
        if child.tag not in ("tex-math", "alternatives", "inline-graphic"):
            yield from _all_text(child)
        if child.tail:
            yield child.tail


_HREF = "{http://www.w3.org/1999/xlink}href"
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
# Abstracts that advertise an article or rewrite it for other readers are not its findings.
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


def document_of(article: _Element, fallback: str, whole: bool = True) -> Document:
    """Convert an article to a document. Its id is the PMC id, since a PubMed record may have the same abstract.

    Without ``whole``, the body is left out. The element is changed.
    """
    prepare(article)
    meta = _first(article, ".//article-meta", ".//book-part-meta")
    entry = DocumentEntry() if meta is None else _entry(article, meta)
    document = entry.document(fallback)
    return document.model_copy(
        update={
            "id": document.pmcid or entry.id or document.pmid or document.id,
            "sections": sections_of(_blocks(article, meta, whole)),
        }
    )


def retracted_by(article: _Element) -> Iterator[str | None]:
    """Yield the PMIDs of the articles that a notice retracts; None for an article without a PMID."""
    meta = _first(article, ".//article-meta")
    if meta is None or article.get("article-type") != "retraction":
        return
    for link in meta.iterfind(".//related-article[@related-article-type='retracted-article']"):
        if link.get("ext-link-type") in ("pubmed", "pmid"):
            yield pmid_of(link.get(_HREF) or text_of(link))
        else:
            yield pmid_of(_words(link, ".//pub-id[@pub-id-type='pmid']"))


def _entry(article: _Element, meta: _Element) -> DocumentEntry:
    ids = _ids(meta)
    kind = article.get("article-type") or ""
    related = {link.get("related-article-type") for link in meta.iterfind(".//related-article")}
    date = _date(meta)
    names = ((kind and _TYPES.get(kind, kind.replace("-", " ").title())) or "", *_subtypes(meta))
    return DocumentEntry(
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
        # A chapter's id is a Bookshelf id (NBK430685), although its type says pmcid.
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
    # Fall back to other dates, such as the release by PMC, only if there is no publication date.
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
    """Yield publication types from the journal's own headings, such as "Randomized Controlled Trial"."""
    for subject in meta.iterfind("article-categories/subj-group[@subj-group-type='heading']/subject"):
        yield text_of(subject)


def _blocks(article: _Element, meta: _Element | None, whole: bool) -> Iterator[Block]:
    for abstract in () if meta is None else meta.iterfind("abstract"):
        if (abstract.get("abstract-type") or "").lower() not in _NO_ABSTRACTS:
            yield Heading(1, _words(abstract, "title") or "Abstract")
            yield from _abstract(abstract)
    for body in article.iterfind(".//body") if whole else ():
        if not any(parent.tag in ("sub-article", "response") for parent in body.iterancestors()):
            yield Heading(1, "")
            yield from blocks_of(body, 1)


def _abstract(abstract: _Element) -> Iterator[Block]:
    """Yield an abstract in sections, marked up or only printed: ``<bold>Methods:</bold> ...``."""
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
