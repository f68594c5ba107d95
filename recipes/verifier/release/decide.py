"""Compare protocols on whole decisions: claims against documents, as a user would have them checked.

    python recipes/verifier/release decide --model FOLDER --sets DIR [--protocol NAME ...] [--sentences N ...]
        [--others FILE] [--binary] [--anchorcite PATH] [--json FILE]

DIR holds files of labelled documents (``*_doc.jsonl``), whose sentences are taken as given, and of pairs, whose
premises are split by the verifier. Protocols after the first are compared with it, on the same claims. With
``--sentences`` the documents are also cut to so few sentences, or filled up with those of other documents: a verdict
should not drift as text is added that has nothing to do with the claim. Documents of one set may speak of each other's
claims, so ``--others`` takes what is added from another.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from release.classification import balanced_accuracy, macro_f1
from release.documents import SUFFIX, LabelledDocument, Verdicts, read_documents, resized, verdicts
from release.evaluate import AnchorCite, JudgedSet
from release.score import Score, bootstrapped, plain
from release.teach import Scorer
from vericite.errors import InputError, UnknownNameError, VeriCiteError
from vericite.lab.train.data import Floats, Integers, LabelledPair, read_pairs
from vericite.models.contracts import Judge
from vericite.models.folder import ModelFolder
from vericite.verify.judges.bundled import BundledJudge

PROTOCOLS = ("vericite", "default")


@dataclass(frozen=True)
class Decided:
    """What a protocol made of a set.

    Attributes:
        score: Macro-F1 over three labels, or balanced accuracy of supported against not where no more is known.
        shares: Of documents called supported, contradicted and irrelevant.
        evidence: F1 of the sentences shown as evidence against those that people gave, where the set has them.
        ahead: How much better than the first protocol.
        kept: Share of the labels that are those of the whole documents, where these are of another size.
        rival: AnchorCite's score, and ``beyond`` how much better than it, where the measure is one it can have.
    """

    file: str
    protocol: str
    n: int
    groups: int
    measure: str
    score: Score
    shares: tuple[float, ...]
    evidence: Score | None = None
    ahead: Score | None = None
    kept: float | None = None
    rival: Score | None = None
    beyond: Score | None = None


def decide(
    judge: Judge,
    path: Path,
    protocols: Sequence[str],
    rival: Scorer | None = None,
    sizes: Sequence[int] = (),
    binary: bool = False,
    others: Sequence[LabelledDocument] | None = None,
) -> list[Decided]:
    """All protocols on a file, its documents as they are and of as many sentences as ``sizes`` has.

    Shorter ones are filled up with sentences of ``others``, or of one another.

    With ``binary`` only supported or not counts, also where the file tells more: a rival may know no more.

    Raises:
        InputError: It holds no labelled documents or pairs.
    """
    documents = labelled_documents(path)
    if binary:
        documents = [document.model_copy(update={"binary": True}) for document in documents]
    given = path.stem.endswith(SUFFIX)
    found: list[Decided] = []
    whole: dict[str, Floats] = {}
    for size in (None, *(sizes if given else ())):
        held = documents if size is None else resized(documents, size, others)
        name = path.stem if size is None else f"{path.stem}, {size} sentences"
        pairs = [document.labelled for document in held]
        compared = rival if any(pair.binary for pair in pairs) else None
        theirs = None if compared is None else compared.probabilities([pair.pair for pair in pairs])
        first: Floats | None = None
        for protocol in protocols:
            sys.stderr.write(f"{name}: {protocol}\n")
            said = verdicts(judge, held, protocol, given=given)
            judged = JudgedSet(name, pairs, said.one_hot)
            found.append(_decided(judged, protocol, said, held, first, whole.get(protocol), theirs))
            first = said.one_hot if first is None else first
            whole.setdefault(protocol, said.one_hot)
    return found


def labelled_documents(path: Path) -> list[LabelledDocument]:
    """A file's documents, or its pairs as documents of one sentence."""
    held = read_documents(path) if path.stem.endswith(SUFFIX) else [as_document(pair) for pair in read_pairs(path)]
    if not held:
        raise InputError(f"expected labelled documents or pairs in {path}; found none")
    return held


def as_document(pair: LabelledPair) -> LabelledDocument:
    """The pair's premise as a document."""
    return LabelledDocument(
        claim=pair.claim,
        sentences=[pair.premise],
        label=pair.label,
        source=pair.source,
        group=pair.group,
        binary=pair.binary,
    )


def _decided(
    judged: JudgedSet,
    protocol: str,
    said: Verdicts,
    documents: Sequence[LabelledDocument],
    first: Floats | None,
    whole: Floats | None,
    theirs: Floats | None,
) -> Decided:
    binary = any(pair.binary for pair in judged.pairs)
    measure = balanced_accuracy if binary else macro_f1
    return Decided(
        judged.name,
        protocol,
        len(judged.pairs),
        len(set(judged.groups)),
        "balanced accuracy" if binary else "macro-F1",
        judged.scored(measure),
        tuple(float(value) for value in judged.probabilities.mean(axis=0)),
        evidence_f1(documents, said.evidence) if any(document.evidence for document in documents) else None,
        None if first is None else judged.difference(measure, first),
        None if whole is None else float((judged.probabilities == whole).all(axis=1).mean()),
        None if theirs is None else judged.scored(measure, theirs),
        None if theirs is None else judged.difference(measure, theirs),
    )


