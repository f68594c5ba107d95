"""Putting another drug, condition, population or gene in the place of the one a finding is about; and overclaiming."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from vericite.train.mix.edits import Edit, replaced
from vericite.train.mix.lexicon import DISEASES, DRUG_ENDING, OVERCLAIMS, POPULATIONS

_DRUG = re.compile(rf"\b[A-Za-z]{{3,}}{DRUG_ENDING}\b")
_GENE = re.compile(r"\b[A-Z][A-Z]{1,4}-?\d{1,2}[A-Z]?\b")
_CONDITION = re.compile(r"\b[a-z]{4,}(?:itis|osis|emia|aemia|oma|opathy|algia|penia)\b")
_NOT_DRUGS = frozenset(
    """responsible contour control caine cocaine vaccine outline baseline guideline routine medicine machine combine
    determine decline examine imagine define refine person reason season comparison lesson prison poison telescope
    virtual environ envir quarantine patrol interline disease sone""".split()
)
_NOT_CONDITIONS = frozenset(
    """diagnosis prognosis analysis genoma osmosis mitosis meiosis apoptosis coma aroma""".split()
)
_NOT_GENES = re.compile(
    r"^(?:COVID|COV|SARS|H\d|HIV|HPV|CD\d|SF-|DSM|ICD|PMC|NCT|BMI|HLA|OR|CI|TNM|MRI|PET|SD|IC\d|ED\d|LD\d"
    r"|EQ|QLQ|WHO|VO\d|FEV|PM\d|CO\d|HB|SPO|PAO|PCO)"
)


@dataclass(frozen=True, slots=True)
class Names:
    """Names of drugs, conditions and genes that occur in the texts, most frequent first."""

    drugs: tuple[str, ...]
    conditions: tuple[str, ...]
    genes: tuple[str, ...]


def harvest_names(texts: Iterable[str]) -> Names:
    """What drugs, conditions and genes the texts speak of."""
    drugs, conditions, genes = Counter[str](), Counter[str](), Counter[str]()
    for text in texts:
        drugs.update({name.lower() for name in _DRUG.findall(text)} - _NOT_DRUGS)
        conditions.update(set(_CONDITION.findall(text)) - _NOT_CONDITIONS)
        genes.update(name for name in set(_GENE.findall(text)) if not _NOT_GENES.match(name))
    return Names(*(_frequent(counts) for counts in (drugs, conditions, genes)))


def _frequent(counts: Counter[str], least: int = 3, most: int = 150) -> tuple[str, ...]:
    ranked = sorted(counts, key=lambda name: (-counts[name], name))
    return tuple(name for name in ranked if counts[name] >= least)[:most]


def swap_edits(claim: str, premise: str, names: Names, dice: random.Random) -> Iterator[Edit]:
    """Another of the same sort, that neither the premise nor the claim speaks of."""
    text = f"{premise} {claim}".lower()
    for pattern, pool in ((_DRUG, names.drugs), (_CONDITION, names.conditions), (_GENE, names.genes)):
        known = {name.lower() for name in pool}
        for match in pattern.finditer(claim):
            others = [name for name in pool if name.lower() not in text]
            if match[0].lower() in known and others and claim.lower().count(match[0].lower()) == 1:
                yield replaced(match, dice.choice(others), "entity", "neutral")
    for kind, sorts in (("population", POPULATIONS), ("entity", DISEASES)):
        for sort in sorts:
            yield from _of_sort(claim, text, sort, kind, dice)


def _of_sort(claim: str, text: str, sort: tuple[str, ...], kind: str, dice: random.Random) -> Iterator[Edit]:
    present = [name for name in sort if re.search(rf"\b{re.escape(name.lower())}\b", text)]
    if len(present) != 1:
        return
    places = list(re.finditer(rf"(?<![\w-]){re.escape(present[0])}(?![\w-])", claim, re.IGNORECASE))
    if len(places) == 1:
        others = [name for name in sort if name not in present and not name.endswith(present[0])]
        if others:
            yield replaced(places[0], dice.choice(others), kind, "neutral")


def overclaim_edits(claim: str, premise: str) -> Iterator[Edit]:
    """A hedge, a share or an association made certain, whole or causal; only what the premise, too, hedges."""
    for pattern, new in OVERCLAIMS:
        match = re.search(pattern, claim)
        if match and re.search(pattern, premise) and not re.search(r"\b(?:not|no)\b", claim):
            yield replaced(match, match.expand(new), "scope", "neutral", mirrored=False)
