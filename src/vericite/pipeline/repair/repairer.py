"""The closed loop: what the verifier rejects of an answer is mended, verified again, and told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import islice

from vericite.attribute import Attributor, VerifierAttributor
from vericite.attribute.once import OnceJudge
from vericite.errors import InputError
from vericite.generate.quotation import folded
from vericite.llm import Ledger
from vericite.pipeline.check import verifier_for
from vericite.pipeline.repair.case import Case, Plan, Step
from vericite.pipeline.repair.citing import Citing
from vericite.pipeline.repair.condition import Condition, conditions
from vericite.pipeline.repair.proposing import Proposal, Wound, supported
from vericite.pipeline.repair.quoting import quotations
from vericite.pipeline.repair.restoring import restorations
from vericite.pipeline.repair.rewriting import Rewriter
from vericite.pipeline.search import Search
from vericite.records import Answer, CheckedAnswer, Repaired
from vericite.verify import DEFAULT, Judge, Protocol, Verifier

ROUNDS = 2
ANSWERS_AT_ONCE = 32
"""Answers mended together: enough to fill the judge's batches, few enough to see them come."""

Propose = Callable[[Sequence[Wound]], Sequence[Sequence[Proposal]]]


@dataclass(frozen=True)
class _Stage:
    """A way to mend sentences, and which of them it is for."""

    propose: Propose
    fits: Callable[[Condition], bool]


class Repairer:
    """Mends answers; an answer's support rate is never lower afterwards, and no supported citation is touched.

    A sentence with a citation that the verifier rejects loses that one, if it has others that are not; or is given
    documents that do support it; or is rewritten, where a check names the one respect in which it parts from its
    source, by a language model, or by a quotation of what a source says of the same thing; or goes. What it becomes
    was supported by the verifier before it is put into the answer. What could not be judged is left as it is.

    Args:
        verifier: Who judges: a verifier, a protocol or its name; not one that judges whatever was retrieved.
        judge: A judge or its name, in place of the protocol's own.
        attributor: Finds documents that support a sentence; None is the verifier, each document and sets of them.
        search: Where to look for documents where those of the answer do not support a sentence; None does not look.
        rewriter: A language model that rewrites; None has none.
        rounds: How often an answer is mended and verified again at the most.
        drop_uncited: Whether sentences that cite nothing, and that nothing supports, go too.

    Raises:
        InputError: The protocol judges whatever was retrieved, or there is no round.
    """

    def __init__(
        self,
        verifier: Verifier | Protocol | str = DEFAULT,
        judge: Judge | str | None = None,
        *,
        attributor: Attributor | None = None,
        search: Search | None = None,
        rewriter: Rewriter | None = None,
        rounds: int = ROUNDS,
        drop_uncited: bool = False,
    ) -> None:
        if rounds < 1:
            raise InputError(f"expected 1 round of repair or more; found {rounds}")
        # A copy: the verifier may be kept for others, and made anew it would spell out the judge in its provenance.
        self.verifier = copy(verifier if isinstance(verifier, Verifier) else verifier_for(verifier, judge))
        self._once = OnceJudge(self.verifier.judge)
        self.verifier.judge = self._once
        own = VerifierAttributor(replace(self.verifier.protocol, judge=self._once), joint=True)
        self.rewriter = rewriter
        self.rounds = rounds
        self.drop_uncited = drop_uncited
        self._stages = _stages(attributor or own, search, rewriter)

    @property
    def signature(self) -> str:
        """Version, rounds and who rewrites."""
        told = [f"rounds={self.rounds}"]
        told += [f"rewriter={self.rewriter.signature}"] if self.rewriter else []
        told += ["drop_uncited=True"] if self.drop_uncited else []
        return f"repair.v1({', '.join(told)})"

    @property
    def ledger(self) -> Ledger | None:
        """What the language model that rewrites was asked so far; None where there is none."""
        return None if self.rewriter is None else self.rewriter.ledger

    def repair(self, answer: Answer, checked: CheckedAnswer | None = None, question: str | None = None) -> Repaired:
        """The answer, mended.

        Args:
            answer: The answer.
            checked: What the same verifier said of it; it is asked where that is None or another's.
            question: What was asked, where the answer does not say.

        Raises:
            InputError: The verdicts are on another text.
        """
        if question is not None and answer.question is None:
            answer = answer.model_copy(update={"question": question})
        return next(self.repair_many([(answer, checked)]))

    def repair_many(self, answers: Iterable[Answer | tuple[Answer, CheckedAnswer | None]]) -> Iterator[Repaired]:
        """Mend answers in a stream, in order, some at a time."""
        source = iter(answers)
        while batch := list(islice(source, ANSWERS_AT_ONCE)):
            try:
                yield from self._batch([item if isinstance(item, tuple) else (item, None) for item in batch])
            finally:
                self._once.forget()

    def _batch(self, batch: Sequence[tuple[Answer, CheckedAnswer | None]]) -> list[Repaired]:
        known = [(answer, checked if checked and self._is_own(checked) else None) for answer, checked in batch]
        anew = self.verifier.verify([answer for answer, checked in known if checked is None])
        cases = [Case.of(answer, checked or next(anew)) for answer, checked in known]
        changing = [case for case in cases if case.is_open]
        for number in range(1, self.rounds + 1):
            changing = self._round(changing, number)
        return [case.repaired for case in cases]

    def _is_own(self, checked: CheckedAnswer) -> bool:
        """Whether verdicts are such as the verifier would give."""
        mine, found = self.verifier.provenance, checked.provenance
        return (found.protocol, found.parts.get("judge")) == (mine.protocol, mine.parts.get("judge"))

    def _round(self, cases: Sequence[Case], number: int) -> list[Case]:
        """Mend what is wrong with each, verify it again, and give those that were changed."""
        wounds = [list(_wounds(case, number)) for case in cases]
        self._choose([wound for found in wounds for wound in found])
        planned = [(case, self._plan(case, found)) for case, found in zip(cases, wounds, strict=True)]
        planned = [(case, plan) for case, plan in planned if plan]
        after = [case.after(plan) for case, plan in planned]
        for (case, plan), answer, checked in zip(planned, after, self.verifier.verify(after), strict=True):
            case.take(answer, checked, plan, number)
        return [case for case, _ in planned if case.refused is None]

    def _choose(self, wounds: Sequence[Wound]) -> None:
        """Find for each the first proposal that the verifier supports."""
        for stage in self._stages:
            waiting = [wound for wound in wounds if wound.chosen is None and stage.fits(wound.condition)]
            if not waiting:
                continue
            given = stage.propose(waiting)
            asked = [(wound, list(_new(wound, found))) for wound, found in zip(waiting, given, strict=True)]
            for (wound, proposals), held in zip(asked, supported(self.verifier, asked), strict=True):
                wound.chosen = next((it for it, good in zip(proposals, held, strict=True) if good), None)

    def _plan(self, case: Case, wounds: Sequence[Wound]) -> Plan:
        """What is done with each sentence; of two that would become the same one goes."""
        plan: dict[int, Step] = {}
        said = set[str]()
        for wound in wounds:
            chosen, condition = wound.chosen, wound.condition
            if chosen is None and condition.state == "uncited" and not self.drop_uncited:
                continue
            if chosen is not None and chosen.action == "rewritten":
                chosen = None if folded(chosen.text) in said else chosen
                said.add(folded(wound.chosen.text) if wound.chosen else "")
            plan[condition.number] = Step(condition, chosen)
        return plan


