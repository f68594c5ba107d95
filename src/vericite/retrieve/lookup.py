"""Documents by name: the gold documents of a question, and the documents that answers cite.

Gold documents are the best possible retrieval. Cited documents are named by PMID, DOI or PMC id; they come from PubMed
or from a store.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from vericite.corpus.sources.entry import pmid_of
from vericite.corpus.store.place import is_store
from vericite.disk.bucket import bucket_address
from vericite.errors import InputError
from vericite.network.access import offline_by_environment
from vericite.records import STANDARD_INPUT, STDIN, Document, Evidence, Question
from vericite.retrieve.retriever import corpus_signature
from vericite.text.references import Library, reference_key

if TYPE_CHECKING:
    from vericite.corpus.entrez.client import Entrez


Lookup = Callable[[Sequence[str]], Iterable[Document]]
"""Returns the documents with these ids or PMIDs, in any order."""

_LOG = logging.getLogger(__name__)


class Oracle:
    """Returns a question's gold documents, in order.

    Gold documents that are unavailable or have no abstract are left out with a warning, and listed in ``missing``. If
    none of a question's is available, that is an error: an answer from nothing would count against the generator.

    Args:
        entrez: Fetches PMIDs that are not among ``documents``. None: use only ``documents``.
        documents: Documents to use, by id or PMID.
        lookup: Finds other documents, for example in a store.
        source: Name of what ``lookup`` searches, for the signature.

    Attributes:
        missing: Unavailable gold documents by question id, each with the reason.
    """

    def __init__(
        self,
        entrez: Entrez | None = None,
        documents: Iterable[Document] = (),
        lookup: Lookup | None = None,
        source: str = "store",
    ) -> None:
        self._entrez = entrez
        self._lookup = lookup
        self._source = source
        self._documents: dict[str, Document] = {}
        given = list(documents)
        self._corpus = corpus_signature(given) if given else None
        for document in given:
            _keep(self._documents, document)
        self.missing: dict[str, Mapping[str, str]] = {}

    @property
    def signature(self) -> str:
        """The sources of the documents."""
        parts = [self._corpus] if self._corpus else []
        parts += [self._source] if self._lookup else []
        parts += [self._entrez.signature] if self._entrez else []
        return f"oracle({', '.join(parts)})"

    def retrieve(self, question: Question, k: int) -> tuple[Evidence, ...]:
        """Return the first ``k`` available gold documents.

        Raises:
            InputError: The question has no gold documents, or none is available.
            EntrezError: NCBI cannot be reached, or gave no usable reply.
        """
        if not question.gold_documents:
            raise InputError(
                f"expected gold documents for question {question.id!r}; found none. Use another retriever for it."
            )
        documents, missing = self._gold(question)
        self.missing.pop(question.id, None)
        if missing:
            self.missing[question.id] = missing
            reasons = "; ".join(f"{gold}: {reason}" for gold, reason in list(missing.items())[:_SHOWN])
            reasons += f"; and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
            if not documents:
                raise InputError(f"expected gold documents for question {question.id!r}; found none: {reasons}.")
            _LOG.warning("question %s: %d gold documents are left out: %s", question.id, len(missing), reasons)
        return tuple(
            Evidence(document=document, rank=rank, score=1 / rank, retriever="oracle")
            for rank, document in enumerate(documents[:k], start=1)
        )

    def _gold(self, question: Question) -> tuple[list[Document], dict[str, str]]:
        """Return the documents, each once, and why others are missing."""
        pmids = {gold: pmid_of(gold) or gold for gold in dict.fromkeys(question.gold_documents)}
        given = self._looked_up(pmids) if self._lookup else self._documents
        known = {gold: given.get(gold) or given.get(pmid) for gold, pmid in pmids.items()}
        reasons: dict[str, str] = {}
        if rest := [gold for gold, document in known.items() if document is None]:
            fetched, reasons = self._fetched([pmids[gold] for gold in rest])
            known |= {gold: fetched.get(pmids[gold]) for gold in rest}
        found = {document.id: document for document in known.values() if document is not None and document.text.strip()}
        missing = {gold: reasons[pmids[gold]] for gold, document in known.items() if document is None}
        # A document with only a title cannot be cited and checked.
        missing |= {
            gold: "it has no abstract"
            for gold, document in known.items()
            if document is not None and document.id not in found
        }
        return list(found.values()), missing

    def _looked_up(self, pmids: Mapping[str, str]) -> Mapping[str, Document]:
        found = dict(self._documents)
        assert self._lookup is not None
        for document in self._lookup(list(dict.fromkeys([*pmids, *pmids.values()]))):
            _keep(found, document)
        return found

    def _fetched(self, pmids: list[str]) -> tuple[dict[str, Document], dict[str, str]]:
        if self._entrez is None:
            return {}, dict.fromkeys(pmids, "it is not among the documents given")
        fetched = self._entrez.fetch(pmids)
        reasons = dict.fromkeys(fetched.missing, "PubMed has no such record") | dict(fetched.problems)
        return {document.id: document for document in fetched.documents}, reasons


def _keep(documents: dict[str, Document], document: Document) -> None:
    # Ids are unique; a PMID may be shared by two versions of an article.
    documents[document.id] = document
    if document.pmid:
        documents.setdefault(document.pmid, document)


PUBMED = "pubmed"
"""The name of PubMed as a source of documents."""

OnProgress = Callable[[int, int], None]
"""Called with the number of cited articles looked up so far, and their total."""

_SHORTEST_PMID = 5
"""Minimum digits of an unmarked number to be a PMID: ``[2024]`` is a year."""

_AT_ONCE = 200
_SHOWN = 5


@dataclass(frozen=True)
class FetchedCitations:
    """The documents found for citations.

    Attributes:
        library: The documents by name.
        found: Number of cited names with a document.
        missing: Names without a document.
        source: Where they were looked up.
    """

    library: Library
    found: int
    missing: tuple[str, ...]
    source: str

    def __str__(self) -> str:
        """Return a summary for the user."""
        where = "PubMed" if self.source == PUBMED else self.source
        line = f"{self.found:,} of {self.found + len(self.missing):,} cited articles are in {where}"
        if not self.missing:
            return line
        more = f" and {len(self.missing) - _SHOWN:,} more" if len(self.missing) > _SHOWN else ""
        line += f"; not {', '.join(self.missing[:_SHOWN])}{more}"
        if self.source == PUBMED and offline_by_environment():
            line += ". Offline, only articles fetched before are available"
        return line


def is_lookup_source(documents: str) -> bool:
    """Whether this names a source that is asked for single documents (PubMed or a store), not a file or folder."""
    return documents == PUBMED or is_store(documents)


def cited_documents(
    source: str,
    file: Path,
    format: str = "auto",
    on_progress: OnProgress | None = None,
    entrez: Entrez | None = None,
) -> FetchedCitations:
    """Look up the documents that a file's answers cite and do not contain. This reads the file once more.

    Args:
        source: ``pubmed``, or a store: a folder or an address such as ``s3://bucket/prefix``.
        file: The answers.
        format: Their format, as for ``answers_in``.
        on_progress: Called after every 200 articles.
        entrez: The client for PubMed. Default: one with the default settings. Its cache is used first.

    Raises:
        InputError: The file cannot be read, or there is no such store.
        EntrezError: NCBI cannot be reached, or gave no usable reply.
    """
    # Imported late: an oracle reads no answers and does not need it.
    from vericite.formats import answers_in

    if file == STDIN:
        STANDARD_INPUT.keep()
    names = _Names()
    for _ in answers_in(file, format, names):
        pass
    if source == PUBMED:
        documents, pmids = _of_pubmed(names.articles, on_progress, entrez)
    else:
        documents, pmids = _of_store(source, names.all), {}
    library = _Found(documents, pmids)
    missing = tuple(name for name in map(_name_of, names.articles) if library.find(name) is None)
    return FetchedCitations(library, len(names.articles) - len(missing), missing, source)


class _Names(Library):
    """A library without documents that records the names it is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self._asked: dict[str, str] = {}

    def __bool__(self) -> bool:
        return True

    def find(self, name: str) -> Document | None:
        """Record the name and return None."""
        key = reference_key(name)
        if not (key.startswith("pmid:") and name.strip().isdigit() and len(key) < len("pmid:") + _SHORTEST_PMID):
            self._asked.setdefault(key, name)
        return None

    @property
    def all(self) -> list[str]:
        """Every name as written."""
        return list(self._asked.values())

    @property
    def articles(self) -> list[str]:
        """PMIDs, DOIs and PMC ids in the form of ``reference_key``."""
        return [key for key in self._asked if key.startswith(("pmid:", "doi:", "pmc:"))]


class _Found(Library):
    """The documents found, also under names that the documents themselves lack."""

    def __init__(self, documents: Iterable[Document], pmids: dict[str, str]) -> None:
        super().__init__(tuple(documents))
        self._pmids = pmids

    def __bool__(self) -> bool:
        return True

    def find(self, name: str) -> Document | None:
        """Return the document with this PMID, DOI, PMC id or id."""
        pmid = self._pmids.get(reference_key(name))
        return super().find(name) or (None if pmid is None else super().find(pmid))


def _name_of(key: str) -> str:
    """Return a key of ``reference_key`` in the usual form: ``PMC12`` for ``pmc:12``."""
    return f"PMC{key[4:]}" if key.startswith("pmc:") else key


def _of_pubmed(
    names: list[str], on_progress: OnProgress | None, entrez: Entrez | None
) -> tuple[list[Document], dict[str, str]]:
    """Return the documents, and the PMIDs that were found for names other than PMIDs."""
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
