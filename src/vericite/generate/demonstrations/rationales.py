"""Rationales for demonstrations: a language model reasons from the evidence to the answer that is known to be right.

A model that is told the answer can repeat it whatever it has written before. So where the answer is a word, the
rationale is read once more by itself, without question of what is right: what it comes to then must be that answer.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence

from pydantic import BaseModel, ConfigDict, Field

from vericite.generate.demonstrations.pool import Label, label_of, normal
from vericite.generate.prompt import NOTICE, Shown
from vericite.llm import LLM, CallFailure, ChatRequest, Completion, Message, Reply
from vericite.llm.quoting import as_block
from vericite.llm.structured import Kind, ask_for
from vericite.records import Document, Question
from vericite.text.markers import parse_markers, render_markers
from vericite.text.references import parse_pmids
from vericite.text.terms import terms

RATIONALE = "demonstration-rationale.v1"

COVERED = 0.5
"""Share of a reference answer's words that a rationale must have, where no single word is the right answer."""

_WRITE = """\
You show how to reason from documents to an answer. You are given a biomedical question, numbered documents and the \
answer that experts agreed on. Write the reasoning by which a careful reader gets from the documents to that answer, \
as if the answer were not known before: never mention that it was given.

- Two to six statements, each one plain sentence, the findings first and what follows from them last.
- For each statement give the numbers of the documents that state it. A statement that only draws the conclusion has \
an empty list. No numbers in brackets inside a statement.
- Take findings from the documents alone; keep their numbers, units, directions and negations.
- If the documents do not lead to the answer, reply with an empty list of statements.
"""
_READ = """\
You are given a biomedical question and somebody's reasoning about it. Say which answer this reasoning comes to. Go by \
the reasoning alone, not by what you know. If it comes to no answer, reply with the word none.
"""
_HOW = {
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
    """What a reader takes from a rationale."""

    model_config = ConfigDict(extra="forbid", strict=True)
    answer: str = Field(min_length=1)


class Unusable(Exception):
    """The model replied, and what it wrote is no rationale for this answer; asked again it would write the same."""


class NoReply(Exception):
    """No reply came: the question can be asked again."""


class RationaleWriter:
    """Asks a language model for rationales, at temperature 0.

    Args:
        llm: The model.
        tokens: Room for a reply.
    """

    def __init__(self, llm: LLM, tokens: int = 1024) -> None:
        self.llm = llm
        self._tokens = tokens

    @property
    def signature(self) -> str:
        """The prompts' version and hash, and the model."""
        fixed = "\n".join((_WRITE, _READ, NOTICE, *_HOW.values(), f"{COVERED}"))
        digest = hashlib.sha256(fixed.encode()).hexdigest()[:12]
        return f"{RATIONALE}@{digest}:{self.llm.signature}(temperature=0, max_tokens={self._tokens})"

    async def write(self, question: Question, documents: Sequence[Document]) -> str:
        """A rationale with its citations, which comes to the right answer.

        Raises:
            Unusable: What the model wrote cites what is not there, or comes to another answer.
            NoReply: No reply came.
            LLMAccessError: Every call would fail alike.
        """
        shown = "\n".join(Shown.of(document, number).text for number, document in enumerate(documents, start=1))
        answer = as_block("right_answer", _told(question))
        asked = f"{as_block('question', question.text)}\n\n{shown}\n\n{answer}\n\nStatements:"
        found = await self._asked(_WRITE, asked, _Reasoning, lambda said: _checked(said, len(documents)))
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
        how = _HOW["exact" if label is None else "label"]
        asked = f"{as_block('question', question.text)}\n\n{as_block('reasoning', rationale)}\n\n{how}"
        found = await self._asked(_READ, asked, _Conclusion)
        if not comes_to(found.answer, label, question.gold_exact):
            raise Unusable("the rationale comes to another answer")

    async def _asked(
        self, system: str, user: str, kind: type[Kind], check: Callable[[Kind], Kind] | None = None
    ) -> Kind:
        last: list[Reply] = []

        async def complete(request: ChatRequest) -> Reply:
            last[:] = [await self.llm.complete(request)]
            return last[0]

        messages = (Message("system", f"{system}\n\n{NOTICE}"), Message("user", user))
        found = await ask_for(complete, ChatRequest(messages, max_tokens=self._tokens), kind, check)
        if not isinstance(found, CallFailure):
            return found.value
        # A reply that came and could not be used would come again; none that came may come yet.
        raise (
            Unusable("the reply is none that can be used") if isinstance(last[0], Completion) else NoReply(found.reason)
        )


def comes_to(answer: str, label: Label | None, exact: Sequence[Sequence[str]]) -> bool:
    """Whether an answer is the right one: its label, or every item by one of its synonyms."""
    if label is not None:
        return re.findall(r"[a-z]+", answer.lower())[:1] == [label]
    said = f" {normal(answer)} "
    return bool(exact) and all(any(f" {normal(name)} " in said for name in item if name.strip()) for item in exact)


def _told(question: Question) -> str:
    """The right answer as the model is told it."""
    exact = "; ".join(item[0] for item in question.gold_exact if item)
    return "\n".join(filter(None, (exact, *question.gold_ideal[:1])))


def _checked(said: _Reasoning, documents: int) -> _Reasoning:
    for item in said.statements:
        if wrong := [number for number in item.documents if not 1 <= number <= documents]:
            raise ValueError(f"expected numbers of documents from 1 to {documents}; found {wrong[0]}")
        if parse_markers(item.statement) or parse_pmids(item.statement):
            raise ValueError("expected numbers of documents in the list alone; found some inside a statement")
    if said.statements and not any(item.documents for item in said.statements):
        raise ValueError("expected at least one statement to rest on a document; found none")
    return said


def _covers(rationale: str, ideal: Sequence[str]) -> bool:
    said = set(terms(rationale))
    return any(len(words & said) >= COVERED * len(words) for words in map(set, map(terms, ideal)) if words)


def _cited(item: _Statement) -> str:
    text = re.sub(r"\s+", " ", item.statement).strip()
    stop = text[-1] if text[-1:] in (".", "!", "?") else "."
    markers = f" {render_markers(sorted(set(item.documents)))}" if item.documents else ""
    return f"{text.rstrip('.!?')}{markers}{stop}"
