"""Questions with all that is known of each: what measures are functions of, and how files are brought together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from vericite.errors import InputError
from vericite.evaluate.gold import Gold, Labels, ModelScores
from vericite.evaluate.resampling import Floats
from vericite.records import Answer, CheckedAnswer


@dataclass(frozen=True, eq=False)
class Features:
    """Vectors that a model made of an answer and of a reference to it, of one length.

    Raises:
        InputError: They are no two rows of finite numbers of one length.
    """

    answer: Floats
    reference: Floats

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
        exact: The exact answer, the best first, each with its synonyms as in ``Gold.exact``: ``(("yes",),)``. Empty
            where the system said that it has none, None where it said nothing.
        scores: Figures that models computed beforehand, by name.
        scored_by: What computed them, where that is told.
        features: What a model made of the answer and of a reference beforehand.
        failed: Why there is no answer, where that is known.
        reasoned: The verdicts on the rationale behind the answer, where it has one of its own.
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
    scored_by: str | None = None
    reasoned: CheckedAnswer | None = None

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


def joined(
    answers: Iterable[Item],
    gold: Mapping[str, Gold] | None = None,
    labels: Mapping[str, Labels] | None = None,
    scores: Mapping[str, ModelScores] | None = None,
    features: Mapping[str, Features] | None = None,
    absent: str | None = None,
) -> list[Item]:
    """Items with their gold, labels, scores and features, in the order of their ids.

    A question of the gold that has no answer becomes an item without one, which failed for the reason ``absent``: it is
    missing, and is counted as such.
    """
    from dataclasses import replace

    given = {item.id: item for item in answers}
    ids = sorted(given.keys() | (gold or {}).keys())
    found: list[Item] = []
    for id in ids:
        computed = (scores or {}).get(id)
        item = given.get(id) or Item(id, failed=absent)
        found.append(
            replace(
                item,
                gold=(gold or {}).get(id, item.gold),
                labels=(labels or {}).get(id, item.labels),
                scores=computed.scores if computed else item.scores,
                scored_by=computed.made_by if computed else item.scored_by,
                features=(features or {}).get(id, item.features),
            )
        )
    return found
