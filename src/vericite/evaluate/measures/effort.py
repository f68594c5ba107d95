"""What language models took for an answer: tokens and seconds, as runs record them."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from vericite.evaluate.items import Item
from vericite.evaluate.measures.measure import Family, Measure, Need, Parts, one
from vericite.records import Spent


@dataclass(frozen=True, repr=False)
class Effort(Measure):
    """The mean over questions of what their calls took.

    Missing where nothing is recorded, and where the answer was remembered, whose calls another run made.
    """

    family: ClassVar[Family] = "answer"
    needs: ClassVar[tuple[Need, ...]] = ("answer",)
    pooled: ClassVar[bool] = False
    share: ClassVar[bool] = False
    higher_is_better: ClassVar[bool | None] = None

    def parts(self, item: Item) -> Parts | None:
        """What it took; also for an answer that says that there is none."""
        spent = item.answer.spent if item.answer is not None else None
        return None if spent is None or not spent.calls else one(float(self.of_answer(spent)))

    @abstractmethod
    def of_answer(self, spent: Spent) -> float:
        """What is counted."""


class PromptTokens(Effort):
    """Tokens that a language model read for an answer.

    As the service counts them, over all calls for it: prompt, demonstrations and documents.
    """

    name = "PromptTokens"
    unit = "tokens"

    def of_answer(self, spent: Spent) -> float:
        """Tokens of prompts."""
        return spent.prompt_tokens


class ReplyTokens(Effort):
    """Tokens that a language model wrote for an answer.

    As the service counts them, over all calls for it.
    """

    name = "ReplyTokens"
    unit = "tokens"

    def of_answer(self, spent: Spent) -> float:
        """Tokens of replies."""
        return spent.completion_tokens


class AnswerSeconds(Effort):
    """Seconds that the calls for an answer took.

    Waits for a service or for other questions included; comparable between runs on one machine alone.
    """

    name = "AnswerSeconds"
    unit = "seconds"

    def of_answer(self, spent: Spent) -> float:
        """Seconds of calls."""
        return spent.seconds
