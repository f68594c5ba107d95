from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from vericite.errors import InputError
from vericite.pipeline.search import Rewrite, Search
from vericite.records import Document, Evidence, Question
from vericite.retrieve.rerank import Rerank
from vericite.retrieve.rewrite import Trigger

ASPIRIN = Question(id="q", text="Does aspirin prevent stroke?")


class Shelf:
    """Finds the documents that a query's first word names, in a fixed order."""

    signature = "shelf"

    def __init__(self, **shelves: Sequence[Document]) -> None:
        self._shelves = shelves
        self.asked: list[tuple[str, int]] = []

    def retrieve(self, question: Question, k: int) -> tuple[Evidence, ...]:
        self.asked.append((question.text, k))
        found = self._shelves.get(question.text.split()[0].lower(), ())
        return tuple(
            Evidence(document=document, rank=rank, score=1 / rank, retriever="shelf")
            for rank, document in enumerate(found[:k], start=1)
        )


class Marks:
    """Gives every text the mark that is written in it, as in "0.7 aspirin"."""

    signature = "marks"

    def relevance(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([float(text.split()[0]) for text in texts], dtype=np.float32)


class Says:
    signature = "says"

    def __init__(self, query: str | None) -> None:
        self._query = query
        self.asked = 0

    def rewrite(self, question: str, evidence: Sequence[Document]) -> str | None:
        self.asked += 1
        return self._query


def document(id: str, text: str, retracted: bool = False) -> Document:
    return Document.from_text(id, text).model_copy(update={"retracted": retracted})


POOR = [document("a", "0.2 knees"), document("b", "0.1 hips")]
GOOD = [document("c", "0.9 aspirin prevents stroke"), document("d", "0.8 aspirin")]


def ids(found: Sequence[Evidence]) -> list[str]:
    return [hit.document.id for hit in found]


def search(query: str | None, keep: str = "better", rerank: bool = True, **shelves: Sequence[Document]) -> Search:
    trigger = Trigger(best=2) if rerank else Trigger(relevance=0)
    rewrite = Rewrite(Says(query), trigger, keep)  # pyright: ignore[reportArgumentType]
    return Search(Shelf(**shelves), Rerank(Marks(), prior=0) if rerank else None, rewrite)


def test_without_stages_it_is_the_retriever():
    shelf = Shelf(does=GOOD)
    found = Search(shelf).find(ASPIRIN, 1)
    assert ids(found.evidence) == ["c"]
    assert found.rewriting is None
    assert set(found.seconds) == {"retrieve"}
    assert shelf.asked == [(ASPIRIN.text, 1)]


def test_more_candidates_are_retrieved_than_are_wanted_and_the_best_of_them_given():
    shelf = Shelf(does=[*POOR, *GOOD])
    found = Search(shelf, Rerank(Marks(), candidates=20, prior=0)).find(ASPIRIN, 2)
    assert shelf.asked == [(ASPIRIN.text, 20)]
    assert ids(found.evidence) == ["c", "d"]
    assert [hit.rank for hit in found.evidence] == [1, 2]
    assert set(found.seconds) == {"retrieve", "rerank"}


def test_good_evidence_is_not_searched_for_again():
    one = search("nothing", does=GOOD)
    found = one.find(ASPIRIN, 2)
    assert found.rewriting is not None
    assert not found.rewriting.fired
    assert (found.rewriting.query, found.rewriting.by) == (None, None)
    assert one.rewrite is not None
    assert one.rewrite.rewriter.asked == 0  # pyright: ignore[reportAttributeAccessIssue]


def test_poor_evidence_is_searched_for_again_in_other_words_and_the_better_kept():
    found = search("acetylsalicylic acid", does=POOR, acetylsalicylic=GOOD).find(ASPIRIN, 2)
    assert ids(found.evidence) == ["c", "d"]
    told = found.rewriting
    assert told is not None
    assert told.fired
    assert told.kept
    assert told.query == "acetylsalicylic acid"
    assert told.relevance == pytest.approx(0.15)
    assert told.again is not None
    assert told.again[1] == pytest.approx(0.85)
    assert len(told.reasons) == 2
    assert set(found.seconds) == {"retrieve", "rerank", "rewrite"}


@pytest.mark.parametrize(("keep", "expected"), [("better", ["a", "b"]), ("new", ["e"])])
def test_worse_evidence_takes_the_place_only_where_the_new_is_always_kept(keep: str, expected: list[str]):
    worse = [document("e", "0.05 elbows")]
    found = search("elbows now", keep, does=POOR, elbows=worse).find(ASPIRIN, 2)
    assert ids(found.evidence) == expected
    assert found.rewriting is not None
    assert found.rewriting.kept == (keep == "new")


@pytest.mark.parametrize("keep", ["better", "new"])
def test_other_words_that_find_nothing_leave_the_evidence_as_it_was(keep: str):
    found = search("nowhere", keep, does=POOR).find(ASPIRIN, 2)
    assert ids(found.evidence) == ["a", "b"]
    assert found.rewriting is not None
    assert not found.rewriting.kept


def test_a_missing_rewriting_is_recorded():
    found = search(None, does=POOR).find(ASPIRIN, 2)
    assert found.rewriting is not None
    assert (found.rewriting.fired, found.rewriting.query, found.rewriting.by) == (True, None, "says")


def test_without_a_reranker_the_evidence_that_covers_more_is_kept():
    found = search("acetylsalicylic acid", rerank=False, does=POOR, acetylsalicylic=GOOD).find(ASPIRIN, 2)
    assert ids(found.evidence) == ["c", "d"]
    assert found.rewriting is not None
    assert found.rewriting.relevance is None


def test_nothing_found_fires_too():
    found = search("acetylsalicylic acid", acetylsalicylic=GOOD).find(ASPIRIN, 2)
    assert ids(found.evidence) == ["c", "d"]


@settings(max_examples=50)
@given(st.lists(st.booleans(), max_size=30), st.integers(1, 6))
def test_retracted_documents_are_shown_at_their_rank_and_take_no_place(retracted: list[bool], k: int):
    shelf = Shelf(does=[document(str(place), "x", withdrawn) for place, withdrawn in enumerate(retracted)])
    found = Search(shelf).find(ASPIRIN, k)
    usable = [hit for hit in found.evidence if not hit.document.retracted]
    assert len(usable) == min(k, retracted.count(False))
    assert ids(found.evidence) == [str(place) for place in range(len(found.evidence))]
    if len(usable) == k:
        assert not found.evidence[-1].document.retracted
    if not usable:
        assert len(found.evidence) == min(k, len(retracted))
    assert [hit.document.retracted for hit in found.usable_first] == sorted(
        hit.document.retracted for hit in found.evidence
    )


def test_retracted_documents_in_front_do_not_keep_usable_ones_from_being_read():
    withdrawn = [document(f"w{place}", "0.5 x", retracted=True) for place in range(30)]
    shelf = Shelf(does=[*withdrawn, *POOR, *GOOD])
    found = Search(shelf, Rerank(Marks(), candidates=5, prior=0)).find(ASPIRIN, 2)
    assert [hit.document.id for hit in found.usable_first[:2]] == ["c", "d"]
    assert [hit.document.id for hit in found.evidence[:30]] == [hit.id for hit in withdrawn]


def test_retracted_documents_do_not_make_evidence_good():
    withdrawn = [document("w", "0.9 aspirin prevents stroke", retracted=True), *POOR]
    found = search("nowhere", does=withdrawn).find(ASPIRIN, 2)
    assert ids(found.evidence) == ["w", "a", "b"]
    assert found.rewriting is not None
    assert found.rewriting.fired


def test_no_documents_wanted_is_an_error():
    with pytest.raises(InputError, match="to be 1 or more; found 0"):
        Search(Shelf()).find(ASPIRIN, 0)


class Heard(Marks):
    """Remembers what it ranked by."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def relevance(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked.append(question)
        return super().relevance(question, texts)


@pytest.mark.parametrize(("rerank_by", "second"), [("question", ASPIRIN.text), ("rewriting", "acetylsalicylic acid")])
def test_the_second_search_is_ranked_again_by_the_question_or_by_the_words_that_found_it(rerank_by, second):
    heard = Heard()
    rewrite = Rewrite(Says("acetylsalicylic acid"), Trigger(best=5), "new", rerank_by)
    made = Search(Shelf(does=POOR, acetylsalicylic=GOOD), Rerank(heard, prior=0), rewrite)
    assert ids(made.find(ASPIRIN, 2).evidence) == ["c", "d"]
    assert heard.asked == [ASPIRIN.text, second]
    assert ("rerank_by=rewriting" in made.parts["rewriter"]) == (rerank_by == "rewriting")


def test_every_stage_is_in_the_provenance():
    assert search("x").parts == {
        "retriever": "shelf",
        "reranker": "rerank20(marks, prior=0)",
        "rewriter": "says, trigger.v1(coverage=0.3, relevance=0.5, best=2), keep=better",
    }
    assert Search(Shelf()).parts == {"retriever": "shelf"}
