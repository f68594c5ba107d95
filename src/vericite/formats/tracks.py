"""Runs of the TREC tracks BioGen and RAG, and MedAESQA's assessed answers.

BioGen cites by PubMed id. Followed are the 2024 track's page on the submission format (one object with ``results``;
``answer`` is a text with lists of PubMed ids in square brackets, ``references`` lists them) and the 2025 track's rules
for runs: task B has ``metadata.topic_id`` and ``responses``, task A ``metadata.qa_id`` and ``answer``, lists of
sentences both. The RAG track cites by places in ``references``, a list of names of documents, counted from 0. MedAESQA
has thirty answers to a question. AutoJudge's reports have ``metadata`` with ``run_id``, ``team_id`` and ``topic_id``
(or ``narrative_id``), ``responses`` that cite by names, places or names with a confidence, and perhaps ``documents`` by
id; followed is the public data model of the track's package (``trec-auto-judge/auto-judge-base`` on GitHub,
``src/autojudge_base/report.py``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import AfterValidator

from vericite.datasets.attributed import assessed_answers, assessed_sentences
from vericite.formats.form import Fields, Foreign, Format, Name, RawRecord
from vericite.records import Answer, Citation, Claim, Document, Span, storable
from vericite.text.citations import CitableDocuments, Mention, disjoint, parse_answer, pmids_in
from vericite.text.references import Library, reference_key

_LIST = r"\[\s{0,3}[0-9]{1,8}(?:\s{0,3}[,;]\s{0,3}[0-9]{1,8})*\s{0,3}\]"
_PMIDS = re.compile(_LIST)
_INSIDE = re.compile(rf"\s{{0,2}}(?:\({_LIST}\)|{_LIST})")

_Pmids = tuple[Name, ...] | Annotated[dict[str, object], AfterValidator(lambda cited: tuple(cited))]
"""A list, or an object whose keys they are: both are allowed."""


class _Sentence(Foreign):
    """A sentence and what it cites; task A's name for these is ``supported_citations``.

    The citations that task A says contradict the sentence are not read: they promise no support.
    """

    text: str
    citations: _Pmids = ()
    supported_citations: _Pmids = ()

    @property
    def pmids(self) -> tuple[str, ...]:
        """What it cites, each once."""
        return tuple(dict.fromkeys((*self.citations, *self.supported_citations)))


class _Metadata(Foreign):
    """Which topic it is about."""

    topic_id: Name | None = None
    qa_id: Name | None = None
    narrative_id: Name | None = None
    question: str | None = None
    narrative: str | None = None


class _Topic(Foreign):
    """The answer to one topic."""

    id: Name | None = None
    topic_id: Name | None = None
    qa_id: Name | None = None
    metadata: _Metadata = _Metadata()
    question: str | None = None
    topic: str | None = None
    references: tuple[Name, ...] = ()
    answer: str | tuple[_Sentence, ...] | None = None
    responses: tuple[_Sentence, ...] | None = None

    @property
    def name(self) -> str | None:
        """The topic's id."""
        own = self.topic_id or self.qa_id or self.id
        return own or self.metadata.topic_id or self.metadata.qa_id or self.metadata.narrative_id

    @property
    def asked(self) -> str | None:
        """The question, wherever it is."""
        return self.question or self.topic or self.metadata.question or self.metadata.narrative


def _read(raw: RawRecord, library: Library) -> Answer:
    topic = raw.read(_Topic)
    id = topic.name or str(raw.number)
    sources = CitableDocuments((), library)
    answer = topic.responses if topic.responses is not None else topic.answer
    if answer is None:
        raise raw.refused("answer", "expected a text or sentences here or under responses; found neither")
    if isinstance(answer, str):
        text = storable(answer)
        # No other numbers than these: what "[123-125]" means, nobody knows.
        mentions = disjoint([*_bracketed(text, sources), *pmids_in(text, sources)])
        return parse_answer(id, text, sources.documents, topic.asked, mentions=mentions)
    names = topic.references if _by_place(answer, topic.references) else None
    text, claims = _joined(answer, sources, names)
    return Answer(id=id, text=text, claims=claims, documents=tuple(sources.documents), question=topic.asked)


def _bracketed(text: str, sources: CitableDocuments) -> list[Mention]:
    """The lists of PubMed ids in square brackets; ``[1]`` is the id 1 here."""
    return [
        Mention(
            Span(start=match.start(), end=match.end()),
            tuple(sources.named(f"pmid:{pmid}") for pmid in re.findall("[0-9]+", match[0])),
        )
        for match in _PMIDS.finditer(text)
    ]


def _by_place(sentences: Sequence[_Sentence], references: Sequence[str]) -> bool:
    """Whether citations are places in the list of references, counted from 0: some are, and none is a reference.

    One that is past the end of the list, or no number, points nowhere; the others keep their places.
    """
    cited = [name for sentence in sentences for name in sentence.pmids]
    return any(_place(name, references) is not None for name in cited) and not set(cited) & set(references)


def _place(name: str, references: Sequence[str]) -> int | None:
    return int(name) if name.isdecimal() and len(name) < 9 and int(name) < len(references) else None


def _cited_place(name: str, references: Sequence[str], sources: CitableDocuments) -> tuple[int, str | None]:
    """The marker of a place, from 1, and its document; of one past the end none."""
    place = _place(name, references)
    if place is not None:
        return place + 1, sources.named(references[place])[1]
    return (int(name) + 1 if name.isdecimal() and len(name) < 9 else len(references) + 1), None


