"""Measures of an answer's text, compared with the reference packages."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score import rouge_scorer

from vericite.errors import InputError
from vericite.evaluate.items import Features, Item
from vericite.evaluate.measures.answer_text import (
    MAUVE,
    AnsweredRate,
    BERTScore,
    ClaimEntailment,
    Length,
    ModelScore,
    Rouge1,
    Rouge2,
    RougeL,
    Sentences,
)
from vericite.evaluate.resampling import Bootstrap
from vericite.records import CheckedAnswer, Document, Gold, Labels, Provenance, Summary
from vericite.text.citations import parse_answer

SOURCES = tuple(Document.from_text(id, text) for id, text in (("d1", "It was tolerated."), ("d2", "It did nothing.")))
KINDS = [(Rouge1, "rouge1"), (Rouge2, "rouge2"), (RougeL, "rougeL")]
REFERENCES = ("Losartan does not slow brain atrophy.", "Treatment with losartan was tolerated but slowed nothing.")


def item(text: str, *ideal: str) -> Item:
    return Item("q", parse_answer("q", text, SOURCES), gold=Gold(id="q", ideal=ideal))


@pytest.mark.parametrize(("measure", "kind"), KINDS)
@pytest.mark.parametrize("stem", [True, False])
@pytest.mark.parametrize(("figure", "field"), [("f1", "fmeasure"), ("precision", "precision"), ("recall", "recall")])
def test_rouge_agrees_with_rouge_score_without_markers(measure, kind, stem, figure, field):
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
def test_missing_texts_are_missing_and_no_overlap_is_zero(measure, kind):
    assert measure().parts(item("Aspirin helps.", "Nothing known")) == (0.0, 1.0)
    assert measure().parts(item("Aspirin helps.")) is None
    assert measure().parts(item("", "Nothing known")) is None
    assert measure().parts(Item("q", gold=Gold(id="q", ideal=REFERENCES))) is None
    assert measure().parts(Item("q", parse_answer("q", "Aspirin helps.", ()))) is None
    refused = parse_answer("q", "There is no evidence.", ()).model_copy(update={"insufficient": True})
    assert measure().parts(Item("q", refused, gold=Gold(id="q", ideal=REFERENCES))) is None


def test_a_reference_in_an_unsupported_script_is_ignored():
    assert Rouge1().parts(item("Aspirin helps.", "阿司匹林")) is None
    assert Rouge1().parts(item("Aspirin helps.", "阿司匹林", "Aspirin helps")) == (1.0, 1.0)
    assert Rouge1().parts(item("阿司匹林.", "Aspirin helps")) == (0.0, 1.0)
    assert RougeL().parts(item("阿司匹林.", "Aspirin helps")) == (0.0, 1.0)


def test_the_reference_with_the_best_f1_is_used_for_every_figure():
    found = item("Losartan slows brain atrophy.", "Losartan", "Losartan slows brain atrophy in mice")
    assert Rouge1(figure="recall").parts(found) == pytest.approx((4 / 6, 1.0), abs=1e-9)


def test_the_repr_shows_parameters_without_default_values():
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
        Item("e", gold=Gold(id="e")),
    ]
    assert AnsweredRate().of(items) == [(1.0, 1.0), (1.0, 1.0), (0.0, 1.0), (0.0, 1.0), (0.0, 1.0)]


def test_the_answered_rate_is_missing_if_answers_are_unknown():
    items = [Item("a", ranked=("d1",)), Item("b", labels=Labels(id="b")), Item("c", gold=Gold(id="c"))]
    assert AnsweredRate().of(items) == [None, None, None]
    assert AnsweredRate().of([*items, Item("d", failed="timeout")]) == [(0.0, 1.0)] * 4


def test_long_texts_have_the_longest_common_subsequence_of_rouge_score():
    text = " ".join(f"Sentence {n} says that protein p{n % 17} binds receptors in {n} patients." for n in range(40))
    scorer = rouge_scorer.RougeScorer(["rougeL"], use_stemmer=True)
    for start, end in ((0, 900), (7, 1800), (500, len(text))):
        said, right = text[start // 2 :], text[start:end][::-1] + text[start:end]
        expected = scorer.score(right, parse_answer("q", said, ()).text)["rougeL"]
        assert 0 < expected.fmeasure < 1
        for figure, field in (("precision", expected.precision), ("recall", expected.recall)):
            assert RougeL(figure=figure).parts(item(said, right)) == pytest.approx((field, 1.0), abs=1e-9)


def test_systems_with_shared_references_score_the_same_as_alone():
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


def test_a_missing_package_is_reported_with_the_extra_to_install():
    code = """
