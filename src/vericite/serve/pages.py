"""The service's page for people: to ask, to check, and to look at runs; and a run as a file of its own."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal

from vericite.corpus import demo_questions
from vericite.evaluate.items import Item
from vericite.evaluate.resampling import Bootstrap
from vericite.evaluate.scoring import System
from vericite.records import Answer, CheckedRationale, Run
from vericite.reporting.data import ShownAnswer, make_report
from vericite.reporting.page import ANSWER, CSS, ELEMENTS, PageParts, make_page, rendered
from vericite.serve.bodies import RepairedBody
from vericite.serve.kept import Keepable, RunEntry, title_of
from vericite.serve.service import Service

PageName = Literal["ask", "check", "runs", "run"]

_OWN = "vericite.serve"
_PARTS = PageParts((CSS, (_OWN, "service.css")), (ELEMENTS, ANSWER, (_OWN, "service.js")), asks=True)
_TITLES = {"ask": "Ask", "check": "Check", "runs": "Runs", "run": "Run"}
_FILES = ".pdf,.docx,.md,.txt,.xml,.nxml,.jsonl,.csv,.ris,.nbib"
_EXAMPLES = 3


def page_of(service: Service, name: PageName, run: str | None = None, problem: str = "") -> str:
    """A page.

    Args:
        service: What it asks.
        name: Which.
        run: A run that it shows from the start.
        problem: What it says in place of one.

    Raises:
        NoSuchRun: There is none of this id.
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
        corpora=[(it, _place(place)) for it, place in offer.corpora.items()],
        models=list(offer.models),
        pubmed="pubmed" in offer.corpora.values(),
        files=_FILES,
        examples=_examples() if "demo" in offer.corpora.values() else [],
        runs=[_listed(entry) for entry in service.runs.recent()] if name == "runs" else [],
    )


def login_page(failed: bool = False) -> str:
    """The page that asks for the token."""
    parts = PageParts((CSS, (_OWN, "service.css")), (), asks=True)
    return rendered(_OWN, "login.html.j2", parts, None, title="VeriCite", failed=failed)


def view_of(run: Keepable) -> dict[str, Any]:
    """A run as the script of a page shows it: its answer, and of a repaired one the answer before too."""
    views = [_view(item_of(run), _remark(run.answer, run.rationale if isinstance(run, Run) else None))]
    if isinstance(run, RepairedBody):
        views.append(_view(Item(run.original.id, run.original, run.before), ""))
    return {"title": title_of(run), "views": views}


def item_of(run: Keepable) -> Item:
    """A run as a report takes it."""
    if isinstance(run, Run):
        reasoned = run.rationale.checked if run.rationale else None
        return Item(run.question.id, run.answer, run.checked, changes=run.changes, reasoned=reasoned)
    changes = run.changes if isinstance(run, RepairedBody) else ()
    return Item(run.answer.id, run.answer, run.checked, changes=changes)


def report_of(run: Keepable) -> str:
    """A run as a page of its own."""
    report = make_report([System("answer", (item_of(run),))], Bootstrap(100, 0))
    return make_page(report, title_of(run)[:200]).html


def _view(item: Item, remark: str) -> dict[str, Any]:
    documents: dict[str, dict[str, Any]] = {}
    row = ShownAnswer(item.answer, documents).row(item)
    return {"answer": row | {"remark": remark}, "documents": documents}


def _remark(answer: Answer, reasoned: CheckedRationale | None) -> str:
    """What is said of an answer as a whole."""
    said: list[str] = []
    if answer.stance is not None:
        places = {document.id: f"[{place}]" for place, document in enumerate(answer.documents, 1)}
        for word, ids in (("yes", answer.stance.yes), ("no", answer.stance.no)):
            if ids:
                said.append(f"Says {word}: {' '.join(places.get(id, id) for id in ids)}.")
    if reasoned is not None:
        holding, judged = reasoned.faith
        said.append(f"Of {judged} steps of the rationale {holding} are faithful to the sources.")
        if reasoned.verdict:
            said.append(f"The rationale as a whole: {reasoned.verdict}.")
    return " ".join(said)


def _listed(entry: RunEntry) -> dict[str, Any]:
    """An entry of the list of runs, as it is printed."""
    when = datetime.fromtimestamp(entry.at, UTC).strftime("%Y-%m-%d %H:%M UTC")
    return entry.model_dump() | {"when": when}


def _place(place: str) -> str:
    """Where documents are, in words that say no path."""
    return {
        "demo": "150 abstracts made up to try it",
        "pubmed": "live; your question is sent to NCBI",
    }.get(place, "documents of this service")


def _examples() -> list[str]:
    return [question.text for question in demo_questions()[:_EXAMPLES]]
