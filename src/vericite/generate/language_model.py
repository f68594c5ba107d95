"""Answers written by a language model from the evidence, on any prompt."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from vericite.errors import InputError
from vericite.generate.asking import AskingGenerator, Complete, Generation, Task, at_its_own_temperature
from vericite.generate.grammar import GRAMMAR, answer_grammar
from vericite.generate.prompt import Demonstration, Prompt, load_prompt
from vericite.generate.reading import read_reply
from vericite.generate.room import Fitted
from vericite.llm import LLM, CallFailure, ChatRequest
from vericite.records import Answer, Question

if TYPE_CHECKING:
    from vericite.generate.demonstrations import Selector

Grammar = Literal["auto", "on", "off"]
"""Whether a grammar holds the model to the form of an answer: auto is for files run in this process alone."""


class LanguageModelGenerator(AskingGenerator):
    """Asks a language model for an answer that cites the evidence.

    Args:
        llm: Which model.
        prompt: How to ask it: a name of ``PROMPTS``, a ``.toml`` file, or a prompt.
        demonstrations: What to show as examples, or who chooses them for each question; None shows the prompt's own.
        grammar: Whether a grammar holds it to sentences that end in citations to documents that exist. Only llama.cpp
            reads one.
        budget: Tokens of prompt and reply together; None is the context of models that run in this process.
        seed: Of sampling, for services that can repeat themselves.

    Raises:
        InputError: The prompt cannot be used, takes no demonstrations, or the model reads no grammar.
    """

    def __init__(
        self,
        llm: LLM,
        prompt: Prompt | str | Path = "vericite",
        *,
        demonstrations: Sequence[Demonstration] | Selector | None = None,
        grammar: Grammar = "auto",
        budget: int | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(
            llm, prompt if isinstance(prompt, Prompt) else load_prompt(prompt), demonstrations, budget, seed
        )
        if grammar == "on" and not llm.spec.takes_grammar:
            raise InputError(
                f"expected a model that llama.cpp runs, as a grammar is asked for; found {llm.signature}. "
                "Use gguf:/file.gguf or the address of its server, or leave the grammar out."
            )
        formed = self.prompt.citing == "every" or self.prompt.final_answer
        self._constrained = grammar == "on" or (grammar == "auto" and formed and llm.spec.path is not None)

    @property
    def signature(self) -> str:
        """The prompt's name, version and hash, the model's name, and how it is asked."""
        return self._how(*([GRAMMAR] if self._constrained else []))

    def _asked_without_evidence(self) -> bool:
        return self.prompt.own_knowledge

    def _grammar(self, question: Question, seen: Fitted) -> str | None:
        if not self._constrained:
            return None
        prompt = self.prompt
        options = prompt.how_to_answer(question) if prompt.options and question.type in (None, "yesno") else None
        return answer_grammar(prompt, [document.number for document in seen.shown], options)

    async def _made(self, task: Task, request: ChatRequest, complete: Complete) -> Generation | CallFailure:
        reply = await complete(request)
        if isinstance(reply, CallFailure):
            return reply
        read = read_reply(
            self.prompt,
            task.question,
            task.documents,
            reply.text,
            cut_off=reply.cut_off,
            constrained=request.grammar is not None,
        )
        notes = (*read.notes, *at_its_own_temperature(reply), *_unseen(read.answer, task.seen))
        return Generation(read.answer, reply, notes)


def _unseen(answer: Answer, seen: Fitted) -> tuple[str, ...]:
    """Told where an answer cites documents of the evidence that the model was not shown."""
    shown = {document.number for document in seen.shown}
    cited = {citation.marker for claim in answer.claims for citation in claim.citations if not citation.dangling}
    numbers = "".join(f"[{number}]" for number in sorted(cited - shown) if number <= len(answer.documents))
    return (f"it cites {numbers}, which the model was not shown",) if numbers else ()
