"""Measure what the parts of the default protocol are worth: quotes, statements, withheld text.

    python recipes/verifier/release parts --sets DIR ... [--model FOLDER] [--most 400] [--only NAME ...] [--json FILE]

DIR holds development files as for ``decide``: labelled documents (``*_doc.jsonl``) and pairs. Where a set has both, its
documents are read. At most ``--most`` cases of a file are drawn, with a fixed seed. Verdicts of the whole protocol are
paired with those without each part. The judge reads each distinct pair once, so that more parts cost little.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from release.classification import balanced_accuracy, macro_f1
from release.decide import labelled_documents
from release.documents import COLUMN, SUFFIX, LabelledDocument, answer, as_given
from release.score import Score, bootstrapped, plain
from vericite.errors import InputError, VeriCiteError
from vericite.lab.train.data import Floats, Integers
from vericite.models.contracts import COLUMNS, CONTRADICTS, ENTAILS, NEUTRAL
from vericite.models.folder import VERIFIER, ModelFolder
from vericite.verify.claims import WholeSentence
from vericite.verify.judges.bundled import BundledJudge
from vericite.verify.judging import MemoizedJudge
from vericite.verify.protocol import DEFAULT, Protocol, get_protocol
from vericite.verify.verifier import Verifier

SEED = 50
Columns = NDArray[np.int64]


@dataclass(frozen=True)
class Case:
    """A labelled document, its set, and whether its sentences are to be taken as given."""

    name: str
    document: LabelledDocument
    given: bool


def read_cases(folders: Sequence[Path], most: int, only: Sequence[str]) -> list[Case]:
    """Return the cases of all files of some folders, at most ``most`` of each file.

    Raises:
        InputError: There are none.
    """
    paths = {path.stem: path for folder in folders for path in sorted(folder.glob("*.jsonl"))}
    chosen = {
        name: path
        for name, path in paths.items()
        if (name in only if only else name.endswith(SUFFIX) or f"{name}{SUFFIX}" not in paths)
    }
    cases: list[Case] = []
    for name, path in chosen.items():
        documents = labelled_documents(path)
        drawn = random.Random(SEED).sample(documents, min(most, len(documents)))
        cases += [Case(name, document, name.endswith(SUFFIX)) for document in drawn]
    if not cases:
        raise InputError(f"expected files of labelled documents or pairs in {', '.join(map(str, folders))}; found none")
    return cases


def verdicts(protocol: Protocol, cases: Sequence[Case]) -> Columns:
    """Return the protocol's labels as columns; abstentions and failures count as neutral."""
    said: Columns = np.full(len(cases), NEUTRAL, dtype=np.int64)
    for given in (True, False):
        places = [place for place, case in enumerate(cases) if case.given == given]
        chosen = replace(protocol, premise=as_given(protocol.premise)) if given else protocol
        checked = Verifier(chosen).verify(answer(cases[place].document) for place in places)
        for place, result in zip(places, checked, strict=True):
            if result.verdicts and not result.verdicts[0].abstained:
                said[place] = COLUMN[result.verdicts[0].label]
    return said


@dataclass(frozen=True)
class Worth:
    """What a part changes: verdicts with it against those without it.

    Attributes:
        changed: Verdicts that differ.
        fixed: Right with it, wrong without it.
        broken: Wrong with it, right without it.
        falsely_supported: More (+) or fewer (-) cases with it; the same for contradicted.
        ahead: Mean over the sets of macro-F1 (balanced accuracy of binary sets), with it minus without it.
        by_set: The same for each set that it changes, without an interval.
    """

    name: str
    changed: int
    fixed: int
    broken: int
    falsely_supported: int
    falsely_contradicted: int
    ahead: Score
    by_set: Mapping[str, float]


