"""Retrieval in memory: BM25's formula, the fusion, and recall of gold documents on the demo corpus."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vericite.corpus import demo_documents, demo_questions, demo_vectors
from vericite.corpus.store.contract import Filters
from vericite.models import Embedder
from vericite.records import Document, Evidence, Question
from vericite.retrieve.local import BM25, K1, B, MemoryRetriever
from vericite.retrieve.retriever import RRF, Way
from vericite.text.terms import terms


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return Embedder()


@pytest.fixture(scope="module")
def demo(embedder: Embedder) -> MemoryRetriever:
    return MemoryRetriever(demo_documents(), embedder, demo_vectors())


@pytest.fixture(scope="module")
def found(demo: MemoryRetriever) -> list[tuple[Question, list[str]]]:
    """Each demo question with the ids of its first ten documents."""
    return [(question, [hit.document.id for hit in demo.retrieve(question, 10)]) for question in demo_questions()]


def ask(text: str) -> Question:
    return Question(id="q", text=text)


def recall(found: list[tuple[Question, list[str]]], depth: int) -> float:
    return float(
        np.mean([np.mean([gold in ids[:depth] for gold in question.gold_documents]) for question, ids in found])
    )


def test_the_gold_documents_are_among_the_first_five(found: list[tuple[Question, list[str]]]):
    at = {depth: recall(found, depth) for depth in (1, 3, 5, 10)}
    print("recall", {depth: round(value, 4) for depth, value in at.items()})
    assert at[5] >= 0.95
    assert at[10] >= at[5] >= at[3] >= at[1]


def test_the_first_document_is_nearly_always_a_gold_document(found: list[tuple[Question, list[str]]]):
    ranks = [
        next((rank for rank, id in enumerate(ids, start=1) if id in question.gold_documents), math.inf)
        for question, ids in found
    ]
    reciprocal = float(np.mean([1 / rank for rank in ranks]))
    print("MRR@10", round(reciprocal, 4))
    assert reciprocal >= 0.85


def test_bm25_scores_by_its_formula():
    texts = ["aspirin aspirin stroke", "aspirin fever", "vitamin bone fracture rate"]
    average = (3 + 2 + 4) / 3

    def part(times: int, length: int, having: int) -> float:
        rarity = math.log(1 + (3 - having + 0.5) / (having + 0.5))
        return rarity * times / (times + K1 * (1 - B + B * length / average))

    assert (K1, B) == (1.2, 0.75)
    assert BM25(texts).scores("aspirin for a stroke") == pytest.approx(
        [part(2, 3, 2) + part(1, 3, 1), part(1, 2, 2), 0.0], rel=1e-5
    )
    # By hand: log(1 + 1.5 / 2.5) * 2 / (2 + 1.2) + log(1 + 2.5 / 1.5) / (1 + 1.2), every length being 3.
    assert BM25(["aspirin aspirin stroke", "aspirin fever now", "vitamin bone rate"]).scores("aspirin stroke")[
        0
    ] == pytest.approx(0.470004 * 0.625 + 0.980829 / 2.2, rel=1e-5)


def test_bm25_scores_0_without_a_common_term():
    assert list(BM25(["aspirin fever", "vitamin"]).scores("tungsten boiling")) == [0.0, 0.0]
    assert list(BM25(["aspirin fever", "vitamin"]).scores("what is the")) == [0.0, 0.0]
    assert list(BM25(["aspirin fever", "vitamin"]).scores("")) == [0.0, 0.0]


def test_bm25_finds_nothing_in_no_or_empty_texts():
    assert list(BM25([]).scores("aspirin")) == []
    assert list(BM25(["", "  "]).scores("aspirin")) == [0.0, 0.0]


def test_a_repeated_term_counts_once():
    index = BM25(["aspirin fever", "vitamin"])
    assert list(index.scores("aspirin aspirin")) == list(index.scores("aspirin"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The risks of Strokes", ["risk", "stroke"]),
        ("diagnosis, virus, mass", ["diagnosis", "virus", "mass"]),
        ("COVID-19 and IL-6", ["covid", "19", "il", "6"]),
        ("β-blockers", ["β", "blocker"]),
        ("gas", ["gas"]),
        ("is it the", []),
    ],
)
def test_terms_are_words_without_case_plural_and_stopwords(text: str, expected: list[str]):
    assert terms(text) == expected


WORDS = st.lists(st.sampled_from("aspirin stroke fever bone vitamin rate".split()), max_size=8).map(" ".join)


@given(st.lists(WORDS, min_size=1, max_size=6), WORDS)
def test_bm25_scores_are_positive_exactly_with_a_common_term(texts: list[str], query: str):
    scores = BM25(texts).scores(query)
    shared = [bool(set(terms(text)) & set(terms(query))) for text in texts]
    assert [bool(score > 0) for score in scores] == shared
    assert scores.min() >= 0


def documents(*texts: str) -> list[Document]:
    return [Document.from_text(f"d{number}", text) for number, text in enumerate(texts)]


def ids(hits: tuple[Evidence, ...]) -> list[str]:
    return [hit.document.id for hit in hits]


def test_the_best_by_words_and_by_meaning_comes_first(embedder: Embedder):
    corpus = documents("Cheese is made from milk.", "Aspirin lowers fever.", "Bones need vitamin D.")
    hits = MemoryRetriever(corpus, embedder).retrieve(ask("Does aspirin lower fever?"), 3)
    assert ids(hits)[0] == "d1"
    assert hits[0].score == pytest.approx(2 / (RRF + 1))
    assert hits[0].scores["bm25"] > 0
    assert [hit.rank for hit in hits] == [1, 2, 3]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_a_document_without_a_common_term_is_ranked_by_meaning_only(embedder: Embedder):
    corpus = documents("Cheese is made from milk.", "Antipyretic drugs cool a feverish child.")
    hits = MemoryRetriever(corpus, embedder).retrieve(ask("paracetamol versus high temperature"), 2)
    assert ids(hits) == ["d1", "d0"]
    assert [hit.scores["bm25"] for hit in hits] == [0.0, 0.0]
    assert [hit.score for hit in hits] == pytest.approx([1 / (RRF + 1), 1 / (RRF + 2)])


def test_at_most_k_documents_are_returned(demo: MemoryRetriever):
    question = demo_questions()[0]
    assert [len(demo.retrieve(question, k)) for k in (0, 1, 7, 150, 500)] == [0, 1, 7, 150, 150]
    assert ids(demo.retrieve(question, 500))[:7] == ids(demo.retrieve(question, 7))
    assert len(set(ids(demo.retrieve(question, 500)))) == 150


def test_nothing_is_found_in_an_empty_corpus(embedder: Embedder):
    assert MemoryRetriever([], embedder).retrieve(ask("aspirin"), 5) == ()


def test_identical_documents_keep_their_order(embedder: Embedder):
    corpus = documents(*["Aspirin lowers fever."] * 4)
    hits = MemoryRetriever(corpus, embedder).retrieve(ask("aspirin fever"), 4)
    assert ids(hits) == ["d0", "d1", "d2", "d3"]


def test_the_title_is_searched_too(embedder: Embedder):
    corpus = [
        Document.from_text("plain", "The trial was small."),
        Document.from_text("titled", "The trial was small.", title="Aspirin and fever"),
    ]
    assert ids(MemoryRetriever(corpus, embedder).retrieve(ask("aspirin fever"), 1)) == ["titled"]


def test_a_wrong_number_of_vectors_is_refused(embedder: Embedder):
    with pytest.raises(ValueError, match="expected 2 vectors, one for each document; found 3"):
        MemoryRetriever(documents("a", "b"), embedder, np.zeros((3, 384), dtype=np.float32))


@pytest.mark.parametrize("share", ["every fifth document", pytest.param("all", marks=pytest.mark.slow)])
def test_the_shipped_vectors_are_from_the_shipped_embedder(embedder: Embedder, share: str):
    shipped = demo_vectors()
    assert shipped.dtype == np.float32
    assert shipped.shape == (150, 384)
    step = 1 if share == "all" else 5
    made = embedder.embed([document.titled_text for document in demo_documents()[::step]])
    cosines = (shipped[::step] * made).sum(axis=1)
    print("least cosine", float(cosines.min()))
    assert cosines.min() > 0.999
    assert np.linalg.norm(shipped, axis=1) == pytest.approx(np.ones(150), abs=2e-3)


def test_the_signature_names_the_fusion_the_embedder_and_the_documents(demo: MemoryRetriever, embedder: Embedder):
    ranking, corpus = demo.signature.split(" over ")
    assert ranking == f"rrf10(bm25, dense({embedder.signature}))"
    assert corpus.startswith("150@")
    documents = demo_documents()
    assert MemoryRetriever(documents, by="bm25").signature == f"bm25 over {corpus}"
    edited = [documents[0].model_copy(update={"title": "Another"}), *documents[1:]]
    assert MemoryRetriever(edited, by="bm25").signature != f"bm25 over {corpus}"


@pytest.mark.parametrize("by", ["bm25", "dense", "hybrid"])
def test_a_filtered_index_ranks_as_one_of_the_passing_documents_alone(embedder: Embedder, by: Way):
    documents, vectors = demo_documents(), demo_vectors()
    shared = MemoryRetriever(documents, embedder, vectors, by)
    recent = Filters(year_from=2010)
    for part, filters in (
        (shared.passing(recent), recent),
        (shared.passing(recent).passing(Filters(year_to=2014)), Filters(year_from=2010, year_to=2014)),
        (shared.passing(Filters(journals=("none",))), Filters(journals=("none",))),
    ):
        rows = [row for row, document in enumerate(documents) if filters.passes(document)]
        alone = MemoryRetriever([documents[row] for row in rows], embedder, vectors[rows], by)
        assert part.signature == alone.signature
        assert (not rows) == bool(filters.journals) and len(rows) < len(documents)
        for question in demo_questions()[:5]:
            expected, found = alone.retrieve(question, 20), part.retrieve(question, 20)
            assert [hit.document.id for hit in found] == [hit.document.id for hit in expected]
            assert [hit.score for hit in found] == pytest.approx([hit.score for hit in expected])
    assert shared.passing(Filters()) is shared
