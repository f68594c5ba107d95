"""The page is given what the commands print of a run."""

from __future__ import annotations

from typing import Any

from vericite.evaluate.items import Item
from vericite.records import Answer, CheckedAnswer, Document, Rationale, RationaleStep, Verdict
from vericite.records.results import Provenance, Summary
from vericite.reporting.data import ShownAnswer
from vericite.text.citations import parse_answer

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
