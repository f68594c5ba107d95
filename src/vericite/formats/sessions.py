"""Sessions of paper-qa: an answer whose sentences cite chunks of papers by name or id, in round brackets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pydantic import AliasChoices, Field

from vericite.formats.form import Fields, Foreign, Format, Given, Name, RawRecord, dict_of, dicts_in, sources_of
from vericite.records import Answer, Span, storable
from vericite.text.citations import CitableDocuments, Mention, disjoint, expect_text, parse_answer, pmids_in
from vericite.text.references import Library

_GROUP = re.compile(r"\s*\((?P<inner>[^()]{1,2000})\)")
_CONTEXT_ID = re.compile(r"\bpqac-[a-zA-Z0-9]{8}\b")
# Between two names in a bracket, and before the first: "(pages a, b and c)".
_BETWEEN = re.compile(r"(?:[\s,;&-]|\band\b|\bpages?\b|\bpp?\.|\bsee\b|\be\.g\.)*", re.IGNORECASE)


class _Paper(Foreign):
    """What a chunk is from; the key stands for papers of which nothing better is known."""

    doi: str | None = None
    dockey: Name | None = None
    title: str | None = None
    citation: str | None = None


class _Chunk(Foreign):
    """A part of a paper. paper-qa empties its text where a session is made ready to be shown."""

    text: str = ""
    name: Name
    doc: _Paper = _Paper()


class _Context(Foreign):
    """A chunk that was retrieved; ``context``, a model's summary of it, is not a source."""

    id: Name | None = None
    text: _Chunk


class _Session(Foreign):
    """A question, its answer and the chunks that were retrieved for it."""

    id: Name | None = None
    question: str | None = None
    answer: str = Field("", validation_alias=AliasChoices("answer", "formatted_answer"))
    raw_answer: str = ""
    contexts: tuple[_Context, ...]


def _session_in(fields: Fields) -> Fields:
    """The session: alone, or within what an agent returns, where its name may be ``answer``."""
    return dict_of(fields.get("session")) or dict_of(fields.get("answer")) or fields


def _matches(fields: Fields) -> bool:
    contexts = dicts_in(_session_in(fields).get("contexts"))
    return any(isinstance(context.get("text"), dict) and "name" in dict_of(context["text"]) for context in contexts)


def _read(raw: RawRecord, library: Library) -> Answer:
    fields = raw.fields
    session = (raw if fields is None else raw.with_fields(_session_in(fields))).read(_Session)
    sources = sources_of([_source(context) for context in session.contexts], library)
    named = {context.text.name: _name(context.text) for context in session.contexts}
    ids = {context.id: _name(context.text) for context in session.contexts if context.id}
    if session.contexts and not sources.documents:
        raise raw.refused(
            "contexts.0.text.text",
            "expected the words of the chunks; found none, for paper-qa leaves them out of what its agent returns. "
            "Give the papers with --documents FILE, or keep the session that Docs.aquery returns",
        )
    # What the reader sees names chunks; before it is made ready there are only ids.
    text = session.raw_answer if _invents(session) else session.answer or session.raw_answer
    expect_text(text)
    text = storable(text)
    known = named | ids
    mentions = disjoint([*_mentions(text, known, sources), *pmids_in(text, sources)])
    return parse_answer(session.id or str(raw.number), text, sources.documents, session.question, mentions=mentions)


def _invents(session: _Session) -> bool:
    """Whether the model cited ids that no context has: paper-qa leaves these out of the answer that it shows."""
    given = {context.id for context in session.contexts}
    return None not in given and not given.issuperset(_CONTEXT_ID.findall(session.raw_answer))


def _source(context: _Context) -> Given:
    chunk = context.text
    words = {"text": chunk.text} if chunk.text.strip() else {}
    return Given.model_validate({"id": _name(chunk), "title": chunk.doc.title or chunk.doc.citation, **words})


def _name(chunk: _Chunk) -> str:
    """What the source is called: the chunk's name, or where its words are lacking what a library may know."""
    return chunk.name if chunk.text.strip() else chunk.doc.doi or chunk.name


def _mentions(text: str, known: Mapping[str, str], sources: CitableDocuments) -> Iterator[Mention]:
    """The brackets that hold nothing but names, then ids wherever they stand; an unknown id cites nothing."""
    names = "|".join(re.escape(name) for name in sorted(known, key=len, reverse=True))
    one = re.compile(rf"(?<!\w)(?:{names})(?!\w)|{_CONTEXT_ID.pattern}") if names else _CONTEXT_ID
    for group in _GROUP.finditer(text):
        found = one.findall(group["inner"])
        if found and _BETWEEN.fullmatch(one.sub("", group["inner"])):
            cited = tuple(sources.named(known.get(name, name)) for name in dict.fromkeys(found))
            yield Mention(Span(start=group.start(), end=group.end()), cited)
    for match in one.finditer(text):
        if match[0] in known or _CONTEXT_ID.fullmatch(match[0]):
            yield Mention(Span(start=match.start(), end=match.end()), (sources.named(known.get(match[0], match[0])),))


PAPER_QA = Format(
    '{"question"?, "answer": "text (name)", "contexts": [{"id"?, "text": {"name", "text", "doc"?}}]}',
    _read,
    _matches,
)
"""A session of paper-qa, which ragas' samples resemble by the names ``answer`` and ``contexts`` alone."""
