"""The running text of JATS: what is no sentence taken out, citations of other works taken out of the sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from vericite.corpus.pubmed.markup import plain_text
from vericite.corpus.sources.outline import Block, Heading

if TYPE_CHECKING:
    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

_MATHML = "http://www.w3.org/1998/Math/MathML"
# Figures and tables go with their captions: these are true only of what is not here.
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

# A citation stands between these until it is known what is around it. No text has them: they are for private use.
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
    """Take out of an article what is no running text, and mark what cites other works. It is changed in place."""
    for element in article.iter():
        tag = cast(object, element.tag)  # of an entity that was not resolved it is no text
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
    """The headings and paragraphs within an element, its own title left out."""
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
            # A box stands anywhere; its headings would go on over what follows it.
            for part in list(child.iter("p")):
                yield from (block for block in _paragraph(part, level) if isinstance(block, str))
        elif tag in _BLOCKS or tag == "list-item":
            yield from blocks_of(child, level)
        elif tag == "verse-line" or tag == "attrib":
            yield text_of(child)


def text_of(element: _Element) -> str:
    """The text of an element on one line, citations of other works left out of it where they are no words of it."""
    return _uncited(plain_text(element))


def _paragraph(paragraph: _Element, level: int) -> Iterator[Block]:
    """A paragraph, which a list or a quotation may cut into several."""
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
    """Take a raised citation or a sign of a note out; put any other citation between marks."""
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
    """Whether raised numbers that no one marked cite other works: several behind a word, or one behind its stop."""
    before = raised.getprevious()
    parent = raised.getparent()
    text = before.tail if before is not None else parent.text if parent is not None else ""
    last = (text or "").rstrip()[-1:]
    if len(raised) or not last or last.isdigit():
        return False
    words = raised.text or ""
    return bool(_RAISED_NUMBERS.fullmatch(words) or (last in ".,;:)" and _RAISED_NUMBER.fullmatch(words)))


def _drop_joining_sign(link: _Element) -> None:
    """The comma or dash that stands raised between two raised citations."""
    sign = link.getnext()
    if sign is not None and sign.tag == "sup" and not len(sign) and _SIGN.fullmatch(sign.text or "") and not link.tail:
        _replace(sign, "")


def _replace(element: _Element, words: str) -> None:
    """Take an element out and put words in its place; what stands behind it stays."""
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
    """The text of a formula that is set in letters, not in TeX."""
    if formula.text:
        yield formula.text
    for child in formula:
        if child.tag not in ("tex-math", "alternatives", "inline-graphic"):
            yield from _all_text(child)
        if child.tail:
            yield child.tail
