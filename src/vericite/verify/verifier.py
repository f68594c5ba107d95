"""Verification: run a protocol over many answers at a time."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import log
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from vericite.errors import InputError, expect_type
from vericite.models.contracts import ENTAILS, NEUTRAL, Judge, Judgement, Pair, traits_of
from vericite.records import (
    Answer,
    CheckedAnswer,
    Citation,
    Claim,
    Document,
    EvidenceSpan,
    Provenance,
    Span,
    StatementVerdict,
    Summary,
    UncitedClaim,
    Verdict,
    VerificationFailure,
)
from vericite.records.results import NO_TEXT, OPPOSITE
from vericite.text.acronyms import without_long_forms
from vericite.text.assertion import ASSERTIONS, asserted_part, denies, is_qualified
from vericite.text.citations import CITATIONS
from vericite.text.injection import INSTRUCTIONS
from vericite.text.labels import LABELS
from vericite.text.language import LANGUAGE, foreign_reason
from vericite.text.printed import split_answer
from vericite.text.sentences import SPLITTER, punkt_signature
from vericite.text.terms import terms
from vericite.text.words import bounded, plain
from vericite.verify.aggregators import Outcome, quotation, quoted
from vericite.verify.degrees import degree_of, features, is_contradiction, is_measured, partly
from vericite.verify.judges.registry import load_judge
from vericite.verify.judging import ask
from vericite.verify.premises import Assembling, Case, Premise, Sources, fits_budget, split_to_budget
from vericite.verify.protocol import MEASURED, Protocol
from vericite.verify.sheet import Cell, Overlap, Sheet
from vericite.verify.swaps import ARMS, swap
from vericite.version import __version__


def weighted_overlap(statement: str, premises: Sequence[str]) -> NDArray[np.float64]:
    """Return the share of the statement's terms in each premise; a term weighs more if fewer premises have it."""
    # In the order of the words, not of a set, whose order differs between processes: ties must not.
    wanted = sorted(_terms(statement))
    found = [[term for term in wanted if term in words] for words in map(_terms, premises)]
    spread = Counter(term for terms_found in found for term in terms_found)
    weights = {term: log(1 + len(premises) / (1 + spread[term])) + 0.1 for term in wanted}
    total = sum(weights.values()) or 1.0
    return np.array([sum(weights[term] for term in terms_found) / total for terms_found in found])


@lru_cache(maxsize=2_048)
def _terms(text: str) -> frozenset[str]:
    return frozenset(terms(text))


