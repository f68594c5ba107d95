"""The closed loop: what the verifier rejects of an answer is mended, verified again, and told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import islice
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from vericite.attribution.attributor import MOST_DOCUMENTS, Attributor
from vericite.attribution.verified import VerifierAttributor
from vericite.errors import InputError
from vericite.generate.prompt import Shown, message_tokens, truncate_evidence
from vericite.generate.rationale import folded
from vericite.llm import LLM, CallFailure, ChatRequest, Ledger, Message
from vericite.llm.chat import as_block, as_data, canonical
from vericite.llm.prompts import Prompt, fill, read_prompt, signed
from vericite.models.contracts import Judge
from vericite.pipeline.check import verifier_for
from vericite.pipeline.repair.proposals import (
    Citing,
    Diagnosis,
    Edit,
    Proposal,
    RejectedSentence,
    diagnoses,
    edited,
    is_orderly,
    opposing_quotations,
    quotations,
    restorations,
    stands_alone,
    supported,
)
from vericite.pipeline.search import Search
from vericite.records import Answer, Change, CheckedAnswer, Claim, Evidence, Repaired
from vericite.records.results import quoted_by_repair, support
from vericite.text.emphasis import has_emphasis, open_marks
from vericite.text.injection import instructs
from vericite.verify.judging import MemoizedJudge
from vericite.verify.protocol import DEFAULT, Protocol
from vericite.verify.verifier import Verifier, weighted_overlap

NOTHING_LEFT = "No sentence of the answer was supported by its sources."
"""It counts as an answer that says nothing. Whether the sources answer is not told: another from them may hold."""


@dataclass(frozen=True)
class Step:
    """What is done with a sentence: what it becomes, None where it goes."""

    condition: Diagnosis
    proposal: Proposal | None

    @property
    def edit(self) -> Edit:
        """As the text is edited."""
        return Edit(None) if self.proposal is None else Edit(self.proposal.text, self.proposal.documents)


Repairs = Mapping[int, Step]
"""Steps by the number of the claim."""


@dataclass
class AnswerUnderRepair:
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
    def of(cls, answer: Answer, checked: CheckedAnswer) -> AnswerUnderRepair:
        """Nothing done yet."""
        return cls(answer, checked, answer, checked, list(range(len(answer.claims))))

    @property
    def is_open(self) -> bool:
        """Whether it can be mended at all."""
        whole = self.answer.failed is None and not self.answer.insufficient
        return whole and is_orderly(self.answer) and len(self.answer.documents) <= MOST_DOCUMENTS

    def after(self, plan: Repairs) -> Answer:
        """The answer once a plan is carried out; where no sentence is left, it says so."""
        answer = edited(self.answer, {number: step.edit for number, step in plan.items()})
        if answer.claims:
            return answer
        return answer.model_copy(update={"text": NOTHING_LEFT, "insufficient": True, "exact": None})

    def take(self, answer: Answer, checked: CheckedAnswer, plan: Repairs, round: int) -> None:
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
        left = () if self.answer.failed else diagnoses(self.answer, self.checked)
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
            deleted=sum(change.after is None for change in self.changes),
            quoted=len(quoted_by_repair(self.changes)),
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


FILE = Path(__file__).parent / "rewrite.toml"

ABOUT = 0.2
"""Share of a sentence's words, rare ones counting more, that a rewritten one must have: else it says something else."""

_MOST_WORDS = 60


@dataclass(frozen=True)
class RewritePrompt(Prompt):
    """How a language model is asked, as its file has it."""

    temperature: float = 0.0
    max_tokens: int = 256

    @property
    def signature(self) -> str:
        """Name, version and hash of all that is fixed in it."""
        return signed(self.name, canonical([self.system, self.user, self.temperature]))


@cache
def rewrite_prompt() -> RewritePrompt:
    """The prompt."""
    return read_prompt(FILE, RewritePrompt)


class _Rewritten(BaseModel):
    """What a reply has to be."""

    model_config = ConfigDict(extra="forbid", strict=True)

    sentence: str
    sources: list[int]


