from __future__ import annotations

import time
from io import StringIO

import pytest
from rich.console import Console

from vericite.cli.show import show_run
from vericite.cli.terminal import StageLine, Terminal
from vericite.corpus import demo_questions
from vericite.pipeline.ask import Pipeline
from vericite.pipeline.check import check
from vericite.records import Run
from vericite.reporting.run_lines import native


@pytest.fixture(scope="module")
def run() -> Run:
    return Pipeline.over().run(demo_questions()[0], 2)


def printed(run: Run, *retrievers: str) -> str:
    evidence = tuple(
        hit.model_copy(update={"retriever": name}) for hit, name in zip(run.evidence, retrievers, strict=True)
    )
    out = StringIO()
    show_run(Console(file=out, width=400, highlight=False), run.model_copy(update={"evidence": evidence}))
    return out.getvalue()


def test_a_source_says_which_of_pubmeds_searches_found_it(run: Run):
    first, second = (line for line in printed(run, "pubmed(tiab)", "pubmed(atm)").splitlines() if "  pubmed(" in line)
    assert first.endswith(f"{run.evidence[0].document.id}  pubmed(tiab)")
    assert second.endswith(f"{run.evidence[1].document.id}  pubmed(atm)")


def test_of_other_sources_no_retriever_is_told(run: Run):
    assert printed(run, "bm25", "oracle") == printed(run, "oracle", "bm25")


def test_beside_what_cites_a_retracted_document_stands_that_it_is(run: Run):
    first, second = (hit.document for hit in run.evidence)
    text = f"{first.text.split('. ')[0]} [1]. {second.text.split('. ')[0]} [2]."
    flagged = first.model_copy(update={"retracted": True})
    checked = check(text, [flagged, second])
    hit = run.evidence[0].model_copy(update={"document": flagged})
    written = run.answer.model_copy(update={"selected": ()})
    changed = {"answer": written, "checked": checked, "evidence": (hit, run.evidence[1])}
    shown = printed(run.model_copy(update=changed), "bm25", "bm25")
    cited = [line for line in shown.splitlines() if " RETRACTED" in line]
    assert len(cited) == 3 and all("[2]" not in line for line in cited)
    assert cited[0].endswith(f"{first.id}  RETRACTED")
    assert cited[1].startswith("  [1] ") and " RETRACTED " in cited[1]
    assert cited[2].endswith(" 1 of 2 citations is of a RETRACTED document.")
    assert "RETRACTED" not in printed(run, "bm25", "bm25")


def test_while_a_model_writes_its_words_and_the_seconds_are_shown():
    out = StringIO()
    console = Terminal(width=40, file=out, force_terminal=True)
    stage = StageLine(console)
    with stage.running():
        stage.begin("answering")
        stage.add("Zinc helps\n")
        stage.add("\x1b[31mmost.")
        stage._began -= 12
        time.sleep(0.4)
        stage.begin("checking")
        time.sleep(0.3)
    shown = out.getvalue()
    assert "answering, 12 s" in shown and "Zinc helps �[31mmost." in shown
    assert "checking" in shown.split("Zinc helps")[-1]


def test_a_contradicted_sentence_is_not_called_partly_supported_beside_it():
    checked = check("Statins raise LDL [1].", ["Statins lower LDL."])
    (verdict,) = checked.verdicts
    assert verdict.label == "contradicted"
    assert native(verdict.model_copy(update={"degree": "partly supported"})) == ""
    irrelevant = {"degree": "partly supported", "label": "irrelevant", "native": "irrelevant"}
    assert native(verdict.model_copy(update=irrelevant)) == "partly supported"
