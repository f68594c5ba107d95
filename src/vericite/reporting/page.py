"""A report as one HTML file that opens from disk and makes no requests.

Texts of answers and sources are hostile. They enter the page in one place, as JSON with escaped ``<``, and its script
shows them only through ``textContent``. Values printed by the template are escaped by Jinja. The page's security policy
allows its own style and script, by their hashes, and no requests at all.

Plots show rates by system, by type of question and by number of sources. Vega-Lite draws them.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vericite.disk.files import Replacing
from vericite.errors import InputError
from vericite.evaluate.citation_rates import CitationRates
from vericite.records import RateTally
from vericite.reporting.data import Report
from vericite.reporting.words import LANGUAGES, Language, Wording

if TYPE_CHECKING:
    from jinja2 import Environment, Template

MISSING = "Plots need the extra [report]. Install it: pip install 'vericite[report]'"
_FEWEST = 2
"""Minimum number of points in a plot."""


@dataclass(frozen=True)
class Plot:
    """A picture with a caption that can replace it."""

    svg: str
    caption: str


def make_plots(report: Report) -> tuple[list[Plot], str]:
    """Return the plots that the answers allow, and a note if an extra is missing."""
    charts = [chart for chart in _charts(report) if chart is not None]
    if not charts:
        return [], ""
    try:
        import vl_convert
    except ModuleNotFoundError:
        return [], MISSING
    return [Plot(_themed(vl_convert.vegalite_to_svg(spec)), caption) for spec, caption in charts], ""


def _themed(svg: str) -> str:
    """Return a plot with light words and lines where the reader's colours are dark."""
    return svg.replace(">", f"><style>{_DARK}</style>", 1)


_DARK = (
    "@media screen and (prefers-color-scheme: dark) {"
    "text { fill: #cdd5df } .role-axis-grid line { stroke: #343d49 }"
    ".role-axis-tick line, .role-axis-domain line { stroke: #7d8896 } }"
)


def _charts(report: Report) -> list[tuple[dict[str, Any], str] | None]:
    return [
        _by(report, "type of question", lambda answer: answer["type"]),
        _by(report, "number of sources", lambda answer: str(len(answer["sources"]) or "")),
        _surest(report),
        _by_people(report, "risk"),
        _by_people(report, "precision"),
        _reliability(report),
    ]


