"""The records: questions, documents, answers, verdicts, rationales, repairs, runs."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from typing import Literal, Self

from pydantic import Field, model_validator

from vericite.records.base import SCHEMA_VERSION, FloatMap, FrozenDict, Names, Record, Span, storable

Label = Literal["supported", "contradicted", "irrelevant", "dangling"]
"""What every protocol's own label is mapped to. ``dangling``: the source cited does not exist."""


class EvidenceSpan(Record):
    """A passage that carries a verdict: characters ``start`` to ``end`` of a document's text.

    ``sentence`` is the number, from 0, of the (first) sentence; None where the passage is the whole text. ``text`` is
    the passage itself, where the document does not lie beside: ``check --out`` writes it. ``page`` is the one on which
    it begins, of a document that has pages.
    """

    document: str
    sentence: int | None = Field(ge=0)
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    text: str | None = None
    page: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.start > self.end:
            raise ValueError(f"expected start <= end; found start {self.start}, end {self.end}")
        return self


class StatementVerdict(Record):
    """The judgement on one of the statements that a claim was split into.

    ``label`` is None where it could not be judged. ``holds`` says whether the protocol counts the statement
    in the answer's favour; Reason and Verify counts labels that are not support from the source.
    """

    text: str
    label: Label | None
    native: str
    holds: bool
    probabilities: FloatMap = FrozenDict()


class Verdict(Record):
    """The judgement on one claim against the sources judged together for it.

    ``label`` is the common label, ``native`` what the protocol or its judge calls it (the papers have two
    to eight labels). ``probabilities`` are those of the passage that decided, empty where no model was asked
    or where it has none.
    ``evidence`` lists the passages that carry the verdict, the strongest first. ``statements`` are there
    where the claim was judged in several, or was ``taken_apart`` because it failed whole. ``unneeded`` are the
    documents without which the others support the claim as well, and which alone do not (ALCE's irrelevant
    citations); None where the protocol does not ask. ``apart`` has, of several documents judged together, the label of
    each by its own sentences alone, where the protocol tells: one that is irrelevant may be cited in vain.
    An ``abstained`` verdict is not counted: ``reasons`` says why. ``retracted`` are the documents known as retracted.
    """

    claim: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    markers: tuple[int, ...]
    documents: tuple[str, ...]
    label: Label
    native: str
    probabilities: FloatMap = FrozenDict()
    evidence: tuple[EvidenceSpan, ...] = ()
    statements: tuple[StatementVerdict, ...] = ()
    taken_apart: bool = False
    unneeded: tuple[str, ...] | None = None
    apart: Names = FrozenDict()
    abstained: bool = False
    retracted: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    protocol: str


class VerificationFailure(Record):
    """A judgement that could not be made. It is counted as a failure, never as a label.

    ``raw`` holds what the judge said instead, where it said something that could not be read. ``statements`` are
    those of the claim, where it was judged in several and some were.
    """

    claim: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    markers: tuple[int, ...]
    documents: tuple[str, ...]
    reason: str
    raw: tuple[str, ...] = ()
    statements: tuple[StatementVerdict, ...] = ()
    protocol: str


class RationaleStep(Record):
    """A sub-claim that the question was taken apart into, and what the evidence says of it.

    ``statement`` is in the words of whoever reasoned; ``documents`` are the sources it names, ``passages`` the words it
    quotes of them where they were found there, and ``unfound`` the quotations that stand in none of its sources.
    """

    statement: str = Field(min_length=1)
    question: str | None = None
    documents: tuple[str, ...] = ()
    passages: tuple[EvidenceSpan, ...] = ()
    unfound: tuple[str, ...] = ()


class Rationale(Record):
    """The steps from the evidence to an answer, and the answer they come to before it was checked.

    ``raw`` is what a language model wrote, kept where it is more than the steps.
    """

    steps: tuple[RationaleStep, ...] = ()
    provisional: str | None = None
    raw: str | None = None


