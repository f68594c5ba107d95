"""Opposites and negators: the claim is a clause of its source but for one word that turns it round."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from vericite.verify.checks import lexicon
from vericite.verify.checks.finding import Finding, Kind
from vericite.verify.checks.words import Word, clauses, sentences, shared, words

_TOLD = 0.8
_GIVEN = 0.6
_PAIRS = """
positive negative | sensitive resistant | susceptible resistant | present absent | benign malignant | acute chronic
left right | proximal distal | anterior posterior | oral intravenous | before after | maternal paternal
agonist antagonist | agonists antagonists | dominant recessive | activator inhibitor | activators inhibitors
effective ineffective | safe unsafe | fertile infertile
maximum minimum | systolic diastolic | hypertension hypotension | hyperglycemia hypoglycemia | gain loss
hyperkalemia hypokalemia | hyponatremia hypernatremia | hypothyroidism hyperthyroidism | autosomal x-linked
favorable unfavorable | upstream downstream  | hypermethylation hypomethylation
hypermethylated hypomethylated | internal external | central peripheral | male female | males females | unable able
efferent afferent | arterial venous  | always never | superior inferior
homozygous heterozygous | bacterial viral | endogenous exogenous | unilateral bilateral | soluble insoluble
"""


_NOT = frozenset("not never cannot no".split())
_OPEN = lexicon.UNDECIDED | lexicon.UNCHANGED | lexicon.ALIKE | {"than", "compared", "versus", "vs", "relative"}
"""Words of a clause that may be turned twice: two things compared the other way round are the same."""
_NEGATORS = lexicon.NEGATORS | {"non", "nobody", "nothing", "hardly", "rarely", "unlikely", "absent", "negative"}


def _opposites() -> dict[str, set[str]]:
    table: dict[str, set[str]] = {}
    for pair in _PAIRS.replace("\n", "|").split("|"):
        for one, other in pairwise(pair.split() * 2):
            if one != other:
                table.setdefault(one, set()).add(other)
    return table


_OPPOSITES = _opposites()


def opposite_findings(claim: str, source: str) -> Iterator[Finding]:
    """A clause of the claim that a clause of the source says with one word turned round, and none says as it is."""
    given = _clauses(source)
    for mine in _clauses(claim):
        near = [theirs for theirs in given if _same_but_for_one(mine, theirs)]
        turned = [found for theirs in near if (found := _turned(mine, theirs))]
        if turned and len(turned) == len(near):
            yield Finding(*turned[0])
            return


def _clauses(text: str) -> list[list[Word]]:
    return [words(clause) for sentence in sentences(text) for clause in clauses(sentence)]


def _same_but_for_one(mine: list[Word], theirs: list[Word]) -> bool:
    one, other = (
        frozenset(word.stem for word in found if word.stem and word.lower not in _NEGATORS) for found in (mine, theirs)
    )
    told = shared(one, other) >= _TOLD or len(one - other) == 1
    return len(one) >= 3 and told and shared(other, one) >= _GIVEN


def _turned(mine: list[Word], theirs: list[Word]) -> tuple[Kind, str] | None:
    """What turns round two clauses that are else the same, and how it is told; None if nothing does, or too much."""
    one, other = ({word.lower for word in found} for found in (mine, theirs))
    if (one | other) & _OPEN or {word for word in one ^ other if word[0].isdigit()}:
        return None
    swapped = [
        (word, against)
        for word in sorted(one - other)
        for against in sorted(other - one)
        if _opposed(word, against) and _beside(mine, word) & _beside(theirs, against)
    ]
    told, given = (Counter(word.lower for word in found if word.lower in _NEGATORS) for found in (mine, theirs))
    denied, denying = list((told - given).elements()), list((given - told).elements())
    if len(swapped) + len(denied) + len(denying) != 1:
        return None
    if swapped:
        return "direction", f"claim says '{swapped[0][0]}', the source '{swapped[0][1]}'"
    if denied and _denies(mine, theirs):
        return "negation", f"claim says '{denied[0]}', the source that it is so"
    return ("negation", f"claim says that it is so, the source '{denying[0]}'") if _denies(theirs, mine) else None


def _opposed(one: str, other: str) -> bool:
    (kind, sign), (against, turned) = lexicon.direction(one), lexicon.direction(other)
    directed = kind == against and kind in ("size", "worth") and sign * turned == -1
    return directed or other in _OPPOSITES.get(one, ())


def _beside(found: list[Word], lower: str) -> set[tuple[int, str]]:
    """The words right before and right after a word, wherever it stands."""
    places = [place for place, word in enumerate(found) if word.lower == lower]
    return {(step, found[at + step].lower) for at in places for step in (-1, 1) if 0 <= at + step < len(found)}


def _denies(found: list[Word], other: list[Word]) -> bool:
    """Whether the negator of a clause stands right before what the other says without one."""
    told = {word.stem for word in other if word.stem}
    at = next((place for place, word in enumerate(found) if word.lower in _NOT), len(found))
    after = found[at + 1 : at + 4]
    named = [word.stem for word in after if word.stem]
    return bool(named) and named[0] in told and after[0].lower != "only"
