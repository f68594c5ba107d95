"""Figures that a sentence gives to arms: "by 34% with lifestyle and by 18% with metformin", "A vs B (5% vs 8%)".

Only clear forms are read. A claim that gives one arm the figure of another, or that compares two arms against their
figures, is found by them without a judge.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

from vericite.text.sentences import split_sentences
from vericite.text.words import stems
from vericite.verify.figures import Amount, amounts, findings, unit_stem

_ARMS: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


class ArmFigure(NamedTuple):
    """An arm as the text names it, its figure as written, and that as a number."""

    arm: str
    written: str
    amount: Amount


@dataclass(frozen=True)
class Contrast:
    """Two or more arms of a sentence with their figures, which have one unit."""

    sentence: str
    given: tuple[ArmFigure, ...]

    def __str__(self) -> str:
        return ", ".join(f"{item.written} to {item.arm}" for item in self.given)

    @property
    def is_change(self) -> bool:
        """Whether the figures are sizes of changes."""
        return is_change(self.sentence, self.given[0].amount)

    @property
    def before(self) -> str:
        """The text before its figures, from the last other figure of the unit."""
        first = min(figure.amount.start for figure in self.given)
        others = self._others(0, first)
        return self.sentence[others[-1].stop if others else 0 : first]

    @property
    def about(self) -> str:
        """The text that says what its figures measure, to the next other figure of the unit."""
        last = max(figure.amount.stop for figure in self.given)
        after = self._others(last, len(self.sentence))
        return self.before + self.sentence[last : after[0].start if after else None]

    def _others(self, start: int, end: int) -> list[Amount]:
        unit = unit_stem(self.given[0].amount.unit)
        return [item for item in findings(self.sentence[:end]) if item.start >= start and unit_stem(item.unit) == unit]

    @property
    def listed(self) -> str:
        """Its figures with the arms in brackets."""
        *most, last = (f"{item.written} ({item.arm})" for item in self.given)
        return f"{', '.join(most)} and {last}"

    @cached_property
    def marks(self) -> tuple[frozenset[str], ...]:
        """For each arm, the stems that tell it from the others."""
        own = [arm_words(item.arm) - _COMMON for item in self.given]
        return tuple(
            mine.difference(*(other for place, other in enumerate(own) if place != at)) for at, mine in enumerate(own)
        )


_DOSES = frozenset(_ARMS["doses"].split())


def arm_words(text: str) -> frozenset[str]:
    """Return what can name an arm: the stems of a text, and its doses."""
    return stems(text).union(f"{item.value:g} {item.unit}" for item in amounts(text) if item.unit in _DOSES)


_SIZES = "|".join((_ARMS["shrinking"] + " " + _ARMS["growing"]).split())
_DIFFERENT = "|".join((_ARMS["smaller"] + " " + _ARMS["larger"]).split())
_COMMON = stems(_ARMS["common"])
_FIGURE = (
    r"(?P<{0}>⟦[0-9]+⟧)"
    rf"(?:\s(?:of\s)?(?:the\s|all\s)?(?:{_ARMS['counted']})(?=\s(?:in|with|on|given|of)\b))?"
)
_ENDING = _ARMS["ending"].split()
_WORD = rf"(?!(?:{'|'.join(_ENDING)}|{_ARMS['giving']})\b)[A-Za-zα-ωΑ-Ω0-9][\w'’/+-]*"
_ARM = (
    rf"(?:(?:those|{_ARMS['counted']})\s(?:in|with|on|given|receiving|assigned to|who received)\s)?(?:(?:the|a|an)\s)?"
    rf"(?P<{{0}}>{_WORD}(?:\s{_WORD}){{{{0,5}}}})"
)
_GIVING = rf"(?:{_ARMS['giving']})"
_BETWEEN = rf"(?:,?\s(?:{_ARMS['between']})\s|;\s(?:and\s)?|,\s(?:and\s)?)"
_COMPARING = rf"(?:,?\s(?:as\s)?(?:{_ARMS['comparing']})\s)"
_END = r"(?=\s?[.,;:()\[\]]|$|\s(?:" + "|".join([*_ENDING, *_ARMS["giving"].split("|")]) + r")\b)"


def _form(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _figure(name: str) -> str:
    return _FIGURE.format(name)


def _arm(name: str) -> str:
    return _ARM.format(name).replace("{{", "{").replace("}}", "}")


_LEAD = r"(?:(?:by|of|in|among|was|were|to|only|just|about|approximately|a|had|it was|is)\s){0,2}"
_FORMS = [
    # 34% with A and (by) 18% with B
    _form(rf"{_figure('f1')}\s{_GIVING}\s{_arm('a1')}{_BETWEEN}{_LEAD}{_figure('f2')}\s{_GIVING}\s{_arm('a2')}{_END}"),
    # with A than with B (5% vs 8%); A vs B: 5% vs 8%
    _form(
        rf"(?:(?:^|[.,;]\s|\b{_GIVING}\s){_arm('a1')}){_COMPARING}(?:{_GIVING}\s)?{_arm('a2')}\s?(?:\(|:\s|,\s|\[)"
        rf"(?:[\w -]{{0,30}},?\s)?{_figure('f1')}\s?(?:vs\.?|versus|compared (?:with|to)|and|;|,)\s{_figure('f2')}"
    ),
    # 34% and 18% with A and B, respectively
    _form(
        rf"{_figure('f1')}\s(?:and|vs\.?|versus)\s{_figure('f2')}\s(?:{_GIVING})\s{_arm('a1')}\s(?:and|vs\.?|versus)\s(?:{_GIVING}\s)?{_arm('a2')},?\s\(?respectively"
    ),
    # in A and B ... 34% and 18%, respectively
    _form(
        rf"(?:^|[,;]\s|\b{_GIVING}\s){_arm('a1')}\sand\s(?:{_GIVING}\s)?{_arm('a2')}{_END}[^.;⟦]{{0,80}}?{_figure('f1')}\sand\s{_figure('f2')},?\s\(?respectively"
    ),
    # with A (60%) than with B (40%)
    _form(
        rf"(?:^|[,;]\s|\b{_GIVING}\s){_arm('a1')}\s[(\[]{_figure('f1')}[)\]]{_BETWEEN}(?:{_GIVING}\s)?{_arm('a2')}\s[(\[]{_figure('f2')}[)\]]"
    ),
    # A reduced weight by 4 kg and B by 2 kg
    _form(
        rf"(?:^|[,;]\s){_arm('a1')}\s(?:{_SIZES})\s(?:[\w-]+\s){{0,8}}?by\s{_figure('f1')}"
        rf",?\s(?:and|whereas|while|but)\s{_arm('a2')}\s(?:(?:{_SIZES})\s(?:[\w-]+\s){{0,8}}?)?by\s{_figure('f2')}"
    ),
]


def _masked(sentence: str) -> tuple[str, list[Amount]]:
    """Return a sentence in which each finding is ⟦n⟧, without its count, spread and brackets of other numbers.

    A dose that names an arm is a word of it.
    """
    kept = findings(sentence)
    parts: list[str] = []
    last = 0
    for number, item in enumerate(kept):
        parts += [sentence[last : item.start], _dose(sentence, item) or f"⟦{number}⟧"]
        last = item.stop
    text = _SPREAD.sub("", "".join([*parts, sentence[last:]]))
    return _BRACKETS.sub("", text), kept


def _dose(sentence: str, item: Amount) -> str:
    """Return a dose as one word if it names an arm: "the 0.5 mg group", "with semaglutide 1 mg"; otherwise nothing."""
    if item.unit not in _DOSES:
        return ""
    is_arm = _AFTER_DOSE.match(sentence, item.stop) or _BEFORE_DOSE.search(sentence[: item.start])
    return f"{sentence[item.start : item.end].replace('.', 'p')}_{item.unit}" if is_arm else ""


_AFTER_DOSE = re.compile(
    r"(?:\s(?:once|twice|daily|weekly|a|per|day|week)){0,3}\s(?:group|arm|dose)s?\b", re.IGNORECASE
)
_BEFORE_DOSE = re.compile(rf"\b(?:{_ARMS['giving']})\s(?:the\s)?(?:[^\W\d_]{{4,}}\s)?$", re.IGNORECASE)
_DOSE_WORD = re.compile(rf"\b([0-9,]+)(?:p([0-9]+))?_({'|'.join(sorted(_DOSES))})\b")

_SPREAD = re.compile(r"⟦[0-9]+⟧\s?/\s?⟦[0-9]+⟧[,;:]?\s(?=⟦)|(?<=⟧)\s?(?:±|\+/-)\s?⟦[0-9]+⟧")
_BRACKETS = re.compile(r"(?<=⟧)\s?(?:\([^()⟧]*(?:⟦[0-9]+⟧[^()⟧]*)*\)|\[[^\[\]]*\])")


@lru_cache(maxsize=64)
def contrasts(text: str) -> tuple[Contrast, ...]:
    """Return the contrasts of a text, in order."""
    return tuple(_contrasts(text))


def _contrasts(text: str) -> Iterator[Contrast]:
    for span in split_sentences(text):
        sentence = text[span.slice]
        if len(sentence) > _LONGEST:
            continue
        masked, kept = _masked(sentence)
        if len(kept) < 2:
            continue
        seen: list[Contrast] = []
        for form in _FORMS:
            at = 0
            while match := form.search(masked, at):
                found = _read(sentence, match, kept)
                if found is not None and found not in seen:
                    seen.append(found)
                    yield found
                at = max(match.start("f1") + 1, match.start() + 1)


_LONGEST = 700


def _read(sentence: str, match: re.Match[str], kept: list[Amount]) -> Contrast | None:
    given: list[ArmFigure] = []
    for place in ("1", "2"):
        amount = kept[int(match[f"f{place}"][1:-1])]
        arm = _named(match[f"a{place}"])
        given.append(ArmFigure(arm, sentence[amount.start : amount.stop], amount))
    units = {unit_stem(item.amount.unit) for item in given}
    found = Contrast(sentence, tuple(given))
    if len(units) > 1 or not all(found.marks):
        return None
    return found


def _named(arm: str) -> str:
    plain = _DOSE_WORD.sub(lambda dose: f"{dose[1]}{f'.{dose[2]}' if dose[2] else ''} {dose[3]}", arm.strip())
    return re.sub(r"^(?:the|a|an)\s", "", plain, flags=re.IGNORECASE)


COMPARING = re.compile(rf"\b(?:as\s)?(?:{_ARMS['comparing']})\s", re.IGNORECASE)
"""What stands before the arm that something is compared with."""
_ASIDE = re.compile(rf"{COMPARING.pattern}[^,;]*|\([^()]*\)", re.IGNORECASE)
_CHANGE_BEFORE = re.compile(
    rf"\b(?:by(?:\s[a-z]+){{0,2}}|(?:{_SIZES})(?:\s(?:of|was|were|to be|by))?)\s$", re.IGNORECASE
)
_CHANGE_AFTER = re.compile(
    rf"\s(?:relative\s|absolute\s|risk\s)?(?:{_SIZES}|{_DIFFERENT})\b",
    re.IGNORECASE,
)


def is_change(text: str, item: Amount) -> bool:
    """Whether a figure is the size of a change or difference: "by 34%", "34% lower", "a reduction of 34%"."""
    before = text[max(0, item.start - 60) : item.start]
    return _CHANGE_BEFORE.search(before) is not None or _CHANGE_AFTER.match(text, item.stop) is not None


def subject_of(claim: str, contrast: Contrast) -> int | None:
    """Return the place of the one arm that a claim is about; what it compares with and brackets are left out."""
    own = arm_words(_ASIDE.sub(" ", claim))
    named = [place for place, marks in enumerate(contrast.marks) if marks <= own]
    others = [place for place, marks in enumerate(contrast.marks) if marks & own]
    return named[0] if len(named) == 1 and others == named else None
