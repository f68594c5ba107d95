"""Inputs and outputs of the pipeline: documents, questions, evidence, rationales, answers."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from typing import Literal, Self

from pydantic import Field, model_validator

from vericite.errors import expect_type
from vericite.records.base import FloatMap, FrozenDict, Record, Span, renamed, storable
from vericite.records.notebook import as_html


class EvidenceSpan(Record):
    """A passage that carries a verdict: characters ``start`` to ``end`` of a document's text.

    ``sentence_index`` is the number, from 0, of the (first) sentence; None if the passage is the whole text. ``text``
    is the passage itself; files written before 2026-12 may lack it. ``page`` is the page on which it begins, if the
    document has pages.
    """

    document: str
    sentence_index: int | None = Field(ge=0, validation_alias=renamed("sentence_index", "sentence"))
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    text: str | None = None
    page: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.start > self.end:
            raise ValueError(f"expected start <= end; found start {self.start}, end {self.end}")
        return self


class RationaleStep(Record):
    """A sub-claim of the question, and what the evidence says about it.

    ``statement`` is in the model's words; ``documents`` are the sources that it names, ``passages`` its quotations that
    were found in them, and ``unfound`` its quotations that are in none of its sources.
    """

    statement: str = Field(min_length=1)
    question: str | None = None
    documents: tuple[str, ...] = ()
    passages: tuple[EvidenceSpan, ...] = ()
    unfound: tuple[str, ...] = ()


class Rationale(Record):
    """The steps from the evidence to an answer, and the answer they lead to before it is checked.

    ``raw`` is what a language model wrote, if that is more than the steps.
    """

    steps: tuple[RationaleStep, ...] = ()
    provisional: str | None = None
    raw: str | None = None


class Section(Record):
    """A part of an abstract, with its printed label (BACKGROUND, RESULTS ...) if it has one."""

    text: str
    label: str | None = None


class Document(Record):
    """A source that can be cited.

    ``text`` is what offsets refer to: the sections joined by a newline, without their labels. The title is separate,
    because most protocols do not use it as evidence.

    ``date`` is as exact as known, in ISO form: ``2019``, ``2019-05`` or ``2019-05-03``. ``languages`` are three-letter
    codes as in PubMed (``eng``). ``version`` is that of a PMID's record, which only a few journals count; ``revised``
    is the date of the record's last change, in ISO form, and distinguishes two states of one record. ``pages`` has the
    start of each page in ``text``, if the document has pages.
    """

    id: str = Field(min_length=1)
    title: str = ""
    sections: tuple[Section, ...] = ()
    pmid: str | None = None
    pmcid: str | None = None
    doi: str | None = None
    version: int = Field(default=1, ge=1)
    journal: str | None = None
    year: int | None = None
    date: str | None = Field(default=None, pattern=r"^\d{4}(-\d\d(-\d\d)?)?$")
    revised: str | None = Field(default=None, pattern=r"^\d{4}(-\d\d(-\d\d)?)?$")
    languages: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    mesh: tuple[str, ...] = ()
    publication_types: tuple[str, ...] = ()
    retracted: bool = False
    source: str | None = None
    pages: tuple[int, ...] = ()

    @classmethod
    def from_text(cls, id: str, text: str, title: str = "") -> Self:
        """Make a document with one unlabelled section. Lone surrogates, which files cannot hold, become U+FFFD."""
        for given in (text, title):
            expect_type(given, str, "the text and the title of a document as texts", "Give a str")
        text, title = storable(text), storable(title)
        return cls(id=id, title=title, sections=(Section(text=text),) if text else ())

    @cached_property
    def text(self) -> str:
        """The abstract: its sections joined by a newline, without labels."""
        return "\n".join(section.text for section in self.sections)

    @property
    def titled_text(self) -> str:
        """Title and abstract, as they are indexed."""
        return f"{self.title} {self.text}".strip()

    def page_at(self, offset: int) -> int | None:
        """Return the page, from 1, of a character of ``text``; None without pages."""
        return max(1, bisect_right(self.pages, offset)) if self.pages else None

    def passage(self, start: int, end: int, sentence: int | None = None) -> EvidenceSpan:
        """Return a passage of ``text``, with its page if there are pages."""
        return EvidenceSpan(document=self.id, sentence_index=sentence, start=start, end=end, page=self.page_at(start))

    @property
    def section_spans(self) -> tuple[Span, ...]:
        """Span of each section in ``text``."""
        spans: list[Span] = []
        start = 0
        for section in self.sections:
            spans.append(Span(start=start, end=start + len(section.text)))
            start += len(section.text) + 1
        return tuple(spans)


class SourceText(Record):
    """A document in its simplest form: an id, a text, optionally a title; and whether it is known to be retracted."""

    id: str = Field(min_length=1)
    text: str
    title: str | None = None
    retracted: bool = False

    def document(self) -> Document:
        """Convert to a Document."""
        made = Document.from_text(self.id, self.text, self.title or "")
        return made.model_copy(update={"retracted": True}) if self.retracted else made


class Sentence(Record):
    """A sentence of a document: ``document.text[sentence.span.slice]``."""

    document: str
    index: int = Field(ge=0)
    span: Span

    def text_in(self, document: Document) -> str:
        """Return the sentence's text from its document."""
        if document.id != self.document:
            raise ValueError(f"expected document {self.document!r}; found {document.id!r}")
        return document.text[self.span.slice]


