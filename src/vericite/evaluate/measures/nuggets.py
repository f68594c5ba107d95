"""Whether an answer says what a good answer says, by nuggets, and what labels say of its sentences."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

from vericite.errors import InputError
from vericite.evaluate.items import Item
from vericite.evaluate.measures.measure import NOTHING, Counted, Counts, Family, Measure, Need, Parts, one, share_of
from vericite.records import SentenceLabel


def one_to_one(same: Mapping[str, Sequence[int]]) -> dict[int, str]:
    """As many pairs as possible of a gold nugget and one of the answer's that says the same, each in one pair at most.

    Args:
        same: The answer's nuggets that say the same as each gold one. Gold ones that come first go first: as many of
            the first few are paired as if there were no others.

    Returns:
        The gold nugget of each of the answer's that is paired.
    """
    paired: dict[int, str] = {}
    for gold in same:
        _pair(gold, same, paired)
    return paired


def _pair(gold: str, same: Mapping[str, Sequence[int]], paired: dict[int, str]) -> None:
    """Find a partner for one more, by moving others to another partner of theirs where it takes that."""
    mine = {name: answer for answer, name in paired.items()}
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
                free = mine.get(mover)
            return


class NuggetPairs(NamedTuple):
    """The nuggets of an answer beside those of the gold.

    Attributes:
        own: How many the answer has.
        gold: The gold ones, by id.
        vital: Those that it must have.
        paired: The gold one of each of the answer's that is in a pair.
        stated: Gold ones that any of the answer's says.
        matching: The answer's that say any gold one.
    """

    own: int
    gold: frozenset[str]
    vital: frozenset[str]
    paired: Mapping[int, str]
    stated: frozenset[str]
    matching: frozenset[int]


def matched(item: Item) -> NuggetPairs | None:
    """An answer's nuggets beside the gold's; None where either is not known, or labels are of another gold."""
    labels, gold = item.labels, item.gold and item.gold.nuggets
    if labels is None or labels.nuggets is None or labels.matches is None or gold is None:
        return None
    # Vital ones first: as many of them are paired as can be, and no pair is lost by it.
    same: dict[str, list[int]] = {it.id: [] for it in sorted(gold, key=lambda it: not it.vital)}
    for match in labels.matches:
        if match.gold not in same:
            return None
        same[match.gold].append(match.answer)
    return NuggetPairs(
        labels.nuggets,
        frozenset(same),
        frozenset(it.id for it in gold if it.vital),
        one_to_one(same),
        frozenset(id for id, answers in same.items() if answers),
        frozenset(match.answer for match in labels.matches),
    )


@dataclass(frozen=True, repr=False)
class NuggetMeasure(Measure):
    """The mean over questions of a figure of each one's nuggets. A question without gold ones has nothing to count."""

    family: ClassVar[Family] = "nugget"
    needs: ClassVar[tuple[Need, ...]] = ("gold", "labels")
    pooled: ClassVar[bool] = False


class NuggetPrecision(NuggetMeasure):
    """The answer's nuggets that say the same as a gold one, over all of the answer's.

    As in BioACE (Gupta et al. 2026, arXiv 2602.04982), each gold nugget is paired with at most one of the answer's; of
    all ways to pair them one with the most pairs is taken (the paper takes the likeliest pairs first). The mean over
    questions; an answer without nuggets has nothing to count.
    """

    name = "NuggetPrecision"

    def parts(self, item: Item) -> Parts | None:
        """Its own precision."""
        found = matched(item)
        if found is None:
            return None
        return one(len(found.paired) / found.own) if found.own and found.gold else NOTHING


@dataclass(frozen=True, repr=False)
class GoldNuggetShare(NuggetMeasure):
    """The share of the gold nuggets, or of the vital ones, that an answer has."""

    vital: bool = False

    def parts(self, item: Item) -> Parts | None:
        """Its own share."""
        found = matched(item)
        if found is None:
            return None
        gold = found.vital if self.vital else found.gold
        return one(len(gold & self._had(found)) / len(gold)) if gold else NOTHING

    @abstractmethod
    def _had(self, found: NuggetPairs) -> Set[str]:
        """The gold nuggets that the answer has."""


class NuggetRecall(GoldNuggetShare):
    """Gold nuggets that one of the answer's says, over all gold nuggets.

    Paired as in ``NuggetPrecision`` (BioACE, arXiv 2602.04982). With ``vital=True`` only gold nuggets that an answer
    must have count. The mean over questions.
    """

    name = "NuggetRecall"

    def _had(self, found: NuggetPairs) -> Set[str]:
        return set(found.paired.values())


