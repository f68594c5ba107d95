"""``vericite bioace``: assess answers by the methods of BioACE."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from vericite.cli.io import remark
from vericite.cli.options import JsonOption, OutOption
from vericite.cli.plans import ConfigOption, SetOption, path_of, settings_from
from vericite.cli.refusals import refuse_same, refuse_unwritable
from vericite.cli.score import DocumentsOption, SystemsArgument, named_places
from vericite.cli.terminal import ProgressLine
from vericite.cli.train import step_reporter, training_extra
from vericite.errors import Problems

bioace = typer.Typer(
    name="bioace",
    help="Assess answers by the methods of BioACE.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@bioace.callback()
def root() -> None:
    """Assess answers by the methods of BioACE: nuggets, sentences, citations and rankings of systems."""


@bioace.command("score")
def score(
    systems: SystemsArgument,
    gold: Annotated[
        Path | None,
        typer.Option(
            help='Gold nuggets: JSON {"topic": ["nugget", ...]}, lines of gold with "nuggets", or a data set, as in '
            "kqa:FILE.",
            metavar="FILE",
        ),
    ] = None,
    documents: DocumentsOption = None,
    llm: Annotated[
        str | None,
        typer.Option(help="A language model that extracts nuggets. Default: atomic statements.", metavar="MODEL"),
    ] = None,
    out: OutOption = None,
    assigned: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print BioACE's tables as far as the labels of answers allow, and what each missing row needs."""
    from vericite.cli.answers import read_library
    from vericite.cli.figures import print_records, reported, show_assessment, write_records
    from vericite.disk.fitted import write_fitted
    from vericite.evaluate.systems import read_systems
    from vericite.lab.assess.bioace import AssessSettings, answered, assess, choose, read_gold_nuggets
    from vericite.lab.assess.citations import labelled_cases, write_pairs
    from vericite.lab.assess.nuggets import load_nugget_embedder

    settings = settings_from(AssessSettings, assigned)
    settings.refuse_misuse(llm)
    mixture, pairs = path_of(settings.save_mixture), path_of(settings.write_pairs)
    fit = [Path(settings.fit)] if settings.fit else []
    problems = Problems()
    with reported(problems):
        places, names = named_places(systems)
        library = read_library(documents, problems)
        read = read_systems(places, problems, None, {}, library, names, whole=True)
        for path, what in ((mixture, "save_mixture"), (pairs, "write_pairs"), (out, "--out")):
            refuse_same(path, *read.paths, *([gold] if gold else []), documents, path_of(settings.mixture), what=what)
            refuse_unwritable(path, what)
        others = read_systems(fit, problems, documents=library, whole=True).systems if fit else ()
        answers = answered(read.systems, problems)
        embedders = {name: load_nugget_embedder(name) for name in settings.embedder}
        chosen = choose(settings, llm, answered(others, problems), next(iter(embedders.values())))
        if pairs is not None and chosen.judges is not None:
            remark(f"{write_pairs(labelled_cases(answers), chosen.judges.maker, pairs):,} pairs written to {pairs}")
        topics = {} if gold is None else read_gold_nuggets(gold, problems)
        found = assess(answers, topics, embedders, chosen)
        records = [row.record for row in found.rows]
        if out is not None:
            write_records(records, out)
        if as_json:
            print_records(records)
        else:
            show_assessment(found.rows)
        for line in (*found.remarks, *([found.mixture.signature] if found.mixture else [])):
            remark(line)
        if mixture is not None and found.mixture is not None:
            write_fitted(found.mixture, mixture)


