"""Answers that a language model writes from the evidence, with any prompt."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from vericite.errors import InputError
from vericite.generate.generator import Generator as OneByOne
from vericite.generate.generator import follower
from vericite.generate.grammar import GRAMMAR, answer_grammar
from vericite.generate.guide import quoted_evidence
from vericite.generate.prompt import (
    AnswerPrompt,
    Demonstration,
    Selector,
    Shown,
    TruncatedEvidence,
    VerbatimAnswerPrompt,
    load_prompt,
    message_tokens,
    truncate_evidence,
)
from vericite.generate.reply import failed, insufficient, read_as_it_stands, read_reply
from vericite.generate.selection import Excerpts
from vericite.llm import LLM, CallFailure, ChatRequest, Completion, Ledger, Price, Reply
from vericite.llm.chat import canonical
from vericite.llm.replies import TOO_LONG
from vericite.records import Answer, Document, Evidence, Question, Spent

Complete = Callable[[ChatRequest], Awaitable[Reply]]
"""Sends a request to the model and keeps its reply."""


@dataclass(frozen=True)
class Generation:
    """An answer, and how it was made.

    Attributes:
        answer: The answer; ``failed`` says why if it could not be made.
        reply: The model's reply; None if it was not asked.
        notes: Changes to the reply that the answer does not show: what was over a limit, what was cut off.
    """

    answer: Answer
    reply: Reply | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class GenerationTask:
    """A question that is ready to be sent, or an answer that needs no request.

    Attributes:
        question: The question as given.
        documents: The evidence that markers refer to.
        seen: The part of the evidence that the model is shown.
        asked: The request, or the answer that needs none.
        evidence: The retrieved evidence, for building a shorter request.
        quoted: The guide's answer, if there is a guide.
    """

    question: Question
    documents: tuple[Document, ...]
    seen: TruncatedEvidence
    asked: ChatRequest | Answer
    evidence: Sequence[Evidence] = ()
    quoted: Answer | None = None


class AskingGenerator(ABC):
    """A generator that asks a language model. A subclass makes the answer from the reply.

    Args:
        llm: The model.
        prompt: The prompt.
        demonstrations: Examples, or a selector that chooses them for each question; None shows the prompt's own.
        budget: Tokens of prompt and reply together. None: the model's own limit. A model file states it; a service
            names it when it refuses a longer request, and until then nothing is cut.
        seed: Seed for sampling, for services that support one.
        excerpts: Cuts the evidence to the sentences that answer; None shows whole abstracts.
        guide: Generator of quotations that chooses what a small model is shown, and refuses in its place.

    Raises:
        InputError: There are demonstrations, but the prompt takes none.
    """

    def __init__(
        self,
        llm: LLM,
        prompt: AnswerPrompt,
        demonstrations: Sequence[Demonstration] | Selector | None,
        budget: int | None,
        seed: int | None,
        excerpts: Excerpts | None = None,
        guide: OneByOne | None = None,
    ) -> None:
        self.llm = llm
        self.prompt = prompt
        self._demonstrations = prompt.demonstrations if demonstrations is None else demonstrations
        if self._demonstrations and prompt.demonstration is None:
            raise InputError(
                f"expected no demonstrations for prompt {prompt.name}, which does not say how to show one; "
                "found some. Use another prompt, or leave them out."
            )
        self.budget = budget or llm.context
        self.seed = seed
        self._excerpts = excerpts
        self._guide = guide

    @property
    @abstractmethod
    def signature(self) -> str:
        """Name and settings, for provenance."""

    @abstractmethod
    async def _build(self, task: GenerationTask, request: ChatRequest, complete: Complete) -> Generation | CallFailure:
        """Make an answer from a request, or return the failed call."""

    def _typed_question(self, question: Question) -> Question:
        """Return the question as the prompt shows it."""
        return question

    def _grammar(self, question: Question, seen: TruncatedEvidence) -> str | None:
        """Return the grammar of the reply, if one is used."""
        return None

    @property
    def asked_without_evidence(self) -> bool:
        """Whether the model is asked even without evidence."""
        return False

    @property
    def _writes_prose(self) -> bool:
        """Whether a reply can be read while it is written."""
        return False

    @property
    def ledger(self) -> Ledger:
        """Calls made so far and their cost."""
        return self.llm.ledger

    def generate(self, question: Question, evidence: Sequence[Evidence]) -> Answer:
        """Return an answer whose marker ``[n]`` cites the document of ``evidence[n - 1]``; see ``Generator``.

        Raises:
            LLMAccessError: No call can succeed, for example because the key is wrong.
        """
        return next(self.generate_many([(question, evidence)]))

    def generate_many(self, asked: Iterable[tuple[Question, Sequence[Evidence]]]) -> Generator[Answer, None, None]:
        """Yield answers in the order of the questions; several are asked at a time."""
        return (found.answer for found in self.generations(asked))

    def generations(self, asked: Iterable[tuple[Question, Sequence[Evidence]]]) -> Generator[Generation, None, None]:
        """Like ``generate_many``, with the model's replies and notes."""
        return self.llm.each((self._task(question, evidence) for question, evidence in asked), self._generate_one)

    async def generate_one(self, question: Question, evidence: Sequence[Evidence]) -> Generation:
        """Generate for one question, for callers that send other requests at the same time."""
        return await self._generate_one(self._task(question, evidence))

    def request(self, question: Question, evidence: Sequence[Evidence]) -> ChatRequest | None:
        """Return the request for a question; None if there is nothing to ask."""
        asked = self._task(question, evidence).asked
        return asked if isinstance(asked, ChatRequest) else None

    def _signature_of(self, *held: str) -> str:
        """Prompt name, version and hash, the model's name and its settings; ``held`` names the form of the reply."""
        prompt = self.prompt
        how = [f"temperature={prompt.temperature}"] if prompt.temperature is not None else []
        how += [f"top_p={prompt.top_p:g}"] if prompt.top_p is not None else []
        how += [*([f"budget={self.budget}"] if self.budget is not None else []), *held]
        how += [shown] if (shown := _signed(self._demonstrations)) else []
        how += [f"seed={self.seed}"] if self.seed is not None else []
        how += [self._excerpts.signature] if self._excerpts is not None else []
        how += [f"guided by {self._guide.signature}"] if self._guide is not None else []
        return f"{prompt.signature}:{self.llm.signature}({', '.join(how)})"

    def _task(self, question: Question, evidence: Sequence[Evidence], budget: int | None = None) -> GenerationTask:
        """Prepare a question within ``budget``; None: this generator's budget."""
        budget = budget or self.budget
        prompt, shown_as = self.prompt, self._typed_question(question)
        if isinstance(prompt, VerbatimAnswerPrompt):
            return self._verbatim_task(prompt, question, evidence)
        documents = tuple(hit.document for hit in evidence)
        try:
            examples = _examples_for(self._demonstrations, question, documents)
        except InputError as error:
            # One question may leave too little room and the next one enough.
            return GenerationTask(question, documents, TruncatedEvidence(()), failed(question, documents, str(error)))
        room = None
        if budget is not None:
            room = budget - prompt.max_tokens - message_tokens(prompt.messages(shown_as, (), examples))
        read = evidence if self._excerpts is None else self._excerpts.of(question.text, evidence)
        quoted = None if self._guide is None else self._guide.generate(question, evidence)
        if quoted is not None:
            if quoted.insufficient:
                return GenerationTask(question, documents, TruncatedEvidence(()), quoted)
            read = quoted_evidence(evidence, quoted)
        seen = truncate_evidence(read, room)
        if room is not None and (room < 0 or (seen.trimmed and not seen.shown)):
            reason = (
                f"the prompt and its reply leave {max(0, room)} of {budget} tokens for the evidence; "
                "raise answer.window, or show fewer demonstrations (answer.shots)"
            )
            return GenerationTask(question, documents, seen, failed(question, documents, reason))
        if not seen.shown and not self.asked_without_evidence:
            return GenerationTask(question, documents, seen, insufficient(prompt, question, documents))
        request = ChatRequest(
            prompt.messages(shown_as, seen.shown, examples),
            max_tokens=prompt.max_tokens,
            temperature=prompt.temperature,
            top_p=prompt.top_p,
            seed=self.seed,
            grammar=self._grammar(question, seen),
        )
        return GenerationTask(question, documents, seen, request, evidence, quoted)

    def _verbatim_task(
        self, prompt: VerbatimAnswerPrompt, question: Question, evidence: Sequence[Evidence]
    ) -> GenerationTask:
        """Prepare a question for a verbatim prompt: whole documents, or a failed answer if they do not fit."""
        documents, seen = tuple(hit.document for hit in evidence), TruncatedEvidence(())
        try:
            examples = _examples_for(self._demonstrations, question, documents)
        except InputError as error:
            return GenerationTask(question, documents, seen, failed(question, documents, str(error)))
        if not self.asked_without_evidence and all(document.retracted for document in documents):
            return GenerationTask(question, documents, seen, insufficient(prompt, question, documents))
        messages = prompt.conversation(question, evidence, examples)
        # A service itself says if a request is too long.
        needed = prompt.max_tokens + message_tokens(messages)
        if self.budget is not None and needed > self.budget:
            reason = f"the prompt and its reply need about {needed} of {self.budget} tokens, and verbatim cuts nothing"
            step = "lower --k, show fewer demonstrations, or use a model (answer.window) that takes more"
            return GenerationTask(question, documents, seen, failed(question, documents, f"{reason}; {step}"))
        request = ChatRequest(messages, prompt.max_tokens, prompt.temperature, prompt.top_p, seed=self.seed)
        shown = tuple(
            Shown(number, document.title, (document.text,))
            for number, document in enumerate(documents, start=1)
            if not document.retracted
        )
        return GenerationTask(question, documents, TruncatedEvidence(shown), request)

    async def _generate_one(self, task: GenerationTask) -> Generation:
        if isinstance(task.asked, Answer):
            return Generation(task.asked.model_copy(update=self._fields(task)))
        replies: list[Reply] = []

        async def complete(request: ChatRequest) -> Reply:
            seen = follower() if self._writes_prose else None
            replies.append(await (self.llm.follow(request, seen) if seen else self.llm.complete(request)))
            return replies[-1]

        made = await self._build(task, task.asked, complete)
        if (shorter := self._shortened(task, made)) is not None:
            task = shorter
            made = Generation(task.asked) if isinstance(task.asked, Answer) else await self._build(
                task, task.asked, complete
            )  # fmt: skip
        fields = self._fields(task)
        if isinstance(made, CallFailure):
            made = Generation(failed(task.question, task.documents, self._why(made)), made)
        # Every reply is paid for, including one that was asked for again.
        if task.quoted is not None and made.answer.failed is None:
            # A small model reads one source well, and may miss that another says the opposite.
            fields |= {"stance": task.quoted.stance, "sufficiency": task.quoted.sufficiency}
            fields["exact"] = made.answer.exact or task.quoted.exact
        fields["spent"] = _spent_on(replies, self.llm.settings.price)
        fields["notes"] = made.notes
        return replace(made, answer=made.answer.model_copy(update=fields))

    def _why(self, failure: CallFailure) -> str:
        """Say why a question has no answer, and for a verbatim prompt that was too long, what to do."""
        if TOO_LONG not in failure.reason or not isinstance(self.prompt, VerbatimAnswerPrompt):
            return failure.reason
        limit = "the model" if failure.context is None else f"the {failure.context} tokens that the model"
        return (
            f"the prompt and its reply need more than {limit} takes, and verbatim cuts nothing; lower --k, or name a "
            f"model that takes more ({failure.reason})"
        )

    def _fields(self, task: GenerationTask) -> dict[str, object]:
        return {"generator": self.signature, "trimmed": task.seen.trimmed}

    def _shortened(self, task: GenerationTask, made: Generation | CallFailure) -> GenerationTask | None:
        """Return the task with as much evidence as the model's stated limit allows; None if no limit was exceeded."""
        if not isinstance(made, CallFailure) or made.context is None or not task.evidence or self.budget is not None:
            return None
        # Only this question is shortened: what is shown for a question must not depend on others.
        return self._task(task.question, task.evidence, made.context)


