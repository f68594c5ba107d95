"""Web pages of the service: ask, check, runs, and a report of a run as a single file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any, Literal

from vericite.corpus import demo_questions
from vericite.corpus.manuscript.kind import ManuscriptKind
from vericite.corpus.manuscript.registry import MANUSCRIPTS
from vericite.corpus.sources.files import SourceFormat
from vericite.corpus.sources.registry import SOURCES
from vericite.errors import InputError
from vericite.evaluate.citation_rates import CitationRates
from vericite.evaluate.items import Item
from vericite.evaluate.resampling import Bootstrap
from vericite.evaluate.scoring import System
from vericite.records import Run
from vericite.reporting import written
from vericite.reporting.data import ShownAnswer, citation_table, make_report
from vericite.reporting.manuscript import manuscript_table
from vericite.reporting.page import ANSWER_SCRIPTS, COMPONENT_STYLES, PageParts, make_page, rendered
from vericite.reporting.run_lines import retracted_citations, rewriting_line
from vericite.reporting.words import Language, Wording, chosen_language
from vericite.serve.bodies import CheckedManuscript, RepairedBody
from vericite.serve.comparison import differing_sentences, report_of_two
from vericite.serve.cookies import cookie
from vericite.serve.run_items import item_of, original_of
from vericite.serve.run_store import RunEntry, StoredRun, title_of
from vericite.serve.service import Service
from vericite.text.counted import counted
from vericite.verify.protocol import precision_in

_DOCUMENTS: dict[str, Literal[".docx", ".md"]] = {"docx": ".docx", "md": ".md"}

PageName = Literal["ask", "check", "library", "runs", "run"]

_OWN = "vericite.serve"
_PARTS = PageParts(
    (COMPONENT_STYLES, (_OWN, "service.css")), (*ANSWER_SCRIPTS, (_OWN, "figures.js"), (_OWN, "service.js")), asks=True
)
_LIBRARY = replace(
    _PARTS, styles=(*_PARTS.styles, (_OWN, "library.css")), scripts=(*_PARTS.scripts, (_OWN, "library.js"))
)
_RUNS = replace(_PARTS, scripts=(*_PARTS.scripts, (_OWN, "runs.js")))
_COMPARE = replace(_PARTS, scripts=(*_PARTS.scripts, (_OWN, "compare.js")))
_OTHERS = {"library": _LIBRARY, "runs": _RUNS}
_EXAMPLES, _UNREAD = 3, 3
"""Questions to try, and markers that match no document to name."""
_LANGUAGE_COOKIE = "vericite-language"
"""Set by the page's script when the reader chooses a language."""
_TITLES: dict[PageName, str] = {
    "ask": "frame.ask",
    "check": "frame.check",
    "library": "frame.library",
    "runs": "frame.runs",
    "run": "frame.runs",
}
"""Keys of the headings."""


def language_of(headers: Mapping[str, str]) -> Language:
    """Return the language of the pages that a browser gets: the reader's choice, or the browser's."""
    return chosen_language(cookie(headers, _LANGUAGE_COOKIE), headers.get("accept-language", ""))


def page_of(
    service: Service,
    name: PageName,
    run: str | None = None,
    problem: str = "",
    language: Language = "en",
    words: str = "",
) -> str:
    """Render a page.

    Args:
        service: The service behind the page.
        name: Name of the page.
        run: Id of a run to show on it.
        problem: Error message to show.
        language: Language of the page.
        words: Words that the runs on it have.

    Raises:
        NoSuchRun: No stored run has this id.
    """
    offer = service.offer
    shelves = [shelf for shelf in service.library.shelves.all() if shelf.is_usable]
    shown = view_of(service.runs.get(run), language) | {"id": run} if run else None
    t = Wording(language)
    heading = shown["title"] if shown else t(_TITLES[name])
    demo = next((corpus for corpus, place in offer.corpora.items() if place == "demo"), None)
    return rendered(
        _OWN,
        f"{name}.html.j2",
        _OTHERS.get(name, _PARTS),
        {
            "page": name,
            "run": shown,
            "documents": offer.limits.documents,
            "upload": offer.limits.upload,
            "problem": problem,
        },
        language,
        name=name,
        title=f"{heading[:80]} · VeriCite",
        heading=heading,
        corpora=[(corpus, t(_described(place))) for corpus, place in offer.corpora.items()]
        + [(shelf.name, t("places.shelf", n=shelf.documents or 0)) for shelf in shelves],
        models=list(offer.models),
        pubmed="pubmed" in offer.corpora.values(),
        works=[
            (work, t(_REMOTE_WORKS.get(place) or _described(place)), place not in _REMOTE_WORKS)
            for work, place in service.library.works.items()
        ],
        manuscripts=_suffixes(MANUSCRIPTS.usable()),
        references=_suffixes((name, form) for name, form in SOURCES.usable() if form.entries),
        files=_suffixes(SOURCES.usable()),
        demo=demo,
        examples=_examples() if demo else [],
        runs=[_listed(entry) for entry in service.runs.recent(words=words)] if name == "runs" else [],
        searched=words,
    )


