from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vericite.errors import InputError
from vericite.evaluate.gates import GATE_SHARES, Gate, overall, parse_gates
from vericite.records import Summary

COUNTS = Summary(claims=10, uncited=2, citations=9, supported=6, contradicted=1, irrelevant=1, dangling=1, abstained=0)


def outcome(gate: str, counts: Summary = COUNTS, over: bool = False) -> str:
    (one,) = parse_gates([] if over else [gate], [gate] if over else [])
    return one.result(counts).outcome


def test_a_number_alone_is_the_supported_share_of_all_that_ought_to_be_supported():
    (gate,) = parse_gates(["0.9"], [])
    assert gate == Gate("supported", 0.9, is_minimum=True)
    result = gate.result(COUNTS)
    assert (result.count, result.of) == (6, 8 + 1 + 2)
    assert "supported 6 of 11" in result.sentence and "--fail-under supported=0.9" in result.sentence


def test_several_gates_come_in_one_text_or_in_several():
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
def test_each_share_is_of_what_check_prints(gate, over, found):
    assert outcome(gate, over=over) == found


def test_cases_that_could_not_be_judged_leave_a_gate_undecided_where_they_may_make_the_difference():
    counts = Summary(claims=10, citations=10, supported=8, failed=2)
    assert outcome("0.8", counts) == "passed"
    assert outcome("0.9", counts) == "undecided"
    assert outcome("0.9", counts.model_copy(update={"supported": 5, "contradicted": 3})) == "failed"
    assert outcome("contradicted=0", counts, over=True) == "undecided"
    assert outcome("contradicted=0.2", counts, over=True) == "passed"
    assert outcome("failed=0.1", counts, over=True) == "failed"


def test_a_share_of_nothing_reaches_no_minimum_and_exceeds_no_maximum():
    assert outcome("0", Summary()) == "failed"
    assert outcome("contradicted=0", Summary(), over=True) == "passed"


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
def test_what_is_no_gate_is_refused_with_the_form_that_is(under, over, told):
    with pytest.raises(InputError, match=told):
        parse_gates(under, over)


numbers = st.integers(0, 20)


@given(numbers, numbers, numbers, numbers, st.sampled_from(sorted(GATE_SHARES)), st.floats(0, 1), st.booleans())
def test_an_outcome_is_certain_whatever_the_unjudged_cases_would_have_been(
    supported, contradicted, irrelevant, failed, name, limit, minimum
):
    """A gate that passes or fails does so for every way in which the unjudged cases could have been judged."""
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


def test_the_worst_outcome_stands_for_all():
    results = [gate.result(COUNTS) for gate in parse_gates(["0.1"], ["contradicted=0"])]
    assert overall(results) == "failed" and overall(results[:1]) == "passed" and overall([]) == "passed"
