"""Figures made of what models computed beforehand and stored beside the answers; no model is loaded here."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from math import isfinite
from typing import ClassVar, Literal

from vericite.errors import InputError
from vericite.evaluate.items import Item
from vericite.evaluate.measures.answer_text import Side
from vericite.evaluate.measures.mauve import MAUVE
from vericite.evaluate.measures.measure import Measure, Need, Parts, one
from vericite.evaluate.measures.named import Family


@dataclass(frozen=True, repr=False)
class Stored(Measure):
    """The mean over questions of a figure that a model computed of each answer; missing where it is not stored."""

    family: ClassVar[Family] = "answer"
    needs: ClassVar[tuple[Need, ...]] = ("scores",)
    pooled: ClassVar[bool] = False

    @property
    @abstractmethod
    def key(self) -> str:
        """Its name among the stored scores."""

    def parts(self, item: Item) -> Parts | None:
        """The stored figure; missing where there is none, and for an answer that is none."""
        value = item.scores.get(self.key)
        return None if value is None or item.refused or not isfinite(value) else one(float(value))


@dataclass(frozen=True, repr=False)
class BERTScore(Stored):
    """Likeness of answer and reference answer, word by word, by a language model's vectors.

    BERTScore (Zhang et al. 2020), computed beforehand and stored as ``bertscore_f1``, ``bertscore_precision`` or
    ``bertscore_recall``; say in ``made_by`` which model made it (roberta-large is usual) and whether it was rescaled,
    since figures of two models are not comparable.
    """

    name = "BERTScore"

    figure: Side = "f1"

    @property
    def key(self) -> str:
        """Its name among the stored scores."""
        return f"bertscore_{self.figure}"


@dataclass(frozen=True, repr=False)
class ClaimEntailment(Stored):
    """How far an answer entails the claims that a good answer makes, by an entailment model.

    Computed beforehand and stored as ``claim_entailment``: of each answer, the mean over the gold's claims of the
    model's probability (or its yes or no) that the answer entails it.
    """

    name = "ClaimEntailment"

    @property
    def key(self) -> str:
        """Its name among the stored scores."""
        return "claim_entailment"


@dataclass(frozen=True, repr=False)
class ModelScore(Stored):
    """Any figure that was computed of each answer beforehand, by the name it is stored under.

    ``ModelScore(score='faithfulness')`` is the mean over questions of ``scores["faithfulness"]``, on the scale that it
    has. Whether more is better is ``better``: ``more``, ``less``, or not told.

    Attributes:
        score: The name it is stored under.
        better: Which way a difference is good.
    """

    name = "ModelScore"
    share = False
    unit = "units"
    higher_is_better = None
    in_all = False

    score: str = ""
    better: Literal["more", "less", ""] = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.score:
            raise InputError(
                f"expected the name of a stored score, as in {self.name}(score='faithfulness'); found none"
            )
        told = {"more": True, "less": False, "": None}[self.better]
        object.__setattr__(self, "higher_is_better", told)

    @property
    def key(self) -> str:
        """Its name among the stored scores."""
        return self.score


MODEL_SCORE_MEASURES: tuple[type[Measure], ...] = (BERTScore, ClaimEntailment, ModelScore, MAUVE)