def _stages(attributor: Attributor, search: Search | None, rewriter: Rewriter | None) -> tuple[_Stage, ...]:
    """The ways to mend, in the order in which they are tried."""

    def broken(condition: Condition) -> bool:
        return condition.state == "broken"

    def turned(condition: Condition) -> bool:
        # Its own source speaks of the same thing: that is likelier to be meant than another that seems to agree.
        return broken(condition) and condition.against

    def any_(condition: Condition) -> bool:
        return True

    stages = [_Stage(restorations, turned), _Stage(Citing(attributor).propose, any_)]
    if search is not None:
        stages.append(_Stage(Citing(attributor, search).propose, any_))
    stages.append(_Stage(restorations, broken))
    if rewriter is not None:
        stages.append(_Stage(rewriter.propose, broken))
    return (*stages, _Stage(quotations, broken))


def _wounds(case: Case, round: int) -> Iterator[Wound]:
    """What is to be mended. Where sentences without citations get none at first, they get none later."""
    for condition in conditions(case.answer, case.checked):
        if condition.state == "loose":
            documents = tuple(case.answer.document(id) for id in condition.kept)
            proposal = Proposal("dropped citation", condition.claim.text, documents)
            yield Wound(case.answer, condition, proposal)
        elif condition.state == "broken" or (condition.state == "uncited" and round == 1):
            yield Wound(case.answer, condition)


def _new(wound: Wound, proposals: Sequence[Proposal]) -> Iterator[Proposal]:
    """Without rewritings that say what another sentence of the answer says."""
    said = {folded(claim.text) for claim in wound.answer.claims}
    return (it for it in proposals if it.action != "rewritten" or folded(it.text) not in said)
