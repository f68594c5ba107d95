"""Which stretch of a clause belongs to one of its words of direction."""

from __future__ import annotations

from vericite.verify.checks.labels import labels
from vericite.verify.checks.words import Word

_JOINTS = frozenset("and but while whereas yet though although".split())
_LEADING = frozenset(
    "after in with at between by during from over under among for before besides compared since".split()
)


def joint(clause: str, found: list[Word], one: int, other: int) -> int:
    """Where, between two marks, what belongs to the second begins: after the last conjunction or comma."""
    for index in range(other, one, -1):
        between = clause[found[index - 1].end : found[index].start]
        if found[index - 1].lower in _JOINTS and index - 1 > one:
            return index
        if ("," in between or ";" in between) and index - 1 >= one:
            return index
    return one + 1


def after_leading(clause: str, behind: list[Word]) -> list[Word]:
    """The words before a mark without a phrase that opens the clause: "After a week of the drug, ..."."""
    if not behind or behind[0].lower not in _LEADING:
        return behind
    comma = clause.find(",", behind[0].start)
    kept = [word for word in behind if word.start > comma]
    return kept if comma >= 0 and any(word.content for word in kept) else behind


def dated(text: str) -> frozenset[str]:
    """The labels of a text that are years or doses."""
    return frozenset(label for label in labels(text) if label.startswith(("year:", "dose:")))
