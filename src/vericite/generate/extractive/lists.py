"""The things that sentences enumerate."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from vericite.text.acronyms import acronym_pairs
from vericite.text.terms import terms

_LONGEST = 6
"""Words of one thing."""

_ASIDE = re.compile(r"\s*[(\[]([^()\[\]]*)[)\]]")
_BREAK = re.compile(r"[;:]\s|\.\s|\s[–—]\s")
_JOINT = re.compile(r",?\s+(?:and/or|and|or|as well as|&)\s+|,\s+", re.IGNORECASE)
_COORDINATOR = re.compile(r"(?:and|or|as well as|&)\s+\Z", re.IGNORECASE)
# What an enumeration is led in by; the last such word before its first item counts.
_LEAD = re.compile(
    r".*\b(?:include[sd]?|including|such as|namely|i\.e\.|e\.g\.|are|were|is|was|be|comprise[sd]?|comprising|"
    r"consists? of|consisting of|contain(?:s|ing)?|cause[sd]?|causing|encode[sd]?|encoding|like|as|by|with|of|in|for|"
    r"from|to|between|against|both|either|than|that|which|inhibit(?:s|ed|ing)?|activate[sd]?|bind(?:s|ing)?|target(?:s|ing)?|"
    r"ha(?:s|ve|d)|increase[sd]?|reduce[sd]?|show(?:s|ed)?|us(?:e|ed|ing)|identified|reported|found)\s+",
    re.IGNORECASE | re.DOTALL,
)
# Where the last item ends.
_END = re.compile(
    r"\s+(?:in|with|by|for|from|to|on|at|are|is|was|were|be|been|has|have|had|which|that|who|may|might|can|could|should|"
    r"will|would|during|after|before|as|than|via|through|among|between|into|while|when|where|but|not|also|using|due|"
    r"respectively|within|without|under|if|because|encode|encodes|cause|causes|play|plays|lead|leads|show|shows|"
    r"include|includes|including|such|associated|involved|caused|used|known|found|occur|occurs)\b.*",
    re.IGNORECASE | re.DOTALL,
)
_OPENING = re.compile(
    r"(?:(?:the|a|an|both|either|other|others|also|its|their|his|her|our|this|these|those|such|as|well|namely|"
    r"including|then|most|commonly|in|of|by|with|to|for|from)\s+)+",
    re.IGNORECASE,
)
_NO_ITEM = re.compile(
    r"(?:however|therefore|thus|moreover|furthermore|we|it|they|he|she|which|who|that|where|other|others|more|less|"
    r"respectively|etc|not|so on|so forth|in addition|for example|one|two|three|four|[\W\d]+)",
    re.IGNORECASE,
)
# A clause, and so no thing.
_CLAUSE = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|which|that|who|we|it|they|may|can|could|should|did|does|do|showed|shows|"
    r"found|suggests?|demonstrated|than|respectively|but|while|whereas|although)\b",
    re.IGNORECASE,
)


@dataclass
class Entry:
    """A thing that sentences name, with its other names, and what speaks for it."""

    names: list[str]
    weight: float
    keys: set[str] = field(default_factory=set[str])


def entries_of(question: str, sentences: Iterable[tuple[str, float]], most: int) -> tuple[tuple[str, ...], ...]:
    """The things that the sentences enumerate, those that most and the most relevant ones name first.

    Args:
        question: What is asked; its own words are no answers.
        sentences: Each with its worth.
        most: Things to give at most.
    """
    asked = set(terms(question))
    found: list[Entry] = []
    for text, worth in sentences:
        pairs = {_key(pair.short): pair.long for pair in acronym_pairs(text)}
        for name in dict.fromkeys(enumerated(text)):
            if not set(terms(name)) <= asked:
                _add(found, name, pairs.get(_key(name)), worth)
    found.sort(key=lambda entry: -entry.weight)
    return tuple(tuple(entry.names) for entry in found[:most])


def _add(found: list[Entry], name: str, long: str | None, weight: float) -> None:
    keys = {_key(name), *([_key(long)] if long else [])}
    known = next((entry for entry in found if entry.keys & keys), None)
    if known is None:
        known = Entry([], 0.0)
        found.append(known)
    known.keys |= keys
    known.weight += weight
    known.names += [item for item in (name, long) if item and item not in known.names]


def _key(name: str) -> str:
    return " ".join(terms(name)) or name.casefold()


def enumerated(sentence: str) -> list[str]:
    """The things of every enumeration in a sentence, in brackets or not."""
    inside = [match[1] for match in _ASIDE.finditer(sentence)]
    parts = [part for text in (_ASIDE.sub("", sentence), *inside) for part in _BREAK.split(text)]
    return [item for part in parts for item in _items(part.rstrip(" ."))]


def _items(part: str) -> list[str]:
    pieces = _pieces(part)
    found: list[str] = []
    run: list[str] = []
    joined = False
    for index, (piece, coordinated) in enumerate(pieces):
        # A run begins with the end of its first piece and ends with the beginning of its last.
        if not run:
            run, joined = [piece], False
            continue
        ends = _END.sub("", piece)
        run.append(ends)
        joined |= coordinated
        last = ends != piece or index == len(pieces) - 1 or (coordinated and not pieces[index + 1][1])
        if last or not _is_short(ends):
            found += _named(run, joined)
            run = [piece] if not coordinated or ends != piece else []
    return found


def _pieces(part: str) -> list[tuple[str, bool]]:
    """What stands between commas and coordinators, each with whether a coordinator stands before it."""
    pieces: list[tuple[str, bool]] = []
    start, coordinated = 0, False
    for joint in _JOINT.finditer(part):
        pieces.append((part[start : joint.start()], coordinated))
        start, coordinated = joint.end(), _COORDINATOR.search(joint[0]) is not None
    return [*pieces, (part[start:], coordinated)]


def _named(run: Sequence[str], joined: bool) -> list[str]:
    """The items of a run; two need a coordinator between them, three do not."""
    if not (joined or len(run) > 2) or any(_CLAUSE.search(item) for item in run[1:]):
        return []
    first = _LEAD.sub("", run[0])
    items = [_clean(item) for item in (first, *run[1:]) if _is_short(item) and not _CLAUSE.search(item)]
    named = [item for item in items if item and not _NO_ITEM.fullmatch(item)]
    return named if len(named) > 1 else []


def _is_short(item: str) -> bool:
    return len(item.split()) <= _LONGEST


def _clean(item: str) -> str:
    return _OPENING.sub("", item.strip(" ,.;:'\"“”")).strip(" ,.;:'\"“”")
