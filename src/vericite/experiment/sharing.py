"""What cells of an experiment have in common is made once: evidence, answers, judgements.

Cells that search alike get the evidence of one search, also where they take fewer documents of it. Cells that answer
alike from the same evidence get one answer. Judgements are kept in a file that all cells share, by judge, premise and
claim. What a cell that was finished before has found and answered is taken from its runs, so that nothing is paid for
again after a run was stopped.
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from vericite.generate.generator import GeneratesMany, Generator
from vericite.models.contracts import Judge, Judgement, Pair, ledger_of, traits_of
from vericite.pipeline.ask import Pipeline
from vericite.pipeline.search import FoundEvidence, OnStage, Search, first_usable
from vericite.records import Answer, Evidence, Question, Run, Spent
from vericite.retrieve.local import MemoryRetriever
from vericite.verify.judges.wrapped import CachedJudge
from vericite.verify.verifier import Verifier

if TYPE_CHECKING:
    from vericite.llm import Ledger


AnswerKey = tuple[str, str]
"""What an answer is of (question and documents, hashed), and what made it."""


@dataclass
class Counts:
    """How often something was made, and how often it was there already."""

    searched: int = 0
    search_shared: int = 0
    answered: int = 0
    answer_shared: int = 0
    pairs: int = 0
    judged: int = 0

    @property
    def record(self) -> dict[str, int]:
        """As the manifest has them."""
        return {**vars(self), "judgement_shared": self.pairs - self.judged}

    def __add__(self, other: Counts) -> Counts:
        return Counts(**{name: value + getattr(other, name) for name, value in vars(self).items()})


@dataclass
class Shelf:
    """Evidence and answers by what made them and their question.

    Attributes:
        evidence: By search and question: how many documents were asked for, and what was found.
        answers: By generator, question and evidence.
    """

    evidence: dict[tuple[str, str], tuple[int, FoundEvidence]] = field(
        default_factory=dict[tuple[str, str], tuple[int, FoundEvidence]]
    )
    answers: dict[tuple[str, str], Answer] = field(default_factory=dict[tuple[str, str], Answer])

    def take(self, runs: Iterable[Run], search: SharedSearch, k: int) -> None:
        """What a cell found and answered before; runs that failed are to be asked again."""
        for run in runs:
            if run.answer.failed is not None:
                continue
            # The order among retracted documents is not in a run.
            if not any(hit.document.retracted for hit in run.evidence) and run.rewriting is None:
                search.keep(run.question, k, FoundEvidence(run.evidence, None, {}, run.cell))
            generator = run.provenance.parts.get("generator")
            # A repaired answer is not the one that was given.
            if generator is not None and not run.changes and "repair" not in run.provenance.parts:
                self.answers.setdefault(answer_key(generator, run.question, run.evidence), run.answer)


@dataclass(frozen=True)
class SharedSearch(Search):
    """A search whose evidence is kept for cells that search alike.

    Attributes:
        shelf: Where it is kept.
        deepest: How many documents the cell that takes most of them takes.
        counts: How often it was searched.
        key: What tells it from other searches, its corpus included.
        within: The search itself.
    """

    shelf: Shelf = field(default_factory=Shelf, compare=False)
    deepest: int = 1
    counts: Counts = field(default_factory=Counts, compare=False)
    key: str = ""
    within: Search | None = None

    @classmethod
    def of(cls, search: Search, shelf: Shelf, deepest: int, counts: Counts, key: str) -> SharedSearch:
        """A search that is to be shared."""
        return cls(search.retriever, search.rerank, search.rewrite, shelf, deepest, counts, key, search)

    @property
    def parts(self) -> dict[str, str]:
        """Those of the search itself."""
        return self._within.parts

    @property
    def _within(self) -> Search:
        return self.within or Search(self.retriever, self.rerank, self.rewrite)

    def find(self, question: Question, k: int, on_stage: OnStage | None = None) -> FoundEvidence:
        """As the search itself finds it; with less of it where another cell has taken more."""
        asked = self._depth(k)
        kept = self.shelf.evidence.get(self._key(question, k))
        if kept is not None and (kept[0] == k or (kept[0] > k and self.cuts(k))):
            self.counts.search_shared += 1
            return _cut(kept[1], k)
        found = self._within.find(question, asked, on_stage)
        self.counts.searched += 1
        self.keep(question, asked, found)
        return found if asked == k else _cut(found, k, found.seconds)

    def keep(self, question: Question, k: int, found: FoundEvidence) -> None:
        """Keep evidence; that of most documents stays."""
        key = self._key(question, k)
        there = self.shelf.evidence.get(key)
        if there is None or there[0] < k:
            self.shelf.evidence[key] = (k, found)

    def cuts(self, k: int) -> bool:
        """Whether the first ``k`` documents of a deeper search are those of one for ``k``."""
        within = self._within
        if type(within) is not Search or within.rewrite is not None:
            return False
        if within.rerank is not None:
            return self.deepest <= within.rerank.candidates
        return isinstance(within.retriever, MemoryRetriever)

    def _depth(self, k: int) -> int:
        return max(k, self.deepest) if self.cuts(k) else k

    def _key(self, question: Question, k: int) -> tuple[str, str]:
        depth = "" if self.cuts(k) else f" k={k}"
        return json.dumps([self.key, self.parts], sort_keys=True) + depth, _id(question)


def _cut(found: FoundEvidence, k: int, seconds: Mapping[str, float] | None = None) -> FoundEvidence:
    return replace(found, evidence=first_usable(found.evidence, k), seconds=dict(seconds or {}))


class SharedGenerator:
    """A generator whose answers are kept for cells that answer alike from the same evidence."""

    def __init__(self, generator: Generator, shelf: Shelf, counts: Counts) -> None:
        self._generator = generator
        self._shelf = shelf
        self._counts = counts
        self.signature = generator.signature

    @property
    def ledger(self) -> Ledger | None:
        """That of the generator itself."""
        return getattr(self._generator, "ledger", None)

    def generate(self, question: Question, evidence: Sequence[Evidence]) -> Answer:
        """The answer that is there, or a new one."""
        key = answer_key(self.signature, question, evidence)
        return self._known(key) or self._kept(key, self._generator.generate(question, evidence))

    def _known(self, key: AnswerKey) -> Answer | None:
        answer = self._shelf.answers.get(key)
        if answer is None:
            return None
        self._counts.answer_shared += 1
        if answer.spent is None:
            return answer
        # It was paid for in another cell.
        return answer.model_copy(update={"spent": Spent(remembered=answer.spent.calls + answer.spent.remembered)})

    def _kept(self, key: AnswerKey, answer: Answer) -> Answer:
        self._counts.answered += 1
        if answer.failed is None:
            self._shelf.answers[key] = answer
        return answer


class SharedAskingGenerator(SharedGenerator):
    """The same of a generator that is asked several questions at a time."""

    _generator: GeneratesMany

    def generate_many(self, asked: Iterable[tuple[Question, Sequence[Evidence]]]) -> Iterator[Answer]:
        """Answers in order. Those that are there come at once; between them several are asked for at a time."""
        source = iter(asked)
        for question, evidence in source:
            key = answer_key(self.signature, question, evidence)
            if (known := self._known(key)) is not None:
                yield known
                continue
            ahead = _Ahead(chain([(question, evidence)], source), self)
            for answer in self._generator.generate_many(ahead):
                yield self._kept(ahead.keys.popleft(), answer)
            if ahead.answer is not None:
                yield ahead.answer

    def known(self, key: AnswerKey) -> Answer | None:
        """The answer that is there."""
        return self._known(key)


class _Ahead:
    """What has to be asked for, up to the first question whose answer is there already."""

    def __init__(self, source: Iterator[tuple[Question, Sequence[Evidence]]], generator: SharedAskingGenerator) -> None:
        self._source = source
        self._generator = generator
        self.keys: deque[AnswerKey] = deque()
        self.answer: Answer | None = None

    def __iter__(self) -> Iterator[tuple[Question, Sequence[Evidence]]]:
        first = True
        for question, evidence in self._source:
            key = answer_key(self._generator.signature, question, evidence)
            if not first and (known := self._generator.known(key)) is not None:
                self.answer = known
                return
            first = False
            self.keys.append(key)
            yield question, evidence


def answer_key(signature: str, question: Question, evidence: Sequence[Evidence]) -> AnswerKey:
    """The place of an answer: equal questions, documents and generators share it."""
    seen = [[hit.document.id, hit.document.text, hit.document.retracted, hit.rank] for hit in evidence]
    content = json.dumps([_id(question), question.type, seen])
    return hashlib.sha256(content.encode()).hexdigest(), signature


def _id(question: Question) -> str:
    return json.dumps([question.id, question.text])


class CountingJudge:
    """A judge that counts the pairs it is asked about."""

    def __init__(self, judge: Judge, counts: Counts, field: str) -> None:
        self._judge = judge
        self._counts = counts
        self._field = field
        self.traits = traits_of(judge)

    @property
    def signature(self) -> str:
        """The judge's own."""
        return self._judge.signature

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """The judge's own judgements."""
        return self._judge.judge(self._counted(pairs))

    def _counted(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        for pair in pairs:
            setattr(self._counts, self._field, getattr(self._counts, self._field) + 1)
            yield pair


class Sharing:
    """What the cells of one experiment share while it runs.

    Args:
        judgements: The file of judgements; None to keep none.
    """

    def __init__(self, judgements: Path | None) -> None:
        self.shelf = Shelf()
        self._judgements = judgements
        self._open: list[CachedJudge] = []

    def pipeline(self, own: Pipeline, deepest: int, counts: Counts, key: str) -> Pipeline:
        """A pipeline that takes what is there of evidence, answers and judgements, and leaves what it makes.

        Args:
            own: The pipeline of the cell.
            deepest: How many documents are taken by that cell, of those that search alike, which takes most.
            counts: Where it is counted what was made.
            key: What tells its search from others, its corpus included.
        """
        shared = copy(own)
        shared.search = SharedSearch.of(own.search, self.shelf, deepest, counts, key)
        kind = SharedAskingGenerator if isinstance(own.generator, GeneratesMany) else SharedGenerator
        shared.generator = kind(own.generator, self.shelf, counts)
        shared.verifier = self._remembering(own.verifier, counts)
        return shared

    def take(self, runs: Iterable[Run], pipeline: Pipeline, k: int) -> None:
        """What a cell of ``k`` documents found and answered before, by the pipeline that was made for it."""
        assert isinstance(pipeline.search, SharedSearch)
        self.shelf.take(runs, pipeline.search, k)

    def _remembering(self, verifier: Verifier, counts: Counts) -> Verifier:
        # One that asks a language model keeps its replies, and nothing else.
        if self._judgements is None or ledger_of(verifier.judge) is not None:
            return verifier
        own = copy(verifier)
        asked = CachedJudge(CountingJudge(verifier.judge, counts, "judged"), self._judgements)
        self._open.append(asked)
        own.judge = CountingJudge(asked, counts, "pairs")
        return own

    def close(self) -> None:
        """Let go of the file of judgements."""
        for judge in self._open:
            judge.close()
        self._open.clear()
