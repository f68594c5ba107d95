"""Read manuscripts in HTML: links to the list of references and to articles; scripts and hidden parts are left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vericite.corpus.manuscript.bibliography import Bibliography
from vericite.corpus.manuscript.cited import of_address
from vericite.corpus.manuscript.draft import Draft, Mark, Piece
from vericite.corpus.manuscript.kind import ManuscriptKind
from vericite.corpus.sources.files import SourceFile, root_of
from vericite.corpus.sources.texts import REFERENCES
from vericite.errors import InputError
from vericite.records import Manuscript
from vericite.text.printed import listed_reference

if TYPE_CHECKING:
    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

_LEFT_OUT = frozenset("script style noscript template nav head iframe object embed svg math button form".split())
_BLOCKS = frozenset(
    "p div li ul ol dl dt dd section article main header footer aside table tr td th tbody thead blockquote figure "
    "figcaption pre body html h1 h2 h3 h4 h5 h6 hr".split()
)
_HEADING = re.compile(r"h([1-6])")
_RAISED = re.compile(r"\[?\d{1,4}(?:\s*[,;–—-]\s*\d{1,4})*\]?")
_MOST_DEPTH = 200


@dataclass(slots=True)
class _Reader:
    draft: Draft
    pieces: list[Piece] = field(default_factory=list[Piece])
    items: dict[str, str] = field(default_factory=dict[str, str])
    """Keys of listed references by the ids of their elements."""

    def block(self, element: _Element, depth: int = 0) -> None:
        """Read an element and what stands in it."""
        if depth > _MOST_DEPTH:
            raise InputError(f"expected at most {_MOST_DEPTH} nested elements; found more in {self.draft.name}")
        tag = str(element.tag)
        if not element.tag or tag in _LEFT_OUT or callable(element.tag) or _is_hidden(element):
            return
        heading = _HEADING.fullmatch(tag)
        if heading:
            self.finish()
            self.inside(element, depth)
            self.finish(int(heading[1]))
        elif tag in _BLOCKS and tag not in ("td", "th"):
            self.finish()
            self.inside(element, depth)
            self.finish()
        else:
            self.inline(element, tag, depth)

    def inline(self, element: _Element, tag: str, depth: int) -> None:
        if tag == "a":
            self.link(element, depth)
        elif tag == "sup":
            self.raised(element, depth)
        elif cites := element.get("data-cites"):
            self.pieces.append(Mark(_text(element), tuple(dict.fromkeys(cites.split()))))
        else:
            if tag == "br":
                self.pieces.append(" ")
            elif tag in ("td", "th") and self.pieces:
                self.pieces.append(" | ")
            self.inside(element, depth)

    def inside(self, element: _Element, depth: int) -> None:
        self.pieces.append(element.text or "")
        for child in element:
            self.block(child, depth + 1)
            self.pieces.append(child.tail or "")

    def finish(self, level: int | None = None) -> None:
        pieces, self.pieces = self.pieces, []
        self.draft.paragraph(pieces, level)

    def link(self, element: _Element, depth: int) -> None:
        address, words = (element.get("href") or "").strip(), _text(element)
        if address.startswith("#") and (key := self.items.get(address[1:])):
            self.pieces.append(Mark(words, (key,)))
        elif address.startswith("#") and element.get("role") == "doc-backlink":
            return
        elif reference := of_address(address, words):
            self.pieces.append(Mark(words or reference.key, (self.draft.works.add(reference),)))
        else:
            self.inside(element, depth)

    def raised(self, element: _Element, depth: int) -> None:
        if any(link.get("href") for link in element.iter("a")):
            self.inside(element, depth)
        elif _RAISED.fullmatch(words := _text(element)):
            self.pieces.append(f"^{''.join(words.strip('[]').split())}^")
        else:
            self.inside(element, depth)


def _is_hidden(element: _Element) -> bool:
    style = "".join((element.get("style") or "").lower().split())
    return element.get("hidden") is not None or "display:none" in style or "visibility:hidden" in style


def _text(element: _Element) -> str:
    return " ".join("".join(map(str, element.itertext())).split())


def _list_of(root: _Element) -> tuple[list[_Element], list[_Element]]:
    """Return the elements that hold the list of references, to be left out of the text, and its items."""
    marked = [
        element
        for element in root.iter("ol", "ul", "div", "section")
        if element.get("id") in ("refs", "references", "reference-list", "bibliography")
        or element.get("role") in ("doc-bibliography", "doc-endnotes")
        or {"references", "ref-list", "csl-bib-body", "footnotes"} & set((element.get("class") or "").split())
    ]
    headings = [found for found in root.iter("h1", "h2", "h3", "h4", "h5", "h6") if REFERENCES.fullmatch(_text(found))]
    holders = marked[:1]
    for heading in headings[-1:]:
        lists = [found for found in heading.itersiblings() if found.tag in ("ol", "ul") or found in marked]
        holders = holders or lists[:1]
        if holders:
            holders = [heading, *holders]
    items = [
        item
        for holder in holders
        for item in holder.iter("li", "div", "p")
        if item is not holder
        and (item.tag == "li" or "csl-entry" in (item.get("class") or ""))
        and not any(above.tag == "li" for above in item.iterancestors() if above is not holder)
    ]
    return (holders, items) if items else ([], [])


def _read(file: SourceFile, bibliography: Bibliography) -> Manuscript:
    from lxml import etree, html

    text = file.text()
    draft = Draft(file.name, notes=list(bibliography.notes))
    try:
        parser = html.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True)
        root = html.fromstring(text.encode(), parser=parser)  # pyright: ignore[reportUnknownMemberType]
    except (etree.ParserError, etree.XMLSyntaxError, ValueError) as error:
        raise InputError(f"expected HTML; found {file.path}, which cannot be read: {error}") from None
    if next(root.iter("script", "iframe", "object", "embed"), None) is not None:
        draft.note("scripts and embedded files were not read")
    title = root.find(".//title")
    if title is not None:
        draft.title = _text(title)
    draft.works.know(bibliography.works.values())
    draft.only_if_cited = {*bibliography.works}
    reader = _Reader(draft)
    holders, items = _list_of(root)
    for key, text, ids in _references(items):
        reader.items |= dict.fromkeys(ids, key)
        named = next((id[4:] for id in ids if id.startswith("ref-") and id[4:] in bibliography.works), None)
        if named is None:
            draft.works.by_key.setdefault(key, listed_reference(text, key))
    draft.list_is_known = bool(items) or bool(bibliography.works)
    draft.links_numbers = bool(items)
    for holder in holders:
        _drop(holder)
    body = root.find(".//body")
    reader.block(root if body is None else body)
    reader.finish()
    return draft.manuscript()


def _references(items: list[_Element]) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the key, the text and the ids of each listed reference."""
    for position, item in enumerate(items, start=1):
        ids = [id for element in item.iter() if (id := element.get("id"))]
        for link in list(item.iter("a")):
            if link.get("role") == "doc-backlink" or _text(link) in ("↩", "↩︎", "^"):
                _drop(link)
        text = _text(item)
        cited = next((id[4:] for id in ids if id.startswith("ref-") and not id[4:].isdigit()), "")
        number = re.match(r"\s*\[?(\d{1,4})[\].)]\s+", text)
        yield cited or (number[1] if number else str(position)), text[number.end() :] if number else text, ids


def _drop(element: _Element) -> None:
    """Remove an element; the text behind it stays."""
    above = element.getparent()
    if above is None:
        return
    before = element.getprevious()
    if before is not None:
        before.tail = (before.tail or "") + (element.tail or "")
    else:
        above.text = (above.text or "") + (element.tail or "")
    above.remove(element)


_SUFFIXES = (".html", ".htm", ".xhtml")


def _matches(file: SourceFile) -> bool:
    if "\x00" in file.opening:
        return False
    return (root_of(file.opening) or "").lower() == "html" or file.suffix in _SUFFIXES


HTML_MANUSCRIPT = ManuscriptKind("HTML (.html)", _read, _matches, suffixes=_SUFFIXES)
