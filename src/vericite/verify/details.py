"""Details of a sentence that its source may not carry: numbers, units, times, groups, directions, comparators ...

``suspects`` compares a claim with its source by words alone. It yields each detail that the source lacks or says
otherwise, with wordings of the claim in which the detail is left out or replaced by what the source says. Whether such
a wording is supported, a judge decides (``explaining.py``).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

from vericite.records import WordKind
from vericite.text.names import is_mentioned, names_in
from vericite.text.sentences import split_sentences
from vericite.text.words import COMPARING, SPELT, Word, clauses, shared, stem_of, stems, word_list, words
from vericite.verify.counterparts import Counterpart, counterpart
from vericite.verify.figures import TIME_UNITS, YEAR, Amount, amounts, changing_ratios, is_equal, unit_stem

_DETAILS: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))

Status = Literal["absent", "other", "present"]
"""Whether the source lacks the detail, says another in its place, or has it somewhere: then only a judge can tell."""


class Variant(NamedTuple):
    """The claim with a detail left out (``said`` is empty) or replaced by what the source says."""

    text: str
    said: str = ""


@dataclass(frozen=True)
class Suspect:
    """A detail of a claim that the source may not carry, and wordings of the claim without it.

    ``shown`` is the detail for a reason, if that needs more than its words. ``instead`` is what the source has in place
    of a figure that it lacks.
    """

    kind: WordKind
    start: int
    end: int
    status: Status
    variants: tuple[Variant, ...]
    shown: str = ""
    instead: Counterpart | None = None


def _set(name: str) -> frozenset[str]:
    return frozenset(_DETAILS[name].split())


def _pairs(rows: Iterable[str], between: str) -> list[tuple[str, str]]:
    return [(left.strip(), right.strip()) for left, _, right in (row.strip().partition(between) for row in rows)]


_PLACED = re.compile(
    r"(?:\b(?P<lead>within|after|over|for|at|during|by|before|in|until)\s(?:the\s(?:first|last|next)\s)?|\bage\s)$",
    re.I,
)
_OF_TIME = re.compile(
    rf"\b(?:(?P<ordinal>{'|'.join(_DETAILS['ordinals'].split())})\s(?P<period>{'|'.join(_DETAILS['periods'].split())})s?"
    rf"|(?P<often>{'|'.join(_DETAILS['frequencies'].split())}))\b",
    re.IGNORECASE,
)
_DENYING = word_list("negators") | word_list("unchanged") | word_list("alike")
_DIRECTIONS = word_list("up") | word_list("down") | word_list("good") | word_list("bad")
_OPPOSITES: dict[str, list[str]] = {}
for _one, _other in _pairs(_DETAILS["opposites"].replace("\n", "|").split("|"), " "):
    if _one:
        _OPPOSITES.setdefault(_one, []).append(_other)
        _OPPOSITES.setdefault(_other, []).append(_one)
_BASES = dict(pair.split(":") for pair in _DETAILS["directing"].split())
_COMPARED = frozenset("more less higher lower better worse fewer longer shorter".split())
_DENIED_FORM = {form: f"{'does' if form.endswith('s') else 'did'} not {base}" for form, base in _BASES.items()}
"""What denies a verb: "did not reduce" denies "reduced"."""
_AFFIRMED = {denied: form for form, denied in _DENIED_FORM.items()} | {
    f"do not {base}": base for base in _BASES.values()
}
_CERTAIN = [row for row in _pairs(_DETAILS["certain"].strip().splitlines(), "=") if row[0]]
_CERTAIN_WORDS = re.compile(
    r"\b(?a:" + "|".join(re.escape(one) for one, _ in sorted(_CERTAIN, key=lambda row: -len(row[0]))) + r")\b", re.I
)
_WEAKER = dict(_CERTAIN)
_DENIABLE = _set("deniable")
_CAUSAL = frozenset(word for phrase in _WEAKER for word in phrase.split())
_HEDGES = _set("hedges")
_COMPARING = re.compile(rf"\b(?:{COMPARING}|{_DETAILS['comparing']})\s", re.IGNORECASE)
_ENDING = _set("ending")
_PEOPLE = _set("people")
_STUDIED = _PEOPLE - {"human", "humans"}
"""Words for people who were studied: "not yet tested in humans" studies none."""
_POPULATIONS: dict[str, str] = {}
_WITHIN: dict[str, frozenset[str]] = {}
for _row in _DETAILS["populations"].strip().splitlines():
    _head, _, _names = _row.partition(" : ")
    _group, _, _more = _head.partition(" ")
    _WITHIN[_group] = frozenset(filter(None, [_group, *_more.split(",")]))
    for _name in _names.split():
        _POPULATIONS.setdefault(_name, _group)
_OTHER = _HEDGES | _DIRECTIONS | _set("frequencies") | _set("ordinals") | _set("periods") | _ENDING


_SHORTEST = 3
"""Shorter words are symbols, which sources write in many ways."""
_ROOT = 5
_LONGEST = 4
"""Maximum words of a run that is one detail."""


def _noun(word: str, group: str) -> str:
    """Return a word of a list as a plural noun: women for female, adults for adult."""
    if word in _NOUNS or f"{word}s" in _POPULATIONS:
        return _NOUNS.get(word, f"{word}s")
    return word if word.endswith("s") else group.replace("-", " ")


_NOUNS = {"female": "women", "females": "women", "male": "men", "males": "men", "neonatal": "newborns"}


@dataclass(frozen=True)
class Compared:
    """What suspects are compared with: the text of the cited sources, and the part that the judge reads."""

    text: str
    near: str

    @cached_property
    def stems(self) -> frozenset[str]:
        """Stems of all its words."""
        return frozenset(word.stem or word.lower for word in words(self.text))

    @cached_property
    def lower(self) -> frozenset[str]:
        """All its words."""
        return frozenset(word.lower for word in words(self.text))

    @cached_property
    def joined(self) -> str:
        """All its letters and digits."""
        return re.sub(r"[\W_]+", "", self.text.lower())

    def has(self, written: str, stem: str) -> bool:
        """Whether it has a word, in any form: with another ending or hyphen, or as the beginnings of its words."""
        lower = written.lower()
        if len(lower) < _SHORTEST or stem in self.stems or lower in self.joined:
            return True
        begin = lower[: max(_ROOT, len(lower) - 4)]
        if len(lower) > _ROOT and any(word.startswith(begin) for word in self.lower):
            return True
        return written.isupper() and written.rstrip("S").lower() in self.initials

    def has_all(self, phrase: str) -> bool:
        """Whether it has every word of a phrase, in any form and order."""
        return all(self.has(phrase[word.start : word.end], word.stem or word.lower) for word in words(phrase))

    @cached_property
    def initials(self) -> str:
        """The first letters of its words, also of parts of words with a hyphen."""
        return "".join(word.lower[0] for word in words(self.text))

    @cached_property
    def near_amounts(self) -> list[Amount]:
        """Numbers of the near part."""
        return amounts(self.near)

    @cached_property
    def amounts(self) -> list[Amount]:
        """Numbers of the near part, then those of the whole text."""
        return [*self.near_amounts, *amounts(self.text)]

    @cached_property
    def written(self) -> dict[Amount, str]:
        """Its numbers as they are written."""
        return {item: text[item.start : item.end] for text in (self.text, self.near) for item in amounts(text)}

    @cached_property
    def groups(self) -> dict[str, str]:
        """Groups of people and animals, with the first word for each, as a noun that can stand alone."""
        found: dict[str, str] = {}
        for word in [*words(self.near), *words(self.text)]:
            if group := _POPULATIONS.get(word.lower):
                found.setdefault(group, _noun(word.lower, group))
        return found

    @cached_property
    def chunks(self) -> list[str]:
        """Runs of content words of the near part, in the order of the text, without repeats."""
        return list(dict.fromkeys(self.near[start:end] for start, end in _runs(self.near)))


def suspects(claim: str, source: Compared) -> list[Suspect]:
    """Return the details of a claim that the source may not carry, in the order of the text."""
    found = [
        *_numbers(claim, source),
        *_rates(claim, source),
        *_times(claim, source),
        *_groups(claim, source),
        *_comparators(claim, source),
        *_directions(claim, source),
        *_certainties(claim, source),
    ]
    taken = [(item.start, item.end) for item in found if item.status != "present"]
    found += [item for item in _chunks(claim, source) if not any(s < item.end and item.start < e for s, e in taken)]
    return sorted(found, key=lambda item: (item.start, item.end))


def _put(claim: str, start: int, end: int, said: str = "") -> Variant:
    """Replace a detail, or leave it out together with the space before it. The sentence keeps its capital."""
    before, rest = claim[:start], claim[end:]
    if not said:
        rest = rest if before else _capitalised(rest.lstrip())
        return Variant(before.rstrip() + rest)
    is_first = not before and claim[start].isupper()
    return Variant(before + (_capitalised(said) if is_first else said) + rest, said)


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def _replaced(claim: str, start: int, end: int, said: Iterable[str], most: int = 3) -> list[Variant]:
    own = claim[start:end].lower()
    return [_put(claim, start, end, one) for one in dict.fromkeys(said) if one.lower() != own][:most]


# Numbers, units and times


def _numbers(claim: str, source: Compared) -> Iterator[Suspect]:
    every = amounts(claim)
    mine = {item.value for item in every}
    for item in every:
        if item.time is not None and _is_placed(claim, item):
            continue
        same = [other for other in source.amounts if is_equal(item, other, claim)]
        same = same or [other for other in source.amounts if item.time is not None and other.value == item.value]
        if same:
            if item.unit and (others := _other_units(item, same, source)):
                variants = _replaced(claim, item.unit_start, item.unit_end, others)
                yield Suspect("unit", item.unit_start, item.unit_end, "other", tuple(variants))
            continue
        if changing_ratios(item, claim, source.text):
            continue
        # A number that the claim also has stands for something else.
        rivals = [other for other in source.amounts if item.unit == other.unit and other.value not in mine]
        others = [source.written[other] for other in rivals]
        status: Status = "other" if others else "absent"
        instead = counterpart(claim, item, source.text)
        if instead.said:
            others.insert(0, instead.said)
        variants = tuple(_replaced(claim, item.start, item.end, others))
        yield Suspect("number", item.start, item.end, status, variants, instead=instead)


def _other_units(item: Amount, same: Sequence[Amount], source: Compared) -> list[str]:
    """Return the units of equal numbers in the source, if none is the claim's or one of the same size."""
    units = [other.unit for other in same]
    if item.unit in units or "" in units or any(unit_stem(unit) == unit_stem(item.unit) for unit in units):
        return []
    if item.time is not None and any(other.time is not None and abs(other.time - item.time) < 1e-6 for other in same):
        return []
    written = [source.near[other.unit_start : other.unit_end] for other in source.near_amounts if other in same]
    return written or units


