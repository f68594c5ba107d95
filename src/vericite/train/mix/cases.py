"""Pairs written by hand: a premise, a claim that it supports, and the same claim with one thing broken."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

from vericite.records import Record, read_jsonl
from vericite.train.mix.example import Example


class BrokenPair(Record):
    """A case of such a file."""

    id: str
    kind: str
    premise: str
    supported: str
    broken: str
    broken_label: Literal["contradicts", "neutral"]


def broken_pairs(path: Path, source: str) -> list[Example]:
    """Both claims of every case of a file, as twins."""
    found: list[Example] = []
    for case in read_jsonl(BrokenPair, path):
        whole = Example(case.premise, case.supported, "entails", source, case.kind, case.id, twin=case.id)
        found += [whole, replace(whole, claim=case.broken, label=case.broken_label)]
    return found