def _by(report: Report, name: str, group_of: Callable[[dict[str, Any]], str]) -> tuple[dict[str, Any], str] | None:
    """Return the share of supported citations by a property of answers."""
    tallies: dict[tuple[str, str], RateTally] = {}
    for answer in report.answers:
        group = group_of(answer)
        judged = [v["kind"] for claim in answer["claims"] for v in claim["verdicts"]]
        n = sum(kind in ("supported", "contradicted", "irrelevant") for kind in judged)
        if group and n:
            system = report.systems[int(answer["system"])].name
            tallies.setdefault((system, group), RateTally()).add(judged.count("supported"), n)
    if len({group for _, group in tallies}) < _FEWEST:
        return None
    rows: list[dict[str, Any]] = [
        {
            "system": system,
            "group": group,
            "rate": tally.rate.value,
            "low": tally.rate.low,
            "high": tally.rate.high,
            "n": tally.n,
        }
        for (system, group), tally in tallies.items()
    ]
    words = "; ".join(f"{row['system']}, {row['group']}: {row['rate']:.2f} (n {row['n']})" for row in rows[:12])
    groups = sorted({group for _, group in tallies}, key=lambda group: (group.isdigit(), group.zfill(9)))
    names = [system.name for system in report.systems]
    shared: dict[str, Any] = {
        "x": {"field": "group", "type": "ordinal", "title": name, "sort": groups},
        "xOffset": {"field": "system", "sort": names},
        "color": _colour(names),
    }
    low = {"field": "low", "type": "quantitative", "title": "supported", "scale": {"domain": [0, 1]}}
    rate = {"field": "rate", "type": "quantitative"}
    points = {**shared, "y": rate}
    spec: dict[str, Any] = {
        **_base(rows, f"Supported citations by {name}, with 95 % intervals"),
        "width": {"step": max(28, 280 // (len(groups) * len(names)))},
        "layer": [
            {
                "mark": "rule",
                "encoding": {**shared, "y": low, "y2": {"field": "high"}},
            },
            {"mark": {"type": "point", "filled": True, "size": 60, "opacity": 1}, "encoding": points},
        ],
    }
    return spec, f"Share of judged citations that are supported, by {name}. {words}"


def _surest(report: Report) -> tuple[dict[str, Any], str] | None:
    """Return the share of supported citations above each probability of the verdict."""
    rows: list[dict[str, Any]] = []
    for number, system in enumerate(report.systems):
        sure = sorted(
            (
                (max(verdict["p"].values()), verdict["kind"] == "supported")
                for answer in report.answers
                if answer["system"] == number
                for claim in answer["claims"]
                for verdict in claim["verdicts"]
                if verdict.get("p") and verdict["kind"] in ("supported", "contradicted", "irrelevant")
            ),
            reverse=True,
        )
        supported = 0
        for place, (_, is_supported) in enumerate(sure, start=1):
            supported += is_supported
            if place >= _STEADY and (place % max(1, len(sure) // 60) == 0 or place == len(sure)):
                rows.append({"system": system.name, "coverage": place / len(sure), "supported": supported / place})
    if len(rows) < _FEWEST:
        return None
    sides = (("coverage", "share of citations, most certain first"), ("supported", "supported"))
    spec = _line(rows, "Supported citations among the most certain verdicts", *sides)
    return spec, "Share supported among the citations with the most certain verdicts, from few to all."


_PEOPLE = {
    "risk": (
        "Risk against coverage, by people's labels",
        "verdicts that people disagree with",
        "Share of verdicts that people disagree with, among the most certain ones, from few to all",
    ),
    "precision": (
        "Precision against coverage, by people's labels",
        "supported verdicts that people agree with",
        "Share of supported verdicts that people agree with, among the most certain ones, from few to all",
    ),
}


def _by_people(report: Report, what: str) -> tuple[dict[str, Any], str] | None:
    """Return how often people agree with the judge, above each probability of the verdict."""
    title, axis, words = _PEOPLE[what]
    rows: list[dict[str, Any]] = []
    ends: list[str] = []
    for system in report.people:
        points = [
            (verdict.sure, verdict.weight, verdict.weight * (1 - verdict.same if what == "risk" else verdict.same))
            for verdict in system.verdicts
            if verdict.sure is not None and (what == "risk" or verdict.verdict == "supported")
        ]
        points.sort(key=lambda point: -point[0])
        whole = sum(weight for _, weight, _ in points)
        seen = counted = 0.0
        for place, (_, weight, count) in enumerate(points, start=1):
            seen, counted = seen + weight, counted + count
            if place >= _STEADY and (place % max(1, len(points) // 60) == 0 or place == len(points)):
                rows.append({"system": system.name, "coverage": seen / whole, "share": counted / seen})
        if len(points) >= _STEADY:
            ends.append(f"{system.name}: {counted / seen:.2f} of all (n {len(points)})")
    if len(rows) < _FEWEST:
        return None
    return _line(rows, title, ("coverage", "share of verdicts, most certain first"), ("share", axis)), (
        f"{words}. {'; '.join(ends)}"
    )


def _reliability(report: Report) -> tuple[dict[str, Any], str] | None:
    """Return how often people find a sentence supported, by the judge's probability of support."""
    rows: list[dict[str, Any]] = []
    for system in report.people:
        points = sorted(
            (
                (verdict.supported, verdict.weight, verdict.people)
                for verdict in system.verdicts
                if verdict.supported is not None
            ),
            key=lambda point: point[0],
        )
        bins = min(_BINS, len(points) // _STEADY)
        for number in range(bins):
            part = points[number * len(points) // bins : (number + 1) * len(points) // bins]
            whole = sum(weight for _, weight, _ in part)
            rows.append(
                {
                    "system": system.name,
                    "judge": sum(p * weight for p, weight, _ in part) / whole,
                    "people": sum(found * weight for _, weight, found in part) / whole,
                    "n": len(part),
                }
            )
    if len(rows) < _FEWEST:
        return None
    words = "; ".join(f"{row['system']}, {row['judge']:.2f}: {row['people']:.2f} (n {row['n']})" for row in rows[:12])
    spec = _line(rows, "Reliability", ("judge", "probability that it is supported"), ("people", "supported by people"))
    spec["mark"] = {"type": "line", "point": True}
    return (
        spec,
        f"Share that people find supported, by the judge's probability, in bins of equal size. {words}",
    )


_BINS = 8


def _line(rows: list[dict[str, Any]], title: str, x: tuple[str, str], y: tuple[str, str]) -> dict[str, Any]:
    """Return a chart with a line for each system between 0 and 1; each axis has a field and a title."""
    whole = {"domain": [0, 1]}
    sides = {
        side: {"field": field, "type": "quantitative", "title": name, "scale": whole}
        for side, (field, name) in (("x", x), ("y", y))
    }
    return {
        **_base(rows, title),
        "width": 320,
        "mark": {"type": "line"},
        "encoding": {**sides, "color": _colour(str(row["system"]) for row in rows)},
    }


_STEADY = 10
"""Minimum number of citations for a share to be drawn."""
_COLOURS = ["#2f7fd1", "#d9661f", "#1f9d6b", "#b565a7", "#8a8f98", "#b58900"]
"""Colours of systems, which can be told apart on white and on black, also by people who confuse red and green."""


def _colour(systems: Iterable[str]) -> dict[str, Any]:
    """Return the colour of each system, in their order, with one legend if there are several."""
    names = list(dict.fromkeys(systems))
    legend = {"title": None, "orient": "top", "columns": 3, "labelLimit": 120} if len(names) > 1 else None
    scale = {"domain": names, "range": _COLOURS}
    return {"field": "system", "type": "nominal", "scale": scale, "legend": legend}


def _base(rows: list[dict[str, Any]], title: str) -> dict[str, Any]:
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": {"text": title, "anchor": "start", "fontSize": 13},
        "data": {"values": rows},
        "height": 220,
        "background": None,
        "config": {
            "view": {"stroke": None},
            "font": "sans-serif",
            "axis": {"labelAngle": 0, "titleFontWeight": "normal"},
        },
    }


_OWN = "vericite.reporting"
ELEMENTS = (_OWN, "elements.js")
"""The script that creates elements. Every page has it."""
ANSWER_SCRIPTS = (
    ELEMENTS,
    (_OWN, "words.js"),
    (_OWN, "components.js"),
    (_OWN, "answer.js"),
    (_OWN, "repair.js"),
    (_OWN, "manuscript.js"),
)
"""The scripts of pages that show answers: elements, components, and the views of an answer and a manuscript."""
COMPONENT_STYLES = (_OWN, "components.css")
"""Colours and sizes for light, dark and print, and the styles of all components."""

LARGEST = 15_000_000
"""Size of a page in bytes from which its data should be in a separate file."""


@dataclass(frozen=True)
class Page:
    """A page's text, its data if they are in a separate file, and a remark for the person who makes it.

    The remark says that plots are left out because an extra is missing.
    """

    html: str
    data: str | None = None
    remark: str = ""

    @property
    def size(self) -> int:
        """Size in bytes."""
        return len(self.html.encode("utf-8", "replace")) + len((self.data or "").encode("utf-8", "replace"))


def make_page(report: Report, title: str, external_data: bool = False, language: Language = "en") -> Page:
    """Return the page of a report.

    Args:
        report: The report.
        title: The heading.
        external_data: Whether the data are in ``data.js`` next to the page.
        language: The language of its words.
    """
    plots, missing = make_plots(report)
    html = rendered(
        "vericite.reporting",
        "page.html.j2",
        PageParts(
            (COMPONENT_STYLES, (_OWN, "page.css")),
            (*ANSWER_SCRIPTS, (_OWN, "review.js"), (_OWN, "page.js")),
            external=external_data,
        ),
        None if external_data else report.values,
        language,
        title=title,
        external=external_data,
        single=len(report.answers) == 1,
        answer="page.manuscript" if any("manuscript" in row for row in report.answers) else "page.answer",
        rows=_rows(report, Wording(language)),
        systems=report.systems,
        made=_made(report),
        comparisons=report.comparisons,
        people=report.people,
        plots=[{"source": _as_image(plot), "caption": plot.caption} for plot in plots],
    )
    return Page(html, f"window.REPORT = {as_json(report.values)};\n" if external_data else None, missing)


def _rows(report: Report, t: Wording) -> list[dict[str, Any]]:
    """Return the rows of the table of figures, without outcomes that no answer has."""
    names = dict.fromkeys(name for system in report.systems for name in system.rates)
    rows: list[dict[str, Any]] = []
    for name in names:
        rates = [system.rates.get(name) for system in report.systems]
        if (
            any(rate is not None and rate.count != 0 and rate.value is not None for rate in rates)
            or name == "supported"
        ):
            of = CitationRates.denominator(name)
            rows.append({"name": t.known("rates.", name), "of": t.known("rates.of-", of), "rates": rates})
    return rows


def _made(report: Report) -> list[tuple[list[str], list[dict[str, str]]]]:
    """Return what made the figures, once for all systems for which it is the same."""
    made: list[tuple[list[str], list[dict[str, str]]]] = []
    for system in report.systems:
        names = next((names for names, parts in made if parts == system.signatures), None)
        if names is None:
            made.append(([system.name], system.signatures))
        else:
            names.append(system.name)
    return made


@dataclass(frozen=True)
class PageParts:
    """The parts of a page and its permissions.

    Attributes:
        styles: Its style sheets, as a package and a file in that package's ``page`` folder.
        scripts: Its scripts, in order.
        external: Whether it reads a script file next to it.
        asks: Whether it may send requests to its own server.
    """

    styles: tuple[tuple[str, str], ...]
    scripts: tuple[tuple[str, str], ...]
    external: bool = False
    asks: bool = False


def rendered(package: str, template: str, parts: PageParts, data: Any, language: Language = "en", **values: Any) -> str:
    """Render a page from a template in a package's folder ``page``; it may extend the template here.

    Args:
        package: The template's package.
        template: The template's file.
        parts: Styles and scripts to include.
        data: The data that its script reads.
        language: The language of its words.
        values: The values that the template prints.
    """
    from markupsafe import Markup

    words = Wording(language)
    css, script = ("".join(_part(*part) for part in named) for named in (parts.styles, parts.scripts))
    return (
        _environment(package)
        .get_template(template)
        .render(
            values,
            policy=policy(css, script, parts),
            css=Markup(css),
            script=Markup(script),
            data=Markup(as_json(data)),
            language=language,
            languages=LANGUAGES,
            t=words,
            words=Markup(as_json(words.of(name.removesuffix(".js") for _, name in parts.scripts))),
        )
    )


def template(name: str) -> Template:
    """Return a template of reports; it escapes the values that it prints."""
    return _environment(_OWN).get_template(name)


def page_part(name: str) -> str:
    """Return the text of a style sheet or a script of reports."""
    return _part(_OWN, name)


@lru_cache
def _environment(package: str) -> Environment:
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    loader = ChoiceLoader([PackageLoader(name, "page") for name in dict.fromkeys((package, _OWN))])
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)


def write_page(page: Page, out: Path) -> None:
    """Write the page. If its data are separate, ``out`` is a folder.

    Raises:
        InputError: It cannot be written.
    """
    try:
        if page.data is None:
            _write(out, page.html)
            return
        out.mkdir(parents=True, exist_ok=True)
        _write(out / "index.html", page.html)
        _write(out / "data.js", page.data)
    except OSError as error:
        raise InputError(f"expected a writable path; found {out}: {error.strerror}") from None


def _write(path: Path, text: str) -> None:
    file = Replacing(path)
    try:
        file.write([text])
        file.done()
    except OSError:
        file.leave()
        raise


@lru_cache
def _part(package: str, name: str) -> str:
    return resources.files(package).joinpath("page", name).read_text(encoding="utf-8")


def as_json(values: Any) -> str:
    """Return JSON that cannot end its element or begin another."""
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def policy(css: str, script: str, parts: PageParts) -> str:
    """Return the content security policy: the page's own style and script, by hash, and what its parts need."""
    own = f"'{_hash(script)}'" + (" 'self' file:" if parts.external else "")
    return f"default-src 'none'; style-src '{_hash(css)}'; script-src {own}; img-src data:; base-uri 'none'; " + (
        "form-action 'self'; connect-src 'self'" if parts.asks else "form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}"


def _as_image(plot: Plot) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(plot.svg.encode()).decode()}"
