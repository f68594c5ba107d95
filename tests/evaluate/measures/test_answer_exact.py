from __future__ import annotations

import numpy as np
import pytest
from figures import figure
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score

from vericite.errors import InputError
from vericite.evaluate.items import Item
from vericite.evaluate.measures.answer_exact import (
    CategoryAccuracy,
    CategoryMacroF1,
    ExactMatch,
    FactoidLenient,
    FactoidMRR,
    FactoidStrict,
    ListF1,
    ListPrecision,
    ListRecall,
    YesNoAccuracy,
    YesNoMacroF1,
    closed_answer,
    normalised,
)
from vericite.evaluate.measures.answer_text import RefusedRate
from vericite.evaluate.measures.measure import NOTHING
from vericite.evaluate.measures.registry import parse_measure
from vericite.evaluate.resampling import Bootstrap
from vericite.records import Gold
from vericite.text.citations import parse_answer


def asked(type, right, said=None, text=None, **gold):
    answer = None if text is None else parse_answer("q", text, ())
    exact = None if said is None else tuple((name,) if isinstance(name, str) else tuple(name) for name in said)
    entries = tuple((name,) if isinstance(name, str) else tuple(name) for name in right)
    return Item("q", answer, exact=exact, gold=Gold(id="q", type=type, exact=entries, **gold))


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Yes, it does.", "yes"),
        ("yes", "yes"),
        ("**No.** 12 months of losartan were tolerated.", "no"),
        ("No [1]. It was not.", "no"),
        ("Maybe\nThe evidence is mixed.", "maybe"),
        ("Yes – in mice.", "yes"),
        ("No - it is not.", "no"),
        ("No evidence was found.", ""),
        ("Yes-associated protein 1 binds TEAD.", ""),
        ("Yesterday, it rained.", ""),
        ("The answer is yes.", ""),
        ("", None),
    ],
)
def test_a_closed_answer_needs_punctuation_after_the_first_word(text, read):
    assert closed_answer(Item("q", parse_answer("q", text, ()))) == read


def test_an_exact_answer_overrides_the_text():
    text = parse_answer("q", "No, it does not.", ())
    assert closed_answer(Item("q", text, exact=(("Yes.",),))) == "yes"
    assert closed_answer(Item("q", text, exact=())) == ""
    assert closed_answer(Item("q", text.model_copy(update={"insufficient": True}), exact=(("no",),))) is None


def test_a_factoid_is_ranked_as_in_bioasq():
    right = [("CFTR", "ABCC7")]
    third = asked("factoid", right, ["TP53", "BRCA1", ("the CF gene", "abcc7")])
    sixth = asked("factoid", right, ["a", "b", "c", "d", "e", "CFTR"])
    first = asked("factoid", right, ["cftr  "])
    none = asked("factoid", right, [])
    items = [first, third, sixth, none]
    assert FactoidStrict().of(items) == [(1.0, 1.0), (0.0, 1.0), (0.0, 1.0), (0.0, 1.0)]
    assert FactoidLenient().of(items) == [(1.0, 1.0), (1.0, 1.0), (0.0, 1.0), (0.0, 1.0)]
    assert figure(FactoidMRR(), items) == pytest.approx((1 + 1 / 3) / 4, abs=1e-12)
    assert figure(FactoidMRR(2), items) == pytest.approx(1 / 4, abs=1e-12)
    assert FactoidLenient(6).parts(sixth) == (1.0, 1.0)
    assert str(FactoidMRR()) == "FactoidMRR@5"
    with pytest.raises(InputError, match="expected cutoff of FactoidLenient"):
        FactoidLenient(0)


def test_a_repeated_list_entry_is_correct_once():
    right = ["ACE", ("AGTR1", "AT1R"), "REN", "AGT"]
    items = [asked("list", right, ["ace", "AT1R", "AGTR1", "TP53", "MAS1"]), asked("list", right, [])]
    assert ListPrecision().of(items) == [(2 / 5, 1.0), (0.0, 1.0)]
    assert ListRecall().of(items) == [(2 / 4, 1.0), (0.0, 1.0)]
    assert figure(ListF1(), items) == pytest.approx((2 * 0.4 * 0.5 / 0.9) / 2, abs=1e-12)


