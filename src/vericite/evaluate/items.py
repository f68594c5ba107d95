"""Items: questions with everything that measures read, such as answers, gold, labels and model scores.

Gold, labels and scores are JSON Lines records that refer to a question by its ``id``. All other fields are optional. A
measure leaves out questions that lack a field it needs, and counts them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated

from pydantic import Discriminator, Field, RootModel, Tag

from vericite.errors import InputError
from vericite.evaluate.resampling import Floats
from vericite.pipeline.manuscript import ManuscriptCheck
from vericite.records import Answer, AnswerEvidence, Change, CheckedAnswer, FloatMap, Gold, Labels, Question, Record
from vericite.records.base import FrozenDict
from vericite.text.designs import Design, study_design


class ModelScores(Record):
    """Scores that a model computed for an answer beforehand, by name, such as ``{"bertscore_f1": 0.87}``.

    ``failed`` names the scores that could not be computed. ``made_by`` is the model that computed the others, with its
    version and settings; it becomes part of their signature. ``of`` is a hash of the input texts, as written by
    ``vericite compute``.
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
    """A line of a gold file: a gold record, or a question with its gold fields."""

    @property
    def gold(self) -> Gold:
        """The line as a gold record."""
        return Gold.of(self.root) if isinstance(self.root, Question) else self.root


@dataclass(frozen=True, eq=False)
class Features:
    """Vectors of an answer and of its reference, with the same length; ``by`` names the model.

    Raises:
        InputError: The vectors are not two rows of finite numbers with the same length.
    """

    answer: Floats
    reference: Floats
    by: str | None = None

    def __post_init__(self) -> None:
        import numpy as np

        shapes = [self.answer.shape, self.reference.shape]
        if shapes[0] != shapes[1] or len(shapes[0]) != 1 or not shapes[0][0]:
            raise InputError(f"expected vectors of an answer and a reference with the same length; found {shapes}")
        if not (np.isfinite(self.answer).all() and np.isfinite(self.reference).all()):
            raise InputError("expected vectors of finite numbers; found NaN or infinity. Compute the features again.")


@dataclass(frozen=True)
class Item:
    """A question with the output of one system. None means unknown and never counts as 0.

    Attributes:
        answer: The answer; None if the system gave none.
        checked: The verdicts on the answer's citations.
        ranked: Ids of the retrieved documents, best first.
        retrieval_scores: Retrieval scores by document id, if known.
        exact: The exact answer, best entry first, each entry with its synonyms as in ``Gold.exact``: ``(("yes",),)``.
            Empty if the system says that it has none; None if it says nothing.
        scores: Precomputed model scores, by name.
        scored_by: The model that computed each score, by score name, if known.
        features: Precomputed vectors of the answer and of a reference.
        failed: Why there is no answer, if known.
        reasoned: The verdicts on the answer's rationale, if it has a separate one.
        changes: The changes that repair made to the answer.
        oracle: Whether it was given its gold documents only, without a search.
        articles: Articles of a corpus for and against each sentence of the answer.
        manuscript: What was found about the manuscript whose sentences the answer has.
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
    oracle: bool = False
    articles: AnswerEvidence | None = None
    manuscript: ManuscriptCheck | None = None

    @cached_property
    def designs(self) -> dict[str, Design | None]:
        """The study design of each document of the answer; None if it names none."""
        return {document.id: study_design(document) for document in (self.answer.documents if self.answer else ())}

    @property
    def shown(self) -> tuple[str, ...] | None:
        """The retrieved documents that the generator saw: none if it failed, all of them if the answer does not say."""
        if self.failed is not None:
            return ()
        if self.ranked is None or self.answer is None:
            return self.ranked
        left_out = {document.document for document in self.answer.trimmed if not document.shown}
        left_out |= {document.id for document in self.answer.documents if document.retracted}
        return tuple(id for id in self.ranked if id not in left_out)

    @property
    def given(self) -> Answer | None:
        """The answer, unless it is empty or a refusal for lack of evidence.

        All measures use this. A question without such an answer counts as missing; only ``AnsweredRate`` counts it.
        """
        if self.answer is None or self.answer.insufficient:
            return None
        return self.answer if any(claim.text.strip() for claim in self.answer.claims) else None

    @property
    def refused(self) -> bool:
        """Whether the answer is empty or a refusal."""
        return self.answer is not None and self.given is None

    @property
    def judged(self) -> CheckedAnswer | None:
        """The verdicts on the answer, unless it is empty or a refusal."""
        if self.checked is None or self.refused:
            return None
        return self.checked if self.given is not None or self.checked.summary.claims else None

    @property
    def answered(self) -> bool | None:
        """Whether the question has an answer, in prose or exact; None if that is unknown."""
        if self.given is not None or self.judged is not None:
            return True
        if self.answer is None or not self.answer.insufficient:
            if any(name for entry in self.exact or () for name in entry):
                return True
            if self.answer is None and self.checked is None and self.exact is None and self.failed is None:
                return None
        return False

    def group(self, by: str) -> str:
        """Return the group: a field of the gold's ``groups``, its ``type``, or the ``question`` itself."""
        if by == "question":
            return self.id
        if self.gold is None:
            return "(none)"
        known = {"type": self.gold.type, **self.gold.groups}
        return known.get(by) or "(none)"
