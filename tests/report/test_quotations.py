"""A sentence quoted from its source supports itself: it is counted as quoted, never as supported, wherever it shows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import vericite
from vericite.evaluate.citation_rates import CitationRates
from vericite.formats.convert import verdict_rows
from vericite.records import Document, Run, Section
from vericite.reporting.run_lines import chosen_sentences, run_lines
from vericite.verify.protocol import protocol_names

QUESTION = "Does zelotrine prevent migraine in adults?"
TRIAL = Document(
    id="trial",
    title="Zelotrine in migraine: a randomised trial",
    year=2019,
    sections=(
        Section(label="METHODS", text="Two hundred adults with migraine received zelotrine or placebo for a year."),
        Section(label="CONCLUSIONS", text="Zelotrine prevented migraine in adults."),
    ),
)
COHORT = Document(
    id="cohort",
    title="Zelotrine in a cohort of adults with migraine",
    year=2021,
    sections=(Section(label="CONCLUSIONS", text="Zelotrine did not prevent migraine in adults."),),
)


def asked(protocol: str = "default") -> Run:
    plan = vericite.Plan().assigned(["answer.min_answer_probability=0"])
    return vericite.ask(
        QUESTION, [TRIAL, COHORT], plan=plan, protocol=protocol, judge=lambda premise, claim: "supported"
    )


def paged(run: Run, folder: Path) -> str:
    vericite.write_answers(run, folder / "a.html")
    page = (folder / "a.html").read_text(encoding="utf-8")
    # Verdicts that are there are shown, whichever protocol made them.
    assert vericite.report([run], title=QUESTION) == page
    return page


@pytest.fixture(scope="module")
def run() -> Run:
    return asked()


@pytest.mark.parametrize(
    "protocol", [name.replace("(N)", "(2)") for name in protocol_names() if name != "bioace-nuggets"]
)
def test_under_no_protocol_is_a_quotation_supported(protocol: str):
    checked = asked(protocol).checked
    assert checked.verdicts and {verdict.label for verdict in checked.verdicts} == {"supported"}
    assert {row["label"] for row in checked.rows} == {"quoted"}
    assert (checked.summary.supported, checked.support_rate.value) == (0, None)
    assert all(row[4] == "quoted" for row in verdict_rows(checked))
    assert "supported</td>" not in checked._repr_html_()
    rates = CitationRates()
    rates.add(checked)
    for name in rates.names:
        assert rates[name].n == 0 or name in ("quoted", "dangling", "uncited"), name


def test_no_measure_of_support_counts_quotations():
    names = {figure.measure for figure in vericite.score([asked("alce"), asked("default")])}
    support = ("Support", "Alce", "Contradict", "Irrelevant")
    assert names and not [name for name in names if str(name).startswith(support)]


def test_neither_page_nor_table_nor_terminal_says_supported(run: Run, tmp_path: Path, run_cli):
    page = paged(run, tmp_path)
    assert '"kind":"quoted"' in page and '"kind":"supported"' not in page
    assert not [line.text for line in run_lines(run, full=True) if "supported" in line.text]
    runs, table = tmp_path / "runs.jsonl", tmp_path / "t.csv"
    vericite.write_answers(run, runs)
    assert run_cli("report", str(runs), "--out", str(table)).code == 0
    assert ",quoted," in table.read_text() and ",supported," not in table.read_text().partition("\n")[2]


def test_next_to_a_quotation_stand_role_aspect_design_year_and_who_contradicts_it(run: Run, tmp_path: Path):
    texts = [claim.text for claim in run.answer.claims]
    assert texts[0].startswith("Zelotrine")
    first, *others = run.answer.selected
    marked = first.model_copy(update={"aspect": "effect", "answers": 0.8, "contradicted_by": ("cohort",)})
    answer = run.answer.model_copy(update={"selected": (marked, *others)})
    number = 1 + [document.id for document in answer.documents].index("cohort")
    cited = answer.claims[0].citations[0].marker
    facts = {"trial": "randomised trial, n = 200, 2019", "cohort": "cohort study, 2021"}[answer.documents[cited - 1].id]
    lines = [line.text for line in run_lines(run.model_copy(update={"answer": answer}))]
    wanted = f"1. [{cited}] conclusion on effect  {facts}; answers the question: 0.80  contradicted by [{number}]"
    assert wanted in lines
    page = paged(run.model_copy(update={"answer": answer}), tmp_path)
    assert json.dumps("conclusion on effect") in page and '"against":["cohort"]' in page
    assert '"design":"randomised trial","n":200' in page


def test_an_answer_that_is_not_quoted_has_no_chosen_sentences(run: Run):
    assert chosen_sentences(run.answer.model_copy(update={"selected": ()})) == []
