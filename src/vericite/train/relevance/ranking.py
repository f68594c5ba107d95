# torch is in the extra [train] alone: where it is not installed, its types are unknown.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
"""Rerankers of every form, and the measures of what they make of ranked lists."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from vericite.errors import ModelMissingError
from vericite.evaluate.measures.packages import eval_package
from vericite.models import Encoder, Pair
from vericite.models.folder import ModelFolder
from vericite.models.reranker import Reranker
from vericite.train.relevance.lists import RankedList

Floats = NDArray[np.float64]
BATCH_TOKENS = 1024
MEASURES = ("R@5", "nDCG@10", "RR")


class Ranker(Protocol):
    """Anything that says how relevant documents are."""

    def of_pairs(self, pairs: Sequence[Pair]) -> Floats:
        """One logit a pair of document and question."""
        ...


class PackedRanker:
    """A packed model, run as users run it."""

    def __init__(self, folder: Path) -> None:
        self._reranker = Reranker(ModelFolder.open(folder))

    def of_pairs(self, pairs: Sequence[Pair]) -> Floats:
        """Its logits."""
        return self._reranker.of_pairs(pairs).astype(np.float64)


class CheckpointRanker:
    """A checkpoint, in torch and 32 bits."""

    def __init__(self, folder: Path, max_tokens: int, threads: int = 2) -> None:
        from vericite.train.network import TOKENIZER
        from vericite.train.relevance.network import load_relevance
        from vericite.train.runtime import set_up

        set_up(threads)
        self._network = load_relevance(folder, trained=True).eval()
        self._encoder = Encoder(TOKENIZER, max_tokens)

    def of_pairs(self, pairs: Sequence[Pair]) -> Floats:
        """Its logits."""
        from vericite.train.network import logits_of

        encoded = self._encoder.encode(pairs)
        order = sorted(range(len(pairs)), key=lambda index: len(encoded[index].ids))
        values = np.zeros(len(pairs))
        while order:
            count = max(1, BATCH_TOKENS // len(encoded[order[-1]].ids))
            batch, order = order[-count:], order[:-count]
            values[batch] = logits_of(self._network, [encoded[index] for index in batch])[:, 0]
        return values


def open_ranker(path: Path, max_tokens: int = 256) -> Ranker:
    """Whatever is in a folder: a model with a card is packed, one without is a checkpoint.

    Raises:
        ModelMissingError: It holds neither.
    """
    if (path / "card.json").is_file():
        return PackedRanker(path)
    if not (path / "tokenizer.json").is_file():
        raise ModelMissingError(f"expected a packed model or a checkpoint's model; found neither in {path}. Name one.")
    return CheckpointRanker(path, max_tokens)


def logits_of_lists(ranker: Ranker, lists: Sequence[RankedList], depth: int) -> list[Floats]:
    """The logits of each list's first candidates; a pair that several lists hold is read once."""
    pairs = list(dict.fromkeys(pair for one in lists for pair in one.pairs(depth)))
    known = dict(zip(pairs, ranker.of_pairs(pairs).tolist(), strict=True))
    return [np.array([known[pair] for pair in one.pairs(depth)]) for one in lists]


def combined(logits: Floats, weight: float) -> Floats:
    """Logits, less a weight times the logarithm of the rank that the first stage gave."""
    return logits - weight * np.log(np.arange(1, len(logits) + 1))


def figures(lists: Sequence[RankedList], scores: Sequence[Floats]) -> Floats:
    """Recall of the first 5, nDCG of the first 10 and the reciprocal rank, [lists, 3], by ir_measures.

    Candidates that are not scored come behind all that are.
    """
    package = eval_package("ir_measures", "of a reranker")
    gold = {str(place): dict.fromkeys(one.gold, 1) for place, one in enumerate(lists)}
    run: dict[str, dict[str, float]] = {}
    for place, (one, said) in enumerate(zip(lists, scores, strict=True)):
        order = np.argsort(-said, kind="stable")
        run[str(place)] = {one.candidates[index].id: float(-rank) for rank, index in enumerate(order)}
    found = np.zeros((len(lists), len(MEASURES)))
    for metric in package.pytrec_eval.iter_calc([package.parse_measure(name) for name in MEASURES], gold, run):
        found[int(metric.query_id), MEASURES.index(str(metric.measure))] = metric.value
    return found


def of_first_stage(lists: Sequence[RankedList], depth: int) -> list[Floats]:
    """Scores that keep the first stage's order."""
    return [-np.arange(min(depth, len(one.candidates)), dtype=np.float64) for one in lists]
