"""The closed loop: rejected sentences of an answer are repaired, verified again, and reported."""

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
"""Counts as an answer that says nothing. It does not claim that the sources have no answer."""


@dataclass(frozen=True)
class Step:
    """The repair of a sentence: its proposal; None deletes it."""

    condition: Diagnosis
    proposal: Proposal | None

    @property
    def edit(self) -> Edit:
        """The edit of the text."""
        return Edit(None) if self.proposal is None else Edit(self.proposal.text, self.proposal.documents)


Repairs = Mapping[int, Step]
"""Steps by the number of the claim."""


@dataclass
class AnswerUnderRepair:
    """An answer before and after repair; ``origins`` are the original indices of its present claims."""

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
        """Start without changes."""
        return cls(answer, checked, answer, checked, list(range(len(answer.claims))))

    @property
    def is_open(self) -> bool:
        """Whether the answer can be repaired at all."""
        whole = self.answer.failed is None and not self.answer.insufficient
        return whole and is_orderly(self.answer) and len(self.answer.documents) <= MOST_DOCUMENTS

    def after(self, plan: Repairs) -> Answer:
        """Return the answer after a plan. If no sentence is left, the answer says so."""
        answer = edited(self.answer, {number: step.edit for number, step in plan.items()})
        if answer.claims:
            return answer
        return answer.model_copy(update={"text": NOTHING_LEFT, "insufficient": True, "exact": None})

    def take(self, answer: Answer, checked: CheckedAnswer, plan: Repairs, round: int) -> None:
        """Accept the result of a plan, unless fewer of its citations are supported."""
        if _is_lower(checked, self.checked):
            # This happens only if a judge contradicts itself on the same sentence.
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
        """The result."""
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
"""Minimum share of a sentence's words, weighted by rarity, in its rewriting; with less it says something else."""

_MOST_WORDS = 60


@dataclass(frozen=True)
class RewritePrompt(Prompt):
    """The prompt for a rewriting, as in its file."""

    temperature: float = 0.0
    max_tokens: int = 256

    @property
    def signature(self) -> str:
        """Name, version and hash of all fixed text."""
        return signed(self.name, canonical([self.system, self.user, self.temperature]))


@cache
def rewrite_prompt() -> RewritePrompt:
    """Read the prompt."""
    return read_prompt(FILE, RewritePrompt)


class _Rewritten(BaseModel):
    """The required form of a reply."""

    model_config = ConfigDict(extra="forbid", strict=True)

    sentence: str
    sources: list[int]


class SentenceRewriter:
    """Asks a language model to rewrite sentences, one call each.

    Args:
        llm: The model.
        budget: Tokens of prompt and reply together. None: the limit of a model file, else no limit.
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
        """Calls made so far and their cost."""
        return self.llm.ledger

    def propose(self, rejected: Sequence[RejectedSentence]) -> list[list[Proposal]]:
        """Make several calls at a time. A sentence without a usable reply gets no proposal."""
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
        if not _is_usable_rewriting(text, rejected_sentence.claim.text):
            return []
        documents = tuple(rejected_sentence.answer.documents[number - 1] for number in sorted(set(reply.value.sources)))
        return [Proposal("rewritten", text, documents, self.signature)]

    def _messages(self, rejected_sentence: RejectedSentence) -> tuple[tuple[Message, ...], tuple[Shown, ...]]:
        """Build the prompt with as many evidence sentences as fit; retracted documents are not shown."""
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
    """Rank documents so that cited ones are shown first."""
    cited = rejected_sentence.answer.documents[place] in rejected_sentence.cited
    return place + 1 + (0 if cited else len(rejected_sentence.answer.documents))


def _is_usable_rewriting(text: str, before: str) -> bool:
    """Whether a reply is one plain sentence with enough of the old sentence's words."""
    if not 3 <= len(text.split()) <= _MOST_WORDS or instructs(text) or not stands_alone(text):
        return False
    return float(weighted_overlap(before, [text])[0]) >= ABOUT


ROUNDS = 2
ANSWERS_AT_ONCE = 32
"""Answers repaired together: enough to fill the judge's batches, few enough that results keep coming."""

Propose = Callable[[Sequence[RejectedSentence]], Sequence[Sequence[Proposal]]]


@dataclass(frozen=True)
class _Stage:
    """A way to repair sentences, and the sentences that it is for."""

    propose: Propose
    fits: Callable[[Diagnosis], bool]


