"""Share evidence, answers and judgements between the cells of an experiment.

Cells with the same search share its evidence, even if they use different numbers of documents. Cells with the same
generator and evidence share answers. Judgements are cached in a file for all cells, by judge, premise and claim. The
evidence and answers of earlier runs are reused, so nothing is paid for twice after an interruption.
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
"""A hash of question and documents, and the signature of the generator."""


@dataclass
class Counts:
    """How often something was computed, and how often it was reused."""

    searched: int = 0
    search_shared: int = 0
    answered: int = 0
    answer_shared: int = 0
    pairs: int = 0
    judged: int = 0

    @property
    def record(self) -> dict[str, int]:
        """JSON-ready dict for the manifest."""
        return {**vars(self), "judgement_shared": self.pairs - self.judged}

    def __add__(self, other: Counts) -> Counts:
        return Counts(**{name: value + getattr(other, name) for name, value in vars(self).items()})


@dataclass
class Shelf:
    """Evidence and answers that cells share.

    Attributes:
        evidence: The number of documents searched and the evidence found, by search and question.
        answers: Answers by key, see ``answer_key``.
    """

    evidence: dict[tuple[str, str], tuple[int, FoundEvidence]] = field(
        default_factory=dict[tuple[str, str], tuple[int, FoundEvidence]]
    )
    answers: dict[tuple[str, str], Answer] = field(default_factory=dict[tuple[str, str], Answer])

    def take(self, runs: Iterable[Run], search: SharedSearch, k: int) -> None:
        """Add the evidence and answers of earlier runs, except failed ones."""
        for run in runs:
            if run.answer.failed is not None:
                continue
            # A run does not record the order of retracted documents.
            if not any(hit.document.retracted for hit in run.evidence) and run.rewriting is None:
                search.keep(run.question, k, FoundEvidence(run.evidence, None, {}, run.cell))
            generator = run.provenance.parts.get("generator")
            # A repaired answer differs from the generator's.
            if generator is not None and not run.changes and "repair" not in run.provenance.parts:
                self.answers.setdefault(answer_key(generator, run.question, run.evidence), run.answer)


@dataclass(frozen=True)
class SharedSearch(Search):
    """A search that shares its evidence between cells.

    Attributes:
        shelf: The shared evidence.
        deepest: The largest number of documents that any cell uses.
        counts: Counts of searches.
        key: Identifies the search and its corpus.
        within: The underlying search.
    """

    shelf: Shelf = field(default_factory=Shelf, compare=False)
    deepest: int = 1
    counts: Counts = field(default_factory=Counts, compare=False)
    key: str = ""
    within: Search | None = None

    @classmethod
    def of(cls, search: Search, shelf: Shelf, deepest: int, counts: Counts, key: str) -> SharedSearch:
        """Wrap a search."""
        return cls(search.retriever, search.rerank, search.rewrite, shelf, deepest, counts, key, search)

    @property
    def parts(self) -> dict[str, str]:
        """The parts of the underlying search."""
        return self._within.parts

    @property
    def _within(self) -> Search:
        return self.within or Search(self.retriever, self.rerank, self.rewrite)

    def find(self, question: Question, k: int, on_stage: OnStage | None = None) -> FoundEvidence:
        """Search, or return shared evidence, cut to ``k`` documents."""
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
        """Store evidence, unless the stored evidence has at least as many documents."""
        key = self._key(question, k)
        stored = self.shelf.evidence.get(key)
        if stored is None or stored[0] < k:
            self.shelf.evidence[key] = (k, found)

    def cuts(self, k: int) -> bool:
        """Whether a search for ``k`` documents returns the first ``k`` of a deeper search."""
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
    """A generator that shares its answers between cells with the same evidence."""

    def __init__(self, generator: Generator, shelf: Shelf, counts: Counts) -> None:
        self._generator = generator
        self._shelf = shelf
        self._counts = counts
        self.signature = generator.signature

    @property
    def ledger(self) -> Ledger | None:
        """The ledger of the underlying generator."""
        return getattr(self._generator, "ledger", None)

    def generate(self, question: Question, evidence: Sequence[Evidence]) -> Answer:
        """Return the shared answer, or generate one."""
        key = answer_key(self.signature, question, evidence)
        return self.known(key) or self._keep(key, self._generator.generate(question, evidence))

    def known(self, key: AnswerKey) -> Answer | None:
        """Return the shared answer with this key; None if there is none."""
        answer = self._shelf.answers.get(key)
        if answer is None:
            return None
        self._counts.answer_shared += 1
        if answer.spent is None:
            return answer
        # Another cell has paid for it.
        return answer.model_copy(update={"spent": Spent(remembered=answer.spent.calls + answer.spent.remembered)})

    def _keep(self, key: AnswerKey, answer: Answer) -> Answer:
        self._counts.answered += 1
        if answer.failed is None:
            self._shelf.answers[key] = answer
        return answer


class SharedAskingGenerator(SharedGenerator):
    """A shared generator that is asked several questions at a time."""

    _generator: GeneratesMany

    def generate_many(self, asked: Iterable[tuple[Question, Sequence[Evidence]]]) -> Iterator[Answer]:
        """Yield answers in order: shared answers at once, and between them batches of new ones."""
        source = iter(asked)
        for question, evidence in source:
            key = answer_key(self.signature, question, evidence)
            if (known := self.known(key)) is not None:
                yield known
                continue
            unanswered = _UntilKnown(chain([(question, evidence)], source), self)
            for answer in self._generator.generate_many(unanswered):
                yield self._keep(unanswered.keys.popleft(), answer)
            if unanswered.answer is not None:
                yield unanswered.answer


class _UntilKnown:
    """The questions up to the first one with a shared answer, which is then in ``answer``."""

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
    """Return the key of an answer: equal for the same question, documents and generator."""
    seen = [[hit.document.id, hit.document.text, hit.document.retracted, hit.rank] for hit in evidence]
    content = json.dumps([_id(question), question.type, seen])
    return hashlib.sha256(content.encode()).hexdigest(), signature


def _id(question: Question) -> str:
    return json.dumps([question.id, question.text])


class CountingJudge:
    """A judge that counts its pairs."""

    def __init__(self, judge: Judge, counts: Counts, field: str) -> None:
        self._judge = judge
        self._counts = counts
        self._field = field
        self.traits = traits_of(judge)

    @property
    def signature(self) -> str:
        """The signature of the underlying judge."""
        return self._judge.signature

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """Yield the judgements of the underlying judge."""
        return self._judge.judge(self._counted(pairs))

    def _counted(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        for pair in pairs:
            setattr(self._counts, self._field, getattr(self._counts, self._field) + 1)
            yield pair


class Sharing:
    """Evidence, answers and judgements that the cells of a running experiment share.

    Args:
        judgements: The file for cached judgements; None: no cache.
    """

    def __init__(self, judgements: Path | None) -> None:
        self.shelf = Shelf()
        self._judgements = judgements
        self._open: list[CachedJudge] = []

    def pipeline(self, own: Pipeline, deepest: int, counts: Counts, key: str) -> Pipeline:
        """Return a pipeline that reuses shared evidence, answers and judgements, and adds its own.

        Args:
            own: The pipeline of the cell.
            deepest: The largest number of documents used by any cell with the same search.
            counts: Counts of what is computed and reused.
            key: Identifies the search and its corpus.
        """
        shared = copy(own)
        shared.search = SharedSearch.of(own.search, self.shelf, deepest, counts, key)
        kind = SharedAskingGenerator if isinstance(own.generator, GeneratesMany) else SharedGenerator
        shared.generator = kind(own.generator, self.shelf, counts)
        shared.verifier = self._cached(own.verifier, counts)
        return shared

    def take(self, runs: Iterable[Run], pipeline: Pipeline, k: int) -> None:
        """Add the earlier runs of a cell with ``k`` documents, made by its shared pipeline."""
        assert isinstance(pipeline.search, SharedSearch)
        self.shelf.take(runs, pipeline.search, k)

    def _cached(self, verifier: Verifier, counts: Counts) -> Verifier:
        # Judges that ask a language model cache its replies themselves.
        if self._judgements is None or ledger_of(verifier.judge) is not None:
            return verifier
        own = copy(verifier)
        asked = CachedJudge(CountingJudge(verifier.judge, counts, "judged"), self._judgements)
        self._open.append(asked)
        own.judge = CountingJudge(asked, counts, "pairs")
        return own

    def close(self) -> None:
        """Close the file of judgements."""
        for judge in self._open:
            judge.close()
        self._open.clear()
