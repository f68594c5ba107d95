"""A classifier that reads a sentence and k sources at once and says of each whether it supports it (MultiAttr).

A model is a folder as all of ours (``vericite.models.ModelFolder``): weights, a BERT tokenizer and a card. Its labels
are ``source-1`` to ``source-k``. It reads

    [CLS] sentence [SEP] source 1 [SEP] source 2 [SEP] ... source k [SEP]

with token types 0 up to the first [SEP] and 1 behind it, and gives k logits, one a source in their order; divided by
the card's temperature they are log-odds of support. With fewer than k sources the input ends early, and the columns
behind mean nothing. The sentence keeps at least half of the tokens if it needs them; the sources share the rest, a
short one leaving its part to the others. More than k sources are read k at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from vericite.attribute.attributor import Attributor, Found
from vericite.errors import InputError, ModelCardError
from vericite.models import Encoded, Encoder, Engine, ModelFolder, Pair
from vericite.records import Answer, storable

THRESHOLD = 0.5
"""Probability from which a source is cited."""

_BETWEEN = "\x1e"
"""What holds sources apart on their way to the encoder; taken out of their texts."""


class SourcesEncoder(Encoder):
    """Turns a sentence and its sources into tokens: pairs whose premise is the sources, a record separator between."""

    def encode(self, inputs: Sequence[str | Pair]) -> list[Encoded]:
        """One encoding an input; each distinct text is tokenised once."""
        parts = [(item, "") if isinstance(item, str) else (item.claim, item.premise) for item in inputs]
        rows = [[sentence, *(sources.split(_BETWEEN) if sources else ())] for sentence, sources in parts]
        texts = list(dict.fromkeys(text for row in rows for text in row))
        found = self._tokenizer.encode_batch([storable(text) for text in texts], add_special_tokens=False)
        ids = {text: encoding.ids for text, encoding in zip(texts, found, strict=True)}
        return [self._encoded([ids[text] for text in row]) for row in rows]

    def _encoded(self, texts: list[list[int]]) -> Encoded:
        sentence, *sources = texts
        room = self._max_tokens - 2 - len(sources)
        kept = sentence[: max(room - sum(map(len, sources)), room // 2)]
        limit = _share([len(source) for source in sources], room - len(kept))
        ids = [self._start, *kept, self._separator]
        head = len(ids)
        for source in sources:
            ids += [*source[:limit], self._separator]
        cut = len(kept) < len(sentence) or any(len(source) > limit for source in sources)
        return Encoded(ids, [0] * head + [1] * (len(ids) - head), cut)


def _share(lengths: Sequence[int], room: int) -> int:
    """The longest that each may be so that all have room."""
    left = room
    waiting = len(lengths)
    for length in sorted(lengths):
        if length * waiting > left:
            return max(left // waiting, 0)
        left -= length
        waiting -= 1
    return max(lengths, default=0)


class _SourcesEngine(Engine):
    """The engine with the encoder of sources."""

    @cached_property
    def encoder(self) -> Encoder:
        return SourcesEncoder(self.folder.path / "tokenizer.json", self.folder.card.max_tokens)


class MultiLabelAttributor(Attributor):
    """Cites what a multi-label classifier says supports the sentence.

    Args:
        folder: The model; see the module for its form.
        threshold: Probability from which a source is cited.

    Raises:
        ModelCardError: The card's labels are not those of sources.
        InputError: The threshold is no probability.
    """

    def __init__(self, folder: ModelFolder, threshold: float = THRESHOLD) -> None:
        labels = folder.card.labels
        if not labels or labels != tuple(f"source-{number}" for number in range(1, len(labels) + 1)):
            raise ModelCardError(
                f"expected a card whose labels are source-1, source-2 ...; found {', '.join(labels) or 'none'} in "
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

    def find(self, answers: Sequence[Answer]) -> Iterator[list[Found]]:
        """The sentences of all the answers go through the model together; each distinct input once."""
        inputs = {(answer.id, place): self._inputs(answer) for place, answer in enumerate(answers)}
        asked = {
            Pair(sources, claim.text): None
            for (_, place), groups in inputs.items()
            for claim in answers[place].claims
            for sources in groups
        }
        said = dict(zip(asked, self._engine.run(asked), strict=True))
        for place, answer in enumerate(answers):
            groups = inputs[answer.id, place]
            rows = [[said[Pair(sources, claim.text)] for sources in groups] for claim in answer.claims]
            count = len(answer.documents)
            yield [
                self._found([row.values for row in row_], any(row.truncated for row in row_), count) for row_ in rows
            ]

    def _inputs(self, answer: Answer) -> list[str]:
        """The documents, as many at a time as the model reads."""
        size = self._folder.card.width
        texts = [document.titled_text.replace(_BETWEEN, " ") or " " for document in answer.documents]
        return [_BETWEEN.join(texts[start : start + size]) for start in range(0, len(texts), size)]

    def _found(self, logits: Sequence[np.ndarray], cut: bool, count: int) -> Found:
        values = np.concatenate(logits)[:count] if logits else np.zeros(0, dtype=np.float32)
        # The sigmoid, in a form that no logit overflows.
        odds = (1 + np.tanh(values / self._folder.card.temperature / 2)) / 2
        scores = tuple(round(float(value), 6) for value in odds)
        chosen = tuple(place for place, score in enumerate(scores) if score >= self.threshold)
        return Found(scores, chosen, reasons=("longer than the model reads: cut",) if cut else ())
