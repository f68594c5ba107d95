"""``vericite train``: making the models that are shipped."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated

import typer

STEPS = {
    "mix": ("vericite.train.mix.__main__", "build the training mix, or the reported test sets"),
    "fit": ("vericite.train.fit", "fine-tune a verifier"),
    "average": ("vericite.train.average", "average the weights of runs that began at the same ones"),
    "teach": ("vericite.train.teach", "have one model or several judge the pairs that another learns from"),
    "score": ("vericite.train.score", "score one on development files"),
    "pack": ("vericite.train.pack", "pack one into the 8-bit folder that is shipped"),
    "unpack": ("vericite.train.unpack", "turn a packed model back into a checkpoint, to train on"),
    "gate": ("vericite.train.gate", "say whether packed weights may be released"),
    "calibrate": ("vericite.train.calibrate", "fit its temperature, show risk against coverage"),
    "decide": ("vericite.train.decide", "compare protocols on whole documents"),
    "evaluate": ("vericite.train.evaluate", "print the release table on the reported test sets"),
    "relevance": ("vericite.train.relevance.__main__", "make the reranker: lists, fit, calibrate or score"),
}


def train(
    context: typer.Context,
    step: Annotated[str, typer.Argument(help="; ".join(f"{name}: {told}" for name, (_, told) in STEPS.items()))],
) -> None:
    r"""Take a step in making a verifier. What follows the step goes to it: `vericite train fit --help`.

    docs/verifier.md has the whole way. It needs the extra \[train] and data that the package does not bring.
    """
    from vericite.errors import MissingExtraError, UnknownNameError

    if step not in STEPS:
        raise UnknownNameError("step", step, STEPS)
    try:
        # A step may import torch late, where only some of its uses need it.
        code = import_module(STEPS[step][0]).main(context.args)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("vericite"):
            raise
        raise MissingExtraError("train", f"`vericite train {step}`") from None
    raise typer.Exit(code)
