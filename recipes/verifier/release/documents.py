"""Labelled whole documents, and what a protocol decides of their claims."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict

from release.teach import Scorer
from vericite.errors import InputError
from vericite.lab.train.data import Floats, Label, LabelledPair
from vericite.models.contracts import COLUMNS, CONTRADICTS, ENTAILS, NEUTRAL, Judge, Judgement, Pair
from vericite.records import Answer, Citation, Claim, Document, EvidenceSpan, Record, Section, Span, Verdict, read_jsonl
from vericite.verify.premises import Assembly, Case, Premise, PremisePlan, Sources, Windows
from vericite.verify.protocol import DEFAULT, get_protocol
from vericite.verify.verifier import Verifier

SUFFIX = "_doc"
"""How the name of a file of whole documents ends."""


class LabelledDocument(Record):
    """One line: a claim, its document in sentences, what the document says of it, and the sentences that say so."""

    model_config = ConfigDict(extra="ignore")

    claim: str
    sentences: list[str]
    label: Label
    source: str
    group: str = ""
    binary: bool = False
    evidence: tuple[int, ...] = ()

    @property
    def labelled(self) -> LabelledPair:
        """The document as one premise."""
        return LabelledPair(
            premise=" ".join(self.sentences),
            claim=self.claim,
            label=self.label,
            source=self.source,
            kind="document",
            group=self.group,
            binary=self.binary,
        )


def read_documents(path: Path) -> list[LabelledDocument]:
    """A file's documents."""
    return [document for document in read_jsonl(LabelledDocument, path) if document.sentences]


def resized(
    documents: Sequence[LabelledDocument], size: int, others: Sequence[LabelledDocument] | None = None
) -> list[LabelledDocument]:
    """The same claims with documents of so many sentences.

    A longer document keeps its evidence and what stands nearest to it; a shorter one is followed by sentences of
    ``others``, or of the documents after it that are about other claims. What a claim is labelled with stays true as
    far as those do not happen to speak of it.
    """
    others = documents if others is None else others
    return [_resized(document, others, place, size) for place, document in enumerate(documents)]


def _resized(document: LabelledDocument, others: Sequence[LabelledDocument], place: int, size: int) -> LabelledDocument:
    kept = _nearest(len(document.sentences), document.evidence, size)
    sentences = [document.sentences[index] for index in kept]
    known = set(document.sentences)
    for step in range(1, len(others) + 1):
        if len(sentences) >= size:
            break
        other = others[(place + step) % len(others)]
        if other.claim != document.claim and known.isdisjoint(other.sentences):
            known.update(other.sentences)
            sentences += other.sentences[: size - len(sentences)]
    evidence = tuple(kept.index(index) for index in document.evidence if index in kept)
    return document.model_copy(update={"sentences": sentences, "evidence": evidence})


def _nearest(length: int, evidence: Sequence[int], size: int) -> list[int]:
    """The sentences to keep, in their order; without evidence the last ones, which conclude."""
    aims = evidence or (length - 1,)
    ranked = sorted(range(length), key=lambda index: (min(abs(index - aim) for aim in aims), index))
    return sorted(ranked[:size])


def document_probabilities(scorer: Scorer, documents: Sequence[LabelledDocument]) -> Floats:
    """What the sentences say together: entailed or contradicted as the most certain of them has it.

    A document is neutral where no sentence is likelier to be something else.
    """
    pairs = [Pair(sentence, document.claim) for document in documents for sentence in document.sentences]
    judged = scorer.probabilities(pairs)
    found: list[Floats] = []
    start = 0
    for document in documents:
        rows = judged[start : start + len(document.sentences)]
        start += len(document.sentences)
        whole = np.zeros(3)
        whole[[ENTAILS, CONTRADICTS]] = rows[:, [ENTAILS, CONTRADICTS]].max(axis=0)
        whole[NEUTRAL] = rows[:, NEUTRAL].min()
        found.append(whole / whole.sum())
    return np.array(found)


COLUMN = {"supported": ENTAILS, "contradicted": CONTRADICTS, "irrelevant": NEUTRAL}


@dataclass(frozen=True)
class GivenSentences:
    """Each section of a cited document a premise, taken as one sentence.

    Test sets name the sentences of a document; splitting them again would score the splitter, too.
    """

    signature: str = "given-sentences"

    def cases(self, claim: Claim, sources: Sources) -> Iterator[Case]:
        """One case a cited document."""
        for id, citations in sources.cited(claim).items():
            document = sources.document(id)
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
        supported: The verdict's probability of supported; 0 for abstained and failed ones.
        undecided: How many it abstained from or failed at, such as claims not in English.
        evidence: The numbers of the sentences that it shows for each.
    """

    columns: NDArray[np.int64]
    sureness: Floats
    supported: Floats
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
    verifier = Verifier(replace(chosen, premise=as_given(chosen.premise)) if given else chosen)
    columns: list[int] = []
    sureness: list[float] = []
    supported: list[float] = []
    evidence: list[tuple[int, ...]] = []
    undecided = 0
    for checked in verifier.verify(answer(document) for document in documents):
        found = checked.verdicts[0] if checked.verdicts else None
        decided = found is not None and not found.abstained
        undecided += not decided
        columns.append(COLUMN[found.label] if found and decided else NEUTRAL)
        sureness.append(_sure(found))
        supported.append(_supported(found) if found and decided else 0.0)
        spans = found.evidence if found and decided else ()
        evidence.append(tuple(span.sentence_index for span in spans if span.sentence_index is not None))
    return Verdicts(
        np.array(columns, dtype=np.int64), np.array(sureness), np.array(supported), undecided, tuple(evidence)
    )


def as_given(plan: PremisePlan) -> PremisePlan:
    """The same plan over the sentences as they are given."""
    if isinstance(plan, Assembly):
        return GivenAssembly(**vars(plan))
    if isinstance(plan, Windows) and plan.size == 1:
        return GivenSentences()
    named = "vericite, early, statements, default or fast"
    raise InputError(f"expected a protocol that reads sentences; found {plan.signature}. Name {named}.")


def _sure(found: Verdict | None) -> float:
    return found.probabilities.get(found.label, 1.0) if found else 1.0


def _supported(found: Verdict) -> float:
    # A quotation is not judged.
    return found.probabilities.get("supported", float(found.label == "supported"))


def answer(document: LabelledDocument) -> Answer:
    """An answer of one claim, which cites one document."""
    sections = tuple(Section(text=sentence) for sentence in document.sentences)
    end = len(document.claim)
    citation = Citation(marker=1, span=Span(start=end, end=end), document="source")
    claim = Claim(text=document.claim, span=Span(start=0, end=end), citations=(citation,))
    source = Document(id="source", sections=sections)
    return Answer(id="claim", text=document.claim, claims=(claim,), documents=(source,))