def bioasq_list(given, right):
    """Precision and recall of a list as in BioASQ's program, without synonyms."""
    left, hits = list(right), 0
    for name in given:
        if name in left:
            left.remove(name)
            hits += 1
    again, missed = list(given), 0
    for name in left:
        if name in again:
            again.remove(name)
        else:
            missed += 1
    return (hits / len(given) if given else 0.0, hits / (hits + missed) if hits else 0.0)


@given(st.lists(st.sampled_from("abc"), max_size=5), st.lists(st.sampled_from("abc"), min_size=1, max_size=5))
def test_repeated_gold_entries_count_as_in_bioasqs_program(given, right):
    item = asked("list", right, given)
    found = ListPrecision().parts(item)[0], ListRecall().parts(item)[0]
    assert found == pytest.approx(bioasq_list(given, right), abs=1e-12)


def test_a_repeated_gold_entry_needs_only_one_answer():
    item = asked("list", ["ACE", "ace", "REN"], ["ACE", "REN"])
    assert ListRecall().parts(item) == ListF1().parts(item) == (1.0, 1.0)


names = st.lists(st.sampled_from(["a", "B", "b", "c", "D d", "e"]), max_size=6)


@given(names, names.filter(bool))
def test_list_measures_lie_between_0_and_1_and_agree_with_sets_where_nothing_repeats(said, right):
    item = asked("list", right, said)
    precision, recall, f1 = (kind().parts(item)[0] for kind in (ListPrecision, ListRecall, ListF1))
    assert 0 <= f1 <= 1 and 0 <= precision <= 1 and 0 <= recall <= 1
    if precision + recall:
        assert f1 == pytest.approx(2 * precision * recall / (precision + recall), abs=1e-12)
    mine, theirs = {it.lower() for it in said}, {it.lower() for it in right}
    if len(mine) == len(said) and len(theirs) == len(right):
        assert recall == pytest.approx(len(mine & theirs) / len(theirs), abs=1e-12)


labels = st.sampled_from(["yes", "no"])
thirds = st.sampled_from(["yes", "no", "maybe", "unclear"])


@given(st.lists(st.tuples(labels, thirds), min_size=1, max_size=30))
def test_yes_no_measures_agree_with_scikit_learn(pairs):
    items = [asked("yesno", [right], [said]) for right, said in pairs]
    right, said = zip(*pairs, strict=True)
    assert figure(YesNoAccuracy(), items) == pytest.approx(accuracy_score(right, said), abs=1e-9)
    # An answer that is neither counts as the wrong one.
    other = {"yes": "no", "no": "yes"}
    taken = [it if it in other else other[gold] for gold, it in pairs]
    expected = f1_score(right, taken, labels=["yes", "no"], average="macro", zero_division=np.nan)
    assert figure(YesNoMacroF1(), items) == pytest.approx(expected, abs=1e-9)


def bioasq(pairs):
    """Accuracy and macro F1 as in BioASQ's program: a wrong answer is an error for both labels."""
    right = {label: sum(gold == said == label for gold, said in pairs) for label in ("yes", "no")}
    wrong = sum(gold != said for gold, said in pairs)
    f1 = [2 * hits / (2 * hits + wrong) if hits + wrong else 0.0 for hits in right.values()]
    return sum(right.values()) / len(pairs), sum(f1) / 2


TEXTS = {"yes": "Yes, it does.", "no": "No. It does not.", "": "It depends on the dose."}


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(labels, st.sampled_from(list(TEXTS))), min_size=1, max_size=20))
def test_an_answer_that_hedges_counts_as_in_bioasqs_program(pairs):
    pairs = [("yes", "yes"), ("no", "no"), *pairs]
    items = [asked("yesno", [right], text=TEXTS[said]) for right, said in pairs]
    accuracy, macro = bioasq(pairs)
    assert figure(YesNoAccuracy(), items) == pytest.approx(accuracy, abs=1e-9)
    assert figure(YesNoMacroF1(), items) == pytest.approx(macro, abs=1e-9)
    # Of the categories yes and no as well, but for F1, which counts a miss against the right one only.
    assert figure(CategoryAccuracy(), items) == pytest.approx(accuracy, abs=1e-9)


