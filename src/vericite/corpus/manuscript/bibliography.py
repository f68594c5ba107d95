"""Files of references: BibTeX, RIS, MEDLINE, EndNote, CSL JSON, Zotero's CSV and RDF."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vericite.corpus.sources.files import SourceFile, opened, stem_of
from vericite.corpus.sources.registry import PMIDS, SOURCES, recognised
from vericite.errors import InputError, RecordError
from vericite.records import Document, Reference

_MOST = 100_000
"""Maximum number of references of a bibliography."""


@dataclass(frozen=True, slots=True)
class Bibliography:
    """References by key, notes on entries that could not be read, and the names of the files."""

    works: dict[str, Reference] = field(default_factory=dict[str, Reference])
    notes: list[str] = field(default_factory=list[str])
    files: set[str] = field(default_factory=set[str])

    def has(self, name: str) -> bool:
        """Whether a file that a manuscript names is one of these, in whatever folder."""
        bare = Path(name).name
        return not self.files.isdisjoint((bare, f"{bare}.bib"))


def read_bibliography(paths: Sequence[Path]) -> Bibliography:
    """Read files of references. An entry that cannot be read costs itself and a note.

    Raises:
        InputError: A file cannot be read, or holds no references.
    """
    found = Bibliography()
    for path in paths:
        found.files.add(path.name)
        with opened(path) as file:
            number = 0
            for number, item in enumerate(_references(file), start=1):
                if isinstance(item, RecordError):
                    found.notes.append(str(item))
                elif item.key in found.works and found.works[item.key] != item:
                    found.notes.append(f"{path}: the key {item.key!r} is already used; reference {number} was skipped")
                else:
                    found.works[item.key] = item
                if number >= _MOST:
                    raise InputError(f"expected at most {_MOST:,} references; found more in {path}. Split it")
            if number == 0:
                raise InputError(f"expected references; found none in {path}")
    return found


def _references(file: SourceFile) -> Iterator[Reference | RecordError]:
    name = recognised(file)
    form = SOURCES[name] if name != PMIDS else None
    if form is None or not (form.entries or form.updates):
        kinds = ", ".join(name for name, other in SOURCES.usable() if other.entries)
        raise InputError(
            f"expected a file of references ({kinds}); found {file.path}, {form.summary if form else name}"
        )
    try:
        if form.entries:
            for number, (_, entry) in enumerate(form.entries(file), start=1):
                yield entry if isinstance(entry, RecordError) else entry.reference(f"{stem_of(file.path)}:{number}")
        else:
            documents = (item for _, item in form.read(file))
            yield from (of_document(item) for item in documents if isinstance(item, Document))
    except OSError as error:
        raise InputError(f"expected a readable file; found {file.path}: {error}") from None


def of_document(document: Document) -> Reference:
    """Return the reference to a document, with its id as key."""
    return Reference(
        key=document.id,
        origin="bibliography",
        title=document.title,
        authors=document.authors,
        journal=document.journal,
        year=document.year,
        doi=document.doi,
        pmid=document.pmid,
        pmcid=document.pmcid,
    )
