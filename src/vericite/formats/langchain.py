"""What chains of LangChain return: an output and the documents it was written from."""

from __future__ import annotations

from pydantic import AliasChoices, Field

from vericite.formats.form import Fields, Foreign, Format, Name, PerhapsName, RawRecord, answer_of, sources_of
from vericite.records import Answer, storable
from vericite.text.references import Library


class _Metadata(Foreign):
    """What a loader knows of a document."""

    id: PerhapsName = None
    pmid: PerhapsName = None
    source: PerhapsName = None
    title: str | None = None

    @property
    def name(self) -> str | None:
        """The most telling of the names."""
        return self.pmid or self.id or self.source


class _Chunk(Foreign):
    """A document, or the part of one that was retrieved."""

    page_content: str
    metadata: _Metadata | None = None
    id: PerhapsName = None

    def named(self, number: int) -> tuple[str, str, str]:
        """Its name, which is its number where it has none, its text and its title."""
        known = self.metadata or _Metadata()
        return storable(known.name or self.id or f"context-{number}"), self.page_content, known.title or ""


class _Output(Foreign):
    """A chain's output."""

    id: Name | None = None
    question: str | None = Field(None, validation_alias=AliasChoices("input", "query", "question"))
    answer: str = Field(validation_alias=AliasChoices("output", "result", "answer"))
    chunks: tuple[_Chunk, ...] = Field(validation_alias=AliasChoices("context", "source_documents"))


def _read(raw: RawRecord, library: Library) -> Answer:
    output = raw.read(_Output)
    sources = sources_of([chunk.named(number) for number, chunk in enumerate(output.chunks, start=1)], library)
    return answer_of(output.id or str(raw.number), output.answer, sources, output.question, uncited_cite_all=True)


def _matches(fields: Fields) -> bool:
    chunks = fields.get("context", fields.get("source_documents"))
    return isinstance(chunks, list) and bool({"output", "result", "answer"} & fields.keys())


LANGCHAIN = Format(
    '{"input"?, "output": "text", "context": [{"page_content", "metadata": {"source" | "id" | "pmid", "title"?}}]} or '
    '{"query"?, "result", "source_documents"}',
    _read,
    _matches,
)