@dataclass
class PendingCase:
    """A case that awaits its verdict; ``abstain`` has the reason if judging it makes no sense.

    ``about`` has notes on its sources for the reader of the verdict.
    ``quotes`` is the premise that the claim quotes word for word, if the protocol allows this; no judge is asked then.
    ``reread`` has the cells whose premise seems to support the statement but asserts only a part of its text: whether
    that part still supports it, None until it is judged.
    """

    protocol: Protocol
    claim: Claim
    case: Case
    statements: tuple[str, ...]
    abstain: str | None
    question: str | None = None
    note: str | None = None
    about: tuple[str, ...] = ()
    judgements: list[Judgement] = field(default_factory=list[Judgement])
    reread: dict[Cell, bool | None] = field(default_factory=dict[Cell, "bool | None"])
    sheet: Sheet = field(init=False)
    quotes: int | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        if self.protocol.quotes:
            self.quotes = quoted(self.claim.text, self.case)
        roles = [premise.role for premise in self.case.premises]
        complete = not isinstance(self.protocol.premise, Assembling)
        self.sheet = Sheet.blank(
            len(self.statements), roles, self._overlap(), self.protocol.abstain_below, complete=complete
        )

    def wanted(self, judge: Judge) -> dict[Cell, Pair]:
        """Return what to judge next. When the first premises are judged, more may be assembled from them."""
        if self.abstain is not None or self.quotes is not None:
            return {}
        wanted = self._to_reread() or self._wanted()
        if wanted or self.sheet.complete:
            return wanted
        self._assemble(judge)
        return self._wanted()

    def _assemble(self, judge: Judge) -> None:
        plan = self.protocol.premise
        more: tuple[Premise, ...] = ()
        silent = frozenset[int]()
        if isinstance(plan, Assembling):
            silent = plan.silent(self.claim.text, self.case, self.sheet)
            more = plan.assemble(self.case, self.sheet, fits_budget(self.statements, judge), silent)
        self.case = replace(self.case, premises=(*self.case.premises, *more))
        self.sheet = self.sheet.completed([premise.role for premise in more], silent)

    def _wanted(self) -> dict[Cell, Pair]:
        # Never ask twice, whatever the aggregator wants: a verdict must be reached.
        rows, columns = np.nonzero(self.protocol.aggregate.wanted(self.sheet) & ~self.sheet.asked)
        return {cell: self._pair(cell) for cell in zip(rows.tolist(), columns.tolist(), strict=True)}

    def _overlap(self) -> Overlap | None:
        idle = self.abstain is not None or self.quotes is not None
        if idle or not getattr(self.protocol.aggregate, "reads_overlap", False):
            return None
        texts = [premise.text for premise in self.case.premises]
        shape = (len(self.statements), len(texts))
        return np.array([weighted_overlap(statement, texts) for statement in self.statements]).reshape(shape)

    def put(self, asked: Mapping[Cell, Pair], judged: Mapping[Pair, Judgement]) -> None:
        """Store the judgements on what was asked."""
        judgements = [judged[pair] for pair in asked.values()]
        self.judgements += judgements
        first = {cell: judged[pair] for cell, pair in asked.items() if cell not in self.reread}
        self.sheet.fill(list(first), list(first.values()))
        for cell in asked.keys() - first.keys():
            self.reread[cell] = self.sheet.lower(cell, judged[asked[cell]])

    def _to_reread(self) -> dict[Cell, Pair]:
        """Return seeming support without the parts that the premise only reports, supposes, asks or denies."""
        if self.protocol.published:
            return {}
        pairs: dict[Cell, Pair] = {}
        for row, column in np.argwhere(self.sheet.asked & ~self.sheet.failed).tolist():
            cell = (row, column)
            if cell in self.reread or self.sheet.scores[row, column, ENTAILS] < REREAD_FROM:
                continue
            whole, claimed = self.case.premises[column].text, self.statements[row]
            asserted = asserted_part(whole, not denies(claimed))
            if asserted == whole or is_qualified(claimed):
                continue
            self.reread[cell] = None
            if asserted:
                pairs[cell] = self._pair(cell, asserted)
            else:
                self.reread[cell] = self.sheet.lower(cell, None)
        return pairs

    def _pair(self, cell: Cell, text: str | None = None) -> Pair:
        statement, premise = cell
        source = self.case.premises[premise].text if text is None else text
        return Pair(source, self.statements[statement], self.question)

    def unasserted(self, outcome: Outcome) -> Iterator[str]:
        """Note sources that mention the claim without asserting it, if that decided against the claim."""
        if outcome.label == "supported":
            return
        columns = [column for (_, column), supports in self.reread.items() if supports is False]
        spans = [span for column in columns for span in self.case.premises[column].passages]
        for id in dict.fromkeys(span.document for span in spans):
            yield f"{id} mentions the claim but does not assert it, which is no evidence"


REREAD_FROM = 0.2
"""Minimum probability of support for rereading a premise without what it does not assert."""

PAIRS_AT_ONCE = 8192
"""Pairs to gather over several answers before the judge is asked: enough to fill its batches and to find pairs that
answers share, few enough to hold in memory."""

PAIRS_AT_FIRST = 128
"""Pairs of the first batch; each following one may have twice as many, so that a long stream gives results early."""

ANSWERS_AT_ONCE = 256
"""Maximum number of answers to gather, for answers with few pairs."""

LANGUAGE_SAMPLE = 2000
"""Number of characters of a document from which its language is detected."""


