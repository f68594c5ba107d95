"""Questions with all that is known of each: answers, gold, labels by people or models, scores of models.

Gold, labels and scores are each a line of a JSON Lines file and belong to a question by its ``id``. None needs all its
fields: a measure that misses one leaves the question out and counts it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Discriminator, Field, RootModel, Tag

from vericite.errors import InputError
from vericite.evaluate.resampling import Floats
from vericite.records import Answer, Change, CheckedAnswer, FloatMap, Gold, Labels, Question, Record
from vericite.records.base import FrozenDict


class ModelScores(Record):
    """Figures that a model computed of an answer beforehand, by name, such as ``{"bertscore_f1": 0.87}``.

    ``failed`` names those that could not be computed, ``made_by`` the model (with its version and settings) that made
    the others: scores of theirs are signed with it. ``of`` is a hash of the texts that they were computed of, where
    ``vericite compute`` made them.
    """

    id: str = Field(min_length=1)
    scores: FloatMap = FrozenDict()
    failed: tuple[str, ...] = ()
    made_by: str | None = None
    of: str | None = None


def _form(line: object) -> str:
    return "<question>" if isinstance(line, dict) and "text" in line else "<gold>"


class GoldLine(
    RootModel[
        Annotated[
            Annotated[Question, Tag("<question>")] | Annotated[Gold, Tag("<gold>")],
            Discriminator(_form),
        ]
    ]
):
    """A line of a gold file: gold, or a question that knows its own."""

    @property
    def gold(self) -> Gold:
        """It as gold."""
        return Gold.of(self.root) if isinstance(self.root, Question) else self.root


@dataclass(frozen=True, eq=False)
class Features:
    """Vectors that a model made of an answer and of a reference to it, of one length; ``by`` says which model.

    Raises:
        InputError: They are no two rows of finite numbers of one length.
    """

    answer: Floats
    reference: Floats
    by: str | None = None

    def __post_init__(self) -> None:
        import numpy as np

        shapes = [self.answer.shape, self.reference.shape]
        if shapes[0] != shapes[1] or len(shapes[0]) != 1 or not shapes[0][0]:
            raise InputError(f"expected the vectors of an answer and a reference to be of one length; found {shapes}")
        if not (np.isfinite(self.answer).all() and np.isfinite(self.reference).all()):
            raise InputError("expected vectors of finite numbers; found NaN or infinity. Compute the features again.")


@dataclass(frozen=True)
class Item:
    """A question and what one system made of it. What is None is not known, and never counted as 0.

    Attributes:
        answer: None where the system gave none.
        checked: The verdicts on the answer's citations.
        ranked: The documents found, by id, the best first.
        retrieval_scores: Their scores by id, where they are known.
        exact: The exact answer, the best first, each with its synonyms as in ``Gold.exact``: ``(("yes",),)``. Empty
            where the system states that it has none, None where it states nothing.
        scores: Figures that models computed beforehand, by name.
        scored_by: What computed each of them, by the same names, where that is known.
        features: What a model made of the answer and of a reference beforehand.
        failed: Why there is no answer, where that is known.
        reasoned: The verdicts on the rationale behind the answer, where it has one of its own.
        changes: What repair changed of the answer.
    """

    id: str
    answer: Answer | None = None
    checked: CheckedAnswer | None = None
    ranked: tuple[str, ...] | None = None
    gold: Gold | None = None
    labels: Labels | None = None
    exact: tuple[tuple[str, ...], ...] | None = None
    scores: Mapping[str, float] = field(default_factory=dict[str, float])
    features: Features | None = None
    failed: str | None = None
    scored_by: Mapping[str, str] = field(default_factory=dict[str, str])
    reasoned: CheckedAnswer | None = None
    changes: tuple[Change, ...] = ()
    retrieval_scores: Mapping[str, float] = field(default_factory=dict[str, float])

    @property
    def shown(self) -> tuple[str, ...] | None:
        """The documents found of which the generator saw anything, where it is known what it did not see."""
        if self.ranked is None or self.answer is None:
            return self.ranked
        left_out = {document.document for document in self.answer.trimmed if not document.shown}
        return tuple(id for id in self.ranked if id not in left_out)

    @property
    def given(self) -> Answer | None:
        """The answer, where it says something: it has a sentence, and is no refusal for want of evidence.

        All measures go by this: where an answer is none the question is missing, and only ``AnsweredRate`` counts it.
        """
        if self.answer is None or self.answer.insufficient:
            return None
        return self.answer if any(claim.text.strip() for claim in self.answer.claims) else None

    @property
    def refused(self) -> bool:
        """Whether the answer is there, and is none."""
        return self.answer is not None and self.given is None

    @property
    def judged(self) -> CheckedAnswer | None:
        """The verdicts on the answer, where it says something."""
        if self.checked is None or self.refused:
            return None
        return self.checked if self.given is not None or self.checked.summary.claims else None

    @property
    def answered(self) -> bool | None:
        """Whether the question has an answer, in words or an exact one; None where nothing is known of that."""
        if self.given is not None or self.judged is not None:
            return True
        if self.answer is None or not self.answer.insufficient:
            if any(name for entry in self.exact or () for name in entry):
                return True
            if self.answer is None and self.checked is None and self.exact is None and self.failed is None:
                return None
        return False

    def group(self, by: str) -> str:
        """The group that scores are shown by: a field of the gold's ``groups``, or its ``type``."""
        if self.gold is None:
            return "(none)"
        known = {"type": self.gold.type, **self.gold.groups}
        return known.get(by) or "(none)"
