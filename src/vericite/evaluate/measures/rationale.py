"""Whether a rationale's statements are faithful to the documents, by Reason and Verify's categories."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from vericite.errors import UnknownNameError
from vericite.evaluate.items import Item
from vericite.evaluate.measures.counted import Counts, Source, Sourced
from vericite.evaluate.measures.measure import Measure, Need
from vericite.evaluate.measures.named import Family
from vericite.evaluate.rates import SHARES
from vericite.records import CheckedAnswer, StatementVerdict
from vericite.verify import CATEGORIES, Faithful
from vericite.verify.faithful import CORRECT, INCORRECT


def judges_rationales(checked: CheckedAnswer) -> bool:
    """Whether statements were judged by Reason and Verify's rule."""
    # An answer without a judged claim has no verdict to tell it by.
    made = f"aggregate={Faithful().signature}" in (checked.provenance.protocol or "")
    return made or any(verdict.native in (CORRECT, INCORRECT) for verdict in checked.verdicts)


def judged_statements(checked: CheckedAnswer) -> list[StatementVerdict]:
    """The statements that ``Summary.statements`` counts."""
    decided = [it for it in checked.verdicts if not it.abstained and not it.taken_apart]
    return [one for it in (*decided, *checked.failures) for one in it.statements if one.label is not None]


def _judged(item: Item) -> CheckedAnswer | None:
    """The verdicts on a rationale: a run's own, else those on an answer that were made by the rule for rationales."""
    judged = item.reasoned or item.judged
    return judged if judged is not None and judges_rationales(judged) else None


@dataclass(frozen=True, repr=False)
class StatementShare(Sourced):
    """The share of a rationale's statements that are in some of the categories."""

    family: ClassVar[Family] = "rationale"
    needs: ClassVar[tuple[Need, ...]] = ("verdicts",)

    by: Literal["statement", "question"] = "statement"
    source: Source = "verdicts"

    @abstractmethod
    def counted(self, category: str) -> bool:
        """Whether a category counts."""

    def of_labels(self, item: Item) -> Counts | None:
        """By assessors' categories; statements they did not judge are left out."""
        if item.labels is None or item.labels.rationale is None:
            return None
        return self._share([category for category in item.labels.rationale if category is not None])

    def _share(self, categories: Sequence[str]) -> Counts | None:
        """None where one is no category, so that nothing is known of its statement."""
        if not CATEGORIES.keys() >= set(categories):
            return None
        return sum(map(self.counted, categories)), len(categories)


class Faith(StatementShare):
    """Statements that are correct (in one of the four CORRECT categories), over statements judged.

    Faith(R) of Reason and Verify (Khan et al. 2026, arXiv 2603.10143), of verdicts under protocol reason-verify or with
    ``source='labels'`` of ``Labels.rationale``. A judge without the paper's categories counts what it finds entailed.
    Pooled over statements, or with ``by='question'`` the mean over rationales.
    """

    name = "Faith"

    def counted(self, category: str) -> bool:
        """As the paper counts."""
        return category.startswith(CORRECT)

    def of_verdicts(self, item: Item) -> Counts | None:
        """As ``vericite check`` counts statements that hold."""
        judged = _judged(item)
        if judged is None:
            return None
        share = SHARES["statements that hold"]
        return share.count(judged.summary), share.of(judged.summary)


@dataclass(frozen=True, repr=False)
class CategoryShare(StatementShare):
    """Statements in one of Reason and Verify's eight categories, over statements judged.

    The categories of Khan et al. 2026 (arXiv 2603.10143), such as ``category='INCORRECT-FALSE'``; missing where the
    judge knows no categories. Counted as ``Faith``.
    """

    name = "CategoryShare"
    higher_is_better = None
    in_all = False

    category: str = "CORRECT-EXPLICIT"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.category not in CATEGORIES:
            raise UnknownNameError("category", self.category, CATEGORIES)

    def counted(self, category: str) -> bool:
        """This one only."""
        return category == self.category

    def of_verdicts(self, item: Item) -> Counts | None:
        """By the judge's own name for each statement."""
        judged = _judged(item)
        return None if judged is None else self._share([statement.native for statement in judged_statements(judged)])


RATIONALE_MEASURES: tuple[type[Measure], ...] = (Faith, CategoryShare)