def _is_placed(claim: str, item: Amount) -> bool:
    """Whether a duration says when something was: "within six weeks", "six-week", "three years after"."""
    joined = claim[item.end : item.end + 1] == "-"
    return joined or _PLACED.search(claim[: item.start]) is not None or _SINCE.match(claim, item.unit_end) is not None


def _is_age(text: str, item: Amount) -> bool:
    return item.unit.startswith("y") and _OF_AGE.search(text[: item.start]) is not None


_OF_AGE = re.compile(r"\b(?:aged?|over|under|older than|younger than|aged over|above|below)\s$", re.IGNORECASE)
_SINCE = re.compile(r"\s(?:after|before|later|earlier|following|of\sfollow-?up)\b", re.IGNORECASE)
_PERIODS = "|".join(sorted(filter(str.isalpha, TIME_UNITS), key=len, reverse=True))
_RATE = re.compile(rf"\b(?:per|an?|each|every)\s(?P<unit>{_PERIODS})\b", re.IGNORECASE)
_OFTEN = {"daily": "day", "weekly": "week", "monthly": "month", "yearly": "year"}


def _rates(claim: str, source: Compared) -> Iterator[Suspect]:
    """Yield units of rates that the source lacks: "five per day"."""
    given = {_singular(match["unit"].lower()) for match in _RATE.finditer(source.text)}
    given |= {_OFTEN[word] for word in source.lower & _OFTEN.keys()}
    for match in _RATE.finditer(claim):
        if _singular(match["unit"].lower()) not in given and len(match["unit"]) > 2:
            others = [other for other in _RATE.finditer(source.near) if len(other["unit"]) > 2]
            status: Status = "other" if others else "absent"
            span = match.span("unit")
            variants = tuple(_put(claim, *span, other["unit"])._replace(said=other[0]) for other in others)
            yield Suspect("unit", *span, status, variants, match[0])


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 2 and word.endswith("s") else word


