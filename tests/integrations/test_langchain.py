from __future__ import annotations

import asyncio
import uuid
from datetime import UTC, datetime

import pytest
from cited_answers import ANSWERS, PARTLY, QUESTION, SCORES, SOURCES, SUPPORTED, expected, run_block

import vericite
from vericite.errors import UnsupportedAnswerError

pytest.importorskip("langchain_core")
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import Runnable, RunnableLambda
from langsmith import Client
from langsmith.evaluation import evaluate
from langsmith.schemas import Example

from vericite.integrations.langchain import CitationGuard, CitationRunEvaluator

pytestmark = pytest.mark.filterwarnings("ignore")
CONTEXT = [Document(page_content=text) for text in SOURCES]


def chain(text: str) -> Runnable:
    return RunnableLambda(lambda question: {"input": question, "context": CONTEXT, "answer": text})


def test_a_guard_adds_the_check():
    result = (chain(SUPPORTED) | CitationGuard()).invoke(QUESTION)
    assert result["answer"] == SUPPORTED and result["context"] == CONTEXT
    assert result["checked"].verdicts == vericite.check(SUPPORTED, SOURCES).verdicts or result["checked"].supported
    assert asyncio.run((chain(SUPPORTED) | CitationGuard()).ainvoke(QUESTION))["checked"] == result["checked"]


def test_a_guard_raises_below_its_share_and_another_chain_can_answer():
    with pytest.raises(UnsupportedAnswerError, match=r"found 0\.333") as caught:
        (chain(PARTLY) | CitationGuard()).invoke(QUESTION)
    assert caught.value.share == expected("support", PARTLY)
    assert "contradicted" in caught.value.reason
    guarded = (chain(PARTLY) | CitationGuard()).with_fallbacks([chain("I do not know.")])
    assert guarded.invoke(QUESTION)["answer"] == "I do not know."
    assert not (chain(PARTLY) | CitationGuard(at_least=0)).invoke(QUESTION)["checked"].supported


def test_a_guard_reads_an_agents_messages():
    agent = RunnableLambda(lambda text: {"messages": [HumanMessage(text), AIMessage(SUPPORTED)], "context": CONTEXT})
    assert (agent | CitationGuard()).invoke(QUESTION)["checked"].supported


def test_a_guard_refuses_a_text_without_sources():
    with pytest.raises(vericite.InputError, match="expected a mapping with an answer and its documents"):
        (RunnableLambda(lambda question: SUPPORTED) | CitationGuard()).invoke(QUESTION)


class Offline(Client):
    """A client that sends nothing."""

    def create_run(self, *args, **kwargs):
        pass

    def update_run(self, *args, **kwargs):
        pass


def test_an_evaluation_with_langsmith_gives_the_scores_of_check():
    examples = [
        Example(id=uuid.uuid4(), inputs={"text": text}, dataset_id=uuid.uuid4(), created_at=datetime.now(UTC))
        for text in ANSWERS
    ]
    rows = evaluate(
        lambda inputs: chain(inputs["text"]).invoke(QUESTION),
        data=examples,
        evaluators=[CitationRunEvaluator(name) for name in SCORES],
        upload_results=False,
        client=Offline(api_key="none", api_url="http://127.0.0.1:9", auto_batch_tracing=False),
    )
    found = {row["example"].inputs["text"]: row["evaluation_results"]["results"] for row in rows}
    for text in ANSWERS:
        scores = {result.key: result for result in found[text]}
        for name in SCORES:
            assert scores[f"vericite_{name}"].score == pytest.approx(expected(name, text))
            assert "citations supported" in scores[f"vericite_{name}"].comment


def test_the_program_on_the_page(capsys: pytest.CaptureFixture[str]):
    run_block("LangChain")
    assert "1 of 1 citations supported" in capsys.readouterr().out
