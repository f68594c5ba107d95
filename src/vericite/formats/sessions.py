"""Sessions of paper-qa: answers that cite chunks of papers by name or id, in parentheses."""

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
# Between two names in parentheses, and before the first: "(pages a, b and c)".
_BETWEEN = re.compile(r"(?:[\s,;&-]|\band\b|\bpages?\b|\bpp?\.|\bsee\b|\be\.g\.)*", re.IGNORECASE)


class _Paper(Foreign):
    """The paper of a chunk; ``dockey`` is for papers without better identifiers."""

    doi: str | None = None
    dockey: Name | None = None
    title: str | None = None
    citation: str | None = None


class _Chunk(Foreign):
    """A part of a paper. paper-qa empties its text in sessions prepared for display."""

    text: str = ""
    name: Name
    doc: _Paper = _Paper()


class _Context(Foreign):
    """A retrieved chunk. Its ``context``, a summary by a model, is not a source."""

    id: Name | None = None
    text: _Chunk


class _Session(Foreign):
    """A question, its answer and the retrieved chunks."""

    id: Name | None = None
    question: str | None = None
    answer: str = Field("", validation_alias=AliasChoices("answer", "formatted_answer"))
    raw_answer: str = ""
    contexts: tuple[_Context, ...]


def _session_in(fields: Fields) -> Fields:
    """Return the session: the record itself, or a field of an agent's output, which may be named ``answer``."""
    return dict_of(fields.get("session")) or dict_of(fields.get("answer")) or fields


def _matches(fields: Fields) -> bool:
    session = _session_in(fields)
    contexts = dicts_in(session.get("contexts"))
    # A session that found nothing has no contexts, but fields that only paper-qa has.
    if not contexts and {"raw_answer", "formatted_answer", "contexts"} <= session.keys():
        return True
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
            "expected the text of the chunks; found none, because paper-qa omits it from its agent's output. "
            "Give the papers with --documents FILE, or save the session that Docs.aquery returns",
        )
    # The displayed answer names chunks; the raw answer only has ids.
    text = session.raw_answer if _invents(session) else session.answer or session.raw_answer
    expect_text(text)
    text = storable(text)
    known = named | ids
    mentions = disjoint([*_mentions(text, known, sources), *pmids_in(text, sources)])
    return parse_answer(session.id or str(raw.number), text, sources.documents, session.question, mentions=mentions)


def _invents(session: _Session) -> bool:
    """Whether the model cited ids without a context, which paper-qa removes from the displayed answer."""
    given = {context.id for context in session.contexts}
    return None not in given and not given.issuperset(_CONTEXT_ID.findall(session.raw_answer))


def _source(context: _Context) -> Given:
    chunk = context.text
    words = {"text": chunk.text} if chunk.text.strip() else {}
    return Given.model_validate({"id": _name(chunk), "title": chunk.doc.title or chunk.doc.citation, **words})


def _name(chunk: _Chunk) -> str:
    """Return the name of a source: the chunk's name, or without text, the DOI, which a library may know."""
    return chunk.name if chunk.text.strip() else chunk.doc.doi or chunk.name


def _mentions(text: str, known: Mapping[str, str], sources: CitableDocuments) -> Iterator[Mention]:
    """Yield parentheses that hold only names, then ids anywhere; an unknown id cites nothing."""
    names = "|".join(re.escape(name) for name in sorted(known, key=len, reverse=True))
    name_or_id = re.compile(rf"(?<!\w)(?:{names})(?!\w)|{_CONTEXT_ID.pattern}") if names else _CONTEXT_ID
    for group in _GROUP.finditer(text):
        found = name_or_id.findall(group["inner"])
        if found and _BETWEEN.fullmatch(name_or_id.sub("", group["inner"])):
            cited = tuple(sources.named(known.get(name, name)) for name in dict.fromkeys(found))
            yield Mention(Span(start=group.start(), end=group.end()), cited)
    for match in name_or_id.finditer(text):
        if match[0] in known or _CONTEXT_ID.fullmatch(match[0]):
            yield Mention(Span(start=match.start(), end=match.end()), (sources.named(known.get(match[0], match[0])),))


PAPER_QA = Format(
    '{"question"?, "answer": "text (name)", "contexts": [{"id"?, "text": {"name", "text", "doc"?}}]}',
    _read,
    _matches,
)
"""A session of paper-qa. Ragas samples only share the names ``answer`` and ``contexts`` with it."""
