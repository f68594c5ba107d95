"""Parsing of measure strings."""

from __future__ import annotations

import pytest

from vericite.errors import InputError
from vericite.evaluate.agreement import CohenKappa, KrippendorffAlpha
from vericite.evaluate.measures.registry import AGREEMENT, MEASURES, RANKINGS, parse_measure, reads

ALL = {**MEASURES, **AGREEMENT, **RANKINGS}


@pytest.mark.parametrize("name", ALL)
def test_the_usage_of_every_measure_can_be_parsed(name):
    usage = ALL[name].usage()
    assert type(parse_measure(usage, ALL)) is ALL[name]
    assert parse_measure(str(parse_measure(usage, ALL)), ALL) == parse_measure(usage, ALL)


@pytest.mark.parametrize(
    "text",
    [
        "CohenKappa(weights='foo')",
        "CohenKappa(weights=1)",
        "KrippendorffAlpha(level='banana')",
        "KrippendorffAlpha(level=None)",
        "CategoryMacroF1(classes=3)",
        "ModelScore(score=['a'])",
        "NuggetF(beta='2')",
        "NuggetRecall(vital=1)",
        "MAUVE(buckets=True)",
    ],
)
def test_parameters_of_other_types_and_words_are_refused(text):
    with pytest.raises(InputError, match=r"expected .* to be"):
        parse_measure(text, ALL)


def test_parameters_given_in_python_are_validated_too():
    with pytest.raises(InputError, match="'nominal', 'ordinal'"):
        KrippendorffAlpha(level="banana")  # pyright: ignore[reportArgumentType]
    with pytest.raises(InputError, match="'linear', 'quadratic', None"):
        CohenKappa(weights="foo")  # pyright: ignore[reportArgumentType]


def test_every_measure_has_a_summary_and_inputs():
    for kind in ALL.values():
        assert kind.summary().endswith(".") and kind.family and reads(kind)


def test_lower_is_better_for_measures_of_faults():
    assert {kind.name for kind in MEASURES.values() if kind.higher_is_better is False} == {
        *("ContradictedRate", "IrrelevantRate", "FailedRate", "DanglingRate", "UncitedRate", "CitationContradictRate"),
        *("Redundancy", "NuggetRedundancy", "Harmfulness", "MisattributedRate", "NoSourceRate"),
        "ContradictedElsewhereRate",
    }
