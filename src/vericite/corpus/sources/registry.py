"""The registry of document formats, and the functions that read files and folders with them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from vericite.corpus.pubmed import PubMedRecord
from vericite.corpus.sources.bibtex import BIBTEX
from vericite.corpus.sources.docx import DOCX
from vericite.corpus.sources.endnote import ENDNOTE_XML, ENW
from vericite.corpus.sources.files import Item, Numbered, SourceFile, SourceFormat, name_of, opened, root_of
from vericite.corpus.sources.jats import JATS
from vericite.corpus.sources.pdf import PDF
from vericite.corpus.sources.rdf import RDF
from vericite.corpus.sources.rows import CSV, JSON_LINES, TSV, lists_pmids
from vericite.corpus.sources.tagged import NBIB, RIS
from vericite.corpus.sources.texts import MARKDOWN, TEXT
from vericite.errors import InputError, RecordError, UnknownNameError
from vericite.records import Document
from vericite.registry import Registry

_ROOTS = frozenset((
    "PubmedArticleSet", "PubmedArticle", "PubmedBookArticleSet", "PubmedBookArticle", "MedlineCitationSet",
    "MedlineCitation", "DeleteCitation",
))  # fmt: skip


def _read(file: SourceFile) -> Iterator[Numbered]:
    from vericite.corpus.pubmed import read_pubmed

    line = 1
    for item in read_pubmed(file.stream, str(file.path)):
        line = item.line if isinstance(item, RecordError) else line
        yield line, item.document if isinstance(item, PubMedRecord) else item
        if isinstance(item, PubMedRecord) and (retraction := item.retraction):
            yield line, retraction


def _matches(file: SourceFile) -> bool:
    return root_of(file.opening) in _ROOTS


PUBMED = SourceFormat(
    "PubMed's XML: a baseline or update file, or what efetch replies",
    _read,
    _matches,
    updates=True,
    may_be_empty=True,
    suffixes=(".xml",),
    record_mark=b"</PubmedArticle>",
)


AUTO = "auto"
PMIDS = "pmids"
"""Format name that ``format_of`` returns for a list of PMIDs, which holds no documents."""

_OWN: dict[str, SourceFormat] = {
    # First, because these are binary.
    "pdf": PDF,
    "docx": DOCX,
    "pubmed": PUBMED,
    "jats": JATS,
    "nbib": NBIB,
    "ris": RIS,
    "enw": ENW,
    "endnote": ENDNOTE_XML,
    "rdf": RDF,
    "bibtex": BIBTEX,
    "jsonl": JSON_LINES,
    "tsv": TSV,
    "csv": CSV,
    # Last, because any text can be read as one.
    "markdown": MARKDOWN,
    "text": TEXT,
}

_ANY_TEXT = ("markdown", "text")

SOURCES = Registry("document format", _OWN, "vericite.document_sources", SourceFormat, last=_ANY_TEXT)
"""Document formats, in the order in which ``auto`` tries them. Other packages may add a ``SourceFormat``."""

READERS = 7
"""Version of the readers. Raise it when a reader's output changes, so that stores read their files again."""

_NO_TEXTS = ("pdf", "docx")


def documents_in(
    path: Path,
    format: str = AUTO,
    on_format: Callable[[str], None] | None = None,
    name: str | None = None,
    abstracts: bool = False,
    check_cancelled: Callable[[], None] = lambda: None,
) -> Iterator[Item]:
    """Yield the items of a file, and an error for each record that cannot be used.

    A repeated id is an error of the later document, except in PubMed's own formats, where it is a newer version. If
    a file is truncated or continues in another format, the items before that point are yielded, then an error.

    Args:
        path: The file, compressed with gzip or not.
        format: A name in ``SOURCES``; ``auto`` detects the format from the file's beginning, then from its name.
        on_format: Called with the format that ``auto`` detected.
        name: Base of the ids of documents without an id. Default: the file's name without its suffix.
        abstracts: Read only the abstracts of full-text articles.
        check_cancelled: Called repeatedly during reading, also within a document; an exception that it raises stops
            the reading.

    Raises:
        InputError: The file cannot be read, is empty, has an unknown format, or holds no documents; or ``abstracts``
            is set for a format without full texts.
    """
    if format != AUTO and format not in SOURCES:
        raise UnknownNameError("format", format, [AUTO, *SOURCES])
    return _documents(path, format, on_format, name, abstracts, check_cancelled)


def format_of(path: Path) -> str:
    """Detect the format of a file: a name in ``SOURCES``, or ``pmids``.

    Raises:
        InputError: The file cannot be read, is empty, or has an unknown format.
    """
    with opened(path) as file:
        return recognised(file)


def format_in_folder(path: Path) -> tuple[str | None, str]:
    """Detect the format of a file found in a folder, or return None and a short reason why it is skipped.

    A text file counts only with a suffix, because ``LICENSE`` and ``Makefile`` are text files too.

    Raises:
        InputError: The file cannot be read.
    """
    with opened(path) as file:
        if file.is_empty:
            return None, "empty"
        try:
            form = recognised(file)
        except InputError:
            return None, file.known_kind or _kind_of(file)
        if form in _ANY_TEXT and not file.suffix:
            return None, "its name has no suffix such as .txt; name the file itself to read it"
        return form, ""


