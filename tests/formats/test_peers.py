"""Answers as other libraries write them: made by those that are installed here, and checked with one command.

``make test-peers`` installs all of them; where one is missing its tests are passed over. The examples in
``examples/formats`` have the same shapes and are always read.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vericite.formats import answers_in
from vericite.records import Answer, Document

QUESTION = "Do zinc lozenges shorten colds?"
TEXT = "Zinc lozenges shortened colds by two days [1]. Nausea was frequent [2]."
SOURCES = ["Zinc lozenges shortened colds by two days.", "Nausea and a bad taste were frequent."]
LINK = "https://pubmed.ncbi.nlm.nih.gov/99000001/"
LIBRARY = [Document.from_text(LINK, SOURCES[0])]

pytestmark = pytest.mark.filterwarnings("ignore")  # other libraries' own
Write = Callable[[Path], Path]


def as_json(folder: Path, text: str) -> Path:
    path = folder / "answers.json"
    path.write_text(text)
    return path


def jsonable(value: Any) -> Any:
    return value.model_dump() if hasattr(value, "model_dump") else value.to_dict()


def cited_texts(path: Path) -> list[list[tuple[str, list[str]]]]:
    """The claims of each answer, each with the texts that it cites."""
    found: list[list[tuple[str, list[str]]]] = []
    for answer in answers_in(path, documents=LIBRARY):
        assert isinstance(answer, Answer), answer
        found.append(
            [
                (claim.text, [answer.document(cite.document).text if cite.document else "" for cite in claim.citations])
                for claim in answer.claims
            ]
        )
    return found


WHOLE = [("Zinc lozenges shortened colds by two days.", SOURCES[:1]), ("Nausea was frequent.", SOURCES[1:])]


def ragas_set() -> Any:
    ragas = pytest.importorskip("ragas", exc_type=ImportError)
    sample = ragas.SingleTurnSample(user_input=QUESTION, response=TEXT, retrieved_contexts=SOURCES)
    return ragas.EvaluationDataset(samples=[sample, sample])


RAGAS: dict[str, Callable[[Any, Path], object]] = {
    "a.jsonl": lambda samples, path: samples.to_jsonl(path),
    "a.csv": lambda samples, path: samples.to_csv(path),
    "pandas.json": lambda samples, path: samples.to_pandas().to_json(path),
    "records.json": lambda samples, path: samples.to_pandas().to_json(path, orient="records"),
    "pandas.csv": lambda samples, path: samples.to_pandas().to_csv(path),
    "arrays.csv": lambda samples, path: samples.to_hf_dataset().to_csv(path),
    "lines.jsonl": lambda samples, path: samples.to_hf_dataset().to_json(path),
    "hub.parquet": lambda samples, path: samples.to_hf_dataset().to_parquet(path),
    "dict.json": lambda samples, path: path.write_text(json.dumps(samples.to_hf_dataset().to_dict())),
}


@pytest.mark.parametrize("name", RAGAS)
def test_ragas_in_all_its_writings(tmp_path: Path, name: str):
    RAGAS[name](ragas_set(), tmp_path / name)
    assert cited_texts(tmp_path / name) == [WHOLE, WHOLE]


def test_ragas_conversation(tmp_path: Path):
    ragas = pytest.importorskip("ragas", exc_type=ImportError)
    messages = pytest.importorskip("ragas.messages", exc_type=ImportError)
    call = messages.ToolCall(name="search", args={})
    turns = [
        messages.HumanMessage(content=QUESTION),
        messages.AIMessage(content="I search.", tool_calls=[call]),
        *(messages.ToolMessage(content=text) for text in SOURCES),
        messages.AIMessage(content=TEXT),
    ]
    sample = ragas.MultiTurnSample(user_input=turns)
    ragas.EvaluationDataset(samples=[sample]).to_jsonl(tmp_path / "a.jsonl")
    assert cited_texts(tmp_path / "a.jsonl") == [WHOLE]


@pytest.mark.parametrize("form", ["dumps", "message", "model_dump", "graph"])
def test_langchain(tmp_path: Path, form: str):
    core = pytest.importorskip("langchain_core")
    assert core
    from langchain_core.documents import Document as Chunk
    from langchain_core.load import dumps
    from langchain_core.messages import AIMessage, HumanMessage

    context = [Chunk(page_content=text, metadata={"source": "zinc.pdf", "page": n}) for n, text in enumerate(SOURCES)]
    text = {
        "dumps": lambda: dumps({"input": QUESTION, "answer": TEXT, "context": context}),
        "message": lambda: dumps({"input": QUESTION, "answer": AIMessage(TEXT), "context": context}),
        "model_dump": lambda: json.dumps(
            {"query": QUESTION, "result": TEXT, "source_documents": context}, default=jsonable
        ),
        "graph": lambda: dumps({"messages": [HumanMessage(QUESTION), AIMessage(TEXT)], "context": context}),
    }[form]()
    assert cited_texts(as_json(tmp_path, text)) == [WHOLE]


@pytest.mark.parametrize("form", ["dumps", "json"])
def test_a_langchain_message_with_annotations(tmp_path: Path, form: str):
    pytest.importorskip("langchain_openai")
    from langchain_core.load import dumps
    from langchain_core.messages import AIMessage

    note = {"type": "url_citation", "url": LINK, "title": "Zinc", "start_index": 0, "end_index": 42}
    message = AIMessage([{"type": "text", "text": WHOLE[0][0], "annotations": [note]}])
    text = dumps(message) if form == "dumps" else message.model_dump_json()
    assert cited_texts(as_json(tmp_path, text)) == [WHOLE[:1]]


@pytest.mark.parametrize("form", ["asdict", "parts", "pydantic"])
def test_llamaindex(tmp_path: Path, form: str):
    pytest.importorskip("llama_index.core")
    from llama_index.core.base.response.schema import Response
    from llama_index.core.schema import NodeWithScore, TextNode
    from pydantic_core import to_json

    nodes = [NodeWithScore(node=TextNode(text=text, metadata={"file_name": "zinc.pdf"}), score=0.5) for text in SOURCES]
    response = Response(response=TEXT, source_nodes=nodes)
    text = {
        "asdict": lambda: json.dumps(dataclasses.asdict(response), default=jsonable),
        "parts": lambda: json.dumps({"response": str(response), "source_nodes": [n.to_dict() for n in nodes]}),
        "pydantic": lambda: to_json(response).decode(),
    }[form]()
    assert cited_texts(as_json(tmp_path, text)) == [WHOLE]


@pytest.mark.parametrize("form", ["builder", "pipeline", "answer"])
def test_haystack(tmp_path: Path, form: str):
    pytest.importorskip("haystack")
    from haystack.components.builders import AnswerBuilder
    from haystack.dataclasses import Document as Chunk
    from haystack.dataclasses import GeneratedAnswer

    between = Chunk(content="Unrelated.", meta={"file_path": "zinc.pdf"})
    chunks = [Chunk(content=text, meta={"file_path": "zinc.pdf"}) for text in SOURCES]
    found = [chunks[0], between, chunks[1]]
    reply = TEXT.replace("[2]", "[3]")
    built = AnswerBuilder(reference_pattern=r"\[(\d+)\]").run(query=QUESTION, replies=[reply], documents=found)
    value = {
        "builder": built,
        "pipeline": {"answer_builder": built},
        "answer": GeneratedAnswer(data=reply, query=QUESTION, documents=found, meta={}),
    }[form]
    text = json.dumps(value, default=jsonable)
    assert cited_texts(as_json(tmp_path, text)) == [WHOLE]


def test_openai_responses(tmp_path: Path):
    pytest.importorskip("openai")
    from openai.types.responses import Response

    link = f"([pubmed.ncbi.nlm.nih.gov]({LINK}?utm_source=openai))"
    text = f"{WHOLE[0][0][:-1]} {link}. {WHOLE[1][0]}"
    start = text.index(link)
    page = {"type": "url_citation", "url": f"{LINK}?utm_source=openai", "title": "Zinc"}
    file = {"type": "file_citation", "file_id": "file-1", "filename": "zinc.pdf", "index": len(text)}
    result = {"file_id": "file-1", "filename": "zinc.pdf", "text": SOURCES[1], "score": 0.9, "attributes": {}}
    annotations = [{**page, "start_index": start, "end_index": start + len(link)}, file]
    block = {"type": "output_text", "text": text, "annotations": annotations}
    output = [
        {"type": "file_search_call", "id": "f", "status": "completed", "queries": ["zinc"], "results": [result]},
        {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [block]},
    ]
    response = Response.model_validate(
        {"id": "r", "object": "response", "created_at": 1, "model": "m", "output": output, "parallel_tool_calls": True,
         "tool_choice": "auto", "tools": []}
    )  # fmt: skip
    assert cited_texts(as_json(tmp_path, response.model_dump_json())) == [WHOLE]


@pytest.mark.parametrize("form", ["annotations", "perplexity"])
def test_openai_chat_and_perplexity(tmp_path: Path, form: str):
    pytest.importorskip("openai")
    from openai.types.chat import ChatCompletion

    message: dict[str, Any] = {"role": "assistant", "content": WHOLE[0][0]}
    more: dict[str, Any] = {}
    if form == "annotations":
        place = {"url": LINK, "title": "Zinc", "start_index": 0, "end_index": 42}
        message["annotations"] = [{"type": "url_citation", "url_citation": place}]
    else:
        message["content"] = "Zinc lozenges shortened colds by two days[1]."
        more = {"citations": [LINK], "search_results": [{"title": "Zinc", "url": LINK, "date": None}]}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    reply = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], **more}
    text = ChatCompletion.model_validate(reply).model_dump_json()
    assert cited_texts(as_json(tmp_path, text)) == [WHOLE[:1]]


def test_anthropic(tmp_path: Path):
    pytest.importorskip("anthropic")
    from anthropic.types import Message

    def block(text: str, index: int) -> dict[str, Any]:
        place = {"document_index": index, "document_title": None, "start_char_index": 0, "end_char_index": 1}
        return {
            "type": "text",
            "text": text,
            "citations": [{"type": "char_location", "cited_text": SOURCES[index], **place}],
        }

    content = [block(WHOLE[0][0], 0), {"type": "text", "text": " "}, block(WHOLE[1][0], 1)]
    message = Message.model_validate(
        {"id": "m", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
         "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}, "content": content}
    )  # fmt: skip
    assert cited_texts(as_json(tmp_path, message.model_dump_json())) == [WHOLE]


def test_cohere(tmp_path: Path):
    pytest.importorskip("cohere")
    from cohere.types import AssistantMessageResponse

    text = f"{WHOLE[0][0]} {WHOLE[1][0]}"
    starts = [0, text.index(WHOLE[1][0])]
    citations = [
        {
            "start": start,
            "end": start + len(WHOLE[n][0]),
            "text": WHOLE[n][0],
            "content_index": 0,
            "type": "TEXT_CONTENT",
            "sources": [{"type": "document", "id": f"d{n}", "document": {"id": f"d{n}", "snippet": SOURCES[n]}}],
        }
        for n, start in enumerate(starts)
    ]
    content = [{"type": "text", "text": text}]
    message = AssistantMessageResponse.model_validate({"role": "assistant", "content": content, "citations": citations})
    assert cited_texts(as_json(tmp_path, json.dumps({"message": json.loads(message.model_dump_json())}))) == [WHOLE]


@pytest.mark.parametrize("by_alias", [False, True])
def test_gemini(tmp_path: Path, by_alias: bool):
    pytest.importorskip("google.genai")
    from google.genai.types import GenerateContentResponse

    text = f"Café. {WHOLE[0][0]} {WHOLE[1][0]}"

    def support(number: int) -> dict[str, Any]:
        start = len(text[: text.index(WHOLE[number][0])].encode())
        segment = {"startIndex": start, "endIndex": start + len(WHOLE[number][0]), "text": WHOLE[number][0]}
        return {"segment": segment, "groundingChunkIndices": [number], "confidenceScores": [0.9]}

    chunks = [{"retrievedContext": {"uri": "gs://a/zinc.pdf", "title": "zinc.pdf", "text": text}} for text in SOURCES]
    grounding = {"groundingChunks": chunks, "groundingSupports": [support(0), support(1)]}
    content = {"parts": [{"text": text}], "role": "model"}
    reply = GenerateContentResponse.model_validate(
        {"candidates": [{"content": content, "groundingMetadata": grounding}]}
    )
    dumped = reply.model_dump_json(exclude_none=True, by_alias=by_alias)
    assert cited_texts(as_json(tmp_path, dumped)) == [[("Café.", []), *WHOLE]]