def temperature_notes(reply: Completion) -> tuple[str, ...]:
    """Note that the model could not be asked at the prompt's temperature."""
    return ("the model takes no temperature: it was asked at its own",) if "temperature" in reply.without else ()


def _examples_for(
    demonstrations: Sequence[Demonstration] | Selector, question: Question, documents: Sequence[Document]
) -> Sequence[Demonstration]:
    """Return the demonstrations for a question: the given ones or those chosen for it.

    Raises:
        InputError: Too few demonstrations are left for this question.
    """
    if isinstance(demonstrations, Sequence):
        return demonstrations
    return demonstrations.choose(question, [document.pmid for document in documents if document.pmid])


def _spent_on(replies: Sequence[Reply], price: Price | None) -> Spent:
    """Sum the cost of the replies to one question; ``price`` is used for replies without a cost."""
    made = [reply for reply in replies if isinstance(reply, Completion) and not reply.cached]
    costs = [
        price.of(reply.usage) if reply.usage.cost is None and price is not None else reply.usage.cost for reply in made
    ]
    known = [cost for cost in costs if cost is not None]
    # The charge of a failed call is unknown.
    complete = len(known) == len(costs) and not any(isinstance(reply, CallFailure) for reply in replies)
    return Spent(
        calls=sum(reply.attempts for reply in replies),
        remembered=sum(isinstance(reply, Completion) and reply.cached for reply in replies),
        prompt_tokens=sum(reply.usage.prompt_tokens for reply in made),
        completion_tokens=sum(reply.usage.completion_tokens for reply in made),
        seconds=sum(reply.seconds for reply in replies),
        cost=sum(known) if complete else None,
    )


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


