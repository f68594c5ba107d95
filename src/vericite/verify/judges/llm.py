"""Language models as judges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, create_model

from vericite.llm import LLM, CallFailure, ChatRequest, Ledger, Message
from vericite.llm.chat import as_block
from vericite.llm.prompts import Prompt, read_prompt, signed, slots
from vericite.models.contracts import COLUMNS, Judgement, Pair

_FOLDER = Path(__file__).parent / "prompts"


@dataclass(frozen=True)
class LabelMeaning:
    """What a label says, and the column of a judge's probabilities that it stands for."""

    column: Literal["entails", "contradicts", "neutral"]
    meaning: str


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


PROMPTS = {path.stem: read_prompt(path, JudgePrompt) for path in sorted(_FOLDER.glob("*.toml"))}
"""The prompts there are: BioACE's binary, ternary and nugget ones, and Reason and Verify's."""


class LlmJudge:
    """Asks a language model for one of a prompt's labels, at temperature 0.

    An answer that cannot be read, after one request to repair it, is a failed judgement with the answer kept.
    """

    graded = False
    """It says a label and no probabilities."""

    def __init__(self, llm: LLM, prompt: JudgePrompt) -> None:
        self.llm = llm
        self.prompt = prompt
        self._kind = _answer_of(prompt)

    @property
    def signature(self) -> str:
        """The prompt's name, version and hash, and the model's name."""
        return f"{self.prompt.signature}:{self.llm.signature}(temperature=0)"

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
        request = ChatRequest(self.prompt.messages(pair), max_tokens=self.llm.settings.reply_tokens)
        found = await self.llm.parsed(request, self._kind)
        if isinstance(found, CallFailure):
            return Judgement.failed(found.reason, found.raw)
        label: str = getattr(found.value, "label")  # noqa: B009
        judgement = Judgement.certain(self.prompt.columns[label], label)
        if "temperature" in found.completion.without:
            return judgement._replace(note="the model takes no temperature: it was asked at its own")
        return judgement


def _answer_of(prompt: JudgePrompt) -> type[BaseModel]:
    """The shape of an answer: one of the prompt's labels."""
    one_of: Any = Literal[tuple(prompt.columns)]
    return create_model("Answer", __config__=ConfigDict(extra="forbid"), label=(one_of, ...))
