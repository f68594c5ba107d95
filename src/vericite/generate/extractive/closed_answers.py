"""Yes or no, and the sentences that speak for it and against it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from vericite.generate.extractive.candidates import Candidate
from vericite.generate.extractive.polarity import polarity
from vericite.generate.extractive.questions import statement_of
from vericite.generate.extractive.settings import ExtractiveSettings
from vericite.models import Pair


class Judged(Protocol):
    """A word on one pair."""

    @property
    def probabilities(self) -> NDArray[np.float32]:
        """Of entails, contradicts and neither."""
        ...

    @property
    def failure(self) -> str | None:
        """Why there is none."""
        ...


class Judges(Protocol):
    """Tells whether a premise entails or contradicts a claim, as the judges of ``vericite.verify`` do."""

    @property
    def signature(self) -> str:
        """For provenance."""
        ...

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judged]:
        """One word a pair, in their order."""
        ...


@dataclass(frozen=True)
class Decision:
    """What the evidence says to a yes/no question.

    Attributes:
        answer: Yes or no.
        leaning: From -1, all for no, to 1, all for yes.
        deciding: Index of the candidate that speaks for the answer most.
        opposing: Of the one that speaks against it most, where one does.
    """

    answer: Literal["yes", "no"]
    leaning: float
    deciding: int
    opposing: int | None


def decide(
    question: str, candidates: Sequence[Candidate], judge: Judges | None, settings: ExtractiveSettings
) -> Decision:
    """Weigh what the most relevant sentences say against each other; conclusions count most."""
    best = max(candidate.worth for candidate in candidates)
    # What is beside the question has no vote, however late it stands.
    asked = [index for index, candidate in enumerate(candidates) if candidate.worth >= settings.voting * best]
    order = sorted(asked or range(len(candidates)), key=lambda index: -candidates[index].worth)[: settings.votes]
    read = [candidates[index] for index in order]
    given = _votes(question, [candidate.text for candidate in read], judge, settings.judged)
    weights = [_weight(candidate, best, settings) for candidate in read]
    leaning = sum(weight * vote for weight, vote in zip(weights, given, strict=True)) / sum(weights)
    votes = dict(zip(order, given, strict=True))
    force = {index: weight * vote for index, weight, vote in zip(order, weights, given, strict=True)}
    side = 1.0 if leaning >= 0 else -1.0
    deciding = max(order, key=lambda index: side * force[index])
    opposed = [index for index in order if side * votes[index] <= -settings.opposing]
    return Decision(
        answer="yes" if side > 0 else "no",
        leaning=leaning,
        deciding=deciding,
        opposing=min(opposed, key=lambda index: side * force[index], default=None),
    )


def _weight(candidate: Candidate, best: float, settings: ExtractiveSettings) -> float:
    share = max(candidate.worth, 0.0) / best if best > 0 else 1.0
    # A floor, so that some vote always counts.
    return max(share, 0.01) ** settings.sharpness * (1 + settings.concluding * candidate.lateness**3)


def _votes(question: str, texts: Sequence[str], judge: Judges | None, judged: float) -> list[float]:
    worded = [worded_vote(question, text) for text in texts]
    if judge is None:
        return worded
    statement = statement_of(question)
    words = judge.judge([Pair(text, statement) for text in texts])
    return [
        own if word.failure else judged * float(word.probabilities[0] - word.probabilities[1]) + (1 - judged) * own
        for own, word in zip(worded, words, strict=True)
    ]


def worded_vote(question: str, text: str) -> float:
    """1 where a sentence points the way the question does, -1 where it denies or turns round what is asked."""
    asked, said = polarity(question), polarity(text)
    ways = {"up", "down"}
    turned = len(asked & ways) == len(said & ways) == 1 and asked & ways != said & ways
    denied = ("negated" in asked) != ("negated" in said)
    return -1.0 if turned != denied else 1.0
