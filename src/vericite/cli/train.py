"""``vericite train``: making the models that are shipped."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import typer

train = typer.Typer(
    name="train",
    help="Make a verifier: fine-tune one, pack it, or unpack one to train on. docs/verifier.md has the whole way. It "
    r"needs the extra \[train] and data that the package does not bring.",
    no_args_is_help=True,
)

_LENGTH = "How long: one of these"


@train.command()
def fit(
    data: Annotated[Path, typer.Option(help="Labelled pairs: a file, or a folder with train.jsonl.")],
    base: Annotated[Path, typer.Option(help="A BERT: model.safetensors and config.json.")],
    out: Annotated[Path, typer.Option(help="The run's folder.")],
    config: Annotated[Path | None, typer.Option(help="Choices, JSON or YAML.", metavar="FILE")] = None,
    seed: Annotated[int | None, typer.Option(help="In place of the config's, for runs to be averaged.")] = None,
    examples: Annotated[int | None, typer.Option(min=1, help="Pairs to see.", rich_help_panel=_LENGTH)] = None,
    epochs: Annotated[
        float | None, typer.Option(help="The same, in multiples of the data; 1 by default.", rich_help_panel=_LENGTH)
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(help="The same, by this machine's speed in a short trial.", rich_help_panel=_LENGTH),
    ] = None,
    checkpoint_minutes: Annotated[float, typer.Option(min=0, help="Minutes between checkpoints.")] = 5.0,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was ended.")] = False,
    device: Annotated[
        Literal["cpu", "cuda", "auto"], typer.Option(help="Where to compute; auto takes the fastest there is.")
    ] = "cpu",
) -> None:
    """Fine-tune a verifier on labelled pairs.

    OUT gets `model` (the finished weights), `at-33` and `at-66` (those on the way), checkpoints, `log.jsonl` and
    `manifest.json`.
    """
    with _extra("fit"):
        from vericite.train.fit import FitConfig, RunOptions, train_verifier

        changed = {} if seed is None else {"seed": seed}
        options = RunOptions(base, out, examples, epochs, minutes, checkpoint_minutes, resume, device)
        train_verifier(data, options, FitConfig.read(config).model_copy(update=changed))


@train.command()
def pack(
    source: Annotated[Path, typer.Argument(help="model.safetensors, or an 8-bit graph as exported (.onnx).")],
    tokenizer: Annotated[Path, typer.Argument(help="Its tokenizer.json.")],
    card: Annotated[Path, typer.Argument(help="The card, without hashes.")],
    calibration: Annotated[
        Path, typer.Argument(help="Documents, JSON Lines: their sentences show which channels are large.")
    ],
    destination: Annotated[Path, typer.Argument(help="The folder to write.")],
) -> None:
    """Pack a checkpoint into the 8-bit folder that is shipped."""
    with _extra("pack"):
        from vericite.train.pack import pack as pack_model

        pack_model(source, tokenizer, card, calibration, destination)


@train.command()
def unpack(
    model: Annotated[Path, typer.Option(help="A packed model's folder.")],
    out: Annotated[Path, typer.Option(help="Where the checkpoint goes.")],
) -> None:
    """Turn a packed model back into a checkpoint, to train on."""
    with _extra("unpack"):
        from vericite.models.folder import ModelFolder
        from vericite.train.pack import unpack as unpack_model

        unpack_model(ModelFolder.open(model), out)


@train.command()
def attribution(
    data: Annotated[list[Path], typer.Option(help="Examples, JSON Lines; repeatable.", metavar="FILE")],
    dev: Annotated[Path, typer.Option(help="Examples that choose when to stop and the threshold.", metavar="FILE")],
    out: Annotated[Path, typer.Option(help="The folder to write; an ended run goes on there.")],
    then: Annotated[
        list[Path] | None,
        typer.Option(help="Examples of a second stage, such as those of your own domain; repeatable.", metavar="FILE"),
    ] = None,
    config: Annotated[Path | None, typer.Option(help="Choices, JSON.", metavar="FILE")] = None,
    name: Annotated[str, typer.Option(help="What the head is called.")] = "set-head",
    seed: Annotated[int | None, typer.Option(help="In place of the config's.")] = None,
) -> None:
    """Train a head that says which of several sources support a sentence.

    It weighs what the bundled models say, so it needs no extra and no GPU. OUT gets `head.json`, which
    `vericite attribute --by multi-label:OUT` reads, what the models said of each example, and `manifest.json`.
    """
    from vericite.cli.terminal import Progress
    from vericite.train.set_head import HeadConfig, HeadRun, train_head

    chosen = HeadConfig.read(config)
    chosen = chosen if seed is None else chosen.model_copy(update={"seed": seed})
    progress = Progress("reading", "examples", None)
    with progress.running():
        head = train_head(HeadRun(tuple(data), dev, out, tuple(then or ()), name), chosen, progress.update)
    for measure, value in head.scores.items():
        typer.echo(f"{measure}: {value:g}")
    typer.echo(f"threshold: {head.threshold:g}\nwritten to {out}")


@contextmanager
def _extra(step: str) -> Generator[None]:
    """Where training code is imported, and may import torch late.

    Raises:
        MissingExtraError: A package of the extra is not installed.
    """
    from vericite.errors import MissingExtraError

    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("vericite"):
            raise
        raise MissingExtraError("train", f"`vericite train {step}`") from None
