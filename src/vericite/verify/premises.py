"""Premise plans: what a claim is judged against.

Sentences and titles that give orders to the reader are never part of a premise. Nor are labels of sections
("Results:"): whether a source has them depends on the file that it comes from.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from typing import Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from vericite.models.contracts import NEUTRAL, Embeds, Judge, JudgeTraits, traits_of
from vericite.records import Citation, Claim, Document, EvidenceSpan, Sentence, Span
from vericite.text.injection import dictates, instructing
from vericite.text.labels import unread_labels
from vericite.text.sentences import document_sentences
from vericite.text.statements import STATEMENTS, split_statements
from vericite.text.words import shared, stems
from vericite.verify.sheet import JOINT, Role, Sheet

Splitter = Literal["rules", "punkt"]
"""How sources are split into sentences: by our rules or by NLTK's Punkt."""


class Part(NamedTuple):
    """A sentence of a premise and its place; None for a title, which has no place in the document's text."""

    text: str
    span: EvidenceSpan | None


@dataclass(frozen=True)
class Premise:
    """A text to show the judge, with the passages of the sources that it consists of.

    ``parts`` are its sentences. A premise that is too long for the judge is cut between them.
    """

    text: str
    passages: tuple[EvidenceSpan, ...]
    parts: tuple[Part, ...] = ()
    role: Role = JOINT


@dataclass(frozen=True)
class Case:
    """One decision: the sources to judge together for a claim, and their premises."""

    citations: tuple[Citation, ...]
    documents: tuple[Document, ...]
    premises: tuple[Premise, ...]

    @property
    def markers(self) -> tuple[int, ...]:
        """Distinct markers of the case."""
        return tuple(dict.fromkeys(citation.marker for citation in self.citations))


