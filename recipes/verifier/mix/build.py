"""From the data folder to the files the trainer reads."""

from __future__ import annotations

import hashlib
import json
import os
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from mix.corpus import corpus
from mix.edits import corrupted, harvest_names
from mix.example import DocumentExample, Example, Label, components, share, write_rows
from mix.folder import DataFolder
from mix.guard import Guard, NearTexts, forbidden
from mix.passages import Nearest, Rarity, clean
from mix.questions import bioasq, pubmedqa
from mix.rationales import (
    attributionbench,
    cited_cases,
    clinifact,
    covidfact,
    esnli,
    healthver,
    nli4ct,
    scifact,
    sentences_by_document,
    statement_examples,
    whole_document,
    wice,
)
from mix.recipe import LICENCES, Harvest, MixConfig, Shelf, blank
from mix.written import KINDS, Paraphrases
from mix.written import written as written_claims
from vericite.errors import UnknownNameError
from vericite.lab.train.data import UNLABELLED
from vericite.records import Record, read_jsonl

"""The kind of such an example; its label says nothing."""

_LONGEST = 70
_COVERED = 0.3
"""Of the claim's telling words that a sentence must have: what has fewer is neutral without a model to say so."""
_SCARCE = {"healthver": 12, "scifact": 12, "covidfact": 3, "pubmedqa": 4, "nli4ct": 2, "wice": 4, "attributionbench": 3}
"""Sentences a claim: more where people wrote the claims and there are few of them."""
_MADE = frozenset({"written"})
_TWIN_SHARE = 0.15
"""Of the claims of twins, those taken: the broken ones among them are what contradictions are met in."""


def unlabelled(train: Sequence[Example], most: int, dice: random.Random) -> list[Example]:
    """Claims of a mix before sentences of the same mix, as near as can be and not yet paired.

    Premises and claims are the mix's own, so that whatever was kept out of it is kept out of this.

    Args:
        train: The mix.
        most: Examples at the most.
        dice: Chance.
    """
    if not most:
        return []
    read = (e.premise for e in train if e.source not in _MADE and len(e.premise.split()) <= _LONGEST)
    premises = list(dict.fromkeys(read))
    nearest = Nearest(premises, [""] * len(premises))
    rarity = Rarity(premises)
    paired = {(example.premise, example.claim) for example in train}
    found: list[Example] = []
    for example in _claims(train, dice):
        count = _SCARCE.get(example.source, 1)
        near = [premises[place] for place in nearest.find(example.claim, "(none)", 2 * count)]
        new = [text for text in near if (text, example.claim) not in paired]
        telling = [text for text in new if rarity.coverage(example.claim, text) >= _COVERED]
        start = replace(example, label="neutral", kind=UNLABELLED, twin=None, binary=False)
        found += [replace(start, premise=text) for text in dice.sample(telling, min(count, len(telling)))]
    dice.shuffle(found)
    return found[:most]


def _claims(train: Sequence[Example], dice: random.Random) -> list[Example]:
    """One example of each distinct claim."""
    first: dict[str, Example] = {}
    for example in train:
        if example.source not in _MADE and (example.twin is None or dice.random() < _TWIN_SHARE):
            first.setdefault(example.claim, example)
    return list(first.values())


class BrokenPair(Record):
    """A case of such a file."""

    id: str
    kind: str
    premise: str
    supported: str
    broken: str
    broken_label: Literal["contradicts", "neutral"]


def broken_pairs(path: Path, source: str) -> list[Example]:
    """Both claims of every case of a file, as twins."""
    found: list[Example] = []
    for case in read_jsonl(BrokenPair, path):
        whole = Example(case.premise, case.supported, "entails", source, case.kind, case.id, twin=case.id)
        found += [whole, replace(whole, claim=case.broken, label=case.broken_label)]
    return found


