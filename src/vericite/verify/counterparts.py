"""Which figure of a source stands for a figure of a claim that the source lacks, where that is certain."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from vericite.text.sentences import split_sentences
from vericite.text.words import shared, stems
from vericite.verify.arms import COMPARING, Contrast, contrasts, is_change, subject_of
from vericite.verify.figures import Amount, amounts, findings, is_like, named_next_to, unit_stem


class Counterpart(NamedTuple):
    """What a source has instead of a figure: what stands for it, else the figures of all arms; neither may be known.

    ``said`` is a number as the source writes it, ``whole`` the same with its unit. ``several`` are the figures of a
    list of which any may be that of the claim.
    """

    said: str = ""
    whole: str = ""
    arms: Contrast | None = None
    several: tuple[str, ...] = ()

    @property
    def listed(self) -> str:
        """The figures of all arms; empty if one figure stands for that of the claim, or none is known."""
        if self.arms is not None and not self.said:
            return self.arms.listed
        return f"{', '.join(self.several[:-1])} and {self.several[-1]}" if self.several else ""


def _written(text: str, item: Amount, arms: Contrast | None = None) -> Counterpart:
    return Counterpart(text[item.start : item.end], text[item.start : item.stop], arms)


_ABOUT = 0.4
"""Minimum share of a claim's stems in a sentence that is about the same."""


def counterpart(claim: str, item: Amount, text: str) -> Counterpart:
    """Return the figure of a source that stands for one of the claim.

    Of figures of one unit it is the only one, that of the arm which the claim is about, the only one next to the same
    word ("a sensitivity of 0.8"), or the only one of the sentence that has most words of the claim. In a list ("fell by
    3 kg, 5 kg and 1 kg") the word counts for all its figures.
    """
    mine = [other.value for other in findings(claim) if other != item]
    rivals = [other for other in findings(text) if is_like(item, other) and other.value not in mine]
    if unit_stem(item.unit) == "%":
        rivals = [other for other in rivals if is_change(claim, item) == is_change(text, other)]
    if found := _by_arm(claim, item, text):
        return found
    if not item.unit:
        rivals = _counting_alike(claim, item, text, rivals)
    if item.time is not None:
        rivals = [other for other in rivals if other.value == item.value] or rivals
    if _differ(rivals):
        rivals = _next_to_same(claim, item, text, rivals) or _in_nearest_sentence(claim, text, rivals)
    if _differ(rivals) and _is_list(text, rivals):
        rivals = _of_named_arm(claim, text, rivals) or rivals
        if _differ(rivals):
            several = tuple(dict.fromkeys(text[other.start : other.stop] for other in rivals))
            return Counterpart(several=several if len(several) <= _LISTED else ())
    return _written(text, rivals[0]) if rivals and not _differ(rivals) else Counterpart()


def _differ(rivals: Sequence[Amount]) -> bool:
    return len({other.value if other.time is None else other.time for other in rivals}) > 1


def _by_arm(claim: str, item: Amount, text: str) -> Counterpart | None:
    """Return the figure of the claim's arm, or those of all arms if that is not known; None if no arms have figures."""
    own = stems(claim)
    alike: list[Contrast] = []
    for contrast in contrasts(text):
        like = all(is_like(item, given.amount) for given in contrast.given) and item.unit
        if not like or is_change(claim, item) != contrast.is_change or shared(own, stems(contrast.sentence)) < _ABOUT:
            continue
        place = subject_of(claim, contrast)
        if place is not None:
            return _written(contrast.sentence, contrast.given[place].amount, contrast)
        alike.append(contrast)
    # Pairs of one sentence are parts of a longer list.
    one = len(alike) == 1 or (bool(alike) and alike[0].sentence != alike[1].sentence)
    return Counterpart(arms=alike[0]) if one else None


def _counting_alike(claim: str, item: Amount, text: str, rivals: Sequence[Amount]) -> list[Amount]:
    """Return the numbers without unit that count the same, or the decimals if none does."""
    alike = _next_to_same(claim, item, text, rivals)
    places = len(claim[item.start : item.end].partition(".")[2])
    return alike or [other for other in rivals if places and "." in text[other.start : other.end]]


def _next_to_same(claim: str, item: Amount, text: str, rivals: Sequence[Amount]) -> list[Amount]:
    """Return the figures next to the same word as that of the claim, each with the list that it begins."""
    own = named_next_to(claim, item)
    found: list[Amount] = []
    for place, other in enumerate(rivals):
        continues = bool(found) and found[-1] is rivals[place - 1] and _continues(text, found[-1], other)
        if continues or own & named_next_to(text, other):
            found.append(other)
    return found


_LISTED = 4
"""Maximum figures of a list that a reason gives."""
_PART = re.compile(r"[,;]\s|\b(?:and|versus|vs\.?)\s")
_END = re.compile(r"[;()]|[,.](?:\s|\Z)|\s(?:and|versus|vs)\s")
_PLACED = re.compile(r"\s*(?:(?:with|in|on|for|among|by|to|at|after|from|of)\b|\Z)", re.IGNORECASE)


def _before(text: str, item: Amount) -> str:
    """Return what comes before a figure in its part of a list: "with placebo in"."""
    return _PART.split(text[max(0, item.start - 80) : item.start])[-1]


def _continues(text: str, last: Amount, item: Amount) -> bool:
    """Whether a figure is the next one of a list: nothing in its part says that it measures something else."""
    between = text[last.stop : item.start]
    same_sentence = not re.search(r"[.;!?]\s", between) and _PART.search(between) is not None
    return same_sentence and _PLACED.match(_before(text, item)) is not None


def _is_list(text: str, rivals: Sequence[Amount]) -> bool:
    return all(_continues(text, last, item) for last, item in pairwise(rivals))


def _of_named_arm(claim: str, text: str, rivals: Sequence[Amount]) -> list[Amount]:
    """Return the figure of a list whose arm, named next to it, is that of the claim."""
    arms = [_arm(text, other) for other in rivals]
    marks = [arm.difference(*(other for at, other in enumerate(arms) if at != place)) for place, arm in enumerate(arms)]
    own = _told(re.sub(rf"{COMPARING.pattern}[^,;]*", " ", claim, flags=re.IGNORECASE))
    named = [place for place, mark in enumerate(marks) if mark & own]
    certain = all(marks) and len(named) == 1 and marks[named[0]] <= own
    return [rivals[named[0]]] if certain else []


def _arm(text: str, item: Amount) -> frozenset[str]:
    """Return the words and numbers that name the arm of a figure, before or after it."""
    before = _before(text, item)
    placed = _told(before) if _PLACED.match(before) else frozenset[str]()
    return placed or _told(_END.split(text[item.stop : item.stop + 80])[0])


def _told(text: str) -> frozenset[str]:
    """Return the stems and the numbers of a text."""
    return stems(text) | {f"{amount.value:g}" for amount in amounts(text)}


def _in_nearest_sentence(claim: str, text: str, rivals: Sequence[Amount]) -> list[Amount]:
    """Return the numbers of the sentence that has most of the claim's words, if no other one has as many."""
    own = stems(claim)
    held = [
        (shared(own, stems(text[span.slice])), [other for other in rivals if span.start <= other.start < span.end])
        for span in split_sentences(text)
    ]
    ranked = sorted((row for row in held if row[1]), key=lambda row: -row[0])
    if not ranked or ranked[0][0] < _ABOUT or (len(ranked) > 1 and ranked[1][0] == ranked[0][0]):
        return []
    return ranked[0][1]
