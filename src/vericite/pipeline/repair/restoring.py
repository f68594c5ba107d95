"""What a source says put back into a sentence that parts from it in one respect: a number, a direction, a denial."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

from vericite.pipeline.repair.editing import stands_alone
from vericite.pipeline.repair.proposing import Proposal, Wound
from vericite.pipeline.repair.telling import tellings
from vericite.verify.checks import findings
from vericite.verify.checks.direction import Mention, mentions
from vericite.verify.checks.plain import plain
from vericite.verify.checks.quantities import quantities

RESTORATION = "restoration"
NEAR = 0.5
"""Share of the sentence's words, rare ones counting more, from which a sentence of its source says the same."""

_SENTENCES, _MOST = 2, 6
_NUMERIC = frozenset({"number", "interval", "p-value"})
_ENDINGS = ("ing", "ion", "ions", "ed", "er", "ment", "es", "s")
_DENIED = re.compile(
    r"\b(is|are|was|were|has|have|had|can|could|may|might|will|would|should|must) not (?=\w)", re.IGNORECASE
)
_STATED = re.compile(r"\b(is|are|was|were|can|could|may|might|will|would|should|must) (?=\w)", re.IGNORECASE)
_NO = re.compile(r"\bno (significant |clear )?(?=difference|effect|change|association|increase|decrease)", re.I)


def restorations(wounds: Sequence[Wound]) -> list[list[Proposal]]:
    """For each sentence what it would say if it said what the likest sentences of the documents that it cites do.

    Only where a check names exactly one difference, and finds none any more once it is mended.
    """
    return [list(islice(_restored(wound), _MOST)) for wound in wounds]


def _restored(wound: Wound) -> Iterator[Proposal]:
    claim = wound.claim.text
    seen = {claim}
    for told in islice(tellings(claim, wound.cited), _SENTENCES):
        if told.likeness < NEAR:
            return
        found = findings(claim, told.text)
        if len(found) != 1:
            continue
        ways = _numbers(claim, told.text) if found[0].kind in _NUMERIC else _turned(claim, told.text)
        given = _pairs(told.text)
        # Of the words that would mend it those that stand as they do in the source.
        for text in sorted(ways, key=lambda text: -(_pairs(text) & given).total()):
            if text not in seen and not findings(text, told.text) and stands_alone(text):
                seen.add(text)
                yield Proposal("rewritten", text, (told.document,), RESTORATION)


def _numbers(claim: str, source: str) -> Iterator[str]:
    """The claim with one of its quantities as the source has it."""
    given = plain(source)
    for item in quantities(plain(claim)):
        said = item.text.strip()
        others = (other.text.strip() for other in quantities(given) if other.kind == item.kind)
        for other in dict.fromkeys(others):
            if other != said and _once(claim, said):
                yield _with(claim, said, other)


def _turned(claim: str, source: str) -> Iterator[str]:
    """The claim with a word of direction as the source has it, or with its denial put in or taken out."""
    for item in mentions(plain(claim)):
        for other in mentions(plain(source)):
            if _of_one_form(item, other) and _once(claim, item.text):
                yield _with(claim, item.text, other.text)
    yield from _denials(claim)


def _denials(claim: str) -> Iterator[str]:
    """The claim with its one denial taken out, or with one put in."""
    for pattern, by in ((_DENIED, "{} "), (_STATED, "{} not "), (_NO, "a {}")):
        found = list(pattern.finditer(claim))
        if len(found) == 1:
            instead = by.format(found[0][1] or "")
            behind = claim[found[0].end() :]
            instead = "an " if instead == "a " and behind[:1] in "aeiou" else instead
            yield claim[: found[0].start()] + instead + behind


def _of_one_form(item: Mention, other: Mention) -> bool:
    """Whether the one word can stand where the other does."""
    one, two = item.text.lower(), other.text.lower()
    if item.kind != other.kind or item.sign == other.sign or " " in one + two:
        return False
    return next((one.endswith(end) for end in _ENDINGS if two.endswith(end)), False)


def _pairs(text: str) -> Counter[tuple[str, str]]:
    """The pairs of words that follow each other."""
    return Counter(pairwise(re.findall(r"[^\W_]+", plain(text).lower())))


def _once(text: str, words: str) -> bool:
    return bool(words) and len(re.findall(_pattern(words), text)) == 1


def _with(text: str, words: str, other: str) -> str:
    return re.sub(_pattern(words), lambda match: other.capitalize() if match[0][:1].isupper() else other, text)


def _pattern(words: str) -> str:
    return rf"(?<![\w.]){re.escape(words)}(?![\w]|\.\d)"