QuestionType = Literal["yesno", "factoid", "list", "summary"]


class Question(Record):
    """A question, with what is known of its right answer.

    ``gold_exact`` has one entry per item of the answer, each with its synonyms:
    ``(("yes",),)`` for a yes/no question, ``(("CFTR", "ABCC7"),)`` for a factoid.
    """

    id: str = Field(min_length=1)
    text: str = Field(min_length=1)
    type: QuestionType | None = None
    gold_documents: tuple[str, ...] = ()
    gold_exact: tuple[tuple[str, ...], ...] = ()
    gold_ideal: tuple[str, ...] = ()


class Rewriting(Record):
    """Whether a question was searched for again in other words.

    ``coverage`` is the share of its words in the evidence, ``relevance`` the mean score of the best documents if
    reranked; ``reasons`` says which of them were too low, and is empty if none was. ``query`` is the new query, None
    without one; ``failed`` is why the rewriter gave none. ``again`` has the two figures for the new query, and ``kept``
    says whether its documents replaced the first ones.
    """

    coverage: float = Field(ge=0, le=1)
    relevance: float | None = Field(default=None, ge=0, le=1)
    reasons: tuple[str, ...] = ()
    query: str | None = None
    by: str | None = None
    failed: str | None = None
    again: tuple[float, float | None] | None = None
    kept: bool = False

    @property
    def fired(self) -> bool:
        """Whether the evidence was found insufficient."""
        return bool(self.reasons)


class Evidence(Record):
    """A document found for a question, with its rank, from 1. It may be retracted.

    ``scores`` has the score of every stage that saw it (``bm25``, ``dense`` ...); ``score`` is the one it was ranked
    by, and ``retriever`` what ranked it.

    PubMed is searched in stages, each wider than the previous one: ``stage`` is ``tiab``, ``atm`` or ``raw``.
    """

    document: Document
    rank: int = Field(ge=1)
    score: float
    retriever: str
    scores: FloatMap = FrozenDict()

    @property
    def stage(self) -> str | None:
        """The stage of a search of PubMed that found it; None if it was found elsewhere."""
        named = _STAGE.match(self.retriever)
        return named and named[1]


_STAGE = re.compile(r"pubmed\((\w+)\)")


