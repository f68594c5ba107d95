from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vericite.errors import InputError
from vericite.records import Document, Evidence, Question
from vericite.retrieve.retriever import RRF, Fused, fused

IDS = [f"d{number}" for number in range(8)]
RANKINGS = st.lists(st.permutations(IDS).flatmap(lambda ids: st.integers(0, 8).map(lambda n: ids[:n])), max_size=4)


def ranking(ids: list[str], name: str = "bm25") -> tuple[Evidence, ...]:
    return tuple(
        Evidence(
            document=Document.from_text(id, id),
            rank=rank,
            score=-float(rank),
            retriever=name,
            scores={name: -float(rank)},
        )
        for rank, id in enumerate(ids, start=1)
    )


class Fixed:
    def __init__(self, ids: list[str], name: str) -> None:
        self.signature = name
        self._found = ranking(ids, name)
        self.asked: list[int] = []

    def retrieve(self, question: Question, k: int) -> tuple[Evidence, ...]:
        self.asked.append(k)
        return self._found[:k]


@given(RANKINGS)
def test_a_documents_score_is_the_sum_of_its_reciprocal_ranks(rankings: list[list[str]]):
    found = fused([ranking(ids) for ids in rankings], len(IDS))
    for hit in found:
        ranks = [ids.index(hit.document.id) + 1 for ids in rankings if hit.document.id in ids]
        assert hit.score == pytest.approx(sum(1 / (RRF + rank) for rank in ranks))
    assert {hit.document.id for hit in found} == {id for ids in rankings for id in ids}
    assert [hit.rank for hit in found] == list(range(1, len(found) + 1))
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)


@given(st.permutations(IDS), st.integers(1, 8))
def test_a_ranking_fused_with_itself_keeps_its_order(ids: list[str], k: int):
    assert [hit.document.id for hit in fused([ranking(ids)] * 3, k)] == ids[:k]


def test_a_document_keeps_the_scores_of_all_its_rankings():
    found = fused([ranking(["a", "b"]), ranking(["b", "c"], "dense")], 3, "rrf-2")
    assert {hit.document.id: set(hit.scores) for hit in found} == {
        "a": {"bm25"},
        "b": {"bm25", "dense"},
        "c": {"dense"},
    }
    assert found[0].document.id == "b"
    assert {hit.retriever for hit in found} == {"rrf-2"}


def test_each_retriever_is_asked_for_the_depth_of_the_fusion():
    one, other = Fixed(["a", "b", "c"], "one"), Fixed(["c", "a"], "other")
    both = Fused([one, other], depth=2)
    assert [hit.document.id for hit in both.retrieve(Question(id="q", text="?"), 1)] == ["a"]
    assert one.asked == other.asked == [2]
    both.retrieve(Question(id="q", text="?"), 5)
    assert one.asked[-1] == 5
    assert both.signature == "rrf10@2(one, other)"


def test_nothing_to_fuse_is_an_error():
    with pytest.raises(InputError, match="at least one retriever"):
        Fused([])
