"""Checking answers that were made elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from pydantic import Field, ValidationError

from vericite.errors import InputError, RecordError
from vericite.models import Pair
from vericite.records import Answer, CheckedAnswer, Document, Record, SourceText, first_problem, number_jsonl
from vericite.text.citations import parse_answer
from vericite.verify import DEFAULT, Protocol, Verifier, get_protocol, load_judge
from vericite.verify.judges import is_kept
from vericite.verify.judging import Judge, Judgement


class AnswerToCheck(Record):
    """An answer as a user gives it; ``[n]`` in it cites the n-th document."""

    id: str = Field(min_length=1)
    answer: str
    documents: tuple[SourceText, ...]
    question: str | None = None

    def parsed(self) -> Answer:
        """The answer split into claims and citations."""
        documents = [document.document() for document in self.documents]
        return parse_answer(self.id, self.answer, documents, self.question)


def answers_to_check(path: Path) -> Iterator[Answer | RecordError]:
    """Stream the answers of a JSON Lines file; a line that is none comes out as its error."""
    for number, item in number_jsonl(AnswerToCheck, path):
        if isinstance(item, RecordError):
            yield item
            continue
        try:
            yield item.parsed()
        except ValidationError as error:
            yield RecordError(path, number, *first_problem(error))


def check(
    answer: Answer | str,
    documents: Sequence[Document | Mapping[str, str]] = (),
    *,
    question: str | None = None,
    id: str = "answer",
    protocol: Protocol | str = DEFAULT,
    judge: Judge | str | None = None,
) -> CheckedAnswer:
    """Check every citation of one answer.

    Args:
        answer: Text with markers such as ``[1]``, or an answer already parsed.
        documents: The sources, in the order that the markers count them; mappings have ``id``, ``text`` and
            perhaps ``title``. Not needed with a parsed answer, which has its own.
        question: The question, kept with the answer.
        id: Its name in the result.
        protocol: A protocol or its name.
        judge: A judge or its name, in place of the protocol's own.

    Raises:
        InputError: The documents are no documents, or two have the same id.
    """
    if isinstance(answer, Answer):
        if documents:
            raise InputError("expected no documents beside a parsed answer, which has its own; found some")
        parsed = answer
    else:
        parsed = _parsed(answer, documents, question, id)
    return next(check_many([parsed], protocol, judge))


async def check_async(
    answer: Answer | str,
    documents: Sequence[Document | Mapping[str, str]] = (),
    *,
    question: str | None = None,
    id: str = "answer",
    protocol: Protocol | str = DEFAULT,
    judge: Judge | str | None = None,
) -> CheckedAnswer:
    """``check`` in a thread of its own, so that an event loop goes on."""
    return await asyncio.to_thread(check, answer, documents, question=question, id=id, protocol=protocol, judge=judge)


def check_many(
    answers: Iterable[Answer], protocol: Protocol | str = DEFAULT, judge: Judge | str | None = None
) -> Iterator[CheckedAnswer]:
    """Check answers in a stream, in order. Pairs that several answers share are judged once."""
    return verifier_for(protocol, judge).verify(answers)


def judge(claim: str, premise: str, judge: Judge | str = "bundled") -> Judgement:
    """A judge's word on one pair, without any protocol.

    Raises:
        InputError: One of the two is empty.
    """
    if not (claim.strip() and premise.strip()):
        raise InputError("expected a claim and a premise; found one without text")
    asked = load_judge(judge) if isinstance(judge, str) else judge
    return next(iter(asked.judge([Pair(premise, claim)])))


def verifier_for(protocol: Protocol | str, judge: Judge | str | None = None) -> Verifier:
    """A verifier; one for a named protocol and judge is kept, with its model, for the next call."""
    if isinstance(protocol, str) and (judge is None or (isinstance(judge, str) and is_kept(judge))):
        return _named_verifier(protocol, judge)
    return _verifier(get_protocol(protocol) if isinstance(protocol, str) else protocol, judge)


@lru_cache(maxsize=4)
def _named_verifier(name: str, judge: str | None) -> Verifier:
    return _verifier(get_protocol(name), judge)


def _verifier(protocol: Protocol, judge: Judge | str | None) -> Verifier:
    return Verifier(protocol if judge is None else replace(protocol, judge=judge))


def _parsed(text: str, documents: Sequence[Document | Mapping[str, str]], question: str | None, id: str) -> Answer:
    sources = [as_document(item, position) for position, item in enumerate(documents)]
    try:
        return parse_answer(id, text, sources, question)
    except ValidationError as error:
        raise InputError(f"expected an answer and its documents; found: {first_problem(error)[1]}") from None


def as_document(item: Document | Mapping[str, str], position: int) -> Document:
    """A document from whatever a caller has for one; ``position`` names it in the error.

    Raises:
        InputError: It is none.
    """
    if isinstance(item, Document):
        return item
    try:
        return SourceText.model_validate(dict(item)).document()
    except ValidationError as error:
        field, problem = first_problem(error)
        where = f"documents.{position}" + (f".{field}" if field else "")
        raise InputError(f"expected a document with id, text and perhaps title; {where}: {problem}") from None
    except (TypeError, ValueError):
        raise InputError(
            f"expected documents to be mappings with id, text and perhaps title; documents.{position} is {item!r:.80}"
        ) from None
