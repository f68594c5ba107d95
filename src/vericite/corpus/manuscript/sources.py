"""Where works are looked up: a store, files of documents, PubMed, Crossref, Europe PMC. Each asks only itself."""

from __future__ import annotations

import json
import logging
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, cast
from urllib.parse import quote

from vericite.corpus.manuscript.matching import family_name, page_range, title_words
from vericite.corpus.manuscript.works import PublishedWork
from vericite.corpus.pubmed.text import UndefinedEntityError
from vericite.corpus.sources.entry import doi_of, pmcid_of, pmid_of
from vericite.corpus.sources.folder import OnRead, read_files
from vericite.corpus.store.place import is_store
from vericite.errors import CatalogueError, EntrezError, InputError, OfflineError, Problems, VeriCiteError
from vericite.formats.form import dict_of, items_in
from vericite.records import Document
from vericite.records.manuscripts import Reference
from vericite.text.references import Library, reference_key

if TYPE_CHECKING:
    from vericite.corpus.entrez.client import Entrez
    from vericite.corpus.manuscript.web import CatalogueClient
    from vericite.corpus.store import Store

SERVICES = PUBMED, CROSSREF, PMC = "pubmed", "crossref", "pmc"
By = Literal["PMID", "DOI", "PMCID", "citation", "title", "file name"]
_LOG = logging.getLogger(__name__)
_CANDIDATES = 10


class WorkCandidate(NamedTuple):
    """A work that a reference may mean; ``probability`` only where it does not follow from the work's fields."""

    work: PublishedWork
    by: By
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class FailedLookup:
    """A look-up that did not take place, with the reason."""

    reason: str
    is_offline: bool = False

    @classmethod
    def of(cls, error: VeriCiteError) -> FailedLookup:
        """Return the look-up that failed with this error."""
        return cls(str(error), isinstance(error, OfflineError))


Looked = Sequence[WorkCandidate] | FailedLookup
Tier = Callable[[Sequence[Reference]], Sequence[Looked]]
"""Looks references up in one way. The ways of a source are tried in order, for references that are not found yet."""


class WorkSource(Protocol):
    """A source of works.

    Attributes:
        name: What the user calls it.
        is_catalogue: Whether it lists all works of a kind, so that a work it lacks may not exist.
        tiers: The ways to look a reference up.
    """

    name: str
    is_catalogue: bool

    @property
    def tiers(self) -> Sequence[Tier]: ...  # noqa: D102

    def full_text(self, work: PublishedWork, reference: Reference) -> Document | None:
        """Return the full text of a work, if the source has one.

        Raises:
            CatalogueError: It could not be asked.
        """
        ...

    def close(self) -> None:
        """Close connections and files."""
        ...


def open_source(name: str, on_read: OnRead | None = None) -> WorkSource:
    """Open a source by its name: ``pubmed``, ``crossref``, ``pmc``, a store, a file or folder of documents.

    Args:
        name: The name.
        on_read: Called with the number of files of a folder that were read, and of all.

    Raises:
        InputError: There is no such file or store, or nothing in it can be read.
    """
    if name == PUBMED:
        from vericite.corpus.entrez.client import Entrez

        return PubMedWorks(Entrez())
    if name == CROSSREF:
        from vericite.corpus.manuscript.web import CatalogueClient, crossref_settings

        return CrossrefWorks(CatalogueClient(crossref_settings()))
    if name == PMC:
        from vericite.corpus.manuscript.web import EUROPE_PMC, CatalogueClient, CatalogueSettings

        return EuropePmcWorks(CatalogueClient(CatalogueSettings(EUROPE_PMC)))
    path = Path(name)
    if is_store(name):
        from vericite.corpus.store import open_store

        return StoreWorks(name, open_store(name))
    if not path.exists():
        raise InputError(
            "expected pubmed, crossref, pmc, a store, or a file or folder of documents; found "
            f"{name!r:.200}. Correct it."
        )
    return FileWorks(name, *_read(path, on_read))


def _read(path: Path, on_read: OnRead | None) -> tuple[list[Document], dict[str, Path]]:
    """Return the documents of a file or folder, and the file of each document that is a whole file."""
    documents: dict[str, Document] = {}
    files: dict[str, Path] = {}
    problems = Problems()
    for file in read_files(path, problems, on_read):
        documents.update((document.id, document) for document in file.documents)
        if len(file.documents) == 1:
            files[file.documents[0].id] = file.path
    for problem in problems:
        _LOG.warning("%s", problem)
    if not documents:
        raise InputError(
            f"expected documents that can be read; found none in {': '.join([str(path), *map(str, problems[:1])])}"
        )
    return list(documents.values()), files


