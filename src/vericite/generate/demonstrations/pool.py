"""The pool: worked questions in a JSON Lines file, from which demonstrations are taken."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, Self, get_args

from pydantic import Field, model_validator

from vericite.errors import InputError, Problems, RecordError
from vericite.generate.prompt import AnswerPrompt, Demonstration
from vericite.records import (
    SCHEMA_VERSION,
    Document,
    Names,
    Question,
    QuestionType,
    Record,
    number_jsonl,
    to_json,
)
from vericite.records.base import FrozenDict
from vericite.text.marks import without_marks
from vericite.text.references import parse_markers, reference_key, render_markers
from vericite.text.sentences import document_sentences, split_sentences
from vericite.text.terms import terms

Label = Literal["yes", "no", "maybe"]


class Exemplar(Record):
    """A question of a training set with its evidence, and its right answer in the form that models should write.

    Markers ``[n]`` are ``documents[n - 1]``. ``answer`` has cited sentences, ``rationale`` cited reasoning of a model,
    and ``final`` the answer it leads to, in one word if possible. An exemplar has an answer, or a rationale with its
    final answer, or both. ``articles`` names everything that its evidence was chosen from, in the form of
    ``reference_key``; ``made_by`` says what made which part.
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
        """Names of its articles and of the documents that it shows."""
        return frozenset(self.articles) | document_keys(self.documents)

    def shown_in(self, prompt: AnswerPrompt | None = None) -> Demonstration | None:
        """Convert to a demonstration for a prompt; None if the exemplar lacks what the prompt asks for.

        A prompt that ends in a final answer is shown the rationale and the final answer, by its letter if the prompt
        has options. Other prompts are shown the cited answer, and the rationale if they have a place for it.
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
    """Exemplars removed because of the questions to be asked; each is counted once, by the first rule that applies.

    Attributes:
        questions: Number of questions compared.
        id: Exemplars with the same id.
        article: Exemplars that share a document, by PMID, DOI or id.
        text: Exemplars with the same words.
        near: Exemplars with similar vectors.
        threshold: Minimum cosine of similar vectors.
        embedder: The embedder of the vectors.
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
        """Number of exemplars removed."""
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
    """Exemplars, ordered by id.

    Attributes:
        exemplars: The exemplars, with distinct ids.
        path: Their file; vectors are stored next to it.
        removed: What was removed so far, and why.
    """

    exemplars: tuple[Exemplar, ...]
    path: Path | None = None
    removed: tuple[Removed, ...] = ()

    @classmethod
    def of(cls, exemplars: Iterable[Exemplar], path: Path | None = None) -> Self:
        """Make a pool of exemplars.

        Raises:
            InputError: Two exemplars have the same id.
        """
        found: dict[str, Exemplar] = {}
        for exemplar in exemplars:
            if exemplar.id in found:
                raise InputError(
                    f"expected each exemplar to have a unique id; found {exemplar.id!r} twice. Rename one."
                )
            found[exemplar.id] = exemplar
        return cls(tuple(found[id] for id in sorted(found)), path)

    @classmethod
    def read(cls, path: Path, problems: Problems) -> Self:
        """Read a pool from a file; bad lines are added to ``problems``.

        Raises:
            InputError: The file cannot be read, or has no exemplar at all.
        """
        found: dict[str, Exemplar] = {}
        for number, line in problems.kept(number_jsonl(Exemplar, path)):
            if line.id in found:
                problems.append(RecordError(path, number, "id", f"expected an id of its own; {line.id!r} came before"))
            else:
                found[line.id] = line
        if not found:
            raise InputError(
                f"expected demonstrations in {path}; found none. Build them with "
                f"`vericite demonstrations build`.{problems.first_of(path)}"
            )
        return cls.of(found.values(), path)

    def __len__(self) -> int:
        return len(self.exemplars)

    @cached_property
    def signature(self) -> str:
        """Number of exemplars, a hash of their content, and what was removed."""
        digest = hashlib.sha256()
        for exemplar in self.exemplars:
            digest.update(to_json(exemplar).encode())
        removed = "".join(f", {item.signature}" for item in self.removed)
        return f"pool.v1@{digest.hexdigest()[:12]}({len(self)}{removed})"


