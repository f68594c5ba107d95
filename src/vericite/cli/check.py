"""``vericite check``: the citations of answers made elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vericite.cli.options import (
    AbstainOption,
    CacheOption,
    ChecksOption,
    ConcurrencyOption,
    DocumentsOption,
    JudgeOption,
    PriceOption,
    ProtocolOption,
    ReplyOption,
    RequestsOption,
    TimeoutOption,
    TokensOption,
    chosen,
    llm_settings,
    refuse_same,
    refuse_unwritable,
    report,
)
from vericite.cli.remarks import remark

if TYPE_CHECKING:
    from rich.console import Console

    from vericite.cli.show import Row
    from vericite.errors import RecordError
    from vericite.evaluate import CitationRates
    from vericite.records import Answer
    from vericite.verify import Protocol


def check(
    file: Annotated[
        Path,
        typer.Argument(
            help='JSONL: {"id", "question"?, "answer": "text with [1]", "documents": [{"id", "title"?, "text"}]}, '
            "or another format"
        ),
    ],
    format: Annotated[
        str,
        typer.Option(
            help="vericite, biogen, ragas, langchain, spans or markdown (docs/formats.md); auto goes by the fields of "
            "the first record.",
            metavar="NAME",
        ),
    ] = "auto",
    documents: DocumentsOption = None,
    out: Annotated[Path | None, typer.Option(help="Write the verdicts here, a line an answer.")] = None,
    protocol: ProtocolOption = "default",
    fail_under: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Exit with 1 when fewer of all citations, dangling ones included, are supported.",
        ),
    ] = None,
    rows: Annotated[int, typer.Option(min=0, help="Verdicts to list on the terminal.")] = 40,
    judge: JudgeOption = None,
    abstain_below: AbstainOption = None,
    checks: ChecksOption = None,
    concurrency: ConcurrencyOption = 8,
    rpm: RequestsOption = None,
    tpm: TokensOption = None,
    timeout: TimeoutOption = 60,
    price: PriceOption = None,
    reply_tokens: ReplyOption = 256,
    cache: CacheOption = True,
) -> None:
    """Check every citation of a file of answers, and print the rates with their 95% intervals.

    A record that cannot be used is reported and costs itself alone; the exit code is then 2.
    """
    from rich.console import Console

    from vericite.cli.reading import read_answers
    from vericite.cli.show import ledger_of, show_ledger
    from vericite.verify import load_judge

    console = Console(highlight=False)
    refuse_same(out, file, documents)
    refuse_unwritable(out)
    problems: list[RecordError] = []
    answers = read_answers(file, format, documents, problems, _tell_format)
    settings = llm_settings(concurrency, rpm, tpm, timeout, price, reply_tokens, cache)
    judged_by = None if judge is None else load_judge(judge, settings)
    before = ledger_of(judged_by)
    try:
        rates = _check_all(answers, chosen(protocol, judged_by, abstain_below, checks), out, console, rows, cache)
    finally:
        # Also of a run that was stopped: it was paid for.
        show_ledger(ledger_of(judged_by, before))
    passed = (fail_under is None or _gate(rates, fail_under)) and _any_judged(rates)
    report(problems)
    if not passed:
        raise typer.Exit(1)


def _check_all(
    answers: Iterator[Answer], protocol: Protocol, out: Path | None, console: Console, limit: int, cache: bool
) -> CitationRates:
    from rich.console import Console

    from vericite.cli.show import retracted_citations, show_rates, verdict_rows
    from vericite.cli.writing import output
    from vericite.evaluate import CitationRates
    from vericite.pipeline import check_many

    rates = CitationRates()
    rows: list[Row] = []
    progress = Console(stderr=True)
    told = "stopped; the verdicts on {} answers are in"
    with output(out, told) as written, progress.status("checking") as status:
        for checked in check_many(answers, protocol, cache=cache):
            rates.add(checked.summary)
            status.update(f"{rates.answers} answers, {rates.summary.citations} citations checked")
            rows += islice(map(_claim_told, verdict_rows(checked)), limit - len(rows))
            if written is not None:
                written.add([checked])
    if rows:
        _list_rows(console, rows)
    listed = rates.summary.cases + rates.summary.dangling + rates.summary.uncited
    if listed > len(rows):
        more = f"... and {listed - len(rows)} more" + ("" if out else " (--out FILE keeps them all)")
        console.print(more, style="dim")
    console.print()
    # In a narrower terminal its lines run over, which is better than figures cut short.
    show_rates(Console(highlight=False, width=max(console.width, _RATES_WIDTH)), rates)
    if rates.summary.retracted:
        console.print(f"{retracted_citations(rates.summary)}.", style="bold red")
    return rates


_RATES_WIDTH = 80
"""Columns in which the rates are whole, however many answers there are."""

_LEAST_CLAIM, _MOST_CLAIM = 12, 24
"""Columns that claims must have beside the rest of a table for it to be read: more where a word is longer, but no
address makes the table too wide."""


def _claim_told(row: Row) -> Row:
    """A marker that stands beside no words has no claim; an empty cell would not say so."""
    from rich.text import Text

    *rest, claim = row
    return row if str(claim) else (*rest, Text("(no text beside the citation)", "dim"))


def _list_rows(console: Console, rows: Sequence[Row]) -> None:
    """As a table, where the terminal is wide enough for one; else each verdict on a line, and under it its claim."""
    from rich.padding import Padding
    from rich.text import Text

    from vericite.cli.show import show_rows

    if _table_width(rows) <= console.width:
        show_rows(console, rows)
        return
    for *told, claim in rows:
        console.print(Text(" ").join(Text.assemble(cell) for cell in told if str(cell)))
        console.print(Padding(claim, (0, 0, 0, 2)))


def _table_width(rows: Sequence[Row]) -> int:
    """Columns that the table of these rows takes at least, if nothing but the claims may be broken into lines."""
    from rich.cells import cell_len

    heads = ("answer", "cites", "verdict", "native", "p")
    widths = [max(cell_len(str(row[place])) for row in rows) for place in range(len(heads))]
    # A column without a word is left out by the table only where it is the protocol's own.
    shown = [max(width, len(head)) + 2 for head, width in zip(heads, widths, strict=True) if width or head != "native"]
    word = max((cell_len(word) for row in rows for word in str(row[-1]).split()), default=0)
    return sum(shown) + min(max(word, _LEAST_CLAIM), _MOST_CLAIM)


def _tell_format(name: str) -> None:
    remark(f"read as {name}; --format NAME reads it otherwise")


def _gate(rates: CitationRates, fail_under: float) -> bool:
    supported, citations = rates.summary.supported, rates.summary.cases + rates.summary.dangling
    share = supported / citations if citations else 0.0
    passed = bool(citations) and share >= fail_under
    found = f"{supported} of {citations} citations supported ({share:.3f})" if citations else "no citations"
    typer.echo(f"gate {'passed' if passed else 'failed'}: {found}, --fail-under {fail_under:g}")
    return passed


def _any_judged(rates: CitationRates) -> bool:
    """Whether the judge could do its work at all; a run in which it could not must not look like a good one."""
    failed = rates.summary.failed
    if rates.summary.judged or not failed:
        return True
    remark(f"none of {failed} cases could be judged; the table and --out FILE have the reasons")
    return False
