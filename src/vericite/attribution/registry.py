"""Attributors by name, and the simple ones: similarity, chance, a multi-label classifier, a language model.

The verifying attributors, the head and the decoder have their own modules.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from vericite.attribution.attributor import Attributor, SourcesFound
from vericite.attribution.learned import BUNDLED, HEAD, Head, LearnedAttributor
from vericite.attribution.verified import LikeliestAttributor, VerifierAttributor
from vericite.errors import InputError, MissingExtraError, ModelCardError
from vericite.llm import LLM, CallFailure, ChatRequest, Ledger, Settings
from vericite.llm.chat import as_block
from vericite.llm.prompts import Prompt, read_prompt, signed
from vericite.models.contracts import Embeds, Pair
from vericite.models.embedder import Embedder
from vericite.models.engine import EncodedInput, Encoder, Engine
from vericite.models.folder import ModelFolder
from vericite.records import Answer, Document, storable
from vericite.registry import Registry
from vericite.text.marks import without_marks
from vericite.text.sentences import document_sentences
from vericite.verify.judges.registry import load_judge
from vericite.verify.protocol import Protocol, get_protocol

COSINE = 0.82
"""Minimum cosine for citing a source. On the demonstration corpus it selects as many pairs of sentences as 0.75 did
with the previous embedder, which was the best by pooled F1 on 50 sentences of BioASQ answers
(``benchmarks/attribution.py tune``)."""

RATE = 0.2
"""Share of the sources that the random attributor cites."""


class CosineAttributor(Attributor):
    """Cites a source if its most similar sentence reaches the threshold; the title counts as a sentence."""

    def __init__(self, embedder: Embeds, threshold: float = COSINE) -> None:
        self._embedder = embedder
        self.threshold = threshold

    @property
    def signature(self) -> str:
        """The embedder and the threshold."""
        return f"cosine.v1({self._embedder.signature}, {self.threshold:g})"

    def find(self, answers: Sequence[Answer]) -> Iterator[list[SourcesFound]]:
        """Compare the sentences with the sources; every text is embedded once."""
        passages = {id(document): _passages(document) for answer in answers for document in answer.documents}
        texts = dict.fromkeys(text for found in passages.values() for text in found)
        texts |= dict.fromkeys(claim.text for answer in answers for claim in answer.claims)
        rows = {text: row for row, text in enumerate(texts)}
        vectors = self._embedder.embed(list(texts))
        for answer in answers:
            places = [[rows[text] for text in passages[id(document)]] for document in answer.documents]
            yield [self._found(vectors, rows[claim.text], places) for claim in answer.claims]

    def _found(self, vectors: NDArray[np.float32], claim: int, sources: Sequence[list[int]]) -> SourcesFound:
        scores = tuple(
            round(float((vectors[places] @ vectors[claim]).max()), 6) if places else None for places in sources
        )
        chosen = (place for place, score in enumerate(scores) if score is not None and score >= self.threshold)
        return SourcesFound(scores, tuple(chosen))


def _passages(document: Document) -> list[str]:
    title = [document.title] if document.title.strip() else []
    return [*title, *(sentence.text_in(document) for sentence in document_sentences(document))]


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


THRESHOLD = 0.5
"""Minimum probability for citing a source."""

_BETWEEN = "\x1e"
"""Separates sources in the encoder's input; removed from the sources' own texts."""


class SourcesEncoder(Encoder):
    """Encodes a sentence with its sources: pairs with the sources as premise, joined by a record separator."""

    def encode(self, inputs: Sequence[str | Pair]) -> list[EncodedInput]:
        """Encode each input. Each distinct text is tokenised once."""
        parts = [(item, "") if isinstance(item, str) else (item.claim, item.premise) for item in inputs]
        rows = [[sentence, *(sources.split(_BETWEEN) if sources else ())] for sentence, sources in parts]
        texts = list(dict.fromkeys(text for row in rows for text in row))
        found = self._tokenizer.encode_batch([storable(text) for text in texts], add_special_tokens=False)
        ids = {text: encoding.ids for text, encoding in zip(texts, found, strict=True)}
        return [self._encoded([ids[text] for text in row]) for row in rows]

    def _encoded(self, texts: list[list[int]]) -> EncodedInput:
        sentence, *sources = texts
        budget = self._max_tokens - 2 - len(sources)
        kept = sentence[: max(budget - sum(map(len, sources)), budget // 2)]
        limit = _share([len(source) for source in sources], budget - len(kept))
        ids = [self._start, *kept, self._separator]
        head = len(ids)
        for source in sources:
            ids += [*source[:limit], self._separator]
        cut = len(kept) < len(sentence) or any(len(source) > limit for source in sources)
        return EncodedInput(ids, [0] * head + [1] * (len(ids) - head), cut)


def _share(lengths: Sequence[int], budget: int) -> int:
    """Return the maximum length of each, so that all fit the budget."""
    left = budget
    waiting = len(lengths)
    for length in sorted(lengths):
        if length * waiting > left:
            return max(left // waiting, 0)
        left -= length
        waiting -= 1
    return max(lengths, default=0)


class _SourcesEngine(Engine):
    """The engine with the encoder for sources."""

    @cached_property
    def encoder(self) -> Encoder:
        return SourcesEncoder(self.folder.path / "tokenizer.json", self.folder.card.max_tokens)


class MultiLabelAttributor(Attributor):
    """Cites the sources that a multi-label classifier selects.

    Args:
        folder: The model folder, with the labels source-1, source-2 ... in its card.
        threshold: Minimum probability for citing a source.

    Raises:
        ModelCardError: The card has other labels.
        InputError: The threshold is not a probability.
    """

    def __init__(self, folder: ModelFolder, threshold: float = THRESHOLD) -> None:
        labels = folder.card.labels
        if not labels or labels != tuple(f"source-{number}" for number in range(1, len(labels) + 1)):
            raise ModelCardError(
                f"expected a card with the labels source-1, source-2 ...; found {', '.join(labels) or 'none'} in "
                f"{folder.path}. Give the folder of a multi-label attribution model."
            )
        if not 0 <= threshold <= 1:
            raise InputError(f"expected a threshold between 0 and 1; found {threshold}")
        self._folder = folder
        self._engine = _SourcesEngine(folder)
        self.threshold = threshold

    @property
    def signature(self) -> str:
        """The model and the threshold."""
        return f"multi-label.v1({self._folder.signature}, {self.threshold:g})"

    def find(self, answers: Sequence[Answer]) -> Iterator[list[SourcesFound]]:
        """Run the sentences of all answers through the model together, each distinct input once."""
        inputs = {(answer.id, place): self._inputs(answer) for place, answer in enumerate(answers)}
        asked = {
            Pair(sources, claim.text): None
            for (_, place), groups in inputs.items()
            for claim in answers[place].claims
            for sources in groups
        }
        outputs = dict(zip(asked, self._engine.run(asked), strict=True))
        for place, answer in enumerate(answers):
            groups = inputs[answer.id, place]
            rows = [[outputs[Pair(sources, claim.text)] for sources in groups] for claim in answer.claims]
            count = len(answer.documents)
            yield [
                self._found([row.values for row in row_], any(row.truncated for row in row_), count) for row_ in rows
            ]

    def _inputs(self, answer: Answer) -> list[str]:
        """Return the documents in groups of the size that the model reads."""
        size = self._folder.card.width
        texts = [document.titled_text.replace(_BETWEEN, " ") or " " for document in answer.documents]
        return [_BETWEEN.join(texts[start : start + size]) for start in range(0, len(texts), size)]

    def _found(self, logits: Sequence[np.ndarray], cut: bool, count: int) -> SourcesFound:
        values = np.concatenate(logits)[:count] if logits else np.zeros(0, dtype=np.float32)
        # The sigmoid, in a form without overflow.
        odds = (1 + np.tanh(values / self._folder.card.temperature / 2)) / 2
        scores = tuple(round(float(value), 6) for value in odds)
        chosen = tuple(place for place, score in enumerate(scores) if score >= self.threshold)
        return SourcesFound(scores, chosen, reasons=("too long for the model: cut",) if cut else ())


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


def _cosine(rest: str, protocol: Protocol | None, settings: Settings) -> Attributor:
    return CosineAttributor(Embedder.shared())


def _random(rest: str, protocol: Protocol | None, settings: Settings) -> Attributor:
    return RandomAttributor()


def _multi_label(rest: str, protocol: Protocol | None, settings: Settings) -> Attributor:
    folder = Path(rest).expanduser()
    if (folder / HEAD).is_file():
        return _by_head(folder / HEAD, protocol)
    return MultiLabelAttributor(ModelFolder.open(folder))


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
    "cosine": Kind("each source with a sentence close enough in meaning, by the bundled embedder", _cosine),
    "random": Kind("random, for comparison", _random),
    "multi-label": Kind("your own head or classifier over several sources at once", _multi_label, "FOLDER"),
    "hf": Kind("your own decoder with one label per source", _decoder, "FOLDER"),
    "llm": Kind("the sources that a language model names", _llm, "MODEL"),
}

ATTRIBUTORS = Registry("way to attribute", _OWN, "vericite.attributors", Kind)
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
