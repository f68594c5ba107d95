"""Judges from elsewhere: what they get wrong costs a pair or is said of them, and is never a verdict."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vericite.errors import InputError, PluginError
from vericite.models import Pair
from vericite.records import Document
from vericite.text.citations import parse_answer
from vericite.verify import Judgement, Protocol, Verifier
from vericite.verify.judging import MemoizedJudge, ask

PAIRS = [Pair("Aspirin lowered fever.", "Aspirin helps."), Pair("It was cheap.", "Aspirin helps.")]


class Giving:
    signature = "giving.v1"

    def __init__(self, *given: Any) -> None:
        self.given = given

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Any]:
        list(pairs)
        for item in self.given:
            if isinstance(item, Exception):
                raise item
            yield item


def floats(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float32)


NO_PROBABILITIES = [
    floats(0, 0, 0),
    floats(5, -3, -1),
    floats(1),
    floats(0.5, 0.5),
    np.float32(1),
    [1.0, 0.0, 0.0],
    floats(np.nan, 0.5, 0.5),
    floats(np.inf, 0, 0),
    np.array(["a", "b", "c"]),
    np.array([1, 0, 0]),
    None,
]


@pytest.mark.parametrize("given", NO_PROBABILITIES, ids=repr)
def test_what_are_no_probabilities_is_a_failure_and_costs_its_pair_alone(given: Any):
    first, second = ask(Giving(Judgement(given), Judgement(floats(0.7, 0.2, 0.1))), PAIRS)
    assert "no three probabilities" in (first.failure or "")
    assert second.failure is None


def test_it_is_never_a_verdict():
    answer = parse_answer("a", "Aspirin helps [1].", [Document.from_text("d", "Aspirin lowered fever.")])
    found = next(Verifier(Protocol(judge=Giving(Judgement(floats(5, -3, -1))))).verify([answer]))
    assert (found.verdicts, found.summary.failed) == ((), 1)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ((Judgement(floats(1, 0, 0)),), "found 1"),
        ((Judgement(floats(1, 0, 0)),) * 3, "found 3"),
        ((), "found 0"),
        ((ZeroDivisionError("by zero"),), "ZeroDivisionError: by zero"),
        ((floats(1, 0, 0), floats(1, 0, 0)), "expected judgements"),
        ((None, None), "expected judgements"),
    ],
)
def test_a_judge_that_does_not_do_its_work_is_named(given: tuple[Any, ...], found: str):
    with pytest.raises(PluginError, match=r"giving\.v1") as caught:
        ask(Giving(*given), PAIRS)
    assert found in str(caught.value)


def test_our_own_errors_pass():
    with pytest.raises(InputError, match="no luck"):
        ask(Giving(InputError("no luck")), PAIRS)


@given(st.lists(st.floats(0, 1, width=32), min_size=3, max_size=3).filter(lambda row: sum(row) > 0.01))
def test_probabilities_pass_as_they_are(row: list[float]):
    values = floats(*row) / np.float32(sum(row))
    (found,) = ask(Giving(Judgement(values)), PAIRS[:1])
    assert found.failure is None
    assert found.probabilities is values


def test_no_pairs_are_not_asked():
    assert ask(Giving(RuntimeError("asked")), []) == []


def test_a_memoized_judge_keeps_its_judgements_while_another_request_forgets_them():
    """The service's requests share a repairer: one that ends while another asks must not cost it its pairs."""

    class Interrupted(Giving):
        def judge(self, pairs: Iterable[Pair]) -> Iterator[Any]:
            if (wanted := list(pairs)) == PAIRS[1:]:
                memoized.forget()
            return iter([Judgement(floats(0.7, 0.2, 0.1)) for _ in wanted])

    memoized = MemoizedJudge(Interrupted())
    (first,) = memoized.judge(PAIRS[:1])
    both = list(memoized.judge(PAIRS))
    assert both[0] is first and len(both) == 2


def test_a_judge_without_probabilities_cannot_be_held_to_a_bar():
    class Labelling(Giving):
        graded = False

    with pytest.raises(InputError, match="only returns labels"):
        Verifier(Protocol(judge=Labelling(), abstain_below=0.5))