def login_page(language: Language = "en", failed: bool = False) -> str:
    """Render the login page."""
    parts = PageParts((COMPONENT_STYLES, (_OWN, "service.css")), (), asks=True)
    return rendered(_OWN, "login.html.j2", parts, None, language, title="VeriCite", failed=failed)


def view_of(run: StoredRun, language: Language = "en") -> dict[str, Any]:
    """Return a run in the form that the page's script shows; a repair also has its original answer."""
    views = [_view(item_of(run), _remark(run))]
    for hit in run.evidence if isinstance(run, Run) else ():
        if hit.stage is not None and (document := views[0]["documents"].get(hit.document.id)):
            document["stage"] = hit.stage
    if isinstance(run, RepairedBody):
        views.append(_view(original_of(run), ""))
    shown: dict[str, Any] = {
        "title": title_of(run),
        "views": views,
        "figures": _figures(run, Wording(language)),
        "made": _made(run),
    }
    if isinstance(run, CheckedManuscript):
        views[0]["answer"]["manuscript"]["notes"] = run.findings.notes
        shown["copy"] = run.copy_suffix
    return shown


def report_of(run: StoredRun, language: Language = "en", other: StoredRun | None = None) -> str:
    """Render a run, or two runs side by side, as a single HTML file."""
    if other is not None:
        title = " / ".join(dict.fromkeys(title_of(each)[:100] for each in (run, other)))
        names = (Wording(language)("compare.first"), Wording(language)("compare.second"))
        return make_page(report_of_two(run, other, names), title, language=language).html
    report = make_report([System("answer", (item_of(run),))], Bootstrap(100, 0))
    if isinstance(run, RepairedBody):
        report.answers[0]["earlier"] = _view(original_of(run), "")["answer"]
    return make_page(report, title_of(run)[:200], language=language).html


def table_of(run: StoredRun) -> str:
    """Return a run as a table in CSV."""
    if isinstance(run, CheckedManuscript):
        return manuscript_table(run.check)
    return citation_table([System("answer", (item_of(run),))])


def document_of(run: StoredRun, form: str) -> tuple[bytes, str]:
    """Return an answer as a Word document (``docx``) or as Markdown (``md``), and the ending of its file.

    Raises:
        InputError: The form is another, or the run is that of a manuscript.
    """
    ending = _DOCUMENTS.get(form)
    if ending is None:
        raise InputError(f"expected docx or md as the form of a document; found {form[:20]!r}")
    if isinstance(run, CheckedManuscript):
        raise InputError(
            "expected the run of an answer; found that of a manuscript. Its copy with comments is at /v1/runs/ID/copy"
        )
    if not isinstance(run, Run):
        changes = run.changes if isinstance(run, RepairedBody) else ()
        run = written.as_run(run.answer, run.checked, changes, title_of(run))
    return written.document_of(run, ending), ending


def _view(item: Item, remark: str) -> dict[str, Any]:
    documents: dict[str, dict[str, Any]] = {}
    row = ShownAnswer(item.answer, documents).row(item)
    return {"answer": row | {"remark": remark}, "documents": documents}


