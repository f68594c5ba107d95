from __future__ import annotations

import asyncio

import pytest
from cited_answers import ANSWERS, QUESTION, SCORES, SOURCES, expected, run_block

pytest.importorskip("ragas", exc_type=ImportError)
from ragas import EvaluationDataset, SingleTurnSample, evaluate

from vericite.integrations.ragas import (
    CitationPrecisionMetric,
    CitationRecallMetric,
    ContradictionMetric,
    SupportMetric,
)

pytestmark = pytest.mark.filterwarnings("ignore")
METRICS = [SupportMetric, ContradictionMetric, CitationRecallMetric, CitationPrecisionMetric]


def sample(text: str) -> SingleTurnSample:
    return SingleTurnSample(user_input=QUESTION, response=text, retrieved_contexts=SOURCES)


def test_an_evaluation_gives_the_scores_of_check():
    samples = EvaluationDataset(samples=[sample(text) for text in [*ANSWERS, ""]])
    table = evaluate(samples, metrics=[metric() for metric in METRICS], show_progress=False).to_pandas()
    for name in SCORES:
        assert list(table[name])[:3] == [pytest.approx(expected(name, text)) for text in ANSWERS]
        assert table[name].isna().tolist() == [False, False, False, True]


@pytest.mark.parametrize("metric", METRICS)
def test_one_sample(metric: type[SupportMetric]):
    found = asyncio.run(metric(protocol="alce").single_turn_ascore(sample(ANSWERS[1])))
    assert 0 < found < 1


def test_the_reason_of_a_score():
    assert "contradicted" in SupportMetric().answer_score(sample(ANSWERS[1])).reason


def test_the_program_on_the_page(capsys: pytest.CaptureFixture[str]):
    run_block("ragas")
    assert "'support': 1.0000" in capsys.readouterr().out
