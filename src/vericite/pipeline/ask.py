"""Answer a question with citations that have been checked."""

from __future__ import annotations

import typing
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Generator as Generating
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from vericite.corpus import demo_documents, demo_vectors
from vericite.errors import EntrezAccessError, EntrezError, InputError, expect_many, expect_type
from vericite.formats.objects import as_documents
from vericite.generate.generator import GeneratesMany, Generator, followed
from vericite.models.contracts import Judge, ledger_of
from vericite.models.embedder import Embedder
from vericite.pipeline.answerers import extractive
from vericite.pipeline.check import verifier_for
from vericite.pipeline.search import Clock, FoundEvidence, OnStage, Search
from vericite.records import (
    Answer,
    Change,
    Document,
    Evidence,
    Ledger,
    Provenance,
    Question,
    Run,
    Verdict,
    VerificationFailure,
)
from vericite.retrieve.local import MemoryRetriever
from vericite.retrieve.retriever import Retriever
from vericite.verify.protocol import DEFAULT, Protocol
from vericite.version import __version__

if TYPE_CHECKING:
    from vericite.pipeline.rationale import RationaleChecker
    from vericite.pipeline.repair.repairer import Repairer
    from vericite.records import CheckedRationale


def joint_ledger(parts: Iterable[object]) -> Ledger | None:
    """Return the combined ledger of these parts, each shared model counted once; None if no part has one."""
    found: Iterable[Ledger | None] = map(ledger_of, parts)
    # Parts that share a model hold the same ledger object.
    distinct = {id(ledger): ledger for ledger in found if ledger is not None}
    return _together(list(distinct.values())) if distinct else None


def _together(ledgers: Sequence[Ledger]) -> Ledger:
    costs = [ledger.cost for ledger in ledgers]
    known = [cost for cost in costs if cost is not None]
    counts, others = Counter[str](), dict[str, None]()
    for ledger in ledgers:
        counts.update(ledger.model_dump(exclude={"cost", "answered_as"}))
        others |= dict.fromkeys(ledger.answered_as)
    return Ledger(**counts, cost=sum(known) if len(known) == len(costs) else None, answered_as=tuple(others))


@contextmanager
def calls_of(*parts: object) -> Generating[Callable[[], Ledger | None]]:
    """Count the calls to language models of this block, and yield a function that returns them.

    It returns None if no part asks a language model.
    """
    if all(ledger_of(part) is None for part in parts):
        yield lambda: None
        return
    from vericite.llm.calls import calls_counted

    with calls_counted() as tally:
        yield lambda: tally.ledger


DEFAULT_K = 5


class Watch(typing.Protocol):
    """Receives events while a run is made."""

    def evidence(self, found: FoundEvidence) -> None:
        """The documents were found."""
        ...

    def piece(self, text: str) -> None:
        """A language model wrote a piece of its reply; called from another thread."""
        ...

    def answer(self, answer: Answer) -> None:
        """The answer was written."""
        ...

    def verdict(self, result: Verdict | VerificationFailure) -> None:
        """A citation was judged."""
        ...


