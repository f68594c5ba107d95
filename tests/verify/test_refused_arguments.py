"""What is given to Python's entry points and cannot be used: said, as on the command line."""

from __future__ import annotations

from typing import Any

import pytest

import vericite
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


def test_what_is_found_is_told_briefly():
    huge: Any = b"x" * 100_000
    with pytest.raises(InputError) as refused:
        vericite.check(huge, DOCUMENTS)
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize("judge", [5, object(), LexicalJudge, ["lexical"], lambda pairs: []])
def test_a_judge_that_is_none(judge: Any):
    with pytest.raises(InputError, match=r"expected a judge, .* found .*`vericite judges` lists the names"):
        vericite.check(TEXT, DOCUMENTS, judge=judge)


@pytest.mark.parametrize("protocol", [5, None, object()])
def test_a_protocol_that_is_none(protocol: Any):
    with pytest.raises(InputError, match=r"expected a protocol, .* found .*`vericite protocols` lists the names"):
        vericite.check(TEXT, DOCUMENTS, protocol=protocol)
    with pytest.raises(InputError):
        Verifier(protocol)


@pytest.mark.parametrize("answer", [{"id": "a", "answer": TEXT}, TEXT, None, b"x"])
def test_answers_that_are_none(answer: Any):
    with pytest.raises(InputError, match=r"expected answers; found .*vericite\.parse_answer makes one of a text"):
        list(vericite.check_many([answer], judge=LexicalJudge()))
