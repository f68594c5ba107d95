"""Words that are the contrary of a word of the other text by their first syllable: fertile and infertile."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vericite.verify.checks.finding import Finding
from vericite.verify.checks.words import clauses, stem_of, words

_PREFIXES = ("non", "un", "in", "im", "ir", "ab", "dis", "a")
_OTHERWISE = frozenset(
    "inpatient intake inform income inside indeed inform incidence improve improved improves improving"
    " improvement improvements about along above".split()
)
_DENYING = re.compile(
    r"\b(?:no|not|none|never|neither|nor|without|fail\w*|lack\w*|cannot|hardly|un(?:able|likely)|less|fewer"
    r"|lower|reduc\w*"
    r"|except|rather|whether|or|both|lost|decreas\w*|rare\w*)\b|n't\b",
    re.IGNORECASE,
)
_SHORTEST = 5  # letters of a word that may have a contrary
_MOST = 30  # clauses of a text that are looked at; what keeps the work linear


def antonym_findings(claim: str, source: str) -> Iterator[Finding]:
    """Findings about a word of a claim whose contrary stands in the source, said of the same thing."""
    here, there = _told(claim), _told(source)
    whole_here = frozenset(stem for stems, _, _ in here for stem in stems)
    whole_there = frozenset(stem for stems, _, _ in there for stem in stems)
    for mine, mine_denied, mine_contrary in here:
        for theirs, theirs_denied, theirs_contrary in there:
            for contrary, base in [*mine_contrary.items(), *theirs_contrary.items()]:
                claimed = contrary in mine_contrary
                with_base, without = (theirs, whole_there) if claimed else (mine, whole_here)
                with_contrary = whole_here if claimed else whole_there
                if base not in with_base or contrary in without or base in with_contrary:
                    continue
                if mine_denied or theirs_denied or not (mine & theirs) - {base}:
                    continue
                yield Finding(
                    "negation",
                    f"claim says '{contrary if claimed else base}', the source '{base if claimed else contrary}'",
                )
                return


def _told(text: str) -> list[tuple[frozenset[str], bool, dict[str, str]]]:
    """Of each clause its content words, whether it denies anything, and its words that may be contraries."""
    told: list[tuple[frozenset[str], bool, dict[str, str]]] = []
    for clause in clauses(text)[:_MOST]:
        found = words(clause)
        contraries = {
            word.stem: base
            for word in found
            if word.content
            for base in [_base(word.lower)]
            if base and base != word.stem
        }
        told.append((frozenset(word.stem for word in found if word.content), bool(_DENYING.search(clause)), contraries))
    return told


def _base(lower: str) -> str:
    """What a word would be the contrary of, by its first syllable; empty if none."""
    if lower in _OTHERWISE:
        return ""
    prefix = next((prefix for prefix in _PREFIXES if lower.startswith(prefix)), "")
    rest = lower[len(prefix) :].lstrip("-")
    return stem_of(rest) if prefix and len(rest) >= _SHORTEST else ""
