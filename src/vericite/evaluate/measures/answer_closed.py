"""Whether a system answers yes, no or maybe, or names a category, as is right.

Exact answers are read, missing and wrong as in ``answer_exact``; where a system states none apart, yes, no and maybe
are also read from the first word of its text.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vericite.errors import InputError
from vericite.evaluate.gold import Gold
from vericite.evaluate.items import Item
from vericite.evaluate.measures.answer_exact import Exact, OfType
from vericite.evaluate.measures.exactness import CLOSED, closed_answer, closed_gold, exact_answer, label
from vericite.evaluate.measures.measure import NOTHING, Measure, Need, Parts, one
from vericite.evaluate.measures.named import Family
from vericite.evaluate.resampling import Floats


class YesNoAccuracy(OfType):
    """Yes/no questions that are answered right.

    As in BioASQ's Task B. The answer is the exact one, or the first word of the text where that is yes, no or maybe and
    a mark or the end of the line follows ("No evidence was found" does not say no). An answer that says none of them is
    wrong; without any answer the question is missing.
    """

    name = "YesNoAccuracy"
    whole = True
    type = "yesno"

    def judged(self, item: Item, gold: Gold) -> Parts | None:
        """1 where it is right."""
        said, right = closed_answer(item), closed_gold(gold)
        return None if said is None or right is None else one(float(said == right))


@dataclass(frozen=True, repr=False)
class MacroF1(Measure):
    """F1 of each class, pooled over all questions, and the mean of these. A class never asked nor said has none."""

    family: ClassVar[Family] = "answer"
    needs: ClassVar[tuple[Need, ...]] = ("exact", "gold")

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """The classes."""

    @property
    def width(self) -> int:
        """Three sums a class."""
        return 3 * len(self.labels)

    def counted(self, said: str, right: str) -> Parts:
        """For each class whether it was said rightly, whether it was said, and whether it is right."""
        return tuple(float(count) for it in self.labels for count in (said == right == it, said == it, right == it))

    def statistic(self, sums: Floats) -> Floats:
        """The mean over classes of twice what was said rightly, over what was said and what is right."""
        out_of = sums[..., 1::3] + sums[..., 2::3]
        known = out_of > 0
        each = np.divide(2 * sums[..., 0::3], out_of, out=np.zeros_like(out_of), where=known)
        return each.sum(axis=-1) / known.sum(axis=-1)


class YesNoMacroF1(MacroF1, OfType):
    """F1 of yes and F1 of no over yes/no questions, and the mean of the two.

    As in BioASQ's Task B, where it is the official measure, and the answer is read as in ``YesNoAccuracy``. An answer
    that says neither counts as if it said the wrong one, against both F1s, as in BioASQ's program. Where one of the two
    is neither right nor said in any question, it has no F1 and is left out (BioASQ's program counts 0).
    """

    name = "YesNoMacroF1"
    type = "yesno"
    pooled = True

    @property
    def labels(self) -> tuple[str, ...]:
        """Yes and no."""
        return ("yes", "no")

    def judged(self, item: Item, gold: Gold) -> Parts | None:
        """What it adds to the counts."""
        said, right = closed_answer(item), closed_gold(gold)
        if said is None or right is None:
            return None
        if said not in self.labels and right in self.labels:
            said = next(label for label in self.labels if label != right)
        return self.counted(said, right)


class CategoryAccuracy(Exact):
    """Questions whose answer is of the right category, such as yes, no or maybe.

    As in PubMedQA (Jin et al. 2019). The right one is the gold's ``category``, or its exact answer where that is yes,
    no or maybe; a question with another exact answer has nothing to count. The system's is its exact answer or, for
    yes, no and maybe, the first word of its text (see ``YesNoAccuracy``); one that says none of them is wrong. Other
    categories are not looked for in a text: there a question is missing without an exact answer.
    """

    name = "CategoryAccuracy"
    whole = True

    def parts(self, item: Item) -> Parts | None:
        """1 where they are the same."""
        right = _category(item.gold)
        if not right:
            return None if right is None else NOTHING
        said = _category_said(item, right)
        return None if said is None else one(float(said == right))


@dataclass(frozen=True, repr=False)
class CategoryMacroF1(MacroF1):
    """F1 of each category over all questions, and the mean of these.

    PubMedQA's second measure; right answers and the system's are read as in ``CategoryAccuracy``. An answer that says
    none counts against the F1 of the right one. A category that is neither right nor said in any question has no F1 and
    is left out.

    Attributes:
        classes: The categories, with commas between them.
    """

    name = "CategoryMacroF1"

    classes: str = ",".join(CLOSED)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not all(self.labels) or len(set(self.labels)) < len(self.labels):
            raise InputError(f"expected classes of {self.name} as in 'yes,no,maybe', each once; found {self.classes!r}")

    @property
    def labels(self) -> tuple[str, ...]:
        """The categories."""
        return tuple(map(label, self.classes.split(",")))

    def parts(self, item: Item) -> Parts | None:
        """What it adds to the counts."""
        right = _category(item.gold)
        if not right:
            return None if right is None else (0.0,) * self.width
        said = _category_said(item, right)
        return None if said is None else self.counted(said, right)


ANSWER_CLOSED_MEASURES: tuple[type[Measure], ...] = (
    YesNoAccuracy,
    YesNoMacroF1,
    CategoryAccuracy,
    CategoryMacroF1,
)


def _category(gold: Gold | None) -> str | None:
    """The right category; empty for a question that has none, None where it is not known."""
    if gold is None:
        return None
    if gold.category is not None:
        return label(gold.category)
    closed = closed_gold(gold)
    if closed is None:
        return "" if gold.exact or gold.type not in (None, "yesno") else None
    return closed


def _category_said(item: Item, right: str) -> str | None:
    """The system's category; its text is read only where the right one is a word that texts begin with."""
    exact = exact_answer(item)
    return closed_answer(item) if exact is not None or right in CLOSED else None