class Citation(Record):
    """One reference to a source in an answer.

    ``marker`` is the number in the text (``[3]``), ``span`` its place in the answer. ``document`` is None if the number
    points at no source: a dangling citation.
    """

    marker: int = Field(ge=0)
    span: Span
    document: str | None

    @property
    def dangling(self) -> bool:
        """Whether the marker points at no source."""
        return self.document is None


class Claim(Record):
    """A sentence of an answer, to be judged.

    ``text`` is the sentence without its citation markers, as a judge reads it; ``span`` is the place of the sentence,
    with markers, in the answer.
    """

    text: str
    span: Span
    citations: tuple[Citation, ...] = ()

    def shifted(self, by: int) -> Claim:
        """Return the claim in a text with ``by`` more characters in front."""
        if not by:
            return self
        moved = tuple(citation.model_copy(update={"span": citation.span.shifted(by)}) for citation in self.citations)
        return self.model_copy(update={"span": self.span.shifted(by), "citations": moved})


class Trimmed(Record):
    """A document that a generator saw only in part, or not at all, because the prompt was full."""

    document: str
    shown: int = Field(ge=0)
    sentences: int = Field(ge=1)


def cut_in_words(found: int, trimmed: Sequence[Trimmed]) -> str:
    """Say how many of the documents a generator saw, if its prompt had no room for all; else empty."""
    if not trimmed:
        return ""
    left_out = sum(not document.shown for document in trimmed)
    return (
        f"Evidence was cut for want of room: of {found} documents found the model saw "
        f"{found - len(trimmed)} whole, {len(trimmed) - left_out} in part and {left_out} not at all."
    )


class Spent(Record):
    """What the calls of language models for one answer cost.

    ``calls`` were made, and ``remembered`` replies came from the cache. ``seconds`` is the time of the calls, including
    waits. ``cost`` is in dollars, if the service or the user gives a price.
    """

    calls: int = Field(default=0, ge=0)
    remembered: int = Field(default=0, ge=0)
    prompt_tokens: int = Field(default=0, ge=0)
    completion_tokens: int = Field(default=0, ge=0)
    seconds: float = Field(default=0.0, ge=0)
    cost: float | None = Field(default=None, ge=0)


class Ledger(Record):
    """Calls of language models and their cost, so far or for one run. ``str`` gives one line.

    ``calls`` are requests that were answered or given up; ``cached`` of them were answered without asking, and
    ``failures`` have no usable reply. ``attempts`` counts how often a service was asked. The tokens of ``estimated``
    calls were not counted by the service, so that we estimated them. ``cost`` is in dollars; None if neither the
    service nor a price is known. ``answered_as`` are names of the models that services answered with, if they differ
    from the requested ones.
    """

    calls: int = 0
    cached: int = 0
    failures: int = 0
    attempts: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: int = 0
    cost: float | None = 0.0
    answered_as: tuple[str, ...] = ()

    def since(self, earlier: Ledger) -> Ledger:
        """Return the difference to an earlier state of the same ledger: the part of one run."""
        attempts = self.attempts - earlier.attempts
        known = self.cost is not None and earlier.cost is not None
        return Ledger(
            calls=self.calls - earlier.calls,
            cached=self.cached - earlier.cached,
            failures=self.failures - earlier.failures,
            attempts=attempts,
            prompt_tokens=self.prompt_tokens - earlier.prompt_tokens,
            completion_tokens=self.completion_tokens - earlier.completion_tokens,
            estimated=self.estimated - earlier.estimated,
            cost=(self.cost or 0.0) - (earlier.cost or 0.0) if known or not attempts else None,
            answered_as=self.answered_as if attempts else (),
        )

    def __str__(self) -> str:
        about = "about " if self.estimated else ""
        cost = "cost not known" if self.cost is None else f"${self.cost:,.4f}"
        return (
            f"{self.calls:,} call{'' if self.calls == 1 else 's'} ({self.cached:,} cached, {self.failures:,} failed), "
            f"{self.attempts:,} attempt{'' if self.attempts == 1 else 's'}, "
            f"{about}{self.prompt_tokens:,} tokens read and {self.completion_tokens:,} written, {cost}"
        )


