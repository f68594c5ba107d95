"""Nuggets of answers beside those of the gold: made, compared, aligned one to one, and counted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from vericite.assess.mixture import StoredMixture
from vericite.errors import InputError, UnknownNameError
from vericite.evaluate.measures.measure import eval_package
from vericite.llm import LLM, CallFailure, ChatRequest
from vericite.llm.chat import as_block
from vericite.llm.prompts import Prompt, expect_known_slots, read_prompt
from vericite.models import Embedder
from vericite.models.contracts import Embeds
from vericite.text.statements import split_statements

Floats = NDArray[np.float64]
Way = Literal["greedy", "optimal"]

PROMPT = read_prompt(Path(__file__).parent / "prompts" / "nuggets.toml", Prompt)
"""Ours: one fact a line."""

_MARK = re.compile(r"\A\s*+(?:[-*+•‣–—]|\(?\d{1,3}[.):]\)?)\s++")
_LEAD = re.compile(r"(?:here (?:is|are)|the following|list of|nuggets?\s*:)", re.IGNORECASE)
_MOST = 200
"""Nuggets that are read from a reply."""


def split_nuggets(text: str) -> tuple[str, ...]:
    """The nuggets of a text without a language model: its atomic statements, each once."""
    return tuple(dict.fromkeys(text[span.slice].strip() for span in split_statements(text)))


def read_nuggets(reply: str) -> tuple[str, ...]:
    """The nuggets of a reply, one a line: bullets, numbers, fences and a line of introduction are left out.

    Raises:
        ValueError: There are none.
    """
    lines = [_MARK.sub("", line, count=1).strip(" \t\"'") for line in reply.splitlines()]
    kept = [line for line in lines if any(map(str.isalnum, line)) and not line.startswith("```")]
    if kept and (kept[0].endswith(":") or (_LEAD.match(kept[0]) and len(kept) > 1)):
        kept = kept[1:]
    found = tuple(dict.fromkeys(kept))[:_MOST]
    if not found:
        raise ValueError("no nugget in the reply")
    return found


class MadeNuggets(NamedTuple):
    """The nuggets of a text, or why there are none."""

    nuggets: tuple[str, ...]
    failure: str | None = None


def make_nuggets(texts: Iterable[str], llm: LLM | None = None, prompt: Prompt = PROMPT) -> Iterable[MadeNuggets]:
    """The nuggets of each text, in order: by a language model, or offline where none is given.

    Raises:
        InputError: The prompt has no slot for the text, or another one.
    """
    if llm is None:
        return (MadeNuggets(split_nuggets(text)) for text in texts)
    expect_known_slots(prompt.name, "system", prompt.system, (), ("text",))
    expect_known_slots(prompt.name, "user", prompt.user, ("text",))

    async def ask(text: str) -> MadeNuggets:
        request = ChatRequest(prompt.filled({"text": as_block("text", text)}), max_tokens=1024)
        reply = await llm.complete(request)
        if isinstance(reply, CallFailure):
            return MadeNuggets((), reply.reason)
        if reply.cut_off:
            return MadeNuggets((), "the list of nuggets was cut off; shorten the text")
        try:
            return MadeNuggets(read_nuggets(reply.text))
        except ValueError as error:
            return MadeNuggets((), str(error))

    return llm.each(texts, ask)


class Alignment(NamedTuple):
    """Pairs of an answer's nugget and a gold one, each in one pair at most, by number."""

    pairs: tuple[tuple[int, int], ...]
    probabilities: Floats


def align(probabilities: Floats, threshold: float, way: Way = "greedy") -> Alignment:
    """Align nuggets one to one, from the threshold up.

    Args:
        probabilities: Of a match, a row a nugget of the answer and a column a gold one.
        threshold: The least probability of a pair.
        way: ``greedy`` takes the likeliest pair first, as BioACE's code does; of equals the first. ``optimal`` takes as
            many pairs as there can be, and among these the likeliest together.
    """
    allowed = probabilities >= threshold
    if not allowed.any():
        return Alignment((), probabilities)
    if way == "optimal":
        # A pair more is worth more than any probabilities.
        worth = np.where(allowed, probabilities + min(probabilities.shape), 0.0)
        rows, columns = eval_package("scipy.optimize", "optimal alignment").linear_sum_assignment(worth, maximize=True)
        chosen = [(int(row), int(column)) for row, column in zip(rows, columns, strict=True) if allowed[row, column]]
        return Alignment(tuple(chosen), probabilities)
    order = np.argsort(-probabilities, axis=None, kind="stable")
    pairs: list[tuple[int, int]] = []
    rows_left, columns_left = set(range(probabilities.shape[0])), set(range(probabilities.shape[1]))
    for place in order:
        row, column = divmod(int(place), probabilities.shape[1])
        if not allowed[row, column]:
            break
        if row in rows_left and column in columns_left:
            pairs.append((row, column))
            rows_left.remove(row)
            columns_left.remove(column)
    return Alignment(tuple(sorted(pairs)), probabilities)


