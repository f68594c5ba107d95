"""Read marked-up text and dates from elements of PubMed's and PubMed Central's XML."""

from __future__ import annotations

import re
from calendar import monthrange
from functools import lru_cache
from html.entities import html5
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]


_MATHML = "{http://www.w3.org/1998/Math/MathML}"
_SIGNED_DIGIT = re.compile(r"[-+\u2212\u2010-\u2014\u00b1]?\s*\d")
_ATOM = re.compile(r"[-+\u2212]?[\w.]+|\W?|\([^()]*\)")
_SHORT = 50
# White space beyond ASCII. In ASCII, XML only allows the space, the tab and the two line ends.
_FAR_BLANKS = (
    "\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
# Elements that repeat the formula in another notation, or have no text.
_UNREAD = frozenset({"annotation", "annotation-xml", "none", "mprescripts"})
_MARKS = {"sup": "^", "sub": "_"}
_TOKENS = frozenset({"mi", "mn", "mo", "mtext"})


def children(element: _Element) -> list[_Element]:
    """Return the child elements; most elements have none."""
    # A slice takes half the time of an iterator. lxml's stubs do not declare it.
    return element[:] if len(element) else []  # pyright: ignore


def plain_text(element: _Element) -> str:
    """Return the text of an element and its descendants, with white space collapsed."""
    text = _rendered(element) if len(element) else element.text
    if not text:
        return ""
    if text.isalnum():
        # Most names, numbers and codes are one word.
        return text
    # Splitting costs time, and most texts have only single spaces.
    return text.strip() if _is_collapsed(text) else " ".join(text.split())


def _is_collapsed(text: str) -> bool:
    """Whether the only white space is single spaces."""
    if len(text) < _SHORT:
        # The plain space is the only white space that is printable.
        return text.isprintable() and "  " not in text
    # Fastest order: searches for one character are faster than a scan, and for two, from the end.
    if "\n" in text or "\t" in text or "\r" in text or text.rfind("  ") >= 0:
        return False
    return text.isascii() or not any(blank in text for blank in _FAR_BLANKS)


def _rendered(element: _Element) -> str:
    """Return the text of an element and its children, with white space unchanged."""
    text = element.text or ""
    for child in children(element):
        tag, tail = child.tag, child.tail or ""
        if mark := _MARKS.get(tag):
            text = _set_apart(text, _rendered(child), mark)
            if tail[:1].isdigit() and text[-1:].isdigit():
                text += " "
        elif callable(tag):
            text += _entity(child.text or "")
        elif tag.startswith(_MATHML):
            text += _formula(child, tag.removeprefix(_MATHML))
        else:
            text += _rendered(child)
        text += tail
    return text


def _set_apart(text: str, script: str, mark: str) -> str:
    """Append a superscript or subscript, with ``mark`` before it if two numbers would run together."""
    # A footnote sign or a charge (CD4+, 5a) does not change a number.
    return text + mark + script if text[-1:].isdigit() and _SIGNED_DIGIT.match(script) else text + script


class UndefinedEntityError(ValueError):
    """The text has an entity such as ``&unknown;`` that nothing defines."""


def _entity(reference: str) -> str:
    """Return the character of an unresolved entity, using HTML's names."""
    found = html5.get(reference.removeprefix("&"))
    if found is None:
        raise UndefinedEntityError(f"expected entities that XML or HTML defines; found {reference[:60]}")
    return found


def _formula(element: _Element, kind: str) -> str:
    """Write MathML on one line: ``x^2``, ``(a+b)/n``. White space between elements is ignored."""
    if kind in _UNREAD:
        return ""
    own = element.text or ""
    within = children(element)
    if not within:
        return own if kind == "mtext" else own.strip()
    parts: list[str] = []
    for child in within:
        tag = child.tag
        if callable(tag):
            parts.append(_entity(child.text or ""))
        else:
            parts.append(_formula(child, tag.rpartition("}")[2]))
    # A token (mi, mn, mo, mtext) with an entity has text around it; other elements have no text.
    if kind in _TOKENS:
        return own + "".join(part + (child.tail or "") for part, child in zip(parts, within, strict=True))
    return _run_on(parts) if kind == "mrow" else _laid_out(kind, parts)


def _laid_out(kind: str, parts: list[str]) -> str:
    if kind == "mfrac" and len(parts) == 2:
        return f"{_fenced(parts[0])}/{_fenced(parts[1])}"
    if kind in ("msup", "mover") and len(parts) == 2:
        return _raised(*parts)
    if kind in ("msub", "munder") and len(parts) == 2:
        return _set_apart(parts[0], parts[1], "_")
    if kind in ("msubsup", "munderover") and len(parts) == 3:
        return _raised(_set_apart(parts[0], parts[1], "_"), parts[2])
    if kind == "msqrt":
        return f"\u221a{_fenced(_run_on(parts))}"
    if kind == "mroot" and len(parts) == 2:
        return f"{_fenced(parts[0])}^(1/{parts[1]})"
    if kind == "mfenced":
        return f"({','.join(parts)})"
    return _run_on(parts)


def _run_on(parts: list[str]) -> str:
    """Concatenate the parts, with a space between two numbers or two words."""
    text = ""
    for part in parts:
        words = len(text) > 1 and text[-2:].isalpha() and part[:2].isalpha()
        meet = words or (text[-1:].isdigit() and part[:1].isdigit())
        text += f" {part}" if meet else part
    return text


def _raised(base: str, script: str) -> str:
    # A bar, a prime or a charge belongs to its letter; letters and digits are an exponent.
    return f"{base}^{_fenced(script)}" if any(character.isalnum() for character in script) else base + script


def _fenced(part: str) -> str:
    return part if _ATOM.fullmatch(part) else f"({part})"


MONTHS = {
    name: number
    for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), start=1)
}  # fmt: skip
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|2[01])\d\d(?!\d)")
_YEAR_FIRST = re.compile(rf"({_YEAR.pattern})\s*([A-Za-z]{{3,}})\.?(?:\s+(\d{{1,2}})(?!\d))?")
# A range counts by its beginning, so the second month of "Jul-Aug 2008" is skipped.
_YEAR_LAST = re.compile(
    rf"(?<![A-Za-z])([A-Za-z]{{3,}}+)\.?(?:\s+(\d{{1,2}}))?,?(?:\s*[-/]\s*(?:[A-Za-z]+\.?\s*)?\d{{0,2}},?)?\s+({_YEAR.pattern})"
)