def test_hedging_does_not_pay():
    hedged = [asked("yesno", ["yes"], text="It depends.")] * 9 + [asked("yesno", ["yes"], text="Yes.")]
    assert figure(YesNoAccuracy(), hedged) == pytest.approx(0.1)
    assert figure(CategoryAccuracy(), hedged) == pytest.approx(0.1)
    for kind, type in TYPED:
        hedging = asked(type, RIGHT[type], text="It was shown in mice.")
        assert figure(kind(), [hedging, asked(type, RIGHT[type], RIGHT[type])]) <= 0.5
        refused = hedging.answer.model_copy(update={"insufficient": True})
        assert kind().parts(Item("q", refused, gold=hedging.gold)) is None
        assert kind().parts(asked(type, RIGHT[type], text="")) is None


@given(st.lists(st.tuples(thirds, thirds), min_size=1, max_size=30))
def test_category_measures_agree_with_scikit_learn(pairs):
    items = [asked(None, [], [said], category=right) for right, said in pairs]
    right, said = zip(*pairs, strict=True)
    assert figure(CategoryAccuracy(), items) == pytest.approx(accuracy_score(right, said), abs=1e-9)
    seen = {"yes", "no", "maybe"} & {*right, *said}
    found = figure(CategoryMacroF1(), items)
    if seen:
        classes = ["yes", "no", "maybe"]
        expected = f1_score(right, said, labels=classes, average="macro", zero_division=np.nan)
        assert found == pytest.approx(expected, abs=1e-9)
    else:
        assert found is None


def test_the_classes_can_be_set():
    measure = parse_measure(
        "CategoryMacroF1(classes='supports,refutes,not told')", {"CategoryMacroF1": CategoryMacroF1}
    )
    items = [
        asked(None, [], [said], category=right) for right, said in [("Supports", "supports"), ("refutes", "not told")]
    ]
    assert figure(measure, items) == pytest.approx((1 + 0 + 0) / 3, abs=1e-12)
    with pytest.raises(InputError, match="expected classes of CategoryMacroF1"):
        CategoryMacroF1(classes="yes,yes")


def test_a_refusal_is_missing_or_wrong_as_requested():
    gold = Gold(id="q", type="yesno", exact=(("yes",),))
    refused = parse_answer("q", "ANSWER UNAVAILABLE", ()).model_copy(update={"insufficient": True})
    failed = refused.model_copy(update={"insufficient": False, "claims": (), "text": "", "failed": "no reply"})
    for measure in (YesNoAccuracy, CategoryAccuracy):
        assert measure().parts(Item("q", refused, gold=gold)) is None
        assert measure(refused="wrong").parts(Item("q", refused, gold=gold)) == (0.0, 1.0)
        assert measure(refused="wrong").parts(Item("q", failed, gold=gold)) is None
        assert measure(refused="wrong").parts(Item("q", parse_answer("q", "Yes.", ()), gold=gold)) == (1.0, 1.0)
    said = [RefusedRate().parts(Item("q", answer, gold=gold)) for answer in (refused, failed, None)]
    assert said == [(1.0, 1.0), (0.0, 1.0), None]


def test_only_yes_no_and_maybe_are_read_from_the_text():
    assert CategoryAccuracy().parts(asked(None, [], text="Yes, it does.", category="yes")) == (1.0, 1.0)
    assert CategoryAccuracy().parts(asked(None, [], text="Yes, it does.", category="supports")) is None
    assert CategoryAccuracy().parts(asked(None, ["maybe"], text="No, it does not.")) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("said", "right", "same"),
    [
        ("The CFTR gene.", "CFTR gene", 1.0),
        ("an  IL-6", "il6", 1.0),
        ("CFTR genes", "CFTR gene", 0.0),
        ("A", "the", 0.0),
        ("A", "a", 1.0),
    ],
)
def test_an_exact_match_is_one_after_normalisation(said, right, same):
    assert ExactMatch().parts(asked("factoid", [("other", right)], [said])) == (same, 1.0)
    assert ExactMatch().parts(asked("summary", [], text=said, ideal=("other", right))) == (same, 1.0)


