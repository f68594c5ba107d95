"""Supported verdicts only where such verdicts are right often enough: check.precision."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vericite.errors import InputError
from vericite.models import Pair
from vericite.models.contracts import traits_of
from vericite.pipeline.build import protocol_of
from vericite.pipeline.check import check
from vericite.pipeline.plan import CheckPlan
from vericite.verify import Judgement, Protocol, Verifier, get_protocol
from vericite.verify.judges.bundled import MeanJudge

ANSWER = "Aspirin lowers fever in adults. [1]"
SOURCES = ({"id": "a", "text": "Body temperature fell in those who were given acetylsalicylic acid."},)
MEASURED = {0.8: 0.6, 0.9: 0.75}


class Sure:
    """A judge that supports everything with one probability."""

    signature = "sure.v1"

    def __init__(self, probability: float, precisions: dict[float, float] = MEASURED) -> None:
        self.probability = probability
        self.precisions = precisions

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        rest = (1 - self.probability) / 2
        for _ in pairs:
            yield Judgement(np.array([self.probability, rest, rest], np.float32))


def verdict(judge: Sure, precision: float | None, **plan: object):
    protocol = protocol_of(CheckPlan.model_validate({"precision": precision, **plan}), judge)
    return check(ANSWER, SOURCES, protocol=protocol).verdicts[0]


def test_supported_verdicts_below_the_measured_probability_are_abstained_from():
    assert not verdict(Sure(0.7), None).abstained
    assert not verdict(Sure(0.7), 0.8).abstained
    unsure = verdict(Sure(0.7), 0.9)
    assert unsure.abstained and unsure.label == "supported"
    assert unsure.reasons[0] == "unsure: supported at 0.70, below 0.75 for precision 0.9"
    assert not verdict(Sure(0.76), 0.9).abstained


def test_between_two_measured_precisions_the_higher_one_counts():
    assert verdict(Sure(0.7), 0.81).abstained
    assert not verdict(Sure(0.61), 0.5).abstained


@given(st.floats(0.4, 0.99), st.floats(0.05, 0.9), st.floats(0.05, 0.9))
def test_a_higher_precision_supports_no_more(probability: float, one: float, other: float):
    low, high = sorted((one, other))
    assert verdict(Sure(probability), low).abstained <= verdict(Sure(probability), high).abstained


def test_other_labels_are_not_held_against_it():
    class Against(Sure):
        def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
            for _ in pairs:
                yield Judgement(np.array([0.3, 0.4, 0.3], np.float32))

    found = verdict(Against(0.4), 0.9)
    assert (found.label, found.abstained) == ("contradicted", False)


def test_the_protocol_says_so():
    assert "precision=0.9" in (check(ANSWER, SOURCES, protocol=precise(0.9)).provenance.protocol or "")
    assert "precision" not in get_protocol("default").signature


def precise(share: float) -> Protocol:
    return protocol_of(CheckPlan(precision=share), Sure(0.7))


@pytest.mark.parametrize(
    ("protocol", "judge", "precision", "found"),
    [
        ("vericite", Sure(0.7), 0.9, "found vericite"),
        ("default", Sure(0.7, {}), 0.9, "found sure.v1"),
        ("default", Sure(0.7), 0.95, "found 0.95"),
        ("default", MeanJudge([Sure(0.7), Sure(0.8)]), 0.9, "expected a judge with measured precisions"),
    ],
)
def test_what_was_not_measured_is_refused(protocol: str, judge: Sure, precision: float, found: str):
    with pytest.raises(InputError, match="expected") as error:
        Verifier(protocol_of(CheckPlan(protocol=protocol, precision=precision), judge))
    assert found in str(error.value)
    assert "check.abstain_below" in str(error.value)


@pytest.mark.parametrize("share", [0.0, 1.0, -1.0, float("nan")])
def test_a_share_that_is_none_is_refused(share: float):
    with pytest.raises(InputError, match="precision to be between 0 and 1"):
        Protocol(precision=share)


def test_a_judge_with_other_probabilities_has_no_measured_precisions():
    assert not traits_of(MeanJudge([Sure(0.7), Sure(0.8)])).precisions
