# torch is in the extra [train] alone, and annotates its own functions only in part.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
"""Pairs as arrays: each text is tokenised once, and a batch is put together on the GPU.

One file of numbers holds all there is to learn from and to judge by, so that it travels to a machine that has torch
and numpy and nothing of ours. ``pool`` makes pairs that nobody labelled, ``write`` the file, ``Arrays`` reads it.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gpu import CHOOSING

Row = dict[str, Any]
LABELS = {"entails": 0, "contradicts": 1, "neutral": 2}
SOURCE, CLAIM, ASKED = "Source:", "\nClaim:", "\nThe source entails, contradicts or leaves open the claim:"
"""What a language model reads around both texts."""
LONGEST_TEXT = 509
AT_ONCE = 20_000
MIXED = 8192
"""Rows among which those of like length are put together."""
NEAR = {
    "healthver": 12, "scifact": 16, "covidfact": 6, "pubmedqa": 8, "nli4ct": 5, "wice": 8, "attributionbench": 8,
    "clinifact": 8, "bioasq": 2, "corpus": 1, "written": 1,
}  # fmt: skip
"""Near passages that a claim is set against, by its source: many for the few that people wrote."""
THINNED, KEPT = ("written", "corpus"), 0.45


def rows_of(path: Path) -> list[Row]:
    """A file of JSON lines."""
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def pool(train: Path, seed: int = 5) -> list[Row]:
    """The mix's claims before near passages of the mix that they do not stand before: for teachers to judge."""
    from mix.passages import Nearest, Rarity

    rows = rows_of(train)
    dice = random.Random(seed)
    paired = {(row["premise"], row["claim"]) for row in rows}
    premises = list(dict.fromkeys(row["premise"] for row in rows if len(row["premise"].split()) <= 100))
    nearest, rarity = Nearest(premises, [""] * len(premises)), Rarity(premises)
    first: dict[str, Row] = {}
    for row in rows:
        twin = row.get("twin") and row["source"] != "written"
        if row.get("kind") == "conjoined" or (twin and dice.random() > 0.3):
            continue
        first.setdefault(row["claim"], row)
    found: list[Row] = []
    for claim, row in first.items():
        most = NEAR[row["source"]]
        if row["source"] in THINNED and dice.random() > KEPT:
            continue
        near = [premises[place] for place in nearest.find(claim, "(none)", 2 * most + 2)]
        near = [text for text in near if (text, claim) not in paired and rarity.coverage(claim, text) >= 0.25]
        alike = {"claim": claim, "label": "neutral", "kind": "unlabelled", "source": row["source"]}
        group = {"group": row.get("group", "")}
        found += [{"premise": text, **alike, **group} for text in dice.sample(near, min(most, len(near)))]
    dice.shuffle(found)
    return found


def hashed(rows: Iterable[Row]) -> NDArray[np.uint8]:
    """By what it is known that pairs are the same, in the same order."""
    told = hashlib.sha256()
    for row in rows:
        told.update(f"{row['premise']}\x1f{row['claim']}\x1e".encode())
    return np.frombuffer(told.digest(), np.uint8)


def _dev_files(mix: Path, chosen: bool) -> list[Path]:
    """Dev files of the mix; with ``chosen`` only those that models are chosen by."""
    found = [path for path in sorted((mix / "dev").glob("*.jsonl")) if path.stem[-4:] != "_doc"]
    return [path for path in found if path.stem in CHOOSING] if chosen else found


