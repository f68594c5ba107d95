"""The registry of answer formats, and the functions that read answers and questions from files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any, Self, cast

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import from_json

from vericite.datasets.registry import SETS, DatasetSource, is_named, source_named
from vericite.errors import InputError, Problems, RecordError, UnknownNameError, ValuesError
from vericite.formats.chains import ALCE, HAYSTACK, LANGCHAIN, LLAMAINDEX, RAGAS
from vericite.formats.files import (
    MARKDOWN_FILES,
    TEXT_FILES,
    file_records,
    is_text,
    markdown_record,
    suffix_of,
)
from vericite.formats.form import (
    Fields,
    Foreign,
    Format,
    Given,
    Name,
    PerhapsName,
    RawRecord,
    answer_of,
    dict_of,
    passages,
)
from vericite.formats.given import SOURCES, taken_fields, with_documents
from vericite.formats.links import GEMINI, MARKDOWN, OPENAI, PERPLEXITY
from vericite.formats.sessions import PAPER_QA
from vericite.formats.spans import SPANS
from vericite.formats.tables import TABLES, Columns, table_records
from vericite.formats.tracks import AUTOJUDGE, BIOGEN, MEDAESQA, TREC_RAG
from vericite.records import (
    Answer,
    Document,
    Question,
    QuestionType,
    Record,
    SourceText,
    number_lines,
)
from vericite.records.base import expecting_records
from vericite.registry import Registry
from vericite.text.citations import CitableDocuments
from vericite.text.references import Library


class AnswerToCheck(Record):
    """An answer as input: ``[n]`` in its text cites the n-th document, ``PMID: n`` the document with that id."""

    id: str = Field(min_length=1)
    answer: str
    documents: tuple[SourceText, ...]
    question: str | None = None

    @classmethod
    def of(cls, answer: Answer) -> Self:
        """Convert an answer with all its documents."""
        documents = tuple(
            SourceText(id=document.id, text=document.text, title=document.title or None, retracted=document.retracted)
            for document in answer.documents
        )
        return cls(id=answer.id, answer=answer.text, documents=documents, question=answer.question)

    def parsed(self, library: Library | None = None) -> Answer:
        """Parse the answer into claims and citations."""
        sources = CitableDocuments([document.document() for document in self.documents], library)
        return answer_of(self.id, self.answer, sources, self.question)


class _Written(Foreign):
    """A lenient ``AnswerToCheck``: ids may be numbers or missing, and documents may be plain texts."""

    id: PerhapsName = None
    answer: str
    documents: tuple[Given, ...] | None = None
    question: str | None = None


def _read_vericite(raw: RawRecord, library: Library) -> Answer:
    fields = raw.fields
    record = (raw if fields is None else raw.with_fields(with_documents(fields))).read(_Written)
    if record.documents is None and not library:
        raise raw.refused("documents", f"expected the documents that the answer cites; found none{_hint(fields or {})}")
    given = record.documents or ()
    for number, item in enumerate(given):
        if item.texts is None:
            raise raw.refused(f"documents.{number}.text", "expected a text; found none")
    documents = [
        passages(item.id or f"document-{number}", item.texts or (), item.title or "", item.pmid, item.retracted)
        for number, item in enumerate(given, start=1)
    ]
    return answer_of(record.id or str(raw.number), record.answer, CitableDocuments(documents, library), record.question)


def _hint(fields: Fields) -> str:
    """Return what to do if the sources have another name, or only names and addresses."""
    named = next((name for name in SOURCES if fields.get(name)), None)
    if named:
        return f", and no texts in {named!r}. Give the texts of the sources, or --documents FILE"
    return ". If a field has another name, --format contexts=NAME; for a file or folder of them, --documents"


def _is_vericite(fields: Fields) -> bool:
    return "answer" in fields or "answer" in with_documents(fields)


VERICITE = Format(
    '{"id"?, "question"?, "answer": "text with [1] or PMID: 123", "documents": [{"id"?, "title"?, "text"}]}',
    _read_vericite,
    _is_vericite,
)


AUTO = "auto"
OnFormat = Callable[[str, Mapping[str, str]], None]
_OWN: dict[str, Format] = {
    "medaesqa": MEDAESQA,
    "trec-rag": TREC_RAG,
    "autojudge": AUTOJUDGE,
    "biogen": BIOGEN,
    "perplexity": PERPLEXITY,
    "openai": OPENAI,
    "gemini": GEMINI,
    "paper-qa": PAPER_QA,
    "ragas": RAGAS,
    "llamaindex": LLAMAINDEX,
    "haystack": HAYSTACK,
    "alce": ALCE,
    "langchain": LANGCHAIN,
    "spans": SPANS,
    "markdown": MARKDOWN,
    # Last, because it only needs an answer, which other formats have too.
    "vericite": VERICITE,
}

FORMATS = Registry("format", _OWN, "vericite.answer_formats", Format, last=("vericite",))
"""Formats of answers, in the order in which ``auto`` tries them. Other packages may add a ``Format``."""


def _sets_with_answers() -> tuple[str, ...]:
    """Return the names of data sets with answers that can be checked."""
    return tuple(name for name, known in SETS.usable() if "answers" in known.gives)


def format_names() -> list[str]:
    """Return the names that ``answers_in`` accepts as a format."""
    return [AUTO, *FORMATS, *_sets_with_answers()]


_LOOKED_AT = 20  # records that auto reads before it chooses a format


def answers_in(
    path: Path,
    format: str = AUTO,
    documents: Iterable[Document] | Library = (),
    on_format: OnFormat | None = None,
    on_line: Callable[[int], None] | None = None,
) -> Iterator[Answer | RecordError]:
    """Yield the answers of a file, and an error for each record that is not a valid answer.

    Args:
        path: The file; ``-`` is the standard input. Gzip files are unpacked. A data set is given with its name, as in
            ``medaesqa:FILE``.
        format: A name in ``FORMATS``, or of a data set with answers; ``auto`` detects the format from the first
            records. ``answer=reply,contexts=sources`` says which columns of a table, or fields of records, hold what.
        documents: Additional documents, which answers cite by PMID, DOI or URL.
        on_format: Called with the name of the format that ``auto`` detected, and the names of the first record's
            fields that are taken as ``answer`` and ``documents``, if they have other names.
        on_line: Called before each answer with the line on which its record begins; 0 for a data set.

    Raises:
        InputError: The file cannot be read, no format matches, or the format needs documents and there are none.
    """
    library = documents if isinstance(documents, Library) else Library(tuple(documents))
    if is_named(str(path)):
        return _answers_of(source_named(str(path)), library, on_line)
    if names_columns(format):
        return expecting_records(_answers(path, AUTO, library, Columns.of(format), on_format, on_line), path)
    if format != AUTO and format not in FORMATS and format in _sets_with_answers():
        return _answers_of(DatasetSource(SETS[format], "", (path,)), library, on_line)
    if format != AUTO and format not in FORMATS:
        raise UnknownNameError("format", format, format_names())
    return expecting_records(_answers(path, format, library, None, on_format, on_line), path)


def names_columns(format: str) -> bool:
    """Whether a format says which columns hold what."""
    return "=" in format


def _answers_of(
    source: DatasetSource, library: Library, on_line: Callable[[int], None] | None
) -> Iterator[Answer | RecordError]:
    """Yield the answers of a data set, with the texts of documents that the library has."""
    for entry in source.set.entries(source.paths, source.part):
        if isinstance(entry, RecordError):
            yield entry
        elif entry.answer is not None:
            answer = entry.answer
            if not library and answer.documents and not any(document.text for document in answer.documents):
                raise InputError(
                    f"expected the documents that the answers cite, since {source.set.title} only names them; "
                    "found none. Give them with --documents FILE"
                )
            if on_line is not None:
                on_line(0)
            yield with_texts(answer, library)


def with_texts(answer: Answer, library: Library) -> Answer:
    """Fill in the texts of the answer's documents from the library."""
    documents = tuple(_with_text(document, library) for document in answer.documents)
    return answer.model_copy(update={"documents": documents})


