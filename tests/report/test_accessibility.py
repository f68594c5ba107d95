"""axe-core finds nothing serious in our pages: light, dark and as narrow as a phone."""

from __future__ import annotations

from pathlib import Path

import pytest

from browser import CHROMIUM, Browser, needs_axe
from vericite.evaluate.items import Item
from vericite.evaluate.resampling import Bootstrap
from vericite.evaluate.scoring import System
from vericite.lab.annotate.page import make_annotation_page
from vericite.lab.annotate.schemes import load_scheme
from vericite.lab.annotate.units import units_of
from vericite.records import Document
from vericite.reporting.data import make_report, with_verdicts
from vericite.reporting.page import Page, make_page, write_page
from vericite.reporting.words import Language
from vericite.text.citations import parse_answer

SOURCE = "Zelotrine reduced pain in 40 of 80 adults. Nausea was common. Cost was not studied."
TEXT = "Zelotrine reduced pain in 40 of 80 adults [1]. Nobody knows [1]. It rains. It snows [4]."

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
    needs_axe,
]


def systems() -> list[System]:
    answers = [
        parse_answer(f"q{n}", TEXT, [Document.from_text("d1", SOURCE, "A trial")], f"Question {n}?") for n in range(6)
    ]
    items = tuple(Item(answer.id, answer) for answer in answers)
    return [with_verdicts(System(name, items), "vericite", "lexical") for name in ("one", "two")]


@pytest.mark.parametrize(
    ("what", "language"), [("report", "en"), ("report", "de"), ("report", "es"), ("annotation", "en")]
)
def test_axe_finds_nothing_serious(what: str, language: Language, tmp_path: Path):
    page = tmp_path / "page.html"
    if what == "report":
        write_page(make_page(make_report(systems(), Bootstrap(100, 0)), "A title", language=language), page)
    else:
        write_page(Page(make_annotation_page(units_of(systems()), load_scheme("vericite"))), page)
    with Browser(tmp_path) as browser:
        browser.go(page.as_uri())
        if what == "annotation":
            browser.run("document.getElementById('rater').focus()")
            browser.keys(*"ann", "Enter")
            browser.wait("document.querySelectorAll('.item').length === 1")
        else:
            browser.keys("n")
            browser.run("document.querySelectorAll('details').forEach((it) => { it.open = true; })")
        for dark, width in ((False, 1280), (True, 1280), (False, 390)):
            browser.look(tmp_path / "seen.png", dark, width)
            found = browser.violations()
            assert [violation for violation in found if violation[0] in ("serious", "critical")] == [], (dark, width)
        assert not browser.complaints


def test_axe_finds_serious_problems(tmp_path: Path):
    """The page has no language, no text for its picture, and too little contrast."""
    page = tmp_path / "page.html"
    page.write_text("<title>x</title><img src='data:,'><p style='color:#ccc;background:#fff'>Pale.</p>")
    with Browser(tmp_path) as browser:
        browser.go(page.as_uri())
        assert {violation[1] for violation in browser.violations()} >= {"html-has-lang", "image-alt", "color-contrast"}
