"""A judge that counts shared words: a floor to compare against, and quick enough for tests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import numpy as np

from vericite.models import Pair
from vericite.verify.judging import Judgement

_WORD = re.compile(r"\w+")
_NEGATIONS = frozenset("no not never without neither nor cannot failed lack absence".split())
_UNTELLING = frozenset(
    "a an and are as at be been by can for from has have in is it its may of on or that the their these "
    "this to was were which with".split()
)


class LexicalJudge:
    """Entails when the premise has most of the claim's words, contradicts when one alone is negated."""

    signature = "lexical.v1"

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """Coverage of the claim's telling words by the premise, split by whether the negations agree."""
        for pair in pairs:
            premise, claim = _words(pair.premise), _words(pair.claim)
            telling = claim - _NEGATIONS
            covered = len(telling & premise) / len(telling) if telling else 0.0
            agree = bool(claim & _NEGATIONS) == bool(premise & _NEGATIONS)
            near = covered**2
            split = (0.9 * near, 0.1 * near) if agree else (0.1 * near, 0.9 * near)
            yield Judgement(np.array([*split, 1 - near], dtype=np.float32))


def _words(text: str) -> frozenset[str]:
    words = (word for word in _WORD.findall(text.lower()) if word not in _UNTELLING)
    return frozenset(word.rstrip("s") or word for word in words)
