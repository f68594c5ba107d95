"""Answers of retrieval-augmented chains: Ragas, LangChain, LlamaIndex, Haystack, and ALCE's output.

Each has a question, an answer and the texts it was written from, under different names.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Annotated, Any, cast

from pydantic import AliasChoices, BeforeValidator, Field, model_validator

from vericite.datasets.attributed import alce_answer
from vericite.formats.form import (
    Fields,
    Foreign,
    Format,
    Given,
    Name,
    PerhapsName,
    RawRecord,
    answer_of,
    dict_of,
    dicts_in,
    expect_words,
    items_in,
    sources_of,
)
from vericite.formats.given import sources_in
from vericite.records import Answer
from vericite.text.references import Library

_DEEPEST = 50  # maximum nesting of LangChain's serialized objects
_ASKING = ("human", "user")
_ANSWERING = ("ai", "assistant", "AIMessageChunk")
_ANSWERS = ("response", "output", "result", "answer", "data")
_CONTEXTS = ("retrieved_contexts", "contexts", "context", "source_documents", "source_nodes", "docs", "documents")


def words_of(message: object) -> object:
    """Return the text of a message: its content, or the joined texts of its blocks. Other values are unchanged."""
    if isinstance(message, dict):
        fields = dict_of(cast(object, message))
        return words_of((dict_of(fields.get("data")) or fields).get("content"))
    if isinstance(message, list):
        return "".join(text for block in dicts_in(cast(object, message)) if isinstance(text := block.get("text"), str))
    return message


def _last_words(messages: object, *roles: str) -> object:
    """Return the text of a conversation's last message in one of these roles; None if there is none."""
    items = reversed(dicts_in(messages))
    return next((words_of(item) for item in items if {item.get("type"), item.get("role")} & {*roles}), None)


def _question(value: object) -> object:
    return _last_words(cast(object, value), *_ASKING) if isinstance(value, list) else words_of(value)


def _tupled(value: object) -> object:
    """Convert contexts to a tuple: a text is one context, None is no context."""
    if isinstance(value, str):
        return (value,)
    return tuple(items_in(cast(object, value))) if isinstance(value, list) or value is None else value


def _answer_words(value: object) -> object:
    """Return the text of an answer; refuse the printed form of a Python object."""
    words = words_of(value)
    if isinstance(words, str):
        expect_words(words)
    return words


class _Turn(Foreign):
    """A question, its answer and the contexts of the answer."""

    id: PerhapsName = Field(None, validation_alias=AliasChoices("id", "question_id", "sample_id", "qid"))
    question: Annotated[str | None, BeforeValidator(_question)] = Field(
        None, validation_alias=AliasChoices("user_input", "input", "query", "question")
    )
    answer: Annotated[str, BeforeValidator(_answer_words)] = Field(validation_alias=AliasChoices(*_ANSWERS))
    contexts: Annotated[tuple[Given, ...], BeforeValidator(_tupled)] = Field(validation_alias=AliasChoices(*_CONTEXTS))
    names: Annotated[tuple[Name, ...], BeforeValidator(_tupled)] = Field((), validation_alias="retrieved_context_ids")

    @model_validator(mode="before")
    @classmethod
    def _from_messages(cls, fields: Any) -> Any:
        """Take the last question and answer of a conversation (LangGraph, multi-turn samples)."""
        if not isinstance(fields, dict):
            return fields
        record = cast("dict[str, Any]", fields)
        messages = next(
            (record[name] for name in ("messages", "user_input") if isinstance(record.get(name), list)), None
        )
        if messages is None or any(record.get(name) is not None for name in _ANSWERS):
            return record
        asked, answer = _last_words(messages, *_ASKING), _last_words(messages, *_ANSWERING)
        record = {"question": asked, **record, "answer": answer}
        if not any(name in record for name in _CONTEXTS):
            given = sources_in(record)
            tools = [item for item in dicts_in(messages) if "tool" in (item.get("type"), item.get("role"))]
            retrieved = [items_in(item.get("artifact")) or [words_of(item)] for item in tools]
            record["contexts"] = tuple(chain.from_iterable(retrieved)) if given is None else tuple(given)
        return record


