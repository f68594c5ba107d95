"""Verification: a protocol run over answers, many at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vericite.models import Pair
from vericite.records import (
    Answer,
    CheckedAnswer,
    Claim,
    EvidenceSpan,
    Provenance,
    Summary,
    UncitedClaim,
    Verdict,
    VerificationFailure,
)
from vericite.text.citations import CITATIONS
from vericite.text.language import LANGUAGE, foreign_reason
from vericite.text.sentences import SPLITTER
from vericite.verify.aggregate import Outcome
from vericite.verify.fitting import fitted
from vericite.verify.judges import load_judge
from vericite.verify.judging import Judgement
from vericite.verify.premises import Case, Sources
from vericite.verify.protocol import Protocol
from vericite.version import __version__

PAIRS_AT_ONCE = 8192
"""Pairs gathered, over as many answers as it takes, before the judge is asked: enough to fill its batches
and to find the pairs that answers share, little enough to hold in memory."""

ANSWERS_AT_ONCE = 256
"""Answers gathered at the most, for a stream of answers that have little to judge."""

LANGUAGE_SAMPLE = 2000
"""Characters of a document that are enough to tell its language."""


@dataclass(frozen=True)
class _Planned:
    """A case of an answer with its pairs; where there is no sense in judging it, the reason."""

    claim: Claim
    case: Case
    statements: tuple[str, ...]
    abstain: str | None

    def pairs(self) -> Iterator[Pair]:
        if self.abstain is None:
            for statement in self.statements:
                for premise in self.case.premises:
                    yield Pair(premise.text, statement)

    def count(self) -> int:
        return 0 if self.abstain else len(self.statements) * len(self.case.premises)


class Verifier:
    """Runs one protocol. Keeps its judge loaded, so use one verifier for many answers."""

    def __init__(self, protocol: Protocol) -> None:
        self.protocol = protocol
        self.judge = load_judge(protocol.judge) if isinstance(protocol.judge, str) else protocol.judge
        self.provenance = Provenance(
            version=__version__,
            protocol=protocol.signature,
            parts={
                "judge": self.judge.signature,
                "splitter": SPLITTER,
                "citations": CITATIONS,
                "language": LANGUAGE,
            },
        )

    def verify(self, answers: Iterable[Answer]) -> Iterator[CheckedAnswer]:
        """Check answers; each comes out as soon as the batch that it is in is judged, in order."""
        planned: list[tuple[Answer, list[_Planned]]] = []
        waiting = 0
        for answer in answers:
            cases = list(self._plan(answer))
            planned.append((answer, cases))
            waiting += sum(case.count() for case in cases)
            if waiting >= PAIRS_AT_ONCE or len(planned) >= ANSWERS_AT_ONCE:
                yield from self._decide(planned)
                planned, waiting = [], 0
        yield from self._decide(planned)

    def _plan(self, answer: Answer) -> Iterator[_Planned]:
        sources = Sources(answer)
        foreign: dict[str, str | None] = {}
        for claim in answer.claims:
            cases = tuple(self.protocol.premise.cases(claim, sources))
            if not cases:
                continue
            reason = _claim_reason(claim)
            statements = () if reason else self.protocol.claim.statements(claim)
            for case in cases:
                fitting = replace(case, premises=fitted(case.premises, statements, self.judge))
                yield _Planned(claim, fitting, statements, reason or _source_reason(case, foreign))

    def _decide(self, planned: list[tuple[Answer, list[_Planned]]]) -> Iterator[CheckedAnswer]:
        unique = dict.fromkeys(pair for _, cases in planned for case in cases for pair in case.pairs())
        judged = dict(zip(unique, self.judge.judge(unique), strict=True))
        for answer, cases in planned:
            results = [self._result(case, judged) for case in cases]
            yield self._checked(answer, results)

    def _result(self, planned: _Planned, judged: dict[Pair, Judgement]) -> Verdict | VerificationFailure:
        if planned.abstain is not None:
            nothing = Outcome("irrelevant", "abstained", {}, ())
            reasons = (planned.abstain, *_source_notes(planned.case))
            return self._verdict(planned, nothing, reasons, abstained=True)
        judgements = [judged[pair] for pair in planned.pairs()]
        shape = (len(planned.statements), len(planned.case.premises))
        scores = np.array([item.probabilities for item in judgements], dtype=np.float32).reshape(*shape, 3)
        failed = np.array([item.failure is not None for item in judgements], dtype=bool).reshape(shape)
        failures = [item.failure for item in judgements if item.failure is not None]
        told = f"{len(failures)} of {len(judgements)} judgements failed: {failures[0]}" if failures else None
        outcome = self.protocol.aggregate.decide(scores, failed)
        if outcome is None:
            return VerificationFailure(reason=told or "the aggregator gave no outcome", **self._place(planned))
        notes = dict.fromkeys(note for note in (told, *(item.note for item in judgements)) if note)
        return self._verdict(planned, outcome, (*_source_notes(planned.case), *notes))

    def _verdict(
        self, planned: _Planned, outcome: Outcome, reasons: tuple[str, ...], abstained: bool = False
    ) -> Verdict:
        passages: dict[EvidenceSpan, None] = {}
        for premise in outcome.premises:
            passages.update(dict.fromkeys(planned.case.premises[premise].passages))
        return Verdict(
            **self._place(planned),
            label=outcome.label,
            native=outcome.native,
            probabilities=outcome.probabilities,
            evidence=tuple(passages),
            abstained=abstained,
            reasons=reasons,
        )

    def _place(self, planned: _Planned) -> dict[str, Any]:
        return {
            **_claim_place(planned.claim),
            "markers": planned.case.markers,
            "documents": tuple(document.id for document in planned.case.documents),
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


def _documents_there_are(answer: Answer) -> str:
    count = len(answer.documents)
    return f"the answer has {count or 'no'} document{'' if count == 1 else 's'}"


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


def _source_notes(case: Case) -> tuple[str, ...]:
    retracted = [f"{document.id} is retracted" for document in case.documents if document.retracted]
    empty = [f"{document.id} has no text" for document in case.documents if not document.text.strip()]
    return (*retracted, *empty)
