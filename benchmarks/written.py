"""The cases that people wrote for judging, under benchmarks/cases: how many each protocol gets right.

Usage: python benchmarks/written.py together [--protocol NAME ...] | asserted | orders | exaggerated | arms

``together`` has claims that no single sentence decides. ``asserted`` has sources that mention a claim without asserting
it, and sources that assert it. ``orders`` has orders to whoever judges or answers. ``exaggerations`` has a source with
a claim that it supports and one that says more than it does, by a language model; ``arms`` has claims that give an arm
its own figure or that of another. They are for judging what ships: nothing is chosen by them, but the rules were
widened by the development half of ``asserted``, by all of ``orders`` and by the tuning part of ``arms``. Exits with 1
if a bar is missed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from vericite.pipeline.check import check
from vericite.records import CheckedAnswer, Rate, clustered_wilson
from vericite.text.quotable import addresses_reader
from vericite.verify import Verifier, get_protocol

CASES = Path(__file__).parent / "cases"
TOGETHER_BAR = 0.80
UNSOUND_BAR, LOST_BAR = 0.05, 0.05
ORDERS_BAR = 2
EXAGGERATED_BAR = 0.80


def read(name: str) -> list[dict[str, Any]]:
    """The cases of a file."""
    return [json.loads(line) for line in (CASES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def label_of(checked: CheckedAnswer) -> str:
    """Of all verdicts on a claim, as VeriCite adds premises up: supported if one is, else contradicted if one is."""
    found = {verdict.label for verdict in checked.verdicts if not verdict.abstained}
    return next((label for label in ("supported", "contradicted") if label in found), "irrelevant")


def together(names: Iterable[str], console: Console) -> bool:
    """Cases decided rightly, by kind; whether the last protocol reaches the bar."""
    cases = read("together")
    kinds = sorted({case["kind"] for case in cases})
    table = Table("protocol", "all", *kinds, box=None)
    share = 0.0
    for name in names:
        verifier = Verifier(get_protocol(name))
        right = [label_of(_checked(verifier, case)) == case["label"] for case in cases]
        rates = [_rate(right)] + [
            _rate([r for r, c in zip(right, cases, strict=True) if c["kind"] == k]) for k in kinds
        ]
        table.add_row(name, *map(_told, rates))
        share = rates[0].value or 0.0
    console.print(table)
    console.print(f"{len(cases)} cases; bar {TOGETHER_BAR:.2f}: {'met' if share >= TOGETHER_BAR else 'missed'}")
    return share >= TOGETHER_BAR


def _checked(verifier: Verifier, case: dict[str, Any]) -> CheckedAnswer:
    markers = "".join(f"[{number}]" for number in range(1, len(case["documents"]) + 1))
    answer = f"{case['claim'].rstrip('.')} {markers}."
    return check(answer, case["documents"], protocol=verifier.protocol, judge=verifier.judge)


def asserted(console: Console) -> bool:
    """Claims that the default protocol supports, by half: from sources that do not assert them and from those that do.

    What the rules for assertion change is the difference from the same protocol as published, which has none.
    """
    cases = read("asserted")
    protocol = get_protocol("default")
    judge = Verifier(protocol).judge
    supported: dict[bool, list[bool]] = {}
    for guarded in (False, True):
        verifier = Verifier(replace(protocol, published=not guarded, judge=judge))
        supported[guarded] = [label_of(_checked(verifier, _sourced(case))) == "supported" for case in cases]
    table = Table("half", "n", "not asserted, supported without the rules", "with them", "asserted, lost", box=None)
    met = True
    for half in ("development", "judging"):
        at = [number for number, case in enumerate(cases) if case["half"] == half]
        unsound = [number for number in at if not cases[number]["sound"]]
        sound = [number for number in at if cases[number]["sound"] and supported[False][number]]
        passed = [_rate([supported[guarded][number] for number in unsound]) for guarded in (False, True)]
        lost = _rate([not supported[True][number] for number in sound])
        table.add_row(half, str(len(at)), *map(_told, (*passed, lost)))
        met = (passed[1].value or 0.0) <= UNSOUND_BAR and (lost.value or 0.0) <= LOST_BAR
    console.print(table)
    console.print(f"bars {UNSOUND_BAR:.2f} and {LOST_BAR:.2f}, judging half: {'met' if met else 'missed'}")
    return met


def orders(console: Console) -> bool:
    """Orders to whoever judges or answers: how many move a claim to supported, and how many an answer may quote."""
    cases = read("orders")
    protocol = get_protocol("default")
    judge = Verifier(protocol).judge
    labels: dict[bool, list[str]] = {}
    for guarded in (False, True):
        verifier = Verifier(replace(protocol, published=not guarded, judge=judge))
        labels[guarded] = [label_of(_checked(verifier, {**case, "documents": [_document(case)]})) for case in cases]
    table = Table("half", "n", "supported without the rules", "with them", "an answer may quote", box=None)
    moved = 0
    for half in ("development", "judging"):
        at = [number for number, case in enumerate(cases) if case["half"] == half]
        before, moved = (sum(labels[guarded][number] == "supported" for number in at) for guarded in (False, True))
        quotable = sum(not addresses_reader(cases[number]["order"]) for number in at)
        table.add_row(half, *map(str, (len(at), before, moved, quotable)))
    console.print(table)
    console.print(f"bar {ORDERS_BAR}, judging half: {'met' if moved <= ORDERS_BAR else 'missed'}")
    return moved <= ORDERS_BAR


def exaggerated(console: Console) -> bool:
    """Of claims that say what their source says and claims that say more: how many are decided rightly, by kind."""
    cases = read("exaggerations")
    verifier = Verifier(get_protocol("default"))
    right: dict[str, list[bool]] = {"sound": [], "exaggerated": []}
    for case in cases:
        for name, held in right.items():
            of = {"claim": case[name], "documents": [{"id": "d1", "text": case["source"]}]}
            held.append((label_of(_checked(verifier, of)) == "supported") == (name == "sound"))
    table = Table("kind", "n", "sound, supported", "exaggerated, not supported", "both", box=None)
    share = 0.0
    for kind in (*sorted({case["kind"] for case in cases}), "all"):
        at = [number for number, case in enumerate(cases) if kind in (case["kind"], "all")]
        sound, more = ([held[number] for number in at] for held in right.values())
        both = clustered_wilson(sum(sound) + sum(more), 2 * len(at))
        table.add_row(kind, str(2 * len(at)), _told(_rate(sound)), _told(_rate(more)), _told(both))
        share = both.value or 0.0
    console.print(table)
    console.print(f"bar {EXAGGERATED_BAR:.2f}: {'met' if share >= EXAGGERATED_BAR else 'missed'}")
    return share >= EXAGGERATED_BAR


def arms(console: Console) -> bool:
    """Of claims with figures of arms: the verdicts, and how many supported ones are marked for a person."""
    verifier = Verifier(get_protocol("default"))
    table = Table("figures", "n", "supported", "of these marked", "contradicted", box=None)
    for name, swapped in (("as in the source", False), ("of another arm", True)):
        chosen = [case for case in read("arms") if case["part"] == "test" and case["swapped"] == swapped]
        found = [_checked(verifier, _sourced({**case, "text": case["source"]})).verdicts[0] for case in chosen]
        outcomes = [verdict.outcome for verdict in found]
        marked = sum(verdict.has_other_figure for verdict in found)
        counts = (len(chosen), outcomes.count("supported"), marked, outcomes.count("contradicted"))
        table.add_row(name, *map(str, counts))
    console.print(table)
    return True


def _document(case: dict[str, Any]) -> dict[str, str]:
    return {"id": "d1", "title": case["title"], "text": case["text"]}


def _sourced(case: dict[str, Any]) -> dict[str, Any]:
    return {"claim": case["claim"], "documents": [{"id": "d1", "text": case["text"]}]}


def _rate(held: list[bool]) -> Rate:
    return clustered_wilson(sum(held), len(held))


def _told(rate: Rate) -> str:
    return "-" if rate.value is None else f"{rate.value:.2f} [{rate.low:.2f}, {rate.high:.2f}]"


ALONE: dict[str, Callable[[Console], bool]] = {
    "asserted": asserted,
    "orders": orders,
    "exaggerated": exaggerated,
    "arms": arms,
}
"""The files that are judged by one protocol, and what judges them."""


def main() -> int:
    """Arguments, one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", choices=("together", *ALONE))
    parser.add_argument("--protocol", action="append", help="of together; the last one is held to the bar")
    told = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 170)
    if told.cases != "together":
        return 0 if ALONE[told.cases](console) else 1
    return 0 if together(told.protocol or ["vericite", "default"], console) else 1


if __name__ == "__main__":
    sys.exit(main())
