"""Reasoning before the answer: statements on the parts of a question, each with quotations of the evidence.

This is the first half of Algorithm 1 of Reason and Verify. ``vericite.pipeline.rationale`` is the second, which judges
the statements. A quotation counts only if the document has these words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from vericite.generate.language_model import AskingGenerator, Complete, Generation, GenerationTask, temperature_notes
from vericite.generate.prompt import FOLDER, AnswerPrompt, Demonstration, Selector, load_prompt
from vericite.generate.reply import FinalAnswer, insufficient, read_final_answer
from vericite.llm import LLM, CallFailure, ChatRequest, Completion
from vericite.llm.replies import ask_for
from vericite.records import (
    Answer,
    Citation,
    Claim,
    Document,
    EvidenceSpan,
    Question,
    Rationale,
    RationaleStep,
    Span,
    storable,
)
from vericite.text.marks import over_marks
from vericite.text.references import parse_markers, render_markers
from vericite.text.sentences import document_sentences

_STEP = re.compile(r"\A(?:[-*•]|\(?\d{1,2}[.)])\s+")


_SPACES = re.compile(r"\s+")
_BEFORE = re.compile(r"\A(?:\.{2,}|[\s…\"“”'‘’«»`])+")
_BEHIND = re.compile(r"(?<![\s.,;:…\"“”'‘’«»`])[\s.,;:…\"“”'‘’«»`]++\Z")
_KEPT_APART = ("<super>", "<fraction>")
"""Characters that are not replaced by a plain one: 10² is not 102."""
_PLAIN = str.maketrans(
    dict.fromkeys("‐‑‒–—―−﹣", "-")
    | dict.fromkeys("‘’‚‛′`´", "'")
    | dict.fromkeys("“”„‟″«»", '"')
    # What might be a marker or a tag is shown to models in this form.
    | dict.fromkeys("[【［⟦", "(")
    | dict.fromkeys("]】］⟧", ")")
    | {"‹": "<", "›": ">"}
)


def find_quotation(words: str, document: Document) -> EvidenceSpan | None:
    """Return the span of a quotation in a document; None if it is not found.

    It is searched for literally, then ignoring case, white space, kinds of dashes and quotation marks and Unicode form,
    then across the document's own reference marks, which models are not shown. Quotation marks around the words and a
    final full stop are ignored. Words and numbers must match whole: "5 mg" is not found in "15 mg".
    """
    wanted = bare_quotation(words)
    if not any(map(str.isalnum, wanted)):
        return None
    text = document.text
    place = next(chain(_literal(wanted, text), _alike(wanted, text), _over_marks(wanted, text)), None)
    if place is None:
        return None
    start, end = place
    sentences = [sentence.index for sentence in document_sentences(document) if sentence.span.start <= start]
    return document.passage(start, end, sentences[-1] if sentences else None)


def bare_quotation(words: str) -> str:
    """Strip the quotation marks and the final full stop."""
    return _BEHIND.sub("", _BEFORE.sub("", storable(words)))


def folded(text: str) -> str:
    """Normalize a text for comparing quotations: one case, single spaces, plain characters."""
    return _folded(text)[0].rstrip(" ")


def _literal(wanted: str, text: str) -> Iterator[tuple[int, int]]:
    for start in _occurrences(wanted, text):
        if not (_cut(text, start) or _cut(text, start + len(wanted))):
            yield start, start + len(wanted)


def _alike(wanted: str, text: str) -> Iterator[tuple[int, int]]:
    needle, (letters, origins) = folded(wanted), _folded(text)
    for first in _occurrences(needle, letters):
        start, end = origins[first], origins[first + len(needle) - 1] + 1
        # A character that stands for several is matched whole.
        if folded(text[start:end]) == needle and not (_cut(text, start) or _cut(text, end)):
            yield start, end


def _over_marks(wanted: str, text: str) -> Iterator[tuple[int, int]]:
    plain, origins = over_marks(text)
    for start, end in _alike(wanted, plain) if plain != text else ():
        yield origins[start], origins[end - 1] + 1


def _occurrences(wanted: str, text: str) -> Iterator[int]:
    place = text.find(wanted)
    while place >= 0:
        yield place
        place = text.find(wanted, place + 1)


def _cut(text: str, place: int) -> bool:
    """Whether a word or a number continues across this position."""
    before, behind = text[max(0, place - 2) : place], text[place : place + 2]
    if not before or not behind:
        return False
    if unicodedata.combining(behind[0]) or (before[-1].isalnum() and behind[0].isalnum()):
        return True
    inside = before[-1] in ".," and before[:-1].isdigit() and behind[0].isdigit()
    return inside or (before[-1].isdigit() and behind[0] in ".," and behind[1:].isdigit())


@lru_cache(maxsize=256)
def _folded(text: str) -> tuple[str, tuple[int, ...]]:
    """Return the normalized text and the origin of each of its characters."""
    letters: list[str] = []
    origins: list[int] = []
    for place, char in enumerate(text):
        for letter in _plain(char):
            if letter != " " or (letters and letters[-1] != " "):
                letters.append(letter)
                origins.append(place)
    return "".join(letters), tuple(origins)


@lru_cache(maxsize=8_192)
def _plain(char: str) -> str:
    kind = unicodedata.category(char)
    if char.isspace() or kind == "Cc":
        return " "
    if kind == "Cf":
        return ""
    form = "NFD" if unicodedata.decomposition(char).startswith(_KEPT_APART) else "NFKD"
    # Some characters are plain only before normalization, others only after it.
    apart = unicodedata.normalize(form, char.translate(_PLAIN)).casefold()
    return _SPACES.sub(" ", unicodedata.normalize("NFD", apart).translate(_PLAIN))


RATIONALE = "rationale.v1"
"""Signature of how replies are parsed and quotations found; changes whenever some reply would be parsed differently."""

PROMPT = FOLDER / "rationale" / "steps.toml"
"""The prompt. It is not in ``PROMPTS``, whose replies are prose."""


def rationale_prompt(maybe: bool = False) -> AnswerPrompt:
    """Return the prompt for reasoning as data; ``maybe`` allows the yes/no answer maybe, as in PubMedQA."""
    prompt = load_prompt(PROMPT)
    if not maybe:
        return prompt
    return replace(prompt, name=prompt.name.replace("rationale", "rationale-maybe"), options=_MAYBE)


_MAYBE = {"A": "yes", "B": "no", "C": "maybe"}

_ASKS_YES_OR_NO = re.compile(
    r"\W*(?:do|does|did|is|are|was|were|can|could|has|have|had|will|would|should|may|might|must)\b(?!.*\bor\b.*\?)",
    re.IGNORECASE | re.DOTALL,
)
_SPACE = re.compile(r"\s+")


# A schema is written with sorted fields, and a model that is held to it fills them in that order: the names below
# put the reasons before the conclusions.
class _Quote(BaseModel):
    """Words of a document."""

    model_config = ConfigDict(extra="forbid", strict=True)
    document: int
    words: str


class _Step(BaseModel):
    """A part of the question, and what the documents say about it."""

    model_config = ConfigDict(extra="forbid", strict=True)
    question: str
    quotes: list[_Quote] = Field(max_length=4)
    statement: str


class _Reasoning(BaseModel):
    """The steps, and their conclusion."""

    model_config = ConfigDict(extra="forbid", strict=True)
    claims: list[_Step] = Field(max_length=8)
    conclusion: str
    final_answer: str


@dataclass
class _Notes:
    """Problems of a reply that its steps do not show."""

    absent: list[int] = field(default_factory=list[int])
    unfound: int = 0

    @property
    def lines(self) -> tuple[str, ...]:
        """Describe the problems."""
        numbers = render_markers([number for number in dict.fromkeys(self.absent) if 0 <= number <= 999])
        others = "" if numbers or not self.absent else f"{self.absent[0]}"
        absent = f"it names {numbers or others}, which the model was not shown; left out" if self.absent else ""
        unfound = f"quotations that do not stand where they are said to: {self.unfound}" if self.unfound else ""
        return tuple(filter(None, (absent, unfound)))


class RationaleGenerator(AskingGenerator):
    """Asks a language model for its reasoning as data, and turns it into a cited answer.

    Each sentence of the answer is a statement of the rationale. It cites the documents that the statement quotes.

    Args:
        llm: The model.
        prompt: A ``.toml`` file or a prompt whose reply is the JSON object defined here.
        demonstrations: Examples, or a selector that chooses them for each question; None shows the prompt's own.
        budget: Tokens of prompt and reply together. None: the model's own limit, see ``AskingGenerator``.
        seed: Seed for sampling, for services that support one.

    Raises:
        InputError: The prompt cannot be used, or takes no demonstrations.
    """

    def __init__(
        self,
        llm: LLM,
        prompt: AnswerPrompt | Path | None = None,
        *,
        demonstrations: Sequence[Demonstration] | Selector | None = None,
        budget: int | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(
            llm,
            prompt if isinstance(prompt, AnswerPrompt) else load_prompt(prompt or PROMPT),
            demonstrations,
            budget,
            seed,
        )

    @property
    def signature(self) -> str:
        """Signature of the parser of replies and of the request."""
        return f"{RATIONALE}:{self._signature_of()}"

    def _typed_question(self, question: Question) -> Question:
        return _typed(question)

    async def _build(self, task: GenerationTask, request: ChatRequest, complete: Complete) -> Generation | CallFailure:
        # Like LLM.parsed, but keeps all replies, because all of them are paid for.
        found = await ask_for(complete, request, _Reasoning, lambda parsed: self._checked(task, parsed))
        if isinstance(found, CallFailure):
            return found
        notes = _Notes()
        answer = self._answer(task, found.value, found.completion, notes)
        return Generation(answer, found.completion, (*notes.lines, *temperature_notes(found.completion)))

    def _checked(self, task: GenerationTask, parsed: _Reasoning) -> _Reasoning:
        if not any(map(_says_something, parsed.claims)) and not self._final(task, parsed).unavailable:
            raise ValueError("expected at least one statement, or ANSWER UNAVAILABLE as final_answer; found neither")
        return parsed

    def _answer(self, task: GenerationTask, parsed: _Reasoning, reply: Completion, notes: _Notes) -> Answer:
        shown = {document.number: task.documents[document.number - 1] for document in task.seen.shown}
        steps = tuple(_step(step, shown, notes) for step in parsed.claims if _says_something(step))
        provisional = _one_line(parsed.conclusion) or None
        rationale = Rationale(steps=steps, provisional=provisional, raw=storable(reply.text))
        final = self._final(task, parsed)
        if not steps:
            none = insufficient(self.prompt, task.question, task.documents)
            return none.model_copy(update={"rationale": rationale})
        answer = stated(rationale, task.question, task.documents)
        fields = {"exact": final.exact, "rationale": rationale, "insufficient": final.unavailable}
        return answer.model_copy(update=fields)

    def _final(self, task: GenerationTask, parsed: _Reasoning) -> FinalAnswer:
        asked = _typed(task.question).type
        options = self.prompt.options if asked == "yesno" else None
        words = storable(parsed.final_answer).strip()
        found = read_final_answer(words, options, asked)
        return found if found.text else read_final_answer(f"FINAL ANSWER: {words}", options, asked)


def stated(rationale: Rationale, question: Question, documents: Sequence[Document]) -> Answer:
    """Convert a rationale to an answer: one claim for each step, citing the documents of the step.

    Args:
        rationale: The rationale. Documents that are not among ``documents`` are not cited.
        question: The question.
        documents: The evidence; marker ``[n]`` is ``documents[n - 1]``.
    """
    numbers = {document.id: number for number, document in enumerate(documents, start=1)}
    text, claims = "", list[Claim]()
    for step in rationale.steps:
        start = len(text) + bool(text)
        claim, sentence = _sentence(step, numbers, start)
        text = f"{text} {sentence}" if text else sentence
        claims.append(claim)
    return Answer(id=question.id, text=text, claims=tuple(claims), documents=tuple(documents), question=question.text)


def _step(parsed: _Step, shown: Mapping[int, Document], notes: _Notes) -> RationaleStep:
    statement, numbers = _statement(parsed.statement)
    named = dict.fromkeys([*(quote.document for quote in parsed.quotes), *numbers])
    notes.absent += [number for number in named if number not in shown]
    passages: dict[EvidenceSpan, None] = {}
    unfound: dict[str, None] = {}
    for quote in parsed.quotes:
        if not _has_words(bare_quotation(quote.words)):
            continue
        document = shown.get(quote.document)
        place = None if document is None else find_quotation(quote.words, document)
        if place is None:
            unfound[_one_line(quote.words)] = None
        else:
            passages[place] = None
    notes.unfound += len(unfound)
    return RationaleStep(
        statement=statement,
        question=_one_line(parsed.question) or None,
        documents=tuple(shown[number].id for number in named if number in shown),
        passages=tuple(passages),
        unfound=tuple(unfound),
    )


def _says_something(step: _Step) -> bool:
    return _has_words(_statement(step.statement)[0])


def _statement(parsed: str) -> tuple[str, list[int]]:
    """Return a statement as a sentence without markers, and the document numbers that it has in brackets after all."""
    text, numbers = _STEP.sub("", _one_line(parsed)), list[int]()
    for group in reversed(parse_markers(text)):
        before, behind = text[: group.span.start], text[group.span.end :]
        if 0 in group.numbers:  # "a scale [0-10]": no document has that number
            text = f"{before}({group.text.strip('[]【】［］')}){behind}"
            continue
        numbers = [*group.numbers, *numbers]
        text = before.rstrip() + behind
    text = text.strip()
    return (text if text[-1:] in tuple(".!?") else f"{text}."), numbers


def _sentence(step: RationaleStep, numbers: Mapping[str, int], start: int) -> tuple[Claim, str]:
    """Convert a step to a claim that begins at this place of the answer, and to its sentence with markers."""
    stop = step.statement[-1] if step.statement[-1] in ".!?" else ""
    sentence = step.statement.removesuffix(stop) if stop else step.statement
    citations: list[Citation] = []
    for id in dict.fromkeys(step.documents):
        if (number := numbers.get(id)) is not None:
            sentence += "" if citations else " "
            begin = start + len(sentence)
            sentence += render_markers([number])
            span = Span(start=begin, end=start + len(sentence))
            citations.append(Citation(marker=number, span=span, document=id))
    sentence += stop
    span = Span(start=start, end=start + len(sentence))
    return Claim(text=step.statement, span=span, citations=tuple(citations)), sentence


def _typed(question: Question) -> Question:
    """Add a type to the question, which decides the form of its final answer."""
    if question.type is not None:
        return question
    kind = "yesno" if _ASKS_YES_OR_NO.match(question.text) else "factoid"
    return question.model_copy(update={"type": kind})


def _one_line(text: str) -> str:
    return _SPACE.sub(" ", storable(text)).strip()


def _has_words(text: str) -> bool:
    return any(map(str.isalnum, text))