@dataclass(frozen=True, repr=False)
class NuggetF(NuggetMeasure):
    """Weighted harmonic mean of nugget precision and recall; recall weighs ``beta`` times as much.

    Paired as in ``NuggetPrecision``; with ``vital=True`` recall is that of vital nuggets. The mean over questions; 0
    where recall is.
    """

    name = "NuggetF"

    beta: float = 1
    vital: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.beta, bool) or not 0 < self.beta < float("inf"):
            raise InputError(f"expected beta of {self.name} above 0, such as 1 or 3; found {self.beta!r}")

    def parts(self, item: Item) -> Parts | None:
        """Its own F."""
        recall = NuggetRecall(vital=self.vital).parts(item)
        precision = NuggetPrecision().parts(item)
        if recall is None or precision is None or recall == NOTHING:
            return recall
        if recall[0] == 0:
            return one(0.0)
        weight = self.beta**2
        return one((1 + weight) * precision[0] * recall[0] / (weight * precision[0] + recall[0]))


class NuggetCoverage(GoldNuggetShare):
    """Gold nuggets that any of the answer's says, over all gold nuggets.

    Unlike ``NuggetRecall`` one of the answer's nuggets may say several. With ``vital=True`` only gold nuggets that an
    answer must have count: completeness by nuggets. The mean over questions.
    """

    name = "NuggetCoverage"

    def _had(self, found: NuggetPairs) -> Set[str]:
        return found.stated


class NuggetRedundancy(NuggetMeasure):
    """The answer's nuggets that only repeat what another of its nuggets says, over all of the answer's.

    Those that say the same as a gold nugget, and are left over when each gold one is paired as in ``NuggetPrecision``.
    The mean over questions; an answer without nuggets has nothing to count.
    """

    name = "NuggetRedundancy"
    higher_is_better = False

    def parts(self, item: Item) -> Parts | None:
        """Its own redundancy."""
        found = matched(item)
        if found is None:
            return None
        if not found.own or not found.gold:
            return NOTHING
        return one(len(found.matching - found.paired.keys()) / found.own)


@dataclass(frozen=True, repr=False)
class LabelledSentences(Counted):
    """The share of an answer's sentences that assessors gave a label."""

    family: ClassVar[Family] = "nugget"
    needs: ClassVar[tuple[Need, ...]] = ("labels",)
    label: ClassVar[SentenceLabel]

    by: Literal["question", "sentence"] = "question"

    def counts(self, item: Item) -> Counts | None:
        """Those with the label, over those judged."""
        labels = item.labels and item.labels.sentences
        return None if labels is None else share_of(tuple(None if it is None else it == self.label for it in labels))


class Completeness(LabelledSentences):
    """Sentences that a complete answer requires, over sentences judged.

    BioACE's completeness (Gupta et al. 2026, arXiv 2602.04982), which the evaluation of TREC BioGen 2024 (arXiv
    2411.18069) calls precision: the mean over answers, or pooled with ``by='sentence'``. Sentences that were not
    judged are left out (that evaluation counts them). By nuggets it is ``NuggetCoverage(vital=True)``.
    """

    name = "Completeness"
    label = "required"


@dataclass(frozen=True, repr=False)
class Correctness(Counted):
    """Sentences that are correct, over sentences judged.

    BioACE's correctness (Gupta et al. 2026, arXiv 2602.04982): the mean over answers, or pooled with
    ``by='sentence'``. Sentences that were not judged are left out.
    """

    name = "Correctness"
    family = "nugget"
    needs = ("labels",)

    by: Literal["question", "sentence"] = "question"

    def counts(self, item: Item) -> Counts | None:
        """Those correct, over those judged."""
        return share_of(item.labels and item.labels.correct)


class Redundancy(LabelledSentences):
    """Sentences that an answer does not need, over sentences judged.

    Those labelled unnecessary, as in the evaluation of TREC BioGen 2024 (arXiv 2411.18069): the mean over answers, or
    pooled with ``by='sentence'``. Sentences that were not judged are left out. By nuggets it is ``NuggetRedundancy``.
    """

    name = "Redundancy"
    label = "unnecessary"
    higher_is_better = False


class Harmfulness(LabelledSentences):
    """Sentences that may harm a patient, over sentences judged.

    Those labelled inappropriate, as in the evaluation of TREC BioGen 2024 (arXiv 2411.18069): the mean over answers, or
    pooled with ``by='sentence'``. Sentences that were not judged are left out.
    """

    name = "Harmfulness"
    label = "inappropriate"
    higher_is_better = False


@dataclass(frozen=True, repr=False)
class ClaimRecall(Counted):
    """Gold claims that the answer entails, over gold claims judged.

    ALCE's claim recall (Gao et al. 2023, arXiv 2305.14627): the mean over questions, or pooled with ``by='claim'``.
    """

    name = "ClaimRecall"
    family = "nugget"
    needs = ("labels",)

    by: Literal["question", "claim"] = "question"

    def counts(self, item: Item) -> Counts | None:
        """Those entailed, over those judged."""
        return share_of(item.labels and item.labels.entailed)
