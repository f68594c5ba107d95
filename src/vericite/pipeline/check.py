"""Checking answers that were made elsewhere."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import lru_cache
from os import PathLike
from pathlib import Path

from pydantic import ValidationError

from vericite.corpus.retractions import Retractions, known_retractions
from vericite.disk.files import cache_file
from vericite.errors import InputError, ValuesError, expect_many, expect_type
from vericite.models.contracts import Judge, Judgement, Pair
from vericite.records import Answer, CheckedAnswer, Document, EvidenceSpan, SourceText, first_problem
from vericite.text.citations import parse_answer
from vericite.verify.judges.registry import is_kept, load_judge, usual_bar
from vericite.verify.judges.wrapped import FILE, CachedJudge
from vericite.verify.protocol import DEFAULT, Protocol, get_protocol
from vericite.verify.verifier import Verifier, expect_answer, expect_judge


def check(
    answer: Answer | str,
    documents: Sequence[Document | Mapping[str, str]] = (),
    *,
    question: str | None = None,
    id: str = "answer",
    protocol: Protocol | str = DEFAULT,
    judge: Judge | str | None = None,
    cache: Path | bool = False,
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
        cache: Where judgements are kept, as for ``check_many``.

    Raises:
        InputError: The documents are no documents, or two have the same id.
    """
    if isinstance(answer, Answer):
        if documents:
            raise InputError("expected no documents beside a parsed answer, which has its own; found some")
        parsed = answer
    else:
        parsed = _parsed(answer, documents, question, id)
    return next(check_many([parsed], protocol, judge, cache))


async def check_async(
    answer: Answer | str,
    documents: Sequence[Document | Mapping[str, str]] = (),
    *,
    question: str | None = None,
    id: str = "answer",
    protocol: Protocol | str = DEFAULT,
    judge: Judge | str | None = None,
    cache: Path | bool = False,
) -> CheckedAnswer:
    """``check`` in a thread of its own, so that an event loop goes on."""
    return await asyncio.to_thread(
        check, answer, documents, question=question, id=id, protocol=protocol, judge=judge, cache=cache
    )


def check_many(
    answers: Iterable[Answer],
    protocol: Protocol | str = DEFAULT,
    judge: Judge | str | None = None,
    cache: Path | bool = False,
    quote: bool = False,
) -> Iterator[CheckedAnswer]:
    """Check answers in a stream, in order. Pairs that several answers share are judged once.

    Documents that are known on this machine as retracted are marked as such, whatever they say themselves.

    Args:
        answers: The answers.
        protocol: A protocol or its name.
        judge: A judge or its name, in place of the protocol's own.
        cache: Folder (or ``.sqlite`` file) in which judgements are kept for later runs, True for the user's
            (``$VERICITE_CACHE``). It knows a judge by its signature. One that asks a language model keeps the replies
            in a cache of its own, and nothing here.
        quote: Give every passage of evidence its text, for readers who do not have the documents.
    """
    expect_many(answers, "answers, in a list or a stream")
    expect_type(cache, bool | str | PathLike, "a folder for the cache, True or False", "Give a Path")
    verifier = verifier_for(protocol, judge)
    if quote:
        return _quoting(answers, lambda stream: check_many(stream, protocol, judge, cache))
    if known := known_retractions():
        answers = _flagged(known, answers)
    # A judge with a ledger asks a language model.
    if cache is False or getattr(verifier.judge, "ledger", None) is not None:
        return verifier.verify(answers)
    return _remembering(verifier, cache, answers)


def _flagged(known: Retractions, answers: Iterable[Answer]) -> Iterator[Answer]:
    for answer in answers:
        expect_answer(answer)
        yield known.flagged_answer(answer)


def _quoting(
    answers: Iterable[Answer], check_all: Callable[[Iterable[Answer]], Iterator[CheckedAnswer]]
) -> Iterator[CheckedAnswer]:
    waiting: deque[Answer] = deque()

    def noted() -> Iterator[Answer]:
        for answer in answers:
            waiting.append(answer)
            yield answer

    for checked in check_all(noted()):
        texts = {document.id: document.text for document in waiting.popleft().documents}
        verdicts = (
            verdict.model_copy(update={"evidence": tuple(_quoted(span, texts) for span in verdict.evidence)})
            for verdict in checked.verdicts
        )
        yield checked.model_copy(update={"verdicts": tuple(verdicts)})


def _quoted(span: EvidenceSpan, texts: Mapping[str, str]) -> EvidenceSpan:
    return span.model_copy(update={"text": texts[span.document][span.start : span.end]})


def _remembering(verifier: Verifier, cache: Path | bool, answers: Iterable[Answer]) -> Iterator[CheckedAnswer]:
    file = cache_file("default" if isinstance(cache, bool) else cache, FILE)
    with CachedJudge(verifier.judge, file) as judge:
        # A copy: the verifier may be kept for others, and made anew it would spell out the judge in its provenance.
        own = copy(verifier)
        own.judge = judge
        yield from own.verify(answers)


def judge(claim: str, premise: str, judge: Judge | str = "bundled") -> Judgement:
    """A judge's word on one pair, without any protocol.

    Raises:
        InputError: One of the two is empty.
    """
    expect_type(claim, str, "a claim as a text", "Give its words as a str")
    expect_type(premise, str, "a premise as a text", "Give its words as a str")
    if not (claim.strip() and premise.strip()):
        raise InputError("expected a claim and a premise; found one without text")
    asked = load_judge(judge) if isinstance(judge, str) else judge
    expect_judge(asked)
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
    """A calibrated judge beside a protocol that never abstains brings its own threshold; one within keeps the 0."""
    if judge is None:
        return Verifier(protocol)
    bar = 0.0 if protocol.published else usual_bar(judge)
    return Verifier(replace(protocol, judge=judge, abstain_below=protocol.abstain_below or bar))


def _parsed(text: str, documents: Sequence[Document | Mapping[str, str]], question: str | None, id: str) -> Answer:
    sources = as_documents(documents)
    try:
        return parse_answer(id, text, sources, question)
    except (ValidationError, ValuesError) as error:
        raise InputError(f"expected an answer and its documents; found: {first_problem(error)[1]}") from None


def as_documents(documents: Iterable[Document | Mapping[str, str]]) -> list[Document]:
    """Documents from whatever a caller has for them.

    Raises:
        InputError: One is none, or they are in no list.
    """
    expect_many(documents, "a list of documents")
    return [_as_document(item, position) for position, item in enumerate(documents)]


def _as_document(item: Document | Mapping[str, str], position: int) -> Document:
    if isinstance(item, Document):
        return item
    try:
        return SourceText.model_validate(dict(item)).document()
    except (ValidationError, ValuesError) as error:
        field, problem = first_problem(error)
        where = f"documents.{position}" + (f".{field}" if field else "")
        raise InputError(f"expected a document with id, text and perhaps title; {where}: {problem}") from None
    except (TypeError, ValueError):
        raise InputError(
            f"expected documents to be mappings with id, text and perhaps title; documents.{position} is {item!r:.80}"
        ) from None