class Pipeline:
    """A search, a generator and a protocol; ask it many questions.

    Args:
        search: Finds the evidence.
        generator: Answers from it.
        protocol: How citations are judged.
        judge: Replaces the protocol's own judge.
        rationales: Judges the rationale of an answer, if the generator gives one.
        repairer: Repairs rejected sentences before the answer is returned.
    """

    def __init__(
        self,
        search: Search | Retriever,
        generator: Generator,
        protocol: Protocol | str = DEFAULT,
        judge: Judge | str | None = None,
        rationales: RationaleChecker | None = None,
        repairer: Repairer | None = None,
    ) -> None:
        if not isinstance(search, Search):
            _expect_part(search, "retrieve", "a search or a retriever")
        _expect_part(generator, "generate", "a generator")
        self.search = search if isinstance(search, Search) else Search(search)
        self.generator = generator
        self.verifier = verifier_for(protocol, judge)
        self._rationales = rationales
        self._repairer = repairer

    @classmethod
    def over(
        cls,
        documents: Sequence[Document] | None = None,
        protocol: Protocol | str = DEFAULT,
        judge: Judge | str | None = None,
    ) -> Pipeline:
        """Build a pipeline over documents in memory, without a language model. None: the demonstration corpus."""
        embedder = Embedder.shared()
        if documents is None:
            return cls.on(MemoryRetriever(demo_documents(), embedder, demo_vectors()), protocol, judge)
        return cls.on(MemoryRetriever(as_documents(documents), embedder), protocol, judge)

    @classmethod
    def on(
        cls, search: Search | Retriever, protocol: Protocol | str = DEFAULT, judge: Judge | str | None = None
    ) -> Pipeline:
        """Build a pipeline over a store, PubMed or a retriever of your own, without a language model."""
        return cls(search, extractive(), protocol, judge)

    @property
    def parts(self) -> dict[str, str]:
        """Signature of each stage, by its name."""
        stages = {"rationale": self._rationales, "repair": self._repairer}
        own = {name: stage.signature for name, stage in stages.items() if stage is not None}
        return {**self.search.parts, "generator": self.generator.signature, **own}

    @property
    def ledger(self) -> Ledger | None:
        """Calls made so far to all its language models, each counted once; None without any."""
        rewrite = self.search.rewrite
        return joint_ledger(
            (self.generator, self.verifier.judge, self._repairer, rewrite.rewriter if rewrite else None)
        )

    def run(
        self, question: Question, k: int = DEFAULT_K, on_stage: OnStage | None = None, watch: Watch | None = None
    ) -> Run:
        """Retrieve, answer and verify. ``on_stage`` is called when a stage begins and when it ends.

        Raises:
            InputError: ``k`` is less than 1, or the question cannot be searched for.
        """
        _expect_question(question)
        with calls_of(self) as calls:
            found = self.search.find(question, k, on_stage)
            if watch is not None:
                watch.evidence(found)
            run = self._answered(question, found, on_stage, watch)
        return run.model_copy(update={"calls": calls()})

    def run_many(self, questions: Iterable[Question], k: int = DEFAULT_K) -> Iterator[Run]:
        """Answer questions in a stream, in order. A language model gets several questions at a time.

        A question that cannot be searched for or answered does not stop the others: its answer has ``failed``.

        Raises:
            LLMAccessError: No call to the language model can succeed, for example because the key is wrong.
            EntrezAccessError: No search of PubMed can succeed.
        """
        expect_many(questions, "questions, in a list or a stream")
        if isinstance(self.generator, GeneratesMany):
            yield from self._several(self.generator, questions, k)
            return
        for question in questions:
            found = self._found(question, k)
            yield self._answered(question, found) if isinstance(found, FoundEvidence) else found

    def _several(self, generator: GeneratesMany, questions: Iterable[Question], k: int) -> Iterator[Run]:
        """Answer several questions at a time."""
        waiting: deque[tuple[Question, FoundEvidence | Run]] = deque()

        def with_evidence() -> Iterator[tuple[Question, Sequence[Evidence]]]:
            for question in questions:
                found = self._found(question, k)
                waiting.append((question, found))
                # Do not pay a language model for a question without evidence.
                if isinstance(found, FoundEvidence):
                    yield question, found.usable_first

        for answer in generator.generate_many(with_evidence()):
            yield from _failed_before(waiting)
            question, found = waiting.popleft()
            assert isinstance(found, FoundEvidence)
            # Several answers are made at a time: only the generator knows how long each took.
            generated = {"generate": answer.spent.seconds} if answer.spent else {}
            yield self._run(question, found, answer, Clock({**found.seconds, **generated}))
        yield from _failed_before(waiting)

    def _found(self, question: Question, k: int) -> FoundEvidence | Run:
        """Return the evidence, or a failed run if the question cannot be searched for."""
        _expect_question(question)
        try:
            return self.search.find(question, k)
        except EntrezAccessError:
            raise
        except (InputError, EntrezError) as error:
            return self._failed(question, str(error))

    def _answered(
        self, question: Question, found: FoundEvidence, on_stage: OnStage | None = None, watch: Watch | None = None
    ) -> Run:
        clock = Clock(found.seconds, on_stage)
        with clock("generate"), followed(watch.piece) if watch is not None else nullcontext():
            answer = self.generator.generate(question, found.usable_first)
        if watch is not None:
            watch.answer(answer)
        return self._run(question, found, answer, clock, watch)

    def _failed(self, question: Question, problem: str) -> Run:
        answer = Answer(id=question.id, text="", claims=(), documents=(), question=question.text, failed=problem)
        return self._run(question, FoundEvidence((), None, {}), answer, Clock())

    def _run(
        self, question: Question, found: FoundEvidence, answer: Answer, clock: Clock, watch: Watch | None = None
    ) -> Run:
        with clock("verify"):
            if watch is None:
                checked = next(iter(self.verifier.verify([answer])))
            else:
                checked = self.verifier.verify_stepwise(answer, watch.verdict)
        rationales = self._rationales_of(question, found, answer, clock)
        changes: tuple[Change, ...] = ()
        if self._repairer is not None and answer.failed is None:
            with clock("repair"):
                repaired = self._repairer.repair(answer, checked)
            answer, checked, changes = repaired.answer, repaired.checked, repaired.changes
        return Run(
            question=question,
            evidence=found.usable_first,
            answer=answer,
            checked=checked,
            provenance=Provenance(
                version=__version__,
                protocol=self.verifier.protocol.signature,
                parts={**checked.provenance.parts, **self.parts},
            ),
            rewriting=found.rewriting,
            rationale=rationales[-1] if rationales else None,
            contexts=rationales if len(rationales) > 1 else (),
            changes=changes,
            seconds=clock.seconds,
            cell=found.cell,
        )

    def _rationales_of(
        self, question: Question, found: FoundEvidence, answer: Answer, clock: Clock
    ) -> tuple[CheckedRationale, ...]:
        """Judge the answer's rationale in each context."""
        if self._rationales is None or answer.rationale is None:
            return ()
        from vericite.pipeline.rationale import Reasoned

        with clock("rationale"):
            return next(self._rationales.check([Reasoned(answer.rationale, question, found.usable_first)]))


def _expect_part(part: object, method: str, what: str) -> None:
    """Refuse a class, and an object without the method. Parts of other packages need no base class."""
    if isinstance(part, type) or not callable(getattr(part, method, None)):
        raise InputError(f"expected {what}; found {part!r:.80}. Give one that has {method}()")


def _expect_question(question: object) -> None:
    expect_type(question, Question, "a Question", 'Make one: Question(id="q", text="...")')


def _failed_before(waiting: deque[tuple[Question, FoundEvidence | Run]]) -> Iterator[Run]:
    while waiting and isinstance(failed := waiting[0][1], Run):
        waiting.popleft()
        yield failed
