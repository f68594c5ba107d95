"""Judge rationales: Algorithm 1 of Reason and Verify, after its statements are made.

A statement is judged against the first documents of the evidence, cited or not. A language model chooses one of eight
categories, and says whether the rationale as a whole is correct and how good it is. Without one, the verifier's outcome
is mapped to the categories that it can tell apart:

- entailed, and a sentence of the documents has most of its words: CORRECT-EXPLICIT;
- entailed otherwise: CORRECT-IMPLICIT;
- contradicted: INCORRECT-FALSE;
- neither: undecided. The statement may still be correct or wrong (``aggregators.UNREACHABLE``). It counts as a
  statement but not as a faithful one. So Faith(R) is never higher than the paper's measure by a judge that agrees with
  this one wherever this one decides.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, tee
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from vericite.errors import InputError
from vericite.generate.prompt import NOTICE, Shown
from vericite.generate.rationale import stated
from vericite.llm import LLM, CallFailure, ChatRequest, Message
from vericite.llm.chat import as_block
from vericite.llm.prompts import Prompt, fill, read_prompt, signed
from vericite.models.contracts import Judge, Judgement, Pair
from vericite.records import (
    Answer,
    CheckedAnswer,
    CheckedRationale,
    Citation,
    Claim,
    Document,
    Evidence,
    Question,
    Rationale,
    Run,
    Span,
    StatementVerdict,
    Summary,
    UncitedClaim,
    Verdict,
    VerificationFailure,
)
from vericite.records.base import FrozenDict
from vericite.text.references import render_markers
from vericite.text.terms import terms
from vericite.verify.aggregators import CATEGORIES, CORRECT, UNREACHABLE, Faithfulness, TwoViews
from vericite.verify.claims import AtomicStatements, WholeThenStatements
from vericite.verify.judges.llm import PROMPTS, LlmJudge
from vericite.verify.judges.registry import default_threshold, load_judge
from vericite.verify.premises import Assembly, Context
from vericite.verify.protocol import Protocol
from vericite.verify.verifier import CARRIED, OF_OTHERS, Verifier

_LOGGER = logging.getLogger(__name__)

CONTEXT = 5
"""Number of documents that a statement is judged against; the paper's CONTEXT-1 to CONTEXT-5."""

EXPLICIT = 0.6
"""Minimum share of a statement's words in one sentence of the documents for the statement to be explicit; else it is
implicit. Chosen, not fitted: there are no labels to fit it on."""

UNDECIDED = "undecided"
"""Used instead of a category that the judge cannot determine."""

_PROMPT = read_prompt(Path(__file__).with_suffix(".toml"), Prompt)
"""Prompt for a rationale as a whole."""

_TOGETHER = read_prompt(Path(__file__).with_name("rationale_together.toml"), Prompt)
"""Prompt for a rationale and all its statements at once."""


class _Judged(BaseModel):
    """The judgement of a rationale as a whole."""

    model_config = ConfigDict(extra="forbid", strict=True)
    quality: Literal[1, 2, 3, 4, 5]
    verdict: Literal["CORRECT", "INCORRECT"]


# A model that is held to a schema fills its fields in alphabetical order: statements before the whole.
class _Labelled(BaseModel):
    """The category of one statement, by its number."""

    model_config = ConfigDict(extra="forbid", strict=True)
    index: int
    label: str


class _Together(BaseModel):
    """The judgement of a rationale and of all its statements, in one reply."""

    model_config = ConfigDict(extra="forbid", strict=True)
    categories: list[_Labelled]
    faithfulness: float = Field(ge=0, le=1)
    quality: Literal[1, 2, 3, 4, 5]
    verdict: Literal["CORRECT", "INCORRECT"]


class Reasoned(NamedTuple):
    """A rationale to judge, and what it was made from."""

    rationale: Rationale
    question: Question
    evidence: Sequence[Evidence]


class _Statements(NamedTuple):
    """A rationale whose statements were judged against this number of documents."""

    asked: Reasoned
    context: int
    checked: CheckedAnswer


class _AtOnce(NamedTuple):
    """Result of showing everything at once: the reply or the failed call; None if nothing was asked."""

    asked: Reasoned
    context: int
    statements: tuple[str, ...]
    reply: _Together | CallFailure | None


