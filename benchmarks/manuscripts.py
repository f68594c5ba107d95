"""Citations and references read from manuscripts of our own whose citations are known.

Usage: python benchmarks/manuscripts.py [--seed SEED] [--to FOLDER] [--faults]

Thirty documents are written by ``tests/manuscript_files.py``: Word with fields of Zotero, Mendeley, EndNote and Word;
LaTeX; Markdown, HTML and plain text. For each, precision and recall of the links from sentences to references, and the
share of listed references whose title, year and first author are right.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from vericite.corpus.sources.entry import folded
from vericite.records import Manuscript, Reference

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from manuscript_files import Case, Work, cases


@dataclass
class Score:
    """Counts of links and references."""

    right: int = 0
    wrong: int = 0
    missed: int = 0
    fields: int = 0
    listed: int = 0
    faults: list[str] = field(default_factory=list[str])

    def __iadd__(self, other: Score) -> Score:
        for name in ("right", "wrong", "missed", "fields", "listed"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self

    def __str__(self) -> str:
        precision = self.right / max(1, self.right + self.wrong)
        recall = self.right / max(1, self.right + self.missed)
        return f"{precision:9.3f} {recall:6.3f} {self.fields / max(1, self.listed):6.3f} {self.listed:5}"


def work_of(reference: Reference, works: Sequence[Work]) -> int | None:
    """Return the position of the work that a reference stands for."""
    shown = folded(f"{reference.title} {reference.text}")
    found = (at for at, work in enumerate(works) if folded(work.title) in shown)
    ids = (at for at, work in enumerate(works) if reference.doi and reference.doi.lower() == work.doi)
    return next(found, next(ids, None))


def score(case: Case, manuscript: Manuscript) -> Score:
    """Compare what was read with what a document cites."""
    found = Score()
    works = {reference.key: work_of(reference, case.works) for reference in manuscript.references}
    starts = sorted(
        (manuscript.text.find(f"In trial {sentence.number},"), sentence.number) for sentence in case.sentences
    )
    linked: set[tuple[int, int | None]] = set()
    for citation in manuscript.citations:
        number = max((pair for pair in starts if 0 <= pair[0] <= citation.span.start), default=(0, 0))[1]
        linked |= {(number, works.get(key)) for key in citation.keys}
    expected = {(sentence.number, at) for sentence in case.sentences for at in sentence.cites}
    found.right, found.wrong, found.missed = len(linked & expected), len(linked - expected), len(expected - linked)
    found.listed = len(case.works)
    for at, work in enumerate(case.works):
        reference = next((r for r in manuscript.references if works[r.key] == at), None)
        family = work.authors[0][0]
        is_right = (
            reference is not None
            and folded(reference.title) == folded(work.title)
            and reference.year == work.year
            and reference.authors[:1] != ()
            and reference.authors[0].startswith(family)
        )
        found.fields += is_right
        if not is_right:
            found.faults.append(f"{work.vancouver} -> {reference!r}")
    return found


def main() -> None:
    """Write the documents, read them, and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--to", type=Path)
    parser.add_argument("--faults", action="store_true", help="print the references that were read wrong")
    arguments = parser.parse_args()
    total = Score()
    print(f"{'document':42} precision recall fields works")
    with TemporaryDirectory() as held:
        for number, case in enumerate(cases(arguments.seed)):
            found = score(case, case.read((arguments.to or Path(held)) / f"{number:02}"))
            total += found
            print(f"{case.name:42} {found}")
            if arguments.faults:
                print(*(f"  {fault}" for fault in found.faults), sep="\n")
    print(f"{'all':42} {total}")


if __name__ == "__main__":
    main()
