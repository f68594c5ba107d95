"""Check uploaded manuscripts: read in a process of its own, looked up only where the request says."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from vericite.corpus import demo_documents
from vericite.corpus.manuscript.resolve import resolve
from vericite.corpus.manuscript.sources import SERVICES, FileWorks, WorkSource, open_source
from vericite.disk.files import NotWritten, write_bytes
from vericite.errors import InputError, MissingExtraError, UnknownNameError
from vericite.formats.pasted import read_pasted
from vericite.models.contracts import Judge
from vericite.pipeline.ask import calls_of
from vericite.pipeline.manuscript import ManuscriptCheck, check_against
from vericite.records import Document, Manuscript, to_json
from vericite.records.manuscripts import ResolvedReference
from vericite.reporting.manuscript import findings_of
from vericite.serve.bodies import CheckedManuscript, ManuscriptBody, Pasted, PastedBody, PastedSource, UploadedFile
from vericite.serve.engine import TimeLimit, check_stopped
from vericite.serve.events import Emit, stage_callback
from vericite.serve.made_once import MadeOnce
from vericite.serve.offer import Offer
from vericite.serve.run_store import RunStore
from vericite.serve.upload_process import COPY, MANUSCRIPT
from vericite.serve.uploads import UploadFolder, UploadReaders, safe_name
from vericite.text.counted import counted

_LOG = logging.getLogger(__name__)


class ManuscriptChecks:
    """The checks of manuscripts of a service. Thread-safe."""

    def __init__(
        self,
        offer: Offer,
        judge: Judge,
        runs: RunStore,
        readers: UploadReaders,
        documents_in: Callable[[str, bytes], tuple[list[Document], list[str]]],
        works: Callable[[], Mapping[str, str]],
    ) -> None:
        self._offer = offer
        self._works = works
        self._judge = judge
        self._runs = runs
        self._readers = readers
        self._documents_in = documents_in
        self._local_works = MadeOnce(self._make_local_works, len(offer.works))

    @property
    def time_limit(self) -> TimeLimit:
        """Time limit of a check. The message names what else to do, as a manuscript cannot be a job."""
        seconds = self._offer.limits.manuscript_seconds
        return TimeLimit(
            seconds,
            f"expected a manuscript that can be checked in {seconds:,.0f} seconds; found that it took longer. Check it "
            "without explanations, against fewer sources or in parts, or where there is no limit: "
            "vericite check FILE --documents SOURCE",
            at_once=max(1, self._offer.limits.running // 2),
        )

    def check(
        self, body: ManuscriptBody, emit: Emit | None = None, keep: bool = True, path: Path | None = None
    ) -> CheckedManuscript:
        """Check the citations of a manuscript and emit the progress.

        Args:
            body: The manuscript.
            emit: Receives the progress.
            keep: Whether to store the run.
            path: Where the manuscript is on this machine, to read the files that it includes, too.

        Raises:
            InputError: The manuscript cannot be read, or a source has another name than those of the service.
        """
        plan = body.plan.apply_to(self._offer.plan).changed({"llm": {"cache": False}})
        works = self._named(body.sources)
        on_stage = stage_callback(emit)
        notes: list[str] = []

        def on_progress(what: str, done: int, total: int) -> None:
            check_stopped()
            if emit is not None:
                emit("progress", {"what": what, "done": done, "total": total})

        with UploadFolder() as folder:
            on_stage("read", None)
            if path is None:
                path = folder.add(body.file.name, body.file.content, "manuscript")
                for file in body.parts:
                    folder.add_next_to(path, file.name, file.content)
            bibliography = [str(folder.add(file.name, file.content, "references")) for file in body.bibliography]
            manuscript = self._manuscript(folder, path, bibliography)
            sources: list[WorkSource] = []
            if body.documents:
                sources.append(self._uploaded_works(body.documents, notes))
            on_stage("references", None)
            with self._opened(works) as opened:
                sources += opened
                if not sources:
                    notes.append(f"No source was named, so no sentence could be judged. {_name_one(self._works())}")
                with calls_of(self._judge) as calls:
                    check = check_against(manuscript, sources, plan, on_progress, self._judge)
            suffix, copy = self._copy(folder, path, check, notes) if check.sentences else (None, None)
        findings = findings_of(check, notes)
        made = CheckedManuscript(run="", findings=findings, check=check, copy_suffix=suffix, calls=calls())
        return made.model_copy(update={"run": self._runs.keep(made, copy)}) if keep else made

    def read_pasted(self, body: PastedBody) -> Pasted:
        """Read a pasted answer and look its sources up where the request says.

        Raises:
            InputError: A source has another name than those of the service, or there are too many.
        """
        works = self._named(body.sources)
        made = read_pasted(body.answer, self._offer.limits.documents)

        def on_progress(_done: int, _total: int) -> None:
            check_stopped()

        with self._opened(works) as opened:
            found = resolve(made.sources, opened, on_progress)
        return Pasted(answer=made.text, sources=tuple(map(_pasted_source, found)))

    def _manuscript(self, folder: UploadFolder, path: Path, bibliography: Sequence[str]) -> Manuscript:
        """Read a manuscript in a process of its own.

        Raises:
            InputError: It cannot be read, or is too long.
        """
        with folder.named_as_sent():
            read = self._readers.read(path, check_stopped, MANUSCRIPT, bibliography=bibliography)
            ((_, value),) = list(read)
        manuscript = Manuscript.model_validate_json(json.dumps(value))
        counts = (("citations", manuscript.citations), ("references", manuscript.references))
        for name, found in counts:
            most: int = getattr(self._offer.limits, name)
            if len(found) > most:
                raise InputError(f"expected a manuscript with at most {most:,} {name}; found {len(found):,}. Split it")
        hidden = tuple(folder.without_places(note) for note in manuscript.notes)
        return manuscript.model_copy(update={"notes": hidden})

    def _uploaded_works(self, files: Sequence[UploadedFile], notes: list[str]) -> WorkSource:
        """Return the documents of uploaded files as a source of works. A file that cannot be read costs itself."""
        documents: dict[str, Document] = {}
        paths: dict[str, Path] = {}
        left = self._offer.limits.characters
        for file in files:
            try:
                found, problems = self._documents_in(file.name, file.content)
            except NotWritten:
                raise
            except InputError as error:
                notes.append(str(error))
                continue
            notes += problems[:5]
            documents.update((document.id, document) for document in found)
            if len(found) == 1:
                paths[found[0].id] = Path(safe_name(file.name, "document"))
            left -= sum(len(document.text) for document in found)
            if left < 0 or len(documents) > self._offer.limits.documents:
                limits = self._offer.limits
                most = f"{limits.documents:,} documents and {limits.characters:,} characters of them"
                raise InputError(f"expected files with at most {most}; found more")
        return FileWorks("the uploaded files", documents.values(), paths)

    def _named(self, names: Sequence[str]) -> dict[str, str]:
        """Return the places of sources by the names that a request has.

        Raises:
            UnknownNameError: The service has no such source.
        """
        works = self._works()
        if unknown := next((name for name in names if name not in works), None):
            raise UnknownNameError("source", unknown[:100], works)
        return {name: works[name] for name in names}

    @contextmanager
    def _opened(self, works: Mapping[str, str]) -> Generator[list[WorkSource]]:
        """Open sources of works by name and place, and close the clients that are this request's own."""
        with ExitStack() as closing:
            opened: list[WorkSource] = []
            for name, place in works.items():
                opened.append(self._work_source(name, place))
                if place in SERVICES:
                    closing.callback(opened[-1].close)
            yield opened

    def _work_source(self, name: str, place: str) -> WorkSource:
        if place in SERVICES:
            # Each request opens its own client.
            return open_source(place)
        if name in self._offer.works:
            return self._local_works(name, place)
        # A shelf changes, and may be removed.
        return self._make_local_works(name, place)

    def _make_local_works(self, name: str, place: str) -> WorkSource:
        """Return a source on this machine by its name, which hides where it is, and its place.

        Raises:
            InputError: It cannot be read. The log has the reason.
        """
        try:
            made = FileWorks(name, demo_documents()) if place == "demo" else open_source(place)
        except InputError as error:
            _LOG.warning("%s", error)
            problem = f"expected the source {name!r} with documents that can be read; found none"
            raise InputError(f"{problem}. The service's log has the reason") from None
        made.name = name
        return made

    def _copy(
        self, folder: UploadFolder, path: Path, check: ManuscriptCheck, notes: list[str]
    ) -> tuple[str | None, bytes | None]:
        """Return the suffix and content of a copy with comments; a file that cannot be copied costs a note."""
        given, out = folder.path / "check.json", folder.path / "copy"
        write_bytes(given, to_json(check).encode())
        try:
            with folder.named_as_sent():
                read = self._readers.read(path, check_stopped, COPY, checked=str(given), out=str(out))
                ((_, (suffix, unplaced)),) = list(read)
            if unplaced:
                notes.append(f"{counted(unplaced, 'comment')} could not be placed in the copy. The table has all.")
            return suffix, out.read_bytes()
        except NotWritten:
            raise
        except (InputError, MissingExtraError) as error:
            notes.append(f"There is no copy with comments: {error}")
            return None, None


def _pasted_source(found: ResolvedReference) -> PastedSource:
    named, document = found.reference, found.document
    name = ""
    if named is not None:
        name = f"PMID {named.pmid}" if named.pmid else named.url or named.doi or named.pmcid or ""
    if document is None or not document.text:
        return PastedSource(name=name, title=named.title if named else "", pmid=named.pmid if named else None)
    pmid = document.pmid or (named.pmid if named else None)
    return PastedSource(name=name, title=document.title, text=document.text, pmid=pmid, found_in=found.source)


def _name_one(works: Mapping[str, str]) -> str:
    return f"Name one: {', '.join(works)}, or send files of documents."