class WorkIndex:
    """Works in memory, by their ids and by the words of their titles, authors and years."""

    def __init__(self, works: Iterable[PublishedWork]) -> None:
        self._works = list(works)
        self._ids: dict[str, int] = {}
        self._words: dict[str, list[int]] = {}
        for number, work in enumerate(self._works):
            document = work.document
            for name in (document.pmid, document.doi, document.pmcid, document.id):
                if name:
                    self._ids.setdefault(reference_key(name), number)
            for word in _index_words(document.title, document.authors, work.years):
                self._words.setdefault(word, []).append(number)

    def of_name(self, name: str) -> PublishedWork | None:
        """Return the work with this id."""
        found = self._ids.get(reference_key(name))
        return None if found is None else self._works[found]

    def like(self, reference: Reference) -> list[PublishedWork]:
        """Return the works that share the rarest words with a reference, the most similar first."""
        scores: Counter[int] = Counter()
        years = (reference.year,) if reference.year else ()
        for word in _index_words(reference.title, reference.authors, years):
            numbers = self._words.get(word, ())
            weight = math.log(1 + len(self._works) / (1 + len(numbers)))
            for number in numbers:
                scores[number] += weight  # pyright: ignore[reportArgumentType]
        return [self._works[number] for number, _ in scores.most_common(_CANDIDATES)]


def _index_words(title: str, authors: Sequence[str], years: Sequence[int]) -> set[str]:
    first = "".join(family_name(authors[0])) if authors else ""
    dated = {f"{first} {year}" for year in years} if first else set[str]()
    return {*title_words(title), *dated, *(f"by {''.join(family_name(author))}" for author in authors[:10])}


def _named(reference: Reference) -> list[tuple[By, str]]:
    """Return the ids of a reference, each as ``reference_key`` writes it."""
    pmid, doi, pmcid = pmid_of(reference.pmid or ""), doi_of(reference.doi or ""), pmcid_of(reference.pmcid or "")
    names: list[tuple[By, str | None]] = [
        ("PMID", pmid and f"pmid:{pmid}"),
        ("DOI", doi and reference_key(doi)),
        ("PMCID", pmcid and reference_key(pmcid)),
    ]
    return [(by, name) for by, name in names if name]


class _LocalSource:
    """A source on this machine, which cannot say that a work does not exist."""

    is_catalogue = False

    def __init__(self, name: str) -> None:
        self.name = name

    def full_text(self, work: PublishedWork, reference: Reference) -> Document | None:
        return None

    def close(self) -> None:
        pass


class StoreWorks(_LocalSource):
    """The documents of a store."""

    def __init__(self, name: str, store: Store) -> None:
        super().__init__(name)
        self._store = store

    @property
    def tiers(self) -> Sequence[Tier]:
        """By id, then by the words of the title."""
        return (self._by_ids, self._by_title)

    def _by_ids(self, references: Sequence[Reference]) -> Sequence[Looked]:
        names = [_named(reference) for reference in references]
        keys = [name for some in names for _, name in some]
        pmids = [key[5:] for key in keys if key.startswith("pmid:")]
        dois = [key[4:] for key in keys if key.startswith("doi:")]
        pmcids = [f"PMC{key[4:]}" for key in keys if key.startswith("pmc:")]
        # By DOI reads every row: once for all references.
        found = [*self._store.of_pmids(pmids), *(self._store.of_names(dois, pmcids) if dois or pmcids else ())]
        known = Library(found)
        return [
            [WorkCandidate(PublishedWork.of_document(work), by) for by, name in some if (work := known.find(name))]
            for some in names
        ]

    def _by_title(self, references: Sequence[Reference]) -> Sequence[Looked]:
        return [
            [
                WorkCandidate(PublishedWork.of_document(hit.document), "title")
                for hit in self._store.search(title, _CANDIDATES)
            ]
            if (title := reference.title or reference.text)
            else []
            for reference in references
        ]


_HEAD = 4_000
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>]+")
_LETTERS_OF_TITLE = 20
"""Minimum letters of a title that is looked for in a page: a shorter one may be anywhere."""


