"""Build a pool of demonstrations from training questions. An interrupted build continues where it stopped."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from pydantic import BaseModel, ConfigDict, Field

from vericite.disk.jobs import Lines
from vericite.errors import EntrezAccessError, EntrezError, InputError
from vericite.generate.demonstrations.pool import (
    ATTRIBUTION,
    Exemplar,
    Label,
    cited_answer,
    evidence_for,
    label_of,
    normal,
)
from vericite.generate.language_model import LanguageModelGenerator
from vericite.generate.prompt import NOTICE, AnswerPrompt, Shown
from vericite.generate.reply import read_final_answer
from vericite.llm import LLM, CallFailure, ChatRequest, Completion, Reply
from vericite.llm.chat import as_block, canonical
from vericite.llm.prompts import Prompt, read_prompt, signed
from vericite.llm.replies import Kind, ask_for
from vericite.records import (
    SCHEMA_VERSION,
    Document,
    Evidence,
    Names,
    Question,
    Record,
)
from vericite.text.references import parse_markers, parse_pmids, reference_key, render_markers
from vericite.text.terms import terms

COVERED = 0.5
"""Minimum share of a reference answer's words that a rationale must have, if no single word is the right answer."""


_FOLDER = Path(__file__).parent / "prompts"
_WRITE, _READ = (read_prompt(_FOLDER / name, Prompt) for name in ("write.toml", "read.toml"))


_FORMS = {
    "label": "Answer with one word: yes, no or maybe.",
    "exact": "Answer with the name, number or items only, items separated by semicolons.",
}


class _Statement(BaseModel):
    """A sentence and the documents that it rests on."""

    model_config = ConfigDict(extra="forbid", strict=True)
    statement: str = Field(min_length=1)
    documents: list[int]


class _Reasoning(BaseModel):
    """What the model writes."""

    model_config = ConfigDict(extra="forbid", strict=True)
    statements: list[_Statement] = Field(max_length=12)


class _Conclusion(BaseModel):
    """The conclusion that a reader draws from a rationale."""

    model_config = ConfigDict(extra="forbid", strict=True)
    answer: str = Field(min_length=1)


class Unusable(Exception):
    """The model replied, but not with a rationale for this answer; asking again would give the same reply."""


class NoReply(Exception):
    """No reply came; the question can be asked again."""


class WritesRationales(Protocol):
    """Writes the reasoning of a demonstration."""

    @property
    def llm(self) -> LLM:
        """The language model to call."""
        ...

    @property
    def signature(self) -> str:
        """Signature, recorded with each demonstration."""
        ...

    async def write(self, question: Question, documents: Sequence[Document]) -> str:
        """Write a rationale with citations that leads to the right answer; see ``RationaleWriter``."""
        ...


class RationaleWriter:
    """Asks a language model for rationales, at temperature 0.

    Args:
        llm: The model.
        tokens: Maximum length of a reply.
    """

    def __init__(self, llm: LLM, tokens: int = 1024) -> None:
        self.llm = llm
        self._tokens = tokens

    @property
    def signature(self) -> str:
        """Version and hash of the prompts, and the model."""
        fixed = canonical([_WRITE.signature, _READ.signature, NOTICE, _FORMS, COVERED])
        return f"{signed(_WRITE.name, fixed)}:{self.llm.signature}(temperature=0, max_tokens={self._tokens})"

    async def write(self, question: Question, documents: Sequence[Document]) -> str:
        """Write a rationale with citations that leads to the right answer.

        Raises:
            Unusable: The rationale cites what does not exist, or leads to another answer.
            NoReply: No reply came.
            LLMAccessError: No call can succeed, for example because the key is wrong.
        """
        given = {
            "question": as_block("question", question.text),
            "documents": "\n".join(Shown.of(document, place).text for place, document in enumerate(documents, start=1)),
            "answer": as_block("right_answer", _right_answer(question)),
        }
        found = await self._asked(_WRITE, given, _Reasoning, lambda reply: _checked(reply, len(documents)))
        if not found.statements:
            raise Unusable("the model finds that the documents do not lead to the answer")
        rationale = " ".join(_cited(item) for item in found.statements)
        await self._check(question, rationale)
        return rationale

    async def _check(self, question: Question, rationale: str) -> None:
        label = label_of(question)
        if label is None and not question.gold_exact:
            if not _covers(rationale, question.gold_ideal):
                raise Unusable("the rationale has too few words of the right answer")
            return
        given = {
            "question": as_block("question", question.text),
            "reasoning": as_block("reasoning", rationale),
            "form": _FORMS["exact" if label is None else "label"],
        }
        found = await self._asked(_READ, given, _Conclusion)
        if not is_right_answer(found.answer, label, question.gold_exact):
            raise Unusable("the rationale leads to another answer")

    async def _asked(
        self, prompt: Prompt, given: Mapping[str, str], kind: type[Kind], check: Callable[[Kind], Kind] | None = None
    ) -> Kind:
        last: list[Reply] = []

        async def complete(request: ChatRequest) -> Reply:
            last[:] = [await self.llm.complete(request)]
            return last[0]

        messages = prompt.filled({**given, "notice": NOTICE})
        found = await ask_for(complete, ChatRequest(messages, max_tokens=self._tokens), kind, check)
        if not isinstance(found, CallFailure):
            return found.value
        # A model repeats an unusable reply, but a call that failed may succeed later.
        raise (Unusable("the reply cannot be used") if isinstance(last[0], Completion) else NoReply(found.reason))