def _times(claim: str, source: Compared) -> Iterator[Suspect]:
    status: Status
    theirs = [other for other in source.amounts if other.time is not None]
    near = [other for other in source.near_amounts if other.time is not None and not _is_age(source.near, other)]
    for item in amounts(claim):
        if item.time is None or not _is_placed(claim, item) or any(is_equal(item, other, claim) for other in theirs):
            continue
        alike = [other for other in near if other.value == item.value] or near
        said = [source.near[other.start : other.unit_end] for other in alike]
        variants = _replaced(claim, item.start, item.unit_end, said, 4)
        placed = _PLACED.search(claim[: item.start])
        if placed and claim[item.end : item.end + 1] != "-":
            variants.append(_put(claim, placed.start(), item.unit_end))
        instead = counterpart(claim, item, source.text)
        status = "other" if said else "absent"
        yield Suspect("time", item.start, item.unit_end, status, tuple(variants), instead=instead)
    years, near_years = set(YEAR.findall(source.text)), YEAR.findall(source.near)
    for match in YEAR.finditer(claim):
        if match[0] not in years:
            status = "other" if years else "absent"
            yield Suspect("time", *match.span(), status, tuple(_replaced(claim, *match.span(), near_years)))
    given = {match[0].lower() for match in _OF_TIME.finditer(source.text)}
    for match in _OF_TIME.finditer(claim):
        if match[0].lower() not in given:
            others = [other for other in _OF_TIME.finditer(source.near) if bool(other["often"]) == bool(match["often"])]
            span = _differing(match, others)
            variants = [item for other in others for item in _replaced(claim, *match.span(), [other[0]])]
            yield Suspect("time", *span, "other" if others else "absent", tuple(variants), match[0])


