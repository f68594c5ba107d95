"""The web page in a browser: ask, check, files, keyboard only, reloads, two tabs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from browser import CHROMIUM, Browser, needs_axe
from hostile import HOSTILE
from pdf_files import Page, pdf

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None or sys.platform == "win32", reason="Chromium is not installed"),
]
SOURCE = "Zelotrine reduced pain in 40 of 80 adults. Nausea was common. Cost was not studied."
ANSWER = "Zelotrine reduced pain in 40 of 80 adults [1]. It cured baldness in all men [1]. Nobody knows [4]. It rains."
EXAMPLE = Path(__file__).parents[2] / "examples/manuscript"
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
    assert text(browser, "h1").startswith("Does tight glucose control")
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
    assert browser.run("document.activeElement.closest('#status, #reader') !== null")
    assert text(browser, "#clock").startswith("Working for ")
    place = "document.getElementById('status').getBoundingClientRect()"
    assert browser.run(f"{place}.top >= 0 && {place}.bottom <= innerHeight"), "the status is in sight"
    browser.wait(DONE)
    assert browser.run("document.activeElement.id") == "reader"
    assert browser.run("document.getElementById('clock').hidden")


def test_the_status_says_what_is_done_meanwhile(browser, server, tmp_path: Path):
    said = "window.heard = []; new MutationObserver(() => heard.push(document.getElementById('status').textContent))"
    said += ".observe(document.getElementById('status'), {childList: true, characterData: true, subtree: true})"
    check(browser, server)
    browser.wait(DONE)
    browser.run(f"{said}; 0")
    click(browser, "#repair")
    browser.wait("document.querySelectorAll('#earlier .claim').length")
    assert browser.run("heard[0]") == "Repairing the citations."
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
    assert browser.run("heard.slice(0, 2)") == ["Asking.", "Reading the documents."]
    assert "Searching." in browser.run("heard")


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
    assert browser.run("document.querySelectorAll('#earlier .claim').length") == 4
    assert browser.run(KINDS).count("irrelevant") == 0
    summary = text(browser, ".repair-summary")
    assert "Of 4 sentences: 2 as before, 1 with other citations, 1 deleted." in summary
    assert "Supported: 1 of 4 before, 2 of 4 now. Deleted: 1 of 4." in summary, (
        "what was deleted is never left out of the count"
    )
    assert "2 changes" in text(browser, "#status")
    kept = "Zelotrine reduced pain in 40 of 80 adults [1]. Nobody knows [1]. It rains."
    assert text(browser, ".kept") == kept
    click(browser, ".change:not(.same) .choice button:last-child")
    assert text(browser, ".kept") == kept.replace(" Nobody", " It cured baldness in all men [1]. Nobody")
    assert "deleted" not in text(browser, ".repair-summary .total")
    assert text(browser, ".change.refused .shown").endswith("It cured baldness in all men [1].")
    click(browser, ".repair .heads button:last-child")
    assert text(browser, ".kept") == ANSWER
    assert "4 as before" in text(browser, ".repair-summary .total")
    click(browser, ".result .buttons button:last-of-type")
    browser.wait_for(browser.folder / "repaired.txt")
    assert (browser.folder / "repaired.txt").read_text() == f"{ANSWER}\n"
    click(browser, ".repair .heads button")
    assert text(browser, ".kept") == kept
    click(browser, ".strip button")
    assert browser.run("document.activeElement.matches('.change')")
    id = browser.run("new URLSearchParams(location.search).get('run')")
    click(browser, "#report")
    file = browser.folder / f"vericite-{id[:8]}.html"
    browser.wait_for(file)
    browser.go(file.as_uri())
    assert "1 deleted" in text(browser, ".repair-summary .total")
    assert "Supported: 1 of 4 before, 2 of 4 now" in text(browser, ".repair-summary")
    click(browser, ".repair .heads button:last-child")
    assert text(browser, ".kept") == ANSWER
    browser.requests = [it for it in browser.requests if it != file.as_uri()]


def test_an_answer_of_an_assistant_is_pasted_with_its_links(browser, server):
    browser.go(f"{server.address}/check")
    pasted = "Zelotrine reduced pain in 40 of 80 adults ([PubMed](https://pubmed.ncbi.nlm.nih.gov/1/)).\n"
    pasted += "Tight glucose control increased 90-day mortality.[^1]\n\n[^1]: Intensive versus conventional glucose "
    pasted += "control in critically ill patients: the NICE-SUGAR trial."
    browser.run(
        "(() => { const clipboardData = new DataTransfer(); clipboardData.setData('text/plain', "
        f"{json.dumps(pasted)}); document.querySelector('#answer').dispatchEvent("
        "new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true })); })()"
    )
    browser.wait("document.querySelectorAll('#sources li').length === 2")
    assert browser.run("document.querySelector('#answer').value") == (
        "Zelotrine reduced pain in 40 of 80 adults [2].\nTight glucose control increased 90-day mortality. [1]"
    )
    assert "2 sources were found in the text. The text of 1 is missing" in text(browser, "#pasted")
    assert "text from demo" in text(browser, "#sources li") and "PMID 1" in text(browser, "#sources li:last-child")
    put(browser, "#sources li:last-child textarea", SOURCE)
    click(browser, "#go")
    browser.wait(DONE)
    assert browser.run(KINDS) == ["supported", "supported"]
    assert text(browser, ".summary .total") == "All 2 sentences are in their sources"
    id = browser.run("new URLSearchParams(location.search).get('run')")
    for selector, suffix in (("#word", "docx"), ("#markdown", "md"), ("#table", "csv"), ("#json", "json")):
        click(browser, selector)
        browser.wait_for(browser.folder / f"vericite-{id[:8]}.{suffix}")
    assert "## Citations" in (browser.folder / f"vericite-{id[:8]}.md").read_text()


def test_a_manuscript_is_checked_and_kept_with_comments(browser, server, tmp_path: Path):
    browser.go(f"{server.address}/check")
    browser.choose("#paper", EXAMPLE / "draft.docx")
    browser.wait(
        "!document.querySelector('.of-paper').hidden && document.querySelector('#answer').offsetParent === null"
    )
    browser.choose("#articles", EXAMPLE / "sources.jsonl")
    assert "sources.jsonl" in text(browser, "#articles-list")
    click(browser, "#go")
    browser.wait(DONE)
    assert text(browser, "#h-result") == "Blood pressure, sleep and bones"
    assert text(browser, ".summary .total") == "7 citing sentences, 5 references"
    assert "7 citing sentences" in text(browser, "#status"), "a screen reader hears the summary"
    browser.keys("n")
    assert browser.run("document.activeElement.className") == "finding contradicted"
    card = browser.run("document.activeElement.textContent")
    assert "Corvadil reduced the number of night-time coughs by half." in card and "“increased”" in card
    browser.keys("n", "p")
    assert browser.run("document.activeElement.className") == "finding contradicted"
    assert "year differs: 2020 (found: 2022)" in text(browser, ".references")
    browser.run("document.querySelector('.finding details').open = true")
    browser.wait("!!document.querySelector('.finding .source mark')")
    assert text(browser, "#copy") == "Save with comments (Word)"
    id = browser.run("new URLSearchParams(location.search).get('run')")
    for selector, suffix in (("#copy", "docx"), ("#table", "csv"), ("#report", "html")):
        click(browser, selector)
        browser.wait_for(browser.folder / f"vericite-{id[:8]}.{suffix}")
    page = browser.folder / f"vericite-{id[:8]}.html"
    browser.go(page.as_uri())
    browser.requests = [it for it in browser.requests if it != page.as_uri()]
    assert "year differs" in text(browser, "#reader .references")
    browser.go(f"{server.address}/runs/{id}")
    browser.wait(DONE)
    browser.look(tmp_path / "phone.png", width=390)
    assert browser.run("document.documentElement.scrollWidth") <= 390


def test_files_that_a_latex_manuscript_includes_are_sent_with_it(browser, server, tmp_path: Path):
    (tmp_path / "main.tex").write_text(r"\documentclass{article}\begin{document}\input{text/one}\end{document}")
    (tmp_path / "one.tex").write_text(r"Corvadil lowers blood pressure \cite{a}.")
    browser.go(f"{server.address}/check")
    browser.choose("#paper", EXAMPLE / "draft.docx")
    assert browser.run("document.querySelector('#of-latex').hidden")
    browser.choose("#paper", tmp_path / "main.tex")
    browser.choose("#parts", tmp_path / "one.tex")
    assert "one.tex" in text(browser, "#parts-list")
    click(browser, "#go")
    browser.wait(DONE)
    assert text(browser, ".summary .total").startswith("1 citing sentence")


def test_a_drop_is_the_manuscript_unless_it_is_text_or_on_another_field(browser, server):
    browser.go(f"{server.address}/check")

    def is_taken(selector: str, content: str) -> bool:
        return browser.run(
            f"(() => {{ const dataTransfer = new DataTransfer(); dataTransfer.items.add({content});"
            "const event = new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true });"
            f"return !document.querySelector('{selector}').dispatchEvent(event); }})()"
        )

    assert not is_taken("#answer", "'Zinc helps [1].', 'text/plain'"), "the browser puts text into the field"
    assert not is_taken("#bibliography", "new File(['@'], 'library.bib')")
    assert browser.run("document.querySelector('#paper-name').hidden")
    assert is_taken("#answer", "new File(['x'], 'draft.docx')")
    assert text(browser, "#paper-name b") == "draft.docx"


def test_a_hostile_manuscript_stays_text(browser, server, tmp_path: Path):
    (tmp_path / "<img src=x onerror=alert(1)>.md").write_text(
        "# <script>alert(1)</script>\n\n<b>It</b> helps [@a]{.x}."
    )
    browser.go(f"{server.address}/check")
    browser.choose("#paper", tmp_path / "<img src=x onerror=alert(1)>.md")
    assert text(browser, "#paper-name b").startswith("<img")
    click(browser, "#go")
    browser.wait(DONE)
    assert not browser.run("document.querySelectorAll('#result script, #result img').length")
    assert browser.run("document.querySelector('#form').hidden"), "the form folds"
    click(browser, "#edit")
    assert browser.run("document.activeElement.id") == "paper-remove"
    click(browser, "#paper-remove")
    assert browser.run("document.querySelector('#answer').offsetParent !== null")


def test_a_sentence_is_challenged_on_the_page(browser, server):
    answer = "Low-dose aspirin prolongs disability-free survival in healthy older adults [1]. It rains [1]."
    check(browser, server, answer)
    browser.wait(DONE)
    browser.run("document.querySelectorAll('#reader .claim')[0].click()")
    assert not browser.run("document.querySelectorAll('#reader .verdict.contradicted a').length")
    browser.run(
        "[...document.querySelectorAll('#reader button')].find((it) => it.textContent.startsWith('Challenge')).click()"
    )
    browser.wait("!!document.querySelector('#reader [role=status] .verdict.contradicted')")
    found = text(browser, "#reader [role=status]")
    assert "Contradicted by" in found and "ASPREE" in found and "did not prolong" in found


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
        if "chip" in str(browser.run(focused)):
            break
    assert "chip" in browser.run(focused)
    browser.keys("Enter")
    assert browser.run("document.activeElement.getAttribute('aria-expanded')") == "true"
    first = text(browser, "#reader .claim.open")
    browser.keys("n")
    assert text(browser, "#reader .claim.open") != first
    browser.keys("p", "/")
    assert browser.run(focused) == "question"
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    browser.keys("Tab")
    assert browser.run(outline) == "solid", "where the keys are is seen"


YES_OR_NO = "Does tight glucose control with intensive insulin therapy reduce mortality in critically ill adults?"
NOWHERE = "Does acupuncture help with ankle fractures in ballet dancers?"


def ask(browser: Browser, server, question: str, wait: bool = True) -> None:
    browser.go(f"{server.address}/")
    put(browser, "#question", question)
    browser.run("document.getElementById('question').focus()")
    browser.ask("Input.dispatchKeyEvent", type="rawKeyDown", key="Enter", windowsVirtualKeyCode=13, modifiers=2)
    if wait:
        browser.wait(DONE)


def test_the_form_folds_and_a_yes_or_no_question_gets_a_bar_by_design(browser, server):
    ask(browser, server, YES_OR_NO)
    assert browser.run("document.getElementById('form').hidden && !document.getElementById('asked').hidden")
    assert text(browser, "#asked-heading") == YES_OR_NO
    assert "The sources disagree" in text(browser, ".consensus figcaption")
    assert "about as likely as not" in text(browser, ".consensus .likelihood")
    sides = "[...document.querySelectorAll('.consensus .bar > div')].map((it) => it.textContent)"
    assert browser.run(sides) == ["1 yes", "1 no", "3 neither"]
    assert text(browser, ".consensus tbody th") == "randomised trial"
    click(browser, ".consensus .pip.neither")
    assert browser.run("document.activeElement.matches('.card.source') && document.querySelector('details.rest').open")
    assert browser.run("document.querySelectorAll('#reader .source .badge.yes, #reader .source .badge.no').length") == 2
    click(browser, "#edit")
    assert browser.run("document.activeElement.id") == "question" and not browser.run(
        "document.querySelector('form').hidden"
    )
    assert browser.run("document.getElementById('question').value") == YES_OR_NO
    click(browser, "#go")
    browser.wait("document.getElementById('form').hidden")
    browser.wait(DONE)
    click(browser, "#another")
    assert browser.run("document.getElementById('question').value") == ""


def test_after_an_answer_keys_move_through_it_and_a_citation_has_a_card(browser, server):
    ask(browser, server, YES_OR_NO)
    assert browser.run("document.activeElement.id") == "reader"
    browser.keys("n")
    assert browser.run("document.activeElement.matches('.claim.open .chip[aria-expanded=true]')")
    assert "Word for word in [1]" in text(browser, "#reader .held .verdict")
    browser.keys("Enter")
    assert not browser.run("document.querySelector('.claim.open')")
    browser.keys("Tab")
    browser.wait("!!document.querySelector('.hovering')")
    card = text(browser, ".hovering")
    assert "NICE-SUGAR" in card and "2009" in card and "randomised trial" in card
    assert "increased 90-day mortality" in text(browser, ".hovering mark")
    inside = "(({left, right, top}) => left >= 0 && right <= document.documentElement.clientWidth && top >= 0)"
    assert browser.run(f"{inside}(document.querySelector('.hovering').getBoundingClientRect())")
    browser.keys("Escape")
    assert not browser.run("document.querySelector('.hovering')")
    place = browser.run("(({x, y}) => [x + 5, y + 5])(document.querySelector('.chip').getBoundingClientRect())")
    browser.ask("Input.dispatchMouseEvent", type="mouseMoved", x=place[0], y=place[1])
    browser.wait("!!document.querySelector('.hovering')")
    assert "Leuven" in text(browser, ".hovering")
    browser.keys("?")
    browser.wait("!!document.querySelector('dialog[open]')")
    assert "the next sentence" in text(browser, "dialog")
    browser.keys("n")
    assert not browser.run("document.querySelector('.claim.open')"), "keys do nothing behind the list of keys"
    browser.keys("Escape")
    browser.wait("!document.querySelector('dialog')")


def test_a_refusal_says_why_what_helps_and_what_is_nearest(browser, server):
    ask(browser, server, NOWHERE)
    said = text(browser, ".refusal")
    assert "do not answer this question" in said and "exceptionally unlikely" in said
    assert "No source that was found mentions acupuncture" in said
    assert browser.run("document.querySelectorAll('.refusal .cards .card').length") == 5
    assert "--" not in said
    click(browser, ".refusal .help:nth-of-type(2)")
    browser.wait("!!document.querySelector('#reader .answer .chip')")
    browser.wait(DONE)
    assert "probably do not answer" in text(browser, "#reader .notice")


def test_a_question_in_progress_can_be_stopped_and_edited(browser, server):
    ask(browser, server, YES_OR_NO, wait=False)
    assert browser.run("!document.getElementById('stop').hidden")
    assert text(browser, "#clock").startswith("Working for")
    click(browser, "#stop")
    browser.wait("document.getElementById('status').textContent === 'Stopped.'")
    assert browser.run("!document.getElementById('form').hidden && document.activeElement.id") == "go"
    assert browser.run("document.getElementById('question').value") == YES_OR_NO


def test_the_page_is_light_does_not_shift_and_prints_the_answer_alone(browser, server, tmp_path: Path):
    browser.look(tmp_path / "look.png")
    ask(browser, server, YES_OR_NO, wait=False)
    shifts = "window.shifts = 0; new PerformanceObserver((list) => { for (const shift of list.getEntries()) "
    shifts += (
        "if (!shift.hadRecentInput) window.shifts += shift.value; }).observe({type: 'layout-shift', buffered: true})"
    )
    browser.run(f"{shifts}; 0")
    browser.wait(DONE)
    browser.look(tmp_path / "look.png")
    assert browser.run("window.shifts") < 0.05
    scripts = (
        "[...document.querySelectorAll('script:not([type])')].reduce((size, it) => size + it.textContent.length, 0)"
    )
    assert browser.run(scripts) < 90_000
    shown = "(selector) => getComputedStyle(document.querySelector(selector)).display !== 'none'"
    browser.ask("Emulation.setEmulatedMedia", media="print")
    assert browser.run(f"['nav', '#acts', '.progress', '#edit'].filter({shown})") == []
    assert browser.run(f"['#asked-heading', '.consensus', '.answer', '.card'].every({shown})")
    browser.ask(
        "Emulation.setEmulatedMedia", media="", features=[{"name": "prefers-reduced-motion", "value": "reduce"}]
    )
    assert browser.run("getComputedStyle(document.querySelector('.chip')).transitionDuration") == "0s"


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
    assert text(browser, "h1#asked-heading") == "Do statins cause muscle pain?"
    browser.turn(first)
    browser.wait(DONE)
    assert text(browser, "h1#asked-heading") == "Does aspirin prevent heart attacks?"


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
    assert browser.run("document.querySelectorAll('script').length") == 3


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


@needs_axe
@pytest.mark.parametrize(
    ("language", "dark", "width"),
    [
        ("en", False, 390),
        ("en", False, 1280),
        ("en", True, 390),
        ("en", True, 1280),
        ("de", False, 390),
        ("es", True, 1280),
    ],
)
def test_axe_finds_nothing_serious(browser, server, tmp_path: Path, language: str, dark: bool, width: int):
    def look(where: str) -> None:
        assert browser.run("document.documentElement.lang") == language
        browser.look(tmp_path / "look.png", dark=dark, width=width)
        assert [it for it in browser.violations() if it[0] in ("serious", "critical")] == [], where

    browser.go(f"{server.address}/")
    browser.run(f"document.cookie = 'vericite-language={language}; path=/'")
    browser.go(f"{server.address}/?")
    look("ask")
    click(browser, ".example")
    browser.wait(DONE)
    browser.run("for (const it of document.querySelectorAll('details')) it.open = true")
    browser.keys("n")
    look("answer")
    ask(browser, server, NOWHERE)
    look("refusal")
    check(browser, server)
    browser.wait(DONE)
    browser.keys("n", "n")
    look("checked")
    click(browser, "#repair")
    browser.wait("!document.getElementById('before').hidden")
    browser.run("for (const it of document.querySelectorAll('details')) it.open = true")
    look("repaired")
    browser.go(f"{server.address}/library")
    browser.wait("document.querySelectorAll('#within option').length")
    put(browser, "#query", "aspirin")
    click(browser, "#find")
    browser.wait("!!document.querySelector('#making li')")
    browser.run("for (const it of document.querySelectorAll('details')) it.open = true")
    look("library")
    browser.go(f"{server.address}/runs")
    look("runs")
