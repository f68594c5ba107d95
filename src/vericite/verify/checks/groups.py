"""Groups that exclude each other: a claim about one of them from a source about another."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vericite.verify.checks.finding import Finding
from vericite.verify.checks.words import sentences, shared, stems

_SHARED = 0.5
# name | pattern of a claim; what a name may be told of, too, follows in _WITHIN
_FAMILIES = {
    "species": (
        ("mice", r"mice|mouse|murine"),
        ("rats", r"rats?"),
        ("rabbits", r"rabbits?"),
        ("pigs", r"pigs?|piglets?|swine|porcine"),
        ("dogs", r"dogs?|canines?"),
        ("monkeys", r"monkeys?|macaques?|non-?human primates?"),
        ("zebrafish", r"zebrafish"),
        ("flies", r"drosophila|fruit fl(?:y|ies)"),
        ("humans", r"humans|patients?|volunteers?|men|women|adults|children|participants|people|infants|persons?"),
    ),
    "age": (
        ("newborns", r"newborns?|neonates?|neonatal"),
        ("children", r"children|child|childhood|pa?ediatrics?|schoolchildren|toddlers?"),
        ("infants", r"infants?|babies|infancy"),
        ("adolescents", r"adolescents?|teenagers?|adolescence"),
        ("adults", r"adults?"),
        ("older adults", r"elderly|older (?:adults?|people|persons|patients|men|women)|geriatric"),
    ),
    "sex": (
        ("men", r"men|males?|boys?|fathers?|paternal"),
        ("women", r"women|females?|girls?|mothers?|maternal"),
    ),
    "menopause": (("premenopausal", r"pre-?menopausal"), ("postmenopausal", r"post-?menopausal")),
    "diabetes": (("type 1", r"type[ -](?:1|I) diabet\w+"), ("type 2", r"type[ -](?:2|II) diabet\w+")),
}
_OF_PEOPLE = re.compile(r"\b(?:human\w*|individuals|subjects|cohort|trials?|clinical)\b", re.IGNORECASE)
_WITHIN = {
    "children": {"infants", "newborns", "adolescents"},
    "infants": {"newborns", "children"},
    "newborns": {"infants"},
    "adolescents": {"children"},
    "adults": {"older adults"},
    "older adults": {"adults"},
}
_GROUPS = {
    family: tuple((name, re.compile(rf"(?<![\w-])(?:{pattern})(?![\w-])", re.IGNORECASE)) for name, pattern in members)
    for family, members in _FAMILIES.items()
}


def group_findings(claim: str, source: str) -> Iterator[Finding]:
    """Findings about groups: the claim names one of a family, and the source speaks only of another."""
    for family, members in _GROUPS.items():
        said = {name for name, pattern in members if pattern.search(claim)}
        if len(said) != 1:
            continue
        given = {name for name, pattern in members if pattern.search(source)}
        given |= {"humans"} if family == "species" and _OF_PEOPLE.search(source) else set()
        (mine,) = said
        if given <= {"humans"} or mine in given or given & _WITHIN.get(mine, set()):
            continue
        told = stems(claim) - frozenset(
            word for _, pattern in members for match in pattern.finditer(claim) for word in stems(match[0])
        )
        if any(shared(told, stems(sentence)) >= _SHARED for sentence in sentences(source)):
            yield Finding("population", f"claim says {mine}, the source {' and '.join(sorted(given))}")
