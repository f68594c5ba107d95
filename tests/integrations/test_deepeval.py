from __future__ import annotations

import os

import pytest
from cited_answers import ANSWERS, PARTLY, QUESTION, SCORES, SOURCES, SUPPORTED, expected, run_block

os.environ |= {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "DEEPEVAL_DISABLE_DOTENV": "1"}
pytest.importorskip("deepeval")
from deepeval import assert_test, evaluate
from deepeval.test_case import LLMTestCase

from vericite.integrations.deepeval import CitationMetric

pytestmark = pytest.mark.filterwarnings("ignore")


def case(text: str) -> LLMTestCase:
    return LLMTestCase(input=QUESTION, actual_output=text, retrieval_context=SOURCES)


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    # DeepEval writes to the current folder.
    (tmp_path / ".deepeval").mkdir()
    monkeypatch.chdir(tmp_path)


def test_an_evaluation_gives_the_scores_of_check():
    found = evaluate([case(text) for text in ANSWERS], [CitationMetric(name) for name in SCORES])
    by_text = {result.input and result.actual_output: result for result in found.test_results}
    for text in ANSWERS:
        data = {data.name: data for data in by_text[text].metrics_data}
        for name in SCORES:
            score = data[f"VeriCite {name.replace('_', ' ')}"]
            value = expected(name, text)
            assert score.score == pytest.approx(value)
            assert score.success == (value <= 0 if name == "contradiction" else value >= 0.9)
            assert "citations supported" in score.reason


def test_an_assertion_fails_with_its_metric():
    assert_test(case(SUPPORTED), [CitationMetric()], run_async=False)
    with pytest.raises(AssertionError, match="VeriCite support"):
        assert_test(case(PARTLY), [CitationMetric(threshold=0.5)], run_async=False)


def test_an_empty_output_does_not_pass():
    metric = CitationMetric(threshold=0)
    metric.measure(case(""))
    assert metric.score is None and not metric.is_successful() and "nothing could be scored" in metric.error
    metric.measure(case(SUPPORTED))
    assert metric.score == 1 and metric.is_successful() and metric.error is None


def test_a_case_without_sources_is_refused():
    with pytest.raises(Exception, match="expected retrieval_context"):
        CitationMetric().measure(LLMTestCase(input=QUESTION, actual_output=SUPPORTED))


def test_the_program_on_the_page(capsys: pytest.CaptureFixture[str]):
    run_block("DeepEval")
    assert "VeriCite support" in capsys.readouterr().out
