"""Resolve references to documents, in the sources that the user names and in no others, and check them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Literal

from vericite.corpus.manuscript.matching import (
    differences,
    differs_only_in_year,
    has_same_title,
    is_other_edition,
    probability,
    threshold,
    title_words,
)
from vericite.corpus.manuscript.sources import FailedLookup, WorkCandidate, WorkSource, open_source
from vericite.corpus.manuscript.works import PublishedWork
from vericite.corpus.retractions import known_retractions
from vericite.corpus.sources.entry import doi_of, pmid_of
from vericite.errors import CatalogueError
from vericite.records import Document
from vericite.records.manuscripts import Manuscript, Reference, ReferenceProblem, ResolvedReference
from vericite.text.references import reference_key
from vericite.text.strength import retraction_of

_AT_ONCE = 40
_LOG = logging.getLogger(__name__)


def resolve(
    references: Sequence[Reference],
    sources: Iterable[str | WorkSource],
    on_progress: Callable[[int, int], None] | None = None,
    on_read: Callable[[int, int], None] | None = None,
) -> list[ResolvedReference]:
    """Look references up in sources, in order; the first that has the work gives the document.

    A full text that a later source has takes the place of the abstract. A source that fails costs only what it was
    asked for.

    Args:
        references: The references.
        sources: ``pubmed``, ``crossref``, ``pmc`` (Europe PMC, with full texts), a store, or a file or folder of
            documents. No other is asked.
        on_progress: Called with the number of references looked up so far, and their total.
        on_read: Called with the number of files of a folder that were read, and their total.

    Returns:
        For each reference its document, if one was found, and what is wrong with it.

    Raises:
        InputError: A source does not exist or cannot be read.
    """
    found: list[ResolvedReference] = []
    with ExitStack() as closing:
        opened: list[WorkSource] = []
        for source in sources:
            if isinstance(source, str):
                source = open_source(source, on_read)
                closing.callback(source.close)
            opened.append(source)
        for start in range(0, len(references), _AT_ONCE):
            searches = [_Search(reference) for reference in references[start : start + _AT_ONCE]]
            for source in opened:
                _look_up(source, [search for search in searches if search.is_open])
            for search in searches:
                search.settle()
            for source in opened:
                _add_full_texts(source, [search for search in searches if search.chosen is not None])
            found += [search.result(opened) for search in searches]
            if on_progress:
                on_progress(len(found), len(references))
    return found


@dataclass
class _Search:
    """The search for one reference."""

    reference: Reference
    chosen: WorkCandidate | None = None
    likely: float = 0.0
    source: str | None = None
    other_works: list[WorkCandidate] = field(default_factory=list[WorkCandidate])
    """Works that an id of the reference names, and that it does not mean."""
    namesakes: list[tuple[WorkCandidate, str]] = field(default_factory=list[tuple[WorkCandidate, str]])
    """Works with its title and first author that are not likely enough, as they are of another year; each with its
    source."""
    failures: dict[str, FailedLookup] = field(default_factory=dict[str, FailedLookup])
    """Why a source could not be asked, by its name."""
    full_text: Document | None = None

    @property
    def is_open(self) -> bool:
        """Whether it is still to be looked for; a passage without a reference names no work."""
        reference = self.reference
        is_named = reference.title or reference.doi or reference.pmid or reference.pmcid
        return self.chosen is None and bool(is_named or not reference.passage)

    def take(self, candidates: Iterable[WorkCandidate], source: str) -> None:
        """Choose the most likely candidate, if it is likely enough."""
        bare = not self.reference.title and not self.reference.authors
        for candidate in candidates:
            likely = candidate.probability
            by_id = candidate.by in ("PMID", "DOI", "PMCID")
            if likely is None:
                likely = 0.99 if bare and by_id else probability(self.reference, candidate.work)
            if likely >= threshold() and not is_other_edition(self.reference, candidate.work):
                if likely > self.likely:
                    self.chosen, self.likely, self.source = candidate, likely, source
            elif by_id:
                self.other_works.append(candidate)
            elif has_same_title(self.reference, candidate.work):
                self.namesakes.append((candidate, source))

    def settle(self) -> None:
        """Choose a work of which only the year differs, after no source had a more likely one."""
        for candidate, source in self.namesakes if self.chosen is None else ():
            if differs_only_in_year(self.reference, candidate.work):
                self.chosen, self.source = candidate, source
                self.likely = probability(self.reference, candidate.work)
                return

    def _of_another_year(self) -> Iterator[ReferenceProblem]:
        """Yield that a document has the title and another year, if one does."""
        given = self.reference.year
        found = dict.fromkeys(year for candidate, _ in self.namesakes for year in candidate.work.years)
        if given and found and given not in found:
            yield ReferenceProblem(kind="another year", given=str(given), found=" or ".join(map(str, found)))

    def result(self, sources: Sequence[WorkSource]) -> ResolvedReference:
        """Return what was found."""
        reference = self.reference
        if reference.passage:
            return self._with_passage(sources)
        if self.chosen is None:
            problems = [*self._wrong_ids(None), *self._of_another_year(), self._missing(sources)]
            return ResolvedReference(key=reference.key, reference=reference, problems=tuple(problems))
        work = self.chosen.work
        document = known_retractions().flagged(work.document)
        problems = [*self._wrong_ids(work), *differences(reference, work), *_notices(document, work)]
        if self.full_text is not None:
            parts = {"sections": self.full_text.sections, "pages": self.full_text.pages}
            document = document.model_copy(update=parts)
        return ResolvedReference(
            key=reference.key,
            reference=reference,
            document=document,
            source=self.source,
            by=self.chosen.by,
            probability=round(self.likely, 4),
            problems=tuple(problems),
        )

    def _with_passage(self, sources: Sequence[WorkSource]) -> ResolvedReference:
        """Return the passage as the document, and what the work that was found says of its reference."""
        reference = self.reference
        own = {name: getattr(reference, name) for name in ("authors", "journal", "year", "doi", "pmid", "pmcid")}
        document = Document.from_text(reference.key, reference.passage, reference.title).model_copy(update=own)
        problems: list[ReferenceProblem] = []
        if self.chosen is not None:
            work = self.chosen.work
            found = known_retractions().flagged(work.document)
            document = document.model_copy(update={"retracted": found.retracted})
            problems = [*self._wrong_ids(work), *differences(reference, work), *_notices(found, work)]
        elif self.is_open and sources:
            missing = self._missing(sources)
            problems = [*self._wrong_ids(None), *([] if missing.kind == "not in these sources" else [missing])]
        return ResolvedReference(
            key=reference.key,
            reference=reference,
            document=known_retractions().flagged(document),
            source="manuscript",
            problems=tuple(problems),
        )

    def _missing(self, sources: Sequence[WorkSource]) -> ReferenceProblem:
        reference = self.reference
        names = ", ".join(source.name for source in sources)
        if self.failures:
            found = "; ".join(f"{name}: {failure.reason}" for name, failure in self.failures.items())
            is_offline = any(failure.is_offline for failure in self.failures.values())
            names = ", ".join(self.failures)
            return ReferenceProblem(kind="could not be asked", given=names, found=found, is_offline=is_offline)
        if not (reference.title or reference.doi or reference.pmid or reference.pmcid):
            return ReferenceProblem(kind="could not be read", found="it has no title and no identifier")
        catalogues = ", ".join(source.name for source in sources if source.is_catalogue)
        # PubMed and Crossref lack books, reports and web sites that exist.
        if catalogues and (reference.journal or reference.doi or reference.pmid):
            return ReferenceProblem(kind="not found", found=f"asked {catalogues}")
        return ReferenceProblem(kind="not in these sources", found=names)

    def _wrong_ids(self, work: PublishedWork | None) -> Iterator[ReferenceProblem]:
        """Yield the ids of the reference that name another work."""
        reference = self.reference
        has = work.document if work else None
        ids: tuple[tuple[Literal["wrong DOI", "wrong PMID"], str | None, str | None], ...] = (
            ("wrong DOI", doi_of(reference.doi or ""), has and has.doi),
            ("wrong PMID", pmid_of(reference.pmid or ""), has and has.pmid),
        )
        for kind, given, theirs in ids:
            if not given:
                continue
            if theirs:
                if reference_key(given) != reference_key(theirs):
                    yield ReferenceProblem(kind=kind, given=given, found=theirs)
                continue
            other = next((c for c in self.other_works if c.by == kind.removeprefix("wrong ")), None)
            if other is not None:
                yield ReferenceProblem(kind=kind, given=given, found=f"it names: {other.work.document.title}")


def _look_up(source: WorkSource, searches: Sequence[_Search]) -> None:
    for tier in source.tiers:
        left = [search for search in searches if search.is_open]
        if not left:
            return
        for search, looked in zip(left, tier([search.reference for search in left]), strict=True):
            if isinstance(looked, FailedLookup):
                search.failures.setdefault(source.name, looked)
            else:
                search.take(looked, source.name)


def _add_full_texts(source: WorkSource, searches: Sequence[_Search]) -> None:
    """Get the full texts that a source has of works that were found."""
    for search in searches:
        if search.full_text is not None or search.chosen is None:
            continue
        try:
            text = source.full_text(search.chosen.work, search.reference)
        except CatalogueError as error:
            _LOG.warning("the full text of reference %s: %s", search.reference.key, error)
            continue
        if text is not None and len(text.text) > len(search.chosen.work.document.text):
            search.full_text = text


def _notices(document: Document, work: PublishedWork) -> Iterator[ReferenceProblem]:
    state = retraction_of(document)
    if state is None and work.concerns:
        state = "expression of concern"
    if state is not None:
        notices = work.retracted_by if state == "retracted" else work.concerns
        yield ReferenceProblem(kind=state, found=", ".join(notices))
    if work.corrected_by:
        yield ReferenceProblem(kind="corrected", found=", ".join(work.corrected_by))


def with_list_problems(manuscript: Manuscript, resolved: Sequence[ResolvedReference]) -> list[ResolvedReference]:
    """Add what only the whole manuscript shows.

    These are references that name the same work, references that the text does not cite, and, at the end, keys that
    the text cites and the list lacks.
    """
    cited = set(manuscript.cited_keys)
    first: dict[tuple[str, ...], str] = {}
    found: list[ResolvedReference] = []
    for entry in resolved:
        problems: list[ReferenceProblem] = []
        names = _names_of(entry)
        same = next((first[name] for name in names if name in first), None)
        if same is not None:
            problems.append(ReferenceProblem(kind="duplicate", given=entry.key, found=same))
        for name in names:
            first.setdefault(name, entry.key)
        # A list alone, without a text, is not a list of uncited works.
        if cited and entry.key not in cited:
            problems.append(ReferenceProblem(kind="listed, not cited"))
        found.append(entry.model_copy(update={"problems": (*entry.problems, *problems)}) if problems else entry)
    listed = {entry.key for entry in resolved}
    unlisted = [key for key in manuscript.cited_keys if key not in listed]
    missing = (ReferenceProblem(kind="cited, not listed", given=key) for key in unlisted)
    return [*found, *(ResolvedReference(key=problem.given, problems=(problem,)) for problem in missing)]


def _names_of(entry: ResolvedReference) -> list[tuple[str, ...]]:
    """Return what a work is known by: the document, or the ids, title and year of the reference."""
    if entry.document is not None:
        return [("document", entry.document.id)]
    reference = entry.reference
    if reference is None:
        return []
    ids = [reference_key(name) for name in (reference.doi, reference.pmid) if name]
    title = "".join(title_words(reference.title))
    return [*(("id", id) for id in ids), *([("title", title, str(reference.year))] if len(title) > 20 else [])]
