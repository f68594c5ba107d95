"""Find the evidence for a question: retrieve, rerank, and search again in other words if the evidence is poor.

A study of retrieval asks the same questions in several cells. The *standard* cell uses what a search finds. The
*oracle* uses the gold documents, in which the authors of the question found its answer. These two cells also differ in
the number of documents and in which questions have any. The *controlled* oracle differs only in the documents.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from operator import index
from pathlib import Path
from typing import Protocol, SupportsIndex

from vericite.corpus.retractions import known_retractions
from vericite.errors import InputError, expect_type
from vericite.pipeline.plan import ALL_GOLD, Keep, RerankBy
from vericite.pipeline.runs import RUNS
from vericite.records import Evidence, OracleCell, Question, Rewriting, Run, read_jsonl
from vericite.retrieve.lookup import Oracle
from vericite.retrieve.rerank import Rerank
from vericite.retrieve.retriever import Retriever
from vericite.retrieve.rewrite import Fallible, Rewriter, Sufficiency, Trigger

OnStage = Callable[[str, float | None], None]
"""Called when a stage begins, and again with its seconds when it ends."""


class Clock:
    """Adds up the time of stages."""

    def __init__(self, seconds: Mapping[str, float] | None = None, on_stage: OnStage | None = None) -> None:
        self.seconds: dict[str, float] = dict(seconds or {})
        self._on_stage = on_stage

    @contextmanager
    def __call__(self, stage: str) -> Generator[None]:
        """Add the time of this block to a stage."""
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


_WIDEST = 64
"""If retracted documents are in the way, ask for at most this many times the documents wanted."""


@dataclass(frozen=True)
class Rewrite:
    """When a question is rewritten and searched for again.

    Attributes:
        rewriter: Rewrites the question.
        trigger: When to rewrite.
        keep: ``new`` keeps what the rewriting found, as in Reason and Verify's Algorithm 1. ``better`` keeps it only if
            its best documents are more relevant by the reranker or, without one, cover more of the question.
        rerank_by: Text that the second search is reranked by: ``question``, because documents have to answer the
            question, or ``rewriting``, as in that algorithm.
    """

    rewriter: Rewriter
    trigger: Trigger = field(default_factory=Trigger)
    keep: Keep = "better"
    rerank_by: RerankBy = "question"

    @property
    def signature(self) -> str:
        """Rewriter, trigger, what is kept, and what it is reranked by if that is not the question."""
        by = "" if self.rerank_by == "question" else f", rerank_by={self.rerank_by}"
        return f"{self.rewriter.signature}, {self.trigger.signature}, keep={self.keep}{by}"


@dataclass(frozen=True)
class Search:
    """How evidence is found.

    Attributes:
        retriever: Finds documents.
        rerank: Reranks the first of them; None keeps their order.
        rewrite: Searches again if the evidence is poor; None never does.
    """

    retriever: Retriever
    rerank: Rerank | None = None
    rewrite: Rewrite | None = None

    @property
    def parts(self) -> dict[str, str]:
        """Signature of each stage by its name, for provenance."""
        stages = {"retriever": self.retriever, "reranker": self.rerank, "rewriter": self.rewrite}
        return {name: stage.signature for name, stage in stages.items() if stage is not None}

    def find(self, question: Question, k: int, on_stage: OnStage | None = None) -> FoundEvidence:
        """Return the best documents, ranked, until ``k`` of them are usable.

        Retracted documents stay at their rank, so that they can be seen, but do not count towards ``k``.
        ``on_stage`` is called for each stage.

        Raises:
            InputError: ``k`` is less than 1.
        """
        expect_type(k, SupportsIndex, "k, the number of documents to find, as a whole number", "Give an int, such as 5")
        k = index(k)
        if k < 1:
            raise InputError(f"expected k, the number of documents to find, to be 1 or more; found {k}")
        clock = Clock(on_stage=on_stage)
        evidence = self._ranked(question, question.text, question.text, k, clock)
        if self.rewrite is None:
            return FoundEvidence(evidence, None, clock.seconds)
        evidence, rewriting = self._rewritten(self.rewrite, question, evidence, k, clock)
        return FoundEvidence(evidence, rewriting, clock.seconds)

    def _ranked(self, question: Question, query: str, by: str, k: int, clock: Clock) -> tuple[Evidence, ...]:
        """Retrieve the best documents for a query and rerank them by the text ``by``."""
        wanted = max(k, self.rerank.candidates if self.rerank else 0)
        with clock("retrieve"):
            found = self._retrieved(question if query == question.text else _reworded(question, query), wanted)
        if self.rerank is not None:
            with clock("rerank"):
                found = self.rerank(by, found)
        return first_usable(found, k)

    def _retrieved(self, question: Question, wanted: int) -> tuple[Evidence, ...]:
        """Retrieve more until enough documents are usable or there are no more."""
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
    """Result of a search.

    Attributes:
        evidence: The documents, best first.
        rewriting: Whether the question was rewritten, and why; None if the search never rewrites.
        seconds: Seconds of each stage.
        cell: Numbers of gold and other documents; None if the search is not an oracle.
    """

    evidence: tuple[Evidence, ...]
    rewriting: Rewriting | None
    seconds: dict[str, float]
    cell: OracleCell | None = None

    @property
    def usable_first(self) -> tuple[Evidence, ...]:
        """Usable documents first, then retracted ones."""
        return tuple(sorted(self.evidence, key=lambda hit: hit.document.retracted))


def _reworded(question: Question, query: str) -> Question:
    return question.model_copy(update={"text": query})


def _flagged(found: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Mark documents that are known on this machine to be retracted."""
    known = known_retractions()
    return tuple(hit.model_copy(update={"document": known.flagged(hit.document)}) for hit in found)