def write(
    mix: Path,
    pooled: Path,
    tokenizer: Path,
    language: Path | None,
    out: Path,
    more: Sequence[Path] = (),
    judged: Sequence[Path] = (),
) -> None:
    """The mix, its warm-up, the pool and the dev files as one file of arrays.

    Args:
        mix: A folder that ``recipes/verifier/mix`` made.
        pooled: What ``pool`` found.
        tokenizer: Of the encoders.
        language: The tokenizer.json of a language model, where one is to be trained.
        more: Files of further rows to train on. They come last, so that what teachers said of the others still fits.
        judged: Dev files in addition to those of the mix that models are chosen by. Default: all dev files of the mix.
        out: The file; ``words.npy`` next to it says which rows of the encoders' table are used.
    """
    from tokenizers import Tokenizer

    from vericite.models.engine import tokenizable

    held: dict[str, NDArray[Any]] = {}
    named = [("train", mix / "train.jsonl"), ("snli", mix / "warmup.jsonl"), ("pool", pooled)]
    taught = len(named)
    named += [(f"dev:{path.stem}", path) for path in [*_dev_files(mix, bool(judged)), *judged]]
    rows = [(name, row) for name, path in named[:taught] for row in rows_of(path)]
    held["pairs_sha256"] = hashed(row for _, row in rows)
    rows += [(name, row) for name, path in named[taught:] for row in rows_of(path)]
    rows += [("train", row) for path in more for row in rows_of(path)]
    texts: dict[str, int] = {}
    kinds: dict[str, int] = {}
    twins: dict[tuple[str, str], int] = {}
    kind = [f"{name}|{row['source']}/{row.get('kind') or 'gold'}" for name, row in rows]
    twin = [(row["source"], row["twin"]) if row.get("twin") is not None else None for _, row in rows]
    held |= {
        "premise": np.array([texts.setdefault(row["premise"], len(texts)) for _, row in rows], np.int32),
        "claim": np.array([texts.setdefault(row["claim"], len(texts)) for _, row in rows], np.int32),
        "label": np.array([LABELS[row["label"]] for _, row in rows], np.int8),
        "binary": np.array([bool(row.get("binary")) for _, row in rows]),
        "labelled": np.array([row.get("kind") != "unlabelled" for _, row in rows]),
        "kind": np.array([kinds.setdefault(name, len(kinds)) for name in kind], np.int16),
        "twin": np.array([-1 if key is None else twins.setdefault(key, len(twins)) for key in twin], np.int32),
    }
    held["kinds"] = np.frombuffer(json.dumps(list(kinds)).encode(), np.uint8)
    listed = list(texts)

    def table(encode: Callable[[list[str]], list[list[int]]], most: int) -> tuple[NDArray[Any], NDArray[Any]]:
        tokens, places = [], [0]
        for start in range(0, len(listed), AT_ONCE):
            for ids in encode(listed[start : start + AT_ONCE]):
                tokens.append(np.array(ids[:most], np.int32))
                places.append(places[-1] + len(tokens[-1]))
        return np.concatenate(tokens), np.array(places, np.int32)

    def keep(name: str, tokens: NDArray[Any], places: NDArray[Any], parts: Sequence[Sequence[int]]) -> NDArray[Any]:
        """Tokens numbered among those that are used."""
        words = np.unique(np.concatenate([tokens, *[np.array(part) for part in parts]]))
        if len(words) > np.iinfo(np.uint16).max + 1:
            raise SystemExit(f"expected at most 65,536 different tokens; found {len(words)} of {name}")
        back = np.zeros(int(words.max()) + 1, np.int32)
        back[words] = np.arange(len(words))
        held[f"{name}_tokens"], held[f"{name}_places"] = back[tokens].astype(np.uint16), places
        for place, part in enumerate(parts):
            held[f"{name}_part{place}"] = back[np.array(part)]
        return words

    ours = Tokenizer.from_file(str(tokenizer))
    ours.no_truncation()
    ours.encode_special_tokens = True

    def by_ours(batch: list[str]) -> list[list[int]]:
        return [it.ids for it in ours.encode_batch([tokenizable(text) for text in batch], add_special_tokens=False)]

    first, last = ours.token_to_id("[CLS]"), ours.token_to_id("[SEP]")
    words = keep("encoder", *table(by_ours, LONGEST_TEXT), [[first], [last], [last]])
    np.save(out.with_name("words.npy"), words)
    if language is not None:
        theirs = Tokenizer.from_file(str(language))

        def by_theirs(batch: list[str]) -> list[list[int]]:
            return [it.ids for it in theirs.encode_batch([f" {text}" for text in batch], add_special_tokens=False)]

        around = [theirs.encode(text, add_special_tokens=False).ids for text in (SOURCE, CLAIM, ASKED)]
        held["language_words"] = keep("language", *table(by_theirs, LONGEST_TEXT), around)
    np.savez_compressed(out, **held)


