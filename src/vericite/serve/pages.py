"""Web pages of the service: ask, check, runs, and a report of a run as a single file."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal

from vericite.corpus import demo_questions
from vericite.corpus.sources.registry import SOURCES
from vericite.evaluate.items import Item
from vericite.evaluate.resampling import Bootstrap
from vericite.evaluate.scoring import System
from vericite.records import Answer, CheckedRationale, Run
from vericite.reporting.data import ShownAnswer, make_report
from vericite.reporting.page import ANSWER, CSS, ELEMENTS, PageParts, make_page, rendered
from vericite.serve.bodies import RepairedBody
from vericite.serve.run_store import RunEntry, StoredRun, title_of
from vericite.serve.service import Service

PageName = Literal["ask", "check", "runs", "run"]

_OWN = "vericite.serve"
_PARTS = PageParts((CSS, (_OWN, "service.css")), (ELEMENTS, ANSWER, (_OWN, "service.js")), asks=True)
_TITLES = {"ask": "Ask", "check": "Check", "runs": "Runs", "run": "Run"}
_EXAMPLES = 3


def page_of(service: Service, name: PageName, run: str | None = None, problem: str = "") -> str:
    """Render a page.

    Args:
        service: The service behind the page.
        name: Name of the page.
        run: Id of a run to show on it.
        problem: Error message to show.

    Raises:
        NoSuchRun: No stored run has this id.
    """
    offer = service.offer
    shown = view_of(service.runs.get(run)) | {"id": run} if run else None
    title = f"{shown['title'][:80]} · VeriCite" if shown else f"{_TITLES[name]} · VeriCite"
    return rendered(
        _OWN,
        f"{name}.html.j2",
        _PARTS,
        {"page": name, "run": shown, "documents": offer.limits.documents, "problem": problem},
        name=name,
        title=title,
        corpora=[(corpus, _describe(place)) for corpus, place in offer.corpora.items()],
        models=list(offer.models),
        pubmed="pubmed" in offer.corpora.values(),
        files=",".join(dict.fromkeys(suffix for _, form in SOURCES.usable() for suffix in form.suffixes)),
        examples=_examples() if "demo" in offer.corpora.values() else [],
        runs=[_listed(entry) for entry in service.runs.recent()] if name == "runs" else [],
    )


def login_page(failed: bool = False) -> str:
    """Render the login page."""
    parts = PageParts((CSS, (_OWN, "service.css")), (), asks=True)
    return rendered(_OWN, "login.html.j2", parts, None, title="VeriCite", failed=failed)


def view_of(run: StoredRun) -> dict[str, Any]:
    """Return a run in the form that the page's script shows; a repair also has its original answer."""
    views = [_view(item_of(run), _remark(run.answer, run.rationale if isinstance(run, Run) else None))]
    if isinstance(run, RepairedBody):
        views.append(_view(Item(run.original.id, run.original, run.before), ""))
    return {"title": title_of(run), "views": views}


def item_of(run: StoredRun) -> Item:
    """Convert a run to an item of a report."""
    if isinstance(run, Run):
        reasoned = run.rationale.checked if run.rationale else None
        return Item(run.question.id, run.answer, run.checked, changes=run.changes, reasoned=reasoned)
    changes = run.changes if isinstance(run, RepairedBody) else ()
    return Item(run.answer.id, run.answer, run.checked, changes=changes)


def report_of(run: StoredRun) -> str:
    """Render a run as a single HTML file."""
    report = make_report([System("answer", (item_of(run),))], Bootstrap(100, 0))
    return make_page(report, title_of(run)[:200]).html


def _view(item: Item, remark: str) -> dict[str, Any]:
    documents: dict[str, dict[str, Any]] = {}
    row = ShownAnswer(item.answer, documents).row(item)
    return {"answer": row | {"remark": remark}, "documents": documents}


def _remark(answer: Answer, reasoned: CheckedRationale | None) -> str:
    """Return remarks about the answer as a whole."""
    remarks: list[str] = []
    if answer.stance is not None:
        places = {document.id: f"[{place}]" for place, document in enumerate(answer.documents, 1)}
        for word, ids in (("yes", answer.stance.yes), ("no", answer.stance.no)):
            if ids:
                remarks.append(f"Says {word}: {' '.join(places.get(id, id) for id in ids)}.")
    if reasoned is not None:
        holding, judged = reasoned.faith
        remarks.append(f"{holding} of {judged} steps of the rationale are faithful to the sources.")
        if reasoned.verdict:
            remarks.append(f"The rationale as a whole: {reasoned.verdict}.")
    return " ".join(remarks)


def _listed(entry: RunEntry) -> dict[str, Any]:
    """Return an entry of the list of runs with a readable time."""
    when = datetime.fromtimestamp(entry.at, UTC).strftime("%Y-%m-%d %H:%M UTC")
    return entry.model_dump() | {"when": when}


def _describe(place: str) -> str:
    """Describe a corpus without revealing its path."""
    return {
        "demo": "150 made-up abstracts, to try it",
        "pubmed": "live search; your question is sent to NCBI",
    }.get(place, "documents on this service")


def _examples() -> list[str]:
    return [question.text for question in demo_questions()[:_EXAMPLES]]
