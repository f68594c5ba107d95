"""Degrees of support: by fitted weights with the bundled judge, else by statements."""

from __future__ import annotations

import json

import numpy as np
import pytest

from vericite import check
from vericite.verify.aggregators import Outcome, StatementOutcome
from vericite.verify.degrees import CERTAIN, FEATURES, WEIGHTS, degree_of, features, is_contradiction, partly
from vericite.verify.judges.registry import load_judge
from vericite.verify.sheet import JOINT, Role, Sheet

SOURCE = "Aspirin lowered fever in adults within two hours. It had no effect on cough."


def outcome(label: str, *held: str) -> Outcome:
    statements = tuple(StatementOutcome(name, name, name == "supported", {}) for name in held)
    return Outcome(label, label, {}, (), statements)


@pytest.mark.parametrize(
    ("label", "statements", "degree"),
    [
        ("supported", (), "supported"),
        ("contradicted", (), "contradicted"),
        ("contradicted", ("supported", "contradicted"), "contradicted"),
        ("irrelevant", (), "not found"),
        ("irrelevant", ("irrelevant", "irrelevant"), "not found"),
        ("irrelevant", ("supported", "irrelevant"), "partly supported"),
    ],
)
def test_without_figures_the_statements_decide(label, statements, degree):
    assert degree_of(outcome(label, *statements)) == degree


@pytest.mark.parametrize(("label", "likely"), [("irrelevant", "not found"), ("contradicted", "contradicted")])
def test_with_figures_they_decide_and_a_supported_claim_stays_supported(label, likely):
    assert degree_of(outcome(label), 0.1) == "partly supported"
    assert degree_of(outcome(label), -0.1) == likely
    assert degree_of(outcome("supported"), 5.0) == "supported"
    assert degree_of(Outcome(None, "failed", {}, ())) is None


def sheet(*scores: tuple[float, float, float], failed: bool = False) -> Sheet:
    rows = np.array([scores], dtype=np.float32)
    roles = [Role("sentence", 0)] * (len(scores) - 1) + [JOINT]
    return Sheet.filled(rows, np.full((1, len(scores)), failed), roles)


def test_the_figures_of_a_claim_are_what_the_source_has_of_it():
    premises = ("Aspirin lowered fever in Norway.", "It rained.", "Aspirin lowered fever in Norway.")
    judged = sheet((0.5, 0.2, 0.3), (0.1, 0.1, 0.8), (0.5, 0.2, 0.3))
    had = dict(zip(FEATURES, features("Aspirin lowered fever in Norway.", premises, judged), strict=True))
    lacks = dict(zip(FEATURES, features("Aspirin lowered 17 fevers in Greece.", premises, judged), strict=True))
    assert (had["words"], had["words near"], had["names lacking"], had["numbers lacking"]) == (1, 1, 0, 0)
    assert lacks["words"] < 1 and (lacks["names lacking"], lacks["numbers lacking"]) == (1, 1)


def test_a_failed_judgement_leaves_no_figures():
    assert features("A.", ("A.", "A."), sheet((0.5, 0.2, 0.3), (0.5, 0.2, 0.3), failed=True)) is None


def test_a_likely_contradiction_is_no_part_of_support():
    figures = [0.0] * len(FEATURES)
    at = FEATURES.index("contradicted")
    figures[at] = float(np.log(CERTAIN / (1 - CERTAIN)))
    assert is_contradiction(figures)
    figures[at] -= 0.01
    assert not is_contradiction(figures)


def test_the_weights_are_those_of_the_judge_that_ships():
    held = json.loads(WEIGHTS.read_text("utf-8"))
    assert held["judge"] == load_judge("bundled").signature
    assert tuple(held["features"]) == FEATURES
    assert np.array(held["weights"]).shape == (3, len(FEATURES))
    half = [-1.5, -0.5, 0.5, 0.6, 0.5, 3.2, 0.2, 0.0]
    none = [-4.0, -4.0, -4.0, 0.0, 0.0, 2.0, 1.0, 2.0]
    assert partly(half) > 0 > partly(none)


def test_every_verdict_has_a_degree_and_an_abstention_has_none():
    answer = "Aspirin lowered fever in adults [1]. Der Husten wurde durch Aspirin in der Nacht nicht besser [1]."
    first, second = check(answer, [SOURCE]).verdicts
    assert (first.label, first.degree) == ("supported", "supported")
    assert second.abstained and second.degree is None


def test_a_sentence_of_which_a_part_is_said_is_partly_supported():
    answer = "Aspirin lowered fever in adults and shortened their stay in hospital [1]. Penguins fly over Paris [1]."
    first, second = check(answer, [SOURCE]).verdicts
    assert (first.degree, second.degree) == ("partly supported", "not found")
