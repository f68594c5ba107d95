"""Convert document and answer objects of other libraries.

Objects are recognized by their attributes, so that no library is imported: a LangChain ``Document`` has
``page_content``, a LlamaIndex node ``get_content()``, a Haystack ``Document`` is a dataclass with ``content``. Each is
converted to the plain values that the library would write to a file, and then read like that file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from typing import Any, cast

from pydantic import BaseModel, ValidationError
from pydantic_core import to_json

from vericite.errors import InputError, RecordError, ValuesError, expect_many
from vericite.formats.form import Fields, Given, RawRecord, expect_words, passages
from vericite.formats.registry import read_record
from vericite.records import Answer, Document, Record, SourceText, first_problem
from vericite.text.references import Library

_DEEPEST = 30
"""Maximum nesting of objects."""
_PLAIN = (str, int, float, bool, type(None))


def as_documents(documents: Iterable[object]) -> list[Document]:
    """Convert texts, mappings, ``Document`` objects or another library's objects to documents.

    Raises:
        InputError: An item cannot be read as a document, or ``documents`` is not a list.
    """
    expect_many(documents, "a list of documents")
    return [_as_document(item, number) for number, item in enumerate(documents)]


def _as_document(item: object, position: int) -> Document:
    if isinstance(item, Document):
        return item
    where = f"documents.{position}"
    if isinstance(item, str):
        try:
            expect_words(item)
        except ValueError as error:
            raise InputError(f"{where}: {error}") from None
    fields = {"id": f"document-{position + 1}", "text": item} if isinstance(item, str) else plain(item)
    if not isinstance(fields, Mapping):
        raise InputError(
            f"expected documents to be texts, mappings with text and optional id and title, or a library's documents; "
            f"{where} is {item!r:.80}"
        )
    try:
        return _document(cast(Fields, fields), position)
    except (ValidationError, ValuesError) as error:
        field, problem = first_problem(error)
        at = f"{where}.{field}" if field else where
        raise InputError(f"expected a document with text and optional id and title; {at}: {problem}") from None


def _document(given: Fields, position: int) -> Document:
    named = {"id": f"document-{position + 1}", **given}
    if not named.keys() - SourceText.model_fields.keys():
        return SourceText.model_validate(named).document()
    for field in given:
        # Report a misspelled title instead of dropping it; extra fields of other libraries have other names.
        close = get_close_matches(field, SourceText.model_fields, n=1, cutoff=0.75)
        if close and field != close[0]:
            raise ValuesError("document", field, f"expected another name. Did you mean {close[0]!r}?")
    read = Given.model_validate_json(to_json(given, serialize_unknown=True))
    if read.texts is None:
        names = ", ".join(repr(str(name)[:40]) for name in list(given)[:8])
        raise ValuesError("document", "text", f"expected a text; found the fields {names}")
    return passages(read.id or f"document-{position + 1}", read.texts, read.title or "", read.pmid, read.retracted)


def as_answer(value: object, library: Library | None = None) -> Answer:
    """Convert what a library returns (a chain's result, a response, a sample) to an answer with its sources.

    Raises:
        InputError: It cannot be read as an answer with sources.
    """
    if isinstance(value, Answer):
        return value
    found = plain(value)
    if not isinstance(found, Mapping):
        raise InputError(f"expected an answer: a text, an Answer or what a library returns; found {value!r:.80}")
    given = to_json(found, serialize_unknown=True).decode()
    read = read_record(RawRecord("answer", 1, 0, given), library or Library(()))
    if isinstance(read, RecordError):
        raise read
    return read


def plain(value: object, depth: int = 0) -> object:
    """Convert an object to the plain values that its library would write: mappings, lists, texts and numbers.

    Values without a plain form, such as an embedding's array or a client, become None.
    """
    if isinstance(value, _PLAIN):
        return value
    if depth > _DEEPEST:
        return None
    if isinstance(value, Mapping):
        given = cast("Mapping[Any, Any]", value)
        return {str(name): plain(item, depth + 1) for name, item in given.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item, depth + 1) for item in cast("Iterable[Any]", value)]
    if isinstance(value, Record):
        return value.model_dump(mode="json")
    return _object(value, depth)


def _object(value: object, depth: int) -> object:
    if isinstance(value, type):
        return None
    if (content := _content(value)) is not None:
        return content
    if isinstance(value, BaseModel):
        own: Iterable[str] = type(value).model_fields
    elif is_dataclass(value):
        own = [field.name for field in fields(value)]
    else:
        # An object of an unknown library, or of pydantic 1.
        own = [name for name in vars(value) if not name.startswith("_")] if hasattr(value, "__dict__") else []
    found = {name: plain(getattr(value, name, None), depth + 1) for name in own}
    return found or None


def _content(value: object) -> dict[str, object] | None:
    """Return the text of a document that has a method for it, such as a LlamaIndex node."""
    get_content = getattr(value, "get_content", None)
    if not callable(get_content):
        return None
    node = getattr(value, "node", value)
    metadata = plain(getattr(node, "metadata", None))
    try:
        text = get_content()
    except TypeError:
        return None
    if not isinstance(text, str):
        return None
    return {"node": {"id_": plain(getattr(node, "node_id", None)), "text": text, "metadata": metadata}}
