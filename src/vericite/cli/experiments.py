"""``vericite run``, ``table`` and ``compute``: run experiments from a file, and show their scores.

``table`` shows the scores in the papers' layouts; ``compute`` writes scores that need a model next to the answers.
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vericite.cli.exits import ExitCode, end
from vericite.cli.io import note, remark, remark_leakage, say, show_embedding
from vericite.cli.plans import SetOption, settings_from
from vericite.cli.refusals import prepare_output, report
from vericite.cli.score import GoldOption
from vericite.errors import InputError, Problems

if TYPE_CHECKING:
    from vericite.lab.experiment.compute import Computed
    from vericite.lab.experiment.estimate import Estimated
    from vericite.lab.experiment.grid import CellOutcome, Changes, Grid, GridProgress


def run(
    experiment: Annotated[
        Path, typer.Argument(help="The file of the experiment: YAML, TOML or JSON.", metavar="EXPERIMENT")
    ],
    to: Annotated[
        Path | None,
        typer.Option(help="Folder for the runs. Default: a folder named after the experiment.", metavar="FOLDER"),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="Value of a $name in the file, as in corpus=FILE; may be repeated.", metavar="N=V"),
    ] = None,
    first: Annotated[
        int | None,
        typer.Option(min=1, help="Ask only this number of questions per cell, as a trial; run again to ask the rest."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Call no model; estimate the calls, tokens and dollars of the cells.")
    ] = False,
) -> None:
    """Run an experiment: the same questions in many cells, each of which is a run, or models trained on several data.

    Cells share evidence, answers and judgements, so these are made only once. To resume a stopped or killed run, repeat
    the command. If the file has changed, unchanged cells are kept and the changes are listed. `vericite table FOLDER`
    makes the table.
    """
    from vericite.generate.printed import HOW_TO_PRINT
    from vericite.lab.experiment.config import Experiment
    from vericite.lab.experiment.grid import Grid
    from vericite.lab.experiment.trained import trains_models

    problems = Problems()
    if trains_models(experiment):
        _run_trained(experiment, _values(set_), to, first, dry_run)
        return
    named = Experiment.load(experiment, _values(set_))
    grid = Grid(named, to or Path(named.name), problems, show_embedding, first)
    remark_leakage(*dict.fromkeys(Path(plan.source) for plan in named.questions.values()))
    if "prompts" in named.values and (ours := named.our_wording):
        remark(f"prompts in our wording: {', '.join(ours)}; {HOW_TO_PRINT}, then --set prompts=FOLDER")
    _show_changes(grid.changes)
    if dry_run:
        _show_estimates(grid)
        report(problems)
        return
    outcomes = _run(grid)
    failed = sum(outcome.failed for outcome in outcomes)
    say(f"{grid.folder}: {len(outcomes)} cells; vericite table {grid.folder}")
    if failed:
        remark(f"questions that failed: {failed}. Fix the problems above, and repeat the command to ask them again")
    report(problems, ExitCode.NOT_RUN if failed else ExitCode.OK)


def _run_trained(experiment: Path, values: dict[str, str], to: Path | None, first: int | None, dry_run: bool) -> None:
    """Run an experiment that trains models."""
    from vericite.cli.train import training_extra
    from vericite.lab.experiment.trained import TrainedExperiment, TrainedGrid

    problems = Problems()
    named = TrainedExperiment.load(experiment, values)
    grid = TrainedGrid(named, to or Path(named.name), problems, first)
    if dry_run:
        for cell in grid.cells:
            counts = ", ".join(f"{what} {count:,}" for what, count in grid.counts(cell).items())
            say(f"{cell.name}: {counts}")
        report(problems)
        return
    failed = 0
    with training_extra("run"):
        for done in grid.run(note):
            failed += len(done.failures)
            for reason in done.failures[:1]:
                remark(f"{done.cell.name}: {len(done.failures)} questions failed, the first because: {reason}")
            before = f", {done.before} of them earlier" if done.before else ""
            trained = "".join(f"; {what}: {count:,}" for what, count in done.trained_on.items())
            say(f"{done.cell.name}: {done.items:,} asked{before}{trained}")
    say(f"{grid.folder}: {len(grid.cells)} cells; vericite table {grid.folder}")
    if failed:
        remark("repeat the command to ask the failed questions again")
    report(problems, ExitCode.NOT_RUN if failed else ExitCode.OK)


def _values(given: list[str] | None) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in given or ():
        name, mark, value = text.partition("=")
        if not (name and mark):
            raise InputError(f"expected --set to be a name and a value, as in corpus=FILE; found {text!r}")
        found[name] = value
    return found


def _run(grid: Grid) -> list[CellOutcome]:
    from vericite.cli.terminal import ProgressLine

    outcomes: list[CellOutcome] = []
    with ProgressLine("running", "questions").running() as shown:
        for outcome in grid.run(lambda progress: shown.show(_line(progress))):
            outcomes.append(outcome)
            say(_outcome(outcome))
    return outcomes


def _line(progress: GridProgress) -> str:
    from vericite.cli.terminal import format_duration

    parts = [f"cell {progress.cell} of {progress.cells} ({progress.name}): {progress.done:,} of {progress.total:,}"]
    parts += [f"{progress.failed} failed"] if progress.failed else []
    parts += [f"{progress.rate:.1f} per minute"] if progress.rate else []
    parts += ["unknown cost"] if progress.cost is None else [f"${progress.cost:,.4f}"] if progress.cost else []
    parts += [f"about {format_duration(progress.left)} left"] if progress.left else []
    return ", ".join(parts)


def _outcome(outcome: CellOutcome) -> str:
    from vericite.cli.terminal import format_duration

    counts = outcome.counts
    before = f", {outcome.before} of them earlier" if outcome.before else ""
    shared = [
        f"{shared} of {made + shared} {what}"
        for made, shared, what in (
            (counts.searched, counts.search_shared, "searches"),
            (counts.answered, counts.answer_shared, "answers"),
            (counts.judged, counts.pairs - counts.judged, "judgements"),
        )
        if shared
    ]
    done = f"{outcome.cell.name}: {outcome.questions} questions{before}, {format_duration(outcome.seconds)}"
    if outcome.failed:
        done += f"; {outcome.failed} failed, the first because: {outcome.reason}"
    return done + (f"; shared: {', '.join(shared)}" if shared else "")


def _show_changes(changes: Changes) -> None:
    if not changes.any:
        return
    remark(f"the experiment has changed; unchanged cells: {len(changes.kept)}")
    for name, fields in changes.touched.items():
        remark(f"changed: {name} ({', '.join(fields)}); its old runs stay in the folder")
    for words, names in (("new", changes.new), ("removed", changes.dropped)):
        if names:
            remark(f"{words}: {'; '.join(names)}")
    if changes.questions:
        remark("the questions have changed; answers to those that are still asked are kept")


def _show_estimates(grid: Grid) -> None:
    from rich.table import Table

    from vericite.cli.terminal import Terminal
    from vericite.lab.experiment.estimate import estimate

    found = estimate(grid)
    table = Table(box=None, pad_edge=False, header_style="")
    for number, name in enumerate(("cell", "questions", "answered", "calls", "tokens in", "tokens out", "dollars")):
        table.add_column(name, justify="left" if number == 0 else "right", overflow="fold")
    for cell in found.cells:
        table.add_row(*_row(cell))
    table.add_row(*_row(found.total))
    Terminal().print(table)
    for line in found.notes:
        note(line)


def _row(cell: Estimated) -> list[str]:
    dollars = "unknown" if cell.dollars is None else f"{cell.dollars:,.4f}"
    counts = (cell.questions, cell.there, cell.calls, round(cell.prompt_tokens), round(cell.completion_tokens))
    return [cell.name, *(f"{count:,}" for count in counts), dollars]


class TableForm(StrEnum):
    """The output format of a table."""

    TEXT = "text"
    MARKDOWN = "markdown"
    LATEX = "latex"
    CSV = "csv"


def table(
    runs: Annotated[list[Path], typer.Argument(help="Folders written by `run` or by `ask --save`.", metavar="RUN...")],
    layout: Annotated[
        str | None,
        typer.Option(
            help="vericite-1, -2, -3, reason-verify-2, -3, -4, multiattr-2, -3, -4, -6, multiattr-figure4, medrag, "
            "full-text, or a file. Default: the layout of the experiment.",
            metavar="NAME|FILE",
        ),
    ] = None,
    as_: Annotated[TableForm, typer.Option("--as", help="text, markdown, latex (booktabs) or csv.")] = TableForm.TEXT,
    out: Annotated[Path | None, typer.Option(help="Write the table here.", metavar="FILE")] = None,
    assigned: SetOption = None,
) -> None:
    """Make the table of an experiment: scores with intervals, the paper's scores next to them, and comparisons.

    Comparisons are paired by question, and p is corrected by Holm's method for all comparisons printed. Questions
    without answers are left out; n is the number of those with answers.
    """
    from vericite.cli.io import clean
    from vericite.disk.files import write_whole
    from vericite.evaluate.settings import Draws
    from vericite.lab.experiment.render import FORMS
    from vericite.lab.experiment.tables import Layout, make_table, read_cells

    settings = settings_from(Draws, assigned)
    prepare_output(out)
    problems = Problems()
    own_layout, name = _own(runs)
    if not (layout or own_layout):
        raise InputError(
            "expected --layout, because these folders do not specify one; found none. Use vericite-1, or a file."
        )
    made = make_table(read_cells(runs, problems), Layout.load(layout or own_layout), settings.bootstrap)
    text = FORMS[as_.value](replace(made, name=name))
    if out is None:
        typer.echo("\n".join(map(clean, text.split("\n"))))
    else:
        write_whole(out, [text + "\n"])
    report(problems)


def _own(runs: list[Path]) -> tuple[str, str]:
    """Return the layout that an experiment names, and the experiment's name; empty if none names one."""
    import json

    from vericite.lab.experiment.grid import EXPERIMENT

    for folder in runs:
        if not folder.is_dir():
            raise InputError(f"expected folders of experiments, or of `ask --save`; there is no folder {folder}")
        path = folder / EXPERIMENT
        content: Any = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        if named := content.get("layout"):
            return str(named), str(content.get("name", ""))
    return "", ""


