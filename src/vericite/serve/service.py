"""The service without HTTP: the same calls as the commands, with one shared judge and stored runs."""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import tempfile
import uuid
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vericite.attribution.attributor import Attribution
from vericite.attribution.registry import default_attributor, load_attributor
from vericite.corpus.retractions import known_retractions
from vericite.disk.files import default_cache_folder
from vericite.errors import InputError, LLMError, Problems, UnknownNameError
from vericite.evaluate.items import Item
from vericite.llm.chat import estimated_tokens
from vericite.models.embedder import Embedder
from vericite.pipeline.ask import Pipeline, calls_of
from vericite.pipeline.build import (
    build,
    build_finder,
    build_repairer,
    has_index,
    open_search,
    protocol_of,
    read_index,
    settings_of,
)
from vericite.pipeline.explain import explained
from vericite.pipeline.plan import CheckPlan, Plan, SearchPlan
from vericite.pipeline.repair.repairer import Repairer
from vericite.pipeline.search import FoundEvidence, Search
from vericite.records import (
    Answer,
    AnswerEvidence,
    Document,
    Question,
    Run,
    Verdict,
    VerificationFailure,
    to_json,
)
from vericite.reporting.data import ShownAnswer
from vericite.reporting.run_lines import rewriting_line
from vericite.retrieve.local import MemoryRetriever
from vericite.serve.bodies import (
    MAX_ID,
    MAX_TITLE,
    AnswerBody,
    AskBody,
    Checked,
    CheckedManuscript,
    EvidenceBody,
    RepairedBody,
    SearchBody,
    SearchFound,
    SourceBody,
)
from vericite.serve.engine import SharedJudge, check_stopped
from vericite.serve.events import Emit, FoundDocument, stage_callback
from vericite.serve.facets import Facets
from vericite.serve.library import CorpusLibrary
from vericite.serve.made_once import MadeOnce
from vericite.serve.manuscripts import ManuscriptChecks
from vericite.serve.offer import Offer
from vericite.serve.run_store import RunStore
from vericite.serve.shelves import FileAdded
from vericite.serve.upload_process import DOCUMENT
from vericite.serve.uploads import UploadFolder, UploadReaders, safe_name
from vericite.text.citations import parse_answer
from vericite.text.sentences import split_sentences
from vericite.verify.judges.registry import load_judge
from vericite.verify.verifier import Verifier

_ADDRESS = re.compile(r"https?://[^\s,;?]+")
_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_SENTENCE = 80
"""Assumed characters per sentence of a source, to estimate the number of sentences."""
_SENTENCES = 12
"""Assumed sentences of an abstract, to estimate the pairs of a search for evidence."""
_MAX_PROBLEMS = 1_000
"""Problems in a file after which reading stops."""
_TOKENS_APART = 10
"""Tokens that a model writes between two events about its progress."""
_LONG = 20
"""Sentences above which an answer is judged claim by claim."""
_PLANS, _INDEXES = 32, 8
"""Plans whose parts are kept, and corpora of which the index is kept in memory."""


def state_folder(named: Path | None) -> Path:
    """Return the folder for runs, jobs and shelves; create it if needed.

    Raises:
        InputError: The folder cannot be created.
    """
    usual = default_cache_folder()
    # Windows has no such number; each of its users has a temporary folder of their own.
    user = os.getuid() if sys.platform != "win32" else "user"
    folder = named or (usual / "serve" if usual else Path(tempfile.gettempdir()) / f"vericite-serve-{user}")
    try:
        for part in ("runs", "jobs", "shelves"):
            (folder / part).mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise InputError(
            f"expected a folder for runs, jobs and shelves; found {folder}: {error.strerror}. Choose "
            "one with --set service.state=FOLDER"
        ) from None
    return folder


_LOG = logging.getLogger(__name__)