def evidence_f1(documents: Sequence[LabelledDocument], shown: Sequence[tuple[int, ...]]) -> Score:
    """F1 of sentences shown against those people gave, pooled over documents; a document without either counts none."""
    counts = np.array(
        [
            (len(set(document.evidence) & set(found)), len(set(found)), len(document.evidence))
            for document, found in zip(documents, shown, strict=True)
        ],
        dtype=np.float64,
    )
    unused: Integers = np.zeros(len(documents), dtype=np.int64)
    return bootstrapped(_pooled_f1, unused, counts, [document.group for document in documents])


def _pooled_f1(_: Integers, counts: Floats) -> float:
    right, shown, given = counts.sum(axis=0)
    return float(2 * right / (shown + given)) if shown + given else float("nan")


def show(rows: Sequence[Decided], console: Console) -> None:
    """Print the table."""
    columns: list[tuple[str, Callable[[Decided], str]]] = [
        ("set", lambda row: row.file),
        ("protocol", lambda row: row.protocol),
        ("n", lambda row: str(row.n)),
        ("measure", lambda row: row.measure),
        ("score", lambda row: _told(row.score)),
        ("ahead of the first", lambda row: _told(row.ahead)),
        ("labels as of the whole ones", lambda row: "" if row.kept is None else f"{row.kept:.3f}"),
        ("supported / contradicted / irrelevant", lambda row: " / ".join(f"{share:.2f}" for share in row.shares)),
        ("evidence F1", lambda row: _told(row.evidence)),
        ("AnchorCite", lambda row: _told(row.rival)),
        ("ahead of it", lambda row: _told(row.beyond)),
    ]
    used = [(name, told) for name, told in columns if any(told(row) for row in rows)]
    table = Table(*(name for name, _ in used), box=None)
    for row in rows:
        table.add_row(*(told(row) for _, told in used))
    console.print(table)
    console.print("95 % intervals over groups; differences are paired")


def _told(score: Score | None) -> str:
    return "" if score is None else f"{score.value:.3f} [{score.low:.3f}, {score.high:.3f}]"


def main(arguments: list[str] | None = None) -> int:
    """Read the command line and print."""
    parser = argparse.ArgumentParser(prog="python recipes/verifier/release decide", description="Compare protocols.")
    parser.add_argument("--model", type=Path, required=True, help="a packed model")
    parser.add_argument("--sets", type=Path, required=True, help="a folder of labelled documents and pairs")
    parser.add_argument("--protocol", action="append", help="may be repeated; the first is what others are held to")
    parser.add_argument("--sentences", type=int, action="append", default=[], help="also with documents of this size")
    parser.add_argument("--others", type=Path, help="labelled documents whose sentences fill up those that are shorter")
    parser.add_argument("--only", action="append", help="names of files, without .jsonl; all of the folder else")
    parser.add_argument("--binary", action="store_true", help="count only supported or not, whatever the labels tell")
    parser.add_argument("--anchorcite", type=Path, help="AnchorCite's unpacked wheel, to compare with")
    parser.add_argument("--json", type=Path, help="also write the rows here")
    told = parser.parse_args(arguments)
    try:
        rows = _rows(told)
    except VeriCiteError as error:
        sys.stderr.write(f"{error}\n")
        return 2 if isinstance(error, InputError) else 1
    show(rows, Console(width=None if sys.stdout.isatty() else 220))
    if told.json:
        held = [plain(dataclasses.asdict(row)) for row in rows]
        told.json.write_text(json.dumps(held, indent=2, allow_nan=False) + "\n", encoding="utf-8")
    return 0


def _rows(told: argparse.Namespace) -> list[Decided]:
    judge = BundledJudge(ModelFolder.open(told.model))
    rival = AnchorCite(told.anchorcite) if told.anchorcite else None
    found = {path.stem: path for path in sorted(told.sets.glob("*.jsonl"))}
    if not found:
        raise InputError(f"expected files of labelled documents or pairs in {told.sets}; found none")
    for name in told.only or ():
        if name not in found:
            raise UnknownNameError("file of labelled documents or pairs", name, found)
    for size in told.sentences:
        if size < 1:
            raise InputError(f"expected --sentences to be one or more; found {size}")
    paths = [path for name, path in found.items() if not told.only or name in told.only]
    protocols = told.protocol or PROTOCOLS
    if told.others and not told.sentences:
        raise InputError("expected --sentences beside --others; found none. Say how long documents are to be.")
    others = labelled_documents(told.others) if told.others else None
    rows: list[Decided] = []
    for path in paths:
        rows += decide(judge, path, protocols, rival, told.sentences, told.binary, others)
    return rows


if __name__ == "__main__":
    sys.exit(main())
