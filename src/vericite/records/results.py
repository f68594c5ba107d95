"""Results: verdicts, their counts, repairs, and runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from vericite.errors import VeriCiteError
from vericite.records.base import SCHEMA_VERSION, FloatMap, FrozenDict, Names, Record, renamed
from vericite.records.notebook import as_html
from vericite.records.rates import Rate, clustered_wilson
from vericite.records.values import Answer, Evidence, EvidenceSpan, Ledger, Question, Rewriting

Label = Literal["supported", "contradicted", "irrelevant", "dangling"]
"""Common labels of all protocols. ``dangling``: the cited source does not exist."""
NO_TEXT = "no text"
"""Native label of a dangling citation of an entry in the answer's own list of references: its text is not there."""


Degree = Literal["supported", "partly supported", "contradicted", "not found"]
"""How far the sources carry a sentence. Partly supported: a part of what it says. Not found: they do not say it."""

WordKind = Literal[
    "number", "unit", "direction", "population", "treatment", "outcome", "comparator", "time", "certainty"
]
"""What words of a sentence are about."""
FIGURES: frozenset[WordKind] = frozenset({"number", "unit", "time"})
"""Kinds of words that state a figure."""
OPPOSITE = "says the opposite"
"""How the reason of a supported verdict ends that names a cited source which contradicts it."""
SOURCE_SAYS = "The source says"
"""How ``Verdict.because`` begins where a source has other words in place of those of the sentence."""
SOURCE_GIVES = "The source gives"
"""How it begins where a sentence gives an arm the figure of another, or compares arms against their figures."""


class UnsupportedWords(Record):
    """Words of a sentence that no source of the citation carries, with their place in the answer."""

    kind: WordKind
    text: str = Field(min_length=1)
    start: int = Field(ge=0)
    end: int = Field(ge=0)


class StatementVerdict(Record):
    """The judgement on one of the statements of a claim.

    ``label`` is None if it could not be judged. ``holds`` says whether the protocol counts the statement in the
    answer's favour; Reason and Verify also counts labels that are not support from the source.
    """

    text: str
    label: Label | None
    native: str
    holds: bool
    probabilities: FloatMap = FrozenDict()


class OtherSource(Record):
    """A source that supports a sentence whose cited sources do not.

    ``marker`` is its number in the answer; None for a document of a corpus that was asked, too.
    """

    document: str
    marker: int | None = Field(default=None, ge=1)

    @property
    def name(self) -> str:
        """Its marker, as printed, or the document's id."""
        return self.document if self.marker is None else f"[{self.marker}]"


def is_unset(value: object) -> bool:
    """Whether an optional part of a record is left out of its JSON."""
    return value is None or value in ((), "")


