"""Citations in BioACE's three settings: what judges read, their agreement with people, thresholds, rankings."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from assess_answers import ABOUT_IRON, WORDS, answers_of, case
from hypothesis import given, settings
from hypothesis import strategies as st
from server import ScriptedServer, reply

from vericite.errors import InputError
from vericite.evaluate.resampling import Bootstrap
from vericite.lab.assess.citations import (
    TABLES,
    CitationJudges,
    PairMaker,
    citation_rows,
    judge_from_scores,
    labelled_cases,
    named_judge,
    threshold_by_f1,
    write_pairs,
)
from vericite.llm import LLM
from vericite.llm.verbatim import read_any
from vericite.models import Embedder
from vericite.models.contracts import Judgement, Pair
from vericite.verify.judges.bundled import LexicalJudge, ScoreJudge
from vericite.verify.judges.llm import LlmJudge, load_judge_prompt

metrics = pytest.importorskip("sklearn.metrics", reason="the extra [assess] is not installed")

MAKER = PairMaker(Embedder.shared())
DRAWS = Bootstrap(draws=100)


class Says:
    """A judge that says a label of each claim, which is its last word."""

    signature = "says"

    def judge(self, pairs):
        for pair in pairs:
            yield Judgement.certain(WORDS.index(pair.claim.split()[-1]), "x")


def rows_of(answers, judges, **given):
    remarks: list[str] = []
    rows, rankings = citation_rows(answers, CitationJudges(judges, judges, MAKER, **given), DRAWS, remarks)
    return {(row.table, row.row, row.by): row for row in [*rows, *rankings]}, remarks


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(WORDS)), min_size=1, max_size=12))
def test_citation_scores_of_a_judge_agree_with_scikit_learn(pairs):
    said, found = zip(*pairs, strict=True)
    answers = answers_of([case(f"Sentence {at} {word}", label) for at, (label, word) in enumerate(pairs)])
    rows, _ = rows_of(answers, {"mine": Says()})
    options = {"labels": ["supports"], "average": "macro", "zero_division": np.nan}
    p, r, f1, _ = metrics.precision_recall_fscore_support(said, found, **options)
    for name, value in (("P", p), ("R", r), ("F1", f1 if "supports" in said else np.nan)):
        own = rows[TABLES["document"], f"{name}, supporting", "mine"].estimate.value
        assert np.isnan(value) if own is None else own == pytest.approx(value), name
    if "contradicts" not in found:
        # A judge of two labels has no figure of three.
        assert (TABLES["document"], "macro-F1, ternary", "mine") not in rows
        return
    macro = metrics.f1_score(said, found, labels=sorted(set(said)), average="macro", zero_division=0)
    assert rows[TABLES["document"], "macro-F1, ternary", "mine"].estimate.value == pytest.approx(macro)


def test_each_setting_shows_the_judge_something_else():
    (only,) = labelled_cases(answers_of([case("Iron helps against fatigue.", "supports", ABOUT_IRON)]))
    whole, sentence, nuggets = (MAKER.pairs(setting, [only])[0] for setting in TABLES)
    assert whole.premise == f"Iron {ABOUT_IRON}"
    assert sentence.premise == "Iron lowers fatigue in women."
    assert sorted(nuggets.premise.split("\n")) == sorted(
        {"Iron The trial enrolled 90 women.", "Iron lowers fatigue in women.", "It was in Norway."}
    )
    assert whole.claim == sentence.claim == nuggets.claim == "Iron helps against fatigue."


def test_a_model_makes_the_nuggets_and_labels_their_lists_by_the_printed_prompt(server: ScriptedServer, tmp_path: Path):
    make, label = tmp_path / "make.toml", tmp_path / "label.toml"
    head = 'name = "m"\nversion = 1\nabout = "x"\nverbatim = true\n'
    make.write_text(f'{head}user = "List: {{text}}"\n')
    columns = {"Supports": "entails", "Contradicts": "contradicts", "Neutral": "neutral", "Not relevant": "neutral"}
    listed = "".join(f'[labels."{name}"]\ncolumn = "{column}"\n' for name, column in columns.items())
    label.write_text(f'{head}user = "Answer Nuggets:{{claim}}\\nDocument Nuggets:{{reference}}"\n{listed}')

    def behave(answering, arrival):
        said = "Not relevant" if arrival.question.startswith("Answer") else "1. A fact.\n- Another fact."
        reply(said)(answering, arrival)

    server.default = behave
    model = LLM(server.spec)
    judges = {"A4": LlmJudge(model, load_judge_prompt(label))}
    answers = answers_of([case("Iron helps.", "irrelevant"), case("Zinc helps.", "supports")])
    maker = PairMaker(Embedder.shared(), model, read_any(make))
    rows, _ = citation_rows(answers, CitationJudges({}, judges, maker), DRAWS, [])
    found = {(row.table, row.row): row for row in rows}
    assert found[TABLES["nuggets"], "R, supporting"].estimate.value == 0
    assert "judge" in found[TABLES["document"], "P, R, F1"].needs
    assert {question for question in server.questions if question.startswith("Answer")} == {
        "Answer Nuggets:A fact.\nAnother fact.\nDocument Nuggets:A fact.\nAnother fact."
    }
    # Two sentences and one document.
    assert sum(question.startswith("List") for question in server.questions) == 3


def test_failed_nuggets_are_counted_and_are_no_label(monkeypatch):
    from vericite.lab.assess import citations
    from vericite.lab.assess.nuggets import MadeNuggets

    monkeypatch.setattr(citations, "make_nuggets", lambda texts, *_: [MadeNuggets((), "silence") for _ in texts])
    rows, _ = rows_of(answers_of([case("Iron helps supports", "supports")]), {"mine": Says()})
    assert rows[TABLES["nuggets"], "failed", "mine"].needs == "1 of 1 could not be judged"
    assert (TABLES["nuggets"], "P, supporting", "mine") not in rows


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.9]), st.booleans()), min_size=1, max_size=12))
def test_no_other_threshold_has_a_higher_f1(scored):
    scores, gold = np.array([score for score, _ in scored]), np.array([label for _, label in scored])
    if not gold.any():
        with pytest.raises(InputError, match="supporting"):
            threshold_by_f1(scores, gold)
        return
    found = threshold_by_f1(scores, gold)
    f1 = {cut: metrics.f1_score(gold, scores >= cut) for cut in scores}
    assert f1[found] == pytest.approx(max(f1.values()))
    assert found == max(cut for cut, value in f1.items() if value >= max(f1.values()) - 1e-12)


def test_a_threshold_is_fitted_on_other_answers():
    scored = ScoreJudge("s", lambda _, claims: [float(claim.split()[-1]) for claim in claims])
    train = labelled_cases(answers_of([case("a 0.2", "supports"), case("b 0.1", "neutral")], "other"))
    answers = answers_of([case("c 0.3", "supports"), case("d 0.15", "neutral"), case("e 0.9", "contradicts")])
    rows, remarks = rows_of(answers, {"scores": scored, "labels": LexicalLabels()}, fit=train)
    fitted = "scores, fitted: at least 0.2"
    assert rows[TABLES["document"], "R, supporting", "scores"].estimate.value == 0
    assert rows[TABLES["document"], "R, supporting", fitted].estimate.value == 1
    assert rows[TABLES["document"], "P, supporting", fitted].estimate.value == 0.5
    assert any("labels gives labels" in remark for remark in remarks)


class LexicalLabels(LexicalJudge):
    """Labels alone."""

    def judge(self, pairs):
        return (Judgement.certain(int(judged.probabilities.argmax()), "x") for judged in super().judge(pairs))


def test_pairs_are_written_and_come_back_with_scores(tmp_path: Path):
    cases = labelled_cases(answers_of([case("Iron helps.", "supports", ABOUT_IRON), case("Zinc helps.", "neutral")]))
    path = tmp_path / "pairs.jsonl"
    assert write_pairs(cases, MAKER, path) == 6
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps({**line, "score": 0.9 * ("Iron" in line["claim"])}) + "\n" for line in lines))
    name, judge = named_judge(f"AlignScore={path}")
    assert name == "AlignScore"
    found = list(judge.judge(MAKER.pairs("sentence", cases)))
    assert [judgement.probabilities[0] for judgement in found] == [pytest.approx(0.9), 0]
    (unknown,) = judge.judge([Pair("A premise.", "Another claim.")])
    assert unknown.failure


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "found none"),
        ("{}", "line 1"),
        ('{"premise": "p", "claim": "c", "score": -0.5}', "Rescale"),
        ("[", "line 1"),
    ],
)
def test_a_file_of_scores_that_cannot_be_used_is_refused(tmp_path: Path, text: str, problem: str):
    path = tmp_path / "scores.jsonl"
    path.write_text(text)
    with pytest.raises(InputError, match=problem):
        judge_from_scores("x", path)
    with pytest.raises(InputError, match="NAME=FILE"):
        judge_from_scores("x", tmp_path / "missing.jsonl")


def test_a_name_with_an_equals_sign_may_be_a_judge():
    with pytest.raises(InputError, match="prompt"):
        named_judge("llm:http://127.0.0.1:9/v1#m?prompt=missing.toml")


def test_rankings_count_all_sentences_for_coverage():
    systems = {"a": ["supports", "supports"], "b": ["supports", "neutral"], "c": ["neutral", "neutral"]}
    answers = [
        entry
        for name, labels in systems.items()
        for entry in answers_of([case(f"Sentence {at} {label}", label) for at, label in enumerate(labels)], name=name)
    ]
    # Sentences without citations count, too: system a covers 3 of 8.
    uncited = answers_of([case("Sentence supports", "supports"), *[case("Uncited.", None)] * 5], "other", name="a")
    rows, _ = rows_of([*answers, *uncited], {"mine": Says()})
    rho = rows["rankings by citations (A4)", "Spearman's rho, coverage, by document", "mine"]
    assert rho.estimate.value == pytest.approx(1)
