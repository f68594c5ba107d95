from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score import rouge_scorer

from vericite.errors import InputError
from vericite.evaluate.gold import Gold, Labels
from vericite.evaluate.items import Item, joined
from vericite.evaluate.measures.answer_text import AnsweredRate, Length, Rouge1, Rouge2, RougeL, Sentences
from vericite.evaluate.resampling import Bootstrap
from vericite.records import CheckedAnswer, Document, Provenance, Summary
from vericite.text.citations import parse_answer

SOURCES = tuple(Document.from_text(id, text) for id, text in (("d1", "It was tolerated."), ("d2", "It did nothing.")))
KINDS = [(Rouge1, "rouge1"), (Rouge2, "rouge2"), (RougeL, "rougeL")]
REFERENCES = ("Losartan does not slow brain atrophy.", "Treatment with losartan was tolerated but slowed nothing.")


def item(text: str, *ideal: str) -> Item:
    return Item("q", parse_answer("q", text, SOURCES), gold=Gold(id="q", ideal=ideal))


@pytest.mark.parametrize(("measure", "kind"), KINDS)
@pytest.mark.parametrize("stem", [True, False])
@pytest.mark.parametrize(("figure", "field"), [("f1", "fmeasure"), ("precision", "precision"), ("recall", "recall")])
def test_rouge_is_that_of_rouge_score_over_the_text_without_markers(measure, kind, stem, figure, field):
    found = item("Losartan slows brain atrophies [1]. It was well tolerated [1, 2].", *REFERENCES)
    said = "Losartan slows brain atrophies. It was well tolerated."
    scorer = rouge_scorer.RougeScorer([kind], use_stemmer=stem)
    best = getattr(scorer.score_multi(REFERENCES, said)[kind], field)
    each = [getattr(scorer.score(reference, said)[kind], field) for reference in REFERENCES]
    assert measure(figure=figure, stem=stem).parts(found) == pytest.approx((best, 1.0), abs=1e-9)
    mean = measure(figure=figure, stem=stem, many="mean").parts(found)
    assert mean == pytest.approx((sum(each) / 2, 1.0), abs=1e-9)


words = st.lists(st.sampled_from("gene genes Gene mutation mutations in of β 12 p53".split()), min_size=1, max_size=30)


@settings(deadline=None)
@given(words, words)
def test_the_longest_common_subsequence_is_that_of_rouge_score(said, right):
    found = item(" ".join(said), " ".join(right))
    expected = rouge_scorer.RougeScorer(["rougeL"], use_stemmer=True).score(" ".join(right), " ".join(said))["rougeL"]
    parts = RougeL().parts(found)
    if set(right) == {"β"}:
        assert parts is None
    else:
        assert parts == pytest.approx((expected.fmeasure, 1.0), abs=1e-9)
        assert 0 <= parts[0] <= 1


@pytest.mark.parametrize(("measure", "kind"), KINDS)
def test_no_answer_and_no_reference_are_missing_and_no_overlap_is_0(measure, kind):
    assert measure().parts(item("Aspirin helps.", "Nothing known")) == (0.0, 1.0)
    assert measure().parts(item("Aspirin helps.")) is None
    assert measure().parts(item("", "Nothing known")) is None
    assert measure().parts(Item("q", gold=Gold(id="q", ideal=REFERENCES))) is None
    assert measure().parts(Item("q", parse_answer("q", "Aspirin helps.", ()))) is None
    refused = parse_answer("q", "There is no evidence.", ()).model_copy(update={"insufficient": True})
    assert measure().parts(Item("q", refused, gold=Gold(id="q", ideal=REFERENCES))) is None


def test_a_reference_in_a_script_that_rouge_score_drops_is_none():
    assert Rouge1().parts(item("Aspirin helps.", "阿司匹林")) is None
    assert Rouge1().parts(item("Aspirin helps.", "阿司匹林", "Aspirin helps")) == (1.0, 1.0)
    assert Rouge1().parts(item("阿司匹林.", "Aspirin helps")) == (0.0, 1.0)
    assert RougeL().parts(item("阿司匹林.", "Aspirin helps")) == (0.0, 1.0)


def test_of_several_references_the_one_with_the_best_f1_is_taken_whatever_the_figure():
    found = item("Losartan slows brain atrophy.", "Losartan", "Losartan slows brain atrophy in mice")
    assert Rouge1(figure="recall").parts(found) == pytest.approx((4 / 6, 1.0), abs=1e-9)


def test_a_rouge_says_its_parameters_where_they_are_not_the_usual():
    assert str(Rouge2()) == "Rouge2"
    assert str(RougeL(figure="recall", stem=False)) == "RougeL(figure='recall', stem=False)"
    with pytest.raises(InputError, match="expected figure of Rouge1 to be one of 'f1', 'precision', 'recall'"):
        Rouge1(figure="f")