SOURCES: dict[str, Callable[[Shelf], Harvest]] = {
    "scifact": scifact,
    "healthver": healthver,
    "covidfact": covidfact,
    "clinifact": clinifact,
    "nli4ct": nli4ct,
    "attributionbench": attributionbench,
    "wice": wice,
    "pubmedqa": pubmedqa,
    "bioasq": bioasq,
    "corpus": corpus,
    "written": written_claims,
}
"""Every set of the mix; the warm-up is apart."""

_LONG = 150
_SHORT = 90  # premises up to this many words are worth breaking: in longer ones one word is hardly found
# Their labels rest on whole records or on guessed sentences; a twin would double the doubt.
_UNBROKEN = {"nli4ct", "clinifact", "covidfact", "written"}
_NEAR = {"bioasq", "pubmedqa"}  # claims that are often near copies of a sentence of the premise
_HARD = {"corpus", "bioasq", "pubmedqa"}


@dataclass(slots=True)
class Mix:
    """What is written."""

    train: list[Example]
    warmup: list[Example]
    unlabelled: list[Example]
    dev: dict[str, list[Example]]
    documents: dict[str, list[DocumentExample]]
    transfer: dict[str, list[Example]]
    manifest: dict[str, Any]


def build(
    data: DataFolder,
    config: MixConfig,
    seed: int,
    *,
    permissive: bool,
    without: Iterable[str],
    reworded: Path | None = None,
    written: tuple[Path, ...] = (),
    paraphrased: tuple[Path, ...] = (),
) -> Mix:
    """The mix; the same data, recipe and seed give the same examples in the same order.

    Args:
        data: The datasets.
        config: The recipe.
        seed: Of all chance.
        permissive: Only sets that ask for no more than attribution.
        without: Sets that are left out.
        reworded: A file of pairs written by hand, to be a dev set.
        written: Files of claims written about texts of the data.
        paraphrased: Files of claims of the data said anew.

    Raises:
        UnknownNameError: ``without`` names no set.
    """
    left_out = frozenset(without)
    for name in sorted(left_out - SOURCES.keys()):
        raise UnknownNameError("set of the mix", name, SOURCES)
    guard = Guard(forbidden(data, config.keep_shared_documents))
    shelf = Shelf(data, config, guard, seed, permissive, left_out, written)
    # Sets that are left out are read nevertheless: their dev sets show what a mix without them is worth.
    harvests = {name: source(shelf) for name, source in SOURCES.items()}
    warmup = esnli(shelf).train if not permissive or LICENCES["esnli"][1] else []
    used = [name for name in SOURCES if name not in left_out and (not permissive or LICENCES[name][1])]
    dev = {name: examples for harvest in harvests.values() for name, examples in harvest.dev.items()}
    dev = {name: checked(examples, guard, f"dev of {name}") for name, examples in dev.items()}
    train = {name: checked(harvests[name].train, guard, name) for name in used}
    away = {name: harvests[name] for name in left_out}
    train, held_out = _apart_from_dev(train, dev, away)
    # Of what is left: a claim that was turned away must not come back in other words.
    paraphrases = Paraphrases(paraphrased)
    held_out_claims = [example for examples in dev.values() for example in examples]
    held_out_claims += [example for harvest in away.values() for example in harvest.transfer]
    anew, near_pairs = _paraphrased(train, held_out_claims, shelf, paraphrases)
    train = {name: [*train[name], *anew[name]] for name in used}
    names = harvest_names(example.premise for examples in train.values() for example in examples)
    if reworded is not None:
        dev["reworded"] = broken_pairs(reworded, "reworded")
    dev["hard"] = _hard(dev, shelf.dice("hard"), names, config)
    chosen = {name: _mixed(name, examples, shelf, names) for name, examples in train.items()}
    mixed = _shortened([example for name in used for example in chosen[name]], config.longest_share, seed)
    shelf.dice("order").shuffle(mixed)
    documents = {name: rows for harvest in harvests.values() for name, rows in harvest.documents.items()}
    transfer = {name: harvest.transfer for name, harvest in harvests.items() if name in left_out and harvest.transfer}
    manifest = _manifest(mixed, dev, harvests, guard, config, seed, used)
    manifest["held_out_by_dev_document"] = held_out
    manifest["paraphrases"] = {"pairs_near_held_out_claims": near_pairs, "lines_about_no_claim": paraphrases.unmet}
    near = unlabelled(
        [example for example in mixed if example.kind not in KINDS], config.unlabelled, shelf.dice("unlabelled")
    )
    manifest["unlabelled"] = len(near)
    return Mix(mixed, warmup, near, dev, documents, transfer, manifest)


