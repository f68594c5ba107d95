"""Rows that punish shortcuts, made by code from the mix's own training rows.

A judge must not go by the claim alone, by words in common, or by what else stands next to the sentence that matters:

- ``among``: the premise among sentences about other matters, with the label unchanged;
- ``beside``: the premise next to a passage that says nothing of the claim, although it is on the topic;
- ``open``, ``denied``, ``asserted``: the premise, or the claim itself, in a frame that doubts it, denies it or
  asserts it (``more.framed``): one claim gets three labels;
- ``weaker``, ``stronger``: claims that say less or more than their source (``more.degrees``).
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from mix.example import share
from mix.passages import finding, sentences
from more.degrees import degrees
from more.framed import DENIED, OPEN, PLAIN, frame
from more.rows import Row, once, read_rows, write_file

SEED = 51
MOST_WORDS = 110
"""A premise with its neighbours: longer ones take too long for what they teach."""
SHARES = {"among": 0.10, "beside": 0.5, "framed": 0.14, "degrees": 1.0}
"""Of the rows that a kind can be made from."""
LONGEST_CLAIM, LONGEST_FRAMED = 32, 45
UNSURE = frozenset({"covidfact", "clinifact", "nli4ct"})
"""Their labels rest on whole records: one sentence of them cannot be framed."""
MADE_DENIALS = frozenset({"denied", "opposite", "other"})


def dice_for(row: Row, kind: str) -> random.Random:
    """Chance for one row, the same whatever other rows there are."""
    return random.Random(f"{SEED}|{kind}|{row['premise']}|{row['claim']}")


def made(row: Row, premise: str, label: str, kind: str, twin: str | None = None) -> Row:
    """A new row from one of the mix; it stays in its group."""
    found = {"premise": premise, "claim": row["claim"], "label": label, "source": "against", "kind": kind}
    found |= {"group": row["group"], "origin": row["source"]}
    if twin:
        found["twin"] = twin
    return {**found, "binary": True} if row.get("binary") else found


def among(rows: list[Row]) -> Iterator[Row]:
    """Premises among one to five sentences of other groups, before, after or on both sides."""
    texts = [(row["group"], row["premise"]) for row in rows if len(row["premise"].split()) <= 60]
    for row in rows:
        dice = dice_for(row, "among")
        length = len(row["premise"].split())
        if dice.random() >= SHARES["among"] or length > 70:
            continue
        around: list[str] = []
        for _ in range(dice.choice((1, 1, 2, 2, 3, 4, 5))):
            group, text = dice.choice(texts)
            parts = sentences(text) or [text]
            strange = dice.choice(parts) if dice.random() < 0.7 else text
            if group != row["group"] and length + len(strange.split()) <= MOST_WORDS:
                around.append(strange)
                length += len(strange.split())
        if around:
            at = dice.randint(0, len(around))
            yield made(row, " ".join([*around[:at], row["premise"], *around[at:]]), row["label"], "among")


def beside(rows: list[Row]) -> Iterator[Row]:
    """Premises that decide a claim next to premises that people or teachers call neutral for the same claim."""
    by_claim: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if not row.get("binary") and len(row["premise"].split()) <= 80:
            by_claim[row["claim"]].append(row)
    for held in by_claim.values():
        quiet = [row for row in held if row["label"] == "neutral" and row["kind"] not in MADE_DENIALS]
        for row in held:
            dice = dice_for(row, "beside")
            if row["label"] == "neutral" or not quiet or dice.random() >= SHARES["beside"]:
                continue
            other = dice.choice(quiet)["premise"]
            # What holds the deciding text, or is part of it, is no other source.
            if row["premise"] in other or other in row["premise"]:
                continue
            pair = [row["premise"], other]
            dice.shuffle(pair)
            yield made(row, " ".join(pair), row["label"], "beside")


def framed(rows: list[Row]) -> Iterator[Row]:
    """Sentences in frames. What a premise decides, its assertion decides; a guess decides nothing."""
    for row in rows:
        dice = dice_for(row, "framed")
        if row["label"] == "neutral" or row["source"] in UNSURE or row.get("binary"):
            continue
        if dice.random() >= SHARES["framed"] or len(row["claim"].split()) > LONGEST_CLAIM:
            continue
        one = len(row["premise"].split()) <= LONGEST_FRAMED and len(sentences(row["premise"])) < 2
        told = finding(row["premise"]) if one else ""
        if told and dice.random() < 0.6:
            twin = f"framed:{share(row['premise'] + row['claim'], SEED):.12f}"
            yield made(row, frame(told, OPEN, dice), "neutral", OPEN, twin)
            yield made(row, frame(told, PLAIN, dice), row["label"], PLAIN, twin)
        elif whole := claim_alone(row["claim"]):
            twin = f"framed:{share(row['claim'], SEED):.12f}"
            yield made(row, frame(whole, OPEN, dice), "neutral", OPEN, twin)
            yield made(row, frame(whole, PLAIN, dice), "entails", PLAIN, twin)
            yield made(row, frame(whole, DENIED, dice), "contradicts", DENIED, twin)


def claim_alone(claim: str) -> str:
    """A claim that stands alone in a that-clause, or nothing."""
    bad = claim.endswith("?") or ":" in claim or ";" in claim or len(claim.split()) < 4
    return "" if bad or len(sentences(claim)) > 1 else claim


def shortcuts(mix: Path, out: Path) -> str:
    """Write the rows; returns what to print. The mix's own rows are apart from tests and dev, and so are these."""
    rows = list(read_rows(mix / "train.jsonl"))
    found = once([*among(rows), *beside(rows), *framed(rows), *degrees(rows, SHARES["degrees"], made, dice_for)])
    write_file(out, found)
    counts: defaultdict[tuple[str, str], int] = defaultdict(int)
    for row in found:
        counts[row["kind"], row["label"]] += 1
    lines = [f"{kind:10} {label:12} {count:6}" for (kind, label), count in sorted(counts.items())]
    return "\n".join([*lines, f"{len(found)} rows"])
