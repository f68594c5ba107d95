"""Cut BERT's uncased tokenizer to the words that English biomedical text uses.

    python recipes/search/vocabulary.py --tokenizer FULL.json --texts FILE ... --size 22700 --out CUT.json

A 12-layer model has 21 MB of layers, and 12 MB of words of which a third are names, places and other scripts' that no
such text has. What is kept: the special tokens, every single character, so that nothing becomes unreadable that was
not, and the pieces that the texts use most. A word whose piece is left out is spelt with shorter ones.
``vericite train pack`` leaves the other rows out of a model.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

LONGEST = 20_000
"""Characters of a text that are counted."""
BATCH = 2000
"""Texts that are tokenised at once."""
SHORTEST = 20
"""Strings of fewer are ids and labels."""


def strings_in(value: Any) -> Iterator[str]:
    """Every text in a JSON value."""
    if isinstance(value, str):
        if len(value) > SHORTEST and not value.startswith("http"):
            yield value[:LONGEST]
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings_in(item)


def texts_in(path: Path) -> Iterator[str]:
    """The texts of a JSON, JSON Lines, or plain file, packed with gzip or not."""
    opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8")
    name = path.name.removesuffix(".gz")
    with opened as file:
        if name.endswith(".json"):
            yield from strings_in(json.load(file))
        else:
            for line in file:
                if line.strip():
                    yield from strings_in(json.loads(line) if name.endswith(".jsonl") else line)


def count_pieces(tokenizer: Tokenizer, texts: Iterable[str]) -> Counter[str]:
    """How often each piece is used; a text that comes twice counts once."""
    counts: Counter[str] = Counter()
    distinct = list(dict.fromkeys(texts))
    for start in range(0, len(distinct), BATCH):
        for encoding in tokenizer.encode_batch(distinct[start : start + BATCH], add_special_tokens=False):
            counts.update(encoding.tokens)
    return counts


def cut(full: dict[str, Any], counts: Mapping[str, int], size: int) -> dict[str, Any]:
    """The tokenizer with ``size`` words, in their old order and numbered anew."""
    vocabulary: dict[str, int] = full["model"]["vocab"]
    special = {token["content"] for token in full["added_tokens"]}
    kept = special | {piece for piece in vocabulary if len(piece.removeprefix("##")) == 1}
    if size < len(kept):
        raise SystemExit(f"expected a size of at least {len(kept)}, the characters alone; found {size}. Raise it.")
    often = (
        piece for piece in sorted(counts, key=lambda piece: -counts[piece]) if piece in vocabulary and piece not in kept
    )
    kept |= {piece for piece, _ in zip(often, range(size - len(kept)), strict=False)}
    order = sorted(kept, key=vocabulary.__getitem__)
    numbers = {piece: number for number, piece in enumerate(order)}
    named = full["post_processor"]["special_tokens"]
    return {
        **full,
        "added_tokens": [{**token, "id": numbers[token["content"]]} for token in full["added_tokens"]],
        "post_processor": {
            **full["post_processor"],
            "special_tokens": {name: {**entry, "ids": [numbers[name]]} for name, entry in named.items()},
        },
        "model": {**full["model"], "vocab": numbers},
    }


def main(arguments: list[str] | None = None) -> int:
    """Count, cut and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--texts", type=Path, nargs="+", required=True)
    parser.add_argument("--size", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    counts = count_pieces(
        Tokenizer.from_file(str(given.tokenizer)), (text for path in given.texts for text in texts_in(path))
    )
    full = json.loads(given.tokenizer.read_text(encoding="utf-8"))
    made = cut(full, counts, given.size)
    given.out.write_text(json.dumps(made, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    left = sum(count for piece, count in counts.items() if piece not in made["model"]["vocab"])
    sys.stderr.write(
        f"{len(made['model']['vocab'])} of {len(full['model']['vocab'])} pieces; {left} of {counts.total()} tokens are "
        f"spelt otherwise ({left / counts.total():.4%})\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
