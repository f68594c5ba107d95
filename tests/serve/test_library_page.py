"""The library in a browser: a shelf is built with progress, asked, changed and removed."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from browser import CHROMIUM, Browser, needs_axe

pytest.importorskip("lancedb", reason="needs the extra [store]")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None or sys.platform == "win32", reason="Chromium is not installed"),
]
PAIN = "Zelotrine for pain\n\nZelotrine reduced pain in 40 of 80 adults. Nausea was common."
SHELF = "document.querySelector('.shelf[data-name=\"Pain & fever\"]')"


@pytest.fixture
def library(tmp_path: Path, server) -> Iterator[Browser]:
    with Browser(tmp_path) as made:
        made.go(f"{server.address}/library")
        made.wait("document.querySelectorAll('.shelf').length")
        yield made
        assert not made.complaints
        assert all(it.startswith((server.address, "about:", "data:", "blob:")) for it in made.requests), made.requests


def text(browser: Browser, selector: str) -> str:
    return browser.run(f"document.querySelector({json.dumps(selector)}).textContent")


def click(browser: Browser, words: str, within: str = SHELF) -> None:
    begins = f"(it) => it.textContent.startsWith({json.dumps(words)})"
    browser.run(f"[...{within}.querySelectorAll('button, a, summary')].find({begins}).click()")


def files(folder: Path) -> list[Path]:
    (folder / "zelotrine.txt").write_text(PAIN)
    rows = [
        {"id": f"d{number}", "title": f"<b>Trial {number}</b>", "text": f"Drug {number} helped."}
        for number in range(60)
    ]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows) + "{}\n")
    (folder / "odd.xyz").write_bytes(bytes(range(256)) * 9)
    return [folder / name for name in ("zelotrine.txt", "rows.jsonl", "odd.xyz")]


def test_a_shelf_is_built_asked_changed_and_removed(library, server, tmp_path: Path):
    library.choose("#files", *files(tmp_path))
    library.wait("document.querySelectorAll('#chosen li').length === 3")
    assert library.run("document.getElementById('name').value") == "zelotrine"
    library.run("document.getElementById('name').value = 'Pain & fever'")
    library.run("window.status_ = document.getElementById('status'); window.heard = []; 0")
    library.run("new MutationObserver(() => heard.push(status_.textContent)).observe(status_, {childList: true}); 0")
    library.run("document.getElementById('make').click()")
    library.wait("document.getElementById('status').textContent === 'Pain & fever: 1 file could not be read.'")
    assert library.run("heard.filter((it) => it.startsWith('Reading'))") == [
        "Reading zelotrine.txt, file 1 of 3.", "Reading rows.jsonl, file 2 of 3.", "Reading odd.xyz, file 3 of 3.",
    ]  # fmt: skip
    assert library.run("document.activeElement.getAttribute('aria-label')") == "Ask Pain & fever"
    assert library.run(f"{SHELF}.querySelectorAll('.files .bad').length") == 1
    assert library.run(f"{SHELF}.querySelector('time').dateTime").endswith("Z")
    click(library, "Documents")
    library.wait(f"{SHELF}.querySelectorAll('.rows li').length === 50")
    click(library, "Show more")
    library.wait(f"{SHELF}.querySelectorAll('.rows li').length === 61")
    assert library.run(f"{SHELF}.querySelectorAll('.rows b').length") == 0, "a title is text"
    library.run(f"[...{SHELF}.querySelectorAll('.rows button')][1].click()")
    library.wait(f"{SHELF}.querySelectorAll('.rows li').length === 60")
    library.wait(f"{SHELF}.querySelector('.meta').textContent.startsWith('60 documents')")
    assert library.run("document.activeElement.getAttribute('aria-label')").startswith("Remove ")
    library.go(f"{server.address}/?corpus=Pain%20%26%20fever")
    assert (
        library.run("document.getElementById('corpus').selectedOptions[0].textContent")
        == "Pain & fever: shelf, 60 documents"
    )
    library.run("document.getElementById('question').value = 'Does zelotrine reduce pain?'")
    library.run("document.getElementById('go').click()")
    library.wait("document.getElementById('acts') && !document.getElementById('acts').hidden")
    assert "reduced pain" in text(library, "#reader")
    library.go(f"{server.address}/check")
    assert library.run("[...document.querySelectorAll('.works')].map((it) => it.value)") == ["demo", "Pain & fever"]
    library.go(f"{server.address}/library")
    library.wait(f"{SHELF} !== null")
    click(library, "Remove")
    assert library.run("document.activeElement.textContent") == "Keep it"
    click(library, "Remove the shelf", "document.querySelector('dialog')")
    library.wait(f"{SHELF} === null")
    library.wait("document.activeElement.getAttribute('aria-label') === 'Ask demo'")


def test_a_shelf_that_waits_says_what_is_missing(library, server, tmp_path: Path):
    id = server.post("/v1/shelves", {"name": "Pain & fever", "files": ["zelotrine.txt", "lost.pdf"]}).json()["id"]
    library.go(f"{server.address}/library")
    library.wait(f"{SHELF} !== null")
    assert "Not complete: 0 of 2 files have been read" in library.run(f"{SHELF}.textContent")
    assert library.run(f"{SHELF}.querySelector('a')") is None
    library.run("window.HTMLInputElement.prototype.click = () => {}; 0")
    click(library, "Add files")
    library.choose("#more-files", files(tmp_path)[0])
    library.wait(f"{SHELF}.textContent.includes('Not complete: 1 of 2 files')")
    library.wait(f"[...{SHELF}.querySelectorAll('button')].some((it) => it.textContent.startsWith('Leave'))")
    click(library, "Leave the rest out")
    library.wait(f"{SHELF}.querySelector('a') !== null")
    assert text(library, "#status") == "Pain & fever is complete."
    assert server.request("DELETE", f"/v1/shelves/{id}").status_code == 204


def test_a_refused_file_leaves_the_others(library, server, tmp_path: Path):
    """The first file is refused, and the second is sent again after a wait."""
    id = server.post("/v1/shelves", {"name": "Pain & fever", "files": ["odd.xyz", "zelotrine.txt"]}).json()["id"]
    sent = [file for file in files(tmp_path) if file.name != "rows.jsonl"][::-1]
    library.go(f"{server.address}/library")
    library.wait(f"{SHELF} !== null")
    library.run("""{
      const real = window.fetch, busy = { status: 429, headers: { 'retry-after': '1' } };
      window.tries = [];
      window.fetch = (path, init) => {
        const name = (path.match(/files\\?name=(.*)/) || [])[1];
        if (name) tries.push(name);
        const no = (message, how) => Promise.resolve(new Response(JSON.stringify({ error: { message } }), how));
        if (name === 'odd.xyz') return no('expected a smaller file', { status: 413 });
        return name && tries.length < 3 ? no('expected fewer requests', busy) : real(path, init);
      };
      window.HTMLInputElement.prototype.click = () => {};
    } 0""")
    click(library, "Add files")
    library.choose("#more-files", *sent)
    library.wait("document.getElementById('status').textContent === 'Pain & fever: 1 file could not be read.'")
    assert library.run("tries") == ["odd.xyz", "zelotrine.txt", "zelotrine.txt"]
    assert library.run(f"{SHELF}.querySelector('.bad').textContent") == "odd.xyz expected a smaller file"
    assert library.run(f"{SHELF}.querySelector('.add').disabled") is False
    click(library, "Documents")
    library.wait(f"{SHELF}.querySelectorAll('.rows li').length === 1")
    library.choose("#more-files", files(tmp_path)[1])
    library.wait(f"{SHELF}.querySelectorAll('.rows li').length === 50")
    assert server.request("DELETE", f"/v1/shelves/{id}").status_code == 204


@needs_axe
def test_axe_finds_nothing_in_the_library(library, server, tmp_path: Path):
    id = server.post("/v1/shelves", {"name": "Pain & fever", "files": ["zelotrine.txt", "lost.pdf"]}).json()["id"]
    server.request("POST", f"/v1/shelves/{id}/files?name=zelotrine.txt", content=PAIN.encode())
    library.go(f"{server.address}/library")
    library.wait(f"{SHELF} !== null")
    click(library, "Documents")
    library.wait(f"{SHELF}.querySelectorAll('.rows li').length === 1")
    library.run("document.getElementById('query').value = 'does aspirin prevent heart attacks'")
    library.run("document.getElementById('find').click()")
    library.wait("document.querySelectorAll('#results .card').length === 10")
    assert library.violations() == []
    assert server.request("DELETE", f"/v1/shelves/{id}").status_code == 204


def test_designs_are_in_the_language_of_the_page(library, server):
    library.run("document.cookie = 'vericite-language=de; path=/'")
    library.go(f"{server.address}/library")
    library.wait("document.querySelectorAll('.shelf').length")
    library.run("document.getElementById('query').value = 'aspirin'")
    library.run("document.getElementById('find').click()")
    trials = "[...document.querySelectorAll('.facet')].find((it) => it.textContent.startsWith('randomisierte Studie'))"
    library.wait(f"{trials} !== undefined")
    library.run(f"{trials}.click()")
    library.wait("document.querySelectorAll('.facet[aria-pressed=true]').length === 1")
    designs = "new Set([...document.querySelectorAll('#results .badge.design')].map((it) => it.textContent))"
    assert library.run(f"[...{designs}]") == ["randomisierte Studie"]


def test_a_search_is_narrowed_by_what_its_documents_are(library):
    status, cards = (
        "document.getElementById('status').textContent",
        "document.querySelectorAll('#results .card').length",
    )
    library.run("document.getElementById('query').value = 'does aspirin prevent heart attacks'")
    library.run("document.getElementById('find').click()")
    library.wait(f"{cards} === 10 && {status}.includes('found')")
    found = int("".join(filter(str.isdigit, library.run(status))))
    trials = "[...document.querySelectorAll('.facet')].find((it) => it.textContent.startsWith('randomised trial'))"
    assert 5 < library.run(f"Number({trials}.querySelector('small').textContent)") < found
    click(library, "randomised trial", "document.getElementById('facets')")
    library.wait("document.querySelectorAll('.facet[aria-pressed=true]').length === 1")
    assert library.run("document.activeElement.textContent").startswith("randomised trial"), "the focus stays"
    designs = "new Set([...document.querySelectorAll('#results .badge.design')].map((it) => it.textContent))"
    assert library.run(f"[...{designs}]") == ["randomised trial"]
    library.run("document.querySelector('.range input').value = 2015")
    library.run("document.querySelector('.range button').click()")
    years = (
        "[...document.querySelectorAll('#results .meta')].map((it) => Number(it.textContent.match(/ (\\d{4}) /)[1]))"
    )
    library.wait(f"Math.min(...{years}) >= 2015")
    assert library.run("document.querySelectorAll('.facet[aria-pressed=true]').length") == 1
    click(library, "Clear all", "document.getElementById('facets')")
    library.wait("document.querySelectorAll('.facet[aria-pressed=true]').length === 0")
    library.wait(f"{status}.includes('{found}')")
    click(library, "Show more", "document.getElementById('found')")
    library.wait(f"{cards} === 20")
    library.run("document.getElementById('query').value = 'zzyzx'")
    library.run("document.getElementById('find').click()")
    library.wait(f"{status} === 'No document has these words.'")
