"""What the service does, apart from HTTP: the same calls as the commands, over one shared judge, kept in a folder."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from vericite.attribution.attributor import Attribution
from vericite.attribution.registry import default_attributor, load_attributor
from vericite.corpus.retractions import known_retractions
from vericite.disk.files import NotWritten, default_cache_folder, write_bytes
from vericite.errors import InputError, LLMError, UnknownNameError
from vericite.evaluate.items import Item
from vericite.models.embedder import Embedder
from vericite.pipeline.ask import Pipeline
from vericite.pipeline.build import build, build_repairer, open_search, protocol_of, settings_of
from vericite.pipeline.plan import CheckPlan, Plan
from vericite.pipeline.repair.repairer import Repairer
from vericite.pipeline.search import FoundEvidence
from vericite.records import (
    Answer,
    Document,
    Evidence,
    Question,
    Run,
    Verdict,
    VerificationFailure,
    to_json,
)
from vericite.reporting.data import ShownAnswer
from vericite.serve.bodies import (
    MOST_ID,
    MOST_TITLE,
    AnswerBody,
    AskBody,
    Checked,
    RepairedBody,
    SearchBody,
    SearchFound,
    SourceBody,
)
from vericite.serve.engine import SharedJudge, go_on
from vericite.serve.kept import KeptRuns
from vericite.serve.upload_process import DOCUMENT
from vericite.serve.uploads import UploadReaders
from vericite.text.citations import parse_answer
from vericite.text.sentences import split_sentences
from vericite.verify.judges.registry import load_judge
from vericite.verify.verifier import Verifier

Tell = Callable[[str, dict[str, Any]], None]
"""Called with what happened and what about it, as an answer comes into being."""

_ADDRESS = re.compile(r"https?://[^\s,;?]+")
_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_SENTENCE = 80
"""Characters of a source's sentence, to estimate how many there are."""
_MOST_PROBLEMS = 1_000
"""Problems of a file, after which no more of it is read."""
_LONG = 20
"""Sentences of an answer from which on it is not judged all at once."""


@dataclass(frozen=True)
class Limits:
    """What a request may ask for.

    Attributes:
        body: Bytes of a request.
        body_seconds: What sending it may take.
        upload: Bytes of a file.
        documents: Documents of a request.
        characters: Characters of all its documents.
        sentences: Sentences of an answer.
        pairs: Pairs of an answer's sentence and a source's sentence that a request has judged, estimated beforehand.
        job_pairs: The same of an item of a job, which no one waits for.
        running: Requests at work at a time.
        waiting: Requests that wait for their turn; more are sent away.
        seconds: What one may take.
        rate: Requests a minute of one client.
        items: Items of a job.
        job_documents: Documents of all items of a job.
        waiting_bytes: Bytes of all jobs that are not done; more are refused.
        kept_bytes: Bytes of all jobs; the oldest that are done go first.
    """

    body: int = 16_000_000
    body_seconds: float = 20
    upload: int = 32_000_000
    documents: int = 200
    characters: int = 5_000_000
    sentences: int = 200
    pairs: int = 40_000
    job_pairs: int = 400_000
    running: int = 16
    waiting: int = 64
    seconds: float = 120
    rate: int = 600
    items: int = 10_000
    job_documents: int = 50_000
    waiting_bytes: int = 500_000_000
    kept_bytes: int = 2_000_000_000


@dataclass(frozen=True)
class Offer:
    """What the service has.

    Attributes:
        plan: What requests change a little of.
        corpora: Places of documents by the names that requests use.
        models: Language models by the names that requests use.
        limits: What requests may ask for.
    """

    plan: Plan = field(default_factory=Plan)
    corpora: dict[str, str] = field(default_factory=lambda: {"demo": "demo"})
    models: dict[str, str] = field(default_factory=dict[str, str])
    limits: Limits = field(default_factory=Limits)


def state_folder(named: Path | None) -> Path:
    """The folder in which runs and jobs are kept; made where it is not there.

    Raises:
        InputError: There is none that can be written.
    """
    usual = default_cache_folder()
    folder = named or (usual / "serve" if usual else Path(tempfile.gettempdir()) / f"vericite-serve-{os.getuid()}")
    try:
        for part in ("runs", "jobs"):
            (folder / part).mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise InputError(
            f"expected a folder for runs and jobs; found {folder}: {error.strerror}. Name one: --state"
        ) from None
    return folder


