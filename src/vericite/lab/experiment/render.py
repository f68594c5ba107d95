"""Render tables as text, Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from io import StringIO

from vericite.evaluate.scoring import signed
from vericite.evaluate.significance import ALPHA
from vericite.generate.printed import HOW_TO_PRINT
from vericite.lab.experiment.tables import Column, Table, TableFigure

Form = Callable[[Table], str]


def shown(value: float, column: Column) -> str:
    """Format a figure without the zero before the decimal point, as in the papers."""
    text = f"{value * column.scale:.{column.decimals}f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) and column.scale == 1 else text


def ours(figure: TableFigure | None) -> str:
    """Format our figure with its interval."""
    if figure is not None and figure.failed:
        return "failed"
    if figure is None or figure.estimate is None or figure.estimate.value is None:
        return "-"
    found, column = figure.estimate, figure.column
    if found.low is None or found.high is None:
        return shown(found.value or 0.0, column)
    return f"{shown(found.value or 0.0, column)} [{shown(found.low, column)}, {shown(found.high, column)}]"


def papers(figure: TableFigure | None, names: Sequence[str]) -> str:
    """Format the paper's figures at this place, in the order of its systems."""
    if figure is None or not figure.printed:
        return "-"
    known = [name for name in names if name in figure.printed]
    # They are as printed in the paper, so percentages are not scaled again.
    column = figure.column
    return " / ".join(shown(figure.printed[name] / column.scale, column) for name in known)


def lines_of(table: Table) -> tuple[list[str], list[list[str]]]:
    """Return heads and rows as strings, with a column for the paper's figures after each of ours that has some."""
    has = [
        any((figure := row.figures[index]) is not None and figure.printed for row in table.rows)
        for index in range(len(table.heads))
    ]
    heads = [*table.names, "n"]
    for index, head in enumerate(table.heads):
        heads += [head, *(["paper"] if has[index] else [])]
    rows: list[list[str]] = []
    for row in table.rows:
        cells = [*row.names, "-" if row.questions is None else str(row.questions)]
        for index, figure in enumerate(row.figures):
            cells += [ours(figure), *([papers(figure, table.papers)] if has[index] else [])]
        rows.append(cells)
    return heads, rows


def notes_of(table: Table) -> list[str]:
    """Return the notes below a table."""
    layout = table.layout
    found = [f"Intervals: 95 %, over questions. {signed(table.drawn)}"]
    if layout.printed:
        systems = " / ".join(table.papers)
        found.append(f"paper: what {layout.source} printed" + (f", for {systems}" if systems != "paper" else ""))
    if table.our_wording:
        found.append(f"prompts: our wording ({', '.join(table.our_wording)}); {HOW_TO_PRINT}")
    measures = ", ".join(f"{column.name} = {column.measure}" for column in layout.columns)
    return [*found, measures, *layout.notes, *(f"warning: {warning}" for warning in table.warnings)]


def compared(table: Table) -> list[str]:
    """Return a sentence for each comparison."""
    return [
        f"{comparison.name}: {comparison.found.sentence}" if comparison.name else comparison.found.sentence
        for comparison in table.comparisons
    ]


def as_text(table: Table) -> str:
    """Render a table as text with aligned columns."""
    heads, rows = lines_of(table)
    widths = [max(len(line[index]) for line in (heads, *rows)) for index in range(len(heads))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in (heads, *rows)
    ]
    rule = "-" * max(map(len, lines))
    return "\n".join([table.layout.title, "", lines[0], rule, *lines[1:], rule, *notes_of(table), *compared(table)])


