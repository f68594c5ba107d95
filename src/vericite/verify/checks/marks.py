"""The words of a clause that say which way something went."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

from vericite.verify.checks import lexicon
from vericite.verify.checks.words import Word

NOUNS = frozenset(
    """
    increase increases decrease decreases reduction reductions decline declines rise rises drop drops fall falls
    gain gains improvement improvements worsening deterioration elevation suppression inhibition stimulation
    induction activation attenuation upregulation downregulation prevention enhancement prolongation impairment
    protection benefit benefits augmentation growth loss harm harms delay delays lowering raising shortening
    risk
    """.split()
)


COMPARATIVES = frozenset(
    "greater larger smaller less more bigger higher lower stronger weaker fewer lesser faster slower".split()
)


_CHECKING = lexicon.DOWN | frozenset("slow slows slowed slower delay delayed delays".split())


ONWARD = frozenset(
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


_FALLS = frozenset(
    "fall falls drop drops drop benefit harm help cut slow limit limits limited direct favour favours rise".split()
)


_COMPOUNDS = frozenset(
    "induced dependent mediated associated related enhanced reduced activated stimulated limiting lowering".split()
)


_PLACES = frozenset(
    "limb limbs leg respiratory urinary extremity extremities back body lobe bound gastrointestinal airway".split()
)


_BEFORE_FALL = frozenset(
    "a the significant marked larger greater smaller steep sharp mean modest further no any".split()
)


_MOVED = frozenset(
    "went go goes going gone come came brought bring brings pushed drove driven crept crawled edged inched drifted"
    " moved trended ran".split()
)


_MOTIONS = frozenset(
    "rose fell declined deteriorated worsened improved increased decreased dropped lost gained".split()
)


_WHO = frozenset(
    "patients people those adults men women children infants participants persons individuals subjects anyone".split()
)


_BETTER = frozenset("better worse".split())


_ARMS = frozenset("group groups arm arms cohort strategy".split())


_LINKING = frozenset("correlated associated correlation association related correlates".split())


_STATES = frozenset("stable constant equal same identical".split())


_BEING = frozenset(
    "remained was were is are stayed kept remain remains stays be held the about roughly largely".split()
)


@dataclass(frozen=True, slots=True)
class Mark:
    """A word of a clause that gives a direction: its place, its kind and sign, and whether it denies by itself."""

    index: int
    kind: str
    sign: int
    flips: int = 0


def marks_in(found: list[Word], clause: str) -> list[Mark]:
    """The words of a clause that give a direction where they stand, in order."""
    marks: list[Mark] = []
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


def _mark(found: list[Word], index: int, lower: str) -> Mark | None:
    before = found[index - 1].lower if index else ""
    after = found[index + 1].lower if index + 1 < len(found) else ""
    if before == "no" and lower in COMPARATIVES | _BETTER and after != "than" and not after[:1].isdigit():
        return Mark(index, "any", 0)  # the "no" before it denies it
    if _says_no_direction(found, index, before, after):
        return None
    if lower in ("up", "down") and _MOVED & {word.lower for word in found[max(0, index - 4) : index]}:
        return Mark(index, "size", 1 if lower == "up" else -1)
    signs = (("size", lexicon.magnitude), ("value", lexicon.valence), ("pace", lexicon.pace))
    for kind, sign_of in signs:
        if sign_of(lower):
            return Mark(index, kind, sign_of(lower))
    if lexicon.correlation(lower) and after in _LINKING:
        return Mark(index, "link", lexicon.correlation(lower))
    if lower in lexicon.NULL:
        return Mark(index, "any", 0, 1)
    if lower in _ANY_VERBS or (lower in _ANY_NOUNS and _counts(found, index)):
        return Mark(index, "any", 0)
    return None


def _says_no_direction(found: list[Word], index: int, before: str, after: str) -> bool:
    """Whether a word that may tell a direction tells none where it stands: "lower limb", "no more", "stable angina"."""
    lower = found[index].lower
    if after in ("dose", "doses", "dosage", "confidence", "bound"):
        return True
    beyond = found[index + 2].lower if index + 2 < len(found) else ""
    if lower not in COMPARATIVES and (after in _ARMS or beyond in _ARMS):
        return True
    if _of_people(found, index) or (before == "the" and index > 1 and found[index - 2].lower == "for"):
        return True
    if lower == "lower":
        return after in _PLACES
    if lower in ("cause", "causes"):
        return before in ("any", "all", "every", "the", "each", "other", "common", "leading") or after in (
            "of",
            "mortality",
        )
    if lower == "prevention":
        return after != "of"
    if lower in ("more", "less", "fewer"):
        counted = after == "than" and (
            beyond.isdigit() or beyond in ("twice", "half", "double", "a", "1", "halved", "doubled", "tripled")
        )
        return before in ("no", "once", "or") or counted
    if lower == "same" and after not in ONWARD and after:
        return True
    return lower in _STATES and before not in _BEING


def _of_people(found: list[Word], index: int) -> bool:
    """Whether a word only tells whom: "patients with mildly reduced kidney function"."""
    near = [word.lower for word in found[max(0, index - 4) : index]]
    return found[index].lower.endswith("ed") and any(one in _WHO and other == "with" for one, other in pairwise(near))


def _counts(found: list[Word], index: int) -> bool:
    near = {word.lower for word in found[max(0, index - 4) : index]}
    return bool(near & lexicon.NEGATORS) or bool(near & _ASSERTING)


def merged_marks(marks: list[Mark], found: list[Word]) -> list[Mark]:
    """Marks that belong together as one: "greater reduction", "less effective", "slowed the decline"."""
    merged: list[Mark] = []
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
        elif lower in COMPARATIVES and gap <= 2 and mark.sign:
            sign = -1 if lower in ("less", "smaller", "lower", "weaker", "fewer", "lesser", "slower") else 1
            merged[-1] = replace(mark, sign=mark.sign * sign)
        elif found[mark.index].lower in ("less", "more") and gap == 1:
            merged[-1] = replace(last, sign=last.sign * mark.sign)
        elif mark.kind == "pace" and gap <= 2 and (last.kind == "size" or lower in _MOTIONS):
            merged[-1] = replace(last, sign=-last.sign * mark.sign) if lower in _MOTIONS else mark
        elif turned := _turned(last, mark, lower, found[mark.index].lower):
            merged[-1] = turned
        elif mark.kind == "any" and last.kind != "any" and gap <= 2 and not mark.flips:
            continue
        else:
            merged.append(mark)
    return merged


def _turned(last: Mark, mark: Mark, lower: str, here: str) -> Mark | None:
    """Two marks as one where the first says of what the second is more or less: "the fall was larger"."""
    gap = mark.index - last.index
    if lower in NOUNS and gap <= 8 and here in COMPARATIVES and last.sign:
        return replace(mark, sign=mark.sign * last.sign)
    if lower in _CHECKING and gap <= 3 and here in NOUNS and mark.sign:
        return replace(mark, sign=-mark.sign)
    return None
