"""From a question to its evidence: retrieve, rank again, and search again in other words where that was poor.

A study of what retrieval does to answers asks the same questions in several cells: the *standard* one has what a search
finds, the *oracle* the documents that the question's authors found its answer in. The two differ in more than the
documents: in how many there are, and in which questions have any. The *controlled* oracle differs in the documents
alone.
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
from typing import Literal, Protocol, SupportsIndex

from vericite.corpus.retractions import known_retractions
from vericite.errors import InputError, expect_type
from vericite.pipeline.runs import RUNS
from vericite.records import Evidence, OracleCell, Question, Rewriting, Run, read_jsonl
from vericite.retrieve.named import Oracle
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

ALL_GOLD = 10_000
"""More gold documents than any question has."""

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


class StandardCell(Protocol):
    """What a question gets without an oracle."""

    @property
    def parts(self) -> Mapping[str, str]:
        """The signature of each stage by its name."""
        ...

    def find(self, question: Question, k: int) -> FoundEvidence:
        """The evidence of a question."""
        ...


class SavedCell:
    """The evidence of runs that were kept: a controlled oracle of a cell that was run before.

    Args:
        folder: Of ``ask --save``.

    Raises:
        InputError: There are no runs.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / RUNS
        if not self._file.is_file():
            raise InputError(f"expected a folder of runs, with {RUNS}; found none in {folder}")

    @property
    def parts(self) -> Mapping[str, str]:
        """The runs by their content."""
        return {"retriever": f"runs@{hashlib.sha256(self._file.read_bytes()).hexdigest()[:12]}"}

    def find(self, question: Question, k: int) -> FoundEvidence:
        """The evidence that was kept, all of it whatever ``k`` is.

        Raises:
            InputError: The runs have no such question.
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
    """A search that gives gold documents, in their order: all there are, or as many as the standard cell has.

    Attributes:
        standard: The standard cell; None for a plain oracle.
    """

    standard: StandardCell | None = None

    @property
    def parts(self) -> dict[str, str]:
        """The oracle, and the stages of the standard cell behind their names."""
        standard: Mapping[str, str] = {} if self.standard is None else self.standard.parts
        return {"retriever": self.retriever.signature, **{f"standard {name}": it for name, it in standard.items()}}

    def find(self, question: Question, k: int, on_stage: OnStage | None = None) -> FoundEvidence:
        """The first ``k`` gold documents, or under control as many as the standard cell of ``k`` has.

        Raises:
            InputError: The question has no gold documents, none of them is to be had, or ``k`` is less than 1.
        """
        if self.standard is None:
            found = super().find(question, k, on_stage)
            cell = OracleCell(kind="oracle", gold=_usable(found.evidence), missing=self._missing(question))
            return FoundEvidence(found.evidence, None, found.seconds, cell)
        clock = Clock(on_stage=on_stage)
        with clock("retrieve"):
            # First the gold: a question without any is refused before a model rewrites it.
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
