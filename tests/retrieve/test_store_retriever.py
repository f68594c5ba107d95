from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("lancedb")

from vericite.corpus import demo_documents
from vericite.corpus.store import Filters, Source, Store, build_store, open_store
from vericite.errors import InputError
from vericite.models import Embedder
from vericite.records import Document, Question
from vericite.retrieve.local import LateRetriever, StoreRetriever

DOCUMENTS = [
    Document.from_text("good", "Zinc shortens colds.", "Zinc"),
    Document.from_text("withdrawn", "Zinc shortens colds by a day.", "Zinc").model_copy(update={"retracted": True}),
    Document.from_text("near", "Trace metals abbreviate rhinovirus infections.", "Metals"),
    Document.from_text("far", "Knees are replaced by surgeons.", "Knees"),
]
ZINC = Question(id="q", text="Does zinc help with colds?")


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Store:
    place = tmp_path_factory.mktemp("words") / "s"
    build_store(place, [Source("made", "1", lambda: iter(DOCUMENTS))])
    return open_store(place)


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Store:
    place = tmp_path_factory.mktemp("vectors") / "s"
    build_store(place, [Source("made", "1", lambda: iter(DOCUMENTS))], vectors=True)
    return open_store(place)


def found(retriever: StoreRetriever, k: int = 5) -> list[str]:
    return [hit.document.id for hit in retriever.retrieve(ZINC, k)]


def test_retracted_documents_are_found_and_marked_unless_filtered_out(words: Store):
    hits = StoreRetriever(words).retrieve(ZINC, 5)
    assert {hit.document.id: hit.document.retracted for hit in hits} == {"good": False, "withdrawn": True}
    assert found(StoreRetriever(words, Filters(retracted=False))) == ["good"]
    assert found(StoreRetriever(words, Filters(retracted=True))) == ["withdrawn"]


def test_a_store_without_vectors_is_searched_by_words(words: Store):
    retriever = StoreRetriever(words)
    assert retriever.by == "bm25"
    assert "near" not in found(retriever)
    hit = retriever.retrieve(ZINC, 1)[0]
    assert (hit.rank, hit.retriever, hit.score) == (1, "bm25", hit.scores["bm25"])


def test_a_store_with_vectors_is_searched_by_both(vectors: Store):
    retriever = StoreRetriever(vectors)
    assert retriever.by == "hybrid"
    hits = {hit.document.id: hit for hit in retriever.retrieve(ZINC, 4)}
    assert set(hits) == {"good", "withdrawn", "near", "far"}
    assert set(hits["good"].scores) == {"bm25", "dense"}
    assert set(hits["near"].scores) == {"dense"}


def test_ranking_by_meaning_finds_documents_without_a_common_word(vectors: Store):
    assert found(StoreRetriever(vectors, by="dense"), 3)[-1] == "near"


def test_filters_also_apply_to_vectors(vectors: Store):
    only = Filters(retracted=False)
    assert "withdrawn" not in found(StoreRetriever(vectors, only, "dense"))
    assert "withdrawn" not in found(StoreRetriever(vectors, only, "hybrid"))


@pytest.mark.parametrize("by", ["dense", "hybrid"])
def test_missing_vectors_are_an_error_with_a_next_step(words: Store, by):
    with pytest.raises(
        InputError, match=r"found none\. Build the store again in another place with --vectors, or rank by bm25"
    ):
        StoreRetriever(words, by=by)


class Other:
    signature = "other@1"

    def embed(self, texts: Iterable[str]) -> NDArray[np.float32]:
        return np.ones((len(list(texts)), 384), dtype=np.float32)


