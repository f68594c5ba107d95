"""Examples for training attribution: a sentence, its sources, and which of them support it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Self

from pydantic import ConfigDict, Field, field_validator, model_validator

from vericite.datasets.registry import is_named, source_named
from vericite.datasets.rows import files_in
from vericite.errors import InputError
from vericite.records import Answer, Document, Gold, GoldSentence, Record
from vericite.text.citations import parse_answer


class ExampleSource(Record):
    """A source as a model reads it."""

    model_config = ConfigDict(extra="ignore")

    id: str = Field(min_length=1)
    title: str = ""
    text: str

    @property
    def document(self) -> Document:
        """Convert to a Document."""
        return Document.from_text(self.id, self.text or self.title, self.title)


class AttributionExample(Record):
    """One line of a training or development file.

    Attributes:
        supports: Numbers, from 1, of the sources that support the sentence, alone or together.
        unknown: Numbers of the sources without a label; they are ignored.
        weight: Weight in the loss.
        kind: How the example was made (``long``, ``paraphrase``, ``joined`` ...).
        made_from: The data set it comes from.
        group: Shared by lines that depend on each other: their question or document.
    """

    model_config = ConfigDict(extra="ignore")

    id: str = Field(min_length=1)
    question: str | None = None
    sentence: str = Field(min_length=1)
    sources: tuple[ExampleSource, ...] = Field(min_length=1)
    supports: tuple[int, ...] = ()
    unknown: tuple[int, ...] = ()
    weight: float = Field(default=1.0, ge=0)
    kind: str = "gold"
    made_from: str = ""
    group: str = ""

    @field_validator("sentence")
    @classmethod
    def _says_something(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("expected a sentence; found a blank one")
        return value

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        wrong = [number for number in (*self.supports, *self.unknown) if not 1 <= number <= len(self.sources)]
        if wrong:
            raise ValueError(f"expected sources from 1 to {len(self.sources)}; found {wrong[0]}")
        if len({source.id for source in self.sources}) < len(self.sources):
            raise ValueError("expected sources with different ids; found the same id twice")
        return self

    @property
    def answer(self) -> Answer:
        """The sentence as an answer without citations."""
        return one_claim(self.id, self.sentence, [source.document for source in self.sources], self.question)

    @property
    def gold(self) -> Gold:
        """The documents that the sentence should cite."""
        ids = tuple(self.sources[number - 1].id for number in sorted(set(self.supports)))
        return Gold(id=self.id, citations=(GoldSentence(sentence=0, documents=ids),))


def one_claim(id: str, sentence: str, documents: Sequence[Document], question: str | None) -> Answer:
    """Return the sentence as an answer with one claim, whatever stops and markers it has."""
    answer = parse_answer(id, sentence, documents, question)
    first = answer.claims[0]
    whole = first.model_copy(
        update={
            "text": sentence,
            "span": first.span.model_copy(update={"start": 0, "end": len(sentence)}),
            "citations": (),
        }
    )
    return answer.model_copy(update={"text": sentence, "claims": (whole,)})


def source_of(document: Document) -> ExampleSource:
    """Return a document as a source of an example; one without text has its title."""
    return ExampleSource(id=document.id, title=document.title, text=document.text or document.title)


def file_hash(path: Path) -> str:
    """Return the first digits of the hash of a file, or of the files of ``NAME:FILE``, for manifests.

    Raises:
        InputError: A file cannot be read.
    """
    files = [path]
    if is_named(str(path)):
        files = [file for given in source_named(str(path)).paths for file in files_in(given)]
    digest = hashlib.sha256()
    for file in files:
        try:
            digest.update(file.read_bytes())
        except OSError as error:
            raise InputError(f"expected a readable file; found {file}: {error.strerror}") from None
    return digest.hexdigest()[:16]


def refuse_shared(
    dev: Sequence[AttributionExample],
    others: Sequence[AttributionExample],
    by: Literal["sentence", "question"] = "sentence",
    what: str = "development examples",
) -> None:
    """Refuse examples that are also trained on: same group, or same text.

    Args:
        dev: Examples that must not be trained on.
        others: Training examples.
        by: The text to compare. Examples without a question are compared by sentence.
        what: Name of the first examples in the error.

    Raises:
        InputError: An example is in both.
    """
    groups = {example.group for example in others if example.group}
    texts = {_compared(example, by)[1] for example in others}
    for example in dev:
        named, text = _compared(example, by)
        if example.group in groups:
            raise InputError(
                f"expected {what} that are not trained on; found {example.id}, whose group {example.group} is in both. "
                "Split the data by group."
            )
        if text in texts:
            raise InputError(
                f"expected {what} that are not trained on; found {example.id}, whose {named} is in both. Remove it "
                "from one of them."
            )


def _compared(example: AttributionExample, by: Literal["sentence", "question"]) -> tuple[str, str]:
    """Return the name and the words of the text to compare."""
    named, text = (
        ("question", example.question) if by == "question" and example.question else ("sentence", example.sentence)
    )
    return named, as_compared(text)


def as_compared(text: str) -> str:
    """Normalize for comparison: lower case, one space between words."""
    return " ".join(text.lower().split())


def as_line(example: AttributionExample) -> str:
    """Return a line of the file, without default values."""
    return json.dumps(example.model_dump(mode="json", exclude_defaults=True), ensure_ascii=False)