class Arrays:
    """What ``write`` wrote, on a device, as one kind of model reads it.

    Args:
        path: The file.
        reader: ``encoder`` or ``language``.
        longest: Tokens of a pair at most; the longer of the two texts gives way.
        device: Where batches are made.
    """

    def __init__(self, path: Path, reader: str, longest: int, device: str) -> None:
        held = np.load(path)
        self.held = {name: held[name] for name in held.files}
        self.device = device
        self.names: list[str] = json.loads(bytes(self.held["kinds"]).decode())
        parts = [self.held[f"{reader}_part{place}"].astype(np.int64) for place in range(3)]
        self._parts = [torch.from_numpy(part).to(device) for part in parts]
        self._sizes = [len(part) for part in parts]
        self._tokens = torch.from_numpy(self.held[f"{reader}_tokens"].astype(np.int32)).to(device)
        places = self.held[f"{reader}_places"]
        counted = places[1:] - places[:-1]
        premise, claim = counted[self.held["premise"]], counted[self.held["claim"]]
        room = longest - sum(self._sizes)
        claim = np.minimum(claim, np.maximum(room - premise, room // 2))
        premise = np.minimum(premise, room - claim)
        self.lengths = premise + claim + sum(self._sizes)
        self._premise, self._claim = self._on(premise), self._on(claim)
        self._premise_at = self._on(places[:-1][self.held["premise"]])
        self._claim_at = self._on(places[:-1][self.held["claim"]])
        self.label, self.twin = self._on(self.held["label"]), self._on(self.held["twin"])
        self.binary, self.labelled = self._on(self.held["binary"]).bool(), self._on(self.held["labelled"]).bool()
        self.part = np.array([name.split("|")[0] for name in self.names])[self.held["kind"]]
        self.kind = np.array([name.split("|")[1] for name in self.names])[self.held["kind"]]
        # ``write`` puts further rows behind the dev files.
        after = int(self.dev.max()) if len(self.dev) else len(self.part)
        self.further = torch.from_numpy(np.arange(len(self.part)) > after).to(device)

    def _on(self, values: NDArray[Any]) -> Tensor:
        return torch.from_numpy(values.astype(np.int64)).to(self.device)

    @property
    def dev(self) -> NDArray[Any]:
        """Rows to be judged by."""
        return np.flatnonzero(np.char.startswith(self.part.astype(str), "dev:"))

    def batch(self, rows: NDArray[Any]) -> tuple[Tensor, Tensor, Tensor]:
        """Ids, which text each is of, and lengths."""
        at = torch.from_numpy(rows).to(self.device)
        width = (int(self.lengths[rows].max()) + 7) // 8 * 8
        place = torch.arange(width, device=self.device)[None].expand(len(rows), width)
        ids = torch.zeros(len(rows), width, dtype=torch.int64, device=self.device)
        premise, claim = self._premise[at][:, None], self._claim[at][:, None]

        def text(ids: Tensor, tokens: Tensor, start: Tensor, begins: Tensor, length: Tensor) -> Tensor:
            within = place - begins
            found = tokens[(start + within).clamp(0, len(tokens) - 1)].long()
            return torch.where((within >= 0) & (within < length), found, ids)

        zero = torch.zeros_like(premise)
        begins = zero
        pieces = (
            (self._parts[0], zero, zero + self._sizes[0]),
            (self._tokens, self._premise_at[at][:, None], premise),
            (self._parts[1], zero, zero + self._sizes[1]),
            (self._tokens, self._claim_at[at][:, None], claim),
            (self._parts[2], zero, zero + self._sizes[2]),
        )
        for tokens, start, length in pieces:
            ids = text(ids, tokens, start, begins, length)
            begins = begins + length
        second = self._sizes[0] + self._sizes[1] + premise
        kinds = ((place >= second) & (place < begins)).long()
        return ids, kinds, begins[:, 0]

    def rates(self, table: dict[str, float], long: int, long_rate: float) -> NDArray[Any]:
        """How often each row comes in an epoch: by ``source/kind``, then ``source``; ``snli`` and ``pool`` by name."""
        kinds = [name.split("|")[1] for name in self.names]
        rate = np.array([table.get(kind, table.get(kind.split("/")[0], 1.0)) for kind in kinds])[self.held["kind"]]
        rate = np.where(self.part == "train", rate, 0.0)
        for name in ("snli", "pool"):
            rate = np.where(self.part == name, table.get(name, 0.0), rate)
        return np.where(self.lengths > long, rate * long_rate, rate)

    def order(self, rates: NDArray[Any], visits: int, seed: int, rows: int, tokens: int) -> list[NDArray[Any]]:
        """Batches of rows until so many were visited: like lengths together, twins in one batch."""
        twin = self.held["twin"].astype(np.int64)
        live = np.flatnonzero(rates > 0)
        key = np.where(twin[live] >= 0, twin[live], 10**7 + live)
        sorted_by = np.argsort(key, kind="stable")
        live, key = live[sorted_by], key[sorted_by]
        starts = np.flatnonzero(np.r_[True, key[1:] != key[:-1]])
        ends = np.r_[starts[1:], len(key)]
        rate = np.maximum.reduceat(rates[live], starts)
        length = np.maximum.reduceat(self.lengths[live], starts)
        found: list[NDArray[Any]] = []
        seen = epoch = 0
        while seen < visits:
            drawn = np.random.default_rng([seed, epoch])
            epoch += 1
            times = np.floor(rate + drawn.random(len(rate))).astype(int)
            order = drawn.permutation(np.repeat(np.arange(len(rate)), times))
            for start in range(0, len(order), MIXED):
                units = order[start : start + MIXED]
                batches: list[list[int]] = []
                count = 0
                for unit in units[np.argsort(length[units], kind="stable")]:
                    larger = count + int(ends[unit] - starts[unit])
                    if batches and larger <= rows and larger * length[unit] <= tokens:
                        batches[-1].append(unit)
                        count = larger
                    else:
                        batches.append([unit])
                        count = int(ends[unit] - starts[unit])
                for place in drawn.permutation(len(batches)):
                    found.append(np.concatenate([live[starts[unit] : ends[unit]] for unit in batches[place]]))
                    seen += len(found[-1])
                    if seen >= visits:
                        return found
        return found
