"""Runs of the TREC tracks BioGen and RAG, MedAESQA's assessed answers, and AutoJudge's reports and nugget banks.

BioGen cites by PubMed id. The reader follows the 2024 track's page on the submission format (one object with
``results``; ``answer`` is a text with lists of PubMed ids in square brackets, ``references`` lists them) and the 2025
track's rules for runs: task B has ``metadata.topic_id`` and ``responses``, task A ``metadata.qa_id`` and ``answer``;
both are lists of sentences. The RAG track cites by index in ``references``, a list of document names. MedAESQA has
thirty answers per question. AutoJudge's reports have ``metadata`` with ``run_id``, ``team_id`` and ``topic_id`` (or
``narrative_id``), ``responses`` that cite by names, indexes or names with a confidence, and optionally ``documents`` by
id, as in the public data model of the track's package (``trec-auto-judge/auto-judge-base`` on GitHub,
``src/autojudge_base/report.py``).

A nugget bank holds what a good answer should say. It has a topic and two collections: ``claim_bank``, statements by
text, and ``nugget_bank``, questions by text, each with its answers. Both may be lists. The format is from the same
package (``src/autojudge_base/nugget_data/nugget_data.py``, ``format_version`` v3, and
``ragtime26/ragtime26_nugget_data.py``, the format of submissions, with the topic in ``metadata.topic_id``).

Our gold nuggets are statements, so they are written as claims. A question is read as one nugget per answer, or, if all
answers are required (``aggregator_type`` is ``AND``), as one nugget with all of them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator

from vericite.datasets.attributed import assessed_answers, assessed_sentences
from vericite.errors import InputError, RecordError
from vericite.formats.files import raw_records
from vericite.formats.form import Fields, Foreign, Format, Name, RawRecord
from vericite.records import Answer, Citation, Claim, Document, Gold, GoldNugget, Span, storable
from vericite.text.citations import CitableDocuments, Mention, disjoint, parse_answer, pmids_in
from vericite.text.references import Library, reference_key

_LIST = r"\[\s{0,3}[0-9]{1,8}(?:\s{0,3}[,;]\s{0,3}[0-9]{1,8})*\s{0,3}\]"
_PMIDS = re.compile(_LIST)
_INSIDE = re.compile(rf"\s{{0,2}}(?:\({_LIST}\)|{_LIST})")

_Pmids = tuple[Name, ...] | Annotated[dict[str, object], AfterValidator(lambda cited: tuple(cited))]
"""A list, or an object whose keys they are: both are allowed."""


class _Sentence(Foreign):
    """A sentence and its citations, which task A names ``supported_citations``.

    Citations that contradict the sentence according to task A are not read: they do not claim support.
    """

    text: str
    citations: _Pmids = ()
    supported_citations: _Pmids = ()

    @property
    def pmids(self) -> tuple[str, ...]:
        """The cited ids, each once."""
        return tuple(dict.fromkeys((*self.citations, *self.supported_citations)))


class _Metadata(Foreign):
    """The topic of an answer."""

    topic_id: Name | None = None
    qa_id: Name | None = None
    narrative_id: Name | None = None
    question: str | None = None
    narrative: str | None = None


class _Topic(Foreign):
    """The answer to a topic."""

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
        """The question, in any of the supported fields."""
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
        # Only plain lists of ids: the meaning of "[123-125]" is unclear.
        mentions = disjoint([*_bracketed(text, sources), *pmids_in(text, sources)])
        return parse_answer(id, text, sources.documents, topic.asked, mentions=mentions)
    names = topic.references if _by_place(answer, topic.references) else None
    text, claims = _joined(answer, sources, names)
    return Answer(id=id, text=text, claims=claims, documents=tuple(sources.documents), question=topic.asked)


def _bracketed(text: str, sources: CitableDocuments) -> list[Mention]:
    """Return the lists of PubMed ids in square brackets; ``[1]`` means the PubMed id 1 here."""
    return [
        Mention(
            Span(start=match.start(), end=match.end()),
            tuple(sources.named(f"pmid:{pmid}") for pmid in re.findall("[0-9]+", match[0])),
        )
        for match in _PMIDS.finditer(text)
    ]


def _by_place(sentences: Sequence[_Sentence], references: Sequence[str]) -> bool:
    """Whether citations are indexes into the references: some are valid indexes, and none is a reference itself.

    A citation beyond the end of the list, or not a number, is dangling; the others remain valid.
    """
    cited = [name for sentence in sentences for name in sentence.pmids]
    return any(_place(name, references) is not None for name in cited) and not set(cited) & set(references)


def _place(name: str, references: Sequence[str]) -> int | None:
    return int(name) if name.isdecimal() and len(name) < 9 and int(name) < len(references) else None


def _cited_place(name: str, references: Sequence[str], sources: CitableDocuments) -> tuple[int, str | None]:
    """Return the marker of an index, counted from 1, and its document; None beyond the end."""
    place = _place(name, references)
    if place is not None:
        return place + 1, sources.named(references[place])[1]
    return (int(name) + 1 if name.isdecimal() and len(name) < 9 else len(references) + 1), None


def _joined(
    sentences: tuple[_Sentence, ...], sources: CitableDocuments, names: Sequence[str] | None
) -> tuple[str, tuple[Claim, ...]]:
    """Join the sentences with spaces, and return each as a claim whose citations cover the whole sentence.

    With ``names``, citations are indexes into them, and markers count from 1.
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
    """Remove bracketed lists of PubMed ids from a sentence that only repeat its citations."""
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
    """A document in a report."""

    id: Name | None = None
    title: str | None = None
    text: str = ""


