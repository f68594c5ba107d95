"""The pages for every reader: languages, right-to-left text, zoom, touch, print, forced colours."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from browser import CHROMIUM, Browser
from vericite.reporting.words import LANGUAGES, phrases

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not here"),
]

DONE = "document.getElementById('acts') && !document.getElementById('acts').hidden"
QUESTION = "Does tight glucose control with intensive insulin therapy reduce mortality in critically ill adults?"
PAGES = ("/", "/check", "/library", "/runs")
WIDE = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
# Words that do not fit into their own element, or that reach beyond the page.
CUT = """[...document.querySelectorAll('main *, nav *, footer *')].filter((it) => it.checkVisibility()
  && it.textContent.trim()
  && !it.closest('.skip, .heard, .scroll, select') && getComputedStyle(it).display !== 'inline'
  && (it.scrollWidth > it.clientWidth + 1 && it.clientWidth && getComputedStyle(it).overflowX !== 'visible'
    || it.getBoundingClientRect().right > document.documentElement.clientWidth + 1
    || it.getBoundingClientRect().left < -1)).map((it) => it.outerHTML.slice(0, 200))"""
SMALL = """[...document.querySelectorAll('button, a, select, input, textarea, summary')]
  .filter((it) => it.checkVisibility() && !it.closest('.skip, p, li, small, label'))
  .map((it) => [it, it.getBoundingClientRect()]).filter(([, box]) => box.width < 24 || box.height < 24)
  .map(([it, box]) => `${box.width} x ${box.height} ${it.outerHTML.slice(0, 150)}`)"""


@pytest.fixture
def browser(tmp_path: Path, server) -> Iterator[Browser]:
    with Browser(tmp_path) as made:
        yield made
        assert not made.complaints


def sized(browser: Browser, width: int, height: int = 900, scale: int = 1) -> None:
    browser.ask(
        "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=width < 600
    )


def answered(browser: Browser, server, question: str = QUESTION) -> None:
    browser.go(f"{server.address}/")
    browser.run(
        f"document.getElementById('question').value = {json.dumps(question)};"
        "document.getElementById('form').requestSubmit()"
    )
    browser.wait(DONE)


def checked(browser: Browser, server, answer: str, source: str) -> None:
    browser.go(f"{server.address}/check")
    for selector, text in (("#answer", answer), ("#sources textarea", source)):
        browser.run(
            f"(() => {{ const it = document.querySelector({json.dumps(selector)}); it.value = {json.dumps(text)};"
            "it.dispatchEvent(new Event('input', {bubbles: true})); })()"
        )
    browser.run("document.getElementById('form').requestSubmit()")
    browser.wait(DONE)


def only_english(language: str) -> list[str]:
    """Phrases that only an English page may have."""
    of_all = [phrase for words in phrases().values() for phrase in (words["en"], words[language])]
    english, own = (
        {form for words in of_all[place::2] for form in ([words] if isinstance(words, str) else words.values())}
        for place in (0, 1)
    )
    return [form for form in english - own if len(form) > 9 and "{" not in form]


@pytest.mark.parametrize("language", ["de", "es"])
def test_a_page_in_another_language_has_all_its_words_and_nothing_is_cut(browser, server, tmp_path: Path, language):
    browser.go(f"{server.address}/")
    browser.run(
        f"(() => {{ const it = document.getElementById('language'); it.value = '{language}';"
        "it.dispatchEvent(new Event('change', {bubbles: true})); })()"
    )
    browser.wait(f"document.documentElement?.lang === '{language}' && document.readyState === 'complete'")
    for width, scale in ((1280, 1), (640, 2), (360, 1)):
        sized(browser, width, scale=scale)
        for page in PAGES:
            browser.go(f"{server.address}{page}")
            browser.run("for (const it of document.querySelectorAll('main details')) it.open = true")
            assert browser.run(WIDE), (page, width)
            assert browser.run(CUT) == [], (page, width)
            if width == 1280:
                # A text that stays in English says so.
                browser.run("for (const it of document.querySelectorAll('main [lang=en]')) it.remove()")
                shown = browser.run("document.body.innerText")
                assert [it for it in only_english(language) if f" {it} " in f" {' '.join(shown.split())} "] == []
        answered(browser, server)
        browser.run("for (const it of document.querySelectorAll('#reader details:not(.saves)')) it.open = true")
        browser.keys("n")
        assert browser.run(WIDE), width
        assert browser.run(CUT) == [], width
        browser.ask("Emulation.setDeviceMetricsOverride", width=width, height=2400, deviceScaleFactor=1, mobile=False)
        (tmp_path / f"{width}.png").write_bytes(
            base64.b64decode(browser.ask("Page.captureScreenshot", format="png")["data"])
        )
    report = browser.run("fetch(document.getElementById('report').href).then((reply) => reply.text())")
    assert f'<html lang="{language}">' in report


def test_the_language_of_a_browser_is_used_until_the_reader_chooses(server):
    for asked, cookie, language in (
        ("de-CH,en;q=0.5", "", "de"),
        ("de", "vericite-language=es", "es"),
        ("fr", "", "en"),
    ):
        page = server.get("/", **{"accept-language": asked, "cookie": cookie}).text
        assert f'<html lang="{language}">' in page
        assert f'value="{language}" lang="{language}" selected' in page
    assert set(LANGUAGES) == {"en", "de", "es"}


def test_right_to_left_texts_read_from_the_right_and_the_layout_can_be_mirrored(browser, server):
    arabic = "يقلل الزيلوترين الألم لدى نصف البالغين الذين عولجوا"
    checked(browser, server, f"{arabic} [1].", f"{arabic}. {arabic}.")
    direction = "(selector) => getComputedStyle(document.querySelector(selector)).direction"
    assert browser.run(f"['.answer p', '.source .text'].map({direction})") == ["rtl", "rtl"]
    assert browser.run(f"({direction})('h1')") == "ltr"
    for width in (360, 1280):
        sized(browser, width)
        for page in PAGES:
            browser.go(f"{server.address}{page}")
            browser.run("document.documentElement.dir = 'rtl'")
            assert browser.run(WIDE), (page, width)
        answered(browser, server)
        browser.run("document.documentElement.dir = 'rtl'")
        browser.keys("n")
        assert browser.run(WIDE) and browser.run(CUT) == [], width
    box = "(selector) => document.querySelector(selector).getBoundingClientRect()"
    assert browser.run(f"({box})('nav strong').left > ({box})('nav a:last-of-type').right"), "mirrored"


def test_fingers_find_what_they_touch_and_marks_remain_without_colours(browser, server):
    sized(browser, 360)
    browser.ask("Emulation.setTouchEmulationEnabled", enabled=True)
    for page in PAGES:
        browser.go(f"{server.address}{page}")
        assert browser.run(SMALL) == [], page
    answered(browser, server)
    assert browser.run(SMALL) == []
    assert browser.run("[...document.querySelectorAll('.chip')].every((it) => it.getBoundingClientRect().height >= 24)")
    browser.ask("Emulation.setEmulatedMedia", features=[{"name": "forced-colors", "value": "active"}])
    assert browser.run("matchMedia('(forced-colors: active)').matches")
    signs = "[...document.querySelectorAll('.chip .sign')].map((it) => it.textContent)"
    assert browser.run(f"{signs}.length && {signs}.every((it) => it.trim())")
    edges = "(selector) => getComputedStyle(document.querySelector(selector)).borderStyle"
    assert browser.run(f"['.chip', '.bar > div'].map({edges})") == ["solid", "solid"]


def test_paper_has_the_answer_and_the_texts_of_its_sources_and_nothing_to_press(browser, server, tmp_path: Path):
    pypdfium2 = pytest.importorskip("pypdfium2")
    answered(browser, server)
    body = browser.run("document.querySelector('.source .text').textContent")
    sheet = base64.b64decode(browser.ask("Page.printToPDF")["data"])
    found = pypdfium2.PdfDocument(sheet)
    printed = " ".join(" ".join(page.get_textpage().get_text_range() for page in found).split())
    assert " ".join(body.split())[:60] in printed and " ".join(body.split())[-60:] in printed
    signs = browser.run("[...document.querySelectorAll('.chip .sign')].map((it) => it.textContent)")
    assert signs and all(it in printed for it in signs), "a mark has a shape"
    for control in ("Copy answer", "New question", "Language", "all keys"):
        assert control not in printed, control
    assert browser.run("document.querySelectorAll('.for-print').length") == 0, "folded again"


def test_the_answer_has_the_focus_after_it_was_asked_by_keys(browser, server):
    browser.go(f"{server.address}/")
    browser.run("document.getElementById('question').focus()")
    browser.run(f"document.getElementById('question').value = {json.dumps(QUESTION)}")
    browser.ask("Input.dispatchKeyEvent", type="keyDown", key="Enter", windowsVirtualKeyCode=13, modifiers=2, text="\r")
    browser.wait(DONE)
    browser.keys("n")
    assert browser.run("document.activeElement.classList.contains('chip')")
    browser.keys("?")
    named = browser.run("[...document.querySelectorAll('dialog dt')].map((it) => it.innerText.trim())")
    assert {"?", "n", "p", "/", "Ctrl Enter"} <= {" ".join(it.split()) for it in named}
    browser.keys("Escape")
    browser.wait("!document.querySelector('dialog')")
