"""Retrieval cells: evidence of a question's gold documents, beside what a search finds for it.

A study of what retrieval does to answers asks the same questions in several cells: the *standard* one has what a search
finds, the *oracle* the documents that the question's authors found its answer in. The two differ in more than the
documents: in how many there are, and in which questions have any. The *controlled* oracle differs in the documents
alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

from vericite.errors import InputError
from vericite.pipeline.plan import ALL_GOLD
from vericite.pipeline.runs import RUNS
from vericite.pipeline.search import Clock, FoundEvidence, OnStage, Search
from vericite.records import Evidence, OracleCell, Question, Run, read_jsonl
from vericite.retrieve.oracle import Oracle


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
