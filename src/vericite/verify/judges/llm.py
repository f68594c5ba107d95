"""Language models as judges: asked for a label, or for the probabilities of the labels' letters."""

from __future__ import annotations

import math
import re
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, create_model

from vericite.errors import InputError
from vericite.llm import LLM, CallFailure, ChatRequest, Completion, Ledger, Message
from vericite.llm.chat import Alternative, as_block
from vericite.llm.prompts import Prompt, expect_known_slots, fill, read_prompt, signed, slots
from vericite.llm.replies import MORE_ROOM, parse
from vericite.llm.verbatim import Turn, expect_slots, fill_turns, is_verbatim, sign_verbatim, with_turns
from vericite.models.contracts import COLUMNS, Judgement, Pair

_FOLDER = Path(__file__).parent / "prompts"


@dataclass(frozen=True)
class LabelMeaning:
    """What a label says, and the column of a judge's probabilities that it stands for."""

    column: Literal["entails", "contradicts", "neutral"]
    meaning: str = ""


_LETTERS = string.ascii_uppercase
_AS_LABEL = 'Answer with one JSON object and nothing else: {"label": "..."}, with one of the labels above.'
_AS_LETTER = "Answer with the letter of one label above and nothing else: {letters}."

_ALTERNATIVES = 20
"""First tokens to be told of: as many as services allow."""

_LEAST_MASS = 0.01
"""Of the probability, the letters have at least so much together; else the model answers something else."""

_IN_VAIN = 3
"""Pairs in a row without any letter, after which the model is no longer asked for one."""


@dataclass(frozen=True)
class JudgePrompt(Prompt):
    """A question put to a language model whose answer is one of a few labels.

    It has the slots ``{labels}`` in ``system``, ``{reference}`` and ``{claim}`` in ``user``, and ``{question}`` there
    where the user's question is shown. ``{answer}`` in ``system`` is where it is told how to answer: with a label in
    JSON, or with the letter of one; a prompt without it can only be answered as it says itself, by a label.
    """

    labels: Mapping[str, LabelMeaning] = field(default_factory=dict[str, LabelMeaning])

    @cached_property
    def columns(self) -> dict[str, int]:
        """The column of each label."""
        return {label: COLUMNS.index(item.column) for label, item in self.labels.items()}

    @property
    def reads_question(self) -> bool:
        """Whether the user's question is shown."""
        return "question" in slots(self.user)

    @property
    def has_letters(self) -> bool:
        """Whether it can be answered by the letter of a label."""
        return "answer" in slots(self.system) and len(self.labels) <= len(_LETTERS)

    @property
    def letters(self) -> dict[str, str]:
        """The label of each letter."""
        return dict(zip(_LETTERS, self.labels, strict=False))

    @property
    def signature(self) -> str:
        """Name, version and hash of all that is fixed in it."""
        return self.signed_as(by_letter=False)

    def signed_as(self, by_letter: bool) -> str:
        """The signature of the prompt answered in one of the ways."""
        system, user = self.messages(Pair("", "", ""), by_letter)
        name = f"{self.name}(letters)" if by_letter else self.name
        return signed(name, f"{system.text}{system.text}\n{user.text}")

    def messages(self, pair: Pair, by_letter: bool = False) -> tuple[Message, Message]:
        """The prompt for a pair.

        Tags and a model's control tokens in its texts are made harmless, so that no text can end its own block or
        open a turn of the conversation.
        """
        if by_letter:
            listed = [f"{letter}. {label}: {self.labels[label].meaning}" for letter, label in self.letters.items()]
            answer = fill(_AS_LETTER, {"letters": ", ".join(self.letters)})
        else:
            listed = [f"- {label}: {item.meaning}" for label, item in self.labels.items()]
            answer = _AS_LABEL
        return self.filled(
            {
                "labels": "\n".join(listed),
                "answer": answer,
                "question": "" if pair.question is None else as_block("question", pair.question),
                "reference": as_block("reference", pair.premise),
                "claim": as_block("claim", pair.claim),
            }
        )

    @cached_property
    def reply(self) -> type[BaseModel]:
        """The shape of an answer: one of the labels."""
        one_of: Any = Literal[tuple(self.columns)]
        return create_model("Answer", __config__=ConfigDict(extra="forbid"), label=(one_of, ...))

    def label_in(self, text: str) -> str | None:
        """The label of a reply that was to be a letter, or is the label in JSON all the same."""
        try:
            return getattr(parse(text, self.reply), "label")  # noqa: B009
        except ValueError:
            return self.letters.get(_letter_of(text))

    def read(self, alternatives: Sequence[Alternative]) -> Judgement | None:
        """The judgement that the likeliest first tokens come to; None where they are no letters of labels."""
        mass = dict.fromkeys(self.labels, 0.0)
        for token, logprob in alternatives:
            if label := self.letters.get(_letter_of(token)):
                mass[label] += math.exp(min(logprob, 0.0))
        total = sum(mass.values())
        if total < _LEAST_MASS:
            return None
        found = np.zeros(len(COLUMNS))
        for label, share in mass.items():
            found[self.columns[label]] += share / total
        best = int(found.argmax())
        native = max((label for label in mass if self.columns[label] == best), key=lambda label: mass[label])
        return Judgement(found.astype(np.float32), native=native)


