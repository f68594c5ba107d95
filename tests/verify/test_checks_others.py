"""The checks on cases that others wrote: how many broken claims they catch, and how few sound ones they flag."""

import json
from pathlib import Path

import pytest

from vericite.verify.checks import findings

# file: least share of the broken caught, greatest share of the sound flagged
# the checks were tuned on both files, so neither tells what to expect of texts not seen before
FLOORS = {"check_cases_a.jsonl": (0.9, 0.03), "check_cases_b.jsonl": (0.9, 0.03)}


@pytest.mark.parametrize("name", FLOORS)
def test_the_broken_are_caught_and_the_sound_let_through(name: str):
    lines = (Path(__file__).parent / name).read_text("utf-8").splitlines()
    told = {True: [0, 0], False: [0, 0]}
    for case in map(json.loads, lines):
        told[case["sound"]][0] += bool(findings(case["claim"], case["premise"]))
        told[case["sound"]][1] += 1
    least, most = FLOORS[name]
    caught, flagged = told[False][0] / told[False][1], told[True][0] / told[True][1]
    assert caught >= least
    assert flagged <= most
