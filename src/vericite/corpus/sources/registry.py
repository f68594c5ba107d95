"""The forms by name, and the one way from a file to its documents."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from vericite.corpus.pubmed import PubMedRecord
from vericite.corpus.sources.bibtex import BIBTEX
from vericite.corpus.sources.docx import DOCX
from vericite.corpus.sources.endnote import ENDNOTE_XML, ENW
from vericite.corpus.sources.files import Item, Numbered, SourceFile, SourceForm, name_of, opened, root_of
from vericite.corpus.sources.jats import JATS
from vericite.corpus.sources.pdf import PDF
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


PUBMED = SourceForm("PubMed's XML: a baseline or update file, or what efetch replies", _read, _matches, True, True)


AUTO = "auto"
PMIDS = "pmids"
"""What ``form_of`` says of a list of PMIDs; it holds no documents."""

_OWN: dict[str, SourceForm] = {
    # First, because nothing in them is text.
    "pdf": PDF,
    "docx": DOCX,
    "pubmed": PUBMED,
    "jats": JATS,
    "nbib": NBIB,
    "ris": RIS,
    "enw": ENW,
    "endnote": ENDNOTE_XML,
    "bibtex": BIBTEX,
    "jsonl": JSON_LINES,
    "tsv": TSV,
    "csv": CSV,
    # Last, because any text can be read as one.
    "markdown": MARKDOWN,
    "text": TEXT,
}

_ANY_TEXT = ("markdown", "text")

SOURCES = Registry("form of documents", _OWN, "vericite.document_sources", SourceForm, last=_ANY_TEXT)
"""Forms of documents, in the order in which ``auto`` tries them; another package brings a ``SourceForm``."""

READERS = 5
"""To be raised when a reader makes other documents of a file than it did: stores then read their files again."""

_NO_TEXTS = ("pdf", "docx")


def documents_in(
    path: Path,
    format: str = AUTO,
    on_format: Callable[[str], None] | None = None,
    name: str | None = None,
    abstracts: bool = False,
    look: Callable[[], None] = lambda: None,
) -> Iterator[Item]:
    """Stream what a file holds; a record that cannot be used comes out as its error.

    Two documents of one id are an error of the second, but in PubMed's own forms, where it is the newer one.
    Where a file breaks off, or goes on as something else, what came before stands and an error comes last.

    Args:
        path: The file, packed with gzip or not.
        format: A name of ``SOURCES``; ``auto`` goes by the file's beginning, then by its name.
        on_format: Told which form ``auto`` took, once it is known.
        name: What a document is named by that has no id of its own; the file's name without its ending otherwise.
        abstracts: Take of articles in full text their abstracts alone.
        look: Called again and again while the file is read, also within a document; what it raises ends the reading.

    Raises:
        InputError: The file cannot be read, is empty, is of no form known, or holds nothing that could be read; or
            ``abstracts`` is asked of a form that has no full texts.
    """
    if format != AUTO and format not in SOURCES:
        raise UnknownNameError("format", format, [AUTO, *SOURCES])
    return _documents(path, format, on_format, name, abstracts, look)


def form_of(path: Path) -> str:
    """The form that a file is of: a name of ``SOURCES``, or ``pmids``.

    Raises:
        InputError: The file cannot be read, is empty, or is of no form known.
    """
    with opened(path) as file:
        return _recognised(file)


def form_in_folder(path: Path) -> tuple[str | None, str]:
    """The form of a file that nobody named, or None and, in a few words, why it is taken for none of documents.

    A text is one only by its ending: ``LICENSE`` and ``Makefile`` are texts too.

    Raises:
        InputError: The file cannot be read.
    """
    with opened(path) as file:
        if file.is_empty:
            return None, "empty"
        try:
            form = _recognised(file)
        except InputError:
            return None, file.known_kind or _kind_of(file)
        if form in _ANY_TEXT and not file.suffix:
            return None, "its name has no ending such as .txt; name it itself to take it"
        return form, ""


def _documents(
    path: Path,
    format: str,
    on_format: Callable[[str], None] | None,
    name: str | None,
    abstracts: bool,
    look: Callable[[], None],
) -> Iterator[Item]:
    with opened(path, name, look) as file:
        chosen = _recognised(file) if format == AUTO else format
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
            raise InputError(f"expected {JATS.summary} to take the abstracts of; found {path}, {form.summary}")
        items = _to_the_end(path, read(file))
        empty = True
        for line, item in items if form.updates else _each_id_once(path, items):
            empty = False
            if isinstance(item, Document) and not item.title.strip() and not item.text.strip():
                problem = f"expected a title or a text; found {item.id!r:.80} with neither. It is left out"
                yield RecordError(path, line, None, problem)
            else:
                yield item
        if empty and not form.may_be_empty:
            raise InputError(f"expected {form.summary}; found {path} with no document in it")


def _to_the_end(path: Path, items: Iterator[Numbered]) -> Iterator[Numbered]:
    """The items; what ends a file before its end is an item too, if any came before."""
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
        yield line, RecordError(path, line, None, f"{error}. What follows this line was not read")


def _each_id_once(path: Path, items: Iterator[Numbered]) -> Iterator[Numbered]:
    seen: set[str] = set()
    for line, item in items:
        if isinstance(item, Document) and item.id in seen:
            yield line, RecordError(path, line, "id", f"expected an id of its own; {item.id!r} came before")
            continue
        if isinstance(item, Document):
            seen.add(item.id)
        yield line, item


def _recognised(file: SourceFile) -> str:
    if file.is_empty:
        raise InputError(f"expected documents; found {file.path}, which is empty")
    for name in _NO_TEXTS:
        if SOURCES[name].matches(file):
            return name
    if kind := file.known_kind:
        raise InputError(f"expected a text; found {file.path}, {kind}")
    if lists_pmids(file):
        return PMIDS
    for name, form in SOURCES.items():
        if form.matches(file):
            return name
    raise UnknownForm(f"expected a file of documents; found {file.path}, {_kind_of(file)}")


def _kind_of(file: SourceFile) -> str:
    if "\x00" in file.opening:
        return "binary"
    if root := root_of(file.opening):
        return f"XML or HTML whose first element is {root[:40]!r}"
    return f"of no known form, its ending {file.suffix!r}"


class UnknownForm(InputError):
    """A file of documents is of no form known.

    Attributes:
        without_options: The message for someone who has no command line.
    """

    def __init__(self, problem: str) -> None:
        forms = "; ".join(f"{name}: {form.summary}" for name, form in SOURCES.items())
        self.without_options = (
            f"{problem}. Send one of these forms, with the usual end of its name: {', '.join(SOURCES)}"
        )
        super().__init__(
            f"{problem}. The end of its name, or the form that is asked for (--format), has to say which of these it "
            f"is. {forms}"
        )


@dataclass(frozen=True, slots=True)
class DocumentFile:
    """A file of documents.

    Attributes:
        path: The file.
        format: A name of ``SOURCES``, or ``pmids``.
        name: What a document in it is named by that has no id of its own, no two files alike.
    """

    path: Path
    format: str
    name: str


@dataclass(frozen=True, slots=True)
class PassedOver:
    """A file of a folder that is not read.

    Attributes:
        path: The file, from the folder on.
        reason: Why, in a few words.
    """

    path: Path
    reason: str

    def __str__(self) -> str:
        """What the user is told of it."""
        return f"{self.path}: no documents ({self.reason})"


def sources_in(path: Path) -> Iterator[DocumentFile | PassedOver]:
    """Stream the files of a folder and the folders in it, in order of their names; a file alone is itself.

    Hidden files and folders are skipped, links to folders not followed, nor links to files that lead out of the
    folder.

    Raises:
        InputError: There is no such file or folder, or the folder holds no file.
    """
    if not path.is_dir():
        yield DocumentFile(path, form_of(path), name_of(path))
        return
    files = sorted(_files(path))
    if not files:
        raise InputError(f"expected files of documents; found {path}, a folder without any")
    inside = path.resolve()
    for file in files:
        form, reason = _form(file, inside)
        yield DocumentFile(file, form, name_of(file)) if form else PassedOver(file.relative_to(path), reason)


def _form(file: Path, folder: Path) -> tuple[str | None, str]:
    if not file.resolve().is_relative_to(folder):
        return None, "a link that leads out of the folder"
    try:
        return form_in_folder(file)
    except InputError as error:
        return None, str(error).rpartition(": ")[2]


def _files(folder: Path) -> Iterator[Path]:
    def refuse(error: OSError) -> None:
        raise InputError(f"expected a readable folder; found {error.filename}: {error.strerror}") from None

    for parent, folders, files in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        # A pipe or a socket would be waited for.
        yield from (file for name in files if not name.startswith(".") and (file := Path(parent, name)).is_file())
