"""The pool: worked questions in a JSON Lines file, which demonstrations are taken from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, Self, get_args

from pydantic import Field, model_validator

from vericite.errors import InputError, RecordError
from vericite.generate.prompt import Demonstration, Prompt
from vericite.records import SCHEMA_VERSION, Document, Names, Question, QuestionType, Record, number_jsonl, to_json
from vericite.records.base import FrozenDict
from vericite.text.markers import parse_markers
from vericite.text.references import reference_key
from vericite.text.terms import terms

Label = Literal["yes", "no", "maybe"]


class Exemplar(Record):
    """A question of a training set with its evidence, and its right answer as models are to write it.

    Markers ``[n]`` are ``documents[n - 1]``. ``answer`` is cited sentences, ``rationale`` cited reasoning made by a
    model, and ``final`` what that comes to, in a word where there is one. An exemplar has an answer, or a rationale
    with its final answer, or all. ``articles`` names everything that its evidence was chosen from, as ``reference_key``
    writes it; ``made_by`` says what made which part.
    """

    schema_version: int = Field(default=SCHEMA_VERSION, ge=1, le=SCHEMA_VERSION)
    id: str = Field(min_length=1)
    question: str = Field(min_length=1)
    type: QuestionType | None = None
    label: Label | None = None
    documents: tuple[Document, ...] = Field(min_length=1)
    articles: tuple[str, ...] = ()
    answer: str | None = Field(default=None, min_length=1)
    rationale: str | None = Field(default=None, min_length=1)
    final: str | None = Field(default=None, min_length=1)
    made_by: Names = FrozenDict()

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if self.answer is None and (self.rationale is None or self.final is None):
            raise ValueError("expected an answer, or a rationale and its final answer; found neither")
        for name, text in (("answer", self.answer), ("rationale", self.rationale)):
            for group in parse_markers(text or ""):
                if not all(1 <= number <= len(self.documents) for number in group.numbers):
                    raise ValueError(
                        f"expected {name} to cite documents 1 to {len(self.documents)}; found {group.text}"
                    )
        return self

    @cached_property
    def keys(self) -> frozenset[str]:
        """The names of its articles and of the documents that it shows."""
        return frozenset(self.articles) | document_keys(self.documents)

    def shown_in(self, prompt: Prompt | None = None) -> Demonstration | None:
        """As a prompt shows it; None where it lacks what the prompt asks for.

        A prompt that ends in a final answer is shown the rationale and that, by its letter where the prompt has
        options; any other the cited answer, and the rationale where it has a place for one.
        """
        reasons = prompt is not None and "{rationale}" in (prompt.demonstration or "")
        answer = self.answer
        if prompt is not None and prompt.final_answer:
            answer = self._final(prompt.options) if self.rationale else None
        if answer is None:
            return None
        pmids = sorted(key.removeprefix("pmid:") for key in self.keys if key.startswith("pmid:"))
        rationale = self.rationale if reasons or prompt is None else None
        return Demonstration(self.question, self.documents, answer, rationale, self.id, tuple(pmids))

    def _final(self, options: Mapping[str, str]) -> str | None:
        if not options:
            return self.final
        return next((f"{letter}. {option}" for letter, option in options.items() if option == self.label), None)


@dataclass(frozen=True)
class Removed:
    """What a pool lost because the questions to be asked hold it; each exemplar is counted once, by the first rule.

    Attributes:
        questions: How many questions it was held against.
        id: Exemplars with the id of one of them.
        article: Those that share a document with one: by PMID, DOI, or id.
        text: Those with the same words.
        near: Those whose vectors are near.
        threshold: From which cosine on.
        embedder: Whose vectors.
    """

    questions: int
    id: int
    article: int
    text: int
    near: int
    threshold: float
    embedder: str

    @property
    def total(self) -> int:
        """All of them."""
        return self.id + self.article + self.text + self.near

    @property
    def signature(self) -> str:
        """The counts and the threshold."""
        return (
            f"-{self.total} for {self.questions} questions: {self.id} id, {self.article} article, {self.text} text, "
            f"{self.near} near({self.embedder}>={self.threshold:g})"
        )


@dataclass(frozen=True)
class Pool:
    """Exemplars, in the order of their ids whatever the order of the file.

    Attributes:
        exemplars: Each with an id of its own.
        path: The file they are from; vectors are kept beside it.
        removed: What was removed so far, and why.
    """

    exemplars: tuple[Exemplar, ...]
    path: Path | None = None
    removed: tuple[Removed, ...] = ()

    @classmethod
    def of(cls, exemplars: Iterable[Exemplar], path: Path | None = None) -> Self:
        """A pool of these.

        Raises:
            InputError: Two have the same id.
        """
        found: dict[str, Exemplar] = {}
        for exemplar in exemplars:
            if exemplar.id in found:
                raise InputError(
                    f"expected each exemplar to have an id of its own; found {exemplar.id!r} twice. Correct one."
                )
            found[exemplar.id] = exemplar
        return cls(tuple(found[id] for id in sorted(found)), path)

    @classmethod
    def read(cls, path: Path) -> tuple[Self, list[RecordError]]:
        """The pool in a file, and what was wrong with the lines that are none of it.

        Raises:
            InputError: The file cannot be read, or holds no exemplar at all.
        """
        found: dict[str, Exemplar] = {}
        problems: list[RecordError] = []
        for number, line in number_jsonl(Exemplar, path):
            if isinstance(line, RecordError):
                problems.append(line)
            elif line.id in found:
                problems.append(RecordError(path, number, "id", f"expected an id of its own; {line.id!r} came before"))
            else:
                found[line.id] = line
        if not found:
            first = f" The first problem: {problems[0]}" if problems else ""
            raise InputError(
                f"expected demonstrations in {path}; found none. Build them with demonstrations build.{first}"
            )
        return cls.of(found.values(), path), problems

    def __len__(self) -> int:
        return len(self.exemplars)

    @cached_property
    def signature(self) -> str:
        """How many there are, a hash of all that they hold, and what was removed before."""
        digest = hashlib.sha256()
        for exemplar in self.exemplars:
            digest.update(to_json(exemplar).encode())
        told = "".join(f", {removed.signature}" for removed in self.removed)
        return f"pool.v1@{digest.hexdigest()[:12]}({len(self)}{told})"


def document_keys(documents: Sequence[Document]) -> frozenset[str]:
    """All names that documents go by."""
    names = (name for document in documents for name in (document.id, document.pmid, document.doi, document.pmcid))
    return frozenset(reference_key(name) for name in names if name)


def label_of(question: Question) -> Label | None:
    """Yes, no or maybe, where that is the right answer."""
    if question.type not in (None, "yesno") or len(question.gold_exact) != 1:
        return None
    said = {synonym.strip().lower() for synonym in question.gold_exact[0]}
    return next((label for label in get_args(Label) if said == {label}), None)


def normal(text: str) -> str:
    """What two wordings of one question have in common: its words without capitals, signs, stopwords and plurals."""
    return " ".join(terms(text)) or " ".join(text.lower().split())
