"""Extract nuggets of answers, compare and align them with the gold's, and score the alignment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from vericite.errors import InputError, UnknownNameError
from vericite.evaluate.measures.measure import eval_package
from vericite.lab.assess.mixture import StoredMixture
from vericite.llm import LLM, CallFailure
from vericite.llm.prompts import Prompt, read_prompt
from vericite.llm.verbatim import VerbatimPrompt, expect_texts, request_with
from vericite.models import Embedder
from vericite.models.contracts import Embeds
from vericite.text.statements import split_statements

Floats = NDArray[np.float64]
Way = Literal["greedy", "optimal"]

PROMPT = read_prompt(Path(__file__).parent / "prompts" / "nuggets.toml", Prompt)
"""The default prompt: one fact per line."""

_MARK = re.compile(r"\A\s*+(?:[-*+•‣–—]|\(?\d{1,3}[.):]\)?)\s++")
_LEAD = re.compile(r"(?:here (?:is|are)|the following|list of|nuggets?\s*:)", re.IGNORECASE)
_MAX_NUGGETS = 200
"""Maximum number of nuggets read from a reply."""


def split_nuggets(text: str) -> tuple[str, ...]:
    """Return the nuggets of a text without a language model: its distinct atomic statements."""
    return tuple(dict.fromkeys(text[span.slice].strip() for span in split_statements(text)))


def read_nuggets(reply: str) -> tuple[str, ...]:
    """Read the nuggets of a reply, one per line, without bullets, numbers, fences and an introductory line.

    Raises:
        ValueError: There are no nuggets.
    """
    lines = [_MARK.sub("", line, count=1).strip(" \t\"'") for line in reply.splitlines()]
    kept = [line for line in lines if any(map(str.isalnum, line)) and not line.startswith("```")]
    if kept and (kept[0].endswith(":") or (_LEAD.match(kept[0]) and len(kept) > 1)):
        kept = kept[1:]
    found = tuple(dict.fromkeys(kept))[:_MAX_NUGGETS]
    if not found:
        raise ValueError("no nugget in the reply")
    return found


class MadeNuggets(NamedTuple):
    """The nuggets of a text, or the reason why there are none."""

    nuggets: tuple[str, ...]
    failure: str | None = None


def make_nuggets(
    texts: Iterable[str],
    llm: LLM | None = None,
    prompt: Prompt | VerbatimPrompt = PROMPT,
    questions: Sequence[str] = (),
) -> Iterable[MadeNuggets]:
    """Return the nuggets of each text, in order, by a language model or, without one, offline.

    Args:
        texts: The texts.
        llm: The language model.
        prompt: Its prompt, with ``{text}`` and perhaps ``{question}``.
        questions: The question of each text.

    Raises:
        InputError: The prompt has no slot for the text, or has unknown slots.
    """
    if llm is None:
        return (MadeNuggets(split_nuggets(text)) for text in texts)
    expect_texts(prompt, ("text",), ("question",))

    async def ask(given: tuple[str, str]) -> MadeNuggets:
        reply = await llm.complete(request_with(prompt, dict(zip(("text", "question"), given, strict=True)), 1024))
        if isinstance(reply, CallFailure):
            return MadeNuggets((), reply.reason)
        if reply.cut_off:
            return MadeNuggets((), "the list of nuggets was cut off; shorten the text")
        try:
            return MadeNuggets(read_nuggets(reply.text))
        except ValueError as error:
            return MadeNuggets((), str(error))

    return llm.each(zip(texts, questions or repeat(""), strict=False), ask)


class Alignment(NamedTuple):
    """Pairs of an answer's nugget and a gold nugget by index, each in at most one pair."""

    pairs: tuple[tuple[int, int], ...]
    probabilities: Floats


def align(probabilities: Floats, threshold: float, way: Way = "greedy") -> Alignment:
    """Align nuggets one to one.

    Args:
        probabilities: Probabilities of a match [answer's nuggets, gold nuggets].
        threshold: Minimum probability of a pair.
        way: ``greedy`` takes the most probable pair first, as BioACE's code does, and the first one among ties.
            ``optimal`` finds the maximum number of pairs with the highest total probability.
    """
    allowed = probabilities >= threshold
    if not allowed.any():
        return Alignment((), probabilities)
    if way == "optimal":
        # One more pair outweighs any sum of probabilities.
        worth = np.where(allowed, probabilities + min(probabilities.shape), 0.0)
        rows, columns = eval_package("scipy.optimize", "optimal alignment").linear_sum_assignment(worth, maximize=True)
        chosen = [(int(row), int(column)) for row, column in zip(rows, columns, strict=True) if allowed[row, column]]
        return Alignment(tuple(chosen), probabilities)
    order = np.argsort(-probabilities, axis=None, kind="stable")
    pairs: list[tuple[int, int]] = []
    rows_left, columns_left = set(range(probabilities.shape[0])), set(range(probabilities.shape[1]))
    for index in order:
        row, column = divmod(int(index), probabilities.shape[1])
        if not allowed[row, column]:
            break
        if row in rows_left and column in columns_left:
            pairs.append((row, column))
            rows_left.remove(row)
            columns_left.remove(column)
    return Alignment(tuple(sorted(pairs)), probabilities)


