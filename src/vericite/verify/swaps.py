"""Claims that give an arm the figure of another, or compare two arms the wrong way round.

Both are found by the figures that the source gives to its arms (``arms.py``), without a judge. Nothing is found where a
claim is negated, names both arms outside a comparison, or compares another outcome. Which outcome a single figure is
of is not asked, so a find is a reason to look and decides no verdict.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from vericite.records.results import SOURCE_GIVES
from vericite.text.names import drugs_in
from vericite.text.words import Word, stem_of, stems, word_list, words
from vericite.verify.arms import COMPARING, Contrast, arm_words, contrasts, is_change, subject_of
from vericite.verify.figures import Amount, findings, is_equal, is_like, unit_stem

_ARMS: dict[str, str] = tomllib.loads((Path(__file__).parent / "arms.toml").read_text("utf-8"))
_SMALLER, _LARGER = (frozenset(_ARMS[name].split()) for name in ("smaller", "larger"))
_SHRINKING, _GROWING = (frozenset(_ARMS[name].split()) for name in ("shrinking", "growing"))
_CHANGES = (_SHRINKING | _GROWING) - _SMALLER - _LARGER
_TURNING = frozenset(_ARMS["turning"].split())
_LITTLE = stems(f"{_ARMS['common']} {_ARMS['little']}")
_OF_ANY = frozenset(_ARMS["of_any_direction"].split())
_UNCLEAR = frozenset(_ARMS["unclear"].split())
_DENYING = word_list("negators") | word_list("unchanged") | word_list("alike")
ARMS = "arms.v1"
"""Signature of the rules, for provenance; changes whenever they would find something else."""
Kind = Literal["level", "shrinking", "growing"]
"""What figures measure: how much there is, or how much of a change there was."""


class Swap(NamedTuple):
    """What a claim has the wrong way round: its figure or its word of comparison, and the figures of the source."""

    kind: Literal["number", "direction"]
    start: int
    end: int
    contrast: Contrast

    @property
    def because(self) -> str:
        """What the source says instead, in a sentence."""
        return f"{SOURCE_GIVES} {self.contrast}."


_BEFORE_TREATMENT = re.compile(
    r"\b(?:baseline|before treatment|initially|at entry|at randomi[sz]ation)\b", re.IGNORECASE
)
"""Figures before a treatment say nothing of its effect."""
_LONGEST = 50_000
"""Characters of a source that are read: figures of arms stand in abstracts."""
_MOST = 100
"""Sentences of a source with figures of arms that are compared; a hostile text has thousands."""


def swap(claim: str, text: str) -> Swap | None:
    """Return what a claim has the wrong way round; None if nothing surely is."""
    if any(word.lower in _DENYING for word in words(claim)):
        return None
    text = text[:_LONGEST]
    found = [contrast for contrast in contrasts(text)[:_MOST] if not _BEFORE_TREATMENT.search(contrast.sentence)]
    return (_swapped_figure(claim, text, found) or _reversed(claim, found)) if found else None


# A figure of another arm


def _swapped_figure(claim: str, text: str, found: Sequence[Contrast]) -> Swap | None:
    own = contrasts(claim)
    told: Sequence[Amount] | None = None
    for item in findings(claim):
        for contrast in found:
            equal = [place for place, figure in enumerate(contrast.given) if _is_same(item, figure.amount, claim)]
            bearer = _bearer(claim, item, own, contrast)
            if len(equal) != 1 or bearer is None or bearer in equal or _is_complement(contrast):
                continue
            if is_change(claim, item) != contrast.is_change:
                continue
            told = findings(text) if told is None else told
            if not _has_elsewhere(claim, item, told, found, contrast.marks[equal[0]]):
                return Swap("number", item.start, item.stop, contrast)
    return None


def _is_same(item: Amount, other: Amount, claim: str) -> bool:
    is_clear = bool(item.unit) or _COUNTED.match(claim, item.stop) is not None
    return is_clear and is_like(item, other) and is_equal(item, other, claim)


_COUNTED = re.compile(rf"\s(?:of\s)?(?:the\s|all\s)?(?:{_ARMS['counted']})\b", re.IGNORECASE)
"""What comes after a number of people."""


def _bearer(claim: str, item: Amount, own: Sequence[Contrast], contrast: Contrast) -> int | None:
    """Return the place of the source's arm to which a claim gives a figure."""
    for mine in own:
        for figure in mine.given:
            if (figure.amount.value, figure.amount.unit) == (item.value, item.unit):
                named = [place for place, marks in enumerate(contrast.marks) if marks <= arm_words(figure.arm)]
                return named[0] if len(named) == 1 else None
    compared = COMPARING.search(claim)
    if own or (compared and compared.start() < item.start and compared.start() > 0):
        return None
    return subject_of(claim, contrast)


def _is_complement(contrast: Contrast) -> bool:
    """Whether shares of arms add up to the whole: then the rest of one arm has the figure of the other."""
    values = [figure.amount.value for figure in contrast.given]
    return unit_stem(contrast.given[0].amount.unit) == "%" and abs(sum(values) - 100) < 1


def _has_elsewhere(
    claim: str, item: Amount, told: Sequence[Amount], found: Sequence[Contrast], giver: frozenset[str]
) -> bool:
    """Whether a source has a figure in another place than with its arm."""
    places = sum(_is_same(item, other, claim) for other in told)
    with_arm = {
        (contrast.sentence, figure.amount.start)
        for contrast in found
        for figure, marks in zip(contrast.given, contrast.marks, strict=True)
        if _is_same(item, figure.amount, claim) and marks == giver
    }
    return places > len(with_arm)


