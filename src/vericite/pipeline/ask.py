"""From a question to an answer whose citations have been checked."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence

from vericite.corpus import demo_documents, demo_vectors
from vericite.errors import EntrezError, InputError
from vericite.generate import ExtractiveGenerator, GeneratesMany, Generator
from vericite.models import Embedder
from vericite.models.reranker import Reranker
from vericite.pipeline.check import as_document, verifier_for
from vericite.pipeline.clock import Clock, Told
from vericite.pipeline.rationale import RationaleChecker, Reasoned
from vericite.pipeline.search import FoundEvidence, Search
from vericite.records import Answer, Document, Evidence, Provenance, Question, Run
from vericite.retrieve import MemoryRetriever, Retriever
from vericite.verify import DEFAULT, Judge, Protocol, load_judge
from vericite.version import __version__

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
    """

    def __init__(
        self,
        search: Search | Retriever,
        generator: Generator,
        protocol: Protocol | str = DEFAULT,
        judge: Judge | str | None = None,
        rationales: RationaleChecker | None = None,
    ) -> None:
        self.search = search if isinstance(search, Search) else Search(search)
        self.generator = generator
        self.verifier = verifier_for(protocol, judge)
        self._rationales = rationales

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
        rationales = {"rationale": self._rationales.signature} if self._rationales else {}
        return {**self.search.parts, "generator": self.generator.signature, **rationales}

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
        """
        waiting: deque[tuple[Question, FoundEvidence | Run]] = deque()

        def found() -> Iterator[tuple[Question, Sequence[Evidence]]]:
            for question in questions:
                try:
                    evidence = self.search.find(question, k)
                except (InputError, EntrezError) as error:
                    # A language model is not asked, and paid, about what there is no evidence for.
                    waiting.append((question, self._failed(question, str(error))))
                    continue
                waiting.append((question, evidence))
                yield question, evidence.usable_first

        for answer in self._answers(found()):
            yield from _failed_before(waiting)
            question, evidence = waiting.popleft()
            assert isinstance(evidence, FoundEvidence)
            generated = {"generate": answer.spent.seconds} if answer.spent else {}
            yield self._run(question, evidence, answer, Clock({**evidence.seconds, **generated}))
        yield from _failed_before(waiting)

    def _failed(self, question: Question, problem: str) -> Run:
        answer = Answer(id=question.id, text="", claims=(), documents=(), question=question.text, failed=problem)
        return self._run(question, FoundEvidence((), None, {}), answer, Clock())

    def _answers(self, found: Iterator[tuple[Question, Sequence[Evidence]]]) -> Iterator[Answer]:
        if isinstance(self.generator, GeneratesMany):
            return self.generator.generate_many(found)
        return (self.generator.generate(question, evidence) for question, evidence in found)

    def _run(self, question: Question, found: FoundEvidence, answer: Answer, clock: Clock) -> Run:
        with clock("verify"):
            checked = next(iter(self.verifier.verify([answer])))
        rationale = None
        if self._rationales is not None and answer.rationale is not None:
            with clock("rationale"):
                reasoned = Reasoned(answer.rationale, question, found.usable_first)
                rationale = next(self._rationales.check([reasoned]))[0]
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
            seconds=clock.seconds,
        )


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
