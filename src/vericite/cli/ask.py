"""``vericite ask`` and ``vericite search``: answer questions with checked citations, or only find documents."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vericite.cli.exits import ExitCode
from vericite.cli.io import clean, is_quiet, note, output, remark, remark_leakage, say, say_json, show_embedding
from vericite.cli.options import BATCH, BatchOption
from vericite.cli.plans import takes_plan
from vericite.cli.refusals import expect_either, prepare_output, refuse_same, refuse_two_inputs, report
from vericite.errors import Problems
from vericite.pipeline.plan import SECTIONS, Plan

if TYPE_CHECKING:
    from vericite.cli.terminal import Terminal
    from vericite.pipeline.ask import Pipeline
    from vericite.pipeline.runs import EvidenceShown
    from vericite.pipeline.search import FoundEvidence, OnStage, Search
    from vericite.records import Question, Run


_STAGES = {
    "retrieve": ("searching", "searched"),
    "rerank": ("reranking", "reranked"),
    "rewrite": ("rewriting the question", "rewrote the question"),
    "generate": ("answering", "answered"),
    "verify": ("checking", "checked"),
    "repair": ("repairing", "repaired"),
    "rationale": ("judging the reasoning", "judged the reasoning"),
}


@takes_plan("ask")
def ask(
    plan: Plan,
    question: Annotated[str | None, typer.Argument(help="A biomedical question, in English.")] = None,
    batch: BatchOption = None,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            "--out",
            "--save",
            help="What to write; may be repeated: the answer for .md, .docx or .html, its references for .ris, the "
            "runs for .jsonl. A name without such an ending is a folder of runs, which `score` and `compare` read; "
            "unfinished runs there are continued.",
            metavar="FILE|FOLDER",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the whole run as JSON, one line per question.")
    ] = False,
) -> None:
    """Answer a question from the sources, and check every citation.

    Without --llm the answer consists of sentences of the sources, and no language model is used. The demonstration
    corpus is 150 abstracts written for VeriCite: for real questions, give your own documents with --corpus. With
    "--corpus pubmed" the question is sent to NCBI (NCBI_EMAIL and NCBI_API_KEY are used if set), and replies are cached
    for 30 days. If a run with --save FOLDER is interrupted, enter the same command again to continue it.
    """
    refuse_two_inputs(str(batch), plan.search.corpus)
    folder, files = _places(out or [], batch, Path(plan.search.corpus))
    problems = Problems()
    questions = _questions(question, batch, folder is not None, problems)
    remark_leakage(batch)

    from vericite.cli.show import show_ledger
    from vericite.pipeline.build import build

    made = build(plan, questions, problems, show_embedding)
    try:
        if folder is not None:
            outcomes = _ask_into(folder, made, questions, plan, as_json, batch)
        else:
            outcomes = _ask_here(made, questions, plan.search.depth(), as_json, batch is not None, bool(files))
        _write(outcomes.runs if folder is None else _kept(folder, questions), files)
    finally:
        # An interrupted run also cost money.
        show_ledger(made.ledger)
    outcomes.show(len(questions))
    report(problems, ExitCode.NOT_RUN if outcomes.failed else ExitCode.OK)


def _places(given: Sequence[Path], *read: Path | None) -> tuple[Path | None, list[Path]]:
    """Return the folder of runs, if one is named, and the files to write."""
    from vericite.errors import InputError
    from vericite.reporting.written import FORMS, form_of

    # "runs/v1.2" is a folder; "answer.pdf" is a mistake.
    folders = [path for path in given if path.is_dir() or not path.suffix[1:].isalpha()]
    files = [path for path in given if path not in folders]
    if len(folders) > 1 or len(set(given)) < len(given):
        raise InputError(f"expected each --out once, and at most one folder; found {', '.join(map(str, given))}")
    for path in files:
        form_of(path)
        refuse_same(path, *read)
        prepare_output(path, endings=FORMS)
    return (folders[0] if folders else None), files


def _kept(folder: Path, questions: Sequence[Question]) -> list[Run]:
    """Return the stored runs of these questions, in their order."""
    from vericite.pipeline.runs import RUNS
    from vericite.records import Run, number_jsonl

    runs = {run.question.id: run for _, run in Problems().kept(number_jsonl(Run, folder / RUNS))}
    return [runs[question.id] for question in questions if question.id in runs]


def _write(runs: Sequence[Run], files: Sequence[Path]) -> None:
    from vericite.reporting.written import write_runs
    from vericite.text.counted import counted

    for path in files:
        write_runs(runs, path)
        note(f"{path}: {counted(len(runs), 'answer')}")


def _questions(question: str | None, batch: Path | None, kept: bool, problems: Problems) -> list[Question]:
    from vericite.errors import InputError
    from vericite.formats.registry import read_questions
    from vericite.records import Question

    expect_either(question, batch)
    if batch is not None:
        return read_questions(batch, problems)
    if not (question or "").strip():
        raise InputError("expected a question; found no text")
    text = question or ""
    # In a folder the id must differ from those of other questions.
    id = f"question-{hashlib.sha256(text.encode()).hexdigest()[:12]}" if kept else "question"
    return [Question(id=id, text=text)]


def _ask_here(
    made: Pipeline, questions: Sequence[Question], k: int, as_json: bool, is_batch: bool, kept: bool
) -> _Outcomes:
    """Ask and print each answer: in full for one question, as a digest for a batch. ``kept`` keeps the runs."""
    from vericite.cli.show import show_blocks
    from vericite.cli.terminal import Terminal
    from vericite.records import to_json
    from vericite.reporting.run_lines import digest, run_lines

    console = Terminal()
    outcomes = _Outcomes()
    for number, run in enumerate(_runs(made, questions, k), start=1):
        outcomes.add(run, kept)
        if as_json:
            say_json(to_json(run))
        else:
            show_blocks(console, digest(run, number) if is_batch else run_lines(run))
    if is_batch:
        counted = _counted(len(questions), len(outcomes.failed), outcomes.refused)
        say(counted if as_json else f"\n{counted}", err=as_json)
    return outcomes


def _runs(made: Pipeline, questions: Sequence[Question], k: int) -> Iterator[Run]:
    """Run the questions: a single one with progress by stage, several with concurrent calls of the model."""
    from vericite.cli.terminal import ProgressLine

    if len(questions) == 1:
        with _progress() as on_stage:
            run = made.run(questions[0], k, on_stage)
        yield run
        return
    with ProgressLine("asking", "questions", len(questions)).running() as progress:
        for number, run in enumerate(made.run_many(questions, k), start=1):
            progress.update(number)
            yield run


def _ask_into(
    folder: Path, made: Pipeline, questions: Sequence[Question], plan: Plan, as_json: bool, batch: Path | None
) -> _Outcomes:
    from vericite.cli.terminal import ProgressLine
    from vericite.datasets.registry import describe_data
    from vericite.pipeline.build import fingerprint
    from vericite.pipeline.plan import NOTHING
    from vericite.pipeline.runs import RunFolder
    from vericite.records import to_json

    kept = RunFolder(
        folder, fingerprint(plan, made), lambda: made.ledger, plan.as_json(SECTIONS["ask"]), describe_data(batch)
    )
    outcomes = _Outcomes()
    with kept.open(questions) as left, ProgressLine("asking", "questions", len(left)).running() as progress:
        done = len(questions) - len(left)
        for number, run in enumerate(made.run_many(left, plan.search.depth()), start=1):
            kept.add(run)
            outcomes.add(run)
            progress.update(number, f"{len(outcomes.failed)} failed" if outcomes.failed else "")
    if as_json:
        # Include runs from before an interruption, so that the output does not depend on it.
        asked = {question.id for question in questions}
        for run in kept.runs():
            if run.question.id in asked:
                say_json(to_json(run))
    if plan.search.corpus != NOTHING:
        _show_retrieval(kept.retrieval)
        _show_cut(kept.shown)
    before = f", {done} of them earlier" if done else ""
    say(f"{folder}: {_counted(len(questions), len(outcomes.failed), kept.refused)}{before}", err=as_json)
    return outcomes


def _show_retrieval(counts: dict[str, int]) -> None:
    """Report the retrieval yield if it is not 100%, and the documents of an oracle."""
    asked, yielded = counts.get("questions", 0), counts.get("with_evidence", 0)
    if yielded < asked:
        remark(f"retrieval yield: {yielded} of {asked} questions have a document")
    if "gold" in counts:
        line = f"oracle: {counts['gold']} gold documents"
        if "standard" in counts:
            line = f"controlled {line} and {counts['padding']} retrieved, {counts['standard']} in the standard cell"
        missing = counts["gold_missing"]
        note(line + (f"; {missing} gold documents were not found" if missing else ""))


def _counted(questions: int, failed: int, refused: int) -> str:
    """Return the number of answered questions, with refused ones separately."""
    line = f"{questions - failed - refused} of {questions} questions answered"
    line += f", {refused} refused because the sources do not answer" if refused else ""
    return f"{line}, {failed} failed" if failed else line


def _show_cut(counts: EvidenceShown) -> None:
    """Warn if the model did not see all the evidence."""
    if counts.cut:
        remark(
            f"evidence was cut to fit the model's window: of {counts.found} documents, the model saw {counts.whole} "
            f"whole, {counts.in_part} in part and {counts.left_out} not at all. Raise answer.window (--set) or "
            "lower --k"
        )


class _Outcomes:
    """Reasons of failed questions, the numbers of refused and of cut-off answers, and the runs that are kept."""

    def __init__(self) -> None:
        self.failed: list[str] = []
        self.refused = 0
        self.runs: list[Run] = []
        self._cut_off = 0

    def add(self, run: Run, kept: bool = False) -> None:
        """Count a run."""
        self.runs += [run] if kept else []
        self.refused += run.answer.insufficient
        self.failed += [] if run.answer.failed is None else [run.answer.failed]
        self._cut_off += run.answer.cut_off

    def show(self, questions: int) -> None:
        """Report failed questions and cut-off answers."""
        if self.failed:
            others = " (the first of them)" if len(self.failed) > 1 else ""
            remark(f"{len(self.failed)} of {questions} questions failed: {self.failed[0]}{others}")
        if self._cut_off:
            remark(
                f"{self._cut_off} of {questions} answers reached max_tokens, and their unfinished last sentence was "
                "removed. Raise max_tokens in your own prompt file (--prompt FILE.toml)"
            )


@contextmanager
def _progress() -> Generator[OnStage | None]:
    """Show the current stage with its time, and a model's words as they come, if stderr is a terminal."""
    from rich.text import Text

    from vericite.cli.terminal import StageLine, Terminal
    from vericite.generate.generator import followed

    console = Terminal(stderr=True)
    if is_quiet() or not console.is_terminal:
        yield None
        return
    shown = StageLine(console)

    def on_stage(stage: str, seconds: float | None) -> None:
        doing, done = _STAGES[stage]
        if seconds is None:
            shown.begin(doing)
        else:
            console.print(Text(f"{done} in {seconds:.2f} s", style="dim"))

    shown.begin("searching")
    with shown.running(), followed(shown.add):
        yield on_stage