def _is_better(new: Sufficiency, old: Sufficiency) -> bool:
    """Compare by relevance if both have it and it differs, else by coverage."""
    if new.relevance is None or old.relevance is None or new.relevance == old.relevance:
        return new.coverage > old.coverage
    return new.relevance > old.relevance


def first_usable(found: Sequence[Evidence], k: int) -> tuple[Evidence, ...]:
    """Return the documents up to the ``k``-th usable one; the first ``k`` if none is usable."""
    usable = [place for place, hit in enumerate(found) if not hit.document.retracted]
    if not usable:
        return tuple(found[:k])
    return tuple(found[: usable[k - 1] + 1] if len(usable) >= k else found[: usable[-1] + k])


class StandardCell(Protocol):
    """The search of the standard cell."""

    @property
    def parts(self) -> Mapping[str, str]:
        """Signature of each stage by its name."""
        ...

    def find(self, question: Question, k: int) -> FoundEvidence:
        """Return the evidence of a question."""
        ...


class SavedCell:
    """The evidence of saved runs: lets a controlled oracle use a standard cell that was run before.

    Args:
        folder: Folder of ``ask --save``.

    Raises:
        InputError: The folder has no runs.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / RUNS
        if not self._file.is_file():
            raise InputError(f"expected a folder of runs, with {RUNS}; found none in {folder}")

    @property
    def parts(self) -> Mapping[str, str]:
        """Hash of the runs."""
        return {"retriever": f"runs@{hashlib.sha256(self._file.read_bytes()).hexdigest()[:12]}"}

    def find(self, question: Question, k: int) -> FoundEvidence:
        """Return all the saved evidence, whatever ``k`` is.

        Raises:
            InputError: The runs do not have this question.
        """
        found = self._runs.get(question.id)
        if found is None:
            raise InputError(f"expected the question {question.id!r} in {self._file}; found none. Ask it there first.")
        return FoundEvidence(found, None, {})

    @cached_property
    def _runs(self) -> dict[str, tuple[Evidence, ...]]:
        return {run.question.id: run.evidence for run in read_jsonl(Run, self._file)}


@dataclass(frozen=True)
class OracleSearch(Search):
    """A search that returns gold documents, in their order: all of them, or as many as the standard cell has.

    Attributes:
        standard: The standard cell; None for an oracle that is not controlled.
    """

    standard: StandardCell | None = None

    @property
    def parts(self) -> dict[str, str]:
        """Signatures of the oracle and of the stages of the standard cell."""
        standard: Mapping[str, str] = {} if self.standard is None else self.standard.parts
        return {
            "retriever": self.retriever.signature,
            **{f"standard {name}": signature for name, signature in standard.items()},
        }

    def find(self, question: Question, k: int, on_stage: OnStage | None = None) -> FoundEvidence:
        """Return the first ``k`` gold documents, or for a controlled oracle as many as the standard cell has for ``k``.

        Raises:
            InputError: The question has no gold documents, none of them was found, or ``k`` is less than 1.
        """
        if self.standard is None:
            found = super().find(question, k, on_stage)
            cell = OracleCell(kind="oracle", gold=_usable(found.evidence), missing=self._missing(question))
            return FoundEvidence(found.evidence, None, found.seconds, cell)
        clock = Clock(on_stage=on_stage)
        with clock("retrieve"):
            # Gold first: refuse a question without any before a model is paid to rewrite it.
            gold = super().find(question, ALL_GOLD).evidence
            retrieved = self.standard.find(question, k).usable_first
        return self._controlled(question, gold, retrieved, clock)

    def _controlled(
        self, question: Question, gold: Sequence[Evidence], retrieved: Sequence[Evidence], clock: Clock
    ) -> FoundEvidence:
        standard = _usable(retrieved)
        chosen = [hit for hit in gold if not hit.document.retracted][:standard]
        known = {hit.document.id for hit in gold} | {hit.document.pmid for hit in gold if hit.document.pmid}
        others = [hit for hit in retrieved if not hit.document.retracted and _names(hit).isdisjoint(known)]
        padding = others[: standard - len(chosen)]
        cell = OracleCell(
            kind="controlled",
            gold=len(chosen),
            retrieved=len(padding),
            standard=standard,
            missing=self._missing(question),
        )
        ranked = [hit.model_copy(update={"rank": rank}) for rank, hit in enumerate([*chosen, *padding], start=1)]
        return FoundEvidence(tuple(ranked), None, clock.seconds, cell)

    def _missing(self, question: Question) -> Mapping[str, str]:
        return self.retriever.missing.get(question.id, {}) if isinstance(self.retriever, Oracle) else {}


def _usable(evidence: Sequence[Evidence]) -> int:
    return sum(not hit.document.retracted for hit in evidence)


def _names(hit: Evidence) -> set[str]:
    return {hit.document.id} | ({hit.document.pmid} if hit.document.pmid else set())
