"""What the tests of repair share: judges, a retriever and a language model that are scripts."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from typing import TypedDict, Unpack

import numpy as np

from vericite.llm import LLM, ChatRequest, Settings, Usage
from vericite.llm.retry import RawReply
from vericite.models import Pair
from vericite.models.contracts import CONTRADICTS, ENTAILS, NEUTRAL
from vericite.pipeline.repair import Repairer, SentenceRewriter
from vericite.pipeline.search import Search
from vericite.records import Answer, Document, Evidence, Question, Repaired
from vericite.text.citations import parse_answer
from vericite.verify import Judgement, get_protocol

LIPIDS = Document.from_text("lipids", "We measured lipids in adults. Statins lower LDL.")
COLDS = Document.from_text("colds", "Colds were followed for years. Zinc shortens colds. Tea is warm.")
GARLIC = Document.from_text("garlic", "Garlic was given to many patients with gout. Garlic smells.")
SOURCES = (LIPIDS, COLDS, GARLIC)


class Script:
    """A judge that finds a claim entailed by premises that have its words, and contradicted where one says "not"."""

    signature = "script"

    def __init__(self) -> None:
        self.asked = 0

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        for pair in pairs:
            self.asked += 1
            claim, premise = (
                {word.strip(".,").lower() for word in text.split()} - {"and"} for text in (pair.claim, pair.premise)
            )
            if "broken" in premise:
                yield Judgement.failed("the judge broke")
                continue
            column = ENTAILS if claim <= premise else CONTRADICTS if claim - {"not"} <= premise else NEUTRAL
            certain = np.eye(3, dtype=np.float32)[column] * 0.9 + np.float32(0.1 / 3)
            # Of the premises that do not suffice the one that says most of it is the least neutral.
            share = np.float32(0.3 * len(claim & premise) / len(claim) if column == NEUTRAL else 0.0)
            yield Judgement(certain + np.array([share, 0, -share], dtype=np.float32))


class Moody:
    """A judge that says anything, and the same of the same pair."""

    signature = "moody"

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        for pair in pairs:
            drawn = hashlib.sha256(f"{pair.premise}|{pair.claim}".encode()).digest()[0]
            if drawn < 10:
                yield Judgement.failed("in a mood")
            else:
                yield Judgement(np.eye(3, dtype=np.float32)[drawn % 3] * 0.9 + np.float32(0.1 / 3))


class Fickle(Moody):
    """A judge that says another thing each time."""

    signature = "fickle"

    def __init__(self) -> None:
        self.drawn = np.random.default_rng(0)

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        for _ in pairs:
            yield Judgement(self.drawn.dirichlet((1, 1, 1)).astype(np.float32))


class Found:
    """A retriever that finds the same documents whatever is asked."""

    signature = "found"

    def __init__(self, *documents: Document) -> None:
        self.documents = documents
        self.asked: list[str] = []

    def retrieve(self, question: Question, k: int) -> list[Evidence]:
        self.asked.append(question.text)
        return [
            Evidence(document=document, rank=rank, score=1.0, retriever="found")
            for rank, document in enumerate(self.documents, start=1)
        ]


class Model:
    """A language model that says what a function makes of its request; keeps the requests."""

    signature = "model"

    def __init__(self, says: Callable[[ChatRequest], str]) -> None:
        self.says = says
        self.requests: list[ChatRequest] = []

    async def complete(self, request: ChatRequest, timeout: float) -> RawReply:
        self.requests.append(request)
        return RawReply(self.says(request), "stop", Usage(10, 2))

    async def stream(self, request: ChatRequest, timeout: float) -> AsyncGenerator[str | RawReply, None]:
        yield await self.complete(request, timeout)

    async def aclose(self) -> None:
        pass


class Options(TypedDict, total=False):
    search: Search
    rewriter: SentenceRewriter
    rounds: int
    drop_uncited: bool


def repairer(**options: Unpack[Options]) -> Repairer:
    return Repairer(get_protocol("default"), Script(), **options)


def repaired(text: str, documents: Sequence[Document] = SOURCES, **options: Unpack[Options]) -> Repaired:
    return repairer(**options).repair(parse_answer("a", text, documents, "What helps?"))


def actions(found: Repaired) -> list[tuple[int, str]]:
    return [(change.sentence, change.action) for change in found.changes]


def rewriter(says: Callable[[ChatRequest], str]) -> tuple[SentenceRewriter, Model]:
    model = Model(says)
    return SentenceRewriter(LLM("http://127.0.0.1:9/v1#model", Settings(cache=None, backoff=0), model)), model


def assert_exact(answer: Answer) -> None:
    """That whoever reads the text finds these claims, and markers count the documents."""
    again = parse_answer(answer.id, answer.text, answer.documents, answer.question)
    if not answer.insufficient:
        assert again.claims == answer.claims
    for claim in answer.claims:
        for citation in claim.citations:
            if citation.document is not None:
                assert answer.documents[citation.marker - 1].id == citation.document
