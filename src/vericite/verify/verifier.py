"""Verification: a protocol run over answers, many at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from vericite.errors import InputError
from vericite.models import Pair
from vericite.records import (
    Answer,
    CheckedAnswer,
    Claim,
    EvidenceSpan,
    Provenance,
    StatementVerdict,
    Summary,
    UncitedClaim,
    Verdict,
    VerificationFailure,
)
from vericite.text.citations import CITATIONS
from vericite.text.instructions import INSTRUCTIONS
from vericite.text.language import LANGUAGE, foreign_reason
from vericite.text.sentences import SPLITTER
from vericite.verify.aggregate import Outcome
from vericite.verify.asking import ask
from vericite.verify.docket import Docket
from vericite.verify.fitting import fitted
from vericite.verify.judges import load_judge
from vericite.verify.judging import Inquiring, Judgement, Slow
from vericite.verify.premises import Case, Sources
from vericite.verify.protocol import Protocol
from vericite.verify.wording import lowered, quotation
from vericite.version import __version__

PAIRS_AT_ONCE = 8192
"""Pairs gathered, over as many answers as it takes, before the judge is asked: enough to fill its batches
and to find the pairs that answers share, little enough to hold in memory."""

ANSWERS_AT_ONCE = 256
"""Answers gathered at the most, for a stream of answers that have little to judge."""

LANGUAGE_SAMPLE = 2000
"""Characters of a document that are enough to tell its language."""


class Verifier:
    """Runs one protocol. Keeps its judge loaded, so use one verifier for many answers.

    Raises:
        InputError: The protocol is none, or its judge is, or cannot do what the protocol asks.
    """

    def __init__(self, protocol: Protocol) -> None:
        _expect_protocol(protocol)
        self.protocol = protocol
        self.judge = load_judge(protocol.judge) if isinstance(protocol.judge, str) else protocol.judge
        _expect_judge(self.judge)
        if protocol.abstain_below and not getattr(self.judge, "graded", True):
            raise InputError(
                f"expected a judge with probabilities beside abstain_below; {self.judge.signature} only says a label. "
                "Leave abstain_below out."
            )
        self._asks_question = isinstance(self.judge, Inquiring) and self.judge.reads_question
        self._pairs_at_once = self.judge.pairs_at_once if isinstance(self.judge, Slow) else PAIRS_AT_ONCE
        self.provenance = Provenance(
            version=__version__,
            protocol=protocol.signature,
            parts={
                "judge": self.judge.signature,
                "splitter": SPLITTER,
                "citations": CITATIONS,
                "language": LANGUAGE,
                "instructions": INSTRUCTIONS,
            },
        )

    def verify(self, answers: Iterable[Answer]) -> Iterator[CheckedAnswer]:
        """Check answers; each comes out as soon as the batch that it is in is judged, in order.

        Raises:
            InputError: One of them is no ``Answer``.
        """
        batch: list[tuple[Answer, list[Docket]]] = []
        waiting = 0
        for answer in answers:
            _expect_answer(answer)
            dockets = list(self._plan(answer))
            batch.append((answer, dockets))
            waiting += sum(docket.sheet.asked.size for docket in dockets if docket.abstain is None)
            if waiting >= self._pairs_at_once or len(batch) >= ANSWERS_AT_ONCE:
                yield from self._decide(batch)
                batch, waiting = [], 0
        yield from self._decide(batch)

    def _plan(self, answer: Answer) -> Iterator[Docket]:
        sources = Sources(answer)
        foreign: dict[str, str | None] = {}
        question = answer.question if self._asks_question else None
        for claim in answer.claims:
            cases = tuple(self.protocol.premise.cases(claim, sources))
            if not cases:
                continue
            reason = _claim_reason(claim)
            statements = () if reason else self.protocol.claim.statements(claim)
            for case in cases:
                fitting = replace(case, premises=fitted(case.premises, statements, self.judge))
                note = _cut_note(case, fitting)
                abstain = reason or _source_reason(case, foreign)
                about = _source_notes(case, sources)
                yield Docket(self.protocol, claim, fitting, statements, abstain, question, note, about)

    def _decide(self, batch: list[tuple[Answer, list[Docket]]]) -> Iterator[CheckedAnswer]:
        self._judge([docket for _, dockets in batch for docket in dockets])
        for answer, dockets in batch:
            yield self._checked(answer, [self._result(docket) for docket in dockets])

    def _judge(self, dockets: list[Docket]) -> None:
        """Ask in rounds, until no aggregator wants more; each distinct pair is asked once."""
        judged: dict[Pair, Judgement] = {}
        while dockets:
            asked = [(docket, docket.wanted(self.judge)) for docket in dockets]
            asked = [(docket, pairs) for docket, pairs in asked if pairs]
            new = dict.fromkeys(pair for _, pairs in asked for pair in pairs.values() if pair not in judged)
            judged.update(zip(new, ask(self.judge, new), strict=True))
            for docket, pairs in asked:
                docket.put(pairs, judged)
            dockets = [docket for docket, _ in asked]

    def _result(self, docket: Docket) -> Verdict | VerificationFailure:
        if docket.abstain is not None:
            nothing = Outcome("irrelevant", "abstained", {}, ())
            return self._verdict(docket, nothing, (docket.abstain, *docket.about), abstained=True)
        if docket.quotes is not None:
            return self._verdict(docket, quotation(docket.quotes), docket.about)
        judgements = docket.judgements
        failures = [item for item in judgements if item.failure is not None]
        told = f"{len(failures)} of {len(judgements)} judgements failed: {failures[0].failure}" if failures else None
        outcome = self.protocol.aggregate.decide(docket.sheet)
        if not all(item.graded for item in judgements):
            outcome = outcome.ungraded()
        if outcome.label is None:
            raw = dict.fromkeys(item.raw for item in failures if item.raw is not None)
            reason = told or "the aggregator gave no outcome"
            statements = _statements(docket, outcome)
            return VerificationFailure(reason=reason, raw=tuple(raw), statements=statements, **self._place(docket))
        notes = dict.fromkeys(note for note in (docket.note, told, *(item.note for item in judgements)) if note)
        unsure = self._unsure(outcome)
        against: tuple[str, ...] = ()
        if self.protocol.checks and unsure is None:
            outcome, against = lowered(outcome, docket.claim.text, docket.case)
        reasons = (*([unsure] if unsure else against), *_parted(docket, outcome), *docket.about, *notes)
        return self._verdict(docket, outcome, reasons, abstained=unsure is not None)

    def _unsure(self, outcome: Outcome) -> str | None:
        """Why the judge's word is not taken, where it is too uncertain."""
        sure = outcome.probabilities.get(outcome.label or "", 1.0)
        bar = self.protocol.abstain_below
        return f"unsure: {outcome.label} at {sure:.2f}, below {bar:.2f}" if sure < bar else None

    def _verdict(self, docket: Docket, outcome: Outcome, reasons: tuple[str, ...], abstained: bool = False) -> Verdict:
        passages: dict[EvidenceSpan, None] = {}
        for premise in outcome.premises:
            passages.update(dict.fromkeys(docket.case.premises[premise].passages))
        unneeded = outcome.unneeded
        return Verdict(
            **self._place(docket),
            label=outcome.label or "irrelevant",
            native=outcome.native,
            probabilities=outcome.probabilities,
            evidence=tuple(passages),
            statements=_statements(docket, outcome),
            taken_apart=outcome.taken_apart,
            unneeded=None if unneeded is None else tuple(docket.case.documents[source].id for source in unneeded),
            apart=dict(zip((document.id for document in docket.case.documents), outcome.apart, strict=False)),
            abstained=abstained,
            retracted=tuple(document.id for document in docket.case.documents if document.retracted),
            reasons=reasons,
        )

    def _place(self, docket: Docket) -> dict[str, Any]:
        return {
            **_claim_place(docket.claim),
            "markers": docket.case.markers,
            "documents": tuple(document.id for document in docket.case.documents),
            "protocol": self.protocol.name,
        }

    def _dangling(self, answer: Answer) -> Iterator[Verdict]:
        for claim in answer.claims:
            for citation in claim.citations:
                if citation.dangling:
                    yield Verdict(
                        **_claim_place(claim),
                        markers=(citation.marker,),
                        documents=(),
                        label="dangling",
                        native="dangling",
                        reasons=(_documents_there_are(answer),),
                        protocol=self.protocol.name,
                    )

    def _checked(self, answer: Answer, results: list[Verdict | VerificationFailure]) -> CheckedAnswer:
        found = [item for item in results if isinstance(item, Verdict)] + list(self._dangling(answer))
        verdicts = tuple(sorted(found, key=lambda verdict: (verdict.start, verdict.markers[:1])))
        failures = tuple(item for item in results if isinstance(item, VerificationFailure))
        uncited = tuple(UncitedClaim(**_claim_place(claim)) for claim in answer.uncited)
        return CheckedAnswer(
            id=answer.id,
            verdicts=verdicts,
            failures=failures,
            uncited=uncited,
            summary=Summary.of(answer, verdicts, failures),
            provenance=self.provenance,
        )


