"""Answers as a document to keep or send, and the references they cite for a reference manager."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from vericite.corpus.references import links, reference_text, to_ris
from vericite.disk.files import Replacing, whole_bytes
from vericite.errors import InputError
from vericite.records import Answer, Change, CheckedAnswer, Document, Provenance, Question, Run, Summary, to_json
from vericite.reporting.blocks import StyledLine, Words, to_docx, to_markdown
from vericite.reporting.kept import shown_items, with_kept_answer
from vericite.reporting.run_lines import run_lines, told_counts
from vericite.text.counted import counted
from vericite.text.references import body_end
from vericite.version import __version__

if TYPE_CHECKING:
    from vericite.evaluate.correction import SystemByPeople
    from vericite.evaluate.scoring import System
    from vericite.reporting.page import Page
    from vericite.reporting.words import Language

TITLE = "Cited answers"
"""The heading of a page of several answers."""
FORMS = {
    ".md": "Markdown",
    ".html": "a page that opens from disk",
    ".docx": "Word",
    ".ris": "the cited references, for Zotero or EndNote",
    ".jsonl": "the runs as JSON Lines",
}
"""What is written, by the ending of the file."""
DOCUMENTS = (".docx", ".md")
"""Endings of documents that people go on writing in."""
REPORTS = (".html", ".htm", ".csv", *DOCUMENTS)
"""Endings of reports; a name without an ending is a folder."""


def form_of(out: Path) -> str:
    """Return the ending that says what to write.

    Raises:
        InputError: The ending is none of ``FORMS``.
    """
    ending = {".markdown": ".md", ".htm": ".html"}.get(out.suffix.lower(), out.suffix.lower())
    if ending not in FORMS:
        known = ", ".join(f"{ending} ({what})" for ending, what in FORMS.items())
        lines = out.with_suffix(".jsonl")
        table = f"vericite report {lines} --out {out.with_suffix('.csv')}"
        raise InputError(
            f"expected a file that ends in {known}; found {out}. For a spreadsheet, write {lines}, then: {table}"
        )
    return ending


def write_runs(runs: Sequence[Run], out: Path) -> None:
    """Write answers in the form that the file's ending asks for.

    Raises:
        InputError: The ending is unknown, or the file cannot be written.
    """
    ending = form_of(out)
    if ending in DOCUMENTS:
        _write_lines(_document(runs), out)
    else:
        _write(out, _text(runs, ending))


def is_report_folder(out: Path) -> bool:
    """Whether a report goes into a folder: there is one, or the name is new and has no ending.

    Raises:
        InputError: The ending is none of ``REPORTS``.
    """
    if out.suffix.lower() in REPORTS or out.exists():
        return out.is_dir()
    if out.suffix:
        raise InputError(
            f"expected a report to end in {', '.join(REPORTS)}, or to be the name of a folder; found {out}. "
            "Excel and LibreOffice open .csv. Create the folder first if its name has a dot"
        )
    return True


def write_report(
    systems: Sequence[System],
    out: Path,
    title: str = TITLE,
    people: Sequence[SystemByPeople] = (),
    language: Language = "en",
) -> Page | None:
    """Write the report of checked systems in the form that the name asks for; return the page if it is one.

    Raises:
        InputError: The ending is none of ``REPORTS``, or the file cannot be written.
    """
    from vericite.reporting.data import citation_table, make_report
    from vericite.reporting.page import make_page, write_page

    is_folder = is_report_folder(out)
    ending = "" if is_folder else out.suffix.lower()
    if ending == ".csv":
        _write(out, [citation_table(systems)])
    elif ending in DOCUMENTS:
        write_systems(systems, out, title)
    else:
        page = make_page(make_report(systems, people=people), title, is_folder, language)
        write_page(page, out)
        return page
    return None


def write_systems(systems: Sequence[System], out: Path, title: str = TITLE) -> None:
    """Write the checked answers of systems to a .docx or .md file: the counts, then each with its verdicts and sources.

    Raises:
        InputError: The file cannot be written.
    """
    _write_lines(_systems(systems, title), out)


def document_of(run: Run, ending: Literal[".docx", ".md"]) -> bytes:
    """Return an answer as a Word document or as Markdown."""
    lines = list(_document([run]))
    return to_docx(lines) if ending == ".docx" else to_markdown(lines).encode()


def as_run(answer: Answer, checked: CheckedAnswer, changes: Sequence[Change] = (), title: str = "") -> Run:
    """Return a checked answer as a run without a search; ``title`` stands for the question if it has none."""
    question = Question(id=answer.id, text=answer.question or title or answer.id)
    made = Provenance(version=__version__)
    return Run(question=question, evidence=(), answer=answer, checked=checked, provenance=made, changes=tuple(changes))


def _text(runs: Sequence[Run], ending: str) -> Iterable[str]:
    if ending == ".jsonl":
        return (f"{to_json(run)}\n" for run in runs)
    if ending == ".ris":
        return [references(runs)]
    return [_page(runs)]


def _write_lines(lines: Iterable[StyledLine], out: Path) -> None:
    if out.suffix.lower() != ".docx":
        _write(out, [to_markdown(lines)])
        return
    try:
        with whole_bytes(out) as file:
            file.write(to_docx(list(lines)))
    except OSError as error:
        raise _unwritable(out, error) from None


def _write(out: Path, lines: Iterable[str]) -> None:
    try:
        file = Replacing(out)
        try:
            file.write(lines)
            file.done()
        except OSError:
            file.leave()
            raise
    except OSError as error:
        raise _unwritable(out, error) from None


def _unwritable(out: Path, error: OSError) -> InputError:
    return InputError(f"expected a file that can be written; found {out}: {error.strerror}")


def _page(runs: Sequence[Run]) -> str:
    from vericite.evaluate.scoring import System
    from vericite.evaluate.systems import SystemFiles
    from vericite.reporting.data import make_report
    from vericite.reporting.page import make_page

    # In the order of the questions.
    items = tuple(SystemFiles(runs={run.question.id: run}).system("answers").items[0] for run in runs)
    title = runs[0].question.text if len(runs) == 1 else TITLE
    return make_page(make_report([System("answers", items)]), title).html


def _document(runs: Sequence[Run]) -> Iterator[StyledLine]:
    for run in runs:
        yield from run_lines(run, full=True)
    yield _made_by()


def _systems(systems: Sequence[System], title: str) -> Iterator[StyledLine]:
    if sum(len(system.items) for system in systems) > 1:
        yield StyledLine.of("title", title)
        yield from (_totals(system, len(systems) > 1) for system in systems)
    for system in systems:
        if len(systems) > 1:
            yield StyledLine.of("title", system.name)
        for item in map(with_kept_answer, shown_items(system)):
            if item.answer is None or item.checked is None:
                yield StyledLine.of("title", item.id)
                yield StyledLine.of("text", f"no checked answer{f': {item.failed}' if item.failed else ''}")
            else:
                yield from run_lines(as_run(item.answer, item.checked, item.changes), full=True)
    yield _made_by()


def _totals(system: System, is_named: bool) -> StyledLine:
    """Return what was found in all answers of a system."""
    checked = [item.checked for item in system.items if item.checked is not None]
    summary = sum((item.summary for item in checked), Summary())
    needing = sum(item.needing for item in checked)
    return StyledLine.of(
        "text",
        f"{system.name}: " if is_named else "",
        f"{counted(len(system.items), 'answer')}. ",
        *told_counts(summary, in_words=True),
        f" {needing} of {counted(summary.claims, 'sentence')} {'needs' if needing == 1 else 'need'} a person.",
    )


def _made_by() -> StyledLine:
    made = "Research tool, not medical advice. Read the sources before you rely on an answer."
    return StyledLine.of("text", (f"VeriCite {__version__}. {made}", "dim"), gap=True)


def cited_text(answer: Answer, is_markdown: bool) -> str:
    """Return the text of an answer with the sources that its markers cite, in place of a list that it had."""
    numbers = {citation.marker: citation.document for claim in answer.claims for citation in claim.citations}
    sources = [StyledLine.of("heading", "Sources")]
    for number, id in sorted(numbers.items()):
        if 0 < number <= len(answer.documents) and (document := answer.documents[number - 1]).id == id:
            places = [word for name, address in links(document) for word in (" ", Words(name, link=address))]
            sources.append(StyledLine.of("item", f"[{number}] {reference_text(document)}", *places))
    text = answer.text[: body_end(answer.text)].rstrip()
    if len(sources) == 1:
        return f"{text}\n"
    listed = to_markdown(sources) if is_markdown else "".join(f"{line.text}\n" for line in sources)
    return f"{text}\n\n{listed}"


def references(runs: Iterable[Run]) -> str:
    """Return the documents that answers cite as RIS, each once, with the questions that it is cited for as notes."""
    found: dict[str, Document] = {}
    notes: dict[str, list[str]] = {}
    for run in runs:
        cited = (citation.document for claim in run.answer.claims for citation in claim.citations)
        for id in dict.fromkeys(filter(None, cited)):
            found.setdefault(id, run.answer.document(id))
            notes.setdefault(id, []).append(f"Cited for: {run.question.text}")
    return to_ris(found.values(), list(notes.values()))
