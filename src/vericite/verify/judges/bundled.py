"""The verifier that the package ships, and judges to compare it with: word overlap, a mean, AlignScore, SummaC.

AlignScore and SummaC run in their own packages and give one score per pair: how well the premise supports the claim.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from itertools import tee
from pathlib import Path
from typing import Any

import numpy as np

from vericite.errors import InputError, ModelCardError
from vericite.llm.spec import weights_fingerprint
from vericite.models.contracts import COLUMNS, Judge, Judgement, JudgeTraits, Pair, traits_of
from vericite.models.engine import Engine
from vericite.models.folder import VERIFIER, ModelFolder
from vericite.network.access import offline_by_environment
from vericite.verify.judging import mean_of, softmax


class BundledJudge:
    """A model folder with three labels, read as probabilities.

    Args:
        folder: The model; None for the bundled one.
        threads: Number of cores; None for all.
        exits: Whether the model may stop reading a pair early if it is surely neutral. This saves time, but the
            probabilities of such pairs are guesses.
    """

    def __init__(self, folder: ModelFolder | None = None, threads: int | None = None, exits: bool = True) -> None:
        self.folder = folder or ModelFolder.bundled(VERIFIER)
        labels = self.folder.card.labels
        if sorted(labels) != sorted(COLUMNS):
            raise ModelCardError(
                f"expected a verifier with the labels {', '.join(COLUMNS)}; found "
                f"{', '.join(labels) or 'none'} in {self.folder.path}"
            )
        self._columns = [labels.index(label) for label in COLUMNS]
        self._engine = Engine(self.folder, threads, exits)

    @property
    def signature(self) -> str:
        """Name and hash of the weights, the temperature if there is one, and whether early exits are off."""
        card = self.folder.card
        told = [f"temperature={card.temperature:g}"] if card.temperature != 1 else []
        told += ["no exits"] if card.exits and not self._engine.exits else []
        return self.folder.signature + (f"({', '.join(told)})" if told else "")

    @property
    def capacity(self) -> int:
        """Number of tokens of premise and claim that the model reads, without the three separators."""
        return self.folder.card.max_tokens - 3

    @property
    def precisions(self) -> dict[float, float]:
        """The card's, if the model runs as it was measured: with early exits."""
        card = self.folder.card
        measured = self._engine.exits or not card.exits
        return {float(share): bar for share, bar in card.precisions.items()} if measured else {}

    def length(self, text: str) -> int:
        """Return the number of tokens of a text."""
        return self._engine.encoder.length(text)

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """Yield the softmax of the model's outputs at the card's temperature."""
        limit = self.folder.card.max_tokens
        for row in self._engine.run(pairs):
            logits = row.values[self._columns] / np.float32(self.folder.card.temperature)
            note = f"a premise was cut to the model's {limit} tokens" if row.truncated else None
            yield Judgement(softmax(logits), note=note)


_WORD = re.compile(r"\w+")
_NEGATIONS = frozenset("no not never without neither nor cannot failed lack absence".split())
_STOP_WORDS = frozenset(
    "a an and are as at be been by can for from has have in is it its may of on or that the their these "
    "this to was were which with".split()
)


class LexicalJudge:
    """Entails if the premise has most of the claim's words; contradicts if only one of the two is negated."""

    signature = "lexical.v1"

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """Compute the share of the claim's content words in the premise, split by whether the negations agree."""
        for pair in pairs:
            premise, claim = _words(pair.premise), _words(pair.claim)
            content = claim - _NEGATIONS
            covered = len(content & premise) / len(content) if content else 0.0
            agree = bool(claim & _NEGATIONS) == bool(premise & _NEGATIONS)
            near = covered**2
            split = (0.9 * near, 0.1 * near) if agree else (0.1 * near, 0.9 * near)
            yield Judgement(np.array([*split, 1 - near], dtype=np.float32))


def _words(text: str) -> frozenset[str]:
    words = (word for word in _WORD.findall(text.lower()) if word not in _STOP_WORDS)
    return frozenset(word.rstrip("s") or word for word in words)


class MeanJudge:
    """The mean of other judges' probabilities: judges that err on different pairs correct each other.

    It reads as much as the judge that reads least, and takes as long as all of them together. A pair that one of them
    could not judge is not judged.

    Raises:
        InputError: There are fewer than two judges, or one of them only returns labels.
    """

    def __init__(self, judges: Sequence[Judge]) -> None:
        if len(judges) < 2:
            raise InputError(f"expected at least two judges for a mean; found {len(judges)}")
        for judge in judges:
            if not traits_of(judge).graded:
                raise InputError(
                    f"expected judges with probabilities for a mean; {judge.signature} only returns labels"
                )
        self.judges = tuple(judges)
        self.signature = f"mean({' + '.join(judge.signature for judge in judges)})"
        self.traits = _traits_of_all([traits_of(judge) for judge in judges])

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """Yield the mean of the judgements on each pair; a failure if one of them failed."""
        asked = tee(pairs, len(self.judges))
        judged = [judge.judge(own) for judge, own in zip(self.judges, asked, strict=True)]
        return (self._mean(judgements) for judgements in zip(*judged, strict=True))

    def _mean(self, judgements: Sequence[Judgement]) -> Judgement:
        for judge, judgement in zip(self.judges, judgements, strict=True):
            if judgement.failure is not None:
                return judgement._replace(failure=f"{judge.signature}: {judgement.failure}")
            if not judgement.graded:
                return Judgement.failed(f"{judge.signature} gave a label without probabilities, which has no mean")
        mean = mean_of([judgement.probabilities for judgement in judgements])
        notes = dict.fromkeys(judgement.note for judgement in judgements if judgement.note)
        return Judgement(np.asarray(mean, dtype=np.float32), note="; ".join(notes) or None)