def is_right_answer(answer: str, label: Label | None, exact: Sequence[Sequence[str]]) -> bool:
    """Whether an answer is right: it has the label, or every item by one of its synonyms."""
    if label is not None:
        return re.findall(r"[a-z]+", answer.lower())[:1] == [label]
    words = f" {normal(answer)} "
    return bool(exact) and all(any(f" {normal(name)} " in words for name in item if name.strip()) for item in exact)


def _right_answer(question: Question) -> str:
    """Return the right answer in the form shown to the model."""
    exact = "; ".join(item[0] for item in question.gold_exact if item)
    return "\n".join(filter(None, (exact, *question.gold_ideal[:1])))


def _checked(reply: _Reasoning, documents: int) -> _Reasoning:
    for item in reply.statements:
        if wrong := [number for number in item.documents if not 1 <= number <= documents]:
            raise ValueError(f"expected numbers of documents from 1 to {documents}; found {wrong[0]}")
        if parse_markers(item.statement) or parse_pmids(item.statement):
            raise ValueError("expected numbers of documents in the list alone; found some inside a statement")
    if reply.statements and not any(item.documents for item in reply.statements):
        raise ValueError("expected at least one statement to rest on a document; found none")
    return reply


def _covers(rationale: str, ideal: Sequence[str]) -> bool:
    known = set(terms(rationale))
    return any(len(words & known) >= COVERED * len(words) for words in map(set, map(terms, ideal)) if words)


def _cited(item: _Statement) -> str:
    text = re.sub(r"\s+", " ", item.statement).strip()
    stop = text[-1] if text[-1:] in (".", "!", "?") else "."
    markers = f" {render_markers(sorted(set(item.documents)))}" if item.documents else ""
    return f"{text.rstrip('.!?')}{markers}{stop}"


MOST_DOCUMENTS = 3
"""Default number of documents of an exemplar: four exemplars are then about as long as twelve abstracts."""


class LeftOut(Record):
    """A training question that makes no exemplar, and why; it is not tried again."""

    schema_version: int = Field(default=SCHEMA_VERSION, ge=1, le=SCHEMA_VERSION)
    id: str = Field(min_length=1)
    question: str
    reason: str
    made_by: Names


@dataclass(frozen=True)
class Built:
    """The result of a build.

    Attributes:
        made: Number of exemplars made.
        before: Number of questions already done by earlier builds.
        left_out: Number of questions that yielded no exemplar, by reason, including earlier builds.
        failed: By question id, why it could not be tried; the next build tries it again.
    """

    made: int
    before: int
    left_out: Counter[str]
    failed: dict[str, str]


class _Task(NamedTuple):
    question: Question
    documents: tuple[Document, ...]


_NOTHING_FOUND = "the search found no document with a text"