def _with_text(document: Document, library: Library) -> Document:
    found = None if document.text else library.find(document.pmid or document.id)
    return document if found is None else found.model_copy(update={"id": document.id})


def _answers(
    path: Path,
    format: str,
    library: Library,
    columns: Columns | None,
    on_format: OnFormat | None,
    on_line: Callable[[int], None] | None,
) -> Iterator[Answer | RecordError]:
    taken: Mapping[str, str] = {}
    if is_text(path, format == "markdown") and (format in (AUTO, "markdown") or suffix_of(path) in MARKDOWN_FILES):
        name, records = "markdown", markdown_record(path)
    elif format == AUTO:
        name, first, records = _recognised(path, library, columns)
        taken = taken_fields(first) if name == "vericite" else {}
    else:
        name, records = format, file_records(path, _is_record, columns)
    if name is None:
        # No record is an object: any reader reports what each is instead.
        for raw in records:
            found = raw if isinstance(raw, RecordError) else _read(raw, "vericite", library)
            if isinstance(found, RecordError):
                yield found
        return
    if format == AUTO and on_format:
        on_format(name, {kind: field for kind, field in taken.items() if kind != field})
    chosen = FORMATS[name]
    if chosen.needs_documents and not library:
        raise InputError(
            f"expected the documents that the answers cite, since the format {name} has none; found only {path}. "
            "Give them with --documents FILE"
        )
    for raw in records:
        if isinstance(raw, RecordError):
            yield raw
        else:
            yield from _answers_of_record(raw, name, library, on_line)


