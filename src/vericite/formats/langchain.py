"""What chains of LangChain return: an output and the documents it was written from."""

from __future__ import annotations

from pydantic import AliasChoices, Field

from vericite.formats.form import Fields, Foreign, Format, Name, RawRecord, answer_of, passages
from vericite.records import Answer, storable
from vericite.text.mentions import Sources
from vericite.text.references import Library


class _Metadata(Foreign):
    """What a loader knows of a document."""

    id: Name | None = None
    pmid: Name | None = None
    source: Name | None = None
    title: str | None = None

    @property
    def name(self) -> str | None:
        """The most telling of the names."""
        return self.pmid or self.id or self.source


class _Chunk(Foreign):
    """A document, or the part of one that was retrieved."""

    page_content: str
    metadata: _Metadata = _Metadata()
    id: Name | None = None


class _Output(Foreign):
    """A chain's output."""

    id: Name | None = None
    question: str | None = Field(None, validation_alias=AliasChoices("input", "query", "question"))
    answer: str = Field(validation_alias=AliasChoices("output", "result", "answer"))
    chunks: tuple[_Chunk, ...] = Field(validation_alias=AliasChoices("context", "source_documents"))


def _read(raw: RawRecord, library: Library) -> Answer:
    output = raw.read(_Output)
    # Chunks of one source are one document, in the order in which they came.
    names = [storable(chunk.metadata.name or chunk.id or f"context-{n}") for n, chunk in enumerate(output.chunks, 1)]
    chunks: dict[str, list[_Chunk]] = {}
    for name, chunk in zip(names, output.chunks, strict=True):
        chunks.setdefault(name, []).append(chunk)
    documents = [
        passages(name, [chunk.page_content for chunk in parts], parts[0].metadata.title or "")
        for name, parts in chunks.items()
    ]
    sources = Sources(documents, library, names)
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
