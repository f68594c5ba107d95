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