class _Failed(NamedTuple):
    id: str
    reason: str


def build_pool(
    questions: Iterable[Question],
    evidence: Callable[[Question], Sequence[Document]],
    to: Path,
    writer: WritesRationales | None = None,
    most: int = MOST_DOCUMENTS,
    progress: Callable[[Built], None] | None = None,
    found_by: str | None = None,
    quoting: bool = False,
) -> Built:
    """Make exemplars of training questions and add them to a file.

    Each line is on disk before the next is written. Questions in the file, and those that were left out (``to`` with
    the suffix ``.left-out``), are not tried again. An incomplete last line is made again.

    Args:
        questions: Training questions with gold documents and answers; never those of a test set.
        evidence: Returns a question's gold documents, or what a search finds. Raises ``InputError`` if it cannot.
        to: File of the pool.
        writer: Writes rationales; None makes none.
        most: Maximum number of documents of an exemplar.
        progress: Called after each question.
        found_by: Name of the search, if the documents were searched for. The first ones are then shown in rank order,
            whether they answer the question or not.
        quoting: Without a writer, use the cited reference answer as the rationale too.

    Raises:
        InputError: The file is not a pool, or was made with other settings or from other questions with the same ids.
        LLMAccessError: No call to the language model can succeed. The file keeps what was made before.
        EntrezAccessError: The same for NCBI.
    """
    if most < 1:
        raise InputError(f"expected exemplars to show at least 1 document; found {most}. Raise it.")
    exemplars, left_out = Lines(to, Exemplar), Lines(to.with_name(f"{to.name}.left-out"), LeftOut)
    with exemplars.locked():
        build = _Build(to, [*exemplars.read(), *left_out.read()], most, writer, found_by, quoting)
        for item in build.run(questions, evidence):
            if isinstance(item, Exemplar):
                exemplars.append([item])
                build.made += 1
            elif isinstance(item, LeftOut):
                left_out.append([item])
                build.left_out[item.reason] += 1
            else:
                build.failed[item.id] = item.reason
            if progress is not None:
                progress(build.state)
    return build.state