class Verdict(Record):
    """The judgement on one claim against the sources judged together for it.

    ``by_marker`` has the document of each marker if several markers are of one document; otherwise ``documents`` is in
    the order of the markers. ``label`` is the common label, ``native`` that of the protocol or its judge (the papers
    have two to eight labels). ``probabilities`` are those of the deciding passage; empty if no model was asked or it
    has none. ``evidence`` lists the passages that carry the verdict, strongest first; ``nearest`` is, of an irrelevant
    verdict, the sentence that came closest to deciding it. ``statements`` is set if the claim was judged in several, or
    was ``split_after_failure`` because it failed as a whole. ``redundant`` are documents that the claim does not need:
    the others support it without them, and they do not support it alone (ALCE's irrelevant citations); None if the
    protocol does not ask. ``label_by_source`` has the label of each of several documents by its own sentences alone, if
    the protocol gives it: an irrelevant one may be superfluous. An ``abstained`` verdict is not counted; ``reasons``
    says why. ``retracted`` are the documents known to be retracted. ``supported_by`` are other sources that support the
    claim; they are looked for only with ``check.explain``, and only if no cited source supports it.

    ``degree`` says how far the sources carry the claim; None if there is no verdict. ``because`` says what the source
    has instead, of a supported claim that figures of arms in its source seem to be against. With the setting
    ``check.explain`` it says so of other details, too, and ``words`` are those that the sources do not carry; both are
    empty where nothing certain was found.
    """

    claim: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    markers: tuple[int, ...]
    documents: tuple[str, ...]
    by_marker: tuple[str, ...] = Field(default=(), exclude_if=is_unset)
    label: Label
    native: str
    probabilities: FloatMap = FrozenDict()
    evidence: tuple[EvidenceSpan, ...] = ()
    nearest: EvidenceSpan | None = Field(default=None, exclude_if=is_unset)
    statements: tuple[StatementVerdict, ...] = ()
    split_after_failure: bool = Field(default=False, validation_alias=renamed("split_after_failure", "taken_apart"))
    redundant: tuple[str, ...] | None = Field(default=None, validation_alias=renamed("redundant", "unneeded"))
    label_by_source: Names = Field(default=FrozenDict(), validation_alias=renamed("label_by_source", "apart"))
    abstained: bool = False
    retracted: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    supported_by: tuple[OtherSource, ...] = Field(default=(), exclude_if=is_unset)
    degree: Degree | None = Field(default=None, exclude_if=is_unset)
    words: tuple[UnsupportedWords, ...] = Field(default=(), exclude_if=is_unset)
    because: str = Field(default="", exclude_if=is_unset)
    protocol: str

    @property
    def elsewhere(self) -> str:
        """The other sources that support it, in words; empty without any."""
        names = [source.name for source in self.supported_by]
        joined = "".join(names) if all(source.marker for source in self.supported_by) else ", ".join(names)
        return f"supported by {joined} instead" if names else ""

    @property
    def outcome(self) -> str:
        """The label, or ``abstained``: the label of such a verdict is only the likeliest one, or none was given."""
        return "abstained" if self.abstained else self.label

    @property
    def opposition(self) -> tuple[str, ...]:
        """The reasons that name a cited source which contradicts the supported sentence; empty without any."""
        said = self.reasons if self.outcome == "supported" else ()
        return tuple(reason for reason in said if reason.endswith(OPPOSITE))

    @property
    def is_partly_supported(self) -> bool:
        """Whether the sentence is not found as a whole, and a part of it may be supported."""
        return self.outcome == "irrelevant" and self.degree == "partly supported"

    @property
    def has_other_figure(self) -> bool:
        """Whether the sentence is supported and its source has another figure, which ``because`` names.

        The judge passed over it, so a person should look. Figures of arms are compared by the protocols ``default``
        and ``fast``, others only with ``check.explain``.
        """
        if self.outcome != "supported":
            return False
        of_figures = any(words.kind in FIGURES for words in self.words)
        return self.because.startswith(SOURCE_GIVES) or (of_figures and self.because.startswith(SOURCE_SAYS))

    def kind_in(self, answer: Answer | None) -> str:
        """Return how it is counted: by its outcome, or as quoted.

        An answer with ``selected`` consists of quotations, which support themselves under any protocol.
        """
        return "quoted" if self.outcome == "supported" and answer is not None and answer.selected else self.outcome

    _repr_html_ = as_html


class VerificationFailure(Record):
    """A judgement that could not be made. It is counted as a failure, never as a label.

    ``raw`` has the judge's output, if it could not be parsed. ``statements`` are those of the claim, if it was judged
    in several and some were judged.
    """

    claim: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    markers: tuple[int, ...]
    documents: tuple[str, ...]
    by_marker: tuple[str, ...] = Field(default=(), exclude_if=is_unset)
    reason: str
    raw: tuple[str, ...] = ()
    statements: tuple[StatementVerdict, ...] = ()
    protocol: str

    @property
    def label(self) -> Literal["failed"]:
        """Takes the place of a verdict's label."""
        return "failed"


RepairAction = Literal["dropped citation", "re-cited", "rewritten", "dropped"]
"""What was done to a sentence: citations removed, citations replaced, words replaced, or sentence deleted."""


class Change(Record):
    """One change to a sentence.

    ``sentence`` is the number, from 0, of the claim in the answer before any repair. ``before`` and ``after`` are the
    sentence with its markers; ``after`` is None if it was deleted. ``why`` is what was wrong with it. ``by`` is the
    author of new words: ``restoration`` from its source, ``quotation`` of a source, or the signature of a language
    model.
    """

    sentence: int = Field(ge=0)
    action: RepairAction
    before: str
    after: str | None = None
    why: str = Field(min_length=1)
    round: int = Field(ge=1)
    by: str | None = None


QUOTATION = "quotation"
"""Author of a sentence that repair replaced by one of its source's."""


def quoted_by_repair(changes: Iterable[Change]) -> dict[int, str]:
    """Return the sentences, by number, that repair replaced by one of their source's, with their present text.

    The text includes markers. Such a sentence supports itself, so its support says nothing about the answer.
    """
    found: dict[int, str] = {}
    for change in changes:
        same_words = change.action in ("dropped citation", "re-cited") and change.sentence in found
        if change.after is not None and (change.by == QUOTATION or same_words):
            found[change.sentence] = change.after
        else:
            found.pop(change.sentence, None)
    return found


