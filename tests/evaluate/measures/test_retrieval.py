from __future__ import annotations

from dataclasses import replace

import ir_measures
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vericite.errors import InputError, ValuesError
from vericite.evaluate.items import Item
from vericite.evaluate.measures.measure import NOTHING
from vericite.evaluate.measures.registry import parse_measure
from vericite.evaluate.measures.retrieval import MAP, MRR, NDCG, BioASQMAP, Precision, Recall, ShownRecall, Success
from vericite.evaluate.resampling import Bootstrap
from vericite.records import Answer, Document, Gold, Section, Trimmed

RETRIEVAL_KINDS = (Recall, Precision, Success, NDCG, MAP, MRR)

MEASURES = [Recall(), Recall(3), Precision(5), Success(1), NDCG(), NDCG(10), MAP(), MAP(4), MRR(), MRR(2)]
KNOWN = {kind.name: kind for kind in RETRIEVAL_KINDS}


def item(ranked, documents, id="q"):
    return Item(id, ranked=None if ranked is None else tuple(ranked), gold=Gold(id=id, documents=documents))


ids = st.sampled_from("abcdefghij")
rankings = st.lists(ids, unique=True, max_size=10)
judgements = st.dictionaries(ids, st.integers(-2, 3).map(float), min_size=1).filter(lambda it: max(it.values()) > 0)


def measure_of_ir_measures(text):
    name, _, cutoff = text.partition("@")
    measure = getattr(ir_measures, name)
    return measure @ int(cutoff) if cutoff else measure


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(rankings, judgements), min_size=1, max_size=5))
@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_scores_agree_with_ir_measures(measure, drawn):
    theirs = measure_of_ir_measures(str(measure))
    qrels = [ir_measures.Qrel(str(n), id, int(g)) for n, (_, gold) in enumerate(drawn) for id, g in gold.items()]
    run = [
        ir_measures.ScoredDoc(str(n), id, 100.0 - rank)
        for n, (ranked, _) in enumerate(drawn)
        for rank, id in enumerate(ranked)
    ]
    expected = {metric.query_id: metric.value for metric in ir_measures.iter_calc([theirs], qrels, run)}
    found = measure.of([item(ranked, gold, "same id") for ranked, gold in drawn])
    for place, parts in enumerate(found):
        assert parts == pytest.approx((expected[str(place)], 1.0), abs=1e-9)
        assert 0 <= parts[0] <= 1


def test_a_ranking_worked_by_hand():
    found = item("xaybz", {"a": 1.0, "b": 2.0, "c": 1.0, "z": 0.0})
    hand = {
        "Recall@2": 1 / 3,
        "Recall@4": 2 / 3,
        "Precision@4": 1 / 2,
        "Precision@10": 1 / 5,
        "Success@1": 0.0,
        "Success@2": 1.0,
        "MRR": 1 / 2,
        "MRR@1": 0.0,
        "MAP": (1 / 2 + 2 / 4) / 3,
        # Gains 1 at rank 2 and 2 at rank 4; the best ranking has 2, 1, 1.
        "nDCG": (1 / 1.584962500721156 + 2 / 2.321928094887362) / (2 + 1 / 1.584962500721156 + 1 / 2),
    }
    for text, expected in hand.items():
        measure = parse_measure(text, KNOWN)
        assert str(measure) == text
        assert measure.parts(found) == pytest.approx((expected, 1.0), abs=1e-9), text


def bioasq_ap(ranked, relevant, divisor):
    """Average precision as in BioASQ's program: the sum over relevant ranks of the precision at the rank."""
    hits = [document in relevant for document in ranked]
    total = sum(sum(hits[: rank + 1]) / (rank + 1) for rank, hit in enumerate(hits) if hit)
    return total / divisor(len(relevant))


@given(rankings, judgements)
def test_bioasqs_map_divides_by_ten_or_by_fewer_relevant_ones(ranked, gold):
    relevant = {id for id, grade in gold.items() if grade > 0}
    rules = {"least": lambda n: min(n, 10), "ten": lambda n: 10, "relevant": lambda n: n}
    for name, divisor in rules.items():
        found = BioASQMAP(divisor=name).parts(item(ranked, gold))
        assert found == pytest.approx((bioasq_ap(ranked, relevant, divisor), 1.0), abs=1e-12)
    assert BioASQMAP(divisor="relevant").parts(item(ranked, gold)) == pytest.approx(MAP(10).parts(item(ranked, gold)))