def _differing(match: re.Match[str], others: Sequence[re.Match[str]]) -> tuple[int, int]:
    """Return the part of "first year" that is said otherwise: the one word, if the source has the other."""
    for name, same in (("period", "ordinal"), ("ordinal", "period")):
        if match[same] and any((other[same] or "").lower() == match[same].lower() for other in others):
            return match.span(name)
    return match.span()


# Groups, comparators, directions, certainty


def _groups(claim: str, source: Compared) -> Iterator[Suspect]:
    theirs = source.groups
    wide = {wider for group in theirs for wider in _WITHIN[group]}
    only_animals = bool(theirs.keys() & {"animals", "mice", "rats"}) and not source.lower & _STUDIED
    for word in words(claim):
        group = _POPULATIONS.get(word.lower)
        said = [name for other, name in theirs.items() if other != group]
        if only_animals and (word.lower in _PEOPLE):
            end = _extended(_WITH_CONDITION, claim, word.end)
            yield Suspect("population", word.start, end, "other", tuple(_replaced(claim, word.start, end, said)))
        elif group is not None and group not in wide:
            status: Status = "other" if said else "absent"
            end = _extended(_SECOND_GROUP, claim, word.end)
            variants = [*_replaced(claim, word.start, end, said), *_replaced(claim, word.start, end, ["people"])]
            yield Suspect("population", word.start, end, status, tuple(variants))
        elif group is not None and said:
            yield Suspect(
                "population", word.start, word.end, "present", tuple(_replaced(claim, word.start, word.end, said))
            )


