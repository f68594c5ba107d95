"""Pairs judged in batches of like length, and yielded in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from vericite.errors import ModelError
from vericite.models import Pair
from vericite.verify.judges.hf.loading import Loaded, first_line, library
from vericite.verify.judging import Judgement

WINDOW = {"cpu": 128}
"""Pairs read ahead, by kind of device: enough to fill batches of one length, little enough to stream.
A large model on a processor takes a second a pair."""

ACCELERATOR_WINDOW = 2048
"""Pairs read ahead on a device not named there."""

BATCH_TOKENS = {"cpu": 2048}
"""Tokens in a batch, padding counted, by kind of device."""

ACCELERATOR_BATCH_TOKENS = 16384
"""Tokens in a batch on a device not named there."""


class Tokens(NamedTuple):
    """A pair as the model reads it, and whether its premise was cut."""

    ids: list[int]
    kinds: list[int]
    cut: bool


def as_text(found: Mapping[str, Any], row: int, loaded: Loaded) -> list[int]:
    """A row's tokens, those that separate texts kept only where the tokenizer put them.

    "[SEP]" in a source is text; read as the separator it could pass words off as the claim's. Asked to, a
    tokenizer splits it as it splits any text, but those of SentencePiece's kind have it as a word, too.
    """
    ids: list[int] = found["input_ids"][row]
    if loaded.unknown is None:
        return ids
    put: list[int] = found["special_tokens_mask"][row]
    return [loaded.unknown if id in loaded.separators and not own else id for id, own in zip(ids, put, strict=True)]


READING: dict[str, Any] = {"split_special_tokens": True, "return_special_tokens_mask": True, "verbose": False}
"""How texts are tokenised, for ``as_text``. Not verbose: a pair too long is cut and noted, not warned of."""

Encode = Callable[[list[Pair]], list[Tokens | Judgement]]
Score = Callable[[list[Tokens]], list[Judgement]]


def window(loaded: Loaded) -> int:
    """Pairs to read ahead on the model's device."""
    return WINDOW.get(loaded.device.type, ACCELERATOR_WINDOW)


def judged(pairs: Iterable[Pair], loaded: Loaded, encode: Encode, score: Score) -> Iterator[Judgement]:
    """One judgement a pair.

    Args:
        pairs: The pairs, which may be endless.
        loaded: The model.
        encode: Gives tokens; for a pair that cannot be read, a failure.
        score: Judges one batch.
    """
    source = iter(pairs)
    while ahead := list(islice(source, window(loaded))):
        encoded = encode(ahead)
        found = {index: item for index, item in enumerate(encoded) if isinstance(item, Judgement)}
        tokens = {index: item for index, item in enumerate(encoded) if isinstance(item, Tokens)}
        for batch in _batches(tokens, BATCH_TOKENS.get(loaded.device.type, ACCELERATOR_BATCH_TOKENS)):
            found.update(zip(batch, _scored([tokens[index] for index in batch], score), strict=True))
        for index in range(len(ahead)):
            yield found[index]


def padded(batch: Sequence[Tokens], loaded: Loaded) -> dict[str, Any]:
    """A batch as tensors on the model's device, padded on the right."""
    torch = library("torch")
    length = max(len(item.ids) for item in batch)
    ids = np.full((len(batch), length), loaded.pad, dtype=np.int64)
    mask = np.zeros_like(ids)
    kinds = np.zeros_like(ids)
    for row, item in enumerate(batch):
        size = len(item.ids)
        ids[row, :size] = item.ids
        mask[row, :size] = 1
        kinds[row, : len(item.kinds)] = item.kinds
    arrays = {"input_ids": ids, "attention_mask": mask, "token_type_ids": kinds}
    return {name: torch.from_numpy(array).to(loaded.device) for name, array in arrays.items()}


def _batches(tokens: Mapping[int, Tokens], budget: int) -> list[list[int]]:
    batches: list[list[int]] = []
    for index in sorted(tokens, key=lambda index: len(tokens[index].ids)):
        # The order is by length, so this one is as long as the batch will be padded to.
        if batches and (len(batches[-1]) + 1) * len(tokens[index].ids) <= budget:
            batches[-1].append(index)
        else:
            batches.append([index])
    return batches


def _scored(batch: list[Tokens], score: Score) -> list[Judgement]:
    """The batch judged; halved for as long as the device's memory does not hold it."""
    try:
        return score(batch)
    except library("torch").OutOfMemoryError:
        if len(batch) == 1:
            return [Judgement.failed(f"the device's memory does not hold a pair of {len(batch[0].ids)} tokens")]
    except (RuntimeError, IndexError, ValueError) as error:  # what torch and transformers raise of a forward pass
        longest = max(len(item.ids) for item in batch)
        raise ModelError(
            f"expected the model to judge {len(batch)} pairs of up to {longest} tokens; it failed: "
            f"{first_line(error)}. Try another device or checkpoint"
        ) from None
    # Outside of the handler, whose exception would keep the batch's memory.
    half = len(batch) // 2
    return _scored(batch[:half], score) + _scored(batch[half:], score)
