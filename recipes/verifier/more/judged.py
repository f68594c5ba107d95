"""Dev files for a further run, in addition to those of the mix: what it is to learn, and what it must not.

- ``held_SET``: from the held-out tenth of each set of other origins;
- ``kinds_KIND``: made-up findings of another seed than those that are trained on;
- ``frames_asserted``, ``frames_open``, ``frames_denied``: dev claims in frames, one label a file;
- ``alone_healthver``: dev claims with an empty text: a label that is guessed there is a shortcut.
"""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path

from more.framed import DENIED, OPEN, PLAIN, frame
from more.kinds import Maker
from more.rows import Row, once, read_rows, write_file
from more.shortcuts import LONGEST_CLAIM, claim_alone

SEED = 52
"""Not that of the rows to train on."""
FINDINGS = 60
"""Made-up findings of a kind, from which the rows are drawn."""
SAID = {PLAIN: "entails", OPEN: "neutral", DENIED: "contradicts"}
FRAMED = ("healthver", "scifact")
EMPTY = "."


def judged(mix: Path, held: Path, out: Path, most: int) -> str:
    """Write the files, with at most ``most`` rows each; returns what to print."""
    dice = random.Random(SEED)
    found: dict[str, list[Row]] = {f"held_{path.stem}": list(read_rows(path)) for path in sorted(held.glob("*.jsonl"))}
    kinds: defaultdict[str, list[Row]] = defaultdict(list)
    for row in once(Maker(SEED).rows(FINDINGS)):
        kinds[f"kinds_{row['kind'].split('-')[0]}"].append(row)
    dev = {name: list(read_rows(mix / "dev" / f"{name}_dev.jsonl")) for name in FRAMED}
    claims = list(dict.fromkeys(row["claim"] for rows in dev.values() for row in rows))
    short = [claim for claim in map(claim_alone, claims) if claim and len(claim.split()) <= LONGEST_CLAIM]
    dice.shuffle(short)
    framed = {
        f"frames_{kind}": [
            {"premise": frame(claim, kind, dice), "claim": claim, "label": label, "source": "frames", "group": claim}
            for claim in short[:most]
        ]
        for kind, label in SAID.items()
    }
    alone = {"alone_healthver": [{**row, "premise": EMPTY} for row in dev["healthver"]]}
    lines: list[str] = []
    for name, rows in {**found, **kinds, **framed, **alone}.items():
        drawn = dice.sample(rows, min(most, len(rows)))
        write_file(out / f"{name}.jsonl", drawn)
        lines.append(f"{name:24} {len(drawn):5} of {len(rows)}")
    return "\n".join(lines)
