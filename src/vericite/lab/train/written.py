"""Questions, answers that cite sources, and the prompt of in-line models; without torch, unlike training."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vericite.errors import InputError
from vericite.lab.train.examples import AttributionExample, ExampleSource
from vericite.records import Gold, GoldNugget, GoldSentence
from vericite.text.references import render_markers

INSTRUCTION = "Answer the question from the sources. Cite the sources of each sentence by their numbers, as in [1][2]."
SOURCE_LENGTHS = tuple(int(4000 * 0.8**step) for step in range(21))
"""Maximum characters of each source, from the longest to the shortest that is still useful."""


@dataclass(frozen=True)
class Cited:
    """A question, its sources, and the sentences of an answer that cites them.

    Attributes:
        sentences: Sentences with their markers.
        weights: Weight of each sentence in the loss.
    """

    id: str
    question: str
    sources: tuple[ExampleSource, ...]
    sentences: tuple[str, ...]
    weights: tuple[float, ...]

    @property
    def answer(self) -> str:
        """All sentences as one text."""
        return " ".join(self.sentences)


def answers_of(examples: Sequence[AttributionExample]) -> Iterator[Cited]:
    """Join the sentences that share a question and sources into one answer with markers."""
    groups: dict[tuple[str, tuple[str, ...]], list[AttributionExample]] = {}
    for example in examples:
        if example.question:
            key = (example.group or example.id, tuple(source.id for source in example.sources))
            groups.setdefault(key, []).append(example)
    for (id, _), sentences in groups.items():
        texts = tuple(marked(example.sentence, sorted(example.supports)) for example in sentences)
        weights = tuple(example.weight for example in sentences)
        yield Cited(id, sentences[0].question or "", sentences[0].sources, texts, weights)


def asked_of(examples: Sequence[AttributionExample]) -> list[Cited]:
    """Return the questions to answer, one for each id: readers of the answers know a question by its id.

    Raises:
        InputError: Lines of one group have different sources.
    """
    found = list(answers_of(examples))
    if twice := next((id for id, count in Counter(answer.id for answer in found).items() if count > 1), None):
        raise InputError(
            f"expected the same sources on all lines of a question to answer; found two lists of sources for {twice}. "
            "Give each list a group of its own."
        )
    return found


def gold_of(id: str, examples: Sequence[AttributionExample]) -> Gold:
    """Return the gold of a question: its sentences as the answer, and what each should cite."""
    nuggets = tuple(
        GoldNugget(
            id=str(number),
            text=example.sentence,
            documents=tuple(example.sources[place - 1].id for place in example.supports),
            unknown=tuple(example.sources[place - 1].id for place in example.unknown),
        )
        for number, example in enumerate(examples, start=1)
    )
    citations = tuple(
        GoldSentence(sentence=number, documents=nugget.documents or ()) for number, nugget in enumerate(nuggets)
    )
    ideal = (" ".join(example.sentence for example in examples),)
    return Gold(id=id, question=examples[0].question, ideal=ideal, nuggets=nuggets, citations=citations)


def marked(sentence: str, numbers: Sequence[int]) -> str:
    """Put the markers before the sentence's full stop."""
    text = sentence.strip()
    if not numbers:
        return text
    body, stop = (text[:-1], text[-1]) if text[-1:] in ".!?" else (text, ".")
    return f"{body.rstrip()} {render_markers(numbers)}{stop}"


def prompt_text(cited: Cited, most: int | None) -> str:
    """Return the text before the answer, with each source cut to this many characters; None: whole."""
    sources = "\n".join(
        f"[{number}] {f'{source.title} {source.text}'.strip()[:most]}"
        for number, source in enumerate(cited.sources, start=1)
    )
    return f"{INSTRUCTION}\n\nSources:\n{sources}\n\nQuestion: {cited.question}\n\nAnswer:"


def first_paragraph(text: str) -> str:
    """Return the text up to the first blank line, as one line."""
    return " ".join(text.strip().split("\n\n")[0].split())
