"""Reason and Verify: eight categories for a statement of a rationale, and the share that is faithful."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from vericite.verify.aggregate import AnyEntails, Outcome, StatementOutcome
from vericite.verify.judging import CONTRADICTS, ENTAILS, NEUTRAL
from vericite.verify.sheet import Cells, Sheet


class Category(NamedTuple):
    """What a category means, and the common column it is mapped to."""

    meaning: str
    column: int

    @classmethod
    def supporting(cls, meaning: str) -> Category:
        """One that says the source supports the statement."""
        return cls(meaning, ENTAILS)


CATEGORIES: dict[str, Category] = {
    "CORRECT-EXPLICIT": Category.supporting("the documents state it, word for word or in other words"),
    "CORRECT-IMPLICIT": Category.supporting("it follows from facts in the documents, which do not state it"),
    "CORRECT-ADDITIONAL": Category("it is correct and to the point, and adds what the documents do not say", NEUTRAL),
    "CORRECT-MISSING": Category("it is correct, but the documents give no support for it", NEUTRAL),
    "INCORRECT-FALSE": Category("the documents contradict it", CONTRADICTS),
    "INCORRECT-DEVIATING": Category("it strays from the question", NEUTRAL),
    "INCORRECT-ILLOGICAL": Category("it contradicts itself, or reasons against scientific principles", NEUTRAL),
    "INCORRECT-MISSING": Category("it is wrong, and the documents have nothing on it", NEUTRAL),
}
"""Category to meaning and column.

Only the first two are support from the sources. The paper counts all four CORRECT ones as faithful; a citation
checker cannot, so the common label and the paper's count are kept apart.
"""

UNREACHABLE = tuple(name for name, category in CATEGORIES.items() if category.column == NEUTRAL)
"""Categories that a judge of entailment cannot tell from each other: what the documents neither say nor contradict.

Whether that is right, wrong, beside the question or against reason is not a matter of the documents.
"""

CORRECT, INCORRECT = "CORRECT", "INCORRECT"


@dataclass(frozen=True)
class Faithful:
    """Faith(R): of a claim's statements, which are in a CORRECT category.

    The claim is CORRECT if all are. A judge without these categories counts as faithful what it finds entailed.
    """

    signature: str = "faith"

    def wanted(self, sheet: Sheet) -> Cells:
        """Everything, at once."""
        return ~sheet.asked

    def decide(self, sheet: Sheet) -> Outcome:
        """The common label by the worst statement, the paper's by its categories."""
        found = AnyEntails().decide(sheet)
        alone = StatementOutcome(found.label, found.native, found.label == "supported", found.probabilities)
        statements = tuple(_counted(item) for item in found.statements or (alone,))
        native = CORRECT if all(item.holds for item in statements) else INCORRECT
        return found._replace(native=found.native if found.label is None else native, statements=statements)


def _counted(statement: StatementOutcome) -> StatementOutcome:
    if statement.native not in CATEGORIES:
        return statement
    return statement._replace(holds=statement.native.startswith(CORRECT))