@dataclass(frozen=True)
class VerbatimJudgePrompt:
    """A question to a language model that is sent word for word, and whose reply is read for one of the labels.

    Its slots are ``{claim}``, ``{reference}`` and ``{question}``, filled with the bare texts.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    name: str
    about: str
    turns: tuple[Turn, ...]
    labels: Mapping[str, LabelMeaning]
    source: str = ""
    verbatim: Literal[True] = True
    temperature: float | None = 0.0
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        expect_slots(self.name, self.turns, ["claim"])
        if len(self.labels) < 2:
            raise InputError(
                f"expected prompt {self.name} to have two labels or more; found {len(self.labels)}. Add it."
            )

    @property
    def columns(self) -> dict[str, int]:
        """The column of each label."""
        return {label: COLUMNS.index(item.column) for label, item in self.labels.items()}

    @property
    def reads_question(self) -> bool:
        """Whether the user's question is shown."""
        return any("{question}" in turn.text for turn in self.turns)

    @property
    def signature(self) -> str:
        """Name, version, that it is verbatim, and the hash of all that is fixed in it."""
        turns = [[turn.role, turn.text] for turn in self.turns]
        return sign_verbatim(self.name, [turns, {label: item.column for label, item in self.labels.items()}])

    def messages(self, pair: Pair) -> tuple[Message, ...]:
        """What is sent for a pair."""
        given = {"claim": pair.claim, "reference": pair.premise, "question": pair.question or ""}
        return fill_turns(self.turns, given)

    def label_in(self, reply: str) -> str | None:
        """The label that a reply says; None where it says none, or several.

        A label within a longer one ("attributable" in "not attributable") is not said.
        """
        ordered = sorted(self.labels, key=len, reverse=True)
        said = {_bare(label): label for label in ordered}
        if (whole := said.get(_bare(reply))) is not None:
            return whole
        inside = re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, said)) + r")(?!\w)")
        found = {said[label] for label in inside.findall(_bare(reply))}
        return found.pop() if len(found) == 1 else None


def _bare(text: str) -> str:
    return " ".join(re.sub(r"[\W_]+", " ", text).split()).casefold()


def load_judge_prompt(path: Path) -> JudgePrompt | VerbatimJudgePrompt:
    """The prompt for judges in a file.

    Raises:
        InputError: It is not there, or no such prompt.
    """
    if is_verbatim(path):
        return read_prompt(path, VerbatimJudgePrompt, with_turns)
    found = read_prompt(path, JudgePrompt)
    expect_known_slots(str(path), "system", found.system, ("labels",), ("answer", "question", "reference", "claim"))
    expect_known_slots(str(path), "user", found.user, ("claim", "reference"), ("question", "labels", "answer"))
    if len(found.labels) < 2:
        raise InputError(f"expected prompt {path} to have two labels or more; found {len(found.labels)}. Add them.")
    return found


PROMPTS = {path.stem: read_prompt(path, JudgePrompt) for path in sorted(_FOLDER.glob("*.toml"))}
"""The prompts there are: BioACE's binary, ternary and nugget ones, and Reason and Verify's."""


