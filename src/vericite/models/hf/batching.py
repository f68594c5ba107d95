"""Inputs run in batches of like length, their results yielded in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, NoReturn, TypeVar

import numpy as np

from vericite.errors import ModelError
from vericite.models.hf.loading import Loaded, first_line, library

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

WINDOW = {"cpu": 128}
"""Inputs read ahead, by kind of device: enough to fill batches of one length, little enough to stream.
A large model on a processor takes a second for one."""

ACCELERATOR_WINDOW = 2048
"""Inputs read ahead on a device not named there."""

BATCH_TOKENS = {"cpu": 2048}
"""Tokens in a batch, padding counted, by kind of device."""

ACCELERATOR_BATCH_TOKENS = 16384
"""Tokens in a batch on a device not named there."""


class Tokens(NamedTuple):
    """An input as the model reads it, the numbers of the texts its tokens are of, and whether it was cut."""

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
"""How texts are tokenised, for ``as_text``. Not verbose: what is too long is cut and noted, not warned of."""


def window(loaded: Loaded) -> int:
    """Inputs to read ahead on the model's device."""
    return WINDOW.get(loaded.device.type, ACCELERATOR_WINDOW)


def in_batches(
    items: Iterable[_Item],
    loaded: Loaded,
    encode: Callable[[list[_Item]], list[Tokens | _Result]],
    score: Callable[[list[Tokens]], list[_Result]],
    too_large: Callable[[int], _Result],
) -> Iterator[_Result]:
    """One result an item.

    Args:
        items: The items, which may be endless.
        loaded: The model.
        encode: Gives tokens; for an item that cannot be read, its result.
        score: The results of one batch.
        too_large: The result of an item of so many tokens that the device's memory does not hold it alone.

    Raises:
        ModelError: The model breaks.
    """
    source = iter(items)
    while ahead := list(islice(source, window(loaded))):
        found: dict[int, _Result] = {}
        tokens: dict[int, Tokens] = {}
        for index, item in enumerate(encode(ahead)):
            if isinstance(item, Tokens):
                tokens[index] = item
            else:
                found[index] = item
        for batch in _batches(tokens, BATCH_TOKENS.get(loaded.device.type, ACCELERATOR_BATCH_TOKENS)):
            found.update(zip(batch, _scored([tokens[index] for index in batch], score, too_large), strict=True))
        for index in range(len(ahead)):
            yield found[index]


def refuse_too_large(tokens: int) -> NoReturn:
    """``too_large`` for results that there is no other word for than an error.

    Raises:
        ModelError: Always.
    """
    raise ModelError(
        f"expected memory for one input of {tokens} tokens; found too little on the device. Try another, or lower "
        "max_tokens"
    )


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


def _scored(
    batch: list[Tokens], score: Callable[[list[Tokens]], list[_Result]], too_large: Callable[[int], _Result]
) -> list[_Result]:
    """The batch's results; it is halved for as long as the device's memory does not hold it."""
    try:
        return score(batch)
    except library("torch").OutOfMemoryError:
        if len(batch) == 1:
            return [too_large(len(batch[0].ids))]
    except (RuntimeError, IndexError, ValueError) as error:  # what torch and transformers raise of a forward pass
        longest = max(len(item.ids) for item in batch)
        raise ModelError(
            f"expected the model to read {len(batch)} inputs of up to {longest} tokens; it failed: "
            f"{first_line(error)}. Try another device or checkpoint"
        ) from None
    # Outside of the handler, whose exception would keep the batch's memory.
    half = len(batch) // 2
    return _scored(batch[:half], score, too_large) + _scored(batch[half:], score, too_large)
