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


class Alignment(StrEnum):
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
    align: Annotated[Alignment, typer.Option(help="How nuggets are aligned one to one.")] = Alignment.GREEDY,
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
    judge: JudgeOption = None,
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
) -> None:
    """Print every table of BioACE that the labels of answers allow, and what each missing row needs."""
    from vericite.assess.bioace import Choices, answered, assess, read_gold_nuggets
    from vericite.assess.mixture import read_mixture, write_mixture
    from vericite.cli.figures import print_records, reported, show_assessment
    from vericite.cli.io import read_library
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
        chosen = Choices(
            align.value,
            threshold,
            None if mixture is None else read_mixture(mixture),
            None if llm is None else LLM(llm),
            None if judge is None else load_judge(judge),
        )
        found = assess(answered(read.systems), read_gold_nuggets(gold, problems), Embedder.shared(), chosen)
    if as_json or as_csv:
        print_records([row.record for row in found.rows], as_csv)
    else:
        show_assessment(found.rows)
    for line in (*found.remarks, *([found.mixture.signature] if found.mixture else [])):
        remark(line)
    if save_mixture is not None and found.mixture is not None:
        write_mixture(found.mixture, save_mixture)
