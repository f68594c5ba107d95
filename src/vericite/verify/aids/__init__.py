"""Reading aids: a source is put into the claim's terms before a judge reads it.

An aid only writes into the source what its words and figures are in the words of the claim, where that is certain: "MI"
as "myocardial infarction", "41 of 204" as "41 of 204 (20%)". Whether the claim holds is for the
judge to say. A comparison that is false is for ``vericite.verify.checks``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import lru_cache

from vericite.verify.aids.abbreviations import Gloss, Glossary, abbreviation_glosses
from vericite.verify.aids.amounts import (
    change_glosses,
    difference_glosses,
    need_glosses,
    numbered,
    ratio_glosses,
    share_glosses,
    unit_glosses,
)
from vericite.verify.checks.words import plain

__all__ = ["AIDS", "KINDS", "Glossary", "put_in_terms"]

AIDS = "aids.v1"
"""Signature of the rules; it changes whenever they would write otherwise into some text."""

_AMOUNTS: dict[str, Callable[[str, str], Iterator[Gloss]]] = {
    "share": share_glosses,
    "unit": unit_glosses,
    "ratio": ratio_glosses,
    "change": change_glosses,
    "need": need_glosses,
    "difference": difference_glosses,
}
KINDS = ("abbreviation", *_AMOUNTS)
"""The aids there are."""

_MOST = 4
"""Glosses in a source: more would crowd out what it says."""

_plain = lru_cache(maxsize=8192)(plain)


def put_in_terms(
    claim: str, source: str, glossary: Glossary, kinds: Collection[str] = KINDS
) -> tuple[str, str, tuple[str, ...]]:
    """The source in the claim's terms, the claim, and what was put in, for users; the same texts where nothing was.

    Amounts are put in with all numbers of both texts as digits, the thousands unseparated.
    """
    reasons: list[str] = []
    if "abbreviation" in kinds:
        source, reasons = _with(source, list(abbreviation_glosses(claim, source, glossary)))
    plain_claim = _plain(claim)
    if not numbered(plain_claim):
        return source, claim, tuple(reasons)
    plain_source = _plain(source)
    found = [gloss for kind, aid in _AMOUNTS.items() if kind in kinds for gloss in aid(plain_claim, plain_source)]
    if found:
        source, more = _with(plain_source, found)
        return source, plain_claim, (*reasons, *more)
    return source, claim, tuple(reasons)


def _with(source: str, glosses: list[Gloss]) -> tuple[str, list[str]]:
    """The source with glosses written in, of those at one place the first."""
    kept: dict[int, Gloss] = {}
    for gloss in glosses:
        kept.setdefault(gloss.end, gloss)
    chosen = sorted(list(kept.values())[:_MOST], key=lambda gloss: gloss.start, reverse=True)
    for gloss in chosen:
        source = source[: gloss.start] + gloss.text + source[gloss.end :]
    return source, [gloss.reason for gloss in reversed(chosen)]