class Service:
    """The calls of the service. Its methods are thread-safe."""

    def __init__(self, offer: Offer, state: Path) -> None:
        self.offer = offer
        self.state = state
        self.runs = RunStore(state / "runs")
        self.judge = SharedJudge(load_judge(offer.plan.check.judge or "bundled", settings_of(offer.plan.llm)))
        self.readers = UploadReaders()
        self.library = CorpusLibrary(offer, state / "shelves")
        self.manuscripts = ManuscriptChecks(
            offer, self.judge, self.runs, self.readers, self.documents_in, lambda: self.library.works
        )
        # Kept by the JSON of a plan, since a plan is not hashable.
        self._verifier = MadeOnce(self._make_verifier, _PLANS)
        self._repairer = MadeOnce(self._make_repairer, _PLANS)
        self._pipeline = MadeOnce(self._make_pipeline, _PLANS)
        # Apart, so that those with the filters of a request do not push out the usual ones.
        self._filtered = MadeOnce(self._make_pipeline, _PLANS)
        self._index = MadeOnce(self._make_index, _INDEXES)

    def warm(self) -> None:
        """Load everything that the first request needs."""
        self.readers.warm()
        self.pipeline(self.offer.plan)
        Embedder.shared().embed(["warm"])
        # A language model costs money or sends data out, so it is not called before the first request.
        if self.judge.ledger is not None:
            return
        source = SourceBody(id="1", text="It works in adults.")
        self.check(AnswerBody(answer="It works [1].", documents=(source,)), keep=False)
        if self.offer.plan.answer.llm is None:
            self.ask(AskBody(question="Does it work?", documents=(source, SourceBody(id="2", text="It rains."))))

    def close(self) -> None:
        """Stop the judge and the upload readers."""
        self.judge.close()
        self.readers.close()

    # Calls of requests.

    def ask(self, body: AskBody, emit: Emit | None = None, view: bool = False) -> Run:
        """Answer a question and emit events; with ``view`` also the events of the web page.

        Raises:
            LLMError: The language model returned no answer.
        """
        plan = self._plan(body)
        if body.documents:
            stage_callback(emit)("read", None)
            documents = self._documents(body.documents)
            made = build(plan, judge=self.judge, documents=documents)
        else:
            made = self.pipeline(plan)
        question = Question(id=f"question-{uuid.uuid4().hex[:12]}", text=_text(body.question))
        try:
            run = made.run(
                question, plan.search.depth(), stage_callback(emit), _RunEvents(emit, view) if emit else None
            )
            if run.answer.failed is not None:
                raise LLMError(run.answer.failed)
        except LLMError as error:
            # Clients must not learn the address of the model's server.
            raise LLMError(_ADDRESS.sub(body.model or "the model", str(error))) from None
        if emit:
            for change in run.changes:
                emit("repair", change.model_dump(mode="json"))
        return run

    def check(
        self,
        body: AnswerBody,
        emit: Emit | None = None,
        keep: bool = True,
        view: bool = False,
        max_pairs: int | None = None,
    ) -> Checked:
        """Judge the citations of an answer and emit each verdict; with ``check.explain`` the result says more."""
        plan = body.plan.apply_to(self.offer.plan)
        verifier = self.verifier(plan.check)
        answer = self._answer(body)
        self._check_size(answer, with_all=plan.check.explain, max_pairs=max_pairs)
        with calls_of(self.judge) as calls:
            if emit:
                watch = _RunEvents(emit, view)
                watch.answer(answer)
                checked = verifier.verify_stepwise(answer, watch.verdict)
            elif len(answer.claims) > _LONG:
                # Claim by claim, so that a stopped request ends soon, even while nothing is judged.
                checked = verifier.verify_stepwise(answer, lambda _: check_stopped())
            else:
                checked = next(iter(verifier.verify([answer])))
            if plan.check.explain:
                checked = next(explained(verifier, [(answer, checked)]))
        made = Checked(run="", answer=answer, checked=checked, calls=calls())
        return made.model_copy(update={"run": self.runs.keep(made)}) if keep else made

    def attribute(self, body: AnswerBody) -> Attribution:
        """Find the sources of the sentences of an answer."""
        plan = body.plan.apply_to(self.offer.plan)
        name = default_attributor(plan.check.protocol, plan.check.judge)
        attributor = load_attributor(name, protocol_of(plan.check, self.judge))
        answer = self._answer(body)
        self._check_size(answer, with_all=True)
        return attributor.attribution(answer, keep=False)

    def repair(self, body: AnswerBody) -> RepairedBody:
        """Repair the rejected citations of an answer."""
        return self._repaired(self._answer(body), body.plan.apply_to(self.offer.plan))

    def repair_run(self, id: str) -> RepairedBody:
        """Repair the answer of a run.

        Raises:
            NoSuchRun: No stored run has this id.
        """
        run = self.runs.get(id)
        if isinstance(run, CheckedManuscript):
            raise InputError("expected the run of an answer; found that of a manuscript, which is not repaired")
        return self._repaired(run.answer, self.offer.plan)

    def _repaired(self, answer: Answer, plan: Plan) -> RepairedBody:
        # Repair compares a rejected sentence with all sources.
        self._check_size(answer, with_all=True)
        repairer = self._repairer(to_json(plan))
        with calls_of(repairer, self.judge) as calls:
            before = next(iter(repairer.verifier.verify([answer])))
            found = repairer.repair(answer, before)
        made = RepairedBody(
            run="",
            answer=found.answer,
            checked=found.checked,
            original=answer,
            before=before,
            changes=tuple(found.changes),
            calls=calls(),
        )
        return made.model_copy(update={"run": self.runs.keep(made)})

    def search(self, body: SearchBody) -> SearchFound:
        """Find documents."""
        question = Question(id="query", text=_text(body.query))
        search = self._search(body, self._plan(body))
        with calls_of(search.rewrite and search.rewrite.rewriter) as calls:
            found = search.find(question, body.k)
        documents = tuple(FoundDocument.of(hit) for hit in found.usable_first)
        return SearchFound(
            evidence=found.usable_first,
            documents=documents,
            facets=Facets.of(documents),
            rewriting=found.rewriting,
            remark="" if found.rewriting is None else rewriting_line(found.rewriting),
            seconds=found.seconds,
            calls=calls(),
        )

    def evidence(self, body: EvidenceBody) -> AnswerEvidence:
        """Find the articles for and against each sentence of an answer."""
        plan = self._plan(body)
        answer = parse_answer("answer", _text(body.answer), (), body.question)
        pairs, most = len(answer.claims) * plan.search.candidates * _SENTENCES, self.offer.limits.pairs
        if pairs > most:
            raise InputError(
                f"expected an answer that takes at most {most:,} pairs to judge; found {len(answer.claims)} sentences, "
                f"which take about {pairs:,}. Send fewer at a time."
            )
        finder = build_finder(plan, Problems(), self._search(body, plan), self.judge)
        return next(finder.find([answer]))

    def _search(self, body: SearchBody | EvidenceBody, plan: Plan) -> Search:
        """Return the search of a request: over its own documents, or a corpus of the service."""
        if not body.documents:
            return self.pipeline(plan).search
        return open_search(plan.search, settings_of(plan.llm), documents=self._documents(body.documents))

    def add_to_shelf(self, id: str, name: str, content: bytes) -> FileAdded:
        """Read an uploaded file into a shelf.

        Raises:
            NoSuchShelf: No shelf has this id.
            InputError: The shelf has no room for it.
        """
        most = self.offer.limits.shelf_documents, self.offer.limits.shelf_characters

        def read(stem: str) -> tuple[list[Document], list[str]]:
            return self.documents_in(name, content, stem, most)

        return self.library.shelves.add(id, safe_name(name, "document"), content, read)

    def documents_in(
        self, name: str, content: bytes, stem: str | None = None, most: tuple[int, int] | None = None
    ) -> tuple[list[Document], list[str]]:
        """Read an uploaded file and return its documents and the problems in the rest of it.

        Args:
            name: Name of the file.
            content: The file.
            stem: What ids are made of, for documents without an own one (None: the file's name).
            most: Maximum numbers of documents and of their characters (None: those of a request).

        Raises:
            InputError: The file has no documents, or is of an unknown format.
        """
        documents: list[Document] = []
        problems: list[str] = []
        max_documents, max_characters = most or (self.offer.limits.documents, self.offer.limits.characters)
        left = max_characters
        with UploadFolder() as folder, folder.named_as_sent():
            path = folder.add(name, content, "document")
            shown = path.name
            for what, value in self.readers.read(path, check_stopped, name=stem or path.stem):
                if what == DOCUMENT:
                    item = Document.model_validate_json(json.dumps(value))
                    documents.append(item)
                    left -= len(item.text) + len(item.title or "") + len(item.id)
                    self._check_lengths(item, shown)
                else:
                    problems.append(folder.without_places(str(value)))
                    if len(problems) >= _MAX_PROBLEMS:
                        problems.append(f"expected at most {_MAX_PROBLEMS:,} problems; the rest was not read")
                        break
                if len(documents) > max_documents:
                    raise InputError(f"expected at most {max_documents:,} documents in a file; found more in {shown}")
                if left < 0:
                    raise InputError(
                        f"expected at most {max_characters:,} characters of documents; found more in {shown}"
                    )
        if not documents:
            raise InputError(f"expected documents in {shown}; found none. The first problem: {problems[0]}")
        return documents, problems

    @staticmethod
    def _check_lengths(document: Document, shown: str) -> None:
        """Refuse an uploaded document that a request could not contain.

        Raises:
            InputError: Its id or title is too long.
        """
        for name, text, most in (("id", document.id, MAX_ID), ("title", document.title or "", MAX_TITLE)):
            if len(text) > most:
                raise InputError(
                    f"expected documents with a {name} of at most {most:,} characters; found one with {len(text):,} "
                    f"in {shown}"
                )

    # Cached parts.

    def pipeline(self, plan: Plan) -> Pipeline:
        """Return the pipeline of a plan, from the cache if possible."""
        own, asked = self.offer.plan.search, plan.search
        is_usual = (asked.filters, asked.designs) == (own.filters, own.designs)
        return (self._pipeline if is_usual else self._filtered)(to_json(plan))

    def verifier(self, plan: CheckPlan) -> Verifier:
        """Return the verifier of a plan, from the cache if possible."""
        return self._verifier(to_json(plan))

    def _make_pipeline(self, plan: str) -> Pipeline:
        problems = Problems()
        chosen = Plan.model_validate_json(plan)
        wanted = chosen.search
        index = self._index(wanted.corpus, wanted.by or "hybrid") if has_index(wanted) else None
        search = open_search(wanted, settings_of(chosen.llm), problems=problems, index=index)
        made = build(chosen, problems=problems, search=search, judge=self.judge)
        _log(problems)
        return made

    def _make_index(self, corpus: str, by: str) -> MemoryRetriever:
        problems = Problems()
        made = read_index(SearchPlan(corpus=corpus, by=by), problems)
        _log(problems)
        return made

    def _make_repairer(self, plan: str) -> Repairer:
        problems = Problems()
        made = build_repairer(Plan.model_validate_json(plan), problems, judge=self.judge)
        _log(problems)
        return made

    def _make_verifier(self, plan: str) -> Verifier:
        return Verifier(protocol_of(CheckPlan.model_validate_json(plan), self.judge))

    def _plan(self, body: AskBody | SearchBody | EvidenceBody) -> Plan:
        base = self.offer.plan
        if body.documents:
            # The service's search filters apply to its corpora only.
            base = base.model_copy(update={"search": base.search.unfiltered})
        plan = body.plan.apply_to(base)
        if isinstance(body, AskBody) and plan.answer.rationale and not (body.model or base.answer.llm):
            raise InputError("expected model with plan.answer.rationale; found none. Choose a model of this service")
        name = body.corpus or next(iter(self.offer.corpora))
        corpora = self.library.corpora
        if name not in corpora:
            raise UnknownNameError("corpus", name[:100], corpora)
        plan = plan.changed({"search": {"corpus": corpora[name]}})
        if isinstance(body, AskBody) and body.model:
            if body.model not in self.offer.models:
                raise UnknownNameError("model", body.model[:100], [*self.offer.models, "none"])
            plan = plan.changed({"answer": {"llm": self.offer.models[body.model]}})
        return plan

    def _documents(self, given: Sequence[SourceBody]) -> tuple[Document, ...]:
        limits = self.offer.limits
        if len(given) > limits.documents:
            raise InputError(f"expected at most {limits.documents} documents; found {len(given):,}")
        characters = sum(len(source.text) + len(source.title) for source in given)
        if characters > limits.characters:
            raise InputError(f"expected at most {limits.characters:,} characters of documents; found {characters:,}")
        counted = Counter(source.id for source in given)
        if twice := next((id for id, count in counted.items() if count > 1), None):
            raise InputError(f"expected documents with different ids; found {twice[:80]!r} twice")
        known = known_retractions()
        return tuple(known.flagged(source.to_document()) for source in given)

    def _answer(self, body: AnswerBody) -> Answer:
        documents = self._pubmed_documents(body.pmids) if body.pmids else self._documents(body.documents)
        answer = parse_answer(body.id, body.answer, documents, body.question)
        if len(answer.claims) > self.offer.limits.sentences:
            raise InputError(
                f"expected at most {self.offer.limits.sentences} sentences in an answer; found {len(answer.claims):,}"
            )
        return answer

    def _check_size(self, answer: Answer, with_all: bool = False, max_pairs: int | None = None) -> None:
        """Refuse an answer that would take longer than a request may.

        Args:
            answer: The answer.
            with_all: Whether each sentence is compared with all sources, not only the cited ones.
            max_pairs: Maximum number of pairs (None: the limit of a request).

        Raises:
            InputError: The answer has too many pairs.
        """
        max_pairs = self.offer.limits.pairs if max_pairs is None else max_pairs
        sentences = {document.id: 1 + len(document.text) // _SENTENCE for document in answer.documents}
        pairs = sum(
            sum(sentences.values())
            if with_all
            else sum(
                sentences.get(id, 0) for id in {citation.document for citation in claim.citations if citation.document}
            )
            for claim in answer.claims
        )
        if pairs > max_pairs:
            raise InputError(
                f"expected an answer with at most {max_pairs:,} pairs of a sentence and a source sentence; found about "
                f"{pairs:,}. Send fewer sentences or sources at a time, or a job (/v1/jobs)"
            )

    def _pubmed_documents(self, pmids: Sequence[str]) -> tuple[Document, ...]:
        from vericite.corpus.entrez.client import Entrez

        if "pubmed" not in self.offer.corpora.values():
            raise InputError("expected documents; found pmids, and this service does not use PubMed")
        if len(pmids) > self.offer.limits.documents:
            raise InputError(f"expected at most {self.offer.limits.documents} PMIDs; found {len(pmids):,}")
        found = {document.pmid: document for batch in Entrez().batches(pmids) for document in batch.documents}
        if missing := [pmid for pmid in pmids if pmid not in found]:
            raise InputError(f"expected PMIDs of PubMed articles; found no article for {', '.join(missing[:5])}")
        return tuple(found[pmid] for pmid in pmids)


class _RunEvents:
    """Emits the events of a run, and stops the run if its request was stopped."""

    def __init__(self, emit: Emit, view: bool = False) -> None:
        self._emit = emit
        self._view = view
        self._shown: ShownAnswer | None = None
        self._answer: Answer | None = None
        self._written, self._drafted, self._tokens = "", 0, 0

    def evidence(self, found: FoundEvidence) -> None:
        check_stopped()
        self._emit("evidence", {"documents": [FoundDocument.of(hit).model_dump() for hit in found.usable_first]})

    def piece(self, text: str) -> None:
        """Emit each sentence as soon as the next begins; skip the model's thinking.

        Raises:
            Stopped: The request was stopped.
        """
        check_stopped()
        self._written += text
        tokens = estimated_tokens(self._written)
        if self._view and tokens >= self._tokens + _TOKENS_APART:
            self._tokens = tokens
            self._emit("written", {"tokens": tokens})
        if any(char in text for char in ".!?]\n"):
            body = _THOUGHT.sub("", self._written)
            done = [body[span.slice] for span in split_sentences(body)[:-1]]
            for number, sentence in enumerate(done[self._drafted :], self._drafted):
                self._emit("sentence", {"number": number, "text": sentence, "draft": True})
            self._drafted = max(self._drafted, len(done))

    def answer(self, answer: Answer) -> None:
        check_stopped()
        self._answer = answer
        if answer.failed is not None:
            return
        self._emit("answer", {"sentences": len(answer.claims)})
        for number, claim in enumerate(answer.claims):
            text = answer.text[claim.span.slice]
            self._emit("sentence", {"number": number, "start": claim.span.start, "text": text})
        if self._view:
            documents: dict[str, dict[str, Any]] = {}
            self._shown = ShownAnswer(answer, documents)
            row = self._shown.row(Item(answer.id, answer))
            for claim in row["claims"]:
                claim["kind"] = "pending" if claim["cites"] else claim["kind"]
            self._emit("view", {"answer": row, "documents": documents})

    def verdict(self, result: Verdict | VerificationFailure) -> None:
        check_stopped()
        kind = result.kind_in(self._answer) if isinstance(result, Verdict) else "failed"
        self._emit("verdict", {"kind": kind, "result": result.model_dump(mode="json")})
        if self._shown is not None:
            self._emit("judged", self._shown.judged(result))


def _text(question: str) -> str:
    if not question.strip():
        raise InputError("expected a question; found no text")
    return question.strip()


def _log(problems: Problems) -> None:
    """Log the lines of a corpus or a pool that cannot be used: a client cannot repair them."""
    for problem in problems[:20]:
        _LOG.warning("%s", problem)
    if len(problems) > 20:
        _LOG.warning("and %s more lines that cannot be used", f"{len(problems) - 20:,}")