@dataclass(frozen=True)
class ClaimsToJudge:
    """Claims, and the documents to judge each of them against.

    Attributes:
        documents: The documents.
        claims: The text of each claim, and the indices of its sources among the documents.
        question: The question, for judges that read it.
    """

    documents: tuple[Document, ...]
    claims: tuple[tuple[str, tuple[int, ...]], ...]
    question: str | None = None

    @property
    def cited(self) -> tuple[Claim, ...]:
        """The claims as protocols expect them; a claim's span has its number."""
        return tuple(self._claim(number, *claim) for number, claim in enumerate(self.claims))

    def _claim(self, number: int, text: str, sources: tuple[int, ...]) -> Claim:
        span = Span(start=number, end=number + 1)
        citations = (Citation(marker=at + 1, span=span, document=self.documents[at].id) for at in sources)
        return Claim(text=text, span=span, citations=tuple(citations))


_NUMBER = re.compile(r"(?<![\w.])[0-9]+(?:\.[0-9]+)?(?![\w])")
_LONG_WORD = re.compile(r"[^\W_]{101,}")
"""Models read such text as one unknown token or meaningless pieces: any two of them would entail each other."""
_POINTS = re.compile(
    r"[\s(]{0,3}(?:for (?:an? |the )?(?:more |further |additional |full |recent )?"
    r"(?:reviews?|details?|information|discussions?|overviews?|reading)"
    r"(?: (?:of|on|about) (?!(?:how|why|what|that|whether) )(?:[\w-]{1,30} ){0,4}[\w-]{1,30})?,? )?"
    r"(?:please )?(?:see|see also|refer to|compare|cf\.?|reviewed in|discussed in)"
    r"(?:,? e\.g\.|,? for example|,? for instance)?"
    r"(?: (?:the )?(?:refs?\.?|references?|sources?))?(?: for (?:an? |the )?(?:more |further |full )?"
    r"(?:reviews?|details?|information|overview|discussion))?[\s.,;:()]{0,9}",
    re.IGNORECASE,
)
"""A sentence that names its source and says nothing: "For details, see [1]." """

Owner = TypeVar("Owner")


