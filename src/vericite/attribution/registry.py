"""Attributors by name, and the simple ones: chance and a language model.

The verifying attributors, the head and the decoder have their own modules.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from vericite.attribution.attributor import Attributor, SourcesFound
from vericite.attribution.learned import BUNDLED, HEAD, Head, LearnedAttributor
from vericite.attribution.verified import LikeliestAttributor, VerifierAttributor
from vericite.errors import InputError, MissingExtraError
from vericite.llm import LLM, CallFailure, ChatRequest, Ledger, Settings
from vericite.llm.chat import as_block
from vericite.llm.prompts import Prompt, read_prompt, signed
from vericite.models.embedder import Embedder
from vericite.records import Answer
from vericite.registry import Registry
from vericite.text.marks import without_marks
from vericite.verify.judges.registry import load_judge
from vericite.verify.protocol import Protocol, get_protocol

RATE = 0.2
"""Share of the sources that the random attributor cites."""


class RandomAttributor(Attributor):
    """Cites at random, reproducibly: a baseline for other attributors."""

    def __init__(self, rate: float = RATE, seed: int = 0) -> None:
        if not 0 <= rate <= 1:
            raise InputError(f"expected a rate between 0 and 1; found {rate}")
        self.rate = rate
        self.seed = seed

    @property
    def signature(self) -> str:
        """The rate and the seed."""
        return f"random.v1(rate={self.rate:g}, seed={self.seed})"

    def find(self, answers: Sequence[Answer]) -> Iterator[list[SourcesFound]]:
        """Draw a number for each sentence and source, from their names and the seed only."""
        for answer in answers:
            yield [self._found(answer, index) for index in range(len(answer.claims))]

    def _found(self, answer: Answer, index: int) -> SourcesFound:
        scores = tuple(round(self._draw(answer.id, index, document.id), 6) for document in answer.documents)
        return SourcesFound(scores, tuple(place for place, score in enumerate(scores) if score >= 1 - self.rate))

    def _draw(self, *names: str | int) -> float:
        digest = hashlib.blake2b(repr((self.seed, *names)).encode(), digest_size=8).digest()
        return int.from_bytes(digest) / 2**64


_PROMPT = read_prompt(Path(__file__).with_name("sources.toml"), Prompt)


class _Named(BaseModel):
    """The format of the reply."""

    model_config = ConfigDict(extra="forbid", strict=True)

    sources: list[int]


class _Question(NamedTuple):
    sentence: str
    sources: str
    most: int


class LlmAttributor(Attributor):
    """Cites the sources that a language model names, with one call per sentence at temperature 0.

    If a reply cannot be read or names unknown sources, the model is asked once to correct it; then the sentence
    fails. There are no probabilities.
    """

    answers_at_once = 8

    def __init__(self, llm: LLM) -> None:
        self.llm = llm

    @property
    def signature(self) -> str:
        """The prompt's name and hash, and the model's name."""
        return f"llm({signed(_PROMPT.name, _PROMPT.system)}:{self.llm.signature}, temperature=0)"

    @property
    def ledger(self) -> Ledger:
        """The calls so far and their cost."""
        return self.llm.ledger

    def find(self, answers: Sequence[Answer]) -> Iterator[list[SourcesFound]]:
        """Make one call for each distinct sentence with its sources, several at a time. No sources: no call."""
        questions = [_questions(answer) for answer in answers]
        distinct = dict.fromkeys(question for found in questions for question in found if question.most)
        results = dict(zip(distinct, self.llm.each(distinct, self._one), strict=True))
        for found in questions:
            yield [results[question] if question.most else SourcesFound(()) for question in found]

    async def _one(self, question: _Question) -> SourcesFound:
        def within(named: _Named) -> _Named:
            wrong = [number for number in named.sources if not 1 <= number <= question.most]
            if wrong:
                raise ValueError(f"expected numbers from 1 to {question.most}; found {wrong[0]}")
            return named

        given = {"sources": question.sources, "sentence": as_block("sentence", question.sentence)}
        request = ChatRequest(_PROMPT.filled(given), max_tokens=self.llm.settings.reply_tokens)
        reply = await self.llm.parsed(request, _Named, within)
        nothing = (None,) * question.most
        if isinstance(reply, CallFailure):
            return SourcesFound(nothing, reasons=(reply.reason,), failed=True)
        return SourcesFound(nothing, tuple(sorted({number - 1 for number in reply.value.sources})))


def _questions(answer: Answer) -> list[_Question]:
    """Return the sentences, each with the sources as data in tags that no text can close."""
    sources = "\n\n".join(
        as_block(f"source_{number}", without_marks(document.titled_text))
        for number, document in enumerate(answer.documents, start=1)
    )
    return [_Question(claim.text, sources, len(answer.documents)) for claim in answer.claims]


@dataclass(frozen=True)
class Kind:
    """A kind of attributor: its description, its constructor, and what follows the colon in its name."""

    summary: str
    make: Callable[[str, Protocol | None, Settings], Attributor]
    takes: str = ""


def _verifier(rest: str, protocol: Protocol | None, settings: Settings) -> Attributor:
    return VerifierAttributor(protocol)


def _likeliest(rest: str, protocol: Protocol | None, settings: Settings) -> Attributor:
    return LikeliestAttributor(protocol)


def _random(rest: str, protocol: Protocol | None, settings: Settings) -> Attributor:
    return RandomAttributor()


def _head(rest: str, protocol: Protocol | None, settings: Settings) -> Attributor:
    return _by_head(Path(rest).expanduser() / HEAD, protocol)


def _learned(rest: str, protocol: Protocol | None, settings: Settings) -> Attributor:
    return _by_head(BUNDLED, protocol)


def _by_head(file: Path, protocol: Protocol | None) -> Attributor:
    judge = (protocol or get_protocol("default")).judge
    return LearnedAttributor(Head.read(file), load_judge(judge) if isinstance(judge, str) else judge, Embedder.shared())


def _decoder(rest: str, protocol: Protocol | None, settings: Settings) -> Attributor:
    try:
        from vericite.attribution.decoder import DecoderAttributor

        return DecoderAttributor(Path(rest).expanduser())
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("vericite"):
            raise
        raise MissingExtraError("train", "`--by hf:FOLDER`") from None


def _llm(rest: str, protocol: Protocol | None, settings: Settings) -> Attributor:
    return LlmAttributor(LLM(rest, settings))


_OWN: dict[str, Kind] = {
    "verifier": Kind("each source that the protocol finds to support the sentence", _verifier),
    "learned": Kind("a small network that weighs all sources together, as the verifier reads them", _learned),
    "likeliest": Kind(
        "as verifier, plus sources that stand out, one or two per sentence in all: to review", _likeliest
    ),
    "random": Kind("random, for comparison", _random),
    "head": Kind("your own head over several sources at once, from `vericite train attribution`", _head, "FOLDER"),
    "hf": Kind("your own decoder with one label per source", _decoder, "FOLDER"),
    "llm": Kind("the sources that a language model names", _llm, "MODEL"),
}

ATTRIBUTORS = Registry("attribution method", _OWN, "vericite.attributors", Kind)
"""Attributors by name; another package may add a ``Kind``."""

DEFAULT = "learned"
"""Beats the others on held-out questions (docs/results.md). It is fitted to the bundled judge only."""


def default_attributor(protocol: str, judge: str | None) -> str:
    """Return the attributor when none is named: ``verifier`` if the user chose a protocol or a judge."""
    return DEFAULT if protocol == "default" and judge in (None, "bundled") else "verifier"


def load_attributor(name: str, protocol: Protocol | None = None, settings: Settings | None = None) -> Attributor:
    """Return the attributor of this name, such as ``likeliest`` or ``llm:MODEL``.

    Args:
        name: A name; for some followed by a colon and an argument.
        protocol: Protocol of the verifying attributors. None: the default protocol.
        settings: Settings for language models: limits, time-outs, cache.

    Raises:
        UnknownNameError: There is no such attributor.
        InputError: The argument after the colon is missing or not allowed.
        ModelError: There is no usable model in the named folder.
    """
    kind, colon, rest = name.partition(":")
    found = ATTRIBUTORS.named(kind)
    if bool(rest) != bool(found.takes) or (colon and not rest):
        expected = f"{kind}:{found.takes}" if found.takes else kind
        raise InputError(f"expected {expected}; found {name!r}. {found.summary[:1].upper()}{found.summary[1:]}.")
    made = found.make(rest, protocol, settings or Settings())
    return made if kind in ATTRIBUTORS.own else ATTRIBUTORS.expect(kind, made, "find")
