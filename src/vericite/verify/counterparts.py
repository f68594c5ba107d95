"""Which figure of a source stands for a figure of a claim that the source lacks, where that is certain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from vericite.text.sentences import split_sentences
from vericite.text.words import shared, stems
from vericite.verify.arms import Contrast, contrasts, is_change, subject_of
from vericite.verify.figures import Amount, findings, is_like, named_next_to, unit_stem


class Counterpart(NamedTuple):
    """What a source has instead of a figure: what stands for it, else the figures of the arms; neither may be known.

    ``said`` is a number as the source writes it, ``whole`` the same with its unit.
    """

    said: str = ""
    whole: str = ""
    arms: Contrast | None = None


def _written(text: str, item: Amount, arms: Contrast | None = None) -> Counterpart:
    return Counterpart(text[item.start : item.end], text[item.start : item.stop], arms)


_ABOUT = 0.4
"""Minimum share of a claim's stems in a sentence that is about the same."""


def counterpart(claim: str, item: Amount, text: str) -> Counterpart:
    """Return the figure of a source that stands for one of the claim.

    Of figures of one unit it is the only one, that of the arm which the claim is about, the only one next to the same
    word ("a sensitivity of 0.8"), or the only one of the sentence that has most words of the claim.
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
    return _written(text, rivals[0]) if rivals and not _differ(rivals) else Counterpart()


def _differ(rivals: Sequence[Amount]) -> bool:
    return len({other.value if other.time is None else other.time for other in rivals}) > 1


def _by_arm(claim: str, item: Amount, text: str) -> Counterpart | None:
    """Return the figure of the claim's arm, or those of all arms if that is not known; None if no arms have figures."""
    own = stems(claim)
    for contrast in contrasts(text):
        like = all(is_like(item, given.amount) for given in contrast.given) and item.unit
        if not like or is_change(claim, item) != contrast.is_change or shared(own, stems(contrast.sentence)) < _ABOUT:
            continue
        place = subject_of(claim, contrast)
        if place is None:
            return Counterpart(arms=contrast)
        return _written(contrast.sentence, contrast.given[place].amount, contrast)
    return None


def _counting_alike(claim: str, item: Amount, text: str, rivals: Sequence[Amount]) -> list[Amount]:
    """Return the numbers without unit that count the same, or the decimals if none does."""
    alike = _next_to_same(claim, item, text, rivals)
    places = len(claim[item.start : item.end].partition(".")[2])
    return alike or [other for other in rivals if places and "." in text[other.start : other.end]]


def _next_to_same(claim: str, item: Amount, text: str, rivals: Sequence[Amount]) -> list[Amount]:
    own = named_next_to(claim, item)
    return [other for other in rivals if own & named_next_to(text, other)]


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