def _joined(
    sentences: tuple[_Sentence, ...], sources: CitableDocuments, names: Sequence[str] | None
) -> tuple[str, tuple[Claim, ...]]:
    """The sentences with one space between them, and each as a claim that cites all of its place.

    Where there are ``names`` citations are places among them; a reader counts from 1.
    """
    parts: list[str] = []
    claims: list[Claim] = []
    end = -1
    for sentence in sentences:
        text = storable(sentence.text).strip()
        if not text and not sentence.pmids:
            continue
        span = Span(start=end + 1, end=end + 1 + len(text))
        if names is None:
            cited = [sources.named(pmid) for pmid in sentence.pmids]
        else:
            cited = [_cited_place(place, names, sources) for place in sentence.pmids]
        citations = tuple(Citation(marker=number, span=span, document=document) for number, document in cited)
        claims.append(Claim(text=_without(text, () if names else sentence.pmids), span=span, citations=citations))
        parts.append(text)
        end = span.end
    return " ".join(parts), tuple(claims)


def _without(text: str, pmids: Sequence[str]) -> str:
    """A sentence without those lists of PubMed ids in brackets that repeat what it is said to cite."""
    cited = {reference_key(pmid) for pmid in pmids}

    def left(match: re.Match[str]) -> str:
        return "" if cited.issuperset(map(reference_key, re.findall("[0-9]+", match[0]))) else match[0]

    return _INSIDE.sub(left, text).strip() if cited else text


def _is_trec_rag(fields: Fields) -> bool:
    return isinstance(fields.get("answer"), list) and isinstance(fields.get("references"), list)


def _matches(fields: Fields) -> bool:
    if _is_trec_rag(fields):
        return False
    if "responses" in fields or isinstance(fields.get("answer"), list):
        return True
    return "answer" in fields and "topic_id" in fields


BIOGEN = Format(
    '{"metadata": {"topic_id"}, "responses": [{"text", "citations": [PMID]}]} or '
    '{"topic_id", "answer": "text with [PMID, PMID]"}, and --documents FILE',
    _read,
    _matches,
    needs_documents=True,
)


TREC_RAG = Format(
    '{"topic_id" or "metadata": {"narrative_id"}, "references": ["name"], "answer": [{"text", "citations": [0]}]}, '
    "and --documents FILE",
    _read,
    _is_trec_rag,
    needs_documents=True,
)


class _ReportDocument(Foreign):
    """A document that a report brings."""

    id: Name | None = None
    title: str | None = None
    text: str = ""


class _Report(_Topic):
    """A report of AutoJudge."""

    documents: dict[str, _ReportDocument] | None = None


def _read_report(raw: RawRecord, library: Library) -> Answer:
    report = raw.read(_Report)
    answer = report.responses if report.responses is not None else report.answer
    if answer is None or isinstance(answer, str):
        raise raw.refused("responses", "expected sentences; found none")
    own = [
        Document.from_text(id, storable(document.text), storable(document.title or ""))
        for id, document in (report.documents or {}).items()
    ]
    if not own and not library and any(sentence.pmids for sentence in answer):
        raise raw.refused("documents", "expected the cited documents here, or with --documents FILE; found none")
    sources = CitableDocuments(own, library)
    names = report.references if _by_place(answer, report.references) else None
    text, claims = _joined(answer, sources, names)
    documents = tuple(sources.documents)
    return Answer(
        id=report.name or str(raw.number), text=text, claims=claims, documents=documents, question=report.asked
    )


def _is_report(fields: Fields) -> bool:
    # Without its documents a report reads like a run of BioGen.
    return isinstance(fields.get("responses"), list) and isinstance(fields.get("documents"), dict)


AUTOJUDGE = Format(
    '{"metadata": {"team_id", "run_id", "topic_id"}, "responses": [{"text", "citations": ["name"]}], '
    '"references": ["name"], "documents"?: {"name": {"id", "title"?, "text"}}}',
    _read_report,
    _is_report,
)


def _systems(raw: RawRecord) -> Iterator[RawRecord]:
    """The answers to one question, each by the name of its system."""
    fields = raw.fields or {}
    found = list(assessed_answers(raw.row)) if fields else []
    shared = {name: fields.get(name) for name in ("question_id", "question")}
    for name, answer in found:
        yield raw.part(f"machine_generated_answers.{name}", {**answer.fields, **shared, "system": name})
    if not found:
        yield raw


def _read_assessed(raw: RawRecord, library: Library) -> Answer:
    row = raw.row
    sources = CitableDocuments((), library)
    # An article that does not exist is cited all the same: it dangles.
    sentences = tuple(_Sentence(text=it.text, citations=tuple(it.cited)) for it in assessed_sentences(row))
    text, claims = _joined(sentences, sources, None)
    id = f"{row.perhaps('question_id') or raw.number}-{row.words('system')}"
    question = row.perhaps("question") or None
    return Answer(id=id, text=text, claims=claims, documents=tuple(sources.documents), question=question)


MEDAESQA = Format(
    '{"question_id", "question"?, "machine_generated_answers": {"M1": {"answer_sentences": [{"answer_sentence", '
    '"citation_assessment": [{"cited_pmid"}]}]}}}, and --documents FILE',
    _read_assessed,
    lambda fields: "machine_generated_answers" in fields or "answer_sentences" in fields,
    needs_documents=True,
    parts=_systems,
)
