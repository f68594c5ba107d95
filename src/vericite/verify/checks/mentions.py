"""Where a text says that something went up or down, did good or harm, or did not differ."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from vericite.verify.checks import lexicon
from vericite.verify.checks.marks import COMPARATIVES, NOUNS, ONWARD, Mark, marks_in, merged_marks
from vericite.verify.checks.stretches import after_leading, dated, joint
from vericite.verify.checks.words import Word, clauses, sentences, stems, words

_AIMS = re.compile(
    r"\b(?:whether|aim\w*|objectives?|hypothes\w*|to (?:determine|investigate|examine|assess|evaluate|compare|test"
    r"|study)"
    r"|purpose|unclear|unknown|uncertain|designed to|end ?points? (?:was|were)|primary outcome (?:was|is))\b",
    re.I,
)
_REFERENCE = re.compile(
    r"\b(?:than(?! (?:halved|doubled|tripled|twice|half|double|[0-9]))|compared (?:with|to)"
    r"|in comparison (?:with|to)|versus|vs\.?|relative to|as against"
    r"|over(?= (?:placebo|control|stand))"
    r"|(?<=superior )to|(?<=inferior )to)\b",
    re.I,
)


_ONWARD_FROM = re.compile(r"\s(?:in|for|at|on|during|after|regarding|by|among|when|because|as)\s", re.IGNORECASE)
_ASIDE = re.compile(
    r"\s?\([^()]{0,200}\)|, but not [^,;.]{2,40},|\b(?:apart from|except(?: for)?|other"
    r" than)\b[^,;.()]{0,60}(?=[,;.])",
    re.IGNORECASE,
)
_LOOSE_STOP = re.compile(r"\s+([.,;])")
_ACTED = re.compile(r"^\W*(?:\w+ ){0,4}?\w+(?:ed|s|t) (?:it|them)\b", re.IGNORECASE)
_WITH_IT = re.compile(r"\b(?:with|to) (?:it|them|both|these|this)\W*$", re.IGNORECASE)
_GOES_ON = re.compile(
    r"\W*(?:but|and|yet|while|although)?\s*(?:also )?(?:more|fewer|less|a|an|with|it|they|did|had)\b", re.IGNORECASE
)
_THE_MORE = re.compile(
    r"\bthe (?P<first>\w+) (?P<one>[^,.;]{3,60}), the (?P<second>\w+) (?P<other>[^,.;]{3,60})", re.IGNORECASE
)
_DECLINES = frozenset("fall drop decline decrease reduction loss dip".split())
_MOST = 40  # mentions of one clause that are looked at; what keeps the work linear
_GRADED = frozenset("frequent common often frequently commonly prevalent likely severe pronounced rapid".split())
_ALONG = re.compile(
    r"\b(?:went (?:along |together |hand in hand )?with|(?:was|were|is|are) (?:\w+ )?(?:associated|linked"
    r"|tied|related|correlated)"
    r"|accompanied|tended|predicted|had|was|were|meant|coincided with|came with|goes with|go with)\b",
    re.IGNORECASE,
)
_OPENING = frozenset("as when while because since once if that although though".split())
_BOUNDS = frozenset("in with among by after during when while who that which under within through".split())
_FINITE = frozenset("was were is are did had has".split())


@dataclass(frozen=True, slots=True)
class Mention:
    """One place where a text gives something a direction.

    Attributes:
        kind: "size" (up or down), "value" (good or bad), "pace" (longer or shorter), "link" (with or against), or
            "any" (that something differs or matters, without a direction).
        sign: 1 or -1; 0 where there is no direction.
        denied: Whether the text says that it was not so.
        target: Stems of what went that way.
        head: The first of them where they follow the word of direction, otherwise empty.
        subject: Stems of the rest of the clause, before the comparison.
        reference: Stems of what it is compared with.
        text: The words, for users.
        aim: Whether the text only says that this was to be found out.
        clause: The clause it stands in.
        place: Which sentence of the text that is; -1 if it stands for values rather than words.
    """

    kind: str
    sign: int
    denied: bool
    target: frozenset[str]
    head: str
    subject: frozenset[str]
    reference: frozenset[str]
    text: str
    aim: bool
    clause: str = ""
    place: int = 0


def mentions(text: str) -> list[Mention]:
    """The mentions of a plain text, in order."""
    told: list[Mention] = []
    for place, sentence in enumerate(sentences(_LOOSE_STOP.sub(r"\1", _ASIDE.sub(" ", text)))):
        for clause in clauses(sentence):
            found = [_resolved(clause, mention, told[-1:]) for mention in _clause_mentions(clause)]
            told += [replace(mention, clause=clause, place=place) for mention in found]
    return told + [link for match in _THE_MORE.finditer(text) for link in _the_more(match)]


def _resolved(clause: str, mention: Mention, earlier: list[Mention]) -> Mention:
    """A mention whose "it" or "them" stands for what the last one speaks of, or that goes on with its subject."""
    if not earlier:
        return mention
    if mention.kind in ("size", "value", "pace") and _ACTED.search(clause):
        return replace(mention, target=earlier[0].target, subject=mention.subject | earlier[0].target, head="")
    if mention.kind == "link" and _WITH_IT.search(clause):
        return replace(mention, target=mention.target | earlier[0].target, subject=mention.subject | earlier[0].target)
    if not mention.reference and not mention.subject - mention.target and _GOES_ON.match(clause):
        return replace(
            mention, subject=mention.subject | earlier[0].subject - earlier[0].target, reference=earlier[0].reference
        )
    return mention


def _the_more(match: re.Match[str]) -> list[Mention]:
    """What "the higher the one, the lower the other" says of how the two go together."""
    first, second = (_sign_of(match[name].lower()) for name in ("first", "second"))
    target = stems(match["one"]) | stems(match["other"])
    if not first or not second or not target:
        return []
    nothing = frozenset[str]()
    return [Mention("link", first * second, False, target, "", target, nothing, match[0].strip(), False)]


def _sign_of(lower: str) -> int:
    return lexicon.magnitude(lower) or lexicon.pace(lower)


def _clause_mentions(clause: str) -> list[Mention]:
    found = words(clause)
    marks = merged_marks(marks_in(found, clause), found)[:_MOST]
    if not marks:
        return []
    aim = bool(_AIMS.search(clause))
    borders = _reference_span(clause, found)
    said = [replace(_mention(clause, found, marks, place, borders), aim=aim) for place in range(len(marks))]
    said += _graded(clause, found, marks)
    return [mention for mention in said if mention.kind != "any" or mention.target or mention.subject]


def _graded(clause: str, found: list[Word], marks: list[Mark]) -> list[Mention]:
    """What "more of the one went along with less of the other" says of how the two go together."""
    sized = [mark for mark in marks if mark.kind == "size"]
    if len(sized) != 2 or sized[0].index > 3:
        return []
    between = clause[found[sized[0].index].end : found[sized[1].index].start]
    linked = _ALONG.search(between)
    if not linked:
        return []
    target = stems(between[: linked.start()]) | stems(clause[found[sized[1].index].end :])
    if any(word.lower in lexicon.NEGATORS for word in found[: sized[1].index]):
        return []
    shown = clause[found[sized[0].index].start : found[sized[1].index].end]
    return [Mention("link", sized[0].sign * sized[1].sign, False, target, "", target, frozenset(), shown, False)]


def _reference_span(clause: str, found: list[Word]) -> tuple[int, int]:
    """The places among a clause's words where what is compared with begins and ends; equal if nothing is."""
    match = _REFERENCE.search(clause)
    if not match:
        return len(found), len(found)
    comma = clause.find(",", match.end())
    limit = comma if comma >= 0 else len(clause)
    named = next((word.end for word in found if word.start >= match.end() and word.content), limit)
    onward = _ONWARD_FROM.search(clause, named, limit)
    limit = onward.start() if onward else limit
    inside = [index for index, word in enumerate(found) if match.start() <= word.start < limit]
    return (inside[0], inside[-1] + 1) if inside else (len(found), len(found))


