"""Agreement of raters on items, and of rankings of systems, as measures with a string.

What is computed is in ``evaluate/agreement.py``; these are its names on the command line, in JSON and in the docs.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from vericite.evaluate.agreement import (
    Agreement,
    Label,
    Level,
    Ratings,
    Weights,
    category_f1,
    cohen_kappa,
    fleiss_kappa,
    kendall,
    krippendorff_alpha,
    spearman,
)
from vericite.evaluate.measures.named import Family, Named
from vericite.evaluate.resampling import Bootstrap


@dataclass(frozen=True)
class Rated:
    """Items and what raters said of them.

    Attributes:
        ratings: Labels [items, raters], None for none; the reference first where there is one.
        categories: All labels there are, in their order where they have one.
        groups: What items that are not independent share.
    """

    ratings: Ratings
    categories: Sequence[Label]
    groups: Sequence[Hashable]

    @property
    def sides(self) -> tuple[list[Label | None], list[Label | None]]:
        """The labels of the first rater, and of the second."""
        return [row[0] for row in self.ratings], [row[1] for row in self.ratings]


@dataclass(frozen=True, repr=False)
class AgreementMeasure(Named):
    """A coefficient of how far raters agree on items."""

    family: ClassVar[Family] = "agreement"
    of_two: ClassVar[bool] = True
    """Whether it is of a reference and one other rater; else of all of them at once."""

    @property
    def ordered(self) -> bool:
        """Whether it needs the categories in their order."""
        return False

    @abstractmethod
    def of(self, rated: Rated, bootstrap: Bootstrap | None = None) -> list[Agreement]:
        """The coefficient, or one a category."""


@dataclass(frozen=True, repr=False)
class CohenKappa(AgreementMeasure):
    """Agreement of two raters beyond chance; undefined where both give all items one label.

    Cohen (1960); with weights (1968), by the distance of categories in the order they are given.
    """

    name = "CohenKappa"
    weights: Weights | None = None

    @property
    def ordered(self) -> bool:
        """With weights, which are distances."""
        return self.weights is not None

    def of(self, rated: Rated, bootstrap: Bootstrap | None = None) -> list[Agreement]:
        """One coefficient, of the two."""
        first, second = rated.sides
        return [
            cohen_kappa(
                first,
                second,
                weights=self.weights,
                categories=rated.categories,
                groups=rated.groups,
                bootstrap=bootstrap,
            )
        ]


@dataclass(frozen=True, repr=False)
class FleissKappa(AgreementMeasure):
    """Agreement of several raters beyond chance, over the items that all of them labelled (Fleiss 1971)."""

    name = "FleissKappa"
    of_two = False

    def of(self, rated: Rated, bootstrap: Bootstrap | None = None) -> list[Agreement]:
        """One coefficient, of all of them."""
        return [fleiss_kappa(rated.ratings, categories=rated.categories, groups=rated.groups, bootstrap=bootstrap)]


@dataclass(frozen=True, repr=False)
class KrippendorffAlpha(AgreementMeasure):
    """Agreement of several raters beyond chance, some of whom may not have labelled an item.

    Krippendorff's alpha; ordinal with categories in their order.
    """

    name = "KrippendorffAlpha"
    of_two = False
    level: Level = "nominal"

    @property
    def ordered(self) -> bool:
        """At the ordinal level."""
        return self.level == "ordinal"

    def of(self, rated: Rated, bootstrap: Bootstrap | None = None) -> list[Agreement]:
        """One coefficient, of all of them."""
        return [
            krippendorff_alpha(
                rated.ratings, level=self.level, categories=rated.categories, groups=rated.groups, bootstrap=bootstrap
            )
        ]


@dataclass(frozen=True, repr=False)
class CategoryF1(AgreementMeasure):
    """F1 of each category, with the reference's labels (a person's) as the truth."""

    name = "CategoryF1"

    def of(self, rated: Rated, bootstrap: Bootstrap | None = None) -> list[Agreement]:
        """One figure a category."""
        first, second = rated.sides
        return list(
            category_f1(first, second, categories=rated.categories, groups=rated.groups, bootstrap=bootstrap).values()
        )


Ranked = Mapping[str, float | None]
"""Each system's score by one measure."""


@dataclass(frozen=True, repr=False)
class RankAgreement(Named):
    """A correlation of two rankings of the same systems."""

    family: ClassVar[Family] = "agreement"

    @abstractmethod
    def of(self, first: Ranked, second: Ranked, bootstrap: Bootstrap | None = None) -> Agreement:
        """From each system's scores by two measures; the interval is drawn over systems."""


@dataclass(frozen=True, repr=False)
class Spearman(RankAgreement):
    """Spearman's rank correlation between two measures' scores of the same systems; undefined where all are tied."""

    name = "Spearman"

    def of(self, first: Ranked, second: Ranked, bootstrap: Bootstrap | None = None) -> Agreement:
        """Rho, over the systems that both have a score for."""
        return spearman(first, second, bootstrap)


@dataclass(frozen=True, repr=False)
class Kendall(RankAgreement):
    """Kendall's tau-b between two measures' scores of the same systems; undefined where all are tied."""

    name = "Kendall"

    def of(self, first: Ranked, second: Ranked, bootstrap: Bootstrap | None = None) -> Agreement:
        """Tau-b, over the systems that both have a score for."""
        return kendall(first, second, bootstrap)


AGREEMENT_MEASURES: tuple[type[AgreementMeasure], ...] = (CohenKappa, FleissKappa, KrippendorffAlpha, CategoryF1)
RANK_MEASURES: tuple[type[RankAgreement], ...] = (Spearman, Kendall)
