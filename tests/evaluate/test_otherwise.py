"""What benchmarks/otherwise.py counts with."""

from __future__ import annotations

import random
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from benchmark_modules import benchmark
from vericite.records import CheckedAnswer, Document, OtherSource
from vericite.verify import Verifier, get_protocol


@pytest.fixture
def otherwise(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    return benchmark("otherwise")


def test_two_citations_of_an_answer_are_swapped_and_the_others_stay(otherwise: ModuleType):
    documents = [Document.from_text(str(number), f"Finding {number} was made in adults.") for number in range(1, 5)]
    told = [(f"Finding {number} was made in adults.", number) for number in range(1, 5)]
    (made,) = otherwise._swapped("kind", [(documents, told)], random.Random(0))
    moved = {(right, cited) for _, right, cited in made.sentences if right != cited}
    assert len(made.sentences) == 4 and len(moved) == 2
    assert {right for right, _ in moved} == {cited for _, cited in moved}


def test_a_swap_is_named_only_with_the_right_source_alone(otherwise: ModuleType):
    documents = (Document.from_text("1", "Zinc helps."), Document.from_text("2", "Tea is warm."))
    made = otherwise.Swapped("kind", documents, (("Zinc helps", 1, 2), ("Tea is warm", 2, 1)))
    (checked,) = Verifier(get_protocol("default")).verify([made.answer])

    def named(*markers: int) -> dict[str, tuple[int, int]]:
        sources = tuple(OtherSource(document=str(marker), marker=marker) for marker in markers)
        verdicts = [
            verdict.model_copy(update={"label": "irrelevant", "supported_by": sources}) for verdict in checked.verdicts
        ]
        changed: CheckedAnswer = checked.model_copy(update={"verdicts": tuple(verdicts)})
        return otherwise.outcomes(made, changed)

    assert named(1)["named"] == (1, 2) and named(1)["wrong source"] == (1, 2)
    assert named(1, 2)["named"] == (0, 2)
    assert named()["no source"] == (2, 2)


def test_recall_counts_at_most_three_and_the_interval_is_of_the_mean(otherwise: ModuleType):
    assert otherwise.recall(frozenset("abcd"), ["a", "x", "b", "c"]) == pytest.approx(2 / 3)
    assert otherwise.recall(frozenset("a"), ["x", "a"]) == 1
    mean, low, high = otherwise.paired(np.array([0.0, 1.0] * 50))
    assert low < mean == 0.5 < high
