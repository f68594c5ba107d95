"""Language models as judges: asked for a label, or for the probabilities of the labels' letters."""

from __future__ import annotations

import math
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
from vericite.llm.verbatim import Turn, expect_slots, fill_turns, find_label, is_verbatim, sign_verbatim, with_turns
from vericite.models.contracts import COLUMNS, Judgement, Pair

_FOLDER = Path(__file__).parent / "prompts"


@dataclass(frozen=True)
class LabelMeaning:
    """Meaning of a label, and its column of probabilities."""

    column: Literal["entails", "contradicts", "neutral"]
    meaning: str = ""


_LETTERS = string.ascii_uppercase
_AS_LABEL = 'Answer with one JSON object and nothing else: {"label": "..."}, with one of the labels above.'
_AS_LETTER = "Answer with the letter of one label above and nothing else: {letters}."

_ALTERNATIVES = 20
"""Number of first tokens to request: the maximum of most services."""

_LEAST_MASS = 0.01
"""Minimum total probability of the letters; below it, the model is answering something else."""

_IN_VAIN = 3
"""After this number of consecutive pairs without any letter, the model is no longer asked for one."""


@dataclass(frozen=True)
class JudgePrompt(Prompt):
    """A question for a language model with a few labels as possible answers.

    Its slots are ``{labels}`` in ``system``, ``{reference}`` and ``{claim}`` in ``user``, and optionally ``{question}``
    in ``user`` for the user's question. ``{answer}`` in ``system`` is replaced by the form of the answer: a label in
    JSON, or the letter of a label. A prompt without it can only be answered in its own way, by a label.
    """

    labels: Mapping[str, LabelMeaning] = field(default_factory=dict[str, LabelMeaning])

    @cached_property
    def columns(self) -> dict[str, int]:
        """The column of each label."""
        return {label: COLUMNS.index(item.column) for label, item in self.labels.items()}

    @property
    def reads_question(self) -> bool:
        """Whether the prompt shows the user's question."""
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
        """Name, version and hash of all fixed text."""
        return self.signed_as(by_letter=False)

    def signed_as(self, by_letter: bool) -> str:
        """Return the signature of the prompt for one form of answer."""
        system, user = self.messages(Pair("", "", ""), by_letter)
        name = f"{self.name}(letters)" if by_letter else self.name
        return signed(name, f"{system.text}{system.text}\n{user.text}")

    def messages(self, pair: Pair, by_letter: bool = False) -> tuple[Message, Message]:
        """Fill the prompt for a pair.

        Tags and control tokens in the texts are neutralized, so that no text can end its own block or start a turn of
        the conversation.
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
        """The schema of an answer: one of the labels."""
        one_of: Any = Literal[tuple(self.columns)]
        return create_model("Answer", __config__=ConfigDict(extra="forbid"), label=(one_of, ...))

    def label_in(self, text: str) -> str | None:
        """Return the label of a reply that should be a letter, or is the label in JSON after all."""
        try:
            return getattr(parse(text, self.reply), "label")  # noqa: B009
        except ValueError:
            return self.letters.get(_letter_of(text))

    def read(self, alternatives: Sequence[Alternative]) -> Judgement | None:
        """Convert the likeliest first tokens to a judgement; None if they are not letters of labels."""
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
    """A question for a language model that is sent word for word. Its reply is searched for one of the labels.

    Its slots are ``{claim}``, ``{reference}`` and ``{question}``, filled with the unmodified texts.
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
                f"expected prompt {self.name} to have at least two labels; found {len(self.labels)}. Add it."
            )

    @property
    def columns(self) -> dict[str, int]:
        """The column of each label."""
        return {label: COLUMNS.index(item.column) for label, item in self.labels.items()}

    @property
    def reads_question(self) -> bool:
        """Whether the prompt shows the user's question."""
        return any("{question}" in turn.text for turn in self.turns)

    @property
    def signature(self) -> str:
        """Name, version, the word verbatim, and the hash of all fixed text."""
        turns = [[turn.role, turn.text] for turn in self.turns]
        return sign_verbatim(self.name, [turns, {label: item.column for label, item in self.labels.items()}])

    def messages(self, pair: Pair) -> tuple[Message, ...]:
        """Fill the prompt for a pair."""
        given = {"claim": pair.claim, "reference": pair.premise, "question": pair.question or ""}
        return fill_turns(self.turns, given)

    def label_in(self, reply: str) -> str | None:
        """Return the label in a reply; None if it has none, or several."""
        return find_label(self.labels, reply)