@dataclass(frozen=True, slots=True)
class _PrintedFile:
    """A document of a file that has no record, such as a PDF, as it is recognized."""

    work: PublishedWork
    letters: str
    dois: frozenset[str]
    stem: str

    @classmethod
    def of(cls, document: Document, file: Path | None) -> _PrintedFile:
        head = f"{document.title}\n{document.text[:_HEAD]}"
        dois = frozenset(reference_key(found[0].rstrip(".,;)")) for found in _DOI.finditer(head))
        stem = file.stem if file else document.id
        return cls(PublishedWork.of_document(document), "".join(title_words(head)), dois, stem)

    def candidate(self, reference: Reference) -> WorkCandidate | None:
        """Return the document as a candidate, by what its first page or its name says."""
        names = dict(_named(reference))
        if (doi := names.get("DOI")) and doi in self.dois:
            return WorkCandidate(self.work, "DOI", 0.99)
        title = title_words(reference.title)
        letters = "".join(title)
        families = ["".join(family_name(author)) for author in reference.authors[:1]]
        if len(letters) >= _LETTERS_OF_TITLE and letters in self.letters:
            known = bool(families) and families[0] in self.letters
            return WorkCandidate(self.work, "title", 0.98 if known or not families else 0.8)
        return self._by_name(names, title, families, reference.year)

    def _by_name(
        self, names: dict[By, str], title: Sequence[str], families: Sequence[str], year: int | None
    ) -> WorkCandidate | None:
        stem = title_words(self.stem)
        joined = "".join(stem)
        if any("".join(title_words(name.partition(":")[2])) == joined for name in names.values()):
            return WorkCandidate(self.work, "file name", 0.98)
        if len(title) >= 4 and sum(word in stem for word in title) >= 0.8 * len(title):
            return WorkCandidate(self.work, "file name", 0.9)
        # "smith2019.pdf" is a guess, so the first page has to have most words of the title too.
        if families and year and families[0] in joined and str(year) in joined and len(title) >= 3:
            shared = sum(word in self.letters for word in title if len(word) > 3)
            if shared >= 0.8 * sum(len(word) > 3 for word in title):
                return WorkCandidate(self.work, "file name", 0.8)
        return None


class FileWorks(_LocalSource):
    """The documents of a file or folder. Those without a record, such as PDFs, are recognized by their first page."""

    def __init__(self, name: str, documents: Iterable[Document], files: dict[str, Path] | None = None) -> None:
        super().__init__(name)
        works = [PublishedWork.of_document(document) for document in documents]
        self._index = WorkIndex(
            work for work in works if work.is_record or (work.document.doi and not work.document.pages)
        )
        self._files = [
            _PrintedFile.of(work.document, (files or {}).get(work.document.id)) for work in works if not work.is_record
        ]

    @property
    def tiers(self) -> Sequence[Tier]:
        """By id, then by title, author and year, then by the first page or the name of a file."""
        return (self._by_ids, self._by_words, self._by_page)

    def full_text(self, work: PublishedWork, reference: Reference) -> Document | None:
        """Return the file of the work, if there is one."""
        document = work.document
        ids = {name: getattr(document, name) or getattr(reference, name) for name in ("doi", "pmid", "pmcid")}
        asked = reference.model_copy(update={"title": document.title or reference.title, **ids})
        found = self._on_pages(asked)
        return found[0].work.document if found else None

    def _by_ids(self, references: Sequence[Reference]) -> Sequence[Looked]:
        return [
            [WorkCandidate(work, by) for by, name in _named(reference) if (work := self._index.of_name(name))]
            for reference in references
        ]

    def _by_words(self, references: Sequence[Reference]) -> Sequence[Looked]:
        return [[WorkCandidate(work, "title") for work in self._index.like(reference)] for reference in references]

    def _by_page(self, references: Sequence[Reference]) -> Sequence[Looked]:
        return [self._on_pages(reference) for reference in references]

    def _on_pages(self, reference: Reference) -> list[WorkCandidate]:
        found = (candidate for file in self._files if (candidate := file.candidate(reference)))
        return sorted(found, key=lambda candidate: -(candidate.probability or 0.0))