class Sets:
    """Cases with their gold labels, and how two rows of verdicts compare on them."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self.cases = cases
        self.gold: Integers = np.array([case.document.labelled.column for case in cases], dtype=np.int64)
        self.names = list(dict.fromkeys(case.name for case in cases))
        self._set = np.array([self.names.index(case.name) for case in cases])
        self.binary = [any(case.document.binary for case in cases if case.name == name) for name in self.names]
        self._is_binary = np.array(self.binary)[self._set]
        self._groups = [(case.name, case.document.group) for case in cases]

    def headlines(self, said: Columns, rows: Integers | None = None) -> list[float]:
        """Return the headline of each set: macro-F1, or balanced accuracy where no more is known."""
        chosen: Integers = np.arange(len(self.gold)) if rows is None else rows
        found: list[float] = []
        for number, binary in enumerate(self.binary):
            own = chosen[self._set[chosen] == number]
            measure = balanced_accuracy if binary else macro_f1
            found.append(measure(self.gold[own], np.eye(len(COLUMNS))[said[own]]) if len(own) else float("nan"))
        return found

    def right(self, said: Columns) -> NDArray[np.bool_]:
        """Whether each verdict is right; of binary sets, as supported or not."""
        return np.where(self._is_binary, (said == ENTAILS) == (self.gold == ENTAILS), said == self.gold)

    def worth(self, name: str, with_it: Columns, without: Columns) -> Worth:
        """Compare verdicts with a part and without it."""
        new, old = self.right(with_it), self.right(without)
        binary, gold = self._is_binary, self.gold

        def count(said: Columns, column: int) -> int:
            wrong = (said == column) & (gold != column)
            return int((wrong & ~binary if column == CONTRADICTS else wrong).sum())

        def ahead(_: Integers, drawn: Floats) -> float:
            rows = drawn[:, 0].astype(np.int64)
            differences = np.subtract(self.headlines(with_it, rows), self.headlines(without, rows))
            return float(np.nanmean(differences))

        rows = np.arange(len(gold), dtype=np.float64)[:, None]
        changed = with_it != without
        score = bootstrapped(ahead, gold, rows, self._groups) if changed.any() else Score(0.0, 0.0, 0.0)
        differences = zip(self.names, np.subtract(self.headlines(with_it), self.headlines(without)), strict=True)
        touched = {self.names[number] for number in np.unique(self._set[changed])}
        return Worth(
            name,
            int(changed.sum()),
            int((new & ~old).sum()),
            int((old & ~new).sum()),
            count(with_it, ENTAILS) - count(without, ENTAILS),
            count(with_it, CONTRADICTS) - count(without, CONTRADICTS),
            score,
            {set_name: round(float(value), 4) for set_name, value in differences if set_name in touched},
        )


def measure(protocol: Protocol, sets: Sets, told: Callable[[str], object]) -> list[Worth]:
    """Compare the protocol with itself without each part."""
    told(f"{len(sets.cases)} cases: {protocol.name}")
    whole = verdicts(protocol, sets.cases)
    parts = {
        "quotes": replace(protocol, quotes=False),
        "statements": replace(protocol, claim=WholeSentence()),
        "withheld text": replace(protocol, published=True),
    }
    found: list[Worth] = []
    for name, without in parts.items():
        told(name)
        found.append(sets.worth(name, whole, verdicts(without, sets.cases)))
    return found


def show(found: Sequence[Worth], sets: Sets, console: Console) -> None:
    """Print the table."""
    table = Table(
        "part", "changed", "fixed", "broken", "falsely supported", "falsely contradicted", "mean headline", box=None
    )
    for worth in found:
        counts = (worth.changed, worth.fixed, worth.broken)
        signed = (f"{worth.falsely_supported:+d}", f"{worth.falsely_contradicted:+d}")
        score = f"{worth.ahead.value:+.4f} [{worth.ahead.low:+.4f}, {worth.ahead.high:+.4f}]"
        table.add_row(worth.name, *map(str, counts), *signed, score)
    console.print(table)
    sizes = ", ".join(f"{name} {sum(case.name == name for case in sets.cases)}" for name in sets.names)
    console.print(f"{len(sets.cases)} cases: {sizes}")
    console.print("Differences are with the part minus without it; 95 % intervals over groups, paired")


def main(arguments: list[str] | None = None) -> int:
    """Read the command line and print."""
    parser = argparse.ArgumentParser(prog="python recipes/verifier/release parts", description="What parts are worth.")
    parser.add_argument("--model", type=Path, help="a packed model; the bundled one by default")
    parser.add_argument("--sets", type=Path, action="append", required=True, help="a folder of files; repeatable")
    parser.add_argument("--only", action="append", default=[], help="names of files, without .jsonl; repeatable")
    parser.add_argument("--most", type=int, default=400, help="maximum number of cases of a file")
    parser.add_argument("--json", type=Path, help="also write the rows here")
    options = parser.parse_args(arguments)
    try:
        sets = Sets(read_cases(options.sets, options.most, options.only))
        folder = ModelFolder.open(options.model) if options.model else ModelFolder.bundled(VERIFIER)
        judge = MemoizedJudge(BundledJudge(folder, threads=1))
        found = measure(replace(get_protocol(DEFAULT), judge=judge), sets, lambda text: sys.stderr.write(f"{text}\n"))
    except VeriCiteError as error:
        sys.stderr.write(f"{error}\n")
        return 2 if isinstance(error, InputError) else 1
    show(found, sets, Console(width=None if sys.stdout.isatty() else 190))
    if options.json:
        rows = [plain(dataclasses.asdict(worth)) for worth in found]
        options.json.write_text(json.dumps(rows, indent=2, allow_nan=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
