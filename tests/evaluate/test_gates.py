from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vericite.errors import InputError
from vericite.evaluate.gates import GATE_SHARES, BaselineCounts, Gate, overall, parse_gates
from vericite.records import Summary
from vericite.reporting.findings import RULES

COUNTS = Summary(claims=10, uncited=2, citations=9, supported=6, contradicted=1, irrelevant=1, dangling=1, abstained=0)


def outcome(gate: str, counts: Summary = COUNTS, over: bool = False) -> str:
    (one,) = parse_gates([] if over else [gate], [gate] if over else [])
    return one.result(counts).outcome


def test_a_number_alone_is_the_supported_share():
    (gate,) = parse_gates(["0.9"], [])
    assert gate == Gate("supported", 0.9, is_minimum=True)
    result = gate.result(COUNTS)
    assert (result.found.count, result.found.of) == (6, 8 + 1 + 2)
    assert "supported 6 of 11" in result.sentence and "--fail-under supported=0.9" in result.sentence


def test_gates_are_separated_by_commas_or_options():
    together = parse_gates([], ["contradicted=0,uncited=0.1", "dangling=0"])
    assert [(gate.name, gate.limit) for gate in together] == [("contradicted", 0), ("uncited", 0.1), ("dangling", 0)]


@pytest.mark.parametrize(
    ("gate", "over", "found"),
    [
        ("contradicted=0", True, "failed"),
        ("contradicted=0.125", True, "passed"),
        ("uncited=0.2", True, "passed"),
        ("uncited=0.19", True, "failed"),
        ("dangling=0.1", True, "failed"),
        ("irrelevant=0.125", False, "passed"),
        ("failed=0", True, "passed"),
    ],
)
def test_each_share_has_the_denominator_that_check_prints(gate, over, found):
    assert outcome(gate, over=over) == found


def test_unjudged_cases_can_leave_a_gate_undecided():
    counts = Summary(claims=10, citations=10, supported=8, failed=2)
    assert outcome("0.8", counts) == "passed"
    assert outcome("0.9", counts) == "undecided"
    assert outcome("0.9", counts.model_copy(update={"supported": 5, "contradicted": 3})) == "failed"
    assert outcome("contradicted=0", counts, over=True) == "undecided"
    assert outcome("contradicted=0.2", counts, over=True) == "passed"
    assert outcome("failed=0.1", counts, over=True) == "failed"


def test_an_empty_share_fails_a_minimum_and_passes_a_maximum():
    counts = Summary(claims=1, citations=1, supported=1)
    assert outcome("failed=0.1", Summary(quoted=1)) == "failed"
    assert outcome("contradicted=0", Summary(quoted=1), over=True) == "passed"
    assert outcome("uncited=0", counts.model_copy(update={"claims": 0}), over=True) == "passed"


@pytest.mark.parametrize("gate", [f"{name}=1" for name in GATE_SHARES])
@pytest.mark.parametrize(
    ("counts", "why"),
    [
        (Summary(), "no sentences"),
        (Summary(claims=2, citations=2, dangling=2), "2 dangling. Give the documents"),
        (Summary(claims=2, citations=1, abstained=1, uncited=1), "1 abstained, 1 uncited. --out FILE"),
        (Summary(claims=1, uncited=1), "1 uncited. Is it the file you meant?"),
    ],
)
def test_a_gate_with_nothing_judged_never_passes(gate, counts, why):
    for over in (True, False):
        (one,) = parse_gates([] if over else [gate.replace("=1", "=0")], [gate] if over else [])
        for before in (None, counts, COUNTS):
            found = one.result(counts, before and BaselineCounts(before, counts))
            assert found.outcome == "failed"
            assert "expected at least one judged citation; found n" in found.sentence and why in found.sentence


def test_a_gate_is_at_best_undecided_if_every_case_failed():
    counts = Summary(claims=2, citations=2, failed=2)
    assert outcome("dangling=0", counts, over=True) == "undecided"
    assert outcome("failed=0", counts, over=True) == "failed"


@pytest.mark.parametrize(
    ("under", "over", "told"),
    [
        (["90"], [], "Write 90 % as 0.9"),
        (["x"], [], "from 0 to 1"),
        (["nan"], [], "from 0 to 1"),
        ([""], [], "from 0 to 1"),
        ([], ["0.1"], "NAME=SHARE"),
        ([], ["contradictd=0"], "Did you mean 'contradicted'"),
        (["supported=0.1", "0.2"], [], "each gate once"),
        ([], ["uncited=0,"], "NAME=SHARE"),
    ],
)
def test_an_invalid_gate_is_refused(under, over, told):
    with pytest.raises(InputError, match=told):
        parse_gates(under, over)


numbers = st.integers(0, 20)


@given(numbers, numbers, numbers, numbers, st.sampled_from(sorted(GATE_SHARES)), st.floats(0, 1), st.booleans())
def test_a_decided_outcome_does_not_depend_on_unjudged_cases(
    supported, contradicted, irrelevant, failed, name, limit, minimum
):
    """A gate that passes or fails does so for every possible outcome of the unjudged cases."""
    counts = Summary(supported=supported, contradicted=contradicted, irrelevant=irrelevant, failed=failed)
    gate = Gate(name, limit, minimum)
    found = gate.result(counts).outcome
    if name == "failed" or not failed:
        return
    judged = [
        counts.model_copy(update={"failed": 0, kind: getattr(counts, kind) + failed})
        for kind in ("supported", "contradicted", "irrelevant", "abstained")
    ]
    outcomes = {gate.result(one).outcome for one in judged}
    if found != "undecided":
        assert outcomes <= {found, "passed" if not minimum else "failed"} and found in outcomes


