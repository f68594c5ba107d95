"""Requests and replies of language models: values without any network."""

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
"""For estimates where no server has counted; English has about four."""

LONGEST_REPLY = 400_000
"""Maximum characters of a reply, about a hundred thousand tokens. A longer one ignores ``max_tokens``."""

Role = Literal["system", "user", "assistant"]


class Message(NamedTuple):
    """One turn of a conversation."""

    role: Role
    text: str


@dataclass(frozen=True)
class FrozenSchema:
    """A JSON schema that can be compared and hashed, stored as canonical JSON.

    Attributes:
        text: The schema as JSON with sorted keys.
        name: Name of the reply, sent to the service.
    """

    text: str
    name: str = "reply"

    @classmethod
    def of(cls, schema: Mapping[str, Any], name: str = "reply") -> FrozenSchema:
        """Freeze a schema."""
        return cls(canonical(schema), name)

    @property
    def value(self) -> dict[str, Any]:
        """The schema as a new mapping."""
        return json.loads(self.text)


@dataclass(frozen=True)
class ChatRequest:
    """One request to a model. Equal requests to one model share a cache entry.

    Attributes:
        messages: The conversation so far, oldest first.
        max_tokens: Maximum length of the reply.
        temperature: 0 for the likeliest reply; None for the service's default. To sample several replies from a cached
            model, vary ``seed``.
        top_p: Nucleus sampling; None for the service's default.
        seed: Seed for sampling, for services that support one.
        stop: Texts that end the reply.
        schema: JSON schema of the reply, for services that can enforce one.
        grammar: A GBNF grammar; llama.cpp only.
        alternatives: Number of likeliest first tokens to return with their probabilities, if the service can; most
            services return at most 20. 0 for none.
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
            raise InputError("expected at least one message in a request; found none. Add a message.")
        if self.max_tokens < 1:
            raise InputError(f"expected max_tokens of at least 1; found {self.max_tokens}. Raise it.")
        if self.temperature is not None and not 0 <= self.temperature < float("inf"):
            raise InputError(f"expected a temperature of 0 or more; found {self.temperature}. Correct it.")

    @classmethod
    def ask(cls, text: str, system: str | None = None) -> ChatRequest:
        """Make a request of one question, optionally with instructions before it."""
        front = () if system is None else (Message("system", system),)
        return cls((*front, Message("user", text)))

    @property
    def fields(self) -> dict[str, Any]:
        """All fields, JSON-ready; the cache key is made from them."""
        # Left out if empty, so that replies cached before this field existed are still found.
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
        """Estimated number of tokens of the messages."""
        return estimated_tokens("".join(message.text for message in self.messages))


class Usage(NamedTuple):
    """Usage of a call.

    Attributes:
        prompt_tokens: Tokens read.
        completion_tokens: Tokens written.
        cost: Dollars, if the service reports it (OpenRouter does), else None.
    """

    prompt_tokens: int
    completion_tokens: int
    cost: float | None = None


class Alternative(NamedTuple):
    """A possible first token of the reply, and the logarithm of its probability."""

    token: str
    logprob: float


@dataclass(frozen=True)
class Completion:
    """A successful reply.

    Attributes:
        text: The text that the model wrote.
        finish: Reason for its end, in the service's words: ``stop``, ``length`` ...
        usage: Usage of the call when it was made; a cached reply costs 0.
        cached: Whether no call was made: the reply came from the cache, or from the same request in flight.
        attempts: Number of times the service was asked; 0 if cached.
        seconds: Time from the request to the reply, including waits.
        without: Options that the service refused and that were left out: ``"schema"``, ``"temperature"``,
            ``"alternatives"``. Stored with a cached reply.
        alternatives: The likeliest first tokens, if requested and returned by the service.
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
        """Whether the reply reached its maximum length."""
        return self.finish == "length"


