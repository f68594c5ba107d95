"""From elements to fields: tables that say which child goes where."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from vericite.corpus.pubmed.dates import iso_date
from vericite.corpus.pubmed.markup import plain_text

if TYPE_CHECKING:
    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

Fields = dict[str, Any]
"""A record's fields on their way to pydantic, which checks the whole tree of them in one call."""

Take = Callable[["_Element", Fields], None]

Table = Mapping[str, str | Take]
"""By an element's name: the field for its text, or what takes it."""


def gather(element: _Element, table: Table, fields: Fields) -> None:
    """Put each child where the table says, or hand it to what takes its kind; others are passed over."""
    for child in element:
        take = table.get(child.tag)
        if take is None:
            continue
        if isinstance(take, str):
            if text := plain_text(child):
                fields[take] = text
        else:
            take(child, fields)


def date_into(field: str) -> Take:
    """What puts a date of Year, Month and Day into a field, unless it is none."""

    def take(element: _Element, fields: Fields) -> None:
        if date := date_of(element):
            fields[field] = date

    return take


def append_to(field: str) -> Take:
    """What adds an element's text to a field of several, unless it is empty."""

    def take(element: _Element, fields: Fields) -> None:
        if text := plain_text(element):
            fields[field] = (*fields.get(field, ()), text)

    return take


def texts_into(field: str) -> Take:
    """What adds the texts of an element's children to a field of several."""

    def take(element: _Element, fields: Fields) -> None:
        fields[field] = fields.get(field, ()) + tuple(text for child in element if (text := plain_text(child)))

    return take


def date_of(element: _Element) -> str | None:
    """The date in an element of Year, Month and Day."""
    parts = {child.tag: child.text for child in element}
    return iso_date(parts.get("Year"), parts.get("Month"), parts.get("Day"))