class _Report(_Topic):
    """An AutoJudge report."""

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
    # Without documents, a report looks like a BioGen run.
    return isinstance(fields.get("responses"), list) and isinstance(fields.get("documents"), dict)


AUTOJUDGE = Format(
    '{"metadata": {"team_id", "run_id", "topic_id"}, "responses": [{"text", "citations": ["name"]}], '
    '"references": ["name"], "documents"?: {"name": {"id", "title"?, "text"}}}',
    _read_report,
    _is_report,
)


def _systems(raw: RawRecord) -> Iterator[RawRecord]:
    """Yield the answers to a question, each with the name of its system."""
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
    # Citations of articles that do not exist are kept, as dangling citations.
    sentences = tuple(
        _Sentence(text=sentence.text, citations=tuple(sentence.cited)) for sentence in assessed_sentences(row)
    )
    text, claims = _joined(sentences, sources, None)
    id = f"{row.optional_text('question_id') or raw.number}-{row.required_text('system')}"
    question = row.optional_text("question") or None
    return Answer(id=id, text=text, claims=claims, documents=tuple(sources.documents), question=question)


MEDAESQA = Format(
    '{"question_id", "question"?, "machine_generated_answers": {"M1": {"answer_sentences": [{"answer_sentence", '
    '"citation_assessment": [{"cited_pmid"}]}]}}}, and --documents FILE',
    _read_assessed,
    lambda fields: "machine_generated_answers" in fields or "answer_sentences" in fields,
    needs_documents=True,
    parts=_systems,
)


BANK_VERSION = "v3"
"""Format version of the banks that are written."""

VITAL, OKAY = "vital", "okay"
"""Importance of a nugget, in the terms of nugget tracks."""

_NOT_VITAL = frozenset({"okay", "ok", "nice", "nice-to-have", "nice_to_have", "low", "optional", "0", "false"})


class _BankAnswer(Foreign):
    """An answer to a question in a bank."""

    answer: str


_BankAnswers = tuple[_BankAnswer | str, ...] | dict[str, _BankAnswer] | None
"""A list, in which some answers may be plain texts, or a mapping by text."""


class _BankQuestion(Foreign):
    """A question that a good answer should answer."""

    question: str
    question_id: Name | None = None
    answers: _BankAnswers = None
    aggregator_type: str | None = None
    importance: str | int | None = None


class _BankClaim(Foreign):
    """A statement that a good answer should make."""

    claim: str
    claim_id: Name | None = None
    importance: str | int | None = None


class _BankMetadata(Foreign):
    """The metadata of a submission, with the topic."""

    topic_id: Name | None = None


class _Bank(Foreign):
    """The nuggets of a topic."""

    query_id: Name | None = None
    title_query: str | None = None
    full_query: Any = None
    metadata: _BankMetadata | None = None
    nugget_bank: tuple[_BankQuestion, ...] | dict[str, _BankQuestion] | None = None
    claim_bank: tuple[_BankClaim, ...] | dict[str, _BankClaim] | None = None