import sys
for name in ("rouge_score", "ir_measures", "sklearn.cluster", "sklearn.decomposition"):
    sys.modules[name] = None
import numpy as np
from vericite.errors import MissingExtraError
from vericite.records import Gold
from vericite.evaluate.items import Features, Item
from vericite.evaluate.measures.answer_text import RougeL
from vericite.evaluate.measures.answer_text import MAUVE
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


# By mauve-text 0.4.0, with its defaults, of these numbers of references and answers in each cell: the mean of the two
# areas under get_divergence_curve_for_multinomials(p, q, linspace(1e-6, 1 - 1e-6, 25), 5), plain and with half a text
# added to each cell.
BY_MAUVE_TEXT = [
    ((6, 3, 1), (2, 5, 3), 0.7185080368020385, 0.8163790148410938),
    ((10, 0, 5, 2), (4, 4, 0, 9), 0.15124445322273267, 0.3286708675334803),
    ((4, 0), (0, 4), 0.0040720962619612555, 0.08260150772177807),
    ((1, 2, 3, 4, 5), (5, 4, 3, 2, 1), 0.5999035464100215, 0.7392639971769639),
]


@pytest.mark.parametrize(("references", "answers", "plain", "smoothed"), BY_MAUVE_TEXT)
def test_mauve_of_histograms_is_that_of_mauve_text(references, answers, plain, smoothed):
    sums = np.array([*references, *answers], dtype=np.float64)
    assert MAUVE().statistic(sums) == pytest.approx(plain, abs=1e-9)
    assert MAUVE(smoothed=True).statistic(sums) == pytest.approx(smoothed, abs=1e-9)
    both = MAUVE().statistic(np.array([[sums, sums[::-1]]]))
    assert both.shape == (1, 2)
    assert both[0, 0] == pytest.approx(plain, abs=1e-9)


def vectors(counts):
    """Well-separated clusters, which any k-means finds."""
    rows = []
    for axis, count in enumerate(counts):
        for number in range(count):
            row = np.zeros(6)
            row[axis], row[4], row[5] = 1.0, 0.01 * (number * 7 % 5), 0.01 * (number * 3 % 4)
            rows.append(row)
    return rows


def crowds(references, answers):
    pairs = zip(vectors(references), vectors(answers), strict=True)
    return [Item(str(n), features=Features(answer, reference)) for n, (reference, answer) in enumerate(pairs)]


def test_mauve_of_vectors_is_that_of_mauve_text():
    items = crowds((12, 8, 14, 6), (5, 15, 9, 11))
    # By mauve-text 0.4.0: compute_mauve(p_features=references, q_features=answers), which takes 4 cells for 40 pairs.
    for measure, expected in [(MAUVE(), 0.8923199650264417), (MAUVE(smoothed=True), 0.9090511945829538)]:
        estimate = measure.estimate(measure.of(items), Bootstrap())
        assert estimate.value == pytest.approx(expected, abs=1e-9)
        assert estimate.n == 40
        assert 0 <= estimate.low < estimate.value < estimate.high <= 1


def test_mauve_is_1_for_equal_histograms_and_undefined_without_texts():
    assert MAUVE().statistic(np.array([5.0, 5.0, 5.0, 5.0])) == pytest.approx(1.0, abs=1e-12)
    for measure in (MAUVE(), MAUVE(smoothed=True)):
        with np.errstate(all="ignore"):
            assert np.isnan(measure.statistic(np.zeros(4)))
    same = [Item(str(n), features=Features(np.ones(3), np.ones(3))) for n in range(30)]
    assert MAUVE().estimate(MAUVE().of(same), Bootstrap()).value == pytest.approx(1.0, abs=1e-12)


cells = st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any)


@given(cells, cells)
def test_mauve_is_symmetric_and_between_0_and_1(references, answers):
    measure = MAUVE()
    found = measure.statistic(np.array([*references, *answers], dtype=np.float64))
    turned = measure.statistic(np.array([*answers, *references], dtype=np.float64))
    assert 0 <= found <= 1 + 1e-12
    assert found == pytest.approx(turned, abs=1e-9)