class _KnownLabels:
    """A judge with known labels."""

    def __init__(self, shown: _AtOnce, signature: str) -> None:
        self.signature = signature
        self._failed = shown.reply.reason if isinstance(shown.reply, CallFailure) else "the model was not asked"
        reply = shown.reply if isinstance(shown.reply, _Together) else None
        given = {} if reply is None else {category.index: category.label for category in reply.categories}
        self._labels = {text: given[number] for number, text in enumerate(shown.statements, 1) if number in given}

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """Return the label of each claim."""
        for pair in pairs:
            label = self._labels.get(pair.claim)
            yield Judgement.failed(self._failed) if label is None else Judgement.certain(CATEGORIES[label], label)


@dataclass(frozen=True)
class _ViewsByCategory(TwoViews):
    """The views of the default protocol; their outcome is mapped to categories later, with the text."""

    @property
    def signature(self) -> str:
        """Signature, with the threshold of explicit statements."""
        return f"{Faithfulness().signature}({super().signature}, explicit={EXPLICIT:g})"


class RationaleChecker:
    """Judges rationales. Its judge stays loaded, so use one checker for many.

    Args:
        judge: A language model, which is asked for categories and for the whole; or a judge or its name.
            ``llm-eight:MODEL`` is such a language model. The outcome of other judges is mapped to the categories.
        contexts: Numbers of documents to judge statements against; ``range(1, 6)`` is all conditions of the paper.
        together: Show a language model question, documents, rationale and answer at once and ask for the category of
            every statement, as the paper does. Otherwise ask statement by statement.

    Raises:
        InputError: A number is below 1, the judge is a language model with another prompt, or ``together`` is set and
            the judge is not a language model.
    """

    def __init__(
        self, judge: Judge | LLM | str = "bundled", contexts: Sequence[int] = (CONTEXT,), together: bool = False
    ) -> None:
        if not contexts or min(contexts) < 1:
            raise InputError(f"expected numbers of documents of at least 1; found {list(contexts)}. Correct them.")
        self.contexts = tuple(contexts)
        found = load_judge(judge) if isinstance(judge, str) else judge
        loaded = LlmJudge(found, PROMPTS["eight"]) if isinstance(found, LLM) else found
        self._llm = loaded.llm if isinstance(loaded, LlmJudge) else None
        if isinstance(loaded, LlmJudge) and loaded.prompt.columns.keys() != CATEGORIES.keys():
            raise InputError(
                f"expected a language model that is asked for the eight categories; found {loaded.signature}. "
                "Use llm-eight:MODEL."
            )
        if together and self._llm is None:
            raise InputError(
                f"expected a language model with together (--judge llm-eight:MODEL); found {loaded.signature}"
            )
        self._at_once = together
        self._verifiers = [] if together else [Verifier(self._protocol(loaded, context)) for context in self.contexts]

    @property
    def undecided(self) -> tuple[str, ...]:
        """Categories that the judge cannot tell apart."""
        return UNREACHABLE if self._llm is None else ()

    @property
    def signature(self) -> str:
        """The judge of the statements, how and in which contexts it judges, and the judge of the whole."""
        if self._at_once:
            return " and ".join(f"rationale({context}) by {self._together_signature}" for context in self.contexts)
        statements = [f"{verifier.protocol.signature} by {verifier.judge.signature}" for verifier in self._verifiers]
        return " and ".join([*statements, *([] if self._llm is None else [self._whole_signature])])

    @property
    def _whole_signature(self) -> str:
        fixed = fill(_PROMPT.system, {"notice": NOTICE})
        return f"{signed(_PROMPT.name, fixed)}:{'' if self._llm is None else self._llm.signature}(temperature=0)"

    @property
    def _together_signature(self) -> str:
        fixed = fill(_TOGETHER.system, {"notice": NOTICE, "labels": _CATEGORY_LIST})
        return f"{signed(_TOGETHER.name, fixed)}:{'' if self._llm is None else self._llm.signature}(temperature=0)"

    def check(self, asked: Iterable[Reasoned]) -> Iterator[tuple[CheckedRationale, ...]]:
        """Judge rationales in a stream, in order, each in every context.

        A language model is asked several things at a time, and keeps its replies.

        Raises:
            LLMAccessError: No call can succeed, for example because the key is wrong.
        """
        if self._llm is not None and self._at_once:
            each = ((reasoned, context) for reasoned in asked for context in self.contexts)
            done = map(self._labelled, self._llm.each(each, self._asked_at_once))
        else:
            judged = self._statements(asked)
            done = map(self._checked, judged) if self._llm is None else self._llm.each(judged, self._as_a_whole)
        while found := tuple(islice(done, len(self.contexts))):
            yield found

    def runs(self, runs: Iterable[Run]) -> Iterator[Run]:
        """Judge the rationales of runs: ``rationale`` gets the last context, ``contexts`` all if there are several."""
        given, kept = tee(runs)
        asked = (Reasoned(run.answer.rationale or Rationale(), run.question, run.evidence) for run in given)
        for run, found in zip(kept, self.check(asked), strict=True):
            if run.answer.rationale is None:
                yield run
                continue
            *before, last = found
            yield run.model_copy(update={"rationale": last, "contexts": found if before else ()})

    def _protocol(self, judge: Judge, context: int) -> Protocol:
        name = f"rationale({context})"
        if self._llm is not None:
            return Protocol(AtomicStatements(enumerations=True), Context(context), judge, Faithfulness(), name)
        views, bar = _ViewsByCategory(), default_threshold(judge)
        return Protocol(WholeThenStatements(), Assembly(), judge, views, name, bar, quotes=True)

    def _statements(self, asked: Iterable[Reasoned]) -> Iterator[_Statements]:
        kept, *copies = tee(asked, 1 + len(self.contexts))
        streams = [
            verifier.verify(map(partial(self._to_judge, context), copy))
            for verifier, context, copy in zip(self._verifiers, self.contexts, copies, strict=True)
        ]
        for reasoned, *found in zip(kept, *streams, strict=True):
            for context, checked in zip(self.contexts, found, strict=True):
                yield _Statements(reasoned, context, self._by_category(reasoned, context, checked))

    def _to_judge(self, context: int, asked: Reasoned) -> Answer:
        """Convert the rationale to an answer over its documents; what the protocol reads is marked as cited."""
        answer, read = _as_answer(asked), _read(asked, context)
        if self._llm is None:
            claims = tuple(_citing(claim, read) for claim in answer.claims)
        else:
            claims = tuple(
                _citing(claim, {number: read[number] for number in _cited(claim, read)}) for claim in answer.claims
            )
        return answer.model_copy(update={"claims": claims, "documents": tuple(read.values())})

    def _by_category(self, asked: Reasoned, context: int, checked: CheckedAnswer) -> CheckedAnswer:
        """Map the results of the statements to categories, and cite as the rationale does."""
        answer, read = _as_answer(asked), _read(asked, context)
        claims = {claim.span: claim for claim in answer.claims}
        verdicts = tuple(self._verdict(claims[_span(verdict)], verdict, read) for verdict in checked.verdicts)
        is_asked = self._llm is not None
        failures = tuple(
            _failure(claims[_span(failure)], failure, read, known=is_asked) for failure in checked.failures
        )
        if not read:
            failures = tuple(_unjudged(claim, f"rationale({context})") for claim in answer.claims)
        parts = {**checked.provenance.parts, **({} if self._llm is None else {"whole": self._whole_signature})}
        return CheckedAnswer(
            id=answer.id,
            verdicts=verdicts,
            failures=failures,
            uncited=tuple(
                UncitedClaim(claim=claim.text, start=claim.span.start, end=claim.span.end) for claim in answer.uncited
            ),
            summary=Summary.of(answer, verdicts, failures),
            provenance=checked.provenance.model_copy(update={"parts": FrozenDict(parts)}),
        )

    def _verdict(self, claim: Claim, found: Verdict, read: Mapping[int, Document]) -> Verdict:
        place = {"markers": _cited(claim, read), "documents": tuple(document.id for document in read.values())}
        if found.abstained:
            return found.model_copy(update=place)
        if self._llm is not None:
            # For a step with several statements, the native label says whether all of them are correct.
            alone = found.statements[0].native if len(found.statements) == 1 else found.native
            return found.model_copy(update={**place, "native": alone})
        category, reasons = _category(claim, found, read)
        statement = StatementVerdict(
            text=claim.text,
            label=found.label,
            native=category,
            holds=category.startswith(CORRECT),
            probabilities=found.probabilities,
        )
        told = {"native": category, "statements": (statement,), "split_after_failure": False, "reasons": reasons}
        return found.model_copy(update=place | told)

    async def _as_a_whole(self, judged: _Statements) -> CheckedRationale:
        """Add a language model's judgement of the rationale as a whole; None if there is no usable reply."""
        read = _read(judged.asked, judged.context)
        if self._llm is None or not read or not judged.asked.rationale.steps:
            return self._checked(judged)
        request = ChatRequest(_messages(judged.asked, read), max_tokens=self._llm.settings.reply_tokens)
        found = await self._llm.parsed(request, _Judged)
        if isinstance(found, CallFailure):
            _LOGGER.warning("rationale of %s not judged as a whole: %s", judged.asked.question.id, found.reason)
            return self._checked(judged)
        return self._checked(judged, found.value)

    def _checked(self, judged: _Statements, whole: _Judged | _Together | None = None) -> CheckedRationale:
        summary = judged.checked.summary
        return CheckedRationale(
            checked=judged.checked,
            verdict=None if whole is None else whole.verdict,
            quality=None if whole is None else whole.quality,
            grounded=whole.faithfulness if isinstance(whole, _Together) else None,
            score=summary.holding / summary.statements if summary.statements else None,
            context=judged.context,
            undecided=self.undecided,
        )

    async def _asked_at_once(self, asked: tuple[Reasoned, int]) -> _AtOnce:
        """Make the one call that shows everything."""
        reasoned, context = asked
        read = _read(reasoned, context)
        statements = _atomic(reasoned)
        if self._llm is None or not read or not statements:
            return _AtOnce(reasoned, context, statements, None)
        request = ChatRequest(
            _messages_together(reasoned, read, statements), max_tokens=max(1_024, self._llm.settings.reply_tokens)
        )
        found = await self._llm.parsed(request, _Together, lambda reply: _each_once(reply, len(statements)))
        return _AtOnce(reasoned, context, statements, found if isinstance(found, CallFailure) else found.value)

    def _labelled(self, shown: _AtOnce) -> CheckedRationale:
        """Count the given labels as if each had been asked for separately."""
        judge = _KnownLabels(shown, self._together_signature)
        protocol = Protocol(
            AtomicStatements(enumerations=True),
            Context(shown.context),
            judge,
            Faithfulness(),
            f"rationale({shown.context})",
        )
        (checked,) = Verifier(protocol).verify([self._to_judge(shown.context, shown.asked)])
        judged = _Statements(shown.asked, shown.context, self._by_category(shown.asked, shown.context, checked))
        return self._checked(judged, shown.reply if isinstance(shown.reply, _Together) else None)