@dataclass(frozen=True)
class CallFailure:
    """A call without a usable reply. It is returned and counted, not raised, and never cached.

    Attributes:
        reason: What went wrong, and the next step if there is one.
        attempts: Number of times the service was asked.
        raw: What the service sent, if that helps.
        seconds: Time from the request to giving up, including waits.
        context: Maximum tokens of prompt and reply, if the service refused a longer request and named it.
    """

    reason: str
    attempts: int
    raw: str | None = None
    seconds: float = 0.0
    context: int | None = None


Reply = Completion | CallFailure
"""Result of a call: a reply, or the record of its failure."""


def canonical(value: object) -> str:
    """Serialize so that equal values give equal JSON."""
    return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False)


def estimated_tokens(text: str) -> int:
    """Estimate the number of tokens of a text."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


class Price(NamedTuple):
    """Dollars per million tokens."""

    prompt: float
    completion: float

    def of(self, usage: Usage) -> float:
        """Return the price of a call in dollars."""
        return (usage.prompt_tokens * self.prompt + usage.completion_tokens * self.completion) / 1e6


@dataclass(frozen=True)
class Settings:
    """How a model is asked.

    Attributes:
        concurrency: Maximum number of requests in flight.
        attempts: Maximum number of attempts of one call.
        timeout: Seconds for one attempt; for a stream, for one piece.
        deadline: Seconds for one call, from the start of its first attempt, including retries and the waits between
            them, but not the wait for a turn under the limits below. At least ``timeout`` (see ``call_deadline``), so
            that one attempt always has its time.
        requests_per_minute: Maximum number of attempts in any minute, spread evenly. It applies to one ``LLM``: two of
            them, or two processes, do not share it.
        tokens_per_minute: Maximum number of tokens in any minute, estimated before a call and corrected after it.
        reply_tokens: Maximum tokens of a judge's reply (``llm.reply_tokens``). Raise it for models that think first,
            because their thoughts count too.
        context: Tokens of prompt and reply for which a model in this process reserves memory. None: as in its file, at
            most ``vericite.llm.local.MOST_CONTEXT``.
        price: Price per million tokens, for services that do not report the cost of a call.
        cache: Folder (or ``.sqlite`` file) of cached replies, ``"default"`` for the user's, None for no cache. It
            knows a model only by name and address: see ``vericite.llm.client``.
        offline: Allow only models on this machine. VERICITE_OFFLINE forbids others at any time, even for an ``LLM``
            that was made before it was set.
        minute: Seconds in the limits' minute.
        backoff: Approximate seconds before the second attempt; each further wait is up to twice as long.
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
        """Seconds for one call: ``deadline`` or ``timeout``, whichever is longer."""
        return max(self.deadline, self.timeout)

    @property
    def cache_file(self) -> Path | None:
        """File of cached replies; None for no cache, with a warning if the reason is a missing home folder."""
        return None if self.cache is None else cache_file(self.cache, "llm.sqlite")


_TAG = re.compile(r"[<＜﹤](?=[\s/]*[|｜<＜﹤A-Za-z_])")
"""Beginnings of our tags and of models' control tokens: ``<|im_end|>``, ``</s>``, ``<start_of_turn>``; not
``p < 0.05`` and ``<5 mg``."""

_TURN = re.compile(
    r"\[(?=\s*/?\s*(?:INST|SYS|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|gMASK)\b)",
    re.IGNORECASE,
)

_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]",
)
"""Characters that Unicode lets a renderer ignore, in addition to format characters."""

_LINE_END = re.compile("\r\n?|[\v\f\x85\u2028\u2029]")


def as_data(text: str) -> str:
    """Neutralize tags and control tokens of models; the text looks the same to a reader."""
    # Hidden characters could hide a tag from the patterns but not from a model.
    seen = "".join(map(_seen, _UNSEEN.sub("", _LINE_END.sub("\n", storable(text)))))
    return _TURN.sub("⟦", _TAG.sub("‹", seen))


def _seen(char: str) -> str:
    kind = "" if char.isalnum() or char in "\n\t" else unicodedata.category(char)
    return "" if kind == "Cf" else " " if kind == "Cc" else char


def as_block(tag: str, text: str) -> str:
    """Wrap a text as data between tags on their own lines."""
    return f"<{tag}>\n{as_data(text)}\n</{tag}>"
