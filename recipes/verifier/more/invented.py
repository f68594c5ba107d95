"""Lines with premises of their own that were written after teachers had judged the mix, as rows behind it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from mix.written import InventedClaims
from more.rows import write_file
from vericite.records import read_jsonl


def invented(files: Sequence[Path], out: Path) -> str:
    """Write the claims of these files before their premises; returns what to print.

    In the mix they would move every row behind them, and what teachers said of the mix is kept by place.
    """
    lines = [line for path in files for line in read_jsonl(InventedClaims, path)]
    rows = [replace(example, source="invented").as_row() for line in lines for example in line.examples]
    write_file(out, rows)
    counts = Counter(row["kind"] for row in rows)
    told = [f"{kind:14} {count:5}" for kind, count in sorted(counts.items())]
    return "\n".join([*told, f"{len(rows)} rows of {len(lines)} lines"])
