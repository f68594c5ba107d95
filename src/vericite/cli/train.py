"""``vericite train`` and ``vericite calibrate``: train models, and fit a judge to your own labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer

from vericite.cli.exits import ExitCode
from vericite.cli.io import clean, remark, remark_leakage, say
from vericite.cli.options import JsonOption
from vericite.cli.plans import ConfigOption, SetOption, path_of, settings_from
from vericite.cli.refusals import (
    lines_before_errors,
    prepare_output,
    refuse_same,
    report,
)
from vericite.errors import Problems

if TYPE_CHECKING:
    from vericite.cli.terminal import ProgressLine, Terminal
    from vericite.errors import RecordError
    from vericite.evaluate.calibration import CalibrationResult, Target
    from vericite.evaluate.judge_calibration import JudgeCalibration, OwnLabel
    from vericite.lab.train.configs import MadeDataSettings
    from vericite.lab.train.made_by_models import Form, MadeCounts
    from vericite.llm import LLM
    from vericite.records import Rate


train = typer.Typer(
    name="train",
    help="Train a verifier (docs/verifier.md) or attribution models (docs/training.md). Most commands "
    r"need the extra \[train].",
    no_args_is_help=True,
)


@train.command()
def fit(
    data: Annotated[Path, typer.Option(help="Labelled pairs: a file, or a folder with train.jsonl.")],
    base: Annotated[Path, typer.Option(help="Folder of a BERT: model.safetensors and config.json.")],
    out: Annotated[Path, typer.Option(help="The run's folder.")],
    config: ConfigOption = None,
    assigned: SetOption = None,
) -> None:
    """Fine-tune a verifier on labelled pairs. Run the same command again to continue a stopped run.

    OUT gets `model` (the final weights), `at-33` and `at-66` (the weights on the way), checkpoints, `log.jsonl` and
    `manifest.json`.
    """
    from vericite.lab.train.configs import FitConfig, FitSettings

    chosen = settings_from(FitSettings, assigned, config)
    with training_extra("train fit"):
        from vericite.lab.train.fit import RunOptions, train_verifier

        options = RunOptions(
            base, out, chosen.examples, chosen.epochs, chosen.minutes, chosen.checkpoint_minutes, chosen.device
        )
        train_verifier(data, options, chosen.part(FitConfig))


@train.command()
def pack(
    source: Annotated[Path, typer.Argument(help="model.safetensors, or an exported 8-bit graph (.onnx).")],
    tokenizer: Annotated[Path, typer.Argument(help="Its tokenizer.json.")],
    card: Annotated[Path, typer.Argument(help="The model card, without hashes.")],
    calibration: Annotated[
        Path, typer.Argument(help="Documents (JSON Lines), whose sentences show which channels have large values.")
    ],
    destination: Annotated[Path, typer.Argument(help="The folder to write to.")],
) -> None:
    """Pack a checkpoint into the 8-bit folder that is shipped."""
    with training_extra("train pack"):
        from vericite.lab.train.pack import pack as pack_model

        pack_model(source, tokenizer, card, calibration, destination)


@train.command()
def unpack(
    model: Annotated[Path, typer.Argument(help="A packed model's folder.")],
    out: Annotated[Path, typer.Argument(help="The checkpoint's folder, to write.")],
) -> None:
    """Convert a packed model back to a checkpoint, for further training."""
    with training_extra("train unpack"):
        from vericite.lab.train.pack import unpack as unpack_model
        from vericite.models.folder import ModelFolder

        unpack_model(ModelFolder.open(model), out)


@train.command()
def attribution(
    data: Annotated[
        list[Path],
        typer.Option(help="Examples, JSON Lines, or vj:FILE or msmarco:FILE; repeatable.", metavar="FILE"),
    ],
    dev: Annotated[
        Path, typer.Option(help="Development examples: they choose the epoch and the threshold.", metavar="FILE")
    ],
    out: Annotated[Path, typer.Option(help="The folder to write to. An interrupted run there is resumed.")],
    then: Annotated[
        list[Path] | None,
        typer.Option(help="Examples for a second stage, such as your own domain; repeatable.", metavar="FILE"),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(
            help="Train an adapter of this decoder, with one label per source, instead of a head.", metavar="MODEL"
        ),
    ] = None,
    config: ConfigOption = None,
    assigned: SetOption = None,
) -> None:
    r"""Train a head that finds which of several sources support a sentence.

    It uses the output of the bundled models, so it needs no extra and no GPU. OUT gets `head.json`, which
    `vericite attribute --by head:OUT` reads, the features of each example, and `manifest.json`.

    With --base, a decoder (a Hugging Face name, a folder or a GGUF file) is fine-tuned with LoRA to label each of five
    sources, as in MultiAttr. This needs the \[train] extra.
    """
    from vericite.cli.terminal import ProgressLine
    from vericite.lab.train.configs import HeadConfig, LoraConfig

    problems = Problems()
    remark_leakage(*data, *(then or ()), dev)
    if base is not None:
        settings = settings_from(LoraConfig, assigned, config)
        with training_extra("train attribution --base"):
            from vericite.lab.train.labels import DecoderRun, train_decoder

            run = DecoderRun(base, (tuple(data), tuple(then or ())), dev, out, problems=problems)
            with ProgressLine("training", "steps", None).running() as progress:
                reached = train_decoder(run, settings, step_reporter(progress))
        typer.echo(f"dev citation F1: {reached.f1:g}\ndev exact match: {reached.exact:g}\nwritten to {out}")
        report(problems)
        return
    from vericite.lab.train.set_head import HeadRun, train_head

    chosen = settings_from(HeadConfig, assigned, config)
    progress = ProgressLine("reading", "examples", None)
    with progress.running():
        head = train_head(HeadRun(tuple(data), dev, out, tuple(then or ()), problems=problems), chosen, progress.update)
    for measure, value in head.scores.items():
        typer.echo(f"{measure}: {value:g}")
    typer.echo(f"threshold: {head.threshold:g}\nwritten to {out}")
    report(problems)


@train.command()
def inline(
    data: Annotated[
        list[Path],
        typer.Option(
            help="Examples with questions, JSON Lines, or vj:FILE or msmarco:FILE; repeatable.", metavar="FILE"
        ),
    ],
    dev: Annotated[Path, typer.Option(help="Development examples: they choose the epoch.", metavar="FILE")],
    base: Annotated[
        str, typer.Option(help="A decoder: a Hugging Face name, a folder or a GGUF file.", metavar="MODEL")
    ],
    out: Annotated[Path, typer.Option(help="The folder to write to. An interrupted run there is resumed.")],
    ask: Annotated[
        Path | None, typer.Option(help="Examples with questions to answer after training.", metavar="FILE")
    ] = None,
    config: ConfigOption = None,
    assigned: SetOption = None,
) -> None:
    r"""Train a decoder by LoRA to write answers with citations.

    OUT gets `adapter`, `answers.jsonl` if questions are asked, and `manifest.json`. It needs the extra \[train].
    """
    from vericite.cli.terminal import ProgressLine
    from vericite.lab.train.configs import InlineConfig, LoraConfig

    chosen, problems = settings_from(InlineConfig, assigned, config), Problems()
    with training_extra("train inline"):
        from vericite.lab.train.inline import InlineRun, train_inline

        run = InlineRun(base, tuple(data), dev, out, ask, chosen.new_tokens, chosen.untrained, problems=problems)
        with ProgressLine("training", "steps", None).running() as progress:
            facts = train_inline(run, chosen.part(LoraConfig), step_reporter(progress))
    for fact, value in facts.items():
        typer.echo(f"{fact}: {value}")
    typer.echo(f"written to {out}")
    report(problems)


def step_reporter(progress: ProgressLine) -> Callable[[int, float], None]:
    """Return a callback that shows steps and losses on a progress line."""
    return lambda step, loss: progress.update(step, f"loss {loss:.3f}")


@train.command()
def attribution_data(
    data: Annotated[
        str, typer.Argument(help="A data set, such as hotpotqa:FILE or attrscore/nq:FILE (`vericite datasets`).")
    ],
    out: Annotated[Path, typer.Option(help="The folder to write to. An interrupted run there is resumed.")],
    form: Annotated[
        Literal["long", "short", "sources"],
        typer.Option(
            help="long: write long answers from short ones. sources: write four sources from one. short: use no model."
        ),
    ] = "long",
    llm: Annotated[str | None, typer.Option("--llm", help="The language model that writes.", metavar="MODEL")] = None,
    assigned: SetOption = None,
) -> None:
    """Make training data for attribution from question answering data, with a language model.

    The verifier checks what the model wrote. What it does not confirm is left out and counted. OUT gets
    `examples.jsonl` and `manifest.json`. An interrupted run, even after kill -9, continues when you run the same
    command again.
    """
    from vericite.lab.train.configs import MadeDataSettings

    asked = Asked(data, form, llm, settings_from(MadeDataSettings, assigned))
    show_counts(*write_examples(asked, out))


class Asked(NamedTuple):
    """The examples to make."""

    data: str
    form: Form
    llm: str | None
    settings: MadeDataSettings


def write_examples(asked: Asked, out: Path) -> tuple[MadeCounts, Sequence[RecordError], LLM | None]:
    """Read the data set, ask the model and write the folder.

    Raises:
        InputError: A model is missing, or no records have the form.
    """
    from vericite.cli.terminal import ProgressLine
    from vericite.datasets.registry import source_named
    from vericite.errors import InputError, RecordError
    from vericite.lab.train.made_by_models import FORMS, Maker, Prompts, items_of, make_examples
    from vericite.llm import LLM
    from vericite.pipeline.build import settings_of
    from vericite.verify.judges.registry import load_judge

    chosen, settings = asked.settings, settings_of(asked.settings.llm)
    if (asked.llm is None) != (asked.form == "short"):
        found = "none. Name one with --llm" if asked.llm is None else f"--llm {asked.llm}. Omit it"
        raise InputError(f"expected {'no' if asked.llm else 'a'} language model for --form {asked.form}; found {found}")
    source = source_named(asked.data)
    read = list(islice(items_of(source.set.entries(source.paths, source.part), asked.form), chosen.most))
    problems = [item for item in read if isinstance(item, RecordError)]
    items = [item for item in read if not isinstance(item, RecordError)]
    if not items:
        raise InputError(f"expected records for --form {asked.form} in {asked.data}: {FORMS[asked.form]}; found none")
    long, positive, negative = map(path_of, (chosen.prompt, chosen.positive_prompt, chosen.negative_prompt))
    prompts = Prompts.read(long, positive, negative, chosen.examples)
    llm = None if asked.llm is None else LLM(asked.llm, settings)
    judge = load_judge(chosen.judge, settings)
    maker = Maker(llm, judge, prompts, chosen.seed, source.name, chosen.shown, chosen.checked)
    settings_kept = {
        "data": source.name,
        "licence": source.set.licence,
        "llm": None if llm is None else llm.signature,
        "judge": judge.signature,
        "prompts": prompts.signatures,
        "seed": chosen.seed,
        "shown": chosen.shown,
        "checked": chosen.checked,
    }
    try:
        with ProgressLine("making", "records", len(items)).running() as progress:
            return make_examples(items, asked.form, maker, out, settings_kept, progress.update), problems, llm
    finally:
        if llm is not None:
            llm.close()


def show_counts(counts: MadeCounts, problems: Sequence[RecordError], llm: LLM | None) -> None:
    """Print the counts of a run. Exit with 3 if the model failed on a record."""
    say(f"{counts.items:,} records, {counts.before:,} already done: {counts.examples:,} examples")
    for reason, count in sorted(counts.rejected.items(), key=lambda pair: -pair[1]):
        say(f"  left out: {count:,}: {reason}")
    for id, reason in list(counts.failed.items())[:20]:
        remark(f"{clean(id)}: {clean(reason)}")
    if llm is not None:
        say(f"  {llm.ledger}")
    report(problems, ExitCode.NOT_RUN if counts.failed else ExitCode.OK)


@contextmanager
def training_extra(command: str) -> Generator[None]:
    """Import training code, which may import torch late.

    Raises:
        MissingExtraError: A package of the extra is not installed.
    """
    from vericite.errors import MissingExtraError

    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("vericite"):
            raise
        raise MissingExtraError("train", f"`vericite {command}`") from None


_SHOWN = 10
"""Show every tenth threshold, from the lowest at which three labels can differ."""


def calibrate(
    labels: Annotated[
        Path,
        typer.Argument(
            help='JSONL: {"premise", "claim", "label": supported, contradicted or irrelevant, "group"?}. Pairs of a '
            "group, such as a document or question, are held out together."
        ),
    ],
    judge: Annotated[
        str, typer.Option(help="The judge to calibrate; `vericite judges` lists them.", metavar="BASE")
    ] = "bundled",
    out: Annotated[
        str | None,
        typer.Option(
            help="Store the calibrated judge: under a name, for `--judge NAME`; or in a file whose name ends in .json, "
            "for `--judge calibrated:FILE`.",
            metavar="NAME|FILE",
        ),
    ] = None,
    coverage: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="Share of verdicts to keep; abstain from the least certain ones. Default: 0.9."
        ),
    ] = None,
    risk: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Maximum share of wrong verdicts among those kept, instead of --coverage."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Fit a judge's temperature, and the probability below which to abstain, to your own labels.

    The scores before and after are measured on held-out pairs. Nothing is stored without --out. A line that
    cannot be used is reported and skipped; the exit code is then 2.
    """
    from vericite.cli.figures import print_records
    from vericite.cli.terminal import Terminal
    from vericite.evaluate.calibration import target_of
    from vericite.evaluate.judge_calibration import base_of, keep, read_labels

    target = target_of(coverage, risk)
    name, path = (None, None) if out is None else _destination(out)
    refuse_same(path, labels)
    base = base_of(judge)
    problems = Problems()
    pairs = read_labels(labels, problems)
    remark_leakage(labels)
    with lines_before_errors(problems):
        found = _calibrated(base, pairs, target)
    if as_json:
        print_records([found.record])
    else:
        _show(Terminal(), found)
    for line in found.warnings:
        remark(line)
    if path is not None:
        kept = f"kept in {clean(str(path))}; use it with --judge {clean(keep(found, path, name))}"
        typer.echo(kept, err=as_json)
    report(problems)


