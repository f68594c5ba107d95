"""The negated and reversed forms of a sentence: what a source would say that finds otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from vericite.text.words import LISTS

_DENIED = re.compile(
    r"\b(is|are|was|were|has|have|had|can|could|may|might|will|would|should|must) not (?=\w)", re.IGNORECASE
)
_STATED = re.compile(r"\b(is|are|was|were|can|could|may|might|will|would|should|must) (?!not?\b)(?=\w)", re.IGNORECASE)
_NO = re.compile(r"\bno (significant |clear )?(?=difference|effect|change|association|increase|decrease)", re.I)


def denials(claim: str) -> Iterator[str]:
    """Yield the claim with its one negation removed, or with one added."""
    for pattern, by in ((_DENIED, "{} "), (_STATED, "{} not "), (_NO, "a {}")):
        found = list(pattern.finditer(claim))
        if len(found) == 1:
            instead = by.format(found[0][1] or "")
            behind = claim[found[0].end() :]
            instead = "an " if instead == "a " and behind[:1] in "aeiou" else instead
            yield claim[: found[0].start()] + instead + behind


def reversed_forms(sentence: str) -> list[str]:
    """Return a sentence with its first direction reversed, without any effect, and denied; none if no rule applies."""
    found = next(_reversing().finditer(sentence), None)
    forms: list[str] = []
    if found is not None:
        before, word, after = sentence[: found.start()], found[0], sentence[found.end() :]
        other = LISTS["reversals"][word.lower()]
        forms.append(f"{before}{other.capitalize() if word[0].isupper() else other}{after}")
        if before.strip() and (ending := _VERB.search(word)):
            forms.append(f"{before}{_NO_EFFECT[ending[0]]}{after}")
    return list(dict.fromkeys(form for form in (*forms, *denials(sentence)) if form != sentence))


_VERB = re.compile(r"(?:s|ed)$")
_NO_EFFECT = {"s": "has no effect on", "ed": "had no effect on"}


@cache
def _reversing() -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?a:{'|'.join(LISTS['reversals'])})(?![\w-])", re.IGNORECASE)
