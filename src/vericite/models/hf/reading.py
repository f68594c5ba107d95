"""Texts and pairs of texts as an encoder's tokens."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from threading import Lock
from typing import Any

from vericite.models.hf.batching import READING, Tokens, as_text, padded
from vericite.models.hf.loading import Loaded
from vericite.records import storable


class Reader:
    """Reads texts as a model's tokenizer does, and gives batches of them as the model takes them.

    Threads may share it.
    """

    def __init__(self, loaded: Loaded) -> None:
        self._loaded = loaded
        takes_kinds = "token_type_ids" in inspect.signature(loaded.model.forward).parameters
        # Some tokenizers number the two texts for models that have one number only.
        self._kinds = takes_kinds and getattr(loaded.model.config, "type_vocab_size", 2) > 1
        # A tokenizer of transformers keeps the settings of a call in itself.
        self._tokenizing = Lock()

    def length(self, text: str) -> int:
        """Tokens of a text, without those that separate texts."""
        with self._tokenizing:
            return len(self._loaded.tokenizer(storable(text), add_special_tokens=False, **READING)["input_ids"])

    def read(self, firsts: Sequence[str], seconds: Sequence[str] | None = None, **limit: Any) -> list[Tokens]:
        """One input a text, or a pair of texts; ``limit`` is how the tokenizer shall cut what is too long."""
        # Lists even for one: given by itself, an empty second text would count as none, and the pair as one text.
        texts = [[storable(text) for text in side] for side in (firsts, seconds) if side is not None]
        with self._tokenizing:
            found = self._loaded.tokenizer(*texts, **READING, **limit)
        kinds: list[list[int]] = [list[int]()] * len(firsts)
        if self._kinds and "token_type_ids" in found:
            kinds = found["token_type_ids"]
        return [Tokens(as_text(found, row, self._loaded), kinds[row], False) for row in range(len(firsts))]

    def within(self, limit: int, firsts: Sequence[str], seconds: Sequence[str] | None = None) -> list[Tokens]:
        """As ``read``, each cut to so many tokens where it has more: of a pair the longer text gives way."""
        found = self.read(firsts, seconds)
        long = [index for index, tokens in enumerate(found) if len(tokens.ids) > limit]
        if not long:
            return found
        others = None if seconds is None else [seconds[index] for index in long]
        cut = self.read([firsts[index] for index in long], others, truncation="longest_first", max_length=limit)
        for index, tokens in zip(long, cut, strict=True):
            found[index] = tokens._replace(cut=True)
        return found

    def inputs(self, batch: Sequence[Tokens]) -> dict[str, Any]:
        """A batch as the model takes it."""
        inputs = padded(batch, self._loaded)
        if not self._kinds:
            del inputs["token_type_ids"]
        return inputs
