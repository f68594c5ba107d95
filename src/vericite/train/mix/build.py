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
from typing import Any

from vericite.errors import UnknownNameError
from vericite.train.mix.cases import broken_pairs
from vericite.train.mix.config import LICENCES, MixConfig
from vericite.train.mix.corrupt import corrupted
from vericite.train.mix.example import DocumentExample, Example, share, write_rows
from vericite.train.mix.files import DataFolder
from vericite.train.mix.leakage import Guard, NearTexts
from vericite.train.mix.paraphrased import KINDS, Paraphrases
from vericite.train.mix.shelf import Harvest, Shelf
from vericite.train.mix.sources.answers import answers
from vericite.train.mix.sources.cited import attributionbench, wice
from vericite.train.mix.sources.corpus import corpus
from vericite.train.mix.sources.evidence_inference import evidence_inference
from vericite.train.mix.sources.frames import frames
from vericite.train.mix.sources.general import esnli
from vericite.train.mix.sources.questions import bioasq, pubmedqa
from vericite.train.mix.sources.rationales import covidfact, healthver, scifact
from vericite.train.mix.sources.trials import clinifact, nli4ct
from vericite.train.mix.sources.written import written as written_claims
from vericite.train.mix.swaps import harvest_names
from vericite.train.mix.tested import forbidden
from vericite.train.mix.untold import untold
from vericite.train.mix.wording.restating import restated

SOURCES: dict[str, Callable[[Shelf], Harvest]] = {
    "scifact": scifact,
    "healthver": healthver,
    "covidfact": covidfact,
    "clinifact": clinifact,
    "nli4ct": nli4ct,
    "evidence_inference": evidence_inference,
    "attributionbench": attributionbench,
    "wice": wice,
    "pubmedqa": pubmedqa,
    "bioasq": bioasq,
    "bioasq_exact": answers,
    "corpus": corpus,
    "frames": frames,
    "written": written_claims,
}
"""Every set of the mix; the warm-up is apart."""

_LONG = 150
_SHORT = 90  # premises up to this many words are worth breaking: in longer ones one word is hardly found
# Their labels rest on whole records or on guessed sentences; a twin would double the doubt.
_UNBROKEN = {"nli4ct", "clinifact", "covidfact", "frames", "written"}
_NEAR = {"bioasq", "pubmedqa"}  # claims that are often near copies of a sentence of the premise
_HARD = {"corpus", "evidence_inference", "bioasq", "pubmedqa"}


@dataclass(slots=True)
class Mix:
    """What is written."""

    train: list[Example]
    warmup: list[Example]
    untold: list[Example]
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
    near = untold([example for example in mixed if example.kind not in KINDS], config.untold, shelf.dice("untold"))
    manifest["untold"] = len(near)
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
    examples = [_restated(example, config, dice) for example in examples]
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


def _restated(example: Example, config: MixConfig, dice: random.Random) -> Example:
    """The example with its claim in other words, where it is a copy and the rules find some."""
    near_copy = example.source in _NEAR and example.kind not in KINDS
    alone = example.label == "entails" and example.twin is None
    if not (near_copy and alone) or dice.random() >= config.restated_share:
        return example
    return replace(example, claim=restated(example.claim, dice) or example.claim)


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
    write_rows(folder / "untold.jsonl", mix.untold)
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
