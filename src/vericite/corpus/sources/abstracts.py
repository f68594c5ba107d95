"""Abstracts that are printed with their labels in the text, taken apart."""

from __future__ import annotations

import re

from vericite.records import Section

_WORDS = frozenset(
    """abstract aim aims analyses analysis application approach area areas assessment assessments background
    case cases clinical comparison conclusion conclusions context contribution contributions data date dates
    description design diagnosis discussion eligibility evaluation evidence experimental exposure exposures extraction
    finding findings funding goal goals highlights hypothesis implication implications importance inclusion
    interpretation intervention interventions introduction keypoints level limitation limitations literature main
    material materials meaning measure measured measurement measurements measures message method methodology methods
    model objective objectives observation observations observed outcome outcomes overview participant
    participants patient patients perspective perspectives population practice presentation primary principal problem
    procedure procedures purpose purposes question questions rationale recommendation recommendations
    register registration relevance report research result results review sample scope search secondary selection
    setting settings significance source sources statement statistical strategy studies study subject subjects summary
    synthesis treatment treatments trial type""".split()
)
_BETWEEN = frozenset(("and", "of", "the", "for", "in", "to", "or", "&", "/", "s"))
_COLON = re.compile(r":(?=\s|\Z)")
_LABEL = re.compile(r"(?:\A|(?<=[.?!;:)\]%])\s{1,3}|\n)(?P<label>[A-Z][A-Za-z/&,'’() -]{2,70})\Z")
_REACH = 75
_PIECE = re.compile(r"[A-Za-z]+|[&/]")


def abstract_sections(text: str) -> tuple[Section, ...]:
    """The sections of an abstract.

    ``BACKGROUND: ... METHODS: ...`` is split where every word of a label is one that labels are made of, so that
    a sentence such as ``RNA: ...`` loses nothing. One label alone counts only at the beginning.
    """
    before = (_LABEL.search(text, max(0, colon.start() - _REACH), colon.start()) for colon in _COLON.finditer(text))
    found = [match for match in before if match and _is_label(match["label"])]
    if not found or (len(found) == 1 and found[0].start() > 0):
        return (Section(text=text),) if text else ()
    sections: list[Section] = []
    if opening := text[: found[0].start()].strip():
        sections.append(Section(text=opening))
    ends = [match.start() for match in found[1:]] + [len(text)]
    for match, end in zip(found, ends, strict=True):
        if said := text[match.end() + 1 : end].strip():
            sections.append(Section(text=said, label=match["label"].strip()))
    return tuple(sections)


def _is_label(label: str) -> bool:
    pieces = [piece.lower() for piece in _PIECE.findall(label)]
    return any(piece in _WORDS for piece in pieces) and all(piece in _WORDS or piece in _BETWEEN for piece in pieces)
