"""Measures of an answer's content: nuggets against gold, and assessors' labels of sentences."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

from vericite.errors import InputError
from vericite.evaluate.items import Item
from vericite.evaluate.measures.measure import (
    NOTHING,
    Counted,
    Counts,
    Family,
    Measure,
    Need,
    Parts,
    own_score,
    share_of,
)
from vericite.records import SentenceLabel


def one_to_one(same: Mapping[str, Sequence[int]]) -> dict[int, str]:
    """Compute a maximum matching of gold nuggets and the answer's nuggets that say the same.

    Args:
        same: For each gold nugget, the answer's nuggets that say the same. Earlier gold nuggets have priority: the
            number of matches among the first few is as large as if there were no others.

    Returns:
        The gold nugget of each matched nugget of the answer.
    """
    paired: dict[int, str] = {}
    for gold in same:
        _pair(gold, same, paired)
    return paired


def _pair(gold: str, same: Mapping[str, Sequence[int]], paired: dict[int, str]) -> None:
    """Match one more gold nugget, by an augmenting path that rematches others if needed."""
    current = {name: answer for answer, name in paired.items()}
    claimed: dict[int, str] = {}
    waiting = [gold]
    for wanting in waiting:
        for answer in same[wanting]:
            if answer in claimed:
                continue
            claimed[answer] = wanting
            if answer in paired:
                waiting.append(paired[answer])
                continue
            free: int | None = answer
            while free is not None:
                mover = claimed[free]
                paired[free] = mover
                free = current.get(mover)
            return


class NuggetPairs(NamedTuple):
    """The nuggets of an answer compared with those of the gold.

    Attributes:
        own: Number of nuggets of the answer.
        gold: Ids of the gold nuggets.
        vital: Ids of the vital gold nuggets.
        paired: The gold nugget of each matched nugget of the answer.
        stated: Gold nuggets that any nugget of the answer states.
        matching: Nuggets of the answer that state any gold nugget.
    """

    own: int
    gold: frozenset[str]
    vital: frozenset[str]
    paired: Mapping[int, str]
    stated: frozenset[str]
    matching: frozenset[int]


def matched(item: Item) -> NuggetPairs | None:
    """Compare an answer's nuggets with the gold's; None if either is unknown, or the labels belong to other gold."""
    labels, gold = item.labels, item.gold and item.gold.nuggets
    if labels is None or labels.nuggets is None or labels.matches is None or gold is None:
        return None
    # Vital nuggets come first, so that as many of them as possible are matched. The total does not change.
    same: dict[str, list[int]] = {nugget.id: [] for nugget in sorted(gold, key=lambda nugget: not nugget.vital)}
    for match in labels.matches:
        if match.gold not in same:
            return None
        same[match.gold].append(match.answer)
    return NuggetPairs(
        labels.nuggets,
        frozenset(same),
        frozenset(nugget.id for nugget in gold if nugget.vital),
        one_to_one(same),
        frozenset(id for id, answers in same.items() if answers),
        frozenset(match.answer for match in labels.matches),
    )


@dataclass(frozen=True, repr=False)
class NuggetMeasure(Measure):
    """The mean over questions of a score of nuggets; a question without gold nuggets has nothing to count."""

    family: ClassVar[Family] = "nugget"
    needs: ClassVar[tuple[Need, ...]] = ("gold", "labels")
    pooled: ClassVar[bool] = False


class NuggetPrecision(NuggetMeasure):
    """Share of the answer's nuggets that match a gold nugget.

    As in BioACE (Gupta et al. 2026, arXiv 2602.04982), each gold nugget is matched with at most one nugget of the
    answer. A maximum matching is used (the paper matches the most probable pairs first). The mean over questions; an
    answer without nuggets has nothing to count.
    """

    name = "NuggetPrecision"

    def parts(self, item: Item) -> Parts | None:
        """Return the precision of the question."""
        found = matched(item)
        if found is None:
            return None
        return own_score(len(found.paired) / found.own) if found.own and found.gold else NOTHING


@dataclass(frozen=True, repr=False)
class GoldNuggetShare(NuggetMeasure):
    """The share of the gold nuggets, or of the vital ones, that an answer has."""

    vital: bool = False

    def parts(self, item: Item) -> Parts | None:
        """Return the share of the question."""
        found = matched(item)
        if found is None:
            return None
        gold = found.vital if self.vital else found.gold
        return own_score(len(gold & self._found(found)) / len(gold)) if gold else NOTHING

    @abstractmethod
    def _found(self, pairs: NuggetPairs) -> Set[str]:
        """Return the gold nuggets that the answer has."""


class NuggetRecall(GoldNuggetShare):
    """Share of gold nuggets that match one of the answer's nuggets.

    Matched as in ``NuggetPrecision`` (BioACE, arXiv 2602.04982). With ``vital=True`` only vital gold nuggets count,
    those that an answer must have. The mean over questions.
    """

    name = "NuggetRecall"

    def _found(self, pairs: NuggetPairs) -> Set[str]:
        return set(pairs.paired.values())


@dataclass(frozen=True, repr=False)
class NuggetF(NuggetMeasure):
    """Weighted harmonic mean of nugget precision and recall; recall weighs ``beta`` times as much.

    Matched as in ``NuggetPrecision``; with ``vital=True`` recall is that of vital nuggets. The mean over questions; 0
    if recall is 0.
    """

    name = "NuggetF"

    beta: float = 1
    vital: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.beta, bool) or not 0 < self.beta < float("inf"):
            raise InputError(f"expected beta of {self.name} above 0, such as 1 or 3; found {self.beta!r}")

    def parts(self, item: Item) -> Parts | None:
        """Return the F score of the question."""
        recall = NuggetRecall(vital=self.vital).parts(item)
        precision = NuggetPrecision().parts(item)
        if recall is None or precision is None or recall == NOTHING:
            return recall
        if recall[0] == 0:
            return own_score(0.0)
        weight = self.beta**2
        return own_score((1 + weight) * precision[0] * recall[0] / (weight * precision[0] + recall[0]))


class NuggetCoverage(GoldNuggetShare):
    """Share of gold nuggets that any of the answer's nuggets states.

    Unlike in ``NuggetRecall``, one nugget of the answer may state several gold nuggets. With ``vital=True`` only vital
    gold nuggets count: completeness by nuggets. The mean over questions.
    """

    name = "NuggetCoverage"

    def _found(self, pairs: NuggetPairs) -> Set[str]:
        return pairs.stated


class NuggetRedundancy(NuggetMeasure):
    """Share of the answer's nuggets that repeat another of its nuggets.

    A nugget is a repetition if it states a gold nugget but stays unmatched when nuggets are matched as in
    ``NuggetPrecision``. The mean over questions; an answer without nuggets has nothing to count.
    """

    name = "NuggetRedundancy"
    higher_is_better = False

    def parts(self, item: Item) -> Parts | None:
        """Return the redundancy of the question."""
        found = matched(item)
        if found is None:
            return None
        if not found.own or not found.gold:
            return NOTHING
        return own_score(len(found.matching - found.paired.keys()) / found.own)


@dataclass(frozen=True, repr=False)
class LabelledSentences(Counted):
    """The share of an answer's sentences with a given label of assessors."""

    family: ClassVar[Family] = "nugget"
    needs: ClassVar[tuple[Need, ...]] = ("labels",)
    label: ClassVar[SentenceLabel]

    by: Literal["question", "sentence"] = "question"

    def counts(self, item: Item) -> Counts | None:
        """Return the number of sentences with the label, and of judged sentences."""
        labels = item.labels and item.labels.sentences
        if labels is None:
            return None
        return share_of(tuple(None if label is None else label == self.label for label in labels))