def checked(examples: Sequence[Example], guard: Guard, source: str) -> list[Example]:
    """The examples without those whose claim or premise is a tested claim, and without doubles."""
    kept: dict[tuple[str, str], Example] = {}
    for example in examples:
        if not example.premise or guard.refuses_claim(example.claim, source):
            continue
        kept.setdefault((example.premise, example.claim), example)
    return list(kept.values())


def _apart_from_dev(
    train: dict[str, list[Example]], dev: dict[str, list[Example]], left_out: dict[str, Harvest]
) -> tuple[dict[str, list[Example]], dict[str, int]]:
    """Training without the claims of dev sets and without the documents of dev sets that other sets know, too."""
    claims = {example.claim.lower() for examples in dev.values() for example in examples}
    claims |= {example.claim.lower() for harvest in left_out.values() for example in harvest.transfer}
    documents = {
        example.document
        for name, examples in dev.items()
        for example in examples
        # HealthVer's and CovidFact's parts share documents as published; they share no claims.
        if example.document and not name.startswith(("healthver", "covidfact"))
    }
    documents |= {e.document for h in left_out.values() for e in (*h.transfer, *h.train) if e.document}
    kept: dict[str, list[Example]] = {}
    dropped: dict[str, int] = {}
    for name, examples in train.items():
        kept[name] = [e for e in examples if not {e.document, e.beside} & documents and e.claim.lower() not in claims]
        dropped[name] = len(examples) - len(kept[name])
    return kept, dropped


def _paraphrased(
    train: dict[str, list[Example]], held_out_claims: list[Example], shelf: Shelf, paraphrases: Paraphrases
) -> tuple[dict[str, list[Example]], int]:
    """The claims of each set said anew, and how many pairs were left out for being near a claim that is held out."""
    held_out = NearTexts((example.claim, example.source) for example in held_out_claims)
    found: dict[str, list[Example]] = {}
    dropped = 0
    for name, examples in train.items():
        anew = paraphrases.of(name, examples, shelf.config, shelf.dice(f"paraphrases of {name}"))
        anew = checked(anew, shelf.guard, f"{name} paraphrased")
        found[name] = [e for e in anew if not (held_out.same(e.claim) or held_out.near(e.claim))]
        dropped += len(anew) - len(found[name])
    return found, dropped


def _breakable(examples: Iterable[Example]) -> list[Example]:
    return [
        example
        for example in examples
        if example.label == "entails"
        and not example.binary
        and example.twin is None
        and example.source not in _UNBROKEN
        and len(example.premise.split()) <= _SHORT
    ]


def _hard(dev: dict[str, list[Example]], dice: random.Random, names: Any, config: MixConfig) -> list[Example]:
    """Twins of documents that are not trained on."""
    sources = [e for name in sorted(dev) for e in dev[name] if e.source in _HARD]
    return corrupted(_breakable(sources), names, dice, max(2, config.corruptions_per_pair))


def _mixed(name: str, examples: list[Example], shelf: Shelf, names: Any) -> list[Example]:
    """A set with its broken twins, cut to what the recipe allows."""
    config, dice = shelf.config, shelf.dice(f"twins of {name}")
    pool = _breakable(examples)
    broken_share = config.corrupted_share.get(name, config.corrupted_share.get("other", 0.0))
    picked = [example for example in pool if dice.random() < broken_share or example.kind == "extract"]
    twins = corrupted(picked, names, dice, config.corruptions_per_pair)
    twinned = {(example.premise, example.claim) for example in twins}
    # A copy without its twin would teach that equal words entail.
    rest = [
        example
        for example in examples
        if (example.premise, example.claim) not in twinned and not (example.kind == "extract" and dice.random() < 0.8)
    ]
    return _capped([*rest, *twins], config.most.get(name), shelf.seed)


