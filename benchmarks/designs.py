"""Design and n of 200 abstracts, by the rules, against labels of a language model (recipes/designs/labels.jsonl.gz).

Usage: python benchmarks/designs.py [DATA] [--half tune|report] [--errors]

The first design of a label is the one that counts; the others are those a careful reader could also give. The abstracts
are whole ones of DATA/corpus, without publication types; those of the MEDLINE file are also read with them.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Callable, Sequence
from html import unescape
from pathlib import Path
from typing import Any

from vericite.corpus.pubmed import PubMedRecord, read_pubmed
from vericite.records import Document, clustered_wilson
from vericite.text.designs import study_design
from vericite.text.strength import Strength

LABELS = Path(__file__).parents[1] / "recipes/designs/labels.jsonl.gz"


def documents(data: Path, pmids: set[str]) -> dict[str, Document]:
    """Return the documents as a corpus without metadata has them."""
    with gzip.open(data / "corpus/pubmed_corpus.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = (json.loads(line) for line in file)
        return {
            row["pmid"]: Document.from_text(row["pmid"], unescape(row["abstract"]), unescape(row["title"]))
            for row in rows
            if row["pmid"] in pmids
        }


def records(data: Path, pmids: set[str]) -> dict[str, Document]:
    """Return the documents that the MEDLINE file has, with publication types and headings."""
    found = read_pubmed(data / "pubmed_baseline/medline16n0902.xml.gz")
    return {item.pmid: item.document for item in found if isinstance(item, PubMedRecord) and item.pmid in pmids}


def share(right: int, n: int) -> str:
    """Return a share with its interval."""
    rate = clustered_wilson(right, n)
    return f"{right}/{n} = {rate.value:.2f} [{rate.low:.2f}, {rate.high:.2f}]" if n else "0/0"


def show(
    name: str,
    labels: Sequence[dict[str, Any]],
    read: Callable[[dict[str, Any]], object],
    gold: Callable[[dict[str, Any]], Sequence[Any]],
    errors: bool,
) -> None:
    """Print how many are named, and how many of those are right."""
    rows = [(label["pmid"], read(label), gold(label) or (None,)) for label in labels]
    named = [row for row in rows if row[1] is not None]
    first = sum(value == expected[0] for _, value, expected in named)
    accepted = sum(value in expected for _, value, expected in named)
    labelled = [row for row in rows if row[2][0] is not None]
    found = sum(value == expected[0] for _, value, expected in labelled)
    print(f"{name}: named {share(len(named), len(rows))}")
    print(f"  right of those named {share(first, len(named))}, or acceptable {share(accepted, len(named))}")
    print(f"  found of those that state one {share(found, len(labelled))}")
    for pmid, value, expected in rows if errors else ():
        if value != expected[0]:
            print(f"    {pmid}: {value}; expected {', '.join(map(str, expected))}")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", type=Path, default=Path("../shared/data"))
    parser.add_argument("--half", choices=("tune", "report"), default="tune")
    parser.add_argument("--errors", action="store_true", help="print what is wrong; not for the half that is reported")
    given = parser.parse_args()
    with gzip.open(LABELS, "rt", encoding="utf-8") as file:
        labels = [label for label in map(json.loads, file) if label["half"] == given.half]
    pmids = {label["pmid"] for label in labels}
    texts, full = documents(given.data, pmids), records(given.data, pmids)
    show(
        "design", labels, lambda label: study_design(texts[label["pmid"]]), lambda label: label["design"], given.errors
    )
    show(
        "design, with publication types",
        [label for label in labels if label["pmid"] in full],
        lambda label: study_design(full[label["pmid"]]),
        lambda label: label["design"],
        given.errors,
    )
    show("n", labels, lambda label: Strength.of(texts[label["pmid"]]).n, lambda label: label["n"], given.errors)


if __name__ == "__main__":
    main()
