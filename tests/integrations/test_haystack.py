from __future__ import annotations

from math import isnan

import pytest
from cited_answers import ANSWERS, PARTLY, QUESTION, SCORES, SOURCES, SUPPORTED, expected, run_block

pytest.importorskip("haystack")
from haystack import Pipeline
from haystack.components.builders import AnswerBuilder
from haystack.dataclasses import Document
from haystack.evaluation import EvaluationRunResult
from haystack.version import __version__

import vericite
from vericite.integrations.haystack import CitationChecker, CitationEvaluator

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("name", SCORES)
def test_a_pipeline_of_evaluation_gives_the_scores_of_check(name: str):
    pipeline = Pipeline()
    pipeline.add_component("evaluator", CitationEvaluator(name))
    inputs = {"questions": [QUESTION] * 4, "contexts": [SOURCES] * 4, "predicted_answers": [*ANSWERS, ""]}
    result = pipeline.run({"evaluator": inputs})["evaluator"]
    values = [expected(name, text) for text in ANSWERS]
    assert result["individual_scores"][:3] == values and isnan(result["individual_scores"][3])
    assert result["score"] == pytest.approx(sum(values) / 3)
    assert "contradicted" in result["results"][1]["reason"]
    run = EvaluationRunResult("run", {"questions": inputs["questions"]}, {name: result})
    report = run.aggregated_report() if hasattr(run, "aggregated_report") else run.score_report()
    assert list(report["score"]) == [pytest.approx(result["score"])]


def test_lists_of_different_lengths_are_refused():
    with pytest.raises(vericite.InputError, match=r"found \[1, 2\]"):
        CitationEvaluator().run([QUESTION], [SOURCES], ["a", "b"])


def test_a_checker_in_a_pipeline_that_was_saved():
    pipeline = Pipeline()
    pipeline.add_component("builder", AnswerBuilder(reference_pattern=r"\[(\d+)\]"))
    pipeline.add_component("checker", CitationChecker(at_least=0.9))
    pipeline.connect("builder.answers", "checker.answers")
    modules = {"allowed_modules": ["vericite.integrations.haystack"]} if __version__ >= "3" else {}
    again = Pipeline.loads(pipeline.dumps(), **modules)
    documents = [Document(content=text) for text in SOURCES]
    found = again.run({"builder": {"query": QUESTION, "replies": [SUPPORTED, PARTLY], "documents": documents}})
    (good,), (bad,) = found["checker"]["answers"], found["checker"]["unsupported"]
    assert (good.data, bad.data) == (SUPPORTED, PARTLY)
    assert bad.meta["vericite"]["score"] == expected("support", PARTLY)
    assert bad.meta["vericite"]["checked"]["summary"]["contradicted"] == 1


def test_the_program_on_the_page(capsys: pytest.CaptureFixture[str]):
    run_block("Haystack")
    assert "'score': 1.0" in capsys.readouterr().out
