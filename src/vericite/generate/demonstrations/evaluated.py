"""Rationales of demonstrations as section 4 of Reason and Verify has them: asked for as at evaluation.

The model sees the question, the documents that the search finds, and the prompt that it will see at evaluation. It does
not see the right answer. What it writes is kept where it comes to that answer. A verbatim prompt with the slot
``{answer}`` shows it, for those who read the paper so.
"""

from __future__ import annotations

from collections.abc import Sequence

from vericite.errors import InputError
from vericite.generate.demonstrations.building import NoReply, Unusable, comes_to
from vericite.generate.demonstrations.pool import label_of
from vericite.generate.language_model import LanguageModelGenerator
from vericite.generate.prompt import AnswerPrompt
from vericite.generate.reply import read_final_answer
from vericite.llm import LLM, CallFailure
from vericite.records import Document, Evidence, Question


class EvaluatedWriter:
    """Asks a language model as at evaluation, without demonstrations, and keeps the reasoning before a right answer.

    Args:
        llm: The model.
        prompt: The prompt of the evaluation, which ends in a final answer.

    Raises:
        InputError: The prompt asks for no final answer, so that nobody could tell whether it is right.
    """

    def __init__(self, llm: LLM, prompt: AnswerPrompt) -> None:
        if not prompt.final_answer:
            raise InputError(
                f"expected a prompt that ends in a final answer (final_answer = true); found {prompt.name}. Take one "
                "such as reason-verify-bioasq."
            )
        self.llm = llm
        self._generator = LanguageModelGenerator(llm, prompt, demonstrations=())

    @property
    def signature(self) -> str:
        """The prompt of the evaluation, the model, and that only right answers are kept."""
        return f"as evaluated, right answers: {self._generator.signature}"

    async def write(self, question: Question, documents: Sequence[Document]) -> str:
        """What the model reasons before its final answer.

        Raises:
            Unusable: It gives another answer or none, or cites what is not there.
            NoReply: No reply came.
            LLMAccessError: Every call would fail alike.
        """
        evidence = [
            Evidence(document=document, rank=rank, score=1 / rank, retriever="demonstration")
            for rank, document in enumerate(documents, start=1)
        ]
        made = await self._generator.generate_one(question, evidence)
        answer, prompt = made.answer, self._generator.prompt
        if isinstance(made.reply, CallFailure):
            raise NoReply(made.reply.reason)
        if answer.failed is not None:
            raise Unusable(f"the model gives no answer: {answer.failed}")
        if answer.insufficient or answer.exact is None:
            raise Unusable("the model says that there is no answer, or none of the options")
        said = "; ".join(entry[0] for entry in answer.exact)
        if not comes_to(said, label_of(question), question.gold_exact):
            raise Unusable("the model comes to another answer")
        if any(citation.dangling for claim in answer.claims for citation in claim.citations):
            raise Unusable("the model cites a document that is not there")
        # A verbatim reply is kept as it stands, its final answer with it.
        rationale = read_final_answer(answer.text, prompt.options, question.type).body
        if not any(map(str.isalnum, rationale)):
            raise Unusable("the model gives no reasoning before its answer")
        return rationale
