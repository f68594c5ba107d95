"""One example of the mix, and the files of them that the trainer reads."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Label = Literal["entails", "contradicts", "neutral"]


@dataclass(frozen=True, slots=True)
class Example:
    """A premise, a claim, and what the one says of the other.

    Attributes:
        premise: One sentence, a few, or an abstract.
        claim: What is judged.
        label: Whether the premise entails the claim, contradicts it, or leaves it open.
        source: The dataset it came from.
        kind: How it came from there ("rationale", "window", "number", ...).
        group: What it shares with others; a group is never on both sides of a split.
        twin: Shared by examples that differ in one edit of the claim or of the premise.
        binary: Only entailed-or-not is known; "neutral" then means "not entailed".
        document: The document of the premise, where the data names it; leakage is checked by it, files leave it out.
        beside: Another document that a part of the premise is of; likewise.
    """

    premise: str
    claim: str
    label: Label
    source: str
    kind: str
    group: str
    twin: str | None = None
    binary: bool = False
    document: str | None = None
    beside: str | None = None

    def as_row(self) -> dict[str, Any]:
        """The line of the file, without what holds for most examples."""
        row: dict[str, Any] = {
            "premise": self.premise,
            "claim": self.claim,
            "label": self.label,
            "source": self.source,
            "kind": self.kind,
            "group": self.group,
        }
        if self.twin:
            row["twin"] = self.twin
        if self.binary:
            row["binary"] = True
        return row


@dataclass(frozen=True, slots=True)
class DocumentExample:
    """A claim and a whole document, sentence by sentence: what a document-level dev set is made of.

    ``evidence`` has the sentences that people gave as reasons, by number, where the data name them.
    """

    claim: str
    sentences: tuple[str, ...]
    label: Label
    source: str
    group: str
    binary: bool = False
    evidence: tuple[int, ...] = ()

    def as_row(self) -> dict[str, Any]:
        """The line of the file."""
        row: dict[str, Any] = {
            "claim": self.claim,
            "sentences": list(self.sentences),
            "label": self.label,
            "source": self.source,
            "group": self.group,
        }
        row |= {"evidence": list(self.evidence)} if self.evidence else {}
        return {**row, "binary": True} if self.binary else row


def share(key: str, seed: int) -> float:
    """A number in [0, 1) that belongs to a key: the same for every run with the seed, whatever else is in the mix."""
    digest = hashlib.blake2b(f"{seed}|{key}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


def write_rows(path: Path, examples: Iterable[Example | DocumentExample]) -> int:
    """Write a file of examples, whole or not at all; how many there were."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    lines = [json.dumps(example.as_row(), ensure_ascii=False) + "\n" for example in examples]
    part.write_text("".join(lines), encoding="utf-8")
    os.replace(part, path)
    return len(lines)


def components(members: Iterable[tuple[str, Iterable[str]]]) -> dict[str, str]:
    """The group of each claim, named after its least document.

    Args:
        members: Each claim's key and the keys of what it must stay with.
    """
    parent: dict[str, str] = {}

    def root(key: str) -> str:
        parent.setdefault(key, key)
        while parent[key] != key:
            parent[key] = parent[parent[key]]
            key = parent[key]
        return key

    claims: list[tuple[str, str]] = []
    for claim, tied in members:
        keys = sorted(tied) or [claim]
        for key in keys[1:]:
            low, high = sorted((root(keys[0]), root(key)))
            parent[high] = low
        claims.append((claim, keys[0]))
    return {claim: root(key) for claim, key in claims}
