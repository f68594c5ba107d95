"""How strong a source is as evidence: design, number of participants, year, retraction, and how much of it was read.

Everything is found by rules in the document itself. What it does not state is left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from vericite.records import Document
from vericite.text.designs import Design, study_design

Retraction = Literal["retracted", "retraction notice", "expression of concern"]
Depth = Literal["title", "abstract", "full text", "passages"]
FROM_VERDICTS = "verdicts"
"""Source of a document of which verdicts keep some passages, and nothing else is known."""

_LONGEST_ABSTRACT = 6_000
"""Characters; a longer text is more than an abstract."""
ABSTRACT = re.compile(r"(?:abstract|summary)(?: > (?P<part>.+))?", re.IGNORECASE)
"""Label of a section that is the abstract, or a part of it."""
_BEYOND = re.compile(
    r"(?:(?:\d{1,2}|[IVX]{1,5})\.?\s)?(?:introduction|discussion|references|acknowledge?ments?|funding|appendix|"
    r"(?:conflicts?|declarations?|competing) (?:of )?interests?|data availability|author contributions?)\b",
    re.IGNORECASE,
)
"""Beginning of the label of a section that no abstract has."""


@dataclass(frozen=True)
class Strength:
    """How strong a source is.

    Attributes:
        design: The design of the study, if the document says so.
        n: The number of participants, or of animals, if the document states one.
        year: The year of publication.
        retraction: Whether the article is retracted, is a notice of it, or its journal has expressed concern.
        depth: How much of the article the document holds; None if it may be any part of a text.
    """

    design: Design | None = None
    n: int | None = None
    year: int | None = None
    retraction: Retraction | None = None
    depth: Depth | None = None

    @classmethod
    def of(cls, document: Document) -> Strength:
        """Return the strength of a document."""
        depth = depth_of(document)
        if depth == "passages":
            # What a few sentences say of a design or a number may be about another study.
            return cls(None, None, document.year, retraction_of(document), depth)
        # Its patterns take 20 ms to compile.
        from vericite.text.participants import sample_size

        design = study_design(document)
        n = sample_size(document, design)
        return cls(design, n, document.year, retraction_of(document), depth)

    @property
    def study(self) -> tuple[str, ...]:
        """Design and n in words."""
        return study_words(self.design, self.n)

    @property
    def facts(self) -> str:
        """Design, n and depth in words, as they are shown next to a source with its title and year."""
        return ", ".join((*self.study, *([] if self.depth is None else [self.depth])))


def study_words(design: str | None, n: int | None) -> tuple[str, ...]:
    """Return a design and a number of participants in words, without what is unknown."""
    return tuple(filter(None, (design, None if n is None else f"n = {n:,}")))


# The journal puts "RETRACTED:" before the title of the article, and calls its notice "Retraction: ...".
_RETRACTED = re.compile(
    r"\W{0,3}retracted(?: article| paper| chapter)?(?:\s{0,2}[:\])]|\s{0,2}[-–—.]\s)", re.IGNORECASE
)
_RETRACTED_AT_END = re.compile(
    r"[\[(](?:retracted(?: article)?|this article has been retracted)[\])]\W*\Z", re.IGNORECASE
)
# "Retraction of the lung" is none.
_NOTICE = re.compile(
    r"\W{0,3}(?:notice of retraction\b|retraction (?:notice|note|statement)\b|"
    r"(?:editorial )?retraction(?:\s{0,2}[:\])]| (?:of|to):?\s?[\"“‘']))",
    re.IGNORECASE,
)
_CONCERN = re.compile(r"\W{0,3}(?:editorial )?expressions? of concern\b", re.IGNORECASE)


def says_retracted(title: str) -> bool:
    """Whether a title says that the article is retracted; that of a notice does not."""
    return "retracted" in title.lower() and bool(_RETRACTED.match(title) or _RETRACTED_AT_END.search(title[-60:]))


def retraction_of(document: Document) -> Retraction | None:
    """Return whether an article is retracted, is a notice of it, or its journal has expressed concern."""
    types = {name.lower() for name in document.publication_types}
    if document.retracted or says_retracted(document.title):
        return "retracted"
    if "retraction of publication" in types or _NOTICE.match(document.title):
        return "retraction notice"
    return "expression of concern" if "expression of concern" in types or _CONCERN.match(document.title) else None


def depth_of(document: Document) -> Depth | None:
    """Return how much of an article a document holds; None if that is not known."""
    size = len(document.text)
    if document.source == FROM_VERDICTS:
        return "passages" if size else None
    if not size:
        return "title" if document.title else None
    labels = [section.label for section in document.sections if section.label]
    # A PDF may be an abstract alone.
    if size > _LONGEST_ABSTRACT or (document.pages and any(map(_BEYOND.match, labels))):
        return "full text"
    if document.pages:
        return "abstract" if any(map(ABSTRACT.fullmatch, labels)) else None
    return "abstract" if document.pmid or document.publication_types or document.journal else None