class Verifier:
    """Runs one protocol. Its judge stays loaded, so use one verifier for many answers.

    Raises:
        InputError: The protocol or its judge is invalid, or the judge cannot do what the protocol needs.
    """

    def __init__(self, protocol: Protocol) -> None:
        expect_type(protocol, Protocol, "a protocol, or its name", "`vericite protocols` lists the names")
        self.protocol = protocol
        self.judge = load_judge(protocol.judge) if isinstance(protocol.judge, str) else protocol.judge
        expect_judge(self.judge)
        traits = traits_of(self.judge)
        if protocol.abstain_below and not traits.graded:
            raise InputError(
                f"expected a judge with probabilities for abstain_below; {self.judge.signature} only returns labels. "
                "Leave abstain_below out."
            )
        self._supported_from = 0.0 if protocol.precision is None else _lowest_at(protocol, self.judge)
        self._grades_parts = protocol.name in MEASURED and is_measured(self.judge.signature)
        self._compares_arms = protocol.name in MEASURED and not protocol.published
        self._asks_question = traits.reads_question
        self._pairs_at_once = traits.pairs_at_once or PAIRS_AT_ONCE
        self.provenance = Provenance(
            version=__version__,
            # Use the judge's own signature: it is the same whether the judge was given by name or as an object.
            protocol=replace(protocol, judge=self.judge).signature,
            parts={
                "judge": self.judge.signature,
                "splitter": punkt_signature() if protocol.splitter == "punkt" else SPLITTER,
                "citations": CITATIONS,
                "language": "any (as published)" if protocol.published else LANGUAGE,
                "assertions": "judged (as published)" if protocol.published else ASSERTIONS,
                "instructions": "judged (as published)" if protocol.published else INSTRUCTIONS,
                "labels": "judged (as published)" if protocol.published else LABELS,
                **({"arms": ARMS} if self._compares_arms else {}),
            },
        )

    def verify(self, answers: Iterable[Answer]) -> Iterator[CheckedAnswer]:
        """Check answers, in order; each is returned as soon as its batch is judged.

        Raises:
            InputError: One of them is not an ``Answer``.
        """
        for answer, pending_cases in self._decided(self._planned(answers)):
            yield self._checked(answer, [self._result(pending) for pending in pending_cases])

    def verify_stepwise(
        self, answer: Answer, on_result: Callable[[Verdict | VerificationFailure], None]
    ) -> CheckedAnswer:
        """Check one answer claim by claim and report each result at once; the verdicts are those of ``verify``."""
        expect_answer(answer)
        results: list[Verdict | VerificationFailure] = []
        for claim in answer.claims:
            pending_cases = list(self._plan((claim,), answer.documents, answer.question))
            self._judge(pending_cases)
            for pending in pending_cases:
                results.append(self._result(pending))
                on_result(results[-1])
        return self._checked(answer, results)

    def combined(self, answer: Answer, parts: Iterable[CheckedAnswer]) -> CheckedAnswer:
        """Combine the results of claims that were checked one by one into the result of ``verify``."""
        dangling = frozenset(self._dangling(answer))
        results = [item for part in parts for item in (*part.verdicts, *part.failures) if item not in dangling]
        return self._checked(answer, results)

    def failed(self, answer: Answer, reason: str) -> CheckedAnswer:
        """Return the result of an answer that could not be checked: a failure for each claim that cites documents."""
        cited = [
            (claim, [citation for citation in claim.citations if not citation.dangling]) for claim in answer.claims
        ]
        failures = [
            VerificationFailure(
                **_claim_location(claim),
                markers=tuple(citation.marker for citation in citations),
                documents=tuple(citation.document for citation in citations if citation.document),
                reason=reason,
                protocol=self.protocol.name,
            )
            for claim, citations in cited
            if citations
        ]
        return self._checked(answer, list[Verdict | VerificationFailure](failures))

    def judge_claims(self, batches: Iterable[ClaimsToJudge]) -> Iterator[list[list[Verdict | VerificationFailure]]]:
        """Judge any claims against any documents.

        Yields for each batch, in order, the results of each of its claims: one for each case of the protocol, none for
        a claim without sources.
        """
        planned = ((batch, list(self._plan(batch.cited, batch.documents, batch.question))) for batch in batches)
        for batch, pending_cases in self._decided(planned):
            results: list[list[Verdict | VerificationFailure]] = [[] for _ in batch.claims]
            for pending in pending_cases:
                results[pending.claim.span.start].append(self._result(pending))
            yield results

    def _planned(self, answers: Iterable[Answer]) -> Iterator[tuple[Answer, list[PendingCase]]]:
        for answer in answers:
            expect_answer(answer)
            quotes = bool(answer.selected)
            yield answer, list(self._plan(answer.claims, answer.documents, answer.question, quotes))

    def _plan(
        self, claims: Iterable[Claim], documents: tuple[Document, ...], question: str | None, quotes: bool = False
    ) -> Iterator[PendingCase]:
        published = self.protocol.published
        sources = Sources(documents, published, self.protocol.splitter)
        foreign: dict[str, str | None] = {}
        for claim in claims:
            cases = tuple(self.protocol.premise.cases(claim, sources))
            if not cases:
                continue
            reason = _no_text(claim) if published else _claim_reason(claim)
            statements = () if reason else self.protocol.claim.statements(claim)
            if quotes:  # What was added to a quotation is not in its source.
                statements = tuple(without_long_forms(statement) for statement in statements)
            for case in cases:
                split = replace(case, premises=split_to_budget(case.premises, statements, self.judge))
                note = _cut_note(case, split)
                abstain = reason or (None if published else _source_reason(case, foreign))
                about = _source_notes(case, sources)
                asked = question if self._asks_question else None
                yield PendingCase(self.protocol, claim, split, statements, abstain, asked, note, about)

    def _decided(self, planned: Iterable[tuple[Owner, list[PendingCase]]]) -> Iterator[tuple[Owner, list[PendingCase]]]:
        """Judge in batches of enough pairs, over several owners."""
        batch: list[tuple[Owner, list[PendingCase]]] = []
        waiting, enough = 0, min(PAIRS_AT_FIRST, self._pairs_at_once)
        for owner, pending_cases in planned:
            batch.append((owner, pending_cases))
            waiting += sum(pending.sheet.asked.size for pending in pending_cases if pending.abstain is None)
            if waiting >= enough or len(batch) >= ANSWERS_AT_ONCE:
                self._judge([pending for _, own in batch for pending in own])
                yield from batch
                batch, waiting = [], 0
                enough = min(2 * enough, self._pairs_at_once)
        self._judge([pending for _, own in batch for pending in own])
        yield from batch

    def _judge(self, pending_cases: list[PendingCase]) -> None:
        """Judge in rounds until no aggregator needs more pairs; each distinct pair is judged once."""
        judged: dict[Pair, Judgement] = {}
        while pending_cases:
            asked = [(pending, pending.wanted(self.judge)) for pending in pending_cases]
            asked = [(pending, pairs) for pending, pairs in asked if pairs]
            new = dict.fromkeys(pair for _, pairs in asked for pair in pairs.values() if pair not in judged)
            judged.update(zip(new, ask(self.judge, new), strict=True))
            for pending, pairs in asked:
                pending.put(pairs, judged)
            pending_cases = [pending for pending, _ in asked]

    def _result(self, pending: PendingCase) -> Verdict | VerificationFailure:
        if pending.abstain is not None:
            nothing = Outcome("irrelevant", "abstained", {}, ())
            reasons = tuple(dict.fromkeys((pending.abstain, *pending.about)))
            return self._verdict(pending, nothing, reasons, abstained=True)
        if pending.quotes is not None:
            return self._verdict(pending, quotation(pending.quotes), pending.about)
        judgements = pending.judgements
        failures = [item for item in judgements if item.failure is not None]
        failed = f"{len(failures)} of {len(judgements)} judgements failed: {failures[0].failure}" if failures else None
        outcome = self.protocol.aggregate.decide(pending.sheet)
        if not all(item.graded for item in judgements):
            outcome = outcome.ungraded()
        if outcome.label is None:
            raw = dict.fromkeys(item.raw for item in failures if item.raw is not None)
            reason = failed or "the aggregator gave no outcome"
            statements = _statements(pending, outcome)
            return VerificationFailure(reason=reason, raw=tuple(raw), statements=statements, **self._location(pending))
        notes = dict.fromkeys(note for note in (pending.note, failed, *(item.note for item in judgements)) if note)
        unsure = self._unsure(outcome) or self._imprecise(outcome)
        reasons = (
            *([unsure] if unsure else ()),
            *_parted(pending, outcome),
            *pending.unasserted(outcome),
            *pending.about,
            *notes,
        )
        return self._verdict(pending, outcome, reasons, abstained=unsure is not None)

    def _unsure(self, outcome: Outcome) -> str | None:
        """Return why a label is too uncertain, if it is."""
        sure = outcome.probabilities.get(outcome.label or "", 1.0)
        bar = self.protocol.abstain_below
        return f"unsure: {outcome.label} at {sure:.2f}, below {bar:.2f}" if sure < bar else None

    def _imprecise(self, outcome: Outcome) -> str | None:
        """Return why a supported verdict is not right often enough, if it is not."""
        sure, least = outcome.probabilities.get("supported", 1.0), self._supported_from
        if outcome.label != "supported" or sure >= least:
            return None
        return f"unsure: supported at {sure:.2f}, below {least:.2f} for precision {self.protocol.precision:g}"

    def _verdict(
        self, pending: PendingCase, outcome: Outcome, reasons: tuple[str, ...], abstained: bool = False
    ) -> Verdict:
        passages: dict[EvidenceSpan, None] = {}
        for premise in outcome.premises:
            passages.update(dict.fromkeys(self._by_share(pending, pending.case.premises[premise])))
        redundant = outcome.redundant
        is_compared = self._compares_arms and not abstained and pending.quotes is None
        return Verdict(
            **self._location(pending),
            label=outcome.label or "irrelevant",
            native=outcome.native,
            probabilities=outcome.probabilities,
            evidence=tuple(_with_text(span, pending.case.documents) for span in passages),
            nearest=_nearest(pending) if outcome.label == "irrelevant" and not passages else None,
            statements=_statements(pending, outcome),
            split_after_failure=outcome.split_after_failure,
            redundant=None if redundant is None else tuple(pending.case.documents[source].id for source in redundant),
            label_by_source=dict(
                zip((document.id for document in pending.case.documents), outcome.label_by_source, strict=False)
            ),
            abstained=abstained,
            retracted=tuple(document.id for document in pending.case.documents if document.retracted),
            reasons=reasons,
            because=_against_figures(pending) if is_compared and outcome.label == "supported" else "",
            degree=None if abstained else degree_of(outcome, self._partly(pending, outcome)),
        )

    def _by_share(self, pending: PendingCase, premise: Premise) -> Sequence[EvidenceSpan]:
        """Return the passages of a premise; of sentences judged together first the one that carries most of the claim.

        No judgement says which of them decided. A number of the claim weighs more than its words.
        """
        spans = premise.passages
        if self.protocol.published or len(spans) < 2:
            return spans
        texts = [_with_text(span, pending.case.documents).text or "" for span in spans]
        claim = pending.claim.text
        figures = [bounded(number) for number in dict.fromkeys(_NUMBER.findall(plain(claim)))]
        carried = [sum(figure.search(plain(text)) is not None for figure in figures) for text in texts]
        shared = weighted_overlap(claim, texts)
        order = sorted(range(len(spans)), key=lambda place: (-carried[place], -float(shared[place])))
        return [spans[place] for place in order]

    def _partly(self, pending: PendingCase, outcome: Outcome) -> float | None:
        """Return how likely a claim that is not supported is partly supported, where that was measured."""
        if not self._grades_parts or outcome.label == "supported" or pending.quotes is not None:
            return None
        texts = [premise.text for premise in pending.case.premises]
        figures = features(pending.claim.text, texts, pending.sheet) if texts else None
        if figures is None or (outcome.label == "contradicted" and is_contradiction(figures)):
            return None
        return partly(figures)

    def _location(self, pending: PendingCase) -> dict[str, Any]:
        case = pending.case
        by_marker = {citation.marker: citation.document for citation in reversed(case.citations)}
        shared = len(case.markers) != len(case.documents)
        return {
            **_claim_location(pending.claim),
            "markers": case.markers,
            "documents": tuple(document.id for document in case.documents),
            "by_marker": tuple(by_marker[marker] for marker in case.markers) if shared else (),
            "protocol": self.protocol.name,
        }

    def _dangling(self, answer: Answer) -> Iterator[Verdict]:
        found = [(claim, cited) for claim in answer.claims for cited in claim.citations if cited.dangling]
        listed = {number for number, _ in split_answer(answer.text)[2]} if found else ()
        for claim, citation in found:
            is_listed = str(citation.marker) in listed
            yield Verdict(
                **_claim_location(claim),
                markers=(citation.marker,),
                documents=(),
                label="dangling",
                native=NO_TEXT if is_listed else "dangling",
                reasons=(_listed_alone(citation.marker) if is_listed else _documents_there_are(answer),),
                protocol=self.protocol.name,
            )

    def _checked(self, answer: Answer, results: list[Verdict | VerificationFailure]) -> CheckedAnswer:
        found = [item for item in results if isinstance(item, Verdict)] + list(self._dangling(answer))
        verdicts = tuple(sorted(found, key=lambda verdict: (verdict.start, verdict.markers[:1])))
        failures = tuple(item for item in results if isinstance(item, VerificationFailure))
        uncited = tuple(UncitedClaim(**_claim_location(claim)) for claim in answer.uncited)
        return CheckedAnswer(
            id=answer.id,
            question=answer.question,
            verdicts=verdicts,
            failures=failures,
            uncited=uncited,
            unread=tuple(answer.text[span.slice] for span in answer.unread),
            assumed=answer.assumed,
            summary=Summary.of(answer, verdicts, failures),
            provenance=self.provenance,
        )


