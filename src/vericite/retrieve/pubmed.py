"""Live PubMed, searched as in the VeriCite paper."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from vericite.corpus.entrez.results import (
    acronyms,
    all_in_title_or_abstract,
    as_asked,
    content_words,
    created_by,
    mapped,
    query_words,
)
from vericite.errors import InputError
from vericite.records import Document, Evidence, Question

if TYPE_CHECKING:
    from vericite.corpus.entrez.client import Entrez

CANDIDATES = 200
"""Articles of a search to consider, as in the paper."""

MOST_WORDS = 40
"""Maximum words of a question. BioASQ's longest has half as many, and no abstract has all words of a longer one."""

Cleaning = Literal["stopwords", "interrogative"]
"""What to remove from a question: PubMed's stopwords and the leading interrogative, or only the latter."""

_INTERROGATIVES = frozenset("what which who whom whose when where why how".split())
_AUXILIARIES = frozenset("is are was were do does did can could should would will has have".split())

_FEWEST_AT_ONCE = 20
"""Minimum number of records to fetch at once; most are complete, so the first ones often suffice."""

_LOG = logging.getLogger(__name__)


class PubMedRetriever:
    """Finds articles by up to three searches, each wider than the one before, until there are ``k``.

    ``tiab`` requires every word of the question in title or abstract, except its leading interrogative and PubMed's
    stopwords. ``atm`` gives the same words to PubMed's Automatic Term Mapping. ``raw`` sends the question's own words
    in order. The first two only find articles with an abstract. Results of earlier searches stay in front. Each search
    uses PubMed's order of relevance. Only complete articles that are not retracted count (``is_complete``), among its
    first ``candidates``.

    ``Evidence`` names the search that found it (``retriever="pubmed(tiab)"``) and its rank there
    (``scores["search_rank"]``). PubMed gives no scores: ``score`` is 1 / rank.

    Args:
        entrez: The client.
        candidates: Articles of each search to consider.
        cleaning: What to remove from a question. The paper only removes the leading interrogative, and so finds nothing
            if no title or abstract contains a stopword together with the rest.
        until: Only find articles that PubMed had by this date, such as 2025-03-01; empty: all.
    """

    def __init__(
        self, entrez: Entrez, candidates: int = CANDIDATES, cleaning: Cleaning = "stopwords", until: str = ""
    ) -> None:
        if candidates < 1:
            raise InputError(f"expected candidates of at least 1; found {candidates}. Raise it.")
        self._entrez = entrez
        self._candidates = candidates
        self._cleaning: Cleaning = cleaning
        self._until = until

    @property
    def signature(self) -> str:
        """The searches, the number of candidates and the client."""
        cleaning = "" if self._cleaning == "stopwords" else f"cleaning={self._cleaning}, "
        cleaning += f"until={self._until}, " if self._until else ""
        return f"pubmed(tiab>atm>raw, {cleaning}candidates={self._candidates}, {self._entrez.signature})"

    def retrieve(self, question: Question, k: int) -> tuple[Evidence, ...]:
        """Return at most ``k`` articles, the best first.

        Raises:
            InputError: The question has no word that PubMed looks up.
            EntrezError: NCBI cannot be reached, or gave no usable reply.
        """
        found: list[Evidence] = []
        seen: set[str] = set()
        for stage, query in searches(question.text, self._cleaning):
            if len(found) >= k:
                break
            query = created_by(query, self._until) if self._until else query
            for position, document in self._articles(query, k - len(found), seen):
                rank = len(found) + 1
                found.append(
                    Evidence(
                        document=document,
                        rank=rank,
                        score=1 / rank,
                        retriever=f"pubmed({stage})",
                        scores={"search_rank": float(position)},
                    )
                )
                if len(found) >= k:
                    break
        return tuple(found)

    def _articles(self, query: str, wanted: int, seen: set[str]) -> Iterator[tuple[int, Document]]:
        """Yield complete new articles with their positions in the search."""
        places = {pmid: place for place, pmid in enumerate(self._entrez.search(query, self._candidates).ids, start=1)}
        fresh = [pmid for pmid in places if pmid not in seen]
        seen.update(fresh)
        at_once = max(_FEWEST_AT_ONCE, 2 * wanted)
        for start in range(0, len(fresh), at_once):
            fetched = self._entrez.fetch(fresh[start : start + at_once])
            for pmid, problem in fetched.problems.items():
                _LOG.warning("left out PMID %s: %s", pmid, problem)
            for document in fetched.documents:
                if is_complete(document):
                    yield places[document.id], document


def is_complete(document: Document) -> bool:
    """Whether the article can be cited and checked: title, abstract, journal, year and authors are known.

    Retracted articles are not complete: they are no evidence.
    """
    known = (document.title, document.text, document.journal, document.year, document.authors)
    return all(known) and not document.retracted


def searches(question: str, cleaning: Cleaning = "stopwords") -> tuple[tuple[str, str], ...]:
    """Return the searches for a question in order, each with its name. No part of the question is read as syntax.

    Raises:
        InputError: The question has no word that PubMed looks up.
    """
    words = _capped(query_words(question))
    kept = acronyms(words)
    if not (plain := content_words(words, kept)):
        raise InputError(
            f"expected a question with a word that PubMed looks up; found {question[:80]!r}. Name its subject."
        )
    leads = words[0] not in kept and _is_interrogative(words[0], words[1:], question)
    # A question with only an interrogative ("Why?") is about that word.
    if cleaning == "interrogative":
        every = tuple(dict.fromkeys(word.lower() for word in words[leads:])) or plain
        return ("tiab", all_in_title_or_abstract(every)), ("atm", mapped(every)), ("raw", as_asked(words))
    asked = content_words(words[leads:], kept) or plain
    return ("tiab", all_in_title_or_abstract(asked)), ("atm", mapped(asked)), ("raw", as_asked(words))


def _is_interrogative(first: str, rest: Sequence[str], question: str) -> bool:
    """Whether the first word only says what kind of answer is wanted. "Will Rogers phenomenon" is not a question."""
    word = first.lower().removesuffix("'s")
    is_asked = question.rstrip().endswith("?") or (bool(rest) and rest[0].islower())
    return word in _INTERROGATIVES or (word in _AUXILIARIES and is_asked)


def _capped(words: tuple[str, ...]) -> tuple[str, ...]:
    if len(words) > MOST_WORDS:
        _LOG.warning(
            "expected a question of at most %d words; found %d. PubMed is searched for the first %d: no abstract has "
            "them all. Shorten the question.",
            MOST_WORDS,
            len(words),
            MOST_WORDS,
        )
    return words[:MOST_WORDS]
