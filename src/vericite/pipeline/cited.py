"""The documents that answers cite by PMID, DOI or PMC id: the records of PubMed, or what a store has of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from vericite.disk.bucket import bucket_address
from vericite.formats import answers_in
from vericite.network.access import offline_by_environment
from vericite.records import STANDARD_INPUT, STDIN, Document
from vericite.text.references import Library, reference_key

if TYPE_CHECKING:
    from vericite.corpus.entrez.client import Entrez

PUBMED = "pubmed"
"""What names PubMed, where documents are asked for."""

OnProgress = Callable[[int, int], None]
"""Called with how many of the cited articles were looked up, and how many there are."""

_SHORTEST_PMID = 5
"""Digits of a number that is a PMID though nothing says so: ``[2024]`` is a year."""

_AT_ONCE = 200
_SHOWN = 5


@dataclass(frozen=True)
class FetchedCitations:
    """What was found of what is cited.

    Attributes:
        library: The documents by their names.
        found: How many of the cited names have a document.
        missing: The other names.
        source: Where they were looked for.
    """

    library: Library
    found: int
    missing: tuple[str, ...]
    source: str

    def __str__(self) -> str:
        """A line for the user."""
        where = "PubMed" if self.source == PUBMED else self.source
        line = f"{self.found:,} of {self.found + len(self.missing):,} cited articles are in {where}"
        if not self.missing:
            return line
        more = f" and {len(self.missing) - _SHOWN:,} more" if len(self.missing) > _SHOWN else ""
        line += f"; not {', '.join(self.missing[:_SHOWN])}{more}"
        if self.source == PUBMED and offline_by_environment():
            line += ". Offline, only what was fetched before is there"
        return line


def is_elsewhere(documents: str) -> bool:
    """Whether documents are named that are looked up one by one: PubMed's or a store's, and no file's."""
    return documents == PUBMED or documents.startswith("s3:/") or Path(documents).is_dir()


def cited_documents(
    source: str,
    file: Path,
    format: str = "auto",
    columns: str | None = None,
    on_progress: OnProgress | None = None,
    entrez: Entrez | None = None,
) -> FetchedCitations:
    """Look up what the answers of a file cite and do not bring with them. The file is read for that, once more.

    Args:
        source: ``pubmed``, or a store: a folder or an address such as ``s3://bucket/prefix``.
        file: The answers.
        format: Their form, as for ``answers_in``.
        columns: Which columns of a table hold what, as for ``answers_in``.
        on_progress: Called after every 200 articles.
        entrez: Who is asked for PubMed's; a client with the usual settings if None. Its cache is asked first.

    Raises:
        InputError: The file cannot be read, or there is no such store.
        EntrezError: NCBI cannot be asked, or gave no usable reply.
    """
    if file == STDIN:
        STANDARD_INPUT.keep()
    names = _Names()
    for _ in answers_in(file, format, names, columns=columns):
        pass
    if source == PUBMED:
        documents, pmids = _of_pubmed(names.articles, on_progress, entrez)
    else:
        documents, pmids = _of_store(source, names.all), {}
    library = _Found(documents, pmids)
    missing = tuple(name for name in map(_name_of, names.articles) if library.find(name) is None)
    return FetchedCitations(library, len(names.articles) - len(missing), missing, source)


class _Names(Library):
    """A library without documents that notes what it is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self._asked: dict[str, str] = {}

    def __bool__(self) -> bool:
        return True

    def find(self, name: str) -> Document | None:
        """None, always."""
        key = reference_key(name)
        if not (key.startswith("pmid:") and name.strip().isdigit() and len(key) < len("pmid:") + _SHORTEST_PMID):
            self._asked.setdefault(key, name)
        return None

    @property
    def all(self) -> list[str]:
        """Every name, as it is written."""
        return list(self._asked.values())

    @property
    def articles(self) -> list[str]:
        """PMIDs, DOIs and PMC ids, as ``reference_key`` writes them."""
        return [key for key in self._asked if key.startswith(("pmid:", "doi:", "pmc:"))]


class _Found(Library):
    """What was found, also under names that the documents themselves do not have."""

    def __init__(self, documents: Iterable[Document], pmids: dict[str, str]) -> None:
        super().__init__(tuple(documents))
        self._pmids = pmids

    def __bool__(self) -> bool:
        return True

    def find(self, name: str) -> Document | None:
        """The document of this PMID, DOI, PMC id or id."""
        pmid = self._pmids.get(reference_key(name))
        return super().find(name) or (None if pmid is None else super().find(pmid))


def _name_of(key: str) -> str:
    """A key of ``reference_key`` as people write it: ``PMC12`` for ``pmc:12``."""
    return f"PMC{key[4:]}" if key.startswith("pmc:") else key


def _of_pubmed(
    names: list[str], on_progress: OnProgress | None, entrez: Entrez | None
) -> tuple[list[Document], dict[str, str]]:
    """The documents, and the PMIDs of other names."""
    if not names:
        return [], {}
    from vericite.corpus.entrez.client import Entrez

    asked = entrez or Entrez()
    try:
        others = asked.pmids_of(name for name in names if not name.startswith("pmid:"))
        pmids = {name: pmid for name, pmid in others.items() if pmid is not None}
        wanted = dict.fromkeys([*(name[5:] for name in names if name.startswith("pmid:")), *pmids.values()])
        documents: list[Document] = []
        done = 0
        for some in _parts(wanted):
            found = asked.cached(some) if offline_by_environment() else asked.fetch(some)
            documents += found.documents
            done += len(some)
            if on_progress:
                on_progress(done, len(wanted))
    finally:
        if entrez is None:
            asked.close()
    by_pmid = {document.pmid: document for document in documents}
    # A search for a DOI may find an article that only mentions it.
    wrong = [name for name, pmid in pmids.items() if _has_another_doi(name, by_pmid.get(pmid))]
    return documents, {name: pmid for name, pmid in pmids.items() if name not in wrong}


def _has_another_doi(name: str, document: Document | None) -> bool:
    has = document.doi if document and name.startswith("doi:") else None
    return has is not None and reference_key(has) != name


def _of_store(place: str, names: list[str]) -> list[Document]:
    from vericite.corpus.store import open_store

    store = open_store(bucket_address(place) or place)
    keys = [reference_key(name) for name in names]
    pmids = [key[5:] for key in keys if key.startswith("pmid:")]
    named = store.get(dict.fromkeys([*names, *pmids, *keys, *map(_name_of, keys)])).documents
    found = [*named, *store.of_pmids(pmids)]
    there = Library(tuple(found))
    left = [key for key in keys if there.find(_name_of(key)) is None]
    dois = [key[4:] for key in left if key.startswith("doi:")]
    pmcids = [_name_of(key) for key in left if key.startswith("pmc:")]
    return [*found, *store.of_names(dois, pmcids)]


def _parts(values: Iterable[str]) -> Iterator[list[str]]:
    rest = iter(values)
    while some := list(islice(rest, _AT_ONCE)):
        yield some