def expect_judge(judge: object) -> None:
    """Refuse what is not a judge, and a class instead of an object. Judges of other packages need no base class."""
    if isinstance(judge, type) or not (callable(getattr(judge, "judge", None)) and hasattr(judge, "signature")):
        raise InputError(
            f"expected a judge, which has judge() and a signature, or its name; found {judge!r:.80}. "
            "`vericite judges` lists the names"
        )


def expect_answer(answer: object) -> None:
    """Refuse what is not an answer."""
    expect_type(answer, Answer, "answers", "vericite.parse_answer makes one of a text")


def _with_text(span: EvidenceSpan, documents: Sequence[Document]) -> EvidenceSpan:
    """Add the passage's text, so that a verdict can be read without the documents."""
    found = next(document for document in documents if document.id == span.document)
    return span.model_copy(update={"text": found.text[span.start : span.end]})


def _nearest(pending: PendingCase) -> EvidenceSpan | None:
    """Return the sentence on which the judge was least sure that it says nothing about the claim.

    Of sentences that are alike to it, the one that shares most words. None if no sentence was judged on its own.
    """
    sheet, premises = pending.sheet, pending.case.premises
    alone = [
        place
        for place in np.flatnonzero((sheet.asked[:1] & ~sheet.failed[:1]).any(axis=0)).tolist()
        if len(premises[place].passages) == 1 and premises[place].passages[0].sentence_index is not None
    ]
    if not alone:
        return None
    shared = weighted_overlap(pending.claim.text, [premises[place].text for place in alone])
    neutral = sheet.scores[0, alone, NEUTRAL]
    best = min(range(len(alone)), key=lambda place: (float(neutral[place]), -float(shared[place])))
    return _with_text(premises[alone[best]].passages[0], pending.case.documents)


