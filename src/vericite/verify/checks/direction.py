"""Directions and their denial: what a claim says rose, fell or was not changed, and its source says otherwise of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from vericite.verify.checks import lexicon
from vericite.verify.checks.finding import Finding, Kind
from vericite.verify.checks.words import Word, clauses, sentences, shared, stems, words

_SHARED = 0.4
_LINKED = 0.8
_MOST = 40  # directions of a clause that are looked at; what keeps the work bounded
_REFERENCE = re.compile(
    r"\b(?:than|compared (?:with|to)|in comparison (?:with|to)|versus|vs|relative to)\b[^,;]*", re.IGNORECASE
)
_ARTICLES = frozenset("the a an of in this that".split())
_ASIDE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|,? but not [^,;.]{2,60},")


@dataclass(frozen=True, slots=True)
class Mention:
    """One place where a text gives something a direction.

    Attributes:
        kind: "size" (up or down), "worth" (better or worse), "link" (with or against) or "change" (any way).
        sign: 1 or -1.
        denied: Whether the text says that it was not so.
        target: Stems of what went that way.
        rest: Stems of the rest of the clause but for what it is compared with.
        reference: Stems of what it is compared with.
        inverted: Whether the cause is the want of something: "knockdown of", "deficiency".
        text: The word, for users.
    """

    kind: str
    sign: int
    denied: bool
    target: frozenset[str]
    rest: frozenset[str]
    reference: frozenset[str]
    inverted: bool
    text: str


def direction_findings(claim: str, source: str) -> Iterator[Finding]:
    """What a claim says went one way, and the sentence of its source that says most of it says went another."""
    mine = mentions(claim)
    if not mine or sum(word.lower in lexicon.NEGATORS for word in words(claim)) > 1:
        return
    told = stems(claim) - {word.stem for word in words(claim) if lexicon.directs(word.lower)}
    near = [(shared(told, stems(sentence)), sentence) for sentence in sentences(source)]
    given = [mention for overlap, sentence in near if overlap >= _SHARED for mention in mentions(sentence)]
    everything = [mention for _, sentence in near for mention in mentions(sentence)]
    against: list[tuple[Mention, Mention]] = []
    for item in mine:
        rivals = [other for other in given if conflict(item, other)]
        if rivals and not any(agree(item, other) for other in everything):
            against.append((item, rivals[0]))
    if len(against) == 1:
        item, other = against[0]
        kind: Kind = "negation" if item.denied != other.denied else "direction"
        yield Finding(kind, f"claim says '{_shown(item)}', the source '{_shown(other)}'")


def _shown(mention: Mention) -> str:
    return f"no {mention.text}" if mention.denied and not mention.text.startswith("un") else mention.text


def conflict(item: Mention, other: Mention) -> bool:
    """Whether two mentions of the same thing cannot both hold."""
    if item.inverted != other.inverted or not _alike(item, other):
        return False
    if "change" in (item.kind, other.kind):
        return item.denied != other.denied and (item if item.denied else other).kind == "change"
    turned = _turned(item, other)
    same = item.sign == turned * other.sign
    if not turned or (item.denied and other.denied):
        return False
    return same if item.denied != other.denied else not same


def _alike(item: Mention, other: Mention) -> bool:
    """Whether two mentions speak of the same thing, in ways that can be set against each other."""
    kinds = {item.kind, other.kind}
    if len(kinds) > 1 and kinds != {"size", "change"} and kinds != {"worth", "change"}:
        return False
    if item.kind == "link":
        return shared(item.target, other.target) >= _LINKED
    one, two = item.target, other.target
    return bool(one) and (one <= two or (bool(two) and two <= one <= two | other.rest))


def agree(item: Mention, other: Mention) -> bool:
    """Whether a mention of the source may be what the claim's says."""
    if item.kind != other.kind or shared(item.target, other.target) < 0.6:
        return False
    return not conflict(item, other)


def _turned(item: Mention, other: Mention) -> int:
    """-1 if the two compare the same things the other way round, 0 if that cannot be told."""
    if not item.reference and not other.reference:
        return 1
    straight = len(item.rest & other.rest - other.reference) + len(item.reference & other.reference - other.rest)
    crossed = len(item.rest & other.reference - other.rest) + len(item.reference & other.rest - other.reference)
    if item.reference and other.reference:
        return (straight > crossed) - (straight < crossed)
    return int(straight > crossed)


