"""Several systems scored at once, and what figures are signed with."""

from __future__ import annotations

import json

import numpy as np
import pytest

from vericite.evaluate.gold import Gold, Labels, ModelScores
from vericite.evaluate.items import Features, Item, joined
from vericite.evaluate.measures.answer_closed import YesNoAccuracy
from vericite.evaluate.measures.answer_exact import ExactMatch
from vericite.evaluate.measures.answer_text import AnsweredRate, Length
from vericite.evaluate.measures.biogen import CitationSupportRate
from vericite.evaluate.measures.citation import DanglingRate, UncitedRate
from vericite.evaluate.measures.mauve import MAUVE
from vericite.evaluate.measures.model_scores import BERTScore
from vericite.evaluate.resampling import Bootstrap
from vericite.evaluate.scoring import System, compare_systems, score_systems
from vericite.text import CITATIONS, SPLITTER, parse_answer

FEW = Bootstrap(draws=200)


def answered(name: str, texts: list[str]) -> System:
    items = [
        Item(str(place), parse_answer(str(place), text, ()), gold=Gold(id=str(place), groups={"half": str(place % 2)}))
        for place, text in enumerate(texts)
    ]
    return System(name, tuple(items))


def run(name: str, seed: int, shift: float) -> System:
    """60 answers in two dimensions, whose references are the same for every run."""
    references, answers = (
        np.random.default_rng(0).normal(size=(60, 2)),
        np.random.default_rng(seed).normal(size=(60, 2)),
    )
    rows = zip(references, answers + shift, strict=True)
    items = [
        Item(str(place), features=Features(np.append(answer, 1.0), np.append(reference, 1.0)))
        for place, (reference, answer) in enumerate(rows)
    ]
    return System(name, tuple(items))


def test_systems_are_scored_as_each_by_itself_where_measures_look_at_one():
    systems = [answered("a", ["It is. It was.", "Yes."]), answered("b", ["No.", "It may be so."])]
    measures = [Length(), UncitedRate()]
    together = score_systems(systems, measures, FEW, "half")
    assert together == [figure for system in systems for figure in score_systems([system], measures, FEW, "half")]
    assert [(it.system, str(it.measure), it.group) for it in together][:4] == [
        ("a", "Length", None),
        ("a", "Length", "0"),
        ("a", "Length", "1"),
        ("a", "UncitedRate", None),
    ]


def test_systems_scored_together_have_the_cells_in_common_that_they_are_compared_by():
    systems = [run("near", 1, 0.0), run("far", 2, 0.8)]
    first, second = (figure.estimate.value for figure in score_systems(systems, [MAUVE()], FEW))
    (compared,) = compare_systems(*systems, [MAUVE()], FEW)
    assert compared.values == pytest.approx((first, second), abs=1e-12)


def test_the_interval_of_a_difference_of_mauves_is_about_its_figure():
    systems = [run("near", 1, 0.0), run("far", 2, 0.8)]
    (found,) = compare_systems(*systems, [MAUVE()], FEW)
    low, value, high = found.difference.low, found.difference.value, found.difference.high
    # Percentiles of the draws alone lie lower, as each draw of a good run does.
    assert low < value < high
    assert abs((low + high) / 2 - value) < (high - low) / 8
    assert found.effect.value is None


def test_a_figure_says_what_made_it_and_which_way_is_better():
    labelled = Item("a", labels=Labels(id="a", citations=(), by="assessor 1"))
    scores = {"a": ModelScores(id="a", scores={"bertscore_f1": 0.9}, made_by="roberta-large, rescaled")}
    items = joined([labelled], scores=scores)
    measures = [BERTScore(), CitationSupportRate(), UncitedRate(), CitationSupportRate(by="pair")]
    bert, support, uncited, pooled = (it.signature for it in score_systems([System("s", tuple(items))], measures, FEW))
    assert "scores-by=roberta-large, rescaled" in bert and "wilson at 0 and 1" in bert
    assert "labels-by=assessor 1" in support and "bootstrap=" in support
    assert f"splitter={SPLITTER}" in uncited and f"citations={CITATIONS}" in uncited
    assert "interval=clustered wilson" in pooled and "bootstrap" not in pooled
    record = score_systems([System("s", tuple(items))], [DanglingRate()], FEW)[0].record
    assert json.loads(json.dumps(record))["higher_is_better"] is False


@pytest.mark.parametrize("kind", [ExactMatch, YesNoAccuracy, AnsweredRate])
def test_a_figure_that_may_be_read_from_a_text_says_how_the_text_was_read(kind):
    told = score_systems([answered("a", ["Yes. It is."])], [kind()], FEW)[0].signature
    assert f"splitter={SPLITTER}" in told and f"citations={CITATIONS}" in told


def test_scores_without_a_name_are_taken_as_they_are():
    (item,) = joined([Item("a")], scores={"a": ModelScores(id="a", scores={"x": 1.0})})
    assert (item.scores, item.scored_by) == ({"x": 1.0}, None)


def test_of_one_question_a_rate_has_no_interval():
    (figure,) = score_systems([answered("a", ["It is. It was."])], [UncitedRate()], FEW)
    found = figure.estimate
    assert (found.value, found.low, found.high, found.n) == (1.0, None, None, 1)
