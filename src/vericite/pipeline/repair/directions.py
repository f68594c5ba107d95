"""Directions and their negation: a claim says that something rose, fell or did not change, and its source disagrees."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from vericite.pipeline.repair.differences import Difference, Kind
from vericite.text.words import COMPARING, LISTS, Word, clauses, sentences, shared, stems, word_list, words

_SHARED = 0.4
_LINKED = 0.8
_MOST = 40  # maximum number of directions of a clause, to bound the work
_REFERENCE = re.compile(rf"\b(?:{COMPARING})\b[^,;]*", re.IGNORECASE)
_ARTICLES = frozenset("the a an of in this that".split())
_ASIDE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|,? but not [^,;.]{2,60},")


_UP = word_list("up")
_DOWN = word_list("down")
_GOOD = word_list("good")
_BAD = word_list("bad")
_PLACES = word_list("places")
_NEGATIVE = word_list("negative")
_LINKS = word_list("links")
_CHANGES = word_list("changes")
_UNCHANGED = word_list("unchanged")
_ALIKE = word_list("alike")
_NOUNS = word_list("nouns")
_ON = word_list("on")
_AGAINST = word_list("against")
# Prepositions between a word of direction and its object.
_LEADING = (
    dict.fromkeys(_NOUNS, ("in", "of")) | dict.fromkeys(_ON, ("on",)) | dict.fromkeys(_AGAINST, ("against", "from"))
)
_BOUNDS = word_list("bounds")
_NEGATORS = word_list("negators")
_INVERTERS = word_list("inverters")
_FINITE = word_list("finite")
_UNDECIDED = word_list("undecided")


@dataclass(frozen=True, slots=True)
class DirectionMention:
    """A place where a text gives something a direction.

    Attributes:
        kind: "size" (up or down), "quality" (better or worse), "link" (with or against) or "change" (any direction).
        sign: 1 or -1.
        denied: Whether the text negates it.
        target: Stems of what went in that direction.
        rest: Stems of the rest of the clause, without what it is compared with.
        reference: Stems of what it is compared with.
        inverted: Whether the cause is the lack of something: "knockdown of", "deficiency".
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


def direction_differences(claim: str, source: str) -> Iterator[Difference]:
    """Find directions of the claim that the most similar sentence of its source contradicts."""
    mine = mentions(claim)
    if not mine or sum(word.lower in _NEGATORS for word in words(claim)) > 1:
        return
    content = stems(claim) - {word.stem for word in words(claim) if _directs(word.lower)}
    near = [(shared(content, stems(sentence)), sentence) for sentence in sentences(source)]
    given = [mention for overlap, sentence in near if overlap >= _SHARED for mention in mentions(sentence)]
    everything = [mention for _, sentence in near for mention in mentions(sentence)]
    against: list[tuple[DirectionMention, DirectionMention]] = []
    for item in mine:
        rivals = [other for other in given if conflict(item, other)]
        if rivals and not any(agree(item, other) for other in everything):
            against.append((item, rivals[0]))
    if len(against) == 1:
        item, other = against[0]
        kind: Kind = "negation" if item.denied != other.denied else "direction"
        yield Difference(kind, f"claim says '{_shown(item)}', the source '{_shown(other)}'")


def _shown(mention: DirectionMention) -> str:
    return f"no {mention.text}" if mention.denied and not mention.text.startswith("un") else mention.text


def conflict(item: DirectionMention, other: DirectionMention) -> bool:
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


def _alike(item: DirectionMention, other: DirectionMention) -> bool:
    """Whether two mentions are about the same thing and comparable."""
    kinds = {item.kind, other.kind}
    if len(kinds) > 1 and kinds != {"size", "change"} and kinds != {"quality", "change"}:
        return False
    if item.kind == "link":
        return shared(item.target, other.target) >= _LINKED
    first, second = item.target, other.target
    return bool(first) and (first <= second or (bool(second) and second <= first <= second | other.rest))


def agree(item: DirectionMention, other: DirectionMention) -> bool:
    """Whether a mention of the source may mean the same as the claim's."""
    if item.kind != other.kind or shared(item.target, other.target) < 0.6:
        return False
    return not conflict(item, other)