# A comparison against the figures


class ArmComparison(NamedTuple):
    """A comparison of two arms: its word, and whether the first has more of a level or of a change, or changes it."""

    word: Word
    is_more: bool
    of: Kind
    is_verb: bool
    first: int
    outcome: frozenset[str]

    def sign(self, kind: Kind | None) -> int:
        """Return 1 or -1 if the first arm's figure must be the larger or smaller one; 0 if that is not clear."""
        if kind == self.of:
            return 1 if self.is_more else -1
        if kind == "level" and self.is_verb:
            return 1 if self.of == "growing" else -1
        return 0


def _reversed(claim: str, found: Sequence[Contrast]) -> Swap | None:
    """Return the comparison that the figures of its outcome are against, if no other figures agree with it."""
    against: list[Swap] = []
    for contrast in found:
        read = comparison(claim, contrast)
        if read is None or not contrast.given[0].amount.unit or _turned(claim) != _turned(contrast.about):
            continue
        sign = read.sign(_kind(contrast)) * _order(contrast, read.first)
        if not sign or not read.outcome <= stems(contrast.about):
            continue
        if sign > 0:
            return None
        against.append(Swap("direction", read.word.start, read.word.end, contrast))
    return against[0] if against else None


def _order(contrast: Contrast, first: int) -> int:
    own, other = (contrast.given[place].amount.value for place in (first, 1 - first))
    return (own > other) - (own < other)


def _turned(text: str) -> frozenset[str]:
    """Return the words of a text that make an outcome its opposite: free of relapse, without relapse."""
    return frozenset(word.lower for word in words(text) if word.lower in _TURNING or word.lower in _DENYING)


def _kind(contrast: Contrast) -> Kind | None:
    """Return what the figures of a contrast measure; None if that is not clear."""
    before = [word.lower for word in words(contrast.before) if word.lower in _CHANGES]
    if contrast.is_change:
        return None if not before else "shrinking" if before[-1] in _SHRINKING else "growing"
    if not before:
        return "level"
    # "A reduced mortality compared with B (5% vs 8%)": the figures are levels if they go the same way.
    told = comparison(contrast.sentence, contrast)
    agrees = told is not None and told.is_verb and told.sign("level") * _order(contrast, told.first) > 0
    return "level" if agrees else None


def outcome_stems(claim: str) -> frozenset[str]:
    """Return the stems of what a claim says a change of: after the word of direction, or before it."""
    turns = [word for word in words(claim) if word.lower in _SMALLER | _LARGER | _SHRINKING | _GROWING]
    if not turns:
        return frozenset()
    # "Falls increased" is no fall.
    turn = next((word for word in turns if word.start), turns[0])
    before, after = claim[: turn.start], claim[turn.end :]
    ahead = _outcome(_PHRASE.split(_LEAD.sub("", after))[0])
    return ahead if ahead and not _PASSIVE.search(before) else _outcome(before)


def _outcome(part: str) -> frozenset[str]:
    drugs = (named.text for named in drugs_in(part))
    return stems(part).difference(_LITTLE, stems(" ".join(drugs)))


_LEAD = re.compile(r"^\s(?:(?:in|of)\s)?(?:the\s)?")
_PHRASE = re.compile(r"\b(?:by|in|among|over|during|after|with|for|from|to|than|compared|versus|vs)\b|[;:()]")
_PASSIVE = re.compile(r"\b(?:was|were|is|are|been)\s(?:[\w.%-]+\s){0,2}$", re.IGNORECASE)
"""What stands before "reduced" in "mortality was significantly reduced"."""


def comparison(claim: str, contrast: Contrast) -> ArmComparison | None:
    """Return how a claim compares two arms; None if that is not clear."""
    sides = _sides(claim, contrast)
    inside = words(claim)
    sizes = [word for word in inside if word.lower in _SMALLER | _LARGER]
    changes = [word for word in inside if word.lower in _CHANGES]
    if sides is None or len(sizes) > 1 or len(changes) > 1 or any(word.lower in _UNCLEAR for word in inside):
        return None
    of: Kind = "level" if not changes else "shrinking" if changes[0].lower in _SHRINKING else "growing"
    if not (sizes or changes) or (sizes and changes and sizes[0].lower not in _OF_ANY):
        return None
    word = (sizes or changes)[0]
    named = frozenset(stem_of(item.lower) for item in (*sizes, *changes))
    outcome = stems(claim).difference(_LITTLE, named, *contrast.marks)
    is_more = not sizes or word.lower in _LARGER
    return ArmComparison(word, is_more, of, not sizes, sides, outcome) if outcome else None


def _sides(claim: str, contrast: Contrast) -> int | None:
    """Return the place of the arm that a claim compares with the other one."""
    found = list(COMPARING.finditer(claim))
    if len(found) != 1 or len(contrast.given) != 2:
        return None
    compared, comma, rest = claim[found[0].end() :].partition(",")
    others = stems(claim[: found[0].start()] + (comma and rest))
    first = [place for place, marks in enumerate(contrast.marks) if marks & others]
    second = [place for place, marks in enumerate(contrast.marks) if marks & stems(compared)]
    if len(first) != 1 or len(second) != 1 or first == second:
        return None
    whole = contrast.marks[first[0]] <= others and contrast.marks[second[0]] <= stems(compared)
    return first[0] if whole else None
