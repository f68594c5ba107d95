"""Replies of OpenAI, Gemini and Perplexity as they were kept, each put into the form of ``spans`` or of a chain."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any

from vericite.formats.chains import read_cited
from vericite.formats.form import Fields, Format, RawRecord, dict_of, dicts_in, first_dict, items_in
from vericite.formats.spans import read_message
from vericite.records import Answer
from vericite.text.references import Library

_ENVELOPES = ("response", "message", "completion", "answer", "output")
_OWN = ("id", "question", "documents")


def _either(fields: Fields, name: str) -> Any:
    """A field of Gemini's: its services write ``groundingChunks``, its library ``grounding_chunks``."""
    first, *rest = name.split("_")
    return fields.get(name, fields.get(first + "".join(map(str.capitalize, rest))))


def _opened(fields: Fields) -> tuple[Fields, str, Fields] | None:
    """The reply, the service that it is of, and the fields around it; None if there is none."""
    for inner in (fields, *(dict_of(fields.get(name)) for name in _ENVELOPES)):
        for name, is_reply in _REPLIES.items():
            if is_reply(inner):
                return inner, name, {key: fields[key] for key in _OWN if fields.get(key) is not None}
    return None


_REPLIES: dict[str, Callable[[Fields], bool]] = {
    "perplexity": lambda fields: bool(dicts_in(fields.get("choices"))) and bool(_cited_pages(fields)),
    "openai": lambda fields: (
        bool(dicts_in(fields.get("choices")))
        or any(item.get("type") == "message" for item in dicts_in(fields.get("output")))
    ),
    "gemini": lambda fields: any("content" in item for item in dicts_in(fields.get("candidates"))),
}


def _is(name: str) -> Callable[[Fields], bool]:
    def matches(fields: Fields) -> bool:
        found = _opened(fields)
        return found is not None and found[1] == name

    return matches


def _unpacked(raw: RawRecord) -> tuple[Fields, Fields]:
    """The reply, and the fields around it."""
    found = _opened(dict_of(raw.fields))
    if found is None:
        raise raw.refused(None, "expected a reply with output, choices or candidates; found none")
    return found[0], found[2]


def _message(fields: Fields) -> Fields:
    return dict_of(first_dict(fields.get("choices")).get("message"))


# OpenAI


def _read_openai(raw: RawRecord, library: Library) -> Answer:
    reply, own = _unpacked(raw)
    if "choices" in reply:
        message = _message(reply)
        blocks: list[dict[str, Any]] = [{**message, "text": str(message.get("content") or "")}]
        results: list[Fields] = []
    else:
        blocks, results = _output(reply)
    texts: dict[str, list[str]] = {}
    titles: dict[str, Any] = {}
    for result in results:
        id = str(result.get("file_id") or result.get("filename"))
        texts.setdefault(id, []).append(str(result.get("text") or ""))
        titles.setdefault(id, result.get("filename"))
    found = [{"id": id, "title": titles[id], "content": _texts(parts)} for id, parts in texts.items()]
    given = own.get("documents")
    documents = [*found, *items_in(given)]
    content = [{"type": "text", "text": block["text"]} for block in blocks]
    citations = [
        citation
        for index, block in enumerate(blocks)
        for annotation in dicts_in(block.get("annotations"))
        if (citation := _annotated(annotation, index, len(block["text"])))
    ]
    fields: dict[str, Any] = {"id": reply.get("id"), **own, "content": content, "citations": citations}
    if documents or "documents" in own:
        fields["documents"] = documents
    return read_message(raw.with_fields(fields), library)


def _texts(texts: Sequence[str]) -> list[Fields]:
    return [{"type": "text", "text": text} for text in texts]


def _output(reply: Fields) -> tuple[list[dict[str, Any]], list[Fields]]:
    """The blocks of text of a response, and what its searches of files found."""
    blocks: list[dict[str, Any]] = []
    results: list[Fields] = []
    for item in dicts_in(reply.get("output")):
        results += dicts_in(item.get("results"))
        if item.get("type") != "message":
            continue
        if blocks:
            blocks.append({"type": "text", "text": "\n\n", "annotations": None})
        for part in dicts_in(item.get("content")):
            text = part.get("text") if part.get("type") == "output_text" else None
            text = text if isinstance(text, str) else ""
            blocks.append({"type": "text", "text": text, "annotations": part.get("annotations")})
    return blocks, results