def _turned(item: DirectionMention, other: DirectionMention) -> int:
    """Return -1 if the two compare the same things in reverse order, 0 if that is unknown."""
    if not item.reference and not other.reference:
        return 1
    straight = len(item.rest & other.rest - other.reference) + len(item.reference & other.reference - other.rest)
    crossed = len(item.rest & other.reference - other.rest) + len(item.reference & other.rest - other.reference)
    if item.reference and other.reference:
        return (straight > crossed) - (straight < crossed)
    return int(straight > crossed)


def mentions(text: str) -> list[DirectionMention]:
    """Return the mentions of a plain text, in order."""
    split = sentences(_ASIDE.sub(" ", text))
    return [mention for sentence in split for clause in clauses(sentence) for mention in _of_clause(clause)]


def _of_clause(clause: str) -> Iterator[DirectionMention]:
    found = words(clause)
    if any(word.lower in _UNDECIDED for word in found):
        return
    match = _REFERENCE.search(clause)
    start, end = match.span() if match else (len(clause), len(clause))
    apart = frozenset(word.stem for word in found if word.stem and start <= word.start < end)
    aside = frozenset(word.stem for word in found if word.stem and not start <= word.start < end)
    inverted = any(word.lower in _INVERTERS for word in found)
    for index, last, kind, sign in _directions(clause, found):
        target = apart | aside if kind == "link" else _target(found, index, last)
        text = clause[found[index].start : found[last].end]
        denied = _denied(found, index)
        yield DirectionMention(kind, sign, denied, target, aside - target, apart - target, inverted, text)


def _directions(clause: str, found: list[Word]) -> Iterator[tuple[int, int, str, int]]:
    """Yield first and last word of each direction of a clause, its kind and its sign."""
    places = [at for at in range(len(found)) if _directs(found[at].lower) and not _named(clause, found, at)]
    places = places[:_MOST]
    skipped: set[int] = set()
    for index in places:
        kind, sign = _direction(found[index].lower)
        if index in skipped or (kind == "link" and index != places[-1]):
            continue  # "associated with a higher risk": the direction is what counts
        last = _nested(found, index, places)
        skipped.add(last)
        if last != index:
            kind, sign = "size", sign * _direction(found[last].lower)[1]
        if kind == "link" and any(word.lower in _NEGATIVE for word in found[max(0, index - 2) : index]):
            sign = -1
        yield index, last, kind, sign


def _named(clause: str, found: list[Word], index: int) -> bool:
    """Whether a word of direction is part of a name: "reduced-function", "lower limb"."""
    word = found[index]
    joined = "-" in (clause[word.end : word.end + 1], clause[word.start - 1 : word.start])
    return joined or (word.lower == "lower" and any(after.lower in _PLACES for after in found[index + 1 : index + 2]))


def _nested(found: list[Word], index: int, places: list[int]) -> int:
    """Return the index of the direction that another acts on ("prevents an increase in"), else its own index."""
    kind, _ = _direction(found[index].lower)
    later = next((place for place in places if index < place <= index + 2), index)
    if kind not in ("size", "quality") or _direction(found[later].lower)[0] != "size":
        return index
    return later if all(word.lower in _ARTICLES for word in found[index + 1 : later]) else index


def _denied(found: list[Word], index: int) -> bool:
    if found[index].lower in _UNCHANGED:
        return True
    before = [word.lower for word in found[:index]]
    near = [at for at in range(max(0, index - 5), index) if before[at] in _NEGATORS and _reaches(before, at)]
    return len(near) % 2 == 1 or "neither" in before


def _reaches(before: list[str], at: int) -> bool:
    """Whether a negator negates what follows these words: not in "who did not respond had"."""
    after = before[at + 1 :]
    return after[:1] != ["only"] and not _FINITE.intersection(after)


def _target(found: list[Word], index: int, last: int) -> frozenset[str]:
    """Return the stems of a direction's object: the phrase after it, or if there is none, the one before."""
    ahead = found[last + 1 : last + 8]
    if ahead and ahead[0].lower in _LEADING.get(found[last].lower, ()):
        ahead = ahead[1:]
    return frozenset(_phrase(ahead)[:4] or [word.stem for word in found[max(0, index - 8) : index] if word.stem][-4:])


def _phrase(ahead: list[Word]) -> list[str]:
    named: list[str] = []
    for word in ahead:
        if word.lower in _BOUNDS or (named and word.lower == "of"):
            break
        if word.stem:
            named.append(word.stem)
    return named


_SHARED_BY_CLAIM = 0.8
_SHARED_BY_SOURCE = 0.6