class Section(Record):
    """A part of an abstract, with the label it was printed under (BACKGROUND, RESULTS ...) if it had one."""

    text: str
    label: str | None = None


class Document(Record):
    """A source that can be cited.

    ``text`` is what offsets refer to: the sections joined by a newline, without their labels.
    The title is kept apart, because most protocols do not take it as evidence.

    ``date`` is as exact as is known, in ISO form: ``2019``, ``2019-05`` or ``2019-05-03``; ``languages`` are codes of
    three letters as PubMed has them (``eng``). ``version`` is that of a PMID's record, which only a few journals count;
    ``revised`` is when the record was last changed, in ISO form, and tells two states of one record apart.
    ``pages`` says of a document with pages where in ``text`` each begins.
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
        """A document with one unlabelled section. Halves of surrogate pairs, which no file holds, become U+FFFD."""
        text, title = storable(text), storable(title)
        return cls(id=id, title=title, sections=(Section(text=text),) if text else ())

    @cached_property
    def text(self) -> str:
        """The abstract: its sections joined by a newline, labels left out."""
        return "\n".join(section.text for section in self.sections)

    @property
    def titled_text(self) -> str:
        """The title and the abstract, as they are indexed."""
        return f"{self.title} {self.text}".strip()

    def page_at(self, offset: int) -> int | None:
        """The page, counted from 1, that a character of ``text`` is on; None where there are no pages."""
        return max(1, bisect_right(self.pages, offset)) if self.pages else None

    def passage(self, start: int, end: int, sentence: int | None = None) -> EvidenceSpan:
        """A passage of ``text``, with its page where there are pages."""
        return EvidenceSpan(document=self.id, sentence=sentence, start=start, end=end, page=self.page_at(start))

    @property
    def section_spans(self) -> tuple[Span, ...]:
        """Where each section lies in ``text``."""
        spans: list[Span] = []
        start = 0
        for section in self.sections:
            spans.append(Span(start=start, end=start + len(section.text)))
            start += len(section.text) + 1
        return tuple(spans)


class SourceText(Record):
    """A document as people have it: an id, a text, perhaps a title."""

    id: str = Field(min_length=1)
    text: str
    title: str | None = None

    def document(self) -> Document:
        """The same as a document."""
        return Document.from_text(self.id, self.text, self.title or "")


class Sentence(Record):
    """A sentence of a document: ``document.text[sentence.span.slice]``."""

    document: str
    index: int = Field(ge=0)
    span: Span

    def text_in(self, document: Document) -> str:
        """The sentence's words, read from its document."""
        if document.id != self.document:
            raise ValueError(f"expected document {self.document!r}; found {document.id!r}")
        return document.text[self.span.slice]


QuestionType = Literal["yesno", "factoid", "list", "summary"]


