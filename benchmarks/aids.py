"""What the reading aids are worth: verdicts with and without them.

Usage: python benchmarks/aids.py cases [--protocol NAME]
       python benchmarks/aids.py pairs FILE ... [--most N] [--split]
       python benchmarks/aids.py lowered FILE ...

``cases`` reads ``benchmarks/cases/aids.jsonl``: one JSON object a line with ``premise``, ``claim``, ``label``
("entails", "contradicts" or "neutral"), ``kind`` and ``needs_aid``. A case is decided rightly if it is supported where
the label is "entails", and is not where it is another. They are for judging what ships: nothing is chosen by them.
Intervals are 95 %. Exits with 1 if the bar is missed.

``pairs`` reads other labelled pairs with the same three first fields, and judges those that an aid changes, both ways:
sound pairs and others that the aids raise to supported (+) and lower from it (-). ``--split`` does so for each kind of
aid alone. ``lowered`` counts the pairs that the comparisons of factors and numbers needed to treat speak against.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from vericite.records import Document, Verdict, clustered_wilson
from vericite.verify import Protocol, Verifier, get_protocol
from vericite.verify.aids import KINDS, Glossary, put_in_terms
from vericite.verify.checks import changes
from vericite.verify.checks.words import plain
from vericite.verify.verifier import ClaimsToJudge

CASES = Path(__file__).parent / "cases" / "aids.jsonl"
BAR = 0.85
Case = dict[str, Any]


def read(path: Path) -> list[Case]:
    """The cases of a file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def supported(protocol: Protocol, cases: Sequence[Case]) -> list[bool]:
    """Whether each case's claim is supported by its premise."""
    batches = [ClaimsToJudge((Document.from_text("d", case["premise"]),), ((case["claim"], (0,)),)) for case in cases]
    found = [results[0] for results in Verifier(protocol).judge_claims(batches)]
    return [
        any(isinstance(item, Verdict) and item.label == "supported" and not item.abstained for item in results)
        for results in found
    ]


def is_sound(case: Case) -> bool:
    """Whether its claim should be supported."""
    return case["label"] in ("entails", "supported")


def cases(protocol: Protocol, console: Console) -> bool:
    """Cases decided rightly without the aids and with them, by kind; whether those that need one reach the bar."""
    found = read(CASES)
    columns = [supported(replace(protocol, aids=()), found), supported(protocol, found)]
    right = [[item == is_sound(case) for item, case in zip(column, found, strict=True)] for column in columns]
    table = Table("kind", "cases", "without aids", "with aids", "sound, with", "unsound, with", box=None)
    kinds = sorted({case["kind"] for case in found})
    for name in ["all", "need an aid", "need none", *kinds]:
        chosen = [
            at
            for at, case in enumerate(found)
            if name in ("all", case["kind"]) or name == ("need an aid" if case["needs_aid"] else "need none")
        ]
        halves = [[at for at in chosen if is_sound(found[at]) == sound] for sound in (True, False)]
        shares = [_share(right[0], chosen), _share(right[1], chosen), *(_share(right[1], half) for half in halves)]
        table.add_row(name, str(len(chosen)), *shares)
    console.print(table)
    needing = [ok for ok, case in zip(right[1], found, strict=True) if case["needs_aid"]]
    met = sum(needing) >= BAR * len(needing)
    console.print(f"bar {BAR:.2f} of those that need an aid: {'met' if met else 'missed'}")
    return met


def _share(right: list[bool], chosen: list[int]) -> str:
    rate = clustered_wilson(sum(right[at] for at in chosen), len(chosen))
    return "-" if rate.value is None else f"{rate.value:.2f} [{rate.low:.2f}, {rate.high:.2f}]"


def pairs(protocol: Protocol, files: Iterable[Path], most: int, split: bool, console: Console) -> None:
    """Pairs that an aid changes, judged with and without it."""
    table = Table("file", "aid", "pairs", "sound", "changed", "sound +", "sound -", "other +", "other -", "s", box=None)
    for path in files:
        every = [case for case in read(path) if {"premise", "claim", "label"} <= case.keys()]
        for kinds in [*((kind,) for kind in KINDS)] if split else [KINDS]:
            began = time.perf_counter()
            changed = [case for case in every if _changes(case, kinds)]
            took = time.perf_counter() - began
            used = changed[:: max(1, -(-len(changed) // most))]
            before, after = (supported(replace(protocol, aids=aids), used) for aids in ((), kinds))
            moved = Counter(
                (is_sound(case), new) for case, old, new in zip(used, before, after, strict=True) if old != new
            )
            counts = [moved[True, True], moved[True, False], moved[False, True], moved[False, False]]
            shown = [len(every), sum(map(is_sound, every)), f"{len(used)} of {len(changed)}", *counts, f"{took:.1f}"]
            table.add_row(path.stem, "all" if len(kinds) > 1 else kinds[0], *map(str, shown))
    console.print(table)


def lowered(files: Iterable[Path], console: Console) -> None:
    """Pairs that the comparisons of factors and numbers needed to treat speak against."""
    table = Table("file", "pairs", "sound", "sound lowered", "other lowered", box=None)
    for path in files:
        every = [case for case in read(path) if {"premise", "claim", "label"} <= case.keys()]
        against = [case for case in every if any(changes.change_findings(plain(case["claim"]), plain(case["premise"])))]
        sound = sum(map(is_sound, against))
        table.add_row(path.stem, *map(str, (len(every), sum(map(is_sound, every)), sound, len(against) - sound)))
    console.print(table)


def _changes(case: Case, kinds: Sequence[str]) -> bool:
    glossary = Glossary.of((Document.from_text("d", case["premise"]),))
    return bool(put_in_terms(case["claim"], case["premise"], glossary, kinds)[2])


def main() -> int:
    """Arguments, one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("cases", "pairs", "lowered"))
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--protocol", default="default")
    parser.add_argument("--most", type=int, default=200, help="changed pairs of a file and kind that are judged")
    parser.add_argument("--split", action="store_true", help="each kind of aid alone")
    given = parser.parse_intermixed_args()
    console = Console(width=None if sys.stdout.isatty() else 170)
    protocol = get_protocol(given.protocol)
    if given.what == "cases":
        return 0 if cases(replace(protocol, aids=KINDS), console) else 1
    if given.what == "pairs":
        pairs(protocol, given.files, given.most, given.split, console)
    else:
        lowered(given.files, console)
    return 0


if __name__ == "__main__":
    sys.exit(main())
