"""``vericite check``: check the citations of answers from any program."""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vericite.cli.exits import ExitCode
from vericite.cli.io import clean, count_lines, note, remark, say_json
from vericite.cli.options import DocumentsOption, FormatOption
from vericite.cli.plans import takes_plan
from vericite.cli.refusals import prepare_output, refuse_same, report
from vericite.cli.workers import (
    Making,
    Shared,
    local_copy,
    made_by,
    shared_of,
)
from vericite.errors import Problems
from vericite.pipeline.plan import Plan

if TYPE_CHECKING:
    from vericite.cli.ci import CIReports
    from vericite.cli.show import Row
    from vericite.cli.terminal import Terminal
    from vericite.evaluate.baseline import BaselineResult
    from vericite.evaluate.citation_rates import CitationRates
    from vericite.evaluate.gates import GateResult
    from vericite.evaluate.items import Item
    from vericite.formats.registry import OnFormat
    from vericite.records import Answer, CheckedAnswer


_CI = "Build servers"


@takes_plan("check")
def check(
    ctx: typer.Context,
    plan: Plan,
    file: Annotated[
        Path,
        typer.Argument(
            help='JSONL: {"id"?, "question"?, "answer": "text with [1]", "documents": [{"id"?, "title"?, "text"}]}; '
            "another format; a CSV, TSV, Excel or Parquet file; a .gz of one; s3://bucket/file; - for standard input; "
            "or a manuscript: .docx, .pdf, .tex, .html, or .md that cites by key"
        ),
    ],
    format: FormatOption = "auto",
    documents: DocumentsOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write the verdicts here, one line per answer. Of a manuscript: .docx or .pdf (the same document with "
            "comments), .md, .csv, .xlsx, .html or .json."
        ),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option("--report", help="Write an HTML page here: answers, verdicts, sources.", metavar="FILE"),
    ] = None,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(
            help="Exit with code 1 if a share is lower, as in supported=0.9. A bare number is the supported share of "
            "all cases, dangling citations and uncited sentences; supported-citations leaves out the sentences.",
            metavar="SHARES",
        ),
    ] = None,
    fail_over: Annotated[
        list[str] | None,
        typer.Option(
            help="Exit with code 1 if a share is higher, as in contradicted=0,uncited=0.1,dangling=0. Other names: "
            "irrelevant, abstained, failed, figure (supported, but the source has another figure), opposed, retracted.",
            metavar="SHARES",
        ),
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option(
            help="Verdicts of an earlier run, as written by --out: fail only if this run is worse, and name the "
            "sentences that got worse.",
            metavar="FILE",
            rich_help_panel=_CI,
        ),
    ] = None,
    junit: Annotated[
        Path | None,
        typer.Option(help="Write JUnit XML here: a test for each citation.", metavar="FILE", rich_help_panel=_CI),
    ] = None,
    sarif: Annotated[
        Path | None,
        typer.Option(help="Write SARIF 2.1.0 here: findings with lines.", metavar="FILE", rich_help_panel=_CI),
    ] = None,
    github: Annotated[
        bool, typer.Option("--github", help="Print annotations for GitHub Actions.", rich_help_panel=_CI)
    ] = False,
    rows: Annotated[
        int,
        typer.Option(min=0, help="Maximum verdicts (of a manuscript: sentences to look at) to list in the terminal."),
    ] = 40,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON, and no verdicts.")] = False,
) -> None:
    """Check every citation of a file of answers, and print rates with 95% intervals; or those of a manuscript.

    An unusable record is reported and skipped. Exit codes: 0 all gates passed; 1 a gate failed, as each does if nothing
    was judged, or the run is worse than the baseline; 2 wrong input or usage, including an unusable record or a file
    without answers; 3 the command could not run, or a gate is undecided because cases could not be judged.
    """
    from vericite.cli.answers import read_answers
    from vericite.cli.ci import CIOptions, CIReports
    from vericite.cli.gates import read_baseline, remark_unjudged, say_gates
    from vericite.cli.manuscript import FORMS, check_paper, is_manuscript, refuse_form
    from vericite.cli.show import show_ledger
    from vericite.evaluate.gates import parse_gates
    from vericite.formats.files import is_text
    from vericite.models.contracts import ledger_of
    from vericite.pipeline.build import explain_of, judge_of, protocol_of, settings_of
    from vericite.pipeline.check import check_many

    gates = parse_gates(fail_under or (), fail_over or ())
    refuse_same(out, file, documents)
    is_paper = is_manuscript(file, format)
    if is_paper:
        refuse_form(file, out)
    prepare_output(out, is_shared=plan.workers.ray is not None, endings=FORMS if is_paper else ())
    refuse_same(page, file, documents, what="--report")
    _refuse_no_page(page)
    prepare_output(page, "--report")
    options = CIOptions(junit, sarif, github, as_json)
    options.refuse(file, documents, baseline)
    _refuse_one_file({"--baseline": baseline, "--out": out, "--report": page, "--junit": junit, "--sarif": sarif})
    problems = Problems()
    earlier = read_baseline(baseline, problems)
    if is_paper:
        with CIReports(options, file, False, earlier) as reports:
            return check_paper(plan, file, documents, out, page, rows, as_json, gates, reports, earlier)
    shared = shared_of(ctx, plan.workers, out)
    file = local_copy(ctx, file)
    reports = CIReports(options, file, is_text(file, format == "markdown"), earlier)
    answers = read_answers(file, format, documents, problems, _format_shown(bool(gates)), reports.on_line)
    judged_by = judge_of(plan.check, settings_of(plan.llm))
    before = ledger_of(judged_by)
    protocol, explain = protocol_of(plan.check, judged_by), explain_of(plan, problems)
    table = _Table(0 if as_json else rows, out is not None, plan.check.precision)
    items: list[Item] | None = None if page is None else []
    with reports:
        try:
            found = (
                _checked(answers, partial(check_many, protocol=protocol, cache=plan.llm.cache, explain=explain), out)
                if shared is None
                else _checked_by_workers(answers, plan, shared)
            )
            with closing(found) as checked:
                rates = _pooled(checked, table, count_lines(file), reports, items)
        finally:
            # An interrupted run also cost money.
            used = ledger_of(judged_by)
            show_ledger(used if before is None else used.since(before))
        compared_with = earlier and earlier.counts
        results = [gate.result(rates.summary, compared_with) for gate in gates]
        compared = None if earlier is None or not rates.answers else earlier.result()
        if as_json:
            _print_figures(rates, results, compared)
        elif rates.answers:
            table.end(rates)
            say_gates(results, compared)
        if page is not None and items is not None:
            _write_page(items, file, page)
        code = max(_code(rates, results, compared), ExitCode.BAD_INPUT if problems else ExitCode.OK)
        reports.end(results, compared, problems, code)
        remark_unjudged(rates.summary, code)
        report(problems, code)


