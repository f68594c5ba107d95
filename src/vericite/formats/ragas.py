"""Samples of Ragas: a response and the contexts that were retrieved for it; the later field names and the earlier."""

from __future__ import annotations

from pydantic import AliasChoices, Field

from vericite.formats.form import Fields, Foreign, Format, Name, RawRecord, answer_of, sources_of
from vericite.records import Answer
from vericite.text.references import Library


class _Sample(Foreign):
    """One turn."""

    id: Name | None = None
    question: str | None = Field(None, validation_alias=AliasChoices("user_input", "question"))
    answer: str = Field(validation_alias=AliasChoices("response", "answer"))
    contexts: tuple[str, ...] = Field(validation_alias=AliasChoices("retrieved_contexts", "contexts"))
    names: tuple[Name, ...] | None = Field(None, validation_alias="retrieved_context_ids")


def _read(raw: RawRecord, library: Library) -> Answer:
    sample = raw.read(_Sample)
    names = sample.names or tuple(f"context-{number}" for number in range(1, len(sample.contexts) + 1))
    if len(names) != len(sample.contexts):
        problem = f"expected an id for each of {len(sample.contexts)} contexts; found {len(names)}"
        raise raw.refused("retrieved_context_ids", problem)
    sources = sources_of([(name, text, "") for name, text in zip(names, sample.contexts, strict=True)], library)
    # Who writes no markers shows the reader all contexts at once: that is what such a sentence is checked against.
    return answer_of(sample.id or str(raw.number), sample.answer, sources, sample.question, uncited_cite_all=True)


def _matches(fields: Fields) -> bool:
    return bool({"retrieved_contexts", "contexts"} & fields.keys() and {"response", "answer"} & fields.keys())


RAGAS = Format(
    '{"user_input"?, "response": "text", "retrieved_contexts": ["text"]} or {"question"?, "answer", "contexts"}',
    _read,
    _matches,
)