@dataclass(frozen=True)
class NuggetScore:
    """How much of the gold an answer says, and how much of what it says is of the gold."""

    aligned: int
    own: int
    gold: int

    @property
    def precision(self) -> float | None:
        """Of the answer's nuggets, the share that is aligned."""
        return self.aligned / self.own if self.own else None

    @property
    def recall(self) -> float | None:
        """Of the gold's nuggets, the share that is aligned."""
        return self.aligned / self.gold if self.gold else None

    @property
    def f1(self) -> float | None:
        """Their harmonic mean."""
        return 2 * self.aligned / (self.own + self.gold) if self.own + self.gold else None


def load_nugget_embedder(name: str) -> Embeds:
    """Who makes vectors of nuggets: ``bundled``, or ``hf:CHECKPOINT`` with a pooling behind a ``#``.

    Without one it is the mean of the tokens' vectors, and for SimCSE what its pooler makes of the first.

    Raises:
        UnknownNameError: It is neither.
        InputError: There is no such pooling.
        ModelMissingError: There is no such checkpoint.
        ModelCardError: It is no encoder, not one that is safe to load, or has no pooler.
        MissingExtraError: The extra ``[hf]`` is not installed.
    """
    if name == "bundled":
        return Embedder.shared()
    if not name.startswith("hf:"):
        raise UnknownNameError("embedder", name, ("bundled", "hf:CHECKPOINT"))
    from vericite.retrieve.hf import HFEmbedder, Pooling

    checkpoint, _, pooling = name.removeprefix("hf:").partition("#")
    usual = "pooler" if "simcse" in Path(checkpoint).name.casefold() else "mean"
    return HFEmbedder(checkpoint, pooling=cast(Pooling, pooling or usual))


def similarities(embedder: Embeds, own: Sequence[str], gold: Sequence[str]) -> Floats:
    """Cosines, a row a nugget of the answer and a column a gold one."""
    if not own or not gold:
        return np.zeros((len(own), len(gold)))
    vectors = embedder.embed([*own, *gold]).astype(np.float64)
    return vectors[: len(own)] @ vectors[len(own) :].T


def score_nuggets(found: Floats, mixture: StoredMixture, way: Way = "greedy") -> NuggetScore:
    """Align by a mixture's probabilities from its threshold up, and count."""
    aligned = align(mixture.probabilities(found), mixture.threshold, way)
    return NuggetScore(len(aligned.pairs), *found.shape)


class Objectives(NamedTuple):
    """What a threshold is chosen by: means over questions."""

    f1: float
    similarity: float
    aligned: float


def objectives(found: Sequence[Floats], mixture: StoredMixture, threshold: float, way: Way = "greedy") -> Objectives:
    """F1, the similarity of aligned pairs, and their number, each the mean over questions (0 where none is aligned)."""
    rows: list[tuple[float, float, float]] = []
    for matrix in found:
        pairs = align(mixture.probabilities(matrix), threshold, way).pairs
        score = NuggetScore(len(pairs), *matrix.shape)
        near = float(np.mean([matrix[pair] for pair in pairs])) if pairs else 0.0
        rows.append((score.f1 or 0.0, near, float(len(pairs))))
    return Objectives(*np.mean(rows, axis=0).tolist())


class Tuned(NamedTuple):
    """A mixture with its threshold, and the thresholds that no other is better than in all three objectives."""

    mixture: StoredMixture
    front: tuple[tuple[float, Objectives], ...]


def tune_threshold(
    found: Sequence[Floats], mixture: StoredMixture, trials: int = 100, seed: int = 0, way: Way = "greedy"
) -> Tuned:
    """Choose the threshold by Optuna, as BioACE does: three objectives to be raised, over [0, 1].

    Of the front the one with the highest F1 is taken, and of equals the highest threshold.

    Raises:
        InputError: Optuna is not installed.
    """
    try:
        import optuna  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise InputError(
            "expected Optuna to choose a threshold; found none. Install it: pip install 'vericite[assess]', or take a "
            "preset or --threshold."
        ) from None
    from typing import Any

    package: Any = optuna
    package.logging.set_verbosity(package.logging.WARNING)
    study = package.create_study(directions=["maximize"] * 3, sampler=package.samplers.TPESampler(seed=seed))

    def of(trial: Any) -> Objectives:
        return objectives(found, mixture, trial.suggest_float("threshold", 0.0, 1.0), way)

    study.optimize(of, n_trials=trials)
    front = sorted((float(trial.params["threshold"]), Objectives(*trial.values)) for trial in study.best_trials)
    threshold, _ = max(front, key=lambda one: (one[1].f1, one[0]))
    told = {
        "threshold": threshold,
        "chosen": f"highest F1 of Optuna's front, {trials} trials",
        "front": tuple((at, *values) for at, values in front),
    }
    return Tuned(mixture.model_copy(update=told), tuple(front))