def test_late_ranks_results_of_words_like_a_store_with_vectors(words: Store, vectors: Store, tmp_path: Path):
    late = LateRetriever(StoreRetriever(words), Embedder.shared(), file=tmp_path / "vectors.sqlite")
    hits = late.retrieve(ZINC, 5)
    assert {hit.document.id for hit in hits} == set(found(StoreRetriever(words)))
    stored = {hit.document.id: hit.scores for hit in StoreRetriever(vectors, by="hybrid").retrieve(ZINC, 5)}
    assert [hit.score for hit in hits] == sorted((hit.scores["dense"] for hit in hits), reverse=True)
    for hit in hits:
        assert set(hit.scores) == {"bm25", "dense"} and hit.retriever == "late"
        # Vectors are stored in two bytes a number.
        assert hit.scores["dense"] == pytest.approx(stored[hit.document.id]["dense"], abs=1e-3)
    assert late.retrieve(ZINC, 1) == hits[:1]
    assert late.retrieve(Question(id="q", text="xylophone"), 5) == ()
    assert late.signature.startswith("late@100(dense(") and words.signature in late.signature


def test_late_embeds_its_depth_and_keeps_the_rest_after_them(words: Store):
    every = StoreRetriever(words).retrieve(ZINC, 5)
    hits = LateRetriever(StoreRetriever(words), Embedder.shared(), depth=1).retrieve(ZINC, 5)
    assert [hit.document.id for hit in hits] == [hit.document.id for hit in every]
    assert ["dense" in hit.scores for hit in hits] == [True] + [False] * (len(hits) - 1)
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))


def test_late_never_embeds_a_document_twice(words: Store, tmp_path: Path):
    counting = Counting()
    late = LateRetriever(StoreRetriever(words), counting, file=tmp_path / "vectors.sqlite")
    assert late.retrieve(ZINC, 5) == late.retrieve(ZINC, 5)
    assert counting.calls.count(2) == 1 and counting.calls.count(1) == 2


class Counting:
    signature = "counting@1"

    def __init__(self) -> None:
        self.calls: list[int] = []

    def embed(self, texts: Iterable[str]) -> NDArray[np.float32]:
        self.calls.append(len(list(texts)))
        return np.ones((self.calls[-1], 384), dtype=np.float32)


def test_vectors_of_another_embedder_are_not_mixed_with_its_own(vectors: Store, caplog: pytest.LogCaptureFixture):
    assert StoreRetriever(vectors, embedder=Other()).by == "bm25"
    assert "found those of embedder-" in caplog.text
    assert "by words only. Build the store again in another place with --vectors." in caplog.text
    with pytest.raises(
        InputError, match=r"found those of embedder.*Build the store again in another place with --vectors"
    ):
        StoreRetriever(vectors, by="dense", embedder=Other())


def test_a_question_is_embedded_by_the_embedders_method_for_questions(vectors: Store):
    class Asks(Embedder):
        def embed_query(self, text: str) -> NDArray[np.float32]:
            return self.embed(["Knees are replaced by surgeons."])[0]

    assert found(StoreRetriever(vectors, by="dense"), 1) == ["good"]
    assert found(StoreRetriever(vectors, by="dense", embedder=Asks()), 1) == ["far"]


def test_ranking_by_words_gives_no_warning(words: Store, vectors: Store, caplog: pytest.LogCaptureFixture):
    assert StoreRetriever(words, embedder=Other()).by == "bm25"
    assert StoreRetriever(vectors, by="bm25", embedder=Other()).by == "bm25"
    assert not caplog.text


def test_the_signature_has_the_ranking_and_the_documents(words: Store, vectors: Store):
    assert StoreRetriever(words).signature == f"store-bm25(all) over {words.signature}"
    by = Embedder.shared().signature
    assert StoreRetriever(vectors, Filters(year_from=2000)).signature == (
        f"store-rrf10@100(bm25, dense({by}))(year >= 2000) over {vectors.signature}"
    )


def test_identical_stores_share_a_signature_until_one_is_written_to(tmp_path: Path):
    parts = [Source("a", "1", lambda: iter(demo_documents()[:20]))]
    for name in ("one", "other"):
        build_store(tmp_path / name, parts)
    one, other = open_store(tmp_path / "one"), open_store(tmp_path / "other")
    assert one.signature == other.signature and one.signature.startswith("20@")
    other.delete([demo_documents()[0].id])
    assert other.signature.startswith("19@")