@dataclass
class Sources:
    """The documents that claims cite. Each is split into sentences and premises only once.

    With ``published`` nothing is left out, neither orders to the reader nor labels of sections.
    """

    documents: tuple[Document, ...]
    published: bool = False
    splitter: Splitter = "rules"
    _runs: dict[str, tuple[tuple[Sentence, ...], ...]] = field(
        default_factory=dict[str, tuple[tuple[Sentence, ...], ...]]
    )
    _instructing: set[str] = field(default_factory=set[str])
    _labels: dict[str, tuple[Span, ...]] = field(default_factory=dict[str, tuple[Span, ...]])
    _windows: dict[tuple[str, int], tuple[Premise, ...]] = field(
        default_factory=dict[tuple[str, int], tuple[Premise, ...]]
    )
    _vectors: dict[str, NDArray[np.float32]] = field(default_factory=dict[str, NDArray[np.float32]])
    _joint: dict[tuple[tuple[str, ...], str], tuple[Premise, ...]] = field(
        default_factory=dict[tuple[tuple[str, ...], str], tuple[Premise, ...]]
    )

    def document(self, id: str) -> Document:
        """Return the document with this id.

        Raises:
            KeyError: Unknown id.
        """
        return self._by_id[id]

    @cached_property
    def _by_id(self) -> dict[str, Document]:
        return {document.id: document for document in self.documents}

    def sentences(self, document: Document) -> tuple[Sentence, ...]:
        """Return the document's sentences that can be evidence, in order; each keeps its index."""
        return tuple(sentence for run in self.runs(document) for sentence in run)

    def runs(self, document: Document) -> tuple[tuple[Sentence, ...], ...]:
        """Group the sentences that can be evidence into runs without other sentences between them."""
        if document.id not in self._runs:
            sentences = _by_punkt(document) if self.splitter == "punkt" else document_sentences(document)
            orders = frozenset[int]() if self.published else instructing(document, sentences)
            grouped = groupby(sentences, key=lambda sentence: sentence.index in orders)
            runs = (self._unlabelled(document, run) for no_evidence, run in grouped if not no_evidence)
            self._runs[document.id] = tuple(run for run in runs if run)
            if orders or (not self.published and dictates(document.title)):
                self._instructing.add(document.id)
        return self._runs[document.id]

    def _unlabelled(self, document: Document, sentences: Iterable[Sentence]) -> tuple[Sentence, ...]:
        """Let sentences begin after their labels; a sentence that is only a label is left out."""
        ends = {label.start: label.end for label in self.labels(document)}
        found: list[Sentence] = []
        for sentence in sentences:
            start, end = sentence.span.start, sentence.span.end
            while start in ends:
                start = ends[start]
                start += len(document.text[start:end]) - len(document.text[start:end].lstrip())
            if start < end:
                found.append(sentence.model_copy(update={"span": Span(start=start, end=end)}))
        return tuple(found)

    def labels(self, document: Document) -> tuple[Span, ...]:
        """Return the labels of sections in the document's text, which the judge does not read."""
        if document.id not in self._labels:
            self._labels[document.id] = (
                ()
                if self.published
                else tuple(
                    label.shifted(section.start)
                    for section in document.section_spans
                    for label in unread_labels(document.text[section.slice])
                )
            )
        return self._labels[document.id]

    def read(self, document: Document, start: int, end: int) -> str:
        """Return what the judge reads of a part of a document: its text without the labels of sections."""
        labels = self.labels(document)
        parts: list[str] = []
        position = start
        for label in labels[bisect_left(labels, start, key=lambda span: span.start) :]:
            if label.end > end:
                break
            parts.append(document.text[position : label.start])
            position = label.end + 1
        return "".join([*parts, document.text[position:end]])

    def instruct(self, document: Document) -> bool:
        """Whether the document gives orders to the reader, which are left out of its premises."""
        self.runs(document)
        return document.id in self._instructing

    def windows(self, document: Document, size: int) -> tuple[Premise, ...]:
        """Return all windows of ``size`` consecutive sentences; one shorter window if there are fewer."""
        key = (document.id, size)
        if key not in self._windows:
            self._windows[key] = tuple(
                self._window(document, run[start : start + size])
                for run in self.runs(document)
                for start in range(max(1, len(run) - size + 1))
            )
        return self._windows[key]

    def _window(self, document: Document, sentences: Sequence[Sentence]) -> Premise:
        start, end = sentences[0].span.start, sentences[-1].span.end
        span = document.passage(start, end, sentences[0].index)
        return Premise(self.read(document, start, end), (span,))

    def joined(self, documents: tuple[Document, ...], heading: str) -> tuple[Premise, ...]:
        """Join documents into one premise, each under its heading; empty if they have no text.

        ``heading`` has ``{title}`` in place of the title; an empty one adds no heading.
        """
        key = (tuple(document.id for document in documents), heading)
        if key not in self._joint:
            self._joint[key] = _joined(self, documents, heading)
        return self._joint[key]

    def vectors(self, texts: Sequence[str], embedder: Embeds) -> list[NDArray[np.float32]]:
        """Return the texts' vectors; each text is embedded once."""
        new = list(dict.fromkeys(text for text in texts if text not in self._vectors))
        self._vectors.update(zip(new, embedder.embed(new), strict=True))
        return [self._vectors[text] for text in texts]

    def cited(self, claim: Claim) -> dict[str, tuple[Citation, ...]]:
        """Return the claim's citations by document, in the order of first mention."""
        found: dict[str, tuple[Citation, ...]] = {}
        for citation in claim.citations:
            if citation.document is not None:
                found[citation.document] = (*found.get(citation.document, ()), citation)
        return found


class PremisePlan(Protocol):
    """Chooses the sources to judge together, and their premises."""

    @property
    def signature(self) -> str:
        """Name and settings, for provenance."""
        ...

    def cases(self, claim: Claim, sources: Sources) -> Iterable[Case]:
        """Yield the cases to decide for a claim, without dangling citations."""
        ...


@dataclass(frozen=True)
class Windows:
    """Each cited document separately; each run of ``size`` sentences is a premise. Titles are not used."""

    size: int = 1

    @property
    def signature(self) -> str:
        """``sentences`` for single sentences."""
        return "sentences" if self.size == 1 else f"windows({self.size})"

    def cases(self, claim: Claim, sources: Sources) -> Iterator[Case]:
        """Yield one case per cited document."""
        for id, citations in sources.cited(claim).items():
            document = sources.document(id)
            yield Case(citations, (document,), sources.windows(document, self.size))


