"""What is given to Python's entry points and cannot be used: said, as on the command line."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

import vericite
from vericite.corpus.retractions import Retractions
from vericite.errors import InputError
from vericite.verify import LexicalJudge, Verifier

DOCUMENTS = [{"id": "a", "text": "Statins lower LDL."}]
TEXT = "Statins lower LDL [1]."


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (None, "expected the answer to be a text; found None. Give its words as a str"),
        (5, "expected the answer to be a text; found 5. Give its words as a str"),
        (b"Statins lower LDL [1].", "found b'Statins lower LDL [1].'. Decode it"),
        (["Statins"], "found ['Statins']. Give"),
    ],
)
def test_an_answer_that_is_no_text(answer: Any, told: str):
    with pytest.raises(InputError) as refused:
        vericite.check(answer, DOCUMENTS)
    assert told in str(refused.value)
    with pytest.raises(InputError):
        vericite.parse_answer("a", answer, ())


def test_the_found_value_is_shortened():
    huge: Any = b"x" * 100_000
    with pytest.raises(InputError) as refused:
        vericite.check(huge, DOCUMENTS)
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize("judge", [5, object(), LexicalJudge, ["lexical"], lambda pairs: []])
def test_an_invalid_judge_is_refused(judge: Any):
    with pytest.raises(InputError, match=r"expected a judge, .* found .*`vericite judges` lists the names"):
        vericite.check(TEXT, DOCUMENTS, judge=judge)


@pytest.mark.parametrize("protocol", [5, None, object()])
def test_an_invalid_protocol_is_refused(protocol: Any):
    with pytest.raises(InputError, match=r"expected a protocol, .* found .*`vericite protocols` lists the names"):
        vericite.check(TEXT, DOCUMENTS, protocol=protocol)
    with pytest.raises(InputError):
        Verifier(protocol)


@pytest.mark.parametrize("answer", [{"id": "a", "answer": TEXT}, TEXT, None, b"x"])
def test_answers_that_are_none(answer: Any):
    with pytest.raises(InputError, match=r"expected answers; found .*vericite\.parse_answer makes one of a text"):
        list(vericite.check_many([answer], judge=LexicalJudge()))


SOURCE = vericite.Document.from_text("a", "Statins lower LDL.")
ASKED = "Do statins lower LDL?"


def pipeline() -> Any:
    return vericite.Pipeline.over([SOURCE])


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda wrong: vericite.ask(wrong), "a question as a text"),
        (lambda wrong: vericite.ask(ASKED, wrong), "a list of documents"),
        (lambda wrong: vericite.check(TEXT, wrong), "a list of documents"),
        (lambda wrong: vericite.check(TEXT, DOCUMENTS, id=wrong), "the id of the answer as a text"),
        (lambda wrong: vericite.check(TEXT, DOCUMENTS, question=wrong), "the question as a text"),
        (lambda wrong: vericite.check(TEXT, DOCUMENTS, cache=wrong), "a folder for the cache"),
        (lambda wrong: list(vericite.check_many(wrong)), "answers"),
        (lambda wrong: vericite.judge(wrong, "A premise."), "a claim as a text"),
        (lambda wrong: vericite.judge("A claim.", wrong), "a premise as a text"),
        (lambda wrong: vericite.judge("A claim.", "A premise.", wrong), "a judge, which has judge()"),
        (lambda wrong: vericite.get_protocol(wrong), "the name of a protocol"),
        (lambda wrong: vericite.parse_answer(wrong, TEXT, [SOURCE]), "the id of the answer as a text"),
        (lambda wrong: vericite.parse_answer("a", TEXT, [SOURCE], wrong), "the question as a text"),
        (lambda wrong: vericite.parse_answer("a", TEXT, [wrong]), "documents"),
        (lambda wrong: vericite.split_sentences(wrong), "a text"),
        (lambda wrong: vericite.split_statements(wrong), "a text"),
        (lambda wrong: vericite.Pipeline.over(wrong), "a list of documents"),
        (lambda wrong: vericite.Pipeline.on(wrong), "a search or a retriever"),
        (lambda wrong: vericite.Pipeline(pipeline().search, wrong), "a generator"),
        (lambda wrong: pipeline().run(wrong), "a Question"),
        (lambda wrong: list(pipeline().run_many([wrong])), "a Question"),
        (lambda wrong: list(pipeline().run_many(wrong)), "questions"),
    ],
)
def test_an_argument_of_another_type_is_refused_at_once(call: Any, told: str):
    with pytest.raises(InputError) as refused:
        call(5)
    expected, _, step = str(refused.value).partition("; found 5. ")
    assert expected.startswith(f"expected {told}") and step


@pytest.mark.parametrize("documents", ["Statins lower LDL.", DOCUMENTS[0], SOURCE])
def test_a_document_in_no_list(documents: Any):
    for call in (vericite.check, vericite.ask):
        with pytest.raises(InputError, match=r"expected a list of documents; found .* Put a single value in a list"):
            call(TEXT, documents)


def test_answers_that_are_none_where_retractions_are_known(monkeypatch: pytest.MonkeyPatch):
    known = Retractions(frozenset({"1"}))
    monkeypatch.setattr(import_module("vericite.pipeline.check"), "known_retractions", lambda: known)
    stream: Any = [TEXT]
    with pytest.raises(InputError, match="expected answers; found"):
        list(vericite.check_many(stream, judge=LexicalJudge()))


@pytest.mark.parametrize("k", ["3", 2.5])
def test_an_invalid_number_of_documents_is_refused(k: Any):
    with pytest.raises(InputError, match=r"expected k, .* as a whole number; found .*\. Give an int"):
        vericite.ask(ASKED, DOCUMENTS, k=k)


@pytest.mark.parametrize(
    "call",
    [
        lambda: list(vericite.check_many(vericite.parse_answer("a", TEXT, [SOURCE]), judge=LexicalJudge())),
        lambda: vericite.parse_answer("a", TEXT, SOURCE),
        lambda: list(pipeline().run_many(vericite.Question(id="q", text=ASKED))),
        lambda: vericite.check(TEXT, SOURCE),
    ],
)
def test_a_single_one_where_many_are_asked_for(call: Any):
    with pytest.raises(InputError, match="Put a single value in a list"):
        call()


def test_documents_may_come_as_a_stream():
    answer = vericite.parse_answer("a", TEXT, (one for one in [SOURCE]))
    assert answer.documents == (SOURCE,)


def test_a_document_of_what_is_no_text():
    with pytest.raises(InputError, match="expected the text and the title of a document as texts; found 6"):
        vericite.Document.from_text("a", 6)  # pyright: ignore[reportArgumentType]