def _destination(out: str) -> tuple[str | None, Path]:
    """Return the judge's name, if it gets one, and its file. A bad place is refused before the judge is asked."""
    from vericite.evaluate.judge_calibration import destination

    name, path = destination(out)
    prepare_output(path, "--out" if name is None else f"the file of --out {out}")
    return name, path


def _calibrated(base: str, pairs: Sequence[OwnLabel], target: Target) -> JudgeCalibration:

    from vericite.cli.terminal import ProgressLine
    from vericite.evaluate.judge_calibration import calibrate_judge

    with ProgressLine(f"asking {base} about {len(pairs)} pairs", "pairs").running():
        return calibrate_judge(base, pairs, target)


def _show(console: Terminal, calibration: JudgeCalibration) -> None:
    from rich.table import Table
    from rich.text import Text

    from vericite.evaluate.judge_calibration import COMMON

    judged, found = calibration.judged, calibration.result
    counts = Counter(COMMON[label.column] for label in judged.labels)
    labels = ", ".join(f"{counts[name]} {name}" for name in COMMON)
    groups = int(found.groups.max()) + 1
    console.print(Text(f"{clean(calibration.base)} on {len(judged.labels)} pairs in {groups} groups\n{labels}"))
    scaling = found.fitted.scaling
    bias = "{:+.2f} entails, {:+.2f} contradicts, {:+.2f} neutral".format(*scaling.bias) if scaling.biased else "none"
    console.print(Text(f"temperature {scaling.temperature:.2f}, bias {bias}\n"))
    table = Table(f"held out, {found.folds} folds", box=None, pad_edge=False, header_style="bold")
    for column in ("before", "after", "n"):
        table.add_column(column, justify="right")
    rows = {"log loss": found.log_loss, "calibration error (ECE)": found.ece, "Brier score (0 to 2)": found.brier}
    for row, change in rows.items():
        table.add_row(row, f"{change.before:.3f}", f"{change.after:.3f}", str(len(judged.labels)))
    console.print(table)
    console.print()
    _show_curve(console, found)


