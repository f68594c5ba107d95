"""Reading answers for commands, with the documents that they cite."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from vericite.cli.io import clean, note, remark, remark_leakage
from vericite.cli.terminal import ProgressLine
from vericite.text.counted import counted

if TYPE_CHECKING:
    from vericite.corpus.manuscript.listed import ReferencedLibrary
    from vericite.errors import Problems, RecordError
    from vericite.formats.registry import OnFormat
    from vericite.records import Answer, Document
    from vericite.text.references import Library


def read_answers(
    file: Path,
    format: str,
    documents: Path | None,
    problems: Problems,
    on_format: OnFormat | None = None,
    on_line: Callable[[int], None] | None = None,
) -> Iterator[Answer]:
    """Yield the answers of a file. Nothing is read before the first one is requested.

    Problems of the whole file are printed to stderr and do not stop the command: no answers, repeated ids, and
    citations without a document.

    Args:
        file: File of answers.
        format: Format of the file.
        documents: File or folder of documents; or ``pubmed`` or a store, in which cited documents are looked up.
        problems: Receives the unusable records of both files.
        on_format: Called with the detected format if ``format`` is ``auto``, as by ``answers_in``.
        on_line: Called before each answer with the line on which its record begins; 0 for a data set.

    Raises:
        InputError: A file cannot be read, or the format of the answers is unknown.
    """
    from vericite.corpus.manuscript.listed import ReferencedLibrary
    from vericite.datasets.registry import SETS
    from vericite.formats import answers_in

    remark_leakage(Path(f"{format}:{file}") if format in SETS else file)
    library = _looked_up(documents, file, format) or ReferencedLibrary(read_library(documents, problems))
    items = answers_in(file, format, library, on_format, on_line)
    yield from problems.kept(watched(items, file, documents is not None, lambda: _named(documents, library)))
    if isinstance(library, ReferencedLibrary):
        _remark_paired(library)


def note_format(name: str, taken: Mapping[str, str]) -> None:
    """Say which format was detected; of our own only if its fields have other names."""
    if taken:
        fields = ", ".join(f"{kind} from {clean(field)}" for kind, field in taken.items())
        note(f"read as {name}, {fields}; choose other fields with --format answer=NAME,contexts=NAME")
    elif name != "vericite":
        note(f"read as {name}; choose another format with --format NAME")


def _remark_paired(library: ReferencedLibrary) -> None:
    """Say how the entries of a list of references were found in the documents given."""
    found, missing = library.by_reference + library.by_number, len(library.missing)
    if library.by_number:
        remark(
            f"{counted(library.by_number, 'reference')} of the list found in --documents by number alone, because "
            "these documents have no title. Give titles, DOIs or PMIDs to be sure"
        )
    if missing:
        keys = ", ".join(f"[{key}]" for key in library.missing[:_NAMED]) + (" ..." if missing > _NAMED else "")
        remark(
            f"{found} of {counted(found + missing, 'reference')} of the list found in --documents, by DOI, PMID or "
            f"title; without a document: {keys}"
        )
    elif library.by_reference:
        note(f"{counted(library.by_reference, 'reference')} of the list found in --documents by DOI, PMID or title")


def _looked_up(documents: Path | None, file: Path, format: str) -> Library | None:
    """Look up the cited documents in PubMed or a store; None if neither is named."""
    from vericite.retrieve.lookup import cited_documents, is_lookup_source

    if documents is None or not is_lookup_source(str(documents)):
        return None
    remark_service(str(documents))
    with ProgressLine("looking up citations", "articles").running() as progress:
        found = cited_documents(str(documents), file, format, progress.of)
    note(found)
    return found.library


def remark_service(name: str) -> None:
    """Say that a name means a service if a file or folder of that name exists, too."""
    from vericite.corpus.manuscript.sources import SERVICES

    if name in SERVICES and Path(name).exists():
        where = Path(name).resolve()
        remark(f"{name} means the service, not the file or folder of that name. For that, write --documents {where}")


_NAMED = 5
"""Number of repeated ids to name; a file joined with itself repeats all of them."""


def watched(
    items: Iterable[Answer | RecordError], file: Path, has_library: bool, named: Callable[[], str] = lambda: ""
) -> Iterator[Answer | RecordError]:
    """Yield the items; report a repeated id at once, and other problems of the file at the end.

    ``named`` says which ids the documents have.
    """
    from vericite.errors import RecordError
    from vericite.text.printed import split_answer

    number = words = cited = sourced = matched = listed = 0
    with closing(_Ids(file)) as ids:
        for number, item in enumerate(items, start=1):
            if isinstance(item, RecordError):
                # Counts as content: the record is reported on its own.
                words += 1
            else:
                ids.see(item.id, number)
                words += bool(item.text.strip() or item.failed)
                cited += any(claim.citations for claim in item.claims)
                matched += any(citation.document for claim in item.claims for citation in claim.citations)
                sourced += bool(item.documents)
                listed += bool(item.claims and not item.documents and split_answer(item.text)[2])
            yield item
        ids.show_more()
    if not words:
        remark(
            f"expected answers; found {'only empty ones' if number else 'none'} in {file}. Is it the file you meant?"
        )
    if cited and not sourced and listed and not has_library:
        remark(
            f"expected the texts of the works in the list of references; found none in {file}, so every citation is "
            "dangling. Give them with --documents FILE or FOLDER, or write each abstract after its reference"
        )
    elif cited and not sourced and not has_library:
        remark(
            f"expected the documents that the answers cite; found none in {file}, so every citation is dangling. "
            "Give them with --documents FILE or FOLDER"
        )
    elif cited and not matched:
        remark(
            f"expected citations of the documents given; found none in {file}, so every citation is dangling. "
            "A citation is the PMID, DOI, address or id of a document; [1] is the one with the id 1 or of a file 1.pdf "
            f"if the answer has no documents of its own{named()}"
        )


def _named(documents: Path | None, library: Library) -> str:
    """Say which ids the documents of a file have, and from which of its columns they are if it is a table."""
    from vericite.corpus.manuscript.listed import ReferencedLibrary
    from vericite.corpus.sources.entry import names_document
    from vericite.corpus.sources.rows import columns_of

    if documents is None or not isinstance(library, ReferencedLibrary) or not library.ids:
        return ""
    ids = ", ".join(f"{id:.60}" for id in library.ids[:_NAMED]) + (" ..." if len(library.ids) > _NAMED else "")
    said = f". The documents have the ids {ids}"
    columns = columns_of(documents)
    if not columns:
        return said
    sources = [name for name in columns if names_document(name)]
    origin = f"taken from column {' or '.join(sources)}" if sources else "made of the file's name and the line"
    shown = ", ".join(name[:40] for name in columns[:12])
    return f"{said}, {origin}; columns {shown}. To take ids from another column, name it id in the first row"


class _Ids:
    """Finds repeated ids. A hash of each answer's id is stored in a temporary database, so that memory stays flat."""

    def __init__(self, file: Path) -> None:
        import sqlite3

        self._file = file
        # Without a name it is in memory, and goes to a temporary file when it becomes large.
        self._seen = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._seen.execute("PRAGMA journal_mode=OFF")
        self._seen.execute("CREATE TABLE ids (hash INTEGER PRIMARY KEY, again INTEGER NOT NULL DEFAULT 0)")
        self._seen.execute("BEGIN")
        self._again = 0
        self._is_full = False

    def see(self, id: str, number: int) -> None:
        """Report an id when it is repeated for the first time."""
        import sqlite3

        if self._is_full:
            return
        try:
            is_first_repeat = self._repeats(hash(id))
        except sqlite3.Error as error:
            self._is_full = True
            remark(f"repeated ids after record {number} of {self._file} are not reported: temporary files: {error}")
            return
        if not is_first_repeat:
            return
        self._again += 1
        if self._again <= _NAMED:
            remark(
                f"expected a different id for every answer; found {id!r:.80} again in record {number} of "
                f"{self._file}. Each is counted, but `vericite score` will refuse the file: rename one"
            )

    def _repeats(self, key: int) -> bool:
        """Store a hash; whether it was stored before, and is repeated for the first time."""
        if self._seen.execute("INSERT OR IGNORE INTO ids (hash) VALUES (?)", (key,)).rowcount:
            return False
        return self._seen.execute("UPDATE ids SET again = 1 WHERE hash = ? AND NOT again", (key,)).rowcount > 0

    def close(self) -> None:
        """Remove the database."""
        self._seen.close()

    def show_more(self) -> None:
        """Report the number of repeated ids that were not named."""
        if (more := self._again - _NAMED) > 0:
            remark(f"{more} more repeated {'id' if more == 1 else 'ids'} in {self._file}")


def read_library(file: Path | None, problems: Problems) -> Sequence[Document]:
    """Read the documents of a file, if one is given; unusable lines are added to ``problems``.

    Raises:
        InputError: The file cannot be read.
    """
    from vericite.corpus import load_documents

    if file is None:
        return ()
    return load_documents(file, problems)