@takes_plan("search")
def search(
    plan: Plan,
    question: Annotated[
        str | None, typer.Argument(help="A question or search words. AND and quotation marks have no special meaning.")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the score and time of each stage, and the rewritten query.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, one line per question.")] = False,
    batch: BatchOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write the results here as a TREC run, named after the file.", metavar="FILE", rich_help_panel=BATCH
        ),
    ] = None,
) -> None:
    """Find the documents that answer a question, best first.

    Documents are found by words, by meaning or by both. A model that reads question and document together reranks the
    first results. If the evidence is poor and a language model is given, the question is rewritten and searched again.
    Documents known to be retracted are marked, and do not count towards k.
    """
    from vericite.cli.show import show_ledger
    from vericite.models.contracts import ledger_of
    from vericite.pipeline.build import open_search, settings_of

    _check_arguments(question, batch)
    refuse_same(out, batch, Path(plan.search.corpus))
    prepare_output(out)
    problems = Problems()
    opened = open_search(plan.search, settings_of(plan.llm), show_embedding, problems=problems)
    numbered = _queries(question, batch, problems)
    shown = _Shown(explain, as_json, batch, out)
    _search_all(opened, numbered, plan.search.depth(10), shown, problems)
    if shown.nothing and plan.search.filters.predicate():
        note(
            f"with these filters, nothing was found for {shown.nothing} of {len(numbered)} questions. A document that "
            "lacks a field does not match a filter on it; `vericite corpus info STORE` shows the fields of a store"
        )
    show_ledger(ledger_of(opened.rewrite.rewriter if opened.rewrite else None))
    report(problems)