def _show_curve(console: Terminal, found: CalibrationResult) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("abstain below", "coverage", "risk", "95% interval", "wrong"):
        table.add_column(column, justify="left" if column == "95% interval" else "right")
    chosen = found.fitted.threshold or 0.0
    for index, point in enumerate(found.fitted.curve):
        if point.threshold != chosen and index and (index % _SHOWN or index < 40):
            continue
        mark = "*" if point.threshold == chosen else " "
        table.add_row(f"{mark} {point.threshold:.2f}", f"{point.coverage:.3f}", *_rate(found.risk_at(point.threshold)))
    console.print(table)
    share, interval, _ = _rate(found.risk)
    bar = f"{chosen:.2f}" if chosen else "0.00, that is never"
    measured = "Measured on pairs that it was not chosen on, such a threshold leaves"
    if not chosen and (found.coverage.count or 0) < found.coverage.n:
        # What is not worth it on all pairs may be on a part of them.
        measured = "When chosen without the pairs that it is measured on, it was sometimes above 0, and leaves"
    left = f"{found.coverage.count} of {found.coverage.n} verdicts"
    console.print(Text(f"\n* abstain below {bar}. {measured} {left}; {share} {interval} of these are wrong."))


def _rate(rate: Rate) -> tuple[str, str, str]:
    if rate.value is None:
        return "-", "", f"0/{rate.n}"
    return f"{rate.value:.3f}", f"[{rate.low:.3f}, {rate.high:.3f}]", f"{rate.count}/{rate.n}"