def test_bioasqs_map_looks_at_ten_documents_and_leaves_missing_rankings_out():
    many = {f"d{n}": 1.0 for n in range(20)}
    assert BioASQMAP().parts(item([f"d{n}" for n in range(20)], many)) == (1.0, 1.0)
    assert BioASQMAP().parts(item(None, many)) is None
    assert BioASQMAP().parts(item("a", {"a": 0.0})) == NOTHING
    assert str(parse_measure("BioASQMAP(divisor='ten')@10", {"BioASQMAP": BioASQMAP})) == "BioASQMAP(divisor='ten')@10"


@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_missing_empty_and_zero_rankings_are_distinguished(measure):
    relevant = {"a": 1.0, "b": 0.0}
    items = [
        item(None, relevant),
        Item("q", ranked=("a",)),
        item("a", {}),
        item("a", {"a": 0.0, "b": -1.0}),
        item("", relevant),
        item("b", relevant),
    ]
    assert measure.of(items) == [None, None, None, NOTHING, (0.0, 1.0), (0.0, 1.0)]
    estimate = measure.estimate(measure.of(items), Bootstrap())
    assert (estimate.value, estimate.n, estimate.missing, estimate.empty) == (0.0, 2, 3, 1)


def test_empty_and_missing_rankings_are_no_error():
    assert Recall().of([item("", {"a": 1.0})]) == [(0.0, 1.0)]
    assert Recall().of([]) == []


def test_a_document_found_twice_counts_at_its_first_rank():
    assert Precision(2).parts(item("aab", {"a": 1.0, "b": 1.0})) == (1.0, 1.0)
    assert MRR().parts(item("xxa", {"a": 1.0})) == (0.5, 1.0)


@pytest.mark.parametrize("cutoff", [0, -1, True, 2.5, "5"])
def test_a_cutoff_must_be_a_positive_integer(cutoff):
    for kind in RETRIEVAL_KINDS:
        with pytest.raises(InputError, match=f"expected cutoff of {kind.name} to be "):
            kind(cutoff=cutoff)


@pytest.mark.parametrize("grade", [0.5, 101.0, -200.0, 1e300])
def test_a_grade_that_ndcg_cannot_be_computed_with_is_refused_with_its_line(grade):
    with pytest.raises(ValuesError, match="expected grades of documents to be whole numbers up to 100"):
        Gold(id="q", documents={"a": grade})


def test_shown_recall_leaves_out_documents_that_had_no_room_and_counts_those_cut_in_part():
    trimmed = (Trimmed(document="b", shown=1, sentences=4), Trimmed(document="c", shown=0, sentences=3))
    answer = Answer(id="q", text="", claims=(), documents=(), trimmed=trimmed)
    found = Item("q", answer, ranked=("a", "b", "c", "d"), gold=Gold(id="q", documents={"a": 1.0, "b": 1.0, "c": 1.0}))
    assert Recall(3).of([found])[0] == pytest.approx((1.0, 1.0))
    assert ShownRecall(3).of([found])[0] == pytest.approx((2 / 3, 1.0))
    # A document that stands behind the cutoff takes no place that one left out gave free.
    assert ShownRecall(1).of([found])[0] == pytest.approx((1 / 3, 1.0))
    assert ShownRecall(3).of([replace(found, answer=None)])[0] == pytest.approx((1.0, 1.0))
    # A model that never answered saw nothing; a retracted document is shown to none.
    assert ShownRecall(3).of([replace(found, answer=None, failed="too long")])[0] == pytest.approx((0.0, 1.0))
    gone = answer.model_copy(
        update={"documents": (Document(id="a", sections=(Section(text="Zinc."),), retracted=True),)}
    )
    assert ShownRecall(3).of([replace(found, answer=gone)])[0] == pytest.approx((1 / 3, 1.0))
    assert str(parse_measure("ShownRecall@10", {"ShownRecall": ShownRecall})) == "ShownRecall@10"