class Service:
    """One engine and all that asks it. Its methods are called from many threads."""

    def __init__(self, offer: Offer, state: Path) -> None:
        self.offer = offer
        self.state = state
        self.runs = KeptRuns(state / "runs")
        self.judge = SharedJudge(load_judge(offer.plan.check.judge or "bundled"))
        self.readers = UploadReaders()
        self._making = Lock()
        # By their JSON: a plan is no key.
        self._verifier = lru_cache(maxsize=32)(self._make_verifier)
        self._repairer = lru_cache(maxsize=32)(self._make_repairer)
        self._pipeline = lru_cache(maxsize=32)(self._make_pipeline)

    def warm(self) -> None:
        """Load what a first question needs, so that it need not wait."""
        self.readers.warm()
        self.pipeline(self.offer.plan)
        Embedder.shared().embed(["warm"])
        source = SourceBody(id="1", text="It works in adults.")
        self.check(AnswerBody(answer="It works [1].", documents=(source,)), keep=False)
        # What costs money, or leaves this machine, waits until somebody asks.
        if self.offer.plan.answer.llm is None:
            self.ask(AskBody(question="Does it work?", documents=(source, SourceBody(id="2", text="It rains."))))

    def close(self) -> None:
        """Judge no more."""
        self.judge.close()
        self.readers.close()

    # What requests are answered with.

    def ask(self, body: AskBody, tell: Tell | None = None, view: bool = False) -> Run:
        """Answer a question, telling what happens meanwhile; with ``view`` also as the page shows it.

        Raises:
            LLMError: The language model gave no answer.
        """
        plan = self._plan(body)
        if body.documents:
            _stage(tell)("read", None)
            documents = self._documents(body.documents)
            made = build(plan, judge=self.judge, documents=documents)
        else:
            made = self.pipeline(plan)
        question = Question(id=f"question-{uuid.uuid4().hex[:12]}", text=_text(body.question))
        try:
            run = made.run(question, plan.search.depth(), _stage(tell), _Telling(tell, view) if tell else None)
            if run.answer.failed is not None:
                raise LLMError(run.answer.failed)
        except LLMError as error:
            # Where its server is concerns nobody outside.
            raise LLMError(_ADDRESS.sub(body.model or "the model", str(error))) from None
        if tell:
            for change in run.changes:
                tell("repair", change.model_dump(mode="json"))
        return run

    def check(
        self,
        body: AnswerBody,
        tell: Tell | None = None,
        keep: bool = True,
        view: bool = False,
        most_pairs: int | None = None,
    ) -> Checked:
        """Judge the citations of an answer, telling what is found meanwhile."""
        verifier = self.verifier(body.plan.over(self.offer.plan).check)
        answer = self._answer(body)
        self._refuse_work(answer, most=most_pairs)
        if tell:
            watch = _Telling(tell, view)
            watch.answer(answer)
            checked = verifier.verify_stepwise(answer, watch.verdict)
        elif len(answer.claims) > _LONG:
            # Claim by claim, so that one that is left is left soon, also while nothing is judged.
            checked = verifier.verify_stepwise(answer, lambda _: go_on())
        else:
            checked = next(iter(verifier.verify([answer])))
        made = Checked(run="", answer=answer, checked=checked)
        return made.model_copy(update={"run": self.runs.keep(made)}) if keep else made

    def attribute(self, body: AnswerBody) -> Attribution:
        """Find the sources of the sentences of an answer."""
        plan = body.plan.over(self.offer.plan)
        by = default_attributor(plan.check.protocol, plan.check.judge)
        attributor = load_attributor(by, protocol_of(plan.check, self.judge))
        answer = self._answer(body)
        self._refuse_work(answer, with_all=True)
        return attributor.attribution(answer, keep=False)

    def repair(self, body: AnswerBody) -> RepairedBody:
        """Mend the citations of an answer that are rejected."""
        return self._repaired(self._answer(body), body.plan.over(self.offer.plan))

    def repair_run(self, id: str) -> RepairedBody:
        """Mend the answer of a run.

        Raises:
            NoSuchRun: There is none of this id.
        """
        return self._repaired(self.runs.get(id).answer, self.offer.plan)

    def _repaired(self, answer: Answer, plan: Plan) -> RepairedBody:
        # What a rejected sentence should have cited is looked for in all sources.
        self._refuse_work(answer, with_all=True)
        with self._making:
            repairer = self._repairer(to_json(plan))
        before = next(iter(repairer.verifier.verify([answer])))
        found = repairer.repair(answer, before)
        made = RepairedBody(
            run="",
            answer=found.answer,
            checked=found.checked,
            original=answer,
            before=before,
            changes=tuple(found.changes),
        )
        return made.model_copy(update={"run": self.runs.keep(made)})

    def search(self, body: SearchBody) -> SearchFound:
        """Find documents."""
        plan = self._plan(body)
        question = Question(id="query", text=_text(body.query))
        if body.documents:
            documents = self._documents(body.documents)
            search, _ = open_search(plan.search, settings_of(plan.llm), documents=documents)
        else:
            search = self.pipeline(plan).search
        return SearchFound(evidence=search.find(question, body.k).usable_first)

    def documents_in(self, name: str, content: bytes) -> tuple[list[Document], list[str]]:
        """The documents of a file that was sent, and what is wrong with the rest of it.

        Raises:
            InputError: It holds none, or is of no form known.
        """
        # The name is a text, and no path: only its ending is looked at.
        shown = re.sub(r"[^\w.() -]", "_", Path(name.replace("\\", "/")).name)[-100:].lstrip(".") or "document"
        folder = _upload_folder()
        path = folder / f"upload{Path(shown).suffix[:10]}"
        try:
            write_bytes(path, content)
            documents: list[Document] = []
            problems: list[str] = []
            left = self.offer.limits.characters
            for what, value in self.readers.read(path, Path(shown).stem or shown, go_on):
                if what == DOCUMENT:
                    item = Document.model_validate_json(json.dumps(value))
                    documents.append(item)
                    left -= len(item.text) + len(item.title or "") + len(item.id)
                    self._refuse_long(item, shown)
                else:
                    problems.append(str(value).replace(str(path), shown))
                    if len(problems) >= _MOST_PROBLEMS:
                        problems.append(f"expected at most {_MOST_PROBLEMS:,} problems; the rest was not read")
                        break
                if len(documents) > self.offer.limits.documents:
                    most = self.offer.limits.documents
                    raise InputError(f"expected at most {most:,} documents in a file; found more in {shown}")
                if left < 0:
                    most = self.offer.limits.characters
                    raise InputError(f"expected at most {most:,} characters of documents; found more in {shown}")
        except NotWritten:
            raise
        except InputError as error:
            raise InputError(str(error).replace(str(path), shown)) from None
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        if not documents:
            raise InputError(f"expected documents in {shown}; found none. The first problem: {problems[0]}")
        return documents, problems

    @staticmethod
    def _refuse_long(document: Document, shown: str) -> None:
        """Refuse an upload's document that no request could bring back.

        Raises:
            InputError: Its id or title is too long.
        """
        for name, text, most in (("id", document.id, MOST_ID), ("title", document.title or "", MOST_TITLE)):
            if len(text) > most:
                raise InputError(
                    f"expected documents with a {name} of at most {most:,} characters; found one of {len(text):,} in "
                    f"{shown}"
                )

    # Parts, made once.

    def pipeline(self, plan: Plan) -> Pipeline:
        """The pipeline of a plan; one that was made is kept."""
        with self._making:
            return self._pipeline(to_json(plan))

    def verifier(self, plan: CheckPlan) -> Verifier:
        """The verifier of a plan; one that was made is kept."""
        with self._making:
            return self._verifier(to_json(plan))

    def _make_pipeline(self, plan: str) -> Pipeline:
        return build(Plan.model_validate_json(plan), judge=self.judge)

    def _make_repairer(self, plan: str) -> Repairer:
        return build_repairer(Plan.model_validate_json(plan), [], judge=self.judge)

    def _make_verifier(self, plan: str) -> Verifier:
        return Verifier(protocol_of(CheckPlan.model_validate_json(plan), self.judge))

    def _plan(self, body: AskBody | SearchBody) -> Plan:
        base = self.offer.plan
        if body.documents:
            # The service's own conditions are on its corpora.
            base = base.model_copy(update={"search": base.search.unfiltered})
        if isinstance(body, AskBody) and body.plan.answer.get("rationale") and not (body.model or base.answer.llm):
            raise InputError("expected model beside plan.answer.rationale; found none. Name a model of the service")
        plan = body.plan.over(base)
        name = body.corpus or next(iter(self.offer.corpora))
        if name not in self.offer.corpora:
            raise UnknownNameError("corpus", name[:100], self.offer.corpora)
        plan = plan.changed({"search": {"corpus": self.offer.corpora[name]}})
        if isinstance(body, AskBody) and body.model:
            if body.model not in self.offer.models:
                raise UnknownNameError("model", body.model[:100], [*self.offer.models, "none"])
            plan = plan.changed({"answer": {"llm": self.offer.models[body.model]}})
        if plan.search.depth() > 50 or plan.search.candidates > 200:
            raise InputError("expected plan.search with k of at most 50 and candidates of at most 200; found more")
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
            raise InputError(f"expected documents with ids of their own; found {twice[:80]!r} twice")
        known = known_retractions()
        return tuple(known.flagged(source.document()) for source in given)

    def _answer(self, body: AnswerBody) -> Answer:
        documents = self._of_pubmed(body.pmids) if body.pmids else self._documents(body.documents)
        answer = parse_answer(body.id, body.answer, documents, body.question)
        if len(answer.claims) > self.offer.limits.sentences:
            raise InputError(
                f"expected at most {self.offer.limits.sentences} sentences in an answer; found {len(answer.claims):,}"
            )
        return answer

    def _refuse_work(self, answer: Answer, with_all: bool = False, most: int | None = None) -> None:
        """Refuse an answer that would be worked on for longer than a request may take.

        Args:
            answer: The answer.
            with_all: Whether each sentence is compared with all sources, not only with those that it cites.
            most: The most pairs; None for those of a request.

        Raises:
            InputError: There are more.
        """
        most = self.offer.limits.pairs if most is None else most
        sentences = {document.id: 1 + len(document.text) // _SENTENCE for document in answer.documents}
        pairs = sum(
            sum(sentences.values())
            if with_all
            else sum(sentences.get(id, 0) for id in {one.document for one in claim.citations if one.document})
            for claim in answer.claims
        )
        if pairs > most:
            raise InputError(
                f"expected an answer with at most {most:,} pairs of a sentence and a sentence of its sources; found "
                f"about {pairs:,}. Send fewer sentences or sources at a time, or a job (/v1/jobs)"
            )

    def _of_pubmed(self, pmids: Sequence[str]) -> tuple[Document, ...]:
        from vericite.corpus.entrez.client import Entrez

        if "pubmed" not in self.offer.corpora.values():
            raise InputError("expected documents; found pmids, and this service does not ask PubMed")
        if len(pmids) > self.offer.limits.documents:
            raise InputError(f"expected at most {self.offer.limits.documents} PMIDs; found {len(pmids):,}")
        found = {document.pmid: document for batch in Entrez().batches(pmids) for document in batch.documents}
        if missing := [pmid for pmid in pmids if pmid not in found]:
            raise InputError(f"expected articles of PubMed; found none for {', '.join(missing[:5])}")
        return tuple(found[pmid] for pmid in pmids)


def _upload_folder() -> Path:
    """A new folder for a file that was sent.

    Raises:
        NotWritten: There is no room for one.
    """
    try:
        return Path(tempfile.mkdtemp(prefix="vericite-upload-"))
    except OSError as error:
        raise NotWritten(f"expected a folder for temporary files; found: {error.strerror}", error) from None


class _Telling:
    """Tells of a run as events, and stops it where nobody listens any more."""

    def __init__(self, tell: Tell, view: bool = False) -> None:
        self._tell = tell
        self._view = view
        self._shown: ShownAnswer | None = None
        self._written, self._drafted = "", 0

    def evidence(self, found: FoundEvidence) -> None:
        go_on()
        self._tell("evidence", {"documents": [_shown(hit) for hit in found.usable_first]})

    def piece(self, text: str) -> None:
        """Tell of each sentence as soon as another follows; what was thought aloud is none.

        Raises:
            Stopped: Nobody listens any more; the model is left.
        """
        go_on()
        self._written += text
        if any(char in text for char in ".!?]\n"):
            body = _THOUGHT.sub("", self._written)
            done = [body[span.slice] for span in split_sentences(body)[:-1]]
            for number, sentence in enumerate(done[self._drafted :], self._drafted):
                self._tell("sentence", {"number": number, "text": sentence, "draft": True})
            self._drafted = max(self._drafted, len(done))

    def answer(self, answer: Answer) -> None:
        go_on()
        if answer.failed is not None:
            return
        self._tell("answer", {"sentences": len(answer.claims)})
        for number, claim in enumerate(answer.claims):
            text = answer.text[claim.span.slice]
            self._tell("sentence", {"number": number, "start": claim.span.start, "text": text})
        if self._view:
            documents: dict[str, dict[str, Any]] = {}
            self._shown = ShownAnswer(answer, documents)
            row = self._shown.row(Item(answer.id, answer))
            for claim in row["claims"]:
                claim["kind"] = "pending" if claim["cites"] else claim["kind"]
            self._tell("view", {"answer": row, "documents": documents})

    def verdict(self, result: Verdict | VerificationFailure) -> None:
        go_on()
        label = result.label if isinstance(result, Verdict) else None
        kind = "failed" if label is None else "abstained" if getattr(result, "abstained", False) else label
        self._tell("verdict", {"kind": kind, "result": result.model_dump(mode="json")})
        if self._shown is not None:
            self._tell("judged", self._shown.judged(result))


def _shown(hit: Evidence) -> dict[str, Any]:
    document = hit.document
    return {
        "id": document.id,
        "title": document.title,
        "pmid": document.pmid,
        "year": document.year,
        "journal": document.journal,
        "retracted": document.retracted,
        "rank": hit.rank,
    }


def _stage(tell: Tell | None) -> Callable[[str, float | None], None]:
    def on_stage(stage: str, seconds: float | None) -> None:
        go_on()
        if tell is not None:
            tell("stage", {"stage": stage, "seconds": seconds})

    return on_stage


def _text(question: str) -> str:
    if not question.strip():
        raise InputError("expected a question; found no text")
    return question.strip()