def _unwrapped(value: object, depth: int = 0) -> object:
    """Unwrap the fields of objects from LangChain's ``dumps``: ``{"lc": 1, "kwargs": {...}}``."""
    if depth > _DEEPEST:
        return None
    if isinstance(value, list):
        return [_unwrapped(item, depth + 1) for item in cast("list[object]", value)]
    if not isinstance(value, dict):
        return value
    fields = cast("dict[str, object]", value)
    if "lc" in fields and isinstance(fields.get("kwargs"), dict):
        return _unwrapped(fields["kwargs"], depth + 1)
    return {name: _unwrapped(item, depth + 1) for name, item in fields.items()}


def unwrapped(raw: RawRecord) -> RawRecord:
    """Return the record without LangChain's wrappers."""
    fields = raw.fields if '"lc"' in raw.json else None
    return raw.with_fields(cast(Fields, _unwrapped(fields))) if fields is not None else raw


def _read(raw: RawRecord, library: Library) -> Answer:
    # An answer without markers was written from all contexts, so each sentence is checked against all of them.
    return _answer(raw, library, uncited_cite_all=True)


def read_cited(raw: RawRecord, library: Library) -> Answer:
    """Read an answer in which each sentence cites only what its markers say."""
    return _answer(raw, library, uncited_cite_all=False)


def _answer(raw: RawRecord, library: Library, uncited_cite_all: bool) -> Answer:
    turn = unwrapped(raw).read(_Turn)
    contexts = turn.contexts
    if turn.names:
        if len(turn.names) != len(contexts):
            problem = f"expected an id for each of {len(contexts)} contexts; found {len(turn.names)}"
            raise raw.refused("retrieved_context_ids", problem)
        named = zip(contexts, turn.names, strict=True)
        contexts = tuple(context.model_copy(update={"id": name}) for context, name in named)
    sources = sources_of(contexts, library)
    id = turn.id or str(raw.number)
    return answer_of(id, turn.answer, sources, turn.question, uncited_cite_all=uncited_cite_all)


def _is_ragas(fields: Fields) -> bool:
    if {"retrieved_contexts", "contexts"} & fields.keys() and {"response", "answer"} & fields.keys():
        return True
    return isinstance(fields.get("user_input"), list)


RAGAS = Format(
    '{"user_input"?, "response": "text", "retrieved_contexts": ["text"]} or {"question"?, "answer", "contexts"}',
    _read,
    _is_ragas,
    infers_citations=True,
)


def _is_langchain(fields: Fields) -> bool:
    inner = dict_of(fields.get("kwargs")) or fields
    if isinstance(inner.get("messages"), list):
        return True
    chunks = inner.get("context", inner.get("source_documents"))
    return isinstance(chunks, list) and bool({"output", "result", "answer"} & inner.keys())


LANGCHAIN = Format(
    '{"input"?, "output": "text", "context": [{"page_content", "metadata": {"source" | "id" | "pmid", "title"?}}]} or '
    '{"query"?, "result", "source_documents"} or {"messages", "context" | "sources"?}',
    _read,
    _is_langchain,
    infers_citations=True,
)

LLAMAINDEX = Format(
    '{"response": "text", "source_nodes": [{"node": {"id_", "text", "metadata"}, "score"}]}',
    _read,
    lambda fields: isinstance(fields.get("source_nodes"), list) and "response" in fields,
    infers_citations=True,
)


def _is_generated(fields: Fields) -> bool:
    return isinstance(fields.get("data"), str) and isinstance(fields.get("documents"), list)


def _is_haystack(fields: Fields) -> bool:
    return _is_generated(fields) or "init_parameters" in fields or bool(_outputs(fields))


def _outputs(fields: Fields) -> list[Fields]:
    """Return the answers in a pipeline's output, which has a field for each component."""
    return [answer for part in fields.values() for answer in dicts_in(dict_of(part).get("answers"))]


def _haystack_parts(raw: RawRecord) -> Iterator[RawRecord]:
    fields = raw.fields or {}
    found = [] if _is_generated(fields) else _outputs(fields)
    if not found:
        found = [fields]
    for number, part in enumerate(found):
        answer = dict_of(part.get("init_parameters")) or part
        yield raw.part(f"answers.{number}", answer) if len(found) > 1 else raw.with_fields(answer)


HAYSTACK = Format(
    '{"data": "text", "query"?, "documents": [{"id", "content", "meta"}]}, or the output of a pipeline with answers',
    _read,
    _is_haystack,
    parts=_haystack_parts,
    infers_citations=True,
)

ALCE = Format(
    '{"question"?, "output": "text with [1]", "docs": [{"title", "text"}]}',
    lambda raw, library: alce_answer(raw.row, library),
    lambda fields: isinstance(fields.get("docs"), list) and "output" in fields,
)
