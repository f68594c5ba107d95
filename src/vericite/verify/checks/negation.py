"""What a claim says and its source denies, or the reverse, where no direction is in play."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from vericite.verify.checks import lexicon
from vericite.verify.checks.finding import Finding
from vericite.verify.checks.words import Word, clauses, words

_SOFT = re.compile(
    r"\b(?:few|rare\w*|seldom|little|zero|0|only|except|exclud\w*|un[a-z]{4,}|in(?:effective|active|sufficient"
    r"|adequate|frequent)\w*"
    r"|absen\w*|knock\w*|deficien\w*|deplet\w*|null|delet\w*|silenc\w*|lack\w*|fail\w*|fewer|less|lower|low"
    r"|reduc\w*|prevent\w*|avoid\w*|negative\w*|abolish\w*|lost|loss|den(?:y|ied)"
    r"|similar\w*|comparable|same|equal\w*|independent\w*|instead|whether|rather|despite|insignificant\w*|remain\w*"
    r"|still|refus\w*"
    r"|hardly|barely|scarcely|contraindicat\w*|stop\w*|discourag\w*|against|omit\w*|dispensable|neither"
    r"|no longer)\b|n't\b|\bnon(?!inferior)",
    re.I,
)
_BORDER = frozenset(
    "in with for after among during by from than but of on at to as between under within when because".split()
)
_THIN = frozenset("evidenc further main primari new additional serious major clinic".split())
_REACH = 4
_MOST = 30  # clauses of a claim that are looked at; what keeps the work linear


@dataclass(frozen=True, slots=True)
class _Said:
    stems: frozenset[str]
    heads: tuple[frozenset[str], ...]
    negative: bool
    text: str


def negation_findings(claim: str, source: str) -> Iterator[Finding]:
    """Findings where one text denies a thing that the other says; both texts are plain."""
    yield from denial_findings(claim, source)
    given = [_said(clause) for clause in clauses(source)]
    if not given or any(_ELLIPTIC.search(item.text) for item in given):
        return
    for mine in map(_said, clauses(claim)[:_MOST]):
        if _NUMBER.search(mine.text):
            continue
        rated = [(len(mine.stems & item.stems), item) for item in given]
        best = max(shared for shared, _ in rated)
        close = [item for shared, item in rated if shared >= max(2, 0.75 * best)]
        if close and 2 * best >= len(mine.stems) and all(_opposed(mine, item) for item in close):
            yield Finding("negation", f"claim says '{_shown(mine.text)}', the source '{_shown(close[0].text)}'")


_ELLIPTIC = re.compile(r"\b(?:it|they|this|that|those|others?) (?:did|was|were|had|does|do|is|are|has|could) not\W*$")
_RULED_OUT = re.compile(r"\b(?:ruled? out|excluded?|dismiss(?:ed)?)\b", re.IGNORECASE)
_NOT = re.compile(r"\b(?:not|no|cannot|never|without|unable|neither|nor)\b|n't\b", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9] ?%|[0-9] (?:of|in|out of)")


def denial_findings(claim: str, source: str) -> Iterator[Finding]:
    """Findings where a claim says the very thing that its source says is not so; both texts are plain."""
    given = [_said(clause) for clause in clauses(source)[:_MOST]]
    told = frozenset(word.stem for word in words(claim) if word.content)
    whole = frozenset(word.stem for word in words(source) if word.content)
    for mine in map(_said, clauses(claim)[:_MOST]):
        if mine.negative or _NUMBER.search(mine.text):
            continue
        for item in given:
            for head in () if _BARE.match(item.text) else item.heads:
                near = len(mine.stems & item.stems)
                affirmed = any(
                    head <= other.stems or len(mine.stems & other.stems) > max(near, 1)
                    for other in given
                    if not other.heads
                )
                if not affirmed and not _AIMED.search(item.text) and _says(mine, item, head, whole, told):
                    yield Finding("negation", f"claim says '{_shown(mine.text)}', the source '{_shown(item.text)}'")
                    return
    yield from _ruling_out(claim, source)


def _says(mine: _Said, item: _Said, head: frozenset[str], whole: frozenset[str], told: frozenset[str]) -> bool:
    shared = head & mine.stems
    if 2 * len(mine.stems & item.stems) < len(mine.stems & whole):
        return False
    if mine.stems & whole - item.stems and not mine.stems & item.stems - head:
        return False  # the thing is denied of another
    if len(head) > 1:
        return 3 * len(shared) >= 2 * len(head) and len(shared) > 1
    around = (whole - head) & (told - head)
    return bool(shared) and (bool(around) or not told - head)


def _ruling_out(claim: str, source: str) -> Iterator[Finding]:
    """Findings where one text rules a thing out that the other leaves open."""
    said, given = _RULED_OUT.search(claim), _RULED_OUT.search(source)
    if not said or not given:
        return
    open_here, open_there = (
        bool(_NOT.search(text, max(0, match.start() - 24), match.start()))
        for text, match in ((claim, said), (source, given))
    )
    shared = {word.stem for word in words(claim) if word.content} & {
        word.stem for word in words(source) if word.content
    }
    if open_there and not open_here and shared:
        yield Finding("negation", f"claim says '{said[0]}', the source 'not {given[0]}'")


_BARE = re.compile(r"\W*not\b", re.IGNORECASE)
_AIMED = re.compile(r"\b(?:whether|aim\w*|hypothes\w*)\b", re.IGNORECASE)


def _said(clause: str) -> _Said:
    found = words(clause)
    heads = tuple(
        head
        for index, word in enumerate(found)
        if _negates(found, index, word)
        for head in [_head(found, index)]
        if head
    )
    negative = bool(heads) or bool(_SOFT.search(clause)) or any(word.lower in lexicon.NEGATORS for word in found)
    return _Said(frozenset(word.stem for word in found if word.content), heads, negative, clause)


def _negates(found: list[Word], index: int, word: Word) -> bool:
    after = found[index + 1].lower if index + 1 < len(found) else ""
    if word.lower == "free":
        return after in ("of", "from")
    return word.lower in lexicon.NEGATORS and after not in ("only", "less", "more", "later")


def _head(found: list[Word], index: int) -> frozenset[str]:
    """The content words that a negator denies: those before the next preposition, at most a few."""
    head: list[str] = []
    for word in found[index + 1 : index + 2 + 2 * _REACH]:
        if head and (word.lower in _BORDER or len(head) == _REACH):
            break
        if word.content and word.stem not in _THIN:
            head.append(word.stem)
    return frozenset(head)


def _opposed(one: _Said, other: _Said) -> bool:
    """Whether just one of two clauses denies, and denies what the other says."""
    if one.negative == other.negative:
        return False
    denying, saying = (one, other) if one.negative else (other, one)
    return len(denying.heads) % 2 == 1 and any(
        head <= saying.stems or 2 * len(head & saying.stems) > len(head) for head in denying.heads
    )


def _shown(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 90 else text[:87].rsplit(" ", 1)[0] + " ..."