class Computable(StrEnum):
    """The scores that can be computed."""

    BERTSCORE = "bertscore"
    MAUVE_FEATURES = "mauve-features"
    CLAIM_ENTAILMENT = "claim-entailment"
    ALIGNED_CITATIONS = "aligned-citations"


_MEASURES = {
    Computable.BERTSCORE: "BERTScore",
    Computable.MAUVE_FEATURES: "MAUVE",
    Computable.CLAIM_ENTAILMENT: "ClaimEntailment",
    Computable.ALIGNED_CITATIONS: "AlignedCitationF1",
}


def compute(
    what: Annotated[
        Computable,
        typer.Argument(
            help="bertscore, mauve-features (vectors for MAUVE), claim-entailment or aligned-citations.", metavar="WHAT"
        ),
    ],
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="Folders written by `ask --save` or `run` (all cells), or any folder with answers.jsonl.",
            metavar="RUN...",
        ),
    ],
    model: Annotated[
        str,
        typer.Option(
            "--with",
            help="bundled, or hf:CHECKPOINT; append #17 to name a layer. The papers use hf:roberta-large for BERTScore "
            "and hf:gpt2-large for MAUVE. For claim-entailment and aligned-citations: any judge (the papers use "
            "hf-seq2seq:google/t5_xxl_true_nli_mixture).",
            metavar="MODEL",
        ),
    ] = "bundled",
    gold: GoldOption = None,
) -> None:
    """Compute what BERTScore, MAUVE, ClaimEntailment and AlignedCitationF1 need, and write it next to the answers.

    `score` and `table` then have these measures. To resume a stopped run, repeat the command. Results for the same
    texts are cached. The signature of a score includes its model.
    """
    from vericite.cli.figures import reported

    problems = Problems()
    with reported(problems):
        done = _computed(what, runs, model, problems, gold)
        _show_computed(done, what)