_SECOND_GROUP = re.compile(rf"\s(?a:{'|'.join(_POPULATIONS)})\b", re.IGNORECASE)
"""The second word of "preschool children"."""
_WITH_CONDITION = re.compile(r"\s(?:with|who have)\s[\w-]+(?:\s[\w-]+)?(?=[.,;]|\Z)")
_AUXILIARY = re.compile(r"\s(?:did|does|do|was|were|is|are)\b")


def _extended(pattern: re.Pattern[str], claim: str, end: int) -> int:
    """Return the end of a detail with what comes right after it, if that matches."""
    match = pattern.match(claim, end)
    return match.end() if match else end


def _comparators(claim: str, source: Compared) -> Iterator[Suspect]:
    for match in _COMPARING.finditer(claim):
        start, end = _phrase(claim, match.end())
        named = [word.stem for word in words(claim[start:end]) if word.stem]
        if not named:
            continue
        lacking = [word for word in words(claim[start:end]) if word.stem and not source.has(word.lower, word.stem)]
        if lacking and is_named(claim[start:end], source.text):
            lacking = []
        said = compared(source.near)
        said += [chunk for chunk in source.chunks if not set(map(stem_of, chunk.lower().split())) & set(named)]
        said = [one for one in said if one.lower() not in claim.lower()]
        tail = _extended(_AUXILIARY, claim, end)
        variants = [*_replaced(claim, start, end, said, 4), _put(claim, match.start(), tail)]
        yield Suspect("comparator", start, end, "absent" if lacking else "present", tuple(variants))


def compared(text: str) -> list[str]:
    """Return what a text compares with, in its words."""
    return [text[slice(*_phrase(text, match.end()))] for match in _COMPARING.finditer(text)]


def _phrase(text: str, start: int) -> tuple[int, int]:
    """Return the noun phrase that begins here."""
    end = start
    for word in words(text[start : start + 80]):
        gap = text[end : start + word.start]
        if end > start and (word.lower in _ENDING or re.search(r"[,.;:()]", gap)):
            break
        if end == start and word.lower in ("in", "for", "among", "at", "with"):
            return _phrase(text, start + word.end + 1)
        end = start + word.end
    return start, end


_DENIED = re.compile(r"\b(?P<verb>did|does|do)\snot\s(?P<base>\w+)|\bnot\s(?P<link>associated|linked|related)\b", re.I)


def _denials(claim: str, source: Compared) -> Iterator[Suspect]:
    """Yield denied directions, with the claim that it is so: "did not reduce"."""
    for match in _DENIED.finditer(claim):
        affirmed = match["link"] or _AFFIRMED.get(f"{match['verb']} not {match['base']}".lower())
        if affirmed:
            status: Status = "other" if affirmed.lower() in source.lower else "present"
            yield Suspect("direction", *match.span(), status, (_put(claim, *match.span(), affirmed),))


_NO_CHANGE = re.compile(
    r"\b(?:not|neither|nor|never|fail(?:ed|s)?\sto|no)\s(?:\w+ly\s|significant\s|clear\s){0,2}(?P<word>\w+)"
    r"|\bun(?:changed|affected|altered)\b|\b(?:similar|comparable|alike)\b",
    re.IGNORECASE,
)


def _root(lower: str) -> str:
    """Return the stem of a word, or itself if it has none: more."""
    return stem_of(lower) or lower