class Provenance(Record):
    """What made a result, precisely enough to reproduce it.

    ``parts`` maps a stage (``judge``, ``splitter``, ``retriever`` ...) to the signature of its part.
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

    @property
    def label(self) -> Literal["uncited"]:
        """Takes the place of a verdict's label."""
        return "uncited"


class Summary(Record):
    """Counts over one answer or many; every share is stored as numerator and denominator.

    ``citations`` are counted as in the answer: pairs of a claim and a document, and dangling markers. A *case* is what
    a protocol decides at once: with most protocols such a pair, with ``joint`` all that a claim cites. ``judged`` are
    cases with a label that counts.

    ``statements`` were judged one by one, and ``holding`` of them hold. ``tested`` citations were left out one at a
    time, and ``needed`` of them are needed: their claim is supported, and less well without them. ``retracted`` counts
    citations of documents known to be retracted. ``unread`` counts markers that point at nothing known.

    ``quoted`` are cases of an answer made of quotations whose sentence is word for word in its source. They hold by
    construction, no judge was asked, and they are in no other count except ``citations``. ``misattributed`` are judged
    cases that are not supported by their sources and are supported by another; counted with ``check.explain`` only.
    ``figure`` are supported cases whose source has another figure (``Verdict.has_other_figure``), ``opposed`` those
    that another cited source contradicts (``Verdict.opposition``).
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
    quoted: int = 0
    misattributed: int = Field(default=0, exclude_if=lambda count: not count)
    figure: int = Field(default=0, exclude_if=lambda count: not count)
    opposed: int = Field(default=0, exclude_if=lambda count: not count)

    @property
    def judged(self) -> int:
        """Cases that are supported, contradicted or irrelevant."""
        return self.supported + self.contradicted + self.irrelevant

    @property
    def cases(self) -> int:
        """All cases given to the protocol."""
        return self.judged + self.abstained + self.failed

    def __add__(self, other: Summary) -> Summary:
        """Add the counts."""
        return Summary(**{name: getattr(self, name) + getattr(other, name) for name in type(self).model_fields})

    @classmethod
    def of(cls, answer: Answer, verdicts: tuple[Verdict, ...], failures: tuple[VerificationFailure, ...]) -> Self:
        """Count an answer's citations and the verdicts on them."""
        counts = {"supported": 0, "contradicted": 0, "irrelevant": 0, "dangling": 0, "abstained": 0, "quoted": 0}
        for verdict in verdicts:
            counts[verdict.kind_in(answer)] += 1
        counted = [verdict for verdict in verdicts if verdict.kind_in(answer) != "quoted"]
        pairs = [{citation.document or citation.marker for citation in claim.citations} for claim in answer.claims]
        retracted = {document.id for document in answer.documents if document.retracted}
        return cls(
            claims=len(answer.claims),
            uncited=len(answer.uncited),
            citations=sum(map(len, pairs)),
            failed=len(failures),
            retracted=sum(len(pair & retracted) for pair in pairs),
            unread=len(answer.unread),
            misattributed=sum(bool(verdict.supported_by) and verdict.label != "dangling" for verdict in verdicts),
            figure=sum(verdict.has_other_figure for verdict in counted),
            opposed=sum(bool(verdict.opposition) for verdict in counted),
            **counts,
            **_closer(counted, failures),
        )


def _closer(verdicts: Iterable[Verdict], failures: tuple[VerificationFailure, ...]) -> dict[str, int]:
    """Count what some protocols judge in addition to cases. Abstained cases count nowhere else."""
    decided = [verdict for verdict in verdicts if not verdict.abstained]
    # A claim that failed as a whole may have statements that did not.
    # Statements of a claim that was split after it failed say nothing about all statements.
    apart = [found for found in decided if not found.split_after_failure]
    statements = [item for found in (*apart, *failures) for item in found.statements if item.label is not None]
    tested = [verdict for verdict in decided if verdict.redundant is not None]
    return {
        "statements": len(statements),
        "holding": sum(item.holds for item in statements),
        "tested": sum(len(verdict.documents) for verdict in tested),
        "needed": sum(
            len(verdict.documents) - len(verdict.redundant or ()) for verdict in tested if verdict.label == "supported"
        ),
    }