def _capped(examples: list[Example], most: int | None, seed: int) -> list[Example]:
    """At most so many, left out by group and twin so that what belongs together stays together."""
    if most is None or len(examples) <= most:
        return examples
    keys = {example.group for example in examples}
    ranked = sorted(keys, key=lambda key: share(key, seed + 1))
    sizes = Counter(example.group for example in examples)
    kept: set[str] = set()
    total = 0
    for key in ranked:
        if total + sizes[key] <= most:
            kept.add(key)
            total += sizes[key]
    return [example for example in examples if example.group in kept]


def _shortened(examples: list[Example], longest_share: float, seed: int) -> list[Example]:
    """No more long premises than the recipe says; pairs of twins are kept or left out together."""
    long = [example for example in examples if len(example.premise.split()) > _LONG]
    allowed = int(longest_share * len(examples))
    if len(long) <= allowed:
        return examples
    ranked = sorted(long, key=lambda example: share(example.twin or example.premise + example.claim, seed + 2))
    dropped = {id(example) for example in ranked[allowed:]}
    return [example for example in examples if id(example) not in dropped]


def _counts(examples: Iterable[Example]) -> dict[str, dict[str, dict[str, int]]]:
    table: defaultdict[str, defaultdict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for example in examples:
        table[example.source][example.kind][example.label + (" (binary)" if example.binary else "")] += 1
    return {
        source: {kind: dict(sorted(kinds[kind].items())) for kind in sorted(kinds)} for source, kinds in table.items()
    }


def _manifest(
    train: list[Example],
    dev: dict[str, list[Example]],
    harvests: dict[str, Harvest],
    guard: Guard,
    config: MixConfig,
    seed: int,
    used: list[str],
) -> dict[str, Any]:
    lengths = sorted(len(example.premise.split()) for example in train)
    return {
        "format": "vericite.mix.v1",
        "seed": seed,
        "config": config.model_dump(),
        "sets": {name: {"licence": LICENCES[name][0], "notes": harvests[name].notes} for name in used},
        "train": len(train),
        "labels": dict(Counter(example.label for example in train)),
        "premise_words": {f"p{part}": lengths[len(lengths) * part // 100] for part in (10, 50, 90, 99)}
        if lengths
        else {},
        "counts": _counts(train),
        "dev": {name: dict(Counter(example.label for example in examples)) for name, examples in sorted(dev.items())},
        "dropped": [
            {"from": source, "reason": reason, "test": test, "count": count}
            for (source, reason, test), count in sorted(guard.dropped.items())
        ],
    }


def write(mix: Mix, folder: Path) -> None:
    """Write the files; the manifest comes last, so that where it is the others are whole."""
    write_rows(folder / "train.jsonl", mix.train)
    if mix.warmup:
        write_rows(folder / "warmup.jsonl", mix.warmup)
    write_rows(folder / "unlabelled.jsonl", mix.unlabelled)
    for name, examples in mix.dev.items():
        write_rows(folder / "dev" / f"{name}.jsonl", examples)
    for name, documents in mix.documents.items():
        write_rows(folder / "dev" / f"{name}.jsonl", documents)
    for name, examples in mix.transfer.items():
        write_rows(folder / "transfer" / f"{name}.jsonl", [replace(example, twin=None) for example in examples])
    digests = {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*.jsonl"))
    }
    part = folder / "manifest.json.part"
    part.write_text(json.dumps({**mix.manifest, "sha256": digests}, indent=1, ensure_ascii=False) + "\n", "utf-8")
    os.replace(part, folder / "manifest.json")


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