_CHANGE = frozenset(map(_root, "difference differ different effect affect change changed alter altered".split()))
_FAMILIES = [frozenset(map(_root, word_list(name))) for name in ("up", "down", "good", "bad")]
_MENTIONED = 0.5
"""Minimum share of the content words of a part of a claim in a sentence or clause that is about it."""


def is_denied(claim: str, direction: str, text: str) -> bool:
    """Whether a clause of a text denies a direction of what the claim says it of, or says that nothing differs."""
    before, _, after = claim.partition(direction)
    about = stems(after) or stems(before)
    base = _root(_BASES.get(direction.lower(), direction.lower()))
    family = _CHANGE.union({base}, *(words for words in _FAMILIES if base in words))
    return any(
        match["word"] is None or _root(match["word"].lower()) in family
        for span in split_sentences(text)
        for clause in clauses(text[span.slice])
        if shared(about, stems(clause)) >= _MENTIONED
        for match in _NO_CHANGE.finditer(clause)
    )


def _directions(claim: str, source: Compared) -> Iterator[Suspect]:
    yield from _denials(claim, source)
    found = words(claim)
    open_to = any(word.lower in _DENYING for word in words(source.near))
    for place, word in enumerate(found):
        named = word.lower in _OPPOSITES or word.lower in _BASES
        if not named or claim[word.end : word.end + 1] == "-":
            continue
        variants = _replaced(claim, word.start, word.end, _OPPOSITES.get(word.lower, ()), 2)
        if open_to and (negated := _DENIED_FORM.get(word.lower)):
            if place and found[place - 1].lower not in ("the", "a", "an", "of", "with", "was", "were", "been", "had"):
                variants.append(_put(claim, word.start, word.end, negated))
        elif open_to and word.lower in _COMPARED:
            variants.append(_put(claim, word.start, word.end, f"no {word.lower}"))
        opposed = any(other in source.lower for other in _OPPOSITES.get(word.lower, ()))
        own = word.lower in source.lower
        yield Suspect("direction", word.start, word.end, "other" if opposed and not own else "present", tuple(variants))


def _certainties(claim: str, source: Compared) -> Iterator[Suspect]:
    near = words(source.near)
    hedged = any(word.lower in _HEDGES for word in near)
    if any(word.lower in _HEDGES for word in words(claim)):
        return
    for match in _CERTAIN_WORDS.finditer(claim):
        if match[0].lower() in source.text.lower() and match[0].lower() not in _DENIABLE:
            continue
        weaker = _WEAKER[match[0].lower()]
        status: Status = "other" if hedged else "present"
        yield Suspect("certainty", *match.span(), status, (_put(claim, *match.span(), weaker),))
    mine = {word.stem: word for word in words(claim) if word.stem}
    for modal, (governed, *_) in _hedged(near):
        if own := mine.get(governed.stem):
            verb = modal.lower in ("may", "might", "could")
            hedge = f"may {governed.lower}" if verb else f"{modal.lower} {own.lower}"
            yield Suspect("certainty", own.start, own.end, "other", (_put(claim, own.start, own.end, hedge),))


_MODALS = frozenset("may might could possibly perhaps probably".split())
_ASSOCIATED = re.compile(
    r"(?P<denied>\b(?:not|never|nor|no longer)\s(?:\w+ly\s)?)?(?<![\w-])(?P<word>associated|linked|correlated|related)"
    r"\s(?:with|to)\b",
    re.IGNORECASE,
)


def _hedged(found: Sequence[Word]) -> Iterator[tuple[Word, list[Word]]]:
    """Yield each hedge that comes before words of content, with these: the first two at most."""
    for place, word in enumerate(found):
        after = [other for other in found[place + 1 : place + 3] if other.stem]
        if word.lower in _MODALS and after:
            yield word, after


def hedge_before(words_of_claim: str, text: str) -> str:
    """Return the hedge and the verb of a text whose verb the claim has without it: "may alter"; else empty."""
    wanted = {word.stem for word in words(words_of_claim) if word.stem}
    found = (
        text[modal.start : word.end] for modal, after in _hedged(words(text)) for word in after if word.stem in wanted
    )
    return next(found, "")