class Repairer:
    """Repairs answers. An answer's support rate never gets lower, and no supported citation is touched.

    A sentence with a rejected citation loses that citation if it has others. Otherwise these are tried in turn:
    documents that support it; a correction of the one respect in which it differs from its source; rewriting by a
    language model; a quotation of what a source says on the same thing. If all fail, the sentence is deleted. The
    verifier supports each new sentence before it enters the answer. What could not be judged is left as it is.

    Args:
        verifier: A verifier, a protocol or its name; not one that judges whatever was retrieved.
        judge: Replaces the protocol's own judge: a judge or its name.
        attributor: Finds documents that support a sentence. None: the verifier, over single documents and sets.
        search: Where to look if the answer's documents do not support a sentence. None: nowhere.
        rewriter: A language model that rewrites. None: no rewriting.
        rounds: Maximum number of rounds of repair and verification.
        drop_uncited: Also delete sentences that cite nothing and that nothing supports.

    Raises:
        InputError: The protocol judges whatever was retrieved, or ``rounds`` is less than 1.
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
            raise InputError(f"expected at least 1 round of repair; found {rounds}")
        # A copy: the verifier may be cached for other callers, and a new one would name the judge in its provenance.
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
        """Version, rounds and rewriter."""
        told = [f"rounds={self.rounds}"]
        told += [f"rewriter={self.rewriter.signature}"] if self.rewriter else []
        told += ["drop_uncited=True"] if self.drop_uncited else []
        return f"repair.v1({', '.join(told)})"

    @property
    def ledger(self) -> Ledger | None:
        """Calls to the language model that rewrites; None without one."""
        return None if self.rewriter is None else self.rewriter.ledger

    def repair(self, answer: Answer, checked: CheckedAnswer | None = None, question: str | None = None) -> Repaired:
        """Repair an answer.

        Args:
            answer: The answer.
            checked: Verdicts of the same verifier. If None or from another verifier, the answer is checked first.
            question: The question, if the answer does not have it.

        Raises:
            InputError: The verdicts are on another text.
        """
        if question is not None and answer.question is None:
            answer = answer.model_copy(update={"question": question})
        return next(self.repair_many([(answer, checked)]))

    def repair_many(self, answers: Iterable[Answer | tuple[Answer, CheckedAnswer | None]]) -> Iterator[Repaired]:
        """Repair a stream of answers in batches, in order."""
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
        """Whether the verdicts are from the same protocol and judge."""
        mine, found = self.verifier.provenance, checked.provenance
        return (found.protocol, found.parts.get("judge")) == (mine.protocol, mine.parts.get("judge"))

    def _round(self, cases: Sequence[AnswerUnderRepair], number: int) -> list[AnswerUnderRepair]:
        """Repair and verify each answer again, and return those that changed."""
        rejected = [list(_rejected_sentences(case, number)) for case in cases]
        self._choose([rejected_sentence for found in rejected for rejected_sentence in found])
        planned = [(case, self._plan(case, found)) for case, found in zip(cases, rejected, strict=True)]
        planned = [(case, plan) for case, plan in planned if plan]
        after = [case.after(plan) for case, plan in planned]
        for (case, plan), answer, checked in zip(planned, after, self.verifier.verify(after), strict=True):
            case.take(answer, checked, plan, number)
        return [case for case, _ in planned if case.refused is None]

    def _choose(self, rejected: Sequence[RejectedSentence]) -> None:
        """Choose for each sentence the first proposal that the verifier supports."""
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
        """Plan the step for each sentence. If two would become the same, one is deleted."""
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
    """Return the ways to repair a sentence, in the order in which they are tried."""

    def broken(condition: Diagnosis) -> bool:
        return condition.state == "broken"

    def turned(condition: Diagnosis) -> bool:
        # The source speaks of the same thing: it is more likely meant than another that seems to agree.
        return broken(condition) and condition.against

    def contradicted(condition: Diagnosis) -> bool:
        return broken(condition) and bool(condition.opposing)

    def always(condition: Diagnosis) -> bool:
        return True

    stages = [_Stage(restorations, turned), _Stage(Citing(attributor).propose, always)]
    if search is not None:
        stages.append(_Stage(Citing(attributor, search).propose, always))
    stages.append(_Stage(restorations, broken))
    if rewriter is not None:
        stages.append(_Stage(rewriter.propose, broken))
    return (*stages, _Stage(partial(opposing_quotations, verifier), contradicted), _Stage(quotations, broken))


def _rejected_sentences(case: AnswerUnderRepair, round: int) -> Iterator[RejectedSentence]:
    """Yield the sentences to repair. Sentences without citations are tried in the first round only."""
    for condition in diagnoses(case.answer, case.checked):
        if condition.state == "loose":
            documents = tuple(case.answer.document(id) for id in condition.kept)
            proposal = Proposal("dropped citation", condition.claim.text, documents)
            yield RejectedSentence(case.answer, condition, proposal)
        elif condition.state == "broken" or (condition.state == "uncited" and round == 1):
            yield RejectedSentence(case.answer, condition)


def _new(rejected_sentence: RejectedSentence, proposals: Sequence[Proposal]) -> Iterator[Proposal]:
    """Drop rewritings that repeat another sentence, or whose signs would pair with marks of the answer.

    The words of a row of a table are not changed: its cells would be lost.
    """
    said = {folded(claim.text) for claim in rejected_sentence.answer.claims}
    claim = rejected_sentence.claim
    own = "", open_marks(claim.text)
    marked = has_emphasis(rejected_sentence.answer.text)
    is_row = "|" in rejected_sentence.answer.text[claim.span.slice].replace("\\|", "")
    for proposal in proposals:
        if is_row and proposal.text != claim.text:
            continue
        new = folded(proposal.text) not in said and (not marked or open_marks(proposal.text) in own)
        if new or proposal.action != "rewritten":
            yield proposal
