"""Claims that say of one thing what their source says of another and denies of that one: "A, but not B, ..."."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from vericite.verify.checks.finding import Finding
from vericite.verify.checks.groups import rivals
from vericite.verify.checks.words import Word, words

_UNLIKE = re.compile(
    r"\b(?P<start>Unlike|In contrast to|Contrary to) (?P<other>[^,.;]{2,60}),(?: (?:which|who)"
    r" (?P<did>[^,.;]{3,90}),)? ",
)
_ASIDE_UNLIKE = re.compile(r", (?:unlike|in contrast to|as opposed to) (?P<other>[^,.;]{2,60}),", re.IGNORECASE)
_BUT_NOT = re.compile(r"(?P<one>[^.;,]{2,80}),? but not (?P<other>[^,.;]{2,60}), (?P<did>[^.;]{2,200})", re.IGNORECASE)
_SPLIT = re.compile(
    r"(?<=[\w%)\]]{2}[.!?])\s+(?=[A-Z0-9(\"])|[;:]\s+|,?\s+(?:but|whereas|while|although|though|however|yet"
    r"|whilst)\s+"
    r"|,?\s+and\s+(?=(?:(?:in|by|among|for)\s+)?(?:none|no|not|left)\b)|\s\|\s|,\s+(?=(?:unlike|not)\s)",
    re.ASCII,
)
_CONTRARY = re.compile(
    r"\b(?:not?|none|never|neither|nor|cannot|(?<!or )without|fail(?:s|ed)?|lack(?:s|ed|ing)?|absen\w+"
    r"|unable|unlike|intact"
    r"|un(?:affected|changed|altered|harmed|touched|scathed|impaired|protected)|normal|spared|exclud\w+"
    r"|ineligible|undetect\w+|inactive|ineffective|unresponsive|except|rather|apart|other than)\b"
    r"(?!-)|n't\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[\w%)\]]{2}[.!?])\s+(?=[A-Z0-9(\"])", re.ASCII)
_WHOM = re.compile(
    r"\W*(?:the |those |these )?(?P<whom>patients|people|participants|subjects|individuals) (?:were|was|did"
    r"|had|could|are|do)\b",
    re.IGNORECASE,
)
_COMPARING = re.compile(r"\b(?:than|more|less|fewer|compared|versus|only|relative|higher|lower|both)\b", re.IGNORECASE)
_DENYING = frozenset(
    "not no none never neither nor fail fails failed lack lacks lacked lacking absent absence intact"
    " unaffected unchanged"
    " unaltered unharmed left normal spared excluded ineligible included eligible studied so do did show showed".split()
)
_LEAST = 0.67  # share of what the denied part alone names that a claim must name
_MOST = 40  # parts of a text that are looked at; what keeps the work linear


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a text that says one thing."""

    stems: frozenset[str]
    contrary: bool
    text: str
    sentence: int


def contrast_findings(claim: str, source: str) -> Iterator[Finding]:
    """Findings about claims that carry what is said of one thing over to the thing it is denied of."""
    given = _parts(source)
    pairs = [
        (one, other)
        for one, other in pairwise(given)
        if one.contrary != other.contrary and (one.sentence == other.sentence or one.stems & other.stems)
    ]
    if not pairs:
        return
    for mine in _parts(claim):
        if mine.contrary:
            continue
        for one, other in pairs:
            saying, denying = (other, one) if one.contrary else (one, other)
            if _carried_over(mine, saying, denying) and not _said_elsewhere(mine, denying, given):
                yield Finding("negation", f"claim says '{_shown(mine.text)}', the source '{_shown(denying.text)}'")
                return


def _carried_over(mine: _Part, saying: _Part, denying: _Part) -> bool:
    """Whether a claim names what is denied, not what is affirmed, and says of it what is said of the other."""
    denied, affirmed = denying.stems - saying.stems, saying.stems - denying.stems
    named = denied & mine.stems
    said = affirmed & mine.stems
    whom = _WHOM.match(denying.text)
    if whom and whom["whom"].lower() not in mine.text.lower():
        return False
    if not named or not affirmed or not (mine.stems & saying.stems):
        return False
    if not affirmed - mine.stems and (len(denied) > 1 or _COMPARING.search(mine.text)):
        return False
    if rivals(denying.text, saying.text, mine.text):
        return bool(said)
    if len(named) <= _LEAST * len(denied):
        return False
    return bool(said) or len(denied) > 2


def _said_elsewhere(mine: _Part, denying: _Part, given: list[_Part]) -> bool:
    """Whether another part of the source affirms as much of what a claim says."""
    near = len(mine.stems & denying.stems)
    return any(
        not part.contrary and len(mine.stems & part.stems) > near + 1 and _names(mine, part, denying) for part in given
    )


def _names(mine: _Part, part: _Part, denying: _Part) -> bool:
    return bool(mine.stems & part.stems & denying.stems) and mine.stems & denying.stems <= part.stems


def _parts(text: str) -> list[_Part]:
    text = _UNLIKE.sub(lambda match: f"{match['other']} {match['did'] or ''} | ", text)
    text = _ASIDE_UNLIKE.sub("", text)
    text = _BUT_NOT.sub(lambda match: f"{match['one']} {match['did']} | not {match['other']}", text)
    return [
        _part(piece, place)
        for place, sentence in enumerate(_SENTENCE.split(text)[:_MOST])
        for piece in _SPLIT.split(sentence)[:_MOST]
        if piece and piece.strip(" ,.;")
    ]


def _part(text: str, sentence: int) -> _Part:
    found = words(text)
    stems = frozenset(word.stem for word in found if word.content and not _denies(word))
    return _Part(stems, bool(_CONTRARY.search(text)), text, sentence)


def _denies(word: Word) -> bool:
    return word.lower in _DENYING


def _shown(text: str) -> str:
    text = " ".join(text.split()).strip(" ,")
    return text if len(text) <= 90 else text[:87].rsplit(" ", 1)[0] + " ..."
