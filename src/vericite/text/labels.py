"""Labels that are printed before the sections of an abstract: ``BACKGROUND: ... METHODS: ...``."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from vericite.records import Span

LABELS = "labels.v2"
"""Signature of the rules, for provenance; changes whenever they would find other labels."""

_LISTS: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_WORDS = frozenset(_LISTS["words"].split())
_BETWEEN = frozenset(_LISTS["between"].split())
_PARTS = frozenset(_LISTS["parts"].split())
_COLON = re.compile(r":(?=\s|\Z)")
_LABEL = re.compile(r"(?:\A|(?<=[.?!;:)\]%])\s{1,3}|\n)(?P<label>[A-Z][A-Za-z/&,'’() -]{2,70})\Z")
_REACH = 75
_PIECE = re.compile(r"[A-Za-z]+|[&/]")


def section_labels(text: str) -> tuple[Span, ...]:
    """Return the labels of a text with their colons, in order.

    All words of a label are known, so that ``RNA: ...`` is none. A single label counts only at the beginning.
    """
    before = (_LABEL.search(text, max(0, colon.start() - _REACH), colon.start()) for colon in _COLON.finditer(text))
    found = [match for match in before if match and _is_label(match["label"])]
    if len(found) == 1 and found[0].start() > 0:
        return ()
    return tuple(Span(start=match.start("label"), end=match.end() + 1) for match in found)


def unread_labels(text: str) -> tuple[Span, ...]:
    """Return the labels that only name a part of a text: "Results:", but neither "Funding:" nor "Aim:"."""
    return tuple(label for label in section_labels(text) if all(it in _PARTS for it in _pieces(text[label.slice])))


def without_label(sentence: str) -> str:
    """Return a sentence without the label that it begins with."""
    labels = unread_labels(sentence)
    return sentence[labels[0].end :].lstrip() if labels and labels[0].start == 0 else sentence


def _is_label(label: str) -> bool:
    pieces = _pieces(label)
    return any(piece in _WORDS for piece in pieces) and all(piece in _WORDS or piece in _BETWEEN for piece in pieces)


def _pieces(label: str) -> list[str]:
    return [piece.lower() for piece in _PIECE.findall(label)]