@dataclass(frozen=True)
class Nuggets:
    """Each cited document separately; each atomic statement of its sentences is a premise (BioACE)."""

    @property
    def signature(self) -> str:
        """Signature of the splitting rules."""
        return f"nuggets({STATEMENTS})"

    def cases(self, claim: Claim, sources: Sources) -> Iterator[Case]:
        """Yield one case per cited document."""
        for id, citations in sources.cited(claim).items():
            document = sources.document(id)
            premises = tuple(
                Premise(document.text[start + span.start : start + span.end], (passage,))
                for sentence in sources.sentences(document)
                for start, end in [(sentence.span.start, sentence.span.end)]
                for passage in [document.passage(start, end, sentence.index)]
                for span in split_statements(document.text[start:end])
            )
            yield Case(citations, (document,), premises)


@dataclass(frozen=True)
class MostSimilar:
    """Each cited document separately; the sentence most similar to the claim is the premise (BioACE).

    Similarity is the cosine of the embedder's vectors. Among equals, the first sentence counts.
    """

    embedder: Embeds | None = None

    @property
    def signature(self) -> str:
        """Includes the embedder."""
        return f"most-similar({self._embedder.signature})"

    @cached_property
    def _embedder(self) -> Embeds:
        from vericite.models.embedder import Embedder

        return self.embedder or Embedder.shared()

    def cases(self, claim: Claim, sources: Sources) -> Iterator[Case]:
        """Yield one case per cited document."""
        for id, citations in sources.cited(claim).items():
            document = sources.document(id)
            premises = sources.windows(document, 1)
            if len(premises) > 1:
                query, *vectors = sources.vectors([claim.text, *(item.text for item in premises)], self._embedder)
                premises = (premises[int(np.argmax(np.stack(vectors) @ query))],)
            yield Case(citations, (document,), premises)


@dataclass(frozen=True)
class WholeDocument:
    """Each cited document separately and whole, with its title (BioACE)."""

    title: bool = True

    @property
    def signature(self) -> str:
        """Whether the title is included."""
        return "document" if self.title else "document(title=False)"

    def cases(self, claim: Claim, sources: Sources) -> Iterator[Case]:
        """Yield one case per cited document."""
        for id, citations in sources.cited(claim).items():
            document = sources.document(id)
            yield Case(citations, (document,), sources.joined((document,), "{title}" if self.title else ""))


@dataclass(frozen=True)
class Joint:
    """All documents that a claim cites, as one premise (ALCE).

    With ``apart`` and several documents, also each document alone and all others without it, for an aggregator that
    asks which of them are needed.
    """

    title: bool = False
    apart: bool = False

    @property
    def signature(self) -> str:
        """Whether titles are included, and whether documents are also judged separately."""
        options = [f"{name}=True" for name in ("title", "apart") if getattr(self, name)]
        return f"joint({', '.join(options)})" if options else "joint"

    def cases(self, claim: Claim, sources: Sources) -> Iterator[Case]:
        """Yield one case, if the claim cites an existing document."""
        cited = sources.cited(claim)
        if cited:
            documents = tuple(sources.document(id) for id in cited)
            citations = tuple(citation for group in cited.values() for citation in group)
            yield Case(citations, documents, tuple(self._premises(documents, sources)))

    def _premises(self, documents: tuple[Document, ...], sources: Sources) -> Iterator[Premise]:
        heading = "Title: {title}" if self.title else ""
        yield from sources.joined(documents, heading)
        if not self.apart or len(documents) < 2:
            return
        for number, document in enumerate(documents):
            others = documents[:number] + documents[number + 1 :]
            for premise in sources.joined((document,), heading):
                yield replace(premise, role=Role("alone", number))
            for premise in sources.joined(others, heading):
                yield replace(premise, role=Role("without", number))


@dataclass(frozen=True)
class Context:
    """The first ``top`` documents of the answer as one premise, cited or not (Reason and Verify)."""

    top: int = 5

    @property
    def signature(self) -> str:
        """Number of documents."""
        return f"context({self.top})"

    def cases(self, claim: Claim, sources: Sources) -> Iterator[Case]:
        """Yield one case per claim, even for uncited claims."""
        documents = sources.documents[: self.top]
        if not documents:
            return
        read = {document.id for document in documents}
        citations = tuple(citation for citation in claim.citations if citation.document in read)
        yield Case(citations, documents, sources.joined(documents, heading=""))