class PubMedWorks:
    """PubMed: by PMID, DOI and PMC id, by NCBI's citation matcher, by the words of the title."""

    name = PUBMED
    is_catalogue = True

    def __init__(self, entrez: Entrez) -> None:
        self._entrez = entrez

    @property
    def tiers(self) -> Sequence[Tier]:
        """By id, by journal, year, volume, page and author, by title."""
        return (self._by_ids, self._by_citation, self._by_title)

    def full_text(self, work: PublishedWork, reference: Reference) -> Document | None:
        """Return None: PubMed has abstracts."""
        return None

    def close(self) -> None:
        """Close the client."""
        self._entrez.close()

    def _by_ids(self, references: Sequence[Reference]) -> Sequence[Looked]:
        names = [_named(reference) for reference in references]
        others = dict.fromkeys(name for some in names for by, name in some if by != "PMID")
        try:
            pmids = self._entrez.pmids_of(others) if others else {}
        except EntrezError as error:
            return [FailedLookup.of(error) if some else [] for some in names]
        wanted: list[Sequence[tuple[By, str]]] = [
            [(by, pmid) for by, name in some if (pmid := name[5:] if by == "PMID" else pmids.get(name))]
            for some in names
        ]
        return self._records(wanted)

    def _by_citation(self, references: Sequence[Reference]) -> Sequence[Looked]:
        citations = [_citation(reference) for reference in references]
        asked = [citation for citation in citations if citation]
        try:
            found = dict(zip(asked, self._entrez.match_citations(asked), strict=True)) if asked else {}
        except EntrezError as error:
            return [FailedLookup.of(error) if citation else [] for citation in citations]
        return self._records([[("citation", pmid) for pmid in found.get(one, ())[:5]] for one in citations])

    def _by_title(self, references: Sequence[Reference]) -> Sequence[Looked]:
        wanted: list[list[tuple[By, str]] | FailedLookup] = []
        for reference in references:
            try:
                wanted.append([("title", pmid) for pmid in self._searched(reference)])
            except EntrezError as error:
                wanted.append(FailedLookup.of(error))
        return self._records(wanted)

    def _searched(self, reference: Reference) -> Sequence[str]:
        from vericite.corpus.entrez.results import content_words, query_words

        words = content_words(query_words(reference.title))[:_WORDS_OF_TITLE]
        if not words:
            return ()
        if ids := self._entrez.search(" AND ".join(f"{word}[ti]" for word in words), _CANDIDATES).ids:
            return ids
        # A word of the title may be wrong or misread; then the author and the year must be right.
        first = next(iter(query_words(reference.authors[0].partition(",")[0])), "") if reference.authors else ""
        if not first or not reference.year:
            return ()
        some = " OR ".join(f"{word}[ti]" for word in words)
        return self._entrez.search(f"{first}[1au] AND {reference.year}[dp] AND ({some})", _CANDIDATES).ids

    def _records(self, wanted: Sequence[Sequence[tuple[By, str]] | FailedLookup]) -> Sequence[Looked]:
        pmids = dict.fromkeys(pmid for some in wanted if not isinstance(some, FailedLookup) for _, pmid in some)
        try:
            fetched = self._entrez.fetch(pmids) if pmids else None
        except EntrezError as error:
            return [FailedLookup.of(error) if some else [] for some in wanted]
        works = {record.pmid: PublishedWork.of_pubmed(record) for record in fetched.records} if fetched else {}
        problems = dict(fetched.problems) if fetched else {}
        return [some if isinstance(some, FailedLookup) else _candidates(some, works, problems) for some in wanted]


def _candidates(
    wanted: Sequence[tuple[By, str]], works: Mapping[str, PublishedWork], problems: Mapping[str, str]
) -> Sequence[WorkCandidate] | FailedLookup:
    found = [WorkCandidate(works[pmid], by) for by, pmid in wanted if pmid in works]
    reason = next((problems[pmid] for _, pmid in wanted if pmid in problems), None)
    return found if found or reason is None else FailedLookup(reason)


_WORDS_OF_TITLE = 12


def _citation(reference: Reference) -> str:
    """Return ``journal|year|volume|first page|author`` for NCBI's matcher; empty if too little is known."""
    pages = page_range(reference.pages or "")
    parts = [
        reference.journal or "",
        str(reference.year or ""),
        reference.volume or "",
        pages[0] if pages else "",
        reference.authors[0].replace(",", "") if reference.authors else "",
    ]
    clean = [" ".join(part.replace("|", " ").replace(".", " ").split()).lower() for part in parts]
    return "|".join(clean) if clean[0] and sum(map(bool, clean)) >= 4 else ""


