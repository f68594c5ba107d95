"""The annotation page in a browser: labels are stored and exported, and texts are shown as text."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from threading import Thread

import pytest

from browser import CHROMIUM, Browser
from hostile import HOSTILE
from vericite.errors import Problems
from vericite.evaluate.items import Item
from vericite.evaluate.scoring import System
from vericite.lab.annotate.agreement import people_agreement
from vericite.lab.annotate.interchange import read_annotations
from vericite.lab.annotate.page import make_annotation_page
from vericite.lab.annotate.schemes import load_scheme
from vericite.lab.annotate.serve import LabelFolder, addresses, make_server
from vericite.lab.annotate.units import Unit, draw, units_of
from vericite.records import Document, Rationale, RationaleStep, SourceText
from vericite.reporting.page import Page, write_page
from vericite.text.citations import parse_answer

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None or sys.platform == "win32", reason="Chromium is not installed"),
]
SCHEME = load_scheme("vericite")
FIRST = "1" * 12 + "3" * 4 + "1133"
SECOND = "1" * 12 + "3" * 4 + "3311"
"""Of 20 items, 12 are supported and 4 irrelevant for both, and 4 differ: 0.8 observed, 0.49 + 0.09 by chance."""


@pytest.fixture
def units(make_system) -> list[Unit]:
    return draw(units_of([make_system("SECRET", 10)]), 20, ["verdict"]).units


def begin(browser: Browser, path: Path, name: str) -> None:
    browser.go(path.as_uri())
    browser.run("document.getElementById('rater').focus()")
    browser.keys(*name, "Enter")
    browser.wait("document.querySelectorAll('.item').length === 1")


def shown(browser: Browser) -> str:
    return browser.run("document.getElementById('count').textContent")


def exported(browser: Browser, folder: Path, name: str) -> Path:
    browser.run("document.getElementById('export').click()")
    path = folder / f"labels-{name}.jsonl"
    end = time.monotonic() + 20
    while not path.exists():
        assert time.monotonic() < end
        browser.run("0")
        time.sleep(0.05)
    return path


def test_two_annotators_label_twenty_items_and_a_reload_in_the_middle_loses_nothing(units, tmp_path: Path):
    page = tmp_path / "annotate.html"
    write_page(Page(make_annotation_page(units, SCHEME)), page)
    with Browser(tmp_path) as browser:
        files = []
        for name, labels in (("ann", FIRST), ("ben", SECOND)):
            begin(browser, page, name)
            assert shown(browser) == "Item 1 of 20, 0 labelled"
            for place, key in enumerate(labels):
                if place == 9:
                    before = browser.run("document.querySelector('.claim').textContent")
                    begin(browser, page, name)
                    assert shown(browser) == "Item 10 of 20, 9 labelled"
                    assert browser.run("document.querySelector('.claim').textContent") == before
                browser.keys(key, "d", *("d" if name == "ben" else ""), "s", "n")
            assert shown(browser) == "Item 20 of 20, 20 labelled"
            files.append(exported(browser, tmp_path, name))
        assert not browser.complaints
        assert set(browser.requests) <= {page.as_uri()} | {one for one in browser.requests if one.startswith("blob:")}
    known = {unit.item: unit for unit in units}
    problems = Problems()
    given = read_annotations(files, SCHEME, known, problems)
    assert not problems and len(given) == 40
    assert [one.item for one in given if one.rater == "ann"] == [unit.item for unit in units]
    found = people_agreement(given, SCHEME, known)
    kappa = next(one for one in found.labels if one.measure == "CohenKappa")
    assert kappa.found.value == pytest.approx((0.8 - 0.58) / (1 - 0.58))
    assert len(found.adjudication.ties) == 4
    # The first sentence of the source, and the second: characters beyond the first 65,536 and all.
    texts = {(one.rater, one.snippets[0].text) for one in given}
    assert texts == {("ann", units[0].documents[0].text[:44]), ("ben", "Nausea was common.")}
    for one in given:
        mark = one.snippets[0]
        assert known[one.item].documents[0].text[mark.start : mark.end] == mark.text
    assert found.snippets[0].overlap == 0
    assert sum(one.seconds for one in given) > 0


def test_a_passage_is_marked_by_selecting_it_and_taken_away_again(units, tmp_path: Path):
    page = tmp_path / "annotate.html"
    write_page(Page(make_annotation_page(units, SCHEME)), page)
    select = """(() => { const text = document.querySelector('[data-source]').lastChild;
        const range = document.createRange();
        range.setStart(text, 0); range.setEnd(text, 9); getSelection().removeAllRanges();
        getSelection().addRange(range);
        return range.toString(); })()"""
    marked = "[...document.querySelectorAll('.snippets li')].map((it) => it.firstChild.textContent)"
    with Browser(tmp_path) as browser:
        begin(browser, page, "ann")
        words = browser.run(select)
        browser.keys("s")
        assert browser.run(marked) == [words.strip()]
        assert browser.run("document.querySelector('mark').textContent") == words.strip()
        browser.keys("d", "s", "d", "s")
        assert len(browser.run(marked)) == 3
        browser.keys("x", "x", "x")
        assert browser.run(marked) == []
        # A note may hold what are keys elsewhere.
        browser.run("document.querySelector('textarea').focus()")
        browser.keys(*"n2s", "Escape", "3")
        (line,) = exported(browser, tmp_path, "ann").read_text().splitlines()
        assert json.loads(line)["note"] == "n2s"
        assert json.loads(line)["label"] == "irrelevant"


def reasoned(answers: int) -> System:
    """Answers with a rationale of two steps each."""
    steps = [RationaleStep(statement=f"Step {n} of the reasoning.", documents=("d1",)) for n in (1, 2)]
    items: list[Item] = []
    for number in range(answers):
        document = Document.from_text("d1", "Zelotrine reduced pain. Nausea was common.", "A title")
        made = parse_answer(f"q{number}", "It helps [1].", [document], f"Question {number}?")
        items.append(Item(f"q{number}", made.model_copy(update={"rationale": Rationale(steps=tuple(steps))})))
    return System("one", tuple(items))


def test_labels_of_statements_survive_the_browser(tmp_path: Path):
    scheme = load_scheme("reason-verify")
    assert scheme.of == "statement"
    units = units_of([reasoned(5)], scheme.of)
    page = tmp_path / "annotate.html"
    write_page(Page(make_annotation_page(units, scheme)), page)
    # Of ten statements eight alike: seen 0.8; by chance 0.6 * 0.6 + 0.4 * 0.2 + 0 * 0.2, so kappa is 0.36 / 0.56.
    given = {"ann": "1111115555", "ben": "1111115522"}
    paths: list[Path] = []
    with Browser(tmp_path) as browser:
        for name, keys in given.items():
            begin(browser, page, name)
            assert shown(browser).startswith("Item 1 of 10")
            assert "Step 1 of the reasoning." in browser.run("document.querySelector('.item').textContent")
            for key in keys:
                browser.keys(key, "n")
            paths.append(exported(browser, tmp_path, name))
            browser.run("localStorage.clear()")
        assert not browser.complaints
    known = {unit.item: unit for unit in units}
    annotations = read_annotations(paths, scheme, known, Problems())
    names = {str(n): label.name for n, label in enumerate(scheme.labels, start=1)}
    for name, keys in given.items():
        labels = {one.item: one.label for one in annotations if one.rater == name}
        assert [labels[unit.item] for unit in units] == [names[key] for key in keys]
    found = people_agreement(annotations, scheme, known)
    kappa = next(one for one in found.labels if "CohenKappa" in str(one.record))
    assert kappa.record["value"] == pytest.approx((0.8 - 0.44) / (1 - 0.44))


def test_scales_are_asked_once_per_answer(make_system, tmp_path: Path):
    scheme = load_scheme("reason-verify").model_copy(update={"of": "citation"})
    page = tmp_path / "annotate.html"
    write_page(Page(make_annotation_page(units_of([make_system(answers=2)]), scheme)), page)
    with Browser(tmp_path) as browser:
        begin(browser, page, "ann")
        browser.run(
            "(() => { const it = document.querySelector('input[type=number]'); it.value = '4';"
            "it.dispatchEvent(new Event('change')); })()"
        )
        browser.keys("n")
        assert browser.run("document.querySelector('input[type=number]').value") == "4"
        browser.keys("n")
        assert browser.run("document.querySelector('input[type=number]').value") == ""


def test_annotators_do_not_see_system_verdict_or_each_other(units):
    html = make_annotation_page(units, SCHEME)
    assert "SECRET" not in html
    assert '"verdict":"supported"' in html  # of the scheme's labels, and of these alone
    items = html[html.index('"items":[') :]
    assert "verdict" not in items.partition("</script>")[0]
    assert "stratum" not in html


def test_a_server_stores_the_labels_of_each_annotator(units, tmp_path: Path):
    labels = LabelFolder(tmp_path / "labels", ["ann", "ben"], units, SCHEME)
    server = make_server(labels, 0)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        pages = addresses(labels, server)
        with Browser(tmp_path) as browser:
            for name, key in (("ann", "1"), ("ben", "3")):
                browser.go(pages[name])
                browser.wait("document.querySelectorAll('.item').length === 1")
                assert shown(browser) == "Item 1 of 20, 0 labelled"
                browser.keys(key, "d", "s", "n", key)
                browser.wait("document.getElementById('saved').textContent === 'Saved.'")
                browser.go(pages[name])
                browser.wait("document.querySelectorAll('.item').length === 1")
                assert shown(browser) == "Item 3 of 20, 2 labelled"
            assert not browser.complaints
    finally:
        server.shutdown()
        server.server_close()
    given = read_annotations(
        [tmp_path / "labels" / f"{name}.jsonl" for name in ("ann", "ben")], SCHEME, None, Problems()
    )
    assert [(one.rater, one.label) for one in given if one.label] == [("ann", "supported")] * 2 + [
        ("ben", "irrelevant")
    ] * 2
    labels.close()
    again = LabelFolder(tmp_path / "labels", ["ann", "ben"], units, SCHEME)
    assert again.keys == labels.keys


def test_hostile_texts_are_shown_as_text(make_system, tmp_path: Path):
    (unit,) = draw(units_of([make_system(answers=1)]), 1).units
    units = [
        unit.model_copy(
            update={
                "item": f"{number}", "question": text, "claim": text, "context": text, "start": 0, "end": 1,
                "documents": (SourceText(id="d", title=text[:100], text=f"Pain fell. {text}"),),
            }
        )
        for number, text in enumerate(HOSTILE)
    ]  # fmt: skip
    page = tmp_path / "annotate.html"
    write_page(Page(make_annotation_page(units, SCHEME)), page)
    with Browser(tmp_path) as browser:
        begin(browser, page, "<b onclick='document.title=1'>")
        for _ in units:
            browser.keys("n", "d", "s")
        for tag in ("iframe", "img", "object", "base", "svg", "math", "a", "link", "plaintext"):
            assert browser.run(f"document.querySelectorAll('{tag}').length") == (1 if tag == "a" else 0), tag
        assert browser.run("document.title") == SCHEME.title
        assert not browser.complaints
        assert [one for one in browser.requests if not one.startswith(("file:", "blob:"))] == []