@runtime_checkable
class Assembling(Protocol):
    """A premise plan that combines premises after the first ones are judged."""

    def silent(self, claim: str, case: Case, sheet: Sheet) -> frozenset[int]:
        """Return the indices of sources that say nothing about the claim, given the judgements so far."""
        ...

    def assemble(
        self, case: Case, sheet: Sheet, fits: Callable[[str], bool], silent: frozenset[int] = frozenset()
    ) -> tuple[Premise, ...]:
        """More premises for a case, none of them from ``silent`` sources; asked once a case."""
        ...


_SILENT_NEUTRAL, _SILENT_SHARED = 0.5, 0.2
"""A document is silent if neutral has at least this probability and it has less than this share of the claim's words.

On dev documents, 0.90 of those from another field are silent, 0.04 of those that decide their claim, and 0.03 of the
two that a sentence needs together.
"""


@dataclass(frozen=True)
class Assembly:
    """All documents that a claim cites, as one case: each sentence, then the ``most`` decisive ones together.

    A sentence is decisive if the judge gives it a low probability of neutral for the whole claim. Each cited document
    contributes its best sentence as long as it fits, even if that makes more than ``most``. Titles are not evidence.
    Three and four do better on dev than two, and three cost less (docs/protocols.md).

    A document that says nothing about the claim contributes none: it has few of the claim's words, and the judge finds
    all its sentences neutral. Citing such a document together with others changes no verdict.
    """

    most: int = 3

    @property
    def signature(self) -> str:
        """Number of sentences combined."""
        return f"assembly.v2({self.most})"

    def cases(self, claim: Claim, sources: Sources) -> Iterator[Case]:
        """Yield one case, if the claim cites an existing document."""
        cited = sources.cited(claim)
        if cited:
            documents = tuple(sources.document(id) for id in cited)
            premises = tuple(
                replace(premise, role=Role("sentence", number))
                for number, document in enumerate(documents)
                for premise in self.sentences(document, sources)
            )
            yield Case(tuple(citation for group in cited.values() for citation in group), documents, premises)

    def sentences(self, document: Document, sources: Sources) -> tuple[Premise, ...]:
        """Return the document's sentences."""
        return sources.windows(document, 1)

    def silent(self, claim: str, case: Case, sheet: Sheet) -> frozenset[int]:
        """Return documents with few of the claim's words whose sentences are all likely to be neutral.

        Empty if that is true of all documents: then nothing is known about any of them.
        """
        if len(case.documents) < 2:
            return frozenset()
        wanted = stems(claim)
        judged = sheet.asked[0] & ~sheet.failed[0]
        found: set[int] = set()
        for source, document in enumerate(case.documents):
            own = [index for index, role in enumerate(sheet.roles) if role.source == source]
            failed = bool((sheet.failed[0, own] & sheet.asked[0, own]).any())
            neutral = sheet.scores[0, [index for index in own if judged[index]], NEUTRAL]
            likely = not failed and bool((neutral >= _SILENT_NEUTRAL).all())
            if likely and shared(wanted, stems(document.text)) < _SILENT_SHARED:
                found.add(source)
        return frozenset(found) if len(found) < len(case.documents) else frozenset()

    def assemble(
        self, case: Case, sheet: Sheet, fits: Callable[[str], bool], silent: frozenset[int] = frozenset()
    ) -> tuple[Premise, ...]:
        """Combine the decisive sentences into one premise, in the order of the documents; empty if there is only one.

        A sentence that would make the premise too long for the judge is skipped.
        """
        speaking = np.array([role.source not in silent for role in sheet.roles], dtype=bool)
        usable = np.flatnonzero(sheet.asked[0] & ~sheet.failed[0] & speaking)
        if len(usable) < 2:
            return ()
        ranked: list[int] = usable[np.argsort(sheet.scores[0, usable, NEUTRAL], kind="stable")].tolist()
        first: dict[int | None, int] = {}
        for index in ranked:
            first.setdefault(case.premises[index].role.source, index)
        most = max(self.most, len(case.documents) - len(silent))
        chosen: list[int] = []
        for index in dict.fromkeys([*first.values(), *ranked]):
            if len(chosen) < most and fits(_text_of(case, [*chosen, index])):
                chosen.append(index)
        if len(chosen) < 2:
            return ()
        passages = tuple(span for index in sorted(chosen) for span in case.premises[index].passages)
        return (Premise(_text_of(case, chosen), passages, role=JOINT),)