@bioace.command("train-completeness")
def train_completeness(
    systems: SystemsArgument,
    out: Annotated[
        Path,
        typer.Option(
            help="Write the classifier here, as JSON. For a checkpoint: a folder; an interrupted run there is resumed."
        ),
    ],
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
    config: ConfigOption = None,
    assigned: SetOption = None,
) -> None:
    r"""Train a classifier of sentences (required, borderline, unnecessary, inappropriate) on labelled answers.

    A checkpoint needs the extra \[train]. A fifth of the questions is held out to choose the epoch.
    """
    from vericite.cli.figures import reported
    from vericite.disk.fitted import write_fitted
    from vericite.errors import InputError
    from vericite.evaluate.systems import read_systems
    from vericite.lab.assess.bioace import answered
    from vericite.lab.assess.completeness import LABELS, train_classifier
    from vericite.lab.assess.tables import labelled_sentences
    from vericite.lab.train.configs import CompletenessConfig, LabelConfig
    from vericite.models import Embedder

    if encoder and decoder:
        raise InputError("expected --encoder or --decoder; found both. Give one of them.")
    settings = settings_from(CompletenessConfig, assigned, config)
    problems = Problems()
    with reported(problems):
        places, names = named_places(systems)
        read = read_systems(places, problems, names=names, whole=True)
        refuse_same(out, *read.paths, what="--out")
        examples = labelled_sentences(answered(read.systems, problems))
        if base := encoder or decoder:
            with training_extra("bioace train-completeness"):
                from vericite.lab.train.labels import LabelRun, completeness_texts
                from vericite.lab.train.labels import train_completeness as train_checkpoint

                present = {label for _, label in examples}
                labels = tuple(label for label in LABELS if label in present)
                run = LabelRun(base, out, completeness_texts(examples), labels, adapter=decoder is not None)
                with ProgressLine("training", "steps", None).running() as progress:
                    facts = train_checkpoint(run, examples, settings.part(LabelConfig), step_reporter(progress))
            typer.echo(f"{_training_summary(facts)}\nwritten to {out}")
            return
        refuse_unwritable(out, "--out")
        classifier = train_classifier(examples, Embedder.shared(), settings.strength, settings.seed)
        write_fitted(classifier, out)
        counts = ", ".join(f"{count:,} {label}" for label, count in classifier.trained_on.items())
        typer.echo(f"trained on {counts}\n{classifier.signature}\nwritten to {out}")


@bioace.command("train-correctness")
def train_correctness(
    pairs: Annotated[
        Path,
        typer.Argument(
            help='Labelled pairs, as for `calibrate`: lines of {"premise", "claim", "label", "group"}, or a data '
            "set, as in healthver:FILE. The premise is a window of a document, the claim a sentence of an answer.",
            metavar="PAIRS",
        ),
    ],
    encoder: Annotated[
        str, typer.Option(help="The encoder: a folder, or a name on huggingface.co.", metavar="CHECKPOINT")
    ],
    out: Annotated[Path, typer.Option(help="The folder to write to. An interrupted run there is resumed.")],
    config: ConfigOption = None,
    assigned: SetOption = None,
) -> None:
    r"""Fine-tune an encoder that classifies whether a window of a document makes a sentence correct.

    The result is a judge: hf:OUT. Needs the extra \[train]. A fifth of the groups is held out to choose the epoch.
    """
    from vericite.cli.figures import reported
    from vericite.evaluate.judge_calibration import read_labels
    from vericite.lab.train.configs import LabelConfig
    from vericite.models.contracts import COLUMNS

    settings = settings_from(LabelConfig, assigned, config)
    problems = Problems()
    labels = read_labels(pairs, problems)
    with reported(problems), training_extra("bioace train-correctness"):
        from vericite.lab.train.labels import LabelledTexts, LabelRun, train_labels

        examples = [
            LabelledTexts(label.premise, label.claim, COLUMNS[label.column], str(label.group or label.claim))
            for label in labels
        ]
        present = {example.label for example in examples}
        run = LabelRun(encoder, out, examples, tuple(label for label in COLUMNS if label in present))
        with ProgressLine("training", "steps", None).running() as progress:
            facts = train_labels(run, settings, step_reporter(progress))
        typer.echo(f"{_training_summary(facts)}\nwritten to {out}; use it as the judge hf:{out}")


def _training_summary(facts: dict[str, Any]) -> str:
    counts = ", ".join(f"{count:,} {label}" for label, count in facts["examples"].items())
    dev = facts["dev"]
    reached = f"macro-F1 {dev['macro_f1']:.3f}, accuracy {dev['accuracy']:.3f}"
    return f"trained on {counts}; {facts['epochs']} epochs, the best by loss kept\ndev (n {dev['examples']}): {reached}"
