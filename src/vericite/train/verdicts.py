"""Claims against whole documents, decided by the verifier that users run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vericite.models import Pair
from vericite.records import Answer, Citation, Claim, Document, EvidenceSpan, Section, Span, Verdict
from vericite.train.documents import LabelledDocument
from vericite.train.scoring import Floats, Scorer
from vericite.verify import DEFAULT, Assembly, Case, Judge, Judgement, Premise, Sources, Verifier, get_protocol
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
        sureness: The probability of that label in the passage that decided, which ``abstain_below`` is held against.
        undecided: How many it abstained from or failed at, such as claims not in English.
    """

    columns: NDArray[np.int64]
    sureness: Floats
    undecided: int

    @property
    def one_hot(self) -> Floats:
        """The labels as certain probabilities, for measures that only look at the likeliest."""
        return np.eye(len(COLUMNS))[self.columns]


def verdicts(judge: Judge, documents: Sequence[LabelledDocument], protocol: str = DEFAULT) -> Verdicts:
    """Run ``vericite`` or ``default``, by default the one that users run, on the sentences as they are given."""
    chosen = get_protocol(protocol)
    given = GivenAssembly() if isinstance(chosen.premise, Assembly) else GivenSentences()
    verifier = Verifier(replace(chosen, premise=given, judge=judge))
    columns: list[int] = []
    sureness: list[float] = []
    undecided = 0
    for checked in verifier.verify(answer(document) for document in documents):
        found = checked.verdicts[0] if checked.verdicts else None
        decided = found is not None and not found.abstained
        undecided += not decided
        columns.append(_COLUMN[found.label] if found and decided else NEUTRAL)
        sureness.append(_sure(found))
    return Verdicts(np.array(columns, dtype=np.int64), np.array(sureness), undecided)


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
