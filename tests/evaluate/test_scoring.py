"""Scoring of several systems, and signatures."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from vericite.evaluate.items import Features, Item
from vericite.evaluate.measures.answer_exact import ExactMatch, YesNoAccuracy
from vericite.evaluate.measures.answer_text import MAUVE, AnsweredRate, BERTScore, Length, RougeL
from vericite.evaluate.measures.citation_gold import CitationF1, CitationRecall, CitationSupportRate
from vericite.evaluate.measures.retrieval import MRR
from vericite.evaluate.measures.verdicts import AlceF1, DanglingRate, UncitedRate
from vericite.evaluate.resampling import Bootstrap
from vericite.evaluate.scoring import System, compare_systems, score_systems
from vericite.records import Gold, GoldSentence, Labels
from vericite.text import CITATIONS, SPLITTER, parse_answer

FEW = Bootstrap(draws=200)


def answered(name: str, texts: list[str]) -> System:
    items = [
        Item(str(place), parse_answer(str(place), text, ()), gold=Gold(id=str(place), groups={"half": str(place % 2)}))
        for place, text in enumerate(texts)
    ]
    return System(name, tuple(items))


def run(name: str, seed: int, shift: float) -> System:
    """60 answers as two-dimensional vectors, with the same references for every run."""
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


def test_scores_do_not_depend_on_other_systems():
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


def test_systems_scored_together_share_the_clusters_of_their_comparison():
    systems = [run("near", 1, 0.0), run("far", 2, 0.8)]
    first, second = (figure.estimate.value for figure in score_systems(systems, [MAUVE()], FEW))
    (compared,) = compare_systems(*systems, [MAUVE()], FEW)
    assert compared.values == pytest.approx((first, second), abs=1e-12)


def test_the_interval_of_a_mauve_difference_contains_it():
    systems = [run("near", 1, 0.0), run("far", 2, 0.8)]
    (found,) = compare_systems(*systems, [MAUVE()], FEW)
    low, value, high = found.difference.low, found.difference.value, found.difference.high
    # Percentiles of the draws alone lie lower, as each draw of a good run does.
    assert low < value < high
    assert abs((low + high) / 2 - value) < (high - low) / 8
    assert found.effect.value is None


def test_a_figure_has_a_signature_and_a_direction():
    labelled = Item("a", labels=Labels(id="a", citations=(), by="assessor 1"))
    items = [replace(labelled, scores={"bertscore_f1": 0.9}, scored_by={"bertscore_f1": "roberta-large, rescaled"})]
    measures = [BERTScore(), CitationSupportRate(), UncitedRate(), CitationSupportRate(by="pair")]
    bert, support, uncited, pooled = (it.signature for it in score_systems([System("s", tuple(items))], measures, FEW))
    assert "scores-by=roberta-large, rescaled" in bert and "wilson at 0 and 1" in bert
    assert "labels-by=assessor 1" in support and "bootstrap=" in support
    assert f"splitter={SPLITTER}" in uncited and f"citations={CITATIONS}" in uncited
    assert "interval=clustered wilson" in pooled and "bootstrap" not in pooled
    record = score_systems([System("s", tuple(items))], [DanglingRate()], FEW)[0].record
    assert json.loads(json.dumps(record))["higher_is_better"] is False


@pytest.mark.parametrize("kind", [ExactMatch, YesNoAccuracy, AnsweredRate])
def test_measures_of_texts_have_the_splitter_in_their_signature(kind):
    told = score_systems([answered("a", ["Yes. It is."])], [kind()], FEW)[0].signature
    assert f"splitter={SPLITTER}" in told and f"citations={CITATIONS}" in told


def test_a_rate_over_one_question_has_no_interval():
    (figure,) = score_systems([answered("a", ["It is. It was."])], [UncitedRate()], FEW)
    found = figure.estimate
    assert (found.value, found.low, found.high, found.n) == (1.0, None, None, 1)


def test_a_figure_of_four_sums_over_no_common_question_is_undefined():
    systems = [answered(name, ["It is."]) for name in ("x", "y")]
    (found,) = compare_systems(*systems, [AlceF1(by="pair")], FEW)
    assert (found.values, found.difference.value, found.p) == ((None, None), None, None)


def test_a_missing_topic_is_left_out_or_counts_0_as_in_trec_evals_c():
    relevant = {"a": 1.0}
    items = (
        Item("1", ranked=("a",), gold=Gold(id="1", documents=relevant)),
        Item("2", gold=Gold(id="2", documents=relevant)),
        # Nothing to find: no topic of trec_eval's at all.
        Item("3", gold=Gold(id="3", documents={"a": 0.0})),
        Item("4", gold=Gold(id="4", exact=(("x",),))),
    )
    system = System("run", items)
    for missing, value, left in (("out", 1.0, 3), ("zero", 0.5, 1)):
        (figure,) = score_systems([system], [MRR()], FEW, missing=missing)
        assert (figure.estimate.value, figure.estimate.missing) == (value, left)
        assert figure.signature.endswith("|missing=0") == (missing == "zero")


def test_a_refusal_and_no_answer_count_0_in_measures_against_gold_alone():
    def asked(id: str, text: str | None, type: str, exact: str) -> Item:
        answer = None if text is None else parse_answer(id, text, ())
        return Item(id, answer, gold=Gold(id=id, type=type, exact=((exact,),), ideal=("Zinc helps.",)))

    refused = asked("3", "The sources do not say.", "yesno", "no")
    refused = replace(refused, answer=refused.answer.model_copy(update={"insufficient": True}))
    system = System("s", (asked("1", "Yes.", "yesno", "yes"), asked("2", None, "yesno", "no"), refused))
    measures = [YesNoAccuracy(), RougeL(), Length(), AnsweredRate()]
    out = score_systems([system], measures, FEW)
    zero = score_systems([system], measures, FEW, missing="zero")
    assert [figure.estimate.missing for figure in out] == [2, 2, 2, 0]
    assert [figure.estimate.missing for figure in zero] == [0, 0, 2, 0]
    assert (out[0].estimate.value, zero[0].estimate.value) == (1.0, pytest.approx(1 / 3))
    assert zero[1].estimate.value == pytest.approx(out[1].estimate.value / 3)
    assert out[2:] == zero[2:]


def test_two_systems_are_compared_over_missing_topics_too():
    gold = [Gold(id=str(n), documents={"a": 1.0}) for n in range(12)]
    whole = System("whole", tuple(Item(it.id, ranked=("a",), gold=it) for it in gold))
    half = System("half", tuple(Item(it.id, ranked=("a",) if int(it.id) % 2 else None, gold=it) for it in gold))
    (out,) = compare_systems(whole, half, [MRR()], FEW)
    (zero,) = compare_systems(whole, half, [MRR()], FEW, missing="zero")
    assert (out.difference.value, zero.difference.value) == (0.0, 0.5)


def test_a_missing_answer_counts_0_in_measures_of_gold_citations_too():
    wanted = (GoldSentence(sentence=0, documents=("a",)), GoldSentence(sentence=2, documents=("b",)))
    gold = Gold(id="q", citations=wanted)
    system = System("mine", (Item("q", gold=gold),))
    for measure in (CitationF1(), CitationRecall(level="article")):
        (figure,) = score_systems([system], [measure], FEW, missing="zero")
        assert (figure.estimate.value, figure.estimate.missing) == (0.0, 0)


@pytest.mark.parametrize("measure", [RougeL(), Length(), ExactMatch(), BERTScore()], ids=str)
def test_unanswered_gold_questions_do_not_change_the_interval(measure):
    texts = ["It is so.", "It was.", "Yes it may be.", "No it is not.", "It is said to be so.", "Nobody knows."]
    items = [
        Item(
            str(place),
            parse_answer(str(place), text, ()),
            gold=Gold(id=str(place), ideal=("It is so.",), exact=(("it is",),)),
            exact=(("it is" if place % 2 else "no",),),
            scores={"bertscore_f1": place / 7},
        )
        for place, text in enumerate(texts)
    ]
    unanswered = [Item(f"0{place}", gold=Gold(id=f"0{place}", ideal=("It is so.",))) for place in range(7)]
    alone, among = (
        score_systems([System("a", tuple(each))], [measure], FEW)[0].estimate
        for each in (items, sorted([*items, *unanswered], key=lambda item: item.id))
    )
    assert alone.n == 6 and alone.low is not None and alone.low < alone.high
    assert (among.value, among.low, among.high, among.n) == (alone.value, alone.low, alone.high, alone.n)
    assert among.missing == 7
