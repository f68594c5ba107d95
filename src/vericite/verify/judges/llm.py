"""Language models as judges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, create_model

from vericite.llm import LLM, CallFailure, ChatRequest, Ledger
from vericite.models import Pair
from vericite.verify.judges.prompts import Prompt
from vericite.verify.judging import Judgement


class LlmJudge:
    """Asks a language model for one of a prompt's labels, at temperature 0.

    An answer that cannot be read, after one request to repair it, is a failed judgement with the answer kept.
    """

    graded = False
    """It says a label and no probabilities."""

    def __init__(self, llm: LLM, prompt: Prompt) -> None:
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
        said = Judgement.certain(self.prompt.columns[label], label)
        if "temperature" in found.completion.without:
            return said._replace(note="the model takes no temperature: it was asked at its own")
        return said


def _answer_of(prompt: Prompt) -> type[BaseModel]:
    """The shape of an answer: one of the prompt's labels."""
    one_of: Any = Literal[tuple(prompt.columns)]
    return create_model("Answer", __config__=ConfigDict(extra="forbid"), label=(one_of, ...))