def _refuse_no_page(page: Path | None) -> None:
    from vericite.errors import InputError

    if page is not None and page.suffix.lower() not in (".html", ".htm"):
        raise InputError(
            f"expected --report to end in .html; found {page}. For .csv, .docx and .md, keep the verdicts with --out "
            f"verdicts.jsonl, then: vericite report verdicts.jsonl --out {page}"
        )


def _refuse_one_file(files: Mapping[str, Path | None]) -> None:
    from vericite.disk.bucket import bucket_address
    from vericite.errors import InputError

    seen: dict[Path, str] = {}
    for option, path in files.items():
        if path is None:
            continue
        if (other := seen.setdefault(path.resolve(), option)) != option:
            raise InputError(
                f"expected {other} and {option} to be two files; found {bucket_address(path) or path} for both"
            )


@dataclass
class _CheckedSoFar:
    """A checked answer, and how many answers were read by then: the verifier reads ahead to fill its batches."""

    answer: Answer
    checked: CheckedAnswer
    read: int


def _checked(
    answers: Iterator[Answer], check: Callable[[Iterator[Answer]], Iterator[CheckedAnswer]], out: Path | None
) -> Generator[_CheckedSoFar]:
    """Check the answers, and write the verdicts if an output file is given."""
    from vericite.cli.io import output

    read = 0
    waiting: deque[Answer] = deque()

    def counted() -> Iterator[Answer]:
        nonlocal read
        for answer in answers:
            read += 1
            waiting.append(answer)
            yield answer

    with output(out, "stopped; the verdicts on {} answers are in") as written:
        for checked in check(counted()):
            if written is not None:
                written.add([checked])
            yield _CheckedSoFar(waiting.popleft(), checked, read)