def _computed(what: Computable, runs: list[Path], model: str, problems: Problems, gold: Path | None) -> Computed:
    from contextlib import closing

    from vericite.cli.terminal import ProgressLine
    from vericite.evaluate.encoders import load_text_encoder
    from vericite.lab.experiment.compute import answer_folders, compute_features, compute_scores, load_scores

    folders = answer_folders(runs)
    if what is Computable.MAUVE_FEATURES:
        encoder = load_text_encoder(model)
        with ProgressLine("embedding", "texts").running() as shown:
            return compute_features(folders, encoder, problems, gold, shown.of)
    with closing(load_scores(what.value, model)) as scores, ProgressLine("computing", "answers").running() as shown:
        return compute_scores(folders, scores, problems, gold, shown.of)


def _show_computed(done: Computed, what: Computable) -> None:
    before = f", {done.answers - done.made} of them earlier" if done.made < done.answers else ""
    files = f"{len(done.files)} files, the first is " if len(done.files) > 1 else ""
    say(f"{what.value}: {done.answers} answers{before}; {files}{done.files[0]}")
    say(f"by {done.signature}")
    if done.without:
        note(f"{done.without} questions are left out: they have no prose answer, or no reference to compare it with")
    if done.cut:
        remark(f"for {done.cut} answers, the answer or a reference was too long for the model and was truncated")
    if done.failed:
        remark(f"the model failed on {done.failed} answers; repeat the command to try again")
    note(f"next: vericite score {done.files[0].parent} -m {_MEASURES[what]}")
    end(ExitCode.NOT_RUN if done.failed else ExitCode.OK)
