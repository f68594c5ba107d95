"""Files of rows, and the guard that keeps test and dev rows out of them."""

from __future__ import annotations

import gzip
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from mix.folder import DataFolder
from mix.guard import Guard, NearTexts, forbidden, normal

Row = dict[str, Any]
SHORTEST_PREMISE = 6
"""Words from which two equal premises are the same text, not the same phrase by chance."""


def read_rows(path: Path) -> Iterator[Row]:
    """The rows of a file of JSON lines, gzipped or not."""
    opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8")
    with opened as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


def write_file(path: Path, rows: Iterable[Row]) -> int:
    """Write a file of rows, complete or not at all, and return how many there are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    if path.suffix == ".gz":
        # Without a time, so that the same rows give the same file.
        part.write_bytes(gzip.compress("".join(lines).encode(), 9, mtime=0))
    else:
        part.write_text("".join(lines), encoding="utf-8")
    os.replace(part, path)
    return len(lines)


def once(rows: Iterable[Row]) -> list[Row]:
    """Each pair once; of two labels for one pair neither."""
    held: dict[tuple[str, str], Row | None] = {}
    for row in rows:
        key = (row["premise"], row["claim"])
        first = held.setdefault(key, row)
        if first is not None and first["label"] != row["label"]:
            held[key] = None
    return [row for row in held.values() if row is not None]


class Kept:
    """Decides whether a row may be trained on, and counts the rows that it refuses.

    Args:
        data: The folder of data sets, for the claims that are tested on.
        held: Files of pairs that are scored: the mix's dev files, the released sets and the held-out parts.

    Attributes:
        dropped: Counts by (source, reason).
    """

    def __init__(self, data: DataFolder, held: Iterable[Path]) -> None:
        self.dropped: Counter[tuple[str, str]] = Counter()
        claims: dict[str, str] = {}
        self._premises: dict[str, str] = {}
        for path in held:
            for row in read_rows(path):
                claims.setdefault(row["claim"], path.stem)
                texts = row.get("sentences") or [row["premise"]]
                for text in texts:
                    words = normal(text)
                    if words.count(" ") + 1 >= SHORTEST_PREMISE:
                        self._premises.setdefault(words, path.stem)
        self._dev = NearTexts(claims.items())
        self._tests = Guard(forbidden(data, ("healthver",)))
        self._seen: dict[str, str | None] = {}

    def _claim_reason(self, claim: str) -> str | None:
        if claim not in self._seen:
            if self._tests.refuses_claim(claim, "more"):
                self._seen[claim] = "claim of a test"
            else:
                origin = self._dev.same(claim) or self._dev.near(claim)
                self._seen[claim] = f"claim of {origin}" if origin else None
        return self._seen[claim]

    def premise_reason(self, premise: str) -> str | None:
        """Why this text may not be a premise."""
        origin = self._premises.get(normal(premise))
        return f"premise of {origin}" if origin else None

    def allows(self, row: Row) -> bool:
        """Whether neither the claim nor the premise is held out."""
        reason = self._claim_reason(row["claim"]) or self.premise_reason(row["premise"])
        if reason:
            self.dropped[row["source"], reason] += 1
        return not reason

    def report(self) -> str:
        """What was refused, by source and reason."""
        return "\n".join(
            f"dropped {count:6} of {source}: {reason}" for (source, reason), count in sorted(self.dropped.items())
        )
