from __future__ import annotations

from vericite.corpus.store import Filters, open_store
from vericite.corpus.store.building import build_store
from vericite.corpus.store.contract import Source
from vericite.records import Document, Question
from vericite.retrieve.store import StoreRetriever

DOCUMENTS = [
    Document.from_text("good", "Zinc shortens colds.").model_copy(update={"year": 2020}),
    Document.from_text("withdrawn", "Zinc cures colds, colds and colds.").model_copy(update={"retracted": True}),
]


def test_retracted_documents_are_no_evidence_unless_asked_for(tmp_path):
    build_store(tmp_path / "s", [Source("made", "1", lambda: iter(DOCUMENTS))])
    store, question = open_store(tmp_path / "s"), Question(id="q", text="Does zinc help with colds?")
    assert [hit.document.id for hit in StoreRetriever(store).retrieve(question, 5)] == ["good"]
    asked = StoreRetriever(store, Filters(retracted=True))
    assert [hit.document.id for hit in asked.retrieve(question, 5)] == ["withdrawn"]
    assert "retracted" in asked.signature