class CheckedAnswer(Record):
    """The result of ``check`` for one answer; one line of its output.

    ``question`` is that of the answer, if it has one; files written before 2026-12 lack it.
    ``unread`` are markers that point at nothing known, as written in the answer. ``assumed`` says what was assumed when
    the answer was read, such as that each sentence cites every context.
    """

    id: str
    question: str | None = Field(default=None, exclude_if=is_unset)
    verdicts: tuple[Verdict, ...]
    failures: tuple[VerificationFailure, ...] = ()
    uncited: tuple[UncitedClaim, ...] = ()
    unread: tuple[str, ...] = ()
    assumed: tuple[str, ...] = Field(default=(), exclude_if=is_unset)
    summary: Summary
    provenance: Provenance

    @property
    def support_rate(self) -> Rate:
        """Share of citations that are supported, with its 95 % interval; ``value`` is None without citations.

        Citations of documents that do not exist, abstained verdicts and failures count as not supported.
        """
        return clustered_wilson(*support(self.summary))

    def kind_of(self, verdict: Verdict) -> str:
        """Return how a verdict is counted: see ``Verdict.kind_in``. Only answers of quotations have quoted cases."""
        is_quoted = self.summary.quoted and verdict.outcome == "supported"
        return "quoted" if is_quoted else verdict.outcome

    @property
    def needing(self) -> int:
        """Number of sentences that need a person: all that are not supported or quoted.

        Of the others, those with a retracted or an opposing source, with another figure in the source, or with only
        partial support. Pages count by the same rule.
        """
        found = {(item.start, item.end) for item in (*self.failures, *self.uncited)}
        for verdict in self.verdicts:
            is_good = self.kind_of(verdict) in ("supported", "quoted") and verdict.degree != "partly supported"
            if not is_good or verdict.retracted or verdict.opposition or verdict.has_other_figure:
                found.add((verdict.start, verdict.end))
        return len(found)

    @property
    def unsure(self) -> int:
        """Number of verdicts that would support if their probability were high enough."""
        return sum(verdict.abstained and verdict.label == "supported" for verdict in self.verdicts)

    @property
    def supported(self) -> bool:
        """Whether every sentence cites something and every citation is supported or quotes its source."""
        count, of = support(self.summary)
        return bool(of or self.summary.quoted) and count == of and not self.uncited

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain values, as written by ``check --out``."""
        return self.model_dump(mode="json")

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One row per verdict, failure and uncited sentence, in the order of the text."""
        found = [_row(item) | {"label": self.kind_of(item)} for item in self.verdicts]
        found += [_row(item) for item in (*self.failures, *self.uncited)]
        return sorted(found, key=lambda row: (row["start"], row["markers"]))

    def to_pandas(self) -> Any:
        """Convert the rows to a pandas ``DataFrame``.

        Raises:
            VeriCiteError: pandas is not installed.
        """
        try:
            from pandas import DataFrame  # pyright: ignore
        except ImportError:
            raise VeriCiteError("to_pandas() needs pandas. Install it: pip install pandas") from None
        return DataFrame(self.rows, columns=list(_COLUMNS))  # pyright: ignore

    def __repr__(self) -> str:
        """One line: the answer's id and the counts of its citations."""
        return f"<CheckedAnswer {self.id!r}: {summary_in_words(self.summary)}>"

    __str__ = __repr__

    _repr_html_ = as_html


_COLUMNS = ("claim", "start", "end", "markers", "documents", "label", "probability", "evidence", "reason")


def _row(item: Verdict | VerificationFailure | UncitedClaim) -> dict[str, Any]:
    row: dict[str, Any] = {"claim": item.claim, "start": item.start, "end": item.end, "markers": (), "documents": ()}
    row |= {"label": item.label, "probability": None, "evidence": "", "reason": ""}
    if isinstance(item, UncitedClaim):
        return row
    row |= {"markers": item.markers, "documents": item.documents}
    if isinstance(item, VerificationFailure):
        return {**row, "reason": item.reason}
    return {
        **row,
        "probability": item.probabilities.get(item.label),
        "evidence": " ... ".join(span.text for span in item.evidence if span.text),
        "reason": "; ".join(filter(None, (item.elsewhere, *item.reasons))),
    }


def summary_in_words(summary: Summary) -> str:
    """Return the counts of an answer's citations in words."""
    count, of = support(summary)
    told = [f"{count} of {of} citations supported"] if of else [] if summary.quoted else ["no citations"]
    kinds = ("quoted", "contradicted", "irrelevant", "dangling", "abstained", "failed", "uncited")
    told += [f"{getattr(summary, kind)} {kind}" for kind in kinds if getattr(summary, kind)]
    return ", ".join(told)