class Completeness(LabelledSentences):
    """Share of judged sentences that a complete answer requires.

    BioACE's completeness (Gupta et al. 2026, arXiv 2602.04982), which the evaluation of TREC BioGen 2024 (arXiv
    2411.18069) calls precision: the mean over answers, or pooled with ``by='sentence'``. Sentences that were not
    judged are left out (that evaluation counts them). For nuggets see ``NuggetCoverage(vital=True)``.
    """

    name = "Completeness"
    label = "required"


@dataclass(frozen=True, repr=False)
class Correctness(Counted):
    """Share of judged sentences that are correct.

    BioACE's correctness (Gupta et al. 2026, arXiv 2602.04982): the mean over answers, or pooled with
    ``by='sentence'``. Sentences that were not judged are left out.
    """

    name = "Correctness"
    family = "nugget"
    needs = ("labels",)

    by: Literal["question", "sentence"] = "question"

    def counts(self, item: Item) -> Counts | None:
        """Return the number of correct and of judged sentences."""
        return share_of(item.labels and item.labels.correct)


class Redundancy(LabelledSentences):
    """Share of judged sentences that the answer does not need.

    Sentences labelled unnecessary, as in the evaluation of TREC BioGen 2024 (arXiv 2411.18069): the mean over answers,
    or pooled with ``by='sentence'``. Sentences that were not judged are left out. For nuggets see
    ``NuggetRedundancy``.
    """

    name = "Redundancy"
    label = "unnecessary"
    higher_is_better = False


class Harmfulness(LabelledSentences):
    """Share of judged sentences that may harm a patient.

    Sentences labelled inappropriate, as in the evaluation of TREC BioGen 2024 (arXiv 2411.18069): the mean over
    answers, or pooled with ``by='sentence'``. Sentences that were not judged are left out.
    """

    name = "Harmfulness"
    label = "inappropriate"
    higher_is_better = False


@dataclass(frozen=True, repr=False)
class ClaimRecall(Counted):
    """Share of judged gold claims that the answer entails.

    ALCE's claim recall (Gao et al. 2023, arXiv 2305.14627): the mean over questions, or pooled with ``by='claim'``.
    """

    name = "ClaimRecall"
    family = "nugget"
    needs = ("labels",)

    by: Literal["question", "claim"] = "question"

    def counts(self, item: Item) -> Counts | None:
        """Return the number of entailed and of judged claims."""
        return share_of(item.labels and item.labels.entailed)
