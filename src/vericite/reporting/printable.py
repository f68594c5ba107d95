"""Characters that may be shown: text from outside never controls a terminal, a file's markup or the text direction."""

from __future__ import annotations

import unicodedata

UNSHOWN = frozenset({"Cc", "Cf", "Cs"})
"""Categories of characters that are replaced."""


def clean(text: str) -> str:
    """Return the text on one line, with control characters replaced."""
    shown = (" " if char.isspace() else "�" if unicodedata.category(char) in UNSHOWN else char for char in text)
    return "".join(shown)
