"""A report as one HTML file that opens from disk and asks for nothing.

Texts of answers and sources are hostile. They enter the page in one place, as JSON whose ``<`` are escaped, and its
script shows them through ``textContent`` alone. What the template itself prints is escaped by Jinja. The page's policy
allows only its own style and script, by their hashes, and no request at all.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import Any

from vericite.disk.files import Replacing
from vericite.errors import InputError
from vericite.report.data import Report
from vericite.report.plots import Plot, make_plots

_OWN = "vericite.report"
CSS, ELEMENTS, ANSWER = (_OWN, "page.css"), (_OWN, "elements.js"), (_OWN, "answer.js")
"""What other pages share: styles, the making of elements, and the view of an answer."""

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
    plots, missing = make_plots(report)
    names = list(dict.fromkeys(name for system in report.systems for name in system.rates))
    html = rendered(
        "vericite.report",
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
    """What a page is put together from, and what it may do.

    Attributes:
        styles: Its styles, as packages and files in their folder ``page``.
        scripts: Its scripts, in this order.
        external: Whether it reads a script beside it.
        asks: Whether it may ask the server that it came from.
    """

    styles: tuple[tuple[str, str], ...]
    scripts: tuple[tuple[str, str], ...]
    external: bool = False
    asks: bool = False


def rendered(package: str, template: str, parts: PageParts, data: Any, **values: Any) -> str:
    """A page by a template in the folder ``page`` of a package, which may extend the one here.

    Args:
        package: Whose template it is.
        template: Its file.
        parts: Styles and scripts, which are put into the page.
        data: What its script reads.
        values: What the template prints.
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


@lru_cache
def _part(package: str, name: str) -> str:
    return resources.files(package).joinpath("page", name).read_text(encoding="utf-8")


def as_json(values: Any) -> str:
    """JSON that cannot end the element it stands in, nor begin another."""
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def policy(css: str, script: str, parts: PageParts) -> str:
    """What a page may do: its own style and script, by their hashes, and what its parts say."""
    own = f"'{_hash(script)}'" + (" 'self' file:" if parts.external else "")
    return f"default-src 'none'; style-src '{_hash(css)}'; script-src {own}; img-src data:; base-uri 'none'; " + (
        "form-action 'self'; connect-src 'self'" if parts.asks else "form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}"


def _as_image(plot: Plot) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(plot.svg.encode()).decode()}"
