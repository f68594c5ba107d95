from __future__ import annotations

import pytest
from cited_answers import ANSWERS, PARTLY, SCORES, SOURCES, SUPPORTED, expected, run_block

import vericite

pytest.importorskip("dspy")
import dspy

from vericite.integrations.dspy import CitationScorer

pytestmark = pytest.mark.filterwarnings("ignore")


class Program(dspy.Module):
    def forward(self, question: str) -> dspy.Prediction:
        return dspy.Prediction(response=ANSWERS[int(question)], context=SOURCES)


EXAMPLES = [dspy.Example(question=str(number)).with_inputs("question") for number, _ in enumerate(ANSWERS)]


@pytest.mark.parametrize("name", SCORES)
def test_an_evaluation_gives_the_scores_of_check(name: str):
    found = dspy.Evaluate(devset=EXAMPLES, metric=CitationScorer(name), num_threads=1, display_progress=False)(
        Program()
    )
    values = [expected(name, text) for text in ANSWERS]
    values = [1 - value for value in values] if name == "contradiction" else values
    assert float(getattr(found, "score", found)) == pytest.approx(100 * sum(values) / 3, abs=0.01)


def test_optimizers_get_a_decision_or_feedback():
    metric = CitationScorer()
    bad = dspy.Prediction(response=PARTLY, context=SOURCES)
    assert metric(EXAMPLES[1], bad, trace=[]) is False
    assert metric(EXAMPLES[0], dspy.Prediction(response=SUPPORTED, context=SOURCES), trace=[]) is True
    found = metric(EXAMPLES[1], bad, pred_name="answer")
    assert found.score == expected("support", PARTLY) and "contradicted" in found.feedback


def test_a_missing_field_is_named():
    with pytest.raises(vericite.InputError, match="expected a field 'answer' in the prediction; found 'response'"):
        CitationScorer(answer="answer")(EXAMPLES[0], dspy.Prediction(response=SUPPORTED, context=SOURCES))


def test_the_context_may_be_a_field_of_the_example_or_one_text():
    example = dspy.Example(question="?", context=SOURCES[0]).with_inputs("question")
    assert CitationScorer()(example, dspy.Prediction(response=f"{SOURCES[0][:-1]} [1].")) == 1


def test_the_program_on_the_page(capsys: pytest.CaptureFixture[str]):
    run_block("DSPy")
    assert "100" in capsys.readouterr().out
