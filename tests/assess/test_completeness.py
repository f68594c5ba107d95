"""Labels of sentences by a language model or a classifier, and tables of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from server import FAST, ScriptedServer, reply, status

from vericite.disk.fitted import write_fitted
from vericite.errors import InputError
from vericite.evaluate.items import Item
from vericite.evaluate.resampling import Bootstrap
from vericite.lab.assess.checkpoint import labeller_of
from vericite.lab.assess.completeness import (
    LABELS,
    AnswerSentence,
    ByClassifier,
    ByModel,
    Labelled,
    read_classifier,
    train_classifier,
)
from vericite.lab.assess.tables import (
    SystemAnswer,
    compared_sentences,
    label_sentences,
    sentence_rankings,
    sentence_table,
)
from vericite.llm import LLM
from vericite.llm.prompts import Prompt
from vericite.llm.verbatim import read_any
from vericite.models import Embedder
from vericite.text.citations import parse_answer

metrics = pytest.importorskip("sklearn.metrics", reason="the extra [assess] is not installed")

QUESTION = "Does iron help against fatigue?"
KINDS = {
    "required": ["Iron lowers fatigue in women.", "Iron helps against tiredness.", "Iron relieves fatigue."],
    "unnecessary": ["Paris is the capital of France.", "Football is played by two teams.", "Rome has seven hills."],
}
EXAMPLES = [(AnswerSentence(QUESTION, text), label) for label, texts in KINDS.items() for text in texts]


def test_a_reply_without_a_label_is_a_failure(server: ScriptedServer, llm: LLM):
    said = ['{"label": "required"}', "It is required, I think.", '{"label": "harmful"}']
    asked = [AnswerSentence(QUESTION, f"Sentence {number}.") for number in range(3)]

    def behave(answering, arrival):
        number = next(at for at in range(3) if f"Sentence {at}." in str(arrival.body))
        reply(said[number])(answering, arrival)

    server.default = behave
    none = Labelled(None, "the reply has none of the four labels")
    assert list(ByModel(llm).label(asked)) == [Labelled("required"), none, none]


def test_an_unreachable_model_fails_each_sentence(server: ScriptedServer, llm: LLM):
    server.default = status(403, "no")
    (found,) = ByModel(llm).label([AnswerSentence(QUESTION, "Iron helps.")])
    assert found.label is None and found.failure


@pytest.mark.parametrize(
    ("system", "user", "problem"),
    [
        ("Label it.", "{sentence}", r"user in prompt mine.v1 to have the slot \{question\}"),
        ("Label it.", "{question} {sentence} {answer}", r"slots of user .* question, sentence; found \{answer\}"),
        ("Label it as {labels}.", "{question} {sentence}", r"slots of system .* found \{labels\}"),
    ],
)
def test_a_prompt_with_wrong_slots_is_refused(llm: LLM, system: str, user: str, problem: str):
    with pytest.raises(InputError, match=problem):
        ByModel(llm, Prompt("mine.v1", "", system, user))


def test_the_rules_of_a_prompt_may_show_the_sentence(server: ScriptedServer, llm: LLM):
    server.default = reply('{"label": "required"}')
    by = ByModel(llm, Prompt("mine.v1", "", "Label this: {sentence}", "{question} {sentence}"))
    assert list(by.label([AnswerSentence(QUESTION, "Iron helps.")])) == [Labelled("required")]


def test_a_classifier_can_be_trained_and_stored(tmp_path: Path):
    embedder = Embedder.shared()
    classifier = train_classifier(EXAMPLES, embedder, strength=10.0)
    new = [
        AnswerSentence(QUESTION, "Fatigue fell with iron tablets."),
        AnswerSentence(QUESTION, "Berlin is the capital of Germany."),
    ]
    assert [one.label for one in classifier.label(new, embedder)] == ["required", "unnecessary"]
    write_fitted(classifier, tmp_path / "c.json")
    again = read_classifier(tmp_path / "c.json")
    assert again == classifier
    np.testing.assert_array_equal(again.probabilities(new, embedder), classifier.probabilities(new, embedder))
    by = labeller_of(str(tmp_path / "c.json"), None, embedder)
    assert by.known([*new, EXAMPLES[0][0]]) == 1


def test_invalid_classifiers_and_other_embedders_are_refused(tmp_path: Path):
    classifier = train_classifier(EXAMPLES, Embedder.shared())
    other = classifier.model_copy(update={"embedder": "another"})
    with pytest.raises(InputError, match="vectors of another"):
        ByClassifier(other, Embedder.shared()).label([EXAMPLES[0][0]])
    content = json.loads(classifier.model_dump_json())
    for name, changed in {
        "cut": {"bias": [0.0]},
        "kind": {"kind": "mixture"},
        "rows": {"weights": [[1.0], [1.0, 2.0]]},
    }.items():
        (tmp_path / name).write_text(json.dumps({**content, **changed}))
        with pytest.raises(InputError, match="expected a classifier of completeness"):
            read_classifier(tmp_path / name)
    with pytest.raises(InputError, match="Check the path"):
        read_classifier(tmp_path / "none")
    with pytest.raises(InputError, match="at least 2 sentences of two labels"):
        train_classifier(EXAMPLES[:3], Embedder.shared())
    with pytest.raises(InputError, match="--llm"):
        labeller_of("llm", None, Embedder.shared())


def answered(question: str, system: str, labels: list[str | None]) -> SystemAnswer:
    answer = parse_answer(question, " ".join(f"Sentence number {at} of it." for at in range(len(labels))), [])
    return SystemAnswer(question, system, Item(id=question, answer=answer))


class Saying:
    """Returns given labels in order."""

    def __init__(self, labels: list[str | None]) -> None:
        self._labels = labels

    def label(self, asked):
        return [Labelled(label, None if label else "silence") for label, _ in zip(self._labels, asked, strict=True)]

    def known(self, asked) -> int:
        return 0


@settings(max_examples=25)
@given(st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from([*LABELS, None])), min_size=1, max_size=12))
def test_agreement_with_human_labels_agrees_with_scikit_learn(pairs):
    by_people = {("q", "s"): [said for said, _ in pairs]}
    remarks: list[str] = []
    answers = [answered("q", "s", [said for said, _ in pairs])]
    by_model = label_sentences(answers, Saying([found for _, found in pairs]), remarks)
    rows = {row.row: row.estimate for row in compared_sentences(by_model, by_people, Bootstrap(draws=100))}
    said, found = [said for said, _ in pairs], [found or "none" for _, found in pairs]
    expected = metrics.precision_recall_fscore_support(
        said, found, labels=list(LABELS), average="weighted", zero_division=0
    )
    for name, value in zip(("P, weighted", "R, weighted", "F1, weighted"), expected, strict=False):
        assert rows[name].value == pytest.approx(value)
    failed = sum(label is None for _, label in pairs)
    assert remarks == ([f"{failed} of {len(pairs)} sentences without a label: silence"] if failed else [])


def test_sentences_without_a_label_are_left_out_or_count_as_in_medaesqa():
    labels = {("q", "a"): ["required", None, None, "unnecessary"]}
    for whole, share in ((False, 0.5), (True, 0.25)):
        rows = {row.row: row for row in sentence_table(labels, Bootstrap(draws=100), whole=whole)}
        assert rows["completeness"].estimate.value == share


def test_rankings_by_model_and_human_labels_are_correlated():
    shares = {"a": ["required", "required"], "b": ["required", "unnecessary"], "c": ["unnecessary", "unnecessary"]}
    labels = {("q", system): of for system, of in shares.items()}
    turned = {("q", system): of for system, of in zip(shares, [*shares.values()][::-1], strict=True)}
    rows = {row.row: row for row in sentence_rankings(labels, labels, Bootstrap(draws=100))}
    rho = rows["Spearman's rho, completeness"]
    assert rho.estimate.value == pytest.approx(1)
    assert rho.record["low"] is None and rho.record["needs"] == "at least 5 systems for an interval; found 3"
    rows = {row.row: row for row in sentence_rankings(turned, labels, Bootstrap(draws=100))}
    assert rows["Kendall's tau-b, completeness"].estimate.value == pytest.approx(-1)
    (row, *_) = sentence_rankings(dict(list(labels.items())[:2]), labels, Bootstrap(draws=100))
    assert "three systems" in row.needs


def test_the_reply_to_a_verbatim_prompt_is_searched_for_a_label(server: ScriptedServer, tmp_path: Path):
    file = tmp_path / "mine.toml"
    file.write_text('name = "m"\nversion = 1\nabout = "x"\nverbatim = true\nuser = "{a b} {question}|{sentence}"\n')
    replies = ["Required", "\u2018Unnecessary\u2019.", "Label: borderline", "Required or borderline", "I cannot say"]
    server.script([reply(text) for text in replies])
    prompt = read_any(file)
    asked = [AnswerSentence("Q <b>", f"S{number}") for number in range(len(replies))]
    found = list(ByModel(LLM(server.spec, replace(FAST, concurrency=1)), prompt).label(asked))
    assert [labelled.label for labelled in found] == ["required", "unnecessary", "borderline", None, None]
    assert all("none of the four labels" in (labelled.failure or "") for labelled in found[3:])
    assert sorted(server.questions) == [f"{{a b}} Q <b>|S{number}" for number in range(len(replies))]
    file.write_text(file.read_text().replace("{sentence}", "{passage}"))
    with pytest.raises(InputError, match="sentence"):
        ByModel(LLM(server.spec, FAST), read_any(file))