def test_the_worst_outcome_is_the_overall_one():
    results = [gate.result(COUNTS) for gate in parse_gates(["0.1"], ["contradicted=0"])]
    assert overall(results) == "failed" and overall(results[:1]) == "passed" and overall([]) == "passed"


@pytest.mark.parametrize(
    ("gate", "over", "before", "found"),
    [
        ("0.9", False, {"supported": 6, "irrelevant": 4}, "passed"),
        ("0.9", False, {"supported": 5, "irrelevant": 5}, "passed"),
        ("0.9", False, {"supported": 8, "irrelevant": 2}, "failed"),
        ("0.5", False, {"supported": 8, "irrelevant": 2}, "passed"),
        ("irrelevant=0", True, {"supported": 6, "irrelevant": 4}, "passed"),
        ("irrelevant=0", True, {"supported": 7, "irrelevant": 3}, "failed"),
        ("irrelevant=0", True, {}, "failed"),
    ],
)
def test_with_a_baseline_a_gate_fails_only_if_its_share_is_worse(gate, over, before, found):
    (one,) = parse_gates([] if over else [gate], [gate] if over else [])
    now = Summary(supported=6, irrelevant=4)
    assert one.result(now, BaselineCounts(Summary(**before), now)).outcome == found


@pytest.mark.parametrize(
    ("before", "now", "new", "found"),
    [
        ((5, 5), (5, 5), (0, 0), "passed"),
        ((5, 5), (4, 6), (0, 0), "failed"),
        ((5, 5), (5, 5), (9, 1), "passed"),
        ((5, 5), (5, 5), (8, 2), "failed"),
        ((5, 5), (4, 6), (90, 5), "failed"),
        ((0, 0), (5, 5), (0, 0), "failed"),
    ],
)
def test_shared_answers_are_compared_and_new_ones_must_be_within_the_limit(before, now, new, found):
    (gate,) = parse_gates(["0.9"], [])
    before, now, new = (Summary(supported=good, irrelevant=bad) for good, bad in (before, now, new))
    assert gate.result(now + new, BaselineCounts(before, now, new, missing=3)).outcome == found


def test_a_comparison_is_undecided_if_unjudged_cases_decide_it():
    (gate,) = parse_gates(["1"], [])
    before = Summary(supported=6, irrelevant=4)
    for now, found in (
        (Summary(supported=6, irrelevant=3, failed=1), "passed"),
        (Summary(supported=5, irrelevant=4, failed=1), "undecided"),
        (Summary(supported=4, irrelevant=5, failed=1), "failed"),
    ):
        assert gate.result(now, BaselineCounts(before, now)).outcome == found


@pytest.mark.parametrize(
    ("before", "contradicted", "found"),
    [
        ({"contradicted": 1, "failed": 9}, 5, "undecided"),
        ({"contradicted": 1, "failed": 9}, 1, "passed"),
        ({"contradicted": 1, "supported": 5, "failed": 4}, 6, "failed"),
        ({"failed": 10}, 5, "undecided"),
    ],
)
def test_what_could_not_be_judged_in_the_baseline_excuses_nothing(before, contradicted, found):
    """The baseline's share was that of its one judged case, so that any run was no worse."""
    (gate,) = parse_gates([], ["contradicted=0"])
    now = Summary(contradicted=contradicted, supported=10 - contradicted)
    result = gate.result(now, BaselineCounts(Summary(**before), now))
    assert result.outcome == found
    assert f" and {before['failed']} that could not be judged; " in result.sentence
    assert ("no worse than baseline" in result.sentence) == (found == "passed")


def test_a_gate_on_supported_says_what_its_denominator_has():
    whole, cited = parse_gates(["0.9", "supported-citations=0.9"], [])
    plain = Summary(claims=8, uncited=3, citations=5, supported=5)
    told = whole.result(plain).sentence
    assert "supported 5 of 8" in told and "(0.625): 5 judged cases, 3 sentences that cite nothing;" in told
    assert cited.result(plain).outcome == "passed"
    assert "supported-citations 5 of 5 cases and dangling citations (1.000);" in cited.result(plain).sentence
    mixed = Summary(claims=8, uncited=1, citations=5, supported=2, abstained=1, dangling=2)
    kinds = "2 judged cases, 1 abstained, 2 dangling citations"
    assert f": {kinds}, 1 sentence that cites nothing;" in whole.result(mixed).sentence
    assert f"supported-citations 2 of 5 cases and dangling citations (0.400): {kinds};" in cited.result(mixed).sentence


def test_every_kind_of_finding_is_the_name_of_a_gate():
    assert set(RULES) <= set(GATE_SHARES)
    counts = Summary(citations=4, supported=4, figure=1, opposed=1, retracted=1)
    assert all(outcome(f"{name}=0.24", counts, over=True) == "failed" for name in ("figure", "opposed", "retracted"))
    assert all(outcome(f"{name}=0.25", counts, over=True) == "passed" for name in ("figure", "opposed", "retracted"))