def _against_figures(pending: PendingCase) -> str:
    """Say which figures of arms in the source are against a supported claim; empty if none are."""
    text = " ".join(dict.fromkeys(premise.text for premise in pending.case.premises if len(premise.passages) == 1))
    swapped = swap(pending.claim.text, text)
    return "" if swapped is None else swapped.because


def _parted(pending: PendingCase, outcome: Outcome) -> Iterator[str]:
    """Note which of several sources carry the support, and what the others say by themselves."""
    documents = pending.case.documents
    if outcome.label != "supported" or not outcome.label_by_source:
        return
    alone = [source for source, label in enumerate(outcome.label_by_source) if label == "supported"]
    spans = [span for premise in outcome.premises for span in pending.case.premises[premise].passages]
    together = [source for source, document in enumerate(documents) if document.id in {span.document for span in spans}]
    carrying = alone or together
    if len(carrying) == len(documents) and alone:
        return
    yield f"{CARRIED} {_marks(pending, carrying)}{'' if alone or len(carrying) == 1 else ' together'}"
    for source, label in enumerate(outcome.label_by_source):
        if source in carrying:
            continue
        if source in pending.sheet.silent:
            yield f"{_marks(pending, [source])} says nothing about it"
        elif label == "contradicted":
            yield f"{_marks(pending, [source])} {OPPOSITE}"
        elif alone:
            yield f"{_marks(pending, [source])} alone does not support it"


