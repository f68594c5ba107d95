"""``vericite check`` for a manuscript: its citing sentences, its references, and a copy with comments."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from vericite.cli.exits import ExitCode
from vericite.cli.gates import gate_code, remark_unjudged, say_gates
from vericite.cli.io import note, output, remark, say_json
from vericite.cli.refusals import report
from vericite.errors import InputError, UnknownNameError
from vericite.pipeline.plan import Plan
from vericite.records import STDIN

if TYPE_CHECKING:
    from vericite.cli.ci import CIReports
    from vericite.evaluate.baseline import Baseline, BaselineResult
    from vericite.evaluate.gates import Gate, GateResult
    from vericite.pipeline.manuscript import ManuscriptCheck

MANUSCRIPT = "manuscript"
"""The format that says that a file is a manuscript, where its name and content do not."""

_BY_KEY = re.compile(rb"\[[^\]\n]{0,200}@[A-Za-z0-9_][^\]\n]{0,200}\]")
FORMS = (".docx", ".pdf", ".md", ".csv", ".xlsx", ".html", ".json", ".jsonl")
"""Suffixes of the files that --out writes of a manuscript."""
_COPIES = {".docx": "a Word document", ".pdf": "a PDF"}
"""Suffixes of copies of the manuscript with comments."""


def is_manuscript(file: Path, format: str) -> bool:
    """Whether a file is a manuscript: Word, PDF, LaTeX, HTML, or Markdown that cites by key ([@smith2019]).

    Other Markdown and text is an answer unless the format says otherwise.

    Raises:
        UnknownNameError: The format is unknown.
    """
    from vericite.formats.registry import format_names, names_columns

    if format not in ("auto", MANUSCRIPT) and not names_columns(format) and format not in format_names():
        raise UnknownNameError("format", format, [*format_names(), MANUSCRIPT])
    if format != "auto" or file == STDIN or not file.is_file():
        return format == MANUSCRIPT
    from vericite.corpus.manuscript.registry import MANUSCRIPTS

    if any(file.suffix.lower() in MANUSCRIPTS[name].suffixes for name in ("docx", "pdf", "latex", "html")):
        return True
    with file.open("rb") as opened:
        head = opened.read(1 << 20)
    return head.startswith(b"%PDF-") or (file.suffix.lower() in (".md", ".markdown") and bool(_BY_KEY.search(head)))


def refuse_form(file: Path, out: Path | None) -> None:
    """Refuse an output file of a form that a manuscript is not written in.

    Raises:
        InputError: The suffix is another, or the copy is of another kind than the manuscript.
        MissingExtraError: Excel workbooks need an extra.
    """
    from vericite.corpus.manuscript.registry import manuscript_kind
    from vericite.formats.tables import workbooks

    if out is not None and out.suffix.lower() not in FORMS:
        raise InputError(f"expected --out to end in {', '.join(FORMS)} for a manuscript; found {out}")
    form = "" if out is None else out.suffix.lower()
    if out is not None and form in _COPIES and manuscript_kind(file) != form[1:]:
        other = out.with_suffix(".md")
        raise InputError(f"expected {_COPIES[form]} of which {out} is a copy; found {file}. Write {other}")
    if form == ".docx" and file.suffix.lower() == ".docm":
        raise InputError(f"expected a document without macros for {out}; found {file}. Save it as .docx first")
    if form == ".xlsx":
        workbooks()


def check_paper(
    plan: Plan,
    file: Path,
    documents: Path | None,
    out: Path | None,
    page: Path | None,
    rows: int,
    as_json: bool,
    gates: Sequence[Gate],
    reports: CIReports,
    earlier: Baseline | None,
) -> None:
    """Check a manuscript, show what a person should look at, and write the files that were asked for."""
    from vericite.cli.show import show_blocks
    from vericite.cli.terminal import ProgressLine, Terminal
    from vericite.evaluate.citation_rates import CitationRates
    from vericite.pipeline.manuscript import check_document
    from vericite.reporting.manuscript import manuscript_figures, manuscript_lines
    from vericite.text.counted import counted

    doing = {"files": "reading", "references": "looking up", "sentences": "checking"}
    progress = ProgressLine("reading", "files")
    with progress.running():

        def show(what: str, done: int, total: int) -> None:
            progress.begin(doing[what], what)
            progress.of(done, total)

        check = check_document(file, _sources(documents), plan=plan, on_progress=show)
    if documents is None and check.unsourced:
        named = "pubmed, pmc, crossref, a store, a file or a folder"
        sentences = counted(len(check.unsourced), "sentence")
        remark(f"no source was named, so {sentences} cannot be judged. Name one with --documents: {named}")
    if as_json:
        say_json(json.dumps(manuscript_figures(check), indent=2, ensure_ascii=False))
    else:
        show_blocks(Terminal(), manuscript_lines(check, rows))
    for line in check.manuscript.notes:
        remark(line)
    for path in filter(None, (out, page)):
        if check.sentences or path.suffix.lower() not in _COPIES:
            _write(check, file, path, is_page=path is page)
    rates = CitationRates()
    rates.add(check.gated)
    reports.add_manuscript(check, file)
    compared_with = earlier and earlier.counts
    results = [gate.result(rates.summary, compared_with) for gate in gates]
    compared = None if earlier is None else earlier.result()
    say_gates(results, compared)
    lookups = ExitCode.NOT_RUN if check.every_lookup_failed else ExitCode.OK
    code = max(_code(results, compared, bool(check.sentences)), lookups)
    problems = () if earlier is None else earlier.problems
    reports.end(results, compared, problems, code)
    remark_unjudged(rates.summary, code)
    report(problems, code)


def _sources(documents: Path | None) -> list[str]:
    """Return the named sources: one, or several with commas between them."""
    from vericite.cli.answers import remark_service

    named = "" if documents is None else str(documents)
    names = [named] if named and Path(named).exists() else [name for part in named.split(",") if (name := part.strip())]
    for name in names:
        remark_service(name)
    return names


def _code(results: Sequence[GateResult], compared: BaselineResult | None, has_sentences: bool) -> ExitCode:
    if not has_sentences:
        remark("expected sentences with citations; found none. Is it the file you meant?")
        return ExitCode.BAD_INPUT
    return gate_code(results, compared)


def _write(check: ManuscriptCheck, file: Path, path: Path, is_page: bool) -> None:
    from vericite.cli.io import written
    from vericite.disk.files import write_bytes
    from vericite.records import to_json
    from vericite.reporting.manuscript import manuscript_table, manuscript_workbook, with_footnotes

    form = path.suffix.lower()
    if is_page or form == ".html":
        _write_page(check, path)
    elif form in _COPIES:
        _write_copy(check, file, path)
    elif form == ".xlsx":
        with written(path):
            write_bytes(path, manuscript_workbook(check))
        note(f"{path}: {check.summary}")
    else:
        texts = {".md": with_footnotes, ".csv": manuscript_table}
        with output(path) as written:
            assert written is not None
            written.write([texts[form](check) if form in texts else to_json(check) + "\n"])
        note(f"{path}: {check.summary}")


def _write_page(check: ManuscriptCheck, path: Path) -> None:
    from vericite.cli.report import write_report
    from vericite.evaluate.items import Item
    from vericite.evaluate.scoring import System

    name = check.manuscript.name
    system = System(name, (Item(check.answer.id, check.answer, check.checked, manuscript=check),))
    note(write_report([system], path, check.manuscript.title or name))


def _write_copy(check: ManuscriptCheck, file: Path, path: Path) -> None:
    """Write a copy of the manuscript with comments."""
    from vericite.cli.io import written
    from vericite.disk.files import write_bytes
    from vericite.reporting.manuscript import copy_with_comments
    from vericite.text.counted import counted

    is_pdf = path.suffix.lower() == ".pdf"
    made = copy_with_comments(file, check)
    with written(path):
        write_bytes(path, made.content)
    note(f"{path}: {counted(made.placed, 'comment')}")
    if made.unplaced:
        places = "" if is_pdf else " (for example, on sentences in footnotes)"
        remark(
            f"{counted(made.unplaced, 'comment')} could not be placed in {path}{places}. See them with --out FILE.csv"
        )