_CATEGORY_LIST = "\n".join(f"- {label}: {item.meaning}" for label, item in PROMPTS["eight"].labels.items())


def _atomic(asked: Reasoned) -> tuple[str, ...]:
    """Split a rationale into atomic statements, in order."""
    plan = AtomicStatements(enumerations=True)
    return tuple(statement for claim in _as_answer(asked).claims for statement in plan.statements(claim))


def _each_once(reply: _Together, statements: int) -> _Together:
    numbers = sorted(item.index for item in reply.categories)
    if numbers != list(range(1, statements + 1)):
        raise ValueError(f"expected a label for each of the statements 1 to {statements}, once; found {numbers}")
    if wrong := [item.label for item in reply.categories if item.label not in CATEGORIES]:
        raise ValueError(f"expected labels out of {', '.join(CATEGORIES)}; found {wrong[0]!r}")
    return reply


def _messages_together(
    asked: Reasoned, read: Mapping[int, Document], statements: Sequence[str]
) -> tuple[Message, Message]:
    numbered = "\n".join(f"{place}. {statement}" for place, statement in enumerate(statements, start=1))
    return _TOGETHER.filled(
        {**_shown(asked, read), "reasoning": as_block("reasoning", numbered), "labels": _CATEGORY_LIST}
    )


