"""Where a text says that something went up or down, did good or harm, or did not differ."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from vericite.verify.checks import lexicon
from vericite.verify.checks.stretches import after_leading, dated, joint
from vericite.verify.checks.words import Word, clauses, stems, words

_NOUNS = frozenset(
    """
    increase increases decrease decreases reduction reductions decline declines rise rises drop drops fall falls
    gain gains improvement improvements worsening deterioration elevation suppression inhibition stimulation
    induction activation attenuation upregulation downregulation prevention enhancement prolongation impairment
    protection benefit benefits augmentation growth loss harm harms delay delays lowering raising shortening
    risk
    """.split()
)
_COMPARATIVES = frozenset(
    "greater larger smaller less more bigger higher lower stronger weaker fewer lesser faster slower".split()
)
_CHECKING = lexicon.DOWN | frozenset("slow slows slowed slower delay delayed delays".split())
_ONWARD = frozenset(
    """
    in with by from to at on after during under among for than compared versus vs when as over between if
    because relative and or through via following within while across along alongside together
    """.split()
)
_ANY_VERBS = frozenset(
    """
    affect affects affected alter alters altered differ differs differed associated influence influences
    influenced correlate correlates correlated linked related changed change changes modify modified modifies
    shifted shifts varied varies different predict predicts predicted impact impacted matter mattered
    """.split()
)
_ANY_NOUNS = frozenset(
    """
    difference differences effect effects impact influence association associations relationship correlation
    relation link change changes evidence interaction
    """.split()
)
_ASSERTING = frozenset("a an significant clear marked strong had has was were is important substantial".split())
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
_FALLS = frozenset(
    "fall falls drop drops drop benefit harm help cut slow limit limits limited direct favour favours rise".split()
)


_ONWARD_FROM = re.compile(r"\s(?:in|for|at|on|during|after|regarding|by|among|when|because|as)\s", re.IGNORECASE)
_ASIDE = re.compile(
    r"\s?\([^()]{0,200}\)|\b(?:apart from|except(?: for)?|other than)\b[^,;.()]{0,60}(?=[,;.])", re.IGNORECASE
)
_THE_MORE = re.compile(
    r"\bthe (?P<first>\w+) (?P<one>[^,.;]{3,60}), the (?P<second>\w+) (?P<other>[^,.;]{3,60})", re.IGNORECASE
)
_DECLINES = frozenset("fall drop decline decrease reduction loss dip".split())
_COMPOUNDS = frozenset(
    "induced dependent mediated associated related enhanced reduced activated stimulated limiting lowering".split()
)
_MOST = 40  # mentions of one clause that are looked at; what keeps the work linear
_PLACES = frozenset(
    "limb limbs leg respiratory urinary extremity extremities back body lobe bound gastrointestinal airway".split()
)
_BEFORE_FALL = frozenset(
    "a the significant marked larger greater smaller steep sharp mean modest further no any".split()
)
_GRADED = frozenset("frequent common often frequently commonly prevalent likely severe pronounced rapid".split())
_MOVED = frozenset(
    "went go goes going gone come came brought bring brings pushed drove driven crept crawled edged inched drifted"
    " moved trended ran".split()
)
_LINKING = frozenset("correlated associated correlation association related correlates".split())
_STATES = frozenset("stable constant equal same identical".split())
_BEING = frozenset(
    "remained was were is are stayed kept remain remains stays be held the about roughly largely".split()
)


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


@dataclass(frozen=True, slots=True)
class _Mark:
    index: int
    kind: str
    sign: int
    flips: int = 0


def mentions(text: str) -> list[Mention]:
    """The mentions of a plain text, in order."""
    told = [mention for clause in clauses(_ASIDE.sub(" ", text)) for mention in _clause_mentions(clause)]
    return told + [link for match in _THE_MORE.finditer(text) for link in _the_more(match)]


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
    marks = _merged(_marks(found, clause), found)[:_MOST]
    if not marks:
        return []
    aim = bool(_AIMS.search(clause))
    borders = _reference_span(clause, found)
    said = [replace(_mention(clause, found, marks, place, borders), aim=aim) for place in range(len(marks))]
    return [mention for mention in said if mention.kind != "any" or mention.target or mention.subject]


def _marks(found: list[Word], clause: str) -> list[_Mark]:
    marks: list[_Mark] = []
    for index, word in enumerate(found):
        mark = None if _compounded(clause, word) else _mark(found, index, word.lower)
        if mark and not (word.lower in _FALLS and not _is_direction(found, index, clause)):
            marks.append(mark)
    return marks


def _compounded(clause: str, word: Word) -> bool:
    """Whether a word is the beginning or the end of a compound: "lower-limb", "drug-induced"."""
    if word.lower in _COMPOUNDS and clause[max(0, word.start - 1) : word.start] == "-":
        return True
    return clause[word.end : word.end + 1] == "-" and clause[word.end + 1 : word.end + 2].isalpha()


def _is_direction(found: list[Word], index: int, clause: str) -> bool:
    """Whether a word like "falls" or "benefit" tells a direction where it stands."""
    after = found[index + 1].lower if index + 1 < len(found) else ""
    before = found[index - 1].lower if index else ""
    if found[index].lower in ("falls", "fall", "direct", "slow", "limit", "limits", "limited"):
        return after in ("by", "from", "to") or (after == "in" and before in _BEFORE_FALL)
    return True


def _mark(found: list[Word], index: int, lower: str) -> _Mark | None:
    before = found[index - 1].lower if index else ""
    after = found[index + 1].lower if index + 1 < len(found) else ""
    if _says_no_direction(found, index, before, after):
        return None
    if lower in ("up", "down") and _MOVED & {word.lower for word in found[max(0, index - 4) : index]}:
        return _Mark(index, "size", 1 if lower == "up" else -1)
    signs = (("size", lexicon.magnitude), ("value", lexicon.valence), ("pace", lexicon.pace))
    for kind, sign_of in signs:
        if sign_of(lower):
            return _Mark(index, kind, sign_of(lower))
    if lexicon.correlation(lower) and after in _LINKING:
        return _Mark(index, "link", lexicon.correlation(lower))
    if lower in lexicon.NULL:
        return _Mark(index, "any", 0, 1)
    if lower in _ANY_VERBS or (lower in _ANY_NOUNS and _counts(found, index)):
        return _Mark(index, "any", 0)
    return None


def _says_no_direction(found: list[Word], index: int, before: str, after: str) -> bool:
    """Whether a word that may tell a direction tells none where it stands: "lower limb", "no more", "stable angina"."""
    lower = found[index].lower
    if after in ("dose", "doses", "dosage", "confidence", "bound"):
        return True
    if lower == "lower":
        return after in _PLACES
    if lower == "prevention":
        return after != "of"
    if lower in ("more", "less", "fewer"):
        beyond = found[index + 2].lower if index + 2 < len(found) else ""
        counted = after == "than" and (
            beyond.isdigit() or beyond in ("twice", "half", "double", "a", "1", "halved", "doubled", "tripled")
        )
        return before in ("no", "once", "or") or counted
    if lower == "same" and after not in _ONWARD and after:
        return True
    return lower in _STATES and before not in _BEING


def _counts(found: list[Word], index: int) -> bool:
    near = {word.lower for word in found[max(0, index - 4) : index]}
    return bool(near & lexicon.NEGATORS) or bool(near & _ASSERTING)


def _merged(marks: list[_Mark], found: list[Word]) -> list[_Mark]:
    """Marks that belong together as one: "greater reduction", "less effective", "slowed the decline"."""
    merged: list[_Mark] = []
    for mark in marks:
        last = merged[-1] if merged else None
        if last is None:
            merged.append(mark)
            continue
        gap, lower = mark.index - last.index, found[last.index].lower
        if last.kind == "any" and last.sign == 0 and not last.flips and mark.kind != "any" and gap <= 7:
            merged[-1] = replace(mark, flips=0)
        elif mark.kind == "any" and (last.kind == "link" or (last.kind == "any" and gap <= 4)):
            continue
        elif lower in _COMPARATIVES and gap <= 2 and mark.sign:
            sign = -1 if lower in ("less", "smaller", "lower", "weaker", "fewer", "lesser", "slower") else 1
            merged[-1] = replace(mark, sign=mark.sign * sign)
        elif found[mark.index].lower in ("less", "more") and gap == 1:
            merged[-1] = replace(last, sign=last.sign * mark.sign)
        elif last.kind == "size" and mark.kind == "pace" and gap <= 2:
            merged[-1] = mark
        elif turned := _turned(last, mark, lower, found[mark.index].lower):
            merged[-1] = turned
        elif mark.kind == "any" and last.kind != "any" and gap <= 2 and not mark.flips:
            continue
        else:
            merged.append(mark)
    return merged


def _turned(last: _Mark, mark: _Mark, lower: str, here: str) -> _Mark | None:
    """Two marks as one where the first says of what the second is more or less: "the fall was larger"."""
    gap = mark.index - last.index
    if lower in _NOUNS and gap <= 8 and here in _COMPARATIVES and last.sign:
        return replace(mark, sign=mark.sign * last.sign)
    if lower in _CHECKING and gap <= 3 and here in _NOUNS and mark.sign:
        return replace(mark, sign=-mark.sign)
    return None


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


def _mention(clause: str, found: list[Word], marks: list[_Mark], place: int, borders: tuple[int, int]) -> Mention:
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
        ahead = ahead[1:]
    named = _target(found[mark.index].lower, ahead, behind, closed)
    if mark.kind in ("any", "link"):
        named = [word for word in (*behind[-9:], *ahead[:9]) if word.content]
    target = frozenset(word.stem for word in named)
    negations = sum(word.lower in lexicon.NEGATORS for word in _scope(found, previous, mark.index))
    sign, names = mark.sign, target
    if found[mark.index].lower in _COMPARATIVES and any(word.lower in _DECLINES for word in behind):
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
        kept.append(word)
    return kept


def _directional(word: Word) -> bool:
    lower = word.lower
    return bool(lexicon.magnitude(lower) or lexicon.valence(lower) or lexicon.pace(lower) or lower in lexicon.NEGATORS)


def _target(lower: str, ahead: list[Word], behind: list[Word], closed: bool) -> list[Word]:
    """What a directional word speaks of: what follows it, or, where nothing of its own does, what stands before."""
    opening = ahead[0].lower if ahead else ""
    noun = lower in _NOUNS and opening in ("in", "of", "on")
    if ahead and not closed and (noun or not (opening in _ONWARD or opening.isdigit())):
        named = [word for word in ahead[:8] if word.content]
        if named:
            return named
    return [word for word in behind[-9:] if word.content] or [word for word in ahead[:8] if word.content]
