"""Examples that a language model makes from question answering data, after MultiAttr (Patel et al. 2024, NAACL).

``long`` takes a question with its short answer and several paragraphs (HotpotQA's form). The model writes a longer
answer with citations; paragraphs that it did not need stay as distractors. ``short`` is the same data without a model,
for comparison with the long answers. ``sources`` takes a statement with one reference that supports it (Natural
Questions' form). The model writes another source that supports it and two that do not.

The verifier checks what was made. What it does not confirm is left out and counted. Long answers may be kept as the
model wrote them, as in the paper, whose filter is for ``sources`` only.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from vericite.datasets.entry import Entry
from vericite.disk.files import write_whole
from vericite.disk.jobs import Job, Lines
from vericite.errors import InputError, RecordError
from vericite.lab.train.examples import AttributionExample, ExampleSource, as_line, source_of
from vericite.llm import LLM, CallFailure, ChatRequest
from vericite.llm.chat import Message, as_block
from vericite.llm.prompts import Prompt, read_prompt
from vericite.llm.verbatim import VerbatimPrompt, expect_slots
from vericite.models.contracts import ENTAILS, Judge, Pair
from vericite.records import Record, read_jsonl
from vericite.text.citations import parse_answer
from vericite.verify.judging import ask

Form = Literal["long", "short", "sources"]
FORMS: Mapping[Form, str] = {
    "long": "a short answer and several paragraphs: the model writes a long answer with citations",
    "short": "the same data without a model: question and short answer as one sentence",
    "sources": "a statement and its reference: the model writes one more source and two that do not support it",
}

_Reply = TypeVar("_Reply")

_PROMPTS = Path(__file__).with_name("prompts")
SOURCES = 5
ENTAILED = 0.5
MADE, EXAMPLES = "made.jsonl", "examples.jsonl"


class MadeFrom(NamedTuple):
    """The input from one record of the data.

    Attributes:
        answer: The short answer, or the statement.
        sources: Paragraphs, or the one reference.
        gold: Positions of the sources that the answer rests on.
    """

    id: str
    question: str
    answer: str
    sources: tuple[ExampleSource, ...]
    gold: tuple[int, ...]


class MadeExamples(Record):
    """The examples made from an item, and counts of rejected ones by reason."""

    id: str
    examples: tuple[AttributionExample, ...] = ()
    rejected: dict[str, int] = Field(default_factory=dict)
    failed: str | None = None


class ExampleText(Record):
    """A source of an example."""

    title: str = ""
    text: str = Field(min_length=1)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Sentence(_Strict):
    """Fields come in the order in which the model writes them: the sentence before its sources.

    The list of sources is bounded: without a bound a small model writes endless numbers.
    """

    sentence: str = Field(min_length=1)
    sources: list[int] = Field(max_length=SOURCES)


class _Long(_Strict):
    sentences: list[_Sentence] = Field(min_length=1, max_length=6)


class _Text(_Strict):
    text: str = Field(min_length=1)


class _Two(_Strict):
    first: str = Field(min_length=1)
    second: str = Field(min_length=1)


def items_of(entries: Iterable[Entry | RecordError], form: Form) -> Iterator[MadeFrom | RecordError]:
    """Yield the items of a data set that a form can use, in order."""
    for entry in entries:
        if isinstance(entry, RecordError):
            yield entry
        elif form == "sources":
            for citation in entry.citations:
                if citation.label == "supported" and citation.premise.strip():
                    yield MadeFrom(
                        citation.id,
                        citation.group or "",
                        citation.claim,
                        (ExampleSource(id="reference", text=citation.premise),),
                        (0,),
                    )
        elif entry.question is not None and entry.documents:
            if found := _short(entry):
                yield found


def _short(entry: Entry) -> MadeFrom | None:
    question = entry.question
    assert question is not None
    exact = [words[0] for words in question.gold_exact if words]
    answer = ", ".join(exact) or (question.gold_ideal[0] if question.gold_ideal else "")
    sources = tuple(source_of(document) for document in entry.documents)
    gold = tuple(place for place, source in enumerate(sources) if source.id in question.gold_documents)
    return MadeFrom(question.id, question.text, answer, sources, gold) if answer and gold else None


class LongExample(Record):
    """An example of a long answer, which cites its sources with ``[1][2]``."""

    sources: tuple[ExampleText, ...] = Field(min_length=1)
    question: str = Field(min_length=1)
    answer: str = Field(min_length=1)
    response: str = Field(min_length=1)

    @property
    def shown(self) -> tuple[ExampleSource, ...]:
        """The sources."""
        return tuple(
            ExampleSource(id=str(number), title=source.title, text=source.text)
            for number, source in enumerate(self.sources, start=1)
        )


@dataclass(frozen=True)
class Prompts:
    """The prompts. A user's own file is sent word for word, and its reply is read as text.

    ``examples`` come before the prompt for long answers, each in the form of the prompt, as in MultiAttr.
    """

    long: Prompt | VerbatimPrompt
    positive: Prompt | VerbatimPrompt
    negative: Prompt | VerbatimPrompt
    examples: tuple[LongExample, ...] = ()

    @classmethod
    def read(
        cls,
        long: Path | None = None,
        positive: Path | None = None,
        negative: Path | None = None,
        examples: str = "none",
    ) -> Prompts:
        """Read the user's prompts, or ours where no file is given; ``examples`` is a file, ``three`` or ``none``.

        Raises:
            InputError: A file is not a prompt, or lacks a slot, or a line is not an example.
        """
        pair = ("reference", "statement")
        return cls(
            _read(long, "long-answer", ("sources", "question", "answer")),
            _read(positive, "other-words", pair),
            _read(negative, "same-topic", pair),
            _examples(examples),
        )

    @property
    def signatures(self) -> dict[str, str]:
        """The prompts' signatures by use."""
        shown = json.dumps([example.model_dump(mode="json") for example in self.examples])
        digest = hashlib.sha256(shown.encode()).hexdigest()[:8]
        with_examples = f"+{len(self.examples)} examples@{digest}" if self.examples else ""
        return {
            "long": f"{self.long.signature}{with_examples}",
            "positive": self.positive.signature,
            "negative": self.negative.signature,
        }