class CheckedRationale(Record):
    """The result of verifying a rationale: Algorithm 1 of Reason and Verify.

    ``checked`` has one verdict per statement, with its category as ``native`` label. ``verdict`` is for the rationale
    as a whole, ``quality`` rates the response from 1 to 5, ``grounded`` from 0 to 1 how far the rationale rests on the
    documents in the judge's view; each is None if the judge cannot tell. ``score`` is Faith(R), None if no statement
    was judged. ``context`` is the number of documents that statements were judged against. ``undecided`` are categories
    that this judge cannot tell apart.
    """

    checked: CheckedAnswer
    verdict: Literal["CORRECT", "INCORRECT"] | None = None
    quality: int | None = Field(default=None, ge=1, le=5)
    grounded: float | None = Field(default=None, ge=0, le=1)
    score: float | None = Field(default=None, ge=0, le=1)
    context: int = Field(ge=1)
    undecided: tuple[str, ...] = ()

    @property
    def faith(self) -> tuple[int, int]:
        """Faith(R): number of faithful statements and of statements judged."""
        return self.checked.summary.holding, self.checked.summary.statements


class OracleCell(Record):
    """How the evidence of an oracle was made; it contains the question's gold documents by design.

    ``oracle`` has all of them, or the first k. ``controlled`` has as many documents as the question's standard cell:
    gold documents, filled up with retrieved ones if there are too few. ``gold`` and ``retrieved`` count both kinds,
    ``standard`` the documents of the standard cell. ``missing`` are gold documents that could not be found, with the
    reasons.
    """

    kind: Literal["oracle", "controlled"]
    gold: int = Field(ge=0)
    retrieved: int = Field(default=0, ge=0)
    standard: int | None = Field(default=None, ge=0)
    missing: Names = FrozenDict()


class Run(Record):
    """One question with its evidence, answer and verdicts.

    ``changes`` are repairs of the answer; ``seconds`` has the time of each stage; ``cell`` is set if the evidence is
    made of gold documents. If a rationale was judged against several numbers of documents, ``contexts`` has the result
    for each, and ``rationale`` is the last. ``calls`` are those of all language models for this question; None if none
    was asked, or if several questions were answered at a time.
    """

    question: Question
    evidence: tuple[Evidence, ...]
    answer: Answer
    checked: CheckedAnswer
    provenance: Provenance
    rewriting: Rewriting | None = None
    rationale: CheckedRationale | None = None
    contexts: tuple[CheckedRationale, ...] = ()
    changes: tuple[Change, ...] = ()
    seconds: FloatMap = FrozenDict()
    cell: OracleCell | None = None
    calls: Ledger | None = Field(default=None, exclude_if=is_unset)

    _repr_html_ = as_html


_SEVERITY: tuple[RepairAction, ...] = ("dropped citation", "re-cited", "rewritten", "dropped")


class Repaired(Record):
    """A repaired answer, checked again.

    ``before`` counts the citations before the repair. ``sentences`` and ``words`` count the claims before it;
    ``words_kept`` of these words are in unchanged sentences, or remain in rewritten ones. ``rounds`` is the number of
    rounds with a change. ``deleted`` sentences are gone, and so do not count afterwards. ``quoted`` sentences were
    replaced by a sentence of a source, which supports itself. ``left`` lists what was not touched because it could not
    be judged.
    """

    answer: Answer
    checked: CheckedAnswer
    before: Summary
    changes: tuple[Change, ...] = ()
    rounds: int = Field(default=0, ge=0)
    sentences: int = Field(default=0, ge=0)
    deleted: int = Field(default=0, ge=0)
    quoted: int = Field(default=0, ge=0)
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
        """The strongest action on each changed sentence."""
        found: dict[int, RepairAction] = {}
        for change in sorted(self.changes, key=lambda change: _SEVERITY.index(change.action)):
            found[change.sentence] = change.action
        return found

    def count(self, action: RepairAction) -> int:
        """Return the number of sentences for which this is the strongest action."""
        return list(self.actions.values()).count(action)

    @property
    def kept(self) -> int:
        """Number of sentences with unchanged words."""
        return self.sentences - sum(action != "dropped citation" for action in self.actions.values())

    @property
    def content(self) -> tuple[int, int]:
        """Number of sentences kept or re-cited, and the total number of sentences."""
        return self.kept + self.count("re-cited"), self.sentences

    _repr_html_ = as_html


def support(summary: Summary) -> tuple[int, int]:
    """Return the supported cases, and all cases and dangling citations: numerator and denominator of a support rate."""
    return summary.supported, summary.cases + summary.dangling
