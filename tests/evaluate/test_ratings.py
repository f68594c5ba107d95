from __future__ import annotations

import json

import pytest
from sklearn.metrics import cohen_kappa_score

import vericite
from vericite.errors import InputError, Problems
from vericite.evaluate.agreement import (
    CategoryF1,
    CohenKappa,
    FleissKappa,
    Kendall,
    KrippendorffAlpha,
    Spearman,
)
from vericite.evaluate.ratings import (
    Rating,
    agree,
    correlate_rankings,
    ratings_of_labels,
    ratings_of_verdicts,
    read_ratings,
    read_scores,
)
from vericite.records import CitationJudgement, Labels

HUMAN = ["s", "s", "c", "i", "s", "c", "i", "i"]
JUDGE = ["s", "i", "c", "i", "s", "s", "i", "c"]


def rated(rater, labels, by=None):
    return [Rating(item=str(place), rater=rater, label=label, by=by) for place, label in enumerate(labels)]


def test_kappa_agrees_with_scikit_learn():
    found = agree(rated("human", HUMAN) + rated("judge", JUDGE), [CohenKappa()], "human")
    assert [(it.raters, it.found.n) for it in found] == [(("human", "judge"), 8)]
    assert found[0].found.value == pytest.approx(cohen_kappa_score(HUMAN, JUDGE), abs=1e-12)


def test_without_a_reference_each_pair_is_compared_and_all_together():
    rows = rated("a", HUMAN) + rated("b", JUDGE) + rated("c", HUMAN)
    found = agree(rows, [CohenKappa(), FleissKappa(), KrippendorffAlpha()])
    assert [it.raters for it in found] == [("a", "b"), ("a", "c"), ("b", "c"), ("a", "b", "c"), ("a", "b", "c")]
    assert found[1].found.value == 1


def test_a_person_who_saw_all_is_the_reference_of_every_context():
    rows = rated("human", HUMAN) + rated("judge", JUDGE, "CONTEXT-1") + rated("judge", HUMAN, "CONTEXT-3")
    found = agree(rows, [CohenKappa(), CategoryF1()], "human", by=True)
    assert [it.by for it in found] == ["CONTEXT-1"] * 4 + ["CONTEXT-3"] * 4
    assert found[0].found.value == pytest.approx(cohen_kappa_score(HUMAN, JUDGE), abs=1e-12)
    assert [it.found.value for it in found[4:]] == [1, 1, 1, 1]
    together = agree(rows, [CohenKappa()], "human")
    assert together[0].found.n == 16
    # The interval is drawn over items, each with both contexts.
    assert together[0].found.estimate.n == 8


def test_undefined_coefficients_are_marked():
    found = agree(rated("a", ["s", "s"]) + rated("b", ["s", "s"]), [CohenKappa()])
    assert found[0].record["value"] is None
    assert "undefined" in str(found[0].found)


def test_verdicts_and_assessors_labels_meet_at_sentence_and_document():
    answer = "Aspirin prevents strokes [1][2]. It is cheap. Aspirin causes strokes [1]."
    documents = [{"id": "a", "text": "Aspirin prevents strokes."}, {"id": "b", "text": "The moon is far away."}]
    checked = vericite.check(answer, documents, id="q", protocol="vericite")
    labels = Labels.model_validate_json(
        json.dumps(
            {
                "id": "q",
                "citations": [
                    {"sentence": 0, "document": "a", "label": "supports"},
                    {"sentence": 0, "document": "b", "label": "neutral"},
                    {"sentence": 2, "document": "a", "label": "contradicts"},
                ],
            }
        )
    )
    ours, theirs = ratings_of_verdicts([checked], "judge"), ratings_of_labels([labels], "human")
    assert {it.item for it in ours} == {it.item for it in theirs}
    found = agree(ours + theirs, [CategoryF1()], "human", ["supported", "contradicted", "irrelevant"])
    assert (found[0].found.n, found[0].found.missing) == (3, 0)


