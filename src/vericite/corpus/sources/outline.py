"""Headings and paragraphs in a row, made sections."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from vericite.records import Section

_REFERENCES = re.compile(
    r"[\W\d]*(?:references?|bibliography|reference list|list of references|literature(?: cited)?|works cited)\W*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; the lower its level, the more it is over."""

    level: int
    title: str


Block = Heading | str


def sections_of(blocks: Iterable[Block]) -> tuple[Section, ...]:
    r"""Sections out of headings and paragraphs, these joined by ``\n``.

    A section is labelled by its heading and those over it: ``Treatment > Adults``. Lists of references are left
    out: their titles are no statements of this source.
    """
    path: list[Heading] = []
    found: list[tuple[str | None, list[str]]] = []
    for block in blocks:
        if isinstance(block, Heading):
            while path and path[-1].level >= block.level:
                path.pop()
            path.append(block)
            found.append((" > ".join(part.title for part in path if part.title) or None, []))
        elif block and not any(_REFERENCES.fullmatch(part.title) for part in path):
            if not found:
                found.append((None, []))
            found[-1][1].append(block)
    return tuple(Section(text="\n".join(texts), label=label) for label, texts in found if texts)
