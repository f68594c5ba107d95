"""From a question to its evidence: retrieve, rank again, and search again in other words where that was poor."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from vericite.corpus.retractions import known_retractions
from vericite.errors import InputError
from vericite.records import Evidence, OracleCell, Question, Rewriting
from vericite.retrieve.rerank import Rerank
from vericite.retrieve.retriever import Retriever
from vericite.retrieve.rewrite import Fallible, Rewriter, Sufficiency, Trigger

OnStage = Callable[[str, float | None], None]
"""Called for each stage as it begins, and again with its seconds as it ends."""


class Clock:
    """Adds up what stages take."""

    def __init__(self, seconds: Mapping[str, float] | None = None, on_stage: OnStage | None = None) -> None:
        self.seconds: dict[str, float] = dict(seconds or {})
        self._on_stage = on_stage

    @contextmanager
    def __call__(self, stage: str) -> Generator[None]:
        """Count what is done within to a stage."""
        if self._on_stage:
            self._on_stage(stage, None)
        began = time.perf_counter()
        try:
            yield
        finally:
            took = time.perf_counter() - began
            self.seconds[stage] = self.seconds.get(stage, 0.0) + took
            if self._on_stage:
                self._on_stage(stage, took)


Keep = Literal["better", "new"]
"""Which evidence is kept after a rewriting: that with the better scores, or always the new."""

RerankBy = Literal["question", "rewriting"]
"""What the second search is ranked again by: the question, or the words that found it."""

_WIDEST = 64
"""Times as many documents as wanted that are asked for at most, where retracted ones are in the way."""


@dataclass(frozen=True)
class Rewrite:
    """When a question is searched for again, and in whose words.

    Attributes:
        rewriter: Finds the other words.
        trigger: When.
        keep: ``new`` takes what the new words found, as in Reason and Verify's Algorithm 1; ``better`` takes it only
            where its best documents are the more relevant ones by the reranker or, without one, cover more of the
            question.
        rerank_by: What the second search is ranked again by. ``question``: other words find documents, and how well
            these answer is a matter of the question. ``rewriting``: as in that algorithm.
    """

    rewriter: Rewriter
    trigger: Trigger = field(default_factory=Trigger)
    keep: Keep = "better"
    rerank_by: RerankBy = "question"

    @property
    def signature(self) -> str:
        """Who, when, which is kept, and what it is ranked by where that is not the question."""
        by = "" if self.rerank_by == "question" else f", rerank_by={self.rerank_by}"
        return f"{self.rewriter.signature}, {self.trigger.signature}, keep={self.keep}{by}"


@dataclass(frozen=True)
class Search:
    """The way to the evidence, as a value.

    Attributes:
        retriever: Finds documents.
        rerank: Ranks the first of them again; None leaves their order.
        rewrite: Searches again where the evidence is poor; None never does.
    """

    retriever: Retriever
    rerank: Rerank | None = None
    rewrite: Rewrite | None = None

    @property
    def parts(self) -> dict[str, str]:
        """The signature of each stage by its name, for provenance."""
        stages = {"retriever": self.retriever, "reranker": self.rerank, "rewriter": self.rewrite}
        return {name: stage.signature for name, stage in stages.items() if stage is not None}

    def find(self, question: Question, k: int, on_stage: OnStage | None = None) -> FoundEvidence:
        """The best documents in their order, until ``k`` of them are usable.

        Retracted documents that rank among them are there too, at their rank, and do not count: they are to be seen,
        and take no place from one that can be cited. ``on_stage`` is called for each stage.

        Raises:
            InputError: ``k`` is less than 1.
        """
        if k < 1:
            raise InputError(f"expected k, the number of documents to find, to be 1 or more; found {k}")
        clock = Clock(on_stage=on_stage)
        evidence = self._ranked(question, question.text, question.text, k, clock)
        if self.rewrite is None:
            return FoundEvidence(evidence, None, clock.seconds)
        evidence, rewriting = self._rewritten(self.rewrite, question, evidence, k, clock)
        return FoundEvidence(evidence, rewriting, clock.seconds)

    def _ranked(self, question: Question, query: str, by: str, k: int, clock: Clock) -> tuple[Evidence, ...]:
        """The best documents for a query, ranked again by the text ``by``."""
        wanted = max(k, self.rerank.candidates if self.rerank else 0)
        with clock("retrieve"):
            found = self._retrieved(question if query == question.text else _reworded(question, query), wanted)
        if self.rerank is not None:
            with clock("rerank"):
                found = self.rerank(by, found)
        return first_usable(found, k)

    def _retrieved(self, question: Question, wanted: int) -> tuple[Evidence, ...]:
        """Until so many are usable, or there are no more."""
        asked = wanted
        while True:
            found = _flagged(self.retriever.retrieve(question, asked))
            usable = sum(not hit.document.retracted for hit in found)
            if usable >= wanted or len(found) < asked or asked >= _WIDEST * wanted:
                return found
            asked *= 4

    def _rewritten(
        self, rewrite: Rewrite, question: Question, evidence: tuple[Evidence, ...], k: int, clock: Clock
    ) -> tuple[tuple[Evidence, ...], Rewriting]:
        first = self._judged(rewrite.trigger, question, evidence)
        rewriting = Rewriting(coverage=first.coverage, relevance=first.relevance, reasons=first.reasons)
        if not rewriting.fired:
            return evidence, rewriting
        rewriting = rewriting.model_copy(update={"by": rewrite.rewriter.signature})
        with clock("rewrite"):
            query = rewrite.rewriter.rewrite(question.text, [hit.document for hit in evidence])
        if query is None:
            failed = rewrite.rewriter.failures.get(question.text) if isinstance(rewrite.rewriter, Fallible) else None
            return evidence, rewriting.model_copy(update={"failed": failed})
        again = self._ranked(question, query, question.text if rewrite.rerank_by == "question" else query, k, clock)
        second = self._judged(rewrite.trigger, question, again)
        kept = bool(again) and (rewrite.keep == "new" or _is_better(second, first))
        update = {"query": query, "again": (second.coverage, second.relevance), "kept": kept}
        return again if kept else evidence, rewriting.model_copy(update=update)

    def _judged(self, trigger: Trigger, question: Question, evidence: Sequence[Evidence]) -> Sufficiency:
        usable = [hit for hit in evidence if not hit.document.retracted]
        scores = [hit.scores["rerank"] for hit in usable if "rerank" in hit.scores]
        texts = [hit.document.titled_text for hit in usable]
        return trigger.reasons(question.text, texts, scores if self.rerank else None)


@dataclass(frozen=True)
class FoundEvidence:
    """What a search found.

    Attributes:
        evidence: The documents, the best first.
        rewriting: Whether it was searched again, and why; None where the search never does.
        seconds: What each stage took.
        cell: How many of them are gold; None where nobody looked.
    """

    evidence: tuple[Evidence, ...]
    rewriting: Rewriting | None
    seconds: dict[str, float]
    cell: OracleCell | None = None

    @property
    def usable_first(self) -> tuple[Evidence, ...]:
        """The documents to answer from, and behind them those that are retracted."""
        return tuple(sorted(self.evidence, key=lambda hit: hit.document.retracted))


def _reworded(question: Question, query: str) -> Question:
    return question.model_copy(update={"text": query})


def _flagged(found: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """With what is known on this machine of retractions, beside what the documents say themselves."""
    known = known_retractions()
    if not known:
        return tuple(found)
    return tuple(hit.model_copy(update={"document": known.flagged(hit.document)}) for hit in found)


def _is_better(new: Sufficiency, old: Sufficiency) -> bool:
    """By relevance where both have it, else by coverage."""
    if new.relevance is None or old.relevance is None or new.relevance == old.relevance:
        return new.coverage > old.coverage
    return new.relevance > old.relevance


def first_usable(found: Sequence[Evidence], k: int) -> tuple[Evidence, ...]:
    """Down to the ``k``-th usable document; where none is, as where retracted ones are asked for, the first ``k``."""
    usable = [place for place, hit in enumerate(found) if not hit.document.retracted]
    if not usable:
        return tuple(found[:k])
    return tuple(found[: usable[k - 1] + 1] if len(usable) >= k else found[: usable[-1] + k])
