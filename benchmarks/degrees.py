"""How well the words that no source carries are found, and degrees of support.

    python benchmarks/degrees.py words [--part test] [--show]
    python benchmarks/degrees.py reasons [--most 100]
    python benchmarks/degrees.py cost

``words``: 225 claims about 75 invented sources (``cases/words.jsonl``): 150 have one broken detail, which is marked and
typed, and 75 are sound. Half of the sources, drawn by lot so that each half has every type, were used while the rules
were written (``tuning``), the others not (``test``). Two readings are allowed where both are right ("lowered
mortality": the outcome or the direction). A span is found if it shares at least half of the characters that either has.
``cost`` tells how much longer a check takes with ``explain``.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from vericite.pipeline.check import check_many, parsed
from vericite.records import Verdict

CASES = Path(__file__).parent / "cases" / "words.jsonl"
Row = dict[str, Any]


def read_cases(part: str) -> list[Row]:
    """The claims of one half, or of both (``all``)."""
    rows = [json.loads(line) for line in CASES.read_text("utf-8").splitlines()]
    return [row for row in rows if part in (row["part"], "all")]


def checked(rows: Iterable[Row], explain: bool = True) -> list[Verdict]:
    """The verdict on each claim against its source."""
    answers = (
        parsed(f"{row['claim'].removesuffix('.')} [1].", [row["source"]], id=str(place))
        for place, row in enumerate(rows)
    )
    return [next(iter(result.verdicts)) for result in check_many(answers, explain=explain)]


def overlap(first: tuple[int, int], other: tuple[int, int]) -> float:
    """The share of common characters among those of either."""
    both = max(0, min(first[1], other[1]) - max(first[0], other[0]))
    return both / (max(first[1], other[1]) - min(first[0], other[0]))


def outcomes(rows: list[Row], verdicts: list[Verdict]) -> Iterator[tuple[Row, Verdict, bool, bool]]:
    """Yield each case with whether the span was found and whether its type is right."""
    for row, verdict in zip(rows, verdicts, strict=True):
        gold = [*row["words"], *row.get("or", [])]
        near = [
            kind == word.kind
            for word in verdict.words
            for start, end, kind in gold
            if overlap((word.start, word.end), (start, end)) >= 0.5
        ]
        yield row, verdict, bool(near), any(near)


def figures(found: list[tuple[Row, Verdict, bool, bool]]) -> tuple[float, float, float, float, float]:
    """Precision, recall and F1 of spans, the share of right types, and spans a sound claim."""
    broken = [item for item in found if item[0]["words"]]
    sound = [item for item in found if not item[0]["words"]]
    hits = sum(hit for *_, hit, _ in broken)
    named = sum(len(verdict.words) for _, verdict, *_ in found)
    precision, recall = hits / max(1, named), hits / max(1, len(broken))
    f1 = 2 * hits / max(1, named + len(broken))
    typed = sum(right for *_, right in broken) / max(1, hits)
    return precision, recall, f1, typed, sum(len(item[1].words) for item in sound) / max(1, len(sound))


def words(part: str, show: bool) -> None:
    """Print the figures of one half with intervals over sources."""
    rows = read_cases(part)
    found = list(outcomes(rows, checked(rows)))
    if show:
        for row, verdict, hit, right in found:
            named = [(word.text, word.kind) for word in verdict.words]
            gold = [(row["claim"][start:end], kind) for start, end, kind in row["words"]]
            mark = "ok" if (hit and right) or (not gold and not named) else "type" if hit else "--"
            print(f"{mark:5}{verdict.label:13}{row['claim']}  {gold} {named}  {verdict.because}")
    dice, groups = np.random.default_rng(1), sorted({row["group"] for row in rows})
    by_group = {group: [item for item in found if item[0]["group"] == group] for group in groups}
    drawn = [
        figures([item for group in dice.choice(groups, len(groups)) for item in by_group[int(group)]])
        for _ in range(2000)
    ]
    low, high = np.quantile(np.array(drawn), (0.025, 0.975), axis=0)
    names = ("precision", "recall", "F1", "type right of those found", "spans a sound claim")
    kinds = Counter(kind for row, *_ in found for *_, kind in row["words"])
    hits = Counter(row["words"][0][2] for row, _, hit, _ in found if row["words"] and hit)
    broken = sum(kinds.values())
    print(f"{part}: {broken} broken claims, {len(rows) - broken} sound, {len(groups)} sources")
    for name, value, least, most in zip(names, figures(found), low, high, strict=True):
        print(f"{name:28}{value:.2f} [{least:.2f}, {most:.2f}]")
    print("found by type: " + ", ".join(f"{kind} {hits[kind]} of {count}" for kind, count in sorted(kinds.items())))
    reasons = sum(bool(verdict.because) for _, verdict, *_ in found)
    print(f"reasons: {reasons}")


def reasons(most: int) -> None:
    """Print sentences with their sources and the reasons found."""
    rows = read_cases("all")
    shown = 0
    for row, verdict in zip(rows, checked(rows), strict=True):
        if verdict.because and shown < most:
            shown += 1
            print(f"{shown}. SOURCE: {row['source']}\n   CLAIM: {row['claim']}\n   REASON: {verdict.because}\n")


def cost() -> None:
    """Print the time of a check with and without explain, and of the verdicts that are explained."""
    rows = read_cases("all")
    checked(rows[:20])
    times: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(3):
        for explain in times:
            begun = time.process_time()
            checked(rows, explain)
            times[explain].append(time.process_time() - begun)
    plain, more = min(times[False]), min(times[True])
    print(f"{len(rows)} claims: {plain:.1f} s of processor time, with explain {more:.1f} s ({more / plain:.1f} times)")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["words", "reasons", "cost"])
    parser.add_argument("--part", choices=["tuning", "test", "all"], default="test")
    parser.add_argument("--most", type=int, default=100)
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    match given.what:
        case "words":
            words(given.part, given.show)
        case "reasons":
            reasons(given.most)
        case _:
            cost()
