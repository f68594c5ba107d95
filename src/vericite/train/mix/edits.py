"""An edit of a text, and how it is carried over to another text that says the same."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Effect = Literal["contradicts", "neutral"]


@dataclass(frozen=True, slots=True)
class Edit:
    """Words put in the place of others.

    Attributes:
        start: Where the replaced words begin.
        old: The replaced words.
        new: The words in their place.
        kind: What was changed ("number", "direction", ...).
        effect: What a text that entailed the original says of the edited one.
        mirrored: Whether the same edit of the premise has the same effect on the original claim; an overclaim's has
            not, since who says "all" also says "some".
    """

    start: int
    old: str
    new: str
    kind: str
    effect: Effect
    mirrored: bool = True

    def of(self, text: str) -> str:
        """The edited text; a new beginning of a sentence keeps its capital."""
        edited = text[: self.start] + self.new + text[self.start + len(self.old) :]
        return edited[:1].upper() + edited[1:] if text[:1].isupper() else edited

    def carried(self, text: str) -> str | None:
        """The same edit on another text, if that has the replaced words exactly once; else None."""
        tail = "" if self.old.endswith(" ") else r"(?![\w-]|\.\d)"
        places = list(re.finditer(rf"(?<![\w.-]){re.escape(self.old)}{tail}", text, re.IGNORECASE))
        if len(places) != 1:
            return None
        # A premise that has the new word, too, speaks of both; of a "not" taken out nothing new is left to look for.
        new = self.new.strip().lower()
        if new not in self.old.lower() and re.search(rf"(?<!\w){re.escape(new)}(?!\w)", text, re.IGNORECASE):
            return None
        start, end = places[0].span()
        return text[:start] + self.new + text[end:]


def replaced(match: re.Match[str], new: str, kind: str, effect: Effect, *, mirrored: bool = True) -> Edit:
    """The edit that puts ``new`` where a pattern matched, with the capital the match had."""
    old = match[0]
    if old[:1].isupper() and new[:1].islower():
        new = new[:1].upper() + new[1:]
    return Edit(match.start(), old, new, kind, effect, mirrored)
