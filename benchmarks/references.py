"""References looked up in a made corpus: found or not, altered fields named, sound ones that are called invented.

    python benchmarks/references.py              # 200 references of 3,000 invented works
    python benchmarks/references.py --count 1000
    python benchmarks/references.py --printed    # printed in 12 styles, and read by parse_reference

Two thirds of the works are close to another in title. A tenth of the references is wrong: half of these are to works
that do not exist, half are altered in one field. The weights were fitted on other works (recipes/references).
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "recipes/references"))

from invented import MadeReference, MadeWork, as_record, made_references, made_works
from vericite.corpus.manuscript.resolve import resolve
from vericite.corpus.manuscript.sources import Looked, Tier, WorkCandidate, WorkIndex
from vericite.corpus.manuscript.works import PublishedWork
from vericite.records import Document
from vericite.records.manuscripts import Reference, ResolvedReference


class Catalogue:
    """A catalogue in memory that lists every work."""

    name = "made"
    is_catalogue = True

    def __init__(self, works: Sequence[MadeWork]) -> None:
        self._index = WorkIndex(work.work for work in works)

    @property
    def tiers(self) -> Sequence[Tier]:
        """By DOI, then by title, authors and year."""
        return (self._by_doi, self._by_words)

    def full_text(self, work: PublishedWork, reference: Reference) -> Document | None:
        """Return None."""
        return None

    def close(self) -> None:
        """Do nothing."""

    def _by_doi(self, references: Sequence[Reference]) -> Sequence[Looked]:
        works = [self._index.of_name(reference.doi) if reference.doi else None for reference in references]
        return [[WorkCandidate(work, "DOI")] if work else [] for work in works]

    def _by_words(self, references: Sequence[Reference]) -> Sequence[Looked]:
        return [[WorkCandidate(work, "title") for work in self._index.like(reference)] for reference in references]


def _printed(made: Sequence[MadeReference]) -> tuple[list[Reference], list[str]]:
    from printed_references import STYLES
    from vericite.text.printed import parse_reference

    names = list(STYLES)[:12]
    styles = [names[number % len(names)] for number in range(len(made))]
    texts = [STYLES[style](entry.cited) for style, entry in zip(styles, made, strict=True)]
    return [parse_reference(text, str(number)) for number, text in enumerate(texts)], styles


def _shown(kind: str, made: MadeReference, entry: ResolvedReference) -> None:
    reference, document = entry.reference, entry.document
    print(f"{kind}: {made.altered or ('sound' if made.work is not None else 'invented')} {entry.probability}")
    print("   ", reference and reference.model_dump(exclude={"key"}, exclude_defaults=True))
    print("   ", made.cited)
    print("   ", document and (document.title, document.authors), *map(str, entry.problems), sep="\n      ")


def main() -> None:
    """Print the rates."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=55)
    parser.add_argument("--printed", action="store_true")
    parser.add_argument("--errors", action="store_true")
    given = parser.parse_args()
    draw = random.Random(given.seed)
    works = made_works(draw, max(3000, 3 * given.count))
    made = list(made_references(draw, works, given.count))
    # A printed reference has what its style prints, and a record has all its fields where they are altered.
    records = [as_record(draw, str(n), entry.cited, whole=entry.altered is not None) for n, entry in enumerate(made)]
    references, styles = _printed(made) if given.printed else (records, [])
    begun = time.perf_counter()
    resolved = resolve(references, [Catalogue(works)])
    seconds = time.perf_counter() - begun
    counts: Counter[str] = Counter()
    missed: Callable[[str, MadeReference, ResolvedReference], None] = _shown if given.errors else lambda *_: None
    for number, (entry, found) in enumerate(zip(made, resolved, strict=True)):
        kinds = [problem.kind for problem in found.problems]
        expected = None if entry.work is None else works[entry.work].work.document.id
        right = (found.document.id if found.document else None) == expected
        counts["found or not: right"] += right
        if not right:
            missed("found or not", entry, found)
        # Two styles print no DOI or no title; what is not printed cannot be found wrong.
        stated = not given.printed or entry.altered != "wrong DOI" or bool(found.reference and found.reference.doi)
        if entry.altered and stated:
            counts["altered"] += 1
            counts["altered: named"] += entry.altered in kinds
            if entry.altered not in kinds:
                missed("not named", entry, found)
        elif entry.work is not None and entry.altered is None:
            counts["sound"] += 1
            counts["sound: called invented"] += "not found" in kinds
            counts["sound: any problem"] += bool(kinds)
            if kinds:
                missed(f"false alarm {styles[number] if styles else ''}", entry, found)
    print(f"found or not right: {counts['found or not: right']} of {len(made)}")
    print(f"altered fields named: {counts['altered: named']} of {counts['altered']}")
    print(f"sound references called invented: {counts['sound: called invented']} of {counts['sound']}")
    print(f"sound references with any problem: {counts['sound: any problem']} of {counts['sound']}")
    print(f"{1000 * seconds / len(made):.1f} ms a reference, {len(works):,} works")


if __name__ == "__main__":
    main()