Grammar = Literal["auto", "on", "off"]
"""Whether a grammar forces the form of an answer; ``auto`` uses one for model files run in this process."""


class LanguageModelGenerator(AskingGenerator):
    """Asks a language model for an answer that cites the evidence.

    Args:
        llm: The model.
        prompt: A name of ``PROMPTS``, a ``.toml`` file, or a prompt.
        demonstrations: Examples, or a selector that chooses them for each question; None shows the prompt's own.
        grammar: Whether to force sentences that end in citations of existing documents. Needs llama.cpp.
        budget: Tokens of prompt and reply together. None: the model's own limit, see ``AskingGenerator``.
        seed: Seed for sampling, for services that support one.
        excerpts: Cuts the evidence to the sentences that answer; None shows whole abstracts.
        guide: Generator of quotations that chooses what a small model is shown, and refuses in its place.
        reasoned: The reply to a verbatim prompt is also a rationale, one step a sentence.

    Raises:
        InputError: The prompt cannot be used or takes no demonstrations, or the model does not support a grammar.
    """

    def __init__(
        self,
        llm: LLM,
        prompt: AnswerPrompt | str | Path = "vericite",
        *,
        demonstrations: Sequence[Demonstration] | Selector | None = None,
        grammar: Grammar = "auto",
        budget: int | None = None,
        seed: int | None = None,
        excerpts: Excerpts | None = None,
        guide: OneByOne | None = None,
        reasoned: bool = False,
    ) -> None:
        read = prompt if isinstance(prompt, AnswerPrompt) else load_prompt(prompt)
        super().__init__(llm, read, demonstrations, budget, seed, excerpts, guide)
        if grammar == "on" and not llm.spec.takes_grammar:
            raise InputError(
                f"expected a model that llama.cpp runs, which a grammar needs; found {llm.signature}. "
                "Use gguf:/file.gguf or the address of its server, or leave the grammar out."
            )
        self._reasoned = reasoned
        if self._is_verbatim and (grammar == "on" or excerpts is not None or guide is not None):
            raise InputError(
                f"expected prompt {self.prompt.name}, which is verbatim, without a grammar or chosen sentences "
                "(answer.evidence); found one of them. Leave it out."
            )
        formed = self.prompt.citing == "every" or self.prompt.final_answer
        self._constrained = grammar == "on" or (
            grammar == "auto" and formed and llm.spec.path is not None and not self._is_verbatim
        )

    @property
    def _is_verbatim(self) -> bool:
        return isinstance(self.prompt, VerbatimAnswerPrompt)

    @property
    def signature(self) -> str:
        """Name, version and hash of the prompt, the model's name and its settings."""
        return self._signature_of(*([GRAMMAR] if self._constrained else []))

    @property
    def _writes_prose(self) -> bool:
        return not self._is_verbatim

    @property
    def asked_without_evidence(self) -> bool:
        """Whether the prompt allows an answer without evidence."""
        return self.prompt.own_knowledge

    def _grammar(self, question: Question, seen: TruncatedEvidence) -> str | None:
        if not self._constrained:
            return None
        prompt = self.prompt
        options = prompt.how_to_answer(question) if prompt.options and question.type in (None, "yesno") else None
        numbers = [document.number for document in seen.shown]
        # A guide has decided whether the sources answer.
        return answer_grammar(prompt, numbers, options, may_refuse=self._guide is None)

    async def _build(self, task: GenerationTask, request: ChatRequest, complete: Complete) -> Generation | CallFailure:
        reply = await complete(request)
        if isinstance(reply, CallFailure):
            return reply
        if self._is_verbatim:
            as_it_stands = read_as_it_stands(
                self.prompt,
                task.question,
                task.documents,
                reply.text,
                cut_off=reply.cut_off,
                reasoned=self._reasoned,
            )
            return Generation(as_it_stands.answer, reply, (*as_it_stands.notes, *temperature_notes(reply)))
        read = read_reply(
            self.prompt,
            task.question,
            task.documents,
            reply.text,
            cut_off=reply.cut_off,
            constrained=request.grammar is not None,
        )
        notes = (*read.notes, *temperature_notes(reply), *_unseen(read.answer, task.seen))
        if read.answer.failed is not None:
            notes += (_raw(reply.text, request.grammar is not None),)
        return Generation(read.answer, reply, notes)


_RAW = 600
"""Characters of a failed reply that are shown."""


def _raw(reply: str, constrained: bool) -> str:
    """Show a failed reply as it came, and say what to try."""
    text = " ".join(reply.split())
    said = f"the model wrote: “{text[:_RAW]}{'…' if len(text) > _RAW else ''}”" if text else "the model wrote nothing"
    steps = ["a larger model", "no --llm, which quotes the sources"]
    return f"{said}. What may help: {', '.join(['--set answer.grammar=off'] * constrained + steps)}"


def _unseen(answer: Answer, seen: TruncatedEvidence) -> tuple[str, ...]:
    """Note citations of documents that the model was not shown."""
    shown = {document.number for document in seen.shown}
    cited = {citation.marker for claim in answer.claims for citation in claim.citations if not citation.dangling}
    numbers = "".join(f"[{number}]" for number in sorted(cited - shown) if number <= len(answer.documents))
    return (f"it cites {numbers}, which the model was not shown",) if numbers else ()
