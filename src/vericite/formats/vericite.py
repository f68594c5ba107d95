"""Our own form: an answer with markers, and its documents."""

from __future__ import annotations

from typing import Self

from pydantic import Field

from vericite.formats.form import Fields, Format, RawRecord, answer_of
from vericite.records import Answer, Record, SourceText
from vericite.text.mentions import Sources
from vericite.text.references import Library


class AnswerToCheck(Record):
    """An answer as a user gives it; ``[n]`` in it cites the n-th document, ``PMID: n`` the one of that id."""

    id: str = Field(min_length=1)
    answer: str
    documents: tuple[SourceText, ...]
    question: str | None = None

    @classmethod
    def of(cls, answer: Answer) -> Self:
        """An answer as it would be given, with all its documents."""
        documents = tuple(SourceText(id=it.id, text=it.text, title=it.title or None) for it in answer.documents)
        return cls(id=answer.id, answer=answer.text, documents=documents, question=answer.question)

    def parsed(self, library: Library | None = None) -> Answer:
        """The answer split into claims and citations."""
        sources = Sources([document.document() for document in self.documents], library)
        return answer_of(self.id, self.answer, sources, self.question)


class _Undocumented(AnswerToCheck):
    """The same where the documents may be those of another file alone."""

    documents: tuple[SourceText, ...] = ()


def _read(raw: RawRecord, library: Library) -> Answer:
    return raw.read(_Undocumented if library else AnswerToCheck).parsed(library)


def _matches(fields: Fields) -> bool:
    return "answer" in fields and ("documents" in fields or "id" in fields)


VERICITE = Format(
    '{"id", "question"?, "answer": "text with [1] or PMID: 123", "documents": [{"id", "title"?, "text"}]}',
    _read,
    _matches,
)
