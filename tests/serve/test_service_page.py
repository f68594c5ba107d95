"""The web page in a browser: ask, check, files, keyboard only, reloads, two tabs."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from browser import CHROMIUM, Browser
from hostile import HOSTILE
from pdf_files import Page, pdf

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None or sys.platform == "win32", reason="Chromium is not installed"),
]
SOURCE = "Zelotrine reduced pain in 40 of 80 adults. Nausea was common. Cost was not studied."
ANSWER = "Zelotrine reduced pain in 40 of 80 adults [1]. It cured baldness in all men [1]. Nobody knows [4]. It rains."
AXE = Path(os.environ.get("VERICITE_AXE", "node_modules/axe-core/axe.min.js"))
DONE = "document.getElementById('acts') && !document.getElementById('acts').hidden"
KINDS = "[...document.querySelectorAll('#reader .claim')].map((it) => it.className.split(' ')[1])"


@pytest.fixture
def browser(tmp_path: Path, server) -> Iterator[Browser]:
    with Browser(tmp_path) as made:
        yield made
        assert not made.complaints
        assert all(it.startswith((server.address, "about:", "data:", "blob:")) for it in made.requests), made.requests


def put(browser: Browser, selector: str, text: str) -> None:
    browser.run(
        f"(() => {{ const it = document.querySelector({json.dumps(selector)}); it.value = {json.dumps(text)};"
        "it.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )


def click(browser: Browser, selector: str) -> None:
    browser.run(f"document.querySelector({json.dumps(selector)}).click()")


def text(browser: Browser, selector: str) -> str:
    return browser.run(f"document.querySelector({json.dumps(selector)}).textContent")


def check(browser: Browser, server, answer: str = ANSWER, source: str = SOURCE) -> None:
    browser.go(f"{server.address}/check")
    put(browser, "#answer", answer)
    put(browser, "#sources textarea", source)
    click(browser, "#go")


def test_a_question_is_answered_and_a_sentence_shows_its_source_with_the_deciding_words(browser, server):
    browser.go(f"{server.address}/")
    assert browser.run("document.getElementById('acts').hidden")
    click(browser, ".example")
    browser.wait(DONE)
    assert set(browser.run(KINDS)) == {"quoted"}, "an answer without a model is quotations"
    click(browser, "#reader .claim")
    assert text(browser, "#reader mark") in text(browser, "#reader .source .text")
    assert "Done in" in text(browser, "#status")
    id = browser.run("new URLSearchParams(location.search).get('run')")
    browser.go(f"{server.address}/runs")
    assert browser.run(f"document.querySelectorAll('a[href=\"/runs/{id}\"]').length") == 1
    browser.go(f"{server.address}/runs/{id}")
    browser.wait(DONE)
    assert text(browser, "#reader h3").startswith("Does tight glucose control")
    click(browser, "#report")
    file = browser.folder / f"vericite-{id[:8]}.html"
    browser.wait_for(file)
    browser.go(file.as_uri())
    assert browser.run("document.querySelectorAll('#reader .claim').length")
    browser.requests = [it for it in browser.requests if it != file.as_uri()]
    browser.go(f"{server.address}/runs")
    click(browser, f'li[data-id="{id}"] .forget')
    browser.wait(f"!document.querySelector('li[data-id=\"{id}\"]')")
    assert server.get(f"/v1/runs/{id}").status_code == 404


def test_keys_do_not_type_into_a_question_that_was_sent(browser, server):
    browser.go(f"{server.address}/check")
    put(browser, "#answer", ANSWER)
    put(browser, "#sources textarea", SOURCE)
    browser.run("document.getElementById('answer').focus()")
    browser.ask("Input.dispatchKeyEvent", type="rawKeyDown", key="Enter", windowsVirtualKeyCode=13, modifiers=2)
    browser.keys("n", "p", "n")
    assert browser.run("document.getElementById('answer').value") == ANSWER
    assert browser.run("document.activeElement.id") in ("status", "reader")
    assert text(browser, "#clock").startswith("Working for ")
    place = "document.getElementById('status').getBoundingClientRect()"
    assert browser.run(f"{place}.top >= 0 && {place}.bottom <= innerHeight"), "the status is in sight"
    browser.wait(DONE)
    assert browser.run("document.activeElement.id") == "reader"
    assert browser.run("document.getElementById('clock').hidden")


def test_the_status_says_what_is_done_meanwhile(browser, server, tmp_path: Path):
    said = "window.said = []; new MutationObserver(() => said.push(document.getElementById('status').textContent))"
    said += ".observe(document.getElementById('status'), {childList: true, characterData: true, subtree: true})"
    check(browser, server)
    browser.wait(DONE)
    browser.run(f"{said}; 0")
    click(browser, "#repair")
    browser.wait("document.querySelectorAll('#earlier .claim').length")
    assert browser.run("said[0]") == "Repairing the citations."
    browser.go(f"{server.address}/")
    browser.run("document.getElementById('corpus').value = ''")
    browser.run("document.getElementById('corpus').dispatchEvent(new Event('change', {bubbles: true}))")
    (tmp_path / "paper.txt").write_text(SOURCE)
    browser.choose("#file", tmp_path / "paper.txt")
    browser.wait("document.querySelectorAll('#own li').length === 1")
    put(browser, "#question", "Does zelotrine reduce pain?")
    browser.run(f"{said}; 0")
    click(browser, "#go")
    browser.wait(DONE)
    assert browser.run("said.slice(0, 2)") == ["Asking.", "Reading the documents."]
    assert "Searching." in browser.run("said")


def test_an_unreadable_file_is_reported_without_command_options(browser, server, tmp_path: Path):
    browser.go(f"{server.address}/check")
    (tmp_path / "notes.xyz").write_bytes(bytes(range(256)) * 10)
    browser.choose("#file", tmp_path / "notes.xyz")
    browser.wait("!document.getElementById('problem').hidden")
    problem = text(browser, "#problem")
    assert "notes.xyz" in problem and "--" not in problem and "/tmp" not in problem
    assert text(browser, "#status") == ""
    browser.complaints.clear()


def test_an_answer_is_checked_and_repaired_and_both_are_shown(browser, server):
    check(browser, server)
    browser.wait(DONE)
    assert browser.run(KINDS) == ["supported", "irrelevant", "dangling", "uncited"]
    signs = browser.run("[...document.querySelectorAll('#reader .claim .sign')].map((it) => it.textContent)")
    assert len(set(signs)) == 4, "a mark has a shape of its own beside its colour"
    click(browser, "#repair")
    browser.wait("!document.getElementById('before').hidden && document.querySelectorAll('#earlier .claim').length")
    assert "It cured baldness in all men [1]." in browser.run(
        "[...document.querySelectorAll('#reader del')].map((it) => it.textContent)"
    )
    assert browser.run("document.querySelectorAll('#earlier .claim').length") == 4
    assert browser.run(KINDS).count("irrelevant") == 0


def test_an_uploaded_pdf_answers_and_says_the_page(browser, server, tmp_path: Path):
    pytest.importorskip("pypdfium2", reason="needs the extra [documents]")
    pages = [Page(), Page()]
    pages[0].flow(60, 760, 450, "Methods. We enrolled eighty adults with chronic pain in two clinics over a year.")
    pages[1].flow(60, 760, 450, "Results. Zelotrine reduced pain in forty of the eighty adults after twelve weeks.")
    path = tmp_path / "paper of ours.pdf"
    path.write_bytes(pdf(pages))
    browser.go(f"{server.address}/")
    browser.run("document.getElementById('corpus').value = ''")
    browser.run("document.getElementById('corpus').dispatchEvent(new Event('change', {bubbles: true}))")
    browser.choose("#file", path)
    browser.wait("document.querySelectorAll('#own li').length === 1")
    assert "2 pages" in text(browser, "#own")
    put(browser, "#question", "Does zelotrine reduce pain?")
    click(browser, "#go")
    browser.wait(DONE)
    click(browser, "#reader .claim.quoted")
    assert "page 2" in text(browser, "#reader .source")
    assert "Zelotrine reduced pain in forty" in text(browser, "#reader mark")


def test_keys_alone_are_enough(browser, server):
    browser.go(f"{server.address}/")
    focused = "document.activeElement.id || document.activeElement.className || document.activeElement.textContent"
    for _ in range(10):
        browser.keys("Tab")
        if browser.run(focused) == "question":
            break
    assert browser.run(focused) == "question"
    browser.keys(*"Does aspirin prevent heart attacks", "Enter")
    browser.wait(DONE)
    for _ in range(30):
        browser.keys("Tab")
        if "claim" in str(browser.run(focused)):
            break
    assert "claim" in browser.run(focused)
    browser.keys("Enter")
    assert browser.run("document.activeElement.getAttribute('aria-expanded')") == "true"
    first = text(browser, "#reader .claim[aria-expanded=true]")
    browser.keys("n")
    assert text(browser, "#reader .claim[aria-expanded=true]") != first
    browser.keys("p", "/")
    assert browser.run(focused) == "question"
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    browser.keys("Tab")
    assert browser.run(outline) == "solid", "where the keys are is seen"


def test_a_reload_in_the_middle_loses_nothing_and_asks_nothing_twice(browser, server):
    claims = [f"Zelotrine reduced pain in {n} of {n + 40} adults who were treated [1]." for n in range(100)]
    before = len(server.get("/v1/runs").json()["runs"])
    check(
        browser, server, " ".join(claims), " ".join(f"{SOURCE} Sleep of {n} adults was not better." for n in range(40))
    )
    browser.wait(f"{KINDS}.some((kind) => kind !== 'pending') && {KINDS}.includes('pending')")
    assert "stream=" in browser.run("location.search")
    browser.ask("Page.reload")
    browser.wait("document.readyState === 'complete'")
    browser.wait(DONE)
    assert browser.run(KINDS + ".length") == 100 and "pending" not in browser.run(KINDS)
    assert browser.run("document.getElementById('answer').value") == " ".join(claims)
    shown = browser.run(KINDS)
    browser.ask("Page.reload")
    browser.wait(DONE)
    assert browser.run(KINDS) == shown
    assert len(server.get("/v1/runs").json()["runs"]) == before + 1


def test_two_tabs_do_not_disturb_each_other(browser, server):
    browser.go(f"{server.address}/")
    put(browser, "#question", "Does aspirin prevent heart attacks?")
    click(browser, "#go")
    first = browser.tab()
    browser.go(f"{server.address}/")
    assert browser.run("document.getElementById('question').value") == ""
    put(browser, "#question", "Do statins cause muscle pain?")
    click(browser, "#go")
    browser.wait(DONE)
    assert text(browser, "#reader h3") == "Do statins cause muscle pain?"
    browser.turn(first)
    browser.wait(DONE)
    assert text(browser, "#reader h3") == "Does aspirin prevent heart attacks?"


def test_hostile_texts_stay_texts(browser, server):
    for hostile in HOSTILE:
        hostile = hostile[:5_000]
        check(browser, server, f"Zelotrine {hostile} reduced pain [1]. It rains.", f"{hostile} {SOURCE}")
        browser.wait(f"{DONE} || !document.getElementById('problem').hidden")
        if browser.run(DONE):
            browser.run("for (const it of document.querySelectorAll('#reader .claim')) it.click()")
        assert browser.run(
            "document.title !== 'ran' && document.querySelectorAll('main img, main iframe').length === 0"
        )
        assert browser.run("getComputedStyle(document.body).display") == "block"
    browser.go(f"{server.address}/runs")
    assert browser.run("document.title") == "Runs · VeriCite"
    assert browser.run("document.querySelectorAll('script').length") == 2


def test_errors_are_shown_and_typed_text_stays(browser, server):
    browser.go(f"{server.address}/")
    browser.run("document.getElementById('corpus').value = ''")
    put(browser, "#question", "Does it work?")
    click(browser, "#go")
    browser.wait("!document.getElementById('problem').hidden")
    assert "Add a file" in text(browser, "#problem")
    browser.go(f"{server.address}/?stream={'0' * 32}")
    browser.wait("!document.getElementById('problem').hidden")
    assert "Ask again" in text(browser, "#problem")
    assert browser.run("document.getElementById('question').value") == "Does it work?"
    browser.go(f"{server.address}/runs/{'0' * 32}")
    browser.wait("!document.getElementById('problem').hidden")
    assert any("404" in it for it in browser.complaints)
    browser.complaints.clear()


def test_the_page_asks_for_the_token_once(started, tmp_path: Path):
    token = "0123456789abcdef/;+é"
    server = started(VERICITE_TOKEN=token)
    assert httpx2.post(f"{server.address}/login", data={"token": "wrong"}).status_code == 401
    foreign = httpx2.post(f"{server.address}/login", data={"token": token}, headers={"origin": "https://evil.example"})
    assert foreign.status_code == 403
    (tmp_path / "b").mkdir()
    with Browser(tmp_path / "b") as browser:
        browser.go(f"{server.address}/")
        put(browser, "[name=token]", "wrong")
        click(browser, "button")
        browser.wait("!!document.querySelector('[role=alert]')")
        put(browser, "[name=token]", token)
        click(browser, "button")
        browser.wait("!!document.querySelector('.example')")
        click(browser, ".example")
        browser.wait(DONE)
        assert browser.run("document.cookie") == ""


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not here (npm install axe-core, or VERICITE_AXE)")
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing_serious(browser, server, tmp_path: Path, dark: bool, width: int):
    axe = AXE.read_text(encoding="utf-8")

    def look(where: str) -> None:
        browser.look(tmp_path / "look.png", dark=dark, width=width)
        browser.run(f"{axe}; 0")
        found = browser.run(
            "axe.run().then((it) => it.violations.map((one) => [one.id, one.impact, one.nodes[0].html]))"
        )
        assert [it for it in found if it[1] in ("serious", "critical")] == [], where

    browser.go(f"{server.address}/")
    look("ask")
    click(browser, ".example")
    browser.wait(DONE)
    click(browser, "#reader .claim")
    click(browser, "summary")
    look("answer")
    check(browser, server)
    browser.wait(DONE)
    browser.keys("n", "n")
    look("checked")
    click(browser, "#repair")
    browser.wait("!document.getElementById('before').hidden")
    browser.run("for (const it of document.querySelectorAll('details')) it.open = true")
    look("repaired")
    browser.go(f"{server.address}/runs")
    look("runs")
