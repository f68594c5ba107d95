from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from vericite.cli.show import show_run
from vericite.corpus import demo_questions
from vericite.pipeline import Pipeline
from vericite.records import Run


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
