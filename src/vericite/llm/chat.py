"""What is said to a language model and what comes back: values that know nothing of networks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from vericite.errors import InputError

CHARACTERS_PER_TOKEN = 4
"""For estimates only, where no server has counted: English runs at about four."""

Role = Literal["system", "user", "assistant"]


class Message(NamedTuple):
    """One turn of a conversation."""

    role: Role
    text: str


@dataclass(frozen=True)
class FrozenSchema:
    """A JSON schema that can be compared and hashed: it is held as canonical JSON.

    Attributes:
        text: The schema as JSON with sorted keys.
        name: What the service is told the reply is called.
    """

    text: str
    name: str = "reply"

    @classmethod
    def of(cls, schema: Mapping[str, Any], name: str = "reply") -> FrozenSchema:
        """Freeze a schema."""
        return cls(canonical(schema), name)

    @property
    def value(self) -> dict[str, Any]:
        """The schema as a fresh mapping."""
        return json.loads(self.text)


@dataclass(frozen=True)
class ChatRequest:
    """One question to a model. Equal requests to one model have one place in the cache.

    Attributes:
        messages: The conversation so far, the oldest first.
        max_tokens: Where the model has to stop.
        temperature: 0 for the likeliest reply; None for the service's own. To sample several replies from a cached
            model, vary ``seed``.
        top_p: Nucleus sampling, or None for the service's default.
        seed: For services that can repeat themselves.
        stop: Texts at which the reply ends.
        schema: A JSON schema the reply must fit, for services that can hold a model to one.
        grammar: A GBNF grammar; llama.cpp only.
    """

    messages: tuple[Message, ...]
    max_tokens: int = 512
    temperature: float | None = 0.0
    top_p: float | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    schema: FrozenSchema | None = None
    grammar: str | None = None

    def __post_init__(self) -> None:
        if not self.messages:
            raise InputError("expected at least one message in a request; found none. Add what is to be asked.")
        if self.max_tokens < 1:
            raise InputError(f"expected max_tokens of at least 1; found {self.max_tokens}. Raise it.")
        if self.temperature is not None and not 0 <= self.temperature < float("inf"):
            raise InputError(f"expected a temperature of 0 or more; found {self.temperature}. Correct it.")

    @classmethod
    def ask(cls, text: str, system: str | None = None) -> ChatRequest:
        """A request of one question, perhaps with instructions in front of it."""
        front = () if system is None else (Message("system", system),)
        return cls((*front, Message("user", text)))

    @property
    def fields(self) -> dict[str, Any]:
        """Every field as JSON has it; the cache's key is made of them."""
        return {
            "messages": [[message.role, message.text] for message in self.messages],
            "max_tokens": self.max_tokens,
            "temperature": None if self.temperature is None else float(self.temperature),
            "top_p": None if self.top_p is None else float(self.top_p),
            "seed": self.seed,
            "stop": list(self.stop),
            "schema": None if self.schema is None else [self.schema.name, self.schema.text],
            "grammar": self.grammar,
        }

    @property
    def prompt_estimate(self) -> int:
        """About how many tokens the messages are."""
        return estimated_tokens("".join(message.text for message in self.messages))


class Usage(NamedTuple):
    """What a call took.

    Attributes:
        prompt_tokens: Tokens read.
        completion_tokens: Tokens written.
        cost: In dollars, where the service says it (OpenRouter does), else None.
    """

    prompt_tokens: int
    completion_tokens: int
    cost: float | None = None


@dataclass(frozen=True)
class Completion:
    """A reply that came.

    Attributes:
        text: What the model wrote.
        finish: Why it stopped, in the service's word: ``stop``, ``length`` ...
        usage: What the call took when it was made; a cached reply costs 0.
        cached: Whether no call was made for it: it came from the cache, or from the same request already in flight.
        attempts: How often the service was asked; 0 where cached.
        seconds: From the request to the reply, waits included.
        without: What the service refused to take and was asked without: ``"schema"``, ``"temperature"``. A cached
            reply keeps it.
    """

    text: str
    finish: str | None
    usage: Usage
    cached: bool
    attempts: int
    seconds: float
    without: tuple[str, ...] = ()

    @property
    def cut_off(self) -> bool:
        """Whether it reached the limit of its tokens."""
        return self.finish == "length"


@dataclass(frozen=True)
class CallFailure:
    """A call that brought no usable reply. It is returned and counted, not raised, and never cached.

    Attributes:
        reason: What went wrong, and the next step where there is one.
        attempts: How often the service was asked.
        raw: What the service sent, where that helps.
        seconds: From the request to giving up, waits included.
    """

    reason: str
    attempts: int
    raw: str | None = None
    seconds: float = 0.0


Reply = Completion | CallFailure
"""What asking comes to: a reply, or the record of why there is none."""


def canonical(value: object) -> str:
    """JSON that is the same for equal values."""
    return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False)


def estimated_tokens(text: str) -> int:
    """About how many tokens a text is, where nobody has counted."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)
