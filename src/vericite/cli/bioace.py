"""``vericite bioace``: answers assessed as BioACE does it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vericite.cli.io import remark
from vericite.cli.options import CsvOption, JsonOption, JudgeOption
from vericite.cli.refusals import refuse_both, refuse_same, refuse_unwritable
from vericite.cli.score import DocumentsOption, NameOption, SystemsArgument
from vericite.cli.terminal import ProgressLine
from vericite.cli.train import steps_told, training_extra, with_seed

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
    tune: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Choose the threshold on these answers by so many trials of Optuna: of the front of F1, similarity "
            "and number of pairs the one with the highest F1.",
            metavar="TRIALS",
        ),
    ] = None,
    embedder: Annotated[
        str,
        typer.Option(
            help="Who compares nuggets: bundled, or hf:CHECKPOINT, with the pooling behind a # (mean, cls, last, "
            "pooler; SimCSE's is pooler).",
            metavar="NAME",
        ),
    ] = "bundled",
    mixture: Annotated[
        Path | None,
        typer.Option(help="A mixture that --save-mixture wrote; else one is fitted to these answers.", metavar="FILE"),
    ] = None,
    save_mixture: Annotated[Path | None, typer.Option(help="Write the mixture here, as JSON.", metavar="FILE")] = None,
    llm: Annotated[
        str | None,
        typer.Option(help="A language model to make nuggets; else they are atomic statements.", metavar="MODEL"),
    ] = None,
    nugget_prompt: Annotated[
        Path | None,
        typer.Option(
            help="Ask the language model for nuggets by this prompt (.toml) in place of ours.", metavar="FILE"
        ),
    ] = None,
    completeness: Annotated[
        str | None,
        typer.Option(
            help="Who says how necessary each sentence is: llm (the model of --llm), or a classifier's file or folder "
            "from `bioace train-completeness`.",
            metavar="llm|FILE|FOLDER",
        ),
    ] = None,
    completeness_prompt: Annotated[
        Path | None,
        typer.Option(
            help="Ask the language model how necessary sentences are by this prompt (.toml) in place of ours.",
            metavar="FILE",
        ),
    ] = None,
    judge: JudgeOption = None,
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
) -> None:
    """Print every table of BioACE that the labels of answers allow, and what each missing row needs."""
    from vericite.assess.bioace import Choices, answered, assess, read_gold_nuggets
    from vericite.assess.checkpoint import labeller_of
    from vericite.assess.completeness import PROMPT as OUR_COMPLETENESS
    from vericite.assess.mixture import read_mixture
    from vericite.assess.nuggets import PROMPT as OUR_NUGGETS
    from vericite.assess.nuggets import load_nugget_embedder
    from vericite.cli.answers import read_library
    from vericite.cli.figures import print_records, reported, show_assessment
    from vericite.disk.fitted import write_fitted
    from vericite.errors import InputError
    from vericite.evaluate.systems import read_systems
    from vericite.llm import LLM
    from vericite.llm.prompts import Prompt, read_prompt
    from vericite.models import Embedder
    from vericite.verify.judges.registry import load_judge

    refuse_both(as_json, as_csv)
    if tune is not None and threshold is not None:
        raise InputError("expected --tune or --threshold; found both. Leave one out.")
    if nugget_prompt is not None and llm is None:
        raise InputError("expected --llm MODEL beside --nugget-prompt; found none. Name a model.")
    if completeness_prompt is not None and completeness != "llm":
        raise InputError("expected --completeness llm with --completeness-prompt; found none. Add it.")
    problems: list[RecordError] = []
    with reported(problems):
        read = read_systems(systems, problems, None, {}, read_library(documents, problems), name or (), whole=True)
        refuse_same(save_mixture, *read.paths, gold, documents, mixture, what="--save-mixture")
        refuse_unwritable(save_mixture, "--save-mixture")
        model = None if llm is None else LLM(llm)
        asked = OUR_COMPLETENESS if completeness_prompt is None else read_prompt(completeness_prompt, Prompt)
        chosen = Choices(
            align.value,
            threshold,
            None if mixture is None else read_mixture(mixture),
            model,
            OUR_NUGGETS if nugget_prompt is None else read_prompt(nugget_prompt, Prompt),
            None if judge is None else load_judge(judge),
            None if completeness is None else labeller_of(completeness, model, Embedder.shared(), asked),
            tune,
        )
        compared = load_nugget_embedder(embedder)
        found = assess(answered(read.systems, problems), read_gold_nuggets(gold, problems), compared, chosen)
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
    out: Annotated[
        Path,
        typer.Option(help="Write the classifier here, as JSON; of a checkpoint a folder, where an ended run goes on."),
    ],
    strength: Annotated[
        float, typer.Option(min=1e-4, max=1e4, help="How closely it follows the labels; choose it on other questions.")
    ] = 1.0,
    encoder: Annotated[
        str | None,
        typer.Option(
            help="Fine-tune this encoder instead: a folder, or a name on huggingface.co.", metavar="CHECKPOINT"
        ),
    ] = None,
    decoder: Annotated[
        str | None,
        typer.Option(
            help="Train an adapter (LoRA) of this language model instead: a folder, a name on huggingface.co, or a "
            "GGUF file.",
            metavar="MODEL",
        ),
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="How a checkpoint is trained, JSON (docs/bioace.md).", metavar="FILE")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the training.")] = 0,
) -> None:
    r"""Train a classifier of sentences (required, borderline, unnecessary, inappropriate) on labelled answers.

    A checkpoint needs the extra \[train]. A fifth of the questions is held out to choose its epoch.
    """
    from vericite.assess.bioace import answered
    from vericite.assess.completeness import LABELS, train_classifier
    from vericite.assess.tables import labelled_sentences
    from vericite.cli.figures import reported
    from vericite.disk.fitted import write_fitted
    from vericite.errors import InputError
    from vericite.evaluate.systems import read_systems
    from vericite.models import Embedder

    if encoder and decoder:
        raise InputError("expected --encoder or --decoder; found both. Leave one out.")
    problems: list[RecordError] = []
    with reported(problems):
        read = read_systems(systems, problems, whole=True)
        refuse_same(out, *read.paths, what="--out")
        examples = labelled_sentences(answered(read.systems, problems))
        if base := encoder or decoder:
            with training_extra("bioace train-completeness"):
                from vericite.train.labels import LabelConfig, LabelRun, completeness_texts
                from vericite.train.labels import train_completeness as train_checkpoint

                present = {label for _, label in examples}
                labels = tuple(label for label in LABELS if label in present)
                run = LabelRun(base, out, completeness_texts(examples), labels, adapter=decoder is not None)
                chosen = with_seed(LabelConfig.read(config), seed)
                with ProgressLine("training", "steps", None).running() as progress:
                    facts = train_checkpoint(run, examples, chosen, steps_told(progress))
            typer.echo(f"{_told(facts)}\nwritten to {out}")
            return
        refuse_unwritable(out, "--out")
        classifier = train_classifier(examples, Embedder.shared(), strength, seed)
        write_fitted(classifier, out)
        counts = ", ".join(f"{count:,} {label}" for label, count in classifier.trained_on.items())
        typer.echo(f"trained on {counts}\n{classifier.signature}\nwritten to {out}")


@bioace.command("train-correctness")
def train_correctness(
    pairs: Annotated[
        Path,
        typer.Argument(
            help='Labelled pairs as `calibrate` reads them: lines of {"premise", "claim", "label", "group"}, or a data '
            "set, as in healthver:FILE. The premise is a window of a document, the claim a sentence of an answer.",
            metavar="PAIRS",
        ),
    ],
    encoder: Annotated[
        str, typer.Option(help="The encoder: a folder, or a name on huggingface.co.", metavar="CHECKPOINT")
    ],
    out: Annotated[Path, typer.Option(help="The folder to write; an ended run goes on there.")],
    config: Annotated[
        Path | None, typer.Option(help="How it is trained, JSON (docs/bioace.md).", metavar="FILE")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the training.")] = 0,
) -> None:
    r"""Fine-tune an encoder that says whether a window of a document makes a sentence correct.

    What it writes is a judge: hf:OUT. It needs the extra \[train]. A fifth of the groups, held out, chooses its epoch.
    """
    from vericite.cli.figures import reported
    from vericite.evaluate.judge_calibration import read_labels
    from vericite.models.contracts import COLUMNS

    labels, problems = read_labels(pairs)
    with reported(problems), training_extra("bioace train-correctness"):
        from vericite.train.labels import LabelConfig, LabelledTexts, LabelRun, train_labels

        examples = [LabelledTexts(it.premise, it.claim, COLUMNS[it.column], str(it.group or it.claim)) for it in labels]
        present = {it.label for it in examples}
        run = LabelRun(encoder, out, examples, tuple(label for label in COLUMNS if label in present))
        with ProgressLine("training", "steps", None).running() as progress:
            facts = train_labels(run, with_seed(LabelConfig.read(config), seed), steps_told(progress))
        typer.echo(f"{_told(facts)}\nwritten to {out}; use it as the judge hf:{out}")


def _told(facts: dict[str, Any]) -> str:
    counts = ", ".join(f"{count:,} {label}" for label, count in facts["examples"].items())
    dev = facts["dev"]
    reached = f"macro-F1 {dev['macro_f1']:.3f}, accuracy {dev['accuracy']:.3f}"
    return f"trained on {counts}; {facts['epochs']} epochs, the best by loss kept\ndev (n {dev['examples']}): {reached}"