def _traits_of_all(traits: Sequence[JudgeTraits]) -> JudgeTraits:
    """Combine the traits of several judges: together they read as much as the one that reads least."""
    limits = [(each.capacity, each.length) for each in traits if each.capacity is not None]
    capacity = min((limit for limit, _ in limits), default=None)

    def length(text: str) -> int:
        return max((math.ceil(own(text) * (capacity or 0) / limit) for limit, own in limits), default=len(text))

    return JudgeTraits(
        capacity,
        length,
        min((each.pairs_at_once for each in traits if each.pairs_at_once is not None), default=None),
        any(each.reads_question for each in traits),
    )


AT_ONCE = 32


class ScoreJudge:
    """A score from 0 to 1 as the probability of entailment; contradiction and neutral are not distinguished.

    Args:
        signature: Signature, for provenance.
        score: Returns a score for each pair of premise and claim.
    """

    graded = True

    def __init__(self, signature: str, score: Callable[[Sequence[str], Sequence[str]], Sequence[float]]) -> None:
        self.signature = signature
        self._score = score

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """Judge in batches; a score that is not a number is a failure."""
        kept = list(pairs)
        for start in range(0, len(kept), AT_ONCE):
            some = kept[start : start + AT_ONCE]
            for score in self._score([pair.premise for pair in some], [pair.claim for pair in some]):
                yield _judgement(float(score))


def _judgement(score: float) -> Judgement:
    if not np.isfinite(score):
        return Judgement.failed("the score is not a number")
    share = min(max(score, 0.0), 1.0)
    return Judgement(np.array([share, 0.0, 1.0 - share], dtype=np.float32), native=f"{score:.4f}")


def alignscore(rest: str) -> ScoreJudge:
    """Load AlignScore with split sentences (``nli_sp``) from ``CHECKPOINT`` or ``MODEL@CHECKPOINT``.

    Its package reads the checkpoint as a pickle, which may run code: name only one that you trust.

    Raises:
        InputError: The package is not installed, or there is no such file.
    """
    model, _, checkpoint = rest.rpartition("@")
    path = Path(checkpoint).expanduser()
    package = _package("alignscore", "the repository yuh-zha/AlignScore on GitHub")
    if not path.is_file():
        raise InputError(f"expected AlignScore's checkpoint (.ckpt); found none at {checkpoint}. Download it.")
    choices = {"model": model or "roberta-large", "batch_size": AT_ONCE, "device": "cpu", "ckpt_path": str(path)}
    scorer: Any = package.AlignScore(**choices, evaluation_mode="nli_sp")
    return ScoreJudge(
        f"alignscore:{choices['model']}@{path.name}@{weights_fingerprint(path)}(nli_sp)",
        lambda premises, claims: scorer.score(contexts=list(premises), claims=list(claims)),
    )


def summac(rest: str) -> ScoreJudge:
    """Load SummaC's zero-shot (``zs``) or trained (``conv``) model with VitaminC's NLI model, by sentences.

    Raises:
        InputError: The package is not installed, the model is neither of the two, or it needs a download that is
            not allowed.
    """
    if rest not in ("zs", "conv"):
        raise InputError(f"expected summac:zs or summac:conv; found {rest!r}. Correct it.")
    package = _package("summac.model_summac", "PyPI: pip install summac")
    if offline_by_environment():
        raise InputError(
            "expected SummaC's model, which its package downloads; found --offline (VERICITE_OFFLINE). Leave it out."
        )
    given: dict[str, Any] = {"granularity": "sentence", "device": "cpu"}
    if rest == "zs":
        scorer: Any = package.SummaCZS(**given, model_name="vitc")
        # Entailment minus contradiction, from -1 to 1.
        return ScoreJudge(
            "summac:zs(vitc)", lambda texts, claims: [(score + 1) / 2 for score in _scores(scorer, texts, claims)]
        )
    scorer = package.SummaCConv(
        **given, models=["vitc"], bins="percentile", nli_labels="e", start_file="default", agg="mean"
    )
    return ScoreJudge("summac:conv(vitc)", lambda texts, claims: _scores(scorer, texts, claims))


def _scores(scorer: Any, premises: Sequence[str], claims: Sequence[str]) -> list[float]:
    return [float(score) for score in scorer.score(list(premises), list(claims))["scores"]]


def _package(name: str, source: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise InputError(
            f"expected the package {name.partition('.')[0]}; found none. Install it from {source}."
        ) from None