def _annotated(annotation: Fields, index: int, length: int) -> Fields | None:
    """An annotation as a citation with a place; None if it cites nothing."""
    cited = {**dict_of(annotation.get("url_citation")), **dict_of(annotation.get("file_citation")), **annotation}
    if not str(annotation.get("type", "")).endswith("citation"):
        return None
    start, end = cited.get("start_index"), cited.get("end_index")
    if start is None or end is None:
        # A file is cited at one place: behind the sentence.
        end = min(max(int(cited.get("index") or length), 1), length)
        start = end - 1
    place: dict[str, Any] = {"content_index": index, "start": start, "end": end, "title": cited.get("title")}
    if cited.get("file_id"):
        return {**place, "document_ids": [cited["file_id"]]}
    return {**place, "url": cited.get("url")}


OPENAI = Format(
    '{"output": [{"type": "message", "content": [{"type": "output_text", "text", "annotations"}]}], "documents"?} or '
    '{"choices": [{"message": {"content", "annotations"?}}], "documents"?}',
    _read_openai,
    _is("openai"),
)


# Gemini


def _read_gemini(raw: RawRecord, library: Library) -> Answer:
    reply, own = _unpacked(raw)
    candidate = first_dict(reply.get("candidates"))
    parts = dicts_in(dict_of(candidate.get("content")).get("parts"))
    content = [
        {"type": "text" if isinstance(part.get("text"), str) and not part.get("thought") else "other", **part}
        for part in parts
    ]
    grounding = dict_of(_either(candidate, "grounding_metadata"))
    sources = list(_chunks(dicts_in(_either(grounding, "grounding_chunks"))))
    offsets = [_Characters(str(part.get("text") or "")) for part in parts]
    citations: list[Fields] = []
    for support in dicts_in(_either(grounding, "grounding_supports")):
        segment = dict_of(support.get("segment"))
        index = int(_either(segment, "part_index") or 0)
        numbers = items_in(_either(support, "grounding_chunk_indices"))
        cited = [sources[n] for n in numbers if isinstance(n, int) and 0 <= n < len(sources)]
        if index < len(offsets) and cited:
            place = offsets[index]
            start, end = (place.of(_either(segment, name) or 0) for name in ("start_index", "end_index"))
            citations.append({"content_index": index, "start": start, "end": end, "sources": cited})
    fields: dict[str, Any] = {"id": _either(reply, "response_id"), **own, "content": content, "citations": citations}
    return read_message(raw.with_fields(fields), library)


class _Characters:
    """The characters of a text by their bytes, which Gemini counts."""

    def __init__(self, text: str) -> None:
        self._ends = list(accumulate((len(char.encode("utf-8", "replace")) for char in text), initial=0))

    def of(self, byte: int) -> int:
        """The character that begins at or behind a byte."""
        return min(bisect_left(self._ends, byte), len(self._ends) - 1)


def _chunks(chunks: Sequence[Fields]) -> Iterator[Fields]:
    """The sources, each with a name of its own: chunks of one file are several."""
    names: dict[str, int] = {}
    for number, chunk in enumerate(chunks, start=1):
        retrieved = dict_of(_either(chunk, "retrieved_context"))
        page = retrieved or dict_of(chunk.get("web")) or dict_of(chunk.get("maps"))
        name = str(page.get("uri") or page.get("title") or f"source-{number}")
        if retrieved:
            names[name] = names.get(name, 0) + 1
            name = name if names[name] == 1 else f"{name}#{names[name]}"
        yield {"id": name, "title": page.get("title"), **({"text": page["text"]} if page.get("text") else {})}


GEMINI = Format(
    '{"candidates": [{"content": {"parts": [{"text"}]}, "grounding_metadata": {"grounding_chunks", '
    '"grounding_supports"}}]}',
    _read_gemini,
    _is("gemini"),
)


# Perplexity


def _cited_pages(fields: Fields) -> list[Fields]:
    """The pages that numbers in the text count."""
    pages = [
        {"id": page.get("url"), "title": page.get("title"), "text": page.get("snippet")}
        for page in dicts_in(fields.get("search_results"))
    ]
    if not pages:
        pages = [{"url": url} for url in items_in(fields.get("citations")) if isinstance(url, str)]
    return [{name: value for name, value in page.items() if value} for page in pages]


def _read_perplexity(raw: RawRecord, library: Library) -> Answer:
    reply, own = _unpacked(raw)
    given = own.get("documents")
    return read_cited(
        raw.with_fields(
            {
                "id": own.get("id", reply.get("id")),
                "question": own.get("question"),
                "answer": _message(reply).get("content"),
                "contexts": given if given is not None else _cited_pages(reply),
            }
        ),
        library,
    )


PERPLEXITY = Format(
    '{"choices": [{"message": {"content": "text with [1]"}}], "search_results": [{"url", "title"}]}',
    _read_perplexity,
    _is("perplexity"),
)