class Question(Record):
    """A question, with what is known of its right answer.

    ``gold_exact`` holds one entry per item of the answer, each with its synonyms:
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

    ``coverage`` is the share of its words that are in the evidence, ``relevance`` the mean score of the best documents
    when reranked; ``reasons`` says which of them were too low, and is empty where none was. ``query`` is what was
    searched for then, None where nobody had other words; ``failed`` is why, where whoever was asked for them could not
    say. ``again`` are the two figures of what the query found, and ``kept`` says whether its documents took the place
    of the first.
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
        """Whether the evidence was found wanting."""
        return bool(self.reasons)


class Evidence(Record):
    """A document found for a question, at a rank counted from 1. Whether it is retracted, it says itself.

    ``scores`` keeps the score of every stage that saw it (``bm25``, ``dense`` ...);
    ``score`` is the one it was ranked by, and ``retriever`` what ranked it.
    """

    document: Document
    rank: int = Field(ge=1)
    score: float
    retriever: str
    scores: FloatMap = FrozenDict()


class Citation(Record):
    """One reference to a source, as the answer makes it.

    ``marker`` is the number in the text (``[3]``), ``span`` where in the answer it stands.
    ``document`` is None when the number points at no source: a dangling citation.
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

    ``text`` is the sentence without its citation markers, as a judge reads it;
    ``span`` is where the sentence, markers and all, stands in the answer.
    """

    text: str
    span: Span
    citations: tuple[Citation, ...] = ()


class Trimmed(Record):
    """A document of the evidence of which a generator saw only some sentences, or none, because the prompt was full."""

    document: str
    shown: int = Field(ge=0)
    sentences: int = Field(ge=1)


class Spent(Record):
    """What language models took for one answer.

    ``calls`` were made and ``remembered`` replies came from the cache; ``seconds`` are those of the calls, waits
    included; ``cost`` is in dollars, where the service or the user says what it charges.
    """

    calls: int = Field(default=0, ge=0)
    remembered: int = Field(default=0, ge=0)
    prompt_tokens: int = Field(default=0, ge=0)
    completion_tokens: int = Field(default=0, ge=0)
    seconds: float = Field(default=0.0, ge=0)
    cost: float | None = Field(default=None, ge=0)


class Selected(Record):
    """How a sentence was chosen that an answer quotes.

    ``answers`` is the probability that it answers the question, ``role`` what it is in its abstract, and
    ``contradicted_by`` are other documents found for the question of which a sentence contradicts it.
    """

    answers: float = Field(ge=0, le=1)
    role: str
    contradicted_by: tuple[str, ...] = ()


class SourceStance(Record):
    """Which documents say yes to a question, and which no; ``probability`` is that of yes, by all of them together."""

    yes: tuple[str, ...] = ()
    no: tuple[str, ...] = ()
    probability: float = Field(ge=0, le=1)


class Answer(Record):
    """An answer and the sources it may cite: marker ``[n]`` is ``documents[n - 1]``.

    ``insufficient`` is set by a generator that found no evidence worth citing and said so. ``exact`` is the answer in a
    word, as ``Question.gold_exact`` has it, of a generator that gives one; ``rationale`` the reasoning before it.
    ``trimmed`` tells which documents the generator did not see whole, ``spent`` what the answer took. ``cut_off`` says
    that a model's reply reached its limit of tokens, so that its unfinished last sentence is left out; ``notes`` say
    what else was done to the reply. ``failed`` is why there is no answer, where making one failed: its text is then
    empty. ``unread`` are places that look like citations and point at nothing that is known, such as ``[Doc A]``.

    A generator that quotes says in ``selected`` how each claim was chosen, in order; in ``sufficiency`` how likely the
    sources answer at all; and in ``stance`` which of them say yes and which no.
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
        """The source with this id."""
        return self._by_id[id]

    @property
    def uncited(self) -> tuple[Claim, ...]:
        """The claims that cite nothing, not even a source that does not exist."""
        return tuple(claim for claim in self.claims if not claim.citations)


RepairAction = Literal["dropped citation", "re-cited", "rewritten", "dropped"]
"""What is done with a sentence: some of its citations go; others take their place; other words do; it goes."""


class Change(Record):
    """One thing that was done to a sentence.

    ``sentence`` is the number, from 0, of the claim in the answer as it was before any repair. ``before`` and ``after``
    are the sentence with its markers; there is none ``after`` it was dropped. ``why`` is what was wrong with it,
    ``by`` whose words a rewritten one has: ``restoration`` of what its source says, ``quotation`` of a source, or the
    signature of a language model.
    """

    sentence: int = Field(ge=0)
    action: RepairAction
    before: str
    after: str | None = None
    why: str = Field(min_length=1)
    round: int = Field(ge=1)
    by: str | None = None


class Provenance(Record):
    """What made a result, precisely enough to make it again.

    ``parts`` maps a stage (``judge``, ``splitter``, ``retriever`` ...) to the signature of what filled it.
    """

    version: str
    protocol: str | None = None
    parts: Names = FrozenDict()
    seed: int | None = None
    schema_version: int = Field(default=SCHEMA_VERSION, ge=1, le=SCHEMA_VERSION)


class UncitedClaim(Record):
    """A claim that cites nothing."""

    claim: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)