@dataclass(frozen=True)
class NuggetScore:
    """The numbers of aligned nuggets, of the answer's nuggets and of the gold's nuggets."""

    aligned: int
    own: int
    gold: int

    @property
    def precision(self) -> float | None:
        """The share of the answer's nuggets that is aligned."""
        return self.aligned / self.own if self.own else None

    @property
    def recall(self) -> float | None:
        """The share of the gold's nuggets that is aligned."""
        return self.aligned / self.gold if self.gold else None

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall."""
        return 2 * self.aligned / (self.own + self.gold) if self.own + self.gold else None


def load_nugget_embedder(name: str) -> Embeds:
    """Load an embedder by name: ``bundled``, ``hf:CHECKPOINT`` or ``hf:CHECKPOINT#POOLING``.

    The default pooling is the mean over tokens, and the pooler's output for SimCSE.

    Raises:
        UnknownNameError: The name is none of these.
        InputError: The pooling does not exist.
        ModelMissingError: The checkpoint does not exist.
        ModelCardError: The checkpoint is not an encoder, is not safe to load, or has no pooler.
        MissingExtraError: The extra ``[hf]`` is not installed.
    """
    if name == "bundled":
        return Embedder.shared()
    if not name.startswith("hf:"):
        raise UnknownNameError("embedder", name, ("bundled", "hf:CHECKPOINT"))
    from vericite.retrieve.hf import HFEmbedder, Pooling

    checkpoint, _, pooling = name.removeprefix("hf:").partition("#")
    default = "pooler" if "simcse" in Path(checkpoint).name.casefold() else "mean"
    return HFEmbedder(checkpoint, pooling=cast(Pooling, pooling or default))


def similarities(embedder: Embeds, own: Sequence[str], gold: Sequence[str]) -> Floats:
    """Return cosines [answer's nuggets, gold nuggets]."""
    if not own or not gold:
        return np.zeros((len(own), len(gold)))
    vectors = embedder.embed([*own, *gold]).astype(np.float64)
    return vectors[: len(own)] @ vectors[len(own) :].T


def score_nuggets(found: Floats, mixture: StoredMixture, way: Way = "greedy") -> NuggetScore:
    """Align nuggets by a mixture's probabilities and threshold, and count the pairs."""
    aligned = align(mixture.probabilities(found), mixture.threshold, way)
    return NuggetScore(len(aligned.pairs), *found.shape)


class Objectives(NamedTuple):
    """The objectives for choosing a threshold: means over questions."""

    f1: float
    similarity: float
    aligned: float


def objectives(found: Sequence[Floats], mixture: StoredMixture, threshold: float, way: Way = "greedy") -> Objectives:
    """Return means over questions.

    They are of F1, the similarity of aligned pairs (0 if there are none) and the number of aligned pairs.
    """
    rows: list[tuple[float, float, float]] = []
    for matrix in found:
        pairs = align(mixture.probabilities(matrix), threshold, way).pairs
        score = NuggetScore(len(pairs), *matrix.shape)
        similarity = float(np.mean([matrix[pair] for pair in pairs])) if pairs else 0.0
        rows.append((score.f1 or 0.0, similarity, float(len(pairs))))
    return Objectives(*np.mean(rows, axis=0).tolist())


class Tuned(NamedTuple):
    """A mixture with a tuned threshold, and the Pareto front of thresholds."""

    mixture: StoredMixture
    front: tuple[tuple[float, Objectives], ...]


def tune_threshold(
    found: Sequence[Floats], mixture: StoredMixture, trials: int = 100, seed: int = 0, way: Way = "greedy"
) -> Tuned:
    """Tune the threshold over [0, 1] with Optuna, as BioACE does, by maximizing three objectives.

    The result is the threshold of the Pareto front with the highest F1, and the highest threshold among ties.

    Raises:
        InputError: Optuna is not installed.
    """
    try:
        import optuna  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise InputError(
            "expected Optuna, which chooses the threshold; it is not installed. Install it with pip install "
            "'vericite[assess]', or use a preset or --set threshold=NUMBER."
        ) from None
    from typing import Any

    package: Any = optuna
    package.logging.set_verbosity(package.logging.WARNING)
    study = package.create_study(directions=["maximize"] * 3, sampler=package.samplers.TPESampler(seed=seed))

    def evaluate(trial: Any) -> Objectives:
        return objectives(found, mixture, trial.suggest_float("threshold", 0.0, 1.0), way)

    study.optimize(evaluate, n_trials=trials)
    front = sorted((float(trial.params["threshold"]), Objectives(*trial.values)) for trial in study.best_trials)
    threshold, _ = max(front, key=lambda point: (point[1].f1, point[0]))
    tuned = {
        "threshold": threshold,
        "chosen": f"highest F1 of Optuna's front, {trials} trials",
        "front": tuple((at, *values) for at, values in front),
    }
    return Tuned(mixture.model_copy(update=tuned), tuple(front))
