"""Language models as judges."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, create_model

from vericite.errors import InputError
from vericite.llm import LLM, CallFailure, ChatRequest, Completion, Ledger, Message
from vericite.llm.chat import as_block
from vericite.llm.prompts import Prompt, read_prompt, signed, slots
from vericite.llm.verbatim import Turn, expect_slots, fill_turns, is_verbatim, sign_verbatim, with_turns
from vericite.models.contracts import COLUMNS, Judgement, Pair

_FOLDER = Path(__file__).parent / "prompts"


@dataclass(frozen=True)
class LabelMeaning:
    """What a label says, and the column of a judge's probabilities that it stands for."""

    column: Literal["entails", "contradicts", "neutral"]
    meaning: str = ""


@dataclass(frozen=True)
class JudgePrompt(Prompt):
    """A question put to a language model whose answer is one of a few labels.

    It has the slots ``{labels}`` in ``system``, ``{reference}`` and ``{claim}`` in ``user``, and ``{question}`` there
    where the user's question is shown.
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
    def signature(self) -> str:
        """Name, version and hash of all that is fixed in it."""
        system, user = self.messages(Pair("", "", ""))
        return signed(self.name, f"{system.text}{system.text}\n{user.text}")

    def messages(self, pair: Pair) -> tuple[Message, Message]:
        """The prompt for a pair.

        Tags and a model's control tokens in its texts are made harmless, so that no text can end its own block or
        open a turn of the conversation.
        """
        return self.filled(
            {
                "labels": "\n".join(f"- {label}: {item.meaning}" for label, item in self.labels.items()),
                "question": "" if pair.question is None else as_block("question", pair.question),
                "reference": as_block("reference", pair.premise),
                "claim": as_block("claim", pair.claim),
            }
        )


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
    for slot, part in (("labels", found.system), ("claim", found.user), ("reference", found.user)):
        if slot not in slots(part):
            raise InputError(f"expected prompt {path} to have the slot {{{slot}}}; found none. Add it.")
    if len(found.labels) < 2:
        raise InputError(f"expected prompt {path} to have two labels or more; found {len(found.labels)}. Add them.")
    return found


PROMPTS = {path.stem: read_prompt(path, JudgePrompt) for path in sorted(_FOLDER.glob("*.toml"))}
"""The prompts there are: BioACE's binary, ternary and nugget ones, and Reason and Verify's."""


class LlmJudge:
    """Asks a language model for one of a prompt's labels, at temperature 0.

    An answer that cannot be read, after one request to repair it, is a failed judgement with the answer kept.
    """

    graded = False
    """It says a label and no probabilities."""

    def __init__(self, llm: LLM, prompt: JudgePrompt | VerbatimJudgePrompt) -> None:
        self.llm = llm
        self.prompt = prompt
        self._kind = None if isinstance(prompt, VerbatimJudgePrompt) else _answer_of(prompt)

    @property
    def signature(self) -> str:
        """The prompt's name, version and hash, and the model's name."""
        prompt = self.prompt
        temperature = prompt.temperature if isinstance(prompt, VerbatimJudgePrompt) else 0.0
        at = "own" if temperature is None else f"{temperature:g}"
        return f"{prompt.signature}:{self.llm.signature}(temperature={at})"

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
        if isinstance(self.prompt, VerbatimJudgePrompt):
            return await self._as_it_stands(self.prompt, pair)
        assert self._kind is not None
        request = ChatRequest(self.prompt.messages(pair), max_tokens=self.llm.settings.reply_tokens)
        found = await self.llm.parsed(request, self._kind)
        if isinstance(found, CallFailure):
            return Judgement.failed(found.reason, found.raw)
        label: str = getattr(found.value, "label")  # noqa: B009
        return self._said(label, found.completion)

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
        return self._said(label, reply)

    def _said(self, label: str, reply: Completion) -> Judgement:
        judgement = Judgement.certain(self.prompt.columns[label], label)
        if "temperature" in reply.without:
            return judgement._replace(note="the model takes no temperature: it was asked at its own")
        return judgement


def _answer_of(prompt: JudgePrompt) -> type[BaseModel]:
    """The shape of an answer: one of the prompt's labels."""
    one_of: Any = Literal[tuple(prompt.columns)]
    return create_model("Answer", __config__=ConfigDict(extra="forbid"), label=(one_of, ...))