class LlmJudge:
    """Asks a language model for one of a prompt's labels, at temperature 0.

    With ``probabilities`` it is asked for the letter of a label, and the probabilities that it gives to the letters are
    read. Where the service does not tell them, or the model answers something else, it is asked for the label, and the
    judgement says so and is not ``graded``. A model asked in vain for some pairs is only asked for labels from then on.

    An answer that cannot be read, after one request to repair it, is a failed judgement with the answer kept.

    Args:
        llm: The model.
        prompt: The question.
        probabilities: Whether to read the probabilities of labels; without, it says a label alone.
    """

    def __init__(self, llm: LLM, prompt: JudgePrompt | VerbatimJudgePrompt, probabilities: bool = True) -> None:
        self.llm = llm
        self.prompt = prompt
        self._in_vain = 0
        by_letter = probabilities and isinstance(prompt, JudgePrompt) and prompt.has_letters
        # This service has no way to ask.
        self.graded = by_letter and llm.spec.provider != "anthropic"

    @property
    def signature(self) -> str:
        """The prompt's name, version and hash, and the model's name."""
        prompt = self.prompt
        temperature = prompt.temperature if isinstance(prompt, VerbatimJudgePrompt) else 0.0
        at = "own" if temperature is None else f"{temperature:g}"
        signature = prompt.signed_as(self.graded) if isinstance(prompt, JudgePrompt) else prompt.signature
        return f"{signature}:{self.llm.signature}(temperature={at})"

    @property
    def pairs_at_once(self) -> int:
        """Enough to keep the model busy, few enough to see answers come."""
        return 16 * self.llm.concurrency

    @property
    def reads_question(self) -> bool:
        """As the prompt says."""
        return self.prompt.reads_question

    @property
    def ledger(self) -> Ledger:
        """What was asked so far, and what it cost."""
        return self.llm.ledger

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """One call a pair, several at a time."""
        return self.llm.each(pairs, self._one)

    async def _one(self, pair: Pair) -> Judgement:
        prompt = self.prompt
        if isinstance(prompt, VerbatimJudgePrompt):
            return await self._as_it_stands(prompt, pair)
        if not self.graded:
            return await self._label(prompt, pair)
        found = await self._letter(prompt, pair) if self._in_vain < _IN_VAIN else None
        judgement = await self._label(prompt, pair) if found is None else found
        if judgement.failure is not None or judgement.graded:
            return judgement
        return judgement._replace(note="; ".join(filter(None, (_NO_PROBABILITIES, judgement.note))))

    async def _letter(self, prompt: JudgePrompt, pair: Pair) -> Judgement | None:
        """The judgement by letters' probabilities, or the label that was said without any; None where neither came."""
        request = ChatRequest(prompt.messages(pair, by_letter=True), max_tokens=1, alternatives=_ALTERNATIVES)
        reply = await self.llm.complete(request)
        if isinstance(reply, CallFailure):
            # A model that thinks first does not come to its first word; else asking otherwise would fail alike.
            if MORE_ROOM not in reply.reason:
                return Judgement.failed(reply.reason, reply.raw)
            self._in_vain += 1
            return None
        found = prompt.read(reply.alternatives)
        if found is None and (label := prompt.label_in(reply.text)) is not None:
            found = Judgement.certain(prompt.columns[label], label)
        self._in_vain = 0 if found is not None else self._in_vain + 1
        return None if found is None else _with_temperature(found, reply)

    async def _label(self, prompt: JudgePrompt, pair: Pair) -> Judgement:
        request = ChatRequest(prompt.messages(pair), max_tokens=self.llm.settings.reply_tokens)
        found = await self.llm.parsed(request, prompt.reply)
        if isinstance(found, CallFailure):
            return Judgement.failed(found.reason, found.raw)
        label: str = getattr(found.value, "label")  # noqa: B009
        return _with_temperature(Judgement.certain(prompt.columns[label], label), found.completion)

    async def _as_it_stands(self, prompt: VerbatimJudgePrompt, pair: Pair) -> Judgement:
        """Asked once: whoever asks again asks something else."""
        room = prompt.max_tokens or self.llm.settings.reply_tokens
        reply = await self.llm.complete(ChatRequest(prompt.messages(pair), room, prompt.temperature))
        if isinstance(reply, CallFailure):
            return Judgement.failed(reply.reason, reply.raw)
        label = prompt.label_in(reply.text)
        if label is None:
            wanted = ", ".join(prompt.labels)
            return Judgement.failed(f"expected one of {wanted}; found none of them, or several", reply.text)
        return _with_temperature(Judgement.certain(prompt.columns[label], label), reply)


def _with_temperature(judgement: Judgement, reply: Completion) -> Judgement:
    own = "temperature" in reply.without
    return judgement._replace(note="the model takes no temperature: it was asked at its own") if own else judgement


_NO_PROBABILITIES = "a label without probabilities: the model does not tell them"


def _letter_of(text: str) -> str:
    """A letter without what models put around it."""
    return text.strip().strip("*().\"'`").upper()
