"""General inference for the warm-up: the dev and test sentences of SNLI, as e-SNLI hands them out."""

from __future__ import annotations

from vericite.train.mix.example import Example, Label
from vericite.train.mix.premises import clean
from vericite.train.mix.shelf import Harvest, Shelf

_LABELS: dict[str, Label] = {"entailment": "entails", "contradiction": "contradicts", "neutral": "neutral"}


def esnli(shelf: Shelf) -> Harvest:
    """All pairs; the trainer begins with them and the mix leaves them out."""
    harvest = Harvest()
    for part in ("dev", "test"):
        columns = [shelf.data.lines(f"esnli/dataset/eSNLI/{name}.{part}") for name in ("s1", "s2", "labels")]
        for premise, claim, label in zip(*columns, strict=True):
            if label.strip() in _LABELS and claim.strip():
                group = f"esnli:{clean(premise)}"
                harvest.train.append(
                    Example(clean(premise), clean(claim), _LABELS[label.strip()], "esnli", "general", group)
                )
    shelf.dice("esnli").shuffle(harvest.train)
    harvest.train = harvest.train[: shelf.config.warmup]
    return harvest