class _Build:
    """One build: the existing lines, and the settings for making the rest."""

    def __init__(
        self,
        to: Path,
        before: Sequence[Exemplar | LeftOut],
        most: int,
        writer: WritesRationales | None,
        found_by: str | None,
        quoting: bool,
    ) -> None:
        self._most, self._writer, self._searched, self._quoting = most, writer, found_by is not None, quoting
        evidence = f"gold documents, {most} at most" if found_by is None else f"the first {most} of {found_by}"
        self._made_by = {"answer": ATTRIBUTION, "evidence": evidence}
        if writer is not None:
            self._made_by["rationale"] = writer.signature
        elif quoting:
            self._made_by["rationale"] = "the reference answer"
        for line in before:
            if line.made_by != self._made_by:
                raise InputError(
                    f"expected {to} to hold demonstrations made by {self._made_by}; found {line.id!r} made by "
                    f"{dict(line.made_by)}. Write to another file, or use the same settings."
                )
        self._done = {line.id: line.question for line in before}
        self._before = 0
        self.made = 0
        self.left_out = Counter(line.reason for line in before if isinstance(line, LeftOut))
        self.failed: dict[str, str] = {}

    @property
    def state(self) -> Built:
        """Return what was done so far."""
        return Built(self.made, self._before, self.left_out, self.failed)

    def run(
        self, questions: Iterable[Question], evidence: Callable[[Question], Sequence[Document]]
    ) -> Iterator[Exemplar | LeftOut | _Failed]:
        """Yield the result of each question that is not done yet."""
        tasks = (self._task(question, evidence) for question in questions if not self._is_done(question))
        if self._writer is not None:
            yield from self._writer.llm.each(tasks, self._reasoned)
        else:
            for task in tasks:
                yield task if isinstance(task, _Failed) else self._exemplar(task, None)

    def _is_done(self, question: Question) -> bool:
        before = self._done.get(question.id)
        if before is None:
            self._done[question.id] = question.text
            return False
        if before != question.text:
            raise InputError(
                f"expected question {question.id!r} to be the same as before; found {question.text[:200]!r}, and "
                f"before {before[:200]!r}. Give each its own id, or write to another file."
            )
        self._before += 1
        return True

    def _task(self, question: Question, evidence: Callable[[Question], Sequence[Document]]) -> _Task | _Failed:
        try:
            documents = list(evidence(question))
        except EntrezAccessError:
            raise
        except (InputError, EntrezError) as error:
            return _Failed(question.id, str(error))
        usable = [document for document in documents if document.text and not document.retracted]
        if not usable:
            if self._searched:
                return _Task(question, ())
            return _Failed(question.id, "expected a gold document with a text that is not retracted; found none")
        if self._searched:
            return _Task(question, tuple(usable[: self._most]))
        return _Task(question, evidence_for(question.gold_ideal, usable, self._most))

    async def _reasoned(self, task: _Task | _Failed) -> Exemplar | LeftOut | _Failed:
        assert self._writer is not None
        if isinstance(task, _Failed):
            return task
        if not task.question.gold_exact and not task.question.gold_ideal:
            return self._left_out(task.question, "the question has no right answer")
        if not task.documents:
            return self._left_out(task.question, _NOTHING_FOUND)
        try:
            rationale = await self._writer.write(*task)
        except Unusable as reason:
            return self._left_out(task.question, str(reason))
        except NoReply as reason:
            return _Failed(task.question.id, str(reason))
        return self._exemplar(task, rationale)

    def _exemplar(self, task: _Task, rationale: str | None) -> Exemplar | LeftOut:
        question, documents = task
        if not documents:
            return self._left_out(question, _NOTHING_FOUND)
        answer = cited_answer(question.gold_ideal, documents)
        final = _final(question)
        if answer is None and (rationale is None or final is None):
            return self._left_out(question, "no sentence of the right answer has its words in a document")
        articles = (reference_key(name) for name in question.gold_documents)
        return Exemplar(
            id=question.id,
            question=question.text,
            type=question.type,
            label=label_of(question),
            documents=documents,
            articles=tuple(sorted(set(articles))),
            answer=answer,
            rationale=answer if self._quoting and final is not None else rationale,
            final=final,
            made_by=self._made_by,
        )

    def _left_out(self, question: Question, reason: str) -> LeftOut:
        return LeftOut(id=question.id, question=question.text, reason=reason, made_by=self._made_by)


def _final(question: Question) -> str | None:
    """Return the right answer in a word, or the first name of each item; else the reference answer."""
    exact = "; ".join(item[0] for item in question.gold_exact if item)
    return exact or next((answer for answer in question.gold_ideal if answer.strip()), None)


class EvaluatedWriter:
    """Asks a language model as in the evaluation, without demonstrations; keeps reasoning that ends in a right answer.

    This is section 4 of Reason and Verify, which does not say that it keeps only right answers. The model sees the
    question, the documents that the search finds and the prompt of the evaluation, but not the right answer. A verbatim
    prompt may show it with the slot ``{answer}``, which is another reading of the paper.

    Args:
        llm: The model.
        prompt: The prompt of the evaluation, which ends in a final answer.

    Raises:
        InputError: The prompt asks for no final answer, so it cannot be checked.
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
        """The prompt of the evaluation and the model; only right answers are kept."""
        return f"as evaluated, right answers: {self._generator.signature}"

    async def write(self, question: Question, documents: Sequence[Document]) -> str:
        """Return the model's reasoning before its final answer.

        Raises:
            Unusable: The model gives another answer or none, or cites what does not exist.
            NoReply: No reply came.
            LLMAccessError: No call can succeed, for example because the key is wrong.
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
        if not is_right_answer(said, label_of(question), question.gold_exact):
            raise Unusable("the model reaches another answer")
        if any(citation.dangling for claim in answer.claims for citation in claim.citations):
            raise Unusable("the model cites a document that does not exist")
        # A verbatim reply is kept as it stands, with its final answer.
        rationale = read_final_answer(answer.text, prompt.options, question.type).body
        if not any(map(str.isalnum, rationale)):
            raise Unusable("the model gives no reasoning before its answer")
        return rationale