_NOT = frozenset("not never cannot no".split())
_OPEN = _UNDECIDED | _UNCHANGED | _ALIKE | {"than", "compared", "versus", "vs", "relative"}
"""Words of a clause that may be reversed twice: two things compared in reverse order are the same."""
_DENYING = _NEGATORS | {"non", "nobody", "nothing", "hardly", "rarely", "unlikely", "absent", "negative"}


def _opposites() -> dict[str, set[str]]:
    table: dict[str, set[str]] = {}
    for pair in LISTS["opposites"].strip().replace("\n", "|").split("|"):
        for word, other in pairwise(pair.split() * 2):
            if word != other:
                table.setdefault(word, set()).add(other)
    return table


_OPPOSITES = _opposites()


def opposite_differences(claim: str, source: str) -> Iterator[Difference]:
    """Find clauses of the claim that a clause of the source says with one word reversed, and none says unchanged."""
    given = _clauses(source)
    for mine in _clauses(claim):
        near = [theirs for theirs in given if _same_but_for_one(mine, theirs)]
        turned = [found for theirs in near if (found := _turned_opposite(mine, theirs))]
        if turned and len(turned) == len(near):
            yield Difference(*turned[0])
            return


def _clauses(text: str) -> list[list[Word]]:
    return [words(clause) for sentence in sentences(text) for clause in clauses(sentence)]


def _same_but_for_one(mine: list[Word], theirs: list[Word]) -> bool:
    first, other = (
        frozenset(word.stem for word in found if word.stem and word.lower not in _DENYING) for found in (mine, theirs)
    )
    covered = shared(first, other) >= _SHARED_BY_CLAIM or len(first - other) == 1
    return len(first) >= 3 and covered and shared(other, first) >= _SHARED_BY_SOURCE


def _turned_opposite(mine: list[Word], theirs: list[Word]) -> tuple[Kind, str] | None:
    """Return the kind and words of the one reversal between otherwise equal clauses; None if none or several differ."""
    first, other = ({word.lower for word in found} for found in (mine, theirs))
    if (first | other) & _OPEN or {word for word in first ^ other if word[0].isdigit()}:
        return None
    swapped = [
        (word, against)
        for word in sorted(first - other)
        for against in sorted(other - first)
        if _opposed(word, against) and _beside(mine, word) & _beside(theirs, against)
    ]
    claimed, given = (Counter(word.lower for word in found if word.lower in _DENYING) for found in (mine, theirs))
    denied, denying = list((claimed - given).elements()), list((given - claimed).elements())
    if len(swapped) + len(denied) + len(denying) != 1:
        return None
    if swapped:
        return "direction", f"claim says '{swapped[0][0]}', the source '{swapped[0][1]}'"
    if denied and _denies(mine, theirs):
        return "negation", f"claim says '{denied[0]}', the source that it is so"
    return ("negation", f"claim says that it is so, the source '{denying[0]}'") if _denies(theirs, mine) else None


def _opposed(first: str, other: str) -> bool:
    (kind, sign), (against, turned) = _direction(first), _direction(other)
    directed = kind == against and kind in ("size", "quality") and sign * turned == -1
    return directed or other in _OPPOSITES.get(first, ())


def _beside(found: list[Word], lower: str) -> set[tuple[int, str]]:
    """Return the words right before and after a word, at each of its places."""
    places = [place for place, word in enumerate(found) if word.lower == lower]
    return {(step, found[at + step].lower) for at in places for step in (-1, 1) if 0 <= at + step < len(found)}


def _denies(found: list[Word], other: list[Word]) -> bool:
    """Whether the negator of a clause is right before what the other says without one."""
    content = {word.stem for word in other if word.stem}
    at = next((place for place, word in enumerate(found) if word.lower in _NOT), len(found))
    after = found[at + 1 : at + 4]
    named = [word.stem for word in after if word.stem]
    return bool(named) and named[0] in content and after[0].lower != "only"


def _direction(lower: str) -> tuple[str, int]:
    """Return the kind and sign of a word of direction; sign 0 for other words."""
    size = (lower in _UP) - (lower in _DOWN)
    quality = (lower in _GOOD) - (lower in _BAD)
    if size or quality:
        return ("size", size) if size else ("quality", quality)
    if lower in _LINKS:
        return "link", 1
    return "change", int(lower in _CHANGES or lower in _UNCHANGED)


def _directs(lower: str) -> bool:
    """Whether a word expresses a direction, or that something changed."""
    return _direction(lower)[1] != 0