def test_words_and_sentences_are_counted_without_markers():
    found = item("Losartan (50 mg) was – in 12 patients – safe [1]. It failed [2].")
    assert Length().parts(found) == (10.0, 1.0)
    assert Sentences().parts(found) == (2.0, 1.0)
    assert Length().parts(Item("q")) is None
    assert Sentences().parts(item("")) is None


def test_only_the_answered_rate_counts_a_question_without_an_answer():
    refused = parse_answer("q", "There is no evidence.", ()).model_copy(update={"insufficient": True})
    items = [item("It is."), Item("a", failed="timeout"), Item("b", refused), item("")]
    assert AnsweredRate().of(items) == [(1.0, 1.0), (0.0, 1.0), (0.0, 1.0), (0.0, 1.0)]
    estimate = AnsweredRate().estimate(AnsweredRate().of(items), Bootstrap())
    assert (estimate.value, estimate.n, estimate.missing) == (0.25, 4, 0)
    assert Length().estimate(Length().of(items), Bootstrap()).missing == 3


def test_an_exact_answer_and_one_known_by_its_verdicts_are_answers():
    said = parse_answer("q", "It is.", ())
    made = Provenance(version="0")
    checked = CheckedAnswer(id="q", verdicts=(), summary=Summary.of(said, (), ()), provenance=made)
    nothing = CheckedAnswer(id="q", verdicts=(), summary=Summary(), provenance=made)
    items = [
        Item("a", checked=checked),
        Item("b", exact=(("CFTR",),)),
        Item("c", exact=()),
        Item("d", checked=nothing),
        *joined([], {"e": Gold(id="e")}),
    ]
    assert AnsweredRate().of(items) == [(1.0, 1.0), (1.0, 1.0), (0.0, 1.0), (0.0, 1.0), (0.0, 1.0)]


def test_of_a_system_whose_answers_are_not_known_nothing_is_said():
    items = joined([Item("a", ranked=("d1",)), Item("b", labels=Labels(id="b"))], {"c": Gold(id="c")})
    assert AnsweredRate().of(items) == [None, None, None]
    assert AnsweredRate().of([*items, Item("d", failed="timeout")]) == [(0.0, 1.0)] * 4


def test_of_texts_of_hundreds_of_words_the_longest_common_subsequence_is_that_of_rouge_score():
    text = " ".join(f"Sentence {n} says that protein p{n % 17} binds receptors in {n} patients." for n in range(40))
    scorer = rouge_scorer.RougeScorer(["rougeL"], use_stemmer=True)
    for start, end in ((0, 900), (7, 1800), (500, len(text))):
        said, right = text[start // 2 :], text[start:end][::-1] + text[start:end]
        expected = scorer.score(right, parse_answer("q", said, ()).text)["rougeL"]
        assert 0 < expected.fmeasure < 1
        for figure, field in (("precision", expected.precision), ("recall", expected.recall)):
            assert RougeL(figure=figure).parts(item(said, right)) == pytest.approx((field, 1.0), abs=1e-9)


def test_many_systems_beside_the_same_references_are_scored_as_each_by_itself():
    text = " ".join(f"Sentence {n} says that protein p{n % 17} binds receptors in {n} patients." for n in range(15))
    golds = [Gold(id=str(n), ideal=(text[n : 900 + n], text[5 * n :])) for n in range(10)]
    runs = [[Item(g.id, parse_answer(g.id, text[s:], ()), gold=g) for g in golds] for s in range(5)]
    found = [RougeL().of(run) for run in runs]
    scorer = rouge_scorer.RougeScorer(["rougeL"], use_stemmer=True)
    for run, parts in zip(runs, found, strict=True):
        # rouge-score's own table is slow, so it is held to one question a system.
        best = scorer.score_multi(run[3].gold.ideal, run[3].given.text)["rougeL"]
        assert parts[3] == pytest.approx((best.fmeasure, 1.0), abs=1e-9)
        assert None not in parts and parts == [RougeL().parts(one) for one in reversed(run)][::-1]


def test_without_its_package_a_measure_says_what_to_install():
    code = """
import sys
for name in ("rouge_score", "ir_measures", "sklearn.cluster", "sklearn.decomposition"):
    sys.modules[name] = None
import numpy as np
from vericite.errors import MissingExtraError
from vericite.evaluate.gold import Gold
from vericite.evaluate.items import Features, Item
from vericite.evaluate.measures.answer_text import RougeL
from vericite.evaluate.measures.mauve import MAUVE
from vericite.evaluate.measures.retrieval import Recall
from vericite.text.citations import parse_answer
gold = Gold(id="q", ideal=("It is.",), documents={"d": 1.0})
features = Features(np.ones(3), np.arange(3.0))
item = Item("q", parse_answer("q", "It is.", ()), ranked=("d",), gold=gold, features=features)
for measure in (RougeL(), Recall(), MAUVE()):
    try:
        measure.of([item])
    except MissingExtraError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert [line.split(" needs ")[0] for line in lines] == [f"The measure {it}" for it in ("ROUGE", "Recall", "MAUVE")]
    assert all("pip install 'vericite[eval]'" in line for line in lines)