def _answers_of_record(
    raw: RawRecord, name: str, library: Library, on_line: Callable[[int], None] | None
) -> Iterator[Answer | RecordError]:
    for part in _parts(raw, FORMATS[name]):
        found = _read(part, name, library)
        if on_line is not None and isinstance(found, Answer):
            on_line(raw.line)
        yield found


def _parts(raw: RawRecord, format: Format) -> Iterable[RawRecord]:
    return [raw] if format.parts is None else format.parts(raw)


def _read(raw: RawRecord, name: str, library: Library) -> Answer | RecordError:
    chosen = FORMATS[name]
    try:
        return chosen.read(raw, library)
    except (ValidationError, ValuesError) as error:
        problem = raw.unfit(error)
    except RecordError as error:
        problem = error
    except InputError as error:
        problem = raw.refused(None, str(error))
    fields = raw.fields
    if fields is None or chosen.matches(fields):
        return problem
    other = _format_of(fields)
    hint = f". It looks like {other}: --format {other}" if other else ""
    return raw.refused(None, f"expected {chosen.summary}; found the fields {_listed(fields)}{hint}")


def _recognised(
    path: Path, library: Library, columns: Columns | None
) -> tuple[str | None, Fields, Iterator[RawRecord | RecordError]]:
    """Detect the format that most of the first records match; None without objects.

    Return it with the fields of the first object, and all records.
    """
    seen: list[RawRecord | RecordError] = []
    first: RawRecord | None = None
    votes: Counter[str] = Counter()
    records = file_records(path, _is_record, columns)
    for raw in islice(records, _LOOKED_AT):
        seen.append(raw)
        fields = None if isinstance(raw, RecordError) else raw.fields
        if isinstance(raw, RecordError) or fields is None:
            continue
        first = first or raw
        if name := _format_of(fields):
            votes[name] += _LOOKED_AT + 1 if _is_readable(raw, name, library) else 1
    records = chain(seen, records)
    fields = dict_of(None) if first is None else first.fields or dict_of(None)
    if votes:
        return votes.most_common(1)[0][0], fields, records
    if first is None:
        return None, fields, records
    found = _listed(fields)
    raise InputError(
        f"expected answers in a known format, such as {VERICITE.summary}; found {path}, line {first.line}, "
        f"with the fields {found}. Map the fields with --format answer=NAME,contexts=NAME (documents=NAME "
        "for documents with titles; a.b for a field within another), or name the "
        f"format to see what its records lack: {', '.join(FORMATS)}"
    )


def read_record(raw: RawRecord, library: Library) -> Answer | RecordError:
    """Read a record in the format detected from its fields; if it has several answers, only the first."""
    name = _format_of(raw.fields or {}) or "vericite"
    part = next(iter(_parts(raw, FORMATS[name])), raw)
    return _read(part, name, library)


def _is_readable(raw: RawRecord, name: str, library: Library) -> bool:
    """Whether a record can be read; formats that need documents are not tried without them."""
    format = FORMATS[name]
    if format.needs_documents and not library:
        return True
    return any(isinstance(_read(part, name, library), Answer) for part in islice(_parts(raw, format), 1))


def _is_record(fields: Fields) -> bool:
    """Whether an object is an answer itself, not a container of answers."""
    return _format_of(fields) is not None or any(isinstance(fields.get(name), str) for name in ("answer", "text"))


def _format_of(fields: Fields) -> str | None:
    return next((name for name, format in FORMATS.usable() if format.matches(fields)), None)


def _listed(fields: Iterable[str]) -> str:
    names = [repr(name[:40]) for name in fields]
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "") if names else "of none"


class QuestionLine(BaseModel):
    """A line with a question: a ``Question``, a gold question, or an id (optional) and a text. Others are ignored."""

    model_config = ConfigDict(extra="ignore", strict=True)

    id: Name = ""
    # Not required here: a missing text is reported under the usual name, `question`.
    text: str = Field("", validation_alias=AliasChoices("text", "question"))
    type: QuestionType | None = None
    gold_documents: tuple[str, ...] | dict[str, Any] = Field(
        (), validation_alias=AliasChoices("gold_documents", "documents")
    )
    gold_exact: tuple[tuple[str, ...], ...] = Field((), validation_alias=AliasChoices("gold_exact", "exact"))
    gold_ideal: tuple[str, ...] = Field((), validation_alias=AliasChoices("gold_ideal", "ideal"))

    @property
    def question(self) -> Question:
        """The question; of graded documents, only those with a grade above 0."""
        documents = self.gold_documents
        if isinstance(documents, dict):
            documents = tuple(id for id, grade in documents.items() if grade > 0)
        return Question(
            id=self.id,
            text=self.text,
            type=self.type,
            gold_documents=documents,
            gold_exact=self.gold_exact,
            gold_ideal=self.gold_ideal,
        )


