"""``vericite repair``: answers whose rejected citations are mended."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vericite.cli.io import clean, count_lines, say_json
from vericite.cli.options import (
    CacheOption,
    ColumnsOption,
    ConcurrencyOption,
    DocumentsOption,
    FormatOption,
    JudgeOption,
    PlanFileOption,
    PlanOutOption,
    PriceOption,
    ProtocolOption,
    ReplyOption,
    RequestsOption,
    TimeoutOption,
    TokensOption,
)
from vericite.cli.plans import plan_of
from vericite.cli.refusals import refuse_same, refuse_unwritable, report

if TYPE_CHECKING:
    from vericite.cli.terminal import Terminal
    from vericite.errors import RecordError
    from vericite.records import Repaired


def repair(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(help="JSONL of answers, in the forms that check reads.")],
    documents: DocumentsOption = None,
    llm: Annotated[
        str | None,
        typer.Option(help="A language model that rewrites sentences, such as ollama:llama3.2.", metavar="MODEL"),
    ] = None,
    corpus: Annotated[
        str | None,
        typer.Option(
            help="Where to look for documents that support a sentence, when those of the answer do not: demo, pubmed, "
            "a store, or a JSONL file.",
            metavar="NAME",
        ),
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="How often an answer is mended and checked again.")] = 2,
    drop_uncited: Annotated[
        bool, typer.Option("--drop-uncited", help="Delete sentences that cite nothing and that nothing supports.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Write the repaired answers here, as check reads them.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print each answer with its changes as JSON.")] = False,
    format: FormatOption = "auto",
    columns: ColumnsOption = None,
    protocol: ProtocolOption = "default",
    judge: JudgeOption = None,
    concurrency: ConcurrencyOption = 8,
    rpm: RequestsOption = None,
    tpm: TokensOption = None,
    timeout: TimeoutOption = 60,
    price: PriceOption = None,
    reply_tokens: ReplyOption = 256,
    cache: CacheOption = True,
    plan: PlanFileOption = None,
    plan_out: PlanOutOption = None,
) -> None:
    """Mend the citations of answers that the verifier rejects, and show what was changed.

    A rejected citation is dropped where the sentence has a sound one, or replaced by a document that does support the
    sentence; else the sentence is rewritten so that its source supports it, or deleted. Supported sentences are not
    touched. A record that cannot be used is reported and costs itself alone; the exit code is then 2.
    """
    from vericite.cli.answers import read_answers
    from vericite.cli.io import output
    from vericite.cli.show import ledger_of, show_ledger
    from vericite.cli.terminal import ProgressLine, Terminal
    from vericite.corpus.retractions import known_retractions
    from vericite.formats import AnswerToCheck
    from vericite.pipeline.build import build_repairer

    refuse_same(out, file, documents)
    refuse_unwritable(out)
    problems: list[RecordError] = []
    repairer = build_repairer(plan_of(ctx, "repair", plan, plan_out), problems)
    console = Terminal()
    totals = RepairTotals()
    try:
        progress = ProgressLine("repairing", "answers", count_lines(file))
        with progress.running(), output(out, "stopped; {} repaired answers are in") as written:
            answers = map(
                known_retractions().flagged_answer, read_answers(file, format, documents, problems, columns=columns)
            )
            for found in repairer.repair_many(answers):
                totals.add(found)
                progress.update(totals.answers)
                _show(console, found, as_json)
                if written is not None:
                    written.add([AnswerToCheck.of(found.answer)])
    finally:
        # Also of a run that was stopped: it was paid for.
        show_ledger(ledger_of(repairer.rewriter))
        show_ledger(ledger_of(repairer.verifier.judge))
    if not as_json:
        console.print(totals.line)
    report(problems)


class RepairTotals:
    """What was done to all answers of a run."""

    def __init__(self) -> None:
        self.answers = self.kept = self.recited = self.rewritten = self.dropped = 0
        self._before = self._after = (0, 0)

    def add(self, found: Repaired) -> None:
        """Count an answer."""
        from vericite.records.results import support

        self.answers += 1
        self.kept += found.kept
        self.recited += found.count("re-cited")
        self.rewritten += found.count("rewritten")
        self.dropped += found.count("dropped")
        self._before = _sum(self._before, support(found.before))
        self._after = _sum(self._after, support(found.checked.summary))

    @property
    def line(self) -> str:
        """In a line."""
        counts = f"{self.kept} kept, {self.recited} re-cited, {self.rewritten} rewritten, {self.dropped} dropped"
        return (
            f"{self.answers} answers: {counts}; citations supported {_of(self._before)} before, {_of(self._after)} now"
        )


def _show(console: Terminal, found: Repaired, as_json: bool) -> None:
    from rich.text import Text

    from vericite.cli.show import show_changes
    from vericite.records import to_json

    if as_json:
        say_json(to_json(found))
        return
    console.print(Text(clean(found.answer.id), style="bold"))
    for line in found.answer.text.splitlines():
        console.print(Text(clean(line)))
    show_changes(console, found.changes, found.left)
    console.print()


def _sum(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return one[0] + other[0], one[1] + other[1]


def _of(share: tuple[int, int]) -> str:
    return f"{share[0]}/{share[1]}"
