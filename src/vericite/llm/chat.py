"""What is said to a language model and what comes back: values that know nothing of networks."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from vericite.disk.files import cache_file
from vericite.errors import InputError
from vericite.network.access import offline_by_environment
from vericite.records import storable

CHARACTERS_PER_TOKEN = 4
"""For estimates only, where no server has counted: English runs at about four."""

LONGEST_REPLY = 400_000
"""Characters of a reply, at most: about a hundred thousand tokens. A longer one does not keep to ``max_tokens``."""

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
        alternatives: How many of the likeliest first tokens to tell with their probabilities, where the service can;
            services give at most 20. 0 for none.
    """

    messages: tuple[Message, ...]
    max_tokens: int = 512
    temperature: float | None = 0.0
    top_p: float | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    schema: FrozenSchema | None = None
    grammar: str | None = None
    alternatives: int = 0

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
        # Replies kept before there were alternatives are still found: without any the field is left out.
        asked = {"alternatives": self.alternatives} if self.alternatives else {}
        return asked | {
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


class Alternative(NamedTuple):
    """A token that the reply could have begun with, and the logarithm of its probability."""

    token: str
    logprob: float


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
        without: What the service refused to take and was asked without: ``"schema"``, ``"temperature"``,
            ``"alternatives"``. A cached reply keeps it.
        alternatives: The likeliest first tokens, where they were asked for and the service tells them.
    """

    text: str
    finish: str | None
    usage: Usage
    cached: bool
    attempts: int
    seconds: float
    without: tuple[str, ...] = ()
    alternatives: tuple[Alternative, ...] = ()

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
        context: Tokens of prompt and reply that the model takes, where it refused a longer request and said so.
    """

    reason: str
    attempts: int
    raw: str | None = None
    seconds: float = 0.0
    context: int | None = None


Reply = Completion | CallFailure
"""What asking comes to: a reply, or the record of why there is none."""


def canonical(value: object) -> str:
    """JSON that is the same for equal values."""
    return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False)


def estimated_tokens(text: str) -> int:
    """About how many tokens a text is, where nobody has counted."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


class Price(NamedTuple):
    """Dollars per million tokens."""

    prompt: float
    completion: float

    def of(self, usage: Usage) -> float:
        """Dollars of what a call took."""
        return (usage.prompt_tokens * self.prompt + usage.completion_tokens * self.completion) / 1e6


@dataclass(frozen=True)
class Settings:
    """How a model is asked.

    Attributes:
        concurrency: Requests in flight at once.
        attempts: How often one call is tried.
        timeout: Seconds for one attempt; of a stream, for one stall.
        deadline: Seconds for one call, from the start of its first attempt, with its retries and the waits between
            them. Waiting for a turn under the limits below is not counted. A shorter one than ``timeout`` counts as
            equal to it (``call_deadline``): one attempt always has its time.
        requests_per_minute: At most so many attempts reach the service in any minute, paced evenly. It holds for
            one ``LLM``: two of them, or two processes, do not know of each other.
        tokens_per_minute: At most so many tokens in any minute, estimated before a call and corrected after it.
        reply_tokens: Room for a judge's answer, in tokens (``llm.reply_tokens``); raise it for models that think first,
            whose thoughts count too.
        context: Tokens of prompt and reply for which a model run in this process gets memory; None for what its file
            says, up to ``vericite.llm.local.MOST_CONTEXT``.
        price: Of a million tokens, for services that do not say what a call cost.
        cache: Folder of the replies' cache (or a ``.sqlite`` file), ``"default"`` for the user's, None for no cache.
            It knows a model by its name and address only: see ``vericite.llm.client``.
        offline: Whether only this machine may be asked. VERICITE_OFFLINE forbids the rest at any time, also to an
            ``LLM`` that was made before it was set.
        minute: Seconds in the limits' minute.
        backoff: Seconds before the second attempt, about; each further wait is up to twice as long.
    """

    concurrency: int = 8
    attempts: int = 5
    timeout: float = 60.0
    deadline: float = 300.0
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    reply_tokens: int = 256
    context: int | None = None
    price: Price | None = None
    cache: Path | Literal["default"] | None = "default"
    offline: bool = field(default_factory=offline_by_environment)
    minute: float = 60.0
    backoff: float = 0.5

    def __post_init__(self) -> None:
        for name in ("concurrency", "attempts", "requests_per_minute", "tokens_per_minute", "reply_tokens", "context"):
            value: int | None = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"expected {name} of at least 1; found {value}. Raise it.")
        for name in ("timeout", "deadline", "minute"):
            seconds: float = getattr(self, name)
            if not 0 < seconds < float("inf"):
                raise InputError(f"expected {name} to be a number of seconds above 0; found {seconds}. Correct it.")
        if not 0 <= self.backoff < float("inf"):
            raise InputError(f"expected backoff of 0 seconds or more; found {self.backoff}. Correct it.")

    @property
    def call_deadline(self) -> float:
        """Seconds for one call: ``deadline``, or ``timeout`` where that is longer."""
        return max(self.deadline, self.timeout)

    @property
    def cache_file(self) -> Path | None:
        """Where replies are kept, or None where they are not, which is said where it is for want of a home."""
        return None if self.cache is None else cache_file(self.cache, "llm.sqlite")


_TAG = re.compile(r"[<＜﹤](?=[\s/]*[|｜<＜﹤A-Za-z_])")
"""What may open a tag of ours, or a control token of a model: ``<|im_end|>``, ``</s>``, ``<start_of_turn>``.
``p < 0.05`` and ``<5 mg`` do not."""

_TURN = re.compile(
    r"\[(?=\s*/?\s*(?:INST|SYS|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|gMASK)\b)",
    re.IGNORECASE,
)

_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]",
)
"""What Unicode lets a reader ignore, beside format characters."""

_LINE_END = re.compile("\r\n?|[\v\f\x85\u2028\u2029]")


def as_data(text: str) -> str:
    """The text with tags and control tokens of models made harmless; it looks the same to a reader."""
    # Characters that are not seen could hide a tag from the patterns and not from a model.
    seen = "".join(map(_seen, _UNSEEN.sub("", _LINE_END.sub("\n", storable(text)))))
    return _TURN.sub("⟦", _TAG.sub("‹", seen))


def _seen(char: str) -> str:
    kind = "" if char.isalnum() or char in "\n\t" else unicodedata.category(char)
    return "" if kind == "Cf" else " " if kind == "Cc" else char


def as_block(tag: str, text: str) -> str:
    """The text as data between tags of their own lines."""
    return f"<{tag}>\n{as_data(text)}\n</{tag}>"