def association(subject: str, rest: str, text: str) -> str:
    """Return the word with which a sentence of a text reports that a claim's subject and the rest are associated."""
    for span in split_sentences(text):
        sentence = text[span.slice]
        match = _ASSOCIATED.search(sentence)
        given = stems(sentence)
        if match and not match["denied"] and all(shared(stems(part), given) >= _MENTIONED for part in (subject, rest)):
            return match["word"].lower()
    return ""


# Other words


def _runs(text: str) -> list[tuple[int, int]]:
    """Return runs of content words: no numbers, directions, groups, or words of certainty."""
    found: list[tuple[int, int]] = []
    last: Word | None = None
    for word in words(text):
        listed = word.lower in _OTHER or word.lower in _POPULATIONS or word.lower in _OPPOSITES or word.lower in _CAUSAL
        content = word.stem and not listed and word.lower not in SPELT
        if not content:
            last = None
            continue
        if last is not None and re.fullmatch(r"[\s-]", text[last.end : word.start]):
            found[-1] = (found[-1][0], word.end)
        else:
            found.append((word.start, word.end))
        last = word
    return found


_LINKS = re.compile(r"\s(?:(?:of|on|down|to|up|from|the|by)\s){1,3}")


def _joined(claim: str, runs: Sequence[tuple[int, int]], source: Compared) -> list[tuple[int, int]]:
    """Join runs that the source lacks where only small words are between them: "cutting down on alcohol"."""
    found: list[tuple[int, int]] = []
    for start, end in runs:
        lacking = not {word.stem for word in words(claim[start:end])} & source.stems
        if found and lacking and _LINKS.fullmatch(claim[found[-1][1] : start]):
            before = {word.stem for word in words(claim[slice(*found[-1])])}
            if not before & source.stems:
                found[-1] = (found[-1][0], end)
                continue
        found.append((start, end))
    return found


_VERB = re.compile(
    r"\b(?:was|were|is|are|had|has|have|did|does|may|can)\b|\b\w{3,}(?:ed|es)\b|\b(?:rose|fell|led|lost|gave|took|kept|made|went)\b"
)
_GROUP_LEAD = re.compile(r"\b(?:in|among|with|after|irradiated for|treated for)\s(?:the\s)?$", re.I)


def _chunks(claim: str, source: Compared) -> Iterator[Suspect]:
    """Yield runs of content words that the source lacks, and those that it has but perhaps says of something else."""
    theirs = source.chunks
    own = {stem_of(word.lower) for word in words(claim)}
    said = [chunk for chunk in theirs if not {stem_of(part.lower()) for part in re.findall(r"\w+", chunk)} <= own]
    verb = next((match.end() for match in _VERB.finditer(claim)), 0)
    for start, end in _joined(claim, _runs(claim), source):
        inside = [word for word in words(claim[start:end]) if word.stem]
        if len(inside) > _LONGEST:
            continue
        lacking = [word for word in inside if not source.has(claim[start + word.start : start + word.end], word.stem)]
        if lacking:
            start, end = start + lacking[0].start, start + lacking[-1].end
            if is_named(claim[start:end], source.text):
                continue
        kind = _kind_of(claim, start, end, verb)
        variants = _replaced(claim, start, end, said, 5 if lacking else 3)
        yield Suspect(kind, start, end, "absent" if lacking else "present", tuple(variants))


def is_named(written: str, text: str) -> bool:
    """Whether a text has a drug or condition by another of its names."""
    if not (mine := names_in(written)):
        return False
    theirs = names_in(text)
    return all(is_mentioned(name, theirs) for name in mine)


def _kind_of(claim: str, start: int, end: int, verb: int) -> WordKind:
    """Guess what words are about by their place: before the verb, after "in", or elsewhere."""
    if start < verb:
        return "treatment"
    return "population" if _GROUP_LEAD.search(claim[:start]) else "outcome"
