"""The ready experiments of Reason and Verify have the settings of the paper: rewriting, demonstrations, the judge."""

from __future__ import annotations

from pathlib import Path

import pytest

from vericite.generate.prompt import load_prompt
from vericite.lab.experiment.config import Cell, Experiment
from vericite.lab.experiment.tables import Layout
from vericite.records import Question

pytest.importorskip("yaml", reason="needs PyYAML")

EXPERIMENTS = Path(__file__).parents[2] / "experiments"


def cells(name: str) -> list[Cell]:
    return Experiment.load(EXPERIMENTS / f"reason-verify-{name}.yaml").expanded()


@pytest.mark.parametrize("name", ["table2", "table3", "table4"])
def test_questions_are_rewritten_as_published(name: str):
    published = (0.3, 0.5, 5, "new", "rewriting", 0)
    for cell in cells(name):
        search = cell.plan.search
        never = cell.at.get("system") in ("vanilla", "closed book")
        assert search.rewrite == ("none" if never else "openai:gpt-4o"), cell.name
        trigger = (search.coverage, search.relevance, search.relevance_top)
        assert (*trigger, search.keep, search.rerank_by, search.rewrite_shown) == published


@pytest.mark.parametrize("name", ["table2", "table2-offline"])
def test_the_row_with_demonstrations_has_the_best_number_of_each_set(name: str):
    dynamic = {cell.at["data"]: cell.plan for cell in cells(name) if cell.at["system"] == "dynamic"}
    assert {data: plan.answer.shots for data, plan in dynamic.items()} == {"BioASQ-Y/N": 3, "PubMedQA*": 2}
    assert {plan.answer.select for plan in dynamic.values()} == {"similar"}
    assert all(plan.search.rerank != "none" for plan in dynamic.values())
    assert dynamic["PubMedQA*"].answer.prompt == "reason-verify-pubmedqa"


def test_table_4_shows_the_verifier_the_whole_rationale():
    for cell in cells("table4"):
        assert cell.plan.answer.rationale and cell.plan.answer.together
        assert cell.plan.check.judge == "llm-eight:openai:gpt-4o"
        cell.plan.answer.expect_coherent()
    layout = Layout.load("reason-verify-4")
    means = {
        rater: sum(row.figures["Faith(R)"] for row in layout.printed if row.at["rater"] == rater) / 4
        for rater in ("Annotator A", "Annotator B", "LLM verifier")
    }
    assert {rater: round(mean, 2) for rater, mean in means.items()} == {
        "Annotator A": 0.85, "Annotator B": 0.65, "LLM verifier": 0.94
    }  # fmt: skip


def test_the_documents_cited_are_printed_for_both_models():
    docs = {
        (row.at["model"], row.at["k"]): row.figures["docs"]
        for row in Layout.load("vericite-2").printed
        if "docs" in row.figures
    }
    assert docs == {
        ("Mistral-7B", "3"): 2.5, ("Mistral-7B", "15"): 5.5, ("Mistral-7B", "oracle"): 5.9,
        ("Llama-3.1-70B", "oracle"): 5.3,
    }  # fmt: skip


@pytest.mark.parametrize("twin", ["table2", "table2-offline"])
def test_every_row_of_table_2_is_told_the_options_of_its_questions(twin: str):
    found = cells(twin)
    assert sum(cell.at["system"] == "vanilla" for cell in found) == 2
    for cell in found:
        options = load_prompt(cell.plan.answer.prompt).options.values()
        assert set(options) == {"yes", "no", *(["maybe"] if cell.at["data"] == "PubMedQA*" else [])}, cell.at
        system, user = load_prompt(cell.plan.answer.prompt).messages(
            Question(id="q", text="Does it?", type="yesno"), ()
        )
        assert "FINAL ANSWER" in system.text and all(f". {option}" in user.text for option in options), cell.at
