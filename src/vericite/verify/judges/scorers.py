"""AlignScore and SummaC by their own packages: one score a pair, how far the premise bears the claim out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from vericite.errors import InputError
from vericite.llm.spec import weights_fingerprint
from vericite.models.contracts import Judgement, Pair
from vericite.network.access import offline_by_environment

AT_ONCE = 32


class ScoreJudge:
    """A score from 0 to 1 as the probability of entailment; contradiction is not told from neutral.

    Args:
        signature: For provenance.
        score: A score a pair of premise and claim.
    """

    graded = True

    def __init__(self, signature: str, score: Callable[[Sequence[str], Sequence[str]], Sequence[float]]) -> None:
        self.signature = signature
        self._score = score

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """In batches; a score that is no number is a failure."""
        kept = list(pairs)
        for start in range(0, len(kept), AT_ONCE):
            some = kept[start : start + AT_ONCE]
            for score in self._score([one.premise for one in some], [one.claim for one in some]):
                yield _judgement(float(score))


def _judgement(score: float) -> Judgement:
    if not np.isfinite(score):
        return Judgement.failed("the score is no number")
    share = min(max(score, 0.0), 1.0)
    return Judgement(np.array([share, 0.0, 1.0 - share], dtype=np.float32), native=f"{score:.4f}")


def alignscore(rest: str) -> ScoreJudge:
    """AlignScore with sentences split (``nli_sp``), of ``CHECKPOINT`` or ``MODEL@CHECKPOINT``.

    Its package reads the checkpoint as a pickle, which may run code: none but a trusted one should be named.

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
    """SummaC's zero-shot (``zs``) or trained (``conv``) model on VitaminC's NLI model, sentence by sentence.

    Raises:
        InputError: The package is not installed, it is neither model, or it would be downloaded where none may be.
    """
    if rest not in ("zs", "conv"):
        raise InputError(f"expected summac:zs or summac:conv; found {rest!r}. Correct it.")
    package = _package("summac.model_summac", "PyPI: pip install summac")
    if offline_by_environment():
        raise InputError("expected SummaC's model; VERICITE_OFFLINE is set, and its package downloads it. Unset it.")
    given: dict[str, Any] = {"granularity": "sentence", "device": "cpu"}
    if rest == "zs":
        scorer: Any = package.SummaCZS(**given, model_name="vitc")
        # Entailment less contradiction, from -1 to 1.
        return ScoreJudge(
            "summac:zs(vitc)", lambda texts, claims: [(it + 1) / 2 for it in _scores(scorer, texts, claims)]
        )
    scorer = package.SummaCConv(
        **given, models=["vitc"], bins="percentile", nli_labels="e", start_file="default", agg="mean"
    )
    return ScoreJudge("summac:conv(vitc)", lambda texts, claims: _scores(scorer, texts, claims))


def _scores(scorer: Any, premises: Sequence[str], claims: Sequence[str]) -> list[float]:
    return [float(it) for it in scorer.score(list(premises), list(claims))["scores"]]


def _package(name: str, source: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise InputError(
            f"expected the package {name.partition('.')[0]}; found none. Install it from {source}."
        ) from None