@lru_cache(maxsize=4096)
def iso_date(year: str | None, month: str | None = None, day: str | None = None) -> str | None:
    """Return an ISO date without parts that are not valid.

    A month is a number or a name, short or long; in a range ("Jul-Aug") the first month counts.
    """
    year = year.strip() if year else ""
    if not _YEAR.fullmatch(year) or not year.isascii():
        return None
    number = _month(month.strip()) if month else None
    if number is None:
        return year
    day = day.strip() if day else ""
    if day.isascii() and day.isdigit() and 1 <= int(day) <= monthrange(int(year), number)[1]:
        return f"{year}-{number:02}-{int(day):02}"
    return f"{year}-{number:02}"


def _month(month: str) -> int | None:
    if month.isascii() and month.isdigit():
        return int(month) if 1 <= int(month) <= 12 else None
    return MONTHS.get(month[:3].lower())


def date_in(words: str) -> str | None:
    """Return the first date in a text: the beginning of "1998 Dec-1999 Jan", the year of "2000 Spring"."""
    if (found := _YEAR_FIRST.search(words)) and _month(found[2]):
        return iso_date(found[1], found[2], found[3])
    if (found := _YEAR_LAST.search(words)) and _month(found[1]):
        return iso_date(found[3], found[1], found[2])
    return iso_date(year[0]) if (year := _YEAR.search(words)) else None


def date_of(element: _Element) -> str | None:
    """Return the date in an element with Year, Month and Day."""
    parts = {child.tag: child.text for child in children(element)}
    return iso_date(parts.get("Year"), parts.get("Month"), parts.get("Day"))