def _as_answer(asked: Reasoned) -> Answer:
    return stated(asked.rationale, asked.question, [hit.document for hit in asked.evidence])


def _read(asked: Reasoned, context: int) -> dict[int, Document]:
    """Return the documents that statements are judged against, by their markers."""
    numbered = enumerate((hit.document for hit in asked.evidence), start=1)
    usable = ((number, found) for number, found in numbered if not found.retracted and found.text.strip())
    return dict(islice(usable, context))


def _cited(claim: Claim, read: Mapping[int, Document]) -> tuple[int, ...]:
    return tuple(citation.marker for citation in claim.citations if citation.marker in read)


def _citing(claim: Claim, documents: Mapping[int, Document]) -> Claim:
    citations = tuple(
        Citation(marker=number, span=claim.span, document=document.id) for number, document in documents.items()
    )
    return claim.model_copy(update={"citations": citations})


def _span(found: Verdict | VerificationFailure) -> Span:
    return Span(start=found.start, end=found.end)


def _failure(
    claim: Claim, found: VerificationFailure, read: Mapping[int, Document], known: bool
) -> VerificationFailure:
    """Put a failure in its place; ``known`` is whether its judged parts mean something on their own."""
    documents = tuple(document.id for document in read.values())
    update = {"markers": _cited(claim, read), "documents": documents}
    return found.model_copy(update=update if known else {**update, "statements": ()})