def as_markdown(table: Table) -> str:
    """Render a table as GitHub Markdown."""
    heads, rows = lines_of(table)

    def line(cells: Sequence[str]) -> str:
        return (
            "| "
            + " | ".join(cell.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ") for cell in cells)
            + " |"
        )

    marks = "|" + "|".join("---" for _ in heads) + "|"
    below = [f"- {note}" for note in (*notes_of(table), *compared(table))]
    return "\n".join([f"**{table.layout.title}**", "", line(heads), marks, *map(line, rows), "", *below])


_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip


_DIFFERS, _PERHAPS, _PAPER = r"\dagger", r"\ast", r"\ddagger"


def as_latex(table: Table) -> str:
    """Render a table for booktabs, with the columns of the layout and footnote marks.

    The number of questions is in the caption, or after the row's name if it differs between rows. The paper's figures
    are in parentheses after ours. The sentences of comparisons follow as comments.
    """
    counts = {row.questions for row in table.rows if row.questions is not None}
    marks = _marks(table)
    used: set[str] = set(marks.values())
    lines: list[str] = []
    for number, row in enumerate(table.rows):
        if number and len(table.names) > 1 and row.names[0] != table.rows[number - 1].names[0]:
            lines.append(r"\midrule")
        *names, last = row.names or ("",)
        many = f" (n = {row.questions})" if len(counts) > 1 and row.questions is not None else ""
        cells = [*map(_escaped, names), _escaped(last + many)]
        for index, figure in enumerate(row.figures):
            mark = marks.get((row.names, index), "")
            cells.append(_escaped(ours(figure)) + (f"$^{{{mark}}}$" if mark else ""))
            if figure is not None and figure.printed:
                used.add(_PAPER)
                cells[-1] += f" ({_escaped(papers(figure, table.papers))})$^{{{_PAPER}}}$"
        lines.append(" & ".join(cells) + r" \\")
    heads = " & ".join(map(_escaped, (*(table.names or ("",)), *table.heads))) + r" \\"
    shape = "l" * max(1, len(table.names)) + "c" * len(table.heads)
    same = f" n = {next(iter(counts))}." if len(counts) == 1 else ""
    intervals, *notes = notes_of(table)
    if table.layout.printed:
        notes = notes[1:]
    below = [f"$^{{{mark}}}$ {_escaped(text)}" for mark, text in _footnotes(table).items() if mark in used]
    below += map(_escaped, notes)
    comments = [f"% {' '.join(line.split())}" for line in compared(table)]
    return "\n".join(
        [
            r"\begin{table}", r"\centering", rf"\begin{{tabular}}{{{shape}}}", r"\toprule", heads, r"\midrule",
            *lines, r"\bottomrule", r"\end{tabular}",
            rf"\caption{{{_escaped(table.layout.title)}.{_escaped(same)} {_escaped(intervals)}}}",
            rf"\label{{tab:{_slug(table.name or table.layout.title)}}}",
            r"{\footnotesize", *(rf"\par\smallskip {line}" for line in below), "}", r"\end{table}", *comments,
        ]
    )  # fmt: skip


def _marks(table: Table) -> dict[tuple[tuple[str, ...], int], str]:
    """Return the mark of each figure that differs significantly from the one it is compared with."""
    found: dict[tuple[tuple[str, ...], int], str] = {}
    for comparison in table.comparisons:
        raw = comparison.found.test.p
        mark = _DIFFERS if comparison.found.differs else _PERHAPS if raw is not None and raw < ALPHA else None
        if mark is not None:
            found.update(dict.fromkeys(comparison.places, mark))
    return found


def _footnotes(table: Table) -> dict[str, str]:
    """Return the text of each mark."""
    along = f"the first row along {table.layout.compare}"
    corrected = f" after Holm's correction for {len(table.comparisons)} comparisons" if table.comparisons[1:] else ""
    systems = " / ".join(table.papers)
    printed = f"what {table.layout.source} printed" + (f", for {systems}" if systems != "paper" else "")
    return {
        _DIFFERS: f"differs from {along}: p < {ALPHA}{corrected}",
        _PERHAPS: f"differs from {along} only without the correction: p < {ALPHA} by itself, not{corrected}",
        _PAPER: printed,
    }


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in text)


def as_csv(table: Table) -> str:
    """Render a table as CSV with a line for each figure: ours with interval and counts, or one from the paper."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*table.names, "column", "measure", "by", "value", "low", "high", "n", "missing"])
    for row in table.rows:
        for head, figure in zip(table.heads, row.figures, strict=True):
            if figure is None:
                continue
            found, names = figure.estimate, [_plain(name) for name in row.names]
            measured = [_plain(head), figure.column.measure]
            if figure.failed:
                writer.writerow([*names, *measured, "ours", "failed", "", "", "", row.questions])
            if found is not None:
                writer.writerow([*names, *measured, "ours", found.value, found.low, found.high, found.n, found.missing])
            for system, value in figure.printed.items():
                writer.writerow([*names, *measured, f"paper: {system}", value, "", "", "", ""])
    return out.getvalue().rstrip("\n")


def _plain(cell: str) -> str:
    """Escape a cell that a spreadsheet would read as a formula."""
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t")) else cell


FORMS: dict[str, Form] = {"text": as_text, "markdown": as_markdown, "latex": as_latex, "csv": as_csv}
