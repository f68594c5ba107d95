"""Which way a sentence points: negated or not, up or down."""

from __future__ import annotations

_WAYS = {
    "negated": ("without", "lack", "absen", "unaffected", "ineffective", "failed"),
    "up": ("increas", "rais", "rose", "rise", "higher", "more", "wors", "elevat", "promot", "harms", "greater"),
    "down": ("reduc", "decreas", "lower", "fewer", "less", "declin", "fell", "prevent", "protect", "diminish"),
}
_NEGATIONS = frozenset({"no", "not", "nor", "neither", "never", "cannot", "fails", "fail"})


def polarity(text: str) -> frozenset[str]:
    """Any of ``negated``, ``up`` and ``down``."""
    words = [word.strip(".,;:()").lower() for word in text.split()]
    found = {way for way, stems in _WAYS.items() if any(word.startswith(stems) for word in words)}
    negated = any(word in _NEGATIONS or word.endswith(("n't", "n’t")) for word in words)
    return frozenset(found | {"negated"} if negated else found)