def _documents(
    path: Path,
    format: str,
    on_format: Callable[[str], None] | None,
    name: str | None,
    abstracts: bool,
    check_cancelled: Callable[[], None],
) -> Iterator[Item]:
    with opened(path, name, check_cancelled) as file:
        chosen = recognised(file) if format == AUTO else format
        if file.is_empty:
            raise InputError(f"expected {SOURCES[chosen].summary}; found {path}, which is empty")
        if format == AUTO and on_format:
            on_format(chosen)
        if chosen == PMIDS:
            raise InputError(
                f"expected documents; found {path}, a list of PMIDs. Fetch them first: "
                f"vericite corpus build pmids:{path} --to STORE"
            )
        form = SOURCES[chosen]
        read = form.read_abstracts if abstracts else form.read
        if read is None:
            raise InputError(f"expected {JATS.summary} to read abstracts from; found {path}, {form.summary}")
        items = _to_the_end(path, read(file))
        empty = True
        for line, item in items if form.updates else _each_id_once(path, items):
            empty = False
            if isinstance(item, Document) and not item.title.strip() and not item.text.strip():
                problem = f"expected a title or a text; found {item.id!r:.80} with neither. It is skipped"
                yield RecordError(path, line, None, problem)
            else:
                yield item
        if empty and not form.may_be_empty:
            raise InputError(f"expected {form.summary}; found no documents in {path}")


def _to_the_end(path: Path, items: Iterator[Numbered]) -> Iterator[Numbered]:
    """Yield the items; an error after the first item becomes the last item."""
    line = 0
    try:
        for item in items:
            line = max(line, item[0])
            yield item
    except RecordError as error:
        if not line:
            raise
        yield error.line, error
    except OSError as error:
        if not line:
            raise InputError(f"expected a readable file; found {path}: {error}") from None
        yield line, RecordError(path, line, None, f"{error}. The file was not read beyond this line")


def _each_id_once(path: Path, items: Iterator[Numbered]) -> Iterator[Numbered]:
    seen: set[str] = set()
    for line, item in items:
        if isinstance(item, Document) and item.id in seen:
            yield line, RecordError(path, line, "id", f"expected a unique id; {item.id!r} was used before")
            continue
        if isinstance(item, Document):
            seen.add(item.id)
        yield line, item


def recognised(file: SourceFile) -> str:
    """Return the format of an open file: a name in ``SOURCES``, or ``pmids``.

    Raises:
        InputError: It is empty, or has an unknown format.
    """
    if file.is_empty:
        raise InputError(f"expected documents; found {file.path}, which is empty")
    for name in _NO_TEXTS:
        if SOURCES[name].matches(file):
            return name
    if kind := file.known_kind:
        raise InputError(f"expected text; found {file.path}, {kind}")
    if lists_pmids(file):
        return PMIDS
    for name, form in SOURCES.usable():
        if form.matches(file):
            return name
    raise UnknownFormat(f"expected a file of documents; found {file.path}, {_kind_of(file)}")


def _kind_of(file: SourceFile) -> str:
    if "\x00" in file.opening:
        return "binary"
    if root := root_of(file.opening):
        return f"XML or HTML whose first element is {root[:40]!r}"
    return f"of an unknown format, with the suffix {file.suffix!r}"


class UnknownFormat(InputError):
    """A file has no known document format.

    Attributes:
        without_options: The message without command-line options, for other interfaces.
    """

    def __init__(self, problem: str) -> None:
        forms = "; ".join(f"{name}: {form.summary}" for name, form in SOURCES.usable())
        self.without_options = (
            f"{problem}. Send one of these formats, with the usual suffix in its name: {', '.join(SOURCES)}"
        )
        super().__init__(
            f"{problem}. Choose one of these formats with the suffix of its name or with --format. {forms}"
        )


@dataclass(frozen=True, slots=True)
class DocumentFile:
    """A file of documents.

    Attributes:
        path: The file.
        format: A name in ``SOURCES``, or ``pmids``.
        name: Base of the ids of documents without an id of their own; unique for each file.
    """

    path: Path
    format: str
    name: str


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file of a folder that is not read.

    Attributes:
        path: The file, relative to the folder.
        reason: Why it is not read, in a few words.
    """

    path: Path
    reason: str

    def __str__(self) -> str:
        """Return the message for the user."""
        return f"{self.path}: no documents ({self.reason})"


def sources_in(path: Path) -> Iterator[DocumentFile | SkippedFile]:
    """Yield the files of a folder and its subfolders, sorted by path; for a file, yield only that file.

    Hidden files and folders, links to folders, and links to files outside the folder are skipped.

    Raises:
        InputError: The file or folder does not exist, or the folder has no files.
    """
    if not path.is_dir():
        yield DocumentFile(path, format_of(path), name_of(path))
        return
    files = sorted(_files(path))
    if not files:
        raise InputError(f"expected document files; found none in folder {path}")
    inside = path.resolve()
    for file in files:
        form, reason = _form(file, inside)
        yield DocumentFile(file, form, name_of(file)) if form else SkippedFile(file.relative_to(path), reason)


def _form(file: Path, folder: Path) -> tuple[str | None, str]:
    if not file.resolve().is_relative_to(folder):
        return None, "a link that leads out of the folder"
    try:
        return format_in_folder(file)
    except InputError as error:
        return None, str(error).rpartition(": ")[2]


def _files(folder: Path) -> Iterator[Path]:
    def refuse(error: OSError) -> None:
        raise InputError(f"expected a readable folder; found {error.filename}: {error.strerror}") from None

    for parent, folders, files in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        # Only regular files: reading a pipe or a socket would block.
        yield from (file for name in files if not name.startswith(".") and (file := Path(parent, name)).is_file())
