"""Check answers from any source."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import replace
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, cast

from pydantic import ValidationError

from vericite.corpus.retractions import Retractions, known_retractions
from vericite.disk.files import cache_file
from vericite.errors import InputError, ValuesError, expect_many, expect_type
from vericite.formats.objects import as_answer, as_documents
from vericite.models.contracts import Judge, Judgement, Pair, ledger_of
from vericite.records import Answer, CheckedAnswer, first_problem
from vericite.text.citations import parse_answer
from vericite.text.references import Library
from vericite.verify.judges.function import AnyJudge, as_judge
from vericite.verify.judges.registry import default_threshold, is_kept, load_judge
from vericite.verify.judges.wrapped import FILE, CachedJudge
from vericite.verify.protocol import DEFAULT, Protocol, get_protocol
from vericite.verify.verifier import Verifier, expect_answer, expect_judge

if TYPE_CHECKING:
    from vericite.pipeline.search import Search


def check(
    answer: object,
    documents: Iterable[object] = (),
    *,
    question: str | None = None,
    id: str = "answer",
    protocol: Protocol | str = DEFAULT,
    judge: AnyJudge | None = None,
    cache: Path | bool = False,
    explain: Search | bool = False,
) -> CheckedAnswer:
    """Check every citation of one answer.

    Args:
        answer: Text with markers such as ``[1]``, an ``Answer``, or what a library returns: a LangChain result, a
            LlamaIndex or Haystack response, a ragas sample, with the sources in it.
        documents: The sources, in the order of their marker numbers: texts, mappings with ``text`` and optionally
            ``id`` and ``title``, or another library's documents. Not needed if the answer includes them.
        question: The question, kept with the answer.
        id: The answer's name in the result.
        protocol: A protocol or its name.
        judge: Replaces the protocol's own judge: a judge, its name, or a function of premise and claim.
        cache: Where judgements are kept, as in ``check_many``.
        explain: Also say of a sentence that its sources do not support which words no source carries, what the source
            says instead (``Verdict.words``, ``because``), and which other sources of the answer support it
            (``supported_by``). A search: look there for these, too.

    Raises:
        InputError: The answer or a document cannot be read, or two documents have the same id.
    """
    return next(check_many([parsed(answer, documents, question, id)], protocol, judge, cache, explain))


async def acheck(
    answer: object,
    documents: Iterable[object] = (),
    *,
    question: str | None = None,
    id: str = "answer",
    protocol: Protocol | str = DEFAULT,
    judge: AnyJudge | None = None,
    cache: Path | bool = False,
    explain: Search | bool = False,
) -> CheckedAnswer:
    """Like ``check``, for async code: the work runs in a thread."""
    return await asyncio.to_thread(
        check, answer, documents, question=question, id=id, protocol=protocol, judge=judge, cache=cache, explain=explain
    )


def check_many(
    answers: Iterable[Answer],
    protocol: Protocol | str = DEFAULT,
    judge: AnyJudge | None = None,
    cache: Path | bool = False,
    explain: Search | bool = False,
) -> Iterator[CheckedAnswer]:
    """Check answers in a stream, in order. Pairs that several answers share are judged once.

    Documents known to be retracted on this machine are marked as retracted, even if the document does not say so.

    Args:
        answers: The answers.
        protocol: A protocol or its name.
        judge: Replaces the protocol's own judge: a judge, its name, or a function of premise and claim.
        cache: Folder (or ``.sqlite`` file) that keeps judgements for later runs. True: the user's cache
            (``$VERICITE_CACHE``). Judgements are stored under the judge's signature. A judge that asks a language model
            uses a cache of its own instead.
        explain: As in ``check``.
    """
    expect_many(answers, "answers, in a list or a stream")
    expect_type(cache, bool | str | PathLike, "a folder for the cache, True or False", "Give a Path")
    verifier = verifier_for(protocol, judge)
    answers = _flagged(known_retractions(), answers)
    # A judge with a ledger asks a language model.
    if cache is False or ledger_of(verifier.judge) is not None:
        return _verified(verifier, answers, explain)
    return _cached(verifier, cache, answers, explain)


def _verified(verifier: Verifier, answers: Iterable[Answer], explain: Search | bool = False) -> Iterator[CheckedAnswer]:
    if explain is False:
        return verifier.verify(answers)
    from vericite.pipeline.explain import check_and_explain

    return check_and_explain(verifier, answers, None if explain is True else explain)


def _flagged(known: Retractions, answers: Iterable[Answer]) -> Iterator[Answer]:
    for answer in answers:
        expect_answer(answer)
        yield known.flagged_answer(answer)


def _cached(
    verifier: Verifier, cache: Path | bool, answers: Iterable[Answer], explain: Search | bool
) -> Iterator[CheckedAnswer]:
    file = cache_file("default" if isinstance(cache, bool) else cache, FILE)
    with CachedJudge(verifier.judge, file) as judge:
        # A copy: the verifier may be cached for other callers, and a new one would name the judge in its provenance.
        own = copy(verifier)
        own.judge = judge
        yield from _verified(own, answers, explain)


def judge(claim: str, premise: str, judge: AnyJudge = "bundled") -> Judgement:
    """Judge one pair, without a protocol.

    Raises:
        InputError: One of the two is empty.
    """
    expect_type(claim, str, "a claim as a text", "Give its words as a str")
    expect_type(premise, str, "a premise as a text", "Give its words as a str")
    if not (claim.strip() and premise.strip()):
        raise InputError("expected a claim and a premise; found one without text")
    named = as_judge(judge)
    asked = load_judge(named) if isinstance(named, str) else named
    expect_judge(asked)
    assert asked is not None
    return next(iter(asked.judge([Pair(premise, claim)])))


def verifier_for(protocol: Protocol | str, judge: AnyJudge | None = None) -> Verifier:
    """Return a verifier. Verifiers for named protocols and judges are cached together with their models."""
    judge = as_judge(judge)
    if isinstance(protocol, str) and (judge is None or (isinstance(judge, str) and is_kept(judge))):
        return _named_verifier(protocol, judge)
    return _verifier(get_protocol(protocol) if isinstance(protocol, str) else protocol, judge)


@lru_cache(maxsize=4)
def _named_verifier(name: str, judge: str | None) -> Verifier:
    return _verifier(get_protocol(name), judge)


def _verifier(protocol: Protocol, judge: Judge | str | None) -> Verifier:
    """Use the judge's calibrated threshold, unless the protocol is a published one that never abstains."""
    if judge is None:
        return Verifier(protocol)
    bar = 0.0 if protocol.published else default_threshold(judge)
    return Verifier(replace(protocol, judge=judge, abstain_below=protocol.abstain_below or bar))


def parsed(answer: object, documents: Iterable[object] = (), question: str | None = None, id: str = "answer") -> Answer:
    """Split an answer of any accepted type into claims and citations.

    Raises:
        InputError: The answer or a document cannot be read, or documents were given for an answer that has its own.
    """
    sources = as_documents(documents)
    if answer is None or isinstance(answer, str | bytes | int | float | list):
        # Wrong types get their own message from parse_answer.
        try:
            return parse_answer(id, cast("str", answer), sources, question)
        except (ValidationError, ValuesError) as error:
            raise InputError(f"expected an answer and its documents; found: {first_problem(error)[1]}") from None
    if not isinstance(answer, Answer):
        read = as_answer(answer, Library(tuple(sources)))
        return read if question is None else read.model_copy(update={"question": question})
    if sources:
        raise InputError("expected no documents with a parsed answer, which has its own; found some")
    return answer
