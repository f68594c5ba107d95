"""A report as one HTML file that opens from disk and makes no requests.

Texts of answers and sources are hostile. They enter the page in one place, as JSON with escaped ``<``, and its script
shows them only through ``textContent``. Values printed by the template are escaped by Jinja. The page's security policy
allows its own style and script, by their hashes, and no requests at all.

Plots show rates by system, by type of question and by number of sources. Vega-Lite draws them.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import Any

from vericite.disk.files import Replacing
from vericite.errors import InputError
from vericite.records import RateTally
from vericite.reporting.data import Report

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
    return [Plot(vl_convert.vegalite_to_svg(spec), caption) for spec, caption in charts], ""


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
    words = "; ".join(f"{row['system']}, {row['group']}: {row['rate']:.3f} (n {row['n']})" for row in rows[:12])
    groups = sorted({group for _, group in tallies}, key=lambda group: (group.isdigit(), group.zfill(9)))
    shared: dict[str, Any] = {
        "x": {"field": "group", "type": "ordinal", "title": name, "sort": groups},
        "xOffset": {"field": "system"},
        "color": _COLOUR,
    }
    low = {"field": "low", "type": "quantitative", "title": "supported", "scale": {"domain": [0, 1]}}
    rate = {"field": "rate", "type": "quantitative"}
    points = {**shared, "shape": {"field": "system", "type": "nominal"}, "y": rate}
    spec: dict[str, Any] = {
        **_base(rows, f"Supported citations by {name}, with 95 % intervals"),
        "width": {"step": 28},
        "layer": [
            {"mark": "rule", "encoding": {**shared, "y": low, "y2": {"field": "high"}}},
            {"mark": {"type": "point", "filled": True, "size": 60}, "encoding": points},
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
            ends.append(f"{system.name}: {counted / seen:.3f} of all (n {len(points)})")
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
        "encoding": {**sides, "color": _COLOUR, "strokeDash": {"field": "system", "type": "nominal"}},
    }


_STEADY = 10
"""Minimum number of citations for a share to be drawn."""
_COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000"]
_COLOUR: dict[str, Any] = {"field": "system", "type": "nominal", "scale": {"range": _COLOURS}}


def _base(rows: list[dict[str, Any]], title: str) -> dict[str, Any]:
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": {"text": title, "anchor": "start", "fontSize": 13},
        "data": {"values": rows},
        "height": 220,
        "background": "white",
    }


_OWN = "vericite.reporting"
CSS, ELEMENTS, ANSWER = (_OWN, "page.css"), (_OWN, "elements.js"), (_OWN, "answer.js")
"""Shared with other pages: styles, creation of elements, and the view of an answer."""

LARGEST = 15_000_000
"""Size of a page in bytes from which its data should be in a separate file."""


@dataclass(frozen=True)
class Page:
    """A page's text, and its data if they are in a separate file."""

    html: str
    data: str | None = None

    @property
    def size(self) -> int:
        """Size in bytes."""
        return len(self.html.encode("utf-8", "replace")) + len((self.data or "").encode("utf-8", "replace"))


def make_page(report: Report, title: str, external_data: bool = False) -> Page:
    """Return the page of a report.

    Args:
        report: The report.
        title: The heading.
        external_data: Whether the data are in ``data.js`` next to the page.
    """
    plots, missing = make_plots(report)
    names = list(dict.fromkeys(name for system in report.systems for name in system.rates))
    html = rendered(
        "vericite.reporting",
        "page.html.j2",
        PageParts((CSS,), (ELEMENTS, ANSWER, (_OWN, "page.js")), external=external_data),
        None if external_data else report.values,
        title=title,
        external=external_data,
        names=names,
        systems=report.systems,
        comparisons=report.comparisons,
        people=report.people,
        plots=[{"source": _as_image(plot), "caption": plot.caption} for plot in plots],
        missing=missing,
    )
    return Page(html, f"window.REPORT = {as_json(report.values)};\n" if external_data else None)


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


def rendered(package: str, template: str, parts: PageParts, data: Any, **values: Any) -> str:
    """Render a page from a template in a package's folder ``page``; it may extend the template here.

    Args:
        package: The template's package.
        template: The template's file.
        parts: Styles and scripts to include.
        data: The data that its script reads.
        values: The values that the template prints.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    loader = ChoiceLoader([PackageLoader(name, "page") for name in dict.fromkeys((package, _OWN))])
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    css, script = ("".join(_part(*part) for part in named) for named in (parts.styles, parts.scripts))
    return environment.get_template(template).render(
        values,
        policy=policy(css, script, parts),
        css=Markup(css),
        script=Markup(script),
        data=Markup(as_json(data)),
    )


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
