"""Verbs that take an object and stand in the passive, with their forms."""

from __future__ import annotations

import re
from dataclasses import dataclass

_REGULAR = """
reduce increase decrease inhibit improve cause induce prevent mediate enhance impair promote suppress stimulate activate
attenuate abolish block elevate lower raise accelerate delay regulate modulate trigger alleviate ameliorate aggravate
exacerbate affect influence alter diminish eliminate reverse restore preserve facilitate augment potentiate upregulate
downregulate up-regulate down-regulate disrupt produce control shorten prolong minimize minimise counteract antagonize
antagonise neutralize neutralise repress support predict evoke elicit provoke confer limit maintain determine
phosphorylate encode express activate degrade cleave recognize recognise target secrete detect replace complicate
inactivate strengthen weaken relieve worsen boost halve double abrogate dampen normalize normalise stabilize stabilise
explain precede follow confirm protect amplify intensify modify
"""
_IRREGULAR = """
drive drives drove driven
overcome overcomes overcame overcome
undergo undergoes underwent undergone
""".split("\n")
_DOUBLED = ("control",)


@dataclass(frozen=True, slots=True)
class Verb:
    """The forms of a verb: (to) reduce, (it) reduces, (it) reduced, (was) reduced."""

    base: str
    third: str
    past: str
    participle: str


def _regular(base: str) -> Verb:
    if base.endswith("y"):
        return Verb(base, base[:-1] + "ies", base[:-1] + "ied", base[:-1] + "ied")
    stem = base + base[-1] if base in _DOUBLED else base
    past = stem + ("d" if stem.endswith("e") else "ed")
    third = base + ("es" if base.endswith(("ss", "sh", "ch", "x")) else "s")
    return Verb(base, third, past, past)


VERBS = [
    *(_regular(base) for base in dict.fromkeys(_REGULAR.split())),
    *(Verb(*line.split()) for line in _IRREGULAR if line and line.split()[0] != "undergo"),
]
"""All verbs of the table."""
BY_PARTICIPLE = {verb.participle: verb for verb in VERBS}
BY_PAST = {verb.past: verb for verb in VERBS}
BY_THIRD = {verb.third: verb for verb in VERBS}


def any_of(words: dict[str, Verb]) -> str:
    """A pattern for any of some forms."""
    return "(?:" + "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True)) + ")"


PAST = any_of(BY_PAST)
THIRD = any_of(BY_THIRD)
PARTICIPLE = any_of(BY_PARTICIPLE)
