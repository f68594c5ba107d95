"""``vericite bioace``: assess answers by the methods of BioACE."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from vericite.cli.io import remark
from vericite.cli.options import JsonOption, OutOption
from vericite.cli.plans import ConfigOption, SetOption, path_of, settings_from
from vericite.cli.refusals import prepare_output, refuse_same
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
    from vericite.lab.assess.answers import answered
    from vericite.lab.assess.bioace import assess, read_gold_nuggets
    from vericite.lab.assess.choices import AssessSettings, choose, read_others
    from vericite.lab.assess.citations import labelled_cases, write_pairs
    from vericite.lab.assess.nuggets import load_nugget_embedder

    settings = settings_from(AssessSettings, assigned)
    settings.refuse_misuse(llm)
    mixtures, pairs = [Path(file) for file in settings.save_mixture], path_of(settings.write_pairs)
    problems = Problems()
    with reported(problems):
        places, names = named_places(systems)
        library = read_library(documents, problems)
        read = read_systems(places, problems, None, {}, library, names, whole=True)
        given = [*read.paths, *([gold] if gold else []), documents, *map(Path, settings.mixture)]
        for path, what in (*((file, "save_mixture") for file in mixtures), (pairs, "write_pairs"), (out, "--out")):
            refuse_same(path, *given, what=what)
            prepare_output(path, what)
        answers = answered(read.systems, problems)
        embedders = {name: load_nugget_embedder(name) for name in settings.embedder}
        others = read_others(settings, library, problems)
        chosen = choose(settings, llm, others, next(iter(embedders.values())))
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
        for line in (*found.remarks, *(mixture.signature for mixture in found.mixtures.values())):
            remark(line)
        for name, file in zip(settings.embedder, mixtures, strict=False):
            if name in found.mixtures:
                write_fitted(found.mixtures[name], file)


ClassifierOut = Annotated[
    Path,
    typer.Option(
        help="Write the classifier here, as JSON. For a checkpoint: a folder; an interrupted run there is resumed."
    ),
]


@bioace.command("train-completeness")
def train_completeness(
    systems: SystemsArgument,
    out: ClassifierOut,
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
            "GGUF file. hf-seq2seq:CHECKPOINT?prompt=FILE (hf-attrscore-causal: for decoders) learns to write it.",
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
    from vericite.lab.assess.answers import answered
    from vericite.lab.assess.checkpoint import writes_labels, written_labels
    from vericite.lab.assess.completeness import LABELS, asked_hash, train_classifier
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
        dev = () if settings.dev is None else read_systems([Path(settings.dev)], problems, whole=True).systems
        if base := encoder or decoder:
            with training_extra("bioace train-completeness"):
                from vericite.lab.train.labels import LabelRun, train_with_card
                from vericite.lab.train.texts import completeness_texts

                present = {label for _, label in examples}
                labels = tuple(label for label in LABELS if label in present)
                chosen_by = completeness_texts(labelled_sentences(answered(dev, problems)))
                if writes_labels(base):
                    from vericite.lab.train.writing_judges import WritingRun, train_on_texts

                    asked_by = written_labels(base)
                    writing = WritingRun(base, completeness_texts(examples), chosen_by, out, asked_by)
                    with ProgressLine("training", "steps", None).running() as progress:
                        facts = train_on_texts(writing, settings, step_reporter(progress))
                    typer.echo(f"{_writing_summary(facts)}\nwritten to {out}; use it as {_written_name(base, out)}")
                    return
                run = LabelRun(base, out, completeness_texts(examples), labels, decoder is not None, chosen_by)
                seen = [asked_hash(asked) for asked, _ in examples]
                with ProgressLine("training", "steps", None).running() as progress:
                    facts = train_with_card(run, seen, settings.part(LabelConfig), step_reporter(progress))
            typer.echo(f"{_training_summary(facts)}\nwritten to {out}")
            return
        prepare_output(out, "--out")
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
            "set, as in healthver:FILE. The premise is a window of a document, the claim a sentence of an answer. "
            "With --set documents=FILE: labelled answers with marked spans, as in medaesqa:FILE.",
            metavar="PAIRS",
        ),
    ],
    out: ClassifierOut,
    encoder: Annotated[
        str | None,
        typer.Option(
            help="Fine-tune this encoder instead: a folder, or a name on huggingface.co. A judge that writes its label "
            "learns to write it: hf-seq2seq:CHECKPOINT?prompt=FILE, hf-attrscore:..., hf-attrscore-causal:...",
            metavar="CHECKPOINT",
        ),
    ] = None,
    config: ConfigOption = None,
    assigned: SetOption = None,
) -> None:
    r"""Train a classifier that says whether a window of a document makes a sentence correct.

    The default is a support vector machine. A fine-tuned encoder is a judge: hf:OUT. A checkpoint needs the extra
    \[train]. A fifth of the groups is held out to choose the epoch.
    """
    from vericite.cli.figures import reported
    from vericite.disk.fitted import write_fitted
    from vericite.errors import InputError
    from vericite.lab.assess.checkpoint import writes_labels
    from vericite.lab.assess.correctness import classical, example_hash
    from vericite.lab.train.configs import CorrectnessConfig, LabelConfig
    from vericite.lab.train.texts import as_windows, read_pairs
    from vericite.models.contracts import COLUMNS

    settings = settings_from(CorrectnessConfig, assigned, config)
    if settings.adapter and encoder is None:
        raise InputError("expected --encoder with adapter=true; found none. Name a language model.")
    problems = Problems()
    with reported(problems):
        examples = read_pairs(pairs, settings, problems)
        dev = [] if settings.dev is None else read_pairs(Path(settings.dev), settings, problems)
        if encoder is not None and writes_labels(encoder):
            with training_extra("bioace train-correctness"):
                from vericite.lab.train.writing_judges import WritingRun, train_on_texts

                with ProgressLine("training", "steps", None).running() as progress:
                    writing = WritingRun(encoder, examples, dev, out)
                    facts = train_on_texts(writing, settings, step_reporter(progress))
            typer.echo(
                f"{_writing_summary(facts)}\nwritten to {out}; use it as the judge {_written_name(encoder, out)}"
            )
            return
        present = {example.label for example in examples}
        if encoder is not None:
            with training_extra("bioace train-correctness"):
                from vericite.lab.train.labels import LabelRun, train_labels, train_with_card

                labels = tuple(label for label in COLUMNS if label in present)
                run = LabelRun(encoder, out, examples, labels, settings.adapter, dev, "correctness-checkpoint")
                with ProgressLine("training", "steps", None).running() as progress:
                    chosen, report = settings.part(LabelConfig), step_reporter(progress)
                    seen = [example_hash(window) for window in as_windows(examples)]
                    facts = (
                        train_with_card(run, seen, chosen, report)
                        if settings.adapter
                        else train_labels(run, chosen, report)
                    )
            use = f"--set correctness={out}" if settings.adapter else f"the judge hf:{out}"
            typer.echo(f"{_training_summary(facts)}\nwritten to {out}; use it as {use}")
            return
        refuse_same(out, pairs, what="--out")
        prepare_output(out, "--out")
        model = classical(as_windows(examples), settings.classical, settings.seed)
        write_fitted(model, out)
        counts = ", ".join(f"{count:,} {label}" for label, count in model.trained_on.items())
        typer.echo(f"trained on {counts}\nwritten to {out}; use it as --set correctness={out}")


def _training_summary(facts: dict[str, Any]) -> str:
    counts = ", ".join(f"{count:,} {label}" for label, count in facts["examples"].items())
    dev = facts["dev"]
    reached = f"macro-F1 {dev['macro_f1']:.3f}, accuracy {dev['accuracy']:.3f}"
    return f"trained on {counts}; {facts['epochs']} epochs, the best by loss kept\ndev (n {dev['examples']}): {reached}"


def _writing_summary(facts: dict[str, Any]) -> str:
    counts = ", ".join(f"{count:,} {label}" for label, count in facts["examples"].items())
    kept = f"{facts['epochs']} epochs, the best by loss kept"
    return f"trained on {counts}; {kept}\ndev (n {facts['dev']}): loss {facts['dev_loss']:.3f}"


def _written_name(base: str, out: Path) -> str:
    kind, _, rest = base.partition(":")
    _, asked, file = rest.partition("?prompt=")
    return f"{kind}:{out}{asked}{file}"