def _check_arguments(question: str | None, batch: Path | None) -> None:
    from vericite.errors import InputError

    expect_either(question, batch)
    if question is not None and not any(sign.isalnum() for sign in question):
        raise InputError(f"expected a query with at least one word; found none in {question!r}")


def _queries(question: str | None, batch: Path | None, problems: Problems) -> list[tuple[int, Question]]:
    """Return the questions, each with its line number in the batch."""
    from vericite.records import Question

    if batch is None:
        return [(1, Question(id="question", text=question or ""))]
    from vericite.formats.registry import number_questions

    remark_leakage(batch)
    return number_questions(batch, problems)


class _Shown:
    """Shows results: as lines of a TREC run, as JSON, or as text."""

    def __init__(self, explain: bool, as_json: bool, batch: Path | None, run: Path | None) -> None:
        from vericite.cli.terminal import Terminal

        self.explain, self.as_json, self.batch, self.run = explain, as_json, batch, run
        self.console: Terminal = Terminal()
        self.nothing = 0
        """Number of questions without results."""

    def lines(self, question: Question, found: FoundEvidence) -> list[str]:
        """Return the results of a question as lines of a TREC run, if one is written."""
        if self.run is None:
            return []
        from vericite.evaluate.trec import run_lines

        return run_lines(question.id, [hit.document.id for hit in found.evidence], "-".join(self.run.stem.split()))

    def print(self, question: Question, found: FoundEvidence) -> None:
        """Print the results, unless they go to a TREC run only."""
        self.nothing += not found.evidence
        if self.as_json:
            say_json(json.dumps(_as_json(question, found), ensure_ascii=False))
        elif self.run is None:
            from vericite.cli.show import show_found

            if self.batch is not None:
                self.console.print(f"\n{clean(question.id)}", style="bold", markup=False)
            show_found(self.console, found, self.explain)


def _search_all(
    opened: Search, numbered: list[tuple[int, Question]], k: int, shown: _Shown, problems: Problems
) -> None:
    from vericite.cli.terminal import ProgressLine
    from vericite.errors import EntrezError, InputError, RecordError

    stopped = "what was found before is in"
    progress = ProgressLine("searching", "questions", len(numbered))
    with progress.running(), output(shown.run, stopped) as written:
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
