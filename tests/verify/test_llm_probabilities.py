"""Language models as judges that are asked for the probabilities of their labels. The model is a script."""

from __future__ import annotations

import json
import math
from collections.abc import AsyncGenerator, Callable

import numpy as np
import pytest

from vericite.llm import LLM, ChatRequest, Settings, Usage
from vericite.llm.chat import Alternative
from vericite.llm.retry import BackendError, RawReply
from vericite.models import Pair
from vericite.text.citations import parse_answer
from vericite.verify import Protocol, Verifier
from vericite.verify.judges.bundled import LexicalJudge, MeanJudge
from vericite.verify.judges.llm import PROMPTS, LlmJudge

PAIR = Pair("Aspirin lowered the risk of stroke.", "Aspirin prevents strokes.")


class Script:
    """A model that answers as a function says; keeps the requests."""

    signature = "script"

    def __init__(self, says: Callable[[ChatRequest], RawReply]) -> None:
        self.says = says
        self.requests: list[ChatRequest] = []

    async def complete(self, request: ChatRequest, timeout: float) -> RawReply:
        self.requests.append(request)
        return self.says(request)

    async def stream(self, request: ChatRequest, timeout: float) -> AsyncGenerator[str | RawReply, None]:
        yield await self.complete(request, timeout)

    async def aclose(self) -> None:
        pass


def judge(prompt: str, says: Callable[[ChatRequest], RawReply]) -> tuple[LlmJudge, Script]:
    script = Script(says)
    return LlmJudge(
        LLM("http://127.0.0.1:9/v1#script", Settings(cache=None, backoff=0), script), PROMPTS[prompt]
    ), script


def telling(**shares: float) -> RawReply:
    """A reply whose first token could have been these."""
    listed = tuple(Alternative(token, math.log(share)) for token, share in shares.items())
    return RawReply(max(shares, key=lambda token: shares[token]), "length", Usage(9, 1), listed)


def labels_alone(label: str) -> Callable[[ChatRequest], RawReply]:
    """A model that tells no probabilities and says no letters."""
    return lambda request: RawReply(json.dumps({"label": label}) if request.schema else "<think>", "stop", Usage(9, 1))


def test_letters_become_probabilities_in_the_columns_order():
    asked, script = judge("ternary", lambda _: telling(A=0.5, B=0.1, C=0.2, The=0.2))
    (found,) = asked.judge([PAIR])
    assert found.probabilities == pytest.approx([0.625, 0.125, 0.25])
    assert (found.native, found.graded, found.failure, found.note) == ("support", True, None, None)
    (request,) = script.requests
    assert (request.max_tokens, request.alternatives, request.temperature, request.schema) == (1, 20, 0, None)
    assert "A. support: the reference supports" in request.messages[0].text
    assert "nothing else: A, B, C." in request.messages[0].text


def test_tokens_of_one_letter_and_labels_of_one_column_are_added_up():
    rows = (Alternative(" a", math.log(0.1)), Alternative("**A**", math.log(0.1)), Alternative("C", math.log(0.25)))
    rows += (Alternative("D", math.log(0.35)),)
    asked, _ = judge("nuggets", lambda _: RawReply("D", "length", None, rows))
    (found,) = asked.judge([PAIR])
    assert found.probabilities == pytest.approx([0.25, 0, 0.75])
    assert found.native == "not relevant"


def test_the_native_label_is_one_of_the_likeliest_column():
    asked, _ = judge("nuggets", lambda _: telling(A=0.4, C=0.3, D=0.3))
    (found,) = asked.judge([PAIR])
    assert (found.probabilities.argmax(), found.native) == (2, "neutral")


def test_a_letter_without_probabilities_is_a_label_with_a_note():
    asked, script = judge("ternary", lambda _: RawReply("B", "stop", None))
    found = list(asked.judge([PAIR] * 5))
    assert {(one.native, one.graded) for one in found} == {("contradict", False)}
    assert "without probabilities" in (found[0].note or "")
    assert len(script.requests) == 5


def test_a_model_that_answers_without_letters_is_soon_asked_for_labels_only():
    asked, script = judge("ternary", labels_alone("neutral"))
    found = [next(asked.judge([PAIR])) for _ in range(6)]
    assert {(one.native, one.graded) for one in found} == {("neutral", False)}
    assert [bool(request.alternatives) for request in script.requests] == [True, False] * 3 + [False] * 3


def test_a_service_that_refuses_to_tell_is_asked_without():
    def says(request: ChatRequest) -> RawReply:
        if request.alternatives:
            raise BackendError("logprobs are not supported", retry=False, status=400, refuses=("alternatives",))
        return RawReply("A", "stop", None)

    asked, script = judge("binary", says)
    (found,) = asked.judge([PAIR])
    assert (found.native, found.graded) == ("attributable", False)
    assert [request.alternatives for request in script.requests] == [20, 0]


def test_a_call_that_fails_is_a_failure():
    def says(_: ChatRequest) -> RawReply:
        raise BackendError("no such luck", retry=False)

    asked, script = judge("ternary", says)
    (found,) = asked.judge([PAIR])
    assert "no such luck" in (found.failure or "")
    assert len(script.requests) == 1


def test_verdicts_have_the_probabilities_and_abstain_by_them():
    asked, _ = judge("ternary", lambda _: telling(A=0.6, B=0.1, C=0.3))
    answer = parse_answer("a", "Aspirin helps [1].", [_source("a", "It was cheap.")])
    found = next(Verifier(Protocol(judge=asked)).verify([answer]))
    assert found.verdicts[0].probabilities["supported"] == pytest.approx(0.6)
    unsure = next(Verifier(Protocol(judge=asked, abstain_below=0.7)).verify([answer]))
    assert unsure.verdicts[0].abstained


def test_it_can_be_averaged_but_a_label_alone_cannot():
    asked, _ = judge("ternary", lambda _: telling(A=0.6, B=0.1, C=0.3))
    (word,) = LexicalJudge().judge([PAIR])
    (found,) = MeanJudge([asked, LexicalJudge()]).judge([PAIR])
    assert found.probabilities == pytest.approx((word.probabilities + np.array([0.6, 0.1, 0.3])) / 2)
    dumb, _ = judge("ternary", lambda _: RawReply("A", "stop", None))
    (found,) = MeanJudge([dumb, LexicalJudge()]).judge([PAIR])
    assert "without probabilities" in (found.failure or "")


def test_the_signature_says_which_way_it_was_asked():
    asked, _ = judge("ternary", lambda _: telling(A=1.0))
    labels = LlmJudge(asked.llm, asked.prompt, probabilities=False)
    assert asked.signature != labels.signature
    assert "(letters)@" in asked.signature


def _source(id: str, text: str):
    from vericite.records import Document

    return Document.from_text(id, text)
