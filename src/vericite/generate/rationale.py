"""Reasoning before the answer: a question taken apart into statements, each with the words of the evidence it rests on.

This is the first half of Algorithm 1 of Reason and Verify; ``vericite.pipeline.rationale`` is the second, which judges
the statements. A quotation counts only if it stands in the document that it is said to be of.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from vericite.generate.asking import AskingGenerator, Complete, Generation, Task, at_its_own_temperature
from vericite.generate.final_answer import FinalAnswer, read_final_answer
from vericite.generate.prompt import FOLDER, Demonstration, Prompt, load_prompt
from vericite.generate.quotation import bare_quotation, find_quotation
from vericite.generate.reading import insufficient
from vericite.llm import LLM, CallFailure, ChatRequest, Completion
from vericite.llm.structured import ask_for
from vericite.records import (
    Answer,
    Citation,
    Claim,
    Document,
    EvidenceSpan,
    Question,
    Rationale,
    RationaleStep,
    Span,
    storable,
)
from vericite.text.markers import parse_markers, render_markers

if TYPE_CHECKING:
    from vericite.generate.demonstrations import Selector

RATIONALE = "rationale.v1"
"""Signature of how replies are read and quotations found; it changes whenever some reply would be read otherwise."""

PROMPT = FOLDER / "rationale" / "steps.toml"
"""The prompt. It is none of ``PROMPTS``, whose replies are prose."""

_ASKS_YES_OR_NO = re.compile(
    r"\W*(?:do|does|did|is|are|was|were|can|could|has|have|had|will|would|should|may|might|must)\b(?!.*\bor\b.*\?)",
    re.IGNORECASE | re.DOTALL,
)
_SPACE = re.compile(r"\s+")
_ITEM = re.compile(r"\A(?:[-*•]|\(?\d{1,2}[.)])\s+")


# A schema is written with its fields sorted, and a model that is held to it fills them in that order: the names
# below are chosen so that what is reasoned from comes before what is reasoned.
class _Quote(BaseModel):
    """Words of a document."""

    model_config = ConfigDict(extra="forbid", strict=True)
    document: int
    words: str


class _Step(BaseModel):
    """A part of the question, and what the documents say of it."""

    model_config = ConfigDict(extra="forbid", strict=True)
    question: str
    quotes: list[_Quote] = Field(max_length=4)
    statement: str


class _Reasoning(BaseModel):
    """The steps, and what they come to."""

    model_config = ConfigDict(extra="forbid", strict=True)
    claims: list[_Step] = Field(max_length=8)
    conclusion: str
    final_answer: str


@dataclass
class _Notes:
    """What is wrong with a reply that its steps do not show."""

    absent: list[int] = field(default_factory=list[int])
    unfound: int = 0

    @property
    def told(self) -> tuple[str, ...]:
        """In words."""
        numbers = render_markers([number for number in dict.fromkeys(self.absent) if 0 <= number <= 999])
        others = "" if numbers or not self.absent else f"{self.absent[0]}"
        absent = f"it names {numbers or others}, which the model was not shown; left out" if self.absent else ""
        unfound = f"quotations that do not stand where they are said to: {self.unfound}" if self.unfound else ""
        return tuple(filter(None, (absent, unfound)))


class RationaleGenerator(AskingGenerator):
    """Asks a language model for its reasoning as data, and makes a cited answer of it.

    A sentence of the answer is a statement of the rationale, and cites the documents that the statement quotes.

    Args:
        llm: Which model.
        prompt: How to ask it; a ``.toml`` file or a prompt whose reply is the JSON object of ours.
        demonstrations: What to show as examples, or who chooses them for each question; None shows the prompt's own.
        budget: Tokens of prompt and reply together; None is the context of models that run in this process.
        seed: Of sampling, for services that can repeat themselves.

    Raises:
        InputError: The prompt cannot be used, or takes no demonstrations.
    """

    def __init__(
        self,
        llm: LLM,
        prompt: Prompt | Path | None = None,
        *,
        demonstrations: Sequence[Demonstration] | Selector | None = None,
        budget: int | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(
            llm, prompt if isinstance(prompt, Prompt) else load_prompt(prompt or PROMPT), demonstrations, budget, seed
        )

    @property
    def signature(self) -> str:
        """How replies are read, and how the model is asked for them."""
        return f"{RATIONALE}:{self._how()}"

    def _as_asked(self, question: Question) -> Question:
        return _typed(question)

    async def _made(self, task: Task, request: ChatRequest, complete: Complete) -> Generation | CallFailure:
        # As LLM.parsed does, but for the replies, all of which are paid for.
        found = await ask_for(complete, request, _Reasoning, lambda said: self._checked(task, said))
        if isinstance(found, CallFailure):
            return found
        notes = _Notes()
        answer = self._answer(task, found.value, found.completion, notes)
        return Generation(answer, found.completion, (*notes.told, *at_its_own_temperature(found.completion)))

    def _checked(self, task: Task, said: _Reasoning) -> _Reasoning:
        if not any(map(_says_something, said.claims)) and not self._final(task, said).unavailable:
            raise ValueError("expected at least one statement, or ANSWER UNAVAILABLE as final_answer; found neither")
        return said

    def _answer(self, task: Task, said: _Reasoning, reply: Completion, notes: _Notes) -> Answer:
        shown = {document.number: task.documents[document.number - 1] for document in task.seen.shown}
        steps = tuple(_step(step, shown, notes) for step in said.claims if _says_something(step))
        provisional = _even(said.conclusion) or None
        rationale = Rationale(steps=steps, provisional=provisional, raw=storable(reply.text))
        final = self._final(task, said)
        if not steps:
            none = insufficient(self.prompt, task.question, task.documents)
            return none.model_copy(update={"rationale": rationale})
        answer = stated(rationale, task.question, task.documents)
        told = {"exact": final.exact, "rationale": rationale, "insufficient": final.unavailable}
        return answer.model_copy(update=told)

    def _final(self, task: Task, said: _Reasoning) -> FinalAnswer:
        asked = _typed(task.question).type
        options = self.prompt.options if asked == "yesno" else None
        words = storable(said.final_answer).strip()
        found = read_final_answer(words, options, asked)
        return found if found.said else read_final_answer(f"FINAL ANSWER: {words}", options, asked)


def stated(rationale: Rationale, question: Question, documents: Sequence[Document]) -> Answer:
    """A rationale as an answer: a claim for each of its steps, which cites the documents that the step names.

    Args:
        rationale: What was reasoned. Documents that are not among the given ones are not cited.
        question: What was asked.
        documents: The evidence; marker ``[n]`` is ``documents[n - 1]``.
    """
    numbers = {document.id: number for number, document in enumerate(documents, start=1)}
    text, claims = "", list[Claim]()
    for step in rationale.steps:
        start = len(text) + bool(text)
        claim, sentence = _sentence(step, numbers, start)
        text = f"{text} {sentence}" if text else sentence
        claims.append(claim)
    return Answer(id=question.id, text=text, claims=tuple(claims), documents=tuple(documents), question=question.text)


def _step(said: _Step, shown: Mapping[int, Document], notes: _Notes) -> RationaleStep:
    statement, numbers = _statement(said.statement)
    named = dict.fromkeys([*(quote.document for quote in said.quotes), *numbers])
    notes.absent += [number for number in named if number not in shown]
    passages: dict[EvidenceSpan, None] = {}
    unfound: dict[str, None] = {}
    for quote in said.quotes:
        if not _has_words(bare_quotation(quote.words)):
            continue
        document = shown.get(quote.document)
        place = None if document is None else find_quotation(quote.words, document)
        if place is None:
            unfound[_even(quote.words)] = None
        else:
            passages[place] = None
    notes.unfound += len(unfound)
    return RationaleStep(
        statement=statement,
        question=_even(said.question) or None,
        documents=tuple(shown[number].id for number in named if number in shown),
        passages=tuple(passages),
        unfound=tuple(unfound),
    )


def _says_something(step: _Step) -> bool:
    return _has_words(_statement(step.statement)[0])


def _statement(said: str) -> tuple[str, list[int]]:
    """A statement as a sentence without markers, and the numbers of documents that it has in brackets all the same."""
    text, numbers = _ITEM.sub("", _even(said)), list[int]()
    for group in reversed(parse_markers(text)):
        before, behind = text[: group.span.start], text[group.span.end :]
        if 0 in group.numbers:  # "a scale [0-10]": no document has that number
            text = f"{before}({group.text.strip('[]【】［］')}){behind}"
            continue
        numbers = [*group.numbers, *numbers]
        text = before.rstrip() + behind
    text = text.strip()
    return (text if text[-1:] in tuple(".!?") else f"{text}."), numbers


def _sentence(step: RationaleStep, numbers: Mapping[str, int], start: int) -> tuple[Claim, str]:
    """A step as a claim that begins at this place of the answer, and its sentence with markers."""
    stop = step.statement[-1] if step.statement[-1] in ".!?" else ""
    sentence = step.statement.removesuffix(stop) if stop else step.statement
    citations: list[Citation] = []
    for id in dict.fromkeys(step.documents):
        if (number := numbers.get(id)) is not None:
            sentence += "" if citations else " "
            begin = start + len(sentence)
            sentence += render_markers([number])
            span = Span(start=begin, end=start + len(sentence))
            citations.append(Citation(marker=number, span=span, document=id))
    sentence += stop
    span = Span(start=start, end=start + len(sentence))
    return Claim(text=step.statement, span=span, citations=tuple(citations)), sentence


def _typed(question: Question) -> Question:
    """The question with a type, so that it is known in what form its final answer is wanted."""
    if question.type is not None:
        return question
    kind = "yesno" if _ASKS_YES_OR_NO.match(question.text) else "factoid"
    return question.model_copy(update={"type": kind})


def _even(text: str) -> str:
    return _SPACE.sub(" ", storable(text)).strip()


def _has_words(text: str) -> bool:
    return any(map(str.isalnum, text))