def _checked_by_workers(answers: Iterator[Answer], plan: Plan, shared: Shared) -> Generator[_CheckedSoFar]:
    """Check the answers with workers."""
    from vericite.records import CheckedAnswer
    from vericite.scale import CheckWork

    making = Making(
        CheckedAnswer,
        lambda checked: checked,
        lambda checked: checked.summary.citations,
        "citations",
        "stopped; the verdicts on {} answers are in",
    )
    with closing(made_by(shared, CheckWork(check=plan.check, llm=plan.llm), answers, making)) as made:
        for task, checked in made:
            yield _CheckedSoFar(task.answer, checked, task.ready)


def _pooled(
    found: Iterator[_CheckedSoFar], table: _Table, total: int | None, reports: CIReports, items: list[Item] | None
) -> CitationRates:
    """Compute the rates, report the findings, and collect the answers in ``items`` if it is given."""
    from vericite.cli.terminal import ProgressLine
    from vericite.evaluate.citation_rates import CitationRates
    from vericite.evaluate.items import Item

    rates = CitationRates()
    with ProgressLine("checking", "answers", total).running() as progress:
        for result in found:
            rates.add(result.checked)
            table.add(result.checked)
            reports.add(result.answer, result.checked)
            if items is not None:
                items.append(Item(result.answer.id, result.answer, result.checked))
            progress.update(rates.answers, f"{rates.summary.citations:,} citations", result.read)
    return rates


def _write_page(items: list[Item], file: Path, page: Path) -> None:
    from vericite.cli.report import write_report
    from vericite.evaluate.scoring import System, system_names

    name = "answers" if str(file) == "-" else system_names([file])[0]
    note(write_report([System(name, tuple(items))], page))


class _Table:
    """Lists verdicts as soon as enough are collected, and the rates at the end."""

    def __init__(self, limit: int, is_kept: bool, precision: float | None = None) -> None:
        from vericite.cli.terminal import Terminal

        self._console, self._limit, self._is_kept = Terminal(), limit, is_kept
        self._rows: list[Row] = []
        self._unread: Counter[str] = Counter()
        self._assumed: list[str] = []
        self._precision = precision
        self._unsure = 0
        self._is_shown = False

    def add(self, checked: CheckedAnswer) -> None:
        """Add an answer's verdicts, up to the limit."""
        from vericite.cli.show import verdict_rows

        self._unread.update(marker[:40] for marker in checked.unread)
        self._assumed.extend(checked.assumed)
        self._unsure += checked.unsure
        if self._is_shown or not self._limit:
            return
        self._rows += islice(map(_with_claim, verdict_rows(checked)), self._limit - len(self._rows))
        if len(self._rows) >= self._limit:
            self._show()

    def _show(self) -> None:
        self._is_shown = True
        if self._rows:
            _list_rows(self._console, self._rows)

    def end(self, rates: CitationRates) -> None:
        """Show the remaining verdicts, the number of unlisted ones, a legend and the rates."""
        from vericite.cli.show import show_legend, show_rates
        from vericite.cli.terminal import Terminal
        from vericite.reporting.run_lines import retracted_citations

        if not self._is_shown:
            self._show()
        listed = rates.summary.cases + rates.summary.dangling + rates.summary.uncited
        if listed > len(self._rows):
            more = f"... and {listed - len(self._rows)} more" + (
                "" if self._is_kept else " (--out FILE keeps them all)"
            )
            self._console.print(more, style="dim")
        self._console.print()
        show_legend(self._console, self._rows)
        if self._rows:
            self._console.print()
        # In a narrower terminal the lines wrap, which is better than truncated figures.
        show_rates(Terminal(width=max(self._console.width, _RATES_WIDTH)), rates)
        if self._precision is not None:
            of = self._unsure + rates.summary.supported
            told = f"precision {self._precision:g}: abstained from {self._unsure} of {of} supported."
            if self._unsure:
                told += " Only these became abstentions, so do not compare the shares with those of a run without it."
            self._console.print(told)
        if rates.summary.retracted:
            self._console.print(f"{retracted_citations(rates.summary)}.", style="bold red")
        if rates.summary.unread:
            self._show_unread(rates.summary.unread)
        if self._assumed:
            count = len(self._assumed)
            self._console.print(f"{count} answer{'s' if count > 1 else ''}: {self._assumed[0]}", style="yellow")

    def _show_unread(self, count: int) -> None:
        """Show the number of markers that match no document, and the most frequent of them."""
        most = self._unread.most_common(_UNREAD_SHOWN)
        shown = ", ".join(clean(marker) + (f" ({times} times)" if times > 1 else "") for marker, times in most)
        left = count - sum(times for _, times in most)
        more = f" and {left} more" if left else ""
        markers = f"{count} marker{'s' if count > 1 else ''} not read: {shown}{more}"
        they = "They match" if count > 1 else "It matches"
        self._console.print(f"{markers}. {they} no known document.", style="yellow")
        self._console.print("Is it a text with a list of references? Read it with --format manuscript.", style="yellow")


