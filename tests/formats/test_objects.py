"""Documents and answers of other libraries, in memory; the classes here have the shapes of theirs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

import vericite as vc
from vericite.formats.objects import as_answer, as_documents, plain

WORDS = "Zinc shortened colds by two days."


class LangChainDocument(BaseModel):
    page_content: str
    metadata: dict[str, Any] = {}
    id: str | None = None
    type: str = "Document"


class TextNode(BaseModel):
    id_: str = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"
    text: str
    metadata: dict[str, Any] = {}

    @property
    def node_id(self) -> str:
        return self.id_

    def get_content(self) -> str:
        return self.text


class NodeWithScore(BaseModel):
    node: TextNode
    score: float | None = None

    def get_content(self) -> str:
        return self.node.get_content()

    @property
    def metadata(self) -> dict[str, Any]:
        return self.node.metadata

    @property
    def node_id(self) -> str:
        return self.node.node_id


@dataclass
class HaystackDocument:
    content: str
    id: str = "h1"
    meta: dict[str, Any] = field(default_factory=dict)
    embedding: object = None


@dataclass
class Response:
    response: str
    source_nodes: list[NodeWithScore]
    metadata: dict[str, Any] | None = None


class Sample(BaseModel):
    user_input: str
    response: str
    retrieved_contexts: list[str]


DOCUMENTS: dict[str, tuple[object, str]] = {
    "a text": (WORDS, "document-1"),
    "a mapping": ({"id": "a", "text": WORDS}, "a"),
    "a mapping without an id": ({"text": WORDS, "title": "Zinc"}, "document-1"),
    "our own": (vc.Document.from_text("own", WORDS), "own"),
    "LangChain's": (LangChainDocument(page_content=WORDS, metadata={"source": "z.pdf"}), "z.pdf"),
    "LangChain's from PubMed": (LangChainDocument(page_content=WORDS, metadata={"uid": "99000001"}), "99000001"),
    "LlamaIndex's node": (TextNode(text=WORDS, metadata={"file_name": "z.txt"}), "z.txt"),
    "LlamaIndex's node with a score": (
        NodeWithScore(node=TextNode(text=WORDS, metadata={"pmid": "99000001"})),
        "99000001",
    ),
    "Haystack's": (HaystackDocument(WORDS, embedding=object()), "h1"),
}


@pytest.mark.parametrize(("given", "id"), DOCUMENTS.values(), ids=DOCUMENTS)
def test_a_document_is_read_by_its_shape(given: object, id: str):
    (document,) = as_documents([given])
    assert (document.id, document.text) == (id, WORDS)


ANSWER = "Zinc shortens colds [1]."
ANSWERS: dict[str, Callable[[], object]] = {
    "a chain's result": lambda: {"input": "?", "answer": ANSWER, "context": [LangChainDocument(page_content=WORDS)]},
    "a LlamaIndex response": lambda: Response(ANSWER, [NodeWithScore(node=TextNode(text=WORDS), score=0.7)]),
    "a ragas sample": lambda: Sample(user_input="?", response=ANSWER, retrieved_contexts=[WORDS]),
    "a Haystack answer": lambda: SimpleNamespace(data=ANSWER, query="?", documents=[HaystackDocument(WORDS)], meta={}),
    "a record of check": lambda: {"answer": ANSWER, "documents": [{"id": "a", "text": WORDS}]},
}


@pytest.mark.parametrize("made", ANSWERS.values(), ids=ANSWERS)
def test_an_answer_is_read_with_its_sources(made: Callable[[], object]):
    answer = as_answer(made())
    assert answer.text == ANSWER
    assert [document.text for document in answer.documents] == [WORDS]
    assert [citation.document for citation in answer.claims[0].citations] == [answer.documents[0].id]


@pytest.mark.parametrize(
    "given",
    [3, object(), ["text"], LangChainDocument(page_content=WORDS)],
    ids=["a number", "an object", "a list", "a document"],
)
def test_other_objects_than_answers_are_refused(given: object):
    with pytest.raises(vc.InputError, match="expected"):
        as_answer(given)


def test_objects_that_hold_each_other_end():
    one: dict[str, object] = {}
    one["self"] = one
    assert plain(one) is not None


def test_values_without_a_plain_form_become_none():
    assert plain({"client": object(), "kind": int, "of": {3: (1, 2)}}) == {
        "client": None,
        "kind": None,
        "of": {"3": [1, 2]},
    }
