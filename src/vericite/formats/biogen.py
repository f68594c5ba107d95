"""Runs of the TREC tracks on biomedical generative retrieval (BioGen), which cite by PubMed id.

Followed are the 2024 track's page on the submission format (one object with ``results``; ``answer`` is a text with
lists of PubMed ids in square brackets, ``references`` lists them) and the 2025 track's rules for runs: task B has
``metadata.topic_id`` and ``responses``, task A ``metadata.qa_id`` and ``answer``, lists of sentences both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator

from vericite.formats.form import Fields, Foreign, Format, Name, RawRecord
from vericite.records import Answer, Citation, Claim, Span, storable
from vericite.text.citations import parse_answer
from vericite.text.mentions import Mention, Sources, disjoint, pmids_in
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


class _Topic(Foreign):
    """The answer to one topic."""

    id: Name | None = None
    topic_id: Name | None = None
    qa_id: Name | None = None
    metadata: _Metadata = _Metadata()
    question: str | None = None
    answer: str | tuple[_Sentence, ...] | None = None
    responses: tuple[_Sentence, ...] | None = None

    @property
    def name(self) -> str | None:
        """The topic's id."""
        own = self.topic_id or self.qa_id or self.id
        return own or self.metadata.topic_id or self.metadata.qa_id


def _read(raw: RawRecord, library: Library) -> Answer:
    topic = raw.read(_Topic)
    id = topic.name or str(raw.number)
    sources = Sources((), library)
    said = topic.responses if topic.responses is not None else topic.answer
    if said is None:
        raise raw.refused("answer", "expected a text or sentences here or under responses; found neither")
    if isinstance(said, str):
        text = storable(said)
        # No other numbers than these: what "[123-125]" means, nobody knows.
        mentions = disjoint([*_bracketed(text, sources), *pmids_in(text, sources)])
        return parse_answer(id, text, sources.documents, topic.question, mentions=mentions)
    text, claims = _joined(said, sources)
    return Answer(id=id, text=text, claims=claims, documents=tuple(sources.documents), question=topic.question)


def _bracketed(text: str, sources: Sources) -> list[Mention]:
    """The lists of PubMed ids in square brackets; ``[1]`` is the id 1 here."""
    return [
        Mention(
            Span(start=match.start(), end=match.end()),
            tuple(sources.named(f"pmid:{pmid}") for pmid in re.findall("[0-9]+", match[0])),
        )
        for match in _PMIDS.finditer(text)
    ]


def _joined(sentences: tuple[_Sentence, ...], sources: Sources) -> tuple[str, tuple[Claim, ...]]:
    """The sentences with one space between them, and each as a claim that cites all of its place."""
    parts: list[str] = []
    claims: list[Claim] = []
    end = -1
    for sentence in sentences:
        text = storable(sentence.text).strip()
        if not text and not sentence.pmids:
            continue
        span = Span(start=end + 1, end=end + 1 + len(text))
        cited = (sources.named(pmid) for pmid in sentence.pmids)
        citations = tuple(Citation(marker=number, span=span, document=document) for number, document in cited)
        claims.append(Claim(text=_without(text, sentence.pmids), span=span, citations=citations))
        parts.append(text)
        end = span.end
    return " ".join(parts), tuple(claims)


def _without(text: str, pmids: Sequence[str]) -> str:
    """A sentence without those lists of PubMed ids in brackets that repeat what it is said to cite."""
    cited = {reference_key(pmid) for pmid in pmids}

    def left(match: re.Match[str]) -> str:
        return "" if cited.issuperset(map(reference_key, re.findall("[0-9]+", match[0]))) else match[0]

    return _INSIDE.sub(left, text).strip() if cited else text


def _matches(fields: Fields) -> bool:
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