def _unjudged(claim: Claim, protocol: str) -> VerificationFailure:
    return VerificationFailure(
        claim=claim.text,
        start=claim.span.start,
        end=claim.span.end,
        markers=(),
        documents=(),
        reason="there is no document to judge it against",
        protocol=protocol,
    )


def _category(claim: Claim, found: Verdict, read: Mapping[int, Document]) -> tuple[str, tuple[str, ...]]:
    """Map an outcome to its category, with reasons for the reader."""
    # More documents were judged than the step cites; the reasons below name those that support it.
    reasons = tuple(
        reason for reason in found.reasons if not reason.startswith(CARRIED) and not reason.endswith(OF_OTHERS)
    )
    if found.split_after_failure:
        reasons += (f"by its parts: {found.native}",)
    if found.label == "contradicted":
        return "INCORRECT-FALSE", reasons
    if found.label != "supported":
        return UNDECIDED, (*reasons, f"of {', '.join(UNREACHABLE)} this judge cannot tell which")
    stated = found.native == "quoted" or _overlap(claim.text, found, read) >= EXPLICIT
    supporting = {span.document for span in found.evidence}
    markers = tuple(number for number, document in read.items() if document.id in supporting)
    if markers and not set(markers) & set(_cited(claim, read)):
        reasons += (f"supported by {render_markers(markers)}, which it does not cite",)
    return ("CORRECT-EXPLICIT" if stated else "CORRECT-IMPLICIT"), reasons


def _overlap(statement: str, found: Verdict, read: Mapping[int, Document]) -> float:
    """Return the largest share of the statement's words in a passage of the evidence."""
    words, texts = set(terms(statement)), {document.id: document.text for document in read.values()}
    passages = (set(terms(texts[span.document][span.start : span.end])) for span in found.evidence)
    return max((len(words & passage) / len(words) for passage in passages), default=0.0) if words else 0.0


def _messages(asked: Reasoned, read: Mapping[int, Document]) -> tuple[Message, Message]:
    steps = "\n".join(f"{place}. {step.statement}" for place, step in enumerate(asked.rationale.steps, start=1))
    return _PROMPT.filled({**_shown(asked, read), "reasoning": as_block("reasoning", steps)})


def _shown(asked: Reasoned, read: Mapping[int, Document]) -> dict[str, str]:
    """Return what a judge of a rationale sees in addition to its statements."""
    return {
        "question": as_block("question", asked.question.text),
        "documents": "\n".join(Shown.of(document, number).text for number, document in read.items()),
        "answer": as_block("answer", asked.rationale.provisional or "(none)"),
        "notice": NOTICE,
    }