_UNREAD_SHOWN = 3


def _print_figures(rates: CitationRates, results: Sequence[GateResult], compared: BaselineResult | None) -> None:
    from vericite.evaluate.gates import overall

    figures = {"answers": rates.answers, "counts": rates.summary.model_dump(mode="json"), "rates": rates.records}
    gate = {"outcome": overall(results), "gates": [result.record for result in results]} if results else None
    more = {} if compared is None else {"baseline": compared.record}
    say_json(json.dumps({**figures, "gate": gate, **more}, indent=2, ensure_ascii=False))


_RATES_WIDTH = 80
"""Columns that the table of rates needs, for any number of answers."""

_CLAIM_WIDTH = 30
"""Columns that claims need in a table, unless all are shorter."""


def _with_claim(row: Row) -> Row:
    """Fill in the empty claim of a marker without text."""
    from rich.text import Text

    *rest, claim = row
    return row if str(claim) else (*rest, Text("(no text with the citation)", "dim"))


def _list_rows(console: Terminal, rows: Sequence[Row]) -> None:
    """Show a table if the terminal is wide enough, else each verdict on a line with its claim below.

    If only the details are too wide for the table, they stand below the claims. No text is cut.
    """
    from rich.padding import Padding
    from rich.text import Text

    from vericite.cli.show import show_rows, with_details_below

    for table in (rows, with_details_below(rows)):
        if _table_width(table) <= console.width:
            show_rows(console, table)
            return
    for *cells, claim in rows:
        console.print(Text(" ").join(Text.assemble(cell) for cell in cells if str(cell)))
        console.print(Padding(claim, (0, 0, 0, 2)))


def _table_width(rows: Sequence[Row]) -> int:
    """Return the minimum width of the table of these rows, if only claims may wrap."""
    from rich.cells import cell_len

    heads = ("answer", "cites", "verdict", "detail", "p")
    widths = [max(cell_len(str(row[place])) for row in rows) for place in range(len(heads))]
    # The table omits an empty column only if it is the protocol's own verdict.
    shown = [max(width, len(head)) + 2 for head, width in zip(heads, widths, strict=True) if width or head != "detail"]
    longest = max((cell_len(line) for row in rows for line in str(row[-1]).split("\n")), default=0)
    return sum(shown) + min(longest, _CLAIM_WIDTH)


def _format_shown(is_gated: bool) -> OnFormat:
    """Report the detected format; with a gate, refuse a format that infers citations."""

    def show(name: str, taken: Mapping[str, str]) -> None:
        from vericite.cli.answers import note_format
        from vericite.errors import InputError
        from vericite.formats.registry import FORMATS

        if is_gated and FORMATS[name].infers_citations:
            raise InputError(
                f"expected --format with a gate for a file that looks like {name}; found none. In this format each "
                "sentence of an answer without markers cites every context, so none is uncited. Add --format "
                f"{name} if you want that, or name another format (docs/formats.md)."
            )
        note_format(name, taken)

    return show


def _code(rates: CitationRates, results: Sequence[GateResult], compared: BaselineResult | None) -> ExitCode:
    """Return the exit code, apart from unusable records."""
    if not rates.answers:
        return ExitCode.BAD_INPUT  # already reported while reading
    if not _any_judged(rates):
        return ExitCode.NOT_RUN
    from vericite.cli.gates import gate_code

    return gate_code(results, compared)


def _any_judged(rates: CitationRates) -> bool:
    """Whether the judge judged any case; if all failed, the command must not look successful."""
    failed = rates.summary.failed
    if rates.summary.judged or not failed:
        return True
    remark(f"none of {failed} cases could be judged; see the table or --out FILE for the reasons")
    return False