def read_questions(path: Path, problems: Problems) -> list[Question]:
    """Read the questions of a file or a data set (``bioasq:FILE``); bad lines are added to ``problems``.

    The file is JSON Lines or a JSON list of objects with ``question`` and optionally ``id``, or of texts; a table (CSV,
    TSV, Excel, Parquet) with such columns, or with a single one; or a text file (.txt) with one question per line.
    Without an id, the number of the record, row or line is used.

    Raises:
        InputError: The file cannot be read, or holds no questions.
    """
    return [question for _, question in number_questions(path, problems)]


_Numbered = tuple[int, QuestionLine]
_IDS = {"id": 0, "question_id": 1, "qid": 2}.keys()
_BULLET = re.compile(r"\A(?:[-*•]|\d{1,4}[.)])\s+")


def _question_lines(path: Path) -> Iterator[_Numbered | RecordError]:
    """Yield the questions of a file, each with its line."""
    suffix = suffix_of(path)
    if suffix in TABLES:
        for raw in table_records(path, TABLES[suffix], None):
            yield from [raw] if isinstance(raw, RecordError) else _questions_of_row(raw)
    elif suffix in TEXT_FILES and is_text(path, is_markdown=False):
        for line in number_lines(path):
            if isinstance(line, RecordError):
                yield line
            elif text := _BULLET.sub("", line[1].strip()):
                yield line[0], _asked(str(line[0]), text)
    else:
        for raw in file_records(path, lambda fields: "id" in fields or "question" in fields):
            yield from [raw] if isinstance(raw, RecordError) else _questions_of(raw)


def _questions_of(raw: RawRecord) -> Iterator[_Numbered | RecordError]:
    """Yield the question of a record, or the texts of a list."""
    if raw.json[:1] in ('"', "["):
        try:
            value: Any = from_json(raw.json)
        except ValueError:
            value = None
        texts = cast("list[Any]", value) if isinstance(value, list) else [value]
        if texts and all(isinstance(text, str) for text in texts):
            for number, text in enumerate(texts, start=raw.number):
                yield raw.line, _asked(str(number), text)
            return
    try:
        line = raw.read(QuestionLine)
        yield raw.line, line if line.id else line.model_copy(update={"id": str(raw.number)})
    except RecordError as error:
        yield error


def _asked(id: str, text: str) -> QuestionLine:
    return QuestionLine.model_validate({"id": id, "text": text})


def _questions_of_row(raw: RawRecord) -> Iterator[_Numbered | RecordError]:
    """Yield the question of a table row; ids may be numbers. The heading of a single column may be a question, too."""
    fields = raw.fields or {}
    id = next((fields[name] for name in _IDS if name in fields), raw.number)
    only = next(iter(fields), "") if len(fields) == 1 and not fields.keys() & _IDS else ""
    name = next((name for name in ("question", "text", "query", "input") if name in fields), only)
    if name == only and name.endswith("?") and raw.number == 1:
        yield raw.line - 1, _asked("0", name)
    text = fields.get(name, "")
    if isinstance(text, str):
        yield raw.line, _asked(str(id), text)
    else:
        yield raw.refused("question", f"expected a text; found {text!r:.40}")


def number_questions(path: Path, problems: Problems) -> list[tuple[int, Question]]:
    """Like ``read_questions``, but with the line of each question, or its number in a data set.

    Raises:
        InputError: The file cannot be read, or holds no questions.
    """
    found: dict[str, tuple[int, Question]] = {}
    if is_named(str(path)):
        return list(enumerate(source_named(str(path)).questions(problems), start=1))
    for number, line in problems.kept(expecting_records(_question_lines(path), path)):
        if line.id in found:
            problems.append(RecordError(path, number, "id", f"expected a unique id; {line.id!r} was used before"))
        elif not line.text.strip():
            problems.append(RecordError(path, number, "question", "expected a question; found no text"))
        else:
            found[line.id] = number, line.question
    if not found:
        kinds = 'JSON ({"question", "id"?}), a table with a column question, or one question per line (.txt)'
        raise InputError(f"expected questions in {path}: {kinds}; found none.{problems.first_of(path)}")
    return list(found.values())
