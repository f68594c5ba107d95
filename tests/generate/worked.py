"""Exemplars and questions for tests of demonstrations, and a model on loopback that reasons as it is told."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from server import Answering, Arrival, Behaviour, reply

from vericite.generate.demonstrations import Exemplar
from vericite.records import Document, Question

TRIAL = Document.from_text(
    "11", "Zinc shortened colds by 2 days in 120 adults. Nausea was more frequent with zinc.", "Zinc for colds"
)
REVIEW = Document.from_text(
    "12", "Vitamin C did not shorten colds in trained adults. It was tolerated well.", "Vitamin C"
)


class WordEmbedder:
    """Vectors by the words of a text alone: quick, and the same everywhere."""

    signature = "words.v1"

    def __init__(self) -> None:
        self.seen: list[str] = []

    def embed(self, texts: Iterable[str]) -> NDArray[np.float32]:
        found = list(texts)
        self.seen += found
        rows = np.stack([self._row(text) for text in found]) if found else np.zeros((0, 512))
        return rows.astype(np.float32)

    def _row(self, text: str) -> NDArray[np.float64]:
        row = np.full(512, 1e-3)
        for word in text.lower().split():
            row[int.from_bytes(hashlib.sha256(word.encode()).digest()[:2]) % 512] += 1
        return row / np.linalg.norm(row)


def exemplar(id: str, question: str = "", pmid: str = "", **fields: Any) -> Exemplar:
    pmid = pmid or str(int(hashlib.sha256(id.encode()).hexdigest()[:6], 16) + 1000)
    document = Document.from_text(pmid, "It did.").model_copy(update={"pmid": pmid})
    given: dict[str, Any] = {"answer": "It did [1].", **fields}
    return Exemplar(id=id, question=question or f"Does {id} work?", documents=(document,), **given)


def yes_no(id: str, text: str, label: str = "yes", document: Document = TRIAL) -> Question:
    ideal = f"{label.capitalize()}. {document.text}"
    return Question(
        id=id, text=text, type="yesno", gold_documents=(document.id,), gold_exact=((label,),), gold_ideal=(ideal,)
    )


def is_reading(arrival: Arrival) -> bool:
    return "<reasoning>" in arrival.question


def question_in(arrival: Arrival) -> str:
    found = re.search(r"<question>\n(.*)\n</question>", arrival.question)
    assert found is not None
    return found[1]


def reasoner(
    documents: list[int] | None = None, concludes: Callable[[str], str] = lambda _: "yes", after: float = 0.0
) -> Behaviour:
    """Writes two statements, of which the first cites these; reads any reasoning as coming to what is said."""

    def behave(answering: Answering, arrival: Arrival) -> None:
        cited = [1] if documents is None else documents
        if is_reading(arrival):
            said: object = {"answer": concludes(question_in(arrival))}
        else:
            said = {
                "statements": [
                    {"statement": "Zinc shortened colds by 2 days", "documents": cited},
                    {"statement": "So it helps.", "documents": []},
                ]
            }
        reply(json.dumps(said), after=after)(answering, arrival)

    return behave