def _expect_protocol(protocol: object) -> None:
    if not isinstance(protocol, Protocol):
        raise InputError(
            f"expected a protocol, or its name; found {protocol!r:.80}. `vericite protocols` lists the names"
        )


def _expect_judge(judge: object) -> None:
    """A judge of another package is known by what it does, not by its class; and a class has yet to be called."""
    if isinstance(judge, type) or not (callable(getattr(judge, "judge", None)) and hasattr(judge, "signature")):
        raise InputError(
            f"expected a judge, which has judge() and a signature, or its name; found {judge!r:.80}. "
            "`vericite judges` lists the names"
        )


def _expect_answer(answer: object) -> None:
    if not isinstance(answer, Answer):
        raise InputError(f"expected answers; found {answer!r:.80}. vericite.parse_answer makes one of a text")


def _parted(docket: Docket, outcome: Outcome) -> Iterator[str]:
    """Which of several sources do not say by themselves what they are said to support together."""
    if outcome.label != "supported" or "supported" not in outcome.apart:
        return
    for document, label in zip(docket.case.documents, outcome.apart, strict=False):
        if label != "supported":
            marks = "".join(
                f"[{citation.marker}]" for citation in docket.case.citations if citation.document == document.id
            )
            yield f"{marks} alone {'contradicts it' if label == 'contradicted' else 'does not support it'}"