def test_a_repeated_label_is_reported_and_skipped(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text(
        '{"item": "1", "rater": "a", "label": "s"}\n{"item": "1", "rater": "a", "label": "c"}\n{"item": 1}\n'
    )
    problems = Problems()
    found = read_ratings([path], problems)
    assert ([it.label for it in found], len(problems)) == (["s"], 2)


def test_an_unknown_reference_and_a_single_rater_are_refused():
    with pytest.raises(InputError, match="expected the reference to be one of"):
        agree(rated("a", HUMAN) + rated("b", JUDGE), [CohenKappa()], "c")
    with pytest.raises(InputError, match="at least two raters"):
        agree(rated("a", HUMAN), [CohenKappa()])
    with pytest.raises(InputError, match='a field "by"'):
        agree(rated("a", HUMAN) + rated("b", JUDGE), [CohenKappa()], by=True)


def test_rankings_are_correlated_over_the_systems_that_both_have(tmp_path):
    rows = [
        ("a", "x", 1.0),
        ("b", "x", 2.0),
        ("c", "x", 3.0),
        ("a", "y", 10),
        ("b", "y", 30),
        ("c", "y", 20),
        ("d", "y", 5),
    ]
    path = tmp_path / "scores.jsonl"
    path.write_text(
        "".join(json.dumps(dict(zip(("system", "measure", "value"), row, strict=True))) + "\n" for row in rows)
    )
    problems = Problems()
    scores = read_scores([path], problems)
    found = correlate_rankings(scores, [Spearman(), Kendall()], "x")
    assert not problems
    assert [(it.found.value, it.found.n, it.found.missing) for it in found] == [
        (pytest.approx(0.5), 3, 1),
        (pytest.approx(1 / 3), 3, 1),
    ]
    tied = correlate_rankings({"x": {"a": 1, "b": 1}, "y": {"a": 1, "b": 2}}, [Spearman()])
    assert tied[0].record["value"] is None


def test_statements_have_the_judges_categories_in_the_order_of_the_text():
    documents = [{"id": "a", "text": "Aspirin prevents strokes in adults. The moon is far away."}]
    answer = "Aspirin prevents strokes [1]. The moon is made of cheese [1]."
    checked = vericite.check(answer, documents, id="q", protocol="reason-verify")
    # The bundled judge has no categories, and of a citation protocol there is no rationale.
    assert [it.label for it in ratings_of_verdicts([checked], "judge", "rationale")] == [None, None]
    cited = vericite.check(answer, documents, id="q", protocol="vericite")
    assert ratings_of_verdicts([cited], "judge", "rationale") == []
    kinds = ("CORRECT-EXPLICIT", "INCORRECT-FALSE")
    told = [
        verdict.model_copy(update={"statements": (verdict.statements[0].model_copy(update={"native": kind}),)})
        for verdict, kind in zip(checked.verdicts, kinds, strict=True)
    ]
    judged = checked.model_copy(update={"verdicts": tuple(reversed(told))})
    labels = Labels(id="q", rationale=("CORRECT-EXPLICIT", "INCORRECT-FALSE"))
    rows = ratings_of_verdicts([judged], "judge", "rationale") + ratings_of_labels([labels], "human", "rationale")
    found = agree(rows, [CategoryF1()], "human")
    assert {it.found.name: it.found.value for it in found} == {f"F1 of {kind}": 1.0 for kind in kinds}


def test_a_first_line_without_citations_is_still_a_label(tmp_path):
    path, other = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    citation = {"sentence": 0, "document": "d", "label": "supports"}
    for file in (path, other):
        file.write_text('{"id": "q0", "correct": [true]}\n' + json.dumps({"id": "q1", "citations": [citation]}) + "\n")
    problems = Problems()
    assert [(it.rater, it.label) for it in read_ratings([path, other], problems)] == [
        ("a", "supported"),
        ("b", "supported"),
    ]
    assert not problems


def test_assessors_may_use_the_words_of_verdicts():
    words = {"supported": "supports", "contradicted": "contradicts", "irrelevant": "irrelevant", "neutral": "neutral"}
    for said, kept in words.items():
        line = json.dumps({"id": "q", "citations": [{"sentence": 0, "document": "d", "label": said}]})
        assert [one.label for one in Labels.model_validate_json(line).citations or ()] == [kept]
    with pytest.raises(ValueError, match="'supports', 'contradicts'"):
        CitationJudgement(sentence=0, document="d", label="Supported")  # pyright: ignore[reportArgumentType]