class SentenceRewriter:
    """Asks a language model for other words, one call a sentence.

    Args:
        llm: Which model.
        budget: Tokens of prompt and reply together; None for the limit of a model file, else for no limit.
    """

    def __init__(self, llm: LLM, budget: int | None = None) -> None:
        self.llm = llm
        self.budget = budget or llm.context

    @property
    def signature(self) -> str:
        """The prompt's name, version and hash, and the model's name."""
        return f"{rewrite_prompt().signature}:{self.llm.signature}"

    @property
    def ledger(self) -> Ledger:
        """What was asked so far, and what it cost."""
        return self.llm.ledger

    def propose(self, rejected: Sequence[RejectedSentence]) -> list[list[Proposal]]:
        """Several calls at a time; nothing where the model has nothing to say, or says nothing that can be used."""
        return list(self.llm.each(rejected, self._one))

    async def _one(self, rejected_sentence: RejectedSentence) -> list[Proposal]:
        messages, shown = self._messages(rejected_sentence)
        if not shown:
            return []
        numbers = {document.number for document in shown}

        def usable(reply: _Rewritten) -> _Rewritten:
            if reply.sentence.strip() and not (reply.sources and set(reply.sources) <= numbers):
                raise ValueError(f"expected sources among {sorted(numbers)}; found {reply.sources}")
            return reply

        prompt = rewrite_prompt()
        request = ChatRequest(messages, max_tokens=prompt.max_tokens, temperature=prompt.temperature)
        reply = await self.llm.parsed(request, _Rewritten, usable)
        if isinstance(reply, CallFailure):
            return []
        text = " ".join(reply.value.sentence.split())
        if not _is_mending(text, rejected_sentence.claim.text):
            return []
        documents = tuple(rejected_sentence.answer.documents[number - 1] for number in sorted(set(reply.value.sources)))
        return [Proposal("rewritten", text, documents, self.signature)]

    def _messages(self, rejected_sentence: RejectedSentence) -> tuple[tuple[Message, ...], tuple[Shown, ...]]:
        """The prompt with as many sentences of the evidence as there is room for; retracted documents are not shown."""
        answer, prompt = rejected_sentence.answer, rewrite_prompt()
        evidence = [
            Evidence(document=document, rank=_rank(rejected_sentence, place), score=0.0, retriever="answer")
            for place, document in enumerate(answer.documents)
        ]
        given = {
            "question": as_block("question", answer.question) if answer.question else "(no question is known)",
            "sentence": as_block("sentence", rejected_sentence.claim.text),
            "problem": as_data(rejected_sentence.condition.why),
            "documents": "",
        }
        system = Message("system", prompt.system)
        room = None
        if self.budget is not None:
            taken = message_tokens((system, Message("user", fill(prompt.user, given))))
            room = self.budget - prompt.max_tokens - taken
        shown = truncate_evidence(evidence, room).shown
        given["documents"] = "\n".join(document.text for document in shown)
        return (system, Message("user", fill(prompt.user, given))), shown


def _rank(rejected_sentence: RejectedSentence, place: int) -> int:
    """What the sentence cites is shown for as long as there is room for anything."""
    cited = rejected_sentence.answer.documents[place] in rejected_sentence.cited
    return place + 1 + (0 if cited else len(rejected_sentence.answer.documents))


def _is_mending(text: str, before: str) -> bool:
    """Whether a reply is one plain sentence about what the old one was about."""
    if not 3 <= len(text.split()) <= _MOST_WORDS or instructs(text) or not stands_alone(text):
        return False
    return float(weighted_overlap(before, [text])[0]) >= ABOUT


ROUNDS = 2
ANSWERS_AT_ONCE = 32
"""Answers mended together: enough to fill the judge's batches, few enough to see them come."""

Propose = Callable[[Sequence[RejectedSentence]], Sequence[Sequence[Proposal]]]