def test_a_question_without_vectors_is_missing():
    items = crowds((12, 8, 14, 6), (5, 15, 9, 11))
    with_gaps = [Item("a"), *items, Item("b")]
    parts = MAUVE().of(with_gaps)
    assert parts[0] is None and parts[-1] is None
    estimate = MAUVE().estimate(parts, Bootstrap())
    assert (estimate.n, estimate.missing) == (40, 2)
    assert estimate.value == pytest.approx(0.8923199650264417, abs=1e-9)
    nobody = MAUVE().estimate(MAUVE().of([Item("a")]), Bootstrap())
    assert (nobody.value, nobody.n, nobody.missing) == (None, 0, 1)


def test_compared_systems_share_their_clusters():
    first, second = crowds((12, 8, 14, 6), (5, 15, 9, 11)), crowds((12, 8, 14, 6), (12, 8, 14, 6))
    one, other = MAUVE().of_each([first, second])
    references = [np.array(row)[: len(row) // 2] for row in one], [np.array(row)[: len(row) // 2] for row in other]
    assert np.array_equal(*references)
    assert MAUVE().statistic(np.sum(other, axis=0)) == pytest.approx(1.0, abs=1e-12)
    assert MAUVE().statistic(np.sum(one, axis=0)) == pytest.approx(0.8923199650264417, abs=1e-9)


def test_the_number_of_clusters_is_limited_by_distinct_vectors():
    items = crowds((12, 8, 14, 6), (5, 15, 9, 11))
    assert len(MAUVE(buckets=7).of(items)[0]) == 14
    assert len(MAUVE(buckets=500).of(items)[0]) < 2 * 500
    assert str(MAUVE(buckets=7)) == "MAUVE(buckets=7)"
    with pytest.raises(InputError, match="expected buckets of MAUVE"):
        MAUVE(buckets=0)


def test_vectors_of_different_lengths_are_refused():
    with pytest.raises(InputError, match="the same length"):
        Features(np.ones(3), np.ones(4))
    with pytest.raises(InputError, match="finite"):
        Features(np.ones(3), np.array([1.0, np.nan, 0.0]))
    mixed = [Item("a", features=Features(np.ones(3), np.ones(3))), Item("b", features=Features(np.ones(2), np.ones(2)))]
    with pytest.raises(InputError, match="Compute all with one model"):
        MAUVE().of(mixed)


def test_stored_figures_are_averaged_over_the_questions_that_have_them():
    items = [
        Item("a", scores={"bertscore_f1": 0.9, "bertscore_recall": 0.0, "faithfulness": 4.0}),
        Item("b", scores={"bertscore_f1": 0.8, "claim_entailment": 0.25}),
        Item("c", scores={"bertscore_f1": float("nan")}),
        Item("d"),
    ]
    assert BERTScore().of(items) == [(0.9, 1.0), (0.8, 1.0), None, None]
    assert BERTScore(figure="recall").of(items) == [(0.0, 1.0), None, None, None]
    assert BERTScore(figure="precision").of(items) == [None] * 4
    assert ClaimEntailment().of(items) == [None, (0.25, 1.0), None, None]
    assert ModelScore(score="faithfulness").of(items) == [(4.0, 1.0), None, None, None]
    estimate = BERTScore().estimate(BERTScore().of(items), Bootstrap())
    assert (estimate.n, estimate.missing) == (2, 2)
    assert estimate.value == pytest.approx(0.85, abs=1e-12)


def test_a_refusal_has_no_stored_figure():
    refused = parse_answer("q", "There is no evidence.", ()).model_copy(update={"insufficient": True})
    assert BERTScore().parts(Item("q", refused, scores={"bertscore_f1": 0.7})) is None


def test_a_stored_score_needs_a_name():
    assert str(ModelScore(score="faithfulness", better="less")) == "ModelScore(score='faithfulness', better='less')"
    assert ModelScore(score="x").higher_is_better is None
    assert ModelScore(score="x", better="less").higher_is_better is False
    with pytest.raises(InputError, match="expected the name of a stored score"):
        ModelScore()
    with pytest.raises(InputError, match="expected better of ModelScore"):
        ModelScore(score="x", better="worse")
