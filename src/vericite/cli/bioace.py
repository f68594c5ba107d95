"""``vericite bioace``: answers assessed as BioACE does it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vericite.cli.io import remark
from vericite.cli.options import CsvOption, JsonOption, JudgeOption
from vericite.cli.refusals import refuse_both, refuse_same, refuse_unwritable
from vericite.cli.score import DocumentsOption, NameOption, SystemsArgument

if TYPE_CHECKING:
    from vericite.errors import RecordError

bioace = typer.Typer(
    name="bioace",
    help="Assess answers as BioACE does.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class AlignmentWay(StrEnum):
    """How nuggets are aligned one to one."""

    GREEDY = "greedy"
    OPTIMAL = "optimal"


@bioace.callback()
def root() -> None:
    """Assess answers as BioACE does: nuggets, sentences, citations and rankings of systems."""


@bioace.command("score")
def score(
    systems: SystemsArgument,
    gold: Annotated[
        Path,
        typer.Option(
            help='Gold nuggets: JSON {"topic": ["nugget", ...]}, lines of gold with "nuggets", or a data set, as in '
            "kqa:FILE.",
            metavar="FILE",
        ),
    ],
    documents: DocumentsOption = None,
    name: NameOption = None,
    align: Annotated[AlignmentWay, typer.Option(help="How nuggets are aligned one to one.")] = AlignmentWay.GREEDY,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="The least probability of a match; else the mixture's, 0.5 of one fitted here."
        ),
    ] = None,
    mixture: Annotated[
        Path | None,
        typer.Option(help="A mixture that --save-mixture wrote; else one is fitted to these answers.", metavar="FILE"),
    ] = None,
    save_mixture: Annotated[Path | None, typer.Option(help="Write the mixture here, as JSON.", metavar="FILE")] = None,
    llm: Annotated[
        str | None,
        typer.Option(help="A language model to make nuggets; else they are atomic statements.", metavar="MODEL"),
    ] = None,
    completeness: Annotated[
        str | None,
        typer.Option(
            help="Who says how necessary each sentence is: llm (the model of --llm), or a classifier's file from "
            "`bioace train-completeness`.",
            metavar="llm|FILE",
        ),
    ] = None,
    judge: JudgeOption = None,
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
) -> None:
    """Print every table of BioACE that the labels of answers allow, and what each missing row needs."""
    from vericite.assess.bioace import Choices, answered, assess, read_gold_nuggets
    from vericite.assess.completeness import labeller_of
    from vericite.assess.mixture import read_mixture
    from vericite.cli.answers import read_library
    from vericite.cli.figures import print_records, reported, show_assessment
    from vericite.disk.fitted import write_fitted
    from vericite.evaluate.systems import read_systems
    from vericite.llm import LLM
    from vericite.models import Embedder
    from vericite.verify.judges.registry import load_judge

    refuse_both(as_json, as_csv)
    problems: list[RecordError] = []
    with reported(problems):
        read = read_systems(systems, problems, None, {}, read_library(documents, problems), name or ())
        refuse_same(save_mixture, *read.paths, gold, documents, mixture, what="--save-mixture")
        refuse_unwritable(save_mixture, "--save-mixture")
        model = None if llm is None else LLM(llm)
        chosen = Choices(
            align.value,
            threshold,
            None if mixture is None else read_mixture(mixture),
            model,
            None if judge is None else load_judge(judge),
            None if completeness is None else labeller_of(completeness, model, Embedder.shared()),
        )
        found = assess(answered(read.systems), read_gold_nuggets(gold, problems), Embedder.shared(), chosen)
    if as_json or as_csv:
        print_records([row.record for row in found.rows], as_csv)
    else:
        show_assessment(found.rows)
    for line in (*found.remarks, *([found.mixture.signature] if found.mixture else [])):
        remark(line)
    if save_mixture is not None and found.mixture is not None:
        write_fitted(found.mixture, save_mixture)


@bioace.command("train-completeness")
def train_completeness(
    systems: SystemsArgument,
    out: Annotated[Path, typer.Option(help="Write the classifier here, as JSON.", metavar="FILE")],
    strength: Annotated[
        float, typer.Option(min=1e-4, max=1e4, help="How closely it follows the labels; choose it on other questions.")
    ] = 1.0,
    seed: Annotated[int, typer.Option(help="Of the training.")] = 0,
) -> None:
    """Train a classifier of sentences (required, borderline, unnecessary, inappropriate) on labelled answers."""
    from vericite.assess.bioace import answered
    from vericite.assess.completeness import train_classifier
    from vericite.assess.tables import labelled_sentences
    from vericite.cli.figures import reported
    from vericite.disk.fitted import write_fitted
    from vericite.evaluate.systems import read_systems
    from vericite.models import Embedder

    problems: list[RecordError] = []
    with reported(problems):
        read = read_systems(systems, problems, None, {}, {}, ())
        refuse_same(out, *read.paths, what="--out")
        refuse_unwritable(out, "--out")
        examples = labelled_sentences(answered(read.systems))
        classifier = train_classifier(examples, Embedder.shared(), strength, seed)
    write_fitted(classifier, out)
    counts = ", ".join(f"{count:,} {label}" for label, count in classifier.trained_on.items())
    typer.echo(f"trained on {counts}\n{classifier.signature}\nwritten to {out}")
