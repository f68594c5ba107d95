"""Answers written by a language model from the evidence, on any prompt."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from vericite.errors import InputError
from vericite.generate.grammar import GRAMMAR, answer_grammar
from vericite.generate.prompt import Demonstration, Prompt, load_prompt
from vericite.generate.reading import failed, insufficient, read_reply
from vericite.generate.room import Fitted, fitted, tokens_of
from vericite.llm import LLM, CallFailure, ChatRequest, Completion, Ledger, Price, Reply
from vericite.llm.chat import canonical
from vericite.records import Answer, Document, Evidence, Question, Spent

if TYPE_CHECKING:
    from vericite.generate.demonstrations import Selector

Grammar = Literal["auto", "on", "off"]
"""Whether a grammar holds the model to the form of an answer: auto is for files run in this process alone."""


@dataclass(frozen=True)
class Generation:
    """An answer, and how it came about.

    Attributes:
        answer: The answer; where making it failed, ``failed`` says why.
        reply: What the model said, None where it was not asked.
        notes: What was done to the reply that the answer does not show: what was over a limit, what was cut off.
    """

    answer: Answer
    reply: Reply | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Task:
    """A question ready to be asked, or the answer there is without asking."""

    question: Question
    evidence: Sequence[Evidence]
    seen: Fitted
    request: ChatRequest | None = None
    answer: Answer | None = None


class LanguageModelGenerator:
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
        self.llm = llm
        self.prompt = prompt if isinstance(prompt, Prompt) else load_prompt(prompt)
        self._demonstrations = self.prompt.demonstrations if demonstrations is None else demonstrations
        if self._demonstrations and self.prompt.demonstration is None:
            raise InputError(
                f"expected no demonstrations for prompt {self.prompt.name}, which does not say how to show one; "
                "found some. Use another prompt, or leave them out."
            )
        if grammar == "on" and not llm.spec.takes_grammar:
            raise InputError(
                f"expected a model that llama.cpp runs, as a grammar is asked for; found {llm.signature}. "
                "Use gguf:/file.gguf or the address of its server, or leave the grammar out."
            )
        formed = self.prompt.citing == "every" or self.prompt.final_answer
        self._constrained = grammar == "on" or (grammar == "auto" and formed and llm.spec.path is not None)
        self.budget = budget or _context()
        self.seed = seed

    @property
    def signature(self) -> str:
        """The prompt's name, version and hash, the model's name, and how it is asked."""
        prompt = self.prompt
        sampling = [f"temperature={prompt.temperature}"] if prompt.temperature is not None else []
        sampling += [f"top_p={prompt.top_p:g}"] if prompt.top_p is not None else []
        how = [*sampling, f"budget={self.budget}"]
        how += [GRAMMAR] if self._constrained else []
        how += [shown] if (shown := _signed(self._demonstrations)) else []
        how += [f"seed={self.seed}"] if self.seed is not None else []
        return f"{prompt.signature}:{self.llm.signature}({', '.join(how)})"

    @property
    def ledger(self) -> Ledger:
        """What was asked so far, and what it cost."""
        return self.llm.ledger

    def generate(self, question: Question, evidence: Sequence[Evidence]) -> Answer:
        """An answer whose marker ``[n]`` is the document of ``evidence[n - 1]``; see ``Generator``.

        Raises:
            LLMAccessError: Every call would fail alike.
        """
        return next(self.generate_many([(question, evidence)]))

    def generate_many(self, asked: Iterable[tuple[Question, Sequence[Evidence]]]) -> Generator[Answer, None, None]:
        """Answers in the order of the questions, several asked at a time."""
        return (found.answer for found in self.generations(asked))

    def generations(self, asked: Iterable[tuple[Question, Sequence[Evidence]]]) -> Generator[Generation, None, None]:
        """The same, with what the model said and what was done to it."""
        return self.llm.each((self._task(question, evidence) for question, evidence in asked), self._one)

    def request(self, question: Question, evidence: Sequence[Evidence]) -> ChatRequest | None:
        """What the model is asked; None where there is nothing to ask it."""
        return self._task(question, evidence).request

    def _task(self, question: Question, evidence: Sequence[Evidence]) -> _Task:
        documents = [hit.document for hit in evidence]
        try:
            examples = examples_for(self._demonstrations, question, documents)
        except InputError as error:
            # Too few may be left for one question and enough for the next.
            return _Task(question, evidence, Fitted(()), answer=failed(question, documents, str(error)))
        prompt = self.prompt
        room = self.budget - prompt.max_tokens - tokens_of(prompt.messages(question, (), examples))
        seen = fitted(evidence, room)
        if room < 0 or (seen.trimmed and not seen.shown):
            reason = (
                f"the prompt and its reply leave {max(0, room)} of {self.budget} tokens for the evidence; "
                "raise the budget, or show fewer demonstrations"
            )
            return _Task(question, evidence, seen, answer=failed(question, documents, reason))
        if not seen.shown and not prompt.own_knowledge:
            return _Task(question, evidence, seen, answer=insufficient(prompt, question, documents))
        request = ChatRequest(
            prompt.messages(question, seen.shown, examples),
            max_tokens=prompt.max_tokens,
            temperature=prompt.temperature,
            top_p=prompt.top_p,
            seed=self.seed,
            grammar=self._grammar(question, seen),
        )
        return _Task(question, evidence, seen, request)

    def _grammar(self, question: Question, seen: Fitted) -> str | None:
        if not self._constrained:
            return None
        prompt = self.prompt
        options = prompt.how_to_answer(question) if prompt.options and question.type in (None, "yesno") else None
        return answer_grammar(prompt, [document.number for document in seen.shown], options)

    async def _one(self, task: _Task) -> Generation:
        if task.request is None:
            assert task.answer is not None
            return Generation(self._signed(task, task.answer))
        reply = await self.llm.complete(task.request)
        spent = spent_on([reply], self.llm.settings.price)
        documents = [hit.document for hit in task.evidence]
        if isinstance(reply, CallFailure):
            answer = failed(task.question, documents, reply.reason).model_copy(update={"spent": spent})
            return Generation(self._signed(task, answer), reply)
        read = read_reply(
            self.prompt,
            task.question,
            documents,
            reply.text,
            cut_off=reply.cut_off,
            constrained=task.request.grammar is not None,
        )
        notes = read.notes
        if "temperature" in reply.without:
            notes += ("the model takes no temperature: it was asked at its own",)
        answer = read.answer.model_copy(update={"spent": spent})
        return Generation(self._signed(task, answer), reply, notes + _unseen(answer, task.seen))

    def _signed(self, task: _Task, answer: Answer) -> Answer:
        return answer.model_copy(update={"generator": self.signature, "trimmed": task.seen.trimmed})


def examples_for(
    demonstrations: Sequence[Demonstration] | Selector, question: Question, documents: Sequence[Document]
) -> Sequence[Demonstration]:
    """The demonstrations to show with a question: the given ones, or those that are chosen for it.

    Raises:
        InputError: Too few are left for this question.
    """
    if isinstance(demonstrations, Sequence):
        return demonstrations
    return demonstrations.choose(question, [document.pmid for document in documents if document.pmid])


def spent_on(replies: Sequence[Reply], price: Price | None) -> Spent:
    """What the replies to one question took, with those that had to be asked for again.

    Args:
        replies: All of them.
        price: What the user says that the model charges, where the service does not.
    """
    made = [reply for reply in replies if isinstance(reply, Completion) and not reply.cached]
    costs = [price.of(it.usage) if it.usage.cost is None and price is not None else it.usage.cost for it in made]
    known = [cost for cost in costs if cost is not None]
    # Nobody knows what a call that failed was charged.
    told = len(known) == len(costs) and not any(isinstance(reply, CallFailure) for reply in replies)
    return Spent(
        calls=sum(reply.attempts for reply in replies),
        remembered=sum(isinstance(reply, Completion) and reply.cached for reply in replies),
        prompt_tokens=sum(reply.usage.prompt_tokens for reply in made),
        completion_tokens=sum(reply.usage.completion_tokens for reply in made),
        seconds=sum(reply.seconds for reply in replies),
        cost=sum(known) if told else None,
    )


def _context() -> int:
    from vericite.llm.local import CONTEXT

    return CONTEXT


def _unseen(answer: Answer, seen: Fitted) -> tuple[str, ...]:
    """Told where an answer cites documents of the evidence that the model was not shown."""
    shown = {document.number for document in seen.shown}
    cited = {citation.marker for claim in answer.claims for citation in claim.citations if not citation.dangling}
    numbers = "".join(f"[{number}]" for number in sorted(cited - shown) if number <= len(answer.documents))
    return (f"it cites {numbers}, which the model was not shown",) if numbers else ()


def _signed(demonstrations: Sequence[Demonstration] | Selector) -> str:
    if not isinstance(demonstrations, Sequence):
        return f"demonstrations={demonstrations.signature}"
    if not demonstrations:
        return ""
    shown = [
        [item.question, [[document.title, document.text] for document in item.documents], item.answer, item.rationale]
        for item in demonstrations
    ]
    return f"demonstrations={len(shown)}@{hashlib.sha256(canonical(shown).encode()).hexdigest()[:12]}"
