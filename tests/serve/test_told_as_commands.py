"""The page is given what the commands print of a run."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from browser import CHROMIUM, Browser
from vericite.evaluate.items import Item
from vericite.pipeline.ask import Pipeline
from vericite.records import (
    Answer,
    CheckedAnswer,
    Document,
    Evidence,
    Ledger,
    Question,
    Rationale,
    RationaleStep,
    Run,
    Verdict,
)
from vericite.records.results import Provenance, Summary
from vericite.reporting.data import ShownAnswer
from vericite.serve.run_store import RunStore
from vericite.text.citations import parse_answer

# The service on loopback is at home with the client's own tests.
sys.path.append(str(Path(__file__).resolve().parents[1] / "llm"))

import server as scripted

DOCUMENTS = [
    {"id": "d1", "title": "Zelotrine", "text": "Zelotrine reduced pain in 40 of 80 adults."},
    {"id": "d2", "title": "RETRACTED: Bald men", "text": "In all men zelotrine cured baldness."},
    {"id": "d3", "title": "Bald men again", "text": "Zelotrine cured baldness in all men."},
]
ANSWER = (
    "Zelotrine reduced pain in 60 of 80 adults [1]. Zelotrine cured baldness in all men [1]. "
    "Zelotrine cured baldness in men [2]."
)


def test_figures_reasons_and_retractions_of_a_check(server):
    body: dict[str, Any] = {"answer": ANSWER, "documents": DOCUMENTS, "plan": {"check": {"explain": True}}}
    made = server.post("/v1/check", body).json()
    shown = server.request("GET", f"/v1/runs/{made['run']}/view", headers={"accept-language": "de"}).json()
    assert "1 of 3 citations is of a RETRACTED document." in shown["views"][0]["answer"]["remark"]
    summary = made["checked"]["summary"]
    figures = {row["name"]: row for row in shown["figures"]}
    assert figures["belegt"]["count"] == summary["supported"] and figures["belegt"]["of"] == "geprüfte Belege"
    assert all(row["low"] <= row["value"] <= row["high"] for row in shown["figures"])
    first, second, _ = shown["views"][0]["answer"]["claims"]
    assert first["verdicts"][0]["because"] == "The source says 40; the claim says 60."
    assert second["verdicts"][0]["elsewhere"] == "supported by [3] instead"


def test_an_answer_of_quotations_has_no_figures(server):
    made = server.post("/v1/ask", {"question": "Does aspirin prevent heart attacks?"}).json()
    assert made["checked"]["summary"]["quoted"] and not made["checked"]["summary"]["supported"]
    (entry, *_) = server.get("/v1/runs").json()["runs"]
    assert server.request("GET", f"/v1/runs/{entry['id']}/view").json()["figures"] == []


def test_redundant_sources_and_quotations_that_were_not_found():
    documents = tuple(Document.from_text(name, "Zinc helps.") for name in ("a", "b"))
    answer: Answer = parse_answer("q", "Zinc helps [1][2].", documents)
    step = RationaleStep(statement="Zinc helps.", documents=("a",), unfound=("Zinc cures.",))
    answer = answer.model_copy(update={"rationale": Rationale(steps=(step,))})
    verdict = Verdict(
        claim="Zinc helps.", start=0, end=18, documents=("a", "b"), markers=(1, 2), label="supported",
        native="supported", redundant=("b",), protocol="p",
    )  # fmt: skip
    checked = CheckedAnswer(
        id="q", verdicts=(verdict,), summary=Summary(claims=1, citations=2), provenance=Provenance(version="1")
    )
    row = ShownAnswer(answer, {}).row(Item("q", answer, checked))
    assert row["rationale"][0]["unfound"] == ["Zinc cures."]
    assert row["claims"][0]["verdicts"][0]["redundant"] == ["b"] and not row["bracketed"]


def lines(browser: Browser, selector: str) -> list[str]:
    return browser.run(f"[...document.querySelectorAll({json.dumps(selector)})].map((it) => it.textContent)")


def test_an_answer_and_a_check_say_what_their_own_calls_of_a_language_model_took(started):
    with scripted.ScriptedServer() as model:
        model.default = scripted.reply(json.dumps({"label": "support"}))
        settings = ("check.judge=llm-binary:" + model.spec, "llm.cache=false", "llm.price=1000000,2000000")
        options = [part for setting in settings for part in ("--set", setting)]
        server = started("--llm", f"m={model.spec}", *options)
        body = {"answer": "Zinc helps men [1]. It rains.", "documents": [{"id": "d", "text": "Zinc helped."}]}
        assert not model.arrivals, "nothing is paid for before the first request"
        first = server.post("/v1/check", body)
        asked = len(model.arrivals)
        second = server.post("/v1/check", body)
        assert asked and len(model.arrivals) == 2 * asked
        for reply in (first, second):
            calls = Ledger.model_validate_json(json.dumps(reply.json()["calls"]))
            assert (calls.attempts, calls.prompt_tokens, calls.completion_tokens) == (asked, 7 * asked, 3 * asked)
            assert calls.cost == 13 * asked, "the calls of one request, at the price of the service"
        model.default = scripted.reply("Aspirin lowers the risk [1].")
        made = server.post("/v1/ask", {"question": "Does aspirin prevent heart attacks?", "model": "m"}).json()
        assert made["calls"]["attempts"] == len(model.arrivals) - 2 * asked > made["answer"]["spent"]["calls"]
        (entry, *_) = server.get("/v1/runs").json()["runs"]
        shown = server.request("GET", f"/v1/runs/{entry['id']}/view").json()
        assert shown["made"]["calls"] == made["calls"] and shown["made"]["seconds"] == made["seconds"]
    assert Pipeline.over().run(Question(id="q", text="Does aspirin prevent heart attacks?")).calls is None


def test_precision_says_how_many_verdicts_it_left_undecided(server):
    claims = [f"Zelotrine reduced pain in {n} of 80 adults [1]." for n in (40, 50)]
    plan = {"check": {"precision": 0.8}}
    body = {"answer": " ".join(claims), "documents": DOCUMENTS, "plan": plan}
    made = server.post("/v1/check", body).json()
    shown = server.request("GET", f"/v1/runs/{made['run']}/view").json()["made"]
    unsure = sum(it["abstained"] and it["label"] == "supported" for it in made["checked"]["verdicts"])
    assert (shown["precision"], shown["unsure"]) == (0.8, unsure)
    assert shown["of"] == unsure + made["checked"]["summary"]["supported"]
    made = server.post("/v1/check", {**body, "plan": {}}).json()
    assert server.request("GET", f"/v1/runs/{made['run']}/view").json()["made"]["precision"] is None


def made_with_everything() -> Run:
    """A run of PubMed with a language model, whose protocol has a precision."""
    documents = tuple(Document.from_text(name, f"Zinc helps {name}.", name) for name in ("a", "b", "c"))
    stages = ("pubmed(tiab), reranked", "pubmed(atm)", "hybrid(bm25+dense)")
    evidence = tuple(
        Evidence(document=document, rank=rank, score=1.0, retriever=stages[rank - 1])
        for rank, document in enumerate(documents, start=1)
    )
    question = Question(id="q", text="Does zinc help?")
    answer = parse_answer("q", "Zinc helps a [1]. Zinc helps b [2].", documents, question.text)
    first, second = (
        Verdict(
            claim=claim.text, start=claim.span.start, end=claim.span.end, documents=(id,), markers=(marker,),
            label="supported", native="supported", abstained=marker == 2, protocol="p",
        )
        for marker, (claim, id) in enumerate(zip(answer.claims, ("a", "b"), strict=True), start=1)
    )  # fmt: skip
    made = Provenance(version="1", protocol="custom(claim=whole, precision=0.9, splitter=punkt)")
    summary = Summary.of(answer, (first, second), ())
    return Run(
        question=question,
        evidence=evidence,
        answer=answer,
        checked=CheckedAnswer(id="q", verdicts=(first, second), summary=summary, provenance=made),
        provenance=made,
        seconds={"retrieve": 0.0124, "generate": 2.5, "verify": 0.3},
        calls=Ledger(calls=3, cached=1, failures=1, attempts=4, prompt_tokens=1200, completion_tokens=80, cost=0.0123),
    )


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None or sys.platform == "win32", reason="Chromium is not installed")
def test_the_page_says_how_a_run_was_made(server, tmp_path: Path):
    id = RunStore(server.state / "runs").keep(made_with_everything())
    with Browser(tmp_path) as browser:
        browser.go(f"{server.address}/runs/{id}")
        browser.wait("!!document.querySelector('.of-making')")
        assert lines(browser, ".of-making li") == [
            "Time: search 12 ms, writing the answer 2.5 s, checking the citations 300 ms.",
            "Language model: 3 calls, 1 answered from the cache, 1 failed, 4 attempts, 1,200 tokens read and 80 "
            "written, $0.0123.",
            "Precision 0.90: of 2 “supported” verdicts, 1 was not sure enough and was left undecided.",
        ]
        cards = lines(browser, "#reader .card.source .meta")
        assert ["every word in title or abstract" in card for card in cards] == [True, False, False]
        assert ["its own index of terms" in card for card in cards] == [False, True, False]
        browser.run("document.cookie = 'vericite-language=de; path=/'")
        browser.go(f"{server.address}/runs/{id}?again")
        browser.wait("!!document.querySelector('.of-making')")
        assert lines(browser, ".of-making li")[1] == (
            "Sprachmodell: 3 Aufrufe, 1 aus dem Speicher beantwortet, 1 fehlgeschlagen, 4 Versuche, 1.200 Tokens "
            "gelesen und 80 geschrieben, 0,0123 US-Dollar."
        )
        assert not browser.complaints


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None or sys.platform == "win32", reason="Chromium is not installed")
def test_a_search_says_how_long_each_stage_took(server, tmp_path: Path):
    found = server.post("/v1/search", {"query": "aspirin", "plan": {"search": {"rerank": "none"}}}).json()
    assert list(found["seconds"]) == ["retrieve"] and found["documents"][0]["stage"] is None
    with Browser(tmp_path) as browser:
        browser.go(f"{server.address}/library")
        browser.wait("document.querySelectorAll('#within option').length && !document.querySelector('#find').disabled")
        browser.run("document.getElementById('query').value = 'aspirin'; document.getElementById('find').click()")
        browser.wait("!!document.querySelector('#making li')")
        assert lines(browser, "#making li")[0].startswith("Time: search ")
        assert not browser.complaints