class Summary(Record):
    """Counts over one answer or many; every share is kept as its numerator and denominator.

    ``citations`` are counted as the answer makes them: pairs of a claim and a document, and dangling markers.
    A *case* is what a protocol decides at once, under most protocols such a pair, under ``joint`` all that a
    claim cites. ``judged`` are the cases with a label that counts.

    ``statements`` were judged one by one, and ``holding`` of them hold. ``tested`` citations were left out one
    at a time, and ``needed`` of them are: their claim is supported, and not as well without them. ``retracted`` are
    citations, as they are counted, of documents known as retracted. ``unread`` are markers that point at nothing
    that is known.
    """

    claims: int = 0
    uncited: int = 0
    citations: int = 0
    supported: int = 0
    contradicted: int = 0
    irrelevant: int = 0
    dangling: int = 0
    abstained: int = 0
    failed: int = 0
    statements: int = 0
    holding: int = 0
    tested: int = 0
    needed: int = 0
    retracted: int = 0
    unread: int = 0

    @property
    def judged(self) -> int:
        """Cases that are supported, contradicted or irrelevant."""
        return self.supported + self.contradicted + self.irrelevant

    @property
    def cases(self) -> int:
        """All that were put to the protocol."""
        return self.judged + self.abstained + self.failed

    def __add__(self, other: Summary) -> Summary:
        """The counts of both."""
        mine, theirs = self.model_dump(), other.model_dump()
        return Summary(**{name: mine[name] + theirs[name] for name in mine})

    @classmethod
    def of(cls, answer: Answer, verdicts: tuple[Verdict, ...], failures: tuple[VerificationFailure, ...]) -> Self:
        """Count an answer's citations and the verdicts on them."""
        counts = {"supported": 0, "contradicted": 0, "irrelevant": 0, "dangling": 0, "abstained": 0}
        for verdict in verdicts:
            counts["abstained" if verdict.abstained else verdict.label] += 1
        pairs = [{citation.document or citation.marker for citation in claim.citations} for claim in answer.claims]
        retracted = {document.id for document in answer.documents if document.retracted}
        return cls(
            claims=len(answer.claims),
            uncited=len(answer.uncited),
            citations=sum(map(len, pairs)),
            failed=len(failures),
            retracted=sum(len(pair & retracted) for pair in pairs),
            unread=len(answer.unread),
            **counts,
            **_closer(verdicts, failures),
        )


def _closer(verdicts: tuple[Verdict, ...], failures: tuple[VerificationFailure, ...]) -> dict[str, int]:
    """What protocols that look closer than at a case count. What was abstained from counts nowhere else."""
    decided = [verdict for verdict in verdicts if not verdict.abstained]
    # A claim that failed as a whole may have statements that did not.
    # Those of claims that were taken apart because they failed would say nothing of all statements.
    apart = [found for found in decided if not found.taken_apart]
    statements = [item for found in (*apart, *failures) for item in found.statements if item.label is not None]
    tested = [verdict for verdict in decided if verdict.unneeded is not None]
    return {
        "statements": len(statements),
        "holding": sum(item.holds for item in statements),
        "tested": sum(len(verdict.documents) for verdict in tested),
        "needed": sum(
            len(verdict.documents) - len(verdict.unneeded or ()) for verdict in tested if verdict.label == "supported"
        ),
    }


class CheckedAnswer(Record):
    """What ``check`` says of one answer; one line of its output.

    ``unread`` are markers that point at nothing that is known, as the answer writes them.
    """

    id: str
    verdicts: tuple[Verdict, ...]
    failures: tuple[VerificationFailure, ...] = ()
    uncited: tuple[UncitedClaim, ...] = ()
    unread: tuple[str, ...] = ()
    summary: Summary
    provenance: Provenance


