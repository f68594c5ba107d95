"""``vericite evidence``: what a corpus says for and against each sentence of answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vericite.cli.io import count_lines, note, output, say_json, show_embedding
from vericite.cli.options import JsonOption
from vericite.cli.plans import takes_plan
from vericite.cli.refusals import code_of_count, prepare_output, refuse_same, report
from vericite.errors import Problems
from vericite.pipeline.plan import Plan

if TYPE_CHECKING:
    from vericite.cli.terminal import Terminal
    from vericite.records import AnswerEvidence


@takes_plan("evidence", files=False)
def evidence(
    plan: Plan,
    file: Annotated[
        Path, typer.Argument(help="Answers in any format that check reads. Documents that they cite are not needed.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write a run of BioGen's task A here: PubMed ids for and against each sentence.", metavar="FILE"
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Find articles that support and that contradict each sentence of answers, at most three of each.

    A sentence is searched for in its own words and reversed, and the judge reads each document that is found. A
    sentence that cannot be searched for is shown with the reason. Records that cannot be used are reported and skipped;
    the exit code is then 2.
    """
    from vericite.cli.show import show_ledger
    from vericite.cli.terminal import ProgressLine, Terminal
    from vericite.formats.convert import to_biogen_evidence
    from vericite.formats.registry import answers_in
    from vericite.models.contracts import ledger_of
    from vericite.pipeline.build import build_finder, open_search, settings_of
    from vericite.records import to_json
    from vericite.text.references import UnneededLibrary

    refuse_same(out, file, Path(plan.search.corpus))
    prepare_output(out)
    problems = Problems()
    answers = problems.kept(answers_in(file, documents=UnneededLibrary()))
    search = open_search(plan.search, settings_of(plan.llm), show_embedding, problems=problems)
    finder = build_finder(plan, problems, search)
    console, number, left_out = Terminal(), 0, 0
    try:
        progress = ProgressLine("searching", "answers", count_lines(file))
        with progress.running(), output(out, "stopped; what was found for {} answers is in") as written:
            for number, found in enumerate(finder.find(answers), start=1):
                progress.update(number)
                if as_json:
                    say_json(to_json(found))
                else:
                    _show(console, found)
                if written is not None:
                    written.write([_line(to_biogen_evidence(found, file.stem if out is None else out.stem))])
                    left_out += sum(not article.pmid for article in found.articles)
    finally:
        show_ledger(ledger_of(finder.judge))
    if left_out:
        note(f"left {left_out} article(s) without a PubMed id out of {out}: BioGen's format has no other ids")
    report(problems, code_of_count(number))


def _line(record: dict[str, object]) -> str:
    import json

    return json.dumps(record, ensure_ascii=False) + "\n"


def _show(console: Terminal, found: AnswerEvidence) -> None:
    from vericite.cli.show import show_blocks
    from vericite.reporting.run_lines import evidence_lines

    show_blocks(console, evidence_lines(found))
