"""``vericite search``: the best documents for a question, or for many."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vericite.cli.io import clean, note, say_json, show_embedding
from vericite.cli.options import (
    BATCH,
    BatchOption,
    BestOption,
    ByOption,
    CandidatesOption,
    CleaningOption,
    ControlledOption,
    CorpusOption,
    CoverageOption,
    FromYear,
    Journals,
    KeepOption,
    Languages,
    Mesh,
    PlanOption,
    PlanOutOption,
    RelevanceOption,
    RerankByOption,
    RerankOption,
    Retracted,
    RewriteOption,
    ToYear,
    Types,
)
from vericite.cli.plans import plan_of
from vericite.cli.refusals import expect_either

if TYPE_CHECKING:
    from vericite.cli.terminal import Terminal
    from vericite.errors import RecordError
    from vericite.pipeline.search import FoundEvidence, Search
    from vericite.records import Question


def search(
    ctx: typer.Context,
    question: Annotated[str | None, typer.Argument(help="A question or words; AND and quotes mean nothing.")] = None,
    corpus: CorpusOption = "demo",
    k: Annotated[
        int | None,
        typer.Option("--k", min=1, max=10_000, help="Documents to find; 10 if not said, and of an oracle all."),
    ] = None,
    controlled: ControlledOption = None,
    cleaning: CleaningOption = None,
    plan: PlanOption = None,
    plan_out: PlanOutOption = None,
    by: ByOption = None,
    rerank: RerankOption = None,
    candidates: CandidatesOption = None,
    rewrite: RewriteOption = None,
    coverage: CoverageOption = None,
    relevance: RelevanceOption = None,
    keep: KeepOption = None,
    best: BestOption = None,
    rerank_by: RerankByOption = None,
    from_year: FromYear = None,
    to_year: ToYear = None,
    journal: Journals = None,
    mesh: Mesh = None,
    type: Types = None,
    language: Languages = None,
    retracted: Retracted = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show every stage's score, time and rewriting.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, a line a question.")] = False,
    batch: BatchOption = None,
    run: Annotated[
        Path | None,
        typer.Option(help="Write what was found here, in TREC's form.", metavar="FILE", rich_help_panel=BATCH),
    ] = None,
    tag: Annotated[
        str, typer.Option(help="The run's name in that file.", metavar="NAME", rich_help_panel=BATCH)
    ] = "vericite",
) -> None:
    """Find the documents that answer a question, the best first.

    Documents are found by their words, by meaning or by both; the first of them are ranked again by a model that
    reads question and document together; where the evidence is poor, the question is searched for again in other
    words. Documents known as retracted are shown as such, and do not count among the k.
    """
    from vericite.cli.refusals import refuse_same, refuse_unwritable, report
    from vericite.cli.show import ledger_of, show_ledger
    from vericite.pipeline.build import open_search, settings_of

    _refuse_confused(question, batch, run, tag)
    refuse_same(run, batch, Path(corpus), what="--run")
    refuse_unwritable(run, "--run")
    chosen = plan_of(ctx, "search", plan, plan_out)
    opened, problems = open_search(chosen.search, settings_of(chosen.llm), show_embedding)
    numbered, refused = _questions(question, batch)
    wrong = [*problems, *refused]
    shown = _Shown(explain, as_json, batch, run, tag)
    _carry_out(opened, numbered, chosen.search.depth(10), shown, wrong)
    if shown.nothing and chosen.search.filters.predicate():
        note(
            f"nothing was found for {shown.nothing} of {len(numbered)} questions under the filters. A document passes "
            "none that it says nothing to; `vericite corpus info STORE` says what a store's documents have"
        )
    show_ledger(ledger_of(opened.rewrite.rewriter if opened.rewrite else None))
    report(wrong)


def _refuse_confused(question: str | None, batch: Path | None, run: Path | None, tag: str) -> None:
    from vericite.errors import InputError

    expect_either(question, batch)
    if question is not None and not any(sign.isalnum() for sign in question):
        raise InputError(f"expected a query with a word to look for; found none in {question!r}")
    if run is not None and (not tag or tag.split() != [tag]):
        raise InputError(f"expected --tag to be one word; found {tag!r}")


def _questions(question: str | None, batch: Path | None) -> tuple[list[tuple[int, Question]], list[RecordError]]:
    """The questions, each with its line in the batch."""
    from vericite.records import Question

    if batch is None:
        return [(1, Question(id="question", text=question or ""))], []
    from vericite.cli.io import remark_leakage
    from vericite.formats.registry import number_questions

    remark_leakage(batch)

    return number_questions(batch)


class _Shown:
    """How what was found is shown: as lines of a run, as JSON, or else to be read."""

    def __init__(self, explain: bool, as_json: bool, batch: Path | None, run: Path | None, tag: str) -> None:
        from vericite.cli.terminal import Terminal

        self.explain, self.as_json, self.batch, self.run, self.tag = explain, as_json, batch, run, tag
        self.console: Terminal = Terminal()
        self.nothing = 0
        """Questions for which nothing was found."""

    def lines(self, question: Question, found: FoundEvidence) -> list[str]:
        """What was found for a question as the run has it, if there is one."""
        if self.run is None:
            return []
        from vericite.evaluate.trec import run_lines

        return run_lines(question.id, [hit.document.id for hit in found.evidence], self.tag)

    def print(self, question: Question, found: FoundEvidence) -> None:
        """Print it, unless the run has it and no JSON is asked for."""
        self.nothing += not found.evidence
        if self.as_json:
            say_json(json.dumps(_as_json(question, found), ensure_ascii=False))
        elif self.run is None:
            from vericite.cli.show import show_found

            if self.batch is not None:
                self.console.print(f"\n{clean(question.id)}", style="bold", markup=False)
            show_found(self.console, found, self.explain)


def _carry_out(
    opened: Search, numbered: list[tuple[int, Question]], k: int, shown: _Shown, problems: list[RecordError]
) -> None:
    from vericite.cli.io import output
    from vericite.cli.terminal import ProgressLine
    from vericite.errors import EntrezError, InputError, RecordError

    stopped = "what was found before is in"
    progress = ProgressLine("searching", "questions", len(numbered))
    with progress.running(), output(shown.run, stopped, "--run") as written:
        for number, (line, question) in enumerate(numbered, start=1):
            progress.update(number - 1)
            field = "question"
            try:
                found = opened.find(question, k)
                field = "id"
                lines = shown.lines(question, found)
            except (InputError, EntrezError) as error:
                if shown.batch is None:
                    raise
                problems.append(RecordError(shown.batch, line, field, str(error)))
                continue
            if written is not None:
                written.write(lines)
            shown.print(question, found)


def _as_json(question: Question, found: FoundEvidence) -> dict[str, Any]:
    return {
        "id": question.id,
        "question": question.text,
        "evidence": [hit.model_dump(mode="json") for hit in found.evidence],
        "rewriting": None if found.rewriting is None else found.rewriting.model_dump(mode="json"),
        "seconds": found.seconds,
    }