CARRIED = "carried by"
"""Prefix of the reason that names the sources which support a claim."""
OF_OTHERS = ("alone does not support it", "says nothing about it")
"""Endings of the reasons that name a source which does not support the claim by itself."""


def _marks(pending: PendingCase, sources: Sequence[int]) -> str:
    ids = {pending.case.documents[source].id for source in sources}
    return "".join(f"[{citation.marker}]" for citation in pending.case.citations if citation.document in ids)


def _statements(pending: PendingCase, outcome: Outcome) -> tuple[StatementVerdict, ...]:
    if not outcome.statements:
        return ()
    # A claim that was first judged whole is its own first statement.
    judged = pending.statements[-len(outcome.statements) :]
    together = zip(judged, outcome.statements, strict=True)
    return tuple(StatementVerdict(text=text, **found._asdict()) for text, found in together)


def _listed_alone(number: int) -> str:
    return f"[{number}] stands in the list of references, but its text is not there"


def _documents_there_are(answer: Answer) -> str:
    count = len(answer.documents)
    return f"the answer has {count or 'no'} document{'' if count == 1 else 's'}"


def _cut_note(whole: Case, split: Case) -> str | None:
    if len(split.premises) == len(whole.premises):
        return None
    return "the sources are longer than the judge reads at once: judged in pieces, any of which may decide"


