"""From a question to an answer whose citations have been checked."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from vericite.corpus import demo_documents, demo_vectors
from vericite.errors import EntrezAccessError, EntrezError, InputError
from vericite.generate import ExtractiveGenerator, GeneratesMany, Generator
from vericite.models import Embedder
from vericite.models.reranker import Reranker
from vericite.pipeline.check import as_document, verifier_for
from vericite.pipeline.clock import Clock, Told
from vericite.pipeline.search import FoundEvidence, Search
from vericite.records import Answer, Change, Document, Evidence, Provenance, Question, Run
from vericite.retrieve import MemoryRetriever, Retriever
from vericite.verify import DEFAULT, Judge, Protocol, load_judge
from vericite.version import __version__

if TYPE_CHECKING:
    # They load what asks language models.
    from vericite.llm import Ledger
    from vericite.pipeline.rationale import RationaleChecker
    from vericite.pipeline.repair import Repairer
    from vericite.records import CheckedRationale

DEFAULT_K = 5


def extractive() -> ExtractiveGenerator:
    """The generator without a language model, with all the bundled models: for relevance, and for yes or no."""
    return ExtractiveGenerator(Embedder.shared(), reranker=Reranker.shared(), judge=load_judge("bundled"))


class Pipeline:
    """A search, a generator and a protocol; ask it many questions.

    Args:
        search: Finds the evidence.
        generator: Answers from it.
        protocol: How citations are judged.
        judge: Who judges, in place of the protocol's own.
        rationales: Judges the rationale behind an answer, where the generator gives one.
        repairer: Mends what is rejected before anybody sees it.
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
        """A pipeline over documents in memory, without a language model; None is the demonstration corpus."""
        embedder = Embedder.shared()
        if documents is None:
            return cls.on(MemoryRetriever(demo_documents(), embedder, demo_vectors()), protocol, judge)
        return cls.on(MemoryRetriever(documents, embedder), protocol, judge)

    @classmethod
    def on(
        cls, search: Search | Retriever, protocol: Protocol | str = DEFAULT, judge: Judge | str | None = None
    ) -> Pipeline:
        """A pipeline without a language model over what this finds: a store, PubMed, a retriever of one's own."""
        return cls(search, extractive(), protocol, judge)

    @property
    def parts(self) -> dict[str, str]:
        """The signature of each stage by its name."""
        stages = {"rationale": self._rationales, "repair": self._repairer}
        own = {name: stage.signature for name, stage in stages.items() if stage is not None}
        return {**self.search.parts, "generator": self.generator.signature, **own}

    @property
    def ledger(self) -> Ledger | None:
        """What all its language models were asked so far, each counted once; None where there are none."""
        rewrite = self.search.rewrite
        stages = (self.generator, self.verifier.judge, self._repairer, rewrite.rewriter if rewrite else None)
        found: list[Ledger | None] = [getattr(stage, "ledger", None) for stage in stages]
        # Stages that share a model have the very same ledger.
        distinct = {id(ledger): ledger for ledger in found if ledger is not None}
        return _together(list(distinct.values())) if distinct else None

    def run(self, question: Question, k: int = DEFAULT_K, told: Told | None = None) -> Run:
        """Retrieve, answer, verify. ``told`` is told of each stage as it begins and as it ends.

        Raises:
            InputError: ``k`` is less than 1, or the question cannot be searched for.
        """
        found = self.search.find(question, k, told)
        clock = Clock(found.seconds, told)
        with clock("generate"):
            answer = self.generator.generate(question, found.usable_first)
        return self._run(question, found, answer, clock)

    def run_many(self, questions: Iterable[Question], k: int = DEFAULT_K) -> Iterator[Run]:
        """Answer questions in a stream, in order; a language model is asked about several at a time.

        A question that cannot be searched for, or whose answer could not be made, costs itself alone: its answer has
        ``failed``.

        Raises:
            LLMAccessError: Every call to a language model would fail alike.
            EntrezAccessError: Every search of PubMed would.
        """
        waiting: deque[tuple[Question, FoundEvidence | Run]] = deque()

        def found() -> Iterator[tuple[Question, Sequence[Evidence]]]:
            for question in questions:
                try:
                    evidence = self.search.find(question, k)
                except EntrezAccessError:
                    raise
                except (InputError, EntrezError) as error:
                    # A language model is not asked, and paid, about what there is no evidence for.
                    waiting.append((question, self._failed(question, str(error))))
                    continue
                waiting.append((question, evidence))
                yield question, evidence.usable_first

        for answer, seconds in self._answers(found()):
            yield from _failed_before(waiting)
            question, evidence = waiting.popleft()
            assert isinstance(evidence, FoundEvidence)
            generated = {} if seconds is None else {"generate": seconds}
            yield self._run(question, evidence, answer, Clock({**evidence.seconds, **generated}))
        yield from _failed_before(waiting)

    def _failed(self, question: Question, problem: str) -> Run:
        answer = Answer(id=question.id, text="", claims=(), documents=(), question=question.text, failed=problem)
        return self._run(question, FoundEvidence((), None, {}), answer, Clock())

    def _answers(self, found: Iterator[tuple[Question, Sequence[Evidence]]]) -> Iterator[tuple[Answer, float | None]]:
        """Answers, and the seconds each took."""
        if isinstance(self.generator, GeneratesMany):
            for answer in self.generator.generate_many(found):
                # Several are made at a time: only they know.
                yield answer, answer.spent.seconds if answer.spent else None
            return
        for question, evidence in found:
            clock = Clock()
            with clock("generate"):
                answer = self.generator.generate(question, evidence)
            yield answer, clock.seconds["generate"]

    def _run(self, question: Question, found: FoundEvidence, answer: Answer, clock: Clock) -> Run:
        with clock("verify"):
            checked = next(iter(self.verifier.verify([answer])))
        rationale = self._rationale(question, found, answer, clock)
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
            rationale=rationale,
            changes=changes,
            seconds=clock.seconds,
        )

    def _rationale(
        self, question: Question, found: FoundEvidence, answer: Answer, clock: Clock
    ) -> CheckedRationale | None:
        if self._rationales is None or answer.rationale is None:
            return None
        from vericite.pipeline.rationale import Reasoned

        with clock("rationale"):
            return next(self._rationales.check([Reasoned(answer.rationale, question, found.usable_first)]))[0]