def _mention(clause: str, found: list[Word], marks: list[Mark], place: int, borders: tuple[int, int]) -> Mention:
    mark = marks[place]
    previous = joint(clause, found, marks[place - 1].index, mark.index) if place else 0
    following = joint(clause, found, mark.index, marks[place + 1].index) if place + 1 < len(marks) else len(found)
    closed = clause[found[mark.index].end : found[mark.index].end + 1] == ","
    ahead = [
        word
        for index, word in enumerate(found[mark.index + 1 : following], mark.index + 1)
        if not _within(index, borders)
    ]
    behind = [word for index, word in enumerate(found[previous : mark.index], previous) if not _within(index, borders)]
    behind = after_leading(clause, behind)
    fallen_back = place > 0 and not any(word.content for word in behind)
    if fallen_back:
        behind = after_leading(clause, found[: marks[0].index])
    if ahead and ahead[0].lower in _GRADED:
        ahead = ahead[2:] if len(ahead) > 1 and ahead[1].lower == "to" else ahead[1:]
    while ahead and lexicon.pace(ahead[0].lower) and mark.kind != "pace":
        ahead = ahead[1:]
    named = _target(found[mark.index].lower, ahead, behind, closed)
    if mark.kind in ("any", "link"):
        named = [word for word in (*behind[-9:], *ahead[:9]) if word.content]
    target = frozenset(word.stem for word in named)
    negations = sum(word.lower in lexicon.NEGATORS for word in _scope(found, previous, mark.index))
    sign, names = mark.sign, target
    if found[mark.index].lower in COMPARATIVES and any(word.lower in _DECLINES for word in behind):
        sign = -sign  # a larger fall
    if "=survival" in names and mark.kind == "size":
        sign, names = -sign, (names - {"=survival"}) | {"=mortality"}
    denied = bool((negations + mark.flips) % 2)
    shown = clause[found[max(previous, mark.index - 2)].start : found[min(len(found) - 1, mark.index + 3)].end]
    own = any(word.content for word in behind) and not fallen_back
    opening = marks[0].index if place and (_led_on(clause, found[previous].start) or not own) else 0
    subject, reference = _sides(clause, found, (previous, following, opening), borders)
    head = named[0].stem if named and named[0] in ahead and mark.kind != "any" else ""
    return Mention(mark.kind, sign, denied, names, head, subject, reference, shown.strip(), False)


