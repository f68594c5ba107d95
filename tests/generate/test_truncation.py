from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vericite.generate.prompt import Shown, token_bound, truncate_evidence
from vericite.records import Document, Evidence

SENTENCES = st.lists(st.integers(1, 30), max_size=6)


def found(lengths: list[list[int]], ranks: list[int] | None = None, retracted: frozenset[int] = frozenset()):
    """Evidence whose documents have sentences of so many words."""
    hits = []
    for place, sentences in enumerate(lengths):
        text = " ".join(" ".join(["Word", *["word"] * count]) + "." for count in sentences)
        document = Document.from_text(f"d{place + 1}", text, f"Title {place + 1}")
        document = document.model_copy(update={"retracted": place in retracted})
        rank = ranks[place] if ranks else place + 1
        hits.append(Evidence(document=document, rank=rank, score=1.0, retriever="test"))
    return hits


def tokens(documents: tuple[Shown, ...]) -> int:
    return sum(token_bound(f"{document.text}\n") for document in documents)


@given(st.lists(SENTENCES, max_size=5), st.integers(-10, 400), st.frozensets(st.integers(0, 4)))
def test_the_room_is_never_exceeded_and_numbers_are_those_of_the_evidence(lengths, room, retracted):
    evidence = found(lengths, retracted=retracted)
    fit = truncate_evidence(evidence, room)
    assert tokens(fit.shown) <= max(room, 0)
    for document in fit.shown:
        source = evidence[document.number - 1].document
        assert not source.retracted
        assert document.sentences == Shown.of(source, document.number).sentences[: len(document.sentences)]
        assert document.sentences


@given(st.lists(SENTENCES, max_size=5), st.integers(0, 400), st.randoms(use_true_random=False))
def test_the_lowest_ranked_lose_their_last_sentences_first(lengths, room, chance):
    ranks = list(range(1, len(lengths) + 1))
    chance.shuffle(ranks)
    evidence = found(lengths, ranks)
    fit = truncate_evidence(evidence, room)
    kept = {document.number: len(document.sentences) for document in fit.shown}
    trimmed = {item.document: (item.shown, item.sentences) for item in fit.trimmed}
    by_rank = sorted(range(1, len(lengths) + 1), key=lambda number: ranks[number - 1])
    cut = False
    for number in by_rank:
        whole = len(lengths[number - 1])
        left = kept.get(number, 0)
        assert trimmed.get(f"d{number}") == (None if left == whole else (left, whole))
        # Behind the first that lost something nobody has anything left.
        assert not cut or left == 0
        cut = cut or left < whole


@given(st.lists(SENTENCES, min_size=1, max_size=4))
def test_no_more_is_cut_than_there_must_be(lengths):
    evidence = found(lengths)
    whole = truncate_evidence(evidence, 10_000)
    assert whole.trimmed == ()
    assert truncate_evidence(evidence, tokens(whole.shown)) == whole
    if whole.shown:
        less = truncate_evidence(evidence, tokens(whole.shown) - 1)
        assert sum(item.sentences - item.shown for item in less.trimmed) >= 1


def test_a_document_without_sentences_is_neither_shown_nor_trimmed():
    empty = Evidence(document=Document.from_text("e", "", "A title"), rank=1, score=1.0, retriever="test")
    fit = truncate_evidence([empty, *found([[3]])], 1000)
    assert [document.number for document in fit.shown] == [2]
    assert fit.trimmed == ()


def test_other_scripts_are_reckoned_by_their_bytes():
    assert token_bound("阿司匹林") >= 8
    assert token_bound("a" * 30) == 11
