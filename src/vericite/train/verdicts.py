"""Claims against whole documents, decided by the verifier that users run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vericite.errors import InputError
from vericite.models import Pair
from vericite.records import Answer, Citation, Claim, Document, EvidenceSpan, Section, Span, Verdict
from vericite.train.documents import LabelledDocument
from vericite.train.scoring import Floats, Scorer
from vericite.verify import (
    DEFAULT,
    Assembly,
    Case,
    Judge,
    Judgement,
    Premise,
    PremisePlan,
    Sources,
    Verifier,
    Windows,
    get_protocol,
)
from vericite.verify.judging import COLUMNS, CONTRADICTS, ENTAILS, NEUTRAL

_COLUMN = {"supported": ENTAILS, "contradicted": CONTRADICTS, "irrelevant": NEUTRAL}


@dataclass(frozen=True)
class GivenSentences:
    """Each section of a cited document a premise, taken as one sentence.

    Test sets name the sentences of a document; splitting them again would score the splitter, too.
    """

    signature: str = "given-sentences"

    def cases(self, claim: Claim, sources: Sources) -> Iterator[Case]:
        """One case a cited document."""
        for id, citations in sources.cited(claim).items():
            document = sources.answer.document(id)
            yield Case(citations, (document,), _given(document))


@dataclass(frozen=True)
class GivenAssembly(Assembly):
    """The default protocol's plan over these sentences."""

    def sentences(self, document: Document, sources: Sources) -> tuple[Premise, ...]:
        """The document's sections."""
        return _given(document)


def _given(document: Document) -> tuple[Premise, ...]:
    return tuple(_premise(document, index, span) for index, span in enumerate(document.section_spans))


def _premise(document: Document, index: int, span: Span) -> Premise:
    passage = EvidenceSpan(document=document.id, sentence=index, start=span.start, end=span.end)
    return Premise(document.text[span.slice], (passage,))


class ScorerJudge:
    """A scorer as a judge, so that weights that are not packed yet, or a temperature on trial, can be verified with."""

    def __init__(self, scorer: Scorer, signature: str = "scorer") -> None:
        self.signature = signature
        self._scorer = scorer

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """The scorer's probabilities."""
        for row in self._scorer.probabilities(list(pairs)):
            yield Judgement(row.astype(np.float32))


@dataclass(frozen=True)
class Verdicts:
    """What the verifier says of some documents.

    Attributes:
        columns: The label of each, as a column of ``verify.judging``; abstained and failed ones count as neutral.
        sureness: The verdict's probability of that label, which ``abstain_below`` is held against.
        undecided: How many it abstained from or failed at, such as claims not in English.
        evidence: The numbers of the sentences that it shows for each.
    """

    columns: NDArray[np.int64]
    sureness: Floats
    undecided: int
    evidence: tuple[tuple[int, ...], ...] = ()

    @property
    def one_hot(self) -> Floats:
        """The labels as certain probabilities, for measures that only look at the likeliest."""
        return np.eye(len(COLUMNS))[self.columns]


def verdicts(
    judge: Judge, documents: Sequence[LabelledDocument], protocol: str = DEFAULT, *, given: bool = True
) -> Verdicts:
    """Run a protocol, by default the one that users run.

    Args:
        judge: The judge.
        documents: Claims with their documents.
        protocol: Its name.
        given: Take the sentences as they are given; else split the documents again, as for a user.
    """
    chosen = replace(get_protocol(protocol), judge=judge)
    verifier = Verifier(replace(chosen, premise=_as_given(chosen.premise)) if given else chosen)
    columns: list[int] = []
    sureness: list[float] = []
    evidence: list[tuple[int, ...]] = []
    undecided = 0
    for checked in verifier.verify(answer(document) for document in documents):
        found = checked.verdicts[0] if checked.verdicts else None
        decided = found is not None and not found.abstained
        undecided += not decided
        columns.append(_COLUMN[found.label] if found and decided else NEUTRAL)
        sureness.append(_sure(found))
        spans = found.evidence if found and decided else ()
        evidence.append(tuple(span.sentence for span in spans if span.sentence is not None))
    return Verdicts(np.array(columns, dtype=np.int64), np.array(sureness), undecided, tuple(evidence))


def _as_given(plan: PremisePlan) -> PremisePlan:
    if isinstance(plan, Assembly):
        return GivenAssembly(**vars(plan))
    if isinstance(plan, Windows) and plan.size == 1:
        return GivenSentences()
    named = "vericite, early, statements, default or fast"
    raise InputError(f"expected a protocol that reads sentences; found {plan.signature}. Name {named}.")


def _sure(found: Verdict | None) -> float:
    return found.probabilities.get(found.label, 1.0) if found else 1.0


def answer(document: LabelledDocument) -> Answer:
    """An answer of one claim, which cites one document."""
    sections = tuple(Section(text=sentence) for sentence in document.sentences)
    end = len(document.claim)
    citation = Citation(marker=1, span=Span(start=end, end=end), document="source")
    claim = Claim(text=document.claim, span=Span(start=0, end=end), citations=(citation,))
    source = Document(id="source", sections=sections)
    return Answer(id="claim", text=document.claim, claims=(claim,), documents=(source,))