def document_keys(documents: Sequence[Document]) -> frozenset[str]:
    """Return all identifiers of documents."""
    names = (name for document in documents for name in (document.id, document.pmid, document.doi, document.pmcid))
    return frozenset(reference_key(name) for name in names if name)


def label_of(question: Question) -> Label | None:
    """Return yes, no or maybe if that is the right answer."""
    if question.type not in (None, "yesno") or len(question.gold_exact) != 1:
        return None
    synonyms = {synonym.strip().lower() for synonym in question.gold_exact[0]}
    return next((label for label in get_args(Label) if synonyms == {label}), None)


def normal(text: str) -> str:
    """Normalize a question: words without capitals, signs, stopwords and plurals."""
    return " ".join(terms(text)) or " ".join(text.lower().split())


ATTRIBUTION = "gold-answer.v1"
"""Signature of the citing rules; changes whenever they would cite differently."""

SHARE = 0.6
"""Minimum share of a sentence's words in one sentence of the document.

Of 120 reference answers of BioASQ's training questions, 113 keep a sentence at 0.6 (0.5: 115, 0.7: 108). The bundled
verifier finds 172 of the 179 sentences supported by the document that they then cite (175 of 182, 167 of 172). This
looks easier than it is, because some of the documents were put together from the gold snippets.
"""

_FEWEST = 3
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_BARE = re.compile(r"(yes|no|maybe)[.,!]?", re.IGNORECASE)


@dataclass(frozen=True)
class Attributed:
    """A sentence of a gold answer, and the index of its source among the documents; None without a source."""

    text: str
    source: int | None


class PoolDocuments:
    """Documents to search for the sources of sentences."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._sentences = [_words(document) for document in documents]
        self._numbers = [frozenset(_NUMBER.findall(document.titled_text)) for document in documents]

    def best(self, sentence: str) -> int | None:
        """Return the document that has most of a sentence's words in one of its sentences, with all its numbers."""
        words = frozenset(terms(sentence))
        numbers = set(_NUMBER.findall(sentence))
        if len(words) < _FEWEST:
            return None
        shares = [
            max((len(words & other) for other in sentences), default=0) / len(words) if numbers <= known else 0.0
            for sentences, known in zip(self._sentences, self._numbers, strict=True)
        ]
        best = max(shares, default=0.0)
        return shares.index(best) if best >= SHARE else None


def attributed(answer: str, documents: Sequence[Document]) -> list[Attributed]:
    """Return the sentences of a gold answer with their sources."""
    sources = PoolDocuments(documents)
    found: list[Attributed] = []
    front = ""
    for span in split_sentences(answer):
        # Text that looks like a citation would be parsed as one of ours.
        text = without_marks(re.sub(r"\s+", " ", answer[span.slice]))
        if _BARE.fullmatch(text):
            # "Yes." has no source of its own; it is joined to the sentence that says why.
            front = f"{text.rstrip('.,!')}: "
            continue
        source = sources.best(text)
        found.append(Attributed(front + text, source))
        front = front if source is None else ""
    return found


def evidence_for(answers: Sequence[str], documents: Sequence[Document], most: int) -> tuple[Document, ...]:
    """Return the documents to show: those that the gold answers rest on, then others, in their given order."""
    counts = Counter(
        sentence.source
        for answer in answers
        for sentence in attributed(answer, documents)
        if sentence.source is not None
    )
    ranked = sorted(range(len(documents)), key=lambda place: (-counts[place], place))
    return tuple(documents[place] for place in sorted(ranked[:most]))


def cited_answer(answers: Sequence[str], documents: Sequence[Document]) -> str | None:
    """Return the first gold answer with a source for any sentence, with its citations; None if there is none."""
    for answer in answers:
        cited = [
            _cited_sentence(sentence.text, sentence.source)
            for sentence in attributed(answer, documents)
            if sentence.source is not None
        ]
        if cited:
            return " ".join(cited)
    return None


def _cited_sentence(text: str, source: int) -> str:
    stop = text[-1] if text[-1] in ".!?" else "."
    return f"{text.rstrip('.!?')} {render_markers([source + 1])}{stop}"


def _words(document: Document) -> list[frozenset[str]]:
    sentences = (sentence.text_in(document) for sentence in document_sentences(document))
    return [frozenset(terms(text)) for text in (document.title, *sentences)]
