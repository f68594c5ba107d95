"""What an XML file is, told by its first element."""

from __future__ import annotations

import re

# What may stand before the first element. A declaration may bring a subset of its own, in brackets.
_PROLOGUE = re.compile(
    r"\s+|<\?(?:[^?]|\?(?!>))*\?>|<!--(?:[^-]|-(?!->))*-->|<!DOCTYPE[^\[>]*(?:\[[^\]]*\]\s*)?>", re.IGNORECASE
)
_ELEMENT = re.compile(r"<(?:[A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)")


def root_of(opening: str) -> str | None:
    """The name of the first element, without its namespace; None if the text does not begin as XML does."""
    position = 0
    while found := _PROLOGUE.match(opening, position):
        position = found.end()
    element = _ELEMENT.match(opening, position)
    return element[1] if element else None
