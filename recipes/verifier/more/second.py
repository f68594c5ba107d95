"""A second label for claims that have one, and a judge's opinion of rows whose labels are noisy."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

from mix.passages import Nearest, Rarity
from more.rows import Row, read_rows, write_file
from release.teach import open_scorer
from vericite.models.contracts import COLUMNS, Pair

SEED = 51
LEAST_COVERED = 0.2
"""Of a claim's telling words that a passage of another group must have: less is too easy."""
LONGEST_WORDS = 120
ONE_SIDED = ("citint", "cochrane_auto", "fool_me_twice", "fever_symmetric")
"""Sets with claims that have one label only, or no neutral ones at all."""
TAKEN = 0.7


def second(path: Path, out: Path) -> str:
    """Claims of these sets before near passages of other groups of their set, neutral; returns what to print."""
    rows = [row for row in read_rows(path) if row["source"] in ONE_SIDED]
    by_set: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_set[row["source"]].append(row)
    found: list[Row] = []
    for name, held in by_set.items():
        groups = {row["premise"]: row["group"] for row in held if len(row["premise"].split()) <= LONGEST_WORDS}
        texts = list(groups)
        nearest, rarity = Nearest(texts, list(groups.values())), Rarity(texts)
        paired = {(row["premise"], row["claim"]) for row in held}
        for claim, row in {row["claim"]: row for row in held}.items():
            dice = random.Random(f"{SEED}|second|{claim}")
            if dice.random() >= TAKEN:
                continue
            near = [texts[place] for place in nearest.find(claim, row["group"], 4)]
            near = [text for text in near if (text, claim) not in paired]
            near = [text for text in near if rarity.coverage(claim, text) >= LEAST_COVERED]
            if near:
                new = {"premise": dice.choice(near), "claim": claim, "label": "neutral"}
                found.append({**new, "source": name, "kind": "other-group", "group": row["group"]})
    write_file(out, found)
    counts = Counter(row["source"] for row in found)
    return "\n".join(f"{name:16} {count:6} neutral rows" for name, count in sorted(counts.items()))


def believed(model: Path, path: Path, out: Path, sources: frozenset[str], least: float) -> str:
    """Leave out rows of these sources whose label a judge gives less than ``least``; returns what to print."""
    rows = list(read_rows(path))
    asked = [place for place, row in enumerate(rows) if row["source"] in sources]
    pairs = [Pair(rows[place]["premise"], rows[place]["claim"]) for place in asked]
    said = open_scorer(model).probabilities(pairs) if pairs else np.zeros((0, len(COLUMNS)))
    columns = {label: column for column, label in enumerate(COLUMNS)}
    doubted = {
        place
        for place, probabilities in zip(asked, said, strict=True)
        if probabilities[columns[rows[place]["label"]]] < least
    }
    write_file(out, [row for place, row in enumerate(rows) if place not in doubted])
    lost = Counter((rows[place]["source"], rows[place]["kind"]) for place in doubted)
    lines = [f"{source}/{kind}: {count} left out" for (source, kind), count in sorted(lost.items())]
    return "\n".join([*lines, f"{len(doubted)} of {len(asked)} left out"])
