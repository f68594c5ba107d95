from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from vericite.errors import InputError
from vericite.records import Document, Evidence
from vericite.retrieve.rerank import Rerank


class Lengths:
    """Longer texts are more relevant."""

    signature = "lengths"

    def __init__(self) -> None:
        self.read: list[str] = []

    def relevance(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        self.read += texts
        return np.array([min(1.0, len(text) / 100) for text in texts], dtype=np.float32)


def evidence(*texts: str) -> tuple[Evidence, ...]:
    return tuple(
        Evidence(
            document=Document.from_text(f"d{rank}", text), rank=rank, score=9.0, retriever="bm25", scores={"bm25": 9.0}
        )
        for rank, text in enumerate(texts, start=1)
    )


@given(st.lists(st.text("ab ", max_size=20), max_size=12), st.integers(1, 15), st.sampled_from([0.0, 2.0]))
def test_candidates_are_reordered_and_the_rest_keep_their_order(texts: list[str], candidates: int, prior: float):
    found = evidence(*texts)
    again = Rerank(Lengths(), candidates, prior)("q", found)
    assert [hit.rank for hit in again] == list(range(1, len(found) + 1))
    assert {hit.document.id for hit in again[:candidates]} == {hit.document.id for hit in found[:candidates]}
    assert [hit.document for hit in again[candidates:]] == [hit.document for hit in found[candidates:]]
    scores = [hit.score for hit in again[:candidates]]
    assert scores == sorted(scores, reverse=True)
    assert all("rerank" not in hit.scores for hit in again[candidates:])


def test_equal_scores_keep_the_order():
    again = Rerank(Lengths(), prior=0)("q", evidence("aa", "bb", "ccc", "dd"))
    assert [hit.document.id for hit in again] == ["d3", "d1", "d2", "d4"]


def test_previous_scores_and_retriever_are_kept():
    hit = Rerank(Lengths())("q", evidence("aa"))[0]
    assert hit.scores == {"bm25": 9.0, "rerank": pytest.approx(0.02)}
    assert hit.retriever == "bm25, reranked"
    assert hit.score == pytest.approx(np.log(0.02 / 0.98), rel=1e-5)


def test_the_previous_rank_counts_by_its_weight():
    found = evidence("a" * 50, "a" * 60, "a" * 99)
    assert [hit.document.id for hit in Rerank(Lengths(), prior=0)("q", found)] == ["d3", "d2", "d1"]
    assert [hit.document.id for hit in Rerank(Lengths(), prior=2)("q", found)] == ["d3", "d1", "d2"]
    assert [hit.document.id for hit in Rerank(Lengths(), prior=50)("q", found)] == ["d1", "d2", "d3"]


@pytest.mark.parametrize("prior", [-1.0, float("nan"), float("inf")])
def test_an_invalid_prior_is_an_error(prior: float):
    with pytest.raises(InputError, match="prior of 0 or more"):
        Rerank(Lengths(), prior=prior)


def test_a_title_is_read_with_its_text():
    lengths = Lengths()
    document = Document.from_text("d", "Text.", "Title.")
    Rerank(lengths)("q", [Evidence(document=document, rank=1, score=1, retriever="bm25")])
    assert lengths.read == ["Title. Text."]


def test_no_candidates_are_an_error():
    with pytest.raises(InputError, match="candidates of at least 1"):
        Rerank(Lengths(), 0)
