"""From a question to an answer whose citations have been checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vericite.corpus import demo_documents, demo_vectors
from vericite.errors import InputError
from vericite.generate import ExtractiveGenerator, Generator
from vericite.models import Embedder
from vericite.pipeline.check import as_document, verifier_for
from vericite.records import Document, Provenance, Question, Run
from vericite.retrieve import MemoryRetriever, Retriever
from vericite.verify import DEFAULT, Judge, Protocol
from vericite.version import __version__

DEFAULT_K = 5


class Pipeline:
    """A retriever, a generator and a protocol; ask it many questions."""

    def __init__(
        self,
        retriever: Retriever,
        generator: Generator,
        protocol: Protocol | str = DEFAULT,
        judge: Judge | str | None = None,
    ) -> None:
        self.retriever = retriever
        self.generator = generator
        self.verifier = verifier_for(protocol, judge)

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
    def on(cls, retriever: Retriever, protocol: Protocol | str = DEFAULT, judge: Judge | str | None = None) -> Pipeline:
        """A pipeline without a language model over what this retriever finds: a store, PubMed, another's."""
        return cls(retriever, ExtractiveGenerator(Embedder.shared()), protocol, judge)

    def run(self, question: Question, k: int = DEFAULT_K) -> Run:
        """Retrieve, answer, verify."""
        if k < 1:
            raise InputError(f"expected k, the number of documents to answer from, to be 1 or more; found {k}")
        evidence = self.retriever.retrieve(question, k)
        answer = self.generator.generate(question, evidence)
        checked = next(iter(self.verifier.verify([answer])))
        return Run(
            question=question,
            evidence=evidence,
            answer=answer,
            checked=checked,
            provenance=Provenance(
                version=__version__,
                protocol=self.verifier.protocol.signature,
                parts={
                    **checked.provenance.parts,
                    "retriever": self.retriever.signature,
                    "generator": self.generator.signature,
                },
            ),
        )


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
