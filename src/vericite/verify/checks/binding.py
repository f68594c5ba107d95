"""What each value of a text stands for: which outcome, in which arm, at which time."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from vericite.verify.checks.labels import labels
from vericite.verify.checks.quantities import BARE, Quantity
from vericite.verify.checks.words import stems

_SENTENCE_END = re.compile(r"(?<=[\w%)\]]{2}[.!?])\s+(?=[A-Z0-9(\"])|;\s+", re.ASCII)
_JOINT = re.compile(
    r",? (?:and|or|versus|vs\.?|v|whereas|while|than|but|compared (?:with|to)|as against|against(?="
    r" (?:[0-9]|$))|as opposed to|then)(?= |$)"
    r"|, | to (?=$)",
    re.IGNORECASE,
)
_PHRASE = re.compile(
    r"\b(?:of|in|with|on|for|among|after|from|at|under|by|during|against|without|per)\b", re.IGNORECASE
)
_ANCHORED = re.compile(
    r"\b(?:at|after|over|within|in|for|during|every|through|until|week|month|day|year|aged?|than|since|follow-up of"
    r"|the (?:first|last|next)|least)(?: the| an?| about| an? (?:median|mean|average) of)? ?$",
    re.IGNORECASE,
)
_DOSED = re.compile(r"\b(?:with|the|on|received|given|than|each additional) $", re.IGNORECASE)
_ASIDE = re.compile(r"\)?\s?[(,;]?\s?\(?(?:(?:95|90|99)? ?%? ?(?:CI|IQR|SD|SE|range|[IR]R|P|n)s?\b[:,=]? ?)*$", re.I)
_LIST = re.compile(r"\s?\b(?:and|or|versus|vs\.?|than|,|compared with|to)\s|,\s?", re.IGNORECASE)
_TAIL = re.compile(
    r",? and (?:(?:in|by|among|for) )?(?:none|no)\b|, (?:and|but|whereas|which|leaving|while"
    r"|with)\b|; "
)
_BOTH = re.compile(r"\b(between|both) ([^,;]{2,40}?) and ", re.IGNORECASE)
_OPENED = re.compile(r"\((?:[nNpP] ?[=<>] ?)?$")
_UP_TO = re.compile(r"\)?,? (?:up |down )?to ", re.IGNORECASE)
_MERE = re.compile(r"\)?(?:%|,| |\band\b|\bto\b|\bvs\.?|\bversus\b|\bthen\b|[+(-])*", re.IGNORECASE)
_PARALLEL = re.compile(r"\b(?:for|in|with|than|vs|between|of)\b[^,;.]*\b(?:and|than|versus|vs|or)\b", re.IGNORECASE)
_BEHIND = re.compile(
    r"[\s)%]*(?:of|in|with|on|for|among|after|from|at|under|by|during|when|if|against|without|per|using)\b",
    re.IGNORECASE,
)
_ASIDES = re.compile(r"\([^()0-9]*\)")
_FURTHER = re.compile(
    r".{0,90}\bthe (?:rate|proportion|figure|share|percentage)s? (?:was|were)\b|\W*(?:restrict|limit|exclud"
    r"|adjust|omit|when |after (?:adjust|exclud|restrict)|in (?:a |the )?(?:sensitiv|subgroup))",
    re.IGNORECASE,
)
_SOLUTION = re.compile(
    r"\s(?:saline|sodium|glucose|dextrose|chlorhexidine|l?idocaine|bupivacaine|ethanol|alcohol|formalin"
    r"|povidone|albumin"
    r"|hypertonic|solution|cream|gel|ointment|confidence|[a-z-]+ (?:solution|cream|gel|ointment|drops|arm|group))\b",
    re.IGNORECASE,
)
_SIZE = re.compile(r"(?:\bn ?= ?|\bper )$", re.IGNORECASE)
_GENERIC = frozenset("proport correspond figur share same percentag count respectiv littl =differ remain valu".split())
_MOST = 80  # values of a text that are bound; what keeps the work linear


@dataclass(frozen=True, slots=True)
class Bound:
    """A value with what it stands for.

    Attributes:
        quantity: The value.
        own: Labels that belong to it rather than to its neighbours.
        head: Labels of what it is a value of.
        place: Which sentence it stands in.
    """

    quantity: Quantity
    own: frozenset[str]
    head: frozenset[str]
    place: int

    @property
    def about(self) -> frozenset[str]:
        """All its labels."""
        return self.own | self.head


def bound(text: str, found: list[Quantity]) -> list[Bound]:
    """The values of a plain text with what each stands for; points in time and doses that are labels are left out."""
    borders = _borders(text)
    told: list[Bound] = []
    start, index, values = 0, 0, found[:_MOST]
    listed: list[list[frozenset[str]]] = []
    for place, end in enumerate(borders):
        inside: list[Quantity] = []
        while index < len(values) and values[index].start < end:
            inside.append(values[index])
            index += 1
        told += _sentence(text, start, end, inside, place, listed)
        start = end
    return told + [replace(item, quantity=part) for item in told for part in _parts(item.quantity)]


def _parts(quantity: Quantity) -> list[Quantity]:
    """The two counts of a portion: 36 and 90 of "36 of 90"."""
    if quantity.role != "portion":
        return []
    return [
        replace(quantity, low=float(count), high=float(count), step=1.0, unit=BARE, sign="=", role="value", text=count)
        for count in re.findall("[0-9]{1,9}", quantity.text)
    ]


def _borders(text: str) -> list[int]:
    """Where the sentences of a text end; a semicolon between brackets ends none."""
    borders: list[int] = []
    last = 0
    for match in _SENTENCE_END.finditer(text):
        if text.count("(", last, match.start()) <= text.count(")", last, match.start()):
            borders.append(match.start())
            last = match.start()
    return [*borders, len(text)]


def _sentence(
    text: str, start: int, end: int, inside: list[Quantity], place: int, listed: list[list[frozenset[str]]]
) -> list[Bound]:
    mains, asides = _mains(text, _values(text, inside))
    if not mains:
        return []
    ends = [max([main.end, *(aside.end for aside in asides.get(at, []))]) for at, main in enumerate(mains)]
    gaps = [_unsplit(text[start : mains[0].start])]
    gaps += [_unsplit(text[ends[at] : mains[at + 1].start]) for at in range(len(mains) - 1)]
    gaps.append(_TAIL.split(_unsplit(text[ends[-1] : end]))[0])
    told: list[Bound] = []
    of_all = frozenset[str]()
    for at, item in enumerate(_labelled(mains, gaps, place, listed)):
        over_all = item.quantity.role == "p" and at > 0 and mains[at - 1].role != "p" and bool(_OPENED.search(gaps[at]))
        told.append(replace(item, own=of_all | item.own) if over_all else item)
        of_all |= item.about
        for aside in asides.get(at, []):
            bare = aside.role == "interval" and aside.unit.base == ""
            quantity = replace(aside, unit=item.quantity.unit) if bare else aside
            told.append(replace(item, quantity=quantity, own=of_all if aside.role == "p" else item.own))
    return told


def _values(text: str, inside: list[Quantity]) -> list[Quantity]:
    """The values of a sentence without those that only tell when, at what dose, or in how many."""
    kept = [item for item in inside if not _is_label(text, item, inside)]
    if any(item.unit.base or text[item.start - 4 : item.start] == "per " for item in kept):
        kept = [item for item in kept if not _SIZE.search(text, max(0, item.start - 8), item.start)]
    return kept


def _unsplit(gap: str) -> str:
    """A gap whose "and" does not join two values: "between treatment and sex"."""
    return _BOTH.sub(lambda match: f"{match[1]} {match[2]} & ", _ASIDES.sub(" ", gap))


def _is_label(text: str, item: Quantity, inside: list[Quantity]) -> bool:
    """Whether a value only tells when, or at what dose, other values were found."""
    if item.role in ("year", "age", "loose", "level"):
        return True
    before = text[max(0, item.start - 24) : item.start]
    others = {other.unit.base for other in inside if other.role not in ("year", "loose")} - {item.unit.base}
    if item.unit.base == "time" and not item.unit.per:
        written = item.text.lower()
        attributive = "-" in written and not item.ranged
        beside = text[item.end : item.end + 3].lower() == " (p"
        named = written.startswith(("day", "week", "month", "year"))
        return bool(_ANCHORED.search(before)) or named or attributive or beside
    if item.unit.base == "percent" and _SOLUTION.match(text, item.end):
        return True
    if item.unit.base in ("mass", "dose") and not item.unit.per:
        return bool(others) and bool(_DOSED.search(before))
    return False


def _mains(text: str, inside: list[Quantity]) -> tuple[list[Quantity], dict[int, list[Quantity]]]:
    """The values of a sentence with labels of their own, and those that stand beside one as its interval or share."""
    mains: list[Quantity] = []
    asides: dict[int, list[Quantity]] = {}
    last: Quantity | None = None
    for item in inside:
        between = text[last.end : item.start] if last else ""
        opened = "(" in between or item.role in ("interval", "p")
        beside = last is not None and bool(mains) and opened and bool(_ASIDE.fullmatch(between))
        if beside:
            asides.setdefault(len(mains) - 1, []).append(item)
        else:
            mains.append(item)
        last = item
    return mains, asides


def _labelled(mains: list[Quantity], gaps: list[str], place: int, listed: list[list[frozenset[str]]]) -> list[Bound]:
    after, before = _cut(mains, gaps)
    own, shared = _own(after, gaps)
    heads = [labels(part) for part in before]
    lead = labels(before[0].split(", ")[0]) if ", " in before[0] else frozenset[str]()
    if listed and heads[0] and (_FURTHER.match(before[0]) or not _worded(heads[0]) - _GENERIC):
        heads[0] |= listed[-1][0]
    told: list[Bound] = []
    head = heads[0]
    for at, item in enumerate(mains):
        transient = at > 0 and bool(_OPENED.search(gaps[at])) and not _JOINT.search(gaps[at])
        here = heads[at] or head
        head = head if transient else here
        told.append(Bound(item, own[at], here | lead | shared, place))
    told = _in_runs(told, gaps, before, listed)
    names = [item.own or heads[at] for at, item in enumerate(told)]
    listed.append([_worded(heads[0]), *names])
    return told


def _worded(head: frozenset[str]) -> frozenset[str]:
    """Labels without points in time."""
    return frozenset(label for label in head if ":" not in label)


def _cut(mains: list[Quantity], gaps: list[str]) -> tuple[list[str], list[str]]:
    """What belongs to each value of what stands behind it, and of what stands before it."""
    last = gaps[-1].split(")")[0] if _OPENED.search(gaps[-2]) and len(gaps) > 2 else gaps[-1]
    after, before = [last] * (len(gaps) - 1), [gaps[0]] + [""] * (len(gaps) - 2)
    for at, gap in enumerate(gaps[1:-1]):
        joint = _JOINT.search(gap)
        behind = bool(_BEHIND.match(gap)) or mains[at].unit.base == ""
        after[at] = gap[: joint.start()] if joint else (gap if behind else "")
        ahead = not behind or _OPENED.search(gap)
        before[at + 1] = gap[joint.end() :] if joint else (gap if ahead else "")
    return after, before


def _own(after: list[str], gaps: list[str]) -> tuple[list[frozenset[str]], frozenset[str]]:
    """Labels of each value, and those behind the last that serve for all: "at month 6 in the drug group"."""
    own = [labels(part) for part in after]
    if (
        len(own) > 1
        and not any(own[:-1])
        and not any(stems(part) for part in after[:-1])
        and not any(_MERE.fullmatch(gap) for gap in gaps[1:-1])
    ):
        return [frozenset() for _ in own], own[-1]
    for at in range(len(own) - 2, -1, -1):
        if not own[at] and _UP_TO.fullmatch(gaps[at + 1]):
            own[at] = own[at + 1]
    phrases = [match.start() for match in _PHRASE.finditer(after[-1])]
    most = max((len(_PHRASE.findall(part)) for part in after[:-1]), default=0)
    cut = phrases[most] if len(phrases) > most else 0
    if most and cut and len(after[-1][:cut].split()) < 5:
        return [*own[:-1], labels(after[-1][:cut])], labels(after[-1][cut:])
    return own, frozenset()


def _in_runs(told: list[Bound], gaps: list[str], before: list[str], listed: list[list[frozenset[str]]]) -> list[Bound]:
    """The same values; those that stand in a mere list have the labels of an earlier list as long."""
    start = 0
    for at in range(1, len(told) + 1):
        if at < len(told) and _MERE.fullmatch(gaps[at]):
            continue
        if at - start > 1:
            told[start:at] = _run(told[start:at], before[start], listed)
        start = at
    return told


def _run(run: list[Bound], before: str, listed: list[list[frozenset[str]]]) -> list[Bound]:
    count = len(run)
    shared = run[-1].own
    pieces = [piece for piece in _LIST.split(before) if labels(piece)]
    if count == 2 and len(pieces) >= 2 and _PARALLEL.search(before):
        names, rest = [labels(piece) for piece in pieces[-2:]], labels(" ".join(pieces[:-2]))
        return [replace(item, own=name, head=rest | shared) for item, name in zip(run, names, strict=True)]
    for earlier in reversed(listed):
        names = earlier[1:][-count:]
        if len(names) == count and all(names) and len(set(names)) == count:
            return [replace(item, own=name, head=item.head | shared) for item, name in zip(run, names, strict=True)]
    return [replace(item, own=shared) for item in run]