class CheckedRationale(Record):
    """What verification says of a rationale: Algorithm 1 of Reason and Verify.

    ``checked`` has a verdict a statement, whose ``native`` label is its category. ``verdict`` is that of the rationale
    as a whole, ``quality`` the response's from 1 to 5; None where nobody was asked who can tell. ``context`` is the
    number of documents that statements were judged against. ``undecided`` are categories that this judge cannot tell.
    """

    checked: CheckedAnswer
    verdict: Literal["CORRECT", "INCORRECT"] | None = None
    quality: int | None = Field(default=None, ge=1, le=5)
    context: int = Field(ge=1)
    undecided: tuple[str, ...] = ()

    @property
    def faith(self) -> tuple[int, int]:
        """Faith(R): statements that are faithful, and statements judged."""
        return self.checked.summary.holding, self.checked.summary.statements


class Cell(Record):
    """How evidence came to be that holds a question's gold documents by design.

    ``oracle`` has all of them, or the first k. ``controlled`` has as many documents as the question's standard cell:
    gold ones as far as they go, and where they are short, those that were retrieved. ``gold`` and ``retrieved`` count
    the two, ``standard`` the documents of the standard cell. ``missing`` are gold documents that were not to be had,
    each with the reason.
    """

    kind: Literal["oracle", "controlled"]
    gold: int = Field(ge=0)
    retrieved: int = Field(default=0, ge=0)
    standard: int | None = Field(default=None, ge=0)
    missing: Names = FrozenDict()


class Run(Record):
    """A question's way through the pipeline: what was found, answered and judged.

    ``changes`` are what repair did to the answer; ``seconds`` has the time of each stage by its name; ``cell`` is there
    where the evidence is of gold documents.
    """

    question: Question
    evidence: tuple[Evidence, ...]
    answer: Answer
    checked: CheckedAnswer
    provenance: Provenance
    rewriting: Rewriting | None = None
    rationale: CheckedRationale | None = None
    changes: tuple[Change, ...] = ()
    seconds: FloatMap = FrozenDict()
    cell: Cell | None = None


_SEVERITY: tuple[RepairAction, ...] = ("dropped citation", "re-cited", "rewritten", "dropped")


class Repaired(Record):
    """An answer after its repair, and its citations checked again.

    ``before`` counts the citations as they were. ``sentences`` and ``words`` are those of the claims before;
    ``words_kept`` of them are in sentences that say the same still, or remain in rewritten ones. ``rounds`` is how
    often something was changed. ``left`` tells what was not touched because it could not be judged.
    """

    answer: Answer
    checked: CheckedAnswer
    before: Summary
    changes: tuple[Change, ...] = ()
    rounds: int = Field(default=0, ge=0)
    sentences: int = Field(default=0, ge=0)
    words: int = Field(default=0, ge=0)
    words_kept: int = Field(default=0, ge=0)
    left: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if self.words_kept > self.words:
            raise ValueError(f"expected words_kept <= {self.words}, the words; found {self.words_kept}")
        beyond = [change.sentence for change in self.changes if change.sentence >= self.sentences]
        if beyond:
            raise ValueError(f"expected changes of the {self.sentences} sentences; found one of number {beyond[0]}")
        return self

    @property
    def actions(self) -> dict[int, RepairAction]:
        """Of each sentence that was changed, what changed it most."""
        found: dict[int, RepairAction] = {}
        for change in sorted(self.changes, key=lambda change: _SEVERITY.index(change.action)):
            found[change.sentence] = change.action
        return found

    def count(self, action: RepairAction) -> int:
        """The sentences to which this was done, and nothing that changes more."""
        return list(self.actions.values()).count(action)

    @property
    def kept(self) -> int:
        """The sentences that stand as they did, but perhaps for some of their citations."""
        return self.sentences - sum(action != "dropped citation" for action in self.actions.values())

    @property
    def content(self) -> tuple[int, int]:
        """The sentences kept or re-cited, and all there were."""
        return self.kept + self.count("re-cited"), self.sentences


def support(summary: Summary) -> tuple[int, int]:
    """The cases that are supported, and all cases and dangling citations: what a support rate is made of."""
    return summary.supported, summary.cases + summary.dangling
