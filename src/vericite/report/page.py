"""A report as one HTML file that opens from disk and asks for nothing.

Texts of answers and sources are hostile. They enter the page in one place, as JSON whose ``<`` are escaped, and its
script shows them through ``textContent`` alone. What the template itself prints is escaped by Jinja. The page's policy
allows only its own style and script, by their hashes, and no request at all.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import Any

from vericite.disk.files import Replacing
from vericite.errors import InputError
from vericite.report.data import Report
from vericite.report.plots import Plot, make_plots

LARGEST = 15_000_000
"""Bytes of a page from which its data are better kept in a file of their own."""


@dataclass(frozen=True)
class Page:
    """A page's text, and the data that lie beside it where they are not in it."""

    html: str
    data: str | None = None

    @property
    def size(self) -> int:
        """Bytes."""
        return len(self.html.encode("utf-8", "replace")) + len((self.data or "").encode("utf-8", "replace"))


def make_page(report: Report, title: str, external_data: bool = False) -> Page:
    """The page of a report.

    Args:
        report: What it shows.
        title: Its heading.
        external_data: Whether the data come as ``data.js`` beside the page.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    css, script = _part("page.css"), _part("page.js")
    values = as_json(report.values)
    plots, missing = make_plots(report)
    names = list(dict.fromkeys(name for system in report.systems for name in system.rates))
    environment = Environment(
        loader=PackageLoader("vericite.report", "page"), autoescape=True, undefined=StrictUndefined
    )
    html = environment.get_template("page.html.j2").render(
        title=title,
        policy=policy(css, script, external_data),
        css=Markup(css),
        script=Markup(script),
        data=Markup("null" if external_data else values),
        external=external_data,
        names=names,
        systems=report.systems,
        comparisons=report.comparisons,
        people=report.people,
        plots=[{"source": _as_image(plot), "caption": plot.caption} for plot in plots],
        missing=missing,
    )
    return Page(html, f"window.REPORT = {values};\n" if external_data else None)


def write_page(page: Page, out: Path) -> None:
    """Write the page; with data of its own ``out`` is a folder.

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
        raise InputError(f"expected {out} to be a place that can be written; found: {error.strerror}") from None


def _write(path: Path, text: str) -> None:
    file = Replacing(path)
    try:
        file.write([text])
        file.done()
    except OSError:
        file.leave()
        raise


def _part(name: str) -> str:
    return resources.files("vericite.report").joinpath("page", name).read_text(encoding="utf-8")


def as_json(values: dict[str, Any]) -> str:
    """JSON that cannot end the element it stands in, nor begin another."""
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def policy(css: str, script: str, external: bool = False, saves: bool = False) -> str:
    """What a page may do: its own style and script, by their hashes.

    Args:
        css: Its style.
        script: Its script.
        external: Whether it reads a script beside it.
        saves: Whether it may ask the server that it came from.
    """
    own = f"'{_hash(script)}'" + (" 'self' file:" if external else "")
    return (
        f"default-src 'none'; style-src '{_hash(css)}'; script-src {own}; img-src data:; base-uri 'none'; "
        "form-action 'none'" + ("; connect-src 'self'" if saves else "")
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}"


def _as_image(plot: Plot) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(plot.svg.encode()).decode()}"