def load_judge_prompt(path: Path) -> JudgePrompt | VerbatimJudgePrompt:
    """Read a judge's prompt from a file.

    Raises:
        InputError: The file does not exist, or is not such a prompt.
    """
    if is_verbatim(path):
        return read_prompt(path, VerbatimJudgePrompt, with_turns)
    found = read_prompt(path, JudgePrompt)
    expect_known_slots(str(path), "system", found.system, ("labels",), ("answer", "question", "reference", "claim"))
    expect_known_slots(str(path), "user", found.user, ("claim", "reference"), ("question", "labels", "answer"))
    if len(found.labels) < 2:
        raise InputError(f"expected prompt {path} to have at least two labels; found {len(found.labels)}. Add them.")
    return found


PROMPTS = {path.stem: read_prompt(path, JudgePrompt) for path in sorted(_FOLDER.glob("*.toml"))}
"""The bundled prompts: BioACE's binary, ternary and nugget ones, and Reason and Verify's."""


class LlmJudge:
    """Asks a language model for one of a prompt's labels, at temperature 0.

    With ``probabilities``, it is asked for the letter of a label, and the probabilities of the letters are read. If the
    service does not return them, or the model answers something else, it is asked for the label instead; the judgement
    then has a note and is not ``graded``. After several such pairs the model is only asked for labels.

    An answer that cannot be parsed, after one request to repair it, is a failed judgement that keeps the answer.

    Args:
        llm: The model.
        prompt: The question.
        probabilities: Whether to read the probabilities of labels; otherwise it returns labels only.
    """

    def __init__(self, llm: LLM, prompt: JudgePrompt | VerbatimJudgePrompt, probabilities: bool = True) -> None:
        self.llm = llm
        self.prompt = prompt
        self._in_vain = 0
        by_letter = probabilities and isinstance(prompt, JudgePrompt) and prompt.has_letters
        # This service cannot return probabilities.
        self.graded = by_letter and llm.spec.provider != "anthropic"

    @property
    def signature(self) -> str:
        """Name, version and hash of the prompt, and the model's name."""
        prompt = self.prompt
        temperature = prompt.temperature if isinstance(prompt, VerbatimJudgePrompt) else 0.0
        at = "own" if temperature is None else f"{temperature:g}"
        signature = prompt.signed_as(self.graded) if isinstance(prompt, JudgePrompt) else prompt.signature
        return f"{signature}:{self.llm.signature}(temperature={at})"

    @property
    def pairs_at_once(self) -> int:
        """Enough to keep the model busy, few enough that results keep coming."""
        return 16 * self.llm.concurrency

    @property
    def reads_question(self) -> bool:
        """Whether the prompt shows the user's question."""
        return self.prompt.reads_question

    @property
    def ledger(self) -> Ledger:
        """Calls made so far and their cost."""
        return self.llm.ledger

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """Make one call per pair, several at a time."""
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
        """Ask for a letter. Return the judgement by probabilities or by the label alone; None if neither came."""
        request = ChatRequest(prompt.messages(pair, by_letter=True), max_tokens=1, alternatives=_ALTERNATIVES)
        reply = await self.llm.complete(request)
        if isinstance(reply, CallFailure):
            # A model that thinks first does not reach its first word; other failures would happen for labels too.
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
        """Ask only once: a request to correct the reply would be a different prompt."""
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
    """Return a letter without the characters that models put around it."""
    return text.strip().strip("*().\"'`").upper()
