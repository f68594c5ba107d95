"""Runs: searched by words, compared side by side, saved together; times in the reader's zone."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from browser import CHROMIUM, Browser, needs_axe

SOURCE = {"id": "d1", "title": "Zelotrine", "text": "Zelotrine reduced pain in 40 of 80 adults. Nausea was common."}
FIRST = "Zelotrine reduced pain in 40 of 80 adults [1]. It cured baldness in all men [1]. It rains."
SECOND = "Zelotrine reduced pain in 40 of 80 adults. It cured baldness in all men [1]. It snows."


@pytest.fixture
def runs(server) -> Iterator[list[str]]:
    """Two checked answers to one question, with a word that no other run has."""
    question = 'Does "zelotrine" hilft Müttern?'
    made = [
        server.post("/v1/check", {"question": question, "answer": answer, "documents": [SOURCE]}).json()["run"]
        for answer in (FIRST, SECOND)
    ]
    yield made
    for id in made:
        server.request("DELETE", f"/v1/runs/{id}")


def found(server, words: str) -> set[str]:
    reply = server.request("GET", "/v1/runs", params={"words": words})
    return {run["id"] for run in reply.json()["runs"]}


def test_runs_are_found_by_words_of_question_and_answer(server, runs):
    assert found(server, "MÜTTERN baldness") == set(runs)
    assert found(server, '"zelotrine" snows') == {runs[1]}
    assert not found(server, "nausea müttern"), "a word of a source"
    assert not found(server, "müttern zzyzx")
    page = httpx2.get(f"{server.address}/runs", params={"words": '"><b>müttern'}, timeout=60).text
    assert "<b>müttern" not in page


def test_two_runs_are_one_report(server, runs):
    report = server.get(f"/v1/runs/{runs[0]}/report?other={runs[1]}").text
    assert "It snows" in report and "It rains" in report
    assert server.get(f"/v1/runs/{runs[0]}/report?other={'0' * 32}").status_code == 404
    for query, status in ((f"run={runs[0]}", 422), (f"run={runs[0]}&run={'0' * 32}", 404), ("", 422)):
        assert httpx2.get(f"{server.address}/runs/compare?{query}", timeout=60).status_code == status


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None or sys.platform == "win32", reason="Chromium is not installed")
def test_two_runs_are_chosen_and_shown_side_by_side(server, runs, tmp_path: Path):
    with Browser(tmp_path) as browser:
        browser.ask("Emulation.setTimezoneOverride", timezoneId="Pacific/Honolulu")
        browser.go(f"{server.address}/runs?words=m%C3%BCttern")
        assert browser.run("[...document.querySelectorAll('.runs li')].map((it) => it.dataset.id)") == runs[::-1]
        shown = "(() => { const it = document.querySelector('.runs time'); return [it.textContent, it.dateTime]; })()"
        text, time = browser.run(shown)
        format = (
            "new Intl.DateTimeFormat('en', {dateStyle: 'medium', timeStyle: 'short', timeZone: 'Pacific/Honolulu'})"
        )
        assert time.endswith("+00:00") and text == browser.run(f"{format}.format(new Date('{time}'))")
        assert browser.run("document.querySelector('.compare-bar').hidden")
        browser.run("document.querySelectorAll('input[name=run]').forEach((it) => it.click())")
        browser.run("document.getElementById('compare').click()")
        browser.wait("document.querySelectorAll('#answers .claim').length === 6")
        assert browser.run("document.getElementById('h-differing').textContent").startswith("1 sentence has different")
        assert browser.run("document.querySelector('#differing .sentence').textContent").startswith("Zelotrine reduced")
        rows = "[...document.querySelectorAll('.outcomes tbody tr')].map((it) => it.innerText.split('\\t'))"
        assert ["✓ supported", "0", "1"] in browser.run(rows)
        browser.run("document.querySelector('#differing button').click()")
        assert browser.run("document.querySelectorAll('#answers .claim.open').length") == 2
        assert browser.run("document.activeElement.className").startswith("chip")
        assert not browser.complaints
        assert all(it.startswith((server.address, "about:", "data:")) for it in browser.requests)


@needs_axe
@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None or sys.platform == "win32", reason="Chromium is not installed")
def test_axe_finds_nothing_in_the_pages_of_runs(server, runs, tmp_path: Path):
    with Browser(tmp_path) as browser:
        browser.go(f"{server.address}/runs")
        assert browser.violations() == []
        browser.go(f"{server.address}/runs/compare?run={runs[0]}&run={runs[1]}")
        browser.wait("document.querySelectorAll('#answers .claim').length === 6")
        browser.run("document.querySelector('#differing button').click()")
        assert browser.violations() == []