@dataclass(frozen=True)
class _Stage:
    """A way to repair sentences, and which of them it is for."""

    propose: Propose
    fits: Callable[[Diagnosis], bool]


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
        rewriter: SentenceRewriter | None = None,
        rounds: int = ROUNDS,
        drop_uncited: bool = False,
    ) -> None:
        if rounds < 1:
            raise InputError(f"expected 1 round of repair or more; found {rounds}")
        # A copy: the verifier may be kept for others, and made anew it would spell out the judge in its provenance.
        self.verifier = copy(verifier if isinstance(verifier, Verifier) else verifier_for(verifier, judge))
        self._memoized = MemoizedJudge(self.verifier.judge)
        self.verifier.judge = self._memoized
        own = VerifierAttributor(replace(self.verifier.protocol, judge=self._memoized))
        self.rewriter = rewriter
        self.rounds = rounds
        self.drop_uncited = drop_uncited
        self._stages = _stages(self.verifier, attributor or own, search, rewriter)

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
                self._memoized.forget()

    def _batch(self, batch: Sequence[tuple[Answer, CheckedAnswer | None]]) -> list[Repaired]:
        known = [(answer, checked if checked and self._is_own(checked) else None) for answer, checked in batch]
        anew = self.verifier.verify([answer for answer, checked in known if checked is None])
        cases = [AnswerUnderRepair.of(answer, checked or next(anew)) for answer, checked in known]
        changing = [case for case in cases if case.is_open]
        for number in range(1, self.rounds + 1):
            changing = self._round(changing, number)
        return [case.repaired for case in cases]

    def _is_own(self, checked: CheckedAnswer) -> bool:
        """Whether verdicts are such as the verifier would give."""
        mine, found = self.verifier.provenance, checked.provenance
        return (found.protocol, found.parts.get("judge")) == (mine.protocol, mine.parts.get("judge"))

    def _round(self, cases: Sequence[AnswerUnderRepair], number: int) -> list[AnswerUnderRepair]:
        """Mend what is wrong with each, verify it again, and give those that were changed."""
        rejected = [list(_wounds(case, number)) for case in cases]
        self._choose([rejected_sentence for found in rejected for rejected_sentence in found])
        planned = [(case, self._plan(case, found)) for case, found in zip(cases, rejected, strict=True)]
        planned = [(case, plan) for case, plan in planned if plan]
        after = [case.after(plan) for case, plan in planned]
        for (case, plan), answer, checked in zip(planned, after, self.verifier.verify(after), strict=True):
            case.take(answer, checked, plan, number)
        return [case for case, _ in planned if case.refused is None]

    def _choose(self, rejected: Sequence[RejectedSentence]) -> None:
        """Find for each the first proposal that the verifier supports."""
        for stage in self._stages:
            waiting = [
                rejected_sentence
                for rejected_sentence in rejected
                if rejected_sentence.chosen is None and stage.fits(rejected_sentence.condition)
            ]
            if not waiting:
                continue
            given = stage.propose(waiting)
            asked = [
                (rejected_sentence, list(_new(rejected_sentence, found)))
                for rejected_sentence, found in zip(waiting, given, strict=True)
            ]
            for (rejected_sentence, proposals), held in zip(asked, supported(self.verifier, asked), strict=True):
                good = (proposal for proposal, holds in zip(proposals, held, strict=True) if holds)
                rejected_sentence.chosen = next(good, None)

    def _plan(self, case: AnswerUnderRepair, rejected: Sequence[RejectedSentence]) -> Repairs:
        """What is done with each sentence; of two that would become the same one goes."""
        plan: dict[int, Step] = {}
        said = set[str]()
        for rejected_sentence in rejected:
            chosen, condition = rejected_sentence.chosen, rejected_sentence.condition
            if chosen is None and condition.state == "uncited" and not self.drop_uncited:
                continue
            if chosen is not None and chosen.action == "rewritten":
                chosen = None if folded(chosen.text) in said else chosen
                said.add(folded(rejected_sentence.chosen.text) if rejected_sentence.chosen else "")
            plan[condition.number] = Step(condition, chosen)
        return plan


def _stages(
    verifier: Verifier, attributor: Attributor, search: Search | None, rewriter: SentenceRewriter | None
) -> tuple[_Stage, ...]:
    """The ways to repair a sentence, in the order in which they are tried."""

    def broken(condition: Diagnosis) -> bool:
        return condition.state == "broken"

    def turned(condition: Diagnosis) -> bool:
        # Its own source speaks of the same thing: that is likelier to be meant than another that seems to agree.
        return broken(condition) and condition.against

    def contradicted(condition: Diagnosis) -> bool:
        return broken(condition) and bool(condition.opposing)

    def any_(condition: Diagnosis) -> bool:
        return True

    stages = [_Stage(restorations, turned), _Stage(Citing(attributor).propose, any_)]
    if search is not None:
        stages.append(_Stage(Citing(attributor, search).propose, any_))
    stages.append(_Stage(restorations, broken))
    if rewriter is not None:
        stages.append(_Stage(rewriter.propose, broken))
    return (*stages, _Stage(partial(opposing_quotations, verifier), contradicted), _Stage(quotations, broken))


def _wounds(case: AnswerUnderRepair, round: int) -> Iterator[RejectedSentence]:
    """What is to be mended. Where sentences without citations get none at first, they get none later."""
    for condition in diagnoses(case.answer, case.checked):
        if condition.state == "loose":
            documents = tuple(case.answer.document(id) for id in condition.kept)
            proposal = Proposal("dropped citation", condition.claim.text, documents)
            yield RejectedSentence(case.answer, condition, proposal)
        elif condition.state == "broken" or (condition.state == "uncited" and round == 1):
            yield RejectedSentence(case.answer, condition)


def _new(rejected_sentence: RejectedSentence, proposals: Sequence[Proposal]) -> Iterator[Proposal]:
    """Without rewritings that say what another sentence says, or whose signs would pair with marks of the answer."""
    said = {folded(claim.text) for claim in rejected_sentence.answer.claims}
    own = "", open_marks(rejected_sentence.claim.text)
    marked = has_emphasis(rejected_sentence.answer.text)
    for proposal in proposals:
        new = folded(proposal.text) not in said and (not marked or open_marks(proposal.text) in own)
        if new or proposal.action != "rewritten":
            yield proposal