def _statements(docket: Docket, outcome: Outcome) -> tuple[StatementVerdict, ...]:
    if not outcome.statements:
        return ()
    # A claim that was first judged whole has that as its first statement.
    judged = docket.statements[-len(outcome.statements) :]
    together = zip(judged, outcome.statements, strict=True)
    return tuple(StatementVerdict(text=text, **found._asdict()) for text, found in together)


def _documents_there_are(answer: Answer) -> str:
    count = len(answer.documents)
    return f"the answer has {count or 'no'} document{'' if count == 1 else 's'}"


def _cut_note(whole: Case, fitting: Case) -> str | None:
    if len(fitting.premises) == len(whole.premises):
        return None
    return "the sources are longer than the judge reads at once: judged in pieces, any of which may decide"


def _claim_place(claim: Claim) -> dict[str, Any]:
    return {"claim": claim.text, "start": claim.span.start, "end": claim.span.end}


def _claim_reason(claim: Claim) -> str | None:
    if not claim.text:
        return "the citation stands beside no text"
    foreign = foreign_reason(claim.text)
    return f"the claim is not in English: {foreign}" if foreign else None


def _source_reason(case: Case, known: dict[str, str | None]) -> str | None:
    for document in case.documents:
        if document.id not in known:
            known[document.id] = foreign_reason(document.text[:LANGUAGE_SAMPLE])
    foreign = [document.id for document in case.documents if known[document.id]]
    # Where one of several sources can be read, it is worth reading.
    if foreign and len(foreign) == len(case.documents):
        return f"{foreign[0]} is not in English: {known[foreign[0]]}"
    return None


def _source_notes(case: Case, sources: Sources) -> tuple[str, ...]:
    retracted = [f"{document.id} is retracted" for document in case.documents if document.retracted]
    empty = [f"{document.id} has no text" for document in case.documents if not document.text.strip()]
    orders = [
        f"{document.id} holds instructions to its reader, which are no evidence"
        for document in case.documents
        if sources.instruct(document)
    ]
    return (*retracted, *empty, *orders)
