"""Dates as PubMed writes them, to ISO form."""

from __future__ import annotations

import re
from calendar import monthrange
from functools import lru_cache

MONTHS = {
    name: number
    for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), start=1)
}  # fmt: skip
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|2[01])\d\d(?!\d)")
_YEAR_FIRST = re.compile(rf"({_YEAR.pattern})\s*([A-Za-z]{{3,}})\.?(?:\s+(\d{{1,2}})(?!\d))?")
# The beginning of a span counts, so the other month of "Jul-Aug 2008" is passed over.
_YEAR_LAST = re.compile(
    rf"([A-Za-z]{{3,}})\.?(?:\s+(\d{{1,2}}))?,?(?:\s*[-/]\s*(?:[A-Za-z]+\.?\s*)?\d{{0,2}},?)?\s+({_YEAR.pattern})"
)


@lru_cache(maxsize=4096)
def iso_date(year: str | None, month: str | None = None, day: str | None = None) -> str | None:
    """The date as far as it can be believed: a month or a day that does not exist is left out.

    A month is a number or a name, short or long; of two ("Jul-Aug") the first.
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
    """The first date in free words: the beginning of "1998 Dec-1999 Jan", the year of "2000 Spring"."""
    if (found := _YEAR_FIRST.search(words)) and _month(found[2]):
        return iso_date(found[1], found[2], found[3])
    if (found := _YEAR_LAST.search(words)) and _month(found[1]):
        return iso_date(found[3], found[1], found[2])
    return iso_date(year[0]) if (year := _YEAR.search(words)) else None
