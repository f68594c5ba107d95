# torch comes with the extra [train] only, and its own annotations are incomplete.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
"""Trains the reranker's second head: which sentence answers the question.

    vericite train unpack MODEL BASE
    python recipes/answers/train.py BASE ROWS OUT [--minutes N] ...

MODEL is reranker-v2 (``recipes/search/make.sh``), ROWS what ``rows.py`` wrote. Both heads begin as its one. The first
keeps its scores of documents (squared error). The second learns the groups: cross entropy over the sentences of a
group, and for each sentence alone. The run ends by the clock. OUT/state.pt is kept every three minutes, and the same
command continues from it. OUT/model is the mean of the weights over the last half.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from vericite.lab.train.fit import set_up, trim_memory
from vericite.lab.train.network import CrossEncoder, Shape
from vericite.models.contracts import Pair
from vericite.models.engine import Encoder

LONGEST = 112
"""Tokens of question and sentence that are read in training."""
GROUPS = 4
"""Groups of a step."""
TOGETHER = 9
"""Pairs of like length that run together."""
WEIGHTS = {"labelled": 10.0, "written": 4.0, "bioasq": 1.0, "pubmedqa": 1.5, "titles": 0.35, "evidence": 0.5}
"""How often a set's groups are drawn."""
SAVED_EVERY = 180
"""Seconds between two saved states."""
FROZEN = 4
"""Layers that stay as they are, with the embeddings."""


def load(base: Path) -> CrossEncoder:
    """The reranker with two heads; a network that has them keeps them."""
    from safetensors.torch import load_file

    network = CrossEncoder(Shape.read(base))
    held = {name.removeprefix("bert."): value for name, value in load_file(base / "model.safetensors").items()}
    network.classifier = nn.Linear(network.shape.hidden_size, 2)
    if len(held["classifier.weight"]) == 1:
        weight, bias = held["classifier.weight"], held["classifier.bias"]
        held["classifier.weight"] = torch.cat([weight, weight])
        held["classifier.bias"] = torch.cat([bias, bias])
    network.load_state_dict(held)
    return network


