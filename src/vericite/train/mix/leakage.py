"""What may not be in the mix: claims and documents of the sets that scores are reported on."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

NEAR = 0.85
"""Token Jaccard from which two claims count as the same."""

_TOKEN = re.compile(r"[^\W_]+")
# Shorter texts agree by chance ("Is it contagious?"); they must agree word for word.
_SHORTEST = 5


def normal(text: str) -> str:
    """A text's words in small letters, and nothing else of it."""
    return " ".join(_TOKEN.findall(text.lower()))


class NearTexts:
    """Texts that can be asked for one nearly the same as another, without comparing all pairs.

    Two sets of tokens with a Jaccard of at least t share one of the rarest ``n - ceil(t n) + 1`` tokens of either,
    so only those are indexed.
    """

    def __init__(self, texts: Iterable[tuple[str, str]], threshold: float = NEAR) -> None:
        self._threshold = threshold
        self._exact: dict[str, str] = {}
        for text, origin in texts:
            self._exact.setdefault(normal(text), origin)
        self._exact.pop("", None)
        self._sets = [(frozenset(text.split()), origin) for text, origin in self._exact.items()]
        self._counts = Counter(token for tokens, _ in self._sets for token in tokens)
        self._prefixes: defaultdict[str, list[int]] = defaultdict(list)
        for index, (tokens, _) in enumerate(self._sets):
            if len(tokens) >= _SHORTEST:
                for token in self._prefix(tokens):
                    self._prefixes[token].append(index)

    def _prefix(self, tokens: frozenset[str]) -> list[str]:
        ranked = sorted(tokens, key=lambda token: (self._counts[token], token))
        return ranked[: len(ranked) - math.ceil(self._threshold * len(ranked)) + 1]

    def same(self, text: str) -> str | None:
        """Where the very same text comes from, if it is here."""
        return self._exact.get(normal(text))

    def near(self, text: str) -> str | None:
        """Where a text as near as the threshold comes from, if one is here."""
        tokens = frozenset(normal(text).split())
        if len(tokens) < _SHORTEST:
            return None
        candidates = {index for token in self._prefix(tokens) for index in self._prefixes.get(token, ())}
        for index in sorted(candidates):
            other, origin = self._sets[index]
            if len(tokens & other) >= self._threshold * len(tokens | other):
                return origin
        return None


@dataclass(frozen=True, slots=True)
class Forbidden:
    """What the test sets hold.

    Attributes:
        claims: (text, set) of every claim, question and statement that is tested on.
        documents: The set by the id of a document ("pmid:1", "scifact:2", "nct:NCT3").
        titles: (title, set) of documents, for those that another set may hold under another id.
    """

    claims: tuple[tuple[str, str], ...] = ()
    documents: dict[str, str] = field(default_factory=lambda: dict[str, str]())
    titles: tuple[tuple[str, str], ...] = ()


class Guard:
    """Says of a claim or a document which test set it belongs to, and counts what was turned away.

    Attributes:
        dropped: Counts by (source of the example, reason, test set).
    """

    def __init__(self, forbidden: Forbidden, threshold: float = NEAR) -> None:
        self._claims = NearTexts(forbidden.claims, threshold)
        self._titles = NearTexts(forbidden.titles, threshold)
        self._documents = forbidden.documents
        self._verdicts: dict[str, tuple[str, str] | None] = {}
        self.dropped: Counter[tuple[str, str, str]] = Counter()

    def _claim_reason(self, claim: str) -> tuple[str, str] | None:
        if claim not in self._verdicts:
            origin = self._claims.same(claim)
            near = None if origin else self._claims.near(claim)
            self._verdicts[claim] = ("same claim", origin) if origin else ("near claim", near) if near else None
        return self._verdicts[claim]

    def refuses_claim(self, claim: str, source: str, allowed: str | None = None) -> bool:
        """Whether a claim is, or nearly is, one that is tested on; ``allowed`` names a set that may hold it."""
        reason = self._claim_reason(claim)
        return self._counted(source, reason, allowed)

    def refuses_document(self, document: str, source: str, title: str = "") -> bool:
        """Whether a document is one that is tested on, by its id or by its title."""
        origin = self._documents.get(document)
        if origin:
            return self._counted(source, ("document", origin), None)
        origin = self._titles.same(title) or self._titles.near(title) if title else None
        return self._counted(source, ("title", origin) if origin else None, None)

    def _counted(self, source: str, reason: tuple[str, str] | None, allowed: str | None) -> bool:
        if reason is None or reason[1] == allowed:
            return False
        self.dropped[source, *reason] += 1
        return True