def _figures(run: StoredRun, t: Wording) -> list[dict[str, Any]]:
    """Return the shares of outcomes with their intervals, without outcomes that no citation has.

    Quotations hold by construction: their share has no interval, and an answer of nothing else has no shares.
    """
    rates = CitationRates()
    rates.add(run.checked)
    summary = run.checked.summary
    if summary.quoted and not (summary.cases or summary.dangling or summary.uncited):
        return []
    return [
        asdict(rate)
        | {"name": t.known("rates.", name), "of": t.known("rates.of-", CitationRates.denominator(name))}
        | ({"low": None, "high": None} if name == "quoted" else {})
        for name in rates.names
        if (rate := rates[name]).value is not None and (rate.count != 0 or name == "supported")
    ]


def _made(run: StoredRun) -> dict[str, Any]:
    """Return how a run was made: the time of each stage, the calls of language models, and what precision cost."""
    precision = precision_in(run.checked.provenance.protocol or "")
    return {
        "seconds": dict(run.seconds) if isinstance(run, Run) else {},
        "calls": None if run.calls is None else run.calls.model_dump(),
        "precision": precision,
        "unsure": run.checked.unsure,
        "of": run.checked.unsure + run.checked.summary.supported,
    }


def _remark(run: StoredRun) -> str:
    """Return remarks about a run as a whole: citations of retracted articles, its rationale, and a second search."""
    remarks: list[str] = []
    if run.checked.summary.retracted:
        remarks.append(f"{retracted_citations(run.checked.summary)}.")
    if run.checked.unread:
        markers = ", ".join(marker[:40] for marker in run.checked.unread[:_UNREAD])
        remarks.append(f"{counted(len(run.checked.unread), 'marker')} not read: {markers}. No known document matches.")
    remarks += [f"{assumed[:1].upper()}{assumed[1:]}." for assumed in run.checked.assumed]
    if not isinstance(run, Run):
        return " ".join(remarks)
    if run.rewriting is not None and (run.rewriting.kept or run.rewriting.failed):
        remarks.append(rewriting_line(run.rewriting))
    if (reasoned := run.rationale) is not None:
        holding, judged = reasoned.faith
        remarks.append(f"{holding} of {judged} steps of the rationale are faithful to the sources.")
        if reasoned.verdict:
            remarks.append(f"The rationale as a whole: {reasoned.verdict}.")
    return " ".join(remarks)


def _listed(entry: RunEntry) -> dict[str, Any]:
    """Return an entry of the list of runs with its time, as text and for the script, which knows the reader's zone."""
    made = datetime.fromtimestamp(entry.at, UTC)
    return entry.model_dump() | {
        "when": made.strftime("%Y-%m-%d %H:%M UTC"),
        "time": made.isoformat(timespec="seconds"),
    }


def comparison_page(service: Service, ids: Sequence[str], language: Language = "en") -> str:
    """Render the page that shows two runs side by side.

    Raises:
        NoSuchRun: One of them is not stored.
        InputError: There are not two.
    """
    if len(ids) != 2:
        raise InputError(f"expected two runs to compare; found {len(ids)}")
    runs = [service.runs.get(id) for id in ids]
    t = Wording(language)
    listed = [_listed(service.runs.entry(id)) for id in ids]
    entries = [entry | {"done": t(f"runs.{entry['kind']}")} for entry in listed]
    report = report_of_two(runs[0], runs[1], ("first", "second"))
    first, second = report.answers
    compared = report.values | {"runs": entries, "differing": differing_sentences(first, second)}
    heading = t("compare.title")
    return rendered(
        _OWN,
        "compare.html.j2",
        _COMPARE,
        {"page": "compare", "problem": "", "compared": compared},
        language,
        name="runs",
        title=f"{heading} · VeriCite",
        ids=ids,
    )


_REMOTE_WORKS = {"pubmed": "places.works-pubmed", "crossref": "places.works-crossref", "pmc": "places.works-pmc"}
_CORPORA = {"demo": "places.demo", "pubmed": "places.pubmed"}


def _suffixes(forms: Iterable[tuple[str, SourceFormat | ManuscriptKind]]) -> str:
    """Return the suffixes of files of these forms, for a field of files."""
    return ",".join(dict.fromkeys(suffix for _, form in forms for suffix in form.suffixes))


def _described(place: str) -> str:
    """Return the key of a corpus's description, which does not reveal its path."""
    return _CORPORA.get(place, "places.here")


def _examples() -> list[str]:
    return [question.text for question in demo_questions()[:_EXAMPLES]]
