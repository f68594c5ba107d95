"""Texts, and pairs of texts, as the numbers that a BERT model reads."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from vericite.errors import ModelCardError
from vericite.models.folder import MEND
from vericite.records import storable

if TYPE_CHECKING:
    from tokenizers import Tokenizer


class Pair(NamedTuple):
    """A premise and the claim it may support; with the question for judges that ask for it."""

    premise: str
    claim: str
    question: str | None = None


class Encoded(NamedTuple):
    """An input's tokens, which of its two texts each is of, and whether any were left out."""

    ids: list[int]
    type_ids: list[int]
    truncated: bool


class Encoder:
    """Turns inputs into tokens, at most ``max_tokens`` of them.

    Each distinct text is tokenised once, and pairs are put together afterwards: a claim meets every
    sentence of its sources, and the tokenizer's own truncation of pairs takes time and memory by the
    product of their lengths.
    """

    def __init__(self, path: Path, max_tokens: int) -> None:
        from tokenizers import Tokenizer

        try:
            self._tokenizer: Tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # tokenizers raises nothing more specific
            raise ModelCardError(f"expected a tokenizer in {path}; found none: {error}. {MEND}") from None
        self._tokenizer.no_truncation()
        # "[SEP]" in a retrieved text is text; read as the separator it could pass words off as the claim's.
        self._tokenizer.encode_special_tokens = True
        self._start = self._special("[CLS]", path)
        self._separator = self._special("[SEP]", path)
        self._max_tokens = max_tokens

    def _special(self, token: str, path: Path) -> int:
        id = self._tokenizer.token_to_id(token)
        if id is None:
            raise ModelCardError(f"expected the token {token} in {path}; found none. Use a BERT tokenizer.")
        return id

    def encode(self, inputs: Sequence[str | Pair]) -> list[Encoded]:
        """One encoding an input."""
        texts = dict.fromkeys(text for item in inputs for text in ((item,) if isinstance(item, str) else item[:2]))
        found = self._tokenizer.encode_batch([storable(text) for text in texts], add_special_tokens=False)
        ids = {text: encoding.ids for text, encoding in zip(texts, found, strict=True)}
        return [
            self._single(ids[item]) if isinstance(item, str) else self._pair(ids[item.premise], ids[item.claim])
            for item in inputs
        ]

    def length(self, text: str) -> int:
        """Tokens of a text, without those that separate texts."""
        return len(self._tokenizer.encode(storable(text), add_special_tokens=False).ids)

    def _single(self, text: list[int]) -> Encoded:
        kept = text[: self._max_tokens - 2]
        ids = [self._start, *kept, self._separator]
        return Encoded(ids, [0] * len(ids), len(kept) < len(text))

    def _pair(self, premise: list[int], claim: list[int]) -> Encoded:
        # The longer of the two gives way, so that a long source does not cost the claim a word.
        room = self._max_tokens - 3
        for_claim = min(len(claim), max(room - len(premise), room // 2))
        kept, asked = premise[: room - for_claim], claim[:for_claim]
        ids = [self._start, *kept, self._separator, *asked, self._separator]
        kinds = [0] * (len(kept) + 2) + [1] * (len(asked) + 1)
        return Encoded(ids, kinds, len(kept) + len(asked) < len(premise) + len(claim))