def _claim_location(claim: Claim) -> dict[str, Any]:
    return {"claim": claim.text, "start": claim.span.start, "end": claim.span.end}


def _no_text(claim: Claim) -> str | None:
    return None if claim.text else "the citation has no text next to it"


def _lowest_at(protocol: Protocol, judge: Judge) -> float:
    """Return the lowest probability of supported verdicts at the protocol's precision.

    Raises:
        InputError: It was not measured for this protocol, or the judge never reaches it.
    """
    assert protocol.precision is not None
    step = "Leave check.precision out, or set check.abstain_below to a probability."
    if protocol.name not in MEASURED or protocol.published:
        raise InputError(
            f"expected one of the protocols {', '.join(MEASURED)} with check.precision, for which precisions were "
            f"measured; found {protocol.name}. {step}"
        )
    measured = traits_of(judge).precisions
    if not measured:
        raise InputError(
            f"expected a judge with measured precisions, such as bundled, with check.precision; found "
            f"{judge.signature}. {step}"
        )
    reached = [share for share in measured if share >= protocol.precision - 1e-9]
    if not reached:
        raise InputError(
            f"expected check.precision of at most {max(measured):g}, the highest that {judge.signature} reaches; found "
            f"{protocol.precision:g}. {step}"
        )
    return measured[min(reached)]


def _claim_reason(claim: Claim) -> str | None:
    if not claim.text:
        return _no_text(claim)
    if word := _LONG_WORD.search(claim.text):
        return f"the claim has a word of {len(word[0])} letters, which no judge reads"
    if _POINTS.fullmatch(claim.text):
        return "the sentence only points to a source"
    foreign = foreign_reason(claim.text)
    return f"the claim is not in English: {foreign}" if foreign else None


def _source_reason(case: Case, known: dict[str, str | None]) -> str | None:
    for document in case.documents:
        if document.id not in known:
            known[document.id] = foreign_reason(document.text[:LANGUAGE_SAMPLE])
    empty = list(_without_text(case))
    foreign = [document.id for document in case.documents if known[document.id]]
    # If one of several sources can be read, judge.
    if len(empty) + len(foreign) < len(case.documents):
        return None
    if foreign:
        return f"{foreign[0]} is not in English: {known[foreign[0]]}"
    # Some protocols read titles.
    return next(iter(empty), None) if not case.premises else None


def _without_text(case: Case) -> Iterator[str]:
    return (f"{document.id} has no text" for document in case.documents if not document.text.strip())


def _source_notes(case: Case, sources: Sources) -> tuple[str, ...]:
    retracted = [f"{document.id} is retracted" for document in case.documents if document.retracted]
    orders = [
        f"{document.id} holds instructions to its reader, which are no evidence"
        for document in case.documents
        if sources.instruct(document)
    ]
    return (*retracted, *_without_text(case), *orders)
