"""Questions from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from vericite.errors import InputError, RecordError
from vericite.records import Question, QuestionType, number_jsonl


class QuestionLine(BaseModel):
    """A line: a ``Question``, one of a gold file, or just an id and the question; other fields are passed over."""

    model_config = ConfigDict(extra="ignore", strict=True)

    id: str = Field(min_length=1)
    # Not required here: a line without one is told of by the name that people write, `question`.
    text: str = Field("", validation_alias=AliasChoices("text", "question"))
    type: QuestionType | None = None
    gold_documents: tuple[str, ...] | dict[str, Any] = Field(
        (), validation_alias=AliasChoices("gold_documents", "documents")
    )
    gold_exact: tuple[tuple[str, ...], ...] = Field((), validation_alias=AliasChoices("gold_exact", "exact"))
    gold_ideal: tuple[str, ...] = Field((), validation_alias=AliasChoices("gold_ideal", "ideal"))

    @property
    def question(self) -> Question:
        """The question; of graded documents those that answer it."""
        documents = self.gold_documents
        if isinstance(documents, dict):
            documents = tuple(id for id, grade in documents.items() if grade > 0)
        return Question(
            id=self.id,
            text=self.text,
            type=self.type,
            gold_documents=documents,
            gold_exact=self.gold_exact,
            gold_ideal=self.gold_ideal,
        )


def read_questions(path: Path) -> tuple[list[Question], list[RecordError]]:
    """The questions of a JSON Lines file, and what was wrong with the lines that are none.

    Raises:
        InputError: The file cannot be read, or holds no question at all.
    """
    numbered, problems = number_questions(path)
    return [question for _, question in numbered], problems


def number_questions(path: Path) -> tuple[list[tuple[int, Question]], list[RecordError]]:
    """The same as ``read_questions``, each question with its line.

    Raises:
        InputError: The file cannot be read, or holds no question at all.
    """
    found: dict[str, tuple[int, Question]] = {}
    problems: list[RecordError] = []
    for number, line in number_jsonl(QuestionLine, path):
        if isinstance(line, RecordError):
            problems.append(line)
        elif line.id in found:
            problems.append(RecordError(path, number, "id", f"expected an id of its own; {line.id!r} came before"))
        elif not line.text.strip():
            problems.append(RecordError(path, number, "question", "expected a question; found no text"))
        else:
            found[line.id] = number, line.question
    if not found:
        first = f" The first problem: {problems[0]}" if problems else ""
        raise InputError(f'expected questions in {path}, one a line: {{"id", "question"}}; found none.{first}')
    return list(found.values()), problems