class Selected(Record):
    """How a quoted sentence of an answer was selected.

    ``answers`` is the probability that it answers the question, ``role`` its role in the abstract, ``aspect`` what it
    answers (effect, harm, dose ...), if known, and ``contradicted_by`` are other documents with a sentence that
    contradicts it.
    """

    answers: float = Field(ge=0, le=1)
    role: str
    aspect: str | None = None
    contradicted_by: tuple[str, ...] = ()


class SourceStance(Record):
    """Which documents say yes to a question, and which no; ``probability`` is that of yes, over all of them."""

    yes: tuple[str, ...] = ()
    no: tuple[str, ...] = ()
    probability: float = Field(ge=0, le=1)


class Answer(Record):
    """An answer and the sources it may cite: marker ``[n]`` is ``documents[n - 1]``.

    ``insufficient`` is set by a generator that found no evidence worth citing and said so. ``exact`` is the answer in
    one word, in the form of ``Question.gold_exact``; ``rationale`` is the reasoning before it. ``trimmed`` lists
    documents that the generator did not see whole; ``spent`` is what the answer took. ``cut_off`` says that a model's
    reply reached its limit of tokens, so that its unfinished last sentence was dropped; ``notes`` are other changes to
    the reply, or what no source mentions. ``failed`` is why no answer could be made; its text is then empty. ``unread``
    are places that look like citations and point at nothing known, such as ``[Doc A]``. ``assumed`` says what a reader
    of the answer's format assumed, such as that each sentence cites every context.

    A generator that quotes sets ``selected``, how each claim was chosen, in order; ``sufficiency``, the probability
    that the sources answer at all; and ``stance``, which of them say yes and which no.
    """

    id: str
    text: str
    claims: tuple[Claim, ...]
    documents: tuple[Document, ...]
    question: str | None = None
    generator: str | None = None
    insufficient: bool = False
    exact: tuple[tuple[str, ...], ...] | None = None
    rationale: Rationale | None = None
    trimmed: tuple[Trimmed, ...] = ()
    cut_off: bool = False
    notes: tuple[str, ...] = ()
    failed: str | None = None
    spent: Spent | None = None
    selected: tuple[Selected, ...] = ()
    sufficiency: float | None = Field(default=None, ge=0, le=1)
    stance: SourceStance | None = None
    unread: tuple[Span, ...] = ()
    assumed: tuple[str, ...] = Field(default=(), exclude_if=lambda assumed: not assumed)

    @model_validator(mode="after")
    def _coherent(self) -> Answer:
        seen: dict[str, int] = {}
        for position, document in enumerate(self.documents):
            if document.id in seen:
                raise ValueError(
                    f"expected every document to have an id of its own; documents.{position}.id repeats "
                    f"documents.{seen[document.id]}.id, {document.id!r}"
                )
            seen[document.id] = position
        for claim in self.claims:
            if claim.span.end > len(self.text):
                raise ValueError(
                    f"expected claims inside the {len(self.text)} characters of the answer; "
                    f"found one that ends at {claim.span.end}"
                )
            for citation in claim.citations:
                if citation.document is not None and citation.document not in seen:
                    raise ValueError(f"expected citations of the answer's own documents; found {citation.document!r}")
        return self

    @cached_property
    def _by_id(self) -> dict[str, Document]:
        return {document.id: document for document in self.documents}

    def document(self, id: str) -> Document:
        """Return the source with this id."""
        return self._by_id[id]

    @property
    def is_unlikely(self) -> bool:
        """Whether it was given although its sources probably do not answer the question."""
        return not self.insufficient and self.sufficiency is not None and self.sufficiency < 0.5

    @property
    def uncited(self) -> tuple[Claim, ...]:
        """Claims that cite nothing, not even a source that does not exist."""
        return tuple(claim for claim in self.claims if not claim.citations)

    _repr_html_ = as_html