@given(st.text())
def test_normalising_is_idempotent(text):
    assert normalised(normalised(text)) == normalised(normalised(normalised(text)))
    assert normalised(text) == normalised(text.upper().lower()) or text.lower() != text.upper().lower()


def test_an_exact_match_takes_yes_or_no_from_the_text_and_leaves_lists_alone():
    assert ExactMatch().parts(asked("yesno", ["yes"], text="Yes, since it was shown.")) == (1.0, 1.0)
    assert ExactMatch().parts(asked("factoid", ["yes"], text="Yes, since it was shown.")) == (0.0, 1.0)
    assert ExactMatch().parts(asked("list", ["yes"], ["yes"])) == NOTHING
    assert ExactMatch().parts(asked("factoid", ["CFTR"], [])) == (0.0, 1.0)


SAID = {"yesno": ["no"], "factoid": ["TP53"], "list": ["TP53"]}
RIGHT = {"yesno": ["yes"], "factoid": ["CFTR"], "list": ["CFTR", "REN"]}
TYPED = [
    (kind, type)
    for type, kinds in {
        "yesno": (YesNoAccuracy, YesNoMacroF1),
        "factoid": (FactoidStrict, FactoidLenient, FactoidMRR),
        "list": (ListPrecision, ListRecall, ListF1),
    }.items()
    for kind in kinds
]


@pytest.mark.parametrize(("kind", "type"), TYPED)
def test_wrong_missing_and_other_types_are_distinguished(kind, type):
    measure = kind()
    nothing = (0.0,) * measure.width
    others = [asked(other, RIGHT[other], SAID[other]) for other in RIGHT if other != type]
    assert measure.of([*others, asked("summary", [], text="It is.", ideal=("It.",))]) == [nothing] * 3
    missing = [
        asked(type, RIGHT[type]),
        asked(type, RIGHT[type], text=""),
        asked(type, [], SAID[type]),
        Item("q", exact=(("x",),)),
        asked(None, [], SAID[type]),
    ]
    assert measure.of(missing) == [None] * 5
    items = [*others, *missing, asked(type, RIGHT[type], SAID[type])]
    estimate = measure.estimate(measure.of(items), Bootstrap())
    assert (estimate.value, estimate.n, estimate.missing, estimate.empty) == (0.0, 1, 5, 2)


def test_where_the_type_is_not_told_only_yes_and_no_are_known_by_their_answer():
    closed, named = asked(None, ["yes"], ["yes"]), asked(None, ["CFTR"], ["CFTR"])
    assert YesNoAccuracy().of([closed, named]) == [(1.0, 1.0), NOTHING]
    assert FactoidStrict().of([closed, named]) == [NOTHING, None]
    assert ListF1().of([closed, named]) == [NOTHING, None]


def test_categories_missing_and_nothing_are_told_apart():
    items = [
        asked("factoid", ["CFTR"], ["CFTR"]),
        asked("summary", [], text="Yes, it is."),
        asked("yesno", [], ["yes"]),
        asked("yesno", ["yes"]),
        Item("q"),
        asked("yesno", ["yes"], []),
    ]
    assert CategoryAccuracy().of(items) == [NOTHING, NOTHING, None, None, None, (0.0, 1.0)]
    nothing = (0.0,) * 9
    assert CategoryMacroF1().of(items) == [nothing, nothing, None, None, None, (0.0, 0.0, 1.0, *nothing[3:])]


def test_a_class_neither_asked_nor_said_is_left_out_of_macro_f1():
    yes = asked("yesno", ["yes"], ["yes"])
    assert figure(YesNoMacroF1(), [yes, yes]) == 1.0
    assert figure(YesNoMacroF1(), [asked("yesno", ["maybe"], ["maybe"])] * 2) is None
