"""A sentence written anew by a language model from the evidence; what it writes counts only once it is verified."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter

from vericite.generate.prompt import Shown
from vericite.generate.room import fitted, tokens_of
from vericite.llm import LLM, CallFailure, ChatRequest, Ledger, Message
from vericite.llm.chat import canonical
from vericite.llm.local import CONTEXT
from vericite.llm.quoting import as_block, as_data
from vericite.pipeline.repair.editing import stands_alone
from vericite.pipeline.repair.proposing import Proposal, Wound
from vericite.records import Evidence
from vericite.text.instructions import instructs
from vericite.verify.likeness import shared

FILE = Path(__file__).parent / "rewrite.toml"

ABOUT = 0.2
"""Share of a sentence's words, rare ones counting more, that a rewritten one must have: else it says something else."""

_MOST_WORDS = 60
_SLOT = re.compile(r"\{(question|documents|sentence|problem)\}")


@dataclass(frozen=True)
class RewritePrompt:
    """How a language model is asked, as its file has it."""

    __pydantic_config__ = ConfigDict(extra="forbid", str_strip_whitespace=True)

    name: str
    version: int
    about: str
    system: str
    user: str
    temperature: float
    max_tokens: int

    @property
    def signature(self) -> str:
        """Name, version and hash of all that is fixed in it."""
        digest = hashlib.sha256(canonical([self.system, self.user, self.temperature]).encode()).hexdigest()[:12]
        return f"{self.name}.v{self.version}@{digest}"


@cache
def rewrite_prompt() -> RewritePrompt:
    """The prompt."""
    return TypeAdapter(RewritePrompt).validate_python(tomllib.loads(FILE.read_text("utf-8")))


class _Rewritten(BaseModel):
    """What a reply has to be."""

    model_config = ConfigDict(extra="forbid", strict=True)

    sentence: str
    sources: list[int]


class Rewriter:
    """Asks a language model for other words, one call a sentence.

    Args:
        llm: Which model.
        budget: Tokens of prompt and reply together; None is the context of models that run in this process.
    """

    def __init__(self, llm: LLM, budget: int | None = None) -> None:
        self.llm = llm
        self.budget = budget or CONTEXT

    @property
    def signature(self) -> str:
        """The prompt's name, version and hash, and the model's name."""
        return f"{rewrite_prompt().signature}:{self.llm.signature}"

    @property
    def ledger(self) -> Ledger:
        """What was asked so far, and what it cost."""
        return self.llm.ledger

    def propose(self, wounds: Sequence[Wound]) -> list[list[Proposal]]:
        """Several calls at a time; nothing where the model has nothing to say, or says nothing that can be used."""
        return list(self.llm.each(wounds, self._one))

    async def _one(self, wound: Wound) -> list[Proposal]:
        messages, shown = self._messages(wound)
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
        if not _is_mending(text, wound.claim.text):
            return []
        documents = tuple(wound.answer.documents[number - 1] for number in sorted(set(reply.value.sources)))
        return [Proposal("rewritten", text, documents, self.signature)]

    def _messages(self, wound: Wound) -> tuple[tuple[Message, ...], tuple[Shown, ...]]:
        """The prompt with as many sentences of the evidence as there is room for; retracted documents are not shown."""
        answer, prompt = wound.answer, rewrite_prompt()
        evidence = [
            Evidence(document=document, rank=_rank(wound, place), score=0.0, retriever="answer")
            for place, document in enumerate(answer.documents)
        ]
        given = {
            "question": as_block("question", answer.question) if answer.question else "(no question is known)",
            "sentence": as_block("sentence", wound.claim.text),
            "problem": as_data(wound.condition.why),
            "documents": "",
        }
        system = Message("system", prompt.system)
        taken = tokens_of((system, Message("user", _filled(prompt.user, given))))
        shown = fitted(evidence, self.budget - prompt.max_tokens - taken).shown
        given["documents"] = "\n".join(document.text for document in shown)
        return (system, Message("user", _filled(prompt.user, given))), shown


def _rank(wound: Wound, place: int) -> int:
    """What the sentence cites is shown for as long as there is room for anything."""
    cited = wound.answer.documents[place] in wound.cited
    return place + 1 + (0 if cited else len(wound.answer.documents))


def _filled(template: str, given: dict[str, str]) -> str:
    return _SLOT.sub(lambda match: given[match[1]], template)


def _is_mending(text: str, before: str) -> bool:
    """Whether a reply is one plain sentence about what the old one was about."""
    if not 3 <= len(text.split()) <= _MOST_WORDS or instructs(text) or not stands_alone(text):
        return False
    return float(shared(before, [text])[0]) >= ABOUT