def _by_punkt(document: Document) -> tuple[Sentence, ...]:
    from vericite.text.sentences import split_by_punkt

    spans = split_by_punkt(document.text)
    return tuple(Sentence(document=document.id, index=index, span=span) for index, span in enumerate(spans))


def _text_of(case: Case, chosen: Sequence[int]) -> str:
    return " ".join(case.premises[index].text for index in sorted(chosen))


def _passages(document: Document, sources: Sources) -> tuple[EvidenceSpan, ...]:
    """Return the whole document, or its parts that are evidence; empty without a text."""
    if not document.text.strip():
        return ()
    ends = [(0, len(document.text))]
    if sources.instruct(document):
        ends = [(run[0].span.start, run[-1].span.end) for run in sources.runs(document)]
    return tuple(document.passage(start, end) for start, end in ends)


def _joined(sources: Sources, documents: Sequence[Document], heading_form: str) -> tuple[Premise, ...]:
    texts: list[str] = []
    passages: list[EvidenceSpan] = []
    parts: list[Part] = []
    for document in documents:
        titled = bool(document.title.strip()) and (sources.published or not dictates(document.title))
        heading = heading_form.replace("{title}", document.title) if titled else ""
        if heading.strip():
            texts.append(heading)
            parts.append(Part(heading, None))
        read = _passages(document, sources)
        texts += filter(str.strip, (sources.read(document, span.start, span.end) for span in read))
        passages += read
        for sentence in sources.sentences(document):
            start, end = sentence.span.start, sentence.span.end
            span = document.passage(start, end, sentence.index)
            parts.append(Part(document.text[start:end], span))
    return (Premise("\n".join(texts), tuple(passages), tuple(parts)),) if texts else ()


def split_to_budget(premises: Iterable[Premise], statements: Sequence[str], judge: Judge) -> tuple[Premise, ...]:
    """Cut premises that are too long for the judge between sentences into pieces that fit.

    A single sentence that is too long stays whole; the judge cuts it and adds a note.
    """
    traits = traits_of(judge)
    if traits.capacity is None or not statements:
        return tuple(premises)
    # A token has at least one character, so counting characters is a cheap first check.
    longest = max(statements, key=len)
    pieces: list[Premise] = []
    for premise in premises:
        if len(premise.parts) < 2 or len(premise.text) + len(longest) <= traits.capacity:
            pieces.append(premise)
        else:
            pieces += _pieces(premise, traits.capacity - max(map(traits.length, statements)), traits)
    return tuple(pieces)


def fits_budget(statements: Sequence[str], judge: Judge) -> Callable[[str], bool]:
    """Return whether the judge can read a premise whole with any of the statements."""
    traits = traits_of(judge)
    if traits.capacity is None:
        return lambda _: True
    budget = traits.capacity - max(map(traits.length, statements))
    return lambda text: traits.length(text) <= budget


def _pieces(premise: Premise, budget: int, traits: JudgeTraits) -> list[Premise]:
    if traits.length(premise.text) <= budget:
        return [premise]
    groups: list[list[Part]] = [[]]
    used = 0
    for part in premise.parts:
        size = traits.length(part.text)
        if groups[-1] and used + size > budget:
            groups.append([])
            used = 0
        groups[-1].append(part)
        used += size
    return [
        Premise("\n".join(part.text for part in group), _passages_of_parts(group), role=premise.role)
        for group in groups
    ]


def _passages_of_parts(parts: Sequence[Part]) -> tuple[EvidenceSpan, ...]:
    """Merge the spans of adjacent parts; sentences that are not evidence separate spans."""
    found: list[EvidenceSpan] = []
    last: EvidenceSpan | None = None
    for _, span in parts:
        if span is None:
            continue
        if last is not None and _follows(span, last):
            found[-1] = found[-1].model_copy(update={"end": span.end})
        else:
            found.append(span)
        last = span
    return tuple(found)


def _follows(span: EvidenceSpan, last: EvidenceSpan) -> bool:
    known = span.sentence_index is not None and last.sentence_index is not None
    return span.document == last.document and (not known or span.sentence_index == (last.sentence_index or 0) + 1)
