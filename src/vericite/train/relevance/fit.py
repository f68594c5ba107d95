# torch is in the extra [train] alone, and annotates its own functions only in part.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
"""Fine-tune a BERT into a reranker.

    python -m vericite.train.relevance fit --data FILE --base DIR --out DIR [--config FILE] [--lists N]

FILE holds training lists; BASE a BERT's ``model.safetensors`` and ``config.json``. OUT gets what a verifier's run
leaves (``vericite.train.fit``). A run that was ended goes on with ``--resume`` as if it had not been.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from vericite.errors import InputError, VeriCiteError
from vericite.models import Encoder
from vericite.records import read_jsonl
from vericite.train.batching import Batch, Plan
from vericite.train.fit import Run, carry_out, make_optimizer
from vericite.train.network import TOKENIZER, padded
from vericite.train.pairs import EncodedPair
from vericite.train.relevance.config import RelevanceConfig
from vericite.train.relevance.lists import TrainingList
from vericite.train.relevance.losses import list_losses, point_losses
from vericite.train.relevance.network import load_relevance
from vericite.train.runtime import set_up

READ_AHEAD = 512


@dataclass
class RelevanceRun(Run):
    """A reranker in training; a unit of its plan is a list, the relevant document first."""

    config: RelevanceConfig  # pyright: ignore[reportIncompatibleVariableOverride]

    def _learn(self, batch: Batch, count: int) -> int:
        rows = [self.pairs[index] for unit in batch for index in unit]
        with torch.autocast("cpu", torch.bfloat16, enabled=self.config.precision == "bf16"):
            logits = self.network(*padded([row.encoded for row in rows]))[:, 0]
        sizes = [len(unit) for unit in batch]
        ordered, apart = list_losses(logits, sizes), point_losses(logits, sizes)
        losses = self.config.listwise * ordered + self.config.pointwise * apart
        # Lists are of one size, so that a step's pairs count its lists.
        (losses.sum() * sizes[0] / count).backward()
        if self.progress:
            for unit, first, second in zip(batch, ordered.tolist(), apart.tolist(), strict=True):
                self.progress.loss(self.pairs[unit[0]].source, first)
                self.progress.loss("(pointwise)", second)
        return sum(len(row) for row in rows)


def prepare(data: Path, base: Path, config: RelevanceConfig) -> RelevanceRun:
    """Read and encode the lists, load the base; the run's length is still open.

    Raises:
        InputError: There are no lists, or they differ in size.
    """
    set_up(config.threads)
    torch.manual_seed(config.seed)
    lists = list(read_jsonl(TrainingList, data))
    if len({len(one.negatives) for one in lists}) != 1:
        raise InputError(f"expected lists of one size in {data}; found {len(lists)} of several. Run lists again.")
    encoder = Encoder(TOKENIZER, config.max_tokens)
    pairs: list[EncodedPair] = []
    units: list[list[int]] = []
    for start in range(0, len(lists), READ_AHEAD):
        window = lists[start : start + READ_AHEAD]
        encoded = iter(encoder.encode([pair for one in window for pair in one.pairs]))
        for one in window:
            held = [next(encoded) for _ in one.pairs]
            units.append(list(range(len(pairs), len(pairs) + len(held))))
            pairs += [EncodedPair(item, 0, True, 1.0, f"{one.source}/{one.kind}") for item in held]
    lengths = np.array([len(pair) for pair in pairs])
    rates = np.array([config.rates.get(f"{one.source}/{one.kind}", config.rates.get(one.source, 1.0)) for one in lists])
    plan = Plan(units, lengths, rates, config.batch_examples, config.batch_tokens, config.seed)
    network = load_relevance(base, config.dropout, config.seed)
    return RelevanceRun(config, pairs, plan, network, make_optimizer(network, config), 0, None)


def main(arguments: list[str] | None = None) -> int:
    """Read the command line and train."""
    told = _parser().parse_args(arguments)
    try:
        config = RelevanceConfig.read(told.config)
        assert isinstance(config, RelevanceConfig)

        def prepared(held: int | None) -> RelevanceRun:
            run = prepare(told.data, told.base, config)
            asked = told.lists * len(run.plan.units[0]) if told.lists else None
            run.examples = held or asked or round(told.epochs * run.plan.epoch_examples())
            return run

        carry_out(told, config, told.data, prepared, every=20)
    except VeriCiteError as error:
        sys.stderr.write(f"{error}\n")
        return 2 if isinstance(error, InputError) else 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m vericite.train.relevance fit", description="Fine-tune a reranker.")
    parser.add_argument("--data", type=Path, required=True, help="training lists")
    parser.add_argument("--base", type=Path, required=True, help="a BERT: model.safetensors and config.json")
    parser.add_argument("--out", type=Path, required=True, help="the run's folder")
    parser.add_argument("--config", type=Path, help="choices, JSON or YAML")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--lists", type=int, help="lists to see")
    length.add_argument("--epochs", type=float, default=1.0, help="the same, in multiples of the data")
    parser.add_argument("--checkpoint-minutes", type=float, default=5.0, help="minutes between checkpoints")
    parser.add_argument("--resume", action="store_true", help="go on with a run that was ended")
    return parser
