from __future__ import annotations

import asyncio

import pytest
from cited_answers import ANSWERS, PARTLY, QUESTION, SCORES, SOURCES, SUPPORTED, expected, run_block

import vericite

pytest.importorskip("llama_index.core")
from llama_index.core.base.response.schema import Response
from llama_index.core.evaluation import BatchEvalRunner
from llama_index.core.schema import NodeWithScore, TextNode

from vericite.integrations.llama_index import CitationResponseEvaluator, EvidencePostprocessor

pytestmark = pytest.mark.filterwarnings("ignore")


def node(text: str, **metadata: object) -> NodeWithScore:
    return NodeWithScore(node=TextNode(text=text, metadata={"file_name": "zinc.pdf", **metadata}), score=0.5)


NODES = [node(text) for text in SOURCES]


def test_a_batch_of_responses_gives_the_scores_of_check():
    evaluators = {name: CitationResponseEvaluator(name) for name in SCORES}
    responses = [Response(response=text, source_nodes=NODES) for text in ANSWERS]
    runner = BatchEvalRunner(evaluators, workers=2)
    found = asyncio.run(runner.aevaluate_responses(queries=[QUESTION] * 3, responses=responses))
    for name in SCORES:
        values = [expected(name, text) for text in ANSWERS]
        assert [result.score for result in found[name]] == [pytest.approx(value) for value in values]
        met = [value <= 0 if name == "contradiction" else value >= 0.9 for value in values]
        assert [result.passing for result in found[name]] == met


def test_feedback_is_the_reason_and_an_empty_response_is_invalid():
    found = CitationResponseEvaluator().evaluate_response(response=Response(response=PARTLY, source_nodes=NODES))
    assert "contradicted" in found.feedback and not found.passing
    assert CitationResponseEvaluator().evaluate(response="", contexts=SOURCES).invalid_result
    with pytest.raises(vericite.InputError, match="Use evaluate_response"):
        CitationResponseEvaluator().evaluate(response=SUPPORTED)


def test_the_postprocessor_puts_the_answer_first_and_removes_retracted_articles():
    nodes = [node("Bananas are yellow."), *NODES, node("Zinc lozenges cure colds.", retracted=True)]
    found = EvidencePostprocessor(top_n=2).postprocess_nodes(nodes, query_str=QUESTION)
    assert found[0].node.get_content() == SOURCES[0]
    assert len(found) == 2 and found[0].score > found[1].score
    assert len(EvidencePostprocessor(top_n=9).postprocess_nodes(nodes, query_str=QUESTION)) == 3
    assert EvidencePostprocessor().postprocess_nodes([], query_str=QUESTION) == []


def test_the_program_on_the_page(capsys: pytest.CaptureFixture[str]):
    run_block("LlamaIndex")
    assert capsys.readouterr().out.endswith("1.0\n")