def _together(ledgers: Sequence[Ledger]) -> Ledger:
    from dataclasses import asdict

    from vericite.llm import Ledger

    costs = [ledger.cost for ledger in ledgers]
    known = [cost for cost in costs if cost is not None]
    counts = Counter[str]()
    for ledger in ledgers:
        counts.update({name: count for name, count in asdict(ledger).items() if name != "cost"})
    return Ledger(**counts, cost=sum(known) if len(known) == len(costs) else None)


def _failed_before(waiting: deque[tuple[Question, FoundEvidence | Run]]) -> Iterator[Run]:
    while waiting and isinstance(failed := waiting[0][1], Run):
        waiting.popleft()
        yield failed


def ask(
    question: str,
    documents: Sequence[Document | Mapping[str, str]] | None = None,
    *,
    k: int = DEFAULT_K,
    protocol: Protocol | str = DEFAULT,
    judge: Judge | str | None = None,
) -> Run:
    """Answer one question from ``documents``, or the demonstration corpus, and check every citation.

    Documents may be mappings with ``id``, ``text`` and perhaps ``title``.

    Raises:
        InputError: The question is empty, a document is none, or ``k`` is less than 1.
    """
    if not question.strip():
        raise InputError("expected a question; found no text")
    own = None if documents is None else [as_document(item, position) for position, item in enumerate(documents)]
    return Pipeline.over(own, protocol, judge).run(Question(id="question", text=question), k)