def is_bank(fields: frozenset[str] | Fields) -> bool:
    """Whether a record's fields are those of a bank."""
    return "nugget_bank" in fields or "claim_bank" in fields


def banks_in(path: Path) -> Iterator[tuple[int, Gold] | RecordError]:
    """Yield the gold of a file of banks, in JSON or JSON Lines, with lines; an error for each invalid record."""
    for raw in raw_records(path, is_bank):
        if isinstance(raw, RecordError):
            yield raw
            continue
        try:
            yield raw.line, _bank_gold(raw)
        except RecordError as error:
            yield error


def _bank_gold(raw: RawRecord) -> Gold:
    bank = raw.read(_Bank)
    topic = bank.query_id or (bank.metadata.topic_id if bank.metadata else None)
    if topic is None:
        raise raw.refused("query_id", "expected the topic here or in metadata.topic_id; found none")
    claims, questions = _listed(bank.claim_bank), _listed(bank.nugget_bank)
    found = [*map(_of_claim, claims), *(nugget for question in questions for nugget in _of_question(question))]
    nuggets = {nugget.id: nugget for nugget in found if nugget.text}
    if not nuggets:
        raise raw.refused("nugget_bank", "expected nuggets here or in claim_bank; found none")
    asked = bank.full_query if isinstance(bank.full_query, str) else bank.title_query
    return Gold(id=topic, question=storable(asked) if asked else None, nuggets=tuple(nuggets.values()))


_Item = TypeVar("_Item")


def _listed(items: tuple[_Item, ...] | dict[str, _Item] | None) -> list[_Item]:
    """Return the items of a list or a mapping."""
    return list(items.values()) if isinstance(items, dict) else list(items or ())


def _of_claim(claim: _BankClaim) -> GoldNugget:
    text = storable(claim.claim).strip()
    return GoldNugget(id=claim.claim_id or _nugget_id(text), text=text, vital=_is_vital(claim.importance))


def _of_question(question: _BankQuestion) -> Iterator[GoldNugget]:
    asked, vital = storable(question.question).strip(), _is_vital(question.importance)
    given = question.answers
    listed = list(given.values()) if isinstance(given, dict) else list(given or ())
    texts = (answer if isinstance(answer, str) else answer.answer for answer in listed)
    answers = [storable(text).strip() for text in texts if text.strip()]
    id = question.question_id or _nugget_id(asked)
    if (question.aggregator_type or "").upper() == "AND" or len(answers) < 2:
        yield GoldNugget(id=id, text=" ".join([asked, "; ".join(answers)]).strip(), vital=vital)
        return
    for number, answer in enumerate(answers, start=1):
        yield GoldNugget(id=f"{id}.{number}", text=f"{asked} {answer}", vital=vital)


def _is_vital(importance: str | int | None) -> bool:
    """Whether a nugget is vital, which is the default without an importance."""
    return importance is None or str(importance).strip().casefold() not in _NOT_VITAL


def _nugget_id(text: str) -> str:
    """Return the id that the track's tools give to a nugget without one."""
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def to_bank(gold: Gold) -> dict[str, Any]:
    """Convert gold nuggets to a bank of claims.

    Raises:
        InputError: There are no nuggets, one has no text, or two have the same text, which a bank cannot hold.
    """
    nuggets = gold.nuggets or ()
    texts = [nugget.text for nugget in nuggets]
    if not nuggets or not all(text.strip() for text in texts):
        found = "a nugget without a text" if nuggets else "none"
        raise InputError(f"expected nuggets with texts for question {gold.id!r}; found {found}")
    if twice := next((text for text in texts if texts.count(text) > 1), None):
        raise InputError(f"expected nuggets with different texts for question {gold.id!r}; found {twice[:80]!r} twice")
    claims = {
        nugget.text: {
            "claim": nugget.text,
            "claim_id": nugget.id,
            "query_id": gold.id,
            "importance": VITAL if nugget.vital else OKAY,
        }
        for nugget in nuggets
    }
    asked = {"title_query": gold.question, "full_query": gold.question} if gold.question else {}
    return {"query_id": gold.id, **asked, "format_version": BANK_VERSION, "claim_bank": claims}
