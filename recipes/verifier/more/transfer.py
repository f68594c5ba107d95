"""Fourteen public sets of other origins: a tenth of each is held out by group, the rest is for training."""

from __future__ import annotations

from pathlib import Path

from mix.example import share
from mix.folder import DataFolder
from mix.guard import NearTexts, normal
from mix.passages import clean
from more.rows import Kept, Row, read_rows, write_file

SETS = (
    "bump", "citint", "climate_fever", "cochrane_auto", "control", "factcg", "factcheck_gpt", "fever_symmetric",
    "fool_me_twice", "ling_nli", "mnli_dev", "monotonicity", "negation_nli", "scone",
)  # fmt: skip
HELD_SHARE = 0.1
SPLIT_SEED = 51
"""The split never changes: the held-out tenth says what versions can do on sets that they train on the rest of."""
LONGEST_WORDS = 380
"""What is longer does not fit the encoder next to its claim; it is scored, but not trained on."""
NOT_ENTAILED = "not_entails"


def is_held_out(name: str, group: str) -> bool:
    """Whether a group of a set belongs to the tenth that is never trained on."""
    return share(f"{name}|{group}", SPLIT_SEED) < HELD_SHARE


def as_row(name: str, given: Row) -> Row:
    """A line of a transfer file in the form of the mix."""
    label = given["label"]
    row = {
        "premise": clean(given["premise"]),
        "claim": clean(given["claim"]),
        "label": "neutral" if label == NOT_ENTAILED else label,
        "source": name,
        "kind": given.get("kind") or "pair",
        "group": given["group"],
    }
    return {**row, "binary": True} if label == NOT_ENTAILED else row


def split(data: DataFolder) -> tuple[dict[str, list[Row]], dict[str, list[Row]]]:
    """Training rows and held-out rows by set; a text of a held-out row is in no training row of any set."""
    train: dict[str, list[Row]] = {}
    held: dict[str, list[Row]] = {}
    for name in SETS:
        rows = [as_row(name, given) for given in read_rows(data.root / "transfer" / f"{name}.jsonl.gz")]
        fit = [row for row in rows if len(row["premise"].split()) <= LONGEST_WORDS]
        train[name] = [row for row in fit if not is_held_out(name, row["group"])]
        held[name] = [row for row in rows if is_held_out(name, row["group"])]
        if any(row.get("binary") for row in rows):
            # A dev file is scored by entailed or not as soon as one of its rows is.
            held[name] = [{**row, "binary": True} for row in held[name]]
    claims = [(row["claim"], name) for name, rows in held.items() for row in rows]
    near = NearTexts(claims)
    premises = {normal(row["premise"]) for rows in held.values() for row in rows if len(row["premise"].split()) > 5}

    def is_apart(row: Row) -> bool:
        claim = row["claim"]
        return normal(row["premise"]) not in premises and not near.same(claim) and not near.near(claim)

    return {name: [row for row in rows if is_apart(row)] for name, rows in train.items()}, held


def transfer(data: DataFolder, mix: Path, out: Path) -> str:
    """Write ``OUT/transfer.jsonl`` and ``OUT/held/NAME.jsonl``; returns what to print."""
    train, held = split(data)
    for name, rows in held.items():
        write_file(out / "held" / f"{name}.jsonl", rows)
    kept = Kept(data, sorted((mix / "dev").glob("*.jsonl")))
    rows = [row for name in SETS for row in train[name] if kept.allows(row)]
    write_file(out / "transfer.jsonl", rows)
    lines = [f"{name:16} {len(train[name]):6} to train on, {len(held[name]):5} held out" for name in SETS]
    return "\n".join([*lines, f"{len(rows)} training rows", kept.report()])
