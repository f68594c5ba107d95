"""Claims that go further than their source: all for some, proof for a hint, a cause for a link."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vericite.verify.checks.finding import Finding

# what a claim says, what makes its source fall short of that, and what in a source bears it out
_STEPS = (
    (
        r"(?<!nearly )(?<!almost )(?<!not )(?<!virtually )(?<!practically )\b(?:all(?! cause|-cause|ocat|"
        r" of the time| (?:of )?(?:the |these )?[0-9])|every|everyone|each and every"
        r"|without exception|universally|100 ?%)\b(?! other)",
        r"\b(?:some|many|most|several|a few|half|majority|minority|partial\w*|certain|subset|often|usually|up to"
        r"|nearly all|almost all|two thirds)\b|[0-9] ?% of\b",
        r"\b(?:all|every\w*|each|any|both|entire|whole|100 ?%|universal\w*|none|no)\b",
    ),
    (
        r"\b(?:always|invariably|in every case|without fail)\b",
        r"\b(?:often|usually|sometimes|frequently|may|might|can|could|occasionally|generally|typically|rarely|most"
        r"|some|many)\b",
        r"\b(?:always|invariably|all|every|each|consistently|never|no)\b",
    ),
    (
        r"\b(?:never|under no circumstances)\b",
        r"\b(?:rarely|seldom|uncommon\w*|infrequent\w*|sometimes|may|occasionally|few|some|in [0-9.]+ ?%)\b",
        r"\b(?:never|no|not|none|without|nobody|absen\w*)\b",
    ),
    (
        r"\b(?:prove[ns]?|proved|proof|definitive(?:ly)?|conclusively|establish(?:es|ed) beyond|certain(?:ly)?"
        r"|undoubtedly|definitely|guarantees?)\b",
        r"\b(?:suggest\w*|may|might|could|indicate\w*|appear\w*|seem\w*|possib\w*|potential\w*|preliminary|pilot"
        r"|hypothes\w*|likely|unclear)\b",
        r"\b(?:prove[ns]?|proved|proof|definitive\w*|conclusive\w*|establish\w*|certain\w*|confirm\w*"
        r"|demonstrat\w*)\b",
    ),
    (
        r"\b(?:cures?|cured|curing|eradicat\w+|eliminat\w+|abolish\w+|complete(?:ly)? (?:prevent|remov|resolv|block"
        r"|protect|suppress)\w*)\b",
        r"\b(?:reduc\w*|improv\w*|reliev\w*|partial\w*|attenuat\w*|decreas\w*|allevia\w*|lower\w*|some|eased?"
        r"|slow\w*|may)\b",
        r"\b(?:cur(?:es?|ed|ing|ative)|eradicat\w*|eliminat\w*|abolish\w*|complete\w*|cleared|clearance|entire\w*"
        r"|total\w*)\b",
    ),
    (
        r"(?<!all-)(?<!all )(?<!any )\b(?:causes|caused(?! by (?:the )?(?:virus|bacter))|is the cause of"
        r"|are the cause of|leads? to|brings about)\b",
        r"\b(?:associat\w*|correlat\w*|linked?|links|observational|cross-sectional|may|might|related to"
        r"|relationship)\b",
        r"\b(?:caus\w*|induc\w*|lea?ds?(?:ing)? to|led to|result\w* (?:in|from)|due to|trigger\w*|produc\w*"
        r"|provok\w*|mediat\w*|reduc\w*|increas(?:es|ed) the"
        r"|complicat\w*|random\w*|adverse|because|attributable|contribut\w*)\b",
    ),
    (
        r"\b(?:exclusively|solely|entirely)\b",
        r"\b(?:mainly|mostly|partly|partially|predominantly|primarily|largely|among others|in part|most)\b",
        r"\b(?:exclusively|solely|entirely|only|all|alone|complete\w*)\b",
    ),
    (
        r"\b(?:completely|fully|totally)\b",
        r"\b(?:partly|partially|partial|incomplete\w*|somewhat|in part|mostly|to some (?:extent|degree))\b",
        r"\b(?:completely|fully|totally|complete|full|total|abolish\w*|entirely)\b(?<!incompletely)",
    ),
    (
        r"\bwill(?! not)\b(?! be (?:needed|required|tested|studied))",
        r"\b(?:may|might|could)\b",
        r"\b(?:will|would|does|did|is expected|reduced|increased|was|were)\b",
    ),
)
_COMPILED = tuple(tuple(re.compile(part, re.IGNORECASE) for part in step) for step in _STEPS)
_EVERY = re.compile(r"\b(?:every|each|all)\b(?! but| other| except)|without exception", re.IGNORECASE)
_ALL_BUT = re.compile(
    r"\b(?:all but|all except|except(?:ed|ing)?|apart from|with the exception of|save for|other than)\b", re.I
)
_DENIED = re.compile(r"\b(?:not|no|never|without|cannot|nor|hardly|neither)\b|n't\b", re.IGNORECASE)


def scope_findings(claim: str, source: str) -> Iterator[Finding]:
    """Findings where a claim says outright what its source says with reserve."""
    total, exception = _EVERY.search(claim), _ALL_BUT.search(source)
    if total and exception and not _ALL_BUT.search(claim) and not _DENIED.search(claim, 0, total.start()):
        yield Finding("scope", f"claim says '{total[0]}', the source '{exception[0]}'")
        return
    for strong, weak, bearing in _COMPILED:
        said = strong.search(claim)
        if not said or bearing.search(source):
            continue
        if _DENIED.search(claim, max(0, said.start() - 30), said.start()):
            continue
        reserve = weak.search(source)
        if reserve:
            yield Finding("scope", f"claim says '{said[0]}', the source '{reserve[0]}'")
