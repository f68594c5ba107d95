"""The sets that a release is scored on, in the form of the dev sets.

Nothing is left out of them and no chance is in them: every row that a set's authors publish is there. Of the sets
that have no test part of their own, the halves that the mix holds back are taken; they are the same only if data,
recipe and seed are those of the mix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from vericite.train.mix.build import checked
from vericite.train.mix.cases import broken_pairs
from vericite.train.mix.config import MixConfig
from vericite.train.mix.example import DocumentExample, Example, Label, write_rows
from vericite.train.mix.files import DataFolder
from vericite.train.mix.groups import components
from vericite.train.mix.leakage import Guard
from vericite.train.mix.premises import clean
from vericite.train.mix.shelf import Shelf, blank
from vericite.train.mix.sources.cited import attributionbench, wice
from vericite.train.mix.sources.rationales import cited_cases, sentences_by_document, whole_document
from vericite.train.mix.sources.trials import clinifact, statement_examples
from vericite.train.mix.tested import forbidden

Examples = Sequence[Example] | Sequence[DocumentExample]

_HEALTHVER: dict[str, Label] = {"Supports": "entails", "Refutes": "contradicts", "Neutral": "neutral"}
_KQA: dict[str, Label] = {"Entailment": "entails", "Contradiction": "contradicts", "Neutral": "neutral"}
_HALVED = (attributionbench, wice, clinifact)


def released(data: DataFolder, config: MixConfig, seed: int, cases: Path | None) -> dict[str, Examples]:
    """Every test set by the name of its file; robustness only where its cases are given."""
    found: dict[str, Examples] = {
        "healthver_test": _healthver(data),
        "healthver_test_doc": _healthver_documents(data),
        "scifact_test_doc": _scifact_documents(data),
        "nli4ct_test_single": _nli4ct(data, "Single"),
        "nli4ct_test_comparison": _nli4ct(data, "Comparison"),
        "kqa_triples": _kqa(data),
        **_halves(data, config, seed),
    }
    return found if cases is None else {**found, "robustness": broken_pairs(cases, "robustness")}


def write_released(sets: dict[str, Examples], folder: Path) -> None:
    """One file a set."""
    for name, examples in sets.items():
        write_rows(folder / f"{name}.jsonl", examples)


def _healthver(data: DataFolder) -> list[Example]:
    """The official sentence-level file; claims it repeats stay, because published scores count them."""
    found: list[Example] = []
    for row in data.csv("healthver/healthver_test.csv"):
        group = f"healthver:test:{row['claim']}"
        start = blank(row["claim"], _HEALTHVER[row["label"]], "healthver", "sentence", group)
        found.append(replace(start, premise=clean(row["evidence"])))
    return found


def _healthver_documents(data: DataFolder) -> list[DocumentExample]:
    corpus = sentences_by_document(data.jsonl("healthver/multivers/corpus.jsonl"))
    found: list[DocumentExample] = []
    for row in data.jsonl("healthver/multivers/claims_test.jsonl"):
        # By claim: nearly all claims hang together through documents that they share.
        found += map(
            whole_document, cited_cases(row, row["doc_ids"], corpus, "healthver", f"healthver:claim:{row['id']}")
        )
    return found


def _scifact_documents(data: DataFolder) -> list[DocumentExample]:
    corpus = sentences_by_document(data.jsonl("scifact/data/corpus.jsonl"))
    claims = data.jsonl("scifact/data/claims_dev.jsonl")
    groups = components((str(row["id"]), [str(number) for number in row["cited_doc_ids"]]) for row in claims)
    found: list[DocumentExample] = []
    for row in claims:
        found += map(
            whole_document,
            cited_cases(row, row["cited_doc_ids"], corpus, "scifact", f"scifact:{groups[str(row['id'])]}"),
        )
    return found


def _nli4ct(data: DataFolder, kind: str) -> list[Example]:
    """Statements about one trial or two, against their sections as training renders them.

    Binary: a statement that does not follow counts as contradicted, whether its section denies it or not.
    """
    trials = data.json("nli4ct/trials.json")
    items = data.json("nli4ct/Gold_test.json")
    chosen = [(key, items[key]) for key in sorted(items) if items[key]["Type"] == kind]
    found = [example for key, item in chosen for example in statement_examples(item, trials, key, True)]
    return [replace(example, binary=True) for example in found]


def _kqa(data: DataFolder) -> list[Example]:
    """Answers of language models against physicians' statements, as the majority of three physicians has it."""
    found: list[Example] = []
    for row in data.csv("kqa/dataset/NLI_medical_annotator.csv"):
        start = blank(row["claim"], _KQA[row["majority_label"]], "kqa", "answer", f"kqa:{row['Question']}")
        found.append(replace(start, premise=clean(row["answer"])))
    return found


def _halves(data: DataFolder, config: MixConfig, seed: int) -> dict[str, Examples]:
    guard = Guard(forbidden(data, config.keep_shared_documents))
    shelf = Shelf(data, config, guard, seed)
    held = [item for source in _HALVED for item in source(shelf).dev.items()]
    return {name: checked(examples, guard, name) for name, examples in held}
