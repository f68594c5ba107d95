"""An answer on its way through its repair: as it came, as it is, and what was done to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from vericite.attribute import MOST_DOCUMENTS
from vericite.pipeline.repair.condition import Condition, conditions
from vericite.pipeline.repair.editing import Edit, edited, is_orderly
from vericite.pipeline.repair.proposing import Proposal
from vericite.records import Answer, Change, CheckedAnswer, Claim, Repaired
from vericite.records.repair import support

NOTHING_LEFT = "No sentence of the answer was supported by its sources."
"""It counts as an answer that says nothing. Whether the sources answer is not told: another from them may hold."""


@dataclass(frozen=True)
class Step:
    """What is done with a sentence: what it becomes, None where it goes."""

    condition: Condition
    proposal: Proposal | None

    @property
    def edit(self) -> Edit:
        """As the text is edited."""
        return Edit(None) if self.proposal is None else Edit(self.proposal.text, self.proposal.documents)


Plan = Mapping[int, Step]
"""Steps by the number of the claim."""


@dataclass
class Case:
    """An answer as it came and as it is now; ``origins`` are the numbers that its claims had at first."""

    first: Answer
    before: CheckedAnswer
    answer: Answer
    checked: CheckedAnswer
    origins: list[int]
    changes: list[Change] = field(default_factory=list[Change])
    rounds: int = 0
    refused: str | None = None

    @classmethod
    def of(cls, answer: Answer, checked: CheckedAnswer) -> Case:
        """Nothing done yet."""
        return cls(answer, checked, answer, checked, list(range(len(answer.claims))))

    @property
    def is_open(self) -> bool:
        """Whether it can be mended at all."""
        whole = self.answer.failed is None and not self.answer.insufficient
        return whole and is_orderly(self.answer) and len(self.answer.documents) <= MOST_DOCUMENTS

    def after(self, plan: Plan) -> Answer:
        """The answer once a plan is carried out; where no sentence is left, it says so."""
        answer = edited(self.answer, {number: step.edit for number, step in plan.items()})
        if answer.claims:
            return answer
        return answer.model_copy(update={"text": NOTHING_LEFT, "insufficient": True, "exact": None})

    def take(self, answer: Answer, checked: CheckedAnswer, plan: Plan, round: int) -> None:
        """Go on with what a plan made of it, unless fewer of its citations are supported then."""
        if _is_lower(checked, self.checked):
            # Only where a judge says one thing and then another of the same sentence.
            self.refused = "fewer of its citations would be supported: it is left as it was"
            return
        stay = [number for number in range(len(self.origins)) if number not in plan or plan[number].proposal]
        place = {number: claim for number, claim in zip(stay, answer.claims, strict=False)}
        for number, step in sorted(plan.items()):
            before = self.answer.text[self.answer.claims[number].span.slice]
            after = answer.text[place[number].span.slice] if step.proposal else None
            self.changes.append(_change(self.origins[number], step, before, after, round))
        self.answer, self.checked, self.rounds = answer, checked, round
        self.origins = [self.origins[number] for number in stay]

    @property
    def repaired(self) -> Repaired:
        """What became of it."""
        left = () if self.answer.failed else conditions(self.answer, self.checked)
        told = [f"{item.claim.text}: {item.why}" for item in left if item.state == "left"]
        now = dict(zip(self.origins, self.answer.claims, strict=False))
        words = [_words(claim) for claim in self.first.claims]
        kept = sum((words[number] & _words(claim)).total() for number, claim in now.items())
        return Repaired(
            answer=self.answer,
            checked=self.checked,
            before=self.before.summary,
            changes=tuple(self.changes),
            rounds=self.rounds,
            sentences=len(self.first.claims),
            words=sum(found.total() for found in words),
            words_kept=kept,
            left=(*told, *([self.refused] if self.refused else [])),
        )


def _change(sentence: int, step: Step, before: str, after: str | None, round: int) -> Change:
    found = step.proposal
    return Change(
        sentence=sentence,
        action="dropped" if found is None else found.action,
        before=before,
        after=after,
        why=step.condition.why,
        round=round,
        by=None if found is None else found.by,
    )


def _is_lower(checked: CheckedAnswer, before: CheckedAnswer) -> bool:
    now, then = support(checked.summary), support(before.summary)
    return now[0] * then[1] < then[0] * now[1]


def _words(claim: Claim) -> Counter[str]:
    return Counter(claim.text.lower().split())