def read(rows: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Groups for training and for development."""
    every = [
        json.loads(line)
        for name in ("public.jsonl", "written.jsonl", "labelled.jsonl")
        if (rows / name).exists()
        for line in (rows / name).open(encoding="utf-8")
    ]
    return [one for one in every if not one["dev"]], [one for one in every if one["dev"]]


def scores(network: CrossEncoder, encoder: Encoder, pairs: list[tuple[str, str]], longest: int) -> Tensor:
    """All heads' logits of pairs of question and text, cut to so many tokens; pairs of like length run together."""
    encoded = encoder.encode([Pair(question, text) for question, text in pairs])
    lengths = [min(len(one.ids), longest) for one in encoded]
    order = sorted(range(len(pairs)), key=lengths.__getitem__)
    found: list[Tensor] = [torch.zeros(0)] * len(pairs)
    for start in range(0, len(order), TOGETHER):
        these = order[start : start + TOGETHER]
        ids = torch.zeros(len(these), lengths[these[-1]], dtype=torch.long)
        kinds = torch.zeros_like(ids)
        for place, index in enumerate(these):
            one, size = encoded[index], lengths[index]
            ids[place, :size] = torch.tensor([*one.ids[: size - 1], one.ids[-1]])
            kinds[place, :size] = torch.tensor(one.type_ids[:size])
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = network(ids, kinds, torch.tensor([lengths[index] for index in these]))
        for place, index in enumerate(these):
            found[index] = logits[place].float()
    return torch.stack(found)


def sentence_loss(logits: Tensor, targets: list[list[float]]) -> Tensor:
    """Cross entropy of each sentence alone, and over the sentences of each group."""
    flat = torch.tensor([value for group in targets for value in group])
    alone = F.binary_cross_entropy_with_logits(logits, flat)
    whole, start, counted = torch.zeros(()), 0, 0
    for group in targets:
        of = torch.tensor(group)
        if of.sum() > 0:
            whole = whole - (of / of.sum() * F.log_softmax(logits[start : start + len(group)], 0)).sum()
            counted += 1
        start += len(group)
    return alone + 0.3 * whole / max(1, counted)


def evaluate(network: CrossEncoder, encoder: Encoder, groups: list[dict[str, Any]], most: int) -> dict[str, float]:
    """By set: how often a right sentence is first (of groups that have one), and AUC of right against wrong."""
    from sklearn.metrics import roc_auc_score

    network.eval()
    by: dict[str, list[tuple[list[float], list[float]]]] = {}
    drawn = random.Random(0)
    named: dict[str, list[dict[str, Any]]] = {}
    for one in groups:
        if one["turn"] == 0 or one["from"] == "labelled":
            named.setdefault(one["from"], []).append(one)
    for name, ones in named.items():
        for one in drawn.sample(ones, min(most, len(ones))):
            with torch.no_grad():
                logits = scores(network, encoder, [(one["question"], text) for text, _ in one["rows"]], LONGEST)[:, 1]
            by.setdefault(name, []).append((logits.tolist(), [target for _, target in one["rows"]]))
    network.train()
    found: dict[str, float] = {}
    for name, ones in by.items():
        some = [(scores, targets) for scores, targets in ones if max(targets) > 0]
        first = [targets[int(np.argmax(scores))] / max(targets) for scores, targets in some]
        flat = [
            (score, target >= 0.5) for scores, targets in ones for score, target in zip(scores, targets, strict=True)
        ]
        found[f"{name} first"] = round(float(np.mean(first)), 3)
        found[f"{name} AUC"] = round(
            float(roc_auc_score([right for _, right in flat], [score for score, _ in flat])), 3
        )
    return found


class Trainer:
    """A run: the network, its teacher, the optimizer and the mean of the weights so far."""

    def __init__(self, given: argparse.Namespace) -> None:
        base, rows, rate = given.base, given.rows, given.rate
        self.minutes, self.rate, self.state = given.minutes, rate, given.out / "state.pt"
        self.teaching, self.documents, self.longest = given.teaching, given.documents, given.longest
        self.network, self.teacher = load(given.first or base), load(base).eval()
        self.encoder = Encoder(base / "tokenizer.json", 256)
        kept = ("embeddings", *(f"encoder.layer.{layer}." for layer in range(FROZEN)))
        for name, parameter in self.network.named_parameters():
            parameter.requires_grad_(not name.startswith(kept))
        self.taught = [parameter for parameter in self.network.parameters() if parameter.requires_grad]
        self.optimizer = torch.optim.AdamW(self.taught, lr=rate, weight_decay=0.01)
        self.train, self.dev = read(rows)
        self.weights = [WEIGHTS[one["from"]] for one in self.train]
        self.step, self.spent, self.meant = 0, 0.0, 0
        self.mean: dict[str, Tensor] = {}
        if self.state.exists():
            held = torch.load(self.state, weights_only=True)
            self.network.load_state_dict(held["network"])
            self.optimizer.load_state_dict(held["optimizer"])
            self.step, self.spent, self.mean, self.meant = (held[n] for n in ("step", "spent", "mean", "meant"))

    def run(self) -> None:
        """Train until the time is over."""
        self.network.train()
        began = saved = time.monotonic()
        said: list[tuple[float, float]] = []
        while (now := self.spent + time.monotonic() - began) < 60 * self.minutes:
            said.append(self._step(now / (60 * self.minutes)))
            if self.step % 100 == 0:
                trim_memory()
                say(f"{self.step} steps, {now / 60:.1f} min, loss of sentences and documents: {np.mean(said, axis=0)}")
                said = []
            if time.monotonic() - saved > SAVED_EVERY:
                saved = time.monotonic()
                self._save(self.spent + saved - began)
        if self.mean:
            self.network.load_state_dict(self.mean)

    def tell(self, most: int) -> None:
        """Print the figures on development groups."""
        say(f"{self.step} steps, dev: {json.dumps(evaluate(self.network, self.encoder, self.dev, most))}")

    def _step(self, part: float) -> tuple[float, float]:
        rate = self.rate * min(1.0, self.step / 100) * max(0.02, 0.5 * (1 + math.cos(math.pi * part)))
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        drawn = random.Random(self.step)
        groups = drawn.choices(self.train, self.weights, k=GROUPS)
        rows = [(one["question"], text) for one in groups for text, _ in one["rows"]]
        every = [(one["question"], text) for one in groups for text in one["documents"]]
        logits = scores(self.network, self.encoder, rows, LONGEST)[:, 1]
        loss = sentence_loss(logits, [[target for _, target in one["rows"]] for one in groups])
        kept = self._kept(drawn.sample(every, min(self.documents, len(every))))
        self.optimizer.zero_grad()
        (loss + self.teaching * kept).backward()
        nn.utils.clip_grad_norm_(self.taught, 1.0)
        self.optimizer.step()
        self.step += 1
        if part >= 0.5 and self.step % 10 == 0:
            self.meant += 1
            for name, value in self.network.state_dict().items():
                before = self.mean.get(name, value)
                self.mean[name] = before + (value.detach() - before) / self.meant
        return loss.item(), kept.item()

    def _kept(self, documents: list[tuple[str, str]]) -> Tensor:
        """Return how far the first head is from the shipped scores of documents."""
        if not documents:
            return torch.zeros(())
        with torch.no_grad():
            wanted = scores(self.teacher, self.encoder, documents, self.longest)[:, 0]
        return F.mse_loss(scores(self.network, self.encoder, documents, self.longest)[:, 0], wanted)

    def _save(self, spent: float) -> None:
        held = {"network": self.network.state_dict(), "optimizer": self.optimizer.state_dict(), "spent": spent}
        held |= {"step": self.step, "mean": self.mean, "meant": self.meant}
        part = self.state.with_suffix(".part")
        torch.save(held, part)
        os.replace(part, self.state)


def say(line: str) -> None:
    """Print a line of the log."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def main() -> int:
    """Train, or go on."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("base", type=Path)
    parser.add_argument("rows", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--rate", type=float, default=3e-5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--first", type=Path, help="a model to begin from, with BASE as the teacher")
    parser.add_argument("--teaching", type=float, default=0.3, help="weight of the documents' squared error")
    parser.add_argument("--documents", type=int, default=2, help="documents of a step")
    parser.add_argument("--longest", type=int, default=144, help="tokens of question and document that are read")
    given = parser.parse_args()
    set_up(given.threads)
    torch.manual_seed(1)
    given.out.mkdir(parents=True, exist_ok=True)
    trainer = Trainer(given)
    if not trainer.step:
        trainer.tell(30)
    trainer.run()
    save(trainer.network, given.base, given.out / "model")
    trainer.tell(60)
    return 0


def save(network: CrossEncoder, base: Path, out: Path) -> None:
    """A checkpoint with two heads that ``train pack`` reads."""
    network.save(out)
    for name in ("tokenizer.json", "config.json"):
        shutil.copyfile(base / name, out / name)


if __name__ == "__main__":
    sys.exit(main())
