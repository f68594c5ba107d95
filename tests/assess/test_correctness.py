"""Correctness: windows, negatives, classifiers, algorithm 1 and whole documents; compared with scikit-learn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from assess_answers import answers_of, case

from vericite.disk.fitted import write_fitted
from vericite.errors import InputError
from vericite.evaluate.resampling import Bootstrap
from vericite.lab.assess.citations import labelled_cases
from vericite.lab.assess.correctness import Marked, auc, by_length, classical, covered, examples, windows
from vericite.lab.assess.correctness_tables import (
    CUTS,
    CorrectnessModel,
    ReadSentence,
    SupportedSentence,
    algorithm_1,
    correctness_model,
    document_rows,
    marked_cases,
    pair_rows,
    pairs_of_cases,
    rank_of_first,
    retrieved_sentences,
    similarity_rows,
    supported_sentences,
)
from vericite.models import Embedder
from vericite.records import Document
from vericite.text.references import Library

metrics = pytest.importorskip("sklearn.metrics", reason="the extra [eval] is not installed")

DOCUMENT = ("We studied iron.", "Patients were adults.", "Iron lowered fatigue.", "Zinc did not.", "More is needed.")


def marked(number: int = 0) -> Marked:
    return Marked(f"Iron {number} lowers fatigue.", f"Does iron {number} help?", DOCUMENT, frozenset({2}), f"g{number}")


def test_windows_cover_the_document():
    assert [text for _, text in windows(["a", "b", "c", "d"], 3)] == ["a b c", "b c d"]
    assert [text for _, text in windows(["a", "b"], 3)] == ["a b"]


def test_a_negative_is_the_best_window_outside_the_evidence():
    positive, negative = examples([marked()], size=1)
    assert (positive.window, positive.correct) == ("Iron lowered fatigue.", True)
    assert (negative.window, negative.correct) == ("We studied iron.", False)
    (alone,) = examples([marked()], size=3)
    assert alone.correct


def test_auc_agrees_with_scikit_learn():
    random = np.random.default_rng(0)
    gold, scores = random.random(80) < 0.4, random.random(80).round(1)
    assert auc(gold, scores) == pytest.approx(metrics.roc_auc_score(gold, scores))
    assert np.isnan(auc(np.ones(3, bool), scores[:3]))


def test_failures_are_left_out_of_auc():
    gold, scores = np.array([True, False, True, False]), np.array([0.9, 0.2, np.nan, np.nan])
    assert auc(gold, scores) == 1
    assert np.isnan(auc(gold, np.full(4, np.nan)))


@pytest.mark.parametrize("kind", ["svm", "logistic"])
def test_classical_models_learn(kind):
    rows = examples([marked(number) for number in range(8)], size=1)
    model = classical(rows, kind)
    assert auc(np.array([one.correct for one in rows]), model.score(rows)) == 1
    with pytest.raises(InputError, match="one kind"):
        classical(rows[:1], kind)


@pytest.mark.parametrize("kind", ["svm", "logistic"])
def test_a_stored_classical_model_scores_like_scikit_learn(kind, tmp_path: Path):
    rows = examples([marked(number) for number in range(8)], size=1)
    texts = [f"ANSWER: {one.sentence} EVIDENCE: {one.window}" for one in rows]
    vectors = pytest.importorskip("sklearn.feature_extraction.text").TfidfVectorizer(
        ngram_range=(1, 2), min_df=2, sublinear_tf=True
    )
    made = {
        "svm": pytest.importorskip("sklearn.svm").LinearSVC(random_state=0),
        "logistic": pytest.importorskip("sklearn.linear_model").LogisticRegression(max_iter=2000, random_state=0),
    }[kind]
    made.fit(vectors.fit_transform(texts), [one.correct for one in rows])
    write_fitted(classical(rows, kind), tmp_path / "model.json")
    name, model = correctness_model(str(tmp_path / "model.json"), Embedder.shared())
    assert name.endswith("model.json") and model.bar == 0
    np.testing.assert_allclose(model.score(rows), made.decision_function(vectors.transform(texts)), atol=1e-6)


@pytest.mark.parametrize(
    ("span", "numbers"),
    [
        ("Iron lowered fatigue.", {2}),
        ("iron  lowered fatigue", {2}),
        ("were adults. Iron lowered", {1, 2}),
        ("Iron very much lowered fatigue", {2}),
        ("Nothing of this.", set()),
        ("", set()),
    ],
)
def test_a_marked_span_covers_sentences(span: str, numbers: set[int]):
    assert covered(DOCUMENT, span) == numbers


TEXT = " ".join(DOCUMENT)
ZINC = "We studied zinc. Zinc shortens colds by days. Nothing was said of iron. It was cheap."


def answers():
    return [
        *answers_of(
            [
                case("Iron lowers fatigue.", "supports", TEXT, ("Iron lowered fatigue.",)),
                case("Iron seems silvery.", "neutral", ZINC),
            ],
            "iron",
            asked="Does iron help against fatigue?",
        ),
        *answers_of(
            [case("Zinc shortens colds.", "supports", ZINC, ("Zinc shortens colds by days.",))],
            "zinc",
            asked="Does zinc help against colds?",
        ),
    ]


def overlap(rows):
    words = [[{word.strip(".").lower() for word in text.split()} for text in one[:2]] for one in rows]
    return np.array([len(sentence & window) / max(len(sentence), 1) for sentence, window in words])


def test_pairs_are_made_of_marked_spans():
    cases = labelled_cases(answers())
    assert [one.span for one in marked_cases(cases)] == ["Iron lowered fatigue.", "Zinc shortens colds by days."]
    pairs = pairs_of_cases(cases, size=1)
    assert [(pair.sentence, pair.window, pair.correct, pair.group) for pair in pairs if pair.group == "iron"] == [
        ("Iron lowers fatigue.", "Iron lowered fatigue.", True, "iron"),
        ("Iron lowers fatigue.", "We studied iron.", False, "iron"),
    ]


def test_table_3_agrees_with_scikit_learn():
    pairs = [
        *examples([Marked(f"Iron {n}.", "Iron?", DOCUMENT, frozenset({2}), f"g{n % 3}") for n in range(6)], size=1),
    ]
    random = np.random.default_rng(1)
    scores = random.random(len(pairs)).round(1)
    remarks: list[str] = []
    models = {
        "scores": CorrectnessModel(lambda _: scores, 0.5),
        "labels": CorrectnessModel(lambda _: np.where(np.arange(len(scores)) == 0, np.nan, scores > 0.4), 0.5, False),
    }
    rows = {(row.row, row.by): row for row in pair_rows(pairs, models, Bootstrap(draws=100), remarks)}
    gold = [pair.correct for pair in pairs]
    expected = metrics.precision_recall_fscore_support(gold, scores >= 0.5, average="macro", zero_division=0)
    for name, value in zip(("P, macro", "R, macro", "F1, macro"), expected, strict=False):
        assert rows[name, "scores"].estimate.value == pytest.approx(value)
    assert rows["AUC", "scores"].estimate.value == pytest.approx(metrics.roc_auc_score(gold, scores))
    assert ("AUC", "labels") not in rows and rows["failed", "labels"].needs.startswith("1 of 12")
    assert remarks == ["table 3 has 6 correct and 6 incorrect pairs"]


def test_a_model_that_was_trained_on_the_pairs_is_told():
    pairs = pairs_of_cases(labelled_cases(answers()), size=1)
    remarks: list[str] = []
    _, model = "x", classical(pairs, "svm")
    seen = CorrectnessModel(model.score, 0, True, frozenset(model.seen))
    pair_rows(pairs, {"mine": seen}, Bootstrap(draws=100), remarks)
    assert f"mine was trained on {len(pairs)} of these {len(pairs)} pairs" in remarks


def test_algorithm_1_compares_with_the_first_sentence_of_another_question():
    sentences = [
        SupportedSentence(
            "iron", "Iron lowers fatigue.", ("Iron lowered fatigue.", "Else."), ("Iron lowered fatigue.",)
        ),
        SupportedSentence("iron", "Iron is metal.", ("Iron is metal.",), ()),
        SupportedSentence("zinc", "Zinc shortens colds.", ("Zinc shortens colds.",), ("Zinc shortens colds.",)),
    ]
    asked: list[tuple[str, str]] = []

    def score(rows):
        asked.extend(row[:2] for row in rows)
        return overlap(rows)

    found = algorithm_1(sentences, score, lambda sentence: sentence.windows)
    # A figure of each question; the negative of zinc is the first sentence of iron, with its best window.
    assert found["iron"].accuracy == found["iron"].auc == 1 and found["iron"].positive > found["iron"].negative
    assert ("Zinc shortens colds.", "Iron lowered fatigue.") in asked
    assert ("Zinc shortens colds.", "Iron is metal.") not in asked
    assert set(algorithm_1(sentences, overlap, lambda sentence: sentence.evidence)) == {"iron", "zinc"}

    def fails_on_zinc(rows):
        return np.array([np.nan if "Zinc" in one.sentence else len(one.window) for one in rows])

    assert set(algorithm_1(sentences, fails_on_zinc, lambda sentence: sentence.windows)) == {"iron"}
    assert not algorithm_1(sentences[:2], by_length, lambda sentence: sentence.windows)


def test_figure_1_has_documents_and_evidence_for_each_scorer():
    sentences = supported_sentences(labelled_cases(answers()))
    rows = similarity_rows(sentences, {"bundled": Embedder.shared()}, {}, Bootstrap(draws=100))
    found = {(row.row, row.by): row for row in rows}
    assert len(found) == 8
    assert found["accuracy, evidence", "cosine, bundled"].estimate.value == 1
    assert found["positive, documents", "cosine, bundled"].estimate.n == 2
    (needs,) = similarity_rows(sentences[:1], {}, {}, Bootstrap(draws=100))
    assert "two questions" in needs.needs


def test_a_sentence_is_correct_from_its_first_correct_document():
    asked: list[str] = []

    def said(rows):
        asked.extend(one.window for one in rows)
        return np.array([np.nan if "Zinc" in one.window else float("lowered" in one.window) for one in rows])

    other = ("Zinc was studied.", "Adults took part.")
    model = CorrectnessModel(said, 0.5)
    assert rank_of_first(ReadSentence("q", "Iron.", (other, DOCUMENT, other)), model, 1) == 2
    assert asked.count("More is needed.") == 1 and asked.count("Adults took part.") == 1  # it stops where it is correct
    assert np.isinf(rank_of_first(ReadSentence("q", "Iron.", (other,)), model, 1))


def test_figure_a6_reads_cited_supporting_and_retrieved_documents():
    library = Library([Document.from_text("a", ZINC), Document.from_text("b", TEXT)])
    listed, unknown = retrieved_sentences(answers(), {"iron": ["a", "gone", "b"], "none": ["a"]}, library)
    assert unknown == 1 and [one.sentence for one in listed] == ["Iron lowers fatigue.", "Iron seems silvery."]
    models = {"words": CorrectnessModel(overlap, 0.6)}
    cases = labelled_cases(answers())
    rows = {row.row: row.estimate for row in document_rows(cases, listed, models, Bootstrap(draws=100))}
    assert rows["Supp(AS)"].value == pytest.approx(2 / 3) and rows["Supp(CS)"].value == 1
    assert [name for name in rows if name.startswith("T")] == [f"T{cut}" for cut in CUTS]
    assert rows["T10"].value == 0.5 and rows["T10"].n == 1
    needs = [row.needs for row in document_rows([], [], models, Bootstrap(draws=100))]
    assert "citations" in needs[0] and "retrieved=RUN" in needs[1]
