"""Strings of measures, read and refused."""

from __future__ import annotations

import pytest

from vericite.errors import InputError
from vericite.evaluate.agreement import CohenKappa, KrippendorffAlpha
from vericite.evaluate.measures.registry import ALL, MEASURES, parse_measure, reads


@pytest.mark.parametrize("name", ALL)
def test_the_usage_of_every_measure_can_be_read_back(name):
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


def test_values_made_in_python_are_held_to_the_same():
    with pytest.raises(InputError, match="'nominal', 'ordinal'"):
        KrippendorffAlpha(level="banana")  # pyright: ignore[reportArgumentType]
    with pytest.raises(InputError, match="'linear', 'quadratic', None"):
        CohenKappa(weights="foo")  # pyright: ignore[reportArgumentType]


def test_every_measure_says_in_a_line_what_it_is_and_what_it_reads():
    for kind in ALL.values():
        assert kind.summary().endswith(".") and kind.family and reads(kind)


def test_lower_is_better_of_what_is_a_fault():
    assert {kind.name for kind in MEASURES.values() if kind.higher_is_better is False} == {
        *("ContradictedRate", "IrrelevantRate", "FailedRate", "DanglingRate", "UncitedRate", "CitationContradictRate"),
        *("Redundancy", "NuggetRedundancy", "Harmfulness"),
    }
