"""What models learn to attribute from: a sentence, its sources, and which of them support it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, Self

from pydantic import ConfigDict, Field, ValidationError, field_validator, model_validator

from vericite.errors import InputError, RecordError
from vericite.records import Answer, Document, Gold, GoldSentence, Record, first_problem, read_jsonl
from vericite.text.citations import parse_answer


class TrainConfig(Record):
    """How something is trained; a file of JSON names what is not as usual."""

    @classmethod
    def read(cls, path: Path | None) -> Self:
        """From a JSON file; None is all defaults.

        Raises:
            InputError: The file cannot be read, or names what there is not.
        """
        if path is None:
            return cls()
        try:
            return cls.model_validate_json(path.read_text(encoding="utf-8"))
        except ValidationError as error:
            told = ": ".join(filter(None, first_problem(error)))
            raise InputError(f"expected a config with any of {', '.join(cls.model_fields)}; {path}: {told}") from None
        except (OSError, ValueError) as error:
            raise InputError(f"expected a config in JSON; found {path}: {error}") from None


class ExampleSource(Record):
    """A source as a model reads it."""

    model_config = ConfigDict(extra="ignore")

    id: str = Field(min_length=1)
    title: str = ""
    text: str

    @property
    def document(self) -> Document:
        """It as a document."""
        return Document.from_text(self.id, self.text or self.title, self.title)


class AttributionExample(Record):
    """One line of a training or development file.

    Attributes:
        supports: The sources that support the sentence, alone or together, from 1.
        unknown: Sources of which it is not known; they count for nothing.
        weight: Of its part of the loss.
        kind: How it was made (``long``, ``paraphrase``, ``joined`` ...).
        made_from: The data set it comes from.
        group: What it shares with lines that are not independent of it: its question or document.
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
            raise ValueError("expected sources with ids that differ; found one twice")
        return self

    @property
    def answer(self) -> Answer:
        """The sentence as an answer of its own that cites nothing."""
        return one_claim(self.id, self.sentence, [source.document for source in self.sources], self.question)

    @property
    def gold(self) -> Gold:
        """What it ought to cite."""
        ids = tuple(self.sources[number - 1].id for number in sorted(set(self.supports)))
        return Gold(id=self.id, citations=(GoldSentence(sentence=0, documents=ids),))


def one_claim(id: str, sentence: str, documents: Sequence[Document], question: str | None) -> Answer:
    """A sentence as an answer: one claim, whatever stops and markers are in it."""
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


def read_examples(paths: Iterable[Path]) -> list[AttributionExample]:
    """The examples of these files, in their order.

    Raises:
        InputError: A file cannot be read, a line is no example, or there is none.
    """
    found: list[AttributionExample] = []
    listed = list(paths)
    for path in listed:
        try:
            found += read_jsonl(AttributionExample, path)
        except RecordError as error:
            raise InputError(f"{error}. Mend or remove that line; docs/training.md has the form.") from None
    if not found:
        names = ", ".join(map(str, listed)) or "no file"
        raise InputError(f"expected examples in {names}; found none. Make some: vericite train attribution-data")
    return found


def refuse_shared(
    dev: Sequence[AttributionExample],
    others: Sequence[AttributionExample],
    by: Literal["sentence", "question"] = "sentence",
    what: str = "development examples",
) -> None:
    """Refuse examples that are trained on too: of the same group, or with the same text.

    Args:
        dev: Examples that are not to be learnt from.
        others: Those that are.
        by: Whose text is compared; of an example without a question its sentence.
        what: What the former are, for the error.

    Raises:
        InputError: There is one.
    """
    groups = {it.group for it in others if it.group}
    texts = {_compared(it, by)[1] for it in others}
    for one in dev:
        named, text = _compared(one, by)
        if one.group in groups:
            raise InputError(
                f"expected {what} that are not trained on; found {one.id}, whose group {one.group} is in both. Split "
                "the data by group."
            )
        if text in texts:
            raise InputError(
                f"expected {what} that are not trained on; found {one.id}, whose {named} is in both. Leave it out of "
                "one of them."
            )


def _compared(it: AttributionExample, by: Literal["sentence", "question"]) -> tuple[str, str]:
    """What of an example is held against others, by name, and its words."""
    named, text = ("question", it.question) if by == "question" and it.question else ("sentence", it.sentence)
    return named, as_compared(text)


def as_compared(text: str) -> str:
    """A text as it is held against others: small letters, one space between words."""
    return " ".join(text.lower().split())


def as_line(example: AttributionExample) -> str:
    """A line of the file, without what is as usual."""
    return json.dumps(example.model_dump(mode="json", exclude_defaults=True), ensure_ascii=False)