def mentions(text: str) -> list[Mention]:
    """The mentions of a plain text in order."""
    told = sentences(_ASIDE.sub(" ", text))
    return [mention for sentence in told for clause in clauses(sentence) for mention in _of_clause(clause)]


def _of_clause(clause: str) -> Iterator[Mention]:
    found = words(clause)
    if any(word.lower in lexicon.UNDECIDED for word in found):
        return
    match = _REFERENCE.search(clause)
    start, end = match.span() if match else (len(clause), len(clause))
    apart = frozenset(word.stem for word in found if word.stem and start <= word.start < end)
    aside = frozenset(word.stem for word in found if word.stem and not start <= word.start < end)
    inverted = any(word.lower in lexicon.INVERTERS for word in found)
    for index, last, kind, sign in _directions(clause, found):
        target = apart | aside if kind == "link" else _target(found, index, last)
        text = clause[found[index].start : found[last].end]
        denied = _denied(found, index)
        yield Mention(kind, sign, denied, target, aside - target, apart - target, inverted, text)


def _directions(clause: str, found: list[Word]) -> Iterator[tuple[int, int, str, int]]:
    """The first and the last word of each direction of a clause, what it is about, and which way it goes."""
    places = [at for at in range(len(found)) if lexicon.directs(found[at].lower) and not _named(clause, found, at)]
    places = places[:_MOST]
    skipped: set[int] = set()
    for index in places:
        kind, sign = lexicon.direction(found[index].lower)
        if index in skipped or (kind == "link" and index != places[-1]):
            continue  # "associated with a higher risk": the direction is what is told
        last = _nested(found, index, places)
        skipped.add(last)
        if last != index:
            kind, sign = "size", sign * lexicon.direction(found[last].lower)[1]
        if kind == "link" and any(word.lower in lexicon.NEGATIVE for word in found[max(0, index - 2) : index]):
            sign = -1
        yield index, last, kind, sign


def _named(clause: str, found: list[Word], index: int) -> bool:
    """Whether a word of direction is part of a name: "reduced-function", "lower limb"."""
    word = found[index]
    joined = "-" in (clause[word.end : word.end + 1], clause[word.start - 1 : word.start])
    return joined or (
        word.lower == "lower" and any(after.lower in lexicon.PLACES for after in found[index + 1 : index + 2])
    )


def _nested(found: list[Word], index: int, places: list[int]) -> int:
    """The place of the direction that another acts on: "prevents an increase in"; the same place if there is none."""
    kind, _ = lexicon.direction(found[index].lower)
    later = next((place for place in places if index < place <= index + 2), index)
    if kind not in ("size", "worth") or lexicon.direction(found[later].lower)[0] != "size":
        return index
    return later if all(word.lower in _ARTICLES for word in found[index + 1 : later]) else index


def _denied(found: list[Word], index: int) -> bool:
    if found[index].lower in lexicon.UNCHANGED:
        return True
    before = [word.lower for word in found[:index]]
    near = [at for at in range(max(0, index - 5), index) if before[at] in lexicon.NEGATORS and _reaches(before, at)]
    return len(near) % 2 == 1 or "neither" in before


def _reaches(before: list[str], at: int) -> bool:
    """Whether a negator denies what follows these words: not in "who did not respond had"."""
    after = before[at + 1 :]
    return after[:1] != ["only"] and not lexicon.FINITE.intersection(after)


def _target(found: list[Word], index: int, last: int) -> frozenset[str]:
    """What a word of direction speaks of: the phrase that follows, or, where none does, the one before."""
    ahead = found[last + 1 : last + 8]
    if ahead and ahead[0].lower in lexicon.LEADING.get(found[last].lower, ()):
        ahead = ahead[1:]
    return frozenset(_phrase(ahead)[:4] or [word.stem for word in found[max(0, index - 8) : index] if word.stem][-4:])


def _phrase(ahead: list[Word]) -> list[str]:
    named: list[str] = []
    for word in ahead:
        if word.lower in lexicon.BOUNDS or (named and word.lower == "of"):
            break
        if word.stem:
            named.append(word.stem)
    return named