def _led_on(clause: str, start: int) -> bool:
    """Whether what begins there goes on, by a mere "and", with the subject of what stands before."""
    before = clause[:start].rstrip().lower()
    return before.endswith(" and") and not before[:-4].rstrip().endswith(",")


def _sides(
    clause: str, found: list[Word], stretch: tuple[int, int, int], borders: tuple[int, int]
) -> tuple[frozenset[str], frozenset[str]]:
    """What a stretch of a clause is about, and what it is compared with."""
    previous, following, opening = stretch
    told = [word for word in found if word.content and not _directional(word)]
    compared = {id(word) for word in found[borders[0] : borders[1]]}
    inside = {id(word) for word in (*found[previous:following], *found[:opening])}
    subject = frozenset(word.stem for word in told if id(word) in inside and id(word) not in compared)
    reference = frozenset(word.stem for word in told if id(word) in compared)
    spoken = clause[found[previous].start : found[following - 1].end]
    if borders[0] < len(found):
        apart = clause[found[borders[0]].start : found[borders[1] - 1].end]
        reference |= dated(apart)
        spoken = spoken.replace(apart, " ")
    return subject | dated(spoken), reference


def _within(index: int, borders: tuple[int, int]) -> bool:
    return borders[0] <= index < borders[1]


def _scope(found: list[Word], previous: int, index: int) -> list[Word]:
    """The words before a mark among which a negator denies it."""
    joined = index > 0 and found[index - 1].lower == "or"
    near = found[max(previous - (6 if joined else 0), index - 9, 0) : index]
    kept: list[Word] = []
    for place, word in enumerate(near):
        after = near[place + 1].lower if place + 1 < len(near) else ""
        if word.lower == "not" and after == "only":
            continue
        if word.lower == "without" and place + 3 < len(near):
            continue
        if word.lower == "free" and after not in ("of", "from"):
            continue
        if word.lower in ("not", "without") and any(later.lower in _FINITE for later in near[place + 2 :]):
            continue
        kept.append(word)
    return kept


def _directional(word: Word) -> bool:
    lower = word.lower
    return bool(lexicon.magnitude(lower) or lexicon.valence(lower) or lexicon.pace(lower) or lower in lexicon.NEGATORS)


def _target(lower: str, ahead: list[Word], behind: list[Word], closed: bool) -> list[Word]:
    """What a directional word speaks of: what follows it, or, where nothing of its own does, what stands before."""
    opening = ahead[0].lower if ahead else ""
    noun = lower in NOUNS and opening in ("in", "of", "on")
    if ahead and not closed and (noun or not (opening in ONWARD or opening.isdigit())):
        named = _phrase(ahead[1:9] if noun else ahead[:8])
        if named:
            return named
    behind = behind[max((at + 1 for at, word in enumerate(behind) if word.lower in _OPENING), default=0) :] or behind
    return _phrase(behind[-9:]) or [word for word in ahead[:8] if word.content]


def _phrase(found: list[Word]) -> list[Word]:
    """The content words of a phrase up to what only says in whom, where or when; all of them if nothing is before."""
    cut = next((index for index, word in enumerate(found) if word.lower in _BOUNDS), len(found))
    return [word for word in found[:cut] if word.content] or [word for word in found if word.content]