def _examples(named: str) -> tuple[LongExample, ...]:
    if named == "none":
        return ()
    path = _PROMPTS / "long-answer-examples.jsonl" if named == "three" else Path(named).expanduser()
    try:
        return tuple(read_jsonl(LongExample, path))
    except RecordError as error:
        raise InputError(f"{error}. Correct that line of the setting examples.") from None


def _read(file: Path | None, default: str, slots: Sequence[str]) -> Prompt | VerbatimPrompt:
    if file is None:
        return read_prompt(_PROMPTS / f"{default}.toml", Prompt)
    prompt = VerbatimPrompt.read(file)
    expect_slots(prompt.name, prompt.turns, slots)
    return prompt


class Maker:
    """Lets the model write from items, and the verifier check what it wrote.

    Args:
        llm: The language model; None for the form without one.
        judge: Judges whether a text entails a sentence.
        prompts: The prompts.
        seed: Seed of the order of sources.
        made_from: Name of the data set.
        shown: The sources that the model sees for a long answer.
        checked: Whether sentences of long answers are checked.
    """

    def __init__(
        self,
        llm: LLM | None,
        judge: Judge,
        prompts: Prompts,
        seed: int = 0,
        made_from: str = "",
        shown: Literal["gold", "five"] = "gold",
        checked: bool = True,
    ) -> None:
        self._llm = llm
        self._judge = judge
        self._prompts = prompts
        self._seed = seed
        self._made_from = made_from
        self._by_gold = shown == "gold"
        self._checks = checked

    def each(self, items: Sequence[MadeFrom], form: Form) -> Iterator[MadeExamples]:
        """Yield the result of each item in order; several calls run at a time."""
        if form == "short":
            for item in items:
                yield self._shortened(item)
            return
        if form == "long":
            yield from self._each(items, self._long, self._checked_long)
        else:
            yield from self._each(items, self._sources, self._checked_sources)

    def _each(
        self,
        items: Sequence[MadeFrom],
        wanted: Callable[[MadeFrom], Awaitable[_Reply | CallFailure]],
        check: Callable[[MadeFrom, _Reply], MadeExamples],
    ) -> Iterator[MadeExamples]:
        with closing(self._model().each(items, wanted)) as replies:
            for item, reply in zip(items, replies, strict=True):
                if isinstance(reply, CallFailure):
                    yield MadeExamples(id=item.id, failed=reply.reason)
                else:
                    yield check(item, reply)

    def _model(self) -> LLM:
        if self._llm is None:
            raise InputError("expected a language model for this form; found none. Name one with --llm.")
        return self._llm

    async def _long(self, item: MadeFrom) -> list[tuple[str, list[int]]] | CallFailure:
        """Return the sentences that the model wrote, with the numbers that their sources have in the example."""
        every = self._shown(item)
        places = list(every.gold if self._by_gold else range(len(every.sources)))
        sources = [every.sources[place] for place in places]
        prompt, model = self._prompts.long, self._model()
        if isinstance(prompt, VerbatimPrompt):
            reply = await model.complete(_verbatim(prompt, self._prompts.examples, item, sources))
            if isinstance(reply, CallFailure):
                return reply
            claims = _cited(item.id, reply.text, sources)
        else:
            turns = [
                message
                for example in self._prompts.examples
                for message in (
                    *prompt.filled(_given(example.question, example.answer, example.shown))[-1:],
                    Message("assistant", _reply(example)),
                )
            ]
            system, user = prompt.filled(_given(item.question, item.answer, sources))
            request = ChatRequest((system, *turns, user), max_tokens=model.settings.reply_tokens)
            found = await model.parsed(request, _Long)
            if isinstance(found, CallFailure):
                return found
            claims = [(sentence.sentence, sentence.sources) for sentence in found.value.sentences]
        # A number beyond the sources stays beyond those of the example.
        beyond = len(every.sources)
        return [
            (text, [places[number - 1] + 1 if 1 <= number <= len(places) else beyond + 1 for number in numbers])
            for text, numbers in claims
        ]

    async def _sources(self, item: MadeFrom) -> tuple[str, list[str]] | CallFailure:
        positive = await self._one(self._prompts.positive, item, _Text)
        if isinstance(positive, CallFailure):
            return positive
        negative = await self._one(self._prompts.negative, item, _Two)
        return negative if isinstance(negative, CallFailure) else (positive[0], negative)

    async def _one(self, prompt: Prompt | VerbatimPrompt, item: MadeFrom, kind: type[_Text | _Two]) -> Any:
        plain = {"reference": item.sources[0].text, "statement": item.answer}
        if isinstance(prompt, VerbatimPrompt):
            reply = await self._model().complete(prompt.request(plain))
            if isinstance(reply, CallFailure):
                return reply
            return [reply.text.strip()] if kind is _Text else _parted(reply.text)
        given = {name: as_block(name, text) for name, text in plain.items()}
        request = ChatRequest(prompt.filled(given), max_tokens=self._model().settings.reply_tokens)
        found = await self._model().parsed(request, kind)
        return found if isinstance(found, CallFailure) else list(found.value.model_dump().values())

    def _shown(self, item: MadeFrom) -> MadeFrom:
        """Return the item with the gold sources and as many others as fit, in random order."""
        draw = random.Random(f"{self._seed}|{item.id}")
        others = [place for place in range(len(item.sources)) if place not in item.gold]
        gold = list(item.gold)[:SOURCES]
        chosen = gold + draw.sample(others, min(len(others), SOURCES - len(gold)))
        draw.shuffle(chosen)
        places = tuple(place for place, source in enumerate(chosen) if source in gold)
        return item._replace(sources=tuple(item.sources[place] for place in chosen), gold=places)

    def _entailed(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return the probability that each text entails its sentence; 0 for failed judgements."""
        judgements = ask(self._judge, [Pair(text, sentence) for text, sentence in pairs])
        return [
            0.0 if judgement.failure is not None else float(judgement.probabilities[ENTAILS])
            for judgement in judgements
        ]

    def _checked_long(self, item: MadeFrom, sentences: Sequence[tuple[str, list[int]]]) -> MadeExamples:
        shown = self._shown(item)
        rejected: Counter[str] = Counter()
        usable: list[tuple[str, list[int]]] = []
        for text, numbers in sentences:
            if self._checks and (not numbers or len(text.split()) < 3):
                rejected["it cites nothing" if not numbers else "it is no sentence"] += 1
            elif not all(1 <= number <= len(shown.sources) for number in numbers):
                rejected["it cites a source that there is not"] += 1
            else:
                usable.append((text, sorted(set(numbers))))
        told = [(_told(shown.sources, numbers), text) for text, numbers in usable]
        probabilities = self._entailed(told) if self._checks else [1.0] * len(told)
        examples: list[AttributionExample] = []
        for number, ((text, numbers), likely) in enumerate(zip(usable, probabilities, strict=True)):
            if likely < ENTAILED:
                rejected["its sources do not entail it"] += 1
            else:
                unknown = self._doubtful(text, shown.sources, numbers) if self._checks else ()
                supports = [place for place in numbers if place not in unknown]
                example = self._example(item, f"{item.id}:{number}", text, shown.sources, supports, "long")
                examples.append(example.model_copy(update={"unknown": unknown}))
        return MadeExamples(id=item.id, examples=tuple(examples), rejected=dict(rejected))

    def _doubtful(self, text: str, sources: Sequence[ExampleSource], numbers: Sequence[int]) -> tuple[int, ...]:
        """Return the sources that may or may not support a sentence that the cited ones entail together.

        These are uncited sources that entail it anyway, and cited sources that do not entail it and that it does not
        need in addition to the others. Small models cite everything that they were shown.
        """
        places = range(1, len(sources) + 1)
        alone = dict(zip(places, self._entailed([(_told(sources, [number]), text) for number in places]), strict=True))
        needless: set[int] = set()
        # One at a time: of two sources that can replace each other, one is needed.
        for number in numbers:
            rest = [other for other in numbers if other != number and other not in needless]
            if rest and alone[number] < ENTAILED and self._entailed([(_told(sources, rest), text)])[0] >= ENTAILED:
                needless.add(number)
        return tuple(
            number for number in places if number in needless or (number not in numbers and alone[number] >= ENTAILED)
        )

    def _checked_sources(self, item: MadeFrom, reply: tuple[str, list[str]]) -> MadeExamples:
        positive, negatives = reply
        rejected: Counter[str] = Counter()
        texts = [positive, *negatives]
        likely = self._entailed([(text, item.answer) for text in texts])
        kept = [("reference", item.sources[0].text, True)]
        copied = [_copied(text, item) for text in texts]
        if copied[0]:
            rejected["the source in other words is a copy"] += 1
        elif likely[0] >= ENTAILED:
            kept.append(("other words", positive, True))
        else:
            rejected["the source in other words does not entail it"] += 1
        for place, text in enumerate(negatives, start=1):
            if copied[place]:
                rejected["a source of the same topic is a copy"] += 1
            elif likely[place] < ENTAILED:
                kept.append((f"same topic {place}", text, False))
            else:
                rejected["a source of the same topic entails it"] += 1
        if len(negatives) < 2:
            rejected["there are not two sources of the same topic"] += 1
        if len(kept) < 2:
            return MadeExamples(id=item.id, rejected=dict(rejected))
        random.Random(f"{self._seed}|{item.id}").shuffle(kept)
        sources = tuple(ExampleSource(id=name, text=text) for name, text, _ in kept)
        supports = [number for number, (_, _, holds) in enumerate(kept, start=1) if holds]
        example = self._example(item, item.id, item.answer, sources, supports, "sources")
        return MadeExamples(id=item.id, examples=(example,), rejected=dict(rejected))

    def _shortened(self, item: MadeFrom) -> MadeExamples:
        shown = self._shown(item)
        text = f"{item.question.rstrip('?. ')}: {item.answer.rstrip('.')}."
        example = self._example(item, item.id, text, shown.sources, [place + 1 for place in shown.gold], "short")
        return MadeExamples(id=item.id, examples=(example,))

    def _example(
        self, item: MadeFrom, id: str, text: str, sources: Sequence[ExampleSource], supports: Sequence[int], kind: str
    ) -> AttributionExample:
        return AttributionExample(
            id=id,
            question=item.question or None,
            sentence=text.strip(),
            sources=tuple(sources),
            supports=tuple(supports),
            kind=kind,
            made_from=self._made_from,
            group=f"{self._made_from}:{item.id}",
        )


_COUNTS = ("no", "one", "two", "three", "four", "five")


def _count(sources: Sequence[ExampleSource]) -> str:
    return f"{_COUNTS[len(sources)]} numbered source{'s' * (len(sources) != 1)}"


def _given(question: str, answer: str, sources: Sequence[ExampleSource]) -> dict[str, str]:
    """Return the texts for our prompt; the number of sources is named."""
    shown = "\n\n".join(
        as_block(f"source_{number}", f"{source.title}\n{source.text}".strip())
        for number, source in enumerate(sources, start=1)
    )
    asked = {"question": as_block("question", question), "answer": as_block("answer", answer)}
    return {"count": _count(sources), "sources": shown, **asked}


def _verbatim(
    prompt: VerbatimPrompt, examples: Sequence[LongExample], item: MadeFrom, sources: Sequence[ExampleSource]
) -> ChatRequest:
    """Return the request of a verbatim prompt: each example and the item in its form, with instructions and all."""

    def filled(question: str, answer: str, shown: Sequence[ExampleSource], response: str) -> ChatRequest:
        plain = "\n\n".join(f"[{number}] {one.title}\n{one.text}" for number, one in enumerate(shown, start=1))
        asked = {"question": question, "answer": answer, "response": response, "count": _COUNTS[len(shown)]}
        return prompt.request({"sources": plain, **asked})

    request = filled(item.question, item.answer, sources, "")
    before = [filled(one.question, one.answer, one.shown, one.response).messages for one in examples]
    *others, last = request.messages
    if others:
        return replace(request, messages=(*(message for turns in before for message in turns), *others, last))
    text = "\n\n".join([*(message.text for turns in before for message in turns), last.text])
    return replace(request, messages=(Message(last.role, text),))


def _cited(id: str, text: str, sources: Sequence[ExampleSource]) -> list[tuple[str, list[int]]]:
    """Return the sentences of a text, each with the numbers that it cites."""
    claims = parse_answer(id, text.strip() or "-", [source.document for source in sources]).claims
    return [(claim.text, [citation.marker for citation in claim.citations]) for claim in claims]


def _reply(example: LongExample) -> str:
    """Return an example's response in the form that our prompt asks for."""
    sentences = [
        {"sentence": text, "sources": numbers} for text, numbers in _cited("", example.response, example.shown)
    ]
    return json.dumps({"sentences": sentences}, ensure_ascii=False)


def _copied(text: str, item: MadeFrom) -> bool:
    """Whether the text only repeats the reference, a part of it, or the statement."""
    own, *given = (" ".join(re.findall(r"\w+", part.lower())) for part in (text, item.sources[0].text, item.answer))
    return any(own in words for words in given)


def _told(sources: Sequence[ExampleSource], numbers: Iterable[int]) -> str:
    return " ".join(f"{sources[number - 1].title}. {sources[number - 1].text}".lstrip(". ") for number in numbers)


_OUTPUT = re.compile(r"^#*\s*output\s*\d\s*:?\s*$", re.IGNORECASE | re.MULTILINE)


def _parted(text: str) -> list[str]:
    """Split a reply into its two paragraphs, by headings or by empty lines."""
    parts = [part.strip() for part in _OUTPUT.split(text)]
    parts = parts if sum(map(bool, parts)) > 1 else [part.strip() for part in re.split(r"\n\s*\n", text)]
    return [part for part in parts if part][:2]


@dataclass(frozen=True)
class MadeCounts:
    """The counts of a run."""

    items: int
    examples: int
    before: int
    rejected: dict[str, int]
    failed: dict[str, str]


def make_examples(
    items: Sequence[MadeFrom],
    form: Form,
    maker: Maker,
    out: Path,
    settings: Mapping[str, Any],
    report: Callable[[int], None] = lambda _: None,
) -> MadeCounts:
    """Make the missing examples and write ``OUT/examples.jsonl``. An interrupted run continues.

    The next run asks again for items that failed; cached replies cost nothing.

    Raises:
        InputError: OUT belongs to another run, or another process is working there.
    """
    _refuse_doubles(items)
    digest = hashlib.sha256(repr([tuple(item) for item in items]).encode()).hexdigest()[:16]
    job = Job.in_folder(out, {**settings, "form": form, "items": digest}, "attribution data")
    lines = Lines(out / MADE, MadeExamples)
    with job.open():
        known = {made.id: made for made in lines.read()}
        before = len(known)
        waiting = [item for item in items if item.id not in known]
        failed: dict[str, str] = {}
        for number, made in enumerate(maker.each(waiting, form), start=1):
            if made.failed is not None:
                failed[made.id] = made.failed
            else:
                lines.append([made])
                known[made.id] = made
            report(before + number)
        every = [example for item in items if item.id in known for example in known[item.id].examples]
        write_whole(out / EXAMPLES, (as_line(example) + "\n" for example in every))
        rejected = sum((Counter(made.rejected) for made in known.values()), Counter[str]())
        job.note({"finished": not failed, "examples": len(every), "rejected": dict(rejected), "failed": failed})
    return MadeCounts(len(items), len(every), before, dict(rejected), failed)


def _refuse_doubles(items: Sequence[MadeFrom]) -> None:
    for id, count in Counter(item.id for item in items).most_common(1):
        if count > 1:
            raise InputError(f"expected different ids; found {id} {count} times. Give each record its own id.")