class CrossrefWorks:
    """Crossref: by DOI, then by the whole reference."""

    name = CROSSREF
    is_catalogue = True

    def __init__(self, client: CatalogueClient) -> None:
        self._client = client

    @property
    def tiers(self) -> Sequence[Tier]:
        """By DOI, by the text of the reference."""
        return (_one_by_one(self._by_doi), _one_by_one(self._by_text))

    def full_text(self, work: PublishedWork, reference: Reference) -> Document | None:
        """Return None: Crossref has no texts."""
        return None

    def close(self) -> None:
        """Close the client."""
        self._client.close()

    def _by_doi(self, reference: Reference) -> Iterator[WorkCandidate]:
        doi = dict(_named(reference)).get("DOI")
        reply = self._client.get(f"works/{quote(doi[4:], safe='')}", _object) if doi else None
        if reply and (work := PublishedWork.of_crossref(dict_of(reply.get("message")))):
            yield WorkCandidate(work, "DOI")

    def _by_text(self, reference: Reference) -> Iterator[WorkCandidate]:
        parts = (reference.title, "; ".join(reference.authors[:3]), reference.journal, reference.year)
        text = " ".join(str(part) for part in parts if part) if reference.title else reference.text
        if not text.strip():
            return
        fields = {"query.bibliographic": " ".join(text.split())[:1000], "rows": "5"}
        reply = self._client.get("works", _object, fields) or {}
        for item in items_in(dict_of(reply.get("message")).get("items")):
            if work := PublishedWork.of_crossref(dict_of(item)):
                yield WorkCandidate(work, "title")


class EuropePmcWorks:
    """Europe PMC, with the full texts of its open-access articles."""

    name = PMC
    is_catalogue = True

    def __init__(self, client: CatalogueClient) -> None:
        self._client = client

    @property
    def tiers(self) -> Sequence[Tier]:
        """By id, by title."""
        return (_one_by_one(self._by_ids), _one_by_one(self._by_title))

    def full_text(self, work: PublishedWork, reference: Reference) -> Document | None:
        """Return the full text in JATS as a document, if the article is in open access."""
        pmcid = work.document.pmcid
        if not pmcid:
            names = {name: getattr(work.document, name) for name in ("pmid", "doi")}
            found = next(self._by_ids(Reference(key="-", **names)), None)
            pmcid = found.work.document.pmcid if found else None
        document = self._client.get(f"{pmcid}/fullTextXML", _article) if pmcid else None
        return document if document is not None and document.sections else None

    def close(self) -> None:
        """Close the client."""
        self._client.close()

    def _by_ids(self, reference: Reference) -> Iterator[WorkCandidate]:
        for by, name in _named(reference):
            id = name.partition(":")[2].replace('"', "")
            queries: dict[str, str] = {
                "PMID": f"EXT_ID:{id} AND SRC:MED",
                "DOI": f'DOI:"{id}"',
                "PMCID": f"PMCID:PMC{id}",
            }
            yield from (WorkCandidate(work, by) for work in self._searched(queries[by]))

    def _by_title(self, reference: Reference) -> Iterator[WorkCandidate]:
        words = " ".join(re.findall(r"[^\W_]+(?:[-'][^\W_]+)*", reference.title))
        if words:
            yield from (WorkCandidate(work, "title") for work in self._searched(f'TITLE:"{words[:500]}"'))

    def _searched(self, query: str) -> Iterator[PublishedWork]:
        fields = {"query": query, "format": "json", "resultType": "core", "pageSize": "5"}
        reply = self._client.get("search", _object, fields) or {}
        for result in items_in(dict_of(reply.get("resultList")).get("result")):
            if work := PublishedWork.of_europe_pmc(dict_of(result)):
                yield work


def _article(body: bytes) -> Document:
    from lxml import etree

    from vericite.corpus.pubmed.read import SAFE
    from vericite.corpus.sources.jats import document_of

    try:
        root = etree.fromstring(body, etree.XMLParser(**SAFE))
        return document_of(root, "article")
    except (etree.XMLSyntaxError, UndefinedEntityError) as error:
        raise ValueError(f"expected an article in JATS: {error}") from None


def _one_by_one(look: Callable[[Reference], Iterator[WorkCandidate]]) -> Tier:
    """Make a tier that asks for each reference by itself; a failure costs only that reference."""

    def tier(references: Sequence[Reference]) -> Sequence[Looked]:
        found: list[Looked] = []
        for reference in references:
            try:
                found.append(list(look(reference)))
            except CatalogueError as error:
                found.append(FailedLookup.of(error))
        return found

    return tier


def _object(body: bytes) -> dict[str, Any]:
    found: object = json.loads(body)
    if not isinstance(found, dict):
        raise ValueError("expected a JSON object")
    return cast("dict[str, Any]", found)
